"""Walks over the plain value of a blueprint. Nothing is sure to be there or to have the right type."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import inspect as types

from equipage.inspection import struct_info
from equipage.kinds.blueprint.flow import Step
from equipage.kinds.blueprint.model import Blueprint
from equipage.path import Path
from equipage.tree import HOLE, mapping, walk

#: What a mapping of a flow is told by: nodes have a `kind`, expressions an `op`.
Tag = Literal["kind", "op"]


class FlowPart(msgspec.Struct, frozen=True):
    """A node or an expression, and where it stands."""

    path: Path
    tag: Tag
    value: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.value[self.tag])


def flow_parts(config: Any) -> Iterator[FlowPart]:
    """Every node and expression of the flow, parents first, in document order. Literals are not looked into."""
    stack: list[tuple[Path, Any, Tag]] = [(("flow",), mapping(config).get("flow"), "kind")]
    while stack:
        path, value, tag = stack.pop()
        below = _below(tag).get(str(value.get(tag))) if isinstance(value, dict) else None
        if below is None:
            continue
        yield FlowPart(path, tag, value)
        children: list[tuple[Path, Any, Tag]] = []
        for key, child in value.items():
            if key not in below:
                continue
            inner, several = below[key]
            if several:
                children += [((*path, key, number), each, inner) for number, each in items(child)]
            else:
                children.append(((*path, key), child, inner))
        stack.extend(reversed(children))


@cache
def _below(tag: Tag) -> dict[str, dict[str, tuple[Tag, bool]]]:
    """For each node or operator: which of its fields hold nodes or expressions, and whether it is several."""
    owner, name = (Blueprint, "flow") if tag == "kind" else (Step, "out")
    union = next(field.type for field in struct_info(owner).fields if field.name == name)
    assert isinstance(union, types.UnionType)
    table: dict[str, dict[str, tuple[Tag, bool]]] = {}
    for each in union.types:
        assert isinstance(each, types.StructType)
        found = ((field.encode_name, _holds(field.type)) for field in each.fields)
        table[str(each.tag)] = {name: holds for name, holds in found if holds is not None}
    return table


def _holds(kind: types.Type) -> tuple[Tag, bool] | None:
    if isinstance(kind, types.VarTupleType):
        inner = _holds(kind.item_type)
        return None if inner is None else (inner[0], True)
    members = kind.types if isinstance(kind, types.UnionType) else ()
    first = next((each for each in members if isinstance(each, types.StructType)), None)
    if first is None:
        return None
    return ("kind" if first.tag_field == "kind" else "op"), False


def items(value: Any) -> list[tuple[int, Any]]:
    """The entries of a list with their numbers; of anything else, none."""
    return list(enumerate(value)) if isinstance(value, list) else []


def has_holes(value: Any) -> bool:
    """Whether anything below could not be had, so that nothing can be said about what is not there."""
    return any(node is HOLE for _, node in walk(value))


class Names(msgspec.Struct, frozen=True):
    """The names that entries of a list carry, and whether all of them are known."""

    first: dict[str, int]
    complete: bool

    def lack(self, name: Any) -> bool:
        """Whether it is sure that nothing has this name."""
        return isinstance(name, str) and self.complete and name not in self.first


def names_in(config: Any, key: str) -> Names:
    """The names in a list of the blueprint such as `agents`, each with its first entry."""
    given = mapping(config).get(key)
    first: dict[str, int] = {}
    complete = given is not HOLE
    for number, each in items(given):
        name = mapping(each).get("name")
        if isinstance(name, str):
            first.setdefault(name, number)
        else:
            complete = False
    return Names(first, complete)
