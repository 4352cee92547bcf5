"""Skills: `SKILL.md`, strict in the seed's own folders, tolerant where other tools keep them."""

from __future__ import annotations

from equipage.kinds.skill.kind import KIND, STRICT

__all__ = ["KIND", "STRICT"]
