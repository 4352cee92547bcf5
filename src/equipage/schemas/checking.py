"""Schemas against the meta-schema of their draft.

A good schema is judged in one native call. Only when that refuses, each subschema is judged on its own with its
children taken out, so that every mismatch is found at its own place, once, and in time that grows with the size
of the schema alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from equipage.core.diagnostics import Change, Fact, Remedy, Shown
from equipage.core.path import ROOT, Path, format_path
from equipage.core.text import nearest
from equipage.loading.tree import HOLE
from equipage.schemas import codes
from equipage.schemas.patterns import judge, patterns_of
from equipage.schemas.structure import (
    Draft,
    children,
    draft_named,
    meta_validator,
    subschemas,
    written_draft,
)

# --- plain -------------------------------------------------------------------------------------
# Schemas that are good at sight: the plainest keywords with the plainest values.
#
# Most schemas of tools are made of nothing else, and the meta-schema of every draft from 4 on accepts them. Anything
# else is left to the meta-schema, which also says what is wrong; a test holds the two together.

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
_SCALARS = (str, int, bool, type(None))


def is_plain(schema: Any) -> bool:
    """Whether a schema is certainly valid, whatever its draft."""
    stack = [schema]
    while stack:
        node = stack.pop()
        if node.__class__ is not dict:
            return False
        for keyword, value in node.items():
            if keyword == "properties" and value.__class__ is dict and all(map(_is_text, value)):
                stack.extend(value.values())
            elif keyword == "items" or (
                keyword == "additionalProperties" and value.__class__ is not bool
            ):
                stack.append(value)
            elif keyword not in _KEYWORDS or not _KEYWORDS[keyword](value):
                return False
    return True


def _is_text(value: Any) -> bool:
    return value.__class__ is str


def _is_type(value: Any) -> bool:
    return value.__class__ is str and value in TYPES


def _is_count(value: Any) -> bool:
    return value.__class__ is int and 0 <= value < 2**31


def _is_number(value: Any) -> bool:
    return value.__class__ is int and abs(value) < 2**53


def _is_scalar(value: Any) -> bool:
    return isinstance(value, _SCALARS) and (value.__class__ is not int or abs(value) < 2**53)


def _are_names(value: Any) -> bool:
    """A list of different texts, at least one: as old drafts want it."""
    return (
        value.__class__ is list
        and bool(value)
        and all(map(_is_text, value))
        and len(set(value)) == len(value)
    )


_KEYWORDS: dict[str, Callable[[Any], bool]] = {
    "additionalProperties": lambda value: value.__class__ is bool,
    "default": _is_scalar,
    "description": _is_text,
    "enum": _are_names,
    "maxItems": _is_count,
    "maxLength": _is_count,
    "maximum": _is_number,
    "minItems": _is_count,
    "minLength": _is_count,
    "minimum": _is_number,
    "required": _are_names,
    "title": _is_text,
    "type": _is_type,
}


#: Native validators recurse without looking; this is far below what they bear.
MAX_DEPTH = 512

_WORDS = {
    "array": "a list",
    "boolean": "`true` or `false`",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "a mapping",
    "string": "text",
}
_RISKS = {
    "backtracks": "a repeated group holds nothing but repetitions, or the same branch twice",
    "repeats": "its counted repetitions multiply",
}


def check(schema: Any, *, default_draft: str) -> list[Fact]:
    """What is wrong with a schema, with paths from its root. `$schema` decides the draft, else `default_draft`."""
    draft, facts = written_draft(schema, draft_named(default_draft))
    return [*facts, *check_part(schema, draft)]


def check_part(schema: Any, draft: Draft) -> list[Fact]:
    """What is wrong with a schema of a known draft, or with a part of one."""
    if schema is HOLE:
        return []
    if is_deeper(schema, MAX_DEPTH):
        return [codes.SCHEMA_TOO_DEEP.at(limit=MAX_DEPTH)]
    facts = check_shape(schema, draft)
    for each in subschemas(schema):
        if "pattern" in each.value or "patternProperties" in each.value:
            facts += check_patterns(each.value, each.path)
    return facts


def check_shape(schema: Any, draft: Draft, *, references: bool = True) -> list[Fact]:
    """The same for a schema that is known not to nest too deep, without its patterns.

    Without `references`, a `$ref` that is no text is left to whoever resolves references.
    """
    return [] if is_valid(schema, draft) else _unique(_mismatches(schema, draft, references))


def is_valid(schema: Any, draft: Draft) -> bool:
    """Whether the meta-schema accepts a schema; draft 3 accepts everything."""
    if draft.validator is None:
        return isinstance(schema, dict)
    if is_plain(schema):
        return True
    try:
        accepted = bool(meta_validator(draft).is_valid(schema))
    except ValueError:  # a value JSON does not have, such as a key that is no text
        return False
    return accepted and (
        draft.name != "draft-04"
        or all(_enum_problem(each.value) is None for each in subschemas(schema))
    )


def _enum_problem(schema: dict[str, Any]) -> str | None:
    """What is wrong with an `enum` of draft 4, whose meta-schema is published in a milder edition, too."""
    values = schema.get("enum")
    if not isinstance(values, list):
        return None
    if not values:
        return _problem("minItems", {"limit": 1})
    return _problem("uniqueItems", {}) if len(set(map(_identity, values))) < len(values) else None


def _identity(value: Any) -> str:
    """Equal for what JSON Schema takes as equal: `1` and `1.0` are, `1` and `true` are not."""
    if isinstance(value, dict):
        return f"{{{sorted((key, _identity(each)) for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{[_identity(each) for each in value]}]"
    return repr(int(value)) if isinstance(value, float) and value.is_integer() else repr(value)


def is_deeper(value: Any, limit: int) -> bool:
    """Whether plain data nests deeper than `limit`, without recursion."""
    level = [value]
    for _ in range(limit + 1):
        inner: list[Any] = []
        for node in level:
            if isinstance(node, dict):
                inner += [each for each in node.values() if isinstance(each, dict | list)]
            elif isinstance(node, list):
                inner += [each for each in node if isinstance(each, dict | list)]
        if not inner:
            return False
        # Shared parts are looked at once per level; aliases must not make the walk grow.
        level = list({id(each): each for each in inner}.values())
    return True


def check_patterns(schema: dict[str, Any], path: Path) -> Iterator[Fact]:
    """What is wrong with the patterns that stand directly in a schema."""
    for where, pattern in patterns_of(schema):
        verdict = judge(pattern)
        part: Any = "key" if len(where) > 1 else "value"
        place, shown = path + where, Shown(pattern)
        if verdict == "broken":
            yield codes.SCHEMA_PATTERN.at(place, part=part, found=shown)
        elif verdict == "python-only":
            yield codes.SCHEMA_PATTERN_DIALECT.at(place, part=part, found=shown)
        elif verdict != "fine":
            yield codes.SCHEMA_PATTERN_SLOW.at(
                place, part=part, found=shown, problem=_RISKS[verdict]
            )


# ---------------------------------------------------------------------------------------------- mismatches


def _unique(facts: Iterator[Fact]) -> list[Fact]:
    """Each place is told once: the meta-schemas of later drafts repeat themselves in every vocabulary."""
    return list({(each.code, each.path): each for each in facts}.values())


def _mismatches(schema: Any, draft: Draft, references: bool) -> Iterator[Fact]:
    """Every mismatch of every subschema, parents first."""
    if not isinstance(schema, dict):
        if not isinstance(schema, bool) or draft.name in ("draft-03", "draft-04"):
            yield _not_schema(schema, ROOT)
        return
    silent = () if references else ("$ref",)
    for each in subschemas(schema):
        # Whoever chose the draft has told about the `$schema` of the root.
        yield from _own_mismatches(
            each.value, each.path, draft, silent if each.path else ("$schema", *silent)
        )


def _own_mismatches(
    schema: dict[str, Any], path: Path, draft: Draft, silent: tuple[str, ...]
) -> Iterator[Fact]:
    """What is wrong with one schema, apart from the schemas inside it and the `silent` keywords."""
    alone = _alone(schema)
    if draft.validator is None or is_valid(alone, draft):
        return
    if draft.name == "draft-04" and (problem := _enum_problem(alone)) is not None:
        yield codes.SCHEMA_KEYWORD_VALUE.at((*path, "enum"), keyword="enum", problem=problem)
    try:
        errors = list(meta_validator(draft).iter_errors(alone))
    except ValueError:
        return  # reported where the text was read
    positions: set[Path] = {where for where, _ in children(schema)}
    for error in errors:
        where: Path = tuple(error.instance_path)
        if where and where[0] in silent:
            continue  # told by whoever resolves references and chooses the draft
        value = _at(schema, where)
        if where[:1] == ("type",):
            yield from _type_facts(schema["type"], (*path, "type"))
        elif where == ("items",) and isinstance(value, list) and draft.name != "2020-12":
            yield from _list_of_schemas(value, path + where, draft)
        elif error.kind.name in ("type", "anyOf") and (
            where in positions or where[:1] == ("items",)
        ):
            yield _not_schema(value, path + where)
        else:
            yield _mismatch(error, where, value, path)


def _list_of_schemas(value: list[Any], path: Path, draft: Draft) -> Iterator[Fact]:
    """What is wrong with `items` where it may be a list."""
    if not value:
        yield codes.SCHEMA_KEYWORD_VALUE.at(
            path, keyword="items", problem=_problem("minItems", {"limit": 1})
        )
    for number, each in enumerate(value):
        if not isinstance(each, dict | bool) or (
            isinstance(each, bool) and draft.name == "draft-04"
        ):
            yield _not_schema(each, (*path, number))


def _alone(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with its subschemas emptied; what is no schema stays, to be told at its place."""
    alone = {name: value for name, value in schema.items() if value is not HOLE}
    for path, child in children(schema):
        if len(path) == 1:
            if isinstance(child, dict) or child is HOLE:
                alone[path[0]] = {}
            continue
        keyword, step = path[0], path[1]
        if alone[keyword] is schema[keyword]:
            alone[keyword] = schema[keyword].copy()
        if isinstance(child, dict) or child is HOLE:
            alone[keyword][step] = {}
    return alone


