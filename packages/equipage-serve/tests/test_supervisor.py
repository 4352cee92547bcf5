"""The supervisor alone: what it starts and ends for a server, and the jail of each process.

The tests speak its protocol through `Children`. What a jail denies is tested with whole tools in
`test_runtime`; here a jail may read everything.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import json
import os
import resource
import selectors
import signal
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="the extra `serve` is not installed")
if sys.platform != "linux":
    pytest.skip("tools are confined on Linux", allow_module_level=True)

from clock import HANGS
from equipage_serve import children, jail
from equipage_serve import supervisor as supervisor_module
from equipage_serve.children import Child, Children
from equipage_serve.supervisor import Supervisor
from lab import MEASURED, NOWHERE, REPOSITORY, write
from packs import need
from talk import is_there, wait_until
from test_jail import forked

CONFINED = jail.landlock_version() > 0 and jail.knows_this_machine()
BASE = {"PATH": os.defpath, "LC_CTYPE": "C.UTF-8"}
TOOLS = """
import os
class Box:
    @staticmethod
    def double(p): return {"n": 2 * p["n"]}
async def later(p): return {"pid": os.getpid()}
def prints(p):
    print("noise")
    return 1
def unfit(p): return {1, 2}
def raises(p): raise ValueError("no page")
class Odd(Exception):
    def __str__(self): raise RuntimeError
def odd(p): raise Odd
number = 3
"""


@pytest.fixture
def supervised(monkeypatch: pytest.MonkeyPatch) -> None:
    """Supervisors write the count of their lines, if the tests are measured."""
    monkeypatch.setattr(children, "_base_environment", lambda: {**BASE, **MEASURED})


@pytest.fixture
def folder(tmp_path: Path, supervised: None) -> Path:
    return write(tmp_path, {"tools.py": TOOLS})


def spec(folder: Path, run: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A jail as the server defines it: no processes beside the tool, no network, reads only."""
    plain = {
        "folder": str(folder),
        "folders": [str(folder)],
        "limits": {"NOFILE": 64, "CORE": 0, "NPROC": 0, "NO_SUCH_LIMIT": 1},
        "run": run,
        "forks": False,
        "network": False,
        "landlock": CONFINED,
        "filter": CONFINED,
        "read": ["/", "/no/such/path", str(folder / "tools.py")],
        # The count of lines is a file, too.
        "write": [str(REPOSITORY)] if MEASURED else [],
        "listed": [],
    }
    return {**plain, **changes}


def callable_of(folder: Path, name: str, again: bool = False) -> dict[str, Any]:
    tools = folder / "tools.py"
    hashes = {os.path.realpath(tools): hashlib.sha256(tools.read_bytes()).hexdigest()}
    return {"callable": ["tools", name, again], "hashes": hashes}


PROGRAM: dict[str, Any] = {"program": True}
FREE: dict[str, Any] = {"forks": True, "network": True, "landlock": False}


def run(
    jail: dict[str, Any], *argv: str, data: bytes = b"", env: dict[str, str] | None = None
) -> tuple[int, str, str]:
    """Start one process, feed it and wait for its end: status, output and errors."""

    async def one() -> tuple[int, str, str]:
        started = Children()
        try:
            await started.define("it", lambda: jail)
            home = tempfile.mkdtemp(dir=started.home)
            child = await started.spawn("it", env or {}, argv, home=home, cap=65536)
            child.feed(data)
            status = await asyncio.wait_for(child.status, HANGS)
            child.drain_now()
            child.close()
            return status, child.output.decode(), child.errors.decode()
        finally:
            await started.close()

    return asyncio.run(one())


def call(folder: Path, name: str, payload: Any = None, **changes: Any) -> Any:
    line = json.dumps({"input": payload}).encode() + b"\n"
    status, output, _ = run(spec(folder, callable_of(folder, name), **changes), data=line)
    assert status == 0
    return json.loads(output)


# Callables and scripts run in a fork of the supervisor.

