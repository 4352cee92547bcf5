"""The server's side of its processes: pipes, messages, and what happens when a supervisor is gone."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

if sys.platform == "win32":
    pytest.skip("tools run on Linux and macOS", allow_module_level=True)

from clock import HANGS
from equipage_serve import children
from equipage_serve.children import Child, Children, mark_done, wait_writable
from equipage_serve.outcome import Failure
from lab import NOWHERE, write
from talk import wait_until


class Pipes:
    """A child whose process is this test: the other ends of its pipes are here."""

    def __init__(self, cap: int = 10) -> None:
        (self.input, ours), (output, self.output), (errors, self.errors) = (
            os.pipe() for _ in range(3)
        )
        for each in (ours, output, errors):
            os.set_blocking(each, False)
        self.ends = [ours, output, errors]
        self.child = Child(7, asyncio.get_running_loop(), self.ends, cap)

    def read(self) -> bytes:
        return os.read(self.input, 1 << 20)

    async def says(self, data: bytes) -> None:
        os.write(self.output, data)
        await rounds()

    async def complains(self, data: bytes) -> None:
        os.write(self.errors, data)
        await rounds()

    def close(self) -> None:
        self.child.close()
        for each in (self.input, self.output, self.errors):
            try:
                os.close(each)
            except OSError:
                continue


async def rounds(count: int = 4) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def with_pipes(use: Callable[[Pipes], Awaitable[None]], **how: Any) -> None:
    async def main() -> None:
        pipes = Pipes(**how)
        try:
            await use(pipes)
        finally:
            pipes.close()

    asyncio.run(main())


def test_output_is_read_as_it_comes() -> None:
    async def use(pipes: Pipes) -> None:
        child = pipes.child
        assert child.number == 7
        await pipes.says(b"abc")
        assert (child.output, child.answered.done()) == (b"abc", False)
        await pipes.says(b"d\n")
        assert (child.output, child.answered.done()) == (b"abcd\n", True)
        await pipes.says(b"e\n")  # a second line is no second answer
        assert not child.output_ended.done()
        assert not child.has_overflowed
        os.close(pipes.output)
        await rounds()
        assert child.output_ended.done()
        assert not is_open(pipes.ends[1])
        child.reset()
        assert (child.output, child.errors, child.answered.done()) == (b"", b"", False)

    with_pipes(use)


@pytest.mark.parametrize(
    ("written", "kept", "overflows"), [(10, 10, False), (11, 11, True), (50, 11, True)]
)
def test_output_is_kept_up_to_its_cap(written: int, kept: int, overflows: bool) -> None:
    async def use(pipes: Pipes) -> None:
        child = pipes.child
        await pipes.says(b"x" * 4)
        await pipes.says(b"x" * (written - 4))
        assert (len(child.output), child.has_overflowed) == (kept, overflows)
        # A process that writes without end has no reader any more.
        assert child.output_ended.done() is overflows
        assert is_open(pipes.ends[1]) is not overflows

    with_pipes(use)


def test_errors_are_kept_up_to_a_length() -> None:
    async def use(pipes: Pipes) -> None:
        child = pipes.child
        await pipes.complains(b"a" * 2000)
        await pipes.complains(b"b" * 100)
        await pipes.complains(b"c")
        assert child.errors == b"a" * 2000 + b"b" * 48
        child.reset()
        assert child.errors == b""
        os.close(pipes.errors)
        await rounds()
        assert not is_open(pipes.ends[2])

    with_pipes(use)


def test_lines_of_errors_are_heard_whole() -> None:
    heard: list[str] = []

    async def use(pipes: Pipes) -> None:
        await pipes.complains(b"before\n")
        pipes.child.heard = heard.append
        await pipes.complains(b"one\ntw")
        await pipes.complains(b"o\n\xff\n")
        await pipes.complains(b"".join(b"%d\n" % number for number in range(20)))
        await pipes.complains(b"y" * 3000)
        await pipes.complains(b"\n")

    with_pipes(use)
    # Of a flood of lines the last ones, and of a long line its end.
    assert heard == ["one", "two", "\\xff", *map(str, range(4, 20)), "y" * 2048]


def test_input_is_written_whole() -> None:
    async def use(pipes: Pipes) -> None:
        pipes.child.feed(b"first\n", more=True)
        assert pipes.read() == b"first\n"
        assert is_open(pipes.ends[0])
        large = os.urandom(1 << 20)
        pipes.child.feed(large)
        got = b""
        while len(got) < len(large):
            got += pipes.read()
            await rounds()
        assert got == large
        assert pipes.read() == b""
        assert not is_open(pipes.ends[0])

    with_pipes(use)


def test_input_that_is_not_read_is_no_error() -> None:
    async def use(pipes: Pipes) -> None:
        os.close(pipes.input)
        pipes.child.feed(b"x")
        assert not is_open(pipes.ends[0])

    with_pipes(use)


def test_closing_gives_up_all_pipes() -> None:
    async def use(pipes: Pipes) -> None:
        loop = asyncio.get_running_loop()
        pipes.child.feed(b"x" * (1 << 20))  # more than fits: it waits
        pipes.child.close()
        assert not any(map(is_open, pipes.ends))
        assert pipes.child.output_ended.done()
        assert not loop.remove_reader(pipes.ends[1])
        assert not loop.remove_reader(pipes.ends[2])
        assert not loop.remove_writer(pipes.ends[0])
        pipes.child.close()  # again is no mistake

    with_pipes(use)


def test_what_is_in_the_pipes_is_taken_at_once() -> None:
    async def use(pipes: Pipes) -> None:
        os.write(pipes.output, b"out")
        os.write(pipes.errors, b"err")
        pipes.child.drain_now()
        assert (pipes.child.output, pipes.child.errors) == (b"out", b"err")
        pipes.child.drain_now()  # nothing is there
        os.write(pipes.output, b"x" * 200_00)
        os.close(pipes.output)
        pipes.child.drain_now()
        assert pipes.child.has_overflowed
        pipes.child.drain_now()

    with_pipes(use, cap=3)


def test_taking_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process can write as fast as we read."""
    monkeypatch.setattr(children, "_CHUNK", 1)

    async def use(pipes: Pipes) -> None:
        os.write(pipes.output, b"x" * 1000)
        pipes.child.drain_now()
        assert len(pipes.child.output) == 64

    with_pipes(use, cap=1000)


