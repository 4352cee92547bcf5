"""Renaming what others name: every file is changed, or none.

A name may be written in the file that defines it, or be the name of that file or its folder. A
rename is refused where it would change what other files mean: if another file has the new name, if
several define the old one, or if a name is a pattern that matches more than one thing.
"""

from __future__ import annotations

import os
import re

from equipage.core.diagnostics import UsageError
from equipage.core.source import Span
from equipage.files import exists, real_path
from equipage.lsp import protocol
from equipage.lsp.documents import Opened, Workspace, context_of
from equipage.lsp.navigation import Symbol, convention_of, definitions_of, references_to, target_at
from equipage.lsp.protocol import Position, Range, path_of, span_range, uri_of

#: What a name may be made of, whatever the tool: nothing that ends a scalar or a list entry.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_SORTS_NAMED_BY_FILE = ("agent", "command", "skill")


def renamable_range(workspace: Workspace, opened: Opened, position: Position) -> Range:
    """The name at a position. Raises `UsageError` if it cannot be renamed."""
    named = _renamable_symbol(workspace, opened, position)
    assert named.span is not None
    return opened.text.range(named.span.start, named.span.end)


def rename(
    workspace: Workspace, opened: Opened, position: Position, new: str, *, moves: bool
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
    places = [each.span for each in found if each.span is not None]
    changes: list[protocol.TextDocumentEdit | protocol.RenameFile] = []
    if definition.span is not None:
        places.append(definition.span)
    _require_in_workspace(workspace, opened, places)
    changes += _edits(workspace, places, new)
    moved = _file_rename(definition, named.name, new)
    if moved is not None:
        _require_no_file(moved)
        if not moves:
            raise UsageError(
                f"`{named.name}` is also the name of a file, and this editor cannot rename files"
            )
        changes.append(moved)
    return protocol.WorkspaceEdit(document_changes=changes)


def _renamable_symbol(workspace: Workspace, opened: Opened, position: Position) -> Symbol:
    """What is named at a position and has exactly one definition. Raises `UsageError`."""
    context = context_of(workspace, opened)
    named = None
    if context is not None:
        named = target_at(workspace, opened, context, opened.text.offset(position))
    if named is None or named.span is None or named.sort == "file":
        raise UsageError("there is no name here that can be renamed")
    found = definitions_of(workspace, named)
    if not found:
        raise UsageError(f"no file of the workspace defines the {named.sort} `{named.name}`")
    if len(found) > 1:
        files = ", ".join(sorted(os.path.basename(each.path or "") for each in found))
        raise UsageError(f"several files define the {named.sort} `{named.name}`: {files}")
    return named


def _require_usable_name(workspace: Workspace, named: Symbol, definition: Symbol, new: str) -> None:
    """Raises `UsageError` if a name is not valid, or already in use."""
    if _NAME.fullmatch(new) is None:
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
    convention = None if outcome is None else convention_of(outcome)
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


def _require_in_workspace(workspace: Workspace, opened: Opened, places: list[Span]) -> None:
    """Raises `UsageError` if a file would be changed that the client did not open as its own."""
    for span in places:
        path = span.source.filename or ""
        if path != opened.real and not workspace.holds_real(path):
            raise UsageError(f"`{span.source.name}` would change, too, and is not in the workspace")


def _require_no_file(moved: protocol.RenameFile) -> None:
    target = path_of(moved.new_uri)
    if target is not None and exists(target):
        raise UsageError(f"`{os.path.basename(target)}` exists already")


def _require_single_user(workspace: Workspace, named: Symbol, definition: Symbol) -> None:
    """Raises `UsageError` if other configurations include what defines an inner name."""
    others = {*workspace.users_of(definition.path or "")} - {named.home, definition.path}
    others = {each for each in others if real_path(each) != named.home}
    if definition.path != named.home and others:
        files = ", ".join(sorted(map(os.path.basename, others)))
        raise UsageError(f"`{named.name}` comes from a file that {files} includes, too")


def _edits(
    workspace: Workspace, places: list[Span], new: str
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
