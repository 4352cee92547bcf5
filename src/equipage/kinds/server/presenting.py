"""What the commands show of a server: its items, and the changes that matter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.kinds.kind import Item, Sensitive
from equipage.path import Path

#: list of items → where an item's own part stands, and what names it
_PARTS = (("tools", "tool", "name"), ("resources", "resource", "uri"), ("prompts", "prompt", "name"))


def listing(plain: Any, file: str) -> Iterator[Item]:
    """The server itself, then its tools, resources and prompts."""
    server = plain.get("server", {})
    yield Item("server", str(server.get("name", file)), server.get("description"))
    for path in ((), ("baseline",)):
        state = plain.get("baseline", {}) if path else plain
        for group, part, key in _PARTS:
            for number, each in enumerate(state.get(group) or ()):
                yield from _item(each, part, key, (*path, group, number))


def _item(each: Any, part: str, key: str, path: Path) -> Iterator[Item]:
    own = each.get(part) if isinstance(each, dict) else None
    if isinstance(own, dict):
        yield Item(part, str(own.get(key, "?")), own.get("description"), path)


SENSITIVE = (
    Sensitive("**.tools.*", "tool"),
    Sensitive("**.add_tools.*", "tool"),
    Sensitive("**.replace_tools.*", "tool"),
    Sensitive("**.tool.description", "prompt"),
    Sensitive("**.prompts.*.response.**", "prompt"),
    Sensitive("server.capabilities.**", "permission"),
    Sensitive("baseline.capabilities.**", "permission"),
)
