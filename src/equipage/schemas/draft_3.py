"""The meta-schema of draft 3, which jsonschema-rs does not know, written in draft 4.

It differs from the published one in one respect: names of types that no validator knows are
refused, because validators fail when they meet one.
"""

from __future__ import annotations

from typing import Any

_SCHEMA = {"$ref": "#"}
_SCHEMAS = {"anyOf": [_SCHEMA, {"type": "array", "items": _SCHEMA}]}
_TEXT, _BOOLEAN, _NUMBER = ({"type": name} for name in ("string", "boolean", "number"))
_COUNT = {"type": "integer", "minimum": 0}
_TYPE = {"enum": ["any", "array", "boolean", "integer", "null", "number", "object", "string"]}
_TYPE_LIST = {"type": "array", "items": {"anyOf": [_TYPE, _SCHEMA]}, "uniqueItems": True}
_TYPES = {"anyOf": [_TYPE, _TYPE_LIST]}
_FURTHER = {"anyOf": [_SCHEMA, _BOOLEAN]}
_NAMED_SCHEMAS = {"type": "object", "additionalProperties": _SCHEMA}
_NEEDED = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}, _SCHEMA]}

META_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        **dict.fromkeys(("$ref", "$schema", "id", "title", "description", "format"), _TEXT),
        **dict.fromkeys(("type", "disallow"), _TYPES),
        **dict.fromkeys(("extends", "items"), _SCHEMAS),
        **dict.fromkeys(("properties", "patternProperties"), _NAMED_SCHEMAS),
        **dict.fromkeys(("additionalProperties", "additionalItems"), _FURTHER),
        **dict.fromkeys(
            ("required", "uniqueItems", "exclusiveMinimum", "exclusiveMaximum"), _BOOLEAN
        ),
        **dict.fromkeys(("minimum", "maximum"), _NUMBER),
        **dict.fromkeys(("minItems", "maxItems", "minLength"), _COUNT),
        "maxLength": {"type": "integer"},
        "pattern": _TEXT,
        "dependencies": {"type": "object", "additionalProperties": _NEEDED},
        "enum": {"type": "array", "minItems": 1, "uniqueItems": True},
        "divisibleBy": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
    },
    "dependencies": {"exclusiveMinimum": ["minimum"], "exclusiveMaximum": ["maximum"]},
}
