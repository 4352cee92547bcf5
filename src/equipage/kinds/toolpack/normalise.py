"""Before the shape is checked, old names get their new ones and shorthands their full form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from equipage.core.diagnostics import Change, Fact, Remedy, Shown
from equipage.core.path import Path
from equipage.kinds.toolpack import codes
from equipage.kinds.toolpack.model import BLOCKS, EXECUTIONS, Block, ToolpackFile
from equipage.loading.session import Session
from equipage.loading.tree import Tree, get, mapping, move, put, put_all, remove

PROTOCOLS = ("http", "https")
_CLASSES: tuple[type[Block], ...] = (ToolpackFile, *BLOCKS.values(), *EXECUTIONS.values())
#: Every camelCase name of a field.
_ALL = frozenset(name for cls in _CLASSES for name in cls.__struct_encode_fields__)


def camel_case(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Report every snake_case name of a field, and read it as the field it means."""
    facts: list[Fact] = []
    for path, block, fields in _blocks(tree.value):
        for name in [each for each in block if "_" in each]:
            camel, place = _camel(name), (*path, name)
            if camel not in fields:
                continue
            if camel in block:
                code, remedy = codes.SNAKE_CASE_BOTH, None
                tree = remove(tree, place)
            else:
                code = codes.SNAKE_CASE_KEY
                remedy = Remedy(f"rename to `{camel}`", (Change(place, camel, "key"),))
                tree = move(tree, place, (*path, camel))
            fact = code.at(place, part="key", remedy=remedy, found=Shown(name), camel=camel)
            # No loader has ever read the snake_case names of `templating`.
            if session.options.legacy_keys == "warn" and path != ("templating",):
                fact = replace(fact, severity="warning")
            facts.append(fact)
    return tree, facts


def _blocks(root: Any) -> Iterator[tuple[Path, dict[str, Any], tuple[str, ...]]]:
    """The mappings of a pack, each with the names of its fields."""
    yield (), mapping(root), ToolpackFile.__struct_encode_fields__
    for name, cls in BLOCKS.items():
        yield (name,), mapping(get(root, (name,))), cls.__struct_encode_fields__
    kind = get(root, ("execution", "kind"))
    if isinstance(kind, str) and kind in EXECUTIONS:
        yield ("execution",), root["execution"], EXECUTIONS[kind].__struct_encode_fields__


def camel_path(path: Path) -> Path:
    """A path with the names of today, at the top of the file and in its blocks."""
    depth = 2 if path and path[0] in (*BLOCKS, "execution") else 1
    names = [_camel(step) if isinstance(step, str) else step for step in path[:depth]]
    known = (new if new in _ALL else old for old, new in zip(path, names, strict=False))
    return (*known, *path[depth:])


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def network_list(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """`caps.network` becomes a list of protocols in lower case.

    A single protocol and other spellings are understood. What is not a protocol stays, so that the
    finding about it shows what the author wrote.
    """
    path = ("caps", "network")
    written = get(tree.value, path)
    if isinstance(written, str):
        return put(tree, path, [_protocol(written)]), []
    listed = written if isinstance(written, list) else []
    protocols: dict[Path, Any] = {
        (*path, number): _protocol(each)
        for number, each in enumerate(listed)
        if _protocol(each) != each
    }
    return put_all(tree, protocols), []


def _protocol(each: Any) -> Any:
    lower = each.strip().lower() if isinstance(each, str) else each
    return lower if lower in PROTOCOLS else each