#: name, what it is called with, its answer
ANSWERS = [
    ("Box.double", {"n": 4}, {"result": {"n": 8}}),
    ("prints", None, {"result": 1}),
    ("unfit", None, {"unfit": "Object of type set is not JSON serializable"}),
    ("raises", None, {"raised": "ValueError", "text": "no page"}),
    ("odd", None, {"raised": "Odd", "text": ""}),
    (
        "number",
        None,
        {"raised": "TypeError", "text": "`number` of the module `tools` cannot be called"},
    ),
]


@pytest.mark.parametrize(("name", "payload", "answer"), ANSWERS, ids=[a[0] for a in ANSWERS])
def test_a_callable_answers_with_one_line(
    folder: Path, name: str, payload: Any, answer: dict[str, Any]
) -> None:
    assert call(folder, name, payload) == answer


def test_a_coroutine_is_awaited(folder: Path) -> None:
    assert call(folder, "later")["result"]["pid"] != os.getpid()


def test_one_process_answers_again_until_a_call_raises(folder: Path) -> None:
    async def exchange() -> list[Any]:
        started = Children()
        try:
            await started.define(
                "it", lambda: spec(folder, callable_of(folder, "Box.double", True))
            )
            child = await started.spawn("it", {}, home=NOWHERE, cap=65536)
            answers = []
            for payload in ({"n": 1}, {"n": 2}, {}):
                child.reset()
                child.feed(json.dumps({"input": payload}).encode() + b"\n", more=True)
                await asyncio.wait_for(asyncio.shield(child.answered), HANGS)
                answers.append(json.loads(child.output))
            answers.append(await asyncio.wait_for(child.status, HANGS))
            child.close()
            return answers
        finally:
            await started.close()

    answers = asyncio.run(exchange())
    assert answers[:2] == [{"result": {"n": 2}}, {"result": {"n": 4}}]
    assert answers[2]["raised"] == "KeyError"
    assert answers[3] == 0


def test_code_that_was_not_checked_is_not_imported(folder: Path) -> None:
    checked = callable_of(folder, "prints")
    (folder / "tools.py").write_text("def prints(p): return 'changed'\n")
    _, output, _ = run(spec(folder, checked), data=b'{"input": null}\n')
    assert json.loads(output) == {
        "raised": "ImportError",
        "text": "tools.py is not the code that was checked",
    }


def test_a_script_runs_as_the_main_module_with_the_environment_of_the_tool(folder: Path) -> None:
    source = b"import os, sys\nprint(__name__, __file__, sys.argv, os.environ['A'], 'HOME' in os.environ)"
    ran = {"source": base64.b64encode(source).decode(), "path": "/x/main.py", "hashes": {}}
    status, output, _ = run(spec(folder, ran), env={"A": "1"})
    assert (status, output) == (0, "__main__ /x/main.py ['/x/main.py'] 1 False\n")


SHOWN = """
import ctypes, json, os
signal = ctypes.c_int()
ctypes.CDLL(None).prctl(2, ctypes.byref(signal))
with open("/proc/self/status") as file:
    status = {line.partition(":")[0]: line.split()[-1] for line in file}
mask = os.umask(0)
opened = sorted(map(int, os.listdir("/proc/self/fd")))
print(json.dumps([mask, opened, signal.value, status["NoNewPrivs"], int(status["CapEff"], 16)]))
"""


@pytest.mark.parametrize("landlock", [False, CONFINED])
@pytest.mark.parametrize("filters", [False, CONFINED])
def test_what_a_tool_begins_with(folder: Path, landlock: bool, filters: bool) -> None:
    ran = {"source": base64.b64encode(SHOWN.encode()).decode(), "path": "x.py", "hashes": {}}
    changes = {"landlock": landlock, "filter": filters, "forks": True}
    status, output, errors = run(spec(folder, ran, **changes))
    assert (status, errors) == (0, "")
    mask, opened, ends_with, privileges, capabilities = json.loads(output)
    assert (mask, privileges) == (0o077, "1")
    assert opened == [0, 1, 2, 3]  # the last one is the list itself
    assert ends_with == signal.SIGKILL  # when the supervisor is gone
    held = int(Path("/proc/self/status").read_text().split("CapEff:")[1].split()[0], 16)
    kept = jail._KEPT_CAPABILITIES if landlock or filters else -1
    assert capabilities == held & kept