def test_how_a_process_ended() -> None:
    async def use(pipes: Pipes) -> None:
        assert not pipes.child.has_ended
        pipes.child.status.set_result(0)
        assert pipes.child.has_ended

    with_pipes(use)


def test_a_private_file_is_read_from_its_start() -> None:
    value = {"env": {"A": "ü"}, "argv": ["x" * 100_000]}
    descriptor = children._private_file(value)
    with os.fdopen(descriptor, "rb") as file:
        assert json.loads(file.read()) == value


# Messages.


class Wire:
    """Children whose supervisor is this test."""

    def __init__(self) -> None:
        self.started = Children()
        ours, self.theirs = socket.socketpair()
        ours.setblocking(False)
        self.theirs.setblocking(False)
        self.started._loop = asyncio.get_running_loop()
        self.started._socket = ours
        self.started._loop.add_reader(ours, self.started._receive)

    def received(self) -> list[Any]:
        """The messages that were sent, and how many descriptors came with them."""
        data, descriptors, _, _ = socket.recv_fds(self.theirs, 1 << 20, 16)
        for each in descriptors:
            os.close(each)
        found: list[Any] = []
        while data:
            (size,) = struct.unpack(">I", data[:4])
            found.append(json.loads(data[4 : 4 + size]))
            data = data[4 + size :]
        return [*found, len(descriptors)]

    async def send(self, *messages: Any, pieces: int = 1) -> None:
        texts = [json.dumps(each).encode() for each in messages]
        data = b"".join(struct.pack(">I", len(each)) + each for each in texts)
        step = -(-len(data) // pieces)
        for start in range(0, len(data), step):
            self.theirs.sendall(data[start : start + step])
            await rounds()


def with_wire(use: Callable[[Wire], Awaitable[None]]) -> None:
    async def main() -> None:
        problems: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, each: problems.append(each))
        before = set(os.listdir("/proc/self/fd")) if sys.platform == "linux" else set()
        wire = Wire()
        try:
            await use(wire)
        finally:
            await wire.started.close()
            wire.theirs.close()
        if before:
            assert set(os.listdir("/proc/self/fd")) == before
        assert not problems

    asyncio.run(main())


def failure(task: Any) -> tuple[str, str]:
    error = task.exception()
    assert isinstance(error, Failure)
    return error.code, error.message


GONE = ("UNAVAILABLE", "the process that starts tools ended")


