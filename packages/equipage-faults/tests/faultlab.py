"""A misbehaving server without processes: a client whose time is virtual, over pipes or HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import equipage
from clock import HANGS
from equipage.core.text import LineSplitter
from equipage_faults.driver import Driver
from equipage_faults.engine import Engine
from equipage_faults.exchange import Options
from equipage_faults.http import Listener
from equipage_faults.jobs import Channel, Link
from equipage_faults.trace import Record, Trace, encode_line
from equipage_faults.wire import INBOUND_LIMIT

#: The answer to a call of the tool `t` with the id 3.
R3 = b'{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"hi"}]}}'


def tool(name: str = "t", text: str = "hi", **response: Any) -> dict[str, Any]:
    answer = response or {"content": [{"type": "text", "text": text}]}
    own = {"name": name, "description": "d", "inputSchema": {"type": "object"}}
    return {"tool": own, "response": answer}


def simple(**more: Any) -> dict[str, Any]:
    return {"server": {"name": "s"}, "tools": [tool()], **more}


def phased(*phases: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "server": {"name": "s"},
        "baseline": {"tools": [tool()]},
        "phases": list(phases),
        **more,
    }


def delivery(**parameters: Any) -> dict[str, Any]:
    return simple(behavior={"delivery": parameters})


def effect(**parameters: Any) -> dict[str, Any]:
    return simple(behavior={"side_effects": [parameters]})


def extension(**parameters: Any) -> dict[str, Any]:
    return simple(behavior={"x-equipage": parameters})


def request(method: str, number: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(number: Any = 3, name: str = "t", **arguments: Any) -> dict[str, Any]:
    given = {"arguments": arguments} if arguments else {}
    return request("tools/call", number, name=name, **given)


INITIALIZE = request("initialize", 0, protocolVersion="2025-11-25", capabilities={})
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LIST = request("tools/list", 2)


def modern(message: dict[str, Any], version: str = "2026-07-28") -> dict[str, Any]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {**message, "params": {**message.get("params", {}), "_meta": meta}}


def engine_of(
    config: dict[str, Any],
    records: list[Record],
    log: Callable[[str, str], None] = lambda _level, _text: None,
    **options: Any,
) -> Engine:
    text = json.dumps(config, ensure_ascii=False)
    loaded = equipage.loads(text, kind="server", env={})
    wanted = Options(**{"era": "25", **options})
    return Engine(loaded.config, Trace(records.append, "full"), wanted, log)


class Piped:
    """A client at the two pipes of a server. The time moves only when the test says so."""

    def __init__(self, config: dict[str, Any], **options: Any) -> None:
        self.records: list[Record] = []
        self.logged: list[tuple[int, str]] = []
        self.levels: list[str] = []  #: of what is logged
        self.engine = engine_of(config, self.records, self._log, **options)
        self.link = Link()
        self.channel = Channel(self.link)
        self.connection = self.engine.connect()
        self.connection.pipe = self.channel
        self.splitter = LineSplitter(INBOUND_LIMIT)
        self.writes: list[tuple[int, bytes]] = []

    def _log(self, level: str, text: str) -> None:
        self.levels.append(level)
        self.logged.append((self.engine.now, text))

    def raw(self, data: bytes, *, at: int | None = None, eof: bool = False) -> Piped:
        """Send bytes, at a time if one is given."""
        if at is not None:
            self._run(at - 1)
            self.engine.advance(at, events_first=True)
        found = [*self.splitter.feed(data)] if data else []
        for line in (*found, *self.splitter.feed(b"")) if eof else found:
            if line is None:
                self.engine.record_violation(self.connection, "oversized")
            elif line.strip():
                self.engine.receive(self.connection, line.strip(), self.channel)
        self._flush()
        self._run(self.engine.now)
        return self

    def say(self, *messages: dict[str, Any], at: int | None = None) -> Piped:
        for each in messages:
            self.raw(json.dumps(each).encode() + b"\n", at=at)
        return self

    def wait(self, until: int) -> Piped:
        self._run(until)
        return self

    def _run(self, until: int) -> None:
        """One deadline after the other, so that each write has its time."""
        while (due := self.engine.next_due) is not None and due <= until:
            if self.engine.stopped is not None:
                return
            self.engine.advance(due)
            self._flush()
        self.engine.advance(until)
        self._flush()

    def _flush(self) -> None:
        while self.channel.outbox:
            data = self.channel.outbox.popleft()
            assert isinstance(data, bytes)
            self.writes.append((self.engine.now, data))
            self.engine.jobs.acknowledge_written(self.channel, len(data))

    # What came back.

    @property
    def sent(self) -> bytes:
        return b"".join(data for _, data in self.writes)

    @property
    def frames(self) -> list[Any]:
        return [json.loads(each) for each in self.sent.split(b"\n") if each]

    @property
    def texts(self) -> list[Any]:
        """What tools said, or the code of the error."""
        return [_said(each) for each in self.frames]

    @property
    def times(self) -> list[int]:
        return [time for time, _ in self.writes]

    def traced(self, event: str) -> list[Record]:
        return [each for each in self.records if each["e"] == event]

    @property
    def trace(self) -> bytes:
        return b"".join(map(encode_line, self.records))


def _said(frame: Any) -> Any:
    if not isinstance(frame, dict) or "method" in frame:
        return frame
    if "error" in frame:
        return frame["error"]["code"]
    result = frame["result"]
    return result["content"][0]["text"] if result and "content" in result else result


# HTTP: a real socket on loopback, the engine's time still virtual.


class Web:
    """A listening server, and raw connections to it."""

    def __init__(self, listener: Listener, driver: Driver, records: list[Record]) -> None:
        self.listener = listener
        self.driver = driver
        self.records = records
        self.clients: list[Raw] = []

    async def connect(self) -> Raw:
        port = int(self.listener.url.rpartition(":")[2].partition("/")[0])
        self.clients.append(Raw(*await asyncio.open_connection("127.0.0.1", port)))
        return self.clients[-1]

    def advance(self, until: int) -> None:
        self.driver.dispatch(lambda: self.driver.engine.advance(until))

    def traced(self, event: str) -> list[Record]:
        return [each for each in self.records if each["e"] == event]


class Answer:
    """An HTTP answer as it came."""

    def __init__(self, head: bytes, body: bytes, *, is_whole: bool) -> None:
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1])
        self.headers = {
            name.lower(): value for name, _, value in (each.partition(": ") for each in lines[1:])
        }
        self.body = body
        self.is_whole = is_whole

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        blocks = self.body.split(b"\n\n")
        return [json.loads(each.partition(b"data: ")[2]) for each in blocks if each]


class Raw:
    """One TCP connection of a client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def ask(self, message: Any, *, wait: float = 5.0, **headers: str) -> Answer:
        """POST a message; headers of the newer revision come from the message itself."""
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        given = {"Accept": "application/json, text/event-stream", **_modern_headers(message)}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.send("POST", body, given, wait=wait)

    async def send(
        self,
        method: str,
        body: bytes = b"",
        headers: dict[str, str] | None = None,
        path: str = "/mcp",
        wait: float = 5.0,
    ) -> Answer:
        given = {"Host": "127.0.0.1", "Content-Type": "application/json", **(headers or {})}
        lines = [f"{method} {path} HTTP/1.1", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in given.items()]
        self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        return await self.read(wait=wait)

    async def read(self, *, wait: float = 5.0) -> Answer:
        """The next answer; what is there of it if it does not end in time."""
        head = (await self.reader.readuntil(b"\r\n\r\n"))[:-4]
        answer = Answer(head, b"", is_whole=True)
        if "content-length" in answer.headers:
            answer.body = await self.reader.readexactly(int(answer.headers["content-length"]))
            return answer
        try:
            while data := await asyncio.wait_for(self._chunk(), wait):
                answer.body += data
        except (TimeoutError, asyncio.IncompleteReadError):
            answer.is_whole = False
        return answer

    async def _chunk(self) -> bytes:
        size = int(await self.reader.readuntil(b"\r\n"), 16)
        return (await self.reader.readexactly(size + 2))[:-2]

    async def close(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


def _modern_headers(message: Any) -> dict[str, str]:
    params = message.get("params", {}) if isinstance(message, dict) else {}
    version = params.get("_meta", {}).get("io.modelcontextprotocol/protocolVersion")
    if version is None:
        return {}
    found = {"Mcp-Protocol-Version": version, "Mcp-Method": message["method"]}
    name = params.get("name") or params.get("uri")
    return {**found, "Mcp-Name": name} if name else found


def over_http(
    config: dict[str, Any], script: Callable[[Web], Awaitable[None]], **options: Any
) -> list[Record]:
    """Run a script against a server on loopback; the trace."""
    records: list[Record] = []

    async def run() -> None:
        engine = engine_of(config, records, **options)
        driver = Driver(engine, virtual=True, ask=lambda _: "", run_bytes=2**40)
        listener = Listener(driver, "127.0.0.1", 0)
        await listener.open()
        driver.transport = listener
        web = Web(listener, driver, records)
        try:
            await asyncio.wait_for(script(web), HANGS)
        finally:
            for each in web.clients:
                await each.close()
            await listener.close()

    asyncio.run(run())
    return records
