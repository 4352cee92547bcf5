"""The places of many paths in one pass."""

from __future__ import annotations

from collections.abc import Iterable

from equipage.path import Path
from equipage.syntax.engine import Place, Range
from equipage.syntax.json.events import events, string_at
from equipage.syntax.wanted import Want


class _Level:
    """An open collection on the way to something wanted."""

    __slots__ = ("child", "index", "is_mapping", "key_range", "own_key", "start", "want")

    def __init__(self, want: Want, start: int, own_key: Range | None, *, is_mapping: bool) -> None:
        self.want = want
        self.start = start
        self.own_key = own_key  #: where the collection's own key stands
        self.is_mapping = is_mapping
        self.index = -1
        self.key_range: Range | None = None
        self.child: Want | None = None  #: what is wanted of the next value

    def key(self, name: str, place: Range, found: dict[Path, Place]) -> None:
        self.key_range = place
        self.child = self.want.below.get(name)
        if self.child is not None:
            self.child.forget(found)
            self.want.reach(name)

    def arrive(self) -> Want | None:
        if self.is_mapping:
            return self.child
        self.index += 1
        return self.want.reach(self.index)


def locate(text: str, paths: Iterable[Path]) -> dict[Path, Place]:
    """The places of those `paths` that exist in `text`; the last of several equal keys counts."""
    found: dict[Path, Place] = {}
    root = Want.of(paths)
    levels: list[_Level | None] = []  # None stands for a collection nobody wants
    for kind, start, end in events(text):
        level = levels[-1] if levels else None
        if kind == "key":
            if level is not None:
                level.key(string_at(text, start, end), (start, end), found)
            continue
        if kind == "close":
            levels.pop()
            if level is not None:
                level.want.record(Place((level.start, end), level.own_key), found)
            continue
        want = root if not levels else level.arrive() if level is not None else None
        own_key = level.key_range if level is not None else None
        if kind == "open":
            is_mapping = text[start] == "{"
            levels.append(None if want is None else _Level(want, start, own_key, is_mapping=is_mapping))
        elif want is not None:
            want.record(Place((start, end), own_key), found)
    return found
