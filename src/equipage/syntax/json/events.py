"""The tokens of a JSON text that matter for places, without recursion and in linear time.

The text is taken to be valid; of a text that is not, the events are some sensible guess.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Literal

Kind = Literal["open", "close", "key", "string", "bare"]

_TOKEN = re.compile(
    r"""
      (?P<string> "[^"\\]*+(?:\\.[^"\\]*+)*+" )
    | (?P<open> [\[{] )
    | (?P<close> [\]}] )
    | (?P<comma> , )
    | (?P<bare> [^\s,:\[\]{}"]++ )
    """,
    re.VERBOSE | re.DOTALL,
)


def events(text: str) -> Iterator[tuple[Kind, int, int]]:
    """What stands in `text`, in order, as (kind, start, end): brackets, keys, strings and other scalars."""
    mappings: list[bool] = []  # for each open bracket, whether it is a mapping's
    key_next = False
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        start, end = match.span()
        if kind == "string":
            yield ("key" if key_next else "string"), start, end
            key_next = False
        elif kind == "bare":
            yield "bare", start, end
        elif kind == "comma":
            key_next = bool(mappings) and mappings[-1]
        elif kind == "open":
            key_next = text[start] == "{"
            mappings.append(key_next)
            yield "open", start, end
        else:
            key_next = False
            if mappings:
                mappings.pop()
                yield "close", start, end


def string_at(text: str, start: int, end: int) -> str:
    """The string whose token, quotes included, is `text[start:end]`."""
    inside = text[start + 1 : end - 1]
    return inside if "\\" not in inside else str(json.loads(text[start:end], strict=False))
