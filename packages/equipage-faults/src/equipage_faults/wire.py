"""JSON-RPC on the wire: what a client sent, and the bytes of what the server sends.

The bytes are made here and not by a library: a library refuses to write a broken frame. Two
revisions of the protocol are spoken: with a handshake (2025-11-25 and before), and without.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from equipage.formats.server.model import ServerInfo
from equipage.formats.server.payloads import KEY, Generated

#: The most bytes of one message from a client.
INBOUND_LIMIT = 10 * 1024 * 1024

PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603

Pieces = Iterator[bytes]

# What a client sent.

Sort = Literal["request", "notification", "response"]


class Message(msgspec.Struct, frozen=True):
    """One message of a client."""

    sort: Sort
    body: dict[str, Any]
    size: int  #: in bytes, as received
    raw_id: bytes = b""  #: the id as the client wrote it, to be sent back unchanged
    oddities: tuple[str, ...] = ()  #: violations of the protocol that do not prevent an answer

    @property
    def method(self) -> str:
        method = self.body.get("method")
        return method if isinstance(method, str) else ""

    @property
    def id(self) -> Any:
        return self.body.get("id")

    @property
    def params(self) -> Mapping[str, Any]:
        params = self.body.get("params")
        return params if isinstance(params, dict) else {}


class Malformed(Exception):
    """Bytes that are not one JSON-RPC message; the text is the reason, in one word."""


class _Envelope(msgspec.Struct):
    id: msgspec.Raw = msgspec.Raw(b"")


_decode = msgspec.json.Decoder().decode
_decode_id = msgspec.json.Decoder(_Envelope).decode


def parse(data: bytes) -> Message:
    """The message in `data`. Raises `Malformed`."""
    try:
        body = _decode(data)
    # A string that is not UTF-8 is a UnicodeDecodeError, brackets without end a RecursionError.
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise Malformed("malformed") from None
    if isinstance(body, list):
        raise Malformed("batch")
    if not isinstance(body, dict) or "jsonrpc" not in body:
        raise Malformed("malformed")
    raw_id = bytes(_decode_id(data).id) if "id" in body else b""
    return Message(_message_sort(body), body, len(data), raw_id, tuple(_oddities(body)))


def _message_sort(body: dict[str, Any]) -> Sort:
    if "result" in body or "error" in body:
        return "response"
    if not isinstance(body.get("method"), str):
        raise Malformed("malformed")
    return "request" if "id" in body else "notification"


def _oddities(body: dict[str, Any]) -> Iterator[str]:
    if body["jsonrpc"] != "2.0":
        yield "jsonrpc version"
    # `True` is an int for Python, and no id.
    if "id" in body and (isinstance(body["id"], bool) or not isinstance(body["id"], str | int)):
        yield "bad id"


# What the server sends: compact UTF-8, members in the order of the author, nothing escaped that
# need not be.


def encode(value: Any) -> bytes:
    """A JSON value in one piece."""
    return _encode_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _encode_text(text: str) -> bytes:
    """UTF-8; half a surrogate pair, which UTF-8 cannot express, as its JSON escape."""
    return text.encode("utf-8", "backslashreplace")


class TextPayload(msgspec.Struct, frozen=True):
    """A payload in a place for text: its bytes become a JSON string."""

    payload: Generated


def is_streamed(value: Any) -> bool:
    """Whether a value holds a payload, so that its size is not known before it is made."""
    if isinstance(value, dict):
        return _payload(value) is not None or any(is_streamed(each) for each in value.values())
    if isinstance(value, list | tuple):
        return any(is_streamed(each) for each in value)
    return isinstance(value, TextPayload)


def encode_pieces(value: Any) -> Pieces:
    """A JSON value that may hold payloads, made while it is read."""
    if isinstance(value, TextPayload):
        yield from _json_string(value.payload.generator.stream())
    elif not is_streamed(value):
        yield encode(value)
    elif isinstance(value, dict):
        payload = _payload(value)
        if payload is None:
            yield from _collection(b"{}", (_member(*each) for each in value.items()))
        elif payload.produces_json:
            yield from payload.generator.stream()
        else:
            yield from _json_string(payload.generator.stream())
    else:
        yield from _collection(b"[]", (encode_pieces(each) for each in value))


def _payload(value: Mapping[str, Any]) -> Generated | None:
    """The payload that a mapping of free data, such as an input schema, describes."""
    if value.keys() != {KEY} or not isinstance(value[KEY], Mapping):
        return None
    return Generated(value[KEY])


def _member(key: str, value: Any) -> Iterator[bytes]:
    yield encode(key) + b":"
    yield from encode_pieces(value)


def _collection(brackets: bytes, members: Iterable[Iterator[bytes]]) -> Iterator[bytes]:
    yield brackets[:1]
    for number, member in enumerate(members):
        if number:
            yield b","
        yield from member
    yield brackets[1:]


def _json_string(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Bytes as a JSON string; what is not UTF-8 becomes the replacement character."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    yield b'"'
    for chunk in chunks:
        yield _encode_text(json.dumps(decoder.decode(chunk), ensure_ascii=False)[1:-1])
    yield _encode_text(json.dumps(decoder.decode(b"", True), ensure_ascii=False)[1:-1]) + b'"'


def response(raw_id: bytes, member: Literal["result", "error"], value: Any) -> Pieces:
    """An answer; small ones are one piece."""
    head = b'{"jsonrpc":"2.0","id":' + (raw_id or b"null") + f',"{member}":'.encode()
    if not is_streamed(value):
        yield head + encode(value) + b"}"
        return
    yield head
    yield from encode_pieces(value)
    yield b"}"


class Frame(msgspec.Struct, frozen=True):
    """A message that the server sends by itself: a request if it has an id."""

    method: str
    params: Any = None
    raw_id: bytes | None = None

    def data(self, meta: dict[str, Any] | None = None) -> bytes:
        """The bytes; `meta` goes into the metadata of the parameters."""
        number = b"" if self.raw_id is None else b'"id":' + self.raw_id + b","
        head = b'{"jsonrpc":"2.0",' + number + b'"method":' + encode(self.method)
        params = self.params
        if meta is not None:
            given = params if isinstance(params, dict) else {}
            params = {**given, "_meta": {**given.get("_meta", {}), **meta}}
        return head + (b"}" if params is None else b',"params":' + encode(params) + b"}")


def error_body(code: int, message: str, data: Any = None) -> dict[str, Any]:
    body = {"code": code, "message": message}
    return body if data is None else {**body, "data": data}


#: `25` opens a connection with `initialize`; in `26` every request carries its own metadata.
Era = Literal["25", "26"]

LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"

_META = "io.modelcontextprotocol/"
VERSION_KEY = f"{_META}protocolVersion"
CLIENT_KEY = f"{_META}clientInfo"
CAPABILITIES_KEY = f"{_META}clientCapabilities"
SERVER_KEY = f"{_META}serverInfo"
SUBSCRIPTION_KEY = f"{_META}subscriptionId"

HEADER_MISMATCH, VERSION_REFUSED = -32020, -32022

#: Methods of the older revision that the newer one no longer has.
REMOVED_METHODS = frozenset(
    {"ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}
)
#: Results that a client may keep; ours forbid it, so that it sees every phase.
_CACHEABLE = frozenset(
    {
        "server/discover",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
        "resources/read",
    }
)

BANNER = "test server, injects faults"


def meta_of(params: Mapping[str, Any]) -> Mapping[str, Any]:
    meta = params.get("_meta")
    return meta if isinstance(meta, dict) else {}


def missing_meta(meta: Mapping[str, Any]) -> str | None:
    """The first member that every request of the newer revision must have, and this one lacks."""
    return next((key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta), None)


def supported_versions(allowed: str) -> list[str]:
    """The revisions that a server with this `--era` tells clients of the newer one."""
    return [MODERN] if allowed == "26" else [MODERN, *reversed(LEGACY)]


def server_info(server: ServerInfo) -> dict[str, Any]:
    """Who the server says it is: the author's words, and what it is for."""
    return {
        "name": server.name,
        "version": server.version,
        "title": BANNER,
        "description": "Misbehaves on purpose, to test clients; run by equipage.",
    }


def handshake(requested: object, server: ServerInfo, capabilities: Any) -> dict[str, Any]:
    """The result of `initialize`: the client's revision if it is known, else the newest."""
    version = requested if requested in LEGACY else LEGACY[-1]
    return {
        "protocolVersion": version,
        "capabilities": capabilities,
        "serverInfo": server_info(server),
    }


def complete_result(result: Any, method: str, server: ServerInfo) -> Any:
    """A result with what the newer revision adds to it."""
    if not isinstance(result, dict):
        return result
    caching = {"ttlMs": 0, "cacheScope": "private"} if method in _CACHEABLE else {}
    meta = {SERVER_KEY: server_info(server)}
    return {"resultType": "complete", **result, **caching, "_meta": meta}
