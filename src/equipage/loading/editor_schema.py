"""JSON Schemas for editors, made from the same Structs that decide what loads.

`schema_for` describes what an *author* may write: the model of a kind, as strict as the kind reads
it, plus what is replaced before the model sees it. This module knows variables; the kind's `schema`
function adds its directives and shorthands, usually with one call of `accept` for each.

The export is never stricter than equipage: every file that loads is valid. It may be laxer, because
rules can say more than types.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import pairwise
from pathlib import PurePath
from typing import Any, Literal

from msgspec import inspect as types

from equipage.core.diagnostics import UsageError
from equipage.loading.format import Format, Renamed
from equipage.loading.model import chooses_its_keys, is_pydantic
from equipage.loading.model_classes import pydantic_schema, schemas_at, split_pattern
from equipage.loading.shape import Shape
from equipage.loading.type_words import closed_struct, type_info, words_of

DIALECT = "https://json-schema.org/draft/2020-12/schema"

#: `${NAME}` where a number, a word of a list, or a whole mapping is expected.
VARIABLE: Schema = {
    "title": "a variable",
    "description": "Replaced by the value of an environment variable before the file is read.",
    "type": "string",
    "pattern": r"\$\{[^}]+\}",
}

_ARRAYS = (types.VarTupleType, types.ListType, types.SetType, types.FrozenSetType)

Schema = dict[str, Any]

#: Keywords that allow or forbid nothing.
_ANNOTATIONS = frozenset({"title", "description", "default"})


def schema_for(kind: Format) -> Schema:
    """The JSON Schema (2020-12) of the files of a kind."""
    schema: Schema = {"title": kind.title, **_schema_of_model(kind)}
    for pattern, new in kind.renamed.items():
        _accept_old_key(schema, pattern, new.to if isinstance(new, Renamed) else new)
    if kind.layers:
        schema = _drop_required(schema)  # what one layer lacks, another has
    for stage in kind.stages:
        if hasattr(stage, "fragment"):
            schema = accept(schema, *stage.fragment())
    if kind.reading.variables:
        # For any value, but not for the whole file.
        schema = accept(schema, "variable", VARIABLE, at_root=False)
    for definition in schema.get("$defs", {}).values():
        definition.get("properties", {}).pop(kind.presentation.hidden, None)
    whole = kind.presentation.schema(schema) if kind.presentation.schema is not None else schema
    return {"$schema": DIALECT, **whole}


def _schema_of_model(kind: Format) -> Schema:
    if isinstance(kind.model, Mapping):
        return dict(kind.model)
    if is_pydantic(kind.model):
        return pydantic_schema(kind.model)
    writer = _SchemaWriter(kind.shape, kind.model, variables=bool(kind.reading.variables))
    strict = "error" == kind.shape.mismatch == kind.shape.worst
    root = writer.schema(type_info(kind.model), strict=strict)
    return {**root, "$defs": writer.definitions}


def _accept_old_key(schema: Schema, pattern: str, new: str | None) -> None:
    """Let a schema take a key by the name that it had; it may have no name any more."""
    *above, old = split_pattern(pattern)
    for holder in schemas_at(schema, above):
        properties = holder.get("properties", {})
        if new is None:
            properties[old] = {"deprecated": True}
        elif new in properties:
            properties[old] = {**properties[new], "deprecated": True}
            required = [each for each in holder.get("required", ()) if each != new]
            holder |= {"required": required} if "required" in holder else {}


def _drop_required(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_drop_required(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _drop_required(each)
        for key, each in schema.items()
        if not (key == "required" and isinstance(each, list))
    }


def example_of(kind: Format) -> str:
    """A first file of a format: every field that must be there, with a value to be replaced."""
    if kind.presentation.example is not None:
        return kind.presentation.example
    import yaml

    schema = _schema_of_model(kind)
    value = _example_value(schema, schema, (), inside=False)
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True))


def _example_value(
    slot: Schema, root: Schema, above: tuple[str, ...], *, inside: bool = True
) -> Any:
    """A value of a slot; `above` are the classes it is in. Raises `UsageError`."""
    name = slot.get("$ref", "").rpartition("/")[2]
    if name in above:
        raise UsageError(f"no file has an end that fits `{name}`: it needs another one inside")
    if name:
        slot, above = root["$defs"][name], (*above, name)
    for key in ("default", "const"):
        if key in slot:
            return slot[key]
    if "enum" in slot:
        return slot["enum"][0]
    choices = slot.get("anyOf") or slot.get("oneOf")
    if choices:
        ends = (each for each in choices if each.get("$ref", "").rpartition("/")[2] not in above)
        return _example_value(next(ends, choices[0]), root, above, inside=inside)
    sort = slot.get("type")
    if sort == "object":
        fields = slot.get("properties", {})
        wanted = slot.get("required") or ([] if inside else list(fields))
        return {name: _example_value(fields[name], root, above) for name in wanted}
    if sort == "array":
        count = max(slot.get("minItems", 0), 0 if inside else 1)
        return [_example_value(slot.get("items", {}), root, above) for _ in range(count)]
    if sort in ("integer", "number"):
        return slot.get("minimum", 1)
    return False if sort == "boolean" else "TEXT"


class _SchemaWriter:
    """Types to schemas. Structs become definitions, because a model may contain itself."""

    def __init__(self, shape: Shape, root: type[Any], *, variables: bool) -> None:
        self.shape = shape
        self.root = root  #: the model, some fields of which restrict
        self.variables = variables
        self.definitions: dict[str, Schema] = {}
        #: by class, and whether a value of another type is an error where it is used
        self.names: dict[tuple[type, bool], str] = {}

    def schema(self, kind: types.Type, *, strict: bool) -> Schema:
        if isinstance(kind, types.Metadata):
            return {**self.schema(kind.type, strict=strict), **(kind.extra_json_schema or {})}
        if isinstance(kind, types.UnionType):
            return self._union(kind, strict=strict)
        if isinstance(kind, types.DataclassType | types.TypedDictType):
            kind = closed_struct(kind)
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
        schema, null = self.schema(kind, strict=strict), {"type": "null"}
        known = branches(schema)
        if takes_anything(schema):
            return schema
        if not strict:
            return {"anyOf": [*known, _other_types(schema)]}
        counts = self.shape.null_is_absent and (optional or _may_be_empty(kind))
        return {"anyOf": [*known, null]} if counts and null not in known else schema

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
        firm: frozenset[str] = getattr(kind.cls, "GUARDED", frozenset())
        if kind.cls is self.root:
            firm = self.shape.guarded | self.shape.needed
        if self.shape.worst != "error":
            firm = frozenset()
        for field in kind.fields:
            must_fit = strict or field.encode_name in firm
            slot = self._slot(field.type, strict=must_fit, optional=not field.required)
            is_plain = isinstance(field.default, str | int | float | bool)
            # The place says it better than the class that several places share.
            words = _drop_none(
                description=meaning_of(kind.cls, field.name) or None,
                default=field.default if is_plain else None,
            )
            properties[field.encode_name] = {**slot, **words}
        required = [field.encode_name for field in kind.fields if field.required]
        return {
            "title": words_of(kind.cls.__name__),
            **_drop_none(description=_description(kind.cls)),
            "type": "object",
            "properties": properties,
            **({"required": required} if required else {}),
            **self._unknown_key_keywords(kind),
        }

    def _unknown_key_keywords(self, kind: types.StructType) -> Schema:
        """Unknown keys are refused only where the kind refuses them."""
        closed = kind.cls in self.shape.closed
        refused = closed or self.shape.unknown == "error"
        is_open = not kind.forbid_unknown_fields and chooses_its_keys(self.root)
        if is_open or not refused:
            return {}
        # Some prefixes, such as `x-`, are free for all; a variable may become any key.
        exempt = [f"^{re.escape(prefix)}" for prefix in self.shape.exempt if not closed]
        patterns = [*exempt, *([VARIABLE["pattern"]] if self.variables else [])]
        allowed = {"patternProperties": dict.fromkeys(patterns, True)} if patterns else {}
        return {**allowed, "additionalProperties": False}


def _other_types(schema: Schema) -> Schema:
    """The schema of values of other types, which are tolerated; a mapping or list must fit."""
    used = ["object" if "$ref" in each else each.get("type") for each in branches(schema)]
    shapes = [each for each in ("object", "array") if each in used]
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
    if isinstance(kind, types.CustomType) and issubclass(kind.cls, PurePath):
        return {"type": "string"}
    form = _STRING_FORMATS.get(type(kind))
    return {} if form is None else {"type": "string", "format": form}


_STRING_FORMATS = {
    types.DateTimeType: "date-time",
    types.DateType: "date",
    types.TimeType: "time",
    types.UUIDType: "uuid",
}


def _drop_none(**keywords: Any) -> Schema:
    return {name: value for name, value in keywords.items() if value is not None}


def _description(cls: type) -> str | None:
    """The first paragraph of a class's own docstring."""
    written = cls.__dict__.get("__doc__")
    if not written or written.startswith(f"{cls.__name__}("):  # a dataclass writes its own
        return None
    return " ".join(re.split(r"\n[ \t]*\n", written.strip())[0].split())


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


