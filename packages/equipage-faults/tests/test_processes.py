"""The server as a process: real pipes, real signals, clients that do everything wrong."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from clock import HANGS, SLACK, Stopwatch
from equipage_faults.testing import MisbehavingServer
from faultlab import INITIALIZE, INITIALIZED, LIST, R3, call, delivery, effect, phased, simple
from lab import environment


class Server:
    """A process that serves one configuration over pipes."""

    def __init__(self, folder: Path, config: dict[str, Any], *options: str) -> None:
        (folder / "server.yaml").write_text(json.dumps(config))
        self.trace = folder / "trace.jsonl"
        words = ["-m", "equipage", "serve", "server.yaml", "--trace", str(self.trace), *options]
        self.process = subprocess.Popen(
            [sys.executable, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment(),
        )

    def say(self, *messages: dict[str, Any] | bytes) -> None:
        assert self.process.stdin is not None
        for each in messages:
            data = each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n"
            self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self, size: int) -> bytes:
        assert self.process.stdout is not None
        return os.read(self.process.stdout.fileno(), size)

    def end(self, timeout: float = HANGS) -> tuple[int, bytes, str]:
        """Close standard input; the exit code and both outputs."""
        out, err = self.process.communicate(timeout=timeout)
        return self.process.returncode, out, err.decode()

    def records(self, event: str) -> list[dict[str, Any]]:
        lines = self.trace.read_bytes().splitlines()
        return [each for each in map(json.loads, lines) if each["e"] == event]

    def wait_for(self, event: str, count: int = 1) -> None:
        deadline = time.monotonic() + HANGS
        while not self.trace.exists() or len(self.records(event)) < count:
            assert time.monotonic() < deadline, f"{event} did not happen"
            time.sleep(0.01)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, float]:
        """The exit code after a signal, and how long it took."""
        watch = Stopwatch(self.process.pid)
        self.process.send_signal(number)
        took = watch.until(lambda: self.process.poll() is not None, 20)
        return self.process.returncode, took


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Any]:
    made: list[Server] = []

    def start(config: dict[str, Any], *options: str) -> Server:
        made.append(Server(tmp_path, config, *options))
        return made[-1]

    yield start
    for server in made:
        server.process.kill()
        server.process.wait()
        for stream in (server.process.stdin, server.process.stdout, server.process.stderr):
            if stream is not None and not stream.closed:
                with suppress(BrokenPipeError):
                    stream.close()


def test_garbage_of_every_sort_is_logged_and_answered_with_nothing(serve: Any) -> None:
    server = serve(simple())
    half = json.dumps(call()).encode()
    server.say(
        b"\x00\x01\x02\n" * 100,
        b"[" * 200_000 + b"\n",
        b'{"jsonrpc":"2.0","id":1,"method":5}\n',
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"\\ud800"}\n',
        b"x" * 10_485_761 + b"\n",
        half[:20],
    )
    server.say(half[20:] + b"\n", INITIALIZE, INITIALIZE)
    code, out, err = server.end()
    assert (code, out.split(b"\n", 1)[0]) == (0, R3)
    assert len(out.splitlines()) == 3, "ids may repeat"
    assert "Traceback" not in err
    found = [each["what"] for each in server.records("violation")]
    assert found[:100] == ["malformed"] * 100
    assert found[100:] == [
        "malformed",
        "malformed",
        "batch",
        "malformed",
        "oversized",
        "before initialize",
    ]


def test_a_signal_ends_a_drip_at_once(serve: Any) -> None:
    server = serve(delivery(type="slow_loris", byte_delay_ms=200, chunk_size=10))
    server.say(call())
    assert server.read(1000) == R3[:10]
    code, took = server.stop()
    assert code == 143
    assert took < 5 * SLACK
    assert len(server.end()[1]) < 66, "the line stays open"
    assert [each["reason"] for each in server.records("stop")] == ["terminated"]


def test_a_client_that_never_reads_costs_no_memory_and_delays_no_end(serve: Any) -> None:
    config = effect(type="notification_flood", rate_per_sec=10_000, duration_sec=60)
    server = serve(config)
    server.say(*(call(number) for number in range(50)))
    server.wait_for("recv", 50)
    time.sleep(0.3)
    status = Path(f"/proc/{server.process.pid}/status")
    if status.exists():
        (size,) = (line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        assert int(size.split()[1]) < 150_000, "kB"
    code, took = server.stop(signal.SIGINT)
    assert code == 130
    assert took < 5 * SLACK


def test_a_full_standard_error_delays_no_end(serve: Any) -> None:
    server = serve(simple(logging={"on_request": True}))
    line = json.dumps({**LIST, "method": "x" * 180}).encode() + b"\n"
    server.process.stdin.write(line * 5_000)
    server.process.stdin.flush()
    server.wait_for("recv", 2_000)
    code, took = server.stop()
    assert code == 143
    assert took < 5 * SLACK


def test_a_client_that_leaves_in_the_middle_ends_the_server(serve: Any) -> None:
    server = serve(delivery(type="slow_loris", byte_delay_ms=5, chunk_size=1))
    server.say(call())
    server.read(5)
    server.process.stdout.close()
    assert server.process.wait(timeout=HANGS) == 0
    assert b"Traceback" not in server.process.stderr.read()
    assert [each["by"] for each in server.records("gone")] == ["client"]


def test_F62_an_expectation_that_is_not_met_fails_the_run(serve: Any, tmp_path: Path) -> None:
    (tmp_path / "expect.yaml").write_text(
        "- sees: {method: tools/list}\n- never: {method: tools/call}\n- violations: 0\n"
    )
    server = serve(simple(), "--expect", "expect.yaml")
    server.say(INITIALIZE, INITIALIZED)
    code, _, err = server.end()
    assert code == 1
    assert 'not met: {"sees":{"method":"tools/list"}}: seen 0 times' in err
    assert 'met: {"never":{"method":"tools/call"}}' in err


def test_F51_a_timeout_that_aborts_ends_the_process(serve: Any) -> None:
    trigger = {"on": "tools/list", "timeout": "100ms", "on_timeout": "abort"}
    server = serve(phased({"name": "a", "advance": trigger}, {"name": "b"}))
    assert server.process.wait(timeout=HANGS) == 1
    assert [each["phase"] for each in server.records("abort")] == ["a"]


def test_two_processes_write_the_same_bytes(serve: Any) -> None:
    """Whatever the machine does meanwhile: the first client writes slowly, the second at once."""
    config = effect(type="notification_flood", rate_per_sec=100, duration_sec=2)
    config["behavior"]["delivery"] = {"type": "slow_loris", "byte_delay_ms": 7, "chunk_size": 3}
    runs = []
    for pause in (0.05, 0.0):
        server = serve(config, "--clock", "virtual", "--seed", "7")
        for each in (INITIALIZE, INITIALIZED, LIST, call()):
            server.say(each)
            time.sleep(pause)
        code, out, _ = server.end()
        runs.append((code, out, server.trace.read_bytes()))
    assert runs[0] == runs[1]
    assert runs[0][0] == 0


def test_the_hundred_and_first_connection_is_refused(tmp_path: Path) -> None:
    (tmp_path / "server.yaml").write_text(json.dumps(simple()))
    server = MisbehavingServer(tmp_path / "server.yaml", tmp_path, ())
    host, port = "127.0.0.1", int(server.url.rpartition(":")[2].partition("/")[0])
    opened: list[socket.socket] = []
    try:
        opened += (socket.create_connection((host, port), timeout=HANGS) for _ in range(100))
        server.wait_for("start")
        body = json.dumps(LIST).encode()
        ask = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
        for each in opened[::33]:
            each.sendall(ask + body)
            assert each.recv(100).startswith(b"HTTP/1.1 200 OK")
        with socket.create_connection((host, port), timeout=HANGS) as last:
            assert last.recv(100).startswith(b"HTTP/1.1 503 Service Unavailable")
        opened.pop().close()
        server.wait_for("capped", what="connections")
        with socket.create_connection((host, port), timeout=HANGS) as again:
            again.sendall(ask + body)
            assert again.recv(100).startswith(b"HTTP/1.1 200 OK")
    finally:
        for each in opened:
            each.close()
        server.close()
