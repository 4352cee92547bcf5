"""What must hold beyond the shape. Each rule is a function; each module one subject."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from msgspec.structs import replace

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Fact, Severity, Shown
from equipage.core.path import Path
from equipage.directives import mentions
from equipage.kinds.server import codes, limits, rules_phases, rules_responses
from equipage.kinds.server.items import (
    PROMPT,
    RESOURCE,
    SORTS,
    TOOL,
    Sort,
    bases,
    behaviors,
    entries,
    items,
    side_effects,
)
from equipage.kinds.server.model import LARGEST
from equipage.loading.kind import Rule
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, mapping
from equipage.schemas.checking import check, is_valid
from equipage.schemas.structure import draft_named

# --- behavior ----------------------------------------------------------------------------------
# Behaviour: what its numbers may be.


def deliveries_fit_64_bits(config: Any, _session: Session) -> Iterator[Fact]:
    for path, behavior in behaviors(config):
        for name, value in mapping(behavior.get("delivery")).items():
            if isinstance(value, int) and value > LARGEST:
                expected = f"a whole number from 0 to {LARGEST}"
                yield core_codes.OUT_OF_RANGE.at(
                    (*path, "delivery", name), found=Shown(value), expected=expected
                )


def side_effects_do_something(config: Any, _session: Session) -> Iterator[Fact]:
    for path, effect in side_effects(config):
        effect = mapping(effect)
        size = effect.get("batch_size")
        if effect.get("type") == "batch_amplify" and size == 0 and not isinstance(size, bool):
            yield codes.NOT_POSITIVE.at((*path, "batch_size"), field="batch_size")
        if (
            effect.get("type") in ("notification_flood", "batch_amplify")
            and effect.get("method") == ""
        ):
            yield codes.EMPTY_FIELD.at((*path, "method"), field="method")


BEHAVIOR_RULES = (deliveries_fit_64_bits, side_effects_do_something)


# --- forms -------------------------------------------------------------------------------------
# The server itself, and the two forms of a configuration.

#: More bytes make a name unusual.
LONG_NAME = 100


def server_has_a_name(config: Any, _session: Session) -> Iterator[Fact]:
    name = mapping(mapping(config).get("server")).get("name")
    if name == "":
        yield codes.EMPTY_FIELD.at(("server", "name"), field="name")
    elif isinstance(name, str) and len(name.encode("utf-8", "replace")) > LONG_NAME:
        yield codes.LONG_NAME.at(("server", "name"), length=len(name.encode("utf-8", "replace")))


def form_is_one(config: Any, _session: Session) -> Iterator[Fact]:
    """Items at the top level and a baseline, or phases, exclude each other."""
    config = mapping(config)
    phased = next((key for key in ("baseline", "phases") if config.get(key) is not None), None)
    if phased is None:
        return
    for sort in SORTS:
        if config.get(sort.plural) is not None:
            also = Also(f"`{phased}` makes it the phased form", (phased,), "key")
            yield codes.MIXED_FORMS.at(
                (sort.plural,), part="key", also=[also], key=sort.plural, phased=phased
            )


def phases_have_a_baseline(config: Any, _session: Session) -> Iterator[Fact]:
    config = mapping(config)
    simple = any(config.get(sort.plural) is not None for sort in SORTS)
    if config.get("phases") and "baseline" not in config and not simple:
        yield codes.NO_BASELINE.at(("phases",), part="key")


def defaults_are_needed(config: Any, _session: Session) -> Iterator[Fact]:
    """What is only a default of the baseline has no effect beside the baseline's own."""
    config = mapping(config)
    baseline, server = mapping(config.get("baseline")), mapping(config.get("server"))
    for path, holder in ((("server", "capabilities"), server), (("behavior",), config)):
        key = path[-1]
        if holder.get(key) is not None and baseline.get(key) is not None:
            said: dict[str, Any] = {"key": ".".join(path), "winner": f"baseline.{key}"}
            yield codes.SUPERSEDED_DEFAULT.at(path, part="key", **said)


def dates_are_dates(config: Any, _session: Session) -> Iterator[Fact]:
    metadata = mapping(mapping(config).get("metadata"))
    for key in ("created", "updated"):
        written = metadata.get(key)
        if isinstance(written, str) and not _is_date(written):
            yield codes.NOT_A_DATE.at(("metadata", key), found=Shown(written))


def _is_date(written: str) -> bool:
    try:
        return date.fromisoformat(written).isoformat() == written
    except ValueError:
        return False


FORMS_RULES = (
    server_has_a_name,
    form_is_one,
    phases_have_a_baseline,
    defaults_are_needed,
    dates_are_dates,
)


# --- items -------------------------------------------------------------------------------------
# Tools, resources and prompts, wherever they stand.

