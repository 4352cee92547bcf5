"""Rules about phases: what they are called, what they change, what they do and what ends them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Fact, Shown
from equipage.core.path import Path
from equipage.core.text import Guesses, nearest
from equipage.formats.server import codes, grammar, items
from equipage.formats.server.items import (
    ITEM_KINDS,
    ItemKind,
    base_items,
    find_places,
    follow,
    keep_mappings,
    rule_for_each,
)
from equipage.formats.server.model import MAX_UINT64
from equipage.formats.server.normal_form import OPERATORS, TEXT_OPERATORS
from equipage.loading.format import Rule
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, Hole, get, mapping_or_empty

_ACTIONS = ("send_notification", "send_request", "log")

# Names and order.


def phases_are_named(config: Any, _session: Session) -> Iterator[Fact]:
    """Each phase has a name of its own."""
    first: dict[str, Path] = {}
    for path, name in find_places(config, "phases[].name"):
        if name == "":
            yield codes.EMPTY_FIELD.at(path, field="name")
        elif isinstance(name, str) and first.setdefault(name, path) != path:
            also = [Also("first here", first[name])]
            yield codes.DUPLICATE_PHASE.at(path, also=also, name=Shown(name))


def phases_can_be_reached(config: Any, _session: Session) -> Iterator[Fact]:
    """Every phase but the last has a trigger that ends it."""
    for path, phase in keep_mappings(find_places(config, "phases[]")[:-1]):
        if phase.get("advance") is None:
            place: Path = (*path, "name") if "name" in phase else path
            yield codes.UNREACHABLE_PHASES.at(place, name=Shown(phase.get("name")))


# Changes of the baseline.


def targets_exist(config: Any, session: Session) -> Iterator[Fact]:
    """What a phase replaces or removes is in the baseline."""
    for sort in ITEM_KINDS:
        offered = _baseline_names(config, sort)
        if offered is None:
            continue
        known, adders = frozenset(offered), None
        simple = get(config, (sort.plural,)) is not None
        for phase in find_places(config, "phases[]"):
            for path, name, action in _targets(phase, sort):
                if name in known:
                    continue
                adders = _adding_phases(config, sort) if adders is None else adders
                yield codes.UNKNOWN_TARGET.at(
                    path,
                    part="key" if action == "replace" else "value",
                    action=action,
                    sort=sort.name,
                    plural=sort.plural,
                    name=Shown(name),
                    where=sort.plural if simple else f"baseline.{sort.plural}",
                    available=Shown(offered) if offered else "none",
                    adder=adders.get(name),
                    nearest=_guess_name(name, offered, session.guesses),
                )


def _baseline_names(config: Any, sort: ItemKind) -> tuple[str, ...] | None:
    """The names of the baseline's items; None if an item could not be read."""
    # One name that cannot be read may be any name, so nothing is said about the others.
    names = [sort.identify(item) for _, item in base_items(config, sort)]
    lists = [value for _, value in find_places(config, sort.plural, f"baseline.{sort.plural}")]
    readable = all(each is None or isinstance(each, list) for each in lists)
    baseline = get(config, ("baseline",), {})
    if None in names or not readable or not isinstance(baseline, dict | None):
        return None
    return tuple(name for name in names if name is not None)


def _targets(phase: items.Place, sort: ItemKind) -> Iterator[tuple[Path, Any, str]]:
    """What a phase changes: where that is written, the name of the item, and the action."""
    for path, _ in follow([phase], f"replace_{sort.plural}{{}}"):
        yield path, path[-1], "replace"
    for path, name in follow([phase], f"remove_{sort.plural}[]"):
        if isinstance(name, str):
            yield path, name, "remove"


def _adding_phases(config: Any, sort: ItemKind) -> dict[str | None, Shown | None]:
    """The first phase that adds an item, by the name of the item."""
    found: dict[str | None, Shown | None] = {}
    for phase in find_places(config, "phases[]"):
        name = mapping_or_empty(phase[1]).get("name")
        for _, item in follow([phase], f"add_{sort.plural}[]"):
            found.setdefault(sort.identify(item), None if name is None else Shown(name))
    return found


