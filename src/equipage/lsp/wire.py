"""Messages over a pair of streams: a header with a length, and JSON.

A client may send anything. Lines that are not a header are skipped up to the next one that is; a
body that is too large is read and dropped; one that is not a message gets the error that JSON-RPC
has for it.
"""

from __future__ import annotations

import re
from typing import Any, Protocol

import msgspec

#: The largest message that is read. An editor sends whole files, and none of those is larger.
MAX_BYTES = 64 * 1024 * 1024
#: The longest line of a header.
_LONGEST_LINE = 4096
_SKIP_BYTES = 1024 * 1024
_LENGTH = re.compile(rb"content-length\s*:\s*(\d{1,18})\s*\Z", re.IGNORECASE)

# The errors of JSON-RPC and of the protocol.
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
INTERNAL_ERROR, NOT_INITIALISED, REQUEST_FAILED = -32603, -32002, -32803
REQUEST_CANCELLED, CONTENT_MODIFIED = -32800, -32801


class Message(msgspec.Struct, omit_defaults=True):
    """What a client sends: a request has an `id`, a notification none; an answer no `method`."""

    method: str | None = None
    id: int | str | None = None
    params: msgspec.Raw = msgspec.Raw()
    result: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


class Unreadable(Exception):
    """A message that was skipped: the code of an error, and the reason."""

    def __init__(self, code: int, reason: str) -> None:
        self.code, self.reason = code, reason
        super().__init__(code, reason)


class Reader(Protocol):
    def readline(self, limit: int, /) -> bytes: ...

    def read(self, size: int, /) -> bytes: ...


class Writer(Protocol):
    def write(self, data: bytes, /) -> object: ...

    def flush(self) -> object: ...


_DECODER = msgspec.json.Decoder(Message)


def read_message(stream: Reader, *, most: int = MAX_BYTES) -> Message | None:
    """The next message; None at the end of the stream. Raises `Unreadable`."""
    length: int | None = None
    while True:
        line = stream.readline(_LONGEST_LINE)
        if not line:
            return None
        if not line.strip():
            if length is not None:
                break
            continue  # an empty line between messages
        found = _LENGTH.match(line.strip())
        length = int(found[1]) if found is not None else length
    if length > most:
        _skip(stream, length)
        raise Unreadable(INVALID_REQUEST, f"a message of {length:,} bytes is larger than {most:,}")
    data = stream.read(length)
    if len(data) < length:
        return None
    try:
        return _DECODER.decode(data)
    except msgspec.ValidationError as error:
        raise Unreadable(INVALID_REQUEST, str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Unreadable(PARSE_ERROR, str(error)) from None


def _skip(stream: Reader, length: int) -> None:
    while length > 0:
        piece = stream.read(min(length, _SKIP_BYTES))
        if not piece:
            return
        length -= len(piece)


def write_message(stream: Writer, message: dict[str, Any]) -> None:
    """Send a message. Raises `OSError` if the client is gone."""
    data = msgspec.json.encode({"jsonrpc": "2.0", **message})
    stream.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
    stream.flush()
