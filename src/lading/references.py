"""Names that files use, looked up among those that other files offer.

A name is looked up where its sort is known: if at least one of that sort is offered where the file stands. What lies
in the user's own folders may not have been looked at, so nothing is said about sorts that nobody offers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec

from lading.diagnostics import Fact
from lading.kinds.kind import Offer, Want
from lading.nearest import nearest

T = TypeVar("T")


def unmet_wants(wants: Iterable[tuple[T, Want]], offers: Iterable[Offer]) -> Iterator[tuple[T, Fact]]:
    """What to tell about each name that nobody offers, with the nearest one that somebody does."""
    folders: dict[str, dict[str, set[str]]] = {}
    for offer in offers:
        folders.setdefault(offer.sort, {}).setdefault(offer.within, set()).add(offer.name)
    for owner, want in wants:
        known = {name for sort in want.sorts for name in _seen_from(want.path, folders.get(sort, {}))}
        # Plugins put their own name before what they bring: `plugin:skill`.
        if known and known.isdisjoint((want.name, want.name.rpartition(":")[2])):
            guess = nearest(want.name, sorted(known.union(want.others)))
            yield owner, msgspec.structs.replace(want.fact, values={**want.fact.values, "nearest": guess})


def _seen_from(path: str, folders: dict[str, set[str]]) -> Iterator[str]:
    """The names that are known where a file stands: those of its own folder, and of the folders around it."""
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        yield from folders.get(folder, ())
