"""Whole runs in this process: real pipes, real signals, and what is said at the start and the end."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import os
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import equipage
from clock import HANGS
from equipage.core.diagnostics import UsageError
from equipage.formats.server.model import NestedJson, Normal, SlowLoris
from equipage_faults import http, run
from equipage_faults.caps import Caps, room_for_payloads
from equipage_faults.driver import Driver
from equipage_faults.engine import Engine
from equipage_faults.exchange import EPOCH
from equipage_faults.http import Listener
from equipage_faults.run import (
    Settings,
    _NoteWriter,
    caps_of,
    delivery_named,
    literal_texts,
    milliseconds,
    serve,
)
from faultlab import (
    INITIALIZE,
    LIST,
    R3,
    Raw,
    Web,
    call,
    delivery,
    effect,
    engine_of,
    over_http,
    phased,
    request,
    simple,
    tool,
)


class Client:
    """The other ends of two pipes, in a thread of its own."""

    def __init__(self) -> None:
        self.reads, self.their_writes = os.pipe()
        self.their_reads, self.writes = os.pipe()
        self.got = b""
        self.over = threading.Event()  #: whether the run is
        self._closing = threading.Lock()  #: the script and the run may both close an end

    def say(self, *messages: Any) -> None:
        for each in messages:
            data = each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n"
            while data:
                data = data[os.write(self.writes, data) :]

    def read(self, size: int) -> bytes:
        """At least so many bytes in all, or everything."""
        while len(self.got) < size and (data := os.read(self.reads, 65_536)):
            self.got += data
        return self.got

    def hang_up(self) -> None:
        with self._closing:
            if self.writes >= 0:
                os.close(self.writes)
            self.writes = -1

    def leave(self) -> None:
        os.close(self.reads)
        self.reads = -1

    def follow(self, script: Callable[[Client], Any]) -> None:
        script(self)
        if self.reads >= 0:
            self.read(1 << 30)

    def end(self) -> None:
        """The server is over: its client has read everything, and its threads read the end."""
        self.over.set()
        os.close(self.their_writes)
        self.their_writes = -1
        self.hang_up()

    def close(self) -> None:
        for each in (self.reads, self.writes, self.their_reads, self.their_writes):
            if each >= 0:
                os.close(each)


class Ran:
    """What a run came to."""

    def __init__(self, code: int, sent: bytes, notes: list[str], trace: bytes) -> None:
        self.code, self.sent, self.notes = code, sent, notes
        self.records = [json.loads(each) for each in trace.splitlines()]

    def traced(self, event: str, *names: str) -> list[Any]:
        found = [each for each in self.records if each["e"] == event]
        return [tuple(each.get(name) for name in names) for each in found] if names else found


def ran(
    folder: Path, config: dict[str, Any], script: Callable[[Client], Any], **settings: Any
) -> Ran:
    """Run a server on two pipes, with a client that follows a script."""
    client, notes = Client(), list[str]()
    loaded = equipage.loads(json.dumps(config), kind="server", env={})
    given = {
        "descriptors": (client.their_reads, client.their_writes),
        "trace": str(folder / "trace.jsonl"),
        "seed": 1,
        **settings,
    }
    thread = threading.Thread(target=client.follow, args=(script,))
    thread.start()
    try:
        code = serve(loaded.config, "d1", Settings(**given), notes.append, environment={})
    finally:
        client.end()
        thread.join(HANGS)
        client.close()
    return Ran(code, client.got, notes, (folder / "trace.jsonl").read_bytes())


def lines(data: bytes) -> list[Any]:
    return [json.loads(each) for each in data.splitlines()]


# The end of a run.


def asks(*messages: Any) -> Callable[[Client], None]:
    def script(client: Client) -> None:
        client.say(*messages)
        client.hang_up()

    return script


def test_a_run_ends_with_its_client(tmp_path: Path) -> None:
    """What was asked before is answered, also in a last line without its end."""
    last = json.dumps(LIST).encode()
    done = ran(tmp_path, simple(), asks(INITIALIZE, b"\n", b"[]\n", call(), last))
    assert [each["id"] for each in lines(done.sent)] == [0, 3, 2]
    assert done.code == 0
    start = {"n": 1, "t": 0, "e": "start", "digest": "d1", "era": "auto"}
    assert done.records[0] == {**start, "transport": "stdio", "seed": 1, "clock": "real"}
    assert done.traced("gone", "conn", "by", "unanswered") == [("c1", "client", None)]
    (stop,) = done.traced("stop")
    counters = {"gone": 1, "open": 1, "recv": 3, "send": 3, "start": 1, "violation": 1}
    assert (stop["reason"], stop["counters"]) == ("completed", counters)
    assert done.records[-1] is stop
    requests = "initialize 1, tools/call 1, tools/list 1"
    assert done.notes == [
        "s: test server, injects faults; for tests of your own client only",
        f"test server, injects faults: completed; requests: {requests}",
    ]


@pytest.mark.parametrize(
    ("number", "code", "reason"),
    [(signal.SIGTERM, 143, "terminated"), (signal.SIGINT, 130, "interrupted")],
)
def test_a_signal_ends_a_run_at_once(
    number: signal.Signals, code: int, reason: str, tmp_path: Path
) -> None:
    before = [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)]

    def script(client: Client) -> None:
        client.say(call(3), call(4))
        client.read(10)
        os.kill(os.getpid(), number)

    config = delivery(type="slow_loris", byte_delay_ms=60_000, chunk_size=10)
    done = ran(tmp_path, config, script)
    assert (done.code, done.sent) == (code, R3[:10])
    assert done.traced("stop", "reason") == [(reason,)]
    assert done.traced("send", "id", "completed") == [(3, False)]
    assert [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGINT)] == before


def test_a_client_that_does_not_read_delays_no_end(tmp_path: Path) -> None:
    """The first signal waits for a while, the second one does not."""

    def script(client: Client) -> None:
        client.say(call())
        client.read(1)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

    config = effect(type="pipe_deadlock", fill_bytes=1_000_000)
    done = ran(tmp_path, config, script)
    assert (done.code, done.traced("stop", "reason")) == (130, [("interrupted",)])


def test_a_client_that_never_reads_delays_no_end_for_long(tmp_path: Path) -> None:
    def script(client: Client) -> None:
        client.say(call())
        client.read(1)
        os.kill(os.getpid(), signal.SIGTERM)
        assert client.over.wait(HANGS)

    payload = {"$generate": {"type": "garbage", "bytes": "1mb", "charset": "ascii"}}
    config = simple(tools=[tool(content=[{"type": "text", "text": payload}])])
    done = ran(tmp_path, config, script)
    assert (done.code, done.traced("stop", "reason")) == (143, [("terminated",)])
    assert not done.sent.endswith(b"\n")


def test_a_client_that_reads_late_gets_whole_frames(tmp_path: Path) -> None:
    def script(client: Client) -> None:
        client.say(call())
        client.read(1)
        os.kill(os.getpid(), signal.SIGTERM)
        client.read(300_000)

    done = ran(tmp_path, effect(type="pipe_deadlock", fill_bytes=200_000), script)
    assert (done.code, done.sent) == (143, b"X" * 200_000 + R3 + b"\n")


def test_a_client_that_leaves_ends_the_run(tmp_path: Path) -> None:
    def script(client: Client) -> None:
        client.say(call())
        client.read(10)
        client.leave()

    config = delivery(type="slow_loris", byte_delay_ms=5, chunk_size=10)
    done = ran(tmp_path, config, script)
    assert done.code == 0
    assert done.traced("gone", "by", "unanswered") == [("client", 1)]
    assert done.traced("stop", "reason") == [("completed",)]


def test_what_cannot_be_read_is_a_client_that_leaves(tmp_path: Path) -> None:
    loaded = equipage.loads(json.dumps(simple()), kind="server", env={})
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        settings = Settings(descriptors=(folder, folder))
        assert serve(loaded.config, "d1", settings, str, environment={}) == 0
    finally:
        os.close(folder)


def test_an_expectation_that_is_not_met_fails_a_run_that_did_not(tmp_path: Path) -> None:
    (tmp_path / "expect.yaml").write_text("- sees: {method: tools/list}\n- violations: 0\n")
    expect = str(tmp_path / "expect.yaml")
    for messages, code in (([], 1), ([LIST], 1), ([INITIALIZE, LIST], 0)):
        done = ran(tmp_path, simple(), asks(*messages), expect=expect)
        assert done.code == code
        assert (done.notes[-2][:8] == "not met:") is (not messages)
        assert (done.notes[-1][:8] == "not met:") is (messages == [LIST])

    def script(client: Client) -> None:
        client.say(call())
        client.read(10)
        os.kill(os.getpid(), signal.SIGTERM)

    assert ran(tmp_path, simple(), script, expect=expect).code == 143


def test_a_server_that_closes_the_connection_ends(tmp_path: Path) -> None:
    config = effect(type="close_connection", trigger="on_connect")
    done = ran(tmp_path, config, lambda client: client.say(INITIALIZE, LIST))
    assert [each["id"] for each in lines(done.sent)] == [0]
    assert (done.code, done.traced("gone", "by")) == (0, [("server",)])
    assert done.traced("stop", "reason") == [("completed",)]


def test_a_run_may_have_a_time(tmp_path: Path) -> None:
    done = ran(tmp_path, simple(), lambda client: client.read(1), seconds=0.05)
    assert (done.code, done.traced("stop", "reason")) == (0, [("completed",)])
    assert done.notes[-1].endswith("completed; requests: none")


@pytest.mark.parametrize("virtual", [False, True])
def test_a_timer_may_abort_a_run(virtual: bool, tmp_path: Path) -> None:
    trigger = {"on": "tools/list", "timeout": "20ms", "on_timeout": "abort"}
    slow = {"delivery": {"type": "response_delay", "delay_ms": 30}}
    config = phased({"name": "a", "advance": trigger}, {"name": "b"}, behavior=slow)
    done = ran(tmp_path, config, lambda client: client.say(call()), virtual=virtual)
    assert (done.code, done.sent) == (1, b"")
    assert done.traced("stop", "reason") == [("abort",)]
    assert "error: phase a: the event did not come in time" in done.notes


def test_a_phase_of_no_time_ends_before_any_message(tmp_path: Path) -> None:
    config = phased({"name": "a", "advance": {"after": "0s"}}, {"name": "b"})
    done = ran(tmp_path, config, asks(LIST))
    assert [each["e"] for each in done.records[:3]] == ["start", "phase", "recv"]
    assert done.notes[-1].endswith("; requests: tools/list 1; phases: b")


# Pipes.


def test_a_server_that_fills_a_pipe_does_not_read(tmp_path: Path) -> None:
    def script(client: Client) -> None:
        client.say(call(3))
        client.read(1)
        client.say(call(4))
        client.hang_up()

    own = {"type": "pipe_deadlock", "fill_bytes": 200_000}
    config = simple(behavior={"side_effects": [own]})
    done = ran(tmp_path, config, script)
    answers = [R3, R3.replace(b":3,", b":4,")]
    assert done.sent == b"".join(b"X" * 200_000 + each + b"\n" for each in answers)
    assert done.traced("recv", "id") == [(3,), (4,)]


def test_a_line_that_is_too_long_is_skipped(tmp_path: Path) -> None:
    long = b"x" * (10 * 1024 * 1024 + 1)
    done = ran(tmp_path, simple(), asks(INITIALIZE, long + b"\n", LIST))
    assert [each["id"] for each in lines(done.sent)] == [0, 2]
    assert done.traced("violation", "conn", "what") == [("c1", "oversized")]


def test_requests_wait_outside_beyond_the_cap(tmp_path: Path) -> None:
    """Whatever a client sends, only so many requests are taken up, and none is lost."""
    count = 12
    config = delivery(type="response_delay", delay_ms=2)
    messages = asks(*(call(number) for number in range(count)))
    done = ran(tmp_path, config, messages, caps=Caps(queue=3))
    assert [each["id"] for each in lines(done.sent)] == list(range(count))
    assert not done.traced("capped")


def test_on_a_virtual_clock_nothing_waits(tmp_path: Path) -> None:
    config = delivery(type="response_delay", delay_ms=100_000)
    config["behavior"]["side_effects"] = [
        {"type": "notification_flood", "rate_per_sec": 1, "duration_sec": 300}
    ]
    done = ran(tmp_path, config, asks(call(3), call(4)), virtual=True)
    assert done.traced("recv", "t") == [(0,), (100_000,)]
    assert done.traced("send", "t") == [(100_000,), (200_000,)]
    assert done.traced("effect", "t", "messages") == [(59_000, 60), (159_000, 60)]
    assert done.traced("start", "clock") == [("virtual",)]


def test_a_run_that_sends_too_much_ends(tmp_path: Path) -> None:
    done = ran(tmp_path, simple(), asks(call(), call()), caps=Caps(run_bytes=100))
    assert done.code == 1
    assert done.traced("capped", "conn", "what") == [(None, "run")]
    assert done.traced("stop", "reason") == [("capped",)]
    fits = ran(tmp_path, simple(), asks(call(), call()), caps=Caps(run_bytes=152))
    assert fits.code == 0


GARBAGE = {"$generate": {"type": "garbage", "bytes": 5_000, "charset": "binary"}}
ESCAPES = {"$generate": {"type": "ansi_escape", "count": 900, "sequences": ["clear"]}}
QUOTES = {"$generate": {"type": "nested_json", "depth": 900}}


def _items(payload: Any) -> list[Any]:
    return [{"type": "text", "text": payload}]


PAYLOADS: dict[str, tuple[dict[str, Any], Any]] = {
    "a response": (simple(tools=[tool(content=_items(GARBAGE))]), call()),
    "two payloads": (simple(tools=[tool(content=_items(ESCAPES) + _items(QUOTES))]), call()),
    "a branch": (simple(tools=[tool(match=[{"default": 1, "content": _items(ESCAPES)}])]), call()),
    "a sequence": (simple(tools=[tool(sequence=[{"content": _items(QUOTES)}])]), call()),
    "a resource": (
        simple(
            resources=[{"resource": {"uri": "u:1", "name": "r"}, "response": {"content": QUOTES}}]
        ),
        request("resources/read", uri="u:1"),
    ),
    "a prompt": (
        simple(
            prompts=[
                {
                    "prompt": {"name": "p"},
                    "response": {"messages": [{"role": "user", "content": GARBAGE}]},
                }
            ]
        ),
        request("prompts/get", name="p"),
    ),
    "a schema": (
        simple(
            tools=[{**tool(), "tool": {"name": "t", "description": "d", "inputSchema": QUOTES}}]
        ),
        LIST,
    ),
    "a phase": (
        phased({"name": "a", "add_tools": [tool("u", content=_items(ESCAPES))]}),
        call(name="u"),
    ),
}


@pytest.mark.requirement("F-004")
@pytest.mark.parametrize("name", PAYLOADS)
def test_a_payload_arrives_whole_or_nothing_starts(name: str, tmp_path: Path) -> None:
    config, message = PAYLOADS[name]
    whole = ran(tmp_path, config, asks(message))
    size = len(whole.sent)
    assert size > 4_000
    assert "error" not in lines(whole.sent)[0]
    assert not whole.traced("capped")
    fits = Caps(frame_bytes=size + 1_024)
    assert ran(tmp_path, config, asks(message), caps=fits).sent == whole.sent
    loaded = equipage.loads(json.dumps(config), kind="server", env={})
    assert size - 1_000 < room_for_payloads(loaded.config)
    for caps in (Caps(frame_bytes=size - 1), Caps(run_bytes=size - 1)):
        with pytest.raises(UsageError, match=r"do not fit into .*; raise --max-frame-bytes"):
            serve(loaded.config, "d1", Settings(caps=caps), str)


def test_what_passed_a_check_fits_by_default() -> None:
    """Limits of payloads are those of loading; the caps of a run count everything else."""
    config = equipage.loads(
        json.dumps(simple(tools=[tool(content=_items(GARBAGE))])), kind="server", env={}
    ).config
    usual, room = Caps(), 6 * 5_000
    assert room_for_payloads(config) == room
    assert caps_of(None, None, None, room=room).frame_bytes == usual.frame_bytes + room
    assert caps_of(None, "2gb", None).run_bytes == 2 * 2**30
    assert caps_of(None, None, None, room=2**31).run_bytes == usual.frame_bytes + 2**31


def test_what_is_cut_is_said_once(tmp_path: Path) -> None:
    done = ran(tmp_path, simple(), asks(call(), call(4)), caps=Caps(frame_bytes=20))
    assert len(done.traced("capped")) == 2
    assert [each for each in done.notes if "--max-frame-bytes" in each] == [
        "an answer was cut: it is larger than --max-frame-bytes, or took --max-delay"
    ]


# Handlers.


def test_only_some_handlers_run_at_once() -> None:
    """The others wait for their turn, and all are answered."""
    most = 2
    running, seen, lock = [0], [0], threading.Lock()

    def ask(question: Any) -> dict[str, Any]:
        with lock:
            running[0] += 1
            seen[0] = max(seen[0], running[0])
        time.sleep(0.02)
        with lock:
            running[0] -= 1
        return {"text": str(question.payload["arguments"]["q"])}

    async def script() -> list[Any]:
        config = simple(tools=[tool(handler={"type": "command", "cmd": ["true"]})])
        records: list[Any] = []
        engine = engine_of(config, records, caps=Caps(handlers=most))
        driver = Driver(engine, virtual=False, ask=ask, run_bytes=2**40)
        listener = Listener(driver, "127.0.0.1", 0)
        await listener.open()
        driver.transport = listener
        web = Web(listener, driver, records)
        try:
            clients = [await web.connect() for _ in range(6)]
            asked = (each.ask(call(q=number)) for number, each in enumerate(clients))
            found = await asyncio.wait_for(asyncio.gather(*asked), HANGS)
            return [each.json["result"]["content"][0]["text"] for each in found]
        finally:
            for each in web.clients:
                await each.close()
            await listener.close()

    assert asyncio.run(script()) == [str(number) for number in range(6)]
    assert seen == [most]


@pytest.mark.skipif(sys.platform != "linux", reason="others have one address of loopback")
def test_a_run_asks_web_services_at_the_hosts_that_it_was_given(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.2", 0))  # nothing listens
        url = f"http://127.0.0.2:{silent.getsockname()[1]}/"
        config = simple(tools=[tool(handler={"type": "http", "url": url})])
        for hosts, problem in (((), b"ValueError"), (("127.0.0.2",), b"ConnectionRefusedError")):
            done = ran(tmp_path, config, asks(call()), handler_hosts=hosts)
            assert b"the handler failed: " + problem in done.sent


# What is said, and what is not.


def test_the_log_has_levels(tmp_path: Path) -> None:
    wanted = {"level": "info", "on_request": True}
    done = ran(tmp_path, simple(logging=wanted), asks(LIST))
    assert "info: request tools/list" in done.notes
    wanted["level"] = "warn"
    done = ran(tmp_path, simple(logging=wanted), asks(LIST))
    assert len(done.notes) == 2


def test_a_summary_has_fifty_methods_at_most(tmp_path: Path) -> None:
    messages = [request(f"m{number:02}") for number in range(52)]
    done = ran(tmp_path, simple(), asks(*messages, messages[0], LIST))
    said = done.notes[-1].partition("requests: ")[2].split(", ")
    assert (said[0], said[-1], len(said)) == ("m00 2", "others 3", 51)


def test_without_a_seed_each_run_has_its_own(tmp_path: Path) -> None:
    seeds = {ran(tmp_path, simple(), asks(), seed=None).traced("start", "seed")[0] for _ in "ab"}
    assert len(seeds) == 2
    assert all(0 <= each[0] < 2**32 for each in seeds)


def test_a_trace_of_what_cannot_start_has_an_end(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    reason = "(the address cannot be used|.*[Cc]annot assign requested address.*)"
    with pytest.raises(UsageError, match=rf"^cannot listen on 203\.0\.113\.1:1: {reason}$"):
        ran(tmp_path, simple(), lambda _: None, transport="http", host="203.0.113.1", port=1)
    last = json.loads(trace.read_bytes().splitlines()[-1])
    assert (last["t"], last["e"], last["reason"]) == (0, "stop", "error")


@pytest.mark.parametrize(
    ("first", "kind", "says"),
    [
        ({"message": "odd", "exception": KeyError(3)}, KeyError, "3"),
        ({"message": "odd"}, RuntimeError, "odd"),
    ],
)
def test_a_bug_ends_a_run_with_its_exception(
    first: dict[str, Any],
    kind: type[Exception],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The command says it, or shows where it comes from; the trace has an end."""

    def receive(*_: Any) -> None:
        asyncio.get_running_loop().call_exception_handler(first)
        raise ValueError("the first one counts")

    monkeypatch.setattr(Engine, "receive", receive)
    with pytest.raises(kind, match=f"^{says}$"):
        ran(tmp_path, simple(), asks(LIST))
    last = json.loads((tmp_path / "trace.jsonl").read_bytes().splitlines()[-1])
    assert (last["e"], last["reason"]) == ("stop", "error")


