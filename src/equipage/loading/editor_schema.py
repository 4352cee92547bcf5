"""JSON Schemas for editors, made from the same Structs that decide what loads.

`schema_for` describes what an *author* may write: the model of a kind, as strict as the kind reads
it, plus what is replaced before the model sees it. This module knows variables; the kind's `schema`
function adds its directives and shorthands, usually with one call of `accept` for each.

The export is never stricter than equipage: every file that loads is valid. It may be laxer, because
rules can say more than types.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import inspect as types

from equipage.loading.format import Format
from equipage.loading.meanings import meaning_of
from equipage.loading.model import Shape, type_info
from equipage.loading.schema import Schema, accept, branches, takes_anything

DIALECT = "https://json-schema.org/draft/2020-12/schema"

#: `${NAME}` where a number, a word of a list, or a whole mapping is expected.
VARIABLE: Schema = {
    "title": "a variable",
    "description": "Replaced by the value of an environment variable before the file is read.",
    "type": "string",
    "pattern": r"\$\{[^}]+\}",
}

_ARRAYS = (types.VarTupleType, types.ListType, types.SetType, types.FrozenSetType)


def schema_for(kind: Format) -> Schema:
    """The JSON Schema (2020-12) of the files of a kind."""
    writer = _SchemaWriter(kind.shape, kind.model, variables=kind.reading.uses_environment)
    root = writer.file_schema(type_info(kind.model))
    schema: Schema = {"title": kind.title, **root, "$defs": writer.definitions}
    if kind.reading.uses_environment:
        # For any value, but not for the whole file.
        schema = accept(schema, "variable", VARIABLE, at_root=False)
    whole = kind.presentation.schema(schema) if kind.presentation.schema is not None else schema
    return {"$schema": DIALECT, **whole}


class _SchemaWriter:
    """Types to schemas. Structs become definitions, because a model may contain itself."""

    def __init__(self, shape: Shape, root: type[Any], *, variables: bool) -> None:
        self.shape = shape
        self.root = root  #: the model, some fields of which restrict
        self.variables = variables
        self.definitions: dict[str, Schema] = {}
        #: by class, and whether a value of another type is an error where it is used
        self.names: dict[tuple[type, bool], str] = {}

    def file_schema(self, kind: types.Type) -> Schema:
        """The schema of a file."""
        return self.schema(kind, strict="error" == self.shape.mismatch == self.shape.worst)

    def schema(self, kind: types.Type, *, strict: bool) -> Schema:
        if isinstance(kind, types.Metadata):
            return {**self.schema(kind.type, strict=strict), **(kind.extra_json_schema or {})}
        if isinstance(kind, types.UnionType):
            return self._union(kind, strict=strict)
        if isinstance(kind, types.StructType):
            return {"$ref": f"#/$defs/{self._definition(kind, strict=strict)}"}
        if isinstance(kind, _ARRAYS):
            limits = _drop_none(minItems=kind.min_length, maxItems=kind.max_length)
            return {"type": "array", "items": self._slot(kind.item_type, strict=strict), **limits}
        if isinstance(kind, types.TupleType):
            items = [self._slot(each, strict=strict) for each in kind.item_types]
            return {"type": "array", "prefixItems": items, "items": False}
        if isinstance(kind, types.DictType):
            limits = _drop_none(minProperties=kind.min_length, maxProperties=kind.max_length)
            values = self._slot(kind.value_type, strict=strict)
            return {"type": "object", "additionalProperties": values, **limits}
        return _scalar(kind)

    def _slot(self, kind: types.Type, *, strict: bool, optional: bool = False) -> Schema:
        """The schema of a place for a value; some kinds read `null` as an absent value.

        Where a value of another type is only a warning, the type is only a hint.
        """
        schema = self.schema(kind, strict=strict)
        if not strict:
            return (
                schema
                if takes_anything(schema)
                else {"anyOf": [*branches(schema), _other_types(schema)]}
            )
        counts = self.shape.null_is_absent and (optional or _may_be_empty(kind))
        if not counts or takes_anything(schema):
            return schema
        known = branches(schema)
        return schema if {"type": "null"} in known else {"anyOf": [*known, {"type": "null"}]}

    def _union(self, kind: types.UnionType, *, strict: bool) -> Schema:
        structs = [each for each in kind.types if isinstance(each, types.StructType)]
        branches = []
        for each in kind.types:
            schema = self.schema(each, strict=strict)
            # Between several structs the tag decides, so it is required.
            if len(structs) > 1 and isinstance(each, types.StructType) and each.tag_field:
                schema = {**schema, "required": [each.tag_field]}
            branches.append(schema)
        return {} if any(map(takes_anything, branches)) else {"anyOf": branches}

    def _definition(self, kind: types.StructType, *, strict: bool) -> str:
        key = kind.cls, strict
        if key not in self.names:
            name = kind.cls.__name__
            # Classes of different modules may share a name.
            while name in self.definitions:
                name += "_"
            self.names[key] = name
            self.definitions[name] = {}  # reserve the name: the fields may lead back here
            self.definitions[name] = self._object(kind, strict=strict)
        return self.names[key]

    def _object(self, kind: types.StructType, *, strict: bool) -> Schema:
        properties: dict[str, Any] = {}
        if kind.tag_field is not None:
            about = _drop_none(description=_description(kind.cls))
            properties[kind.tag_field] = {"const": kind.tag, **about}
        # What restricts, or what the file is useless without, has to fit, whatever is forgiven.
        firm = self._restricting_fields(kind) | (
            self.shape.needed if kind.cls is self.root else frozenset()
        )
        if self.shape.worst != "error":
            firm = frozenset()
        for field in kind.fields:
            must_fit = strict or field.encode_name in firm
            slot = self._slot(field.type, strict=must_fit, optional=not field.required)
            is_plain = isinstance(field.default, str | int | float | bool)
            default = {"default": field.default} if is_plain else {}
            # The place says it better than the class that several places share.
            meaning = meaning_of(kind.cls, field.name)
            words = {"description": meaning} if meaning else {}
            properties[field.encode_name] = {**slot, **words, **default}
        required = [field.encode_name for field in kind.fields if field.required]
        return {
            "title": _title_words(kind.cls.__name__),
            **_drop_none(description=_description(kind.cls)),
            "type": "object",
            "properties": properties,
            **({"required": required} if required else {}),
            **self._unknown_key_keywords(kind),
        }

    def _restricting_fields(self, kind: types.StructType) -> frozenset[str]:
        """The fields of a class that restrict."""
        own: frozenset[str] = getattr(kind.cls, "GUARDED", frozenset())
        return self.shape.guarded if kind.cls is self.root else own

    def _unknown_key_keywords(self, kind: types.StructType) -> Schema:
        """Unknown keys are refused only where the kind refuses them."""
        closed = kind.cls in self.shape.closed
        refused = closed or self.shape.unknown == "error"
        if not kind.forbid_unknown_fields or not refused:
            return {}
        # Some prefixes, such as `x-`, are free for all; a variable may become any key.
        exempt = [f"^{re.escape(prefix)}" for prefix in self.shape.exempt if not closed]
        patterns = [*exempt, *([VARIABLE["pattern"]] if self.variables else [])]
        allowed = {"patternProperties": dict.fromkeys(patterns, True)} if patterns else {}
        return {**allowed, "additionalProperties": False}


def _other_types(schema: Schema) -> Schema:
    """The schema of values of other types, which are tolerated; a mapping or list must fit."""
    parts = branches(schema)
    shapes = (
        ["object"] if any("$ref" in each or each.get("type") == "object" for each in parts) else []
    )
    shapes += ["array"] if any(each.get("type") == "array" for each in parts) else []
    return {"not": {"type": shapes}} if shapes else {}


def _may_be_empty(kind: types.Type) -> bool:
    """Whether there is an empty value of the type, which `null` then means."""
    if isinstance(kind, types.StructType):
        return not any(field.required for field in kind.fields)
    return isinstance(kind, types.VarTupleType | types.ListType | types.DictType)


def _scalar(kind: types.Type) -> Schema:
    if isinstance(kind, types.NoneType):
        return {"type": "null"}
    if isinstance(kind, types.BoolType):
        return {"type": "boolean"}
    if isinstance(kind, types.IntType | types.FloatType):
        limits = _drop_none(
            minimum=kind.ge,
            exclusiveMinimum=kind.gt,
            maximum=kind.le,
            exclusiveMaximum=kind.lt,
            multipleOf=kind.multiple_of,
        )
        return {"type": "integer" if isinstance(kind, types.IntType) else "number", **limits}
    if isinstance(kind, types.StrType):
        limits = _drop_none(
            minLength=kind.min_length, maxLength=kind.max_length, pattern=kind.pattern
        )
        return {"type": "string", **limits}
    if isinstance(kind, types.LiteralType):
        return {"enum": list(kind.values)}
    if isinstance(kind, types.EnumType):
        return {"enum": [each.value for each in kind.cls]}
    return {}


def _drop_none(**keywords: Any) -> Schema:
    return {name: value for name, value in keywords.items() if value is not None}


def _description(cls: type) -> str | None:
    """The first paragraph of a class's own docstring."""
    written = cls.__dict__.get("__doc__")
    if not written:
        return None
    return " ".join(re.split(r"\n[ \t]*\n", written.strip())[0].split())


def _title_words(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()