# Programs.


def test_a_program_gets_its_arguments_and_its_status_is_reported(folder: Path) -> None:
    status, output, _ = run(
        spec(folder, PROGRAM), "/bin/sh", "-c", "echo $A; exit 3", env={"A": "b"}
    )
    assert (status, output) == (3, "b\n")


@pytest.mark.skipif(not CONFINED, reason="Landlock or seccomp is missing")
def test_a_program_that_may_not_fork_starts_no_other_program(folder: Path) -> None:
    status, _, errors = run(spec(folder, PROGRAM), "/bin/sh", "-c", "exec /bin/true")
    assert status != 0
    assert "true" in errors


def test_a_program_that_is_not_there_is_named(folder: Path) -> None:
    status, _, errors = run(spec(folder, PROGRAM, **FREE), "/no/such/program")
    assert status == 125
    assert errors == "equipage: cannot start program: No such file or directory\n"
    _, _, errors = run(spec(folder, PROGRAM, **FREE), "/no/\udcff")
    assert errors == "equipage: cannot start \\udcff: No such file or directory\n"


def test_a_folder_that_is_gone_is_named(folder: Path) -> None:
    gone = spec(folder / "gone", PROGRAM, **FREE)
    status, _, errors = run(gone, "/bin/true")
    assert status == 125
    assert "equipage: cannot be confined: [Errno 2]" in errors


def test_a_jail_that_was_not_defined_starts_nothing(supervised: None) -> None:
    async def spawn() -> tuple[int, bytes]:
        started = Children()
        try:
            child = await started.spawn("unknown", {}, home=NOWHERE, cap=10)
            status = await asyncio.wait_for(child.status, HANGS)
            child.close()
            return status, bytes(child.errors)
        finally:
            await started.close()

    assert asyncio.run(spawn()) == (125, b"the tool is gone")


# The end of processes.

STUBBORN = "trap '' TERM; echo ready; while :; do sleep 1; done"


async def started_with(started: Children, folder: Path, *argv: str) -> Child:
    await started.define("it", lambda: spec(folder, PROGRAM, **FREE))
    child = await started.spawn("it", {"PATH": os.defpath}, argv, home=NOWHERE, cap=100)
    await asyncio.wait_for(asyncio.shield(child.answered), HANGS)
    return child


def test_a_process_that_ignores_the_polite_signal_is_killed(folder: Path) -> None:
    async def end() -> int:
        started = Children()
        try:
            child = await started_with(started, folder, "/bin/sh", "-c", STUBBORN)
            await started.end(child, grace=0.05)
            assert child.has_ended
            # Once more, for a process that is gone, is no mistake.
            await started.end(child)
            return child.status.result()
        finally:
            await started.close()

    assert asyncio.run(end()) == -signal.SIGKILL


def test_what_a_process_left_ends_with_it(folder: Path) -> None:
    need("setsid")
    leave = "setsid /bin/sh -c 'echo $$; exec sleep 60' & wait"  # in a group of its own by then

    async def end() -> None:
        started = Children()
        try:
            child = await started_with(started, folder, "/bin/sh", "-c", leave)
            left = int(child.output)
            await started.end(child, grace=0)
            await asyncio.to_thread(wait_until, lambda: not is_there(left), 10)
        finally:
            await started.close()

    asyncio.run(end())


def test_a_process_that_listens_ends_politely(folder: Path) -> None:
    async def end() -> int:
        started = Children()
        try:
            child = await started_with(started, folder, "/bin/sh", "-c", "echo; exec sleep 60")
            await started.end(child, grace=30)
            return child.status.result()
        finally:
            await started.close()

    assert asyncio.run(end()) == -signal.SIGTERM


@pytest.mark.parametrize("bounded", [True, False])
def test_the_number_of_processes_is_bounded_if_that_is_wanted(folder: Path, bounded: bool) -> None:
    limits = {"NPROC": 0} if bounded else {}
    command = "while read line; do case $line in *processes*) echo $line;; esac; done"
    shown = f"{command} < /proc/self/limits"
    _, output, _ = run(spec(folder, PROGRAM, **FREE, limits=limits), "/bin/sh", "-c", shown)
    found = output.split()[2]
    here = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    usual = "unlimited" if here == resource.RLIM_INFINITY else str(here)
    assert (found != usual and int(found) > 64) if bounded else found == usual