def test_a_run_over_http_says_where_and_may_log_to_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = simple(logging={"output": "stdout"})
    with pytest.raises(UsageError) as refused:
        ran(tmp_path, config, lambda _: None)
    says = "`logging.output: stdout` would mix with the messages on standard output"
    assert str(refused.value) == says
    done = ran(tmp_path, config, lambda _: None, transport="http", seconds=0)
    assert re.fullmatch(r"listening on http://127\.0\.0\.1:[0-9]+/mcp", done.notes[1])
    assert (done.code, done.traced("start", "transport")) == (0, [("http",)])
    assert [each.name for each in tmp_path.iterdir()] == ["trace.jsonl"], "no file of that name"


def test_a_run_collects_garbage_and_keeps_asyncio_quiet(tmp_path: Path) -> None:
    before, level = gc.get_threshold(), logging.getLogger("asyncio").level
    try:
        gc.set_threshold(100_000, 50, 50)
        logging.getLogger("asyncio").setLevel(logging.NOTSET)
        ran(tmp_path, simple(), asks())
        assert gc.get_threshold() == (700, 10, 10)
        assert logging.getLogger("asyncio").level == logging.CRITICAL
    finally:
        gc.set_threshold(*before)
        logging.getLogger("asyncio").setLevel(level)


def test_notes_that_nobody_takes_delay_nothing() -> None:
    """They are told in their order; beyond a thousand that wait, they are dropped."""
    told, may_tell = list[str](), threading.Event()

    def note(line: str) -> None:
        assert may_tell.wait(HANGS)
        told.append(line)

    tell = _NoteWriter(note)
    assert tell._thread.daemon
    tell("first")
    while tell._lines.qsize():
        time.sleep(0.001)
    for number in range(1_001):
        tell(str(number))
    assert tell.close() is False
    may_tell.set()
    while tell._lines.qsize():
        time.sleep(0.001)
    assert tell._thread.is_alive(), "there was no room for its end, either"
    tell.close()
    tell._thread.join(HANGS)
    assert tell.close() is True
    assert told == ["first", *map(str, range(1_000))]