@pytest.mark.parametrize("pieces", [1, 3, 1000])
def test_a_jail_is_defined_once(pieces: int) -> None:
    async def use(wire: Wire) -> None:
        asked: list[int] = []

        def jail() -> dict[str, int]:
            asked.append(1)
            return {"n": 1}

        tasks = [asyncio.ensure_future(wire.started.define("it", jail)) for _ in range(2)]
        await rounds(10)
        assert wire.received() == [{"op": "define", "key": "it", "jail": {"n": 1}}, 0]
        assert not any(each.done() for each in tasks)
        await wire.send({"defined": "other"}, {"defined": "it"}, pieces=pieces)
        await asyncio.gather(*tasks)
        await wire.started.define("it", jail)
        assert asked == [1]
        await wire.started.forget("it")
        assert wire.received() == [{"op": "forget", "key": "it"}, 0]
        await wire.started.forget("it")  # once
        with pytest.raises(BlockingIOError):
            wire.received()
        await wire.send({"defined": "it"})  # too late

    with_wire(use)


def test_a_jail_that_cannot_be_had_fails_for_all() -> None:
    async def use(wire: Wire) -> None:
        first = asyncio.ensure_future(wire.started.define("it", dict))
        await rounds()
        await wire.send({"defined": "it", "failed": "no rules"})
        await asyncio.wait([first])
        again = asyncio.ensure_future(wire.started.define("it", dict))
        await asyncio.wait([again])
        wanted = ("UNSUPPORTED", "the tool cannot be confined: no rules")
        assert failure(first) == failure(again) == wanted

    with_wire(use)


def test_a_process_is_started_with_four_descriptors() -> None:
    async def use(wire: Wire) -> None:
        child = await wire.started.spawn("it", {"A": "1"}, ["x"], home=NOWHERE, cap=5)
        assert not any(map(os.get_blocking, (child._input, child._output, child._errors)))
        data, descriptors, _, _ = socket.recv_fds(wire.theirs, 1 << 16, 16)
        assert json.loads(data[4:]) == {"op": "spawn", "id": 1, "key": "it", "home": NOWHERE}
        assert len(descriptors) == 4
        with os.fdopen(descriptors[3], "rb") as file:
            assert json.loads(file.read()) == {"env": {"A": "1"}, "argv": ["x"]}
        child.feed(b"in")
        assert os.read(descriptors[0], 10) == b"in"
        os.write(descriptors[1], b"out\n")
        os.write(descriptors[2], b"err")
        await rounds()
        assert (child.output, child.errors, child._cap) == (b"out\n", b"err", 5)
        for each in descriptors[:3]:
            os.close(each)
        other = await wire.started.spawn("it", {}, home=NOWHERE, cap=5)
        assert wire.received() == [{"op": "spawn", "id": 2, "key": "it", "home": NOWHERE}, 4]
        other.errors += b"before; "
        await wire.send({"id": 2, "failed": "the tool is gone"}, {"id": 1, "status": 3})
        assert (child.status.result(), other.status.result()) == (3, 125)
        assert other.errors == b"before; the tool is gone"
        await wire.send({"id": 1, "status": 4}, {"id": 9, "status": 4})  # nobody waits
        assert child.status.result() == 3
        for each in (child, other):
            await wire.started.end(each)  # it is gone: nothing is sent
        with pytest.raises(BlockingIOError):
            wire.received()
        assert not any(map(is_open, (child._input, child._output, child._errors)))

    with_wire(use)


def test_a_process_is_ended_and_waited_for() -> None:
    async def use(wire: Wire) -> None:
        child = await wire.started.spawn("it", {}, home=NOWHERE, cap=5)
        wire.received()
        ending = asyncio.ensure_future(wire.started.end(child))
        await rounds()
        assert wire.received() == [{"op": "kill", "id": 1, "grace": 0.3}, 0]
        assert not ending.done()
        await wire.send({"id": 1, "status": -15})
        await ending
        assert child.status.result() == -15
        assert not is_open(child._output)

    with_wire(use)


def test_a_process_may_be_ended_without_waiting() -> None:
    async def use(wire: Wire) -> None:
        child = await wire.started.spawn("it", {}, home=NOWHERE, cap=5)
        wire.received()
        wire.started.end_soon(child)
        assert not is_open(child._output)
        await rounds()
        assert wire.received() == [{"op": "kill", "id": 1, "grace": 0}, 0]
        await rounds()
        assert not children._background
        child.status.set_result(0)
        wire.started.end_soon(child)
        await rounds()
        with pytest.raises(BlockingIOError):
            wire.received()

    with_wire(use)


