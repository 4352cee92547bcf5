"""Bytes: what a client may send, and what messages, deliveries and records become."""

from __future__ import annotations

import json
from typing import Any

import pytest

from equipage.formats.server.model import (
    InvalidUtf8,
    NestedJson,
    Repeated,
    Silent,
    SlowLoris,
    Truncated,
    UnboundedLine,
    WrongId,
)
from equipage.formats.server.payloads import Generated
from equipage_faults import trace, wire
from equipage_faults.caps import Caps, cap_warnings
from equipage_faults.delivery import Progress, coalesce, deliver, frames_of
from equipage_faults.http import BadRequest, Parser, _head_bytes
from equipage_faults.jobs import EVENT, Channel, Head, Hold, Link, Release, Send, Wait
from equipage_faults.web import Request
from faultlab import engine_of, phased, simple, tool

# Messages of a client.

PARSED: list[tuple[bytes, Any]] = [
    (b'{"jsonrpc":"2.0","id":1,"method":"m"}', ("request", "m", 1, b"1", {}, ())),
    (b'{"jsonrpc":"2.0","id":null,"method":"m"}', ("request", "m", None, b"null", {}, ("bad id",))),
    (b'{"jsonrpc":"2.0","id": 1.0 ,"method":"m"}', ("request", "m", 1.0, b"1.0", {}, ("bad id",))),
    (b'{"jsonrpc":"2.0","id":true,"method":"m"}', ("request", "m", True, b"true", {}, ("bad id",))),
    (b'{"jsonrpc":"2.0","id":"x","method":"m"}', ("request", "m", "x", b'"x"', {}, ())),
    (b'{"jsonrpc":"2.0","method":"m"}', ("notification", "m", None, b"", {}, ())),
    (b'{"jsonrpc":"2.0","method":"m","params":{"a":1}}', ("notification", "m", None, b"", {"a": 1}, ())),
    (b'{"jsonrpc":"2.0","method":"m","params":[1]}', ("notification", "m", None, b"", {}, ())),
    (b'{"jsonrpc":"1","method":"m"}', ("notification", "m", None, b"", {}, ("jsonrpc version",))),
    (b'{"jsonrpc":2,"id":[],"method":"m"}', ("request", "m", [], b"[]", {}, ("jsonrpc version", "bad id"))),
    (b'{"jsonrpc":"2.0","id":1,"result":null}', ("response", "", 1, b"1", {}, ())),
    (b'{"jsonrpc":"2.0","id":1,"error":{},"method":5}', ("response", "", 1, b"1", {}, ())),
    (b'{"id":1,"method":"m"}', "malformed"),
    (b'{"jsonrpc":"2.0","id":1}', "malformed"),
    (b'{"jsonrpc":"2.0","id":1,"method":5}', "malformed"),
    (b'"jsonrpc"', "malformed"),
    (b'["jsonrpc"]', "batch"),
    (b'{"jsonrpc":"2.0","method":"\xff"}', "malformed"),
    (b"[" * 100_000, "malformed"),
    (b"", "malformed"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "found"), PARSED, ids=range(len(PARSED)))
def test_messages_of_a_client(data: bytes, found: Any) -> None:
    if isinstance(found, str):
        with pytest.raises(wire.Malformed, match=f"^{found}$"):
            wire.parse(data)
        return
    message = wire.parse(data)
    known = (message.sort, message.method, message.id, message.raw_id, message.params)
    assert (*known, message.oddities) == found
    assert (message.size, message.body) == (len(data), json.loads(data))


# Messages of the server.

GENERATED = {"$generate": {"type": "nested_json", "depth": 2, "structure": "array"}}
SMALL = {"type": "garbage", "bytes": 9, "seed": 1}
GARBLED = b"".join(Generated({**SMALL, "charset": "ascii"}).generator.stream()).decode()
GARBAGE = Generated({"type": "garbage", "bytes": 200_000, "seed": 1, "charset": "ascii"})


def test_values_are_compact_and_escaped_only_where_they_must_be() -> None:
    value = {"b": [1, 1.5, None, True], "a": 'é/"\n', "c": "\ud800"}
    assert wire.encode(value) == (b'{"b":[1,1.5,null,true],"a":"\xc3\xa9/\\"\\n","c":"\\ud800"}')