#: Fields of definitions that must say something.
_NEEDED = (
    (TOOL, "name"),
    (TOOL, "description"),
    (RESOURCE, "uri"),
    (RESOURCE, "name"),
    (PROMPT, "name"),
)
#: The draft of a schema that does not say its own.
DEFAULT_DRAFT = "draft-07"
#: What makes up for missing content.
_CHOOSING = ("match", "sequence", "handler")


def definitions_are_filled(config: Any, _session: Session) -> Iterator[Fact]:
    for sort, field in _NEEDED:
        for path, item in items(config, sort):
            if mapping(mapping(item).get(sort.name)).get(field) == "":
                yield codes.EMPTY_FIELD.at((*path, sort.name, field), field=field)


def identities_are_unique(config: Any, _session: Session) -> Iterator[Fact]:
    """In one list. Tools may shadow each other, with a warning; resources and prompts are looked up."""
    for sort in SORTS:
        for path, base in bases(config):
            yield from _duplicates(sort, path, base)


def _duplicates(sort: Sort, path: Path, base: Any) -> Iterator[Fact]:
    first: dict[str, Path] = {}
    for item_path, item in entries(base, path, sort.plural):
        name = sort.identify(item)
        if not name:
            continue
        place = (*item_path, *sort.identity_path)
        if name in first:
            severity: Severity = "warning" if sort is TOOL else "error"
            also = Also("first here", first[name])
            said: dict[str, Any] = {"sort": sort.name, "field": sort.identity, "name": Shown(name)}
            yield codes.DUPLICATE_ITEM.at(place, also=[also], severity=severity, **said)
        first.setdefault(name, place)


def input_schemas_are_objects(config: Any, _session: Session) -> Iterator[Fact]:
    for path, item in items(config, TOOL):
        definition = mapping(mapping(item).get("tool"))
        schema = definition.get("inputSchema", HOLE)
        place = (*path, "tool", "inputSchema")
        if schema is not HOLE and not isinstance(schema, dict):
            yield codes.SCHEMA_NOT_OBJECT.at(place, found=Shown(schema, as_found=True))
        elif isinstance(schema, dict) and "type" not in schema and "$generate" not in schema:
            yield codes.SCHEMA_WITHOUT_TYPE.at(place)


def input_schemas_are_schemas(config: Any, session: Session) -> Iterator[Fact]:
    """Against the meta-schema of the draft they name. A schema that many tools share is judged once."""
    judged: dict[int, list[Fact]] = {}
    patterns = any(mentions(document, "pattern") for document in session.documents)
    for path, item in items(config, TOOL):
        schema = mapping(mapping(item).get("tool")).get("inputSchema")
        if isinstance(schema, dict) and "$generate" not in schema:
            if id(schema) not in judged:
                # A good schema without patterns needs no more than one native call.
                good = (
                    not patterns
                    and "$schema" not in schema
                    and is_valid(schema, draft_named(DEFAULT_DRAFT))
                )
                judged[id(schema)] = [] if good else check(schema, default_draft=DEFAULT_DRAFT)
            for each in judged[id(schema)]:
                yield _below((*path, "tool", "inputSchema"), each)


def _below(path: Path, each: Fact) -> Fact:
    """A fact about a part, told of the whole."""
    remedy = each.remedy
    if remedy is not None:
        changes = tuple(replace(change, path=(*path, *change.path)) for change in remedy.changes)
        remedy = replace(remedy, changes=changes)
    also = tuple(replace(other, path=(*path, *other.path)) for other in each.also)
    return replace(each, path=(*path, *each.path), also=also, remedy=remedy)


def responses_answer(config: Any, _session: Session) -> Iterator[Fact]:
    """A tool or prompt answers something, or has a way to choose an answer."""
    examples = {
        "content": "content, such as `[{type: text, text: done}]`",
        "messages": "messages, such as `[{role: user, content: hello}]`",
    }
    for sort, field in ((TOOL, "content"), (PROMPT, "messages")):
        for path, item in items(config, sort):
            response = mapping(item).get("response", HOLE)
            if response is not None and not isinstance(response, dict):
                continue
            response = mapping(response)
            chooses = any(response.get(key) is not None for key in _CHOOSING)
            if not chooses and response.get(field) in (None, []):
                yield codes.EMPTY_CONTENT.at(
                    (*path, "response", field), field=field, example=examples[field]
                )


ITEMS_RULES = (
    definitions_are_filled,
    identities_are_unique,
    input_schemas_are_objects,
    input_schemas_are_schemas,
    responses_answer,
)


RULES: tuple[Rule, ...] = (
    *FORMS_RULES,
    *ITEMS_RULES,
    *rules_phases.RULES,
    *rules_phases.TRIGGERS_RULES,
    *rules_responses.RULES,
    *rules_responses.TEMPLATES_RULES,
    *BEHAVIOR_RULES,
    *limits.RULES,
)
