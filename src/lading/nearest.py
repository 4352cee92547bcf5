"""The known name somebody most likely meant.

Other spellings of the same words come first: `maxDepth`, `max-depth` and `MAX_DEPTH` all mean `max_depth`. After
them come slips of the finger, up to one wrong character in three. A guess further away would mislead, so there
is none.
"""

from __future__ import annotations

from collections.abc import Iterable

from lading.expressions import expression

#: Where camelCase starts a new word.
_HUMP = expression(r"(?<=[a-z0-9])(?=[A-Z])")

#: `difflib` ranks the candidates cheaply; only these few are then measured.
_MEASURED = 5

#: Longer names are compared as a whole only: measuring costs the product of both lengths.
_LONGEST = 100


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The one of `known` that `name` is probably a misspelling of; None if nothing is close.

    Of equally close names the one `difflib` ranks higher wins, then the earlier one.
    """
    spellings: dict[str, str] = {}
    for each in known:
        spellings.setdefault(_folded(each), each)
    wanted = _folded(name)
    if wanted in spellings:
        return spellings[wanted]
    if len(wanted) > _LONGEST:
        return None
    allowed = max(1, len(wanted) // 3)
    candidates = [each for each in spellings if abs(len(each) - len(wanted)) <= allowed]
    from difflib import get_close_matches  # slow to import, needed only for findings

    ranked = get_close_matches(wanted, candidates, n=_MEASURED, cutoff=0.5)
    measured = [(distance(wanted, each), rank, each) for rank, each in enumerate(ranked)]
    slips, _, best = min(measured, default=(allowed + 1, 0, ""))
    return spellings[best] if slips <= allowed else None


def distance(a: str, b: str) -> int:
    """How many slips lead from `a` to `b`: a character added, left out, replaced, or two neighbours swapped."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        earlier, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            slips = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                slips = min(slips, earlier[j - 2] + 1)
            row.append(slips)
    return row[-1]


def _folded(name: str) -> str:
    """The same for every way to join the same words."""
    return _HUMP.sub("_", name).replace("-", "_").replace(" ", "_").casefold()
