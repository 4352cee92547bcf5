"""MCP over HTTP: on the loopback address, behind a token, with bounds on everything.

The package `mcp` checks `Host` and `Origin` and the size of bodies; the middleware before it
checks the token, and the number of connections and their time are bounded.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable
from typing import Any, cast

import msgspec
import uvicorn
from h11 import LocalProtocolError
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_BODY = 1024 * 1024
MAX_CONNECTIONS = 64
#: Seconds until the first request of a connection must be there, until the body of a request must
#: be there, and for calls when we stop.
HEADER_TIME, BODY_TIME, STOP_TIME = 30.0, 30.0, 4


class Address(msgspec.Struct, frozen=True):
    """Where to listen, and as whom clients may address us."""

    host: str = "127.0.0.1"
    port: int = 0
    hosts: tuple[str, ...] = ()  #: further names for the `Host` header, as `name` or `name:port`

    @property
    def is_loopback(self) -> bool:
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
App = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]


class TokenMiddleware:
    """Lets requests with the token through, once they are whole. Without a token, every request."""

    def __init__(self, app: App, token: str | None) -> None:
        self.app = app
        self.wanted = None if token is None else f"Bearer {token}".encode()
        self._reading: set[asyncio.Future[list[dict[str, Any]]]] = set()
        self._is_closed = False

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if not self._has_token(scope):
            more = (b"www-authenticate", b'Bearer error="invalid_token"')
            await _refuse(send, 401, b"invalid_token", more)
            return
        if not _has_plain_host(scope):
            await _refuse(send, 421, b"invalid_host", (b"connection", b"close"))
            return
        # A length beside chunks: another reader might see the end of the request elsewhere.
        if {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope["headers"]}:
            await _refuse(send, 400, b"ambiguous_length", (b"connection", b"close"))
            return
        parts = await self._read(receive, _content_length(scope))
        if parts is None:
            await _refuse(send, 408, b"incomplete_body", (b"connection", b"close"))
            return
        if parts and parts[-1]["type"] == "http.disconnect":
            return  # the client is gone

        async def replay() -> dict[str, Any]:
            return parts.pop(0) if parts else await receive()

        begun = False

        async def answer(message: dict[str, Any]) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, replay, answer)
        except asyncio.CancelledError:
            # A call that outlives the time to stop is ended on purpose, which is not an error.
            if not self._is_closed:
                raise
            if not begun:
                await _refuse(send, 503, b"stopping", (b"connection", b"close"))

    def close(self) -> None:
        """Give up on incomplete bodies: a server that stops does not wait for slow clients."""
        self._is_closed = True
        for each in self._reading:
            each.cancel()

    def _has_token(self, scope: dict[str, Any]) -> bool:
        # Of two headers, this check and `principal_of` might each read another one.
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(given) > 1:
            return False
        # Compared in constant time: the time of an answer must not tell how much of a token was
        # right.
        return self.wanted is None or hmac.compare_digest(b"".join(given), self.wanted)

    async def _read(self, receive: Receive, length: int) -> list[dict[str, Any]] | None:
        """The messages with the body; None if it does not come in time.

        A body beyond the limit is not read to its end: the package `mcp` refuses it.
        """
        if length > MAX_BODY:
            return []
        if self._is_closed:
            return None
        task = asyncio.ensure_future(_messages(receive))
        self._reading.add(task)
        try:
            await asyncio.wait({task}, timeout=BODY_TIME)
        finally:
            self._reading.discard(task)
        if not task.done() or task.cancelled():
            task.cancel()
            return None
        return task.result()


async def _messages(receive: Receive) -> list[dict[str, Any]]:
    found = [await receive()]
    size = len(found[0].get("body", b""))
    while found[-1].get("more_body") and size <= MAX_BODY:
        found.append(await receive())
        size += len(found[-1].get("body", b""))
    return found


#: A port, at the end of what names a host.
_PORT = re.compile(rb":[0-9]{1,5}\Z")


def _has_plain_host(scope: dict[str, Any]) -> bool:
    """Whether `Host` and `Origin` end with their host or a port: `mcp` compares what is before."""
    given = [value for name, value in scope["headers"] if name in (b"host", b"origin")]
    hosts = [_PORT.sub(b"", each.partition(b"//")[2] or each) for each in given]
    return all(b":" not in each or each.endswith(b"]") for each in hosts)


def _content_length(scope: dict[str, Any]) -> int:
    given = dict(scope["headers"]).get(b"content-length", b"0")
    return int(given) if given.isdigit() else 0


async def _refuse(send: Send, status: int, error: bytes, *more: tuple[bytes, bytes]) -> None:
    body = b'{"error":"%b"}' % error
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *more,
    ]
    # The rest of a broken request may come meanwhile: then uvicorn has answered already.
    with contextlib.suppress(LocalProtocolError):
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def principal_of(ctx: Any) -> str:
    """Who makes a request: a hash of the authorization that the client sent."""
    request = getattr(ctx, "request", None)
    shown = None if request is None else request.headers.get("authorization")
    return hashlib.sha256(shown.encode()).hexdigest()[:16] if shown else ""


class _TimedConnection(H11Protocol):
    """A connection that does not send a request in time is closed."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _wait(self) -> None:
        # uvicorn bounds the pause before a request, which one byte ends, not the time that its
        # headers take.
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(HEADER_TIME, self._give_up)

    def _give_up(self) -> None:
        cycle = getattr(self, "cycle", None)
        if cycle is None or cycle.response_complete:
            self.transport.close()


def open_listener(address: Address) -> socket.socket:
    """A socket that listens. Raises `OSError`."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((address.host, address.port))
        made.listen(MAX_CONNECTIONS)  # clients may come before the server is ready
    except OSError:
        made.close()
        raise
    return made


def url_of(address: Address, listener: socket.socket) -> str:
    host = f"[{address.host}]" if ":" in address.host else address.host
    return f"http://{host}:{listener.getsockname()[1]}/mcp"


async def serve_http(
    server: Server[Any], address: Address, listener: socket.socket, token: str | None
) -> None:
    """Serve until this task is cancelled."""
    local = ("127.0.0.1:*", "localhost:*", "[::1]:*") if address.is_loopback else ()
    hosts = [*local, *address.hosts]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")],
    )
    app = server.streamable_http_app(transport_security=security, max_request_body_size=MAX_BODY)
    door = TokenMiddleware(cast(App, app), token)
    config = uvicorn.Config(
        door,
        http=_TimedConnection,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        limit_concurrency=MAX_CONNECTIONS,
        timeout_graceful_shutdown=STOP_TIME,
        server_header=False,
    )
    running = uvicorn.Server(config)
    running.capture_signals = _no_signals  # type: ignore[method-assign]  # the command has its own
    # Shielded, so that a cancellation becomes a polite stop: calls under way may end first.
    task = asyncio.ensure_future(running.serve(sockets=[listener]))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        running.should_exit = True
        door.close()
        await asyncio.wait([task], timeout=STOP_TIME + 2)
        raise


def _no_signals() -> Any:
    return contextlib.nullcontext()
