"""Walks over the plain value of a blueprint, for its rules.

Rules see a value that may be incomplete: parts that do not fit the model were taken out, and a
reference that could not be followed left a hole. So every walk yields only what it recognises and
stays silent about the rest.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import inspect as types

from equipage.core.diagnostics import Change, Part, Remedy
from equipage.core.path import Path
from equipage.kinds.blueprint.model import Blueprint, Step
from equipage.loading.model import struct_info
from equipage.loading.tree import HOLE, get, mapping, walk

# Lists and names


def items(value: Any) -> list[tuple[int, Any]]:
    """The entries of a list with their numbers; of anything else, none."""
    return list(enumerate(value)) if isinstance(value, list) else []


def entries(config: Any, key: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The entries of a list such as `agents` with their paths; one of a wrong type is empty."""
    for number, each in items(get(config, (key,))):
        yield (key, number), mapping(each)


def has_holes(value: Any) -> bool:
    """Whether a reference below could not be followed, so that what seems absent may be in it."""
    return any(node is HOLE for _, node in walk(value))


class Names(msgspec.Struct, frozen=True):
    """The names of the entries of one list."""

    key: str  #: the list, such as `agents`
    first: dict[str, Path]  #: each name and the first entry that has it
    complete: bool  #: whether the name of every entry is known

    def lack(self, name: Any) -> bool:
        """Whether no entry can have this name."""
        return isinstance(name, str) and self.complete and name not in self.first


def names_in(config: Any, key: str) -> Names:
    """The names in a list of the blueprint such as `agents`."""
    first: dict[str, Path] = {}
    complete = get(config, (key,)) is not HOLE
    for path, entry in entries(config, key):
        name = entry.get("name")
        if isinstance(name, str):
            first.setdefault(name, path)
        else:
            complete = False
    return Names(key, first, complete)


def correction(path: Path, guess: str | None, part: Part = "value") -> Remedy | None:
    """The fix that writes the name that was probably meant. It is a guess, so never a safe one."""
    if guess is None:
        return None
    verb = "rename" if part == "key" else "change"
    return Remedy(f"{verb} to `{guess}`", (Change(path, guess, part),), safe=False)


# Nodes and expressions

#: The field that says what a mapping of a flow is: nodes have a `kind`, expressions an `op`.
Tag = Literal["kind", "op"]


class FlowPart(msgspec.Struct, frozen=True):
    """A node or an expression of the flow."""

    path: Path
    tag: Tag
    value: dict[str, Any]

    @property
    def name(self) -> str:
        """The kind of a node, the operator of an expression."""
        return str(self.value[self.tag])


def nodes(config: Any, kinds: Container[str]) -> Iterator[FlowPart]:
    """The nodes of these kinds, parents first, in document order."""
    return (part for part in _parts(config) if part.tag == "kind" and part.name in kinds)


def expressions(config: Any, operators: Container[str]) -> Iterator[FlowPart]:
    """The expressions with these operators, parents first, in document order."""
    return (part for part in _parts(config) if part.tag == "op" and part.name in operators)


def _parts(config: Any) -> Iterator[FlowPart]:
    """Every node and expression of the flow. The value of a literal is data, whatever it holds."""
    stack: list[tuple[Path, Any, Tag]] = [(("flow",), get(config, ("flow",)), "kind")]
    while stack:
        path, value, tag = stack.pop()
        fields = _fields(tag).get(str(value.get(tag))) if isinstance(value, dict) else None
        if fields is None:
            continue
        yield FlowPart(path, tag, value)
        children: list[tuple[Path, Any, Tag]] = []
        for key, child in value.items():
            if key in fields:
                inner, is_list = fields[key]
                if is_list:
                    children += [((*path, key, at), each, inner) for at, each in items(child)]
                else:
                    children.append(((*path, key), child, inner))
        stack.extend(reversed(children))


@cache
def _fields(tag: Tag) -> dict[str, dict[str, tuple[Tag, bool]]]:
    """Node or operator → its fields that hold nodes or expressions, and whether they are lists.

    The table is read off the model, so a new node or operator needs no change here.
    """
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
    """Whether a field holds nodes or expressions, and whether it is a list; None if neither."""
    is_list = isinstance(kind, types.VarTupleType)
    inner = kind.item_type if isinstance(kind, types.VarTupleType) else kind
    for each in inner.types if isinstance(inner, types.UnionType) else ():
        if isinstance(each, types.StructType):
            return ("kind" if each.tag_field == "kind" else "op"), is_list
    return None


# Places in the context

#: One step of a path: `["key"]`, also after a dot, or `.key`.
_SEGMENT = re.compile(r"""\.?\["(?P<quoted>[^"]+)"\]|\.(?P<plain>[^.\[]+)""")


def canonical_path(at: str) -> str | None:
    """The path as current programs print it; None if they cannot read it.

    A key is written in brackets only if it needs them: `$.a["b"]["c.d"]` becomes `$.a.b["c.d"]`.
    """
    if not at.startswith("$"):
        return None
    offset, steps = 1, ["$"]
    while offset < len(at):
        match = _SEGMENT.match(at, offset)
        if match is None:
            return None
        key = match["plain"] or match["quoted"]
        steps.append(f'["{key}"]' if re.search(r"[.\[\]]", key) else f".{key}")
        offset = match.end()
    return "".join(steps)


def place_of(expression: Any) -> str | None:
    """The canonical path of an expression of the operator `path`; None for any other value."""
    at = get(expression, ("at",)) if get(expression, ("op",)) == "path" else None
    return canonical_path(at) if isinstance(at, str) else None