@pytest.mark.parametrize(
    ("value", "data", "streamed"),
    [
        ({"a": 1}, b'{"a":1}', False),
        (GENERATED, b"[[null]]", True),
        ({"a": [GENERATED, 1], "b": 2}, b'{"a":[[[null]],1],"b":2}', True),
        ([{"a": GENERATED}, ()], b'[{"a":[[null]]},[]]', True),
        ({"$generate": 5}, b'{"$generate":5}', False),
        ({**GENERATED, "b": 1}, b'{"$generate":{"type":"nested_json","depth":2,"structure":"array"},"b":1}', False),
        (wire.TextPayload(Generated(GENERATED["$generate"])), b'"[[null]]"', True),
        ({"$generate": {**SMALL, "charset": "ascii"}}, wire.encode(GARBLED), True),
    ],
    ids=str,
)  # fmt: skip
def test_payloads_in_values(value: Any, data: bytes, streamed: bool) -> None:
    assert b"".join(wire.encode_pieces(value)) == data
    assert wire.is_streamed(value) is streamed
    whole = b'{"jsonrpc":"2.0","id":7,"result":' + data + b"}"
    parts = list(wire.response(b"7", "result", value))
    assert b"".join(parts) == whole
    assert (len(parts) > 1) is streamed


def test_pieces_of_a_payload_are_of_a_size() -> None:
    parts = list(coalesce(wire.encode_pieces([wire.TextPayload(GARBAGE)] * 2)))
    assert all(65_536 <= len(each) < 65_536 * 3 for each in parts[:-1])
    assert len(parts) > 4
    assert len(json.loads(b"".join(parts))[1]) == 200_000


def test_what_is_no_text_becomes_the_replacement_character() -> None:
    class Chunks:
        def stream(self) -> Any:
            return iter([b'"\xc3', b"\xa9\xff\n", b"\xe2\x82"])

    class Payload:
        generator = Chunks()

    value = wire.TextPayload(Payload())  # type: ignore[arg-type]
    assert b"".join(wire.encode_pieces(value)).decode() == '"\\"é\ufffd\\n\ufffd"'


def test_answers_and_frames() -> None:
    (data,) = wire.response(b"", "error", wire.error_body(-1, "no"))
    assert data == b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}'
    assert wire.error_body(-1, "no", []) == {"code": -1, "message": "no", "data": []}
    meta = {"k": 1}
    for frame, given, text in (
        (wire.Frame("é"), None, '"method":"é"}'),
        (wire.Frame("m", [1]), None, '"method":"m","params":[1]}'),
        (wire.Frame("m", None, b"7"), None, '"id":7,"method":"m"}'),
        (wire.Frame("m", {"a": 1}), meta, '"method":"m","params":{"a":1,"_meta":{"k":1}}}'),
        (wire.Frame("m", {"_meta": {"l": 2, "k": 0}}), meta, '"method":"m","params":{"_meta":{"l":2,"k":1}}}'),
        (wire.Frame("m", [1]), meta, '"method":"m","params":{"_meta":{"k":1}}}'),
    ):  # fmt: skip
        assert frame.data(given).decode() == '{"jsonrpc":"2.0",' + text


# Deliveries.


def made(raw: bytes | None) -> wire.Pieces:
    return iter([b'{"id":', raw or b"1", b',"r":0}'])


WHOLE = b'{"id":1,"r":0}'


@pytest.mark.parametrize(
    ("extension", "frames"),
    [
        (None, [WHOLE]),
        (Silent(), []),
        (WrongId("é"), [WHOLE.replace(b"1", '"é"'.encode())]),
        (Repeated(3), [WHOLE] * 3),
        (Repeated(99), [WHOLE] * 4),
        (Truncated(0), [b""]),
        (Truncated(6), [b'{"id":']),
        (Truncated(8), [b'{"id":1,']),
        (Truncated(99), [WHOLE]),
        (InvalidUtf8(), [b"\xff\xfe", WHOLE]),
        (InvalidUtf8("inside"), [WHOLE[:-1] + b',"x":"\xff\xfe"}']),
    ],
    ids=str,
)
def test_frames_of_extensions(extension: Any, frames: list[bytes]) -> None:
    found = frames_of(extension, made, Caps(duplicates=4))
    assert [b"".join(each) for each in found] == frames


def delivered(
    delivery: Any, *pieces: bytes, events: bool = False, **caps: int
) -> tuple[list[Any], Progress]:
    """The steps of a delivery: what is sent, and the times it waits for."""
    channel = Channel(Link(), EVENT) if events else Channel(Link())
    done = Progress()
    steps = list(deliver(iter(pieces), delivery, channel, lambda: 1_000, Caps(**caps), done))
    assert (steps[0], steps[-1]) == (Hold(channel), Release(channel))
    return [each.data if isinstance(each, Send) else each for each in steps[1:-1]], done


