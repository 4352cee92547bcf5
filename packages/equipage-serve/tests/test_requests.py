"""Tools that are requests: what is sent, to which address, and which answers count."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="the extra `serve` is not installed")
pytest.importorskip("h11", reason="the extra `serve` is not installed")

from clock import HANGS
from equipage_serve.execution.http import Requests, _is_public
from equipage_serve.outcome import Failure
from equipage_serve.tools import Settings, Tool, names_for_templates, prepare
from packs import load_packs, pack, write_packs
from test_confinement import FULL

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
PARENT = {"KEY": "hunter2hunter2"}


def answer(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


class Service:
    """Answers each connection with the same bytes, and remembers what was sent."""

    def __init__(self, *pieces: bytes, waits: float = 0) -> None:
        self.pieces, self.waits = pieces, waits
        self.heard = b""
        self.calls: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Service:
        self.server = await asyncio.start_server(self._called, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def _called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.calls.add(task)
        with contextlib.suppress(asyncio.CancelledError, ConnectionError):
            await self._serve(reader, writer)
        writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard = await reader.readuntil(b"\r\n\r\n")
        length = self.heard.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        self.heard += await reader.readexactly(int(length or 0))
        self.left: bytes
        for piece in self.pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(self.waits)
        self.left = await reader.read()  # until the client leaves

    async def __aexit__(self, *_: object) -> None:
        self.server.close()
        for each in self.calls:
            each.cancel()
        await asyncio.gather(*self.calls)
        await asyncio.sleep(0.001)  # what is closed is gone in the next round


def made(folder: Path, url: str, **execution: Any) -> Tool:
    fields = {
        "caps": {"network": ["http", "https"]},
        "env": {"passthrough": ["KEY"]},
        "limits": {"maxInputBytes": 100, "maxOutputBytes": 20},
    }
    content = pack("h.t", {"kind": "http", "url": url, **execution}, **fields)
    write_packs(folder, [content], {})
    (loaded,) = load_packs(folder)
    return prepare(loaded, Settings(allow=frozenset({"http"})), FULL)


def asked(
    folder: Path,
    service: Service,
    path: str = "",
    body: bytes = b'{"input": 1}\n',
    **execution: Any,
) -> Any:
    async def main() -> Any:
        async with service:
            tool = made(folder, f"http://127.0.0.1:{service.port}{path}", **execution)
            names = names_for_templates(tool, {"x": "x"}, PARENT)
            requests = Requests(PARENT, private_addresses=True)
            return await asyncio.wait_for(requests.run(tool, names, body), HANGS)

    return asyncio.run(main())


# What is sent.

#: The path, other fields of the execution, and what is sent.
SENT: list[tuple[str, dict[str, Any], list[str], bytes]] = [
    (
        "",
        {},
        [
            "POST / HTTP/1.1",
            "host: 127.0.0.1:PORT",
            "connection: close",
            "accept: application/json",
            "content-type: application/json",
            "content-length: 13",
        ],
        b'{"input": 1}\n',
    ),
    (
        "/a/b?c=d&e=f#g",
        {"method": "GET"},
        [
            "GET /a/b?c=d&e=f HTTP/1.1",
            "host: 127.0.0.1:PORT",
            "connection: close",
            "accept: application/json",
        ],
        b"",
    ),
    (
        "/{{ input.x }}",
        {
            "method": "put",
            "headers": {"Accept": "text/plain", "X-Key": "{{ env.KEY }}", "CONTENT-TYPE": "a/b"},
        },
        [
            "PUT /x HTTP/1.1",
            "host: 127.0.0.1:PORT",
            "connection: close",
            "content-length: 13",
            "Accept: text/plain",
            "CONTENT-TYPE: a/b",
            "X-Key: hunter2hunter2",
        ],
        b'{"input": 1}\n',
    ),
    (
        "/x",
        {"headers": {"X-Name": "ü"}},
        [
            "POST /x HTTP/1.1",
            "host: 127.0.0.1:PORT",
            "connection: close",
            "accept: application/json",
            "content-type: application/json",
            "content-length: 13",
            "X-Name: ü",
        ],
        b'{"input": 1}\n',
    ),
]


@pytest.mark.parametrize(("path", "execution", "lines", "body"), SENT)
def test_a_request_is_exactly_this(
    path: str, execution: dict[str, Any], lines: list[str], body: bytes, tmp_path: Path
) -> None:
    service = Service(answer(b'{"a": 1}'))
    assert asked(tmp_path, service, path, **execution) == {"a": 1}
    head, _, sent = service.heard.partition(b"\r\n\r\n")
    assert sent == body
    expected = [each.replace("PORT", str(service.port)) for each in lines]
    assert head.decode().split("\r\n") == expected


def test_head_sends_no_body(tmp_path: Path) -> None:
    service = Service(answer(b"").replace(b"length: 0", b"length: 5"))
    with pytest.raises(Failure, match="empty"):
        asked(tmp_path, service, method="HEAD")
    assert service.heard.startswith(b"HEAD / HTTP/1.1\r\n")
    assert b"content-" not in service.heard.lower()


# What counts as an answer.

TOO_LARGE = ("INVALID_OUTPUT", "the output is larger than 20 bytes")
BROKEN = ("UNAVAILABLE", "the service broke off the connection")
ANSWERS: dict[str, tuple[list[bytes], Any]] = {
    "the lowest status": ([answer(b'{"a":1}', "200 OK")], {"a": 1}),
    "the highest status": ([answer(b'{"a":1}', "299 OK")], {"a": 1}),
    "a redirect": (
        [answer(b"{}", "300 Many", "location: /x")],
        ("INTERNAL_ERROR", "the service answered 300"),
    ),
    "an error": ([answer(b"{}", "500 Oh")], ("INTERNAL_ERROR", "the service answered 500")),
    "first something else": ([b"HTTP/1.1 103 Early\r\n\r\n", answer(b'{"a":1}')], {"a": 1}),
    "in pieces": ([answer(b'{"a":1}')[:-3], b":1", b"}"], {"a": 1}),
    "in chunks": (
        [
            b'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n{"a"\r\n3\r\n:1}\r\n0\r\n\r\n'
        ],
        {"a": 1},
    ),
    "as much as may be": ([answer(b'{"a":"' + b"x" * 12 + b'"}')], {"a": "x" * 12}),
    "a byte more": ([answer(b'{"a":"' + b"x" * 13 + b'"}')], TOO_LARGE),
    "without end": (
        [b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"8\r\n12345678\r\n" * 5],
        TOO_LARGE,
    ),
    "not HTTP": ([b"hello\r\n\r\n"], BROKEN),
    "not JSON": ([answer(b"{")], ("INVALID_OUTPUT", "the output of the tool is not JSON")),
    "an envelope": ([answer(b'{"ok":true,"data":5}')], 5),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers(name: str, tmp_path: Path) -> None:
    pieces, expected = ANSWERS[name]
    service = Service(*pieces, waits=0.01)
    if not isinstance(expected, tuple):
        assert asked(tmp_path, service) == expected
        return
    with pytest.raises(Failure) as failed:
        asked(tmp_path, service)
    assert failed.value.code == expected[0]
    assert failed.value.message.startswith(expected[1])


@pytest.mark.parametrize("name", ["cut", "nothing"])
def test_a_service_that_breaks_off(name: str, tmp_path: Path) -> None:
    class Leaving(Service):
        async def _serve(self, reader: Any, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(OK[:-1] if name == "cut" else b"")

    with pytest.raises(Failure) as failed:
        asked(tmp_path, Leaving())
    assert (failed.value.code, failed.value.message) == BROKEN


def test_a_message_of_a_service_has_no_value_of_a_variable_or_the_input(tmp_path: Path) -> None:
    text = b'{"ok":false,"error":{"message":"no About us for hunter2hunter2"}}'
    fields = {"limits": {"maxInputBytes": 100, "maxOutputBytes": 200}}

    async def main() -> Any:
        async with Service(answer(text)) as service:
            url = f"http://127.0.0.1:{service.port}/"
            content = pack(
                "h.t",
                {"kind": "http", "url": url},
                caps={"network": ["http"]},
                env={"passthrough": ["KEY"]},
                **fields,
            )
            write_packs(tmp_path, [content], {})
            tool = prepare(load_packs(tmp_path)[0], Settings(allow=frozenset({"http"})), FULL)
            names = names_for_templates(tool, {"page": "about us"}, PARENT)
            return await Requests(PARENT, private_addresses=True).run(tool, names, b"")

    with pytest.raises(Failure) as failed:
        asyncio.run(main())
    assert (failed.value.code, failed.value.message) == (
        "INTERNAL_ERROR",
        "the tool reports: no *** for ***",
    )


def test_one_bound_holds_for_everything(tmp_path: Path) -> None:
    """A service that answers byte by byte gains nothing."""
    pieces = [OK[place : place + 1] for place in range(len(OK))]
    with pytest.raises(Failure) as failed:
        asked(tmp_path, Service(*pieces, waits=0.03), timeoutMs=150)
    assert (failed.value.code, failed.value.message) == (
        "TIMEOUT",
        "the service did not answer within 150 ms",
    )


def test_the_connection_is_closed_after_the_answer(tmp_path: Path) -> None:
    async def main() -> bytes | None:
        async with Service(OK) as service:
            tool = made(tmp_path, f"http://127.0.0.1:{service.port}/")
            await Requests({}, private_addresses=True).run(tool, {}, b"")
            for _ in range(100):
                if hasattr(service, "left"):
                    return service.left
                await asyncio.sleep(0.01)
            return None

    assert asyncio.run(main()) == b""


# Which address is connected to.


@pytest.mark.parametrize(
    ("address", "is_public"),
    [
        ("8.8.8.8", True),
        ("2001:4860:4860::8888", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("169.254.169.254", False),
        ("0.0.0.0", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("2001:4860:4860::8888%eth0", True),
        ("::ffff:10.0.0.1", False),
        ("::ffff:8.8.8.8", True),
        ("::ffff:100.64.0.1", False),
        ("::ffff:224.0.0.1", False),
        ("224.0.0.1", False),
        ("ff0e::1", False),
        ("100.64.0.1", False),
        # IPv4 in IPv6: NAT64, also of one's own network, 6to4, compatible, translated, Teredo.
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::169.254.169.254", False),
        ("64:ff9b::8.8.8.8", True),
        ("64:ff9b:1::808:808", False),
        ("2002:7f00:1::", False),
        ("2002:a00:1::5", False),
        ("2002:808:808::1", True),
        ("::127.0.0.1", False),
        ("::192.168.0.1", False),
        ("::ffff:0:127.0.0.1", False),
        ("2001:0:808:808::", False),
        ("fec0::1", False),
        ("::", False),
    ],
)
def test_what_is_public(address: str, is_public: bool) -> None:
    assert _is_public(address) is is_public


Found = Callable[..., list[Any]]


def resolving(*addresses: str) -> Found:
    def getaddrinfo(host: str, port: int, *_: Any, **how: Any) -> list[Any]:
        assert how.get("type", _[1] if len(_) > 1 else 0) == socket.SOCK_STREAM
        assert (host, port) in (("a.example", 443), ("a.example", 80), ("a.example", 8080))
        return [(0, 0, 0, "", (each, port)) for each in addresses]

    return getaddrinfo


@pytest.mark.parametrize(
    ("url", "port"),
    [("https://a.example/", 443), ("http://a.example/", 80), ("https://a.example:8080/", 8080)],
)
def test_the_addresses_that_were_judged_are_connected_to(
    url: str, port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []

    async def connect(*place: Any, **how: Any) -> Any:
        given.append((place, how))
        raise OSError(111, f"refused by {place[0]}")

    monkeypatch.setattr(socket, "getaddrinfo", resolving("8.8.8.8", "8.8.4.4"))
    monkeypatch.setattr(asyncio, "open_connection", connect)
    tool = made(tmp_path, url)
    with pytest.raises(Failure) as failed:
        asyncio.run(Requests({}, private_addresses=False).run(tool, {}, b""))
    assert (failed.value.code, failed.value.message) == (
        "UNAVAILABLE",
        "cannot connect to a.example: refused by 8.8.4.4",
    )
    assert [place for place, _ in given] == [("8.8.8.8", port), ("8.8.4.4", port)]
    how = given[0][1]
    if url.startswith("https"):
        assert how["server_hostname"] == "a.example"
        assert how["ssl"].verify_mode is ssl.CERT_REQUIRED
        assert how["ssl"].check_hostname
    else:
        assert how == {"ssl": None, "server_hostname": None}


@pytest.mark.parametrize("silent", [False, True])
def test_the_first_address_that_answers_is_used(
    silent: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that never answers takes its part of the time, and no more."""
    connect = asyncio.open_connection

    async def connecting(address: str, port: int, **how: Any) -> Any:
        if address == "127.0.0.1":
            return await connect(address, port, **how)
        await asyncio.sleep(HANGS if silent else 0)
        raise OSError(111, "refused")

    async def main() -> Any:
        async with Service(answer(b'{\n "a": [\n  1\n ]\n}\n')) as service:
            url = f"http://a.example:{service.port}/"
            return await Requests({}, private_addresses=True).run(made(tmp_path, url), {}, b"")

    found = [(socket.AF_INET, 1, 6, "", (each, 0)) for each in ("127.0.0.9", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    monkeypatch.setattr(asyncio, "open_connection", connecting)
    assert asyncio.run(main()) == {"a": [1]}


def test_an_error_without_words_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def connect(*_: Any, **__: Any) -> Any:
        raise ConnectionResetError

    monkeypatch.setattr(socket, "getaddrinfo", resolving("8.8.8.8"))
    monkeypatch.setattr(asyncio, "open_connection", connect)
    with pytest.raises(Failure, match=r"cannot connect to a\.example: ConnectionResetError"):
        asyncio.run(
            Requests({}, private_addresses=False).run(made(tmp_path, "http://a.example/"), {}, b"")
        )


@pytest.mark.parametrize("addresses", [("10.0.0.1",), ("8.8.8.8", "127.0.0.1")])
def test_one_private_address_is_enough(
    addresses: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", resolving(*addresses))
    tool = made(tmp_path, "http://a.example/")
    with pytest.raises(Failure) as failed:
        asyncio.run(Requests({}, private_addresses=False).run(tool, {}, b""))
    assert (failed.value.code, failed.value.message) == (
        "PERMISSION_DENIED",
        "a.example is an address of this machine or its network, which is not allowed",
    )


@pytest.mark.parametrize("problem", [socket.gaierror(-2, "unknown"), UnicodeError("label")])
def test_a_host_that_is_not_there(
    problem: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        raise problem

    monkeypatch.setattr(socket, "getaddrinfo", fails)
    with pytest.raises(Failure) as failed:
        asyncio.run(
            Requests({}, private_addresses=True).run(made(tmp_path, "http://a.example/"), {}, b"")
        )
    assert (failed.value.code, failed.value.message) == (
        "UNAVAILABLE",
        "there is no host a.example",
    )
