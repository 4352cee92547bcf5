"""The parts of a TOML text that matter for places, without recursion and in linear time.

The text is taken to be valid; of a text that is not, the events are some sensible guess. Inline tables may
span lines and end in a comma, as TOML 1.1 allows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from equipage.syntax.engine import MAX_DEPTH, Range

Kind = Literal["table", "element", "key", "list", "map", "close", "scalar"]

_MULTILINE = r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*+(?:"{3,5}|\Z)' + "|" + r"'''(?:[^']|'{1,2}(?!'))*+(?:'{3,5}|\Z)"
_ONE_LINE = r'"(?:[^"\\\n]|\\[^\n])*+"?' + "|" + r"'[^'\n]*+'?"
_BLANK = re.compile(r"(?:[\s,]|\#[^\n]*)*+")
# rtoml lets the parts of an entry stand on lines of their own where an inline table spans lines.
_SPACE = r"(?:\s|\#[^\n]*)*+"
_PART = re.compile(rf"{_SPACE}({_ONE_LINE}|[^\s.=\[\]{{}},\"'\#]++)(?:{_SPACE}(\.))?", re.DOTALL)
_EQUALS = re.compile(rf"{_SPACE}=")
_SCALAR = re.compile(rf"{_MULTILINE}|{_ONE_LINE}|\d{{4}}-\d\d-\d\d[ ]\d\d:[^\s,\]}}\#]*+|[^\s,\]}}\#]++", re.DOTALL)
_HEADER_END = re.compile(r"[ \t]*+\]{1,2}")

#: Strings and comments: where brackets and dots mean nothing.
OPAQUE = re.compile(rf"{_MULTILINE}|{_ONE_LINE}|\#[^\n]*", re.DOTALL)

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|(.))")
_ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


class Part(msgspec.Struct, frozen=True):
    """One part of a dotted key: its name and where it is written."""

    name: str
    range: Range


class Event(msgspec.Struct, frozen=True):
    """A piece of the text.

    `table` and `element` are headers, `[a]` and `[[a]]`; they and keys have parts. `list` and `map` are opening
    brackets inside values.
    """

    kind: Kind
    start: int
    end: int
    parts: tuple[Part, ...] = ()


def scan(text: str) -> Iterator[Event]:
    """What stands in `text`, in order."""
    opened: list[str] = []
    value_next = False
    offset = 0
    while True:
        offset = _skip(text, offset)
        if offset >= len(text):
            return
        character = text[offset]
        if character in "]}":
            event = Event("close", offset, offset + 1)
            if not opened:
                offset += 1
                continue
            opened.pop()
        elif value_next:
            event = _value(text, offset)
            if event.kind != "scalar":
                opened.append(character)
        else:
            event = _header(text, offset) if character == "[" and not opened else _key(text, offset)
        yield event
        offset = event.end
        if event.kind == "key":
            offset = _after_equals(text, offset)
            value_next = True
        else:
            value_next = bool(opened) and opened[-1] == "["


def _skip(text: str, offset: int) -> int:
    match = _BLANK.match(text, offset)
    return match.end() if match else offset


def _after_equals(text: str, offset: int) -> int:
    match = _EQUALS.match(text, offset)
    return match.end() if match else offset


def _value(text: str, offset: int) -> Event:
    if text[offset] in "[{":
        return Event("list" if text[offset] == "[" else "map", offset, offset + 1)
    match = _SCALAR.match(text, offset)
    return Event("scalar", offset, match.end() if match else offset + 1)


def _header(text: str, offset: int) -> Event:
    kind: Kind = "element" if text.startswith("[[", offset) else "table"
    parts = _parts(text, offset + (2 if kind == "element" else 1))
    end = parts[-1].range[1] if parts else offset + 1
    closing = _HEADER_END.match(text, end)
    return Event(kind, offset, closing.end() if closing else end, parts)


def _key(text: str, offset: int) -> Event:
    parts = _parts(text, offset)
    return Event("key", offset, parts[-1].range[1] if parts else offset + 1, parts)


def _parts(text: str, offset: int) -> tuple[Part, ...]:
    """The parts of the dotted key at `offset`, blanks around the dots left out.

    A key of more parts than a text may nest is read no further: it is refused before anybody needs the rest.
    """
    parts: list[Part] = []
    dot: str | None = "."
    while dot and len(parts) <= MAX_DEPTH and (match := _PART.match(text, offset)):
        parts.append(Part(_name(match[1]), match.span(1)))
        offset, dot = match.end(), match[2]
    return tuple(parts)


def _name(written: str) -> str:
    if written[0] == "'":
        return written[1:-1]
    if written[0] == '"':
        return _ESCAPE.sub(_unescape, written[1:-1])
    return written


def _unescape(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits is None:
        return _ESCAPED.get(match[4], match[4])
    code = int(digits, 16)
    return chr(code) if code <= 0x10FFFF else "\N{REPLACEMENT CHARACTER}"
