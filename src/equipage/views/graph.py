"""Which file brings which: the graph of one or many loads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from equipage.core.source import Source
from equipage.loading.outcome import Outcome
from equipage.loading.tree import Origin, Origins, Via

#: What an edge says when nothing is known but that the file was read.
READ = "reads"


class Node(msgspec.Struct, frozen=True):
    """A file. `kind` is None for one that was only brought by others."""

    name: str
    kind: str | None = None
    ok: bool = True


class Edge(msgspec.Struct, frozen=True):
    """`source` brings `target`, `count` times, by the directive `how`."""

    source: str
    target: str
    how: str
    count: int = 1


class Graph(msgspec.Struct, frozen=True):
    """Files and what brings what, in a fixed order."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def graph_of(outcomes: Iterable[Outcome]) -> Graph:
    """The graph of all files that the loads read, broken ones included."""
    nodes: dict[str, Node] = {}
    edges: dict[tuple[str, str, str], set[object]] = {}
    for outcome in outcomes:
        root = outcome.sources[0].name if outcome.sources else None
        for source in outcome.sources:
            nodes.setdefault(source.name, Node(source.name, None, source.name not in _bad(outcome)))
        if root is None:
            continue
        nodes[root] = Node(root, outcome.kind.name, outcome.ok)
        for start, end, how, at in _brought(outcome):
            edges.setdefault((start, end, how), set()).add(at)
        reached = {end for _, end, _ in edges}
        for source in outcome.sources[1:]:
            if source.name not in reached:
                edges.setdefault((root, source.name, READ), set()).add(root)
    known = {name for edge in edges for name in edge[:2]} - set(nodes)
    listed = sorted([*nodes.values(), *(Node(name) for name in known)], key=lambda node: node.name)
    drawn = (Edge(start, end, how, len(places)) for (start, end, how), places in edges.items())
    return Graph(
        tuple(listed), tuple(sorted(drawn, key=lambda edge: (edge.source, edge.target, edge.how)))
    )


def _bad(outcome: Outcome) -> set[str | None]:
    return {each.name for each in outcome.errors}


def _brought(outcome: Outcome) -> Iterator[tuple[str, str, str, object]]:
    """Each step of each way that a value came: from which file to which, by what, and where that is written."""
    if outcome.tree is None:
        return
    start = outcome.tree.origins
    assert start.here is not None
    seen: set[tuple[int, tuple[int, ...], int]] = set()
    stack: list[tuple[Origins, tuple[Via, ...], Origin]] = [(start, (), start.here)]
    while stack:
        node, above, origin = stack.pop()
        via = above[: len(above) - node.skip] + node.via
        here = node.here or origin
        key = (
            id(node),
            tuple(id(each.at.document) for each in via if each.at is not None),
            id(here.document),
        )
        if key in seen:
            continue  # a shared part, reached on a way that was already walked
        seen.add(key)
        yield from _steps(via, here)
        stack.extend((child, via, here) for child in node.below.values())


def _steps(via: tuple[Via, ...], last: Origin) -> Iterator[tuple[str, str, str, object]]:
    ways = [(each.at, each.how) for each in via if each.at is not None]
    if not ways:
        return
    sources: list[Source] = [*(at.document.source for at, _ in ways[1:]), last.document.source]
    for (at, how), target in zip(ways, sources, strict=True):
        if at.document.source.name != target.name:
            yield at.document.source.name, target.name, how, (id(at.document), at.path)
