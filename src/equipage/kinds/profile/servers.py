"""The MCP servers that profiles speak of, and that settings define."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from equipage.diagnostics import Fact, Shown
from equipage.kinds.kind import Offer
from equipage.kinds.reach import path_of, reach_of
from equipage.nearest import Guesses
from equipage.path import Path
from equipage.tree import get

if TYPE_CHECKING:
    from equipage.loading import Outcome

#: A tool of a server, or a pattern over the tools of one server.
_TOOL = re.compile(r"mcp__(?P<server>[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*)__.*", re.DOTALL)
#: The kinds of files that define servers.
_DEFINE = frozenset({"mcp", "settings"})


def servers_exist(own: Sequence[Outcome], offers: Sequence[Offer]) -> Iterator[tuple[Outcome, Fact]]:
    """The servers whose tools a profile allows are defined, if any server is."""
    for outcome in own:
        path = path_of(outcome)
        known = {
            name
            for offer in offers
            if offer.kind in _DEFINE and path.startswith(f"{reach_of(offer.path)}/")
            for name in offer.names
        }
        if not known:
            continue
        guesses, ordered = Guesses(), sorted(known)
        for place, tool, server in _allowed(outcome):
            if server not in known:
                values: dict[str, object] = {"tool": Shown(tool), "server": Shown(server)}
                values["nearest"] = guesses.nearest(server, ordered)
                yield outcome, Fact("unknown-server", place, values)


def refers(outcome: Outcome) -> bool:
    """Whether a profile allows tools of a server."""
    return next(_allowed(outcome), None) is not None


def _allowed(outcome: Outcome) -> Iterator[tuple[Path, str, str]]:
    allow = get(outcome.tree.value, ("tools", "allow")) if outcome.tree is not None else None
    for number, entry in enumerate(allow if isinstance(allow, list | tuple) else ()):
        match = _TOOL.fullmatch(entry) if isinstance(entry, str) else None
        if match is not None:
            yield ("tools", "allow", number), entry, match["server"]


def defined(outcome: Outcome) -> Iterator[str]:
    """The servers that a file of settings defines."""
    servers = get(outcome.tree.value, ("mcp", "servers")) if outcome.tree is not None else None
    yield from servers if isinstance(servers, dict) else ()
