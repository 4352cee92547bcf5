"""What is refused before or after the parser: depth it could not survive, text nobody could write out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from equipage.syntax.brackets import bracket_depth
from equipage.syntax.engine import MAX_DEPTH, Irregularity, SyntaxProblem
from equipage.syntax.json.events import events
from equipage.syntax.surrogates import lone_surrogates

_BEGINNING = 65_536
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    r"""
      (?P<pair> \\u[dD][89abAB]..\\u[dD][c-fC-F].. )
    | (?P<lone> \\u[dD][89a-fA-F].. )
    | \\.
    """,
    re.VERBOSE,
)


def refuse_deep_nesting(text: str) -> None:
    """Raise `SyntaxProblem` at the bracket that opens one level too many.

    The parser recurses in C and would end a thread that has a small stack. An error before that bracket is
    left to the parser, which never gets so far.
    """
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    # Of a large text, the beginning is often enough to tell.
    if all(_depth(part) <= MAX_DEPTH for part in (text[:_BEGINNING], text)):
        return
    depth = 0
    for kind, start, end in events(text):
        depth += {"open": 1, "close": -1}.get(kind, 0)
        if depth > MAX_DEPTH and _is_sound(text[:start]):
            raise SyntaxProblem([Irregularity("nesting-too-deep", (start, end), values={"limit": MAX_DEPTH})])
        if depth > MAX_DEPTH:
            return


def _depth(text: str) -> int:
    """How deep brackets outside strings nest, up to the first syntax error exactly."""
    data = text.encode("utf-8", "surrogatepass").replace(rb"\\", b"").replace(rb"\"", b"")
    return bracket_depth(b"".join(data.split(b'"')[::2]))


def _is_sound(beginning: str) -> bool:
    """Whether nothing is wrong with the beginning of a text but that it ends."""
    try:
        json.loads(beginning, parse_int=str)
    except json.JSONDecodeError as error:
        return error.pos >= len(beginning)
    return True


def refuse_lone_surrogates(text: str) -> None:
    """Raise `SyntaxProblem` with every half of a surrogate pair: no file could hold such a string."""
    problems = [*lone_surrogates(text), *_escaped_surrogates(text)]
    if problems:
        raise SyntaxProblem(sorted(problems, key=lambda each: each.range))


def _escaped_surrogates(text: str) -> Iterator[Irregularity]:
    if not _SURROGATE_ESCAPE.search(text):
        return
    for kind, start, end in events(text):
        if kind in ("key", "string"):
            for match in _ESCAPE.finditer(text, start, end):
                if match["lone"]:
                    yield Irregularity("lone-surrogate", match.span(), values={"found": match["lone"]})
