"""Values that remember where their parts came from.

A `Tree` is a plain value with a sparse, persistent trie of origins beside it: it has an entry only
where something was composed. All else inherits from the nearest entry above, so a file that
includes nothing has exactly one. Nothing here changes its arguments; results share what did not
change.

Nothing here can contain itself, so the garbage collector need not look at it (`gc=False`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec

from equipage.core.path import HOLE, ROOT, Path, get
from equipage.core.source import Source
from equipage.syntax.document import Document, EntrySpans

#: How a path became absolute; comparisons of configurations look at what the author wrote.
MADE_ABSOLUTE = "made absolute"
#: From this depth on, a merge replaces instead of descending.
MAX_MERGE_DEPTH = 64

#: `remove` means that null in the upper value removes the lower one.
Strategy = Literal["merge", "replace", "append", "remove"]
#: Which strategy applies at a path, given both values: also to replace a mapping, append a list.
Choice = Callable[[Path, Any, Any], "Strategy | EntryKey"]


class EntryKey(Protocol):
    """Merge two lists entry by entry, by the value of a key."""

    @property
    def key(self) -> str: ...


class Origin(msgspec.Struct, frozen=True, gc=False):
    """A part of a document."""

    document: Document
    path: Path = ROOT

    def child(self, steps: Path) -> Origin:
        return Origin(self.document, self.path + steps) if steps else self


def locate_all(origins: Iterable[Origin]) -> dict[tuple[int, Path], EntrySpans]:
    """Where parts of documents are written, by the `id` of the document and the path in it.

    Each document is searched once: finding a place takes as long as parsing.
    """
    wanted: dict[int, tuple[Document, dict[Path, None]]] = {}
    for origin in origins:
        wanted.setdefault(id(origin.document), (origin.document, {}))[1][origin.path] = None
    return {
        (number, path): located
        for number, (document, paths) in wanted.items()
        for path, located in document.locate(paths).items()
    }


class Via(msgspec.Struct, frozen=True, gc=False):
    """What brought a value to its place: a directive, a layer, a normalisation."""

    how: str
    at: Origin | None = None  #: where that is written


class Provenance(msgspec.Struct, frozen=True, gc=False):
    """All that is known about the origin of one value."""

    origin: Origin  #: where it was written
    via: tuple[Via, ...] = ()  #: through what it came, outermost first
    replaced: tuple[Origin, ...] = ()
    merged: tuple[Origin, ...] = ()  #: what was laid over it


class Origins(msgspec.Struct, eq=False, gc=False):
    """A node of the trie.

    An override is written in the file that includes, not in the included one: `skip` says how many
    of the `via` above do not count from this node on.
    """

    here: Origin | None = None  #: None means: as the node above says
    via: tuple[Via, ...] = ()  #: what brought the value here, outermost first
    below: Mapping[str | int, Origins] = {}
    replaced: tuple[Origin, ...] = ()
    merged: tuple[Origin, ...] = ()
    skip: int = 0

    def replace(self, **changes: Any) -> Origins:
        return msgspec.structs.replace(self, **changes)

    def provenance(self, path: Path) -> Provenance:
        """The provenance of the value at `path`. This node must know its own origin."""
        assert self.here is not None
        if not path:
            return Provenance(self.here, self.via, self.replaced, self.merged)
        # Down the trie as far as it goes: an entry that says nothing means that the value came with
        # the one above it, at the same steps below that origin.
        node: Origins | None = self
        origin, depth, via = self.here, 0, self.via
        for number, step in enumerate(path, 1):
            node = node.below.get(step) if node is not None else None
            if node is None:
                break
            if node.here is not None:
                origin, depth = node.here, number
            via = via[: max(0, len(via) - node.skip)] + node.via
        replaced, merged = (node.replaced, node.merged) if node is not None else ((), ())
        return Provenance(origin.child(path[depth:]), via, replaced, merged)

    def node(self, path: Path) -> Origins | None:
        """The entry for `path` itself, if there is one."""
        node: Origins | None = self
        for step in path:
            node = node.below.get(step) if node is not None else None
        return node

    def origin(self, path: Path) -> Origin:
        """Where the value at `path` was written."""
        return self.provenance(path).origin

    def child(self, step: str | int) -> Origins:
        """The trie of the value one step down, without what brought the values above it."""
        assert self.here is not None
        node = self.below.get(step)
        if node is None:
            return Origins(self.here.child((step,)))
        return node if node.here is not None else node.replace(here=self.here.child((step,)))

    def subtrie(self, path: Path) -> Origins:
        """As `child`, for any number of steps."""
        node = self
        for step in path:
            node = node.child(step)
        return node

    def put(self, path: Path, node: Origins) -> Origins:
        """This trie with `node` at `path`; what was known below is dropped."""
        if not path:
            return node
        inner = self.below.get(path[0], Origins()).put(path[1:], node)
        return self.replace(below={**self.below, path[0]: inner})

    def inherit_via(self, above: Origins) -> Origins:
        """This node in the place of `above`, with the `via` of both."""
        if not above.via and not above.skip:
            return self
        left = len(above.via) - self.skip
        # What `above` does not have is skipped further up.
        skip = above.skip + max(0, -left)
        return self.replace(via=above.via[: max(0, left)] + self.via, skip=skip)

    def places_by_source(self, *, every: bool = False) -> dict[Source, dict[Path, Path]]:
        """For each source and path in it, the path in the whole value where that came to first.

        Only what a directive brought has an entry, and with `every` what was merged; what lies
        below came with it.
        """
        found: dict[Source, dict[Path, Path]] = {}
        stack: list[tuple[Path, Origins, bool]] = [(ROOT, self, every)]
        while stack:
            path, node, is_brought = stack.pop()
            directives = [via.at for via in node.via if via.at is not None]
            is_brought = is_brought or bool(directives)
            origins = [node.here] if node.here is not None and is_brought else []
            for each in (*origins, *directives, *(node.merged if every else ())):
                # What a directive brought is at the place of the mapping around its key.
                is_key = bool(each.path) and str(each.path[-1]).startswith("$")
                place = each.path[:-1] if is_key else each.path
                found.setdefault(each.document.source, {}).setdefault(place, path)
            below = list(node.below.items())
            stack += [((*path, step), child, is_brought) for step, child in reversed(below)]
        return found

    def paths_brought_by(self, how: str) -> Iterator[Path]:
        """The paths of the values that came to their place in this way."""
        stack: list[tuple[Path, Origins]] = [(ROOT, self)]
        while stack:
            path, node = stack.pop()
            if any(via.how == how for via in node.via):
                yield path
            stack.extend(((*path, step), child) for step, child in node.below.items())


class Tree(msgspec.Struct, frozen=True, gc=False):
    """A value, where its parts came from, and how parts were moved since the author wrote them."""

    value: Any
    origins: Origins
    moves: tuple[tuple[Path, Path], ...] = ()

    @classmethod
    def from_document(cls, document: Document) -> Tree:
        return cls(document.value, Origins(Origin(document)))

    def provenance(self, path: Path) -> Provenance:
        return self.origins.provenance(path)

    @property
    def document(self) -> Document:
        """The document that the whole value was written in."""
        assert self.origins.here is not None
        return self.origins.here.document

    @property
    def is_part(self) -> bool:
        """Whether the author wrote a part alone, around which the whole was made."""
        return any(not start for start, _ in self.moves)

    def path_as_written(self, path: Path) -> Path:
        """The path as the author would write it: moves undone, the last one first."""
        for start, end in reversed(self.moves):
            if path[: len(end)] == end:
                path = start + path[len(end) :]
        return path

    def subtree(self, path: Path) -> Tree:
        """The part at `path` as a tree of its own."""
        return Tree(get(self.value, path), self.origins.subtrie(path))

    def child(self, step: str | int) -> Tree:
        """As `subtree`, for one step down that is there."""
        return Tree(self.value[step], self.origins.child(step))


def graft(tree: Tree, parts: Mapping[Path, Tree]) -> Tree:
    """The tree with whole parts replaced, or added to a mapping.

    Missing mappings on the way are made. Containers on the way are copied once, however many parts
    there are.
    """
    if not parts:
        return tree
    # The whole tree is replaced; the moves stay, because the paths that people write did not
    # change.
    if ROOT in parts:
        part = parts[ROOT]
        return Tree(part.value, part.origins, tree.moves)
    # By the first step, so that each container on the way is copied once for all parts in it.
    groups: dict[str | int, dict[Path, Tree]] = {}
    for path, part in parts.items():
        groups.setdefault(path[0], {})[path[1:]] = part
    value: Any = list(tree.value) if isinstance(tree.value, list) else dict(tree.value)
    below = dict(tree.origins.below)
    for step, group in groups.items():
        child = group.get(ROOT)
        if child is None:
            known = below.get(step, Origins())
            inner = value.get(step, {}) if isinstance(value, dict) else value[step]
            child = graft(Tree(inner, known), group)
        value[step], below[step] = child.value, child.origins
    return Tree(value, tree.origins.replace(below=below), tree.moves)


def punch_holes(tree: Tree, paths: Iterable[Path]) -> Tree:
    """The tree with a hole at each of `paths`, which keeps its origin."""
    return graft(tree, {path: Tree(HOLE, tree.subtree(path).origins) for path in paths})


def attach(tree: Tree, path: Path, part: Tree) -> Tree:
    """The tree with a part of another origin at `path`; missing mappings on the way are made."""
    return graft(tree, {path: part})


def put(
    tree: Tree, path: Path, value: Any, *, origin: Path | None = None, how: str = "normalised"
) -> Tree:
    """The tree with `value` at `path`, written where `origin` is, by default where `path` is."""
    written = tree.provenance(path if origin is None else origin).origin
    return attach(tree, path, Tree(value, Origins(written, (Via(how),) if how else ())))


def put_all(tree: Tree, values: Mapping[Path, Any], *, how: str = "normalised") -> Tree:
    """As `put`, for many values that are there; containers on the way are copied once."""
    via = (Via(how),) if how else ()
    origins = {path: Origins(tree.provenance(path).origin, via) for path in values}
    return graft(tree, {path: Tree(value, origins[path]) for path, value in values.items()})


def remove(tree: Tree, path: Path) -> Tree:
    """The tree without the mapping entry at `path`."""
    return remove_all(tree, (path,))


def remove_all(tree: Tree, paths: Iterable[Path]) -> Tree:
    """The tree without the mapping entries at `paths`. Containers on the way are copied once."""
    groups: dict[str | int, list[Path]] = {}
    for path in paths:
        groups.setdefault(path[0], []).append(path[1:])
    if not groups:
        return tree
    value: Any = list(tree.value) if isinstance(tree.value, list) else dict(tree.value)
    below = dict(tree.origins.below)
    for step, rest in groups.items():
        if ROOT in rest:
            value.pop(step, None)
            below.pop(step, None)
            continue
        child = remove_all(Tree(value[step], below.get(step, Origins())), rest)
        value[step] = child.value
        if step in below:
            below[step] = child.origins
    return Tree(value, tree.origins.replace(below=below), tree.moves)


def move(tree: Tree, start: Path, end: Path) -> Tree:
    """The tree with the mapping entry at `start` moved to `end`; its origins move with it."""
    moved = attach(remove(tree, start), end, tree.subtree(start))
    return Tree(moved.value, moved.origins, (*tree.moves, (start, end)))


def select_entries(tree: Tree, path: Path, numbers: Sequence[int]) -> Tree:
    """The tree with only those entries of the list at `path`; each keeps its origin."""
    part, node = tree.subtree(path), tree.origins.node(path) or Origins()
    below = {new: part.origins.subtrie((old,)) for new, old in enumerate(numbers)}
    entries = [part.value[number] for number in numbers]
    return attach(tree, path, Tree(entries, node.replace(below=below)))


def always_merge(_path: Path, _base: Any, _over: Any) -> Strategy:
    """The default strategy: mappings merge, anything else replaces."""
    return "merge"


def merge(base: Tree, over: Tree, strategy: Choice = always_merge) -> Tree:
    """`over` laid on `base`: mappings merge key by key, any other pair is replaced by `over`.

    A merged mapping keeps the place of its base, with `over` as a related place. `strategy` may
    decide otherwise for a path. Keys of the base come first; new ones follow in order.
    """
    return _merge(base, over, strategy, ROOT, 0)


def _merge(base: Tree, over: Tree, strategy: Choice, path: Path, above: int) -> Tree:
    """`above` counts the `via` of the nodes above, which do not apply to parts of `over`."""
    how = strategy(path, base.value, over.value)
    inner = above - base.origins.skip + len(base.origins.via)
    if not isinstance(how, str):
        if isinstance(base.value, list) and isinstance(over.value, list):
            return _merge_entries(base, over, strategy, path, inner, how.key)
        if base.value is HOLE and isinstance(over.value, list):
            return base  # any entry may be a part of one that is not known
        how = "merge"
    if how == "append" and isinstance(base.value, list) and isinstance(over.value, list):
        return _append(base, over, inner)
    if how == "merge" and base.value is HOLE and isinstance(over.value, dict):
        return base  # what else the mapping holds is not known, so nothing is missing in it
    both_maps = isinstance(base.value, dict) and isinstance(over.value, dict)
    if how == "replace" or not both_maps or len(path) >= MAX_MERGE_DEPTH:
        # Replaced as a whole: the base is remembered as a place that lost, for `explain`.
        known = over.origins
        replaced = (*base.origins.replaced, base.origins.origin(ROOT), *known.replaced)
        origins = known.replace(replaced=replaced, skip=above + known.skip)
        return Tree(over.value, origins, base.moves)
    value = dict(base.value)
    below = dict(base.origins.below)
    for key in over.value:
        child = child_with_via(over, key)
        if child.value is None and strategy((*path, key), value.get(key), None) == "remove":
            value.pop(key, None)
            below.pop(key, None)
            continue
        if key in value:
            child = _merge(base.child(key), child, strategy, (*path, key), inner)
        else:
            child = Tree(child.value, child.origins.replace(skip=inner + child.origins.skip))
        value[key], below[key] = child.value, child.origins
    # The mapping keeps the place of its base; that of `over` becomes a related one.
    merged = (*base.origins.merged, over.origins.origin(ROOT), *over.origins.merged)
    return Tree(value, base.origins.replace(below=below, merged=merged), base.moves)


def child_with_via(tree: Tree, step: str | int) -> Tree:
    """A child as a tree of its own, with the `via` of its parent."""
    return Tree(tree.value[step], tree.origins.child(step).inherit_via(tree.origins))


def _merge_entries(
    base: Tree, over: Tree, strategy: Choice, path: Path, inner: int, key: str
) -> Tree:
    """Two lists as one: an entry is merged over the first with the same key, or comes behind."""
    value, below = list(base.value), dict(base.origins.below)
    # What could not be had may be the entry that another one changes.
    is_whole = not any(each is HOLE or get(each, (key,)) is HOLE for each in value)
    numbers: dict[Any, int] = {}
    for number, each in enumerate(value):
        if isinstance(each, dict) and isinstance(each.get(key), str | int):
            numbers.setdefault(each[key], number)
    for number, each in enumerate(over.value):
        brought = child_with_via(over, number)
        name = each.get(key) if isinstance(each, dict) else None
        at = numbers.get(name) if isinstance(name, str | int) else None
        if at is None:
            at = len(value)
            value.append(None)
            child = Tree(
                brought.value if is_whole else HOLE,
                brought.origins.replace(skip=inner + brought.origins.skip),
            )
        else:
            child = _merge(base.child(at), brought, strategy, (*path, at), inner)
        value[at], below[at] = child.value, child.origins
    merged = (*base.origins.merged, over.origins.origin(ROOT), *over.origins.merged)
    return Tree(value, base.origins.replace(below=below, merged=merged), base.moves)


def _append(base: Tree, over: Tree, inner: int) -> Tree:
    count = len(base.value)
    below = dict(base.origins.below)
    for number in range(len(over.value)):
        brought = child_with_via(over, number).origins
        below[count + number] = brought.replace(skip=inner + brought.skip)
    return Tree([*base.value, *over.value], base.origins.replace(below=below), base.moves)
