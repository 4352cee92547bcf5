"""Which file includes which: the graph of one or many loads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from equipage.loading.outcome import Outcome
from equipage.loading.tree import Origin, Origins, Via

#: The label of an edge where only the fact is known that the file was read.
READ = "reads"


class Node(msgspec.Struct, frozen=True):
    """A file. `kind` is None if it was only included by others."""

    name: str
    kind: str | None = None
    ok: bool = True


class Edge(msgspec.Struct, frozen=True):
    """`source` includes `target`, `count` times, by the directive `how`."""

    source: str
    target: str
    how: str
    count: int = 1


class Graph(msgspec.Struct, frozen=True):
    """Files and their edges, in a fixed order."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def graph_of(outcomes: Iterable[Outcome]) -> Graph:
    """The graph of all files that the loads read, broken ones included."""
    nodes: dict[str, Node] = {}
    edges: dict[tuple[str, str, str], set[object]] = {}  # each with the places that make it
    for outcome in outcomes:
        if not outcome.sources:
            continue
        root, *others = (source.name for source in outcome.sources)
        bad = {each.name for each in outcome.errors}
        for name in others:
            nodes.setdefault(name, Node(name, None, name not in bad))
        # Set, not `setdefault`: a file that was loaded has a kind, even if others include it.
        nodes[root] = Node(root, outcome.kind.name, outcome.ok)
        for start, end, how, at in _includes(outcome):
            edges.setdefault((start, end, how), set()).add(at)
        # A file may leave no value behind, if everything in it was overridden; it was still read.
        reached = {end for _, end, _ in edges}
        for name in others:
            if name not in reached:
                edges.setdefault((root, name, READ), set()).add(root)
    for start, end, _ in edges:
        nodes.setdefault(start, Node(start))
        nodes.setdefault(end, Node(end))
    return Graph(
        tuple(nodes[name] for name in sorted(nodes)),
        tuple(Edge(*edge, len(edges[edge])) for edge in sorted(edges)),
    )


def _includes(outcome: Outcome) -> Iterator[tuple[str, str, str, object]]:
    """Each step by which a value reached its place: from which file, to which, how, and where."""
    if outcome.tree is None:
        return
    start = outcome.tree.origins
    assert start.here is not None
    # Depth first, without recursion: a configuration may be nested deeply.
    seen: set[tuple[int, tuple[int, ...], int]] = set()
    stack: list[tuple[Origins, tuple[Via, ...], Origin]] = [(start, (), start.here)]
    while stack:
        node, above, origin = stack.pop()
        via = above[: len(above) - node.skip] + node.via
        here = node.here or origin
        documents = tuple(id(each.at.document) for each in via if each.at is not None)
        key = (id(node), documents, id(here.document))
        if key in seen:
            continue  # a shared part, reached through the same files again
        seen.add(key)
        yield from _steps(via, here)
        stack.extend((child, via, here) for child in node.below.values())


def _steps(via: tuple[Via, ...], last: Origin) -> Iterator[tuple[str, str, str, object]]:
    ways = [(each.at, each.how) for each in via if each.at is not None]
    # Each directive leads to the file of the next one, and the last to the value itself.
    targets = [*(at.document.source for at, _ in ways[1:]), last.document.source]
    for (at, how), target in zip(ways, targets, strict=False):
        if at.document.source.name != target.name:
            yield at.document.source.name, target.name, how, (id(at.document), at.path)
