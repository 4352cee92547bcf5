"""The fixture for tests of clients: its command, its trace, and what it says when it fails."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from equipage_faults import testing
from equipage_faults.testing import MisbehavingServer

misbehaving_server = testing.misbehaving_server

RECORDS: list[dict[str, Any]] = [
    {"n": 0, "e": "recv", "t": 0, "kind": "request", "method": "initialize", "id": 1},
    {
        "n": 1,
        "e": "recv",
        "t": 5,
        "kind": "request",
        "method": "tools/call",
        "id": 2,
        "target": "t",
    },
]


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[], float]:
    """A clock that only sleeping moves: it says how long was slept."""
    slept: list[float] = []
    time = SimpleNamespace(monotonic=lambda: 100 + sum(slept), sleep=slept.append)
    monkeypatch.setattr(testing, "time", time)
    return lambda: sum(slept)


@pytest.fixture
def server(tmp_path: Path) -> MisbehavingServer:
    return MisbehavingServer(tmp_path / "server.yaml", tmp_path, ("--seed", "1"))


def traced(folder: Path, more: str = "") -> None:
    lines = "".join(json.dumps(each) + "\n" for each in RECORDS)
    (folder / "trace.jsonl").write_text(lines + more)


def test_the_command(server: MisbehavingServer, tmp_path: Path) -> None:
    assert server.command == [
        sys.executable,
        "-m",
        "equipage",
        "serve",
        str(tmp_path / "server.yaml"),
        "--trace",
        str(tmp_path / "trace.jsonl"),
        "--trace-bodies",
        "full",
        "--seed",
        "1",
    ]
    assert server.file == tmp_path / "server.yaml"


def test_the_trace_so_far(server: MisbehavingServer, tmp_path: Path) -> None:
    assert server.trace == []
    traced(tmp_path, '{"e": "half')
    assert server.trace == RECORDS


def test_waiting_for_a_record(
    server: MisbehavingServer,
    tmp_path: Path,
    clock: Callable[[], float],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as during:
        during.setattr(testing.time, "sleep", lambda _: traced(tmp_path))
        assert server.wait_for("recv") == RECORDS[0]  # which was not there at first
    assert server.wait_for("recv", method="tools/call", id=2) == RECORDS[1]
    assert server.wait_for("recv", **RECORDS[1]) == RECORDS[1]
    with pytest.raises(pytest.fail.Exception) as failed:
        server.wait_for("recv", 0.3, method="ping")
    assert str(failed.value) == "no record of recv with {'method': 'ping'} within 0.3 s"
    assert clock() == pytest.approx(0.3, abs=0.03)
    with pytest.raises(pytest.fail.Exception, match=r"within 5\.0 s"):
        server.wait_for("send")


def test_expectations_that_are_not_met(server: MisbehavingServer, tmp_path: Path) -> None:
    traced(tmp_path)
    server.expect({"order": ["initialize", "tools/call:t"]})
    unmet = [{"order": ["tools/call:t", "initialize"]}, {"sees": {"method": "ping"}}]
    said = []
    for wanted in ([*unmet, {"order": ["initialize"]}], unmet[:1], unmet[1:]):
        with pytest.raises(pytest.fail.Exception, match="not met") as failed:
            server.expect(*wanted)
        said.append(str(failed.value))
    assert said[0] == f"{said[1]}\n{said[2]}"


class Program:
    """What is started in place of a server."""

    started: list[Program]

    def __init__(self, command: Any, **how: Any) -> None:
        self.started.append(self)
        self.command, self.how = command, how
        self.code: int | None = None
        how["stderr"].write(self.says)
        self.asked: list[Any] = []

    says = b"equipage: listening on http://127.0.0.1:5/mcp\n"

    def poll(self) -> int | None:
        return self.code

    def terminate(self) -> None:
        self.asked.append("terminate")

    def wait(self, timeout: float | None = None) -> None:
        self.asked.append(timeout)
        if "kill" not in self.asked and self.stubborn:
            raise subprocess.TimeoutExpired("x", timeout or 0)

    stubborn = False

    def kill(self) -> None:
        self.asked.append("kill")


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[Program]:
    monkeypatch.setattr(Program, "started", [], raising=False)
    monkeypatch.setattr(subprocess, "Popen", Program)
    return Program.started


@pytest.mark.parametrize("stubborn", [False, True])
def test_a_server_is_started_once_and_ended(
    stubborn: bool,
    server: MisbehavingServer,
    programs: list[Program],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Program, "stubborn", stubborn)
    monkeypatch.setenv("KEPT", "1")
    monkeypatch.setenv("PYTHONUNBUFFERED", "")
    server.close()  # it was not started
    assert server.url == server.url == "http://127.0.0.1:5/mcp"
    (process,) = programs
    how = process.how
    assert process.command == [*server.command, "--transport", "http"]
    assert (how["stdin"], how["stdout"]) == (subprocess.DEVNULL, subprocess.DEVNULL)
    assert (how["env"]["PYTHONUNBUFFERED"], how["env"]["KEPT"]) == ("1", "1")
    assert how["stderr"].name == str(tmp_path / "stderr.txt")
    server.close()
    server.close()
    assert process.asked == ["terminate", 10.0, *(("kill", None) if stubborn else ())]


@pytest.mark.usefixtures("programs")
def test_a_server_that_does_not_start(
    server: MisbehavingServer, clock: Callable[[], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Program, "says", b"no such file")
    monkeypatch.setattr(Program, "poll", lambda _: 2)
    with pytest.raises(AssertionError, match="the server did not start: no such file"):
        print(server.url)
    assert clock() == 0
    looks = iter([None] * 600)  # more than fit into the time
    monkeypatch.setattr(Program, "poll", lambda _: next(looks))
    with pytest.raises(AssertionError, match="the server did not start: no such file"):
        print(server.url)
    assert clock() == pytest.approx(10, abs=0.03)


@pytest.fixture
def ended(programs: list[Program]) -> Iterator[None]:
    """When the test is over, what it started was ended."""
    yield
    assert [each.asked for each in programs] == [["terminate", 10.0]] * 2


@pytest.mark.usefixtures("ended")
def test_servers_are_beside_their_test_and_end_with_it(
    programs: list[Program], misbehaving_server: Callable[..., MisbehavingServer]
) -> None:
    slow, other = misbehaving_server("slow.yaml", "--seed", "1"), misbehaving_server("other.yaml")
    assert slow.file == Path(__file__).with_name("slow.yaml")
    assert (slow.command[-2:], other.command[-1]) == (["--seed", "1"], "full")
    assert slow.url == other.url
    first, second = (Path(each.how["stderr"].name).parent for each in programs)
    assert first != second
    assert first.name.startswith("server")
