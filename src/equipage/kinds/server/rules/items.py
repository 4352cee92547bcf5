"""Tools, resources and prompts, wherever they stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from equipage.diagnostics import Also, Fact, Severity, Shown, fact
from equipage.directives.scanning import mentions
from equipage.kinds.server.items import PROMPT, RESOURCE, SORTS, TOOL, Sort, bases, entries, items
from equipage.path import Path
from equipage.schemas import check, draft_named
from equipage.schemas.checking import is_valid
from equipage.session import Session
from equipage.tree import HOLE, mapping

#: Fields of definitions that must say something.
_NEEDED = ((TOOL, "name"), (TOOL, "description"), (RESOURCE, "uri"), (RESOURCE, "name"), (PROMPT, "name"))
#: The draft of a schema that does not say its own.
DEFAULT_DRAFT = "draft-07"
#: What makes up for missing content.
_CHOOSING = ("match", "sequence", "handler")


def definitions_are_filled(config: Any, _session: Session) -> Iterator[Fact]:
    for sort, field in _NEEDED:
        for path, item in items(config, sort):
            if mapping(mapping(item).get(sort.name)).get(field) == "":
                yield fact("empty-field", (*path, sort.name, field), field=field)


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
            yield fact("duplicate-item", place, also=[also], severity=severity, **said)
        first.setdefault(name, place)


def input_schemas_are_objects(config: Any, _session: Session) -> Iterator[Fact]:
    for path, item in items(config, TOOL):
        definition = mapping(mapping(item).get("tool"))
        schema = definition.get("inputSchema", HOLE)
        place = (*path, "tool", "inputSchema")
        if schema is not HOLE and not isinstance(schema, dict):
            yield fact("schema-not-object", place, found=Shown(schema, as_found=True))
        elif isinstance(schema, dict) and "type" not in schema and "$generate" not in schema:
            yield fact("schema-without-type", place)


def input_schemas_are_schemas(config: Any, session: Session) -> Iterator[Fact]:
    """Against the meta-schema of the draft they name. A schema that many tools share is judged once."""
    judged: dict[int, list[Fact]] = {}
    patterns = any(mentions(document, "pattern") for document in session.documents)
    for path, item in items(config, TOOL):
        schema = mapping(mapping(item).get("tool")).get("inputSchema")
        if isinstance(schema, dict) and "$generate" not in schema:
            if id(schema) not in judged:
                # A good schema without patterns needs no more than one native call.
                good = not patterns and "$schema" not in schema and is_valid(schema, draft_named(DEFAULT_DRAFT))
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
                yield fact("empty-content", (*path, "response", field), field=field, example=examples[field])


RULES = (
    definitions_are_filled,
    identities_are_unique,
    input_schemas_are_objects,
    input_schemas_are_schemas,
    responses_answer,
)