def _at(schema: Any, path: Path) -> Any:
    for step in path:
        schema = schema[step]
    return schema


def _type_facts(value: Any, path: Path) -> Iterator[Fact]:
    """What is wrong with the value of `type`."""
    if isinstance(value, str):
        yield _unknown_type(value, path)
    elif not isinstance(value, list):
        yield _keyword_type("type", path, "a type or a list of types", value)
    elif not value:
        yield codes.SCHEMA_KEYWORD_VALUE.at(
            path, keyword="type", problem="must name at least one type"
        )
    else:
        for number, each in enumerate(value):
            if not isinstance(each, str):
                yield _keyword_type("type", (*path, number), "a list of types", each)
            elif each not in TYPES:
                yield _unknown_type(each, (*path, number))
        if len({repr(each) for each in value}) < len(value):
            yield codes.SCHEMA_KEYWORD_VALUE.at(path, keyword="type", problem="names a type twice")


def _unknown_type(value: str, path: Path) -> Fact:
    guess = _FAMILIAR.get(value.lower()) or nearest(value, TYPES)
    remedy = None if guess is None else Remedy(f"change to `{guess}`", (Change(path, guess),))
    return codes.SCHEMA_TYPE_UNKNOWN.at(path, remedy=remedy, found=Shown(value), nearest=guess)


