"""`changes.py --changes 10000`: random changes of workspaces, after which nothing may be missed.

After each change, `Workspace.after`, the language server and a fresh check must print the same. A workspace
depends on its seed alone: `changes.py --seed 7 --changes 100` makes the first hundred changes of
workspace 7 again.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import traceback
from difflib import unified_diff
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from workspace.editing import Workspace

#: How many changes a workspace goes through before the next one.
EACH = 100
MOST_FAILURES = 3


def attempt(seed: int, changes: int, folder: Path) -> tuple[int, str | None]:
    """How many changes of a workspace were tried, and what went wrong."""
    root = folder / str(seed) / "project"
    workspace = Workspace(root, seed)
    for number in range(changes):
        what = workspace.change()
        try:
            known, fresh = workspace.reports()
        except Exception:
            return number + 1, f"change {number}, {what}:\n{traceback.format_exc(limit=-4)}"
        if known != fresh:
            lines = unified_diff(fresh.splitlines(), known.splitlines(), "fresh", "known", n=1)
            return number + 1, f"change {number}, {what}:\n" + "\n".join([*lines][:40])
    return changes, None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--changes", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first workspace")
    options = parser.parse_args(arguments)
    done = failures = 0
    seed = options.seed
    folder = Path(tempfile.mkdtemp())
    try:
        while done < options.changes and failures < MOST_FAILURES:
            count, problem = attempt(seed, min(EACH, options.changes - done), folder)
            done += count
            if problem is not None:
                failures += 1
                print(f"changes: --seed {seed}: {problem}", flush=True)
            os.chdir("/")
            shutil.rmtree(folder / str(seed), ignore_errors=True)
            seed += 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    workspaces = seed - options.seed
    print(f"changes    {done:8,} changes of {workspaces:4} workspaces, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
