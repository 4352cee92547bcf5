"""Places in a plain text: what `plain.read` reads can be searched without the parser, too.

Lines are followed as `read` follows them, and taken apart closely only where somebody wants to know. What stands
inside a flow collection, and a value that is not written at all, are left to the parser.
"""

from __future__ import annotations

from collections.abc import Iterable

from equipage.path import Path
from equipage.syntax.engine import Place, Range
from equipage.syntax.wanted import Want
from equipage.syntax.yaml.lines import OPEN, Doubt, ranges_of
from equipage.syntax.yaml.plain import entry_of, read


def locate(text: str, paths: Iterable[Path]) -> dict[Path, Place] | None:
    """The places of those `paths` that exist. None if the parser should look."""
    if read(text) is None:
        return None
    search = _Search(Want.of(paths))
    try:
        search.run(text)
    except Doubt:
        return None
    return search.found


class _Open:
    """A collection that lines still add to: its column, what is wanted of it, and where it starts."""

    __slots__ = ("column", "count", "is_list", "key", "start", "want")

    def __init__(self, column: int, is_list: bool, want: Want | None, start: int, key: Range | None) -> None:
        self.column = column
        self.is_list = is_list
        self.want = want
        self.start = start
        self.key = key
        self.count = 0

    def below(self, step: str | int) -> Want | None:
        return None if self.want is None else self.want.below.get(step)


class _Search:
    """One pass over a text that is known to be plain."""

    def __init__(self, wanted: Want) -> None:
        self.wanted = wanted
        self.found: dict[Path, Place] = {}
        self.open: list[_Open] = []
        self.previous = (0, "")  #: offset and text of the last line that said something

    def run(self, text: str) -> None:
        offset = 0
        holder: tuple[Want | None, Range | None] | None = None  #: the key whose value may follow on deeper lines
        for line in text.split("\n"):
            entry = entry_of(line)
            if entry is not None:
                column, is_item, key, value = entry
                self._go_to(column, is_item, offset, holder)
                if is_item:
                    self._item(offset, line, column, is_mapping=key is not None)
                holder = self._entry(offset, line, key, is_open=value is OPEN) if key is not None else None
                self.previous = offset, line
            offset += len(line) + 1
        _must_not_be_wanted(holder)
        while self.open:
            self._close()

    def _go_to(self, column: int, is_item: bool, offset: int, holder: tuple[Want | None, Range | None] | None) -> None:
        """Make the collection that a line adds to the last of the open ones."""
        if not self.open:
            self.open.append(_Open(column, is_item, self.wanted, offset + column, None))
        elif holder is not None and (column > self.open[-1].column or (is_item and column == self.open[-1].column)):
            self.open.append(_Open(column, is_item, holder[0], offset + column, holder[1]))
        else:
            _must_not_be_wanted(holder)
            while column < self.open[-1].column or (self.open[-1].is_list and not is_item):
                self._close()

    def _close(self) -> None:
        """The last open collection ends where the line before ends."""
        closed = self.open.pop()
        if closed.want is not None and closed.want.paths:
            offset, line = self.previous
            _, value = ranges_of(line)
            if value is None:
                raise Doubt  # it ends with a value that is not written
            closed.want.record(Place((closed.start, offset + value[1]), closed.key), self.found)

    def _item(self, offset: int, line: str, column: int, *, is_mapping: bool) -> None:
        """An item of a list: a value, or a mapping that starts on its line."""
        items = self.open[-1]
        want = items.below(items.count)
        items.count += 1
        if is_mapping:
            self.open.append(_Open(column + 2, False, want, offset + column + 2, None))
        elif want is not None:
            self._record(want, offset, line)

    def _entry(self, offset: int, line: str, key: str, *, is_open: bool) -> tuple[Want | None, Range | None] | None:
        """An entry of a mapping; what is wanted of it and its key, if its value may follow."""
        want = self.open[-1].below(key)
        if is_open:
            return want, None if want is None else _moved(ranges_of(line)[0], offset)
        if want is not None:
            self._record(want, offset, line)
        return None

    def _record(self, want: Want, offset: int, line: str) -> None:
        key, value = ranges_of(line)
        if value is None or (want.below and line[value[0]] in "[{"):
            raise Doubt
        start, end = value
        want.record(Place((start + offset, end + offset), _moved(key, offset)), self.found)


def _moved(place: Range | None, offset: int) -> Range | None:
    return None if place is None else (place[0] + offset, place[1] + offset)


def _must_not_be_wanted(holder: tuple[Want | None, Range | None] | None) -> None:
    """A key without a value: where that would stand is a question for the parser."""
    if holder is not None and holder[0] is not None:
        raise Doubt
