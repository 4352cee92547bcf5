"""Connections and the driver, step by step: the clock and the socket do what the test says."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from clock import HANGS
from equipage_faults.caps import Caps
from equipage_faults.driver import GRACE_SECONDS, Driver, Pipes
from equipage_faults.http import IDLE_SECONDS, HttpConnection, Listener
from equipage_faults.jobs import Channel, End, Head, Link
from equipage_faults.routes import AnswerChannel
from equipage_faults.trace import Record
from faultlab import LIST, R3, call, delivery, effect, engine_of, phased, simple, tool


class Loop(asyncio.SelectorEventLoop):
    """A loop whose clock stands still until the test moves it."""

    now = 1_000.0

    def time(self) -> float:
        return self.now


async def turn(seconds: float = 0.0) -> None:
    """Let so much time pass, and everything that is due happen."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, Loop)
    loop.now += seconds
    for _ in range(5):
        await asyncio.sleep(0)


def stepped(script: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with asyncio.Runner(loop_factory=Loop) as runner:
        runner.run(script())


# The driver.


class Carrier:
    """A transport that is drained when the test says so."""

    is_drained = False

    def flush(self) -> None: ...
    def start(self) -> None: ...
    async def close(self) -> None: ...


def driver_of(config: dict[str, Any], records: list[Record], **given: Any) -> Driver:
    wanted = {"virtual": False, "ask": str, "run_bytes": 2**40, **given}
    return Driver(engine_of(config, records), **wanted)


def result(driver: Driver) -> tuple[str, int] | None:
    return driver.ended.result() if driver.ended.done() else None


def test_a_message_counts_before_a_timer_of_the_same_time() -> None:
    trigger = {"on": "tools/call", "timeout": "2s", "on_timeout": "abort"}
    config = phased({"name": "a", "advance": trigger}, {"name": "b"})

    async def script() -> None:
        for late, said in ((0.0, None), (0.5, ("abort", 1))):
            driver = driver_of(config, [])
            channel = Channel(Link())
            connection = driver.engine.connect()
            connection.pipe = channel
            line = json.dumps(call()).encode()
            loop = asyncio.get_running_loop()
            assert isinstance(loop, Loop)
            loop.now += 2.0 + late
            driver.dispatch(lambda: driver.engine.receive(connection, line, channel))  # noqa: B023
            assert (driver.engine.now, result(driver)) == (2_000 + int(late * 1_000), said)

    stepped(script)


def test_a_signal_before_any_client_can_come_ends_the_run() -> None:
    async def script() -> None:
        driver = driver_of(simple(), [])
        driver.dispatch(lambda: None)
        assert driver.is_quiet is True
        driver._handle_signal(signal.SIGTERM)
        assert result(driver) == ("terminated", 143)

    stepped(script)


def test_a_signal_waits_for_a_client_and_not_for_ever() -> None:
    async def script() -> None:
        never, late, again = (driver_of(simple(), []) for _ in range(3))
        for each in (never, late, again):
            each.transport = Carrier()
            each._handle_signal(signal.SIGTERM)
            assert (each.is_quiet, result(each)) == (False, None)
        again._handle_signal(signal.SIGINT)
        assert result(again) == ("interrupted", 130), "the second one does not wait"
        await turn(0.1)
        assert isinstance(late.transport, Carrier)
        late.transport.is_drained = True
        await turn(0.01)
        assert (result(late), result(never)) == (("terminated", 143), None)
        await turn(GRACE_SECONDS - 0.12)
        assert result(never) is None
        await turn(0.02)
        assert result(never) == ("terminated", 143)

    stepped(script)


def test_a_handler_that_never_answers_keeps_no_process_alive() -> None:
    """It runs in a thread that ends with the process, and may answer when all is over."""
    kinds: list[bool] = []

    def ask(_: Any) -> dict[str, str]:
        kinds.append(threading.current_thread().daemon)
        return {"text": "late"}

    config = simple(tools=[tool(handler={"type": "command", "cmd": ["true"]})])
    records: list[Record] = []

    async def script() -> Driver:
        driver = driver_of(config, records, ask=ask)
        channel = Channel(Link())
        connection = driver.engine.connect()
        connection.pipe = channel
        line = json.dumps(call()).encode()
        driver.dispatch(lambda: driver.engine.receive(connection, line, channel))
        while not channel.outbox:
            await asyncio.sleep(0)
        return driver

    driver = asyncio.run(script())
    assert kinds == [True]
    driver._ask_handler(driver.engine.jobs.alive, None)  # type: ignore[arg-type]
    assert len(kinds) == 2


# Connections.


class Socket:
    """The side of asyncio: it notes what a connection does with its socket."""

    def __init__(self) -> None:
        self.sent = b""
        self.did: list[Any] = []
        self.unsent = 0
        self.is_reading = True

    def write(self, data: bytes) -> None:
        assert not self.did, "nothing is written after the end"
        self.sent += data

    def close(self) -> None:
        self.did.append("close")

    def abort(self) -> None:
        self.did.append("abort")

    def is_closing(self) -> bool:
        return bool(self.did)

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def get_extra_info(self, name: str) -> Socket:
        assert name == "socket"
        return self

    def setsockopt(self, *option: Any) -> None:
        self.did.append("linger")


class Site:
    """A listener that is not bound, and connections to it."""

    def __init__(self, config: dict[str, Any], host: str = "127.0.0.1", **given: Any) -> None:
        self.records: list[Record] = []
        self.driver = driver_of(config, self.records, **given)
        self.listener = Listener(self.driver, host, 0)
        self.driver.transport = self.listener

    def connect(self) -> tuple[HttpConnection, Socket]:
        wire, end = HttpConnection(self.listener), Socket()
        wire.connection_made(end)
        return wire, end

    def traced(self, event: str) -> list[Record]:
        return [each for each in self.records if each["e"] == event]


def post(message: Any, *more: str, host: str = "localhost") -> bytes:
    body = json.dumps(message).encode()
    lines = ["POST /mcp HTTP/1.1", f"Host: {host}", f"Content-Length: {len(body)}", *more]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 75\r\nContent-Type: application/json\r\n\r\n" + R3
SLOW = delivery(type="response_delay", delay_ms=90_000)


def test_a_client_may_be_silent_for_a_minute() -> None:
    """Before each of its requests; while an answer is under way, it may be silent for longer."""

    async def script() -> None:
        site = Site(SLOW)
        silent, busy = site.connect(), site.connect()
        await turn(IDLE_SECONDS - 1)
        busy[0].data_received(post(call()))
        assert silent[1].did == []
        await turn(2)
        assert (silent[1].did, busy[1].did) == (["close"], [])
        await turn(87)
        assert busy[1].sent == b""
        await turn(1)
        assert (busy[1].sent, busy[1].did) == (ANSWER, [])
        await turn(IDLE_SECONDS - 1)
        assert busy[1].did == []
        await turn(1)
        assert busy[1].did == ["close"]

    stepped(script)


def test_a_connection_that_is_over_is_left_alone() -> None:
    async def script() -> None:
        site = Site(simple())
        wire, end = site.connect()
        wire.data_received(post(call(), "Connection: keep-alive") * 2)
        assert end.sent == ANSWER
        wire.connection_lost(None)
        assert site.listener.wires == set()
        end.is_reading = False
        await turn()
        assert end.is_reading is False, "the second request is not taken up"
        assert len(site.traced("recv")) == 1
        assert [(each["conn"], each["by"]) for each in site.traced("gone")] == [("c1", "client")]
        wire.flush()
        wire.data_received(post(call()))
        await turn(2 * IDLE_SECONDS)
        assert (end.sent, end.did, wire.is_drained) == (ANSWER, [], True)
        silent, end = site.connect()
        silent.connection_lost(None)
        await turn(2 * IDLE_SECONDS)
        assert end.did == []

    stepped(script)


def test_a_client_that_leaves_before_its_answer() -> None:
    async def script() -> None:
        site = Site(SLOW)
        asked, refused = site.connect()[0], site.connect()[0]
        asked.data_received(post(call()))
        refused.pause_writing()
        refused.data_received(post(call(), host="example.com"))
        assert (asked.is_drained, refused.is_drained) == (True, False)
        for each in (asked, refused):
            each.connection_lost(ConnectionResetError())
            assert each.is_drained
        await turn()
        assert [each["method"] for each in site.traced("lost")] == ["tools/call"]
        assert [each["conn"] for each in site.traced("gone")] == ["c1"]

    stepped(script)


def test_a_broken_request_is_the_last_one() -> None:
    async def script() -> None:
        site = Site(simple())
        wire, end = site.connect()
        wire.data_received(b"GARBAGE\r\n\r\n")
        wire.data_received(b"GARBAGE\r\n\r\n" + post(call()))
        head = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        assert (end.sent, end.did) == (head, ["close"])
        assert [each["e"] for each in site.records] == ["violation"]

    stepped(script)


def test_a_client_is_told_once_to_go_on() -> None:
    async def script() -> None:
        wire, end = Site(simple()).connect()
        data = post(call(), "Expect: 100-continue")
        for start, stop in ((0, 30), (30, -20), (-20, -10)):
            wire.data_received(data[start:stop])
            assert end.sent == (b"" if start == 0 else b"HTTP/1.1 100 Continue\r\n\r\n")
        wire.data_received(data[-10:])
        assert end.sent == b"HTTP/1.1 100 Continue\r\n\r\n" + ANSWER

    stepped(script)


def test_what_comes_during_an_answer_is_held_up_to_a_bound() -> None:
    async def script() -> None:
        wire, end = Site(SLOW).connect()
        wire.data_received(post(call()))
        wire.data_received(b"x" * 65_536)
        assert end.is_reading is True
        wire.data_received(b"x")
        assert end.is_reading is False
        await turn(90)
        assert end.is_reading is True

    stepped(script)


def test_a_socket_that_is_full_gets_nothing() -> None:
    async def script() -> None:
        site = Site(simple())
        wire, end = site.connect()
        assert wire.is_drained
        wire.pause_writing()
        wire.data_received(post(call()))
        assert (end.sent, wire.is_drained, site.listener.is_drained) == (b"", False, False)
        end.unsent = 1
        assert not wire.is_drained
        wire.resume_writing()
        assert (end.sent, wire.is_drained) == (ANSWER, False)
        end.unsent = 0
        assert wire.is_drained

    stepped(script)


@pytest.mark.parametrize(
    ("sizes", "at_once"),
    [([1_048_576], 3), ([524_288, 524_288], 4), ([1_048_577], 2), ([524_288, 524_289, 1], 3)],
)
def test_a_large_answer_lets_others_have_their_turn(sizes: list[int], at_once: int) -> None:
    """After a mebibyte; the rest goes out when the loop comes around."""

    async def script() -> None:
        site = Site(SLOW)
        wire, end = site.connect()
        wire.data_received(post(call()))
        channel = wire._channel
        assert isinstance(channel, AnswerChannel)
        channel.outbox.extend([Head(200, length=sum(sizes)), *map(bytes, sizes), End()])
        wire.flush()
        assert 2 + len(sizes) - len(channel.outbox) == at_once
        await turn()
        assert not channel.outbox
        assert end.sent.partition(b"\r\n\r\n")[2] == bytes(sum(sizes))

    stepped(script)


def test_a_reset_is_made_once() -> None:
    async def script() -> None:
        site = Site(effect(type="close_connection", graceful=False))
        wire, end = site.connect()
        wire.data_received(post(call()))
        wire.flush()
        wire.data_received(post(call()))
        assert (end.sent, end.did, wire.is_drained) == (b"", ["linger", "abort"], True)
        assert len(site.traced("recv")) == 1

    stepped(script)


def test_a_connection_that_is_aborted_reads_no_more() -> None:
    async def script() -> None:
        site = Site(simple())
        wire, end = site.connect()
        wire.abort()
        wire.data_received(post(LIST))
        assert (end.did, site.records) == (["abort"], [])

    stepped(script)


def test_the_name_of_a_server_has_no_case() -> None:
    async def script() -> None:
        wire, end = Site(simple(), host="My.Test").connect()
        wire.data_received(post(call(), host="my.test:80"))
        assert end.sent == ANSWER

    stepped(script)


# Pipes.


class Piped:
    """A server on two pipes without its threads: what they would do, the test does."""

    def __init__(self, config: dict[str, Any], **given: Any) -> None:
        self.records: list[Record] = []
        caps = given.pop("caps", Caps())
        engine = engine_of(config, self.records, caps=caps)
        wanted = {"virtual": False, "ask": str, "run_bytes": 2**40, **given}
        self.driver = Driver(engine, **wanted)
        self.pipes = Pipes(self.driver, -1, -1)
        self.driver.transport = self.pipes
        self.driver.dispatch(lambda: None)

    async def say(self, *messages: Any) -> None:
        """Bytes arrive, as long as the server asks for them."""
        for each in messages:
            assert self.reads
            data = each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n"
            self.pipes._may_read.clear()
            self.pipes._receive_bytes(data)
            await turn()

    @property
    def reads(self) -> bool:
        return self.pipes._may_read.is_set()

    async def write(self) -> bytes:
        """The client takes everything."""
        sent = b""
        while not self.pipes._outgoing.empty():
            data = self.pipes._outgoing.get()
            sent += data
            self.pipes._confirm_written(len(data))
        await turn()
        return sent

    def traced(self, event: str, *names: str) -> list[Any]:
        found = [each for each in self.records if each["e"] == event]
        return [tuple(each.get(name) for name in names) for each in found]


def test_lines_of_a_pipe_become_requests() -> None:
    async def script() -> None:
        piped = Piped(simple())
        assert not piped.reads
        await turn()
        line = json.dumps(call()).encode()
        await piped.say(line[:10], line[10:] + b"\n\n \n" + line)
        assert await piped.write() == R3 + b"\n"
        await piped.say(b"")
        assert (piped.reads, result(piped.driver)) == (False, None)
        assert not piped.pipes.is_drained
        assert await piped.write() == R3 + b"\n"
        assert piped.pipes.is_drained
        assert piped.traced("gone", "by") == [("client",)]
        assert result(piped.driver) == ("completed", 0)

    stepped(script)


def test_a_pipe_ends_when_everything_is_answered() -> None:
    async def script() -> None:
        piped = Piped(delivery(type="response_delay", delay_ms=1_000))
        await turn()
        await piped.say(json.dumps(call(3)).encode() + b"\n" + json.dumps(call(4)).encode(), b"")
        for _ in range(2):
            assert (result(piped.driver), piped.traced("gone", "by")) == (None, [])
            await turn(1)
            assert result(piped.driver) is None
            assert R3[-10:] in await piped.write()
        assert result(piped.driver) == ("completed", 0)

    stepped(script)


def test_a_pipe_whose_reader_is_gone() -> None:
    async def script() -> None:
        piped = Piped(delivery(type="slow_loris", byte_delay_ms=10, chunk_size=10))
        await turn()
        await piped.say(call())
        assert not piped.pipes.is_drained
        piped.pipes._handle_broken_pipe()
        assert piped.pipes.is_drained
        assert piped.traced("gone", "by", "unanswered") == [("client", 1)]
        assert result(piped.driver) == ("completed", 0)
        assert piped.pipes._channel.is_open is False

    stepped(script)


def test_a_server_that_closes_a_pipe_sends_the_rest() -> None:
    async def script() -> None:
        piped = Piped(effect(type="close_connection"))
        await turn()
        await piped.say(json.dumps(call()).encode() + b"\n" + json.dumps(LIST).encode() + b"\n")
        assert result(piped.driver) is None
        assert piped.traced("gone", "by") == [("server",)]
        assert piped.pipes._channel.is_open is False
        assert await piped.write() == R3 + b"\n"
        await turn(0.01)
        assert result(piped.driver) == ("completed", 0)
        assert piped.traced("recv", "id") == [(3,)], "it takes up nothing more"
        assert not piped.reads

    stepped(script)


def test_a_server_reads_as_long_as_there_is_room() -> None:
    async def script() -> None:
        piped = Piped(delivery(type="response_delay", delay_ms=1_000), caps=Caps(queue=2))
        await turn()
        await piped.say(call(3), call(4))
        assert piped.reads, "one is answered, one waits"
        await piped.say(json.dumps(call(5)).encode() + b"\n" + json.dumps(call(6)).encode() + b"\n")
        assert not piped.reads
        assert piped.traced("recv", "id") == [(3,), (4,), (5,)]
        await turn(1)
        await piped.write()
        assert piped.traced("recv", "id")[3:] == [(6,)], "a line that was read is taken up then"
        assert not piped.reads
        await turn(1)
        await piped.write()
        assert piped.reads

    stepped(script)


def test_requests_that_wait_have_few_bytes() -> None:
    """Twenty mebibytes in all."""

    async def script() -> None:
        piped = Piped(delivery(type="response_delay", delay_ms=1_000))
        await turn()
        large = json.dumps(call(4, q="")).encode()
        large = large.replace(b'""', b'"%b"' % (b"y" * (10 * 2**20 - len(large))))
        await piped.say(call(3), large[:-1] + b" }\n")  # one byte too long
        assert piped.traced("violation", "what")[-1] == ("oversized",)
        await piped.say(large + b"\n")
        assert piped.reads
        await piped.say(large + b"\n")
        assert not piped.reads

    stepped(script)


def test_an_answer_that_never_comes_makes_room() -> None:
    async def script() -> None:
        slow = {"type": "response_delay", "delay_ms": 1_000}
        config = simple(behavior={"delivery": slow, "x-equipage": {"type": "silent"}})
        piped = Piped(config, caps=Caps(queue=1))
        await turn()
        await piped.say(b"".join(json.dumps(call(each)).encode() + b"\n" for each in (3, 4, 5)))
        assert piped.traced("recv", "id") == [(3,), (4,)]
        await turn(1)
        assert piped.traced("recv", "id") == [(3,), (4,), (5,)]
        assert not piped.reads
        await turn(1)
        assert piped.reads

    stepped(script)


def test_a_pipe_that_is_filled_is_not_read() -> None:
    async def script() -> None:
        piped = Piped(effect(type="pipe_deadlock", fill_bytes=200_000))
        await turn()
        await piped.say(call())
        assert not piped.reads
        sent = b""
        while not sent.endswith(b"\n"):
            sent += await piped.write()
        assert sent == b"X" * 200_000 + R3 + b"\n"
        assert piped.reads

    stepped(script)


def test_a_line_that_is_too_long_is_a_violation_of_its_client() -> None:
    async def script() -> None:
        piped = Piped(simple())
        await turn()
        long = b"x" * (10 * 2**20 + 1)
        await piped.say(long, b"x\n" + json.dumps(call()).encode() + b"\n")
        assert piped.traced("violation", "conn", "what")[0] == ("c1", "oversized")
        assert piped.traced("recv", "id") == [(3,)]
        assert await piped.write() == R3 + b"\n"

    stepped(script)


def test_on_a_virtual_clock_a_pipe_waits_for_its_client() -> None:
    """The next line is taken up when all is done, whatever the client has read."""

    async def script() -> None:
        config = delivery(type="response_delay", delay_ms=5_000)
        piped = Piped(config, virtual=True)
        await turn()
        await piped.say(json.dumps(call(3)).encode() + b"\n" + json.dumps(call(4)).encode() + b"\n")
        assert piped.traced("recv", "t") == [(0,), (5_000,)]
        assert piped.traced("send", "t") == [(5_000,), (10_000,)]

    stepped(script)


def test_the_threads_of_pipes() -> None:
    """They read when they may, write all, tell of the end, and end when the run does."""
    said: list[Any] = []

    async def script() -> Pipes:
        (reads, client_writes), (client_reads, writes) = os.pipe(), os.pipe()
        driver = driver_of(simple(), [])
        pipes = Pipes(driver, reads, writes)
        driver.transport = pipes
        before = set(threading.enumerate())
        pipes.start()
        own = set(threading.enumerate()) - before
        assert len(own) == 2
        assert all(each.daemon for each in own)
        os.write(client_writes, json.dumps(call()).encode() + b"\n")
        said.append(await asyncio.to_thread(os.read, client_reads, 1_000))
        os.close(client_reads)
        os.write(client_writes, json.dumps(call()).encode() + b"\n")
        said.append(await driver.ended)
        await pipes.close()
        os.close(client_writes)
        for one in own:
            one.join(HANGS)
        os.close(reads)
        os.close(writes)
        return pipes

    pipes = asyncio.run(script())
    assert said == [R3 + b"\n", ("completed", 0)]
    pipes._call_in_loop(said.append, 1)
    assert len(said) == 2, "a loop that is closed is told nothing"
