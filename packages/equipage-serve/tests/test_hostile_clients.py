"""Clients of served tools that attack: requests over HTTP, lines, values of calls, the cache.

Who may enter is in `serve/test_http_door`, what lines are answered with in `serve/test_stdio`.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clock import HANGS
from equipage_serve import templates
from equipage_serve.cache import ENTRY_OVERHEAD, Cache, key_of
from equipage_serve.outcome import Failure
from lab import Later, needs
from packs import pack, write_packs
from talk import META, Http, Lines

needs("mcp", "the extra `serve` is not installed")

http = Later("equipage_serve.wire.http")

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="tools are confined on Linux")

TOOLS = """
import os
def echo(p): return {"got": p, "pid": os.getpid()}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    packs = [pack("t.echo", "tools:echo"), pack("t.same", "tools:echo", deterministic=True)]
    return write_packs(tmp_path_factory.mktemp("door"), packs, {"tools.py": TOOLS})


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Http]:
    with Http(str(folder), "--allow", "python") as made:
        yield made
        # Nothing that a client sends is worth a traceback.
        assert not [line for line in made.notes if "Traceback" in line], made.notes[-30:]


BODY = json.dumps(
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
).encode()


def request(server: Http, *lines: str, body: bytes = BODY, **changes: str | None) -> bytes:
    """The bytes of a request. A header is replaced, or left out if it is None."""
    given: dict[str, str | None] = {
        "Host": f"127.0.0.1:{server.port}",
        "Authorization": f"Bearer {server.token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/list",
        "Content-Length": str(len(body)),
        "Connection": "close",
    }
    given |= {name.replace("_", "-"): value for name, value in changes.items()}
    head = [f"{name}: {value}" for name, value in given.items() if value is not None]
    first = "POST /mcp HTTP/1.1"
    return "\r\n".join([first, *head, *lines]).encode("latin-1") + b"\r\n\r\n" + body


def exchanged(server: Http, data: bytes, seconds: float = 10) -> bytes:
    """What comes back until the server closes, or the time is up."""
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.settimeout(seconds)
        found = b""
        try:
            client.sendall(data)
            while more := client.recv(65536):
                found += more
        except OSError:
            pass
        return found


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0


HOSTS = {
    "127.0.0.1:{port}": 200,
    "localhost:{port}": 200,
    "[::1]:{port}": 200,
    "evil.example": 421,
    "127.0.0.1.evil.example:{port}": 421,
    "localhost.evil.example:{port}": 421,
    "127.0.0.1:{port}.evil.example": 421,
    "127.0.0.1:{port}@evil.example": 421,
    "127.0.0.1:evil.example": 421,
    "localhost:{port}/evil.example": 421,
    "127.0.0.1:{port}#": 421,
    "127.1:{port}": 421,
    "0.0.0.0:{port}": 421,
    "2130706433:{port}": 421,
    "[::ffff:127.0.0.1]:{port}": 421,
    "evil.example\x00127.0.0.1:{port}": 400,
    "": 421,
}
ORIGINS = {
    "http://127.0.0.1:{port}": 200,
    "https://localhost:3000": 200,
    "http://evil.example": 403,
    "null": 403,
    "file://": 421,
    "http://127.0.0.1.evil.example:1": 403,
    "http://127.0.0.1:1.evil.example": 421,
    "http://127.0.0.1:@evil.example": 421,
    "http://localhost:1@evil.example": 421,
    "http://evil.example#http://127.0.0.1:1": 421,
    "http://127.0.0.1:1 http://evil.example": 421,
}


@only_linux
def test_names_that_look_like_ours(server: Http) -> None:
    """What a page in a browser of this machine could make its own name into."""
    for host, expected in HOSTS.items():
        answer = exchanged(server, request(server, Host=host.format(port=server.port)))
        assert status(answer) in (expected, 400 if expected == 421 else expected), (host, answer)
    for origin, expected in ORIGINS.items():
        answer = exchanged(server, request(server, Origin=origin.format(port=server.port)))
        assert status(answer) == expected, (origin, answer)


