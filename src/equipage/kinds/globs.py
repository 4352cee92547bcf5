"""Patterns for names of tools and paths: `*`, `?`, `[a-z]`, `[!a]`, `{a,b}` and `\\`."""

from __future__ import annotations

import re
from functools import lru_cache

#: A `]` right after the opening bracket is a member of the class: `[]a]`, `[!]]`.
_CLASS = re.compile(r"\[[!^]?(?P<members>\]?+[^\]]*)\]")
_RANGE = re.compile(r"(.)-(.)", re.DOTALL)


@lru_cache(maxsize=1024)
def problem_of(glob: str) -> str | None:
    """Why a pattern is not valid, in words; None if it is."""
    depth = position = 0
    while position < len(glob):
        letter = glob[position]
        if letter == "[":
            match = _CLASS.match(glob, position)
            if match is None:
                return "`[` is never closed"
            if any(low > high for low, high in _RANGE.findall(match["members"])):
                return "a range runs backwards"
            position = match.end()
            continue
        if letter == "\\":
            position += 1
            if position == len(glob):
                return "it ends with `\\`"
        depth += (letter == "{") - (letter == "}")
        if depth < 0:
            return "`}` without `{`"
        position += 1
    return "`{` is never closed" if depth else None


def is_plain(glob: str) -> bool:
    """Whether a pattern is just a name."""
    return not re.search(r"[*?\[\]{}\\]", glob)
