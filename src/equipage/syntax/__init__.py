"""Parse text to plain values at once, and find places when a finding needs them.

Each syntax is a module with the two functions of `Engine`; `document` puts one of them over a
source. Offsets here count code points of the text that the engine was given; `document` turns them
into spans of the author's text.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Protocol

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Code
from equipage.core.path import ROOT, Path
from equipage.core.text import lazy_regex

Range = tuple[int, int]


class Place(msgspec.Struct, frozen=True):
    """Where the value of an entry is written, and its key if it is an entry of a mapping."""

    value: Range
    key: Range | None = None
    through: Range | None = None  #: the `<<` that merged it in


class ContainingScalar(msgspec.Struct, frozen=True):
    """The scalar that a stretch of text belongs to, and whether it is the key of its path."""

    path: Path
    is_key: bool
    range: Range


class Written(msgspec.Struct, frozen=True):
    """A key, a scalar or a bracket, and where it is written."""

    path: Path
    range: Range
    is_key: bool = False
    is_scalar: bool = True


class Irregularity(msgspec.Struct, frozen=True):
    """Something odd in the text: a code, a place, and the values that its message uses."""

    code: Code
    range: Range
    path: Path = ROOT
    values: Mapping[str, object] = {}
    also: tuple[tuple[str, Range], ...] = ()
    more: int = 0  #: if not 0, how many further ones this one represents


class Parsed(msgspec.Struct, frozen=True):
    """A plain value and what was odd about its text."""

    value: object
    irregularities: tuple[Irregularity, ...] = ()


class SyntaxProblem(Exception):
    """The text has no value; `problems` says why, in order."""

    def __init__(self, problems: Iterable[Irregularity]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)


class Engine(Protocol):
    """A syntax: a module with these three functions."""

    def load(self, text: str) -> Parsed:
        """The value of `text`. Raises `SyntaxProblem` if it has none."""
        ...

    def locate(self, text: str, paths: Iterable[Path]) -> dict[Path, Place]:
        """The places of those `paths` that exist, found in one pass."""
        ...

    def written(self, text: str) -> Iterator[Written]:
        """Each key, scalar and bracket in order, as far as `text` makes sense."""
        ...


# ------------------------------------------------------------------- what several engines use

_SURROGATE = lazy_regex(r"[\ud800-\udfff]")
_NOT_A_BRACKET = bytes(set(range(256)) - set(b"[]{}"))
_BRACKET_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def bracket_depth(data: bytes) -> int:
    """The largest number of brackets open at once, found at the speed of bytes.

    Strings and comments must have been removed.
    """
    return max(
        accumulate(map(_BRACKET_STEPS.__getitem__, data.translate(None, _NOT_A_BRACKET))), default=0
    )


def lone_surrogates(text: str) -> Iterator[Irregularity]:
    """Each half of a surrogate pair. No file can hold one, only a string of a program."""
    if not text.isascii():
        for match in _SURROGATE.finditer(text):
            found = f"\\u{ord(match[0]):04x}"
            yield Irregularity(codes.LONE_SURROGATE, match.span(), values={"found": found})


def match_end(pattern: re.Pattern[str], text: str, offset: int) -> int:
    """Where the match of a pattern at `offset` ends; `offset` itself if there is none."""
    match = pattern.match(text, offset)
    return offset if match is None else match.end()


def ranges_touched_by(start: int, end: int, ranges: list[Range]) -> Iterator[int]:
    """The numbers of the ascending `ranges` that something from `start` to `end` touches."""
    for number in range(bisect.bisect_left(ranges, start, key=lambda each: each[1]), len(ranges)):
        low, high = ranges[number]
        if low > end or (low == end and start != end):
            return
        if (start <= low and high <= end) or (low < end and start < high):
            yield number


def scalars_among(
    pieces: Iterable[Written], ranges: list[Range]
) -> list[ContainingScalar | bool | None]:
    """For each of the ascending `ranges`, the scalar among the pieces of a text that contains it.

    False if the range cuts through structure, None if it touches no piece.
    """
    result: list[ContainingScalar | bool | None] = [None] * len(ranges)
    for each in pieces:
        start, end = each.range
        for number in ranges_touched_by(start, end, ranges):
            low, high = ranges[number]
            contains = each.is_scalar and start <= low and high <= end
            result[number] = contains and ContainingScalar(each.path, each.is_key, each.range)
    return result