def test_texts_of_files_are_literal_in_a_run(tmp_path: Path) -> None:
    (tmp_path / "said.txt").write_text("costs ${args.a}")
    own = [{"type": "text", "text": {"$file": "said.txt"}}, {"type": "text", "text": "$${args.a}"}]
    (tmp_path / "server.yaml").write_text(json.dumps(simple(tools=[tool(content=own)])))
    loaded = equipage.load(tmp_path / "server.yaml", kind="server", env={})
    texts = list(literal_texts(loaded))
    assert texts == ["costs ${args.a}"]
    (tmp_path / "in").write_text(json.dumps(call(a="x")) + "\n")
    with (tmp_path / "in").open("rb") as reads, (tmp_path / "out").open("wb") as writes:
        settings = Settings(descriptors=(reads.fileno(), writes.fileno()))
        assert serve(loaded.config, loaded.digest, settings, str, literal=texts) == 0
    result = json.loads((tmp_path / "out").read_bytes())["result"]
    assert [each["text"] for each in result["content"]] == ["costs ${args.a}", "x"]


def test_what_is_clamped_is_traced(tmp_path: Path) -> None:
    done = ran(tmp_path, delivery(type="nested_json", depth=9), asks(), caps=Caps(depth=3))
    line = "nested_json: depth 9 is above the cap; 3 is used"
    assert done.records[0] == {"n": 1, "t": 0, "e": "capped", "what": line}
    assert done.notes[1] == line


