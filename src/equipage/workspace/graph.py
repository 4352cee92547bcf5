"""The named items of a workspace with their layers, and what uses what.

Files are nodes, and so are the MCP servers that a file lists and the tools that an agent names. An
edge says how one leads to the other: by a directive, by a name, or because a file defines it. What
is named and not there is a node, too, marked as missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from equipage.clients.catalogue import Convention, Field, convention_of
from equipage.clients.file_grants import program_of
from equipage.clients.index import KINDS
from equipage.clients.reading import reading_of
from equipage.clients.references import is_pattern, references_in
from equipage.directives.codes import FILE_NOT_FOUND, INCLUDE_NOT_FOUND
from equipage.files.walking import walk_files
from equipage.loading.format import Format, Item
from equipage.loading.pipeline import Outcome
from equipage.loading.result import Loaded, Paths
from equipage.loading.session import Request
from equipage.loading.tree import Origin, Origins, Via
from equipage.project.registry import agent_folders, built_in_kinds, format_named
from equipage.workspace import Workspace
from equipage.workspace.load import FileLoad

#: The label of an edge where only the fact is known that the file was read.
READ = "reads"
#: Findings about a file that is not there; their span is the path that was written.
_MISSING = frozenset({FILE_NOT_FOUND, INCLUDE_NOT_FOUND})
#: The kinds that are one thing to be called by name, and what it is.
SORTS = {"profile": "agent"} | {kind: each.sort for kind, each in KINDS.items() if each.sort}

#: Findings that say that no program reads a file, although it is listed.
_OVERLOOKED = frozenset({"toolpack-overlooked", "extension-not-read"})


class Node(msgspec.Struct, frozen=True):
    """A file, or something with a name. `kind` is None for a file that others include."""

    name: str  #: unlike that of any other node
    kind: str | None = None
    ok: bool = True
    sort: str = "file"  #: file, agent, skill, command, server or tool
    label: str = ""  #: what people call it, if that is not the name
    missing: bool = False  #: whether nothing defines it


class Edge(msgspec.Struct, frozen=True):
    """`source` leads to `target`, `count` times, in the way `how`."""

    source: str
    target: str
    how: str
    count: int = 1


class Graph(msgspec.Struct, frozen=True):
    """Nodes and edges, in a fixed order."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def graph_of(outcomes: Sequence[Outcome]) -> Graph:
    """The graph of all files that the loads read, and of what they name; broken ones included."""
    drawing = _GraphBuilder()
    for outcome in outcomes:
        drawing.add_files(outcome)
    drawing.add_items(outcomes)
    for outcome in outcomes:
        drawing.add_references(outcome)
    return drawing.graph()


