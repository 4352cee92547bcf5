"""Schemas against the meta-schema of their draft.

`check` reports every mismatch in our own words, at its path inside the schema. A valid schema costs
one native call, or none if it `is_plain`. Only when the meta-schema refuses a schema is each
subschema judged on its own, with its children emptied: every mismatch is then found once, at its
own place, in time that grows with the size of the schema alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.core.diagnostics import Change, Fact, Part, Remedy, Shown
from equipage.core.frozen import is_deeper_than
from equipage.core.path import ROOT, Path, format_path
from equipage.core.text import nearest
from equipage.loading.tree import HOLE, get
from equipage.schemas import codes
from equipage.schemas.plain import TYPES, is_plain
from equipage.schemas.structure import (
    SCHEMA_MAP_KEYWORDS,
    Draft,
    children,
    draft_named,
    meta_validator,
    patterns_of,
    subschemas,
    written_draft,
)

#: Native validators recurse without a limit of their own; this is far below what they survive.
MAX_DEPTH = 512


def check(schema: Any, *, default_draft: str) -> list[Fact]:
    """What is wrong with a schema, with paths from its root.

    `$schema` decides the draft, else `default_draft`.
    """
    draft, facts = written_draft(schema, draft_named(default_draft))
    if schema is HOLE:
        return facts
    if is_deeper_than(schema, MAX_DEPTH):
        return [*facts, codes.SCHEMA_TOO_DEEP.at(limit=MAX_DEPTH)]
    facts += check_shape(schema, draft)
    for path, inner in subschemas(schema):
        facts += check_patterns(inner, path)
    return facts


def check_shape(schema: Any, draft: Draft, *, references: bool = True) -> list[Fact]:
    """Mismatches of a schema that is known not to nest too deep, without its patterns.

    Without `references`, a `$ref` that is not text is left to the code that resolves references.
    """
    if is_valid(schema, draft):
        return []
    # The meta-schemas of later drafts repeat a mismatch in every vocabulary: keep one per place.
    mismatches = _mismatches(schema, draft, references)
    return list({(each.code, each.path): each for each in mismatches}.values())


_VERDICT_CODES = {
    "broken": codes.SCHEMA_PATTERN,
    "python-only": codes.SCHEMA_PATTERN_DIALECT,
    "not-python": codes.SCHEMA_PATTERN_DIALECT,
}
_VERDICT_PROBLEMS = {
    "python-only": "is not an ECMA-262 expression",
    "not-python": "is an expression that Python cannot read",
    "backtracks": "a repeated group holds nothing but repetitions, or the same branch twice",
    "repeats": "its counted repetitions multiply",
}


def check_patterns(schema: dict[str, Any], path: Path) -> Iterator[Fact]:
    """What is wrong with the patterns that a schema holds directly."""
    for where, pattern in patterns_of(schema):
        from equipage.schemas.patterns import judge  # most schemas have no pattern

        verdict = judge(pattern)
        if verdict != "fine":
            code = _VERDICT_CODES.get(verdict, codes.SCHEMA_PATTERN_SLOW)
            # Under `patternProperties` the pattern is the key.
            part: Part = "key" if len(where) > 1 else "value"
            found, problem = Shown(pattern), _VERDICT_PROBLEMS.get(verdict)
            yield code.at(path + where, part=part, found=found, problem=problem)


def is_valid(schema: Any, draft: Draft) -> bool:
    """Whether the meta-schema accepts a schema."""
    if draft.validator is not None and is_plain(schema):
        return True
    try:
        accepted = bool(meta_validator(draft).is_valid(schema))
    except ValueError:  # a value JSON does not have, such as a key that is not text
        return False
    return accepted and (
        draft.name != "draft-04"
        or all(_enum_problem(each) is None for _, each in subschemas(schema))
    )


# --------------------------------------------------------------------------------------- mismatches


def _mismatches(schema: Any, draft: Draft, references: bool) -> Iterator[Fact]:
    """Every mismatch of every subschema, parents first."""
    if not isinstance(schema, dict):
        if not isinstance(schema, bool) or draft.name in ("draft-03", "draft-04"):
            yield _not_schema(schema, ROOT)
        return
    silent = () if references else ("$ref",)
    for path, inner in subschemas(schema):
        # `written_draft` reports the `$schema` of the root.
        ignored = silent if path else ("$schema", *silent)
        yield from _own_mismatches(inner, path, draft, ignored)


def _own_mismatches(
    schema: dict[str, Any], path: Path, draft: Draft, silent: tuple[str, ...]
) -> Iterator[Fact]:
    """What is wrong with one schema, without the schemas inside it and the `silent` keywords."""
    alone = _empty_subschemas(schema)
    if is_valid(alone, draft):
        return
    if draft.name == "draft-04" and (problem := _enum_problem(alone)) is not None:
        yield codes.SCHEMA_KEYWORD_VALUE.at((*path, "enum"), keyword="enum", problem=problem)
    try:
        errors = list(meta_validator(draft).iter_errors(_number_names(alone)))
    except ValueError:
        return  # parsing has reported it
    positions: set[Path] = {where for where, _ in children(schema)}
    for error in errors:
        where = _restore_names(error.instance_path, schema)
        if where and where[0] in silent:
            continue
        value = get(schema, where)
        is_type = where[:1] == ("type",)
        if is_type and (draft.validator is not None or isinstance(value, str)):
            yield from _type_mismatches(schema["type"], (*path, "type"))
        elif where == ("items",) and isinstance(value, list) and draft.name != "2020-12":
            yield from _list_mismatches(value, path + where, draft)
        elif error.kind.name in ("type", "anyOf") and (
            where in positions or where[:1] == ("items",)
        ):
            yield _not_schema(value, path + where)
        else:
            yield _mismatch(error.kind, where, value, path)


def _empty_subschemas(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with its subschemas emptied. What is not a schema stays, to be reported here."""
    alone = {name: value for name, value in schema.items() if value is not HOLE}
    for (keyword, *steps), child in children(schema):
        if not isinstance(child, dict) and child is not HOLE:
            continue
        if not steps:
            alone[keyword] = {}
            continue
        if alone[keyword] is schema[keyword]:
            alone[keyword] = schema[keyword].copy()
        alone[keyword][steps[0]] = {}
    return alone