#: What other languages call the types.
_FAMILIAR = {
    "any": None,
    "bool": "boolean",
    "dict": "object",
    "double": "number",
    "float": "number",
    "int": "integer",
    "list": "array",
    "map": "object",
    "none": "null",
    "str": "string",
    "text": "string",
}


def _not_schema(value: Any, path: Path) -> Fact:
    hint = None
    if isinstance(value, str) and value in TYPES:
        hint = f"write `{{type: {value}}}`"
    elif isinstance(value, list) and path[-1:] == ("items",):
        hint = "this draft has `prefixItems` for a list of schemas"
    return codes.SCHEMA_NOT_SCHEMA.at(path, found=Shown(value, as_found=True), hint=hint)


def _keyword_type(
    keyword: str, path: Path, expected: str, value: Any, shown: object = None
) -> Fact:
    return codes.SCHEMA_KEYWORD_TYPE.at(
        path,
        keyword=shown or keyword,
        expected=expected,
        found=Shown(value, as_found=True),
        hint=_hint(keyword, expected, value),
    )


def _hint(keyword: str, expected: str, value: Any) -> str | None:
    if keyword == "required" and isinstance(value, bool):
        return "list the names of required properties in the mapping above: `required: [name]`"
    if keyword in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(value, bool):
        return f"write the bound itself: `{keyword}: 5`"
    if expected == "text" and isinstance(value, bool | int | float):
        return "put quotes around it"
    return None


