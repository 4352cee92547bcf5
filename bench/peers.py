"""The linters that people would pick instead, each in an environment of its own below `.bench`.

A peer that cannot be installed here is skipped, with the reason.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).parents[1] / ".bench"
#: Pinned, so that a new version of a peer changes no row by itself.
PINS = {
    "agnix": "agnix==0.59.3",
    "skills-ref": "skills-ref==0.1.1",
    "claude-code-lint": "claude-code-lint@0.5.0",
    "cclint": "@carlrannaberg/cclint@0.2.10",
}


@dataclass(frozen=True)
class Peer:
    """A linter: its command for a tree, and how its output says how many files it examined."""

    name: str
    command: Callable[[Path], list[str]]
    examined: Callable[[str, Path], int]
    #: what to do with the tree before each run, not measured
    prepare: Callable[[Path], object] = lambda _tree: None


def find_peers() -> tuple[list[Peer], dict[str, str]]:
    """The peers that are there or can be installed, and why the others are skipped."""
    found: list[Peer] = []
    skipped: dict[str, str] = {}
    for make in (_agnix, _claude_code_lint, _cclint, _skills_ref):
        try:
            found.append(make())
        except (OSError, subprocess.SubprocessError) as error:
            name = make.__name__.strip("_").replace("_", "-")
            skipped[name] = f"{type(error).__name__}: {str(error)[:120]}"
    return found, skipped


def _number(pattern: str) -> Callable[[str, Path], int]:
    """Reads a number from the output; 0 if it is not there."""

    def read(output: str, _tree: Path) -> int:
        match = re.search(pattern, output)
        return int(match[1]) if match is not None else 0

    return read


def _agnix() -> Peer:
    program = _from_python("agnix", "agnix")
    # The only format that says how many files there were.
    return Peer("agnix", lambda _: [program, ".", "--format", "json"], _number(r'_checked": (\d+)'))


def _claude_code_lint() -> Peer:
    program = _from_npm("claude-code-lint", "claudelint")
    return Peer("claude-code-lint", lambda _: [program, "check-all"], _number(r"Checked (\d+)"))


def _cclint() -> Peer:
    program = _from_npm("cclint", "cclint")
    return Peer("cclint", lambda _: [program, "-q"], _number(r"Files checked: (\d+)"))


#: skills-ref has no command for many skills: its function is called for each, in one process.
_SKILLS = """
import sys
from pathlib import Path
from skills_ref import validate
count = 0
for file in sorted(Path(sys.argv[1]).rglob("SKILL.md")):
    validate(file.parent)
    count += 1
print("examined", count)
"""


def _skills_ref() -> Peer:
    python = _from_python("skills-ref", "python")
    subprocess.run([python, "-c", "from skills_ref import validate"], check=True)
    return Peer(
        "skills-ref", lambda tree: [python, "-c", _SKILLS, str(tree)], _number(r"examined (\d+)")
    )


def _from_python(name: str, program: str) -> str:
    folder = BENCH / name
    scripts = folder / ("Scripts" if sys.platform == "win32" else "bin")
    if not (folder / ".ready").exists():
        venv.create(folder, clear=True, with_pip=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PINS[name]]
        subprocess.run([scripts / "python", *install], check=True, capture_output=True)
        (folder / ".ready").touch()
    return str(scripts / program)


def _from_npm(name: str, program: str) -> str:
    folder = BENCH / name
    if not (folder / ".ready").exists():
        npm = shutil.which("npm")
        if npm is None:
            raise OSError("npm is not installed")
        folder.mkdir(parents=True, exist_ok=True)
        quiet = ["--silent", "--no-audit", "--no-fund", "--prefix", str(folder)]
        subprocess.run([npm, "install", *quiet, PINS[name]], check=True, capture_output=True)
        (folder / ".ready").touch()
    return str(folder / "node_modules" / ".bin" / program)
