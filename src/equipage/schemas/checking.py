"""Schemas against the meta-schema of their draft.

`check` reports every mismatch in our own words, at its path inside the schema. A valid schema costs
one native call, or none if it `is_plain`. Only when the meta-schema refuses a schema is each
subschema judged on its own, with its children emptied: every mismatch is then found once, at its
own place, in time that grows with the size of the schema alone.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any, Literal

import msgspec

from equipage.core.diagnostics import Change, Fact, Part, Remedy, Shown
from equipage.core.frozen import is_deeper_than
from equipage.core.path import HOLE, ROOT, Path, format_path, get
from equipage.core.text import lazy_regex, nearest
from equipage.schemas import (
    SCHEMA_MAP_KEYWORDS,
    Draft,
    children,
    codes,
    draft_named,
    meta_validator,
    patterns_of,
    subschemas,
    written_draft,
)

#: Native validators recurse without a limit of their own; this is far below what they survive.
MAX_DEPTH = 512

Verdict = Literal["fine", "broken", "python-only", "not-python", "backtracks", "repeats"]

#: A longer expression is not tried with Python's engine, whose compiler is slow.
_MAX_TRIED_LENGTH = 2_000
#: Expanded copies of counted repetitions beyond this make engines run out of memory or time.
MAX_REPEATS = 10_000

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")


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


@lru_cache(maxsize=4096)
def judge(pattern: str) -> Verdict:
    """What is wrong with a pattern, if anything."""
    if not _ecma_validator().is_valid(pattern):
        return "python-only" if _python_reads(pattern) else "broken"
    risk = _backtracking_risk(pattern) if "(" in pattern or "{" in pattern else "fine"
    if risk == "fine" and len(pattern) <= _MAX_TRIED_LENGTH and not _python_reads(pattern):
        return "not-python"
    return risk


@cache
def _ecma_validator() -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft7Validator({"format": "regex"}, validate_formats=True, offline=True)


def _python_reads(pattern: str) -> bool:
    if len(pattern) > _MAX_TRIED_LENGTH:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


# --------------------------------------------------------------------------------------------- risk

#: The tokens of an expression. Order matters: `{2,}` is tried before a brace as an ordinary
#: character, which the last alternative takes, as it takes escapes and character classes whole.
_TOKEN = lazy_regex(
    r"""
      (?P<open>\((?:\?(?:[:=!]|<[=!]|<[^>=!]*>))?)         # a group: (  (?:  (?=  (?<!  (?<name>
    | (?P<close>\))
    | (?P<either>\|)
    | (?P<many>[*+]\??|\{\d+,\}\??)                        # without an upper bound
    | (?P<counted>\{(?P<low>\d+)(?:,(?P<high>\d+))?\}\??)  # {2}  {2,5}
    | (?P<maybe>\?\??)
    | (?P<atom>\\.|\[(?:\\.|[^\]\\])*\]|.)
    """,
    re.VERBOSE | re.DOTALL,
)


class _Atom(msgspec.Struct):
    """One thing that matches, and how often it may."""

    text: str
    endless: bool = False  #: `+`, `*`, `{n,}`
    optional: bool = False
    copies: int = 1  #: of single characters, when counted repetitions are written out
    ambiguous: bool = False  #: a group whose repetition can split the same text in many ways


#: The atoms of one alternative of a group.
_Branch = list[_Atom]


def _backtracking_risk(pattern: str) -> Verdict:
    """Whether matching can take time that grows without bound with the length of the text.

    It recognises two ways: a repeated group in which one branch is nothing but repetitions, as in
    `(a+)+`, and one in which two branches are the same, but for what may be missing or repeated.
    `a{2}` and `a{3}` differ. This misses some dangerous patterns and accuses no safe one.
    """
    groups: list[list[_Branch]] = [[[]]]  # the open groups, innermost last
    for match in _TOKEN.finditer(pattern):
        branch = groups[-1][-1]
        if match["open"]:
            groups.append([[]])
        elif match["close"] and len(groups) > 1:
            atom = _close_group(groups.pop())
            groups[-1][-1].append(atom)
        elif match["either"]:
            groups[-1].append([])
        elif match["atom"]:
            branch.append(_Atom(match["atom"]))
        elif branch and (verdict := _apply_quantifier(branch[-1], match)) != "fine":
            return verdict
    return "repeats" if _close_group(groups[0]).copies > MAX_REPEATS else "fine"


def _apply_quantifier(atom: _Atom, match: re.Match[str]) -> Verdict:
    """Apply a quantifier to the atom before it."""
    if match["many"]:
        if atom.ambiguous:
            return "backtracks"
        atom.endless = True
        atom.optional = match["many"].startswith(("*", "{0,"))
    elif match["counted"]:
        atom.optional = _number(match["low"]) == 0
        atom.copies *= _number(match["high"] or match["low"])
        atom.text += match["counted"].rstrip("?")
        if atom.copies > MAX_REPEATS:
            return "repeats"
    else:
        atom.optional = True
    return "fine"


def _number(digits: str) -> int:
    """A written number, cut to nine digits: Python refuses to read very long ones."""
    return int(digits.lstrip("0")[:9] or "0")


def _close_group(branches: list[_Branch]) -> _Atom:
    """A group as one atom of the branch around it."""
    texts = ["".join(atom.text for atom in branch) for branch in branches]
    ambiguous = any(map(_only_repeats, branches)) or len(set(texts)) < len(texts)
    copies = sum(atom.copies for branch in branches for atom in branch)
    return _Atom(f"({'|'.join(texts)})", copies=max(copies, 1), ambiguous=ambiguous)


def _only_repeats(branch: _Branch) -> bool:
    """Whether a branch repeats something and needs nothing else."""
    repeating = [atom.endless or atom.ambiguous for atom in branch]
    needed = [each for each, atom in zip(repeating, branch, strict=True) if not atom.optional]
    return any(repeating) and all(needed)


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
            elif keyword not in _PLAIN or not _PLAIN[keyword](value):
                return False
    return True


def _is_text(value: Any) -> bool:
    return value.__class__ is str


def _is_number(value: Any) -> bool:
    """Whether it is an integer that every JSON parser reads exactly."""
    return value.__class__ is int and abs(value) < 2**53


def _are_names(value: Any) -> bool:
    """Whether it is a list of different texts, at least one: old drafts ask for that."""
    if value.__class__ is not list or not value or not all(map(_is_text, value)):
        return False
    return len(set(value)) == len(value)


#: Keyword → whether a value is plain for it. `properties`, `items` and schemas for
#: `additionalProperties` are walked instead.
_PLAIN: dict[str, Callable[[Any], bool]] = {
    "additionalProperties": lambda value: True,
    "default": lambda value: isinstance(value, str | bool | None) or _is_number(value),
    "type": lambda value: _is_text(value) and value in TYPES,
    # What patterns and references mean is checked elsewhere; meta-schemas ask for texts alone.
    **dict.fromkeys(("$ref", "$schema", "description", "pattern", "title"), _is_text),
    **dict.fromkeys(("enum", "required"), _are_names),
    **dict.fromkeys(("maximum", "minimum"), _is_number),
    **dict.fromkeys(
        ("maxItems", "maxLength", "minItems", "minLength"),
        lambda value: value.__class__ is int and 0 <= value < 2**31,
    ),
}
