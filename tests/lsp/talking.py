"""Clients of the language server: one in this process, and one over the streams of another."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from clock import HANGS
from equipage.lsp import Server
from equipage.lsp.protocol import Message, Position, Range, Text, uri_of

#: What a current editor says about itself, with pushed findings.
EDITOR = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {"completion": {"completionItem": {"snippetSupport": True}}},
    "workspace": {
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["rename"]},
    },
}
PULLING = {
    **EDITOR,
    "textDocument": {"diagnostic": {}},
    "workspace": {"diagnostics": {"refreshSupport": True}},
}


def plain(value: Any) -> Any:
    """An answer as it goes over the wire."""
    return json.loads(msgspec.json.encode(value))


class Here:
    """A server in this process: every message is handled before the call returns."""

    def __init__(
        self,
        folder: Path | None,
        capabilities: Mapping[str, Any] = EDITOR,
        env: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        self.sent: list[Any] = []
        self.server = Server(lambda each: self.sent.append(plain(each)), env=env or {}, **more)
        self.folder = folder
        self.number = 0
        root = None if folder is None else uri_of(str(folder))
        params = {"processId": None, "rootUri": root, "capabilities": capabilities}
        self.offered = self.ask("initialize", {**params, "initializationOptions": options})
        self.tell("initialized", {})

    def uri(self, name: str) -> str:
        assert self.folder is not None
        return uri_of(str(self.folder / name))

    def tell(self, method: str, params: Any) -> None:
        self.server.handle(Message(method, params=msgspec.Raw(json.dumps(params).encode())))

    def request(self, method: str, params: Any) -> dict[str, Any]:
        """The whole answer to a request."""
        self.number += 1
        raw = msgspec.Raw(json.dumps(params).encode())
        self.server.handle(Message(method, self.number, raw))
        return next(each for each in reversed(self.sent) if each.get("id") == self.number)

    def ask(self, method: str, params: Any) -> Any:
        answer = self.request(method, params)
        assert "error" not in answer, answer
        return answer["result"]

    def settle(self) -> None:
        """Let the server do everything that waits: checks, and surveys until one counts."""
        server, publisher = self.server, self.server.publisher
        for _ in range(200):
            while publisher._dirty:
                server.do_idle_work()
            if publisher.is_idle:
                return
            if publisher._survey is None:
                publisher.survey_now()
                server.do_idle_work()
            server.handle(server.inbox.get(timeout=HANGS))
        raise AssertionError("the server does not come to rest")

    def open(self, name: str, text: str | None = None) -> str:
        assert self.folder is not None
        text = (self.folder / name).read_text() if text is None else text
        item = {"uri": self.uri(name), "text": text, "version": 1, "languageId": ""}
        self.tell("textDocument/didOpen", {"textDocument": item})
        return self.uri(name)

    def change(self, name: str, text: str, version: int = 2) -> None:
        document = {"uri": self.uri(name), "version": version}
        params = {"textDocument": document, "contentChanges": [{"text": text}]}
        self.tell("textDocument/didChange", params)

    def published(self, name: str) -> list[dict[str, Any]]:
        """What was published last for a file."""
        found = [
            each["params"]["diagnostics"]
            for each in self.sent
            if each.get("method") == "textDocument/publishDiagnostics"
            and each["params"]["uri"] == self.uri(name)
        ]
        return found[-1] if found else []

    def at(self, name: str, mark: str, *, after: bool = False) -> dict[str, Any]:
        """The parameters of a request about the place where an open text has `mark`."""
        text = self.server.workspace.open[self.uri(name)].text
        offset = text.text.index(mark) + (len(mark) if after else 0)
        return {"textDocument": {"uri": self.uri(name)}, "position": plain(text.position(offset))}

    def edited(self, name: str, edit: Any) -> str:
        """The open text after an edit of the workspace that the server gave."""
        text: Text = self.server.workspace.open[self.uri(name)].text
        return applied(text, edits_of(edit)[self.uri(name)])


def edits_of(edit: Any) -> dict[str, list[Any]]:
    """The edits of a workspace edit by address."""
    found = dict(edit.get("changes") or {})
    for each in edit.get("documentChanges") or ():
        if "edits" in each:
            found.setdefault(each["textDocument"]["uri"], []).extend(each["edits"])
    return found


def applied(text: Text, edits: list[Any]) -> str:
    """A text with edits that must not overlap."""
    places = [(msgspec.convert(each["range"], Range), each["newText"]) for each in edits]
    result, last = text.text, len(text.text)
    for place, new in sorted(places, key=lambda each: each[0].start, reverse=True):
        start, end = text.offset(place.start), text.offset(place.end)
        assert start <= end <= last, "edits overlap"
        result, last = result[:start] + new + result[end:], start
    return result


def position(line: int, character: int) -> Position:
    return Position(line, character)


# Over streams.


class Client:
    """A client of a server in a process of its own."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.number = 0
        self.sent: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        stream = self.process.stdout
        while True:
            header = stream.readline()
            if not header:
                self.sent.put(None)
                stream.close()
                return
            length = int(header.split(b":")[1])
            stream.readline()
            self.sent.put(json.loads(stream.read(length)))

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def tell(self, method: str, params: Any, **more: Any) -> None:
        data = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        self.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)

    def ask(self, method: str, params: Any, seconds: float = HANGS) -> dict[str, Any]:
        self.number += 1
        number = self.number
        self.tell(method, params, id=number)
        return self.wait(lambda each: each.get("id") == number and "method" not in each, seconds)

    def wait(
        self, fits: Callable[[dict[str, Any]], bool], seconds: float = HANGS
    ) -> dict[str, Any]:
        """The next message that fits; others are dropped."""
        end = time.monotonic() + seconds
        while True:
            each = self.sent.get(timeout=max(0.0, end - time.monotonic()))
            assert each is not None, "the server is gone"
            if fits(each):
                return each

    def published(
        self, uri: str, seconds: float = HANGS, *, version: int | None = None
    ) -> list[dict[str, Any]]:
        """What is published next for a file, or for one version of its text."""

        def fits(each: dict[str, Any]) -> bool:
            is_push = each.get("method") == "textDocument/publishDiagnostics"
            if not is_push or each["params"]["uri"] != uri:
                return False
            return version is None or each["params"].get("version") == version

        found: list[dict[str, Any]] = self.wait(fits, seconds)["params"]["diagnostics"]
        return found


@contextmanager
def running(folder: Path, capabilities: Mapping[str, Any] = EDITOR, **env: str) -> Iterator[Client]:
    """A server over streams that was initialised for a folder."""
    command = [sys.executable, "-m", "equipage", "lsp"]
    process = subprocess.Popen(
        command, stdin=-1, stdout=-1, stderr=-1, cwd=folder, env={**os.environ, **env}
    )
    client = Client(process)
    try:
        root = uri_of(str(folder))
        params = {"processId": os.getpid(), "rootUri": root, "capabilities": capabilities}
        client.ask("initialize", params)
        client.tell("initialized", {})
        yield client
    finally:
        process.kill()
        process.wait(HANGS)
        for stream in (process.stdin, process.stderr):
            assert stream is not None
            stream.close()
        client.thread.join(HANGS)
