"""MCP over HTTP: who may enter, and what happens to calls of clients that vanish."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clock import HANGS, Stopwatch
from lab import Later, needs
from packs import COUNT, EVERYTHING, TEXT, WORDS, pack, write_packs
from talk import META, Http, is_there, wait_until

needs("mcp", "the extra `serve` is not installed")

http = Later("equipage_serve.wire.http")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="tools are confined on Linux")

TOOLS = """
import os, time
def count(p): return {"words": len(p["text"].split()), "pid": os.getpid()}
def hang(p):
    open("pid", "w").write(str(os.getpid()))
    time.sleep(60)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    packs = [
        pack("t.count", "tools:count", inputSchema=TEXT, outputSchema=COUNT, deterministic=True),
        pack("t.hang", "tools:hang", caps={"filesystem": {"write": ["."]}}, timeoutMs=15000),
    ]
    return write_packs(tmp_path_factory.mktemp("door"), packs, {"tools.py": TOOLS})


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Http]:
    with Http(str(folder), "--allow", "python") as made:
        yield made


def test_a_call(server: Http) -> None:
    status, body = server.post("tools/call", {"name": "t.count", "arguments": WORDS})
    assert (status, body["result"]["structuredContent"]["words"]) == (200, 3)
    _, again = server.post("tools/call", {"name": "t.count", "arguments": WORDS})
    assert again["result"]["_meta"]["equipage/execution"]["cacheHit"] is True


LIST: dict[str, Any] = {}
DOORS = {
    "no token": ({"authorization": ""}, 401),
    "wrong token": ({"authorization": "Bearer wrong"}, 401),
    "foreign origin": ({"origin": "http://evil.example"}, 403),
    "own origin": ({"origin": "http://localhost:1"}, 200),
    "foreign host": ({"host": "evil.example"}, 421),
    "other method in the header": ({"mcp-method": "tools/call"}, 400),
    "another revision in the header": ({"mcp-protocol-version": "2099-01-01"}, 400),
    "not JSON": ({"content-type": "text/plain"}, 400),
}


@pytest.mark.parametrize("name", DOORS)
def test_the_door(name: str, server: Http) -> None:
    headers, status = DOORS[name]
    found, body = server.post("tools/list", LIST, headers)
    assert found == status, body


def test_an_unknown_revision(server: Http) -> None:
    meta = {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}
    headers = {"mcp-protocol-version": "2099-01-01"}
    status, body = server.post("tools/list", LIST, headers, meta=meta)
    assert (status, body["error"]["code"]) == (400, -32022)


def test_other_methods_and_bodies(server: Http) -> None:
    connection = server.connection()
    connection.request("GET", "/mcp", headers=server.headers("tools/list"))
    assert connection.getresponse().status in (400, 405)
    connection.close()
    for body, status in ((b"x" * 2_000_000, 413), (b"[]", 400), (b"{", 400), (b"[" * 20_000, 400)):
        connection = server.connection()
        connection.request("POST", "/mcp", body, server.headers("tools/list"))
        assert connection.getresponse().status == status
        connection.close()


def test_a_client_that_leaves_ends_its_call(server: Http, folder: Path) -> None:
    """In the newer revision, a closed connection is a cancelled call."""
    (folder / "pid").unlink(missing_ok=True)
    connection = server.connection()
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "t.hang", "arguments": {}, "_meta": META},
    }
    headers = server.headers("tools/call", "t.hang")
    connection.request("POST", "/mcp", json.dumps(body), headers)
    wait_until(lambda: (folder / "pid").exists() and (folder / "pid").read_text())
    pid = int((folder / "pid").read_text())
    assert connection.sock is not None
    connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
    Stopwatch(server.process.pid, pid).until(lambda: not is_there(pid), 2)
    assert server.post("tools/list", LIST)[0] == 200


def test_half_a_request_does_no_harm(server: Http) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as half:
        half.sendall(b"POST /mcp HTTP/1.1\r\nhost: 127")
        assert server.post("tools/list", LIST)[0] == 200


