"""Other linters beside `equipage check` on the same trees, judged by Claude Code.

    python lab/clients/peers.py SAID TREE … [--write]

SAID is what `make clients` wrote with `--remember`. Each linter of `linters.toml` is installed into
an environment of its own and run in every tree. Printed for each: its errors and
warnings, how many of the files that Claude Code refuses it has an error for, and for how many of
those that Claude Code accepts. A linter that gives no answer about a tree fails the run. With
`--write` the counts go to `peers.csv`, which the page shows.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path
from typing import Any

from verdicts import Verdict, remembered

HERE = Path(__file__).resolve().parent
HEAD = ("linter", "version", "errors", "warnings", "refused", "found", "accepted", "wrongly")

sys.path.insert(0, str(HERE.parent))

from linters import LINTERS, PINS, Said, equipage, version_of  # noqa: E402  # found beside this


def row(name: str, version: str, found: list[Said], said: list[Verdict]) -> tuple[Any, ...]:
    """The counts of one linter; only files that Claude Code judged are compared with it."""
    found = [each for each in found if each.level in ("error", "warning")]
    wrong = {each.file for each in found if each.level == "error"}
    refused = {each.file for each in said if each.refusals}
    accepted = {each.file for each in said} - refused
    errors = sum(each.level == "error" for each in found)
    counts = (len(refused), len(refused & wrong), len(accepted), len(accepted & wrong))
    return (name, version, errors, len(found) - errors, *counts)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("said", type=Path)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    if not chosen.said.is_file():
        parser.error(f"{chosen.said} is missing: `make clients SAID=FILE` writes it")
    trees = [tree.resolve() for tree in chosen.trees]
    inside = tuple(f"{tree}/" for tree in trees)
    judged = [
        each
        for each in remembered(chosen.said)
        if each.client == "claude" and each.file.startswith(inside)
    ]
    rows = [HEAD, row("equipage", "", [each for tree in trees for each in equipage(tree)], judged)]
    for name, linter in LINTERS.items():
        found = [each for tree in trees for each in linter(tree)]
        rows.append(row(PINS[name]["title"], version_of(name), found, judged))
        print(*rows[-1], sep="\t", flush=True)
    print(*rows[1], sep="\t")
    if chosen.write:
        with (HERE / "peers.csv").open("w", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