def test_what_never_happens_is_said_once(tmp_path: Path) -> None:
    def own(name: str, *triggers: str) -> dict[str, Any]:
        effects = [{"type": "batch_amplify", "trigger": each} for each in triggers]
        return {**tool(name), "behavior": {"side_effects": effects}}

    config = simple(tools=[own("a", "on_request", "continuous"), own("b", "continuous"), tool("c")])
    content = {"uri": "x://a", "name": "r"}
    never = {"side_effects": [{"type": "batch_amplify", "trigger": "on_connect"}]}
    config["resources"] = [{"resource": content, "behavior": never}]
    done = ran(tmp_path, config, asks())
    assert done.notes[1:-1] == [
        "batch_amplify: continuous never fires for one item",
        "batch_amplify: on_connect never fires for one item",
    ]


def test_a_summary_has_phases_and_sorted_counters(tmp_path: Path) -> None:
    config = phased(
        *({"name": each, "advance": {"on": "tools/call"}} for each in "ab"), {"name": "c"}
    )
    done = ran(tmp_path, config, asks(call(), call()))
    assert done.notes[-1].endswith("requests: tools/call 2; phases: b, c")
    counters = done.traced("stop")[0]["counters"]
    assert list(counters) == sorted(counters)


def test_expectations_are_judged_by_so_many_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "expect.yaml").write_text("- sees: {method: tools/list}\n")
    for most, code in ((1, 1), (2, 0)):
        monkeypatch.setattr(run, "_MAX_RECORDS", most)
        done = ran(tmp_path, simple(), asks(LIST), expect=str(tmp_path / "expect.yaml"))
        assert [each["e"] for each in done.records[:2]] == ["start", "recv"]
        assert done.code == code


