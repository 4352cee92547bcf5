"""Before the shape is checked: old names get their new ones, and shorthands their full form."""

from __future__ import annotations

from typing import Any

import msgspec

from lading.diagnostics import Change, Fact, Remedy, Shown, fact
from lading.kinds.toolpack.model import BLOCKS
from lading.path import Path
from lading.session import Session
from lading.tree import Tree, move, put, remove

PROTOCOLS = ("http", "https")


def _names(classes: tuple[type, ...]) -> frozenset[str]:
    return frozenset(field.encode_name for cls in classes for field in msgspec.structs.fields(cls))


#: The camelCase names of each block.
_FIELDS: dict[Path, frozenset[str]] = {path: _names(classes) for path, classes in BLOCKS}


def camel_case(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Every snake_case spelling of a field is told and read as the field it means."""
    facts: list[Fact] = []
    root = tree.value
    for path, fields in _FIELDS.items():
        block = root if not path else root.get(path[0]) if isinstance(root, dict) else None
        if not isinstance(block, dict):
            continue
        for name in [each for each in block if "_" in each]:
            camel = _camel(name)
            if camel not in fields:
                continue
            place = (*path, name)
            both = camel in block
            facts.append(_fact(place, camel, both=both, milder=session.options.legacy_keys == "warn"))
            tree = remove(tree, place) if both else move(tree, place, (*path, camel))
    return tree, facts


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
    for number, each in enumerate(plain):
        if each != listed[number]:
            tree = put(tree, ("caps", "network", number), each)
    return tree, []


def _protocol(each: Any) -> Any:
    """A protocol as it is stored; what is none stays, so that it is told as it was written."""
    lower = each.strip().lower() if isinstance(each, str) else each
    return lower if lower in PROTOCOLS else each