def _guess_name(name: str, names: tuple[str, ...], guesses: Guesses) -> Shown | None:
    """The name the author probably meant: a near spelling, or the only one that begins alike."""
    if guesses.are_spent:
        return None
    alike = [
        each for each in names if len(each) > 2 and (name.startswith(each) or each.startswith(name))
    ]
    # People abbreviate: `calc` for `calculator` is further away than any slip.
    guess = guesses.nearest(name, names) or (alike[0] if name and len(alike) == 1 else None)
    return None if guess is None else Shown(guess)


def added_items_are_new(config: Any, _session: Session) -> Iterator[Fact]:
    """What a phase adds is not in the baseline, and not twice in its own list."""
    for sort in ITEM_KINDS:
        offered = {sort.identify(item) for _, item in base_items(config, sort)}
        for phase in find_places(config, "phases[]"):
            # Each phase changes the baseline, and not what the phase before it made of that.
            seen = set(offered)
            for path, item in follow([phase], f"add_{sort.plural}[]"):
                name = sort.identify(item)
                if name is not None and name in seen:
                    place = (*path, *sort.identity_path)
                    yield codes.ADDED_TWICE.at(
                        place,
                        sort=sort.name,
                        name=Shown(name),
                        advice=f"to change an item of the baseline, use `replace_{sort.plural}`"
                        if name in offered
                        else "remove one of the two, or rename it",
                    )
                seen.add(name)


def replacements_keep_names(config: Any, _session: Session) -> Iterator[Fact]:
    """A replacement has the name of the item it replaces."""
    for sort in ITEM_KINDS:
        for path, item in find_places(config, f"phases[].replace_{sort.plural}{{}}"):
            name = sort.identify(item)
            if name and name != path[-1]:
                place = (*path, *sort.identity_path)
                yield codes.RENAMED_BY_REPLACE.at(
                    place, key=Shown(path[-1]), name=Shown(name), sort=sort.name
                )


# Actions.


def action_is_single(path: Path, action: dict[str, Any]) -> Iterator[Fact]:
    """Each entry of `on_enter` is one action."""
    written = [key for key in _ACTIONS if action.get(key) is not None]
    if not written:
        yield codes.ACTION_MISSING.at(path)
    for key in written[1:]:
        yield codes.ACTION_AMBIGUOUS.at((*path, key), part="key", winner=written[0], key=key)


# Triggers.


def trigger_can_fire(path: Path, trigger: dict[str, Any]) -> Iterator[Fact]:
    """A trigger has an event or a time, and a count that can be reached."""
    if trigger.get("on") is None and trigger.get("after") is None:
        yield codes.TRIGGER_MISSING.at(path)
    count = trigger.get("count")
    if isinstance(count, int) and count > MAX_UINT64:
        expected = "a 64-bit number"
        yield core_codes.OUT_OF_RANGE.at((*path, "count"), found=Shown(count), expected=expected)
    elif type(count) is int and count == 0:  # `false` is not a number
        yield codes.COUNT_ZERO.at((*path, "count"))
    if trigger.get("timeout") is not None and trigger.get("on") is None:
        yield codes.TIMEOUT_WITHOUT_EVENT.at((*path, "timeout"), part="key")


def event_is_known(path: Path, trigger: dict[str, Any]) -> Iterator[Fact]:
    """A trigger waits for an event that can happen."""
    written, place = trigger.get("on"), (*path, "on")
    if not isinstance(written, str):
        return
    event = grammar.parse_event(written)
    if not event.is_known:
        guess, known = nearest(event.base, grammar.EVENTS), tuple(grammar.EVENTS)
        yield codes.UNKNOWN_EVENT.at(place, event=Shown(written), nearest=guess, known=known)
    elif not event.is_well_qualified:
        yield codes.ODD_QUALIFIER.at(place, event=Shown(written), base=event.base)


def qualifiers_exist(config: Any, session: Session) -> Iterator[Fact]:
    """The item that an event names is one that the server offers while the trigger waits."""
    for sort in ITEM_KINDS:
        offered = _baseline_names(config, sort)
        for phase in find_places(config, "phases[]") if offered is not None else ():
            for path, written in follow([phase], "advance.on"):
                event = grammar.parse_event(written) if isinstance(written, str) else None
                if event is None or not event.is_about(sort.plural):
                    continue
                names = _names_in_phase(phase, sort, offered or ())
                if names is not None and not _is_among(str(event.qualifier), names):
                    yield codes.UNKNOWN_QUALIFIER.at(
                        path,
                        event=Shown(written),
                        sort=sort.name,
                        plural=sort.plural,
                        name=Shown(event.qualifier),
                        available=Shown(names) if names else "none",
                        nearest=_guess_name(str(event.qualifier), names, session.guesses),
                    )