def test_a_trace_can_be_read_while_the_server_runs(tmp_path: Path) -> None:
    seen = []

    def script(client: Client) -> None:
        client.say(call())
        client.read(len(R3) + 1)
        seen.extend(each["e"] for each in lines((tmp_path / "trace.jsonl").read_bytes()))
        client.hang_up()

    ran(tmp_path, simple(), script)
    assert seen[:3] == ["start", "recv", "open"]


# What the command line says.


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: milliseconds("--for", "soon"), "--for soon: expected a whole number and a unit"),
        (lambda: caps_of("soon", None, None), "--max-delay soon: expected a whole number"),
        (lambda: caps_of(None, "x", None), "--max-frame-bytes x: expected a size, such as 20mb$"),
        (lambda: caps_of(None, None, "x"), "--max-run-bytes x: expected a size, such as 20mb$"),
        (
            lambda: delivery_named("x"),
            "--behavior x: expected one of normal, slow_loris, .*, nested_json, response_delay$",
        ),
    ],
)
def test_options_that_mean_nothing(call: Callable[[], Any], says: str) -> None:
    with pytest.raises(UsageError, match=f"^{says}"):
        call()


def test_options_decide_how_a_server_answers(tmp_path: Path) -> None:
    def answer(config: dict[str, Any], **options: Any) -> Any:
        return ran(tmp_path, config, asks(call()), **options).sent

    assert answer(simple(), era="25") == R3 + b"\n"
    assert b'"error"' in answer(simple(), era="26")
    nested = answer(simple(), delivery=NestedJson(depth=1))
    assert nested == b'{"a":' + R3 + b"}\n"
    config = delivery(type="response_delay", delay_ms=100_000)
    done = ran(tmp_path, config, asks(call()), virtual=True, caps=Caps(delay_ms=7))
    assert done.traced("send", "t") == [(7,)]
    config = phased({"name": "a", "advance": {"on": "tools/call"}}, {"name": "b"})
    for scope, owner in (("global", None), ("per_connection", "c1")):
        done = ran(tmp_path, config, asks(call()), scope=scope)
        assert done.traced("phase", "to", "conn") == [("b", owner)]


