"""Playbooks: the steps an agent goes through, and the questions it asks on the way."""

from __future__ import annotations

from typing import Any

import equipage
from equipage.plugin import Presentation, Shape, accept
from equipage_playbook import checks, codes, rules
from equipage_playbook.model import Playbook
from equipage_playbook.stages import shorthands

_EXAMPLE = """\
playbook: NAME
steps:
  - id: first
    run: make test
"""


def _schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A step may also be a text."""
    command = {"title": "a command", "type": "string"}
    return accept(schema, "command", command, at=["Playbook.steps[]"])


FORMAT = equipage.Format(
    Playbook,
    reading=equipage.Reading(variables=False),
    shape=Shape(exempt=("x-",)),
    stages=(shorthands, equipage.Files()),
    rules=(rules.ids_are_unique, rules.a_step_does_one_thing),
    checks=(checks.needs_exist,),
    codes=codes.CODES,
    presentation=Presentation(example=_EXAMPLE, schema=_schema),
)

__all__ = ["FORMAT", "Playbook"]
