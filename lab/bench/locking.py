"""`equipage lock` against `equipage check` on real files, by the CPU time of both.

    python lab/bench/locking.py FOLDER [FILES]

Below FOLDER are repositories. So many of them are copied into one project, in order of their names,
that a lock of it holds FILES files (2,000). Both commands run in turn, three times, without what an
earlier run kept; of each, the least of user and system time counts. It fails if locking takes more
than 1.5 times as long.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

BOUND, RUNS = 1.5, 3
#: What is not copied: history, and what tools fetched.
_LEFT_OUT = shutil.ignore_patterns(".git", "node_modules", "equipage.lock", "equipage.toml")


def main(arguments: list[str]) -> int:
    source, files = Path(arguments[0]), int(arguments[1]) if arguments[1:] else 2000
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "project")
        (project / ".git").mkdir(parents=True)
        locked = filled(project, source, files)
        times = dict(measured(project))
    ratio = times["lock"] / times["check"]
    shown = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in times.items())
    print(f"{locked:,} files locked: {shown}; {ratio:.2f} times (bound {BOUND})")
    return int(ratio > BOUND or locked < files)


def filled(project: Path, source: Path, files: int) -> int:
    """Copy repositories into the project until its lock holds enough files; how many it holds."""
    locked = 0
    for each in sorted(source.iterdir()):
        if locked >= files:
            break
        if each.is_dir():
            shutil.copytree(each, project / each.name, symlinks=True, ignore=_LEFT_OUT)
            locked += _locked(project, each.name)
    return locked


def _locked(project: Path, name: str) -> int:
    """How many files a lock of a folder in the project holds."""
    path = project.parent / "lock"
    path.unlink(missing_ok=True)
    equipage("lock", project, "-o", str(path), name)
    return len(json.loads(path.read_text())["files"]) if path.exists() else 0


def measured(project: Path) -> Iterator[tuple[str, float]]:
    """The least CPU time of each command."""
    found: dict[str, list[float]] = {"lock": [], "check": []}
    for _ in range(RUNS):
        for name, times in found.items():
            before = _used()
            equipage(name, project)
            times.append(_used() - before)
    yield from ((name, min(times)) for name, times in found.items())


def equipage(command: str, folder: Path, *options: str) -> None:
    words = [sys.executable, "-m", "equipage", command, *options]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    quiet = subprocess.DEVNULL
    subprocess.run(words, cwd=folder, env=env, stdout=quiet, stderr=quiet, check=False)


def _used() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
