"""Before the shape is checked: old names get their new ones, and shorthands their full form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.core.diagnostics import Change, Fact, Remedy, Shown, fact
from equipage.core.path import Path
from equipage.kinds.toolpack.model import BLOCKS, EXECUTIONS
from equipage.loading.session import Session
from equipage.loading.tree import Tree, move, put, put_all, remove

PROTOCOLS = ("http", "https")


def _names(cls: type) -> frozenset[str]:
    return frozenset(field.encode_name for field in msgspec.structs.fields(cls))


#: The camelCase names of each block; those of `execution` by its kind.
_FIELDS: dict[Path, frozenset[str]] = {path: _names(cls) for path, cls in BLOCKS}
_EXECUTIONS = {kind: _names(cls) for kind, cls in EXECUTIONS.items()}
#: Blocks whose snake_case names no loader has ever read.
_NEVER_READ = ("templating",)


def camel_case(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Every snake_case spelling of a field is told and read as the field it means."""
    facts: list[Fact] = []
    for path, block, fields in _blocks(tree.value):
        for name in [each for each in block if "_" in each]:
            camel = _camel(name)
            if camel not in fields:
                continue
            place = (*path, name)
            both = camel in block
            milder = session.options.legacy_keys == "warn" and path != _NEVER_READ
            facts.append(_fact(place, camel, both=both, milder=milder))
            tree = remove(tree, place) if both else move(tree, place, (*path, camel))
    return tree, facts


def _blocks(root: Any) -> Iterator[tuple[Path, dict[str, Any], frozenset[str]]]:
    """The mappings of a pack with the names of their fields."""
    if not isinstance(root, dict):
        return
    for path, fields in _FIELDS.items():
        block = root.get(path[0]) if path else root
        if isinstance(block, dict):
            yield path, block, fields
    execution = root.get("execution")
    if (
        isinstance(execution, dict)
        and isinstance(kind := execution.get("kind"), str)
        and kind in _EXECUTIONS
    ):
        yield ("execution",), execution, _EXECUTIONS[kind]


def camel_path(path: Path) -> Path:
    """A path as it would be with the names of today."""
    known = next(
        (len(each) for each in (*_FIELDS, ("execution",)) if each and path[: len(each)] == each), 0
    )
    return tuple(
        _camel(step) if number <= known and isinstance(step, str) and _camel(step) in _ALL else step
        for number, step in enumerate(path)
    )


_ALL = frozenset().union(*_FIELDS.values(), *_EXECUTIONS.values())


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _fact(place: Path, camel: str, *, both: bool, milder: bool) -> Fact:
    remedy = None if both else Remedy(f"rename to `{camel}`", (Change(place, camel, "key"),))
    return fact(
        "snake-case-both" if both else "snake-case-key",
        place,
        part="key",
        severity="warning" if milder else None,
        remedy=remedy,
        found=Shown(place[-1]),
        camel=camel,
    )


def network_list(tree: Tree, _session: Session) -> tuple[Tree, list[Fact]]:
    """`caps.network` is a list of lower-case protocols; one alone, and other spellings of them, are understood."""
    caps = tree.value.get("caps") if isinstance(tree.value, dict) else None
    if not isinstance(caps, dict) or "network" not in caps:
        return tree, []
    given: Any = caps["network"]
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list):
        return tree, []
    plain = [_protocol(each) for each in listed]
    if plain == given:
        return tree, []
    if isinstance(given, str):
        return put(tree, ("caps", "network"), plain), []
    changed = {number: each for number, each in enumerate(plain) if each != listed[number]}
    return put_all(
        tree, {("caps", "network", number): each for number, each in changed.items()}
    ), []


def _protocol(each: Any) -> Any:
    """A protocol as it is stored; what is none stays, so that it is told as it was written."""
    lower = each.strip().lower() if isinstance(each, str) else each
    return lower if lower in PROTOCOLS else each
