"""The shapes of the protocol that we read and write, and no others.

Fields that a client may leave out have defaults; those that we leave out are not sent.
"""

from __future__ import annotations

from typing import Any

import msgspec

from equipage.lsp.positions import Position, Range


class _ProtocolStruct(msgspec.Struct, rename="camel", omit_defaults=True):
    pass


# What a client sends.


class TextDocumentIdentifier(_ProtocolStruct):
    uri: str
    version: int | None = None


class TextDocumentItem(_ProtocolStruct):
    uri: str
    text: str
    version: int | None = None
    language_id: str = ""


class Folder(_ProtocolStruct):
    uri: str
    name: str = ""


class InitializeParams(_ProtocolStruct):
    process_id: int | None = None
    root_uri: str | None = None
    root_path: str | None = None
    workspace_folders: list[Folder] | None = None
    capabilities: dict[str, Any] = {}
    initialization_options: Any = None


class DidOpenParams(_ProtocolStruct):
    text_document: TextDocumentItem


class Change(_ProtocolStruct):
    text: str
    range: Range | None = None


class DidChangeParams(_ProtocolStruct):
    text_document: TextDocumentIdentifier
    content_changes: list[Change]


class DocumentParams(_ProtocolStruct):
    """Requests about a whole document."""

    text_document: TextDocumentIdentifier


class PositionParams(_ProtocolStruct):
    """Requests about a position in a document."""

    text_document: TextDocumentIdentifier
    position: Position


class RenameParams(_ProtocolStruct):
    text_document: TextDocumentIdentifier
    position: Position
    new_name: str


class ReferenceContext(_ProtocolStruct):
    include_declaration: bool = True


class ReferenceParams(_ProtocolStruct):
    text_document: TextDocumentIdentifier
    position: Position
    context: ReferenceContext = msgspec.field(default_factory=ReferenceContext)


class ActionContext(_ProtocolStruct):
    only: list[str] | None = None


class CodeActionParams(_ProtocolStruct):
    text_document: TextDocumentIdentifier
    range: Range
    context: ActionContext = msgspec.field(default_factory=ActionContext)


class FileEvent(_ProtocolStruct):
    uri: str
    type: int  #: 1 created, 2 changed, 3 deleted


class WatchedFilesParams(_ProtocolStruct):
    changes: list[FileEvent]


class FolderEvent(_ProtocolStruct):
    added: list[Folder] = []
    removed: list[Folder] = []


class FoldersChangedParams(_ProtocolStruct):
    event: FolderEvent


class Configuration(_ProtocolStruct):
    settings: Any = None


class SymbolParams(_ProtocolStruct):
    query: str = ""


class ExecuteCommandParams(_ProtocolStruct):
    command: str
    arguments: list[Any] | None = None


class PreviousResultId(_ProtocolStruct):
    uri: str
    value: str = ""


class WorkspaceDiagnostics(_ProtocolStruct):
    previous_result_ids: list[PreviousResultId] = []


class DocumentDiagnostics(_ProtocolStruct):
    text_document: TextDocumentIdentifier
    previous_result_id: str | None = None


class CancelParams(_ProtocolStruct):
    id: int | str


# What we send.


class Location(_ProtocolStruct):
    uri: str
    range: Range


class RelatedInformation(_ProtocolStruct):
    location: Location
    message: str


class CodeDescription(_ProtocolStruct):
    href: str


class Diagnostic(_ProtocolStruct):
    range: Range
    message: str
    severity: int
    code: str
    source: str = ""
    code_description: CodeDescription | None = None
    tags: list[int] | None = None
    related_information: list[RelatedInformation] | None = None
    data: Any = None


class TextEdit(_ProtocolStruct):
    range: Range
    new_text: str


class VersionedIdentifier(msgspec.Struct, frozen=True):
    uri: str
    version: int | None


class TextDocumentEdit(_ProtocolStruct):
    text_document: VersionedIdentifier
    edits: list[TextEdit]


class RenameFile(_ProtocolStruct):
    old_uri: str
    new_uri: str
    kind: str


class WorkspaceEdit(_ProtocolStruct):
    changes: dict[str, list[TextEdit]] | None = None
    document_changes: list[TextDocumentEdit | RenameFile] | None = None


class Command(_ProtocolStruct):
    title: str
    command: str
    arguments: list[Any] | None = None


class CodeAction(_ProtocolStruct):
    title: str
    kind: str
    diagnostics: list[Diagnostic] | None = None
    is_preferred: bool = False
    edit: WorkspaceEdit | None = None
    command: Command | None = None


class Markup(_ProtocolStruct):
    value: str
    kind: str


class Hover(_ProtocolStruct):
    contents: Markup
    range: Range | None = None


class CompletionItem(_ProtocolStruct):
    label: str
    kind: int
    detail: str | None = None
    documentation: Markup | None = None
    sort_text: str | None = None
    filter_text: str | None = None
    insert_text_format: int | None = None
    text_edit: TextEdit | None = None


class DocumentLink(_ProtocolStruct):
    range: Range
    target: str
    tooltip: str | None = None


class WorkspaceSymbol(_ProtocolStruct):
    name: str
    kind: int
    location: Location
    container_name: str | None = None
