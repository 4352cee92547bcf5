"""Every console case is a test by existing."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from cli.consoles import Console, consoles_in

FOLDER = Path(__file__).parent / "cases"
CASES = list(consoles_in(FOLDER))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.path.stem)
def test_console(case: Console, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case.check_here(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.settings.get("process")],
    ids=lambda case: case.path.stem,
)
def test_console_as_processes(case: Console, tmp_path: Path) -> None:
    case.check_as_processes(tmp_path)


def test_every_command_has_a_case() -> None:
    from equipage.cli import COMMANDS

    used = {
        command.split()[1]
        for case in CASES
        for command in case.commands()
        if command.startswith("equipage ")
    }
    assert COMMANDS.keys() <= used


def test_every_output_format_has_a_case() -> None:
    from equipage.render import REPORTS

    commands = [each.split() for case in CASES for each in case.commands()]
    # `full` is what a check without the option prints.
    used = {"full"} | {
        after
        for words in commands
        if words[:2] == ["equipage", "check"]
        for flag, after in pairwise(words)
        if flag in ("-f", "--output-format")
    }
    missing = set(REPORTS) - used
    assert not missing, "show each in tests/cli/cases/every-format-tells-the-same.md"
