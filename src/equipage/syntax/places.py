"""Wanted paths as a trie, so that one pass over a text serves all of them.

Nothing here recurses: a path somebody asks about may be longer than any document is deep.
"""

from __future__ import annotations

from collections.abc import Iterable

from equipage.core.path import Path
from equipage.syntax import Place


class Want:
    """A node of the trie: which paths end here, and what is wanted below."""

    __slots__ = ("below", "paths", "reached")

    def __init__(self) -> None:
        self.paths: list[Path] = []
        self.below: dict[str | int, Want] = {}
        self.reached = False  #: whether a pass came by since the node was last forgotten

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Want:
        """The trie of those `paths`."""
        root = cls()
        for path in paths:
            root.add(path)
        return root

    def add(self, path: Path) -> None:
        """Want one more path."""
        node = self
        for step in path:
            node = node.below.setdefault(step, Want())
        node.paths.append(path)

    def reach(self, step: str | int) -> Want | None:
        """What is wanted at `step`, if anything; from now on it can be forgotten."""
        node = self.below.get(step)
        if node is not None:
            node.reached = True
        return node

    def record(self, place: Place, found: dict[Path, Place]) -> None:
        """Say where the node stands, in place of what was said before."""
        for path in self.paths:
            found[path] = place

    def forget(self, found: dict[Path, Place]) -> None:
        """Drop what was found here and below: a later duplicate takes over.

        Only nodes that were reached are visited, so that many duplicates cost no more than reading them.
        """
        left = [self]
        while left:
            node = left.pop()
            if node.reached:
                node.reached = False
                left.extend(node.below.values())
                for path in node.paths:
                    found.pop(path, None)
