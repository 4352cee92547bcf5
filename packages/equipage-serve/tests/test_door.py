"""The door of the HTTP server, in this process: who enters, what is refused with which words, and
what is bounded."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import socket
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from clock import HANGS
from lab import Later, needs

needs("mcp", "the extra `serve` is not installed")

http = Later("equipage_serve.wire.http")
lowlevel = Later("mcp.server.lowlevel")
TOKEN = "secret-token"
SHOWN = (b"authorization", b"Bearer secret-token")
Message = dict[str, Any]


@pytest.fixture(autouse=True, scope="module")
def _imported() -> None:
    """Once, and not in each copy of this process."""
    assert http.TokenMiddleware
    assert lowlevel.Server


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("192.168.0.1", False),
        ("example.com", False),
        ("localhost.example.com", False),
    ],
)
def test_loopback(host: str, is_loopback: bool) -> None:
    assert http.Address(host).is_loopback is is_loopback
    assert http.Address() == http.Address("127.0.0.1", 0, ())


# One request, as the server passes it on.


class Knock:
    """A request at the door, and what came of it."""

    def __init__(
        self,
        *headers: tuple[bytes, bytes],
        token: str | None = TOKEN,
        body: list[bytes] | None = None,
        disconnects: bool = False,
        kind: str = "http",
        app: Callable[..., Awaitable[None]] | None = None,
    ) -> None:
        pieces = [b"{}"] if body is None else body
        self.waiting: list[Message] = [
            {"type": "http.request", "body": each, "more_body": place < len(pieces) - 1}
            for place, each in enumerate(pieces)
        ]
        if disconnects:
            self.waiting.append({"type": "http.disconnect"})
        self.scope = {"type": kind, "headers": list(headers)}
        self.sent: list[Message] = []
        self.received: list[Message] = []
        self.entered = False
        self.door = http.TokenMiddleware(app or self.app, token)

    async def app(self, scope: Message, receive: Any, send: Any) -> None:
        assert scope is self.scope
        self.entered = True
        self.received = [await receive() for _ in range(len(self.waiting) or 1)]
        await send({"type": "http.response.start", "status": 200})

    async def receive(self) -> Message:
        return self.waiting.pop(0) if self.waiting else {"type": "late"}

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    def __call__(self) -> Knock:
        asyncio.run(self.door(self.scope, self.receive, self.send))
        return self


CLOSE = (b"connection", b"close")
ASKS = (b"www-authenticate", b'Bearer error="invalid_token"')
LENGTH = (b"content-length", b"2")
HOST = b"host"
#: The headers of a request; the status, error and header of the refusal, if there is one.
DOORS: dict[str, tuple[list[tuple[bytes, bytes]], tuple[int, str, Any] | None]] = {
    "the token": ([SHOWN], None),
    "no token": ([], (401, "invalid_token", ASKS)),
    "another token": ([(SHOWN[0], b"Bearer secret-tokem")], (401, "invalid_token", ASKS)),
    "two tokens": ([SHOWN, (SHOWN[0], b"")], (401, "invalid_token", ASKS)),
    "a port": ([SHOWN, (HOST, b"127.0.0.1:80")], None),
    "a long port": ([SHOWN, (HOST, b"localhost:65535")], None),
    "a host of version 6": ([SHOWN, (HOST, b"[::1]")], None),
    "a host of version 6 with a port": ([SHOWN, (HOST, b"[::1]:8000")], None),
    "a name": ([SHOWN, (HOST, b"localhost")], None),
    "no digits": ([SHOWN, (HOST, b"localhost:80a")], (421, "invalid_host", CLOSE)),
    "too many digits": ([SHOWN, (HOST, b"localhost:123456")], (421, "invalid_host", CLOSE)),
    "no port": ([SHOWN, (HOST, b"localhost:")], (421, "invalid_host", CLOSE)),
    "a line": ([SHOWN, (HOST, b"localhost:80\n")], (421, "invalid_host", CLOSE)),
    "two ports": ([SHOWN, (HOST, b"localhost:80:90")], (421, "invalid_host", CLOSE)),
    "an origin": ([SHOWN, (b"origin", b"http://localhost:80")], None),
    "an origin without a port": ([SHOWN, (b"origin", b"http://localhost")], None),
    "an origin with a user": (
        [SHOWN, (b"origin", b"http://localhost:80@evil.example")],
        (421, "invalid_host", CLOSE),
    ),
    "an origin with two hosts": (
        [SHOWN, (b"origin", b"http://localhost:80a//localhost")],
        (421, "invalid_host", CLOSE),
    ),
    "a second host": ([SHOWN, (HOST, b"a"), (HOST, b"b:c")], (421, "invalid_host", CLOSE)),
    "other headers": ([SHOWN, (b"x-host", b"a:b:c")], None),
    "a length": ([SHOWN, LENGTH], None),
    "chunks": ([SHOWN, (b"transfer-encoding", b"chunked")], None),
    "both": ([SHOWN, LENGTH, (b"transfer-encoding", b"chunked")], (400, "ambiguous_length", CLOSE)),
    "a length that is none": ([SHOWN, (b"content-length", b"x")], None),
}


@pytest.mark.parametrize("name", DOORS)
def test_the_door(name: str) -> None:
    headers, refusal = DOORS[name]
    knock = Knock(*headers)()
    if refusal is None:
        assert knock.entered
        assert knock.sent == [{"type": "http.response.start", "status": 200}]
        return
    status, error, more = refusal
    body = json.dumps({"error": error}, separators=(",", ":")).encode()
    assert not knock.entered
    assert knock.sent == [
        {
            "type": "http.response.start",
            "status": status,
            "headers": [
                (b"content-type", b"application/json"),
                (b"content-length", str(len(body)).encode()),
                more,
            ],
        },
        {"type": "http.response.body", "body": body},
    ]


def test_without_a_token_everyone_enters() -> None:
    assert Knock(token=None)().entered
    assert not Knock(SHOWN, SHOWN, token=None)().entered
    assert not Knock(LENGTH, (b"transfer-encoding", b"chunked"), token=None)().entered


def test_what_is_no_request_is_passed_on() -> None:
    knock = Knock(kind="lifespan")
    knock.waiting = [{"type": "lifespan.startup"}]
    assert knock().entered
    assert knock.received == [{"type": "lifespan.startup"}]


def test_a_body_arrives_as_it_came() -> None:
    knock = Knock(SHOWN, body=[b"{", b"", b"}"])
    pieces = list(knock.waiting)
    assert knock().received[:3] == pieces[: len(knock.received)]
    assert knock.entered


def test_the_app_gets_every_piece_and_then_what_comes_later() -> None:
    got: list[Message] = []

    async def app(_scope: Message, receive: Any, _send: Any) -> None:
        got.extend([await receive() for _ in range(4)])

    knock = Knock(SHOWN, body=[b"{", b"x", b"}"], app=app)
    pieces = list(knock.waiting)
    knock()
    assert got == [*pieces, {"type": "late"}]


def test_a_client_that_leaves_in_its_body_gets_no_answer() -> None:
    knock = Knock(SHOWN, body=[b"{", b"x"], disconnects=True)
    knock.waiting[1]["more_body"] = True
    assert not knock().entered
    assert knock.sent == []


@pytest.mark.parametrize(("size", "read"), [(10, True), (11, False)])
def test_a_body_that_says_it_is_too_long_is_not_read(
    size: int, read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package behind the door refuses it."""
    monkeypatch.setattr("equipage_serve.wire.http.MAX_BODY", 10)
    left: list[int] = []

    async def app(*_: Any) -> None:
        left.append(len(knock.waiting))

    knock = Knock(SHOWN, (b"content-length", str(size).encode()), body=[b"a", b"b"], app=app)
    knock()
    assert left == [0 if read else 2]


