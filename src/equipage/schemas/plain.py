"""Schemas that are certainly valid, known at sight.

Most schemas of tools use only the plainest keywords with the plainest values, which the meta-schema
of every draft from 4 on accepts. `is_plain` recognises these without a validator; a test compares
its verdict with the meta-schemas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")


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
