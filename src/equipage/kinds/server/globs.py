"""Globs of `when` conditions.

`*` matches any text, `/` included, `?` one character, `[abc]`, `[a-z]` and `[!a]` one of a set. `**` stands only as
a whole component between slashes. A glob matches the whole text, and case counts.
"""

from __future__ import annotations

from equipage.expressions import expression

_STARS = expression(r"\*{2,}")


def glob_problem(pattern: str) -> str | None:
    """What is wrong with a glob, None if it is one."""
    return _stars_problem(pattern) or _sets_problem(pattern)


def _stars_problem(pattern: str) -> str | None:
    for match in _STARS.finditer(_without_sets(pattern)):
        if len(match.group()) > 2:
            return "more than two `*` in a row"
        text = match.string
        before, after = text[: match.start()], text[match.end() :]
        if (before and not before.endswith("/")) or (after and not after.startswith("/")):
            return "`**` must stand alone between slashes"
    return None


def _sets_problem(pattern: str) -> str | None:
    position = 0
    while (position := pattern.find("[", position)) >= 0:
        close = _closing(pattern, position)
        if close is None:
            return "`[` is never closed"
        position = close + 1
    return None


def _closing(pattern: str, start: int) -> int | None:
    """Where the set that opens at `start` closes. It has at least one member, so `[]]` holds a bracket."""
    first = start + 2 if pattern[start + 1 : start + 2] == "!" else start + 1
    close = pattern.find("]", first + 1)
    return None if close < 0 else close


def _without_sets(pattern: str) -> str:
    """The glob with each set replaced by one ordinary character, so that `[*]` is no star."""
    out: list[str] = []
    position = 0
    while (start := pattern.find("[", position)) >= 0:
        close = _closing(pattern, start)
        if close is None:
            break
        out += (pattern[position:start], "x")
        position = close + 1
    return "".join([*out, pattern[position:]])