def _is_among(name: str, names: tuple[str, ...]) -> bool:
    """Whether one of `names` is this one, or a pattern for it: `*` in a URI is any text."""
    return name in names or any(
        re.fullmatch(".*".join(map(re.escape, each.split("*"))), name, re.DOTALL)
        for each in names
        if "*" in each
    )


def _names_in_phase(
    phase: items.Place, sort: ItemKind, offered: tuple[str, ...]
) -> tuple[str, ...] | None:
    """The names of the items in a phase; None if it adds or removes one that cannot be read."""
    changes = ("add", "replace", "remove")
    if any(
        not isinstance(each, dict | list | None)
        for _, each in follow([phase], *(f"{change}_{sort.plural}" for change in changes))
    ):
        return None
    # In the order of the server: what is removed goes first, what is added comes after.
    removed = [name for _, name in follow([phase], f"remove_{sort.plural}[]")]
    if not all(isinstance(name, str) for name in removed):
        return None
    new = follow([phase], f"add_{sort.plural}[]", f"replace_{sort.plural}{{}}")
    added = [sort.identify(item) for _, item in new]
    if None in added:
        return None
    kept = (name for name in offered if name not in removed)
    return tuple(dict.fromkeys((*kept, *map(str, added))))


def durations_are_readable(path: Path, trigger: dict[str, Any]) -> Iterator[Fact]:
    """The times of a trigger are durations, and shorter than a day."""
    for key in ("after", "timeout"):
        written, place = trigger.get(key), (*path, key)
        if not isinstance(written, str):
            continue
        duration = grammar.parse_duration(written)
        if duration is None:
            yield codes.INVALID_DURATION.at(
                place, found=Shown(written), grammar=grammar.DURATION_GRAMMAR
            )
        elif duration >= grammar.DAY_MS:
            yield codes.LONG_DURATION.at(place, found=Shown(written))


# Matchers: what the fields of an event must be.


def matcher_can_match(path: Path, matcher: dict[str, Any]) -> Iterator[Fact]:
    """A mapping under `match` has operators, each with a value it can compare."""
    if not any(operator in matcher for operator in OPERATORS):
        yield codes.MATCHER_EMPTY.at(path, operators=OPERATORS)
    written = [operator for operator in TEXT_OPERATORS if operator in matcher]
    for operator in written:
        if not isinstance(matcher[operator], str | Hole):
            yield _wrong_operand((*path, operator), operator, "text", matcher[operator])
    pattern = matcher.get("regex")
    if isinstance(pattern, str) and (problem := grammar.regex_problem(pattern)) is not None:
        yield codes.REGEX_INVALID.at((*path, "regex"), pattern=Shown(pattern), problem=problem)
    if not isinstance(matcher.get("any_of", HOLE), list | Hole):
        yield _wrong_operand(
            (*path, "any_of"), "any_of", "a list of plain values", matcher["any_of"]
        )
    for place, member in follow([(path, matcher)], "any_of[]"):
        if isinstance(member, dict | list | None):
            yield _wrong_operand(
                place, "any_of", "plain values: text, numbers, true or false", member
            )
    if "any_of" in matcher and written:
        place = (*path, "any_of")
        yield codes.MATCHER_OPERATORS_COMBINED.at(place, part="key", other=written[0])


def _wrong_operand(path: Path, operator: str, expected: str, value: Any) -> Fact:
    found = Shown(value, as_found=True)
    return codes.MATCHER_OPERATOR_TYPE.at(path, operator=operator, expected=expected, found=found)


RULES: tuple[Rule, ...] = (
    phases_are_named,
    phases_can_be_reached,
    targets_exist,
    added_items_are_new,
    replacements_keep_names,
    rule_for_each(
        lambda config: keep_mappings(find_places(config, "phases[].on_enter[]")), action_is_single
    ),
    qualifiers_exist,
    rule_for_each(items.triggers, trigger_can_fire, event_is_known, durations_are_readable),
    rule_for_each(
        lambda config: keep_mappings(follow(items.triggers(config), "match{}")), matcher_can_match
    ),
)
