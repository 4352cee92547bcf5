"""HTTP/1.1 on sockets: requests in, the items of channels out. No library is between, so that a
body may end too early, drip, or never end."""

from __future__ import annotations

import asyncio
import re
import socket
import struct
from http import HTTPStatus
from typing import Any

from equipage.core.diagnostics import UsageError
from equipage.core.text import lazy_regex
from equipage_faults.driver import Driver
from equipage_faults.jobs import End, Head, Item, Link
from equipage_faults.routes import AnswerChannel, Connection
from equipage_faults.web import LOCAL_HOSTS, PATH, Exchanges, Request
from equipage_faults.wire import INBOUND_LIMIT

_HEAD_LIMIT = 65_536
#: A connection without a request is closed after so many seconds.
IDLE_SECONDS = 60.0
#: How many bytes one connection writes before the next one has its turn.
_MAX_BURST_BYTES = 1_048_576

#: A request as RFC 9112 writes it; the bounds refuse what no client of ours would send.
_START_LINE = lazy_regex(r"([A-Z]{1,20}) (\S{1,8000}) HTTP/1\.([01])")
_HEADER = lazy_regex(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*")
_UNIQUE_HEADERS = frozenset({"host", "origin", "content-length", "transfer-encoding"})
_SIZE = lazy_regex(r"[0-9]{1,20}")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n")


class BadRequest(Exception):
    """Bytes that are not an HTTP request; the connection ends with this status."""

    def __init__(self, status: int) -> None:
        self.status = status


class Parser:
    """Bytes of a client to requests, one after the other."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._head: tuple[str, str, dict[str, str]] | None = None
        self._body = bytearray()
        self.keeps_alive = True
        self.wants_continue = False

    @property
    def size(self) -> int:
        return len(self._buffer)

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def next(self) -> Request | None:
        """The next request; None if it is not complete. Raises `BadRequest`."""
        if self._head is None:
            self._read_head()
        if self._head is None:
            return None
        method, target, headers = self._head
        chunked = headers.get("transfer-encoding", "").lower() == "chunked"
        if not (self._read_chunks() if chunked else self._read_body(headers)):
            return None
        request = Request(method, target, headers, bytes(self._body))
        self._head = None
        self._body.clear()
        return request

    def _read_head(self) -> None:
        while self._buffer[:2] == b"\r\n":  # blank lines between requests are allowed
            del self._buffer[:2]
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0 or end > _HEAD_LIMIT:
            if len(self._buffer) > _HEAD_LIMIT:
                raise BadRequest(431)
            return
        # Headers are bytes without an encoding; Latin-1 keeps each of them.
        lines = bytes(self._buffer[:end]).decode("latin-1").split("\r\n")
        del self._buffer[: end + 4]
        start = _START_LINE.fullmatch(lines[0])
        if start is None:
            raise BadRequest(400)
        headers: dict[str, str] = {}
        for line in lines[1:]:
            header = _HEADER.fullmatch(line)
            # Two lengths would let two readers disagree on where the request ends.
            if header is None or header[1].lower() in headers.keys() & _UNIQUE_HEADERS:
                raise BadRequest(400)
            headers[header[1].lower()] = header[2]
        self._check_sizes(headers)
        connection = headers.get("connection", "").lower()
        self.keeps_alive = "close" not in connection and start[3] == "1"
        self.wants_continue = headers.get("expect", "").lower() == "100-continue"
        self._head = start[1], start[2], headers

    def _check_sizes(self, headers: dict[str, str]) -> None:
        length, coding = headers.get("content-length"), headers.get("transfer-encoding")
        # A length beside chunks is the same disagreement, so it is refused as well.
        if length is not None and (coding is not None or not _SIZE.fullmatch(length)):
            raise BadRequest(400)
        if coding is not None and coding.lower() != "chunked":
            raise BadRequest(501)
        if length is not None and int(length) > INBOUND_LIMIT:
            raise BadRequest(413)

    def _read_body(self, headers: dict[str, str]) -> bool:
        missing = int(headers.get("content-length", "0")) - len(self._body)
        self._body += self._buffer[:missing]
        del self._buffer[:missing]
        return len(self._body) == int(headers.get("content-length", "0"))

    def _read_chunks(self) -> bool:
        """Whether the last chunk is there."""
        while (line := _CHUNK_SIZE.match(self._buffer)) is not None:
            size = int(line[1], 16)
            if len(self._body) + size > INBOUND_LIMIT:
                raise BadRequest(413)
            # Not all of the chunk and its line break has come; look again with more bytes.
            if len(self._buffer) < line.end() + size + 2:
                return False
            self._body += self._buffer[line.end() : line.end() + size]
            if self._buffer[line.end() + size : line.end() + size + 2] != b"\r\n":
                raise BadRequest(400)
            del self._buffer[: line.end() + size + 2]
            if size == 0:
                return True
        # A line with a size is short: a whole line without one, or so much, is something else.
        if b"\r\n" in self._buffer or len(self._buffer) > 1_000:
            raise BadRequest(400)
        return False


class HttpConnection(asyncio.Protocol):
    """One TCP connection: a request, its answer, the next request."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._driver = listener.driver
        self._parser = Parser()
        self._transport: Any = None
        self._is_paused = False
        self._chunked = False
        self._channel: AnswerChannel | None = None
        self._connection: Connection | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._is_over = False
        self.link = Link()

    # What asyncio calls.

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        if not self._listener.admit(self):
            self._end_with(503)
            return
        self._wait_for_request()

    def data_received(self, data: bytes) -> None:
        if self._is_over:
            return
        self._parser.feed(data)
        if self._channel is None:
            self._next_request()
        elif self._parser.size > _HEAD_LIMIT:
            self._transport.pause_reading()  # until the answer under way is sent

    def eof_received(self) -> bool:
        return False

    def connection_lost(self, _problem: Exception | None) -> None:
        self._is_over = True
        if self._idle is not None:
            self._idle.cancel()
        self._listener.wires.discard(self)
        channel, connection = self._channel, self._connection
        self._channel = None

        # The engine is used by the driver alone, so that its clock and its jobs stay in order.
        def lose() -> None:
            if channel is not None and connection is not None:
                self._driver.engine.drop_channel(connection, channel)
            self._listener.exchanges.forget_link(self.link)

        self._driver.dispatch(lose)

    def pause_writing(self) -> None:
        self._is_paused = True

    def resume_writing(self) -> None:
        self._is_paused = False
        self._driver.dispatch(self.flush)

    # Requests.

    def _wait_for_request(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        loop = asyncio.get_running_loop()
        self._idle = loop.call_later(IDLE_SECONDS, self._transport.close)

    def _next_request(self) -> None:
        try:
            request = self._parser.next()
        except BadRequest as problem:
            what = "oversized" if problem.status == 413 else "malformed"
            self._driver.dispatch(lambda: self._driver.engine.record_violation(None, what))
            # Where the next request would begin is not known, so the connection ends.
            self._end_with(problem.status)
            return
        if request is None:
            if self._parser.wants_continue:
                self._parser.wants_continue = False
                self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            return
        if self._idle is not None:
            self._idle.cancel()
        self._driver.dispatch(lambda: self._take(request))

    def _take(self, request: Request) -> None:
        self._channel, self._connection = self._listener.exchanges.take(request, self.link)

    def _end_with(self, status: int) -> None:
        self._is_over = True
        self._transport.write(_head_bytes(Head(status, length=0), close=True))
        self._transport.close()

    # Answers.

    def flush(self) -> None:
        """Write what waits, as long as the socket takes it."""
        if self.link.closed == "forced":
            self._reset()
            return
        channel = self._channel
        budget = _MAX_BURST_BYTES
        while channel is not None and channel.outbox and self._may_write:
            item = channel.outbox.popleft()
            self._write(item)
            if isinstance(item, bytes):
                budget -= len(item)
                self._driver.engine.jobs.acknowledge_written(channel, len(item))
            elif isinstance(item, End):
                self._channel = channel = None
                asyncio.get_running_loop().call_soon(self._finish_answer)
            if budget < 0:  # others want to be served, too
                asyncio.get_running_loop().call_soon(self._driver.dispatch, self.flush)
                return
        if self.link.closed == "graceful" and channel is None and not self._is_over:
            self._transport.close()

    @property
    def _may_write(self) -> bool:
        # A transport that is closing is lost, or will be: `connection_lost` follows.
        return not (self._is_paused or self._transport.is_closing())

    def _write(self, item: Item) -> None:
        if isinstance(item, Head):
            self._chunked = item.length is None
            self._transport.write(_head_bytes(item, close=not self._parser.keeps_alive))
        elif isinstance(item, End):
            if self._chunked:
                self._transport.write(b"0\r\n\r\n")
        elif self._chunked:
            if item:
                self._transport.write(b"%x\r\n%b\r\n" % (len(item), item))
        else:
            self._transport.write(item)

    def _finish_answer(self) -> None:
        """An answer is complete: take the next request, which may be here already."""
        if self._is_over:
            return
        if not self._parser.keeps_alive:
            self._transport.close()
            return
        self._transport.resume_reading()
        self._wait_for_request()
        self._next_request()

    def _reset(self) -> None:
        """Break the connection off: the client sees a reset, not an end."""
        if self._is_over:
            return
        self._is_over = True
        # To linger for no time makes the system send RST instead of FIN.
        found = self._transport.get_extra_info("socket")
        found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def abort(self) -> None:
        self._is_over = True
        self._transport.abort()

    @property
    def is_drained(self) -> bool:
        channel = self._channel
        waits = channel is not None and bool(channel.outbox)
        return self._is_over or (not waits and not self._transport.get_write_buffer_size())


class Listener:
    """Accepts TCP connections, up to a cap."""

    def __init__(self, driver: Driver, host: str, port: int) -> None:
        self.driver = driver
        self.exchanges = Exchanges(driver.engine, LOCAL_HOSTS | {host.lower()})
        self.wires: set[HttpConnection] = set()
        self._host, self._port = host, port
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Bind the port. Raises `UsageError` if that is impossible."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(
                lambda: HttpConnection(self), self._host, self._port, backlog=256
            )
        except OSError as problem:
            reason = problem.strerror or "the address cannot be used"
            raise UsageError(f"cannot listen on {self._host}:{self._port}: {reason}") from None

    @property
    def url(self) -> str:
        assert self._server is not None
        host, port = self._server.sockets[0].getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{port}{PATH}"

    def start(self) -> None:
        """Connections are accepted since `open`."""

    async def close(self) -> None:
        """Stop listening, and end every connection."""
        assert self._server is not None
        self._server.close()
        for each in list(self.wires):
            each.abort()
        await asyncio.sleep(0)  # the sockets are closed when the loop comes around

    def admit(self, wire: HttpConnection) -> bool:
        if len(self.wires) >= self.driver.engine.caps.connections:
            self.driver.engine.trace(None, "capped", what="connections")
            return False
        self.wires.add(wire)
        return True

    def flush(self) -> None:
        for each in list(self.wires):
            each.flush()

    @property
    def is_drained(self) -> bool:
        return all(each.is_drained for each in self.wires)


def _head_bytes(head: Head, *, close: bool) -> bytes:
    phrase = HTTPStatus(head.status).phrase
    lines = [f"HTTP/1.1 {head.status} {phrase}"]
    if head.length is None:
        lines.append("Transfer-Encoding: chunked")
    else:
        lines.append(f"Content-Length: {head.length}")
    if head.length != 0:
        lines.append(f"Content-Type: {head.content_type}")
    if head.content_type == "text/event-stream":
        # A proxy that keeps events would deliver them to nothing.
        lines.append("Cache-Control: no-store")
    if close:
        lines.append("Connection: close")
    lines += [f"{name}: {value}" for name, value in head.headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
