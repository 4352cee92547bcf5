"""The conventions of other agent tools: tables, and the kinds made from them."""

from __future__ import annotations

from lading.kinds.convention import claude, codex, copilot, cursor, gemini, opencode
from lading.kinds.convention.kind import kind_of
from lading.kinds.convention.table import Convention
from lading.kinds.kind import Kind

#: Every table whose kind is its own. Skills and servers, which several tools share, are kinds of their own.
CONVENTIONS: tuple[Convention, ...] = (
    *claude.CONVENTIONS,
    *copilot.CONVENTIONS,
    *opencode.CONVENTIONS,
    *codex.CONVENTIONS,
    *gemini.CONVENTIONS,
    *cursor.CONVENTIONS,
)

KINDS: dict[str, Kind] = {each.kind: kind_of(each) for each in CONVENTIONS}

__all__ = ["CONVENTIONS", "KINDS"]
