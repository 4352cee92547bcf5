"""Which places of a blueprint take any value at all."""

from __future__ import annotations

from typing import Any

from msgspec import inspect as types

from equipage.inspection import type_info
from equipage.kinds.blueprint.model import Blueprint
from equipage.model import describe
from equipage.path import Path

_STRUCTURES = (types.StructType, types.DictType, types.VarTupleType, types.BoolType, types.IntType)


def is_free_form(value: Any, path: Path) -> bool:
    """Whether what stands at `path` of a blueprint is never looked into: a literal, a spec, a hint.

    Elsewhere the model itself says what is wrong.
    """
    return isinstance(_type_at(value, path), types.AnyType)


def needs_structure(value: Any, path: Path) -> str | None:
    """What must stand at `path` of a blueprint, in words, where no text can; else None."""
    kind = _type_at(value, path)
    choices = kind.types if isinstance(kind, types.UnionType) else (kind,)
    return describe(kind) if kind is not None and all(isinstance(each, _STRUCTURES) for each in choices) else None


def _type_at(value: Any, path: Path) -> types.Type | None:
    """The type of what stands at `path` of a blueprint, that of a place above if it takes anything; None if there
    is no such place."""
    kind = _branch(type_info(Blueprint), value)
    for step in path:
        if isinstance(kind, types.AnyType):
            return kind
        inner = _below(kind, step)
        if inner is None:
            return None
        value = _child(value, step)
        kind = _branch(inner, value)
    return kind


def _below(kind: types.Type, step: str | int) -> types.Type | None:
    """The type of what stands at one step below."""
    if isinstance(kind, types.StructType):
        return next((field.type for field in kind.fields if field.encode_name == step), None)
    if isinstance(kind, types.DictType):
        return kind.value_type
    return kind.item_type if isinstance(kind, types.VarTupleType) else None


def _branch(kind: types.Type, value: Any) -> types.Type:
    """The branch of a union that a value is meant for."""
    if not isinstance(kind, types.UnionType):
        return kind
    rest = [each for each in kind.types if not isinstance(each, types.NoneType)]
    if len(rest) == 1:
        return rest[0]
    structs = [each for each in rest if isinstance(each, types.StructType)]
    tag = value.get(structs[0].tag_field) if structs and isinstance(value, dict) else None
    return next((each for each in structs if each.tag == tag), kind)


def _child(value: Any, step: str | int) -> Any:
    try:
        return value[step]
    except (KeyError, IndexError, TypeError):
        return None
