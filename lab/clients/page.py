"""Writes the tables of `docs/clients.md` that are data here: the clients, and every difference.

python lab/clients/page.py
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import programs
from verdicts import Row, rows

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "clients.md"


def table(head: tuple[str, ...], lines: Iterable[tuple[str, ...]]) -> str:
    rule = tuple("---" for _ in head)
    # A pipe would end the cell that it is in.
    cells = (tuple(each.replace("|", "\\|") for each in line) for line in (head, rule, *lines))
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)


def clients() -> str:
    lines = ((str(pin["title"]), f"`{pin['package']}`") for pin in programs.pinned().values())
    return table(("client", "package"), lines)


def differences(found: list[Row]) -> str:
    titles = {name: str(pin["title"]) for name, pin in programs.pinned().items()}
    head = ("client", "kind", "what", "client says", "we say", "reason")
    lines = (
        (
            titles[row.client],
            f"`{row.kind}`",
            row.what,
            "refused" if row.says else "accepted",
            "no error" if row.says else f"`{row.code}`",
            row.reason,
        )
        for row in found
    )
    return table(head, lines)


def peers(path: Path = HERE / "peers.csv") -> str:
    """The linters beside each other, as the last run of `peers.py --write` found them."""
    with path.open(newline="", encoding="utf-8") as stream:
        found = list(csv.DictReader(stream))
    head = ("linter", "errors", "warnings", "of the refused files", "of the accepted files")
    lines = (
        (
            f"{each['linter']} {each['version']}".strip(),
            f"{int(each['errors']):,}",
            f"{int(each['warnings']):,}",
            f"{each['found']} of {each['refused']}",
            f"{int(each['wrongly']):,} of {int(each['accepted']):,}",
        )
        for each in found
    )
    return table(head, lines)


def written(page: str) -> str:
    """The page with its tables as the data has them."""
    tables = (("clients", clients()), ("differences", differences(rows())), ("peers", peers()))
    for name, text in tables:
        before, start, rest = page.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition(f"<!-- end of {name} -->")
        assert start, f"no place for {name}"
        assert end, f"no end of {name}"
        page = f"{before}{start}\n{text}\n\n{end}{after}"
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
