"""Lists of names as people write them: with commas, with blanks, as a list; each name with its place.

A name may carry a pattern in brackets, `Bash(git log:*)`, whose commas and blanks do not divide. Three sorts of
names speak of something else: `mcp__github__search` of the server `github`, `Agent(reviewer)` of an agent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from equipage.kinds.convention.table import Sort
from equipage.syntax.engine import Range

_SERVER_TOOL = re.compile(r"mcp__(?P<server>[^_*](?:[^_]|_(?!_))*?)(?:__.*)?\Z")
_CALLED = re.compile(r"(?P<tool>[^()]+)\((?P<inside>.*)\)\Z", re.DOTALL)
_CALLS_AGENTS = frozenset({"Agent", "Task"})
_OPENING, _CLOSING = "([{", ")]}"


class Word(msgspec.Struct, frozen=True):
    """A name and where it stands in its text."""

    text: str
    range: Range


class Reference(msgspec.Struct, frozen=True):
    """Something that is named."""

    sort: Sort
    name: str


def divided(text: str, separators: str) -> Iterator[Word]:
    """The names in a text, divided at any of `separators` outside brackets."""
    start = depth = 0
    for offset, letter in enumerate(text + separators[0]):
        depth = max(0, depth + (letter in _OPENING) - (letter in _CLOSING))
        if offset == len(text) or (letter in separators and not depth):
            name = text[start:offset]
            lead = len(name) - len(name.lstrip())
            if name.strip():
                yield Word(name.strip(), (start + lead, start + lead + len(name.strip())))
            start = offset + 1


def references(name: str, sort: Sort) -> Iterator[Reference]:
    """What a name speaks of."""
    if sort != "tool":
        yield Reference(sort, name)
        return
    server = _SERVER_TOOL.match(name)
    if server is not None:
        yield Reference("server", server["server"])
        return
    called = _CALLED.match(name)
    tool = called["tool"].rstrip() if called else name
    yield Reference("tool", tool)
    if called and tool in _CALLS_AGENTS:
        yield from (Reference("agent", each.text) for each in divided(called["inside"], ","))


def is_pattern(name: str) -> bool:
    """Whether a name stands for many."""
    return not {"*", "?", "$", "{"}.isdisjoint(name) or name.startswith("mcp_")
