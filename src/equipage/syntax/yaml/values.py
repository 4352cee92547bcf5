"""Events to plain values, iteratively, with depth and alias growth bounded while parsing."""

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

from equipage.syntax import MAX_DEPTH, Irregularity, Range, SyntaxProblem
from equipage.syntax.yaml.scalars import (
    INFINITY,
    TooLong,
    key_text,
    known_tag,
    resolve_plain,
    resolve_tagged,
)

# --- events ------------------------------------------------------------------------------------
# The parser underneath: libyaml through PyYAML, or PyYAML's own where libyaml is missing.
#
# Only mark *indexes* are used: libyaml's line numbers also count U+0085 and U+2028 as line breaks.

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


#: How many nodes aliases may add to a document. The plain size of a file is never punished.
MAX_ALIAS_NODES = 250_000
#: Text counts too: this many characters of what an anchor marks weigh as much as one node.
CHARACTERS_PER_NODE = 64


#: What plain scalars stand for, by their spelling: files of one kind repeat the same words. What is odd is not kept,
#: so that it is noticed in every text.
_PLAIN: dict[str, object] = {}
_MAX_PLAIN = 20_000
_WORTH_KEEPING = 64


def _trouble(code: str, start: int, end: int, **values: object) -> SyntaxProblem:
    return SyntaxProblem([Irregularity(code, (start, end), values=values)])


class _Builder:
    """The state of one `load` that its rarer steps share."""

    def __init__(self, *, merge: bool) -> None:
        self.merge = merge
        self.odd = False
        self.added = 0
        #: anchor name → (value, weight when expanded, depth of its own); while the node is open, its number.
        #: A name given again belongs to the node that starts later, even inside the first.
        self.anchors: dict[str, tuple[object, int, int] | int] = {}
        self.deepest = 0  #: how deep anything is nested, since the innermost anchored node began
        #: for each open anchored node, what `deepest` was before it, and where its text starts
        self.outside: list[tuple[int, int]] = []
        #: which `<<` is text because it was quoted or tagged: by the list it went into, which is kept so that
        #: no other gets its number, and the place there
        self.literal: dict[tuple[int, int], list[object]] = {}

    def open(self, anchor: str, number: int, depth: int, event: Any) -> None:
        """An anchored collection begins."""
        self.anchors[anchor] = number
        self.outside.append((self.deepest, event.start_mark.index))
        self.deepest = depth

    def close(
        self, anchor: str, number: int, depth: int, value: object, size: int, event: Any
    ) -> None:
        """An anchored collection ends, and has the name unless a node inside took it."""
        deepest, start = self.outside.pop()
        if self.anchors[anchor] == number:
            weight = size + (event.end_mark.index - start) // CHARACTERS_PER_NODE
            self.anchors[anchor] = (value, weight, self.deepest - depth + 1)
        self.deepest = max(self.deepest, deepest)

    def alias(self, event: Any, depth: int) -> tuple[object, int]:
        """What an alias stands for; it must not grow the document, or its depth, beyond the limits."""
        start, end = event.start_mark.index, event.end_mark.index
        if event.anchor not in self.anchors:
            raise _trouble("undefined-alias", start, end, name=event.anchor)
        known = self.anchors[event.anchor]
        if isinstance(known, int):
            raise _trouble("recursive-alias", start, end, name=event.anchor)
        value, size, own_depth = known
        self.deepest = max(self.deepest, depth + own_depth)
        if depth + own_depth > MAX_DEPTH:
            raise _trouble("nesting-too-deep", start, end, limit=MAX_DEPTH)
        self.added += size
        if self.added > MAX_ALIAS_NODES:
            raise _trouble("alias-bomb", start, end, name=event.anchor, limit=MAX_ALIAS_NODES)
        return value, size

    def mapping(self, items: list[object]) -> dict[str, object]:
        """A mapping from keys and values in turn, with keys that are not strings written as text."""
        self.odd = True
        result: dict[str, object] = {}
        for key, value in zip(items[::2], items[1::2], strict=True):
            result[key_text(key)] = value
        return result

    def is_literal(self, items: list[object], number: int) -> bool:
        """Whether the `<<` at this place of a list is nothing but text."""
        return (id(items), number) in self.literal

    def is_merging(self, items: list[object]) -> bool:
        """Whether what comes next is merged into the mapping that `items` becomes, so that nothing nests."""
        number = len(items) - 1
        return (
            self.merge
            and number % 2 == 0
            and items[number] == "<<"
            and not self.is_literal(items, number)
        )

    def merged(
        self, mapping: dict[str, object], items: list[object], event: Any
    ) -> dict[str, object]:
        """Apply `<<` where the kind wants it; elsewhere it is an ordinary key, and reported.

        Written several times, each applies, as in PyYAML; what cannot be merged is reported, too.
        """
        self.odd = True
        places = [number for number in range(0, len(items), 2) if items[number] == "<<"]
        applied = [number for number in places if not self.is_literal(items, number)]
        if not self.merge or not applied:
            return mapping
        result: dict[str, object] = {}
        for given in [items[number + 1] for number in applied]:
            sources = given if isinstance(given, list) else [given]
            for each in reversed(sources):
                if isinstance(each, dict):
                    result.update(each)
                    self.added += len(each)
        if self.added > MAX_ALIAS_NODES:
            mark = event.start_mark.index
            raise _trouble("alias-bomb", mark, mark, name="<<", limit=MAX_ALIAS_NODES)
        result.update((key, value) for key, value in mapping.items() if key != "<<")
        if len(applied) < len(places):
            result["<<"] = next(
                items[number + 1] for number in reversed(places) if self.is_literal(items, number)
            )
        return result


