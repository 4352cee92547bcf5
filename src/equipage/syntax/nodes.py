"""One tree of located nodes for JSON and YAML, pruned to the paths that are asked for.

A reader hands its text to a `TreeBuilder` piece by piece, in order; `find_places` then looks up the
paths. A collection that no wanted path enters is read over and leaves a None in the tree, so that a
large document costs little more than its tokens. Of several equal keys the last one counts.

Only `value_of` recurses, over texts whose depth was checked when they were loaded: a path may be
longer than any document is deep.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from equipage.core.path import Path
from equipage.syntax import Place, Range

#: How much is kept of a collection that is used as a key. It is an error in any case.
_LONGEST_KEY = 80


class PathTrie:
    """Wanted paths as a trie, so that one pass over a text serves all of them."""

    __slots__ = ("below", "path")

    def __init__(self) -> None:
        self.below: dict[str | int, PathTrie] = {}
        self.path: Path | None = None  #: the wanted path that ends here

    def child(self, step: str | int) -> PathTrie:
        """What is wanted at a step: `WANT_NOTHING` if no path leads there."""
        return self.below.get(step, WANT_NOTHING)

    @classmethod
    def from_paths(cls, paths: Iterable[Path]) -> PathTrie:
        """The trie of those `paths`."""
        root = cls()
        for path in paths:
            node = root
            for step in path:
                node = node.below.setdefault(step, cls())
            node.path = path
        return root


#: The mappings merged in by this key may hold any wanted entry.
_MERGE_KEY = "<<"
WANT_NOTHING = PathTrie()
#: For a collection that is kept as a whole.
WANT_EVERYTHING = PathTrie()


class Scalar:
    """A scalar and its plain value; `event` is what the YAML parser says about it."""

    __slots__ = ("end", "event", "start", "value")

    def __init__(self, start: int, end: int, value: object, event: Any = None) -> None:
        self.start, self.end, self.value, self.event = start, end, value, event


class Alias:
    """A YAML alias and the node it repeats, None if that was not kept."""

    __slots__ = ("end", "event", "start", "target")

    def __init__(self, start: int, end: int, target: Node | None, event: Any) -> None:
        self.start, self.end, self.target, self.event = start, end, target, event


class Collection:
    """A list, or a mapping, whose `children` are its keys and values in turn."""

    __slots__ = ("_entries", "brought", "children", "end", "event", "is_mapping", "start", "wanted")

    def __init__(self, start: int, wanted: PathTrie, *, is_mapping: bool, event: Any) -> None:
        self.start = self.end = start
        self.wanted = wanted
        self.is_mapping = is_mapping
        self.event = event
        self.children: list[Node | None] = []
        self._entries: Entries | None = None
        #: the `<<` that brought in each entry which is written elsewhere
        self.brought: dict[str, Node] = {}

    def pairs(self) -> Iterator[tuple[Node | None, Node | None]]:
        """Keys and values of a mapping, duplicates included."""
        children = iter(self.children)
        return zip(children, children, strict=False)

    def forget_unwanted(self) -> None:
        """Drop the last entry if it is complete and no wanted path enters it.

        A file may have a million entries, and a finding is about one of them.
        """
        children = self.children
        if len(children) % 2 == 0:
            name = name_of(children[-2])
            if name not in self.wanted.below and name != _MERGE_KEY:
                del children[-2:]

    @property
    def entries(self) -> Entries:
        """The entries of a mapping, the last of equal keys. A reader that merges replaces them."""
        if self._entries is None:
            self._entries = {name_of(key): (key, value) for key, value in self.pairs()}
        return self._entries

    @entries.setter
    def entries(self, merged: Entries) -> None:
        self._entries = merged


Node = Scalar | Collection | Alias
#: The entries of a mapping by the names of their keys: the node of the key and that of the value.
Entries = dict[str, tuple[Node | None, Node | None]]


class TreeBuilder:
    """Builds the tree of what is wanted from the pieces of a text."""

    def __init__(self, wanted: PathTrie = WANT_EVERYTHING) -> None:
        self.root: Node | None = None
        self._wanted = wanted
        self._open: list[Collection | None] = []  # None for one that no wanted path enters

    @property
    def is_keeping(self) -> bool:
        """Whether a scalar that comes now is part of the tree."""
        return not self._open or self._open[-1] is not None

    def add(self, node: Node | None) -> None:
        """The next key or value is complete, or not wanted."""
        if not self._open:
            self.root = self.root or node
        elif (holder := self._open[-1]) is not None:
            holder.children.append(node)
            if holder.wanted is not WANT_EVERYTHING and holder.is_mapping:
                holder.forget_unwanted()

    def open(
        self, start: int, *, is_mapping: bool, whole: bool = False, event: Any = None
    ) -> Collection | None:
        """A collection begins; it is kept if a wanted path enters it, or as a `whole`."""
        wanted = WANT_EVERYTHING if whole else self._wanted_next()
        node = None
        if wanted is not WANT_NOTHING:
            node = Collection(start, wanted, is_mapping=is_mapping, event=event)
        self.add(node)
        self._open.append(node)
        return node

    def close(self, end: int = 0) -> Collection | None:
        """The innermost collection ends."""
        node = self._open.pop()
        if node is not None:
            node.end = end
        return node

    def _wanted_next(self) -> PathTrie:
        """What is wanted of the node that comes next."""
        if not self._open:
            return self._wanted
        holder = self._open[-1]
        if holder is None:
            return WANT_NOTHING
        count = len(holder.children)
        if holder.wanted is WANT_EVERYTHING or (holder.is_mapping and count % 2 == 0):
            return WANT_EVERYTHING  # a key is kept, whatever it is, to be named
        step = name_of(holder.children[-1]) if holder.is_mapping else count
        return WANT_EVERYTHING if step == _MERGE_KEY else holder.wanted.child(step)


def find_places(root: Node | None, paths: Iterable[Path]) -> dict[Path, Place]:
    """The places of those `paths` that exist in a tree which was built for them.

    The place of an aliased value is the alias; below it, the place in the node that it repeats.
    """
    found: dict[Path, Place] = {}
    for path in paths:
        key, value, through = _find_entry(root, path)
        if value is not None:
            optional = (None if each is None else range_of(each) for each in (key, through))
            found[path] = Place(range_of(value), *optional)
    return found


def _find_entry(root: Node | None, path: Path) -> tuple[Node | None, Node | None, Node | None]:
    """The key and the value at a path, and the last `<<` on the way to it.

    The root and the entries of lists have no key.
    """
    key, value, through = None, root, None
    for step in path:
        holder = target_of(value)
        if not isinstance(holder, Collection) or holder.is_mapping != isinstance(step, str):
            return None, None, None
        if isinstance(step, str):
            key, value = holder.entries.get(step, (None, None))
            through = holder.brought.get(step, through)
        else:
            exists = 0 <= step < len(holder.children)
            key, value = None, holder.children[step] if exists else None
    return key, value, through


def range_of(node: Node) -> Range:
    """Where a node is written."""
    return node.start, node.end


def target_of(node: Node | None) -> Node | None:
    """The node that an alias repeats; any other node itself."""
    return node.target if isinstance(node, Alias) else node


def value_of(node: Node | None) -> object:
    """The plain value of a node that was kept as a whole."""
    node = target_of(node)
    if isinstance(node, Collection):
        if node.is_mapping:
            return {name: value_of(value) for name, (_, value) in node.entries.items()}
        return [value_of(each) for each in node.children]
    return node.value if isinstance(node, Scalar) else None


def name_of(key: Node | None) -> str:
    """The name of an entry, given the node of its key."""
    return key_text(value_of(key))


def key_text(key: object) -> str:
    """The text of a key. What is not a string is written as JSON, null as `~`.

    The text of a collection is cut: a key in a key in a key doubles its quotes at every level, and
    would grow without bound.
    """
    if isinstance(key, str):
        return key
    if key is None:
        return "~"
    text = json.dumps(key, ensure_ascii=False)
    is_long = isinstance(key, dict | list) and len(text) > _LONGEST_KEY
    return f"{text[:_LONGEST_KEY]}…" if is_long else text
