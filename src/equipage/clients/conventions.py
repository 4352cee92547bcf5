"""The conventions of other agent tools: tables, and the kinds made from them.

Recognition needs only where files are, which `clients.tables.paths` repeats; the tables, and what
makes kinds of them, are imported with the first kind.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from equipage.loading.format import Format


@cache
def format_named(name: str) -> Format:
    """The kind of a convention; its model is made when it is first asked for."""
    from equipage.clients.kind import kind_of
    from equipage.clients.tables.conventions import CONVENTIONS

    return kind_of(next(each for each in CONVENTIONS if each.kind == name))
