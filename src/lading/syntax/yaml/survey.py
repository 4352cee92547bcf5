"""What is odd about a text that parses, and what stands at an offset."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import Any

import msgspec
from yaml.error import MarkedYAMLError
from yaml.events import AliasEvent, MappingStartEvent, ScalarEvent, SequenceStartEvent

from lading.path import Path
from lading.syntax.engine import Irregularity, Range
from lading.syntax.yaml.events import Frame, content_range, events_with_frames, key_name
from lading.syntax.yaml.scalars import INFINITY, TooLong, key_text, known_tag, resolve_plain, resolve_tagged


def survey(text: str, *, merge: bool) -> Iterator[Irregularity]:
    """Everything odd in a text that `_construct` accepted, with its places."""
    for event, frames, is_key in events_with_frames(text):
        kind = event.__class__
        path = tuple(frame.step() for frame in frames[: -1 if is_key else None])
        tag = getattr(event, "tag", None)
        if tag is not None and not known_tag(tag, resolve_tagged(tag, event.value) if kind is ScalarEvent else ()):
            start = text.find("!", event.start_mark.index)
            end = next((i for i in range(start, len(text)) if text[i] in " \t\r\n,[]{}"), len(text))
            yield Irregularity("unknown-tag", (start, end), path, {"tag": text[start:end]})
        if is_key:
            yield from _survey_key(event, frames[-1], path, text, merge=merge)
        elif kind is ScalarEvent and event.implicit[0] and event.tag is None:
            yield from _survey_number(event, path, text)


def _survey_number(event: Any, path: Path, text: str) -> Iterator[Irregularity]:
    try:
        value = resolve_plain(event.value)
    except TooLong:
        yield Irregularity("number-too-long", content_range(event, text), path, {"digits": len(event.value)})
        return
    if isinstance(value, float) and not -INFINITY < value < INFINITY:
        yield Irregularity("not-finite", content_range(event, text), path, {"found": event.value})


def _survey_key(event: Any, frame: Frame, path: Path, text: str, *, merge: bool) -> Iterator[Irregularity]:
    place = content_range(event, text)
    if event.__class__ is ScalarEvent:
        plain = event.implicit[0] and event.tag is None
        try:
            key = resolve_plain(event.value) if plain else event.value
        except TooLong:
            key = event.value
    else:
        key = None
    frame.key = key_text(key) if event.__class__ is ScalarEvent else text[place[0] : place[1]]
    if not isinstance(key, str):
        yield Irregularity("non-string-key", place, (*path, frame.key), {"key": frame.key})
    if frame.key == "<<":
        if not merge:
            yield Irregularity("merge-key", place, (*path, "<<"))
        return
    first = frame.keys.get(frame.key)
    if first is not None:
        yield Irregularity("duplicate-key", place, (*path, frame.key), {"key": frame.key}, (("first here", first),))
    frame.keys[frame.key] = place


class Touched(msgspec.Struct, frozen=True):
    """The scalar that a stretch of text belongs to: its path, and whether it is the key of that path."""

    path: Path
    is_key: bool
    range: Range


def scalars_at(text: str, ranges: list[Range]) -> list[Touched | bool | None]:
    """For each of the ascending `ranges`: the scalar that contains it, False if it cuts through structure,
    None if nothing of the document is there (a comment, white space).

    A text that does not parse is looked at up to its error; a range the error stands in cuts through structure.
    """
    result: list[Touched | bool | None] = [None] * len(ranges)
    if not ranges:
        return result
    try:
        for event, frames, is_key in events_with_frames(text):
            if event.__class__ not in _NODES:
                continue
            if is_key and event.__class__ is ScalarEvent:
                frames[-1].key = key_name(event, text, content_range(event, text))
            start, end = event.start_mark.index, event.end_mark.index
            for number in _touched_by(start, end, ranges):
                result[number] = _judged(event, frames, is_key, ranges[number])
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        for number, (low, high) in enumerate(ranges):
            if mark is not None and low <= mark.index <= high:
                result[number] = False
    return result


_NODES = frozenset({ScalarEvent, AliasEvent, MappingStartEvent, SequenceStartEvent})


def _touched_by(start: int, end: int, ranges: list[Range]) -> Iterator[int]:
    """The numbers of the ranges that a node from `start` to `end` touches."""
    for number in range(bisect.bisect_left(ranges, start, key=lambda each: each[1]), len(ranges)):
        low, high = ranges[number]
        if low > end or (low == end and start != end):
            return
        if (start <= low and high <= end) or (low < end and start < high):
            yield number


def _judged(event: Any, frames: list[Frame], is_key: bool, place: Range) -> Touched | bool:
    """A scalar that contains the range, or False: the range cuts through structure."""
    start, end = event.start_mark.index, event.end_mark.index
    if event.__class__ is ScalarEvent and start <= place[0] and place[1] <= end:
        return Touched(tuple(frame.step() for frame in frames), is_key, (start, end))
    return False