def test_a_seed_and_a_virtual_clock_make_runs_equal(tmp_path: Path) -> None:
    config = simple(tools=[tool(text="$${fn.timestamp()} $${fn.uuid()}")])

    def said(**options: Any) -> list[str]:
        (frame,) = lines(ran(tmp_path, config, asks(call()), **options).sent)
        found: list[str] = frame["result"]["content"][0]["text"].split()
        return found

    first = said(virtual=True)
    assert said(virtual=True) == first
    assert said(virtual=True, seed=2)[1] != first[1]
    before = datetime.now(UTC)
    real, name = said()
    assert name == first[1]
    assert datetime.fromisoformat(real) >= before.replace(microsecond=0)
    assert datetime.fromisoformat(first[0]) == EPOCH


def test_a_trace_shows_as_much_of_messages_as_wanted(tmp_path: Path) -> None:
    arguments = []
    for bodies in ("none", "redacted", "full"):
        done = ran(tmp_path, simple(), asks(call(q=1)), bodies=bodies)
        (received,) = done.traced("recv")
        arguments.append(received["body"]["params"]["arguments"] if "body" in received else None)
    assert arguments == [None, "…", {"q": 1}]


def test_options_that_mean_something() -> None:
    assert milliseconds("--for", "2s") == 2_000
    assert caps_of(None, None, None) == Caps()
    assert caps_of("3s", "4kb", "5") == Caps(delay_ms=3_000, frame_bytes=4_096, run_bytes=5)
    assert delivery_named(None) is None
    assert delivery_named("normal") == Normal()
    assert delivery_named("slow_loris") == SlowLoris()


