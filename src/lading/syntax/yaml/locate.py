"""The places of many paths in one pass over the events.

A path that leads through an alias or a merge key is followed to the anchor it stands for, by occurrence and
not by name: a name may be given to several nodes. That takes one further pass per alias on the way.
"""

from __future__ import annotations

from collections.abc import Iterable
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

from lading.path import Path
from lading.syntax.engine import Place, Range
from lading.syntax.yaml.events import Parser, content_range, key_name


class _Want:
    """A node of the trie of wanted paths: which end here, and what is wanted below."""

    __slots__ = ("below", "paths")

    def __init__(self) -> None:
        self.paths: list[Path] = []
        self.below: dict[str | int, _Want] = {}

    def add(self, path: Path, rest: Path) -> None:
        node = self
        for step in rest:
            node = node.below.setdefault(step, _Want())
        node.paths.append(path)

    def forget(self, found: dict[Path, Place]) -> None:
        """Drop what was found here and below: a later duplicate takes over."""
        for path in self.paths:
            found.pop(path, None)
        for node in self.below.values():
            node.forget(found)

    def absorb(self, other: _Want) -> None:
        self.paths.extend(other.paths)
        for step, node in other.below.items():
            self.below.setdefault(step, _Want()).absorb(node)


class _Level:
    """An open collection on the way to something wanted."""

    __slots__ = (
        "index",
        "is_mapping",
        "key",
        "key_range",
        "merges",
        "next_is_key",
        "own_key",
        "seen",
        "start",
        "wants",
    )

    def __init__(self, wants: list[_Want], start: int, own_key: Range | None, *, is_mapping: bool) -> None:
        self.wants = wants
        self.start = start
        self.own_key = own_key  #: where the collection's own key stands
        self.is_mapping = is_mapping
        self.next_is_key = is_mapping
        self.index = -1
        self.key = ""
        self.key_range: Range = (0, 0)
        self.seen: set[str] = set()
        self.merges: list[int] = []  #: the anchors named by `<<`


def locate(text: str, paths: Iterable[Path], *, merge: bool = False) -> dict[Path, Place]:
    """The places of those `paths` that exist in the first document of `text`.

    The place of an aliased value is the alias; below it, the place in the anchored node.
    """
    found: dict[Path, Place] = {}
    root = _Want()
    for path in paths:
        root.add(path, path)
    #: what is wanted inside the n-th anchored node; the document itself counts as number 0
    wanted = {0: root}
    while wanted:
        wanted = _Locator(text, wanted, found, merge=merge).run()
    return found


class _Locator:
    """One pass over the events; what it meets behind an alias is wanted from the next pass."""

    def __init__(self, text: str, wanted: dict[int, _Want], found: dict[Path, Place], *, merge: bool) -> None:
        self.text, self.wanted, self.found, self.merge = text, wanted, found, merge
        self.levels: list[_Level | None] = []  #: None stands for a collection nobody wants
        self.anchored = 0
        self.latest: dict[str, int] = {}
        self.deferred: dict[int, _Want] = {}
        self.last: Any = None  #: the event that ended most recently

    def run(self) -> dict[int, _Want]:
        get_event = Parser(self.text).get_event
        levels = self.levels
        while True:
            event = get_event()
            kind = event.__class__
            if kind is ScalarEvent:
                self.last = event
                if event.anchor is not None or not levels or levels[-1] is not None:
                    self.node(event)
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                if event.start_mark.index != event.end_mark.index:  # a bracket; block collections have no end
                    self.last = event
                level = levels.pop()
                if level is not None:
                    self.close(level)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if event.anchor is None and levels and levels[-1] is None:
                    levels.append(None)
                else:
                    self.node(event)
            elif kind is AliasEvent:
                self.last = event
                if levels and levels[-1] is not None:
                    self.node(event)
            elif kind is StreamEndEvent or (kind is DocumentStartEvent and self.last is not None):
                return self.deferred

    def node(self, event: Any) -> None:
        wants, key_range = self.arrive(event)
        if event.__class__ is AliasEvent:
            self.alias(event, wants, key_range)
            return
        if event.anchor is not None:
            self.anchored += 1
            self.latest[event.anchor] = self.anchored
            extra = self.wanted.get(self.anchored)
            wants = [*wants, extra] if extra is not None else wants
        if event.__class__ is ScalarEvent:
            if wants:
                self.record(wants, Place(content_range(event, self.text), key_range))
        elif wants:
            start = content_range(event, self.text)[0]
            self.levels.append(_Level(wants, start, key_range, is_mapping=event.__class__ is MappingStartEvent))
        else:
            self.levels.append(None)

    def arrive(self, event: Any) -> tuple[list[_Want], Range | None]:
        """Which wants the node serves, and its key; a node that is itself a key serves none."""
        if not self.levels:
            return [self.wanted[0]] if 0 in self.wanted else [], None
        level = self.levels[-1]
        if level is None:
            return [], None
        if not level.is_mapping:
            level.index += 1
            return [want.below[level.index] for want in level.wants if level.index in want.below], None
        if level.next_is_key:
            level.next_is_key = False
            level.key_range = content_range(event, self.text)
            level.key = key_name(event, self.text, level.key_range)
            return [], None
        level.next_is_key = True
        if level.key == "<<" and self.merge:
            self.merge_source(event, level)
        below = [want.below[level.key] for want in level.wants if level.key in want.below]
        if below:
            if level.key in level.seen:
                for want in below:
                    want.forget(self.found)
            level.seen.add(level.key)
        return below, level.key_range

    def merge_source(self, event: Any, level: _Level) -> None:
        if event.__class__ is AliasEvent and event.anchor in self.latest:
            level.merges.append(self.latest[event.anchor])

    def alias(self, event: Any, wants: list[_Want], key_range: Range | None) -> None:
        self.record(wants, Place((event.start_mark.index, event.end_mark.index), key_range))
        target = self.latest.get(event.anchor)
        for want in wants:
            if target is not None and want.below:
                rest = _Want()
                rest.below = want.below
                self.deferred.setdefault(target, _Want()).absorb(rest)

    def close(self, level: _Level) -> None:
        end = level.start if self.last is None else max(level.start, content_range(self.last, self.text)[1])
        self.record(level.wants, Place((level.start, end), level.own_key))
        for target in level.merges:
            rest = _Want()
            for want in level.wants:
                for step, below in want.below.items():
                    if step not in level.seen:
                        rest.below.setdefault(step, _Want()).absorb(below)
            if rest.below:
                self.deferred.setdefault(target, _Want()).absorb(rest)

    def record(self, wants: list[_Want], place: Place) -> None:
        for want in wants:
            for path in want.paths:
                self.found[path] = place
