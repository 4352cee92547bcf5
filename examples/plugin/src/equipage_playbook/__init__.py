"""Playbooks: the steps an agent goes through, and the questions it asks on the way."""

from __future__ import annotations

from typing import Any

from equipage.plugin import Format, Presentation, Reading, Shape, accept
from equipage_playbook import codes, rules, stages
from equipage_playbook.model import Playbook


def _schema(schema: dict[str, Any]) -> dict[str, Any]:
    """What an author may write beyond the model."""
    schema = accept(schema, "command", stages.COMMAND_SCHEMA, at=["Playbook.steps[]"])
    return accept(schema, "file", stages.FILE_SCHEMA, at=["Step.ask"])


_EXAMPLE = """\
playbook: NAME
steps:
  - id: first
    run: make test
"""

FORMAT = Format(
    name="playbook",
    title="playbook",
    model=Playbook,
    reading=Reading(variables=False),
    shape=Shape(unknown="error", exempt=("x-",)),
    stages=(stages.shorthands, stages.files),
    checks=(rules.ids_are_unique, rules.needs_exist, rules.a_step_does_one_thing),
    codes=codes.CODES,
    presentation=Presentation(example=_EXAMPLE, schema=_schema),
)

__all__ = ["FORMAT", "Playbook"]
