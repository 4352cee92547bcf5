"""`python tools/mutants [part …]`: small wrong changes to what everything rests on, one at a time,
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
    """Some modules of `src/equipage`, and files of tests that are quick and need no processes of
    other programs: a change is not seen there."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


def _serve(*names: str) -> tuple[str, ...]:
    return tuple(f"serve/test_{name}.py" for name in names)


def _files(*names: str) -> tuple[str, ...]:
    return tuple(f"files/test_{name}.py" for name in names)


def _security(*names: str) -> tuple[str, ...]:
    return tuple(f"security/test_{name}.py" for name in names)


def _faults(*names: str) -> tuple[str, ...]:
    return tuple(f"serve/faults/{name}.py" for name in names)


_MISBEHAVING = (
    *_faults("test_answers", "test_bytes", "test_course", "test_examples", "test_expectations"),
    *_faults("test_jobs", "test_phase_edges", "test_phases", "test_probes", "test_runs"),
    *_faults("test_web"),
    *_security("fault_server"),
)
_SOCKETS = (
    *_faults("test_bytes", "test_examples", "test_expectations", "test_phases", "test_probes"),
    *_faults("test_runs", "test_wires"),
    *_security("fault_server"),
)
_CALLS = _serve("templates", "log", "framing", "cache")
PARTS = {
    "tree": Part(("loading/tree.py",), ("loading/test_tree.py",)),
    "variables": Part(
        ("syntax/variables.py",),
        ("syntax/test_variables.py", "security/test_environment_values.py"),
    ),
    "frozen": Part(
        ("core/frozen.py",),
        (
            "core",
            "security/test_weight.py",
            "formats/server/test_limits.py",
            "loading/test_model.py",
        ),
    ),
    "compose": Part(("formats/server/compose.py",), ("formats/server",)),
    "syntax": Part(("syntax/__init__.py",), ("syntax/test_brackets.py", "syntax/test_json.py")),
    "confinement": Part(("serve/confinement.py",), _serve("confinement")),
    "jail": Part(("serve/jail.py",), _serve("jail", "filter")),
    "calls": Part(
        ("serve/cache.py", "serve/framing.py", "serve/log.py", "serve/outcome.py"), _CALLS
    ),
    "templates": Part(("serve/templates.py",), _CALLS),
    "catalogue": Part(("serve/wire/catalogue.py",), _serve("catalogue", "skills")),
    "lines": Part(("serve/wire/lines.py",), _serve("lines")),
    "tools": Part(("serve/tools.py",), _serve("tools")),
    "trust": Part(
        ("serve/trust.py", "serve/snapshot.py", "serve/validation.py"),
        _serve("snapshot", "validation"),
    ),
    "skills": Part(("serve/skills.py",), _serve("skills", "catalogue")),
    "door": Part(("serve/wire/http.py",), _serve("door")),
    "requests": Part(("serve/execution/http.py",), _serve("requests")),
    "supervisor": Part(("serve/supervisor.py", "serve/worker.py"), _serve("forked", "worker")),
    "children": Part(("serve/children.py",), _serve("children", "forked")),
    "engine": Part(("serve/engine.py",), _serve("engine")),
    "processes": Part(("serve/execution/process.py",), _serve("engine")),
    "server": Part(("serve/wire/server.py", "serve/wire/run.py"), _serve("server")),
    "runtime": Part(
        ("serve/runtime.py", "serve/platform.py", "serve/testing.py"),
        _serve("facade", "platform", "fixture"),
    ),
    "sandbox": Part(
        ("files/sandbox.py",),
        ("files/test_sandbox.py", *_security("links", "roots", "special_files", "path_spellings")),
    ),
    "roots": Part(("loading/layers.py",), ("loading/test_layers.py",)),
    "reading": Part(
        ("files/reading.py", "files/memory.py", "files/__init__.py"),
        (
            *_files("arguments", "overlay", "questions", "reading", "sandbox", "systems"),
            *_files("trees"),
            *_security("links", "special_files", "what_is_never_read"),
            "loading/test_options_given.py",
        ),
    ),
    "writing": Part(
        ("files/writing.py",),
        ("files/test_writing.py", *_security("interrupted_writes", "written_places", "writes")),
    ),
    "walking": Part(("files/walking.py",), _files("walking", "wanted", "revisions")),
    "lists": Part(
        ("files/gitignore.py", "files/index.py", "files/git.py"),
        _files("walking", "gitignore", "index", "questions", "revisions"),
    ),
    "looks": Part(("files/recording.py",), _files("watching")),
    "expectations": Part(_faults("expect"), _faults("test_expectations", "test_examples")),
    "fault-answers": Part(
        (
            *_faults("answers", "replies", "responding", "matching", "templates", "views"),
            *_faults("eras", "handlers"),
        ),
        _MISBEHAVING,
    ),
    "fault-course": Part(
        _faults("engine", "phases", "jobs", "effects", "sides", "exchange", "caps", "trace"),
        _MISBEHAVING,
    ),
    "fault-bytes": Part(_faults("delivery", "wire", "routes", "web"), _MISBEHAVING),
    "fault-wire": Part(_faults("driver", "http"), _SOCKETS),
    "fault-runs": Part(
        _faults("stdio", "run"),
        _faults("test_bytes", "test_examples", "test_expectations", "test_runs", "test_wires"),
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
            "tests": [f"tests/{each}" for each in part.tests],
            "out": str(out),
            "children": children,
            "known": known,
        }
        # A folder for temporary files, too: a change that keeps one from being removed is common.
        env = {
            **os.environ,
            "HOME": str(home),
            "TMPDIR": str(home),
            "PYTHONPATH": os.pathsep.join(map(str, (root / "src", root / "tests"))),
        }
        here = root / "tools" / "mutants" / "running.py"
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
