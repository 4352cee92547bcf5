"""What may be written at a position: keys, values, paths, variables and names of the workspace."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from equipage.clients.catalogue import convention_of
from equipage.clients.format import hook_events
from equipage.files import System, entries_of, leads_to_folder
from equipage.files.walking import SKIPPED_FOLDERS
from equipage.formats.server.compose import library_of
from equipage.lsp import protocol
from equipage.lsp.cursor import Cursor, cursor_at, syntax_of
from equipage.lsp.documents import Context, EditorWorkspace, Opened, context_of
from equipage.lsp.fields import FieldDescription, snippet_of
from equipage.lsp.navigation import inner_names_for
from equipage.lsp.protocol import Position
from equipage.workspace.graph import SORTS

# The kinds of completions, as the protocol numbers them.
_FIELD, _VARIABLE, _VALUE, _ENUM, _FILE, _REFERENCE, _FOLDER = 5, 6, 12, 13, 17, 18, 19
_SNIPPET = 2
#: Keys whose value is the path of a file, whatever the kind.
_PATH_KEYS = frozenset({"$include", "$file", "$ref", "$agent_md"})
_OPEN_VARIABLE = re.compile(r"\$\{(?P<name>\w*)\Z")
_USED_VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_]\w*)")
#: The most completions that one answer holds; more are asked for with the next letter.
_MAX_ITEMS = 500


class _Offer(msgspec.Struct, frozen=True):
    """One completion before it has a place."""

    label: str
    kind: int
    text: str
    detail: str = ""
    words: str = ""
    order: int = 1
    is_snippet: bool = False


def completions_at(
    workspace: EditorWorkspace, opened: Opened, position: Position, *, snippets: bool = False
) -> dict[str, Any]:
    """The completions at a position."""
    text, offset = opened.text.text, opened.text.offset(position)
    context = context_of(workspace, opened)
    if context is None:
        return {"isIncomplete": False, "items": []}
    cursor = cursor_at(text, offset, opened.path)
    # A variable may be in any value, so it comes before what the place itself allows.
    variable = _OPEN_VARIABLE.search(text, text.rfind("\n", 0, offset) + 1, offset)
    if variable is not None and context.outcome.kind.reading.variables:
        cursor = Cursor((), "text", variable["name"], variable.start("name"), offset)
        offers: Iterable[_Offer] = _variables(workspace)
    elif cursor.part == "text":
        if not cursor.word.startswith("@"):
            return {"isIncomplete": False, "items": []}
        offers = _paths(
            os.path.dirname(opened.path), cursor.word[1:], workspace.now.system, start="@"
        )
    elif cursor.part == "value":
        offers = _values(workspace, opened, context, cursor)
        cursor = _last_word(context, cursor)
    else:
        offers = [
            *_keys(context, cursor, opened, snippets=snippets),
            *_reference_keys(context, cursor, opened),
            *_entries(workspace, opened, context, cursor),
        ]
    found = list(dict.fromkeys(offers))
    items = [_item(each, cursor, opened) for each in found[:_MAX_ITEMS]]
    return {"isIncomplete": len(found) > _MAX_ITEMS, "items": items}


def _item(each: _Offer, cursor: Cursor, opened: Opened) -> protocol.CompletionItem:
    place = opened.text.range(cursor.start, cursor.end)
    return protocol.CompletionItem(
        each.label,
        each.kind,
        each.detail or None,
        protocol.Markup(each.words, "markdown") if each.words else None,
        f"{each.order}{each.label}",
        each.label,
        _SNIPPET if each.is_snippet else None,
        protocol.TextEdit(place, each.text),
    )


# Keys.


def _keys(context: Context, cursor: Cursor, opened: Opened, *, snippets: bool) -> Iterator[_Offer]:
    """The fields of the mapping at the cursor that it does not have yet."""
    path = context.authored_path(cursor.path)
    fields = context.fields
    syntax = syntax_of(opened.path)
    has_colon = re.match(r"""["']?\s*[:=]""", opened.text.text[cursor.end :]) is not None
    for name, each in fields.fields_at(path, context.value).items():
        if name in cursor.keys:
            continue
        order = 0 if each.required else 2 if name.startswith("$") else 1
        detail = ", ".join([each.type, *(["required"] if each.required else [])])
        written = name if has_colon else _format_key(name, each, cursor, syntax)
        yield _Offer(name, _FIELD, written, detail, each.words, order)
        if snippets and syntax == "yaml" and not (has_colon or cursor.in_brackets):
            block = snippet_of(fields, (*path, name), each)
            if block is not None:
                label, detail = f"{name} …", "with what it needs"
                yield _Offer(label, _FIELD, block, detail, each.words, order, True)


def _reference_keys(context: Context, cursor: Cursor, opened: Opened) -> Iterator[_Offer]:
    """Keys that name something: an item of the server that a phase replaces, an event of hooks."""
    path = context.authored_path(cursor.path)
    names = inner_names_for(context.outcome, path) if path and isinstance(path[-1], str) else {}
    if path == ("hooks",):
        names |= hook_events(context.outcome.kind.name)
    mapping = FieldDescription("", "a mapping")
    for name, detail in names.items():
        if name not in cursor.keys:
            written = _format_key(name, mapping, cursor, syntax_of(opened.path))
            yield _Offer(name, _REFERENCE, written, detail)


