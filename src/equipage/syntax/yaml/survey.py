"""What is odd about a text that parses, and what stands at an offset."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import Any

import msgspec
from yaml.error import MarkedYAMLError
from yaml.events import AliasEvent, MappingStartEvent, ScalarEvent, SequenceStartEvent
from yaml.reader import ReaderError

from equipage.path import ROOT, Path
from equipage.syntax.engine import MAX_DEPTH, Irregularity, Range
from equipage.syntax.yaml.compose import (
    Alias,
    Collection,
    Node,
    compose,
    is_merge_key,
    merge_sources,
    range_of,
    value_of,
)
from equipage.syntax.yaml.errors import reader_offset
from equipage.syntax.yaml.events import Frame, content_range, events_with_frames, key_name, scalar_value
from equipage.syntax.yaml.scalars import INFINITY, is_core_tag, is_too_long, key_text, known_tag, resolve_tagged

_MERGED = "a mapping to merge, or a list of them"


def survey(text: str, *, merge: bool) -> list[Irregularity]:
    """Everything odd in a text that `construct` accepted, with its places, in order."""
    found: list[Irregularity] = []
    left: list[tuple[Node, Path, bool]] = [(compose(text), ROOT, False)]
    while left:
        node, path, is_key = left.pop()
        found += _survey_tag(node, path, text)
        if isinstance(node, Collection) and node.is_mapping:
            found += _survey_keys(node, path, text, merge=merge)
            for key, value in node.pairs():
                left += [(key, path, True), (value, (*path, key_text(value_of(key))), False)]
        elif isinstance(node, Collection):
            left += [(each, (*path, index), False) for index, each in enumerate(node.children)]
        elif not is_key and not isinstance(node, Alias):
            found += _survey_number(node, path, text)
    return sorted(found, key=lambda each: each.range)


def _survey_tag(node: Node, path: Path, text: str) -> Iterator[Irregularity]:
    event: Any = node if node.__class__ is ScalarEvent else node.event
    tag = getattr(event, "tag", None)
    if tag is not None and not known_tag(tag, resolve_tagged(tag, event.value) if event is node else ()):
        start = text.find("!", event.start_mark.index)
        end = next((i for i in range(start, len(text)) if text[i] in " \t\r\n,[]{}"), len(text))
        problem = "does not fit its value" if is_core_tag(tag) else "has no meaning here"
        yield Irregularity("unknown-tag", (start, end), path, {"tag": text[start:end], "problem": problem})


def _survey_number(event: Any, path: Path, text: str) -> Iterator[Irregularity]:
    value = scalar_value(event)
    if isinstance(value, float) and not -INFINITY < value < INFINITY:
        yield Irregularity("not-finite", content_range(event, text), path, {"found": event.value})
    elif isinstance(value, str) and event.implicit[0] and event.tag is None and is_too_long(value):
        yield Irregularity("number-too-long", content_range(event, text), path, {"digits": len(value)})


def _survey_keys(mapping: Collection, path: Path, text: str, *, merge: bool) -> Iterator[Irregularity]:
    """Keys that are not strings, keys given before, and `<<` where it is not applied or cannot be."""
    seen: dict[str, Range] = {}
    for node, value in mapping.pairs():
        place = range_of(node, text)
        key = value_of(node)
        name = key_text(key)
        if not isinstance(key, str):
            sort = _sort(key)
            shown = name if sort == "scalar" else text[slice(*place)] or "null"
            yield Irregularity("non-string-key", place, (*path, name), {"key": shown, "sort": sort})
        if is_merge_key(node):
            if not merge:
                yield Irregularity("merge-key", place, (*path, "<<"))
            elif not all(isinstance(each, Collection) and each.is_mapping for each in merge_sources(value)):
                given = range_of(value, text)
                found = text[slice(*given)] or "nothing"
                yield Irregularity("wrong-type", given, (*path, "<<"), {"expected": _MERGED, "found": found})
            continue
        first = seen.setdefault(name, place)
        if first is not place:
            yield Irregularity("duplicate-key", place, (*path, name), {"key": name}, (("first here", first),))


def _sort(key: object) -> str:
    """What a key is that is no text: whether anything can be made of it is for each kind to say."""
    if isinstance(key, dict | list):
        return "collection"
    if key is None:
        return "null"
    return "not finite" if isinstance(key, float) and not -INFINITY < key < INFINITY else "scalar"


class Touched(msgspec.Struct, frozen=True):
    """The scalar that a stretch of text belongs to: its path, and whether it is the key of that path."""

    path: Path
    is_key: bool
    range: Range


def scalars_at(text: str, ranges: list[Range]) -> list[Touched | bool | None]:
    """For each of the ascending `ranges`: the scalar that contains it, False if it cuts through structure,
    None if nothing of the document is there (a comment, white space).

    A text that does not parse is looked at up to its error; a range the error stands in cuts through structure.
    One that nests too deep is looked at so far: nobody will load it.
    """
    result: list[Touched | bool | None] = [None] * len(ranges)
    if not ranges:
        return result
    try:
        for event, frames, is_key in events_with_frames(text):
            if event.__class__ not in _NODES:
                continue
            if len(frames) > MAX_DEPTH:
                break
            if is_key and event.__class__ is ScalarEvent:
                frames[-1].key = key_name(event, text, content_range(event, text))
            start, end = event.start_mark.index, event.end_mark.index
            for number in _touched_by(start, end, ranges):
                result[number] = _judged(event, frames, is_key, ranges[number])
    except (MarkedYAMLError, ReaderError) as error:
        offset = _offset(error, text)
        for number, (low, high) in enumerate(ranges):
            if low <= offset <= high:
                result[number] = False
    return result


def _offset(error: MarkedYAMLError | ReaderError, text: str) -> int:
    """Where a parser gave up."""
    if isinstance(error, ReaderError):
        return reader_offset(error, text)
    mark = error.problem_mark or error.context_mark
    return len(text) if mark is None else mark.index


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