# A path of the validator has numbers for names such as `01`, and leaves out empty names. So the
# names in the mappings of a schema, which mean nothing to meta-schemas, become `#0`, `#1`, ….


_NAME_MAPPINGS = SCHEMA_MAP_KEYWORDS | {"dependentRequired", "$vocabulary"}


def _number_names(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema whose mappings have numbers for names."""
    return {
        keyword: {f"#{number}": each for number, each in enumerate(value.values())}
        if keyword in _NAME_MAPPINGS and isinstance(value, dict)
        else value
        for keyword, value in schema.items()
    }


def _restore_names(steps: list[str | int], schema: dict[str, Any]) -> Path:
    """The path in a schema for a path in the copy that `_number_names` made."""
    if (
        len(steps) > 1
        and steps[0] in _NAME_MAPPINGS
        and isinstance(names := schema[steps[0]], dict)
    ):
        steps[1] = [*names][int(str(steps[1])[1:])]
    return tuple(steps)


def _enum_problem(schema: dict[str, Any]) -> str | None:
    """What is wrong with an `enum` of draft 4, of whose meta-schema a milder edition exists."""
    values = schema.get("enum")
    if not isinstance(values, list):
        return None
    if not values:
        return _describe_problem("minItems", {"limit": 1})
    return (
        _describe_problem("uniqueItems", {})
        if len(set(map(_identity, values))) < len(values)
        else None
    )


def _identity(value: Any) -> str:
    """A text, equal for values JSON Schema calls equal: `1` and `1.0`, but not `1` and `true`."""
    if isinstance(value, dict):
        return f"{{{sorted((key, _identity(each)) for key, each in value.items())}}}"
    if isinstance(value, list):
        return f"[{[_identity(each) for each in value]}]"
    return repr(int(value)) if isinstance(value, float) and value.is_integer() else repr(value)


def _list_mismatches(value: list[Any], path: Path, draft: Draft) -> Iterator[Fact]:
    """What is wrong with `items` in a draft where it may be a list."""
    if not value:
        problem = _describe_problem("minItems", {"limit": 1})
        yield codes.SCHEMA_KEYWORD_VALUE.at(path, keyword="items", problem=problem)
    schemas = (dict,) if draft.name == "draft-04" else (dict, bool)
    for number, each in enumerate(value):
        if not isinstance(each, schemas):
            yield _not_schema(each, (*path, number))


def _type_mismatches(value: Any, path: Path) -> Iterator[Fact]:
    """What is wrong with the value of `type`."""
    if isinstance(value, str):
        yield _unknown_type(value, path)
    elif not isinstance(value, list):
        yield _keyword_type("type", path, "a type or a list of types", value)
    elif not value:
        problem = "must name at least one type"
        yield codes.SCHEMA_KEYWORD_VALUE.at(path, keyword="type", problem=problem)
    else:
        for number, each in enumerate(value):
            if not isinstance(each, str):
                yield _keyword_type("type", (*path, number), "a list of types", each)
            elif each not in TYPES:
                yield _unknown_type(each, (*path, number))
        if len({repr(each) for each in value}) < len(value):
            yield codes.SCHEMA_KEYWORD_VALUE.at(path, keyword="type", problem="names a type twice")


#: Names of the types in other languages.
_FOREIGN_TYPE_NAMES = {
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


def _unknown_type(value: str, path: Path) -> Fact:
    guess = _FOREIGN_TYPE_NAMES.get(value.lower()) or nearest(value, TYPES)
    remedy = None if guess is None else Remedy(f"change to `{guess}`", (Change(path, guess),))
    return codes.SCHEMA_TYPE_UNKNOWN.at(path, remedy=remedy, found=Shown(value), nearest=guess)


def _not_schema(value: Any, path: Path) -> Fact:
    hint = None
    if isinstance(value, str) and value in TYPES:
        hint = f"write `{{type: {value}}}`"
    elif isinstance(value, list) and path[-1:] == ("items",):
        hint = "this draft has `prefixItems` for a list of schemas"
    return codes.SCHEMA_NOT_SCHEMA.at(path, found=Shown(value, as_found=True), hint=hint)


# ----------------------------------------------------------- complaints of the meta-schema in words

#: The types in words.
TYPE_WORDS = {
    "array": "a list",
    "boolean": "`true` or `false`",
    "integer": "a whole number",
    "null": "null",
    "number": "a number",
    "object": "a mapping",
    "string": "text",
}
#: The values a keyword takes, if its meta-schema offers a choice.
_CHOICE_WORDS = {
    "type": "a type, or a list of types and schemas",
    "disallow": "a type, or a list of types and schemas",
    "extends": "a valid schema or a list of them",
    "dependencies": "a schema or a list of names without repetition",
    "items": "a schema or a list of at least one schema",
    "additionalItems": "a schema or `true` or `false`",
    "additionalProperties": "a schema or `true` or `false`",
}
#: What the patterns inside the meta-schemas demand.
_PATTERN_WORDS = {
    "^[^#]*#?$": "must not have anything behind `#`; a name goes into `$anchor`",
    "^[A-Za-z_][-A-Za-z0-9._]*$": (
        "must begin with a letter or `_` and hold only letters, digits, `-`, `_` and `.`"
    ),
    "^[A-Za-z][-A-Za-z0-9.:_]*$": (
        "must begin with a letter and hold only letters, digits, `-`, `_`, `:` and `.`"
    ),
}


def _mismatch(error: Any, where: Path, value: Any, path: Path) -> Fact:
    """One complaint of the meta-schema; `error` is the kind of an error of jsonschema-rs."""
    kind, details = error.name, error.as_dict()
    place, keyword = path + where, str(where[0]) if where else "the schema"
    shown = Shown(format_path(where)) if len(where) > 1 else keyword
    if kind == "type":
        expected = " or ".join(TYPE_WORDS.get(each, each) for each in details["types"])
        return _keyword_type(keyword, place, expected, value, shown)
    if kind == "anyOf":
        return _keyword_type(
            keyword, place, _CHOICE_WORDS.get(keyword, "another value"), value, shown
        )
    if kind == "required":  # draft 4: an exclusive bound is a boolean beside the bound
        bound = str(details.get("property", "")).strip('"')
        keyword, problem = f"exclusive{bound.capitalize()}", f"needs `{bound}` beside it"
        return codes.SCHEMA_KEYWORD_VALUE.at((*place, keyword), keyword=keyword, problem=problem)
    return codes.SCHEMA_KEYWORD_VALUE.at(
        place, keyword=shown, problem=_describe_problem(kind, details)
    )


def _keyword_type(
    keyword: str, path: Path, expected: str, value: Any, shown: object = None
) -> Fact:
    """A value of the wrong type, with a hint for the usual slips."""
    hint = None
    if keyword == "required" and isinstance(value, bool):
        hint = "list the names of required properties in the mapping above: `required: [name]`"
    elif keyword in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(value, bool):
        hint = f"write the bound itself: `{keyword}: 5`"
    elif expected == "text" and isinstance(value, bool | int | float):
        hint = "put quotes around it"
    found = Shown(value, as_found=True)
    return codes.SCHEMA_KEYWORD_TYPE.at(
        path, keyword=shown or keyword, expected=expected, found=found, hint=hint
    )


def _describe_problem(kind: str, details: dict[str, Any]) -> str:
    limit = details.get("limit")
    if kind == "pattern":
        otherwise = "does not have the form the meta-schema demands"
        return _PATTERN_WORDS.get(str(details.get("pattern")), otherwise)
    problems = {
        "minItems": f"must have at least {limit} {'entry' if limit == 1 else 'entries'}",
        "uniqueItems": "must not name anything twice",
        "minimum": f"must be at least {limit}",
        "exclusiveMinimum": f"must be above {limit}",
    }
    return problems.get(kind, "is not allowed here")
