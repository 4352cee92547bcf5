"""The parser underneath: libyaml through PyYAML, or PyYAML's own where libyaml is missing.

Only mark *indexes* are used: libyaml's line numbers also count U+0085 and U+2028 as line breaks.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from equipage.syntax.engine import Range
from equipage.syntax.yaml.scalars import TooLong, key_text, resolve_plain, resolve_tagged

#: Makes a parser of a text; events come from its `get_event`.
Parser: Any
try:
    Parser = importlib.import_module("yaml.cyaml").CParser
    ENGINE = "libyaml"
except ImportError:  # PyYAML was built without libyaml: the same grammar, written in Python
    Parser = importlib.import_module("equipage.syntax.yaml.fallback").PythonParser
    ENGINE = "PyYAML"

_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*\s+)+")


class Frame:
    """An open collection while surveying: the path of its current child and the keys seen so far."""

    __slots__ = ("index", "is_mapping", "key", "keys", "next_is_key")

    def __init__(self, *, is_mapping: bool) -> None:
        self.is_mapping = is_mapping
        self.next_is_key = is_mapping
        self.index = -1
        self.key = ""
        self.keys: dict[str, Range] = {}

    def step(self) -> str | int:
        return self.key if self.is_mapping else self.index


def content_range(event: Any, text: str) -> Range:
    """The stretch of a node without its anchor and tag, and without trailing line breaks."""
    start, end = event.start_mark.index, event.end_mark.index
    if event.__class__ is AliasEvent:
        return start, end
    if getattr(event, "tag", None) is not None or getattr(event, "anchor", None) is not None:
        match = _PROPERTIES.match(text, start)
        start = match.end() if match else start
    if event.__class__ is ScalarEvent and event.style in ("|", ">"):
        end = start + len(text[start:end].rstrip())
    return start, max(start, end)


def scalar_value(event: Any) -> object:
    """The plain value of a scalar; a number too long to convert stays text."""
    bare, quoted = event.implicit
    try:
        if bare and event.tag is None:
            return resolve_plain(event.value)
        if not quoted and event.tag not in (None, "!"):
            return resolve_tagged(event.tag, event.value)
    except TooLong:
        pass
    return event.value


def key_name(event: Any, text: str, place: Range) -> str:
    if event.__class__ is not ScalarEvent:
        return text[place[0] : place[1]]
    return key_text(scalar_value(event))


def events_with_frames(text: str) -> Iterator[tuple[Any, list[Frame], bool]]:
    """Each event of the first document with the open frames and whether it stands for a key.

    Frames are advanced before the event is given out, so that a node's path is the steps of all frames.
    """
    get_event = Parser(text).get_event
    frames: list[Frame] = []
    seen_document = False
    while True:
        event = get_event()
        kind = event.__class__
        if kind is StreamEndEvent or (kind is DocumentStartEvent and seen_document):
            return
        if kind is DocumentStartEvent:
            seen_document = True
            continue
        if kind is MappingEndEvent or kind is SequenceEndEvent:
            frames.pop()
            yield event, frames, False
            continue
        is_key = False
        if frames and kind in (ScalarEvent, AliasEvent, MappingStartEvent, SequenceStartEvent):
            frame = frames[-1]
            if frame.is_mapping:
                is_key, frame.next_is_key = frame.next_is_key, not frame.next_is_key
            else:
                frame.index += 1
        yield event, frames, is_key
        if kind is MappingStartEvent or kind is SequenceStartEvent:
            frames.append(Frame(is_mapping=kind is MappingStartEvent))
