"""The difference of two configurations in meaning, not in text.

Values are compared by path. The order of keys means nothing. Entries of a list are matched by their name or id
where every one has its own, else by content; that named entries changed places is told as one change. What
deserves to be seen first comes first: added tools, widened permissions, changed prompts.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

import msgspec

from equipage.core.path import ROOT, Path
from equipage.loading.kind import Sensitive
from equipage.loading.tree import walk

How = Literal["added", "removed", "changed", "reordered"]
#: What a change means, the most important first.
MEANINGS = (
    "permission widened",
    "tool added",
    "agent added",
    "prompt changed",
    "permission changed",
    "tool removed",
    "agent removed",
    "tool changed",
    "agent changed",
    "changed",
)
#: By these fields entries of a list are told apart: their own, or those of the part they wrap (`tool.name`).
_IDENTITIES = ("id", "name", "uri", "key", "ref")
_MISSING: Any = object()


Names = tuple[str, ...]


class Change(msgspec.Struct, frozen=True):
    """One difference. Paths are those of the new side, for what was removed those of the old one."""

    how: How
    path: Path
    before: Any = None
    after: Any = None
    names: Names = ()  #: the names of the list entries on the way, outermost first
    meaning: str = "changed"  #: one of `MEANINGS`


def compare(before: Any, after: Any, sensitive: Iterable[Sensitive] = ()) -> list[Change]:
    """Every difference between two plain values, the most important first, then in order of the paths."""
    comparison = _Comparison(sensitive)
    changes = [comparison.judged(each) for each in comparison.differences(before, after, ROOT, ())]
    return sorted(changes, key=lambda each: MEANINGS.index(each.meaning))


class _Comparison:
    """Finds differences, and knows which values are sensitive."""

    def __init__(self, sensitive: Iterable[Sensitive]) -> None:
        self.patterns = [(each.expression(), each) for each in sensitive]

    def differences(self, before: Any, after: Any, path: Path, names: Names) -> Iterator[Change]:
        if isinstance(before, dict) and isinstance(after, dict):
            yield from self.mappings(before, after, path, names)
        elif isinstance(before, list) and isinstance(after, list):
            yield from self.lists(before, after, path, names)
        elif not _same(before, after):
            yield Change("changed", path, before, after, names)

    def mappings(
        self, before: Mapping[str, Any], after: Mapping[str, Any], path: Path, names: Names
    ) -> Iterator[Change]:
        for key in sorted({*before, *after}):
            here = (*path, key)
            if key not in after:
                yield from self.gone(before[key], here, names)
            elif key not in before:
                yield from self.come(after[key], here, names)
            else:
                yield from self.differences(before[key], after[key], here, names)

    def lists(
        self, before: list[Any], after: list[Any], path: Path, names: Names
    ) -> Iterator[Change]:
        old, new = _identified(before, after)
        if old is None or new is None:
            yield from self.sequences(before, after, path, names)
            return
        for name, number in old.items():
            if name not in new:
                yield from self.gone(
                    before[number], (*path, number), _named(names, before[number], name)
                )
        for name, number in new.items():
            inner = _named(names, after[number], name)
            if name not in old:
                yield from self.come(after[number], (*path, number), inner)
            else:
                yield from self.differences(
                    before[old[name]], after[number], (*path, number), inner
                )
        if [name for name in old if name in new] != [name for name in new if name in old]:
            yield Change("reordered", path, [*old], [*new], names)

    def sequences(
        self, before: list[Any], after: list[Any], path: Path, names: Names
    ) -> Iterator[Change]:
        """Entries without names: equal ones are matched in order, what lies between is compared one by one."""
        matcher = SequenceMatcher(
            None, [*map(_canonical, before)], [*map(_canonical, after)], autojunk=False
        )
        for how, old, old_end, new, new_end in matcher.get_opcodes():
            if how == "equal":
                continue
            pairs = min(old_end - old, new_end - new)
            for number in range(pairs):
                yield from self.differences(
                    before[old + number], after[new + number], (*path, new + number), names
                )
            for number in range(old + pairs, old_end):
                yield from self.gone(before[number], (*path, number), names)
            for number in range(new + pairs, new_end):
                yield from self.come(after[number], (*path, number), names)

    def come(self, value: Any, path: Path, names: Names) -> Iterator[Change]:
        """What is new; taken apart where something sensitive is in it."""
        if self.holds_sensitive(value, path):
            yield from self.differences(type(value)(), value, path, names)
        else:
            yield Change("added", path, None, value, names)

    def gone(self, value: Any, path: Path, names: Names) -> Iterator[Change]:
        if self.holds_sensitive(value, path):
            yield from self.differences(value, type(value)(), path, names)
        else:
            yield Change("removed", path, value, None, names)

    # ------------------------------------------------------------------------------------------- meaning

    def sensitive(self, path: Path) -> Sensitive | None:
        written = "".join(f"{step}\0" for step in path)
        return next((each for pattern, each in self.patterns if pattern.fullmatch(written)), None)

    def holds_sensitive(self, value: Any, path: Path) -> bool:
        """Whether a part of a value, but neither the value nor anything around it, is sensitive."""
        if not isinstance(value, dict | list) or not value or self.nearest(path) is not None:
            return False
        return any(self.sensitive(inner) for inner, _ in walk(value, path) if inner != path)

    def nearest(self, path: Path) -> tuple[Sensitive, int] | None:
        """The sensitive value at a path or nearest above it, and how far."""
        for depth in range(len(path), -1, -1):
            found = self.sensitive(path[:depth])
            if found is not None:
                return found, len(path) - depth
        return None

    def judged(self, change: Change) -> Change:
        """The change with what it means."""
        found = self.nearest(change.path)
        return (
            change
            if found is None
            else msgspec.structs.replace(change, meaning=_meaning(change, *found))
        )


def _named(names: Names, entry: Any, name: str) -> Names:
    """A scalar is its own name; saying it twice helps nobody."""
    return (*names, name) if isinstance(entry, dict) else names


def _identified(
    before: list[Any], after: list[Any]
) -> tuple[dict[str, int] | None, dict[str, int] | None]:
    """The entries of both lists by name, if one way of naming them fits all."""
    if not before or not after:
        pool = before or after
        numbers = {str(number): number for number in range(len(pool))}
        named = next(
            (found for way in _ways(pool) if (found := _numbers(pool, way)) is not None), numbers
        )
        return (named, {}) if before else ({}, named)
    for way in _ways([*before, *after]):
        old, new = _numbers(before, way), _numbers(after, way)
        if old is not None and new is not None:
            return old, new
    return None, None


def _ways(entries: Sequence[Any]) -> Iterator[tuple[str, ...]]:
    """The ways to name these entries: by themselves, by a field, or by a field of the one part they share."""
    if all(isinstance(each, str | int | float | bool) for each in entries):
        yield ()
        return
    if not all(isinstance(each, dict) for each in entries):
        return
    yield from ((name,) for name in _IDENTITIES)
    shared = [key for key in entries[0] if all(isinstance(each.get(key), dict) for each in entries)]
    yield from ((key, name) for key in shared for name in _IDENTITIES)


def _numbers(entries: list[Any], way: tuple[str, ...]) -> dict[str, int] | None:
    """Each entry's number by its name; None if one has none or two have the same."""
    found: dict[str, int] = {}
    for number, each in enumerate(entries):
        value: Any = each
        for step in way:
            value = value.get(step) if isinstance(value, dict) else None
        name = value if isinstance(value, str) else _canonical(value)
        if value is None or isinstance(value, dict | list) or name in found:
            return None
        found[name] = number
    return found


