"""The fields and values that a path allows, from the schema that `equipage schema` exports.

One source for hover and completion: a field that the schema describes is described in the editor,
directives and shorthands included.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.core.path import Path, get
from equipage.loading.editor_schema import VARIABLE, Schema, schema_for
from equipage.loading.format import Format
from equipage.loading.type_words import range_in_words

#: How deep branches of a schema are followed: a model may contain itself.
_MAX_DEPTH = 12
#: Keywords by which a schema says what a value is; others only restrict it further.
_TYPE_KEYWORDS = frozenset({"type", "properties", "enum", "const", "items"})


class FieldDescription(msgspec.Struct, frozen=True):
    """A field as people read about it."""

    name: str
    type: str
    meaning: str = ""
    required: bool = False
    default: Any = None
    restricts: bool = False
    schema: Schema = {}

    @property
    def words(self) -> str:
        """The meaning, and that the field restricts if the meaning does not say so."""
        is_said = not self.restricts or "restrict" in self.meaning
        return "\n\n".join(
            filter(None, (self.meaning, "" if is_said else "Restricts what an agent may do."))
        )


class Fields:
    """The fields of one kind."""

    def __init__(self, kind: Format) -> None:
        self.kind = kind
        self.schema = schema_for(kind)
        self.definitions: Schema = self.schema.get("$defs", {})

    def schemas_at(self, path: Path, value: Any = None) -> list[Schema]:
        """The schemas that a value at a path may follow; `value` is that of the whole file."""
        # Level by level: of each alternative, only those that fit the value so far are followed.
        here = list(self._branches(self.schema, value))
        for depth, step in enumerate(path):
            inner = get(value, path[: depth + 1])
            below = [each for one in here for each in self._schemas_below(one, step)]
            here = [each for one in below for each in self._branches(one, inner)]
        return here

    def fields_at(self, path: Path, value: Any = None) -> dict[str, FieldDescription]:
        """The fields of a mapping at a path."""
        found: dict[str, FieldDescription] = {}
        for schema in self.schemas_at(path, value):
            required = schema.get("required", ())
            for name, slot in schema.get("properties", {}).items():
                if slot is not False:
                    made = self._describe((*path, name), slot, required=name in required)
                    found.setdefault(name, made)
        return found

    def field(self, path: Path, value: Any = None) -> FieldDescription | None:
        """The field at a path; entries of lists and of free mappings have none."""
        if not path or isinstance(path[-1], int):
            return None
        return self.fields_at(path[:-1], value).get(path[-1])

    def values_at(self, path: Path, value: Any = None) -> list[Any]:
        """The values that a place allows, where they can be listed."""
        found: dict[str, Any] = {}
        for schema in self.schemas_at(path, value):
            several = schema.get("enum", [schema["const"]] if "const" in schema else [])
            if schema.get("type") == "boolean":
                several = [True, False]
            for each in several:
                found.setdefault(repr(each), each)
        return list(found.values())

    def _describe(self, path: Path, slot: Schema, *, required: bool) -> FieldDescription:
        branches = list(self._branches(slot, None))
        words = [each["description"] for each in (slot, *branches) if each.get("description")]
        # The kind knows which fields are permissions; the schema does not say.
        restricts = any(
            each.what == "permission" and each.covers(path)
            for each in self.kind.presentation.sensitive
        )
        default = slot.get("default")
        types = list(dict.fromkeys(filter(None, map(self._describe_type, branches))))
        sort = " or ".join(types) or "any value"
        name, meaning = str(path[-1]), str(words[0]) if words else ""
        return FieldDescription(name, sort, meaning, required, default, restricts, slot)

    def _schemas_below(self, schema: Schema, step: str | int) -> Iterator[Schema]:
        if isinstance(step, int):
            first = schema.get("prefixItems", ())
            slot = first[step] if step < len(first) else schema.get("items")
        else:
            slot = schema.get("properties", {}).get(step, schema.get("additionalProperties"))
        if isinstance(slot, dict):
            yield slot

    def _branches(self, schema: Schema, value: Any, depth: int = 0) -> Iterator[Schema]:
        """Every alternative of a schema; of tagged ones, those that fit the tags of a value."""
        if depth > _MAX_DEPTH or not isinstance(schema, dict):
            return
        if "$ref" in schema:
            target = self.definitions.get(schema["$ref"].rpartition("/")[2], {})
            yield from self._branches(target, value, depth + 1)
        inner = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
        for each in inner:
            yield from self._branches(each, value, depth + 1)
        # A schema may say something itself beside its alternatives.
        says = not inner or not _TYPE_KEYWORDS.isdisjoint(schema)
        if "$ref" not in schema and says and _tags_fit(schema, value):
            yield schema

    def _describe_type(self, schema: Schema) -> str:
        """A schema in words."""
        # That any value may be `${NAME}` is not worth repeating at every field.
        if schema == VARIABLE or schema.get("title") == VARIABLE["title"]:
            return ""
        if "enum" in schema:
            return "one of " + ", ".join(f"`{each}`" for each in schema["enum"])
        if "const" in schema:
            return f"`{schema['const']}`"
        sort = schema.get("type")
        if sort == "array":
            inner = [
                self._describe_type(each) for each in self._branches(schema.get("items", {}), None)
            ]
            of = " or ".join(dict.fromkeys(filter(None, inner)))
            return f"a list of {of.replace('a mapping', 'mappings')}" if of else "a list"
        if isinstance(sort, list):
            return ""  # accepted leniently, but not what should be written
        above = schema.get("exclusiveMinimum")
        low = schema.get("minimum") if above is None else above + 1
        numbers = range_in_words(low, schema.get("maximum"))
        names = {
            "string": "text",
            "integer": f"a whole number{numbers}",
            "number": f"a number{numbers}",
            "boolean": "`true` or `false`",
            "object": "a mapping",
        }
        return names.get(str(sort), "")


def _tags_fit(schema: Schema, value: Any) -> bool:
    """Whether the tags of a mapping allow a branch."""
    if not isinstance(value, dict):
        return True
    return all(
        value.get(name, slot["const"]) == slot["const"]
        for name, slot in schema.get("properties", {}).items()
        if isinstance(slot, dict) and "const" in slot
    )


#: The fields of formats that were asked for, by name. Two formats may have one name.
_KNOWN: dict[str, Fields] = {}


def fields_of(kind: Format) -> Fields:
    """The fields of a format."""
    known = _KNOWN.get(kind.name)
    if known is None or known.kind is not kind:
        known = _KNOWN[kind.name] = Fields(kind)
    return known


def snippet_of(fields: Fields, path: Path, described: FieldDescription) -> str | None:
    """The fields that a mapping needs, as a snippet to fill in; None if it needs none."""
    inner = fields.fields_at(path)
    needed = [each for each in inner.values() if each.required]
    if not needed or described.schema.get("type") == "array":
        return None
    lines = [
        f"  {each.name}: ${{{number}:{_example(each)}}}" for number, each in enumerate(needed, 1)
    ]
    return "\n".join([f"{described.name}:", *lines])


def _example(each: FieldDescription) -> str:
    """A value to begin with."""
    if values := each.schema.get("enum"):
        return str(values[0])
    return {"a list": "[]", "a mapping": "{\\}"}.get(each.type, "")
