"""What clients send to tools that are served and to test servers: the distributions beside equipage.

An input here is one message or one line; several go to the same server, as in `wires`.
"""

from __future__ import annotations

import json
import random
from typing import Any

import equipage
from equipage.core.text import LineSplitter
from equipage_faults.engine import Engine
from equipage_faults.exchange import Options
from equipage_faults.http import BadRequest, Parser
from equipage_faults.jobs import Channel, Link
from equipage_faults.trace import Trace
from equipage_faults.web import Exchanges, Request
from equipage_faults.wire import INBOUND_LIMIT
from equipage_serve.framing import decode_answer, input_line, unwrap_answer
from equipage_serve.outcome import Failure
from equipage_serve.templates import (
    MAX_LENGTH,
    TemplateProblem,
    compile_address,
    compile_argument,
    compile_header,
    compile_template,
)
from fuzz.mutating import mutated
from fuzz.shapes import reshaped
from fuzz.surfaces import Surface
from fuzz.wires import dumped, pieces_of

_SERVE = "packages/equipage-serve/src/equipage_serve"
_FAULTS = "packages/equipage-faults/src/equipage_faults"
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


# --- tools that are served -----------------------------------------------------------------------


def _request(method: str, number: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


_MESSAGES: list[Any] = [
    _request("initialize", 0, protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "c", "version": "1"}),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    _request("tools/list", 2),
    _request("tools/list", 2, cursor="YWZ0ZXI6YQ=="),
    _request("tools/call", 3, name="t", arguments={"text": "a b c", "n": [1, {"x": None}]}),
    _request("tools/call", 4, name="t", arguments={}, _meta={"progressToken": 1}),
    _request("resources/list", 5),
    _request("resources/read", 6, uri="skill://a/SKILL.md"),
    _request("prompts/get", 7, name="p", arguments={"a": "b"}),
    _request("ping", 8),
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3, "reason": "r"}},
    {"jsonrpc": "2.0", "id": 3, "result": {"content": []}},
    {"jsonrpc": "2.0", "id": 3, "error": {"code": -32603, "message": "m"}},
    _request("subscriptions/listen", 9, notifications={"toolsListChanged": True}, _meta=_META),
    _request("server/discover", 10, _meta=_META),
    _request("tools/call", 11, name="t", arguments={"a": 1}, _meta=_META),
]  # fmt: skip


def _some_lines(rng: random.Random) -> bytes:
    lines = []
    for _ in range(rng.randrange(1, 6)):
        line = dumped(reshaped(rng.choice(_MESSAGES), rng))
        if rng.random() < 0.2:
            line = mutated([line.decode()], rng).encode("utf-8", "surrogatepass")
        lines.append(line + rng.choice((b"\n", b"\n", b"\n", b"\r\n", b"\n\n", b"")))
    return b"".join(lines)


def lines(data: bytes, rng: random.Random) -> int:
    """Served over standard input: the splitter agrees with a split, and each line has a verdict."""
    import mcp_types

    from equipage_serve.wire.lines import problem_of

    longest = rng.choice((40, 500, 100_000))
    splitter = LineSplitter(longest)
    found = [line for piece in pieces_of(data, rng) if piece for line in splitter.feed(piece)]
    found += splitter.feed(b"")
    *whole, last = data.split(b"\n")
    expected = [None if len(each) > longest else each for each in whole + ([last] if last else [])]
    assert found == expected
    for line in found:
        if problem_of(line) is None:
            assert line is not None
            try:
                mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                continue
    return max(1, len(found))


_ANSWERS: list[Any] = [
    {"ok": True, "data": {"words": 3}},
    {"ok": False, "error": {"code": "X", "message": "m"}},
    {"error": "text"},
    {"result": {"a": [1, 2.5, "x", None, True]}},
    [1, {"a": {"b": []}}],
]


def _answer_bytes(rng: random.Random) -> bytes:
    data = dumped(reshaped(rng.choice(_ANSWERS), rng)) + rng.choice((b"\n", b"", b"\r\n"))
    if rng.random() < 0.3:
        changed = bytearray(data)
        changed[rng.randrange(len(data))] = rng.randrange(256)
        data = bytes(changed)
    return data


def answers(data: bytes, _rng: random.Random) -> None:
    try:
        value = unwrap_answer(decode_answer(data))
        json.loads(input_line(value))
    except Failure as failure:
        assert failure.code in ("INVALID_OUTPUT", "INTERNAL_ERROR", "INVALID_INPUT")


_TEMPLATES = [
    "{{ input.text }}",
    "--name={{ input.name }}",
    "{% for each in input.list %}{{ each }},{% endfor %}",
    "https://example.org/{{ input.path }}?q={{ input.q|urlencode }}",
    "{{ input.n * 3 }}{{ env.A }}{{ context.x }}",
    "{{ input.text|upper|replace('a', 'b') }}{# note #}",
    "{% if input.a %}{{ id }}{% else %}{{ version }}{% endif %}",
    "{{ ''.__class__.__mro__ }}",
    "{{ input.items }}{{ range(3)|list }}",
]


def _template(rng: random.Random) -> tuple[str, Any]:
    given = {"text": "a b", "name": "n", "list": [1, 2], "path": "p", "q": "x&y", "n": 2, "a": None}
    return mutated(_TEMPLATES, rng), reshaped(given, rng)


def templates(value: tuple[str, Any], _rng: random.Random) -> None:
    text, given = value
    names = {"input": given, "env": {"A": "v"}, "id": "t", "version": "1", "context": {"x": 1}}
    for make in (
        compile_template,
        compile_argument,
        lambda each: compile_header("x", each),
        lambda each: compile_address(each)[2],
    ):
        try:
            filled = make(text)(names)
        except (TemplateProblem, Failure):
            continue
        assert len(filled) <= max(MAX_LENGTH, len(text))