@only_linux
def test_requests_that_two_readers_would_see_differently(server: Http) -> None:
    token = f"Authorization: Bearer {server.token}"
    smuggled = request(server)
    cases = {
        "two tokens, ours last": request(server, token, Authorization="Bearer other"),
        "two tokens, ours first": request(server, "Authorization: Bearer other"),
        "two lengths": request(server, "Content-Length: 3"),
        "two hosts": request(server, "Host: evil.example"),
        "a length with a sign": request(server, Content_Length="+5"),
        "a length in another base": request(server, Content_Length="0x10"),
        "a length with a comma": request(server, Content_Length="5, 5x"),
        "a length of five thousand digits": request(server, Content_Length="9" * 5000),
        "chunks that are no chunks": request(server, "Transfer-Encoding: chunked", body=b"zz\r\n\r\n"),
        "another coding": request(server, "Transfer-Encoding: gzip, chunked"),
        "a blank before the colon": request(server, "Transfer-Encoding : chunked"),
        "a line feed in a header": request(server, X="a\nAuthorization: Bearer x"),
        "a zero in a header": request(server, X="a\0b"),
        "a header of two megabytes": request(server, X="x" * 2_000_000),
        "two hundred thousand headers": request(server, *["X: y"] * 200_000),
        "the newer protocol": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "bytes": bytes(range(256)) * 100,
        "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
    }  # fmt: skip
    for name, data in cases.items():
        answer = exchanged(server, data + smuggled, 5)
        assert 400 <= status(answer) < 500 or answer == b"", (name, answer[:200])
        # Whatever follows in the same stream is not a request of its own.
        assert b"HTTP/1.1 200" not in answer, (name, answer)
    assert status(exchanged(server, request(server))) == 200


@only_linux
def test_a_length_beside_chunks_hides_no_request(server: Http) -> None:
    """Chunks count, as the standard has it; the connection is not used again."""
    data = request(server, "Transfer-Encoding: chunked", body=b"0\r\n\r\n", Connection="keep-alive")
    answer = exchanged(server, data + request(server), 3)
    assert status(answer) == 400
    assert b'"result"' not in answer


@only_linux
def test_bodies_without_an_end(server: Http) -> None:
    for head in (
        request(server, "Transfer-Encoding: chunked", body=b"", Content_Length=None),
        request(server, body=b"", Content_Length=str(10**9)),
    ):
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.settimeout(10)
            client.sendall(head)
            sent = 0
            try:
                for _ in range(200):
                    client.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
                    sent += 65536
            except OSError:
                pass
            assert sent <= 13_107_200
    # A client that leaves in the middle of a body is no error of ours.
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(request(server, "Transfer-Encoding: chunked", body=b"5\r\nab", Content_Length=None))  # fmt: skip
    assert status(exchanged(server, request(server))) == 200


