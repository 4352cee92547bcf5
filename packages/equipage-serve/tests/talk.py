"""A client of `equipage serve` that can misbehave: lines as they are, and requests over HTTP."""

from __future__ import annotations

import http.client
import json
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Self

from clock import HANGS, Stopwatch
from lab import MEASURED, environment

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}
TRUSTED = ("--unlocked", "--yes", "--isolation", "best")


class Server:
    """`equipage serve` as a process."""

    def __init__(self, *arguments: str, env: dict[str, str] | None = None, **more: Any) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "equipage", "serve", *arguments, *TRUSTED],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(**MEASURED, **(env or {})),
            **more,
        )
        self.notes: list[str] = []
        self._noted = threading.Thread(target=self._collect_notes, daemon=True)
        self._noted.start()

    def _collect_notes(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.notes.append(line.decode().rstrip())

    def note(self, pattern: str) -> re.Match[str]:
        """The first line of standard error that matches."""
        end = time.monotonic() + HANGS
        is_last = False
        while not is_last:
            # Nothing is written any more after the last look.
            is_last = not self._noted.is_alive() or time.monotonic() > end
            for line in tuple(self.notes):
                if found := re.search(pattern, line):
                    return found
            time.sleep(0.02)
        raise AssertionError((pattern, self.notes))

    def descendants(self) -> list[int]:
        """Every process below the server."""
        found, waiting = [], [self.process.pid]
        while waiting:
            here = waiting.pop()
            try:
                tasks = list(Path(f"/proc/{here}/task").iterdir())
                inner = [int(w) for t in tasks for w in (t / "children").read_text().split()]
            except OSError:
                continue
            found += inner
            waiting += inner
        return found

    def end(self, number: int | None = None) -> int:
        """End the server by a signal, or by closing its input; the exit code."""
        below = self.descendants()
        assert self.process.stdin is not None
        watch = Stopwatch(self.process.pid, *below)
        if number is not None:
            self.process.send_signal(number)
        self.process.stdin.close()
        self.took = watch.until(lambda: self.process.poll() is not None, 20)
        code = self.process.returncode
        self._noted.join(HANGS)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.process.stdout.close()
        self.process.stderr.close()
        Stopwatch(*below).until(lambda: not any(is_there(each) for each in below), 5)
        return code

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.end(signal.SIGTERM)


def is_there(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def wait_until(holds: Any, seconds: float = HANGS) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


class Lines(Server):
    """A client over standard input and output, of the older or the newer revision."""

    def __init__(self, *arguments: str, modern: bool, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.modern = modern
        self._number = 0
        self.received: queue.Queue[dict[str, Any]] = queue.Queue()
        self.other: list[dict[str, Any]] = []  #: what was received and not asked for
        threading.Thread(target=self._collect, daemon=True).start()
        if not modern:
            client = {"name": "test", "version": "1"}
            opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
            self.opened = self.ask("initialize", **opening)
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _collect(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.received.put(json.loads(line))

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Any) -> None:
        self.raw(json.dumps(message).encode() + b"\n")

    def start(self, method: str, meta: dict[str, Any] | None = None, **params: Any) -> int:
        """Send a request without waiting for its answer."""
        self._number += 1
        own = {**(META if self.modern else {}), **(meta or {})}
        if own:
            params["_meta"] = own
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        return self._number

    def answer(self, number: int | None, seconds: float = HANGS) -> dict[str, Any]:
        """The answer to a request; whatever else comes is kept in `other`."""
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            assert left > 0, (number, self.other, self.notes)
            try:
                found = self.received.get(timeout=left)
            except queue.Empty:
                continue
            if "id" in found and found["id"] == number and "method" not in found:
                return found
            self.other.append(found)

    def ask(self, method: str, meta: dict[str, Any] | None = None, **params: Any) -> Any:
        return self.answer(self.start(method, meta, **params))

    def call(self, tool: str, arguments: Any = None, **more: Any) -> Any:
        given = {} if arguments is None else {"arguments": arguments}
        return self.ask("tools/call", name=tool, **given, **more)


class Http(Server):
    """A client over HTTP."""

    def __init__(self, *arguments: str, token: str | None = "secret-token", **more: Any) -> None:
        env = {} if token is None else {"EQUIPAGE_SERVE_TOKEN": token}
        super().__init__(*arguments, "--transport", "http", env=env, **more)
        self.token = token
        self.port = int(self.note(r"http://127\.0\.0\.1:(\d+)/mcp")[1])

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANGS)

    def headers(self, method: str, name: str | None = None) -> dict[str, str]:
        return {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": MODERN,
            "mcp-method": method,
            **({"mcp-name": name} if name else {}),
            **({"authorization": f"Bearer {self.token}"} if self.token else {}),
        }

    def post(
        self,
        method: str,
        params: dict[str, Any],
        headers: dict[str, str] | None = None,
        meta: dict[str, Any] = META,
    ) -> tuple[int, Any]:
        """A request of the newer revision: its status and its body."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        given = {**self.headers(method, params.get("name") or params.get("uri")), **(headers or {})}
        connection = self.connection()
        connection.request("POST", "/mcp", json.dumps(body), given)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, _body(data, answer.headers.get("content-type", ""))


def _body(data: bytes, content_type: str) -> Any:
    if content_type.startswith("text/event-stream"):
        found = [line[6:] for line in data.decode().splitlines() if line.startswith("data: ")]
        return json.loads(found[-1])
    try:
        return json.loads(data)
    except ValueError:
        return data.decode()
