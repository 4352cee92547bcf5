"""What packs that are loaded together must not do to each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from equipage.diagnostics import Also, Fact, Shown, fact
from equipage.files import display_name
from equipage.tree import Origin, get

if TYPE_CHECKING:
    from equipage.loading import Outcome


def set_key(outcome: Outcome) -> str | None:
    """Only packs with the same id, or nearly the same, concern each other."""
    name = _id_of(outcome)
    return None if name is None else _folded(name)


def _folded(name: str) -> str:
    return name.replace(":", ".")


def ids_are_unique(outcomes: Sequence[Outcome]) -> Iterator[tuple[Outcome, Fact]]:
    """Each id occurs once; the later file is at fault, and the first is named."""
    first: dict[str, Outcome] = {}
    alike: dict[str, str] = {}
    for outcome in sorted(outcomes, key=_order):
        name = _id_of(outcome)
        if name is None:
            continue
        folded = _folded(name)
        if name in first:
            yield outcome, _duplicate(name, outcome, first[name])
        elif folded in alike:
            other = alike[folded]
            also = (Also("the other one", origin=_origin(first[other])),)
            yield outcome, fact("similar-id", ("id",), also=also, id=Shown(name), other=Shown(other))
        first.setdefault(name, outcome)
        alike.setdefault(folded, name)


def _duplicate(name: str, outcome: Outcome, first: Outcome) -> Fact:
    also = (Also("first used here", origin=_origin(first)),)
    return fact("duplicate-id", ("id",), also=also, id=Shown(name), file=_file(outcome), first=_file(first))


def _file(outcome: Outcome) -> str:
    """The file as the caller named it: behind a link there may be one that another pack is made of, too."""
    return outcome.sources[0].name if outcome.session is None else display_name(outcome.session.path)


def _order(outcome: Outcome) -> tuple[str, ...]:
    """By the parts of the path, so that a folder comes before a file whose name continues its own."""
    return tuple(_file(outcome).split("/")) if outcome.sources else ()


def _id_of(outcome: Outcome) -> str | None:
    name = get(outcome.tree.value, ("id",)) if outcome.tree is not None else None
    return name if isinstance(name, str) and name else None


def _origin(outcome: Outcome) -> Origin:
    assert outcome.tree is not None
    return outcome.tree.story(("id",)).origin
