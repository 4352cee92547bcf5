"""The shapes of the protocol that we read and write, and no others.

Fields that a client may leave out have defaults; those that we leave out are not sent.
"""

from __future__ import annotations

from typing import Any

import msgspec

from equipage.lsp.positions import Position, Range


class _Shape(msgspec.Struct, rename="camel", omit_defaults=True):
    pass


# What a client sends.


class Identifier(_Shape):
    uri: str
    version: int | None = None


class Item(_Shape):
    uri: str
    text: str
    version: int | None = None
    language_id: str = ""


class Folder(_Shape):
    uri: str
    name: str = ""


class Initialize(_Shape):
    process_id: int | None = None
    root_uri: str | None = None
    root_path: str | None = None
    workspace_folders: list[Folder] | None = None
    capabilities: dict[str, Any] = {}
    initialization_options: Any = None


class DidOpen(_Shape):
    text_document: Item


class Change(_Shape):
    text: str
    range: Range | None = None


class DidChange(_Shape):
    text_document: Identifier
    content_changes: list[Change]


class Document(_Shape):
    """Requests about a whole document."""

    text_document: Identifier


class At(_Shape):
    """Requests about a position in a document."""

    text_document: Identifier
    position: Position


class RenameTo(_Shape):
    text_document: Identifier
    position: Position
    new_name: str


class ReferenceContext(_Shape):
    include_declaration: bool = True


class ReferencesTo(_Shape):
    text_document: Identifier
    position: Position
    context: ReferenceContext = msgspec.field(default_factory=ReferenceContext)


class ActionContext(_Shape):
    only: list[str] | None = None


class ActionsIn(_Shape):
    text_document: Identifier
    range: Range
    context: ActionContext = msgspec.field(default_factory=ActionContext)


class FileEvent(_Shape):
    uri: str
    type: int  #: 1 created, 2 changed, 3 deleted


class Watched(_Shape):
    changes: list[FileEvent]


class FolderEvent(_Shape):
    added: list[Folder] = []
    removed: list[Folder] = []


class FoldersChanged(_Shape):
    event: FolderEvent


class Configuration(_Shape):
    settings: Any = None


class Query(_Shape):
    query: str = ""


class Execute(_Shape):
    command: str
    arguments: list[Any] | None = None


class Previous(_Shape):
    uri: str
    value: str = ""


class WorkspaceDiagnostics(_Shape):
    previous_result_ids: list[Previous] = []


class DocumentDiagnostics(_Shape):
    text_document: Identifier
    previous_result_id: str | None = None


class Cancel(_Shape):
    id: int | str


# What we send.


class Location(_Shape):
    uri: str
    range: Range


class Related(_Shape):
    location: Location
    message: str


class CodeDescription(_Shape):
    href: str


class Diagnostic(_Shape):
    range: Range
    message: str
    severity: int
    code: str
    source: str = ""
    code_description: CodeDescription | None = None
    tags: list[int] | None = None
    related_information: list[Related] | None = None
    data: Any = None


class TextEdit(_Shape):
    range: Range
    new_text: str


class VersionedIdentifier(msgspec.Struct, frozen=True):
    uri: str
    version: int | None


class TextDocumentEdit(_Shape):
    text_document: VersionedIdentifier
    edits: list[TextEdit]


class RenameFile(_Shape):
    old_uri: str
    new_uri: str
    kind: str


class WorkspaceEdit(_Shape):
    changes: dict[str, list[TextEdit]] | None = None
    document_changes: list[TextDocumentEdit | RenameFile] | None = None


class Command(_Shape):
    title: str
    command: str
    arguments: list[Any] | None = None


class CodeAction(_Shape):
    title: str
    kind: str
    diagnostics: list[Diagnostic] | None = None
    is_preferred: bool = False
    edit: WorkspaceEdit | None = None
    command: Command | None = None


class Markup(_Shape):
    value: str
    kind: str


class Hover(_Shape):
    contents: Markup
    range: Range | None = None


class CompletionItem(_Shape):
    label: str
    kind: int
    detail: str | None = None
    documentation: Markup | None = None
    sort_text: str | None = None
    filter_text: str | None = None
    insert_text_format: int | None = None
    text_edit: TextEdit | None = None


class Link(_Shape):
    range: Range
    target: str
    tooltip: str | None = None


class NamedSymbol(_Shape):
    name: str
    kind: int
    location: Location
    container_name: str | None = None
