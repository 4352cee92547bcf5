"""`python lab/mutants [part …]`: small wrong changes to what everything rests on, one at a time,
and whether the tests of that part notice. Prints a line for each part and every change that lives.

It works on a copy of the repository, because what a wrong change writes or removes may be anything.
With `--again`, what was noticed before is not tried again where its function is as it was: that is
enough after tests were added.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
#: What the last run of each part came to.
RESULTS = REPOSITORY / ".mutants"


#: A change that makes a loop endless, or takes all memory, is ended by the run.
_NOTICED = ("noticed", "ended")


@dataclass(frozen=True)
class Part:
    """Some modules, and files of tests that are quick and need no processes of
    other programs: a change is not seen there."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


#: What the tests import.
_SOURCES = ("src", "tests", "packages/equipage-serve/src", "packages/equipage-serve/tests")
PARTS = {
    "frozen": Part(
        ("src/equipage/core/frozen.py",),
        (
            "tests/core",
            "tests/security/test_weight.py",
            "tests/formats/server/test_limits.py",
            "tests/loading/test_model.py",
            "tests/loading/test_own_formats.py",
            "tests/loading/test_schema_models.py",
        ),
    ),
    "jail": Part(
        ("packages/equipage-serve/src/equipage_serve/jail.py",),
        (
            "packages/equipage-serve/tests/test_jail.py",
            "packages/equipage-serve/tests/test_filter.py",
        ),
    ),
    "sandbox": Part(
        ("src/equipage/files/sandbox.py",),
        (
            "tests/files/test_sandbox.py",
            "tests/security/test_links.py",
            "tests/security/test_roots.py",
            "tests/security/test_special_files.py",
            "tests/security/test_path_spellings.py",
            "tests/workspace/test_after.py",
        ),
    ),
}


def _copy(folder: Path) -> None:
    """The files of the repository, as they are now, without what git ignores."""
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
    ).stdout
    for name in filter(None, os.fsdecode(listed).split("\0")):
        source, target = REPOSITORY / name, folder / name
        if os.path.lexists(source):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)


def _run(name: str, children: int, *, again: bool) -> dict[str, Any]:
    part = PARTS[name]
    RESULTS.mkdir(exist_ok=True)
    out = RESULTS / f"{name}.json"
    before = json.loads(out.read_text())["results"] if again and out.exists() else []
    known = {each["name"]: each["change"] for each in before if each["outcome"] in _NOTICED}
    with tempfile.TemporaryDirectory(prefix="mutants-") as made:
        root = Path(made, "equipage")
        home = Path(made, "home")
        home.mkdir()
        _copy(root)
        told = {
            "root": str(root),
            "modules": part.modules,
            "tests": part.tests,
            "out": str(out),
            "children": children,
            "known": known,
        }
        # A folder for temporary files, too: a change that keeps one from being removed is common.
        env = {
            **os.environ,
            "HOME": str(home),
            "TMPDIR": str(home),
            "PYTHONPATH": os.pathsep.join(str(root / each) for each in _SOURCES),
        }
        here = root / "lab" / "mutants" / "running.py"
        plan = Path(made, "plan.json")  # too long for an argument, if much is known
        plan.write_text(json.dumps(told))
        done = subprocess.run(
            [sys.executable, str(here), str(plan)],
            cwd=root,
            env=env,
            check=False,
            stdout=subprocess.DEVNULL,
        )
    if done.returncode not in (0, 5):
        raise SystemExit(f"{name}: the tests cannot be run ({done.returncode})")
    found: dict[str, Any] = json.loads(out.read_text())
    skipped = set(found.pop("skipped"))
    found["results"] += [each for each in before if each["name"] in skipped]
    out.write_text(json.dumps(found, indent=1))
    return found


def _tell(name: str, found: dict[str, Any]) -> int:
    """Print what a part came to; how many changes live."""
    for test, why in found["left_out"]:
        print(f"{name}: not used: {test} {why}")
    results = found["results"]
    count = Counter(each["outcome"] for each in results)
    noticed = count["noticed"] + count["ended"]
    print(
        f"{name:12} {len(results):6,} changes {noticed:6,} noticed ({count['ended']} by time or "
        f"memory) {count['lives']:4} live {count['unreached']:4} reached by no test",
        flush=True,
    )
    for each in results:
        if each["outcome"] not in _NOTICED:
            print(f"  {each['outcome']}: {each['name']}, line {each['line']}")
            print("".join(f"    {line}\n" for line in each["change"].splitlines()), end="")
    return len(results) - noticed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--children", type=int, default=2, help="processes side by side")
    parser.add_argument("--again", action="store_true", help="only what was not noticed before")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    lives = 0
    for name in options.parts or PARTS:
        lives += _tell(name, _run(name, options.children, again=options.again))
    print(f"{lives} live; docs/security.md says why those that may live do")
    return 0


if __name__ == "__main__":
    sys.exit(main())
