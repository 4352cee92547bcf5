"""Messages and positions that clients send, in every encoding, and those that are none."""

from __future__ import annotations

import io
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipage.lsp.protocol import (
    ENCODINGS,
    Encoding,
    Position,
    Text,
    UnreadableMessage,
    path_of,
    read_message,
    uri_of,
)

# Messages.


def framed(body: bytes, header: bytes = b"Content-Length: %d\r\n\r\n") -> bytes:
    return (header % len(body) if b"%d" in header else header) + body


GOOD = framed(b'{"jsonrpc": "2.0", "method": "m", "id": 1, "params": {"a": [1]}}')


@pytest.mark.parametrize(
    "before",
    [
        b"",
        b"\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"X-Length: 5\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: abc\r\n\r\n",
        b"a" * 5000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_header_is_read_past(before: bytes) -> None:
    message = read_message(io.BytesIO(before + GOOD))
    assert message is not None
    assert message.method == "m"


@pytest.mark.parametrize(
    "header", [b"content-length: %d\r\n\r\n", b"Content-Type: x\r\nContent-Length: %d\r\n\r\n"]
)
def test_headers_may_be_written_otherwise(header: bytes) -> None:
    message = read_message(io.BytesIO(framed(b'{"method": "m"}', header)))
    assert message is not None
    assert message.method == "m"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b"\xff", -32700),
        (b'{"params": ' + b"[" * 100_000, -32700),
        (b"5", -32600),
        (b"[]", -32600),
        (b'{"method": 5}', -32600),
    ],
    ids=["cut off", "no text", "deep", "a number", "a batch", "a wrong method"],
)
def test_a_body_that_is_no_message_is_an_error(body: bytes, code: int) -> None:
    stream = io.BytesIO(framed(body) + GOOD)
    with pytest.raises(UnreadableMessage) as caught:
        read_message(stream)
    assert caught.value.code == code
    assert read_message(stream) is not None


def test_a_message_that_is_too_large_is_read_past_and_not_kept() -> None:
    stream = io.BytesIO(framed(b"x" * 3_000_000) + GOOD)
    with pytest.raises(UnreadableMessage):
        read_message(stream, most=1_000_000)
    assert read_message(stream) is not None
    assert read_message(stream) is None


def test_a_stream_may_end_anywhere() -> None:
    for end in range(len(GOOD)):
        assert read_message(io.BytesIO(GOOD[:end])) is None
    with pytest.raises(UnreadableMessage):
        read_message(io.BytesIO(b"Content-Length: 99999999999\r\n\r\nx"))


# Positions and addresses.

TEXT = "a\r\né🙂b\rc\nlast"


@pytest.mark.parametrize(
    ("encoding", "character"), [("utf-8", 6), ("utf-16", 3), ("utf-32", 2)], ids=str
)
def test_a_column_counts_units(encoding: Encoding, character: int) -> None:
    text = Text(TEXT, encoding)
    offset = TEXT.index("b")
    assert text.position(offset) == Position(1, character)
    assert text.offset(Position(1, character)) == offset


@pytest.mark.parametrize(
    ("position", "offset"),
    [
        (Position(-1, 5), 0),
        (Position(0, -1), 0),
        (Position(0, 99), 1),
        (Position(99, 0), len(TEXT)),
        (Position(1, 2), 4),
    ],
    ids=["line before", "column before", "column behind", "line behind", "half a character"],
)
def test_a_position_that_does_not_exist_is_the_nearest_one(position: Position, offset: int) -> None:
    assert Text(TEXT, "utf-16").offset(position) == offset


@given(st.text(), st.sampled_from(ENCODINGS), st.integers(0, 50))
def test_an_offset_comes_back(text: str, encoding: Encoding, offset: int) -> None:
    known = Text(text, encoding)
    offset = min(offset, len(text))
    if text[offset - 1 : offset + 1] != "\r\n":  # no position is between the two
        assert known.offset(known.position(offset)) == offset


def test_a_stretch_that_is_the_wrong_way_round_is_turned() -> None:
    assert Text("abc", "utf-16").replace(Position(0, 2), Position(0, 1), "-").text == "a-c"


@pytest.mark.parametrize("path", ["/a b/ü.yaml", "/a/#x?.md", "/100%/a.md", "/a:b/c"])
def test_a_path_comes_back_from_its_address(path: str) -> None:
    assert path_of(uri_of(path)) == path


def test_bytes_that_are_not_text_have_an_address() -> None:
    assert uri_of(os.fsdecode(b"/a\xff")) == "file:///a%FF"


@pytest.mark.parametrize(
    "uri", ["untitled:Untitled-1", "git:/a.md?x", "", "file://[", "file:///a%00b", "x"]
)
def test_other_addresses_are_no_files(uri: str) -> None:
    assert path_of(uri) is None
