"""The nodes of a document with their events, for whoever asks where things are.

Scalars are their own events; nothing is resolved until somebody looks. Only what leads to something wanted is
kept, and whatever has a name, so that a large document costs little more than its events. An alias knows the
node it stands for by occurrence and not by name: a name may be given to several nodes.
"""

from __future__ import annotations

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
from equipage.syntax.wanted import Want
from equipage.syntax.yaml.events import Parser, content_range, scalar_value
from equipage.syntax.yaml.scalars import key_text

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
            if event.start_mark.index != event.end_mark.index:  # a bracket; block collections have no end
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


def _collection(event: Any, stack: list[Collection | None], wanted: Want, *, merge: bool) -> Collection | None:
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
    return node.__class__ is ScalarEvent and node.value == "<<" and node.implicit[0] and node.tag is None


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
