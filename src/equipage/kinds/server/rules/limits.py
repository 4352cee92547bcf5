"""How many phases and items there may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.diagnostics import Fact, fact
from equipage.kinds.server.items import SORTS, Sort, added_items, base_items, listing
from equipage.kinds.server.limits import LIMITS
from equipage.path import Path
from equipage.session import Session
from equipage.tree import mapping


def counts_are_bounded(config: Any, session: Session) -> Iterator[Fact]:
    counts: dict[str, tuple[int, Path]] = {
        "phases": (len(listing(mapping(config).get("phases"))), ("phases",)),
    }
    for sort in SORTS:
        count = sum(1 for _ in base_items(config, sort)) + sum(1 for _ in added_items(config, sort))
        counts[sort.plural] = count, _place(config, sort)
    for entity, (count, path) in counts.items():
        limit = getattr(session.limits, f"max_{entity}")
        if count > limit:
            known = LIMITS[f"max_{entity}"]
            variable = known.variable if count <= known.cap else None
            yield fact("limit-exceeded", path, entity=entity, count=count, limit=limit, variable=variable)


def _place(config: Any, sort: Sort) -> Path:
    """The list that holds most of a sort, as far as one can be named."""
    if mapping(config).get(sort.plural) is not None:
        return (sort.plural,)
    baseline = mapping(mapping(config).get("baseline"))
    return ("baseline", sort.plural) if sort.plural in baseline else ("phases",)


RULES = (counts_are_bounded,)
