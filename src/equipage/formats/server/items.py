"""Where the parts of a configuration are written.

Rules and normalisations ask for `triggers(config)` or `handlers(config)` and get places: each a
path and the plain value there. A value may be pruned, hold holes or have a wrong type. Every step
skips what is not the mapping or list it should be, because the model reports that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import msgspec

from equipage.core.diagnostics import Fact
from equipage.core.path import Path
from equipage.core.text import lazy_regex
from equipage.formats.server.model import MatchBranch
from equipage.loading.format import Rule
from equipage.loading.session import Session
from equipage.loading.tree import get

#: A path and the value there.
Place = tuple[Path, Any]

# Patterns: the names of keys, `[]` for each entry of a list, `{}` for each entry of a mapping.

_STEP = lazy_regex(r"[\w-]+|\[\]|\{\}")


def follow(places: Iterable[Place], *patterns: str) -> list[Place]:
    """The places that patterns such as `phases[].replace_tools{}` lead to from each of `places`."""
    start = list(places)
    return [
        found for pattern in patterns for found in _follow_steps(start, _split_pattern(pattern))
    ]


@cache
def _split_pattern(pattern: str) -> tuple[str, ...]:
    return tuple(_STEP.findall(pattern))


def _follow_steps(places: list[Place], steps: Iterable[str]) -> list[Place]:
    # Rules ask for the same places again and again, so each sort of step has a loop of its own.
    for step in steps:
        if step == "[]":
            places = [
                ((*path, at), each)
                for path, value in places
                if isinstance(value, list)
                for at, each in enumerate(value)
            ]
        elif step == "{}":
            places = [
                ((*path, key), each)
                for path, value in places
                if isinstance(value, dict)
                for key, each in value.items()
            ]
        else:
            places = [
                ((*path, step), value[step])
                for path, value in places
                if isinstance(value, dict) and step in value
            ]
    return places


def find_places(config: Any, *patterns: str) -> list[Place]:
    """The places that patterns lead to from the root of a configuration."""
    return follow([((), config)], *patterns)


def keep_mappings(places: Iterable[Place]) -> list[Place]:
    """The places that hold a mapping."""
    return [place for place in places if isinstance(place[1], dict)]


def rule_for_each(
    where: Callable[[Any], Iterable[Place]], *checks: Callable[[Path, Any], Iterable[Fact]]
) -> Rule:
    """A rule that applies checks to every place that `where` finds in a configuration."""

    def rule(config: Any, _session: Session) -> Iterator[Fact]:
        for path, value in where(config):
            for check in checks:
                yield from check(path, value)

    return rule


# Items: tools, resources and prompts.


class ItemKind(msgspec.Struct, frozen=True):
    """A sort of item."""

    name: str  #: what it is called, and the key of its definition
    plural: str  #: the key of a list of such items
    identity: str  #: the field of the definition by which clients find the item

    @property
    def identity_path(self) -> Path:
        return (self.name, self.identity)

    def identify(self, item: Any) -> str | None:
        """The name or URI of an item; None if it has none."""
        found = get(item, self.identity_path)
        return found if isinstance(found, str) else None


TOOL = ItemKind("tool", "tools", "name")
RESOURCE = ItemKind("resource", "resources", "uri")
PROMPT = ItemKind("prompt", "prompts", "name")
ITEM_KINDS = (TOOL, RESOURCE, PROMPT)


def base_items(config: Any, sort: ItemKind) -> list[Place]:
    """The items that the server offers before any phase, in either form of a configuration."""
    return find_places(config, f"{sort.plural}[]", f"baseline.{sort.plural}[]")


def phase_items(config: Any, sort: ItemKind) -> list[Place]:
    """The items that phases add, and those that they put in place of others."""
    return find_places(
        config, f"phases[].add_{sort.plural}[]", f"phases[].replace_{sort.plural}{{}}"
    )


def all_items(config: Any, *sorts: ItemKind) -> Iterator[Place]:
    """Every item of some sorts, by default of all."""
    for sort in sorts or ITEM_KINDS:
        yield from (*base_items(config, sort), *phase_items(config, sort))


def implicit_includes(config: Any) -> list[Path]:
    """Where a phase has text in place of an item: the path of a file to include."""
    places = (place for sort in ITEM_KINDS for place in phase_items(config, sort))
    return [path for path, item in places if isinstance(item, str)]


# Responses, and everything in them that can answer.


def responses(config: Any, *sorts: ItemKind) -> list[Place]:
    return keep_mappings(follow(all_items(config, *sorts), "response"))


def branches(config: Any) -> list[Place]:
    return follow(responses(config), "match[]")


def responses_and_branches(config: Any) -> list[Place]:
    """Responses and their branches: what can hold a sequence or a handler."""
    found = responses(config)
    return [*found, *follow(found, "match[]")]


def alternatives(places: Iterable[Place]) -> list[Place]:
    """What can answer in place of a response: its branches, and the entries of all sequences."""
    return follow(places, "sequence[]", "match[]", "match[].sequence[]")


def answers(config: Any) -> list[Place]:
    found = responses(config)
    return [*found, *alternatives(found)]


def handlers(config: Any) -> list[Place]:
    return keep_mappings(follow(responses_and_branches(config), "handler"))


# Triggers and behaviour.


def triggers(config: Any) -> list[Place]:
    return keep_mappings(find_places(config, "phases[].advance"))


def behaviors(config: Any) -> list[Place]:
    """The behaviour of the root, of the baseline, of each phase and of each item."""
    outer = find_places(config, "behavior", "baseline.behavior", "phases[].behavior")
    return keep_mappings([*outer, *follow(all_items(config), "behavior")])


def side_effects(config: Any) -> list[Place]:
    return keep_mappings(follow(behaviors(config), "side_effects[]"))


# Free data: the author's own, which may be any JSON value.

#: The keys of a branch that may also be written in the mapping of its `default`.
BRANCH_KEYS = frozenset({*MatchBranch.__struct_fields__, "onExhausted"} - {"when", "default"})

# The ways to free data: keys are steps, and `_ANY` is an index or a name that the author chose.
# A literal key comes before `_ANY`, since the author may choose that very name.
_ANY = None
_FREE: dict[Any, Any] = {}
_DEFAULT: dict[Any, Any] = {**dict.fromkeys(BRANCH_KEYS), _ANY: _FREE}
_BEHAVIOR = {"side_effects": {_ANY: {"params": _FREE, "id": _FREE}}, "x-equipage": {"id": _FREE}}
_ITEM = {
    "tool": {"inputSchema": _FREE},
    "response": {"match": {_ANY: {"default": _DEFAULT}}},
    "behavior": _BEHAVIOR,
}
_BASE = {**{sort.plural: {_ANY: _ITEM} for sort in ITEM_KINDS}, "behavior": _BEHAVIOR}
_ACTION = {"send_notification": {"params": _FREE}, "send_request": {"params": _FREE, "id": _FREE}}
_PHASE = {
    **{
        f"{change}_{sort.plural}": {_ANY: _ITEM}
        for change in ("add", "replace")
        for sort in ITEM_KINDS
    },
    "on_enter": {_ANY: _ACTION},
    "behavior": _BEHAVIOR,
}
_ROOT: dict[Any, Any] = {**_BASE, "baseline": _BASE, "phases": {_ANY: _PHASE}}


def is_free_data(path: Path) -> bool:
    """Whether any JSON value is allowed at `path` of a configuration."""
    node: Any = _ROOT
    for step in path:
        node = node.get(step, node.get(_ANY))
        if node is None or node is _FREE:
            break
    return node is _FREE or node is _DEFAULT