def _mismatch(error: Any, where: Path, value: Any, path: Path) -> Fact:
    """One complaint of the meta-schema in our words."""
    kind, details = error.kind.name, error.kind.as_dict()
    place, keyword = path + where, str(where[0]) if where else "the schema"
    shown = Shown(format_path(where)) if len(where) > 1 else keyword
    if kind == "type":
        expected = " or ".join(_WORDS.get(each, each) for each in details["types"])
        return _keyword_type(keyword, place, expected, value, shown)
    if kind == "anyOf":
        return _keyword_type(keyword, place, _EITHER.get(keyword, "another value"), value, shown)
    if kind == "required":  # draft 4: an exclusive bound is a boolean beside the bound
        bound = str(details.get("property", "")).strip('"')
        keyword = f"exclusive{bound.capitalize()}"
        return codes.SCHEMA_KEYWORD_VALUE.at(
            (*place, keyword), keyword=keyword, problem=f"needs `{bound}` beside it"
        )
    return codes.SCHEMA_KEYWORD_VALUE.at(place, keyword=shown, problem=_problem(kind, details))


#: What keywords take whose meta-schema gives a choice.
_EITHER = {
    "dependencies": "a schema or a list of names without repetition",
    "items": "a schema or a list of at least one schema",
    "additionalItems": "a schema or `true` or `false`",
    "additionalProperties": "a schema or `true` or `false`",
}


#: What the patterns of the meta-schemas ask for.
_PATTERNS = {
    "^[^#]*#?$": "must not have anything behind `#`; a name goes into `$anchor`",
    "^[A-Za-z_][-A-Za-z0-9._]*$": "must begin with a letter or `_` and hold only letters, digits, `-`, `_` and `.`",
    "^[A-Za-z][-A-Za-z0-9.:_]*$": "must begin with a letter and hold only letters, digits, `-`, `_`, `:` and `.`",
}


def _problem(kind: str, details: dict[str, Any]) -> str:
    limit = details.get("limit")
    if kind == "minItems":
        return f"must have at least {limit} {'entry' if limit == 1 else 'entries'}"
    if kind == "uniqueItems":
        return "must not name anything twice"
    if kind == "minimum":
        return f"must be at least {limit}"
    if kind == "exclusiveMinimum":
        return f"must be above {limit}"
    if kind == "pattern":
        return _PATTERNS.get(
            str(details.get("pattern")), "does not have the form the meta-schema asks for"
        )
    return "is not allowed here"


# --- schemas.codes -----------------------------------------------------------------------------
# What can be wrong with a JSON Schema.
