"""Patterns for names of tools and paths: `*` and `?` match any character, `[…]` and `{a,b}` as usual."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Reason = Literal[
    "unclosed-class", "unclosed-choice", "unopened-choice", "bad-range", "dangling-escape"
]

WILDCARDS = frozenset("*?[]{}\\")
_CLASS = re.compile(r"\[(?P<negated>[!^]?)(?P<body>\]?+[^\]]*)\]")
_RANGE = re.compile(r"(.)-(.)", re.DOTALL)


@lru_cache(maxsize=1024)
def problem_of(glob: str) -> Reason | None:
    """What is wrong with a pattern, None if it can be used."""
    depth = position = 0
    while position < len(glob):
        letter = glob[position]
        if letter == "[":
            match = _CLASS.match(glob, position)
            if match is None:
                return "unclosed-class"
            if any(low > high for low, high in _RANGE.findall(match["body"])):
                return "bad-range"
            position = match.end()
            continue
        if letter == "\\":
            position += 1
            if position == len(glob):
                return "dangling-escape"
        depth += (letter == "{") - (letter == "}")
        if depth < 0:
            return "unopened-choice"
        position += 1
    return "unclosed-choice" if depth else None


def is_plain(glob: str) -> bool:
    """Whether a pattern is just a name."""
    return WILDCARDS.isdisjoint(glob)
