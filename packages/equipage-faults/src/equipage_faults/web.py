"""The rules of streamable HTTP, without sockets: which connection a request belongs to, which
requests are refused, and where the answer goes.

In the older revision a session header identifies a client; in the newer one it is the path, so
`/mcp/a` and `/mcp/b` are two clients with a state of their own.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from equipage_faults import wire
from equipage_faults.engine import Engine
from equipage_faults.jobs import Head, Link
from equipage_faults.phases import TARGETS
from equipage_faults.routes import AnswerChannel, Connection
from equipage_faults.wire import Message

PATH = "/mcp"
SESSION_HEADER = "mcp-session-id"
#: A session that is not used for so long, in milliseconds, may be dropped.
SESSION_IDLE_MS = 600_000
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})

_EVENT_STREAM = "text/event-stream"


class Request(NamedTuple):
    """A whole HTTP request; the names of headers are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


class RequestRefused(Exception):
    """A request that gets an HTTP error."""

    def __init__(
        self, status: int, code: int, message: str, *, raw_id: bytes = b"null", **headers: str
    ) -> None:
        super().__init__(message)
        self.status, self.raw_id = status, raw_id
        self.headers = tuple((name.title(), value) for name, value in headers.items())
        self.error = wire.error_body(code, message)


class Exchanges:
    """Takes requests of all TCP connections and gives each a channel for its answer."""

    def __init__(self, engine: Engine, hosts: frozenset[str] = LOCAL_HOSTS) -> None:
        self.engine = engine
        self._hosts = hosts
        self._sessions: dict[str, Connection] = {}
        self._paths: dict[str, Connection] = {}
        self._links: dict[Link, Connection] = {}

    def take(self, request: Request, link: Link) -> tuple[AnswerChannel, Connection | None]:
        """Take up a request. Its answer, or part of it, may be in the channel already."""
        try:
            return self._route(request, link)
        except RequestRefused as refused:
            # A refusal is an answer like any other, so that order and trace hold for it, too.
            channel = AnswerChannel(link, events=False, headers=refused.headers)
            body = b"".join(wire.response(refused.raw_id, "error", refused.error))
            return _complete_answer(
                channel, refused.status, body, silent=request.method == "HEAD"
            ), None

    def forget_link(self, link: Link) -> None:
        """Forget a closed TCP connection, and the client that is known only by it."""
        connection = self._links.pop(link, None)
        if connection is not None:
            self.engine.forget(connection, "server" if link.closed else "client")

    def _route(self, request: Request, link: Link) -> tuple[AnswerChannel, Connection | None]:
        self._require_local(request.headers)
        path = request.target.partition("?")[0]
        if path != PATH and not path.startswith(f"{PATH}/"):
            raise RequestRefused(
                404, wire.INVALID_REQUEST, f"nothing here; the server is at {PATH}"
            )
        if request.method == "POST":
            return self._post(request, path, link)
        if request.method in ("GET", "DELETE") and self.engine.options.era != "26":
            session = self._session(request.headers)
            if session is not None:
                return self._stream_or_end(request, session, link)
        allowed = "POST" if self.engine.options.era == "26" else "GET, POST, DELETE"
        raise RequestRefused(
            405, wire.INVALID_REQUEST, "this method is not allowed here", allow=allowed
        )

    def _require_local(self, headers: Mapping[str, str]) -> None:
        """Both Host and Origin name this machine: a web page must not reach the server."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if _host_of(f"//{host}") not in self._hosts:
            raise RequestRefused(403, wire.INVALID_REQUEST, "this Host is not allowed")
        if origin is not None and _host_of(origin) not in self._hosts:
            raise RequestRefused(403, wire.INVALID_REQUEST, "this Origin is not allowed")

    # Connections.

    def _session(self, headers: Mapping[str, str]) -> Connection | None:
        """The session that a request names. Raises `RequestRefused` if there is none."""
        name = headers.get(SESSION_HEADER)
        if name is None:
            return None
        if name not in self._sessions:
            raise RequestRefused(404, -32001, "there is no such session")
        return self._sessions[name]

    def _new_session(self) -> tuple[str, Connection]:
        self._make_room()
        # From the seed of the run: a session that can be guessed does no harm in a test.
        name = f"{self.engine.random.getrandbits(128):032x}"
        self._sessions[name] = self.engine.connect()
        return name, self._sessions[name]

    def _make_room(self) -> None:
        """Drop sessions that nothing used for a while; refuse another one beyond the cap."""
        now, limit = self.engine.now, self.engine.caps.sessions
        if len(self._sessions) + len(self._paths) < limit:
            return
        for name, each in list(self._sessions.items()):
            # A session that waits for an answer is used, however long that takes.
            if now - each.used > SESSION_IDLE_MS and not each.exchanges:
                self.engine.forget(self._sessions.pop(name), "server")
        if len(self._sessions) + len(self._paths) >= limit:
            raise RequestRefused(503, wire.INTERNAL_ERROR, "too many sessions")

    def _connection_for_path(self, path: str) -> Connection:
        if path not in self._paths:
            self._make_room()
            self._paths[path] = self.engine.connect()
        return self._paths[path]

    def _connection_for_link(self, link: Link) -> Connection:
        if link not in self._links:
            self._links[link] = self.engine.connect()
        return self._links[link]

    # Requests.

    def _post(
        self, request: Request, path: str, link: Link
    ) -> tuple[AnswerChannel, Connection | None]:
        headers = request.headers
        try:
            message = wire.parse(request.body)
        except wire.Malformed as problem:
            self.engine.record_violation(None, str(problem), size=len(request.body))
            code = wire.INVALID_REQUEST if str(problem) == "batch" else wire.PARSE_ERROR
            raise RequestRefused(400, code, f"the body is not one message: {problem}") from None
        more: tuple[tuple[str, str], ...] = ()
        era: wire.Era = "26" if self._is_modern(message, headers) else "25"
        if era == "26":
            connection = self._connection_for_path(path)
            self._require_headers(connection, message, headers)
        else:
            self._require_version(headers)
            session = self._session(headers)
            if session is None and message.method == "initialize" and message.sort == "request":
                name, session = self._new_session()
                more = (("Mcp-Session-Id", name),)
            connection = session or self._connection_for_link(link)
        if not headers.get("content-type", "").startswith("application/json"):
            self.engine.record_violation(connection, "content type")
        self.engine.accept(connection, message)
        events = _EVENT_STREAM in headers.get("accept", "")
        channel = AnswerChannel(link, events=events, headers=more)
        if message.sort != "request":
            return _complete_answer(channel, 202, b""), connection
        self.engine.begin(connection, message, channel, era)
        return channel, connection

    def _is_modern(self, message: Message, headers: Mapping[str, str]) -> bool:
        allowed = self.engine.options.era
        if allowed != "auto":
            return allowed == "26"
        by_header = headers.get("mcp-protocol-version") == wire.MODERN
        return by_header or wire.VERSION_KEY in wire.meta_of(message.params)

    def _require_version(self, headers: Mapping[str, str]) -> None:
        version = headers.get("mcp-protocol-version")
        if version is not None and version not in wire.LEGACY:
            raise RequestRefused(400, wire.INVALID_REQUEST, "this revision is not supported")

    def _require_headers(
        self, connection: Connection, message: Message, headers: Mapping[str, str]
    ) -> None:
        """The headers of the newer revision repeat what the body says."""
        meta = wire.meta_of(message.params)
        # Without the metadata there is nothing to compare; the engine refuses the request.
        if message.sort != "request" or wire.VERSION_KEY not in meta:
            return
        expected: dict[str, Any] = {
            "mcp-protocol-version": meta[wire.VERSION_KEY],
            "mcp-method": message.method,
        }
        if message.method in ("tools/call", "prompts/get", "resources/read"):
            expected["mcp-name"] = message.params.get(TARGETS[message.method])
        for name, value in expected.items():
            if value is None or _decode_header(headers.get(name)) != value:
                self.engine.record_violation(connection, "header mismatch", header=name)
                text = f"the header {name} is missing or contradicts the body"
                raise RequestRefused(400, wire.HEADER_MISMATCH, text, raw_id=message.raw_id)

    def _stream_or_end(
        self, request: Request, session: Connection, link: Link
    ) -> tuple[AnswerChannel, Connection | None]:
        channel = AnswerChannel(link, events=True)
        if request.method == "DELETE":
            self._sessions = {k: v for k, v in self._sessions.items() if v is not session}
            self.engine.forget(session, "client")
            return _complete_answer(channel, 200, b""), None
        if _EVENT_STREAM not in request.headers.get("accept", ""):
            raise RequestRefused(406, wire.INVALID_REQUEST, f"this stream is {_EVENT_STREAM}")
        streams = sum(len(each.streams) for each in self.engine.connections.values())
        if streams >= self.engine.caps.streams:
            raise RequestRefused(503, wire.INTERNAL_ERROR, "too many event streams")
        channel.begin_events()
        session.streams.append(channel)
        return channel, session


def _complete_answer(
    channel: AnswerChannel, status: int, body: bytes, *, silent: bool = False
) -> AnswerChannel:
    """An answer that is complete at once; a silent one only gives the length of its body."""
    channel.started = True
    channel.put(Head(status, "application/json", len(body), channel.headers))
    if body and not silent:
        channel.put(body)
    channel.end()
    return channel


def _host_of(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _decode_header(value: str | None) -> str | None:
    """A header value; other characters than plain ASCII come as `=?base64?…?=`."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return None