def construct(text: str, *, merge: bool) -> tuple[object, bool, int | None]:
    """The value, whether anything about it is odd, and where a second document starts.

    The one hot loop of equipage: children are collected in flat lists and a mapping is made when it ends, so
    that keys and values need no telling apart; plain scalars are resolved once per spelling.
    """
    get_event = Parser(text).get_event
    builder = _Builder(merge=merge)
    anchors = builder.anchors
    if len(_PLAIN) > _MAX_PLAIN:
        _PLAIN.clear()
    plain = _PLAIN
    may_merge = "<<" in text
    odd = False
    nodes = 0
    top: list[object] = []
    current = top
    stack: list[tuple[list[object], str | None, int]] = []
    mapping: dict[Any, object]
    while True:
        event = get_event()
        kind = event.__class__
        if kind is ScalarEvent:
            value = event.value
            bare, quoted = event.implicit
            if bare and event.tag is None:
                try:
                    value = plain[value]
                except KeyError:
                    spelled = value
                    try:
                        value = resolve_plain(spelled)
                    except TooLong:
                        odd = True  # and too long to be kept
                    if value.__class__ is float and not -INFINITY < value < INFINITY:
                        odd = True
                    elif len(spelled) < _WORTH_KEEPING:
                        plain[spelled] = value
            else:
                if not quoted and event.tag is not None and event.tag != "!":
                    value = resolve_tagged(event.tag, value)
                    is_odd_number = value.__class__ is float and not -INFINITY < value < INFINITY
                    if is_odd_number or not known_tag(event.tag, value):
                        odd = True
                if may_merge and value == "<<":
                    builder.literal[id(current), len(current)] = current
            nodes += 1
            if event.anchor is not None:
                anchors[event.anchor] = (value, 1 + len(event.value) // CHARACTERS_PER_NODE, 0)
            current.append(value)
        elif kind is MappingEndEvent:
            items = current
            try:
                mapping = dict(zip(items[::2], items[1::2]))  # noqa: B905 - the events come in pairs
                for key in mapping:
                    if key.__class__ is not str:
                        mapping = builder.mapping(items)
                        break
                else:
                    if len(mapping) * 2 != len(items):
                        odd = True
            except TypeError:  # a collection as a key cannot be hashed
                mapping = builder.mapping(items)
            if may_merge and "<<" in mapping:
                mapping = builder.merged(mapping, items, event)
            current, anchor, before = stack.pop()
            if anchor is not None:
                builder.close(anchor, before, len(stack) + 1, mapping, nodes - before, event)
            current.append(mapping)
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            anchor = event.anchor
            if event.tag is not None and not known_tag(event.tag, ()):
                odd = True
            nodes += 1
            stack.append((current, anchor, nodes))
            depth = len(stack)
            if anchor is not None:
                builder.open(anchor, nodes, depth, event)
            elif depth > builder.deepest:
                builder.deepest = depth
            if depth > MAX_DEPTH:
                raise _trouble(
                    "nesting-too-deep",
                    event.start_mark.index,
                    event.end_mark.index,
                    limit=MAX_DEPTH,
                )
            current = []
        elif kind is SequenceEndEvent:
            items = current
            current, anchor, before = stack.pop()
            if anchor is not None:
                builder.close(anchor, before, len(stack) + 1, items, nodes - before, event)
            current.append(items)
        elif kind is AliasEvent:
            value, size = builder.alias(event, len(stack) - builder.is_merging(current))
            nodes += size
            current.append(value)
        elif kind is StreamEndEvent:
            return (top[0] if top else None), odd or builder.odd, None
        elif kind is DocumentStartEvent and top:
            return top[0], odd or builder.odd, event.start_mark.index
