"""The protocol between editors and us: messages, positions, addresses of files, and shapes.

What a client sends may be anything. A message that cannot be read gets the error that JSON-RPC has
for it, and a position outside a text counts as the nearest one inside it.
"""

from __future__ import annotations

import bisect
import os
import re
from functools import cached_property, lru_cache
from typing import Any, BinaryIO, Literal
from urllib.parse import quote, unquote, urlsplit

import msgspec

from equipage.core.source import Source, Span
from equipage.core.text import lazy_regex

# ----------------------------------------------------------------------------------------- messages
# Over a pair of streams: a header with a length, and JSON. Lines that are not a header are skipped
# up to the next one that is; a body that is too large is read and dropped.

#: The largest message that is read. An editor sends whole files, and none of those is larger.
MAX_MESSAGE_BYTES = 64 * 1024 * 1024
#: The longest line of a header.
_MAX_HEADER_LINE = 4096
_SKIP_BYTES = 1024 * 1024
_CONTENT_LENGTH = re.compile(rb"content-length\s*:\s*(\d{1,18})\s*\Z", re.IGNORECASE)

# The errors of JSON-RPC and of the protocol.
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR, NOT_INITIALISED, REQUEST_FAILED = -32603, -32002, -32803
REQUEST_CANCELLED, CONTENT_MODIFIED = -32800, -32801


class Message(msgspec.Struct, omit_defaults=True):
    """What a client sends: a request has an `id`, a notification none; an answer no `method`."""

    method: str | None = None
    id: int | str | None = None
    params: msgspec.Raw = msgspec.Raw()


class UnreadableMessage(Exception):
    """A message that was skipped: the code of an error, and the reason."""

    def __init__(self, code: int, reason: str) -> None:
        self.code, self.reason = code, reason
        super().__init__(code, reason)


_MESSAGE_DECODER = msgspec.json.Decoder(Message)


