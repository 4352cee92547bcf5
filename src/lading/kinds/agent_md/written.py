"""A loaded agent or blueprint as plain data, the way the programs that read blueprints write it."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from lading.freeze import thawed


def written(value: Any) -> Any:
    """Plain data: fields in the order of their class, defaults only where the class says `always`."""
    if isinstance(value, msgspec.Struct):
        return _struct(value)
    if isinstance(value, tuple):
        return [written(each) for each in value]
    if isinstance(value, dict):
        return {key: written(each) for key, each in value.items()}
    return thawed(value)


def _struct(struct: msgspec.Struct) -> dict[str, Any]:
    cls = type(struct)
    config = cls.__struct_config__
    result: dict[str, Any] = {} if config.tag_field is None else {config.tag_field: config.tag}
    for name, key, default in _fields(cls):
        value = getattr(struct, name)
        if default is _WRITE or value != default:
            result[key] = written(value)
    return result


_WRITE: Any = object()


@cache
def _fields(cls: type[msgspec.Struct]) -> tuple[tuple[str, str, Any], ...]:
    """Name, key and default of each field; for those that are always written, no value equals the default."""
    always: frozenset[str] = getattr(cls, "always", frozenset())
    return tuple(
        (field.name, field.encode_name, _WRITE if field.required or field.name in always else _default(field))
        for field in msgspec.structs.fields(cls)
    )


def _default(field: msgspec.structs.FieldInfo) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return field.default
