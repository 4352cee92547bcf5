"""What msgspec knows about a model, asked once.

Asking walks every class a model is made of, and takes longer than loading a small file. So the answer is kept, and
serves all the classes that were met on the way.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import Any

from msgspec import inspect as types

_met: dict[type, types.StructType] = {}


def type_info(model: Any) -> types.Type:
    """The type information of a model or of any other type."""
    return _type_info(model)


@cache
def _type_info(model: Hashable) -> types.Type:
    info = types.type_info(model)
    _meet(info)
    return info


def struct_info(cls: type) -> types.StructType:
    """The type information of a Struct."""
    if cls not in _met:
        type_info(cls)
    return _met[cls]


def _meet(info: types.Type) -> None:
    """Remember every Struct below a type."""
    stack = [info]
    while stack:
        each = stack.pop()
        if isinstance(each, types.StructType):
            if each.cls not in _met:
                _met[each.cls] = each
                stack.extend(field.type for field in each.fields)
        elif isinstance(each, types.UnionType):
            stack.extend(each.types)
        elif isinstance(each, types.VarTupleType | types.ListType):
            stack.append(each.item_type)
        elif isinstance(each, types.DictType):
            stack.append(each.value_type)