class _GraphBuilder:
    """Collects nodes and edges."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.edges: dict[tuple[str, str, str], set[object]] = {}  # with the places that make each
        self.defined: dict[tuple[str, str], str] = {}  #: the node of a sort and a name

    def graph(self) -> Graph:
        for start, end, _ in self.edges:
            self.nodes.setdefault(start, Node(start))
            self.nodes.setdefault(end, Node(end))
        return Graph(
            tuple(self.nodes[name] for name in sorted(self.nodes)),
            tuple(Edge(*edge, len(self.edges[edge])) for edge in sorted(self.edges)),
        )

    def connect(self, start: str, end: str, how: str, at: object = None) -> None:
        self.edges.setdefault((start, end, how), set()).add(at)

    def add_files(self, outcome: Outcome) -> None:
        """Add the files of a load, and those it did not find."""
        if not outcome.sources:
            return
        root, *others = (source.name for source in outcome.sources)
        bad = {each.name for each in outcome.errors}
        for name in others:
            self.nodes.setdefault(name, Node(name, None, name not in bad))
        # Set, not `setdefault`: a file that was loaded has a kind, even if others include it.
        self.nodes[root] = Node(root, outcome.kind.name, outcome.ok)
        for start, end, how, at in _steps_between_files(outcome):
            self.connect(start, end, how, at)
        # A file may leave no value behind, if everything in it was overridden; it was still read.
        reached = {end for _, end, _ in self.edges}
        for name in others:
            if name not in reached:
                self.connect(root, name, READ, root)
        for each in outcome.errors:
            if each.code in _MISSING and each.span is not None:
                written = each.span.text().strip("\"' ")
                self.nodes.setdefault(written, Node(written, missing=True))
                how = "included from here" if each.code == INCLUDE_NOT_FOUND else "read from here"
                self.connect(each.span.source.name, written, how, each.span.start)

    def add_items(self, outcomes: Iterable[Outcome]) -> None:
        """Add what files define: an agent or skill is its file, each MCP server its own node."""
        for outcome in outcomes:
            offer = outcome.offer()
            if offer is None or not outcome.sources:
                continue
            file = outcome.sources[0].name
            sort = SORTS.get(outcome.kind.name)
            if sort is not None:
                # Of several names, the one in the file comes first.
                self.nodes[file] = msgspec.structs.replace(
                    self.nodes[file], sort=sort, label=offer.names[0]
                )
                for name in offer.names:
                    self.defined.setdefault((sort, name), file)
                continue
            for name in offer.names:
                node = f"{file}#{name}"
                self.nodes[node] = Node(node, sort="server", label=name)
                self.connect(file, node, "defines")
                self.defined.setdefault(("server", name), node)

    def add_references(self, outcome: Outcome) -> None:
        """Add edges to the tools, skills, servers and other agents that an agent names."""
        convention = convention_of(outcome.kind.name)
        if convention is None:
            return
        for field, each, span in references_in(convention, outcome):
            target = self._node_of(each.sort, each.name, convention)
            if target is not None:
                self.connect(span.source.name, target, _verb(field), span.start)

    def _node_of(self, sort: str, name: str, convention: Convention) -> str | None:
        """The node of something that is named; None for a pattern, which may match many."""
        if sort != "tool" and is_pattern(name):
            return None
        short = name.rpartition(":")[2]  # plugins put their own name before it
        found = self.defined.get((sort, name)) or self.defined.get((sort, short))
        if found is not None:
            return found
        node = f"{sort}:{name}"
        known = convention.tools if sort == "tool" else None
        # Names come from elsewhere if no file defines any of the sort.
        looked_up = any(each == sort for each, _ in self.defined)
        built_in = name in convention.built_in.get(sort, frozenset())  # type: ignore[call-overload]
        missing = (known is not None and name not in known and not is_pattern(name)) or (
            sort != "tool" and looked_up and not built_in
        )
        self.nodes.setdefault(node, Node(node, sort=sort, label=name, missing=missing))
        return node


def _verb(field: Field) -> str:
    return "forbids" if field.name.lower().startswith(("disallow", "deny", "exclude")) else "uses"


class DirectiveStep(msgspec.Struct, frozen=True):
    """A directive, and the value that it leads to."""

    at: Origin
    how: str
    target: Origin


def _steps_between_files(outcome: Outcome) -> Iterator[tuple[str, str, str, object]]:
    """Each step by which a value reached its place: from which file, to which, how, and where."""
    for each in steps_of(outcome):
        start, end = each.at.document.source.name, each.target.document.source.name
        if start != end:
            yield start, end, each.how, (id(each.at.document), each.at.path)


def steps_of(outcome: Outcome) -> Iterator[DirectiveStep]:
    """Each step by which a value of a load reached its place."""
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
        yield from _steps_through(via, here)
        stack.extend((child, via, here) for child in node.below.values())


def _steps_through(via: tuple[Via, ...], last: Origin) -> Iterator[DirectiveStep]:
    ways = [(each.at, each.how) for each in via if each.at is not None]
    # Each directive leads to the file of the next one, and the last to the value itself.
    targets = [*(at for at, _ in ways[1:]), last]
    for (at, how), target in zip(ways, targets, strict=False):
        yield DirectiveStep(at, how, target)


class Listed(msgspec.Struct, frozen=True):
    """One row of the list.

    A file that could not be loaded is a row without an item and with the number of its errors; a
    file that was not read has a warning instead.
    """

    file: str
    kind: str | None
    item: Item | None = None
    layer: str | None = None
    line: int | None = None
    program: str | None = None  #: what reads the file
    shadowed_by: str | None = None  #: the file whose item of the same name is used instead
    errors: int = 0
    warnings: int = 0
    unknown: str = ""  #: why it is not known what the program makes of the file


def list_all(workspace: Workspace) -> list[Listed]:
    """The items of the files and of the user's own files, sorted by file and place.

    For a folder inside a project, the items of the project's layer are listed, too.
    """
    found = (*workspace.loads(), *_loads_of_other_layers(workspace))
    return rows_of(found, workspace.request)


def rows_of(found: Iterable[FileLoad], request: Request) -> list[Listed]:
    """The items of files that were loaded, sorted by file and place."""
    heights: dict[Listed, int] = {}
    for each in found:
        layers = each.outcome.kind.layering.layers if each.outcome is not None else ()
        for row in _rows_of_load(each, request):
            # Equal rows are one: a file may be reached through several paths.
            heights[row] = layers.index(row.layer) if row.layer in layers else -1
    return sorted(_mark_shadowed(heights), key=lambda row: row.file)


def _loads_of_other_layers(workspace: Workspace) -> Iterator[FileLoad]:
    """The files of layers outside the paths: the user's own, and the project's."""
    request, system = workspace.request, workspace.system
    folders = [system.real(path) for path in workspace.paths if system.is_folder(path)]
    below = tuple(os.path.join(folder, "") for folder in folders)
    for name in built_in_kinds() if workspace.kind is None else (workspace.kind,):
        chosen = format_named(name)
        above, elsewhere = chosen.layering.above, chosen.layering.elsewhere
        places = dict.fromkeys(
            place
            for folder in folders
            for place in (above(folder, system) if above is not None else ())
            # The paths themselves cover what is below them.
            if not f"{place.folder}{os.sep}".startswith(below)
        )
        if elsewhere is not None and not request.options.get("local"):
            places |= dict.fromkeys(elsewhere(request.env, system))
        for place in places:
            walked = walk_files(place.folder, agent_folders(), system)
            files = [path for path in walked if _layer_of(chosen, path, request) == place.layer]
            yield from Workspace(files, request, kind=name).loads()


def _layer_of(kind: Format, path: str, request: Request) -> str | None:
    return kind.layering.layer_of(request.system.absolute(path), request.env)


def _rows_of_load(found: FileLoad, request: Request) -> Iterator[Listed]:
    name = request.system.name_of(found.path)
    outcome = found.outcome
    if outcome is None:
        # A file that was only left alone is not an error of the project.
        refused = found.problem is None or found.problem.severity == "error"
        yield Listed(name, None, errors=int(refused), warnings=int(not refused))
        return
    layer = _layer_of(outcome.kind, found.path, request)
    kind, errors, reading = outcome.kind, len(outcome.errors), reading_of(outcome)
    if reading.is_dropped or not isinstance(reading.value, dict):
        yield Listed(name, kind.name, layer=layer, errors=errors, unknown=reading.unknown)
        return
    shown = kind.presentation
    if shown.ignored is not None and shown.ignored(outcome):
        return
    items = list(shown.listing(reading.value, name))
    paths = Paths(Loaded(outcome))
    # All at once: each document is searched a single time.
    places = paths.places(paths.steps(item.path) for item in items)
    for item in items:
        span = places[paths.steps(item.path)].span
        line = span.line if span is not None and span.source.name == name else None
        is_overlooked = any(each.code in _OVERLOOKED for each in outcome.diagnostics)
        program = None if is_overlooked else program_of(kind.name)
        row = Listed(name, kind.name, item, layer, line, program, unknown=reading.unknown)
        warnings = len(outcome.diagnostics) - errors
        yield msgspec.structs.replace(row, errors=errors, warnings=warnings)


def _mark_shadowed(heights: Mapping[Listed, int]) -> Iterator[Listed]:
    """The rows; one that shares sort and name with a row of a higher layer names its file."""

    def key(row: Listed) -> tuple[object, ...]:
        return (row.kind, row.item.sort, row.item.name) if row.item is not None else (row,)

    # The highest row of each name; the first one of equal height, as the walk met it.
    best: dict[tuple[object, ...], Listed] = {}
    for row, height in heights.items():
        if height > heights[best.setdefault(key(row), row)]:
            best[key(row)] = row
    for row, height in heights.items():
        winner = best[key(row)]
        # Nothing shadows what is in no layer.
        if 0 <= height < heights[winner]:
            row = msgspec.structs.replace(row, shadowed_by=winner.file)
        yield row