def read_message(stream: BinaryIO, *, most: int = MAX_MESSAGE_BYTES) -> Message | None:
    """The next message; None at the end of the stream. Raises `UnreadableMessage`."""
    length: int | None = None
    while True:
        line = stream.readline(_MAX_HEADER_LINE)
        if not line:
            return None
        if not line.strip():
            if length is not None:
                break
            continue  # an empty line between messages
        found = _CONTENT_LENGTH.match(line.strip())
        length = int(found[1]) if found is not None else length
    if length > most:
        _skip_body(stream, length)
        raise UnreadableMessage(
            INVALID_REQUEST, f"a message of {length:,} bytes is larger than {most:,}"
        )
    data = stream.read(length)
    if len(data) < length:
        return None
    try:
        return _MESSAGE_DECODER.decode(data)
    except msgspec.ValidationError as error:
        raise UnreadableMessage(INVALID_REQUEST, str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableMessage(PARSE_ERROR, str(error)) from None


def _skip_body(stream: BinaryIO, length: int) -> None:
    while length > 0 and (piece := stream.read(min(length, _SKIP_BYTES))):
        length -= len(piece)


def write_message(stream: BinaryIO, message: dict[str, Any]) -> None:
    """Send a message. Raises `OSError` if the client is gone."""
    data = msgspec.json.encode({"jsonrpc": "2.0", **message})
    stream.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
    stream.flush()


# ---------------------------------------------------------------------------------------- positions
# Lines and columns in an encoding that the client and we agree on. equipage counts code points. The
# protocol counts code units of UTF-16, unless both sides know a better encoding.

Encoding = Literal["utf-8", "utf-16", "utf-32"]
#: The encodings we know; the first one that the client names is used.
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
_LINE_BREAK = lazy_regex(r"\r\n|\r|\n")


class Position(msgspec.Struct, frozen=True, order=True):
    """A line and a column of the protocol, both from 0."""

    line: int
    character: int


class Range(msgspec.Struct, frozen=True, order=True):
    """A stretch of the protocol, `start` included, `end` not."""

    start: Position
    end: Position


#: The place of what is about a whole file.
FILE_START = Range(Position(0, 0), Position(0, 0))


class Text:
    """A text whose lines can be counted, in one encoding."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self.text = text
        self.encoding = encoding

    @cached_property
    def starts(self) -> list[int]:
        """The offset at which each line begins."""
        return [0, *(match.end() for match in _LINE_BREAK.finditer(self.text))]

    def line_at(self, number: int) -> str:
        """A line (from 0) without its line break; empty beyond the last."""
        if not 0 <= number < len(self.starts):
            return ""
        start = self.starts[number]
        end = self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def offset(self, position: Position) -> int:
        """The offset of a position in code points; the nearest one there is."""
        if position.line < 0:
            return 0
        if position.line >= len(self.starts):
            return len(self.text)
        line = self.line_at(position.line)
        return self.starts[position.line] + _count_code_points(
            line, position.character, self.encoding
        )

    def position(self, offset: int) -> Position:
        """The position of an offset in code points."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect.bisect_right(self.starts, offset) - 1
        # Between the two letters of a line break there is no position: the line ends before them.
        before = self.text[self.starts[line] : offset].rstrip("\r\n")
        return Position(line, _count_code_units(before, self.encoding))

    def range(self, start: int, end: int) -> Range:
        return Range(self.position(start), self.position(max(start, end)))

    def replace(self, start: Position, end: Position, new: str) -> Text:
        """Return the text with a range replaced; the ends of an inverted range are swapped."""
        low, high = sorted((self.offset(start), self.offset(end)))
        return Text(self.text[:low] + new + self.text[high:], self.encoding)


def _count_code_units(text: str, encoding: Encoding) -> int:
    """How many code units a text has."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text) + sum(letter > "\uffff" for letter in text)


def _count_code_points(line: str, units: int, encoding: Encoding) -> int:
    """How many code points of a line fit into so many units; half a character is none."""
    if units <= 0:
        return 0
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    for number, letter in enumerate(line):
        units -= _count_code_units(letter, encoding)
        if units < 0:
            return number
        if units == 0:
            return number + 1
    return len(line)


def span_range(span: Span, encoding: Encoding) -> Range:
    """The range of a span in the text it was found in."""
    return _text_of(span.source, encoding).range(span.start, span.end)


@lru_cache(maxsize=1)  # findings of one file come one after the other
def _text_of(source: Source, encoding: Encoding) -> Text:
    return Text(source.text, encoding)


# ---------------------------------------------------------------------------------------- addresses
# Files have a path for us and an address for the client.

#: The longest path that systems open, in characters.
_MAX_PATH_LENGTH = 4096
#: What is written as it is in an address.
_PLAIN_IN_ADDRESS = "/:@!$&'()+,;=~"


def path_of(uri: str) -> str | None:
    """The path of a `file:` address; None for a text that is in no file."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path)
    # No file has a longer path, and every folder on the way would be asked for.
    if parts.scheme.lower() != "file" or "\0" in path or len(path) > _MAX_PATH_LENGTH:
        return None
    if os.name == "nt":
        path = f"//{parts.netloc}{path}" if parts.netloc else path.lstrip("/")
    return os.path.normpath(path) if path else None


def uri_of(path: str) -> str:
    """The address of an absolute path."""
    slashed = path.replace(os.sep, "/")
    start = "" if slashed.startswith("/") else "/"
    data = slashed.encode("utf-8", "surrogateescape")
    return f"file://{start}{quote(data, safe=_PLAIN_IN_ADDRESS)}"


# ------------------------------------------------------------------------------ what a client sends
# Fields that a client may leave out have defaults; those that we leave out are not sent. There are
# shapes only for what we read and write.


class _ProtocolStruct(msgspec.Struct, rename="camel", omit_defaults=True):
    pass


class TextDocumentIdentifier(_ProtocolStruct):
    uri: str
    version: int | None = None


class TextDocumentItem(_ProtocolStruct):
    uri: str
    text: str
    version: int | None = None


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


class TextChange(_ProtocolStruct):
    text: str
    range: Range | None = None


class DidChangeParams(_ProtocolStruct):
    text_document: TextDocumentIdentifier
    content_changes: list[TextChange]


class DocumentParams(_ProtocolStruct):
    """Requests about a whole document."""

    text_document: TextDocumentIdentifier


class PositionParams(DocumentParams):
    """Requests about a position in a document."""

    position: Position


class RenameParams(PositionParams):
    new_name: str


class ReferenceContext(_ProtocolStruct):
    include_declaration: bool = True


class ReferenceParams(PositionParams):
    context: ReferenceContext = msgspec.field(default_factory=ReferenceContext)


class ActionContext(_ProtocolStruct):
    only: list[str] | None = None


class CodeActionParams(DocumentParams):
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


class DocumentDiagnostics(DocumentParams):
    previous_result_id: str | None = None


class CancelParams(_ProtocolStruct):
    id: int | str


# ------------------------------------------------------------------------------------- what we send


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
