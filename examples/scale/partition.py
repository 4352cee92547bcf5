"""What a worker of any engine does: check a partition of repositories, give back rows.

A repository is a name and its files in memory. A repository that cannot be checked is a row like
any other finding, so that it never takes its partition along.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

import equipage

Item = tuple[str, Mapping[str, bytes]]

COLUMNS = ["repository", "file", "line", "column", "end_line", "end_column"]
COLUMNS += ["severity", "code", "message", "path", "help"]
NUMBERS = {"line", "column", "end_line", "end_column"}
SCHEMA = pyarrow.schema(
    [(name, pyarrow.int32() if name in NUMBERS else pyarrow.string()) for name in COLUMNS]
)


def rows_of(item: Item) -> list[tuple[Any, ...]]:
    """The findings of one repository, each with its name."""
    try:
        name, files = item
        return [(name, *row) for row in equipage.check_files(files).rows()]
    except Exception as error:
        name = str(item[0]) if isinstance(item, tuple) and item else "?"
        place = (None, None, None, None, None)
        return [
            (name, *place, "error", "item-failed", f"{type(error).__name__}: {error}", "", None)
        ]


def check_partition(items: Iterable[Item]) -> pyarrow.Table:
    """The findings of a partition as a table."""
    rows = [dict(zip(COLUMNS, row, strict=True)) for item in items for row in rows_of(item)]
    return pyarrow.Table.from_pylist(rows, schema=SCHEMA)


def write_partition(number: int, items: list[Item], folder: str) -> int:
    """Write the findings of a partition as one Parquet file; how many there are."""
    table = check_partition(items)
    pyarrow.parquet.write_table(table, Path(folder) / f"part-{number:05}.parquet")
    return int(table.num_rows)


def read_items(table: Path) -> Iterator[Item]:
    """The repositories of a Parquet table with the columns `repository`, `path` and `content`."""
    found: dict[str, dict[str, bytes]] = {}
    for batch in pyarrow.parquet.ParquetFile(table).iter_batches():
        for row in batch.to_pylist():
            found.setdefault(row["repository"], {})[row["path"]] = row["content"]
    yield from found.items()


def partitions(items: Iterable[Item], size: int = 500) -> Iterator[list[Item]]:
    """The items in lists of `size`: enough work for one task, little to repeat if it is lost."""
    several: list[Item] = []
    for item in items:
        several.append(item)
        if len(several) == size:
            yield several
            several = []
    if several:
        yield several
