"""One small loader with equipage, OmegaConf, Hydra, pydantic-settings and dynaconf.

    make loaders

Each program in `programs/` reads the files of `inputs.py` in its library's own idiom: an include
with an override, a variable, a file, three layers, a typed result. The run says how long each
program is, what it says about three mistakes, and what three hostile files do to it. The table and
the programs go into `docs/loaders.md`. A library that cannot be installed, or a program that does
not give the right configuration, fails the run.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from inputs import FILES, HOSTILE, MISTAKES

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "loaders.md"
ENVIRONMENT = ROOT / ".peers" / "loaders"
#: The library, its title, its package, and how it names the value whose story is asked for.
LIBRARIES = {
    "equipage": ("equipage", "equipage", "tools[0].timeout"),
    "omegaconf": ("OmegaConf", "omegaconf", ""),
    "hydra": ("Hydra", "hydra-core", ""),
    "pydantic-settings": ("pydantic-settings", "pydantic-settings[yaml]", ""),
    "dynaconf": ("dynaconf", "dynaconf", "tools.search.timeout"),
}
#: dynaconf needs it for a variable with a default.
BESIDE = ("jinja2",)
TOOL = {"name": "search", "url": "https://a.example", "timeout": 40}
EXPECTED = {"name": "my demo", "prompt": "Be kind.\n", "tools": [TOOL]}
SECONDS, BYTES = 20, 1_500_000_000
BEGIN, END = "<!-- made by `make loaders` -->", "<!-- end -->"


def python() -> str:
    """A Python that has all of the libraries, installed into a folder that git ignores."""
    program = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / ".ready").exists():
        venv.create(ENVIRONMENT, with_pip=True)
        packages = [package for _, package, _ in LIBRARIES.values() if package != "equipage"]
        install = [program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *packages, *BESIDE, "--editable", ROOT], check=True)
        (ENVIRONMENT / ".ready").touch()
    return str(program)


def program_of(library: str) -> Path:
    return HERE / "programs" / f"with_{library.replace('-', '_')}.py"


def outcome(interpreter: str, library: str, changes: Mapping[str, str] = {}) -> dict[str, Any]:
    """What a program says of the files of the task, with some of them changed."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "project")
        for name, text in {**FILES[library], **changes}.items():
            file = (folder / name).resolve()
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        command = [interpreter, HERE / "drive.py", program_of(library)]
        command += [each for each in (LIBRARIES[library][2],) if each]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=SECONDS,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES)),
            )
        except subprocess.TimeoutExpired:
            return {"error": "TimeoutExpired", "said": ""}
        if done.returncode:
            return {"error": "MemoryError" if "MemoryError" in done.stderr else done.stderr}
        said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return said


# What the cells of the table say.


def cells(interpreter: str, library: str) -> list[str]:
    """One row of the table, without the name of the library."""
    right, wrong = outcome(interpreter, library), outcome(interpreter, library, MISTAKES[library])
    config = right.get("config") or {}
    tools = config.get("tools", [])
    tools = [*tools.values()] if isinstance(tools, dict) else [*tools]
    if {**config, "tools": tools} != EXPECTED:
        raise SystemExit(f"{library} does not do the task: {right}")
    lines = sum(bool(line.strip()) for line in program_of(library).read_text().splitlines())
    said = wrong.get("said", "")
    found = sum(bool(re.search(each, said)) for each in ("timeot", "soon", "prompt"))
    return [
        str(lines),
        str(found),
        place_of(said),
        story_of(right["story"]),
        "yes" if right["frozen"] else "no",
        *(verdict(outcome(interpreter, library, each[library])) for each in HOSTILE.values()),
    ]


def place_of(said: str) -> str:
    """How a message says where a mistake is."""
    if re.search(r"\.yaml:\d+:\d+", said):
        return "file, line, column"
    named = "file, " if "In 'lib/search'" in said else ""
    has_path = re.search(r"tools[.\[]\S*timeo", said)
    return named + ("path in the data" if has_path else "name of the key")


def story_of(said: str) -> str:
    """How a library says who set a value."""
    if re.search(r"base\.yaml:\d+:\d+", said):
        return "file, line, column"
    return "file" if "base.yaml" in said else "–"


def verdict(said: Mapping[str, Any]) -> str:
    """What a hostile file did."""
    if "error" not in said:
        return "is read" if "hunter2" in json.dumps(said) else "loads"
    if said["error"] in ("TimeoutExpired", "MemoryError"):
        return "hangs"
    return "recursion" if said["error"] == "RecursionError" else "refused"


def versions(interpreter: str) -> Iterator[str]:
    for title, package, _ in LIBRARIES.values():
        name = package.partition("[")[0]
        code = f"from importlib.metadata import version; print(version({name!r}))"
        done = subprocess.run([interpreter, "-c", code], capture_output=True, text=True, check=True)
        yield f"{title} {done.stdout.strip()}"


def table(rows: Mapping[str, list[str]]) -> Iterator[str]:
    head = ["lines", "mistakes found of 3", "where", "who set a value", "frozen", *HOSTILE]
    yield f"| | {' | '.join(head)} |"
    yield "|---" * (len(head) + 1) + "|"
    for library, row in rows.items():
        yield f"| {LIBRARIES[library][0]} | {' | '.join(row)} |"


def programs() -> Iterator[str]:
    """The programs as the page shows them, each with its files."""
    for library, (title, _, _) in LIBRARIES.items():
        yield f"### {title}"
        yield ""
        yield f"```python\n{program_of(library).read_text(encoding='utf-8')}```"
        yield ""
        for name, text in FILES[library].items():
            if name.endswith(".yaml"):
                yield f"```yaml\n# {name}\n{text}```"
                yield ""


def main() -> int:
    interpreter = python()
    rows = {}
    for library in LIBRARIES:
        rows[library] = cells(interpreter, library)
        print(library, rows[library], flush=True)
    run = f"Run in {time.strftime('%B %Y')} with {', '.join(versions(interpreter))}."
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    middle, after = rest.partition(END)[2], ""
    middle, _, after = middle.partition(BEGIN)
    after = after.partition(END)[2]
    made = "\n".join([BEGIN, "", run, "", *table(rows), "", END])
    shown = "\n".join([BEGIN, "", *programs(), END])
    PAGE.write_text(before + made + middle + shown + after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
