"""Measure every row and write the table. Runs inside the environment that `run.py` makes."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import commands
import profiles
import servers
import serving
import toolpacks
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
    "fastmcp",
)
PARTS = ("blake3", "jsonschema-rs", "msgspec", "packaging", "rtoml")
HEAD = "| work | against | bound | measured | holds |\n|---|---|---|---|---|"


def all_rows(folder: Path, *, quick: bool) -> list[Row]:
    places = [folder / name for name in ("toolpacks", "profiles", "servers", "commands", "serving")]
    for place in places:
        place.mkdir()
    return [
        *toolpacks.rows(places[0], count=500 if quick else 2000),
        *profiles.rows(places[1]),
        *servers.rows(places[2], tools=100 if quick else 1000),
        *commands.rows(places[3], files=500 if quick else 5000),
        *serving.rows(places[4]),
    ]


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


def told_by(script: str) -> str:
    """What a script of its own prints."""
    run = subprocess.run(
        [sys.executable, str(HERE / script)], stdout=subprocess.PIPE, text=True, check=False
    )
    return run.stdout.rstrip("\n")


PAGE = """\
# Results

Made by `make bench`; do not edit. One interleaved run on one machine: the *ratios* can be compared
from run to run, times cannot. Minimum of at least {repeats} repeats, of up to {most} where they are
short. Each peer does what comes nearest; equipage does the whole job: read, compose, check, freeze,
exact places available afterwards.

{machine}; {versions}.

## The garbage collector as users have it

{usual}

## The garbage collector off on both sides

{without}

## Streaming 100 MB of each generator

```text
{streams}
```

## Serving a tool over stdio: median of single calls, of calls 10 ms apart; rate with 16 at once

```text
{served}
```

## A change in an editor until its findings are there

```text
{edited}
```

## Skills in memory through Dask, two workers

```text
{scaled}
```
"""


def table(results: list[Result]) -> str:
    return "\n".join([HEAD, *(result.line() for result in results)])


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument(
        "--quick", action="store_true", help="less data, 3 repeats, nothing saved"
    )
    arguments.add_argument("--save", type=Path, default=RESULTS, help="where to save the table")
    given = arguments.parse_args()
    quick = given.quick
    repeats = 3 if quick else REPEATS
    with tempfile.TemporaryDirectory() as folder:
        rows = all_rows(Path(folder), quick=quick)
        print(f"{HEAD}", flush=True)
        usual = list(measured(rows, collect=True, repeats=repeats))
        print("\nThe garbage collector off on both sides:\n", flush=True)
        without = list(
            measured([row for row in rows if not row.elsewhere], collect=False, repeats=repeats)
        )
    left_out = "left out of a quick look"
    streams = left_out if quick else told_by("generators.py")
    served = left_out if quick else told_by("serving.py")
    scaled = left_out if quick else told_by("scale.py")
    edited = left_out if quick else told_by("editing.py")
    print(f"\n{streams}")
    if not quick:
        page = PAGE.format(
            repeats=repeats,
            most=MOST_REPEATS,
            machine=machine(),
            versions=versions(),
            usual=table(usual),
            without=table(without),
            streams=streams,
            served=served,
            scaled=scaled,
            edited=edited,
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
