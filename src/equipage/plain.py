"""Typed configuration back to plain dicts, lists and scalars."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

_SCALARS: frozenset[type] = frozenset({str, int, float, bool, type(None)})
_NEVER: Any = object()


def plain_data(value: Any, *, spelled_out: bool = False) -> Any:
    """A configuration as plain data, fields in the order of their classes, without defaults.

    A default that the author wrote out is a default like any other: both files mean the same. With `spelled_out`,
    the fields that a class names in `always` are there, whatever they hold.
    """
    kind = value.__class__
    if kind in _SCALARS:
        return value
    if isinstance(value, dict):
        return {key: plain_data(each, spelled_out=spelled_out) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(each, spelled_out=spelled_out) for each in value]
    if isinstance(value, msgspec.Struct):
        return _struct(value, spelled_out=spelled_out)
    to_dict = getattr(value, "to_dict", None)
    if to_dict is not None:
        return plain_data(to_dict(), spelled_out=spelled_out)
    return msgspec.to_builtins(value, enc_hook=str)


def without_defaults(config: Any) -> Any:
    """A configuration as plain data, also where it is kept in mappings that hold defaults as they were written."""
    stated = getattr(config, "without_defaults", None)
    return plain_data(config if stated is None else stated())


def _struct(struct: msgspec.Struct, *, spelled_out: bool) -> dict[str, Any]:
    config = struct.__struct_config__
    result: dict[str, Any] = {} if config.tag_field is None else {config.tag_field: config.tag}
    for name, key, default in _fields(type(struct), spelled_out=spelled_out):
        value = getattr(struct, name)
        if value is not msgspec.UNSET and value is not default and value != default:
            result[key] = plain_data(value, spelled_out=spelled_out)
    return result


@cache
def _fields(cls: type[msgspec.Struct], *, spelled_out: bool) -> tuple[tuple[str, str, Any], ...]:
    """Name, key and default of each field; nothing equals the default of those that are always written."""
    always: frozenset[str] = getattr(cls, "always", frozenset()) if spelled_out else frozenset()
    return tuple(
        (field.name, field.encode_name, _NEVER if field.required or field.name in always else _default(field))
        for field in msgspec.structs.fields(cls)
    )


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