def _format_key(name: str, each: FieldDescription, cursor: Cursor, syntax: str) -> str:
    """A key with what follows it."""
    if syntax == "toml":
        return name if cursor.in_brackets and not cursor.path else f"{name} = "
    if syntax == "json":
        return f"{name}{cursor.quote}: " if cursor.quote else f'"{name}": '
    return f"{name}{cursor.quote}:" if each.type == "a mapping" else f"{name}{cursor.quote}: "


def _entries(
    workspace: EditorWorkspace, opened: Opened, context: Context, cursor: Cursor
) -> Iterator[_Offer]:
    """What may be an entry of a list, where a line has only its dash."""
    if cursor.path and isinstance(cursor.path[-1], int) and not cursor.in_brackets:
        value = msgspec.structs.replace(cursor, part="value")
        yield from _values(workspace, opened, context, value)


# Values.


def _values(
    workspace: EditorWorkspace, opened: Opened, context: Context, cursor: Cursor
) -> Iterator[_Offer]:
    """What the place allows, what a directive may name, and names of the workspace."""
    path = context.authored_path(cursor.path)
    key = next((step for step in reversed(path) if isinstance(step, str)), "")
    if key in _PATH_KEYS:
        yield from _paths(_base_folder(context, opened), cursor.word, workspace.now.system)
        return
    quoted = syntax_of(opened.path) == "json" and not cursor.quote
    for each in context.fields.values_at(path, context.value):
        shown = str(each).lower() if isinstance(each, bool) else str(each)
        yield _Offer(shown, _ENUM, f'"{shown}"' if quoted and isinstance(each, str) else shown)
    names = _names(workspace, context, str(path[0]) if path else "")
    for name, detail in (*names.items(), *inner_names_for(context.outcome, path).items()):
        yield _Offer(name, _REFERENCE, f'"{name}"' if quoted else name, detail)


def _names(workspace: EditorWorkspace, context: Context, field: str) -> dict[str, str]:
    """The names that a field may hold, each with what it is: a tool, skill, server or agent."""
    convention = convention_of(context.outcome.kind.name)
    known = None if convention is None else convention.field(field)
    if convention is None or known is None or known.refers is None:
        return {}
    sort = known.refers
    names: dict[str, str] = {}
    if sort == "tool":
        names |= dict.fromkeys(sorted(convention.tools or ()), f"tool of {convention.tool}")
    names |= dict.fromkeys(sorted(convention.built_in.get(sort, ())), "built in")
    offered: dict[str, str] = {}
    for checked in workspace.known_summaries():
        offer = checked.offer
        if offer is None:
            continue
        own = SORTS.get(offer.kind, "server")
        place = os.path.basename(offer.path)
        # The files of the workspace come first, then those of its project around it.
        if own == sort:
            offered = dict.fromkeys(offer.names, f"{own} in {place}") | offered
        elif sort == "tool" and own == "server":
            tools = (f"mcp__{each}" for each in offer.names)
            offered = dict.fromkeys(tools, f"server in {place}") | offered
    names |= offered
    return names


def _last_word(context: Context, cursor: Cursor) -> Cursor:
    """The cursor at the last of several names in one text."""
    convention = convention_of(context.outcome.kind.name)
    field = None
    if convention is not None and len(cursor.path) == 1:
        field = convention.field(str(cursor.path[0]))
    if field is None or field.split is None:
        return cursor
    cut = max((cursor.word.rfind(each) for each in field.split), default=-1) + 1
    word = cursor.word[cut:].lstrip()
    start = cursor.start + len(cursor.word) - len(word)
    return msgspec.structs.replace(cursor, word=word, start=start, end=start + len(word))


def _base_folder(context: Context, opened: Opened) -> str:
    """The folder that paths in a text start at."""
    session = context.outcome.session
    if context.outcome.kind.name == "server":
        return os.path.join(session.files.cwd, library_of(session))
    return os.path.dirname(opened.path)


def _paths(base: str, word: str, system: System, *, start: str = "") -> Iterator[_Offer]:
    """Files and folders below the base that a path may go on with."""
    head = word.rpartition("/")[0]
    if os.path.isabs(word) or ".." in head.split("/"):
        return
    folder = os.path.join(base, head)
    for entry in entries_of(folder, system):
        if entry.name in SKIPPED_FOLDERS or entry.name.startswith(".git"):
            continue
        name = start + (f"{head}/{entry.name}" if head else entry.name)
        if leads_to_folder(entry):
            yield _Offer(f"{name}/", _FOLDER, f"{name}/")
        else:
            yield _Offer(name, _FILE, name)


def _variables(workspace: EditorWorkspace) -> Iterator[_Offer]:
    """Names of variables: those in use, and those that are set. Never a value."""
    texts = (opened.text.text for opened in workspace.open.values())
    used = {name for each in texts for name in _USED_VARIABLE.findall(each)}
    for name in sorted({*used, *workspace.env}):
        detail = "set" if name in workspace.env else "not set here"
        yield _Offer(name, _VARIABLE, name, detail, order=0 if name in used else 1)
