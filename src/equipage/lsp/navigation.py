"""From a name or a path to what it names, and back: definitions, references, links, renames.

Three sorts of things lead elsewhere. A directive names a file: its target is where the load found
the value. A name in a file of an agent tool names an agent, a skill, an MCP server or a tool: its
target is the file that offers the name. A name inside one configuration is defined and used there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from equipage.clients.catalogue import convention_of
from equipage.clients.references import references_in
from equipage.core.diagnostics import Part, UsageError
from equipage.core.path import ROOT, Path, get, walk
from equipage.core.source import Span
from equipage.files.sandbox import real_path
from equipage.formats.blueprint.rules import names_in
from equipage.formats.blueprint.rules_agents import NAMED_LISTS, references
from equipage.formats.server import grammar
from equipage.formats.server.grammar import (
    ITEM_KINDS,
    ItemKind,
    base_items,
    find_places,
    phase_items,
)
from equipage.loading.pipeline import Outcome
from equipage.loading.tree import Origin, Tree, locate_all
from equipage.lsp import protocol
from equipage.lsp.documents import Context, EditorWorkspace, Opened, context_of
from equipage.lsp.protocol import FILE_START, Position, Range, path_of, span_range, uri_of
from equipage.syntax.document import EntrySpans
from equipage.workspace.graph import SORTS, steps_of


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


def target_at(context: Context | None, opened: Opened, position: Position) -> Symbol | None:
    """Return what the text at a position names or defines."""
    if context is None or not context.is_current(opened):
        return None
    offset = opened.text.offset(position)
    for find in (named_files, _named_symbols, _offered_symbols, _inner_symbols):
        for each in find(context.outcome):
            if (
                each.span is not None
                and each.span.source.filename == opened.real
                and each.span.start <= offset <= each.span.end
            ):
                return each
    return None


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
    convention = convention_of(outcome.kind.name)
    for _, each, word in () if convention is None else references_in(convention, outcome):
        # Of `Agent(reviewer)` only `reviewer` is the name; one that is escaped has no place.
        inside = word.text().find(each.name)
        if inside >= 0:
            start = word.start + inside
            yield Symbol(each.sort, each.name, Span(word.source, start, start + len(each.name)))


def _inner_symbols(outcome: Outcome) -> Iterator[Symbol]:
    """Yield the names that a configuration defines and uses itself, such as tools of a server."""
    names = inner_names(outcome)
    if not names or outcome.tree is None:
        return
    home = outcome.sources[0].filename
    for each, span in zip(names, inner_spans(names, outcome.tree), strict=True):
        path = None if span is None else span.source.filename
        yield Symbol(each.sort, each.name, span, each.is_definition, path, home=home)


def _offered_symbols(outcome: Outcome) -> Iterator[Symbol]:
    """What a file offers under a name, with the place of the name; none if it is not a text."""
    # What a file offers to others is what it defines; the kind says which names these are.
    offer = outcome.offer()
    if offer is None or not outcome.documents:
        return
    document = outcome.documents[0]
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


def definitions_of(workspace: EditorWorkspace, named: Symbol) -> list[Symbol]:
    """Return every definition of a name, in any file of the workspace."""
    if named.sort == "file":
        return [named]
    if named.home is not None:
        return [each for each in _occurrences_in_home(workspace, named) if each.is_definition]
    found: list[Symbol] = []
    short = named.name.rpartition(":")[2]  # plugins put their own name before it
    for checked in workspace.known_summaries():
        offer = checked.offer
        if offer is None or not {named.name, short}.intersection(offer.names):
            continue
        if SORTS.get(offer.kind, "server") != named.sort:
            continue
        outcome = workspace.load(checked.path).outcome
        if outcome is not None:
            own = [each for each in _offered_symbols(outcome) if each.name in (named.name, short)]
            found += own[:1]
    return found


def _occurrences_in_home(workspace: EditorWorkspace, named: Symbol) -> list[Symbol]:
    """Every place of a name in its configuration."""
    outcome = workspace.load(named.home or "").outcome
    found = [] if outcome is None else _inner_symbols(outcome)
    return [each for each in found if (each.sort, each.name) == (named.sort, named.name)]


def references_to(workspace: EditorWorkspace, named: Symbol) -> Iterator[Symbol]:
    """Every place that names what `named` names; one inside a configuration may have no place."""
    if named.home is not None:
        yield from (
            each for each in _occurrences_in_home(workspace, named) if not each.is_definition
        )
        return
    for checked in list(workspace.known_summaries()):
        outcome = workspace.load(checked.path).outcome if checked.kind is not None else None
        if outcome is None:
            continue
        each_named = named_files(outcome) if named.sort == "file" else _named_symbols(outcome)
        for each in each_named:
            same = each.path == named.path if named.sort == "file" else each.name == named.name
            if each.sort == named.sort and same and each.span is not None:
                yield each


# ----------------------------------------------------------------------- what the protocol asks for


def definitions_at(
    workspace: EditorWorkspace, opened: Opened, position: Position
) -> list[protocol.Location]:
    named = target_at(context_of(workspace, opened), opened, position)
    found = [] if named is None else definitions_of(workspace, named)
    return [location_of(workspace, each) for each in found]


def location_of(workspace: EditorWorkspace, named: Symbol) -> protocol.Location:
    """Where something is defined."""
    if named.sort == "file" and named.path is not None:
        return protocol.Location(workspace.uri(named.path), _range_in_file(workspace, named))
    if named.span is not None and named.span.source.filename is not None:
        return _location_of_span(workspace, named.span, named.span.source.filename)
    return protocol.Location(workspace.uri(named.path or ""), FILE_START)


def _location_of_span(workspace: EditorWorkspace, span: Span, file: str) -> protocol.Location:
    return protocol.Location(workspace.uri(file), span_range(span, workspace.encoding))


def _range_in_file(workspace: EditorWorkspace, named: Symbol) -> Range:
    """The place of a part of a file that a reference leads to."""
    if not named.inner or named.path is None:
        return FILE_START
    # A part of a file may be of no kind by itself: then a load that reads it knows the place.
    for path in (named.path, *workspace.users_of(named.path)):
        outcome = workspace.load(path).outcome
        for document in outcome.documents if outcome is not None else ():
            found = document.locate([named.inner]).get(named.inner)
            if document.source.filename == named.path and found is not None:
                return span_range(found.key or found.value, workspace.encoding)
    return FILE_START


def references_at(
    workspace: EditorWorkspace, opened: Opened, position: Position, *, declared: bool
) -> list[protocol.Location]:
    """Every reference to the item at a position; without one, every reference to the file."""
    named = target_at(context_of(workspace, opened), opened, position)
    if named is None:
        named = Symbol("file", os.path.basename(opened.path), path=opened.real)
    found = list(references_to(workspace, named))
    if named.sort == "file":
        places = [
            _location_of_span(workspace, each.span, each.span.source.filename)
            for each in found
            if each.span is not None and each.span.source.filename is not None
        ]
    else:
        found += definitions_of(workspace, named) if declared else []
        places = [
            location_of(workspace, each)
            for each in found
            if each.span is not None or named.home is None
        ]
    # A file that several loads read is found once through each of them.
    unique = {(each.uri, each.range): each for each in places}
    return list(unique.values())


def document_links(workspace: EditorWorkspace, opened: Opened) -> list[protocol.DocumentLink]:
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


def description_of(workspace: EditorWorkspace, named: Symbol) -> str | None:
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


def workspace_symbols(workspace: EditorWorkspace, query: str) -> list[protocol.WorkspaceSymbol]:
    """The agents, skills, servers and other items of the workspace that match a query."""
    wanted, found = query.casefold(), list[protocol.WorkspaceSymbol]()
    for offer in filter(None, (checked.offer for checked in workspace.known_summaries())):
        for name in dict.fromkeys(offer.names):
            if wanted in name.casefold():
                place = protocol.Location(workspace.uri(offer.path), FILE_START)
                sort = SORTS.get(offer.kind, "server")
                found.append(protocol.WorkspaceSymbol(name, _OBJECT_SYMBOL, place, sort))
    return sorted(found, key=lambda each: each.name)[:_MAX_SYMBOLS]


# ------------------------------------------------------------------- names inside one configuration
# The tools of a server, the agents and runners of a blueprint. They are defined and used in one
# load, in the file itself or in files that it includes. Each use has a place, or none if it is
# written in a way that no plain text could replace: with a variable, with escapes, over several
# lines.


class InnerName(msgspec.Struct, frozen=True):
    """A name where a configuration has it. The path is that of the resolved value."""

    sort: str  #: what has the name: “tool of the server”
    name: str
    path: Path
    part: Part = "value"
    is_definition: bool = False


def inner_names(outcome: Outcome) -> list[InnerName]:
    """Every name that a configuration defines and uses itself."""
    tree = outcome.tree
    if tree is None or outcome.kind.name not in _NAME_FINDERS:
        return []
    return list(_NAME_FINDERS[outcome.kind.name](tree.value))


def inner_spans(names: Sequence[InnerName], tree: Tree) -> list[Span | None]:
    """The place of each name, without quotes; None if it is not written there as it is."""
    origins = [_inner_origin(each, tree) for each in names]
    places = locate_all(origins)
    return [
        _inner_span(each, places.get((id(origin.document), origin.path)))
        for each, origin in zip(names, origins, strict=True)
    ]


def _inner_origin(each: InnerName, tree: Tree) -> Origin:
    origin = tree.provenance(each.path).origin
    if each.part == "key" and each.path and not origin.path:
        # The value is a whole other file; its key is where the file was brought in.
        origin = tree.provenance(each.path[:-1]).origin.child(each.path[-1:])
    return origin


def _inner_span(each: InnerName, located: EntrySpans | None) -> Span | None:
    span = None if located is None else located.key if each.part == "key" else located.value
    if span is None or span.source.filename is None:
        return None
    # The name may be the end of a longer text: `tools/call:NAME`.
    pattern = rf"""["']?(?:[\w/]+:)?(?P<name>{re.escape(each.name)})["']?"""
    match = re.fullmatch(pattern, span.text())
    if match is None:
        return None
    return Span(span.source, span.start + match.start("name"), span.start + match.end("name"))


def _names_in_server(config: Any) -> Iterator[InnerName]:
    for sort in ITEM_KINDS:
        title = f"{sort.name} of the server"
        added = [place for place in phase_items(config, sort) if isinstance(place[0][-1], int)]
        for path, item in (*base_items(config, sort), *added):
            name = sort.identify(item)
            if name is not None:
                yield InnerName(title, name, (*path, *sort.identity_path), is_definition=True)
        yield from _uses_in_phases(config, sort, title)


def _uses_in_phases(config: Any, sort: ItemKind, title: str) -> Iterator[InnerName]:
    """Where phases name an item: to replace it, to remove it, to wait for a call of it."""
    for path, item in find_places(config, f"phases[].replace_{sort.plural}{{}}"):
        yield InnerName(title, str(path[-1]), path, "key")
        name = sort.identify(item)
        if name is not None:
            yield InnerName(title, name, (*path, *sort.identity_path))
    for path, name in find_places(config, f"phases[].remove_{sort.plural}[]"):
        if isinstance(name, str):
            yield InnerName(title, name, path)
    for path, written in find_places(config, "phases[].advance.on"):
        event = grammar.parse_event(written) if isinstance(written, str) else None
        if event is not None and event.is_about(sort.plural):
            yield InnerName(title, str(event.qualifier), path)


def _names_in_blueprint(config: Any) -> Iterator[InnerName]:
    for key, what in NAMED_LISTS.items():
        for name, path in names_in(config, key).first.items():
            sort = f"{what} of the blueprint"
            yield InnerName(sort, name, (*path, "name"), is_definition=True)
    for key, path, part in references(config):
        used = path[-1] if part == "key" else get(config, path)
        if isinstance(used, str):
            yield InnerName(f"{NAMED_LISTS[key]} of the blueprint", used, path, part)


_NAME_FINDERS = {"server": _names_in_server, "blueprint": _names_in_blueprint}

#: Where a name belongs, by the last keys of its place: the sort of what has the name.
_SORT_BY_KEY = {
    **{f"remove_{sort.plural}": f"{sort.name} of the server" for sort in ITEM_KINDS},
    **{f"replace_{sort.plural}": f"{sort.name} of the server" for sort in ITEM_KINDS},
    "ref": "agent of the blueprint",
    "agent": "agent of the blueprint",
    "per_agent": "agent of the blueprint",
    "operator_ref": "operator of the blueprint",
    "runner_ref": "runner of the blueprint",
    "default_runner": "runner of the blueprint",
    "meta_ref": "meta of the blueprint",
    "template": "subprocess of the blueprint",
}


def inner_names_for(outcome: Outcome, path: Path) -> dict[str, str]:
    """The names that fit a place of a configuration, each with what it is; events among them."""
    steps = [step for step in path if isinstance(step, str)]
    if outcome.kind.name not in _NAME_FINDERS or not steps:
        return {}
    defined = [each for each in inner_names(outcome) if each.is_definition]
    if outcome.kind.name == "server" and steps[-2:] == ["advance", "on"]:
        events = dict.fromkeys(grammar.EVENTS, "an event")
        for sort in ITEM_KINDS:
            for base in (each for each in grammar.EVENTS if each.startswith(sort.plural)):
                names = (each.name for each in defined if each.sort == f"{sort.name} of the server")
                if grammar.EVENTS[base]:
                    events |= {f"{base}:{name}": f"of one {sort.name}" for name in names}
        return events
    wanted = _SORT_BY_KEY.get(steps[-1])
    return {each.name: each.sort for each in defined if each.sort == wanted}


# ----------------------------------------------------------------------------------------- renaming
# Every file is changed, or none. A name may be written in the file that defines it, or be the name
# of that file or its folder. A rename is refused where it would change what other files mean: if
# another file has the new name, if several define the old one, or if a name is a pattern that
# matches more than one thing.

#: What a name may be made of, whatever the tool: nothing that ends a scalar or a list entry.
_VALID_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_SORTS_NAMED_BY_FILE = ("agent", "command", "skill")


def renamable_range(workspace: EditorWorkspace, opened: Opened, position: Position) -> Range:
    """The name at a position. Raises `UsageError` if it cannot be renamed."""
    named = _renamable_symbol(workspace, opened, position)
    assert named.span is not None
    return opened.text.range(named.span.start, named.span.end)


def rename(
    workspace: EditorWorkspace, opened: Opened, position: Position, new: str, *, moves: bool
) -> protocol.WorkspaceEdit:
    """Rename what is named at a position, everywhere. Raises `UsageError`.

    `moves` says whether the client can rename files.
    """
    named = _renamable_symbol(workspace, opened, position)
    (definition,) = definitions_of(workspace, named)
    _require_usable_name(workspace, named, definition, new)
    found = list(references_to(workspace, named))
    if named.home is not None and (definition.span is None or not all(each.span for each in found)):
        raise UsageError(
            f"`{named.name}` is also written in a way that cannot be replaced, such as a variable"
        )
    places = [each.span for each in (*found, definition) if each.span is not None]
    _require_in_workspace(workspace, opened, places)
    changes = _rename_edits(workspace, places, new)
    moved = _file_rename(definition, named.name, new)
    if moved is not None:
        target = path_of(moved.new_uri)
        if target is not None and workspace.now.system.exists(target):
            raise UsageError(f"`{os.path.basename(target)}` exists already")
        if not moves:
            raise UsageError(
                f"`{named.name}` is also the name of a file, and this editor cannot rename files"
            )
        changes.append(moved)
    return protocol.WorkspaceEdit(document_changes=changes)


def _renamable_symbol(workspace: EditorWorkspace, opened: Opened, position: Position) -> Symbol:
    """What is named at a position and has exactly one definition. Raises `UsageError`."""
    named = target_at(context_of(workspace, opened), opened, position)
    if named is None or named.span is None or named.sort == "file":
        raise UsageError("there is no name here that can be renamed")
    found = definitions_of(workspace, named)
    if not found:
        raise UsageError(f"no file of the workspace defines the {named.sort} `{named.name}`")
    if len(found) > 1:
        files = ", ".join(sorted(os.path.basename(each.path or "") for each in found))
        raise UsageError(f"several files define the {named.sort} `{named.name}`: {files}")
    return named


def _require_usable_name(
    workspace: EditorWorkspace, named: Symbol, definition: Symbol, new: str
) -> None:
    """Raises `UsageError` if a name is not valid, or already in use."""
    if _VALID_NAME.fullmatch(new) is None:
        raise UsageError(f"`{new}` is not a name: use letters, digits, `-`, `_` and `.`")
    if new == named.name:
        raise UsageError(f"it is called `{new}` already")
    taken = definitions_of(workspace, Symbol(named.sort, new, home=named.home))
    if taken:
        file = os.path.basename(taken[0].path or "")
        raise UsageError(f"there is a {named.sort} `{new}` already, in {file}")
    if named.home is not None:
        _require_single_user(workspace, named, definition)
    outcome = workspace.load(definition.path or "").outcome
    convention = None if outcome is None else convention_of(outcome.kind.name)
    rule = None if convention is None else convention.name
    if rule is not None and not rule.allows(new):
        raise UsageError(f"`{new}` is not a name for this file: expected {rule.words}")
    if convention is not None:
        for sort, names in convention.built_in.items():
            if sort == named.sort and new in names:
                raise UsageError(f"`{new}` is built into {convention.tool}")
    # References that nothing defines would lead here after the rename.
    waiting = next(references_to(workspace, Symbol(named.sort, new, home=named.home)), None)
    if waiting is not None and waiting.span is not None:
        place = f"{waiting.span.source.name}:{waiting.span.line}"
        raise UsageError(f"{place} names a {named.sort} `{new}` that would then be this one")


def _require_in_workspace(workspace: EditorWorkspace, opened: Opened, places: list[Span]) -> None:
    """Raises `UsageError` if a file would be changed that the client did not open as its own."""
    for span in places:
        path = span.source.filename or ""
        if path != opened.real and not workspace.holds_real(path):
            raise UsageError(f"`{span.source.name}` would change, too, and is not in the workspace")


def _require_single_user(workspace: EditorWorkspace, named: Symbol, definition: Symbol) -> None:
    """Raises `UsageError` if other configurations include what defines an inner name."""
    users = {*workspace.users_of(definition.path or "")} - {named.home, definition.path}
    others = [each for each in users if real_path(each) != named.home]
    if definition.path != named.home and others:
        files = ", ".join(sorted(map(os.path.basename, others)))
        raise UsageError(f"`{named.name}` comes from a file that {files} includes, too")


def _rename_edits(
    workspace: EditorWorkspace, places: list[Span], new: str
) -> list[protocol.TextDocumentEdit | protocol.RenameFile]:
    by_file: dict[str, dict[Range, protocol.TextEdit]] = {}
    for span in places:
        if span.source.filename is not None:
            place = span_range(span, workspace.encoding)
            by_file.setdefault(span.source.filename, {})[place] = protocol.TextEdit(place, new)
    made: list[protocol.TextDocumentEdit | protocol.RenameFile] = []
    for path, edits in by_file.items():
        opened = workspace.opened_at(path)
        version = None if opened is None else opened.version
        document = protocol.VersionedIdentifier(workspace.uri(path), version)
        made.append(protocol.TextDocumentEdit(document, list(edits.values())))
    return made


def _file_rename(definition: Symbol, old: str, new: str) -> protocol.RenameFile | None:
    """The rename of the file or folder that has the name, if one does."""
    if definition.sort not in _SORTS_NAMED_BY_FILE or definition.path is None:
        return None
    folder, file = os.path.split(definition.path)
    if definition.sort == "skill":
        above, name = os.path.split(folder)
        if name != old:
            return None
        return protocol.RenameFile(uri_of(folder), uri_of(os.path.join(above, new)), "rename")
    stem, dot, rest = file.partition(".")
    if stem != old:
        return None
    target = os.path.join(folder, f"{new}{dot}{rest}")
    return protocol.RenameFile(uri_of(definition.path), uri_of(target), "rename")
