"""Events that can end a phase: `tools/call`, or `tools/call:calculator` for one of them.

event     = base [ ":" qualifier ]
qualifier = everything behind the first colon, which may hold further colons: it can be a URI
"""

from __future__ import annotations

import msgspec

#: Every event there is, and whether it can be narrowed to one item.
BASES: dict[str, bool] = {
    "initialize": False,
    "initialized": False,
    "tools/list": False,
    "tools/call": True,
    "resources/list": False,
    "resources/read": True,
    "resources/subscribe": True,
    "resources/unsubscribe": False,
    "prompts/list": False,
    "prompts/get": True,
}


class Event(msgspec.Struct, frozen=True):
    """An event and, after a colon, the item it is about. Without one it stands for all items."""

    base: str
    qualifier: str | None = None

    @property
    def is_known(self) -> bool:
        return self.base in BASES

    @property
    def is_well_qualified(self) -> bool:
        """Whether a qualifier, if there is one, says something."""
        return self.qualifier is None or (bool(self.qualifier) and BASES.get(self.base, False))


def parse_event(written: str) -> Event:
    """The event as written, known or not."""
    base, colon, qualifier = written.partition(":")
    return Event(base, qualifier if colon else None)
