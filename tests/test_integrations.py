"""The files other tools read: hooks for pre-commit, an action for GitHub."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from lading.cli.arguments import parser

ROOT = Path(__file__).resolve().parents[1]
HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_hooks_call_the_command_rightly(hook: dict[str, Any]) -> None:
    command, *arguments = shlex.split(hook["entry"])
    assert command == "lading"
    options = parser().parse_args([*arguments, *hook.get("args", [])])
    assert options.command == "check"
    assert options.fix == (hook["id"] == "lading-fix")
    assert hook["language"] == "python"


def test_the_action_is_composite_and_takes_its_inputs_as_variables() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert action["runs"]["using"] == "composite"
    for step in action["runs"]["steps"]:
        assert "${{" not in step.get("run", ""), "an input in a script is code"
        assert ("shell" in step) == ("run" in step)
    names = set(action["inputs"])
    used = {name for name in names if f"inputs.{name}" in (ROOT / "action.yml").read_text()}
    assert names == used
