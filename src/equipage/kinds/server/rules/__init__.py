"""What must hold beyond the shape. Each rule is a function; each module one subject."""

from __future__ import annotations

from equipage.kinds.kind import Rule
from equipage.kinds.server.rules import behavior, forms, items, limits, phases, responses, templates, triggers

RULES: tuple[Rule, ...] = (
    *forms.RULES,
    *items.RULES,
    *phases.RULES,
    *triggers.RULES,
    *responses.RULES,
    *templates.RULES,
    *behavior.RULES,
    *limits.RULES,
)
