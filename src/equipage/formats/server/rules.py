"""What a server configuration must fulfil beyond its shape; each rule is a function.

First the rules about the server, its items, their responses and its behaviour, then those about
phases; all of them are in `RULES`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from msgspec.structs import replace

from equipage.core import codes as core_codes
from equipage.core.text import lazy_regex
from equipage.formats.server import codes, grammar
from equipage.formats.server.compose import LIMITS, ServerOptions
from equipage.formats.server.grammar import (
    ITEM_KINDS,
    PROMPT,
    RESOURCE,
    TOOL,
    ItemKind,
    base_items,
    find_places,
    follow,
    keep_mappings,
    rule_for_each,
)
from equipage.formats.server.model import MAX_UINT64, Condition
from equipage.formats.server.normal_form import OPERATORS, TEXT_OPERATORS
from equipage.plugin import (
    HOLE,
    Also,
    Check,
    Fact,
    Guesses,
    Path,
    Session,
    Shown,
    get,
    mapping_or_empty,
    nearest,
)
from equipage.schemas.checking import check

# The server, and the two forms of a configuration.

#: A longer name gets a warning.
MAX_NAME_BYTES = 100

_ACTIONS = ("send_notification", "send_request", "log")


def server_has_a_name(config: Any, _session: Session) -> Iterator[Fact]:
    path = ("server", "name")
    name = get(config, path)
    length = len(name.encode("utf-8", "replace")) if isinstance(name, str) else None
    if length == 0:
        yield codes.EMPTY_FIELD.at(path, field="name")
    elif length is not None and length > MAX_NAME_BYTES:
        yield codes.LONG_NAME.at(path, length=length)


def forms_are_not_mixed(config: Any, _session: Session) -> Iterator[Fact]:
    """Items at the top level exclude a baseline, even an empty one, and phases."""
    config = mapping_or_empty(config)
    simple = [sort.plural for sort in ITEM_KINDS if config.get(sort.plural) is not None]
    phases = "phases" if config.get("phases") else None
    phased = "baseline" if config.get("baseline") is not None else phases
    if phased is not None:
        also = [Also(f"`{phased}` makes it the phased form", (phased,), "key")]
        for key in simple:
            yield codes.MIXED_FORMS.at((key,), part="key", also=also, key=key, phased=phased)
    if config.get("phases") and "baseline" not in config and not simple:
        yield codes.NO_BASELINE.at(("phases",), part="key")


def defaults_have_an_effect(config: Any, _session: Session) -> Iterator[Fact]:
    """A default for the baseline has no effect if the baseline has a value of its own."""
    for path in (("server", "capabilities"), ("behavior",)):
        winner = ("baseline", path[-1])
        if get(config, path) is not None and get(config, winner) is not None:
            yield codes.SUPERSEDED_DEFAULT.at(
                path, part="key", key=".".join(path), winner=".".join(winner)
            )


def dates_are_valid(config: Any, _session: Session) -> Iterator[Fact]:
    for key in ("created", "updated"):
        written = get(config, ("metadata", key))
        if isinstance(written, str) and not _is_date(written):
            yield codes.NOT_A_DATE.at(("metadata", key), found=Shown(written))


def _is_date(written: str) -> bool:
    from datetime import date  # few servers have dates

    try:
        return date.fromisoformat(written).isoformat() == written  # `20240131` is ISO 8601, too
    except ValueError:
        return False


# Tools, resources and prompts, in the baseline and in phases.

#: Fields of definitions that must not be empty.
_NONEMPTY_FIELDS = (
    (TOOL, ("name", "description")),
    (RESOURCE, ("uri", "name")),
    (PROMPT, ("name",)),
)
#: The draft of a JSON Schema that does not name its own.
DEFAULT_DRAFT = "draft-07"
#: Keys that provide an answer where content is missing.
_CONTENT_ALTERNATIVES = ("match", "sequence", "handler")


def definition_fields_are_not_empty(config: Any, _session: Session) -> Iterator[Fact]:
    for sort, fields in _NONEMPTY_FIELDS:
        places = list(grammar.all_items(config, sort))
        for field in fields:
            for path, value in follow(places, f"{sort.name}.{field}"):
                if value == "":
                    yield codes.EMPTY_FIELD.at(path, field=field)


def identities_are_unique(config: Any, _session: Session) -> Iterator[Fact]:
    """No two items of one list have the same name or URI.

    A tool may shadow another, with a warning; clients look resources and prompts up.
    """
    for sort in ITEM_KINDS:
        first: dict[tuple[Path, str], Path] = {}
        for item_path, item in grammar.base_items(config, sort):
            name, path = sort.identify(item), (*item_path, *sort.identity_path)
            earlier = first.setdefault((item_path[:-1], name), path) if name else path
            if earlier != path:
                yield codes.DUPLICATE_ITEM.at(
                    path,
                    also=[Also("first here", earlier)],
                    severity="warning" if sort is TOOL else "error",
                    sort=sort.name,
                    field=sort.identity,
                    name=Shown(name),
                )


def input_schema_is_an_object(path: Path, schema: Any) -> Iterator[Fact]:
    if schema is not HOLE and not isinstance(schema, dict):
        yield codes.SCHEMA_NOT_OBJECT.at(path, found=Shown(schema, as_found=True))
    elif isinstance(schema, dict) and "type" not in schema and "$generate" not in schema:
        yield codes.SCHEMA_WITHOUT_TYPE.at(path)


def input_schemas_are_valid(config: Any, _session: Session) -> Iterator[Fact]:
    """Each schema is valid by the meta-schema of its draft. One that tools share is judged once."""
    judged: dict[int, list[Fact]] = {}
    for path, schema in keep_mappings(follow(grammar.all_items(config, TOOL), "tool.inputSchema")):
        if "$generate" in schema:
            continue
        if id(schema) not in judged:
            judged[id(schema)] = check(schema, default_draft=DEFAULT_DRAFT)
        yield from (_prefix_paths(path, each) for each in judged[id(schema)])


def _prefix_paths(path: Path, each: Fact) -> Fact:
    """A fact about the value at `path` as a fact about the whole configuration."""
    remedy = each.remedy
    if remedy is not None:
        changes = tuple(replace(change, path=(*path, *change.path)) for change in remedy.changes)
        remedy = replace(remedy, changes=changes)
    also = tuple(replace(other, path=(*path, *other.path)) for other in each.also)
    return replace(each, path=(*path, *each.path), also=also, remedy=remedy)


def responses_have_content(config: Any, _session: Session) -> Iterator[Fact]:
    """A tool or prompt answers something, or has a way to choose an answer."""
    for sort, field, example in (
        (TOOL, "content", "content, such as `[{type: text, text: done}]`"),
        (PROMPT, "messages", "messages, such as `[{role: user, content: hello}]`"),
    ):
        for path, response in follow(grammar.all_items(config, sort), "response"):
            if not isinstance(response, dict | None):
                continue
            response = mapping_or_empty(response)
            chooses = any(response.get(key) is not None for key in _CONTENT_ALTERNATIVES)
            if not chooses and response.get(field) in (None, []):
                yield codes.EMPTY_CONTENT.at((*path, field), field=field, example=example)


# Branches and sequences of responses.


def branches_can_be_taken(path: Path, response: dict[str, Any]) -> Iterator[Fact]:
    """Each branch has conditions or is the fallback, and none comes after the fallback."""
    fallback = False
    for place, branch in keep_mappings(follow([(path, response)], "match[]")):
        conditional, default = branch.get("when") is not None, "default" in branch
        if not conditional and not default:
            yield codes.BRANCH_INCOMPLETE.at(place)
        elif conditional and default:
            yield codes.BRANCH_BOTH.at((*place, "default"), part="key")
        if fallback and conditional:
            yield codes.UNREACHABLE_BRANCH.at((*place, "when"), part="key")
        elif fallback and default:
            yield codes.SECOND_DEFAULT.at((*place, "default"), part="key")
        fallback = fallback or (default and not conditional)


def condition_is_readable(path: Path, condition: Any) -> Iterator[Fact]:
    """The patterns of a condition can be used, and a mapping holds some operator."""
    if isinstance(condition, dict):
        operators = Condition.__struct_fields__
        if all(condition.get(operator) is None for operator in operators):
            yield codes.CONDITION_EMPTY.at(path, part="key", operators=operators)
        yield from _pattern_problems(follow([(path, condition)], "any_of[]"))
        if isinstance(condition.get("regex"), str):
            pattern = grammar.REGEX_PREFIX + condition["regex"]
            yield from _pattern_problems([((*path, "regex"), pattern)])
    else:
        yield from _pattern_problems([(path, condition), *follow([(path, condition)], "[]")])


def _pattern_problems(places: list[grammar.Place]) -> Iterator[Fact]:
    """Texts among `places` are globs, or regular expressions after `regex:`."""
    for path, written in places:
        if not isinstance(written, str):
            continue
        if written.startswith(grammar.REGEX_PREFIX):
            pattern, code = written.removeprefix(grammar.REGEX_PREFIX), codes.REGEX_INVALID
            problem = grammar.regex_problem(pattern)
        else:
            pattern, code, problem = written, codes.GLOB_INVALID, grammar.glob_problem(written)
        if problem is not None:
            yield code.at(path, pattern=Shown(pattern), problem=problem)


def sequence_has_answers(path: Path, sequence: Any) -> Iterator[Fact]:
    if sequence == []:
        yield codes.EMPTY_SEQUENCE.at(path, part="key")


# Handlers.

#: How long a handler may take, in milliseconds.
TIMEOUT_RANGE_MS = range(100, 300_001)
# With a template anywhere in it, only a running server knows the address.
_WEB_ADDRESS = lazy_regex(r"https?://|.*\$\{", re.DOTALL)


def handlers_are_allowed(config: Any, session: Session) -> Iterator[Fact]:
    if not cast(ServerOptions, session.options).allow_handlers:
        for path, _ in grammar.handlers(config):
            yield codes.HANDLER_NOT_ALLOWED.at(path, part="key")


def handler_is_usable(path: Path, handler: dict[str, Any]) -> Iterator[Fact]:
    """A handler has a sensible time limit, and a web address or a command."""
    sort, timeout, url = handler.get("type"), handler.get("timeout_ms"), handler.get("url")
    # The model reports what is not a number, or negative.
    if type(timeout) is int and timeout >= 0 and timeout not in TIMEOUT_RANGE_MS:
        yield codes.HANDLER_TIMEOUT.at((*path, "timeout_ms"), found=Shown(timeout))
    if sort == "http" and isinstance(url, str) and not _WEB_ADDRESS.match(url):
        yield codes.HANDLER_URL.at((*path, "url"), url=Shown(url))
    if sort == "command" and handler.get("cmd", HOLE) in (None, []):
        yield codes.EMPTY_FIELD.at((*path, "cmd"), field="cmd")


def commands_can_be_found(config: Any, session: Session) -> Iterator[Fact]:
    """The program of a handler is on the PATH, unless it has a path or holds a template."""
    search = session.env.get("PATH")
    if session.embedded or not search:
        return
    commands = (place for place in grammar.handlers(config) if place[1].get("type") == "command")
    for path, name in follow(commands, "cmd[]"):
        if path[-1] != 0 or not isinstance(name, str) or "/" in name or "${" in name:
            continue
        if not session.files.system.finds_program(name, search):
            yield codes.COMMAND_NOT_FOUND.at(path, command=Shown(name))


# Templates.

#: Where an answer has static text.
_TEXT_PATTERNS = (
    "content",
    "content[].text",
    "messages[].content.text",
    "contents[].uri",
    "contents[].text",
)


def _template_texts(config: Any) -> list[grammar.Place]:
    """The texts whose templates are filled when a request comes."""
    settings = follow(grammar.responses_and_branches(config), "handler.headers{}", "handler.env{}")
    return [*follow(grammar.answers(config), *_TEXT_PATTERNS), *settings]


def templates_are_closed(path: Path, text: Any) -> Iterator[Fact]:
    """Templates end, and call functions that exist."""
    for code, about in grammar.template_problems(text) if isinstance(text, str) else ():
        if code == codes.TEMPLATE_UNCLOSED:
            yield code.at(path, text=Shown(about))
        else:
            guess = nearest(about, grammar.FUNCTIONS)
            yield code.at(path, name=Shown(about), nearest=guess, known=grammar.FUNCTIONS)


# Behaviour.


def delivery_fits_64_bits(path: Path, value: Any) -> Iterator[Fact]:
    if isinstance(value, int) and value > MAX_UINT64:
        expected = f"a whole number from 0 to {MAX_UINT64}"
        yield core_codes.OUT_OF_RANGE.at(path, found=Shown(value), expected=expected)


def side_effect_does_something(path: Path, effect: dict[str, Any]) -> Iterator[Fact]:
    name, size = effect.get("type"), effect.get("batch_size")
    if name == "batch_amplify" and size == 0 and not isinstance(size, bool):
        yield codes.NOT_POSITIVE.at((*path, "batch_size"), field="batch_size")
    if name in ("notification_flood", "batch_amplify") and effect.get("method") == "":
        yield codes.EMPTY_FIELD.at((*path, "method"), field="method")


# Limits.


def counts_are_bounded(config: Any, session: Session) -> Iterator[Fact]:
    """There are not more phases and items than the limits of the load allow."""
    counts = {"phases": len(grammar.find_places(config, "phases[]"))}
    for sort in ITEM_KINDS:
        added = grammar.find_places(config, f"phases[].add_{sort.plural}[]")
        counts[sort.plural] = len(grammar.base_items(config, sort)) + len(added)
    for entity, count in counts.items():
        limit, known = getattr(session.limits, f"max_{entity}"), LIMITS[f"max_{entity}"]
        if count <= limit:
            continue
        # The finding is placed at the list that holds most of them, as far as there is one.
        places = ((entity,), ("baseline", entity))
        path = next((each for each in places if get(config, each) is not None), ("phases",))
        variable = known.variable if count <= known.cap else None
        yield codes.LIMIT_EXCEEDED.at(
            path, entity=entity, count=count, limit=limit, variable=variable
        )


def extension_is_reported(path: Path, _extension: Any) -> Iterator[Fact]:
    yield codes.NOT_OF_THE_FORMAT.at(path, part="key", key=path[-1])


# Actions.


def action_is_single(path: Path, action: dict[str, Any]) -> Iterator[Fact]:
    """Each entry of `on_enter` is one action."""
    written = [key for key in _ACTIONS if action.get(key) is not None]
    if not written:
        yield codes.ACTION_MISSING.at(path)
    for key in written[1:]:
        yield codes.ACTION_AMBIGUOUS.at((*path, key), part="key", winner=written[0], key=key)


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


# Matchers: what the fields of an event must be.


def matcher_can_match(path: Path, matcher: dict[str, Any]) -> Iterator[Fact]:
    """A mapping under `match` has operators, each with a value it can compare."""
    if not any(operator in matcher for operator in OPERATORS):
        yield codes.MATCHER_EMPTY.at(path, operators=OPERATORS)
    written = [operator for operator in TEXT_OPERATORS if operator in matcher]
    for operator in written:
        if matcher[operator] is not HOLE and not isinstance(matcher[operator], str):
            yield _wrong_operand((*path, operator), operator, "text", matcher[operator])
    pattern = matcher.get("regex")
    if isinstance(pattern, str) and (problem := grammar.regex_problem(pattern)) is not None:
        yield codes.REGEX_INVALID.at((*path, "regex"), pattern=Shown(pattern), problem=problem)
    choices = matcher.get("any_of", HOLE)
    if choices is not HOLE and not isinstance(choices, list):
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


PHASE_RULES: tuple[Check, ...] = (
    phases_are_named,
    phases_can_be_reached,
    targets_exist,
    added_items_are_new,
    replacements_keep_names,
    rule_for_each(
        lambda config: keep_mappings(find_places(config, "phases[].on_enter[]")), action_is_single
    ),
    qualifiers_exist,
    rule_for_each(grammar.triggers, trigger_can_fire, event_is_known, durations_are_readable),
    rule_for_each(
        lambda config: keep_mappings(follow(grammar.triggers(config), "match{}")), matcher_can_match
    ),
)

RULES: tuple[Check, ...] = (
    server_has_a_name,
    forms_are_not_mixed,
    defaults_have_an_effect,
    dates_are_valid,
    definition_fields_are_not_empty,
    identities_are_unique,
    rule_for_each(
        lambda config: follow(grammar.all_items(config, TOOL), "tool.inputSchema"),
        input_schema_is_an_object,
    ),
    input_schemas_are_valid,
    responses_have_content,
    *PHASE_RULES,
    rule_for_each(grammar.responses, branches_can_be_taken),
    rule_for_each(lambda config: follow(grammar.branches(config), "when{}"), condition_is_readable),
    rule_for_each(
        lambda config: follow(grammar.responses_and_branches(config), "sequence"),
        sequence_has_answers,
    ),
    handlers_are_allowed,
    rule_for_each(grammar.handlers, handler_is_usable),
    commands_can_be_found,
    rule_for_each(_template_texts, templates_are_closed),
    rule_for_each(
        lambda config: follow(grammar.behaviors(config), "delivery{}"), delivery_fits_64_bits
    ),
    rule_for_each(grammar.side_effects, side_effect_does_something),
    rule_for_each(
        lambda config: follow(grammar.behaviors(config), "x-equipage"), extension_is_reported
    ),
    counts_are_bounded,
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


def _targets(phase: grammar.Place, sort: ItemKind) -> Iterator[tuple[Path, Any, str]]:
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


def _is_among(name: str, names: tuple[str, ...]) -> bool:
    """Whether one of `names` is this one, or a pattern for it: `*` in a URI is any text."""
    return name in names or any(
        re.fullmatch(".*".join(map(re.escape, each.split("*"))), name, re.DOTALL)
        for each in names
        if "*" in each
    )


def _names_in_phase(
    phase: grammar.Place, sort: ItemKind, offered: tuple[str, ...]
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


def _wrong_operand(path: Path, operator: str, expected: str, value: Any) -> Fact:
    found = Shown(value, as_found=True)
    return codes.MATCHER_OPERATOR_TYPE.at(path, operator=operator, expected=expected, found=found)
