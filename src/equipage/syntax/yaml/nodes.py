"""The nodes of a document with their events, for whoever asks where things are.

Scalars are their own events; nothing is resolved until somebody looks. Only what leads to something wanted is
kept, and whatever has a name, so that a large document costs little more than its events. An alias knows the
node it stands for by occurrence and not by name: a name may be given to several nodes.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from yaml.error import MarkedYAMLError
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
from yaml.reader import ReaderError

from equipage.core.path import ROOT, Path
from equipage.syntax import MAX_DEPTH, Irregularity, Place, Range
from equipage.syntax.places import Want
from equipage.syntax.yaml.errors import reader_offset
from equipage.syntax.yaml.scalars import (
    INFINITY,
    is_core_tag,
    is_too_long,
    key_text,
    known_tag,
    resolve_tagged,
)
from equipage.syntax.yaml.values import (
    Frame,
    Parser,
    content_range,
    events_with_frames,
    key_name,
    scalar_value,
)

#: A `ScalarEvent`, a `Collection` or an `Alias`; None in place of a collection that nobody wants.
Node = Any
#: Wanted of a collection that is kept as a whole.
EVERYTHING = Want()
#: The entries of a mapping by the text of their keys: the key's node and the value's.
Entries = dict[str, tuple[Node, Node]]


class Collection:
    """A mapping (its keys and values in turn) or a list; `last` is the event its text ends with."""

    __slots__ = ("_entries", "children", "event", "last", "want")

    def __init__(self, event: Any, want: Want) -> None:
        self.event = event
        self.want = want
        self.children: list[Node] = []
        self.last: Any = event
        self._entries: Entries | None = None

    @property
    def is_mapping(self) -> bool:
        return self.event.__class__ is MappingStartEvent

    def pairs(self) -> list[tuple[Node, Node]]:
        """Keys and values of a mapping, duplicates included."""
        return list(zip(self.children[::2], self.children[1::2], strict=True))

    def entries(self) -> Entries:
        """What counts of a mapping: the last of equal keys, and what `merge` added."""
        if self._entries is None:
            self._entries = {key_text(value_of(key)): (key, value) for key, value in self.pairs()}
        return self._entries

    def want_of_next(self, *, merge: bool) -> Want | None:
        """What is wanted of the child that comes next; keys are kept as they are, to be named."""
        if self.want is EVERYTHING or (self.is_mapping and len(self.children) % 2 == 0):
            return EVERYTHING
        if not self.is_mapping:
            return self.want.below.get(len(self.children))
        name = key_text(value_of(self.children[-1]))
        return EVERYTHING if merge and name == "<<" else self.want.below.get(name)

    def merge(self) -> None:
        """Apply `<<`. The mappings it names are complete, theirs applied: a node cannot name one that is open."""
        own = self.entries()
        if "<<" not in own:
            return
        pairs = [pair for pair in self.pairs() if value_of(pair[0]) == "<<"]
        applied = [pair for pair in pairs if is_merge_key(pair[0])]
        if not applied:
            return
        merged: Entries = {}
        for _, given in applied:
            for each in reversed(merge_sources(given)):
                if isinstance(each, Collection) and each.is_mapping:
                    merged.update(each.entries())
        merged.update((name, entry) for name, entry in own.items() if name != "<<")
        if len(applied) < len(pairs):
            merged["<<"] = [pair for pair in pairs if not is_merge_key(pair[0])][-1]
        self._entries = merged


class Alias:
    """An alias and the node it stands for."""

    __slots__ = ("event", "target")

    def __init__(self, event: Any, target: Node) -> None:
        self.event = event
        self.target = target


def compose(text: str, wanted: Want = EVERYTHING, *, merge: bool = False) -> Node | None:
    """The root of the first document, None if there is none. With `merge`, `<<` is applied."""
    get_event = Parser(text).get_event
    merge = merge and "<<" in text
    top: list[Node] = []
    current: list[Node] | None = top  # None inside a collection that nobody wants
    stack: list[Collection | None] = []
    named: dict[str, Node] = {}
    last: Any = None
    while True:
        event = get_event()
        kind = event.__class__
        if kind is ScalarEvent:
            last = event
            if current is not None:
                current.append(event)
            if event.anchor is not None:
                named[event.anchor] = event
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            if (
                event.start_mark.index != event.end_mark.index
            ):  # a bracket; block collections have no end
                last = event
            collection = stack.pop()
            if collection is not None:
                collection.last = last or collection.event
                if merge and collection.is_mapping:
                    collection.merge()
            current = _children(stack, top)
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            collection = _collection(event, stack, wanted, merge=merge)
            if current is not None:
                current.append(collection)
            stack.append(collection)
            current = _children(stack, top)
            if event.anchor is not None:
                named[event.anchor] = collection
        elif kind is AliasEvent:
            last = event
            if current is not None:
                current.append(Alias(event, named.get(event.anchor)))
        elif kind is StreamEndEvent or (kind is DocumentStartEvent and last is not None):
            return top[0] if top else None


def _collection(
    event: Any, stack: list[Collection | None], wanted: Want, *, merge: bool
) -> Collection | None:
    """The collection that begins, None if nobody wants it."""
    want: Want | None = wanted
    if event.anchor is not None:  # an alias may lead here
        want = EVERYTHING
    elif stack:
        want = stack[-1].want_of_next(merge=merge) if stack[-1] is not None else None
    return None if want is None else Collection(event, want)


def _children(stack: list[Collection | None], top: list[Node]) -> list[Node] | None:
    """Where the next node belongs."""
    if not stack:
        return top
    return None if stack[-1] is None else stack[-1].children


def target_of(node: Node) -> Node:
    """What a node stands for: itself, unless it is an alias."""
    return node.target if isinstance(node, Alias) else node


def is_merge_key(node: Node) -> bool:
    """Whether a key is `<<` as an indicator: with quotes or a tag it is text like any other."""
    if isinstance(node, Alias):
        return value_of(node) == "<<"
    return (
        node.__class__ is ScalarEvent
        and node.value == "<<"
        and node.implicit[0]
        and node.tag is None
    )


def merge_sources(given: Node) -> list[Node]:
    """What a `<<` names: one mapping or a list of them, unless it is a mistake."""
    target = target_of(given)
    is_list = isinstance(target, Collection) and not target.is_mapping
    return [target_of(each) for each in target.children] if is_list else [target]


def value_of(node: Node) -> object:
    """The plain value of a node. Its depth is bounded, for the text was loaded before."""
    node = target_of(node)
    if not isinstance(node, Collection):
        return scalar_value(node)
    if node.is_mapping:
        return {name: value_of(value) for name, (_, value) in node.entries().items()}
    return [value_of(each) for each in node.children]


def range_of(node: Node, text: str) -> Range:
    """The stretch of a node; that of an alias is the alias, a collection ends where its last child does."""
    if not isinstance(node, Collection):
        return content_range(node.event if isinstance(node, Alias) else node, text)
    start = content_range(node.event, text)[0]
    return start, max(start, content_range(node.last, text)[1])


# --- locating ----------------------------------------------------------------------------------
# The places of many paths, from one pass over the events.


def locate(text: str, paths: Iterable[Path], *, merge: bool = False) -> dict[Path, Place]:
    """The places of those `paths` that exist in the first document of `text`.

    The place of an aliased value is the alias; below it, the place in the anchored node. With `merge`, what `<<`
    brings in is placed where it is written.
    """
    wanted = list(paths)
    root = compose(text, Want.of(wanted), merge=merge)
    found: dict[Path, Place] = {}
    for path in wanted if root is not None else ():
        entry = _entry(root, path)
        if entry is not None:
            key, value = entry
            found[path] = Place(range_of(value, text), None if key is None else range_of(key, text))
    return found


def _entry(root: Node, path: Path) -> tuple[Node | None, Node] | None:
    """The key and the value at a path; a list's entries have no key."""
    key, value = None, root
    for step in path:
        holder = target_of(value)
        if not isinstance(holder, Collection):
            return None
        if isinstance(step, str):
            entry = holder.entries().get(step) if holder.is_mapping else None
        else:
            inside = not holder.is_mapping and 0 <= step < len(holder.children)
            entry = (None, holder.children[step]) if inside else None
        if entry is None:
            return None
        key, value = entry
    return key, value