def test_a_body_in_pieces_is_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("equipage_serve.wire.http.MAX_BODY", 10)
    left: list[int] = []

    async def app(*_: Any) -> None:
        left.append(len(knock.waiting))

    for pieces in ([b"12345", b"67890", b"", b"x", b"y"], [b"x" * 11, b"y"], [b"x" * 10, b"y"]):
        knock = Knock(SHOWN, body=pieces, app=app)
        knock()
    # One piece beyond the limit proves the point.
    assert left == [1, 1, 0]
    assert http.MAX_BODY == 10


def test_the_bounds() -> None:
    assert (http.MAX_BODY, http.MAX_CONNECTIONS) == (1 << 20, 64)


def test_a_call_that_is_cancelled_after_its_answer_began_is_not_answered_twice() -> None:
    knock = Knock(SHOWN)

    async def app(_scope: Message, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})
        await asyncio.Event().wait()

    knock.door = http.TokenMiddleware(app, TOKEN)

    async def main() -> None:
        task = asyncio.ensure_future(knock.door(knock.scope, knock.receive, knock.send))
        await asyncio.sleep(0.01)
        knock.door.close()
        task.cancel()
        await task

    asyncio.run(main())
    assert knock.sent == [{"type": "http.response.start", "status": 200}]


def test_a_call_that_is_cancelled_before_is_refused() -> None:
    knock = Knock(SHOWN)

    async def app(*_: Any) -> None:
        await asyncio.Event().wait()

    knock.door = http.TokenMiddleware(app, TOKEN)

    async def main() -> None:
        task = asyncio.ensure_future(knock.door(knock.scope, knock.receive, knock.send))
        await asyncio.sleep(0.01)
        assert knock.door._reading == set()
        knock.door.close()
        task.cancel()
        await task

    asyncio.run(main())
    assert [each.get("status", each.get("body")) for each in knock.sent] == [
        503,
        b'{"error":"stopping"}',
    ]
    assert knock.sent[0]["headers"][-1] == CLOSE