def slow(size: int, delay: int = 5) -> SlowLoris:
    return SlowLoris(delay, size)


DELIVERED: list[tuple[Any, tuple[bytes, ...], dict[str, Any], list[Any], int, bool]] = [
    (None, (b"ab", b"c"), {}, [b"abc\n"], 4, False),
    (None, (b"ab",), {"events": True}, [b"event: message\ndata: ab\n\n"], 25, False),
    (None, (b"ab", b"c"), {"frame_bytes": 3}, [b"abc\n"], 4, False),
    (None, (b"ab", b"cd"), {"frame_bytes": 3}, [b"abc\n"], 4, True),
    (None, (b"ab", b"c", b"d"), {"frame_bytes": 2}, [b"ab\n"], 3, True),
    (slow(2), (b"abc",), {}, [b"ab", Wait(1_005), b"c\n"], 4, False),
    (slow(2), (b"abcd",), {}, [b"ab", Wait(1_005), b"cd", Wait(1_010), b"\n"], 5, False),
    (slow(2, 0), (b"abc",), {}, [b"ab", b"c\n"], 4, False),
    (slow(0, 0), (b"a",), {}, [b"a", b"\n"], 2, False),
    (slow(9), (b"abc",), {}, [b"abc\n"], 4, False),
    (slow(1), (b"abc",), {"delay_ms": 10}, [b"a", Wait(1_005), b"b", Wait(1_010), b"c", Wait(1_011)], 3, True),
    (NestedJson(2, "k"), (b"1",), {}, [b'{"k":{"k":1}}\n'], 14, False),
    (NestedJson(0, "k"), (b"1",), {}, [b"1\n"], 2, False),
    (NestedJson(9, "k"), (b"1",), {"depth": 1}, [b'{"k":1}\n'], 8, False),
    (NestedJson(1, "aé"), (b"1",), {"key_bytes": 2}, [b'{"a":1}\n'], 8, False),
    (NestedJson(1, "aé"), (b"1",), {"key_bytes": 3}, ['{"aé":1}\n'.encode()], 10, False),
    (NestedJson(1, "\ud800"), (b"1",), {}, [b'{"?":1}\n'], 8, False),
    (UnboundedLine(0), (b"ab",), {}, [b"ab"], 2, False),
    (UnboundedLine(2), (b"ab",), {}, [b"ab"], 2, False),
    (UnboundedLine(3), (b"ab",), {}, [b"abA"], 3, False),
    (UnboundedLine(5, "é"), (b"a", b"b"), {}, ["abé".encode() + b"\xc3"], 5, False),
    (UnboundedLine(99), (b"ab",), {"frame_bytes": 4}, [b"abAA"], 4, False),
    (UnboundedLine(4, "\ud800"), (b"ab",), {}, [b"ab??"], 4, False),
]  # fmt: skip


@pytest.mark.parametrize(
    ("delivery", "pieces", "more", "steps", "sent", "capped"), DELIVERED, ids=range(len(DELIVERED))
)
def test_deliveries(
    delivery: Any,
    pieces: tuple[bytes, ...],
    more: dict[str, Any],
    steps: list[Any],
    sent: int,
    capped: bool,
) -> None:
    found, done = delivered(delivery, *pieces, **more)
    assert (found, done.sent, done.capped, done.begun) == (steps, sent, capped, True)


def test_small_pieces_are_put_together() -> None:
    half = b"x" * 32_768
    assert list(coalesce([half, half, b"y", half])) == [half * 2, b"y" + half]
    assert list(coalesce([half[1:], half, b"y"])) == [half[1:] + half + b"y"]
    assert list(coalesce([b""])) == []


# Requests of HTTP.


def parsed(*chunks: bytes) -> tuple[list[Any], Parser]:
    """The requests, or the status of the refusal; after each of the chunks."""
    parser, found = Parser(), list[Any]()
    for chunk in chunks:
        parser.feed(chunk)
        try:
            while (made := parser.next()) is not None:
                found.append(made)
        except BadRequest as problem:
            found.append(problem.status)
            break
    return found, parser


POST = b"POST /mcp HTTP/1.1\r\n"
CHUNKED = POST + b"Transfer-Encoding: Chunked\r\n\r\n"
MOST = 10 * 1024 * 1024


