"""The conventions of other agent tools: tables, and the kinds made from them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import msgspec

from equipage.kinds.conventions.kind import CONVENTIONS, kind_of
from equipage.loading.kind import Kind, Portable

if TYPE_CHECKING:
    from equipage.loading.pipeline import Outcome


@cache
def kind_named(name: str) -> Kind:
    """The kind of a convention; its model is made when it is first asked for."""
    convention = next(each for each in CONVENTIONS if each.kind == name)
    return msgspec.structs.replace(kind_of(convention), portable=portable)


def portable(outcome: Outcome) -> Portable | None:
    """What other tools would make of an agent."""
    from equipage.views import portability  # compares all tables, for one command

    return portability.portable(outcome)


__all__ = ["CONVENTIONS", "kind_named", "portable"]