@pytest.mark.parametrize("how", ["late", "closed", "closed before"])
def test_a_body_that_does_not_come(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("equipage_serve.wire.http.BODY_TIME", 0.02 if how == "late" else 60)
    knock = Knock(SHOWN)
    ended: list[bool] = []

    async def receive() -> Message:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)
        raise AssertionError

    async def main() -> None:
        if how == "closed before":
            knock.door.close()
        task = asyncio.ensure_future(knock.door(knock.scope, receive, knock.send))
        await asyncio.sleep(0.01)
        if how == "closed":
            assert len(knock.door._reading) == 1
            knock.door.close()
        await asyncio.wait_for(task, HANGS)
        assert knock.door._reading == set()
        await asyncio.sleep(0)

    asyncio.run(main())
    assert ended == ([] if how == "closed before" else [True])
    assert [each.get("status", each.get("body")) for each in knock.sent] == [
        408,
        b'{"error":"incomplete_body"}',
    ]
    assert knock.sent[0]["headers"][-1] == CLOSE


def test_an_answer_that_was_given_already_is_no_error() -> None:
    from h11 import LocalProtocolError

    async def send(_: Message) -> None:
        raise LocalProtocolError("answered")

    asyncio.run(http._refuse(send, 400, b"x"))


def test_who_asks_is_a_hash_of_what_was_shown() -> None:
    def ctx(**headers: str) -> Any:
        return SimpleNamespace(request=SimpleNamespace(headers=headers))

    shown = hashlib.sha256(b"Bearer a").hexdigest()[:16]
    assert http.principal_of(ctx(authorization="Bearer a")) == shown
    assert http.principal_of(ctx(authorization="Bearer b")) not in ("", shown)
    assert http.principal_of(ctx()) == http.principal_of(SimpleNamespace()) == ""
    assert http.principal_of(SimpleNamespace(request=None)) == ""


# The socket.


