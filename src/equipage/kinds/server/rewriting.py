"""Rewriting parts of a tree, all of one sort at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from equipage.diagnostics import Fact
from equipage.kinds.server.items import Place
from equipage.path import Path
from equipage.tree import Tree, graft

#: Changes a part, given its path, and adds what it finds.
Change = Callable[[Tree, Path, list[Fact]], Tree]


class Rewrite(msgspec.Struct, frozen=True):
    """One normalisation: where it looks, whether a plain value needs it, and what it does."""

    where: Callable[[Any], Iterable[Place]]
    needed: Callable[[Any], bool]
    change: Change


def rewritten(tree: Tree, rewrite: Rewrite, facts: list[Fact]) -> Tree:
    """The tree with a rewrite applied everywhere. Containers on the way are copied once."""
    parts: dict[Path, Tree] = {}
    moves: list[tuple[Path, Path]] = []
    for path in _needing(tree, rewrite):
        part = rewrite.change(tree.at(path), path, facts)
        parts[path] = part
        moves += (((*path, *start), (*path, *end)) for start, end in part.moves)
    if not parts:
        return tree
    changed = graft(tree, parts)
    return Tree(changed.value, changed.origins, (*tree.moves, *moves))


def _needing(tree: Tree, rewrite: Rewrite) -> Iterator[Path]:
    for path, value in rewrite.where(tree.value):
        if rewrite.needed(value):
            yield path
