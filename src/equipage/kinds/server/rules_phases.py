"""Phases: their names, what they change, and what they do when they are entered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.core.diagnostics import Also, Fact, Shown, fact
from equipage.core.path import Path
from equipage.core.text import Guesses, expression, nearest
from equipage.kinds.server import items
from equipage.kinds.server.items import SORTS, Sort, entries, triggers
from equipage.kinds.server.model import LARGEST
from equipage.kinds.server.normalise import OPERATORS, TEXT_OPERATORS
from equipage.kinds.server.rules_responses import regex_problem
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, mapping

# --- durations ---------------------------------------------------------------------------------
# Durations as authors write them: `30s`, `5m`, `100ms`, `1h`.
#
# duration = blank* "+"? digits blank* unit blank*
# unit     = "ms" | "s" | "m" | "h"

GRAMMAR = "a whole number and a unit: `500ms`, `30s`, `5m` or `1h`"
DAY_MS = 24 * 60 * 60 * 1000

_DURATION = expression(r"\s*\+?(?P<number>[0-9]{1,30})\s*(?P<unit>ms|s|m|h)\s*")
_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


def parse_duration(written: str) -> int | None:
    """The duration in milliseconds; None if it is not one."""
    match = _DURATION.fullmatch(written)
    if match is None or int(match["number"]) > LARGEST:
        return None
    return int(match["number"]) * _MILLISECONDS[match["unit"]]


# --- events ------------------------------------------------------------------------------------
# Events that can end a phase: `tools/call`, or `tools/call:calculator` for one of them.
#
# event     = base [ ":" qualifier ]
# qualifier = everything behind the first colon, which may hold further colons: it can be a URI

#: Every event there is, and whether it can be narrowed to one item.
BASES: dict[str, bool] = {
    "initialize": False,
    "initialized": False,
    "tools/list": False,
    "tools/call": True,
    "resources/list": False,
    "resources/read": True,
    "resources/subscribe": True,
    "resources/unsubscribe": False,
    "prompts/list": False,
    "prompts/get": True,
}


class Event(msgspec.Struct, frozen=True):
    """An event and, after a colon, the item it is about. Without one it stands for all items."""

    base: str
    qualifier: str | None = None

    @property
    def is_known(self) -> bool:
        return self.base in BASES

    @property
    def is_well_qualified(self) -> bool:
        """Whether a qualifier, if there is one, says something."""
        return self.qualifier is None or (bool(self.qualifier) and BASES.get(self.base, False))


def parse_event(written: str) -> Event:
    """The event as written, known or not."""
    base, colon, qualifier = written.partition(":")
    return Event(base, qualifier if colon else None)


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
            yield fact(
                "duplicate-phase", place, also=[Also("first here", first[name])], name=Shown(name)
            )
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
                values = {
                    "adder": adders.get(name),
                    "nearest": _shown(_meant(name, offered.names, guesses)),
                }
                yield _unknown(config, offered, name, place, action, part, values)


def _targets(sort: Sort, path: Path, phase: Any) -> Iterator[tuple[str, Path, str, Any]]:
    key = f"replace_{sort.plural}"
    for name in mapping(mapping(phase).get(key)):
        yield name, (*path, key, name), "replace", "key"
    for place, name in entries(phase, path, f"remove_{sort.plural}"):
        if isinstance(name, str):
            yield name, place, "remove", "value"


def _unknown(
    config: Any,
    offered: Offered,
    name: str,
    place: Path,
    action: str,
    part: Any,
    values: dict[str, Any],
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
    related = [
        each for each in names if len(each) > 2 and (name.startswith(each) or each.startswith(name))
    ]
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
                    yield fact(
                        "added-twice", at, sort=sort.name, plural=sort.plural, name=Shown(name)
                    )
                if name is not None:
                    seen.add(name)


def replacements_keep_names(config: Any, _session: Session) -> Iterator[Fact]:
    for sort in SORTS:
        for path, item in items.replacing_items(config, sort):
            name = sort.identify(item)
            if name and name != path[-1]:
                said: dict[str, Any] = {
                    "key": Shown(path[-1]),
                    "name": Shown(name),
                    "sort": sort.name,
                }
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


# --- triggers ----------------------------------------------------------------------------------
# Triggers: events, durations and matchers.


def triggers_can_fire(config: Any, _session: Session) -> Iterator[Fact]:
    for path, trigger in triggers(config):
        if trigger.get("on") is None and trigger.get("after") is None:
            yield fact("trigger-missing", path)
        count = trigger.get("count")
        if count == 0 and isinstance(count, int) and not isinstance(count, bool):
            yield fact("count-zero", (*path, "count"))
        elif isinstance(count, int) and count > LARGEST:
            yield fact(
                "out-of-range", (*path, "count"), found=Shown(count), expected="a 64-bit number"
            )
        if trigger.get("timeout") is not None and trigger.get("on") is None:
            yield fact("timeout-without-event", (*path, "timeout"), part="key")


def events_are_known(config: Any, _session: Session) -> Iterator[Fact]:
    for path, trigger in triggers(config):
        written = trigger.get("on")
        if not isinstance(written, str):
            continue
        event = parse_event(written)
        if not event.is_known:
            guess = nearest(event.base, BASES)
            known = tuple(BASES)
            yield fact(
                "unknown-event", (*path, "on"), event=Shown(written), nearest=guess, known=known
            )
        elif not event.is_well_qualified:
            yield fact("odd-qualifier", (*path, "on"), event=Shown(written), base=event.base)


def durations_are_readable(config: Any, _session: Session) -> Iterator[Fact]:
    for path, trigger in triggers(config):
        for key in ("after", "timeout"):
            written = trigger.get(key)
            if not isinstance(written, str):
                continue
            duration = parse_duration(written)
            if duration is None:
                yield fact("invalid-duration", (*path, key), found=Shown(written), grammar=GRAMMAR)
            elif duration >= DAY_MS:
                yield fact("long-duration", (*path, key), found=Shown(written))


def matchers_can_match(config: Any, _session: Session) -> Iterator[Fact]:
    for path, trigger in triggers(config):
        for field, matcher in mapping(trigger.get("match")).items():
            if isinstance(matcher, dict):
                yield from _matcher_problems((*path, "match", field), matcher)


def _matcher_problems(path: Path, matcher: dict[str, Any]) -> Iterator[Fact]:
    if not any(operator in matcher for operator in OPERATORS):
        yield fact("matcher-empty", path, operators=OPERATORS)
    for operator in TEXT_OPERATORS:
        yield from _text_problems((*path, operator), operator, matcher.get(operator, HOLE))
    if "any_of" in matcher:
        yield from _choice_problems((*path, "any_of"), matcher["any_of"])
        other = next((each for each in TEXT_OPERATORS if each in matcher), None)
        if other is not None:
            yield fact("matcher-operators-combined", (*path, "any_of"), part="key", other=other)


def _text_problems(path: Path, operator: str, value: Any) -> Iterator[Fact]:
    if value is HOLE:
        return
    if not isinstance(value, str):
        yield _wrong(path, operator, "text", value)
    elif operator == "regex" and (problem := regex_problem(value)) is not None:
        yield fact("regex-invalid", path, pattern=Shown(value), problem=problem)


def _choice_problems(path: Path, value: Any) -> Iterator[Fact]:
    if value is HOLE:
        return
    if not isinstance(value, list):
        yield _wrong(path, "any_of", "a list of plain values", value)
        return
    for number, each in enumerate(value):
        if each is None or isinstance(each, dict | list):
            yield _wrong(
                (*path, number), "any_of", "plain values: text, numbers, true or false", each
            )


def _wrong(path: Path, operator: str, expected: str, value: Any) -> Fact:
    found = Shown(value, as_found=True)
    return fact("matcher-operator-type", path, operator=operator, expected=expected, found=found)


TRIGGERS_RULES = (triggers_can_fire, events_are_known, durations_are_readable, matchers_can_match)
