"""The difference of two configurations in meaning, not in text.

Values are compared by path. The order of keys means nothing. Entries of a list are matched by name
or id if each has its own, else by content; named entries in another order are one change. Changes
that deserve attention come first: permissions, those that widen most at the top, then added tools
and changed prompts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

import msgspec

from equipage.clients.grant_rows import TABLES_OF_VALUES, VARIABLE
from equipage.clients.grants import Grant
from equipage.core.path import HOLE, ROOT, Path, walk
from equipage.effect.reach import Difference, Step, compare_by_patterns
from equipage.loading.format import Sensitive

How = Literal["added", "removed", "changed", "reordered"]
#: What a change means, the most important first.
MEANINGS = (
    "permission widened",
    "permission changed",
    "tool added",
    "agent added",
    "prompt changed",
    "tool removed",
    "agent removed",
    "tool changed",
    "agent changed",
    "changed",
)
#: Fields that name an entry of a list: its own, or those of the part it wraps (`tool.name`).
_NAME_FIELDS = ("id", "name", "uri", "key", "ref")

Names = tuple[str, ...]


class Change(msgspec.Struct, frozen=True):
    """One difference. Paths are those of the new side; of the old one if the value was removed."""

    how: How
    path: Path
    was: Path  #: the path of the old side; of the new one if the value was added
    before: Any = None
    after: Any = None
    names: Names = ()  #: the names of the list entries on the way, outermost first
    meaning: str = "changed"  #: one of `MEANINGS`
    widens: int = 0  #: how far it widens a permission; only comparable with others

    @property
    def word(self) -> str:
        """What it is in a word or two: what it means, else how the value changed."""
        return self.how if self.meaning == "changed" else self.meaning

    def sort_key(self) -> tuple[int, int]:
        """The most important first."""
        return MEANINGS.index(self.meaning), -self.widens


def compare(
    before: Any,
    after: Any,
    sensitive: Iterable[Sensitive] = (),
    reach: Iterable[Difference] | None = None,
) -> list[Change]:
    """Every difference between two plain values, the most important first, then by path.

    `reach` is how what they allow changed; by default, what the sensitive values say about it.
    """
    sensitive = tuple(sensitive)
    if reach is None:
        reach = (compare_by_patterns(sensitive, before, after),)
    comparison = _Comparison(sensitive, reach)
    found = comparison.differences(_drop_holes(before), _drop_holes(after), ROOT, ROOT, ())
    return sorted(map(comparison.classify, found), key=Change.sort_key)


def _drop_holes(value: Any) -> Any:
    """A value without what could not be had: no client reads that, so it is not there."""
    if isinstance(value, dict):
        return {key: _drop_holes(each) for key, each in value.items() if each is not HOLE}
    if isinstance(value, list):
        return [None if each is HOLE else _drop_holes(each) for each in value]
    return value


def hide_values(change: Change) -> Change:
    """The change without values of headers and variables, which may be secrets."""
    return msgspec.structs.replace(
        change,
        before=_hide_below(change.before, change.was),
        after=_hide_below(change.after, change.path),
    )


def _hide_below(value: Any, path: Path) -> Any:
    if isinstance(value, dict):
        return {key: _hide_below(each, (*path, key)) for key, each in value.items()}
    if isinstance(value, list):
        return [_hide_below(each, (*path, number)) for number, each in enumerate(value)]
    is_hidden = path[-2:-1] and path[-2] in TABLES_OF_VALUES and isinstance(value, str)
    return "***" if is_hidden and VARIABLE.sub("", value) else value


class _Comparison:
    """Finds the differences of two values, and what each of them means."""

    def __init__(self, sensitive: Iterable[Sensitive], reach: Iterable[Difference]) -> None:
        self.patterns = [(each.expression(), each) for each in sensitive]
        steps = [step for each in reach for step in each.widening_steps]
        self.widened = [_StepIndex((side(step), step.far) for step in steps) for side in _SIDES]

    def differences(
        self, before: Any, after: Any, was: Path, path: Path, names: Names
    ) -> Iterator[Change]:
        """The differences of two values; `was` is the path of the old one, `path` of the new."""
        if isinstance(before, dict) and isinstance(after, dict):
            # Sorted, because the order of keys means nothing.
            for key in sorted({*before, *after}):
                here = (*path, key)
                if key not in after:
                    yield from self.report_whole("removed", before[key], (*was, key), names)
                elif key not in before:
                    yield from self.report_whole("added", after[key], here, names)
                else:
                    yield from self.differences(before[key], after[key], (*was, key), here, names)
        elif isinstance(before, list) and isinstance(after, list):
            yield from self.compare_lists(before, after, was, path, names)
        elif type(before) is not type(after) or before != after:  # `1`, `1.0` and `true` differ
            yield Change("changed", path, was, before, after, names)

    def compare_lists(
        self, before: list[Any], after: list[Any], was: Path, path: Path, names: Names
    ) -> Iterator[Change]:
        identified = _match_by_name(before, after)
        if identified is None:
            yield from self.compare_sequences(before, after, was, path, names)
            return
        old, new = identified
        for name, number in old.items():
            if name not in new:
                inner = _append_name(names, before[number], name)
                yield from self.report_whole("removed", before[number], (*was, number), inner)
        for name, number in new.items():
            inner = _append_name(names, after[number], name)
            here = (*path, number)
            if name not in old:
                yield from self.report_whole("added", after[number], here, inner)
            else:
                earlier = (*was, old[name])
                yield from self.differences(before[old[name]], after[number], earlier, here, inner)
        # Entries that both lists have, in another order.
        if [name for name in old if name in new] != [name for name in new if name in old]:
            yield Change("reordered", path, was, [*old], [*new], names)

    def compare_sequences(
        self, before: list[Any], after: list[Any], was: Path, path: Path, names: Names
    ) -> Iterator[Change]:
        """Entries without names: match equal ones in order, compare what is between them."""
        # `autojunk` would ignore frequent entries of long lists.
        matcher = SequenceMatcher(
            None, [*map(canonical_text, before)], [*map(canonical_text, after)], autojunk=False
        )
        for how, old, old_end, new, new_end in matcher.get_opcodes():
            if how == "equal":
                continue
            pairs = min(old_end - old, new_end - new)
            for number in range(pairs):
                there, here = (*was, old + number), (*path, new + number)
                yield from self.differences(
                    before[old + number], after[new + number], there, here, names
                )
            for number in range(old + pairs, old_end):
                yield from self.report_whole("removed", before[number], (*was, number), names)
            for number in range(new + pairs, new_end):
                yield from self.report_whole("added", after[number], (*path, number), names)

    def report_whole(
        self, how: Literal["added", "removed"], value: Any, path: Path, names: Names
    ) -> Iterator[Change]:
        """A value that was added or removed; one change per part if a part of it is sensitive."""
        is_new = how == "added"
        if self.holds_sensitive(value, path):
            empty = type(value)()
            sides = (empty, value) if is_new else (value, empty)
            yield from self.differences(*sides, path, path, names)
        else:
            before, after = (None, value) if is_new else (value, None)
            yield Change(how, path, path, before, after, names)

    def sensitive_at(self, path: Path) -> Sensitive | None:
        # The patterns expect a NUL behind each step; a dot could be part of a key.
        written = "".join(f"{step}\0" for step in path)
        return next((each for pattern, each in self.patterns if pattern.fullmatch(written)), None)

    def holds_sensitive(self, value: Any, path: Path) -> bool:
        """Whether a part of a value is sensitive, but neither the value nor anything around it."""
        if (
            not isinstance(value, dict | list)
            or not value
            or self.nearest_sensitive(path) is not None
        ):
            return False
        return any(self.sensitive_at(inner) for inner, _ in walk(value, path) if inner != path)

    def nearest_sensitive(self, path: Path) -> tuple[Sensitive, int] | None:
        """The sensitive value at a path or nearest above it, and how far above."""
        for depth in range(len(path), -1, -1):
            found = self.sensitive_at(path[:depth])
            if found is not None:
                return found, len(path) - depth
        return None

    def classify(self, change: Change) -> Change:
        """The change with its meaning."""
        found = self.nearest_sensitive(change.path)
        meaning = "changed" if found is None else _meaning(change, *found)
        was, now = self.widened
        far = 0 if change.how == "removed" else now.far_at(change.path)
        far += 0 if change.how == "added" else was.far_at(change.was)
        # A whole tool or agent that came says more than that it may do something.
        if far and not meaning.endswith(("added", "removed")):
            return msgspec.structs.replace(change, meaning="permission widened", widens=far)
        return msgspec.structs.replace(change, meaning=meaning)


def _append_name(names: Names, entry: Any, name: str) -> Names:
    """The names with that of an entry; a scalar is its own name and is not repeated."""
    return (*names, name) if isinstance(entry, dict) else names


def _match_by_name(
    before: list[Any], after: list[Any]
) -> tuple[dict[str, int], dict[str, int]] | None:
    """The numbers of the entries by name, if one way of naming fits both lists; else None."""
    for way in _naming_ways([*before, *after]):
        old, new = _numbers_by_name(before, way), _numbers_by_name(after, way)
        if old is not None and new is not None:
            return old, new
    if before and after:
        return None
    # One list is empty, so nothing has to be matched and numbers will do as names.
    old, new = ({str(number): number for number in range(len(each))} for each in (before, after))
    return old, new


def _naming_ways(entries: Sequence[Any]) -> Iterator[tuple[str, ...]]:
    """The ways to name entries: by value, by a field, or by a field of a part they all have."""
    if all(isinstance(each, str | int | float | bool) for each in entries):
        yield ()
        return
    if not all(isinstance(each, dict) for each in entries):
        return
    yield from ((name,) for name in _NAME_FIELDS)
    # As in `{tool: {name: …}, response: …}`.
    shared = [key for key in entries[0] if all(isinstance(each.get(key), dict) for each in entries)]
    yield from ((key, name) for key in shared for name in _NAME_FIELDS)


def _numbers_by_name(entries: list[Any], way: tuple[str, ...]) -> dict[str, int] | None:
    """The index of each entry by its name; None if one has no name or two share one."""
    found: dict[str, int] = {}
    for number, each in enumerate(entries):
        value: Any = each
        for step in way:
            value = value.get(step) if isinstance(value, dict) else None
        name = value if isinstance(value, str) else canonical_text(value)
        if value is None or isinstance(value, dict | list) or name in found:
            return None
        found[name] = number
    return found


def canonical_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


# What a change of a sensitive value means. `below` is how far below that value the change is.


def _meaning(change: Change, each: Sensitive, below: int) -> str:
    if each.what in ("tool", "agent"):
        whole = not below and change.how in ("added", "removed")
        return f"{each.what} {change.how if whole else 'changed'}"
    if change.how == "reordered":
        return "changed"
    return "prompt changed" if each.what == "prompt" else "permission changed"


#: The grants that decided before and that decide now.
_SIDES: tuple[Callable[[Step], Grant | None], ...] = (lambda each: each.was, lambda each: each.now)


class _StepIndex:
    """How far each place widens, by the grants that are written there."""

    def __init__(self, steps: Iterable[tuple[Grant | None, int]]) -> None:
        self._below: Counter[Path] = Counter()  #: at a path or below it
        self._at: Counter[Path] = Counter()  #: at a path, and so for every part of that value
        for grant, far in steps:
            if grant is None:
                continue
            for depth in range(len(grant.path) + 1):
                self._below[grant.path[:depth]] += far
            # What holds for everything else follows from a whole list, not from an entry of it.
            if not grant.base and grant.path:
                self._at[grant.path] += far

    def far_at(self, path: Path) -> int:
        """How far a change at a path widens: what is written there, below it, or around it."""
        return self._below[path] + sum(self._at[path[:depth]] for depth in range(len(path)))