class _Transport(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.written, self.closed = b"", False

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def get_extra_info(self, _name: str, default: Any = None) -> Any:
        return default

    def pause_reading(self) -> None:
        """Nothing is read here."""

    def resume_reading(self) -> None:
        """Nothing is read here."""


def test_headers_that_drip_end_the_connection_also_after_an_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One byte ends the pause before a second request; its headers must come in time, too."""
    import uvicorn
    from uvicorn.server import ServerState

    monkeypatch.setattr("equipage_serve.wire.http.HEADER_TIME", 0.1)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await http._refuse(send, 401, b"invalid_token")

    async def main() -> tuple[_Transport, _Transport]:
        config = uvicorn.Config(app, log_level="error")
        config.load()
        made = []
        for first in (b"", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"):
            protocol = http._TimedConnection(config, ServerState(), {}, asyncio.get_running_loop())
            made.append(_Transport())
            protocol.connection_made(made[-1])
            protocol.data_received(first or b"G")
            await asyncio.sleep(0.02)
            for _ in range(20):
                if not made[-1].closed:
                    protocol.data_received(b"G")
                await asyncio.sleep(0.02)
            protocol.connection_lost(None)
        return made[0], made[1]

    silent, answered = asyncio.run(main())
    assert silent.closed
    assert b"401" in answered.written
    assert answered.closed


@only_linux
def test_more_connections_than_there_are_places(server: Http) -> None:
    """They are refused, and the next client is served when they are gone."""
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(100)]
    try:
        assert status(exchanged(server, request(server))) in (0, 503)
    finally:
        for each in idle:
            each.close()
    end = time.monotonic() + HANGS
    while status(exchanged(server, request(server))) != 200:
        assert time.monotonic() < end


SESSIONS = ("", "0", "../../etc/passwd", "a" * 5000, "\x7f", "' OR 1=1 --")


@only_linux
def test_sessions_that_were_never_opened(server: Http) -> None:
    for name in SESSIONS:
        answer = exchanged(
            server, request(server, f"Mcp-Session-Id: {name}", MCP_Protocol_Version="2025-11-25")
        )
        assert 400 <= status(answer) < 500, (name, answer)


# Lines.


@only_linux
def test_a_flood_of_lines_is_answered_and_the_server_serves_on(folder: Path) -> None:
    with Lines(str(folder), "--allow", "python", modern=False) as client:
        client.raw(b"\n" * 100_000)
        client.raw(b"{}\n" * 2_000)
        client.raw(b'{"jsonrpc":"2.0","method":"notifications/nothing"}\n' * 2_000)
        client.raw(b'{"jsonrpc":"2.0","id":1.5,"method":"x"}\n')
        client.raw(b'{"jsonrpc":"2.0","id":{"a":1},"method":"x"}\n')
        client.raw(b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}\n')
        client.raw(
            json.dumps({"jsonrpc": "2.0", "id": "x" * 100_000, "method": "x"}).encode() + b"\n"
        )
        found = client.call("t.echo", {"a": [1, {"b": None}]})
        assert found["result"]["structuredContent"]["got"] == {"a": [1, {"b": None}]}
        assert not [line for line in client.notes if "Traceback" in line], client.notes[-20:]


@only_linux
def test_one_id_for_many_calls(folder: Path) -> None:
    """Answers are answers to what was asked, although a client uses a number twice."""
    with Lines(str(folder), "--allow", "python", modern=True) as client:
        for number in range(20):
            client.send(
                {
                    "jsonrpc": "2.0",
                    "id": 99,
                    "method": "tools/call",
                    "params": {"name": "t.echo", "arguments": {"n": number}, "_meta": META},
                }
            )
        assert client.call("t.echo", {"n": "last"})["result"]["structuredContent"]["got"] == {
            "n": "last"
        }


# Values in templates come from clients, the templates themselves from the author of a pack.

VALUES: dict[str, tuple[str, dict[str, Any]]] = {
    "a power": ("{{ input.a ** input.b }}", {"a": 999_999, "b": 999_999}),
    "a power of a power": ("{{ (input.a ** 99) ** 99 }}", {"a": 999_999}),
    "a product": ("{{ input.a * input.b }}", {"a": "x", "b": 999_999}),
    "a list many times": ("{{ input.a * input.b }}", {"a": [0], "b": 999_999}),
    "a format": ("{{ input.a % input.b }}", {"a": "%999999999d", "b": 1}),
    "a replacement": ("{{ input.a|replace('', input.b) }}", {"a": "x" * 30_000, "b": "y" * 30_000}),
    "a join": ("{{ input.a|join(input.b) }}", {"a": ["x"] * 30_000, "b": "y" * 30_000}),
    "a deep value": ("{{ input.a }}", {"a": json.loads("[" * 900 + "]" * 900)}),
    "half a character": ("{{ input.a|urlencode }}", {"a": "\ud800"}),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_that_would_take_all_memory_or_time(name: str) -> None:
    text, given = VALUES[name]
    started = time.process_time()
    try:
        filled = templates.compile_template(text)({"input": given})
    except Failure as failure:
        assert failure.code == "INVALID_INPUT"
    else:
        assert len(filled) <= templates.MAX_LENGTH
    assert time.process_time() - started < 1


def test_plain_values_are_still_filled_in() -> None:
    for text, filled in (
        ("{{ input.n ** 2 }} {{ input.n % 4 }} {{ input.n * 3 }}", "49 3 21"),
        ("{{ input.s|replace('a', 'bb') }}", "bbnbb"),
        ("{{ input.s|replace('a', 'b', 1) }}", "bna"),
        ("{{ input.l|join('-') }} {{ input.m|join(',', 'x') }}", "1-True-c 1,2"),
    ):
        given = {"n": 7, "s": "ana", "l": [1, True, "c"], "m": [{"x": 1}, {"x": 2}]}
        assert templates.compile_template(text)({"input": given}) == filled


@pytest.mark.parametrize("text", ["{{ " + "(" * 3000, "{{ " + "[" * 3000 + "]" * 3000 + " }}"])
def test_a_template_that_is_nested_too_deep_is_found_before_a_call(text: str) -> None:
    with pytest.raises(templates.TemplateProblem, match=r"nested too deep|not valid"):
        templates.compile_template(text)


# The cache of results.


def test_no_input_has_the_key_of_another() -> None:
    """A poisoned entry would be served to others: keys tell apart what looks alike."""
    inputs: list[Any] = [
        *(1, 1.0, True, "1", [1], {"a": 1}, {"a": 1.0}, {"a": True}, {"a": "1"}, {"1": 1}),
        *({}, [], None, "", {"a": None}, {"a": {}}, [[]], [None], {"a": {"b": 1}}, {"a.b": 1}),
        *({"a": "\u00e9"}, {"a": "e\u0301"}, {"\u00e9": 1}, {"e\u0301": 1}, {"a": "\\u00e9"}),
        *({"a": 1, "b": 2}, {"a": 2, "b": 1}, {"b": 1}, {"payload": 1, "principal": "x"}),
        *(10**20, 1e20, -0.0, 0, 0.0, "x\0", "x", "\ud800" * 0 + "y"),
    ]
    keys = {key_of("tool", each, None, "me") for each in inputs}
    assert len(keys) == len(inputs)
    known = {"a": 1}
    others = {
        key_of("tool", known, None, ""),
        key_of("tool", known, None, "me"),
        key_of("tool", known, "", "me"),
        key_of("tool", known, "me", ""),
        key_of("other", known, None, "me"),
        key_of('tool","payload":{"a":1}', known, None, "me"),
    }
    assert len(others) == 6
    # The same values in another order are the same question.
    assert key_of("t", {"a": 1, "b": 2}, None, "") == key_of("t", {"b": 2, "a": 1}, None, "")


def test_many_small_results_are_bounded_too() -> None:
    cache = Cache(100 * ENTRY_OVERHEAD, 600)
    for number in range(10_000):
        cache.put(str(number), b"")
    assert sum(cache.get(str(number)) is not None for number in range(10_000)) == 100


def test_what_a_caller_does_to_a_result_reaches_no_other() -> None:
    """A key in flight cannot be filled by another call, a failure not be kept."""

    async def main() -> None:
        cache = Cache(100_000, 600)
        going = asyncio.Event()

        async def slow() -> bytes:
            await going.wait()
            return b"right"

        async def wrong() -> bytes:
            raise AssertionError("the second call must wait for the first")

        first = asyncio.ensure_future(cache.get_or_make("k", slow))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(cache.get_or_make("k", wrong))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        going.set()
        assert await first == (b"right", False)
        assert cache.get("k") == b"right"

        async def fails() -> bytes:
            raise Failure("TIMEOUT", "late")

        with pytest.raises(Failure):
            await cache.get_or_make("other", fails)
        assert cache.get("other") is None

    asyncio.run(main())


@only_linux
def test_clients_share_no_results_across_tools(server: Http) -> None:
    params = {"name": "t.same", "arguments": {"a": 1}}
    _, first = server.post("tools/call", params)
    _, second = server.post("tools/call", params)
    _, other = server.post("tools/call", {"name": "t.echo", "arguments": {"a": 1}})
    pids = [each["result"]["structuredContent"]["pid"] for each in (first, second, other)]
    assert pids[0] == pids[1] != pids[2]
