"""The author's form folded into the program's.

The lists of the simple form become the baseline. The capabilities of the server and the behaviour at the top are
the baseline's, unless it has its own.
"""

from __future__ import annotations

from typing import Any

from equipage.kinds.server.items import SORTS
from equipage.kinds.server.model import Baseline, Logging, ServerConfig, ServerFile, ServerInfo
from equipage.path import Path
from equipage.tree import Tree, mapping, move, remove

#: What belongs to the baseline, and where it may be written instead.
_ELSEWHERE: tuple[tuple[Path, Path], ...] = (
    *(((sort.plural,), ("baseline", sort.plural)) for sort in SORTS),
    (("server", "capabilities"), ("baseline", "capabilities")),
    (("behavior",), ("baseline", "behavior")),
)


def fold(tree: Tree, written: ServerFile) -> tuple[Tree, ServerConfig]:
    """The configuration a program gets, and its tree. Nothing is copied but a few outer mappings."""
    own = written.baseline or Baseline()
    baseline = Baseline(
        tools=own.tools or written.tools or (),
        resources=own.resources or written.resources or (),
        prompts=own.prompts or written.prompts or (),
        capabilities=own.capabilities or written.server.capabilities,
        behavior=own.behavior or written.behavior,
    )
    server = ServerInfo(written.server.name, written.server.version, written.server.state_scope)
    config = ServerConfig(
        server,
        baseline,
        written.phases or (),
        written.logging or Logging(),
        written.unknown_methods,
        written.metadata,
    )
    return _folded(tree), config


def _folded(tree: Tree) -> Tree:
    if "baseline" in tree.value and tree.value["baseline"] is None:
        tree = remove(tree, ("baseline",))  # as good as none, but nothing can be moved into it
    for start, end in _ELSEWHERE:
        if _has(tree.value, start) and not _has(tree.value, end):
            tree = move(tree, start, end)
    return tree


def _has(value: Any, path: Path) -> bool:
    for step in path:
        value = mapping(value).get(str(step))
    return value is not None
