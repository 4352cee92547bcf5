"""Every table of the conventions of other agent tools."""

from __future__ import annotations

from equipage.kinds.convention import claude, codex, copilot, cursor, gemini, opencode
from equipage.kinds.convention.table import Convention

#: Every table whose kind is its own. Skills and servers, which several tools share, are kinds of their own.
CONVENTIONS: tuple[Convention, ...] = (
    *claude.CONVENTIONS,
    *copilot.CONVENTIONS,
    *opencode.CONVENTIONS,
    *codex.CONVENTIONS,
    *gemini.CONVENTIONS,
    *cursor.CONVENTIONS,
)