# --- survey ------------------------------------------------------------------------------------
# What is odd about a text that parses, and what stands at an offset.

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
    if tag is not None and not known_tag(
        tag, resolve_tagged(tag, event.value) if event is node else ()
    ):
        start = text.find("!", event.start_mark.index)
        end = next((i for i in range(start, len(text)) if text[i] in " \t\r\n,[]{}"), len(text))
        problem = "does not fit its value" if is_core_tag(tag) else "has no meaning here"
        yield Irregularity(
            "unknown-tag", (start, end), path, {"tag": text[start:end], "problem": problem}
        )


def _survey_number(event: Any, path: Path, text: str) -> Iterator[Irregularity]:
    value = scalar_value(event)
    if isinstance(value, float) and not -INFINITY < value < INFINITY:
        yield Irregularity("not-finite", content_range(event, text), path, {"found": event.value})
    elif isinstance(value, str) and event.implicit[0] and event.tag is None and is_too_long(value):
        yield Irregularity(
            "number-too-long", content_range(event, text), path, {"digits": len(value)}
        )


def _survey_keys(
    mapping: Collection, path: Path, text: str, *, merge: bool
) -> Iterator[Irregularity]:
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
            elif not all(
                isinstance(each, Collection) and each.is_mapping for each in merge_sources(value)
            ):
                given = range_of(value, text)
                found = text[slice(*given)] or "nothing"
                yield Irregularity(
                    "wrong-type", given, (*path, "<<"), {"expected": _MERGED, "found": found}
                )
            continue
        first = seen.setdefault(name, place)
        if first is not place:
            yield Irregularity(
                "duplicate-key", place, (*path, name), {"key": name}, (("first here", first),)
            )


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
