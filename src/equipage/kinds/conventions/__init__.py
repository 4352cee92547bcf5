"""The conventions of other agent tools: tables, and the kinds made from them.

The tables alone are light: recognition imports them for every file that might be of a tool. What
makes kinds of them is imported with the first kind.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from equipage.loading.kind import Kind


@cache
def kind_named(name: str) -> Kind:
    """The kind of a convention; its model is made when it is first asked for."""
    from equipage.kinds.conventions.kind import kind_of
    from equipage.kinds.conventions.tools import CONVENTIONS

    return kind_of(next(each for each in CONVENTIONS if each.kind == name))