# --- servers that misbehave on purpose -----------------------------------------------------------

_TOOL = {
    "tool": {"name": "t", "description": "d", "inputSchema": {"type": "object"}},
    "response": {"content": [{"type": "text", "text": "hi {{args.text}}"}]},
}
_CONFIGS: list[dict[str, Any]] = [
    {"server": {"name": "s"}, "tools": [_TOOL]},
    {"server": {"name": "s"}, "tools": [_TOOL], "behavior": {"delivery": {"type": "slow_loris", "byte_delay": 1}}},
    {"server": {"name": "s"}, "tools": [_TOOL], "behavior": {"delivery": {"type": "nested_json", "depth": 20}}},
    {"server": {"name": "s"}, "tools": [_TOOL], "behavior": {"side_effects": [{"type": "notification_flood", "trigger": "on_request", "rate": 10, "duration": "1s"}]}},
    {"server": {"name": "s"}, "baseline": {"tools": [_TOOL]}, "phases": [{"name": "a", "advance": {"on": "tools/call", "count": 2}}, {"name": "b"}]},
]  # fmt: skip


def _loaded() -> list[Any]:
    found = []
    for each in _CONFIGS:
        try:
            found.append(equipage.loads(json.dumps(each), kind="server", env={}).config)
        except equipage.LoadError as error:
            raise AssertionError([str(one) for one in error.errors]) from None
    return found


def _faults() -> Surface:
    configs = _loaded()

    def make(rng: random.Random) -> tuple[int, str, bytes]:
        return rng.randrange(len(configs)), rng.choice(("25", "26")), _some_lines(rng)

    def run(value: tuple[int, str, bytes], rng: random.Random) -> int:
        number, era, data = value
        records: list[Any] = []
        engine = Engine(configs[number], Trace(records.append, "full"), Options(era=era), _no_log)  # type: ignore[arg-type]
        channel = Channel(Link())
        connection = engine.connect()
        connection.pipe = channel
        reader, count, written = LineSplitter(INBOUND_LIMIT), 0, 0
        for piece in [*filter(None, pieces_of(data, rng)), b""]:
            for line in reader.feed(piece):
                count += 1
                if line is not None and line.strip():
                    engine.receive(connection, line.strip(), channel)
            for _ in range(50):  # a flood goes on for long; a part of it will do
                if (due := engine.next_due) is None or engine.stopped is not None:
                    break
                engine.advance(due)
                while channel.outbox:
                    each = channel.outbox.popleft()
                    assert isinstance(each, bytes)
                    written += len(each)
                    engine.jobs.acknowledge_written(channel, len(each))
        assert written < 50_000_000
        return max(1, count)

    code = ("engine.py", "wire.py", "driver.py", "exchange.py")
    return Surface(make, run, code, _FAULTS)


def _no_log(_level: str, _text: str) -> None:
    """Nothing is logged."""


_HEADERS = (
    "Host: 127.0.0.1",
    "Host: localhost:80",
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    "Origin: http://127.0.0.1",
    "Origin: http://evil.example",
    "Connection: keep-alive",
    "Expect: 100-continue",
    "Mcp-Session-Id: x",
    "MCP-Protocol-Version: 2026-07-28",
    "Mcp-Method: tools/call",
)


def _http_bytes(rng: random.Random) -> bytes:
    found = b""
    for _ in range(rng.choice((1, 1, 2))):
        body = dumped(reshaped(rng.choice(_MESSAGES), rng))
        lines = [rng.choice(("POST /mcp HTTP/1.1", "GET /mcp HTTP/1.1", "DELETE /mcp HTTP/1.1"))]
        lines += rng.sample(_HEADERS, rng.randrange(1, 6))
        if rng.random() < 0.3:
            half = len(body) // 2
            parts = (body[:half], body[half:], b"")
            body = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in parts)
            lines.append("Transfer-Encoding: chunked")
        else:
            lines.append(f"Content-Length: {len(body)}")
        head = "\r\n".join(lines)
        if rng.random() < 0.5:
            head = mutated([head], rng)
        found += head.encode("utf-8", "surrogatepass") + b"\r\n\r\n" + body
    return found


def _requests(pieces: list[bytes]) -> list[Request | int]:
    parser, found = Parser(), list[Any]()
    for piece in pieces:
        parser.feed(piece)
        try:
            while (request := parser.next()) is not None:
                found.append(request)
        except BadRequest as problem:
            return [*found, problem.status]
    return found


def _http() -> Surface:
    config = _loaded()[0]

    def run(data: bytes, rng: random.Random) -> None:
        whole = _requests([data])
        # However the bytes come, they mean the same: else a request could hide in another one.
        assert _requests(pieces_of(data, rng)) == whole
        engine = Engine(config, Trace(lambda _record: None, "full"), Options(era=rng.choice(("25", "26"))), _no_log)  # type: ignore[arg-type]  # fmt: skip
        exchanges, link = Exchanges(engine), Link()
        for request in whole:
            if isinstance(request, Request):
                channel, _ = exchanges.take(request, link)
                assert channel is not None
        exchanges.forget_link(link)

    return Surface(_http_bytes, run, ("http.py", "web.py"), _FAULTS)


def surfaces() -> dict[str, Surface]:
    return {
        "serve-lines": Surface(_some_lines, lines, ("wire/lines.py",), _SERVE),
        "serve-answers": Surface(_answer_bytes, answers, ("framing.py",), _SERVE),
        "serve-templates": Surface(_template, templates, ("templates.py",), _SERVE),
        "faults": _faults(),
        "faults-http": _http(),
    }