# Sockets.


def test_many_requests_on_one_connection() -> None:
    """Also those that come while an answer is under way, and more than the server reads ahead."""
    body = json.dumps({**call(), "x": "y" * 1_000}).encode()
    head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
    count = 200

    async def script(web: Web) -> None:
        client = await web.connect()
        client.writer.write((head + body) * count)
        for _ in range(count):
            assert (await client.read()).body == R3
        assert len(web.traced("recv")) == count

    over_http(simple(), script)


def test_a_connection_that_is_to_close_closes() -> None:
    async def script(web: Web) -> None:
        for line in ("Connection: close", "Connection: keep-alive"):
            client = await web.connect()
            answer = await client.ask(call(), **dict([line.split(": ")]))
            closes = line.endswith("close")
            assert (answer.headers.get("connection") == "close") is closes
            if closes:
                assert await client.reader.read() == b""
            else:
                assert (await client.ask(call())).status == 200

    over_http(simple(), script)


def test_a_large_answer_reaches_a_client_that_reads_late() -> None:
    payload = {"$generate": {"type": "garbage", "bytes": "3mb", "seed": 7, "charset": "ascii"}}
    own = tool(content=[{"type": "text", "text": payload}])

    async def script(web: Web) -> None:
        client = await web.connect()
        asked = asyncio.ensure_future(client.ask(call()))
        other = await web.connect()
        assert (await other.ask(LIST)).status == 200
        answer = await asked
        assert answer.is_whole
        assert len(answer.json["result"]["content"][0]["text"]) == 3 * 1024 * 1024

    over_http(simple(tools=[own]), script)