def meaning_of(cls: type, field: str) -> str:
    """What a field of a model means, in a few words; empty if it has no meaning written down."""
    documented = _documented_meanings(cls).get(field)
    if documented is None and hasattr(cls, "meaning_of"):  # a Struct that was made from a table
        return str(cls.meaning_of(field))
    return documented or ""


@cache
def _documented_meanings(cls: type) -> dict[str, str]:
    """The docstrings of the fields of a class, its bases included, as meanings."""
    found: dict[str, str] = {}
    for each in reversed(cls.__mro__):
        node = _class_nodes(each.__module__).get(each.__name__)
        found |= {} if node is None else _docstrings(node)
    return found


@cache
def _class_nodes(module: str) -> dict[str, ast.ClassDef]:
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError):  # built in, or installed without its source
        return {}
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def _docstrings(cls: ast.ClassDef) -> dict[str, str]:
    """The string below each field, which editors show and Python drops."""
    found: dict[str, str] = {}
    for node, below in pairwise(cls.body):
        match node, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = _clause(" ".join(text.split()))
    return found


def _clause(sentence: str) -> str:
    """A sentence as part of another one: without its period and its capital.

    A first word that has more capitals, or is `None`, is a name and stays.
    """
    first = sentence.partition(" ")[0].rstrip(":,;.")
    is_name = first == "None" or first[1:] != first[1:].lower()
    return (sentence if is_name else sentence[:1].lower() + sentence[1:]).removesuffix(".")
