"""What a skill of the `.defect` convention says."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from equipage.kinds.profile.hooks import Table


class SkillTriggers(Table, frozen=True):
    """When a skill is offered: paths that match, words that occur."""

    globs: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


class Skill(Table, frozen=True):
    """One skill."""

    TITLE: ClassVar[str] = "a skill"

    name: str
    description: str
    always: bool = False
    triggers: SkillTriggers = msgspec.field(default_factory=SkillTriggers)
    allowed_tools: tuple[str, ...] = ()
    body: str = ""
