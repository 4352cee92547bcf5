"""Positions of the protocol: lines and columns in an encoding that the client and we agree on.

equipage counts code points. The protocol counts code units of UTF-16, unless both sides know a
better encoding. A client may send a position outside the text; the nearest one inside it counts.
"""

from __future__ import annotations

import bisect
import os
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

import msgspec

from equipage.core.source import Source, Span
from equipage.core.text import lazy_regex

Encoding = Literal["utf-8", "utf-16", "utf-32"]
#: The encodings we know; the first one that the client names is used.
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
_LINE_BREAK = lazy_regex(r"\r\n|\r|\n")
#: The longest path that systems open, in characters.
_MAX_PATH_LENGTH = 4096


class Position(msgspec.Struct, frozen=True, order=True):
    """A line and a column of the protocol, both from 0."""

    line: int
    character: int


class Range(msgspec.Struct, frozen=True, order=True):
    """A stretch of the protocol, `start` included, `end` not."""

    start: Position
    end: Position


class Text:
    """A text whose lines can be counted, in one encoding."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self.text = text
        self.encoding = encoding
        self._starts: list[int] | None = None

    @property
    def starts(self) -> list[int]:
        """The offset at which each line begins."""
        if self._starts is None:
            self._starts = [0, *(match.end() for match in _LINE_BREAK.finditer(self.text))]
        return self._starts

    def line_at(self, number: int) -> str:
        """A line (from 0) without its line break; empty beyond the last."""
        if not 0 <= number < len(self.starts):
            return ""
        start = self.starts[number]
        end = self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def offset(self, position: Position) -> int:
        """The offset of a position in code points; the nearest one there is."""
        if position.line < 0:
            return 0
        if position.line >= len(self.starts):
            return len(self.text)
        line = self.line_at(position.line)
        return self.starts[position.line] + _count_code_points(
            line, position.character, self.encoding
        )

    def position(self, offset: int) -> Position:
        """The position of an offset in code points."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect.bisect_right(self.starts, offset) - 1
        # Between the two letters of a line break there is no position: the line ends before them.
        before = self.text[self.starts[line] : offset].rstrip("\r\n")
        return Position(line, _count_code_units(before, self.encoding))

    def range(self, start: int, end: int) -> Range:
        return Range(self.position(start), self.position(max(start, end)))

    def replace(self, start: Position, end: Position, new: str) -> Text:
        """Return the text with a range replaced; the ends of an inverted range are swapped."""
        low, high = sorted((self.offset(start), self.offset(end)))
        return Text(self.text[:low] + new + self.text[high:], self.encoding)


def _count_code_units(text: str, encoding: Encoding) -> int:
    """How many code units a text has."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(letter > "\uffff" for letter in text)


def _count_code_points(line: str, units: int, encoding: Encoding) -> int:
    """How many code points of a line fit into so many units; half a character is none."""
    if units <= 0:
        return 0
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    for number, letter in enumerate(line):
        units -= _count_code_units(letter, encoding)
        if units < 0:
            return number
        if units == 0:
            return number + 1
    return len(line)


def span_range(span: Span, encoding: Encoding) -> Range:
    """The range of a span in the text it was found in."""
    return _text_of(span.source, encoding).range(span.start, span.end)


#: The text that a span was looked up in last: findings of one file come one after the other.
_LAST_TEXT: list[tuple[Source, Text]] = []


def _text_of(source: Source, encoding: Encoding) -> Text:
    if _LAST_TEXT and _LAST_TEXT[0][0] is source and _LAST_TEXT[0][1].encoding == encoding:
        return _LAST_TEXT[0][1]
    text = Text(source.text, encoding)
    _LAST_TEXT[:] = [(source, text)]
    return text


# Files have a path for us and an address for the client.

#: What is written as it is in an address.
_PLAIN = "/:@!$&'()+,;=~"


def path_of(uri: str) -> str | None:
    """The path of a `file:` address; None for a text that is in no file."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme.lower() != "file" or "\0" in unquote(parts.path):
        return None
    path = unquote(parts.path)
    if len(path) > _MAX_PATH_LENGTH:
        return None  # no file has it, and every folder on the way would be asked for
    if os.name == "nt":
        path = f"//{parts.netloc}{path}" if parts.netloc else path.lstrip("/")
    return os.path.normpath(path) if path else None


def uri_of(path: str) -> str:
    """The address of an absolute path."""
    slashed = path.replace(os.sep, "/")
    start = "" if slashed.startswith("/") else "/"
    return (
        "file://" + start + quote(slashed.encode("utf-8", "surrogateescape"), safe="/:@!$&'()+,;=~")
    )
