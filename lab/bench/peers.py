"""The linters that people would pick instead, as `lab/linters.py` installs them.

A peer that cannot be installed here is skipped, with the reason.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from linters import installed  # found there


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
    for make in (agnix, _claude_code_lint, _cclint, _skills_ref):
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


def agnix() -> Peer:
    program = str(installed("agnix") / "agnix")
    # The only format that says how many files there were.
    return Peer("agnix", lambda _: [program, ".", "--format", "json"], _number(r'_checked": (\d+)'))


def _claude_code_lint() -> Peer:
    program = str(installed("claude-code-lint") / "claudelint")
    return Peer("claude-code-lint", lambda _: [program, "check-all"], _number(r"Checked (\d+)"))


def _cclint() -> Peer:
    program = str(installed("cclint") / "cclint")
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
    python = str(installed("skills-ref") / "python")
    subprocess.run([python, "-c", "from skills_ref import validate"], check=True)
    return Peer(
        "skills-ref", lambda tree: [python, "-c", _SKILLS, str(tree)], _number(r"examined (\d+)")
    )