def through_the_door(body_time: float, *, close: bool) -> list[dict[str, Any]]:
    """What a client gets that sends the first part of a body and nothing more."""
    sent: list[dict[str, Any]] = []
    parts = [{"type": "http.request", "body": b"{", "more_body": True}]

    async def receive() -> dict[str, Any]:
        if not parts:
            await asyncio.Event().wait()
        return parts.pop()

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def app(*_: object) -> None:
        raise AssertionError("half a request came through the door")

    async def main() -> None:
        door = http.TokenMiddleware(app, None)
        task = asyncio.ensure_future(door({"type": "http", "headers": []}, receive, send))
        await asyncio.sleep(0.01)
        if close:
            door.close()
        await asyncio.wait_for(task, HANGS)
        if close:  # and a request that comes later does not wait either
            await door({"type": "http", "headers": []}, receive, send)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("equipage_serve.wire.http.BODY_TIME", body_time)
        asyncio.run(main())
    return sent


def test_a_body_that_does_not_come_in_time_is_given_up() -> None:
    start, _ = through_the_door(0.05, close=False)
    assert start["status"] == 408


def test_a_server_that_stops_waits_for_no_body() -> None:
    statuses = [each["status"] for each in through_the_door(60.0, close=True) if "status" in each]
    assert statuses == [408, 408]


@pytest.mark.parametrize("is_closed", [True, False])
def test_a_call_that_outlives_the_stop_is_refused(is_closed: bool) -> None:
    """uvicorn cancels it, and would print the cancellation with a traceback."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"{}"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def app(*_: object) -> None:
        await asyncio.Event().wait()

    async def main() -> bool:
        door = http.TokenMiddleware(app, None)
        task = asyncio.ensure_future(door({"type": "http", "headers": []}, receive, send))
        await asyncio.sleep(0.01)
        if is_closed:
            door.close()
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled()

    assert asyncio.run(main()) is not is_closed
    assert [each["status"] for each in sent[:1]] == ([503] if is_closed else [])


def test_half_a_body_does_not_delay_the_end(folder: Path) -> None:
    """Neither does it print a traceback, which would fill a pipe that is not read."""
    with Http(str(folder), "--allow", "python") as made, socket.socket() as client:
        client.connect(("127.0.0.1", made.port))
        client.sendall(
            b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Authorization: Bearer %b\r\nContent-Length: 99\r\n\r\n{" % made.token.encode()
        )
        time.sleep(0.3)
        assert made.end(signal.SIGTERM) == 143
        assert made.took < 4
        assert not any("Traceback" in each for each in made.notes)


def test_the_token_is_in_no_output(server: Http) -> None:
    assert server.token is not None
    assert not [line for line in server.notes if server.token in line]
    assert server.token.encode() not in Path(f"/proc/{server.process.pid}/cmdline").read_bytes()


@pytest.mark.skipif(not EVERYTHING, reason="`make test-serve` runs it")
def test_in_the_older_revision_only_a_notice_cancels(server: Http, folder: Path) -> None:
    """A closed connection is no cancelled call there; the client may come back for the answer."""
    (folder / "pid").unlink(missing_ok=True)
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "authorization": f"Bearer {server.token}",
    }

    def start(body: dict[str, Any]) -> Any:
        connection = server.connection()
        connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", **body}), headers)
        return connection

    def post(body: dict[str, Any]) -> Any:
        with contextlib.closing(start(body)) as connection:
            answer = connection.getresponse()
            answer.read()
            return answer

    client = {"name": "test", "version": "1"}
    opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    opened = post({"id": 1, "method": "initialize", "params": opening})
    headers["mcp-session-id"] = opened.headers["mcp-session-id"]
    headers["mcp-protocol-version"] = "2025-11-25"
    assert post({"method": "notifications/initialized"}).status == 202
    call = {"name": "t.hang", "arguments": {}}
    connection = start({"id": 2, "method": "tools/call", "params": call})
    wait_until(lambda: (folder / "pid").exists() and (folder / "pid").read_text())
    pid = int((folder / "pid").read_text())
    connection.close()
    time.sleep(1)
    assert is_there(pid)
    cancel = {"method": "notifications/cancelled", "params": {"requestId": 2}}
    assert post(cancel).status == 202
    Stopwatch(server.process.pid, pid).until(lambda: not is_there(pid), 2)
