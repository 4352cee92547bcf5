"""Phases: their names, what they change, and what they do when they are entered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.diagnostics import Also, Fact, Shown, fact
from equipage.kinds.server import items
from equipage.kinds.server.items import SORTS, Sort, entries
from equipage.nearest import Guesses
from equipage.path import Path
from equipage.session import Session
from equipage.tree import mapping

_ACTIONS = ("send_notification", "send_request", "log")


class Offered(msgspec.Struct, frozen=True):
    """What the baseline offers of one sort; `complete` unless some item could not be read."""

    sort: Sort
    names: tuple[str, ...]
    complete: bool

    @classmethod
    def by(cls, config: Any, sort: Sort) -> Offered:
        names = [sort.identify(item) for _, item in items.base_items(config, sort)]
        lists = (mapping(base).get(sort.plural) for _, base in items.bases(config))
        readable = all(each is None or isinstance(each, list) for each in lists)
        baseline = mapping(config).get("baseline")
        readable = readable and (baseline is None or isinstance(baseline, dict))
        known = tuple(name for name in names if name is not None)
        return cls(sort, known, readable and len(known) == len(names))


# ------------------------------------------------------------------------------------------------------ names


def phases_are_named(config: Any, _session: Session) -> Iterator[Fact]:
    first: dict[str, Path] = {}
    for path, phase in items.phases(config):
        name, place = mapping(phase).get("name"), (*path, "name")
        if name == "":
            yield fact("empty-field", place, field="name")
        elif isinstance(name, str) and name in first:
            yield fact("duplicate-phase", place, also=[Also("first here", first[name])], name=Shown(name))
        elif isinstance(name, str):
            first[name] = place


def phases_can_be_reached(config: Any, _session: Session) -> Iterator[Fact]:
    for path, phase in list(items.phases(config))[:-1]:
        if isinstance(phase, dict) and phase.get("advance") is None:
            place: Path = (*path, "name") if "name" in phase else path
            yield fact("unreachable-phases", place, name=Shown(phase.get("name")))


# -------------------------------------------------------------------------------------------------- references


def targets_exist(config: Any, session: Session) -> Iterator[Fact]:
    """What a phase replaces or removes is in the baseline."""
    for sort in SORTS:
        offered = Offered.by(config, sort)
        if offered.complete:
            yield from _unknown_targets(config, offered, session.guesses)


def _unknown_targets(config: Any, offered: Offered, guesses: Guesses) -> Iterator[Fact]:
    known, adders = frozenset(offered.names), None
    for path, phase in items.phases(config):
        for name, place, action, part in _targets(offered.sort, path, phase):
            if name not in known:
                adders = _adders(config, offered.sort) if adders is None else adders
                values = {"adder": adders.get(name), "nearest": _shown(_meant(name, offered.names, guesses))}
                yield _unknown(config, offered, name, place, action, part, values)


def _targets(sort: Sort, path: Path, phase: Any) -> Iterator[tuple[str, Path, str, Any]]:
    key = f"replace_{sort.plural}"
    for name in mapping(mapping(phase).get(key)):
        yield name, (*path, key, name), "replace", "key"
    for place, name in entries(phase, path, f"remove_{sort.plural}"):
        if isinstance(name, str):
            yield name, place, "remove", "value"


def _unknown(
    config: Any, offered: Offered, name: str, place: Path, action: str, part: Any, values: dict[str, Any]
) -> Fact:
    sort = offered.sort
    simple = mapping(config).get(sort.plural) is not None
    return fact(
        "unknown-target",
        place,
        part=part,
        action=action,
        sort=sort.name,
        plural=sort.plural,
        name=Shown(name),
        where=sort.plural if simple else f"baseline.{sort.plural}",
        available=Shown(offered.names) if offered.names else "none",
        **values,
    )


def _adders(config: Any, sort: Sort) -> dict[str, Shown | None]:
    """The phase that adds an item, by the name of the item; the first of several."""
    found: dict[str, Shown | None] = {}
    for path, phase in items.phases(config):
        for _, item in entries(phase, path, f"add_{sort.plural}"):
            name = sort.identify(item)
            if name is not None:
                found.setdefault(name, _shown(mapping(phase).get("name")))
    return found


def _meant(name: str, names: tuple[str, ...], guesses: Guesses) -> str | None:
    """The name that was probably meant: a slip of the finger, or the only one that is a beginning of the other."""
    if guesses.are_spent:
        return None
    related = [each for each in names if len(each) > 2 and (name.startswith(each) or each.startswith(name))]
    return guesses.nearest(name, names) or (related[0] if name and len(related) == 1 else None)


def _shown(value: Any) -> Shown | None:
    return None if value is None else Shown(value)


def added_items_are_new(config: Any, _session: Session) -> Iterator[Fact]:
    for sort in SORTS:
        offered = set(Offered.by(config, sort).names)
        for path, phase in items.phases(config):
            seen = set(offered)
            for place, item in entries(phase, path, f"add_{sort.plural}"):
                name = sort.identify(item)
                if name is not None and name in seen:
                    at = (*place, *sort.identity_path)
                    yield fact("added-twice", at, sort=sort.name, plural=sort.plural, name=Shown(name))
                if name is not None:
                    seen.add(name)


def replacements_keep_names(config: Any, _session: Session) -> Iterator[Fact]:
    for sort in SORTS:
        for path, item in items.replacing_items(config, sort):
            name = sort.identify(item)
            if name and name != path[-1]:
                said: dict[str, Any] = {"key": Shown(path[-1]), "name": Shown(name), "sort": sort.name}
                yield fact("renamed-by-replace", (*path, *sort.identity_path), **said)


# ---------------------------------------------------------------------------------------------------- actions


def actions_are_single(config: Any, _session: Session) -> Iterator[Fact]:
    for path, phase in items.phases(config):
        for place, action in entries(phase, path, "on_enter"):
            if not isinstance(action, dict):
                continue
            given = [key for key in _ACTIONS if action.get(key) is not None]
            if not given:
                yield fact("action-missing", place)
            for key in given[1:]:
                yield fact("action-ambiguous", (*place, key), part="key", winner=given[0], key=key)


RULES = (
    phases_are_named,
    phases_can_be_reached,
    targets_exist,
    added_items_are_new,
    replacements_keep_names,
    actions_are_single,
)
