"""The examples for many repositories, each with two workers of its engine.

`make test-scale` installs the engines and fails if anything is skipped.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lab import REPOSITORY

EXAMPLES = REPOSITORY / "examples/scale"
GOOD = b"---\nname: a\ndescription: Does a thing\n---\nDo it.\n"
BAD = b"---\nname: a\n---\nDo it.\n"


def repositories(path: Path, count: int) -> int:
    """A table of repositories with one skill each: every tenth is bad, one cannot be checked."""
    pyarrow = pytest.importorskip("pyarrow", reason="needs the extra `scale`")
    import pyarrow.parquet as parquet

    rows = [
        {"repository": f"r{n}", "path": "skills/a/SKILL.md", "content": GOOD if n % 10 else BAD}
        for n in range(count)
    ]
    rows.append({"repository": "odd", "path": "../outside.md", "content": GOOD})
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return count // 10 + 1


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_every_repository_is_checked_and_a_failing_one_is_a_row(
    engine: str, tmp_path: Path
) -> None:
    pytest.importorskip(
        {"dask": "distributed"}.get(engine, engine), reason="needs the extra `scale`"
    )
    expected = repositories(tmp_path / "table.parquet", 1200)
    import pyarrow.parquet as parquet

    command = [sys.executable, f"on_{engine}.py", tmp_path / "table.parquet", tmp_path / "found"]
    done = subprocess.run(
        command, cwd=EXAMPLES, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert f"{expected} findings" in done.stdout
    parts = sorted((tmp_path / "found").glob("*.parquet"))
    assert len(parts) == 3
    rows = [row for part in parts for row in parquet.read_table(part).to_pylist()]
    assert len(rows) == expected
    assert {row["code"] for row in rows} == {"missing-field", "item-failed"}
    assert [row["repository"] for row in rows if row["code"] == "item-failed"] == ["odd"]