def _same(before: Any, after: Any) -> bool:
    """Equal, and of one type: `1`, `1.0` and `true` are three values."""
    return type(before) is type(after) and bool(before == after)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


# ----------------------------------------------------------------------------------------------- meaning


def _meaning(change: Change, each: Sensitive, below: int) -> str:
    if each.what in ("tool", "agent"):
        if below or change.how in ("changed", "reordered"):
            return f"{each.what} changed"
        return f"{each.what} {change.how}"
    if change.how == "reordered":
        return "changed"
    if each.what == "prompt":
        return "prompt changed"
    return "permission widened" if _widens(change, each, below) else "permission changed"


def _widens(change: Change, each: Sensitive, below: int) -> bool:
    """Whether a change of a permission allows more than before."""
    if each.order and not below:
        return _rank(change.after, change.how == "removed", each) > _rank(
            change.before, change.how == "added", each
        )
    if isinstance(each.default, tuple) and not below:
        return _widens_list(change, each)
    if below or change.how == "changed":
        grown = _grown(change)
        return grown is None or grown is (each.widens == "more")
    # The whole list came or went. Without an allow list everything may be allowed; without a deny list it is.
    appeared = change.how == "added"
    if each.widens == "fewer":
        return not appeared
    return not appeared if each.absent == "everything" else appeared


def _widens_list(change: Change, each: Sensitive) -> bool:
    """A list that came or went, where being absent stands for a certain list."""
    before = each.default if change.how == "added" else change.before
    after = each.default if change.how == "removed" else change.after
    more, less = (after, before) if each.widens == "more" else (before, after)
    return any(entry not in (less or ()) for entry in more or ())


def _grown(change: Change) -> bool | None:
    """Whether there is more than before; None where it is neither more nor less, but other."""
    if change.how in ("added", "removed"):
        return change.how == "added"
    if isinstance(change.before, bool) and isinstance(change.after, bool):
        return change.after
    return None


def _rank(value: Any, is_absent: bool, each: Sensitive) -> int:
    if is_absent and each.default in each.order:
        return each.order.index(each.default)
    if is_absent:
        return -1 if each.absent == "nothing" else len(each.order)
    return each.order.index(value) if value in each.order else len(each.order)
