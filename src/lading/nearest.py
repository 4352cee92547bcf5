"""The name somebody probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The one of `known` that `name` most likely misspells, or None.

    Another spelling of the same words (`input_schema`, `INPUT-SCHEMA`) beats any typing slip; a slip may
    change about a third of the letters.
    """
    names = [each for each in known if each != name]
    folded = _folded(name)
    for each in names:
        if _folded(each) == folded:
            return each
    allowed = max(1, len(name) // 3)
    best = min(((distance(name.lower(), each.lower(), allowed), each) for each in names), default=None)
    return best[1] if best is not None and best[0] <= allowed else None


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def distance(left: str, right: str, limit: int) -> int:
    """How many letters must be added, dropped, changed or swapped; anything above `limit` is `limit + 1`."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        last, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]
