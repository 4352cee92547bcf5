"""The server: messages in, answers out. What an answer holds is decided elsewhere.

One thread reads messages and one handles them, in order. When no message waits, the texts that
changed are checked and their findings published; when it has been quiet for a moment, another
thread surveys the workspace. Requests that the client cancelled, and those about a text that has
changed since, are refused without being worked on.
"""

from __future__ import annotations

import hashlib
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from equipage import __version__
from equipage.core.diagnostics import Diagnostic as Finding
from equipage.core.diagnostics import UsageError, raised
from equipage.lsp import diagnostics, fixes, navigation, outline, protocol, renaming, wire
from equipage.lsp.completion import completion
from equipage.lsp.hover import hover
from equipage.lsp.positions import ENCODINGS, Encoding, path_of
from equipage.lsp.state import Opened, Survey, Workspace, findings_by_file
from equipage.lsp.wire import Message

T = TypeVar("T")
Send = Callable[[dict[str, Any]], None]

#: How long it must be quiet before the workspace is surveyed, in seconds.
QUIET = 0.3
#: How many messages may wait; beyond that the client has to.
_WAITING = 1000
#: Requests about a text that are worthless once it has changed.
_ABOUT_TEXT = frozenset(
    f"textDocument/{each}"
    for each in (
        "hover",
        "completion",
        "codeAction",
        "diagnostic",
        "documentLink",
        "documentSymbol",
        "foldingRange",
        "inlayHint",
    )
)
_WATCHED = "**/*.{yaml,yml,json,jsonc,toml,md,mdc,roomodes,hook}"
_INFO, _ERROR = 3, 1


