"""The small languages inside a server configuration, and where its items are.

Durations (`30s`) and events (`tools/call:calculator`) end phases; globs and regular expressions
match requests; templates (`${args.city}`) are filled when an answer is sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from typing import Any

import msgspec

from equipage.core.text import lazy_regex
from equipage.formats.server import codes
from equipage.formats.server.model import MAX_UINT64, MatchBranch
from equipage.plugin import Check, Code, Fact, Path, Session, get

# Durations: duration = blank* "+"? digits blank* unit blank*

DURATION_GRAMMAR = "a whole number and a unit: `500ms`, `30s`, `5m` or `1h`"
DAY_MS = 24 * 60 * 60 * 1000

# More than 30 digits are out of range anyway, and Python refuses to read very long numbers.
_DURATION = lazy_regex(r"\s*\+?(?P<number>[0-9]{1,30})\s*(?P<unit>ms|s|m|h)\s*")
_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}

#: A path and the value there.
Place = tuple[Path, Any]

# Patterns: the names of keys, `[]` for each entry of a list, `{}` for each entry of a mapping.

_STEP = lazy_regex(r"[\w-]+|\[\]|\{\}")


def parse_duration(written: str) -> int | None:
    """The duration in milliseconds; None if it is not one."""
    match = _DURATION.fullmatch(written)
    if match is None or int(match["number"]) > MAX_UINT64:
        return None
    return int(match["number"]) * _MILLISECONDS[match["unit"]]


# Events: event = base [ ":" qualifier ]

#: Every event, and whether a qualifier can narrow it to one item.
EVENTS: dict[str, bool] = {
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
    """An event. Without a qualifier it means all items."""

    base: str  #: a key of `EVENTS`, if the event is known
    qualifier: str | None = None  #: the name or URI of the one item it is about

    @property
    def is_known(self) -> bool:
        return self.base in EVENTS

    @property
    def is_well_qualified(self) -> bool:
        """Whether the qualifier, if there is one, can have an effect."""
        return self.qualifier is None or (bool(self.qualifier) and EVENTS.get(self.base, False))

    def is_about(self, plural: str) -> bool:
        """Whether the event is about one item of a sort: `tools/call:add` of `tools`."""
        return bool(self.qualifier) and self.is_well_qualified and self.base.startswith(plural)


def parse_event(written: str) -> Event:
    """The event as written, known or not. A qualifier may hold colons: it can be a URI."""
    base, colon, qualifier = written.partition(":")
    return Event(base, qualifier if colon else None)


# Globs: `*` matches any text, `/` included, `?` one character, `[abc]`, `[a-z]` and `[!a]` one of
# a set. `**` must be a whole component between slashes. A glob matches the whole text.

# A set has at least one member, so `[]]` holds a bracket and `[!]` is not closed: `!?+` never gives
# the exclamation mark back to be that member.
_SET = lazy_regex(r"\[!?+.[^\]]*\]", re.DOTALL)
_STARS = lazy_regex(r"\*{2,}")


def glob_problem(pattern: str) -> str | None:
    """What is wrong with a glob; None if nothing is."""
    plain = _SET.sub("x", pattern)
    for match in _STARS.finditer(plain):
        if len(match[0]) > 2:
            return "more than two `*` in a row"
        around = {plain[: match.start()][-1:], plain[match.end() :][:1]}
        if not around <= {"", "/"}:
            return "`**` must be a whole component between slashes"
    return "`[` is never closed" if "[" in plain else None


# Regular expressions, in the dialect of Rust's `regex` crate: linear time, so no look-around and no
# back-references. jsonschema-rs carries that engine. It reads patterns the way JavaScript does
# before it hands them over, which differs in two escapes: `\c` and `\a`.

#: A condition that starts like this is a regular expression, not a glob.
REGEX_PREFIX = "regex:"

_ESCAPE = lazy_regex(r"\\(.)", re.DOTALL)
_LOOK_AROUND = lazy_regex(r"\(\?<?[=!]")
_BACK_REFERENCE = lazy_regex(r"\\[1-9]|\(\?P=|\\k<")


@lru_cache(maxsize=1024)
def regex_problem(pattern: str) -> str | None:
    """What is wrong with a regular expression; None if nothing is."""
    if any(escape[1] == "c" for escape in _ESCAPE.finditer(pattern)):
        return "`\\c` is not an escape"
    try:
        regex_tester(pattern)
    except ValueError:
        if _LOOK_AROUND.search(pattern):
            return "look-around is not supported"
        if _BACK_REFERENCE.search(pattern):
            return "back-references are not supported"
        return "it does not compile"
    return None


@lru_cache(maxsize=1024)
def regex_tester(pattern: str) -> Callable[[str], bool]:
    """Tells whether a pattern matches some part of a text. Raises `ValueError` for a bad one."""
    import jsonschema_rs  # only configurations with patterns pay for it

    plain = _ESCAPE.sub(lambda found: r"\x07" if found[1] == "a" else found[0], pattern)
    options = jsonschema_rs.RegexOptions()
    # jsonschema_rs.ValidationError is a ValueError.
    validator = jsonschema_rs.validator_for(
        {"pattern": plain}, pattern_options=options, offline=True
    )
    return validator.is_valid


# Templates in static text: `${args.city}`, `${fn.upper(args.city)}`. `$$` is an escaped `$`, so
# `$${` opens nothing. Names and arguments are not checked: a server sends empty text for unknown
# ones.

FUNCTIONS = ("upper", "lower", "base64", "json", "len", "default", "truncate", "timestamp", "uuid")

# An escaped dollar, or a template; one that is never closed extends to the end of the text.
_TEMPLATE = lazy_regex(r"\$\$|\$\{(?P<inner>[^}]*)(?P<close>\})?")
_CALL = lazy_regex(r"\s*fn\.(?P<name>[^(}\s]*)")


def template_problems(text: str) -> Iterator[tuple[Code, str]]:
    """What is wrong with the templates of a text: a code, and the text or function at fault."""
    for match in _TEMPLATE.finditer(text) if "${" in text else ():
        call = _CALL.match(match["inner"] or "")
        if match["inner"] is not None and match["close"] is None:
            yield codes.TEMPLATE_UNCLOSED, match[0]
        elif call is not None and call["name"] not in FUNCTIONS:
            yield codes.TEMPLATE_FUNCTION, call["name"]


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
    # Rules ask for many thousands of places, so each sort of step has a loop of its own.
    for step in steps:
        if step == "[]":
            lists = [place for place in places if isinstance(place[1], list)]
            places = [((*path, at), each) for path, value in lists for at, each in enumerate(value)]
            continue
        places = keep_mappings(places)
        if step == "{}":
            places = [((*path, key), each) for path, value in places for key, each in value.items()]
        else:
            places = [((*path, step), value[step]) for path, value in places if step in value]
    return places


def find_places(config: Any, *patterns: str) -> list[Place]:
    """The places that patterns lead to from the root of a configuration."""
    return follow([((), config)], *patterns)


def keep_mappings(places: Iterable[Place]) -> list[Place]:
    """The places that hold a mapping."""
    return [place for place in places if isinstance(place[1], dict)]


def rule_for_each(
    where: Callable[[Any], Iterable[Place]], *checks: Callable[[Path, Any], Iterable[Fact]]
) -> Check:
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
