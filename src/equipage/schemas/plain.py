"""Schemas that are good at sight: the plainest keywords with the plainest values.

Most schemas of tools are made of nothing else, and the meta-schema of every draft from 4 on accepts them. Anything
else is left to the meta-schema, which also says what is wrong; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
            elif keyword == "items" or (keyword == "additionalProperties" and value.__class__ is not bool):
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
    return value.__class__ is list and bool(value) and all(map(_is_text, value)) and len(set(value)) == len(value)


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