def test_a_client_that_reads_slowly_gets_everything() -> None:
    """More than all buffers hold: the server waits, and serves others meanwhile."""
    count, text = 10, "y" * 1_000_000
    own = {**tool(text=text), "behavior": {"x-equipage": {"type": "repeated", "count": count}}}

    async def script(web: Web) -> None:
        port = int(web.listener.url.rpartition(":")[2].partition("/")[0])
        with socket.socket() as narrow:
            narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_192)
            narrow.connect(("127.0.0.1", port))
            client = Raw(*await asyncio.open_connection(sock=narrow))
            web.clients.append(client)
            body = json.dumps(call()).encode()
            head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
            client.writer.write(head.encode() + body)
            other = await web.connect()
            for _ in range(20):
                assert (await other.ask(LIST)).status == 200
                await asyncio.sleep(0.005)
            assert not web.listener.is_drained
            answer = await client.read()
            assert answer.body.count(text.encode()) == count

    over_http(simple(tools=[own]), script)


def test_a_connection_that_asks_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also after its first request; one whose answer is under way is not."""
    monkeypatch.setattr(http, "IDLE_SECONDS", 0.1)

    async def script(web: Web) -> None:
        web.driver.virtual = False
        silent, busy = await web.connect(), await web.connect()
        asked = asyncio.ensure_future(busy.ask(call()))
        assert await silent.reader.read() == b""
        assert (await asked).body == R3
        assert await busy.reader.read() == b""
        for _ in range(100):
            if len(web.traced("gone")) == 1:
                break
            await asyncio.sleep(0.01)
        assert [(each["conn"], each["by"]) for each in web.traced("gone")] == [("c1", "client")]

    over_http(delivery(type="response_delay", delay_ms=300), script)


def test_one_connection_too_many() -> None:
    async def script(web: Web) -> None:
        first = await web.connect()
        assert (await first.ask(LIST)).status == 200
        refused = await web.connect()
        assert (await refused.read()).status == 503
        assert await refused.reader.read() == b""
        assert [each["what"] for each in web.traced("capped")] == ["connections"]
        await first.close()
        for _ in range(100):
            if not web.listener.wires:
                break
            await asyncio.sleep(0.01)
        again = await web.connect()
        assert (await again.ask(LIST)).status == 200

    over_http(simple(), script, caps=Caps(connections=1))


def test_the_address_is_said() -> None:
    async def script(web: Web) -> None:
        assert web.listener.url.startswith("http://127.0.0.1:")
        assert web.listener.url.endswith("/mcp")
        assert web.listener.is_drained

    over_http(simple(), script)


def listening(host: str, port: int, then: Callable[[Listener], Any]) -> Any:
    """What comes of a listener at an address."""

    async def run() -> Any:
        driver = Driver(engine_of(simple(), []), virtual=True, ask=str, run_bytes=2**40)
        listener = Listener(driver, host, port)
        await listener.open()
        driver.transport = listener
        try:
            return await asyncio.to_thread(then, listener)
        finally:
            await listener.close()

    return asyncio.run(run())


def test_a_port_that_is_taken() -> None:
    def again(listener: Listener) -> None:
        port = int(listener.url.rpartition(":")[2].partition("/")[0])
        says = rf"^cannot listen on 127\.0\.0\.1:{port}: .*[Aa]ddress already in use"
        with pytest.raises(UsageError, match=says):
            listening("127.0.0.1", port, lambda _: None)

    listening("127.0.0.1", 0, again)


def test_the_address_of_the_newer_internet() -> None:
    try:
        with socket.socket(socket.AF_INET6) as found:
            found.bind(("::1", 0))
            port = found.getsockname()[1]
    except OSError:
        pytest.skip("no IPv6 here")
    assert listening("::1", port, lambda listener: listener.url) == f"http://[::1]:{port}/mcp"


@pytest.mark.skipif(sys.platform != "linux", reason="others have one address of loopback")
def test_the_name_that_a_server_was_given_is_its_own() -> None:
    def ask(listener: Listener) -> bytes:
        host, _, port = listener.url.partition("//")[2].partition("/")[0].partition(":")
        with socket.create_connection((host, int(port)), timeout=HANGS) as client:
            client.sendall(f"POST /mcp HTTP/1.0\r\nHost: {host}:{port}\r\n\r\n".encode())
            return client.recv(12)

    assert listening("127.0.0.2", 0, ask) == b"HTTP/1.1 400"


def test_a_graceful_end_comes_after_the_answer_and_a_forced_one_is_a_reset() -> None:
    async def gently(web: Web) -> None:
        client = await web.connect()
        assert (await client.ask(call())).body == R3
        assert await client.reader.read() == b""

    over_http(effect(type="close_connection"), gently)

    async def hard(web: Web) -> None:
        client = await web.connect()
        with pytest.raises(ConnectionResetError):
            await client.ask(call())

    over_http(effect(type="close_connection", graceful=False), hard)
