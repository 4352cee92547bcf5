"""What an author may write beyond a model, as parts of its JSON Schema.

Directives and shorthands are replaced before a model sees a value. A kind tells editors about them
with `accept`: this is allowed there, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

Schema = dict[str, Any]

#: Keywords that allow or forbid nothing.
_ANNOTATIONS = frozenset({"title", "description", "default"})


def accept(
    schema: Schema,
    name: str,
    fragment: Schema | None = None,
    *,
    instead_of: Literal["anything", "objects"] = "anything",
    at: Iterable[str] = (),
    at_root: bool = True,
) -> Schema:
    """The schema with `fragment` accepted in place of values.

    It becomes the definition `name`; without a fragment, that is a definition the schema already
    has. Without `at`, it is accepted for any value, or any mapping, with or without the whole file;
    never for a tag. `at` names places: `Step.ask` is a field of the class `Step`,
    `Playbook.steps[]` an item of one, `Server.tools{}` a value of one that maps names. Raises
    `ValueError` for a place that does not exist, so that fragments cannot outlive their model.
    """
    reference = {"$ref": f"#/$defs/{name}"}
    definitions = schema.get("$defs", {})
    added = definitions[name] if fragment is None else fragment
    places = frozenset(at)
    missing = set(places)

    def widen_slot(place: str, slot: Schema) -> Schema:
        missing.discard(place)
        if places and place not in places:
            return slot
        has_it = added.get("type") == "string" and _takes_text(slot)
        if "const" in slot or takes_anything(slot) or has_it:
            return slot
        if instead_of == "objects" and not _takes_objects(slot, definitions):
            return slot
        if set(slot) <= {"anyOf", *_ANNOTATIONS}:
            return {**slot, "anyOf": [*slot["anyOf"], reference]}
        # What is said about a place stays at the place, where editors look for it.
        words = {key: each for key, each in slot.items() if key in _ANNOTATIONS}
        rest = {key: each for key, each in slot.items() if key not in _ANNOTATIONS}
        return {**words, "anyOf": [rest, reference]}

    kept = {key: value for key, value in schema.items() if key in ("$schema", *_ANNOTATIONS)}
    rest = {key: value for key, value in schema.items() if key not in (*kept, "$defs")}
    root = _change_slots("", rest, widen_slot)
    changed = {
        each: _change_slots(each, definition, widen_slot)
        for each, definition in definitions.items()
    }
    if missing:
        raise ValueError(f"the schema has no {', '.join(sorted(missing))}")
    return {
        **kept,
        **(widen_slot("", root) if at_root else root),
        "$defs": {**changed, **({} if fragment is None else {name: fragment})},
    }


def takes_anything(slot: Schema) -> bool:
    return set(slot) <= _ANNOTATIONS


def _takes_text(slot: Schema) -> bool:
    """Whether any text is allowed there."""
    return any(
        each.get("type") == "string" and set(each) <= {"type", *_ANNOTATIONS}
        for each in branches(slot)
    )


def branches(slot: Schema) -> list[Schema]:
    found: list[Schema] = slot.get("anyOf", [slot])
    return found


def _takes_objects(slot: Schema, definitions: Schema) -> bool:
    if "$ref" in slot:
        return _takes_objects(definitions.get(slot["$ref"].rpartition("/")[2], {}), definitions)
    if "anyOf" in slot:
        return any(_takes_objects(each, definitions) for each in slot["anyOf"])
    return slot.get("type") == "object"


def _change_slots(place: str, schema: Schema, change: Callable[[str, Schema], Schema]) -> Schema:
    """Apply `change` to every slot of a schema that describes a value below it."""

    def change_slot(where: str, slot: Any) -> Any:
        return change(where, _change_slots(where, slot, change)) if isinstance(slot, dict) else slot

    result = dict(schema)
    for key in ("properties", "patternProperties"):
        if key in schema:
            result[key] = {
                name: change_slot(f"{place}.{name}", slot) for name, slot in schema[key].items()
            }
    for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if key in schema:
            result[key] = change_slot(place + mark, schema[key])
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            result[key] = [_change_slots(place, each, change) for each in schema[key]]
    return result
