"""The language server: findings of a check, and answers about a text, while it is being written.

`Server` takes messages in and gives answers out; every answer is a function of the workspace and a
position, in a module of its own (`hover`, `completion`, `navigation` …). Unsaved texts are an
overlay over the disk, so that recognition, includes and references between files see them. Nothing
is executed, and no socket is opened: the server reads standard input and writes standard output.

One thread reads messages and one handles them, in order. When no message waits, `publishing` may
work on findings. Requests that the client cancelled, and those about a text that has changed since,
are refused without being worked on.
"""

from __future__ import annotations

import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, TypeVar

import msgspec

from equipage import __version__
from equipage.core.diagnostics import UsageError
from equipage.core.path import get
from equipage.core.text import code_page_url, describe_exception
from equipage.lsp import fixes, navigation, protocol
from equipage.lsp.completion import completions_at
from equipage.lsp.documents import EditorWorkspace, Opened, Survey
from equipage.lsp.hover import hover_at
from equipage.lsp.protocol import ENCODINGS, Encoding, Message, path_of
from equipage.lsp.publishing import Publisher
from equipage.project.registry import format_named

T = TypeVar("T")
Send = Callable[[dict[str, Any]], None]

#: How many messages may wait; beyond that the client has to.
_MAX_WAITING = 1000
#: Requests about a text that are worthless once it has changed.
_TEXT_REQUESTS = frozenset(
    f"textDocument/{each}"
    for each in ("hover", "completion", "codeAction", "diagnostic", "documentLink")
)
_WATCHED_FILES = "**/*.{yaml,yml,json,jsonc,toml,md,mdc,roomodes,hook}"
#: The request that waits for a survey, so that it may be answered after later ones.
_WORKSPACE_DIAGNOSTIC = "workspace/diagnostic"
_INFO, _ERROR = 3, 1
_DID_CHANGE = "textDocument/didChange"


class RequestRefused(Exception):
    """A request that is answered with an error: its code, and why."""

    def __init__(self, code: int, reason: str) -> None:
        self.code, self.reason = code, reason
        super().__init__(code, reason)


