"""The places of many paths in one pass.

Tables are not written in one piece, so this is what their places mean:

- a table with a header: from the header to the end of its last entry
- a table that is only named on the way, in a longer header or a dotted key: the first one that names it
- a list of tables: the header of its first; each of its tables as any table with a header
"""

from __future__ import annotations

from collections.abc import Iterable

from equipage.path import Path
from equipage.syntax.engine import Place, Range
from equipage.syntax.toml.scan import Event, Part, scan
from equipage.syntax.wanted import Want


class _Level:
    """An open bracket: what is wanted of it, and where it stands."""

    __slots__ = ("index", "is_list", "own_key", "start", "want")

    def __init__(self, want: Want | None, start: int, own_key: Range | None, *, is_list: bool) -> None:
        self.want = want
        self.start = start
        self.own_key = own_key
        self.is_list = is_list
        self.index = -1


def locate(text: str, paths: Iterable[Path]) -> dict[Path, Place]:
    """The places of those `paths` that exist in `text`."""
    return _Locator(Want.of(paths)).run(text)


class _Locator:
    """One pass over the text. The current table is a level of its own, below the open brackets."""

    def __init__(self, root: Want) -> None:
        self.root = root
        self.found: dict[Path, Place] = {}
        self.elements: dict[Want, int] = {}  #: how many tables a list of tables has so far
        self.table = _Level(root, 0, None, is_list=False)
        self.table_end = 0
        self.levels: list[_Level] = []
        self.next: tuple[Want | None, Range | None] = (None, None)  #: what the value after a key is wanted for

    def run(self, text: str) -> dict[Path, Place]:
        start, end = None, 0
        for event in scan(text):
            start, end = event.start if start is None else start, event.end
            if event.kind in ("table", "element"):
                self.header(event)
            elif event.kind == "key":
                self.key(event)
            else:
                self.value(event)
            self.table_end = event.end
        self.close_table()
        self.root.record(Place((start or 0, end)), self.found)
        return self.found

    def header(self, event: Event) -> None:
        self.close_table()
        whole = (event.start, event.end)
        want = self.walk(self.root, event.parts[:-1], whole)
        last = event.parts[-1:]
        child = want.below.get(last[0].name) if want is not None and last else None
        if child is not None and event.kind == "element":
            child = self.element(child, last[0], whole)
        if child is not None:
            child.reached = True
        self.table = _Level(child, event.start, last[0].range if last else None, is_list=False)

    def element(self, array: Want, part: Part, header: Range) -> Want | None:
        """The next table of a list; the list itself is placed by the first."""
        number = self.elements.get(array, 0)
        self.elements[array] = number + 1
        if not number:
            array.record(Place(header, part.range), self.found)
        return array.below.get(number)

    def close_table(self) -> None:
        if self.table.want is not None:
            self.table.want.record(Place((self.table.start, self.table_end), self.table.own_key), self.found)

    def key(self, event: Event) -> None:
        level = self.levels[-1] if self.levels else self.table
        want = self.walk(level.want, event.parts[:-1], (event.start, event.end))
        last = event.parts[-1] if event.parts else Part("", (event.start, event.end))
        self.next = (want.below.get(last.name) if want is not None else None), last.range

    def walk(self, want: Want | None, parts: tuple[Part, ...], whole: Range) -> Want | None:
        """Follow the parts of a dotted key that only lead somewhere; each names a table, perhaps the first time."""
        for part in parts:
            want = want.below.get(part.name) if want is not None else None
            if want is None:
                return None
            if want in self.elements:
                want = want.below.get(self.elements[want] - 1)
            elif not want.reached:
                want.reached = True
                want.record(Place(whole, part.range), self.found)
        return want

    def value(self, event: Event) -> None:
        if event.kind == "close":
            level = self.levels.pop()
            if level.want is not None:
                level.want.record(Place((level.start, event.end), level.own_key), self.found)
            return
        want, key = self.arrive()
        if event.kind != "scalar":
            self.levels.append(_Level(want, event.start, key, is_list=event.kind == "list"))
        elif want is not None:
            want.record(Place((event.start, event.end), key), self.found)

    def arrive(self) -> tuple[Want | None, Range | None]:
        """What the value that comes now is wanted for, and its key."""
        level = self.levels[-1] if self.levels else None
        if level is None or not level.is_list:
            return self.next
        level.index += 1
        return (level.want.below.get(level.index) if level.want is not None else None), None


def mentions(text: str, offset: int) -> tuple[Range, Range | None] | None:
    """Where the name that is given again at `offset` stands, there and the first time.

    None inside brackets: those have no second entry of a name far away.
    """
    table: Path = ()
    counts: dict[Path, int] = {}
    depth = 0
    for event in scan(text):
        depth += {"list": 1, "map": 1, "close": -1}.get(event.kind, 0)
        if not event.parts or depth:
            continue
        path: Path = table if event.kind == "key" else ()
        for part in event.parts:
            path = (*path, part.name)
            if part.range[0] == offset:
                place = locate(text[: event.start], [path]).get(path)
                return part.range, place.key if place is not None else None
            if path in counts and part is not event.parts[-1]:
                path = (*path, counts[path] - 1)
        if event.kind == "element":
            counts[path] = counts.get(path, 0) + 1
            path = (*path, counts[path] - 1)
        table = table if event.kind == "key" else path
    return None
