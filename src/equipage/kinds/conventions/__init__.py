"""The conventions of other agent tools: tables, and the kinds made from them."""

from __future__ import annotations

from functools import cache

from equipage.kinds.conventions.kind import kind_of
from equipage.kinds.conventions.tools import CONVENTIONS
from equipage.loading.kind import Kind


@cache
def kind_named(name: str) -> Kind:
    """The kind of a convention; its model is made when it is first asked for."""
    return kind_of(next(each for each in CONVENTIONS if each.kind == name))


__all__ = ["CONVENTIONS", "kind_named"]
