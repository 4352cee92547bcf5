"""Where the subschemas of a schema stand.

A `$ref` or `pattern` means something only at the position of a schema: under `properties` the same word is the
name of a property, under `const`, `enum`, `default` and `examples` it is data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.path import ROOT, Path

#: Keywords whose value is a schema.
SINGLE = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
#: Keywords whose value is a list of schemas.
LISTS = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
#: Keywords whose value is a mapping of names to schemas.
MAPS = frozenset({"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"})
#: Keywords whose schemas look at the same value as the schema that holds them.
IN_PLACE = frozenset({"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"})

_KEYWORDS = SINGLE | LISTS | MAPS


#: From a schema to one directly inside it: a keyword, or a keyword and a name or number.
Steps = tuple[str] | tuple[str, str | int]


class Subschema(msgspec.Struct, frozen=True):
    """A schema inside a schema. `in_place`: it judges the same value as the root does."""

    path: Path
    value: Any
    in_place: bool = True


def children(schema: dict[str, Any]) -> Iterator[tuple[Steps, Any]]:
    """The direct subschemas of a schema, with their paths, whatever their values are."""
    if _KEYWORDS.isdisjoint(schema):
        return
    for keyword, value in schema.items():
        if keyword not in _KEYWORDS:
            continue
        if isinstance(value, dict):
            if keyword in MAPS:
                for name, child in value.items():
                    if keyword != "dependencies" or not isinstance(child, list):
                        yield (keyword, name), child
            elif keyword in SINGLE:
                yield (keyword,), value
        elif isinstance(value, list):
            if keyword in LISTS:
                for number, child in enumerate(value):
                    yield (keyword, number), child
        elif keyword in SINGLE:
            yield (keyword,), value


def draft_3_children(schema: dict[str, Any]) -> Iterator[tuple[Steps, Any]]:
    """The direct subschemas that only draft 3 knows: later these words are types, or mean nothing."""
    for keyword in ("extends", "type", "disallow"):
        value = schema.get(keyword)
        if isinstance(value, dict):
            yield (keyword,), value
        elif isinstance(value, list):
            yield from (((keyword, number), each) for number, each in enumerate(value) if isinstance(each, dict))


def subschemas(schema: Any) -> Iterator[Subschema]:
    """The schema itself and every mapping at the position of a schema inside it, as they are written."""
    stack = [Subschema(ROOT, schema)]
    while stack:
        here = stack.pop()
        if not isinstance(here.value, dict):
            continue
        yield here
        stack += reversed(
            [
                Subschema(here.path + path, child, here.in_place and path[0] in IN_PLACE)
                for path, child in children(here.value)
                if isinstance(child, dict)
            ]
        )