def posted(body: bytes, **headers: str) -> Request:
    return Request("POST", "/mcp", {name.replace("_", "-"): value for name, value in headers.items()}, body)  # fmt: skip


BODIES: list[tuple[tuple[bytes, ...], list[Any]]] = [
    ((POST + b"\r\n",), [posted(b"")]),
    ((b"\r\n\r\n" + POST + b"A:\tb \r\nC: \r\n\r\n",), [posted(b"", a="b", c="")]),
    ((POST + b"X: 1\r\nx: 2\r\n\r\n",), [posted(b"", x="2")]),
    ((POST + b"Content-Length: 3\r\n\r\na", b"b", b"cd"), [posted(b"abc", content_length="3"), ]),
    ((POST + b"Content-Length: 1\r\n\r\na" + POST + b"\r\n",), [posted(b"a", content_length="1"), posted(b"")]),
    ((POST[:5], POST[5:], b"\r", b"\n"), [posted(b"")]),
    ((CHUNKED + b"3\r\nabc\r\n0\r\n\r\n",), [posted(b"abc", transfer_encoding="Chunked")]),
    ((CHUNKED + b"3", b"\r\nab", b"c", b"\r", b"\nA ;x=1\r\n0123456789\r\n0\r\n", b"\r\n"), [posted(b"abc0123456789", transfer_encoding="Chunked")]),
    ((CHUNKED + b"1\r\nabc\r\n",), [400]),
    ((CHUNKED + b"0\r\nx: y\r\n\r\n",), [400]),
    ((CHUNKED + b"x\r\n",), [400]),
    ((CHUNKED + b"1;" + b"x" * 998, ), []),
    ((CHUNKED + b"1;" + b"x" * 999, ), [400]),
    ((CHUNKED + b"%x\r\n" % MOST,), []),
    ((CHUNKED + b"%x\r\n" % (MOST + 1),), [413]),
    ((CHUNKED + b"1\r\na\r\n%x\r\n" % MOST,), [413]),
    ((POST + b"Content-Length: %d\r\n\r\n" % MOST,), []),
    ((POST + b"Content-Length: %d\r\n\r\n" % (MOST + 1),), [413]),
    ((POST + b"Transfer-Encoding: gzip\r\n\r\n",), [501]),
    ((POST + b"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",), [400]),
    ((POST + b"Content-Length: 1x\r\n\r\n",), [400]),
    ((POST + b"x" * (65_536 - len(POST)),), []),
    ((POST + b"x" * (65_537 - len(POST)),), [431]),
    ((POST + b"x:" + b"y" * (65_536 - len(POST) - 2) + b"\r\n\r\n",), [posted(b"", x="y" * (65_536 - len(POST) - 2))]),
    ((POST + b"x:" + b"y" * (65_537 - len(POST) - 2) + b"\r\n\r\n",), [431]),
    ((b"POST /mcp\r\n\r\n",), [400]),
    ((POST + b"a b: c\r\n\r\n",), [400]),
    ((POST + b"Host: a\r\nhost: b\r\n\r\n",), [400]),
    ((POST + b"X: \xe9\r\n\r\n",), [posted(b"", x="é")]),
]  # fmt: skip


@pytest.mark.parametrize(("chunks", "found"), BODIES, ids=range(len(BODIES)))
def test_requests_of_http(chunks: tuple[bytes, ...], found: list[Any]) -> None:
    assert parsed(*chunks)[0] == found


@pytest.mark.parametrize(
    ("head", "keeps_alive", "wants_continue"),
    [
        (POST, True, False),
        (b"POST /mcp HTTP/1.0\r\n", False, False),
        (POST + b"Connection: Close\r\n", False, False),
        (POST + b"Connection: keep-alive\r\n", True, False),
        (POST + b"Expect: 100-Continue\r\n", True, True),
        (POST + b"Expect: 200\r\n", True, False),
    ],
)
def test_what_a_request_wants_of_its_connection(
    head: bytes, keeps_alive: bool, wants_continue: bool
) -> None:
    parser = parsed(head + b"\r\n")[1]
    assert (parser.keeps_alive, parser.wants_continue, parser.size) == (
        keeps_alive,
        wants_continue,
        0,
    )


