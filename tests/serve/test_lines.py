"""Lines of a client over standard input: where they end, and which are no messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra `serve` is not installed")

from equipage.serve.wire.lines import MAX_LINE, MAX_NESTING, LineSplitter, problem_of


def split(*pieces: bytes, longest: int = 5) -> list[bytes | None]:
    splitter = LineSplitter(longest)
    found = [line for piece in pieces for line in splitter.feed(piece)]
    return [*found, *splitter.feed(b"")]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ((), []),
        ((b"a\nb\n",), [b"a", b"b"]),
        ((b"a\nb",), [b"a", b"b"]),
        ((b"a", b"b\nc", b"\n"), [b"ab", b"c"]),
        ((b"\n\n",), [b"", b""]),
        ((b"12345\n",), [b"12345"]),
        ((b"123456\na\n",), [None, b"a"]),
        ((b"123456", b"7\na\n"), [None, b"a"]),
        ((b"123", b"456", b"789", b"\na\n"), [None, b"a"]),
        ((b"123456", b"\n", b"123456", b"\n"), [None, None]),
        ((b"123456",), [None]),
        ((b"123456", b"x"), [None]),
        ((b"12345", b"\n"), [b"12345"]),
        ((b"a\n123456", b"\nb"), [b"a", None, b"b"]),
    ],
)
def test_lines(pieces: tuple[bytes, ...], expected: list[bytes | None]) -> None:
    assert split(*pieces) == expected


def test_what_is_skipped_is_not_kept() -> None:
    splitter = LineSplitter(10)
    for _ in range(1000):
        list(splitter.feed(b"x" * 1000))
    assert len(splitter._rest) <= 1000
    assert LineSplitter().longest == MAX_LINE == 4 * 1024 * 1024


def message(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


def nested(depth: int) -> bytes:
    # The object itself and its member are two levels.
    return message(method="x", params="?").replace(b'"?"', b"[" * depth + b"]" * depth)


PARSE, INVALID = -32700, -32600
NOT_JSON = (PARSE, "The line is not JSON", None)
NO_MESSAGE = "The object is not a message of JSON-RPC 2.0"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (None, (INVALID, "The line is longer than 4194304 bytes", None)),
        (b"", NOT_JSON),
        (b"{", NOT_JSON),
        (b"\xff", NOT_JSON),
        (b"[]", (INVALID, "A message is an object", None)),
        (b"5", (INVALID, "A message is an object", None)),
        (b"{}", (INVALID, NO_MESSAGE, None)),
        (b'{"id": 5}', (INVALID, NO_MESSAGE, 5)),
        (b'{"id": "a"}', (INVALID, NO_MESSAGE, "a")),
        (b'{"id": true}', (INVALID, NO_MESSAGE, None)),
        (b'{"id": 1.5}', (INVALID, NO_MESSAGE, None)),
        (b'{"id": [], "method": "x"}', (INVALID, NO_MESSAGE, None)),
        (b'{"jsonrpc": "1.0", "id": 7, "method": "x"}', (INVALID, NO_MESSAGE, 7)),
        (b'{"jsonrpc": "2.0", "id": 7}', (INVALID, NO_MESSAGE, 7)),
        (message(method="x"), None),
        (message(id=1, result={}), None),
        (message(id=1, error={}), None),
        (nested(MAX_NESTING - 1), None),
        (nested(MAX_NESTING), (INVALID, "The message is nested too deep", None)),
        # Many brackets beside each other are not deep.
        (message(method="x", params=[[] for _ in range(1000)]), None),
        (message(method="x", params=[{} for _ in range(1000)]), None),
        (b'{"a":' * 300, (INVALID, "The message is nested too deep", None)),
    ],
)
def test_what_is_no_message(line: bytes | None, problem: tuple[int, str, Any] | None) -> None:
    assert problem_of(line) == problem