class Server:
    """One client, one workspace."""

    def __init__(
        self,
        send: Send,
        *,
        env: Mapping[str, str],
        site: str | None = None,
        options: Mapping[str, object] | None = None,
        roots: Sequence[str] = (),
        kind: str | None = None,
        is_alive: Callable[[int], bool] = lambda _: True,
        enter: Callable[[str], object] = lambda _: None,
    ) -> None:
        """`site` is where pages of codes are published, `enter` makes a folder the working one."""
        self.send = send
        self.site = site
        self.ended: int | None = None  #: the exit code, once the client has asked for it
        self.workspace = EditorWorkspace()
        self.waiting: set[int | str] = set()  #: requests that were read and not answered
        self.cancelled: set[int | str] = set()  #: those of them that the client gave up
        self.changing: Counter[str] = Counter()  #: texts with changes that wait to be handled
        self.inbox: queue.Queue[object] = queue.Queue(_MAX_WAITING)
        self._env, self._options, self._roots = env, options, roots
        self._kind = None if kind is None else format_named(kind)
        self._is_alive, self._client = is_alive, 0
        self._enter = enter
        self._state = "new"
        self._capabilities: dict[str, Any] = {}
        self._asked = 0  #: how many requests we sent
        self.publisher = self._new_publisher()

    # Messages.

    def handle(self, item: object) -> None:
        """Handle one item of the inbox: a message, an unreadable one, or a survey."""
        if isinstance(item, protocol.UnreadableMessage):
            self.send({"id": None, "error": {"code": item.code, "message": item.reason}})
        elif isinstance(item, Survey):
            self._run_guarded(lambda: self.publisher.accept_survey(item))
        elif isinstance(item, Message) and item.method is not None:
            if item.id is None:
                self._handle_notification(item.method, item.params)
            else:
                self._handle_request(item.id, item.method, item.params)

    def _handle_request(self, number: int | str, method: str, params: msgspec.Raw) -> None:
        try:
            self._require_ready(number, method)
            shape, function = _REQUESTS[method]
            decoded = _decode_params(params, shape)
            self._require_current(method, decoded)
            if method == _WORKSPACE_DIAGNOSTIC:
                self.publisher.hold_request(number, decoded)
                return
            result = function(self, decoded)
        except RequestRefused as refusal:
            self._refuse(number, refusal.code, refusal.reason)
        except UsageError as problem:
            self._refuse(number, protocol.REQUEST_FAILED, str(problem))
        except Exception as problem:
            self._refuse(number, protocol.INTERNAL_ERROR, _describe_bug(problem))
        else:
            self._answer(number, result)

    def _answer(self, number: int | str, result: Any) -> None:
        """Answer a request, which may have waited for long."""
        if number in self.cancelled:
            self._refuse(number, protocol.REQUEST_CANCELLED, "cancelled by the client")
            return
        self.waiting.discard(number)
        self.send({"id": number, "result": result})

    def _refuse(self, number: int | str, code: int, reason: str) -> None:
        self.waiting.discard(number)
        self.cancelled.discard(number)
        self.send({"id": number, "error": {"code": code, "message": reason}})

    def _require_ready(self, number: int | str, method: str) -> None:
        """Refuse a request that comes too early or too late, and one that we do not know."""
        if number in self.cancelled:
            raise RequestRefused(protocol.REQUEST_CANCELLED, "cancelled by the client")
        if self._state == "new" and method != "initialize":
            raise RequestRefused(protocol.NOT_INITIALISED, "`initialize` must come first")
        if self._state == "over":
            raise RequestRefused(protocol.INVALID_REQUEST, "the server is shutting down")
        if method not in _REQUESTS:
            raise RequestRefused(protocol.METHOD_NOT_FOUND, f"there is no method `{method}`")

    def _handle_notification(self, method: str, params: msgspec.Raw) -> None:
        if method == "exit":
            self.ended = 0 if self._state == "over" else 1
            return
        if method == _DID_CHANGE:
            self._discard_pending_change(params)
        handler = _NOTIFICATIONS.get(method)
        if handler is None or self._state != "ready":
            return
        shape, function = handler
        try:
            function(self, _decode_params(params, shape))
        except RequestRefused as refusal:
            self._log(f"{method}: {refusal.reason}")
        except Exception as problem:
            self._log(_describe_bug(problem))

    def _discard_pending_change(self, params: msgspec.Raw) -> None:
        """Count a change as handled, whether or not it succeeds."""
        uri = _uri_in(params)
        self.changing[uri] -= 1
        if self.changing[uri] <= 0:
            del self.changing[uri]

    def _require_current(self, method: str, params: Any) -> None:
        """Refuse a request about a text that the client has changed since."""
        if method in _TEXT_REQUESTS and self.changing[params.text_document.uri] > 0:
            raise RequestRefused(protocol.CONTENT_MODIFIED, "the text has changed")

    def _notify(self, method: str, params: Any) -> None:
        self.send({"method": method, "params": params})

    def _log(self, words: str) -> None:
        self._notify("window/logMessage", {"type": _ERROR, "message": f"equipage: {words}"})

    def _request(self, method: str, params: Any = None) -> None:
        """Ask the client for something; nothing depends on its answer."""
        self._asked += 1
        message = {"id": f"equipage-{self._asked}", "method": method}
        self.send(message if params is None else {**message, "params": params})

    def _client_capability(self, *path: str) -> Any:
        """Return a capability that the client announced; None if it did not."""
        return get(self._capabilities, path)

    # The life of a server.

    def _initialize(self, params: protocol.InitializeParams) -> dict[str, Any]:
        if self._state != "new":
            raise RequestRefused(protocol.INVALID_REQUEST, "`initialize` came twice")
        self._capabilities = params.capabilities
        self._client = params.process_id or 0
        # Three generations of the protocol: folders, one root address, one root path.
        named = [each.uri for each in params.workspace_folders or ()]
        if not named and params.root_uri:
            named = [params.root_uri]
        folders = [path for each in named if (path := path_of(each)) is not None]
        if not named and params.root_path:
            folders = [params.root_path]
        if folders:  # names that people are shown start there
            self._enter(folders[0])
        # In the order of the client, which knows what its own texts are made of.
        offered = self._client_capability("general", "positionEncodings") or ()
        known: Iterator[Encoding] = (each for name in offered for each in ENCODINGS if name == each)
        encoding: Encoding = next(known, "utf-16")
        self.workspace = EditorWorkspace(
            folders,
            env=self._env,
            encoding=encoding,
            options=self._options,
            roots=self._roots,
            kind=self._kind,
        )
        refreshes = bool(self._client_capability("workspace", "diagnostics", "refreshSupport"))
        pulls = refreshes and self._client_capability("textDocument", "diagnostic") is not None
        whole = get(params.initialization_options, ("workspace",)) is not False
        self.publisher = self._new_publisher(pulls=pulls, whole=whole)
        self._state = "ready"
        info = {"name": "equipage", "version": __version__}
        return {
            "capabilities": self._server_capabilities(encoding, pulls=pulls),
            "serverInfo": info,
        }

    def _new_publisher(self, **options: bool) -> Publisher:
        return Publisher(
            self.workspace,
            notify=self._notify,
            answer=self._answer,
            refresh=lambda: self._request("workspace/diagnostic/refresh"),
            surveyed=self.inbox.put,  # from another thread
            site=self.site,
            **options,
        )

    def _server_capabilities(self, encoding: Encoding, *, pulls: bool) -> dict[str, Any]:
        """What this server can do."""
        pulled = {
            "identifier": "equipage",
            "interFileDependencies": True,
            "workspaceDiagnostics": True,
        }
        return {
            "positionEncoding": encoding,
            "textDocumentSync": {"openClose": True, "change": 2, "save": True},
            "codeActionProvider": {"codeActionKinds": [fixes.QUICK_FIX, fixes.OWN_FIX_ALL]},
            "hoverProvider": True,
            "completionProvider": {"triggerCharacters": ["$", "{", "/", "@", "-", ":", " ", '"']},
            "definitionProvider": True,
            "referencesProvider": True,
            "renameProvider": {"prepareProvider": True},
            "documentLinkProvider": {"resolveProvider": False},
            "workspaceSymbolProvider": True,
            "executeCommandProvider": {"commands": [fixes.EXPLAIN_COMMAND]},
            "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
            **({"diagnosticProvider": pulled} if pulls else {}),
        }

    def _handle_initialized(self, _params: Any) -> None:
        if self._client_capability("workspace", "didChangeWatchedFiles", "dynamicRegistration"):
            # The client watches, so that no thread of ours has to.
            watchers = {"watchers": [{"globPattern": _WATCHED_FILES}]}
            registration = {
                "id": "equipage-files",
                "method": "workspace/didChangeWatchedFiles",
                "registerOptions": watchers,
            }
            self._request("client/registerCapability", {"registrations": [registration]})
        self.publisher.survey_now()

    def _shutdown(self, _params: Any) -> None:
        self._state = "over"
        self.publisher.stop()

    # Texts and files.

    def _did_open(self, params: protocol.DidOpenParams) -> None:
        document = params.text_document
        self.workspace.did_open(document.uri, document.text, document.version)
        self.publisher.text_changed(document.uri)

    def _did_change(self, params: protocol.DidChangeParams) -> None:
        document = params.text_document
        self.workspace.did_change(document.uri, params.content_changes, document.version)
        self.publisher.text_changed(document.uri)

    def _did_close(self, params: protocol.DocumentParams) -> None:
        uri = params.text_document.uri
        opened = self.workspace.open.get(uri)
        self.workspace.did_close(uri)
        self.publisher.text_closed(uri, opened)

    def _did_save(self, params: protocol.DocumentParams) -> None:
        self.publisher.survey_soon()

    def _did_change_files(self, params: protocol.WatchedFilesParams) -> None:
        for each in params.changes:
            path = path_of(each.uri)
            # The text of an open file is what the editor says, and not what is on the disk.
            if path is not None and self.workspace.opened_at(path) is None:
                self.workspace.touch(path, came_or_went=each.type != 2)
        self.publisher.files_changed()

    def _did_change_folders(self, params: protocol.FoldersChangedParams) -> None:
        gone = {path_of(each.uri) for each in params.event.removed}
        kept = [each for each in self.workspace.folders if each not in gone]
        added = [path for each in params.event.added if (path := path_of(each.uri)) is not None]
        self.workspace.folders = list(dict.fromkeys([*kept, *added]))
        self.workspace.touch()
        self.publisher.survey_soon()

    def _did_change_settings(self, params: protocol.Configuration) -> None:
        """Settings of the client, for those that do not start a server anew."""
        whole = get(params.settings, ("equipage", "workspace"))
        if isinstance(whole, bool):
            self.publisher.set_whole_workspace(whole=whole)

    def do_idle_work(self) -> None:
        """Do the work that is left for when no message waits."""
        if self._client and not self._is_alive(self._client):
            self.ended = 1
        if self._state == "ready":
            self._run_guarded(self.publisher.work)

    def _run_guarded(self, work: Callable[[], None]) -> None:
        """Run background work; an exception is logged, and the server goes on."""
        try:
            work()
        except (BrokenPipeError, ConnectionError):
            raise  # the client is gone
        except Exception as problem:
            self._log(_describe_bug(problem))

    def _diagnostics(self, params: protocol.DocumentDiagnostics) -> dict[str, Any]:
        return self.publisher.document_report(params)

    # What can be done about findings.

    def _code_actions(
        self, opened: Opened, params: protocol.CodeActionParams
    ) -> list[protocol.CodeAction]:
        found, only = self.publisher.findings(opened), params.context.only
        return fixes.code_actions(self.workspace, opened, found, params.range, only, self.site)

    def _execute(self, params: protocol.ExecuteCommandParams) -> None:
        arguments = params.arguments or []
        if params.command != fixes.EXPLAIN_COMMAND or not arguments:
            raise RequestRefused(protocol.INVALID_PARAMS, f"there is no command `{params.command}`")
        code = str(arguments[0])
        if self.site is not None and self._client_capability("window", "showDocument", "support"):
            page = code_page_url(self.site, code)
            self._request("window/showDocument", {"uri": page, "external": True})
            return
        words = fixes.explain_code(code)
        if words is None:
            raise RequestRefused(protocol.INVALID_PARAMS, f"there is no code `{code}`")
        self._notify("window/showMessage", {"type": _INFO, "message": words})

    # Questions about a text: each is answered by a function of its own.

    def _hover(self, opened: Opened, params: protocol.PositionParams) -> protocol.Hover | None:
        return hover_at(self.workspace, opened, params.position)

    def _completion(self, opened: Opened, params: protocol.PositionParams) -> Any:
        path = ("textDocument", "completion", "completionItem", "snippetSupport")
        snippets = bool(self._client_capability(*path))
        return completions_at(self.workspace, opened, params.position, snippets=snippets)

    def _definition(self, opened: Opened, params: protocol.PositionParams) -> Any:
        return navigation.definitions_at(self.workspace, opened, params.position)

    def _references(self, opened: Opened, params: protocol.ReferenceParams) -> Any:
        declared = params.context.include_declaration
        return navigation.references_at(self.workspace, opened, params.position, declared=declared)

    def _prepare_rename(self, opened: Opened, params: protocol.PositionParams) -> protocol.Range:
        return navigation.renamable_range(self.workspace, opened, params.position)

    def _rename(self, opened: Opened, params: protocol.RenameParams) -> protocol.WorkspaceEdit:
        operations = (
            self._client_capability("workspace", "workspaceEdit", "resourceOperations") or ()
        )
        moves, new = "rename" in operations, params.new_name
        return navigation.rename(self.workspace, opened, params.position, new, moves=moves)

    def _document_links(self, opened: Opened, _params: Any) -> list[protocol.DocumentLink]:
        return navigation.document_links(self.workspace, opened)

    def _workspace_symbols(self, params: protocol.SymbolParams) -> list[protocol.WorkspaceSymbol]:
        return navigation.workspace_symbols(self.workspace, params.query)


