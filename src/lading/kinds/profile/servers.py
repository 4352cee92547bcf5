"""The MCP servers that profiles speak of, and that settings define."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lading.diagnostics import Fact, Shown
from lading.kinds.kind import Offer, Want
from lading.kinds.reach import path_of, reach_of
from lading.tree import get

if TYPE_CHECKING:
    from lading.loading import Outcome

#: A tool of a server, or a pattern over the tools of one server.
_TOOL = re.compile(r"mcp__(?P<server>[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*)__.*", re.DOTALL)


def wants(outcome: Outcome) -> Iterator[Want]:
    """The servers whose tools a profile allows."""
    allow = get(outcome.tree.value, ("tools", "allow")) if outcome.tree is not None else None
    for number, entry in enumerate(allow if isinstance(allow, list | tuple) else ()):
        match = _TOOL.fullmatch(entry) if isinstance(entry, str) else None
        if match is not None:
            values: dict[str, object] = {"tool": Shown(entry), "server": Shown(match["server"])}
            missing = Fact("unknown-server", ("tools", "allow", number), values)
            yield Want(("mcp",), match["server"], path_of(outcome), missing)


def offers(outcome: Outcome) -> Iterator[Offer]:
    """The servers that a file of settings defines."""
    servers = get(outcome.tree.value, ("mcp", "servers")) if outcome.tree is not None else None
    for name in servers if isinstance(servers, dict) else ():
        yield Offer("mcp", name, reach_of(path_of(outcome)))