@pytest.mark.parametrize(
    ("head", "close", "lines"),
    [
        (
            Head(200, "application/json", 5, (("A", "b"),)),
            False,
            ["200 OK", "Content-Length: 5", "Content-Type: application/json", "A: b"],
        ),
        (Head(202, "application/json", 0), True, ["202 Accepted", "Content-Length: 0", "Connection: close"]),
        (
            Head(200, "text/event-stream"),
            False,
            ["200 OK", "Transfer-Encoding: chunked", "Content-Type: text/event-stream", "Cache-Control: no-store"],
        ),
    ],
)  # fmt: skip
def test_heads_of_answers(head: Head, close: bool, lines: list[str]) -> None:
    text = "HTTP/1.1 " + "\r\n".join(lines) + "\r\n\r\n"
    assert _head_bytes(head, close=close).decode() == text


# Records.


def test_records_show_what_is_allowed() -> None:
    body = {"params": {"arguments": {"a": 1}, "uri": "u", "list": [{"text": "t"}, 5, {"data": 1}]}}
    record = {"n": 1, "e": "recv", "body": body}
    assert trace.limit_body(record, "full") == record
    assert trace.limit_body(record, "none") == {"n": 1, "e": "recv"}
    hidden = {"arguments": "…", "uri": "…", "list": [{"text": "…"}, 5, {"data": "…"}]}
    assert trace.limit_body(record, "redacted") == {**record, "body": {"params": hidden}}
    assert trace.limit_body({"n": 2}, "redacted") == {"n": 2}
    assert trace.encode_line({"a": "é"}) == '{"a":"é"}\n'.encode()


def test_records_are_numbered_and_counted() -> None:
    found: list[trace.Record] = []
    records = trace.Trace(found.append)
    records(5, "c1", "open", era="25", none=None, zero=0)
    records(6, None, "stop")
    records(7, "c1", "open")
    assert [list(each.items()) for each in found] == [
        [("n", 1), ("t", 5), ("conn", "c1"), ("e", "open"), ("era", "25"), ("zero", 0)],
        [("n", 2), ("t", 6), ("e", "stop")],
        [("n", 3), ("t", 7), ("conn", "c1"), ("e", "open")],
    ]
    assert records.counters == {"open": 2, "stop": 1}
    assert records.body({"a": 1}) is None, "nothing asks for it"
    assert trace.Trace(found.append, "redacted").body({"a": 1}) == {"a": 1}


def test_what_goes_beyond_a_cap_is_said_once() -> None:
    own = {"delivery": {"type": "slow_loris", "byte_delay_ms": 700_000}}
    effects = [
        {"type": "notification_flood", "rate_per_sec": 10_001, "duration_sec": 61},
        {"type": "batch_amplify", "batch_size": 100_001},
        {"type": "pipe_deadlock", "fill_bytes": 20_000_000},
        {"type": "close_connection", "delay_ms": 600_001},
        {"type": "duplicate_request_ids", "count": 10_001},
        {"type": "notification_flood", "rate_per_sec": 10_000, "duration_sec": 60},
    ]
    behavior = {
        "delivery": {"type": "nested_json", "depth": 100_001},
        "side_effects": effects,
        "x-equipage": {"type": "repeated", "count": 10_001},
    }
    config = phased({"name": "a"}, {"name": "b"}, behavior=behavior)
    config["baseline"]["tools"] = [{**tool(), "behavior": own}, {**tool("u"), "behavior": own}]
    found = list(cap_warnings(engine_of(config, []).config, Caps()))
    above = [each.replace(" is above the cap; ", "|").removesuffix(" is used") for each in found]
    assert above == [
        "nested_json: depth 100001|100000",
        "repeated: count 10001|10000",
        "notification_flood: rate_per_sec 10001|10000",
        "notification_flood: duration_sec 61|60",
        "batch_amplify: batch_size 100001|100000",
        "pipe_deadlock: fill_bytes 20000000|16777216",
        "close_connection: delay_ms 600001|600000",
        "duplicate_request_ids: count 10001|10000",
        "slow_loris: byte_delay_ms 700000|600000",
    ]
    assert all(each.endswith(" is used") for each in found)
    for kind, item in (
        ("resources", {"resource": {"uri": "x://a", "name": "a"}}),
        ("prompts", {"prompt": {"name": "p"}, "response": {"messages": [{"role": "user", "content": "x"}]}}),
    ):  # fmt: skip
        one = simple(**{kind: [{**item, "behavior": own}]})
        assert len(list(cap_warnings(engine_of(one, []).config, Caps()))) == 1