@pytest.mark.parametrize(
    ("host", "url"), [("127.0.0.1", "http://127.0.0.1"), ("::1", "http://[::1]")]
)
def test_a_socket_listens(host: str, url: str) -> None:
    with contextlib.ExitStack() as stack:
        try:
            made = stack.enter_context(http.open_listener(http.Address(host)))
        except OSError as error:
            assert not isinstance(error, socket.gaierror)  # an address of another family
            pytest.skip("this machine has no such address")
        port = made.getsockname()[1]
        assert made.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)
        assert http.url_of(http.Address(host), made) == f"{url}:{port}/mcp"
        with socket.create_connection((host, port)):
            pass
        taken = http.Address(host, port)
        with pytest.raises(OSError):
            http.open_listener(taken)
    # What is free again can be had at once, though a connection was open.
    http.open_listener(taken).close()


# A whole server.

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


class Serving:
    """A server that knows no tools, in this process."""

    def __init__(
        self, *, token: str | None = TOKEN, host: str = "127.0.0.1", server: Any = None, **more: Any
    ) -> None:
        self.address = http.Address(host, **more)
        self.token, self.server = token, server

    async def __aenter__(self) -> Serving:
        self.listener = http.open_listener(self.address)
        self.port = self.listener.getsockname()[1]
        server = self.server or lowlevel.Server("t")
        self.task = asyncio.ensure_future(
            http.serve_http(server, self.address, self.listener, self.token)
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait_for(self.task, HANGS)
        self.listener.close()

    async def opened(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    def request(self, body: bytes, **headers: str) -> bytes:
        given = {
            "host": f"127.0.0.1:{self.port}",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "content-length": str(len(body)),
            "connection": "close",
            "authorization": f"Bearer {self.token}",
            **headers,
        }
        lines = [f"{name}: {value}\r\n" for name, value in given.items() if value]
        return b"POST /mcp HTTP/1.1\r\n" + "".join(lines).encode() + b"\r\n" + body

    async def ask(self, body: bytes | None = None, **headers: str) -> bytes:
        data = json.dumps(LIST).encode() if body is None else body
        reader, writer = await self.opened()
        writer.write(self.request(data, **headers))
        answer = await asyncio.wait_for(reader.read(), HANGS)
        writer.close()
        return answer


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def test_hosts_and_origins_are_ours() -> None:
    async def main() -> list[int]:
        async with Serving(hosts=("own.example", "other.example:*")) as server:
            asked = [
                {},
                {"authorization": ""},
                {"host": "localhost:5"},
                {"host": "[::1]:5"},
                {"host": "own.example"},
                {"host": "other.example:77"},
                {"host": "evil.example"},
                {"host": "own.example:5"},
                {"origin": "http://localhost:1"},
                {"origin": "https://own.example"},
                {"origin": "http://evil.example"},
            ]
            return [status(await server.ask(**each)) for each in asked]

    assert asyncio.run(main()) == [400, 401, 400, 400, 400, 400, 421, 421, 400, 400, 403]


def test_elsewhere_only_named_hosts_are_ours() -> None:
    async def main() -> list[int]:
        async with Serving(host="0.0.0.0", hosts=("own.example",), token=None) as server:
            hosts = ("own.example", "localhost", f"127.0.0.1:{server.port}")
            return [status(await server.ask(host=each, authorization="")) for each in hosts]

    assert asyncio.run(main()) == [400, 421, 421]


def test_bodies_are_bounded_and_nobody_says_who_we_are(capsys: pytest.CaptureFixture[str]) -> None:
    async def main() -> tuple[bytes, bytes]:
        async with Serving() as server:
            usual = await server.ask()
            reader, writer = await server.opened()
            writer.write(server.request(b"{}", **{"content-length": str((1 << 20) + 1)}))
            long = await asyncio.wait_for(reader.readuntil(b"\r\n"), HANGS)
            writer.close()
            return usual, long

    usual, long = asyncio.run(main())
    assert b"\r\nserver:" not in usual.lower()
    assert status(long) == 413
    assert capsys.readouterr() == ("", "")


def test_connections_that_send_nothing_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("equipage_serve.wire.http.HEADER_TIME", 1.0)

    async def main() -> list[bytes]:
        async with Serving() as server:
            silent, silent_writer = await server.opened()
            slow, slow_writer = await server.opened()
            again, again_writer = await server.opened()
            slow_writer.write(server.request(b"{}")[:30])
            again_writer.write(server.request(b"{}", connection="keep-alive"))
            first = await asyncio.wait_for(again.readuntil(b"\r\n\r\n"), HANGS)
            again_writer.write(b"POST")
            found = [await asyncio.wait_for(each.read(), HANGS) for each in (silent, slow, again)]
            for each in (silent_writer, slow_writer, again_writer):
                each.close()
            return [first[:12], *found[:2], found[2][-4:]]

    first, *rest = asyncio.run(main())
    assert first == b"HTTP/1.1 400"
    assert rest[:2] == [b"", b""]


def test_a_body_may_take_longer_than_the_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("equipage_serve.wire.http.HEADER_TIME", 1.0)

    async def main() -> bytes:
        async with Serving() as server:
            reader, writer = await server.opened()
            request = server.request(b"{}")
            writer.write(request[:-1])
            await asyncio.sleep(1.5)
            writer.write(request[-1:])
            answer = await asyncio.wait_for(reader.read(), HANGS)
            writer.close()
            return answer

    assert status(asyncio.run(main())) == 400


def test_more_clients_than_there_are_places_are_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("equipage_serve.wire.http.MAX_CONNECTIONS", 3)

    async def main() -> int:
        async with Serving() as server:
            others = [await server.opened() for _ in range(3)]
            answer = await server.ask()
            for _, writer in others:
                writer.close()
            return status(answer)

    assert asyncio.run(main()) == 503


def test_a_server_that_stops_lets_calls_end_and_waits_for_no_body(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def main() -> tuple[int, bool]:
        async with Serving() as server:
            reader, writer = await server.opened()
            writer.write(server.request(b"{}" * 10)[:-5])
            await asyncio.sleep(0.1)
            server.task.cancel()
            answer = await asyncio.wait_for(reader.read(), HANGS)
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait_for(server.task, HANGS)
            writer.close()
            return status(answer), server.task.cancelled()

    assert asyncio.run(main()) == (408, True)
    assert capsys.readouterr() == ("", "")


def test_signals_are_left_to_the_command() -> None:
    import signal

    before = signal.getsignal(signal.SIGTERM)

    async def main() -> Any:
        async with Serving() as server:
            await server.ask()
            return signal.getsignal(signal.SIGTERM)

    assert asyncio.run(main()) is before


class Hanging:
    """A server that never answers."""

    def streamable_http_app(self, **_: Any) -> Any:
        return self.app

    async def app(self, scope: Message, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await asyncio.Event().wait()
        for each in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{each}.complete"})


def test_a_call_that_outlives_the_time_to_stop_is_told_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("equipage_serve.wire.http.STOP_TIME", 0)

    async def main() -> bytes:
        async with Serving(server=Hanging()) as server:
            reader, writer = await server.opened()
            writer.write(server.request(b"{}"))
            await asyncio.sleep(0.1)
            server.task.cancel()
            answer = await asyncio.wait_for(reader.read(), HANGS)
            writer.close()
            return answer

    answer = asyncio.run(main())
    assert status(answer) == 503
    assert answer.endswith(b'{"error":"stopping"}')
    assert "Traceback" not in capsys.readouterr().err


class Gone(asyncio.Transport):
    def is_closing(self) -> bool:
        return True

    def close(self) -> None:
        """It is."""


def test_a_connection_that_is_gone_is_not_waited_for() -> None:
    import uvicorn
    from uvicorn.server import ServerState

    async def main() -> tuple[bool, bool]:
        config = uvicorn.Config(Hanging().app, log_level="error")
        config.load()
        protocol = http._TimedConnection(config, ServerState(), {}, asyncio.get_running_loop())
        protocol.connection_made(Gone())
        before = protocol._timer.cancelled()
        protocol.connection_lost(None)
        return before, protocol._timer.cancelled()

    assert asyncio.run(main()) == (False, True)