@pytest.mark.parametrize("leaves", [True, False])
def test_a_process_that_leaves_by_itself_has_a_moment(
    leaves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(children, "EXIT_SECONDS", 0.02)

    async def use(wire: Wire) -> None:
        child = await wire.started.spawn("it", {}, home=NOWHERE, cap=5)
        wire.received()
        wire.started.end_soon(child, leaves=True)
        await rounds()
        with pytest.raises(BlockingIOError):
            wire.received()
        if leaves:
            await wire.send({"id": 1, "status": 0})
        await asyncio.sleep(0.05)
        if leaves:
            with pytest.raises(BlockingIOError):
                wire.received()
        else:
            assert wire.received() == [{"op": "kill", "id": 1, "grace": 0}, 0]

    with_wire(use)


def test_without_a_supervisor_everything_has_ended() -> None:
    async def use(wire: Wire) -> None:
        child = await wire.started.spawn("it", {}, home=NOWHERE, cap=5)
        done = await wire.started.spawn("it", {}, home=NOWHERE, cap=5)
        done.status.set_result(0)
        defining = asyncio.ensure_future(wire.started.define("it", dict))
        await rounds()
        wire.received()
        wire.theirs.sendall(b"\0\0")  # half a message
        await rounds()
        assert wire.started._received
        wire.theirs.close()
        await asyncio.wait([defining])
        assert failure(defining) == GONE
        assert (child.status.result(), done.status.result()) == (-9, 0)
        assert wire.started._socket is None
        assert not wire.started._defined
        assert not wire.started._children
        assert not wire.started._received
        await wire.started.forget("it")
        for each in (child, done):
            wire.started.end_soon(each)
            await wire.started.end(each)
        await rounds()
        assert wire.started._socket is None  # no other one was started for that

    with_wire(use)


def test_a_message_that_cannot_be_sent() -> None:
    async def use(wire: Wire) -> None:
        wire.theirs.close()
        wire.started._loop.remove_reader(wire.started._socket)  # type: ignore[union-attr,arg-type]
        task = asyncio.ensure_future(wire.started.spawn("it", {}, home=NOWHERE, cap=5))
        await asyncio.wait([task])
        assert failure(task) == GONE
        assert not wire.started._children

    with_wire(use)


def test_a_message_that_is_longer_than_the_socket_holds_is_sent_whole() -> None:
    async def use(wire: Wire) -> None:
        jail = {"text": "x" * (1 << 20)}
        defining = asyncio.ensure_future(wire.started.define("it", lambda: jail))
        data = b""
        while len(data) < 1 << 20:
            await rounds()
            try:
                data += wire.theirs.recv(1 << 16)
            except BlockingIOError:
                continue
        assert json.loads(data[4:])["jail"] == jail
        await wire.send({"defined": "it"})
        await defining

    with_wire(use)


async def given_up(wire: Wire) -> asyncio.Lock:
    """A start waits to be sent, and its caller is gone; releasing the lock sends it."""
    held = wire.started._sending
    await held.acquire()
    task = asyncio.ensure_future(wire.started.spawn("it", {}, home=NOWHERE, cap=5))
    await rounds()
    task.cancel()
    await asyncio.wait([task])
    return held


def test_a_start_that_was_sent_is_ended_if_its_caller_is_gone() -> None:
    async def use(wire: Wire) -> None:
        held = await given_up(wire)
        held.release()
        await rounds(10)
        assert wire.received() == [{"op": "spawn", "id": 1, "key": "it", "home": NOWHERE}, 4]
        assert wire.received() == [{"op": "kill", "id": 1, "grace": 0}, 0]
        await wire.send({"id": 1, "status": -9})

    with_wire(use)


def test_the_folder_of_a_process_goes_with_it(tmp_path: Path) -> None:
    """However much is in it: others have their turn meanwhile."""
    home = write(tmp_path / "home", {f"{number}/file": "" for number in range(50)})

    left: list[int] = []

    async def use(wire: Wire) -> None:
        child = await wire.started.spawn("it", {}, home=str(home), cap=5)
        wire.received()
        await rounds(10)
        left.append(len(os.listdir(home)))
        await wire.send({"id": 1, "status": 0})
        while home.exists():
            left.append(len(os.listdir(home)))
            await rounds(1)
        child.close()

    with_wire(use)
    assert left[0] == 50
    assert len(left) > 3


def test_a_start_that_failed_for_nobody_is_no_error() -> None:
    async def use(wire: Wire) -> None:
        held = await given_up(wire)
        wire.theirs.close()
        held.release()
        await rounds(10)

    with_wire(use)


def test_who_waits_for_a_jail_hears_of_the_end() -> None:
    async def use(wire: Wire) -> None:
        defining = asyncio.ensure_future(wire.started.define("it", dict))
        await rounds()
        await wire.started.close()
        await asyncio.wait([defining])
        assert failure(defining) == GONE

    with_wire(use)


def test_a_definition_is_sent_whole_even_if_its_caller_is_gone() -> None:
    async def use(wire: Wire) -> None:
        ours = wire.started._socket
        assert ours is not None
        full = 0
        try:
            while True:
                full += ours.send(b"x")
        except BlockingIOError:
            pass
        task = asyncio.ensure_future(wire.started.define("it", dict))
        await rounds(10)
        task.cancel()
        await asyncio.wait([task])
        data = b""
        while len(data) < full + 40:
            await rounds()
            try:
                data += wire.theirs.recv(1 << 16)
            except BlockingIOError:
                break
        assert json.loads(data[full + 4 :]) == {"op": "define", "key": "it", "jail": {}}

    with_wire(use)


def test_nothing_is_started_after_the_end() -> None:
    """A call that was about to start a process would start a supervisor that nobody ends."""

    async def use(wire: Wire) -> None:
        await wire.started.close()
        for start in (
            wire.started.spawn("it", {}, home=NOWHERE, cap=5),
            wire.started.ensure_started(),
        ):
            task = asyncio.ensure_future(start)
            await asyncio.wait([task])
            assert failure(task) == GONE
        assert not wire.started._started

    with_wire(use)


def test_a_system_without_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")

    async def main() -> None:
        await Children().ensure_started()

    with pytest.raises(Failure) as failed:
        asyncio.run(main())
    assert (failed.value.code, failed.value.message) == (
        "UNSUPPORTED",
        "tools can run on Linux and macOS only",
    )


# The supervisor itself.


def test_a_supervisor_is_started_once_and_ends_with_its_folder() -> None:
    async def main() -> tuple[str, int]:
        started = Children()
        assert started.home == ""
        await asyncio.gather(started.ensure_started(), started.ensure_started())
        ((process, home),) = started._started
        assert started.home == home
        assert started._socket is not None
        assert not started._socket.getblocking()
        assert process.args[:5] == [sys.executable, "-I", "-X", "utf8", "-c"]  # type: ignore[index]
        assert os.path.basename(home).startswith("equipage-")
        assert Path(home).stat().st_mode & 0o777 == 0o700
        environment = Path(f"/proc/{process.pid}/environ")
        if sys.platform == "linux":
            wait_until(lambda: b"PATH" in environment.read_bytes())
            assert environment.read_bytes().split(b"\0")[:-1] == [
                f"PATH={os.defpath}".encode(),
                b"LC_CTYPE=C.UTF-8",
            ]
            assert os.getsid(process.pid) == process.pid
            assert os.readlink(f"/proc/{process.pid}/cwd") == home
            assert os.readlink(f"/proc/{process.pid}/fd/1") == os.devnull
        await started.close()
        assert process.returncode == 0
        return home, process.pid

    home, _ = asyncio.run(main())
    assert not Path(home).exists()


def test_a_supervisor_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    class Stubborn:
        def poll(self) -> int | None:
            calls.append("poll")
            return None

        def kill(self) -> None:
            calls.append("kill")

        def wait(self) -> None:
            calls.append("wait")

    async def at_once(_: float) -> None:
        return

    async def main() -> None:
        started = Children()
        started._started.append((Stubborn(), "/no/such/folder"))  # type: ignore[arg-type]
        monkeypatch.setattr(asyncio, "sleep", at_once)
        await started.close()

    asyncio.run(main())
    assert calls == ["poll"] * 600 + ["kill", "wait"]


def test_the_folders_of_supervisors_that_ended_are_removed(tmp_path: Path) -> None:
    """Also of those that were killed."""

    class Ended:
        def poll(self) -> int:
            return -9

    homes = [tmp_path / "a", tmp_path / "b"]

    async def main() -> None:
        started = Children()
        for home in homes:
            home.mkdir()
            started._started.append((Ended(), str(home)))  # type: ignore[arg-type]
        await started.close()

    asyncio.run(main())
    assert not any(home.exists() for home in homes)


def test_waiting_until_something_can_be_written() -> None:
    async def main() -> None:
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        loop = asyncio.get_running_loop()
        try:
            while True:
                os.write(writer, b"x" * 4096)
        except BlockingIOError:
            pass
        task = asyncio.ensure_future(wait_writable(loop, writer))
        await rounds()
        assert not task.done()
        os.read(reader, 1 << 20)
        await asyncio.wait_for(task, HANGS)
        assert not loop.remove_writer(writer)
        os.close(reader)
        os.close(writer)

    asyncio.run(main())


def test_what_is_settled_stays_settled() -> None:
    async def main() -> None:
        future = asyncio.get_running_loop().create_future()
        mark_done(future)
        mark_done(future)
        assert future.result() is None

    asyncio.run(main())