def _decode_params(params: msgspec.Raw, shape: type[T]) -> T:
    """Decode the parameters of a message. Raises `RequestRefused`."""
    try:
        return msgspec.json.decode(bytes(params) or b"{}", type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RequestRefused(protocol.INVALID_PARAMS, str(error)) from None


def _describe_bug(error: Exception) -> str:
    """Where something failed; not its words, which may hold a value of the environment."""
    return f"a bug in equipage: {describe_exception(error)}"


def _make_text_handler(
    answer: Callable[[Server, Opened, Any], Any], otherwise: Any = ()
) -> Callable[[Server, Any], Any]:
    """A handler of requests about open texts; its answer about any other is `otherwise`."""

    def answer_if_open(server: Server, params: Any) -> Any:
        opened = server.workspace.open.get(params.text_document.uri)
        return otherwise if opened is None else answer(server, opened, params)

    return answer_if_open


_REQUESTS: dict[str, tuple[Any, Callable[[Server, Any], Any]]] = {
    "initialize": (protocol.InitializeParams, Server._initialize),
    "shutdown": (Any, Server._shutdown),
    "textDocument/diagnostic": (protocol.DocumentDiagnostics, Server._diagnostics),
    # The publisher answers it.
    _WORKSPACE_DIAGNOSTIC: (protocol.WorkspaceDiagnostics, lambda *_: None),
    "textDocument/codeAction": (
        protocol.CodeActionParams,
        _make_text_handler(Server._code_actions),
    ),
    "workspace/executeCommand": (protocol.ExecuteCommandParams, Server._execute),
    "textDocument/hover": (protocol.PositionParams, _make_text_handler(Server._hover, None)),
    "textDocument/completion": (protocol.PositionParams, _make_text_handler(Server._completion)),
    "textDocument/definition": (protocol.PositionParams, _make_text_handler(Server._definition)),
    "textDocument/references": (protocol.ReferenceParams, _make_text_handler(Server._references)),
    "textDocument/prepareRename": (
        protocol.PositionParams,
        _make_text_handler(Server._prepare_rename, None),
    ),
    "textDocument/rename": (protocol.RenameParams, _make_text_handler(Server._rename, None)),
    "textDocument/documentLink": (
        protocol.DocumentParams,
        _make_text_handler(Server._document_links),
    ),
    "workspace/symbol": (protocol.SymbolParams, Server._workspace_symbols),
}
_NOTIFICATIONS: dict[str, tuple[Any, Callable[[Server, Any], None]]] = {
    "initialized": (Any, Server._handle_initialized),
    "textDocument/didOpen": (protocol.DidOpenParams, Server._did_open),
    _DID_CHANGE: (protocol.DidChangeParams, Server._did_change),
    "textDocument/didClose": (protocol.DocumentParams, Server._did_close),
    "textDocument/didSave": (protocol.DocumentParams, Server._did_save),
    "workspace/didChangeConfiguration": (protocol.Configuration, Server._did_change_settings),
    "workspace/didChangeWatchedFiles": (protocol.WatchedFilesParams, Server._did_change_files),
    "workspace/didChangeWorkspaceFolders": (
        protocol.FoldersChangedParams,
        Server._did_change_folders,
    ),
}


def serve(reader: BinaryIO, writer: BinaryIO, **options: Any) -> int:
    """Serve the client at the other end of two streams; returns the exit code.

    Options are those of `Server`. The end of the input ends the server: the client is gone.
    """
    server = Server(lambda message: protocol.write_message(writer, message), **options)
    threading.Thread(
        target=_read_messages, args=(reader, server), name="reader", daemon=True
    ).start()
    try:
        while server.ended is None:
            try:
                item = server.inbox.get(timeout=server.publisher.seconds_until_work())
            except queue.Empty:
                server.do_idle_work()
                continue
            if item is None:
                return 0 if server._state == "over" else 1
            server.handle(item)
    except (BrokenPipeError, ConnectionError):
        return 1  # the client is gone
    return server.ended


def _read_messages(reader: BinaryIO, server: Server) -> None:
    """Put messages into the inbox; cancellations and changes are recorded at once."""
    while True:
        try:
            message = protocol.read_message(reader)
        except protocol.UnreadableMessage as problem:
            server.inbox.put(problem)
            continue
        except (OSError, ValueError):
            message = None  # the stream was closed
        # Handled here, not in order: the request must be dropped while it waits.
        if message is not None and message.method == "$/cancelRequest":
            _cancel(message.params, server)
            continue
        if message is not None and message.method == _DID_CHANGE:
            server.changing[_uri_in(message.params)] += 1
        elif message is not None and message.method is not None and message.id is not None:
            server.waiting.add(message.id)
        server.inbox.put(message)
        if message is None:
            return


def _cancel(params: msgspec.Raw, server: Server) -> None:
    """Mark a request as cancelled, unless it was answered already."""
    try:
        number = _decode_params(params, protocol.CancelParams).id
    except RequestRefused:
        return
    if number in server.waiting:
        server.cancelled.add(number)


def _uri_in(params: msgspec.Raw) -> str:
    """The text that a message is about; empty if it names none."""
    try:
        return _decode_params(params, protocol.DocumentParams).text_document.uri
    except RequestRefused:
        return ""
