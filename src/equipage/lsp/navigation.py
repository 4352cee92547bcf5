"""From a name or a path to what it names, and back: definitions, references, links.

Two sorts of things lead elsewhere. A directive names a file: its target is where the load found the
value. A name in a file of an agent tool names an agent, a skill, an MCP server or a tool: its
target is the file that offers the name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from equipage.clients.catalogue import Convention
from equipage.clients.references import references_in
from equipage.clients.tables.conventions import CONVENTIONS
from equipage.core.path import ROOT, Path, get, walk
from equipage.core.source import Span
from equipage.loading.outcome import Outcome
from equipage.lsp import protocol
from equipage.lsp.context import Context, context_of
from equipage.lsp.inside import inner_names, spans_of
from equipage.lsp.positions import Position, Range, span_range, uri_of
from equipage.lsp.state import Opened, Workspace
from equipage.syntax.document import Document
from equipage.workspace.graph import SORTS, steps_of

_FILE_START = Range(Position(0, 0), Position(0, 0))


class Symbol(msgspec.Struct, frozen=True):
    """A name of something, or the thing itself, where a text has it."""

    sort: str  #: agent, skill, server, tool, command, or file
    name: str
    span: Span | None = None
    is_definition: bool = False
    path: str | None = None  #: of a file: where it is
    inner: Path = ROOT  #: of a file: what of it
    #: of a name inside one configuration: the file of the configuration
    home: str | None = None


def target_at(workspace: Workspace, opened: Opened, context: Context, offset: int) -> Symbol | None:
    """Return what the text at an offset names or defines."""
    if not context.is_current(opened):
        return None
    outcome = context.outcome
    for each in (*symbols_in(context), *_definitions(outcome), *_locate_inner_names(outcome)):
        span = each.span
        if span is not None and span.source.filename == opened.real and _contains(span, offset):
            return each
    return None


def _contains(span: Span, offset: int) -> bool:
    return span.start <= offset <= span.end


def symbols_in(context: Context) -> Iterator[Symbol]:
    """Everything that the load of a text names, wherever it is written."""
    yield from named_files(context.outcome)
    yield from _named_symbols(context.outcome)


def named_files(outcome: Outcome) -> Iterator[Symbol]:
    """The files that directives name, each with the place of its name."""
    for step in steps_of(outcome):
        at, target = step.at, step.target
        located = at.document.locate([at.path]).get(at.path)
        if located is None or target.document.source.filename is None:
            continue
        path = target.document.source.filename
        if path == at.document.source.filename:
            continue
        yield Symbol("file", os.path.basename(path), located.value, path=path, inner=target.path)


def _named_symbols(outcome: Outcome) -> Iterator[Symbol]:
    """The agents, skills, servers and tools that a file of an agent tool names."""
    convention = convention_of(outcome)
    for _, each, word in () if convention is None else references_in(convention, outcome):
        # Of `Agent(reviewer)` only `reviewer` is the name; one that is escaped has no place.
        inside = word.text().find(each.name)
        if inside >= 0:
            start = word.start + inside
            yield Symbol(each.sort, each.name, Span(word.source, start, start + len(each.name)))


def _locate_inner_names(outcome: Outcome) -> Iterator[Symbol]:
    """Yield the names that a configuration defines and uses itself, such as tools of a server."""
    names = inner_names(outcome)
    if not names or outcome.tree is None:
        return
    home = outcome.sources[0].filename
    for each, span in zip(names, spans_of(names, outcome.tree), strict=True):
        path = None if span is None else span.source.filename
        yield Symbol(each.sort, each.name, span, each.is_definition, path, home=home)


def convention_of(outcome: Outcome) -> Convention | None:
    return next((each for each in CONVENTIONS if each.kind == outcome.kind.name), None)


def _first_document(outcome: Outcome) -> Document | None:
    return outcome.documents[0] if outcome.documents else None


def _definitions(outcome: Outcome) -> Iterator[Symbol]:
    """What a file offers under a name, with the place of the name; none if it is not a text."""
    # What a file offers to others is what it defines; the kind says which names these are.
    offer, document = outcome.offer(), _first_document(outcome)
    if offer is None or document is None:
        return
    sort = SORTS.get(outcome.kind.name)
    if sort is not None:
        located = document.locate([("name",)]).get(("name",))
        written = get(document.value, ("name",))
        for name in dict.fromkeys(offer.names):
            # The name may be that of the file or folder.
            span = located.value if located is not None and written == name else None
            yield Symbol(sort, name, _span_inside_quotes(span), is_definition=True, path=offer.path)
        return
    paths = {
        path[-1]: path
        for path, value in walk(document.value)
        if path and isinstance(value, dict) and path[-1] in offer.names
    }
    places = document.locate(paths.values())
    for name in offer.names:
        located = places.get(paths.get(name, ("",)))
        key = None if located is None else located.key
        yield Symbol("server", name, _span_inside_quotes(key), is_definition=True, path=offer.path)


def _span_inside_quotes(span: Span | None) -> Span | None:
    if span is not None and span.text()[:1] in ("'", '"') and span.end - span.start > 1:
        return Span(span.source, span.start + 1, span.end - 1)
    return span


def definitions_of(workspace: Workspace, named: Symbol) -> list[Symbol]:
    """Return every definition of a name, in any file of the workspace."""
    if named.sort == "file":
        return [named]
    if named.home is not None:
        return [each for each in _occurrences_in_home(workspace, named) if each.is_definition]
    found: list[Symbol] = []
    short = named.name.rpartition(":")[2]  # plugins put their own name before it
    for checked in workspace.known():
        offer = checked.offer
        if offer is None or not {named.name, short}.intersection(offer.names):
            continue
        sort = SORTS.get(offer.kind, "server")
        if sort != named.sort:
            continue
        outcome = workspace.load(checked.path).outcome
        if outcome is not None:
            own = [each for each in _definitions(outcome) if each.name in (named.name, short)]
            found += own[:1]
    return found


def _occurrences_in_home(workspace: Workspace, named: Symbol) -> list[Symbol]:
    """Every place of a name in its configuration."""
    outcome = workspace.load(named.home or "").outcome
    found = [] if outcome is None else _locate_inner_names(outcome)
    return [each for each in found if (each.sort, each.name) == (named.sort, named.name)]


def references_to(workspace: Workspace, named: Symbol) -> Iterator[Symbol]:
    """Every place that names what `named` names; one inside a configuration may have no place."""
    if named.home is not None:
        yield from (
            each for each in _occurrences_in_home(workspace, named) if not each.is_definition
        )
        return
    for checked in list(workspace.known()):
        outcome = workspace.load(checked.path).outcome if checked.kind is not None else None
        if outcome is None:
            continue
        each_named = named_files(outcome) if named.sort == "file" else _named_symbols(outcome)
        for each in each_named:
            same = each.path == named.path if named.sort == "file" else each.name == named.name
            if each.sort == named.sort and same and each.span is not None:
                yield each


# What the protocol asks for.


def definitions_at(
    workspace: Workspace, opened: Opened, position: Position
) -> list[protocol.Location]:
    context = context_of(workspace, opened)
    if context is None:
        return []
    named = target_at(workspace, opened, context, opened.text.offset(position))
    if named is None:
        return []
    return [location_of(workspace, each) for each in definitions_of(workspace, named)]


def location_of(workspace: Workspace, named: Symbol) -> protocol.Location:
    """Where something is defined."""
    if named.sort == "file" and named.path is not None:
        return protocol.Location(workspace.uri(named.path), _range_in_file(workspace, named))
    if named.span is not None and named.span.source.filename is not None:
        place = span_range(named.span, workspace.encoding)
        return protocol.Location(workspace.uri(named.span.source.filename), place)
    return protocol.Location(workspace.uri(named.path or ""), _FILE_START)


def _range_in_file(workspace: Workspace, named: Symbol) -> Range:
    """The place of a part of a file that a reference leads to."""
    if not named.inner or named.path is None:
        return _FILE_START
    # A part of a file may be of no kind by itself: then a load that reads it knows the place.
    for path in (named.path, *workspace.users_of(named.path)):
        outcome = workspace.load(path).outcome
        for document in outcome.documents if outcome is not None else ():
            found = document.locate([named.inner]).get(named.inner)
            if document.source.filename == named.path and found is not None:
                return span_range(found.key or found.value, workspace.encoding)
    return _FILE_START


def references_at(
    workspace: Workspace, opened: Opened, position: Position, *, declared: bool
) -> list[protocol.Location]:
    """Every reference to the item at a position; without one, every reference to the file."""
    context = context_of(workspace, opened)
    named = None
    if context is not None:
        named = target_at(workspace, opened, context, opened.text.offset(position))
    if named is None:
        named = Symbol("file", os.path.basename(opened.path), path=opened.real)
    found = list(references_to(workspace, named))
    if declared and named.sort != "file":
        found += definitions_of(workspace, named)
    found = [each for each in found if each.span is not None or named.home is None]
    places = [location_of(workspace, each) for each in found if named.sort != "file"]
    if named.sort == "file":
        places = [
            protocol.Location(
                workspace.uri(each.span.source.filename), span_range(each.span, workspace.encoding)
            )
            for each in found
            if each.span is not None and each.span.source.filename is not None
        ]
    # A file that several loads read is found once through each of them.
    unique = {(each.uri, each.range): each for each in places}
    return list(unique.values())


def document_links(workspace: Workspace, opened: Opened) -> list[protocol.DocumentLink]:
    """The files that a text names."""
    context = context_of(workspace, opened)
    if context is None or not context.is_current(opened):
        return []
    found: dict[Range, protocol.DocumentLink] = {}
    for each in named_files(context.outcome):
        span = each.span
        if span is not None and span.source.filename == opened.real and each.path is not None:
            inside = _span_inside_quotes(span) or span
            place = opened.text.range(inside.start, inside.end)
            target = protocol.DocumentLink(place, workspace.uri(each.path), each.name)
            found.setdefault(place, target)
    return list(found.values())


def description_of(workspace: Workspace, named: Symbol) -> str | None:
    """What a name means, in the words of what defines it."""
    if named.is_definition or named.sort == "file" or named.home is not None:
        return None
    for each in definitions_of(workspace, named):
        outcome = workspace.load(each.path).outcome if each.path is not None else None
        value = None if outcome is None or outcome.tree is None else outcome.tree.value
        words = get(value, ("description",)) if each.sort != "server" else None
        lines = [f"**{named.name}**: {each.sort}"]
        lines += [words] if isinstance(words, str) else []
        lines += [f"[{os.path.basename(each.path)}]({uri_of(each.path)})"] if each.path else []
        return "\n\n".join(lines)
    return None


#: The most names that one answer holds.
_MAX_SYMBOLS = 500
#: An object, as the protocol numbers the kinds of symbols.
_OBJECT_SYMBOL = 19


def workspace_symbols(workspace: Workspace, query: str) -> list[protocol.WorkspaceSymbol]:
    """The agents, skills, servers and other items of the workspace that match a query."""
    wanted, found = query.casefold(), list[protocol.WorkspaceSymbol]()
    for checked in workspace.known():
        offer = checked.offer
        for name in dict.fromkeys(offer.names) if offer is not None else ():
            if offer is not None and wanted in name.casefold():
                top = Range(Position(0, 0), Position(0, 0))
                place = protocol.Location(workspace.uri(offer.path), top)
                sort = SORTS.get(offer.kind, "server")
                found.append(protocol.WorkspaceSymbol(name, _OBJECT_SYMBOL, place, sort))
    return sorted(found, key=lambda each: each.name)[:_MAX_SYMBOLS]
