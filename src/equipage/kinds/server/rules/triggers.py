"""Triggers: events, durations and matchers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.diagnostics import Fact, Shown, fact
from equipage.kinds.server.durations import DAY_MS, GRAMMAR, parse_duration
from equipage.kinds.server.events import BASES, parse_event
from equipage.kinds.server.items import triggers
from equipage.kinds.server.matchers import OPERATORS, TEXT_OPERATORS
from equipage.kinds.server.parts import LARGEST
from equipage.kinds.server.regexes import regex_problem
from equipage.nearest import nearest
from equipage.path import Path
from equipage.session import Session
from equipage.tree import HOLE, mapping


def triggers_can_fire(config: Any, _session: Session) -> Iterator[Fact]:
    for path, trigger in triggers(config):
        if trigger.get("on") is None and trigger.get("after") is None:
            yield fact("trigger-missing", path)
        count = trigger.get("count")
        if count == 0 and isinstance(count, int) and not isinstance(count, bool):
            yield fact("count-zero", (*path, "count"))
        elif isinstance(count, int) and count > LARGEST:
            yield fact("out-of-range", (*path, "count"), found=Shown(count), expected="a 64-bit number")
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
            yield fact("unknown-event", (*path, "on"), event=Shown(written), nearest=guess, known=known)
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
            yield _wrong((*path, number), "any_of", "plain values: text, numbers, true or false", each)


def _wrong(path: Path, operator: str, expected: str, value: Any) -> Fact:
    found = Shown(value, as_found=True)
    return fact("matcher-operator-type", path, operator=operator, expected=expected, found=found)


RULES = (triggers_can_fire, events_are_known, durations_are_readable, matchers_can_match)
