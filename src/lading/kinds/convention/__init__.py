"""The conventions of other agent tools: tables, and the kinds made from them."""

from __future__ import annotations

from functools import cache

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


@cache
def kind_named(name: str) -> Kind:
    """The kind of a convention; its model is made when it is first asked for."""
    return kind_of(next(each for each in CONVENTIONS if each.kind == name))


__all__ = ["CONVENTIONS", "kind_named"]