class Refused(Exception):
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
        is_alive: Callable[[int], bool] = lambda _: True,
        enter: Callable[[str], object] = lambda _: None,
    ) -> None:
        """`site` is where pages of codes are published, `enter` makes a folder the working one."""
        self.send = send
        self.site = site
        self.ended: int | None = None  #: the exit code, once the client has asked for it
        self.workspace = Workspace()
        self.cancelled: set[int | str] = set()
        self.changing: Counter[str] = Counter()  #: texts with changes that wait to be handled
        self.inbox: queue.Queue[object] = queue.Queue(_WAITING)
        self._env, self._options, self._roots = env, options, roots
        self._is_alive, self._client = is_alive, 0
        self._enter = enter
        self._state = "new"
        self._capabilities: dict[str, Any] = {}
        self._pulls = False
        self._whole = True  #: whether files that are not open are checked, too
        self._dirty: dict[str, None] = {}  #: open texts to be checked
        self._found: dict[str, tuple[int, tuple[Finding, ...]]] = {}  #: by address, with generation
        self._surveyed: dict[str, tuple[Finding, ...]] = {}  #: by real path
        self._published: dict[str, bytes] = {}  #: what was sent last, by address
        self._survey: threading.Thread | None = None
        self._survey_due: float | None = None
        self._stop_survey = threading.Event()
        self._held: list[tuple[int | str, protocol.WorkspaceDiagnostics]] = []
        self._asked = 0  #: how many requests we sent

    # Messages.

    def handle(self, item: object) -> None:
        """Handle one item of the inbox: a message, what is wrong with one, or a survey."""
        if isinstance(item, wire.Unreadable):
            self.send({"id": None, "error": {"code": item.code, "message": item.reason}})
        elif isinstance(item, Survey):
            self._take(item)
        elif isinstance(item, Message) and item.method is not None:
            if item.id is None:
                self._notified(item.method, item.params)
            else:
                self._requested(item.id, item.method, item.params)

    def _requested(self, number: int | str, method: str, params: msgspec.Raw) -> None:
        try:
            self._require_ready(number, method)
            shape, function = _REQUESTS[method]
            decoded = _decoded(params, shape)
            self._require_current(method, decoded)
            if function is Server._workspace_diagnostics:
                self._held.append((number, decoded))
                self._answer_held()
                return
            result = function(self, decoded)
        except Refused as refusal:
            self._refuse(number, refusal.code, refusal.reason)
        except UsageError as problem:
            self._refuse(number, wire.REQUEST_FAILED, str(problem))
        except Exception as problem:
            self._refuse(number, wire.INTERNAL_ERROR, _bug(problem))
        else:
            self.send({"id": number, "result": result})
        finally:
            self.cancelled.discard(number)

    def _refuse(self, number: int | str, code: int, reason: str) -> None:
        self.send({"id": number, "error": {"code": code, "message": reason}})

    def _require_ready(self, number: int | str, method: str) -> None:
        """Refuse a request that comes too early or too late, and one that we do not know."""
        if number in self.cancelled:
            raise Refused(wire.CANCELLED, "cancelled by the client")
        if self._state == "new" and method != "initialize":
            raise Refused(wire.NOT_INITIALISED, "`initialize` must come first")
        if self._state == "over":
            raise Refused(wire.INVALID_REQUEST, "the server is shutting down")
        if method not in _REQUESTS:
            raise Refused(wire.METHOD_NOT_FOUND, f"there is no method `{method}`")

    def _notified(self, method: str, params: msgspec.Raw) -> None:
        if method == "exit":
            self.ended = 0 if self._state == "over" else 1
            return
        handler = _NOTIFICATIONS.get(method)
        if handler is None or self._state != "ready":
            return
        shape, function = handler
        try:
            function(self, _decoded(params, shape))
        except Refused as refusal:
            self._log(_ERROR, f"{method}: {refusal.reason}")
        except Exception as problem:
            self._log(_ERROR, _bug(problem))

    def _require_current(self, method: str, params: Any) -> None:
        """Refuse a request about a text that the client has changed since."""
        if method in _ABOUT_TEXT and self.changing[params.text_document.uri] > 0:
            raise Refused(wire.MODIFIED, "the text has changed")

    def _log(self, sort: int, words: str) -> None:
        params = {"type": sort, "message": f"equipage: {words}"}
        self.send({"method": "window/logMessage", "params": params})

    def _request(self, method: str, params: Any = None) -> None:
        """Ask the client for something; nothing depends on its answer."""
        self._asked += 1
        message = {"id": f"equipage-{self._asked}", "method": method}
        self.send(message if params is None else {**message, "params": params})

    def _can(self, *path: str) -> Any:
        """What the client says about itself."""
        found: Any = self._capabilities
        for step in path:
            found = found.get(step) if isinstance(found, dict) else None
        return found

    # The life of a server.

    def _initialize(self, params: protocol.Initialize) -> dict[str, Any]:
        if self._state != "new":
            raise Refused(wire.INVALID_REQUEST, "`initialize` came twice")
        self._capabilities = params.capabilities
        self._client = params.process_id or 0
        named = [each.uri for each in params.workspace_folders or ()]
        if not named and params.root_uri:
            named = [params.root_uri]
        folders = [path for each in named if (path := path_of(each)) is not None]
        if not named and params.root_path:
            folders = [params.root_path]
        if folders:  # names that people are shown start there
            self._enter(folders[0])
        own = params.initialization_options
        if isinstance(own, dict) and own.get("workspace") is False:
            self._whole = False
        offered = self._can("general", "positionEncodings") or ()
        known: Iterator[Encoding] = (each for name in offered for each in ENCODINGS if name == each)
        encoding: Encoding = next(known, "utf-16")
        self.workspace = Workspace(
            folders, env=self._env, encoding=encoding, options=self._options, roots=self._roots
        )
        # Findings are pulled or pushed, never both: editors would show them twice.
        refreshes = self._can("workspace", "diagnostics", "refreshSupport")
        self._pulls = self._can("textDocument", "diagnostic") is not None and bool(refreshes)
        self._state = "ready"
        info = {"name": "equipage", "version": __version__}
        return {"capabilities": self._offer(encoding), "serverInfo": info}

    def _offer(self, encoding: Encoding) -> dict[str, Any]:
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
            "documentSymbolProvider": True,
            "foldingRangeProvider": True,
            "inlayHintProvider": True,
            "executeCommandProvider": {"commands": [fixes.EXPLAIN]},
            "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}},
            **({"diagnosticProvider": pulled} if self._pulls else {}),
        }

    def _initialized(self, _params: Any) -> None:
        if self._can("workspace", "didChangeWatchedFiles", "dynamicRegistration"):
            watchers = {"watchers": [{"globPattern": _WATCHED}]}
            registration = {
                "id": "equipage-files",
                "method": "workspace/didChangeWatchedFiles",
                "registerOptions": watchers,
            }
            self._request("client/registerCapability", {"registrations": [registration]})
        self._survey_due = time.monotonic()

    def _shutdown(self, _params: Any) -> None:
        self._state = "over"
        self._stop_survey.set()

    # Texts and files.

    def _did_open(self, params: protocol.DidOpen) -> None:
        document = params.text_document
        self.workspace.did_open(document.uri, document.text, document.version)
        self._changed(document.uri)

    def _did_change(self, params: protocol.DidChange) -> None:
        document = params.text_document
        self.changing[document.uri] -= 1
        if self.changing[document.uri] <= 0:
            del self.changing[document.uri]
        self.workspace.did_change(document.uri, params.content_changes, document.version)
        self._changed(document.uri)

    def _did_close(self, params: protocol.Document) -> None:
        uri = params.text_document.uri
        opened = self.workspace.open.get(uri)
        self.workspace.did_close(uri)
        self._dirty.pop(uri, None)
        self._found.pop(uri, None)
        if opened is not None and not self.workspace.holds(opened.path):
            self._publish(uri, (), None)  # no survey looks at it
            self._published.pop(uri, None)
        self._survey_soon()

    def _did_save(self, params: protocol.Document) -> None:
        self._survey_soon()

    def _did_change_files(self, params: protocol.Watched) -> None:
        for each in params.changes:
            path = path_of(each.uri)
            # The text of an open file is what the editor says, and not what is on the disk.
            if path is not None and self.workspace.opened_at(path) is None:
                self.workspace.touch(path, came_or_went=each.type != 2)
        self._dirty.update(dict.fromkeys(self.workspace.open))
        self._survey_soon()

    def _did_change_folders(self, params: protocol.FoldersChanged) -> None:
        gone = {path_of(each.uri) for each in params.event.removed}
        kept = [each for each in self.workspace.folders if each not in gone]
        added = [path for each in params.event.added if (path := path_of(each.uri)) is not None]
        self.workspace.folders = list(dict.fromkeys([*kept, *added]))
        self.workspace.touch()
        self._survey_soon()

    def _changed(self, uri: str) -> None:
        self._dirty[uri] = None
        self._survey_soon()

    def _survey_soon(self) -> None:
        self._survey_due = time.monotonic() + QUIET
        self._stop_survey.set()

    # Findings.

    def findings(self, opened: Opened) -> tuple[Finding, ...]:
        """The findings in an open text as it is now."""
        known = self._found.get(opened.uri)
        if known is None or known[0] != self.workspace.generation:
            known = self.workspace.generation, self.workspace.check(opened)
            self._found[opened.uri] = known
        return known[1]

    def wait(self) -> float:
        """How long to wait for a message before `idle` has something to do."""
        if self._dirty:
            return 0.0
        if self._survey_due is not None and self._survey is None:
            return max(0.0, self._survey_due - time.monotonic())
        return 5.0

    def idle(self) -> None:
        """Do what waits until there are no messages."""
        if self._client and not self._is_alive(self._client):
            self.ended = 1
        if self._state != "ready":
            return
        if self._dirty:
            uri = next(iter(self._dirty))
            del self._dirty[uri]
            opened = self.workspace.open.get(uri)
            if opened is not None and not self._pulls:
                self._publish(uri, self.findings(opened), opened.version)
            return
        if self._survey_due is not None and time.monotonic() >= self._survey_due:
            self._start_survey()

    def _start_survey(self) -> None:
        if self._survey is not None:
            return  # it was asked to stop, and comes to the inbox when it has
        self._survey_due = None
        self._stop_survey = threading.Event()
        survey, stop = self.workspace.snapshot(), self._stop_survey
        if not self._whole:
            survey.folders = ()

        def run() -> None:
            try:
                survey.run(stop.is_set)
            finally:
                self.inbox.put(survey)

        self._survey = threading.Thread(target=run, name="survey", daemon=True)
        self._survey.start()

    def _take(self, survey: Survey) -> None:
        """Publish what a survey found."""
        self._survey = None
        if not self.workspace.take(survey) or survey.report is None:
            self._survey_due = self._survey_due or time.monotonic()
            return
        self._found.clear()
        self._surveyed = findings_by_file(survey.report)
        self._answer_held()
        if self._pulls:
            self._request("workspace/diagnostic/refresh")
            return
        own = {each.real: each for each in self.workspace.open.values()}
        files = {self.workspace.uri(path): path for path in self._surveyed}
        for uri in [*files, *(self._published.keys() - files.keys())]:
            if uri not in self.workspace.open:
                path = files.get(uri, "")
                self._publish(uri, self._surveyed.get(path, ()), None)
        for opened in own.values():
            self._publish(opened.uri, self.findings(opened), opened.version)

    def _publish(self, uri: str, findings: Sequence[Finding], version: int | None) -> None:
        """Send the findings of a file, unless the client has them already."""
        shown = diagnostics.shown(findings, self.workspace, self.site)
        data = msgspec.json.encode(shown)
        is_open = uri in self.workspace.open
        if not is_open and self._published.get(uri, b"[]") == data:
            return
        if shown or is_open:
            self._published[uri] = data
        else:
            self._published.pop(uri, None)
        params: dict[str, Any] = {"uri": uri, "diagnostics": shown}
        if version is not None:
            params["version"] = version
        self.send({"method": "textDocument/publishDiagnostics", "params": params})

    def _diagnostics(self, params: protocol.DocumentDiagnostics) -> dict[str, Any]:
        opened = self.workspace.open.get(params.text_document.uri)
        findings: tuple[Finding, ...] = ()
        if opened is not None:
            self._dirty.pop(opened.uri, None)
            findings = self.findings(opened)
        return self._report(findings, params.previous_result_id)

    def _report(self, findings: Sequence[Finding], previous: str | None) -> dict[str, Any]:
        items = diagnostics.shown(findings, self.workspace, self.site)
        number = hashlib.sha256(msgspec.json.encode(items)).hexdigest()[:16]
        if number == previous:
            return {"kind": "unchanged", "resultId": number}
        return {"kind": "full", "resultId": number, "items": items}

    def _workspace_diagnostics(self, params: protocol.WorkspaceDiagnostics) -> dict[str, Any]:
        previous = {each.uri: each.value for each in params.previous_result_ids}
        files = {self.workspace.uri(path): found for path, found in self._surveyed.items()}
        items: list[dict[str, Any]] = []
        for uri in dict.fromkeys([*files, *previous]):
            opened = self.workspace.open.get(uri)
            findings = files.get(uri, ()) if opened is None else self.findings(opened)
            report = self._report(findings, previous.get(uri))
            version = None if opened is None else opened.version
            items.append({"uri": uri, "version": version, **report})
        return {"items": items}

    def _answer_held(self) -> None:
        """Answer requests for the findings of the workspace, if they are known."""
        if self.workspace.surveyed != self.workspace.generation:
            return
        held, self._held = self._held, []
        for number, params in held:
            self.send({"id": number, "result": self._workspace_diagnostics(params)})

    # What can be done about findings.

    def _actions(self, params: protocol.ActionsIn) -> list[protocol.CodeAction]:
        opened = self._opened(params.text_document)
        if opened is None:
            return []
        found, only = self.findings(opened), params.context.only
        return fixes.actions(self.workspace, opened, found, params.range, only, self.site)

    def _execute(self, params: protocol.Execute) -> None:
        arguments = params.arguments or []
        if params.command != fixes.EXPLAIN or not arguments:
            raise Refused(wire.INVALID_PARAMS, f"there is no command `{params.command}`")
        code = str(arguments[0])
        if self.site is not None and self._can("window", "showDocument", "support"):
            page = f"{self.site}/reference/codes/{code}/"
            self._request("window/showDocument", {"uri": page, "external": True})
            return
        words = fixes.explained(code)
        if words is None:
            raise Refused(wire.INVALID_PARAMS, f"there is no code `{code}`")
        params_ = {"type": _INFO, "message": words}
        self.send({"method": "window/showMessage", "params": params_})

    def _opened(self, document: protocol.Identifier) -> Opened | None:
        return self.workspace.open.get(document.uri)

    # Questions about a text: each is answered by a function of its own.

    def _hover(self, params: protocol.At) -> protocol.Hover | None:
        opened = self._opened(params.text_document)
        return None if opened is None else hover(self.workspace, opened, params.position)

    def _completion(self, params: protocol.At) -> Any:
        opened = self._opened(params.text_document)
        if opened is None:
            return []
        path = ("textDocument", "completion", "completionItem", "snippetSupport")
        snippets = bool(self._can(*path))
        with self.workspace.overlaid():
            return completion(self.workspace, opened, params.position, snippets=snippets)

    def _definition(self, params: protocol.At) -> list[protocol.Location]:
        opened = self._opened(params.text_document)
        if opened is None:
            return []
        return navigation.definition(self.workspace, opened, params.position)

    def _references(self, params: protocol.ReferencesTo) -> list[protocol.Location]:
        opened = self._opened(params.text_document)
        if opened is None:
            return []
        declared = params.context.include_declaration
        return navigation.references_at(self.workspace, opened, params.position, declared=declared)

    def _prepare_rename(self, params: protocol.At) -> Any:
        opened = self._opened(params.text_document)
        if opened is None:
            return None
        return renaming.renamable(self.workspace, opened, params.position)

    def _rename(self, params: protocol.RenameTo) -> protocol.WorkspaceEdit | None:
        opened = self._opened(params.text_document)
        if opened is None:
            return None
        operations = self._can("workspace", "workspaceEdit", "resourceOperations") or ()
        moves, new = "rename" in operations, params.new_name
        return renaming.rename(self.workspace, opened, params.position, new, moves=moves)

    def _links(self, params: protocol.Document) -> list[protocol.Link]:
        opened = self._opened(params.text_document)
        return [] if opened is None else navigation.links(self.workspace, opened)

    def _symbols(self, params: protocol.Document) -> list[protocol.Symbol]:
        opened = self._opened(params.text_document)
        return [] if opened is None else outline.symbols(self.workspace, opened)

    def _folds(self, params: protocol.Document) -> list[protocol.Folding]:
        opened = self._opened(params.text_document)
        return [] if opened is None else outline.folds(self.workspace, opened)

    def _hints(self, params: protocol.Within) -> list[protocol.Hint]:
        opened = self._opened(params.text_document)
        return [] if opened is None else outline.hints(self.workspace, opened, params.range)


