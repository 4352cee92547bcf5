"""A server that misbehaves on purpose, attacked by its client: it stays a test server.

What it answers to broken requests is in `serve/faults`; here requests are made to deceive.
"""

from __future__ import annotations

import asyncio
import json
import resource
import time
from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage_faults.http import BadRequest, Parser
from equipage_faults.web import Request
from faultlab import INITIALIZE, LIST, Piped, Web, call, over_http, request, simple, tool
from lab import in_process, write

SESSION = "mcp-session-id"
#: Not texts: what names of tools, prompts and resources may be on the wire.
NO_NAMES: tuple[Any, ...] = ([], {}, [["t"]], {"t": 1}, 5, 1.5, None, True, ["t", "t"], {"": []})


@pytest.mark.parametrize("method", ["tools/call", "prompts/get", "resources/read"])
def test_names_that_are_no_names(method: str) -> None:
    """They name nothing, and the next request is answered."""
    client = Piped(simple())
    client.say(INITIALIZE)
    key = "uri" if method == "resources/read" else "name"
    for number, name in enumerate(NO_NAMES):
        client.say(request(method, number, **{key: name}))
    client.say(request(method, 99))
    client.say(call(100))
    answers = {each["id"]: each for each in client.frames if "id" in each}
    assert "result" in answers[100]
    assert all("error" in answers[number] for number in (*range(1, len(NO_NAMES)), 99))


MESSAGES: tuple[bytes, ...] = (
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"x"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":[]}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":[]}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":{}}}}',
    b'{"jsonrpc":"2.0","id":[],"method":"tools/call"}',
    b'{"jsonrpc":"2.0","id":1e400,"method":"tools/call"}',
    b'{"jsonrpc":"2.0","id":%s,"method":"tools/call"}' % (b"9" * 5000),
    b'{"jsonrpc":"2.0","id":1,"method":{}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":1,"result":{},"error":{}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":[]}}',
    b'{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":{}}}',
    b'{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":[]}}',
    b'{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":[]}}',
    b'{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":[],"argument":5}}',
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"\xff\xfe\x00",
    b'"\\ud800"',
)


@pytest.mark.parametrize("era", ["25", "26"])
def test_messages_of_the_wrong_shape(era: str) -> None:
    for data in MESSAGES:
        client = Piped(simple(), era=era)
        client.say(INITIALIZE)
        client.raw(data + b"\n")
        client.say(request("ping", 7))
        assert client.frames[-1]["id"] == 7, data


def parsed(data: bytes, *cuts: int) -> list[Request | int]:
    parser, found = Parser(), list[Any]()
    for start, end in zip((0, *cuts), (*cuts, len(data)), strict=True):
        parser.feed(data[start:end])
        try:
            while (made := parser.next()) is not None:
                found.append(made)
        except BadRequest as problem:
            return [*found, problem.status]
    return found


HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
HIDDEN = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
SMUGGLED = {
    "two codings": HEAD + b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a coding and a length": HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
    "two lengths": HEAD + b"Content-Length: 0\r\nContent-Length: 4\r\n\r\n",
    "a coding with a blank": HEAD + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a coding with a tab": HEAD + b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
    "a folded header": HEAD + b"Content-Length:\r\n 4\r\n\r\n",
    "lines that end without a return": HEAD.replace(b"\r\n", b"\n") + b"Content-Length: 0\n\n",
    "a chunk with a sign": HEAD + b"Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n",
    "a chunk in another base": HEAD + b"Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n",
    "a chunk of four gigabytes": HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffffff\r\n",
    "a length that is negative": HEAD + b"Content-Length: -1\r\n\r\n",
    "a length of many digits": HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n",
    "two origins": HEAD + b"Origin: http://localhost\r\nOrigin: http://evil.example\r\nContent-Length: 0\r\n\r\n",
    "another version": HEAD.replace(b"1.1", b"2.0") + b"\r\n",
}  # fmt: skip


@pytest.mark.parametrize("name", SMUGGLED)
def test_no_request_hides_in_another_one(name: str) -> None:
    data = SMUGGLED[name] + HIDDEN
    found = parsed(data)
    assert all(isinstance(each, int) for each in found), found
    # However the bytes come, they are read alike.
    for cut in range(1, len(data), 7):
        assert parsed(data, cut)[-1:] == found[-1:] or parsed(data, cut) == []


