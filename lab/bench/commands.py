"""The command as people start it: cold, and over many files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import profiles
import toolpacks
from harness import Row, processor_time

import data

BARE = "`python -I -c pass`"
SMALL = """\
server:
  name: small
tools:
  - tool:
      name: echo
      description: Says it again
      inputSchema:
        type: object
        properties:
          text: {type: string}
    response:
      content:
        - type: text
          text: said
"""


def rows(folder: Path, *, files: int = 5000) -> list[Row]:
    """The comparisons, over files written to `folder`."""
    small = folder / "small.yaml"
    small.write_text(SMALL)
    cold = {"counts": True, "elsewhere": True}
    bare = _cold(folder, [sys.executable, "-I", "-c", "pass"])
    return [
        Row(
            "cold `equipage check` of a small file",
            BARE,
            5,
            "at most",
            _cold(folder, _equipage("check", small)),
            bare,
            **cold,
        ),
        Row(
            "cold `equipage --help`",
            BARE,
            2.5,
            "at most",
            _cold(folder, _equipage("--help")),
            bare,
            **cold,
        ),
        _findings(folder),
        *(
            [_on_two_cores(folder / "mixed", files), _locking(folder / "agents")]
            if files >= 5000
            else []
        ),  # few are not worth a second process
    ]


def _findings(folder: Path) -> Row:
    """One file twice: as it should be, and with a slip in a key."""
    agents = folder / ".claude" / "agents"
    agents.mkdir(parents=True)
    good, bad = agents / "good.md", agents / "bad.md"
    good.write_text("---\nname: good\ndescription: d\ntools: Read\n---\nText.\n")
    bad.write_text("---\nname: bad\ndescription: d\ntols: Read\n---\nText.\n")
    once = ("check", "--exit-zero")
    return Row(
        "cold `equipage check` of one file with findings",
        "one without",
        1.5,
        "at most",
        _cold(folder, _equipage(*once, bad)),
        _cold(folder, _equipage(*once, good)),
        counts=True,
        elsewhere=True,
    )


def _on_two_cores(folder: Path, files: int) -> Row:
    mixed(folder, files)
    return Row(
        f"`equipage check` of {files:,} mixed files on two cores",
        "the same on one",
        1.5,
        "faster",
        _run(folder, _equipage("check", "--jobs", "2", ".")),
        _run(folder, _equipage("check", "--jobs", "1", ".")),
        elsewhere=True,
    )


def _locking(folder: Path, files: int = 2000) -> Row:
    """Half of the files are agents, half belong to skills, four to each."""
    agents, skills = folder / ".claude/agents", folder / ".claude/skills"
    agents.mkdir(parents=True)
    for number in range(files // 2):
        text = f"---\nname: a{number}\ndescription: d\ntools: Read, Grep\n---\nText.\n"
        (agents / f"a{number}.md").write_text(text)
    for number in range(files // 8):
        skill = skills / f"s{number}"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text(f"---\nname: s{number}\ndescription: d\n---\nText.\n")
        for name in "abc":
            (skill / f"{name}.py").write_text(f"print({number})\n")
    return Row(
        f"`equipage lock` of {files:,} files",
        "`equipage check` of them",
        1.5,
        "at most",
        _run(folder, _equipage("lock")),
        _run(folder, _equipage("check")),
        elsewhere=True,
    )


def mixed(folder: Path, files: int) -> None:
    """Two fifths profiles, two fifths toolpacks, one fifth servers."""
    profiles.write(folder, files * 2 // 5)
    (folder / "tools").mkdir()
    toolpacks.write(folder / "tools", files * 2 // 5)
    servers = folder / "servers"
    servers.mkdir()
    for number in range(files - 2 * (files * 2 // 5)):
        (servers / f"s{number}.yaml").write_text(data.server(tools=2, properties=3))


def _equipage(*arguments: object) -> list[str]:
    return [str(Path(sys.executable).with_name("equipage")), *map(str, arguments)]


def _cold(folder: Path, command: list[str]) -> Callable[[], float]:
    """The processor time of a process, started anew each time.

    It is the least of a few, because starts are short.
    """
    return lambda: min(processor_time(command, folder) for _ in range(5))


def _run(folder: Path, command: list[str]) -> Callable[[], object]:
    """A process to time, started anew each time; it must succeed."""
    return lambda: subprocess.run(command, check=True, capture_output=True, cwd=folder)