def test_without_the_server_every_process_ends_and_the_folder_is_removed(folder: Path) -> None:
    async def lose() -> tuple[int, str]:
        started = Children()
        child = await started_with(
            started, folder, "/bin/sh", "-c", "echo $$; while :; do sleep 1; done"
        )
        home = started.home
        assert Path(home).is_dir()
        await started.forget("it")
        started._fail_everything("the server ends")  # the other end of its socket is closed now
        supervisor, _ = started._started[0]
        assert await asyncio.to_thread(supervisor.wait, 30) == 0
        assert not Path(home).exists()  # nobody else has removed it yet
        pid = int(child.output)
        await started.close()
        return pid, home

    pid, home = asyncio.run(lose())
    assert not is_there(pid)
    assert not Path(home).exists()


# Messages, in this process.


@pytest.fixture
def control() -> Iterator[tuple[Supervisor, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Supervisor(theirs, NOWHERE), ours


def received(ours: socket.socket) -> Any:
    (size,) = struct.unpack(">I", ours.recv(4))
    return json.loads(ours.recv(size))


def test_a_jail_that_cannot_be_made_is_an_answer(
    control: tuple[Supervisor, socket.socket], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails(*_: Any, **__: Any) -> int:
        raise OSError(38, "landlock rules: Function not implemented")

    monkeypatch.setattr(jail, "ruleset", fails)
    supervisor, ours = control
    supervisor._define({"key": "it", "jail": spec(tmp_path, PROGRAM, landlock=True)})
    assert received(ours) == {
        "defined": "it",
        "failed": "[Errno 38] landlock rules: Function not implemented",
    }


class Drip:
    """A socket that gives a few bytes at a time."""

    def __init__(self, control: socket.socket) -> None:
        self.recvmsg = control.recvmsg
        self.control = control

    def recv(self, size: int) -> bytes:
        return self.control.recv(min(size, 3))


def test_a_message_may_come_byte_by_byte(control: tuple[Supervisor, socket.socket]) -> None:
    supervisor, ours = control
    supervisor.control = Drip(supervisor.control)  # type: ignore[assignment]
    for _ in range(2):  # nothing of the second is taken with the first
        send(ours, {"op": "kill", "id": 7, "grace": 0})
    for _ in range(2):
        supervisor._receive()


def test_a_message_may_come_in_pieces_and_may_be_cut(
    control: tuple[Supervisor, socket.socket],
) -> None:
    supervisor, ours = control
    data = json.dumps({"op": "kill", "id": 7, "grace": 0}).encode()
    ours.sendall(struct.pack(">I", len(data)) + data)
    supervisor._receive()  # no process has that number
    ours.sendall(struct.pack(">I", 100) + b"{")
    ours.close()
    with pytest.raises(EOFError):
        supervisor._receive()
    with pytest.raises((EOFError, ConnectionError)):
        supervisor._receive()


def test_jails_are_forgotten(control: tuple[Supervisor, socket.socket], tmp_path: Path) -> None:
    supervisor, ours = control
    send(ours, {"op": "define", "key": "it", "jail": spec(tmp_path, PROGRAM)})
    supervisor._receive()
    assert received(ours) == {"defined": "it"}
    for _ in range(2):
        send(ours, {"op": "forget", "key": "it"})
        supervisor._receive()
    assert supervisor.jails == {}


def send(ours: socket.socket, message: Any, descriptors: list[int] | None = None) -> None:
    data = json.dumps(message).encode()
    socket.send_fds(ours, [struct.pack(">I", len(data)) + data], descriptors or [])


def test_a_start_that_fails_is_answered_and_its_descriptors_are_closed(
    control: tuple[Supervisor, socket.socket], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    supervisor, ours = control
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    send(ours, {"op": "spawn", "id": 3, "key": "none", "home": ""}, [writer, writer])
    supervisor._receive()
    assert received(ours) == {"id": 3, "failed": "the tool is gone"}

    def fails() -> int:
        raise OSError

    monkeypatch.setattr(os, "fork", fails)
    supervisor.jails["it"] = supervisor_module._Jail(spec(tmp_path, PROGRAM, **FREE, filter=False))
    send(ours, {"op": "spawn", "id": 4, "key": "it", "home": ""}, [writer])
    supervisor._receive()
    assert received(ours) == {"id": 4, "failed": "cannot start"}
    os.close(writer)
    assert os.read(reader, 1) == b""  # no copy of the other end is open
    os.close(reader)


@pytest.mark.parametrize("asks", [False, CONFINED])
def test_a_start_is_remembered(
    asks: bool,
    control: tuple[Supervisor, socket.socket],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    supervisor, ours = control
    changes = {} if asks else {**FREE, "filter": False}
    supervisor.jails["it"] = supervisor_module._Jail(spec(tmp_path, PROGRAM, **changes))
    monkeypatch.setattr(os, "fork", lambda: 77)
    send(ours, {"op": "spawn", "id": 5, "key": "it", "home": ""})
    supervisor._receive()
    process = supervisor.by_number[5]
    assert supervisor.by_pid == {77: process}
    assert (process.number, process.pid, process.kept) == (5, 77, not asks)
    # Only a fork that asks for its start is listened to.
    waiting = list(supervisor.selector.get_map().values())
    assert len(waiting) == asks
    for each in waiting:
        each.data()  # the other end is closed: there is nobody who could ask
    assert not supervisor.selector.get_map()


@pytest.mark.parametrize("asks", [False, True])
def test_a_fork_that_is_gone_is_not_allowed_to_start(
    asks: bool, control: tuple[Supervisor, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    supervisor, _ = control
    allowed: list[int] = []
    monkeypatch.setattr(jail, "allow_one_start", allowed.append)
    listener, kernel = os.pipe()
    if asks:
        os.write(kernel, b"x")
    os.close(kernel)
    supervisor.selector.register(listener, selectors.EVENT_READ)
    supervisor._allow_start(listener)
    assert not supervisor.selector.get_map()
    assert allowed == [listener] * asks
    if asks:
        os.close(listener)
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(listener)


def test_processes_are_allowed_beside_those_that_are_there(
    control: tuple[Supervisor, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    supervisor, _ = control
    owner, now = os.getuid(), [100.0]
    tasks = {"6": [], "1": ["1", "2"], "2": ["2"], "3": ["3"], "x": ["4"], "5": ["5"]}
    owners = {"1": owner, "2": owner, "3": owner + 1}

    def listdir(path: str) -> list[str]:
        return list(tasks) if path == "/proc" else tasks[path.split("/")[2]]

    def stat(path: str) -> Any:
        if path.split("/")[2] not in owners:
            raise FileNotFoundError
        return SimpleNamespace(st_uid=owners[path.split("/")[2]])

    with monkeypatch.context() as during:
        during.setattr(os, "listdir", listdir)
        during.setattr(os, "stat", stat)
        during.setattr(time, "monotonic", lambda: now[0])
        counted = [supervisor._process_limit()]
        tasks["1"].append("9")
        for later in (5, 0.1):
            now[0] += later
            counted.append(supervisor._process_limit())
    # What was counted not long ago is not counted again.
    assert counted == [3 + 64, 3 + 64, 4 + 64]


# The end of processes, one step at a time, in a copy of this process.


def sleeping(*, group: bool = True, ignores: int = 0) -> int:
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        if group:
            os.setsid()
        if ignores:
            signal.signal(ignores, signal.SIG_IGN)
        os.write(writer, b"x")
        time.sleep(60)
        os._exit(0)
    os.read(reader, 1)
    return pid


def alone(act: Any) -> Any:
    """Run in a copy of this process, which has no other children."""

    def inside() -> Any:
        ours, theirs = socket.socketpair()
        try:
            return act(Supervisor(theirs, NOWHERE), ours)
        finally:
            for pid in supervisor_module._children():
                os.kill(pid, signal.SIGKILL)  # the answer is complete when all of them are gone

    return forked(inside)


def started(supervisor: Supervisor, number: int, pid: int, kept: bool = False) -> Any:
    process = supervisor_module._Process(number, pid, kept)
    supervisor.by_number[number] = supervisor.by_pid[pid] = process
    return process


def waited(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_process_is_asked_first_and_then_ended() -> None:
    def act(supervisor: Supervisor, _: socket.socket) -> Any:
        polite = started(supervisor, 1, sleeping())
        stubborn = started(supervisor, 2, sleeping(ignores=signal.SIGTERM))
        at_once = started(supervisor, 3, sleeping())
        assert supervisor._seconds_to_next_kill() is None
        supervisor._kill_overdue()
        now = time.monotonic()
        supervisor._kill(1, 60)
        assert 59 < supervisor._seconds_to_next_kill() <= 60  # type: ignore[operator]
        supervisor._kill(2, 0.001)
        supervisor._kill(3, 0)
        supervisor._kill(9, 0)  # nobody has that number
        assert supervisor._seconds_to_next_kill() == 0.0
        assert polite.kill_at >= now + 60
        supervisor._kill(1, 1000)  # once is enough
        assert polite.kill_at < now + 100
        assert waited(polite.pid) == -signal.SIGTERM
        time.sleep(0.01)
        supervisor._kill_overdue()
        assert now + 0.2 < stubborn.kill_at < time.monotonic() + 0.31
        return [waited(stubborn.pid), waited(at_once.pid)]

    assert alone(act) == [-signal.SIGKILL, -signal.SIGKILL]


def test_every_process_that_ended_is_answered() -> None:
    def act(supervisor: Supervisor, ours: socket.socket) -> Any:
        for descriptor in (supervisor._wake_reader, supervisor._wake_writer):
            os.set_blocking(descriptor, False)
        stranger = sleeping()
        first, second = (started(supervisor, number, sleeping()) for number in (1, 2))
        supervisor._reap()  # none has ended
        os.write(supervisor._wake_writer, b"x" * 5000)
        for each in (first, second):
            os.kill(each.pid, signal.SIGKILL)
        os.kill(stranger, signal.SIGKILL)
        left = sleeping()
        while len(found := ended_children()) < 3:
            time.sleep(0.001)
        assert supervisor_module._find_ended_child() in found  # which stays until it is collected
        supervisor._reap()
        # Where one process lost its parent, another one may have: it was ended, too.
        assert (supervisor.by_pid, supervisor.by_number) == ({}, {})
        while supervisor_module._children():  # unless it ended, and was collected, at once
            supervisor._reap()
        assert not is_there(left)
        assert supervisor_module._find_ended_child() is None
        with pytest.raises(BlockingIOError):
            os.read(supervisor._wake_reader, 1)
        return sorted(received(ours)["id"] for _ in range(2))

    assert alone(act) == [1, 2]


def ended_children() -> list[int]:
    pids = supervisor_module._children()
    return [pid for pid in pids if Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"]


def test_what_a_keeper_that_was_killed_left_is_ended() -> None:
    def act(supervisor: Supervisor, ours: socket.socket) -> Any:
        for descriptor in (supervisor._wake_reader, supervisor._wake_writer):
            os.set_blocking(descriptor, False)
        other = started(supervisor, 2, sleeping())
        keeper = started(supervisor, 1, sleeping(), kept=True)
        orphan = sleeping()
        os.kill(keeper.pid, signal.SIGKILL)
        while not ended_children():
            time.sleep(0.001)
        supervisor._reap()
        assert set(supervisor.by_pid) == {other.pid}
        while is_there(orphan):
            supervisor._reap()
        assert received(ours) == {"id": 1, "status": -signal.SIGKILL}
        return is_there(other.pid)

    assert alone(act) is True


#: A tool of a keeper: what it does, how it is told to end, and the status of both.
KEPT: dict[str, tuple[str, int, int]] = {
    "an exit": ("os._exit(7)", 0, 7),
    "a signal": ("os.kill(os.getpid(), signal.SIGSEGV)", 0, -signal.SIGSEGV),
    "a request": ("", signal.SIGTERM, -signal.SIGTERM),
    "a request that is ignored": ("ignored", signal.SIGTERM, -signal.SIGKILL),
    "an order": ("", supervisor_module._END, -signal.SIGKILL),
}
#: Starts processes that lose their parent, or will: in sessions and behind processes of their own.
STARTS_MANY = """
def left(levels):
    if os.fork(): return
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if levels: left(levels - 1)
    if levels == 2: os._exit(0)
    time.sleep(60)
for _ in range(3): left(4)
if does == "ignored": signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.write(1, b"ready\\n")
os.read(0, 1)
exec(does)
"""


@pytest.mark.parametrize("name", KEPT)
def test_a_keeper_ends_last_and_as_its_tool(name: str, folder: Path) -> None:
    """Even a process with a session of its own, whose parents are gone, is a child of a keeper."""
    does, told, status = KEPT[name]
    source = f"import os, signal, time\ndoes = {does!r}\n{STARTS_MANY}"
    ran = {"source": base64.b64encode(source.encode()).decode(), "path": "x.py", "hashes": {}}

    async def end() -> tuple[int, list[int]]:
        started = Children()
        try:
            await started.define("it", lambda: spec(folder, ran, **FREE, filter=False))
            child = await started.spawn("it", {}, home=NOWHERE, cap=100)
            supervisor = started._started[0][0].pid
            await asyncio.wait_for(asyncio.shield(child.answered), HANGS)
            await asyncio.to_thread(wait_until, lambda: len(descendants_of(supervisor)) > 8, 10)
            inside = descendants_of(supervisor)
            if not told:
                child.feed(b"x")
            else:
                await started.end(child, grace=0.1 if told == signal.SIGTERM else 0)
            found = await asyncio.wait_for(child.status, HANGS)
            child.close()
            # When the end of the tool is told, nothing that it started is there.
            return found, [each for each in inside if is_there(each)]
        finally:
            await started.close()

    assert asyncio.run(end()) == (status, [])


def descendants_of(pid: int) -> list[int]:
    waiting = [pid]
    for each in waiting:
        with contextlib.suppress(OSError):  # it ended meanwhile
            waiting += map(int, Path(f"/proc/{each}/task/{each}/children").read_text().split())
    return waiting[1:]


def test_a_folder_is_removed_whatever_a_tool_left_in_it(tmp_path: Path) -> None:
    """Deeper than Python recurses and a path may be long, without rights, and with links."""
    (tmp_path / "kept").write_text("")
    top = tmp_path / "top"
    write(top, {"file": "", "closed/file": "", "closed/inner/file": ""})
    (top / "link").symlink_to(tmp_path)
    (top / "closed" / "link").symlink_to(tmp_path)
    here = os.getcwd()
    os.chdir(top)
    for _ in range(1500):
        os.mkdir("deeper")
        os.chdir("deeper")
    os.chdir(here)
    (top / "closed").chmod(0)
    steps = sum(1 for _ in supervisor_module.removal(str(top)))
    assert steps > 1500
    assert os.listdir(tmp_path) == ["kept"]
    assert list(supervisor_module.removal(str(top))) == []


def test_no_link_that_comes_while_a_folder_is_removed_is_followed(tmp_path: Path) -> None:
    """Another call of a tool that may write there can put links in the place of folders."""
    write(tmp_path / "kept", {"file": "", "inner/file": ""})
    (tmp_path / "kept").chmod(0o755)
    top = tmp_path / "top"
    write(top, {f"{name}/file": "" for name in "abc"})
    for _ in supervisor_module.removal(str(top)):
        for each in top.iterdir() if top.is_dir() else ():
            if each.is_dir() and not each.is_symlink():
                each.rename(tmp_path / f"taken-{each.name}")
                each.symlink_to(tmp_path / "kept")
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o755
    assert sorted(os.listdir(tmp_path / "kept")) == ["file", "inner"]
    assert (tmp_path / "kept" / "inner" / "file").exists()


def test_all_end_with_the_server(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()

    def act(supervisor: Supervisor, _: socket.socket) -> Any:
        supervisor.home = str(home)
        pids = [sleeping(), sleeping(group=False), sleeping(ignores=signal.SIGTERM)]
        for _ in range(2):  # the second time, nothing is left, and that is no error
            supervisor._end_all()
        return [Path(f"/proc/{pid}").exists() for pid in pids]

    assert alone(act) == [False] * 3
    assert not home.exists()


def test_a_signal_to_what_has_no_group_or_is_gone() -> None:
    def act(_: Supervisor, __: socket.socket) -> Any:
        pid = sleeping(group=False)
        supervisor_module._signal_group(pid, signal.SIGKILL)
        status = waited(pid)
        supervisor_module._signal_group(pid, signal.SIGKILL)
        supervisor_module._signal(pid, signal.SIGKILL)
        return [status, supervisor_module._children(), supervisor_module._find_ended_child()]

    assert alone(act) == [-signal.SIGKILL, [], None]


# The jail.


JAILS: list[tuple[dict[str, Any], bool, bool, bool]] = [
    # changes of the spec; whether it has a filter, starts a program, asks for its start
    ({}, True, True, True),
    ({"forks": True}, True, True, False),
    ({"run": {"callable": []}}, True, False, False),
    ({"filter": False}, False, True, False),
]


@pytest.mark.parametrize(("changes", "filters", "starts", "asks"), JAILS)
def test_a_jail_is_made_ready(
    changes: dict[str, Any],
    filters: bool,
    starts: bool,
    asks: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not CONFINED:
        pytest.skip("Landlock or seccomp is missing")
    wanted = {**spec(tmp_path, PROGRAM, network=True), **changes}
    made = supervisor_module._Jail(wanted)
    calls = {"network": True, "forks": wanted["forks"], "starts": starts}
    plain = jail.call_filter(**calls) if filters else None
    assert (made.filter, made.starts, made.asks) == (plain, starts, asks)
    assert (made.folder, made.folders, made.limits, made.run) == (
        wanted["folder"],
        wanted["folders"],
        wanted["limits"],
        wanted["run"],
    )
    assert made.own_filter() == plain or jail.landlock_version() < jail.SCOPES_SINCE
    # Where Landlock does not keep signals from others, the filter does.
    monkeypatch.setattr(jail, "landlock_version", lambda: jail.SCOPES_SINCE - 1)
    own = jail.call_filter(**calls, pid=os.getpid())
    assert made.own_filter() == (own if filters and not wanted["forks"] else plain)
    monkeypatch.setattr(jail, "landlock_version", lambda: jail.SCOPES_SINCE)
    assert made.own_filter() == plain
    assert supervisor_module._Jail({**wanted, "landlock": False}).rules("/home/x") is None
    given: list[Any] = []

    def ruleset(*paths: Any, network: bool) -> int:
        given.append((*paths, network))
        return os.open(os.devnull, os.O_RDONLY)

    monkeypatch.setattr(jail, "ruleset", ruleset)
    made = supervisor_module._Jail(wanted)
    rules = made.rules("/home/x")
    assert rules is not None
    os.close(rules)
    assert given[1] == (wanted["read"], [*wanted["write"], "/home/x"], wanted["listed"], True)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_a_filter_is_a_program_whose_jumps_stay_inside(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: machine)
    for network in (False, True):
        for forks in (False, True):
            for starts in (False, True):
                made = jail.call_filter(network=network, forks=forks, starts=starts)
                steps = list(struct.iter_unpack("HBBI", made))
                for number, (operation, if_true, if_false, _) in enumerate(steps):
                    if operation != jail._RETURN:
                        assert number + 1 + max(if_true, if_false) < len(steps)
                asked = any(step[3] == jail._ASK for step in steps)
                assert asked == (starts and not forks)


def test_other_systems_have_no_landlock_and_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    assert jail.landlock_version() == 0
    assert not jail.knows_this_machine()


def test_what_the_kernel_refuses_is_an_error() -> None:
    jail.preload()
    with pytest.raises(OSError, match="landlock"):
        jail.enter(-1)