def _decoded(params: msgspec.Raw, shape: type[T]) -> T:
    """The parameters of a message. Raises `Refused`."""
    try:
        return msgspec.json.decode(bytes(params) or b"{}", type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refused(wire.INVALID_PARAMS, str(error)) from None


def _bug(error: Exception) -> str:
    """Where something failed; not its words, which may hold a value of the environment."""
    return f"a bug in equipage: {raised(error)}"


_REQUESTS: dict[str, tuple[Any, Callable[[Server, Any], Any]]] = {
    "initialize": (protocol.Initialize, Server._initialize),
    "shutdown": (Any, Server._shutdown),
    "textDocument/diagnostic": (protocol.DocumentDiagnostics, Server._diagnostics),
    "workspace/diagnostic": (protocol.WorkspaceDiagnostics, Server._workspace_diagnostics),
    "textDocument/codeAction": (protocol.ActionsIn, Server._actions),
    "workspace/executeCommand": (protocol.Execute, Server._execute),
    "textDocument/hover": (protocol.At, Server._hover),
    "textDocument/completion": (protocol.At, Server._completion),
    "textDocument/definition": (protocol.At, Server._definition),
    "textDocument/references": (protocol.ReferencesTo, Server._references),
    "textDocument/prepareRename": (protocol.At, Server._prepare_rename),
    "textDocument/rename": (protocol.RenameTo, Server._rename),
    "textDocument/documentLink": (protocol.Document, Server._links),
    "textDocument/documentSymbol": (protocol.Document, Server._symbols),
    "textDocument/foldingRange": (protocol.Document, Server._folds),
    "textDocument/inlayHint": (protocol.Within, Server._hints),
}
_NOTIFICATIONS: dict[str, tuple[Any, Callable[[Server, Any], None]]] = {
    "initialized": (Any, Server._initialized),
    "textDocument/didOpen": (protocol.DidOpen, Server._did_open),
    "textDocument/didChange": (protocol.DidChange, Server._did_change),
    "textDocument/didClose": (protocol.Document, Server._did_close),
    "textDocument/didSave": (protocol.Document, Server._did_save),
    "workspace/didChangeWatchedFiles": (protocol.Watched, Server._did_change_files),
    "workspace/didChangeWorkspaceFolders": (protocol.FoldersChanged, Server._did_change_folders),
}


def serve(reader: wire.Reader, writer: wire.Writer, **options: Any) -> int:
    """Serve the client at the other end of two streams; returns the exit code.

    Options are those of `Server`. The end of the input ends the server: the client is gone.
    """
    server = Server(lambda message: wire.write_message(writer, message), **options)
    threading.Thread(target=_read, args=(reader, server), name="reader", daemon=True).start()
    try:
        while server.ended is None:
            try:
                item = server.inbox.get(timeout=server.wait())
            except queue.Empty:
                server.idle()
                continue
            if item is None:
                return 0 if server._state == "over" else 1
            server.handle(item)
    except (BrokenPipeError, ConnectionError):
        return 1  # the client is gone
    return server.ended


def _read(reader: wire.Reader, server: Server) -> None:
    """Put messages into the inbox; what concerns those that wait there is noted at once."""
    while True:
        try:
            message = wire.read_message(reader)
        except wire.Unreadable as problem:
            server.inbox.put(problem)
            continue
        except (OSError, ValueError):
            message = None  # the stream was closed
        if message is not None and message.method == "$/cancelRequest":
            _cancel(message.params, server)
            continue
        if message is not None and message.method == "textDocument/didChange":
            _note_change(message.params, server)
        server.inbox.put(message)
        if message is None:
            return


def _cancel(params: msgspec.Raw, server: Server) -> None:
    try:
        server.cancelled.add(_decoded(params, protocol.Cancel).id)
    except Refused:
        return


def _note_change(params: msgspec.Raw, server: Server) -> None:
    try:
        server.changing[_decoded(params, protocol.Document).text_document.uri] += 1
    except Refused:
        return
