"""Measure every row and write the table. Runs inside the environment that `run.py` makes."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import commands
import profiles
import servers
import serving
import toolpacks
import walking
from harness import MOST_REPEATS, REPEATS, Result, Row, measure

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
PEERS = (
    "PyYAML",
    "jsonschema",
    "omegaconf",
    "ruamel.yaml",
    "python-frontmatter",
    "annotatedyaml",
    "yamlrocks",
    "fastmcp",
    "pydantic",
)
PARTS = ("blake3", "jsonschema-rs", "msgspec", "packaging", "rtoml")
HEAD = "| work | against | bound | measured | holds |\n|---|---|---|---|---|"


#: The groups of rows that can be asked for one by one, and what each is made by.
GROUPS: dict[str, Callable[[Path, bool], list[Row]]] = {
    "toolpacks": lambda place, quick: toolpacks.rows(place, count=500 if quick else 2000),
    "profiles": lambda place, _quick: profiles.rows(place),
    "servers": lambda place, quick: servers.rows(place, tools=100 if quick else 1000),
    "commands": lambda place, quick: commands.rows(place, files=500 if quick else 5000),
    "serving": lambda place, _quick: serving.rows(place),
    "walking": lambda place, quick: walking.rows(place, files=10_000 if quick else 100_000),
}
#: Scripts whose output is part of the page: the title above it.
SCRIPTS = {
    "includes": "Loading many included files, beside a loader written by hand",
    "linters": "Trees of real agents and skills beside other linters",
    "generators": "Streaming 100 MB of each generator",
    "calls": "Serving a tool over stdio: median of single calls, and 10 ms apart; rate with 16",
    "scale": "Skills in memory through Dask, two workers",
}
#: The file of a script, where it has another name.
_FILES = {"calls": "serving.py"}


def all_rows(folder: Path, names: Collection[str], *, quick: bool) -> list[Row]:
    found: list[Row] = []
    for name in names:
        (folder / name).mkdir()
        found += GROUPS[name](folder / name, quick)
    return found


def measured(rows: list[Row], *, collect: bool, repeats: int) -> Iterator[Result]:
    """Each row as it is measured, printed on the way."""
    for row in rows:
        result = measure(row, collect=collect, repeats=repeats)
        print(result.line(), flush=True)
        yield result


def versions() -> str:
    found = []
    for name in ("equipage", *PARTS, *PEERS):
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(found)


def machine() -> str:
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{python}, {platform.system()} {platform.machine()}, {os.cpu_count()} cores"


def told_by(script: str, *arguments: str) -> str:
    """What a script of its own prints."""
    command = [sys.executable, str(HERE / script), *arguments]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return run.stdout.rstrip("\n")


PAGE = """\
# Results

Made by `make bench`; do not edit. One interleaved run on one machine: the *ratios* can be compared
from run to run, times cannot. Minimum of at least {repeats} repeats, of up to {most} where they are
short, of two where they take more than ten seconds each. Each peer does what comes nearest;
equipage does the whole job: read, compose, check, freeze, exact places available afterwards.

{machine}; {versions}.

## The garbage collector as users have it

{usual}

## The garbage collector off on both sides

{without}

{scripts}"""


def table(results: list[Result]) -> str:
    return "\n".join([HEAD, *(result.line() for result in results)])


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument(
        "--quick", action="store_true", help="less data, 3 repeats, nothing saved"
    )
    arguments.add_argument("--save", type=Path, default=RESULTS, help="where to save the table")
    arguments.add_argument("--rows", default="", help="only these groups of rows, nothing saved")
    given = arguments.parse_args()
    quick, chosen = given.quick, given.rows.replace(",", " ").split()
    for each in chosen:
        if each not in {**GROUPS, **SCRIPTS}:
            arguments.error(f"no rows {each}; there are {', '.join((*GROUPS, *SCRIPTS))}")
    repeats = 3 if quick else REPEATS
    groups = [each for each in GROUPS if not chosen or each in chosen]
    scripts = [each for each in SCRIPTS if each in chosen or not (chosen or quick)]
    with tempfile.TemporaryDirectory() as folder:
        rows = all_rows(Path(folder), groups, quick=quick)
        print(f"{HEAD}", flush=True)
        usual = list(measured(rows, collect=True, repeats=repeats))
        print("\nThe garbage collector off on both sides:\n", flush=True)
        without = list(
            measured([row for row in rows if not row.elsewhere], collect=False, repeats=repeats)
        )
    told = []
    for name in scripts:
        output = told_by(_FILES.get(name, f"{name}.py"), *(["--quick"] if quick else []))
        told.append(f"## {SCRIPTS[name]}\n\n```text\n{output}\n```\n")
        print(f"\n{told[-1]}", flush=True)
    if not quick and not chosen:
        page = PAGE.format(
            repeats=repeats,
            most=MOST_REPEATS,
            machine=machine(),
            versions=versions(),
            usual=table(usual),
            without=table(without),
            scripts="\n".join(told),
        )
        given.save.write_text(page, encoding="utf-8")
        print(f"saved as {given.save}")
    missed = [result for result in usual if not result.holds]
    for result in missed:
        print(
            f"missed: {result.row.work}, against {result.row.against}: {result.ratio:.2f}",
            file=sys.stderr,
        )
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
