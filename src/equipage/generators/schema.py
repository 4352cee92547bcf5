"""The JSON Schema of what stands under `$generate`, for editors."""

from __future__ import annotations

from equipage.generators.base import Generator, fields_of
from equipage.generators.registry import REGISTRY


def schema() -> dict[str, object]:
    """One alternative per registered type. Limits are left out: they belong to the machine, not to the format."""
    return {"type": "object", "required": ["type"], "oneOf": [_alternative(cls) for cls in REGISTRY.values()]}


def _alternative(cls: type[Generator]) -> dict[str, object]:
    fields = fields_of(cls)
    properties: dict[str, object] = {"type": {"const": cls.type}}
    for field in fields:
        parameter = cls.accepts[field.name]
        optional = not field.required and not parameter.nullable
        properties[field.name] = {"anyOf": [parameter.schema, {"type": "null"}]} if optional else parameter.schema
    required = ["type", *(field.name for field in fields if field.required)]
    return {"title": cls.type, "properties": properties, "required": required}