HOSTS = (
    *("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "localhost@evil.example"),
    *("127.1", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]", "localhost.", "evil.example:localhost"),
)  # fmt: skip


def test_hosts_and_origins_that_look_like_ours() -> None:
    async def script(web: Web) -> None:
        for host in HOSTS:
            client = await web.connect()
            assert (await client.ask(LIST, Host=host)).status == 403, host
            client = await web.connect()
            origin = f"http://{host}"
            assert (await client.ask(LIST, Origin=origin)).status == 403, origin
        for origin in ("null", "file://", "http://[::1", "http://localhost:x@evil.example", "//"):
            client = await web.connect()
            assert (await client.ask(LIST, Origin=origin)).status == 403, origin

    over_http(simple(), script)


def test_sessions_are_bounded() -> None:
    """Beyond the cap, the next one is refused; those that are there go on."""

    async def script(web: Web) -> None:
        names: list[str] = []
        statuses = []
        for _ in range(web.driver.engine.caps.sessions + 20):
            client = await web.connect()
            answer = await client.ask(INITIALIZE)
            statuses.append(answer.status)
            names += [answer.headers[SESSION]] if SESSION in answer.headers else []
            client.writer.close()
        assert statuses.count(200) == len(set(names)) == web.driver.engine.caps.sessions
        assert set(statuses[-20:]) == {503}
        client = await web.connect()
        assert (await client.ask(LIST, **{SESSION: names[0]})).status == 200
        assert (await client.ask(LIST, **{SESSION: "x" * 5000})).status == 404

    over_http(simple(), script)


def test_drips_and_floods_of_a_client_keep_nothing() -> None:
    """Half requests of ten megabytes in all: they are refused or waited for, and then forgotten."""

    async def script(web: Web) -> None:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(20):
            client = await web.connect()
            client.writer.write(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 500_000)
            client.writer.close()
        for _ in range(20):
            client = await web.connect()
            client.writer.write(HEAD + b"Content-Length: 10000000\r\n\r\n" + b"x" * 500_000)
            client.writer.close()
        await asyncio.sleep(0.2)
        client = await web.connect()
        assert (await client.ask(LIST)).status == 200
        assert not [each for each in web.listener.wires if each._parser.size > 70_000]
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert after - before < 100_000  # kilobytes

    over_http(simple(), script)


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)+$", "(.*a){20}", "^(([a-z])+.)+[A-Z]([a-z])+$", "a{1,1000}{1,1000}"]
)  # fmt: skip
def test_patterns_over_what_a_client_sends(pattern: str) -> None:
    """A condition with a pattern that backtracks, and the text that makes it do so."""
    branch = [
        {"when": {"args.text": {"matches": pattern}}, "content": [{"type": "text", "text": "hit"}]},
        {"default": True, "content": [{"type": "text", "text": "miss"}]},
    ]
    config = simple()
    config["tools"][0]["response"] = {"match": branch}
    try:
        equipage.loads(json.dumps(config), kind="server", env={})
    except equipage.LoadError:
        return  # refused when it was read
    client = Piped(config)
    client.say(INITIALIZE)
    started = time.process_time()
    client.say(call(3, text="a" * 5000 + "!"))
    assert time.process_time() - started < 2
    assert client.frames[-1]["id"] == 3


def test_what_a_file_names_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A handler without `--allow-handlers` is refused before anything listens."""
    marker = tmp_path / "ran"
    config = simple(tools=[tool(handler={"type": "command", "cmd": ["touch", str(marker)]})])
    write(tmp_path, {"server.yaml": json.dumps(config)})
    monkeypatch.chdir(tmp_path)
    done = in_process(["serve", "server.yaml"])
    assert (done.code, "handler-not-allowed" in done.err) == (1, True), done.err
    assert not marker.exists()


def test_it_listens_on_no_other_address_without_the_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"server.yaml": json.dumps(simple())})
    monkeypatch.chdir(tmp_path)
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        done = in_process(["serve", "server.yaml", "--transport", "http", "--host", host])
        assert done.code == 2, host
        assert "--i-own-the-client" in done.err, done.err
