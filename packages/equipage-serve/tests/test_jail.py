"""The jail that a process puts on: what the kernel refuses then, and what the kernel is told.

Each test forks, and the copy of this process enters the jail and tries what it should not do.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clock import HANGS
from equipage_serve import jail

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Landlock is a part of Linux")


def forked(act: Callable[[], Any]) -> Any:
    """What `act` returns in a copy of this process, as JSON; a string if it raises."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reader)
            os.write(writer, json.dumps(act()).encode())
        except BaseException:
            os.write(writer, json.dumps(traceback.format_exc()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        data = answer.read()
    os.waitpid(child, 0)
    return json.loads(data)


def word(act: Callable[[], Any]) -> str:
    """`works`, or the name of the error."""
    try:
        act()
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return "works"


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Path]:
    found = {name: tmp_path / name for name in ("read", "write", "other")}
    for folder in found.values():
        folder.mkdir()
        (folder / "file").write_text("text")
        program = folder / "program"
        program.write_text("#!/bin/sh\nexit 0\n")
        program.chmod(0o755)
    return found


SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache")


def jailed(
    read: list[str], write: list[str], tries: dict[str, Callable[[], Any]], *, network: bool = False
) -> dict[str, str]:
    if not jail.landlock_version():
        pytest.skip("this kernel has no Landlock")

    def act() -> dict[str, str]:
        rules = jail.ruleset([*SYSTEM, *read], write, network=network)
        jail.refuse_new_privileges()
        jail.enter(rules)
        return {name: word(each) for name, each in tries.items()}

    return forked(act)  # type: ignore[no-any-return]


def starts(program: Path) -> None:
    """Start a program, and wait for it."""
    os.posix_spawn(program, [str(program)], {})
    os.wait()


def test_files_below_the_named_folders_and_no_others(places: dict[str, Path]) -> None:
    tries: dict[str, Callable[[], Any]] = {}
    for name, folder in places.items():
        tries[f"read {name}"] = (folder / "file").read_text
        tries[f"list {name}"] = lambda folder=folder: os.listdir(folder)
        tries[f"change {name}"] = lambda folder=folder: (folder / "file").open("r+").close()
        tries[f"cut {name}"] = lambda folder=folder: os.truncate(folder / "file", 1)
        tries[f"make {name}"] = lambda folder=folder: (folder / "new").mkdir()
        tries[f"start {name}"] = lambda folder=folder: starts(folder / "program")
    found = jailed([str(places["read"])], [str(places["write"])], tries)
    allowed = {name for name, said in found.items() if said == "works"}
    assert allowed == {
        *("read read", "list read", "start read"),
        *("read write", "list write", "change write", "cut write", "make write"),
    }
    assert set(found.values()) == {"works", "EACCES"}


def test_a_single_file_may_be_named_and_what_is_missing_grants_nothing(
    places: dict[str, Path],
) -> None:
    folder = places["other"]
    tries: dict[str, Callable[[], Any]] = {
        "the file": (folder / "file").read_text,
        "beside it": (folder / "program").read_text,
        "written": lambda: (places["write"] / "file").write_text("x"),
        "beside that": lambda: (places["write"] / "program").write_text("x"),
    }
    found = jailed(
        [str(folder / "file"), str(folder / "missing")], [str(places["write"] / "file")], tries
    )
    assert found == {
        "the file": "works",
        "beside it": "EACCES",
        "written": "works",
        "beside that": "EACCES",
    }


def test_rules_leave_no_descriptors_behind(places: dict[str, Path]) -> None:
    before = len(os.listdir("/proc/self/fd"))
    rules = jail.ruleset([str(each) for each in places.values()], [], network=False)
    os.close(rules)
    assert len(os.listdir("/proc/self/fd")) == before


def test_no_connection_without_a_network() -> None:
    if jail.landlock_version() < 4:
        pytest.skip("this Landlock does not know of networks")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        tries: dict[str, Callable[[], Any]] = {
            "connect": lambda: socket.socket().connect(("127.0.0.1", port)),
            "listen": lambda: socket.create_server(("127.0.0.1", 0)).close(),
        }
        assert jailed([], [], tries) == {"connect": "EACCES", "listen": "EACCES"}
        assert jailed([], [], tries, network=True) == {"connect": "works", "listen": "works"}


def test_no_signals_and_no_abstract_sockets_to_processes_outside() -> None:
    if jail.landlock_version() < jail.SCOPES_SINCE:
        pytest.skip("this Landlock does not know of signals")
    outside, name = os.getpid(), f"\0equipage-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(name)
        server.listen()
        tries: dict[str, Callable[[], Any]] = {
            "signal": lambda: os.kill(outside, 0),
            "own signal": lambda: os.kill(os.getpid(), 0),
            "abstract": lambda: client.connect(name),
        }
        for network in (False, True):
            found = jailed([], [], tries, network=network)
            assert found == {"signal": "EPERM", "own signal": "works", "abstract": "EPERM"}


class Kernel:
    """Keeps what it is asked, in place of the kernel."""

    def __init__(self, version: int, answers: int = 7) -> None:
        self.version, self.answers = version, answers
        self.rules: tuple[int, ...] = ()
        self.grants: dict[str, int] = {}
        self.entered: list[tuple[int, ...]] = []

    def syscall(self, number: int, *given: Any) -> int:
        if number == 444 and given[0] is None:
            assert given[1:] == (0, 1)  # LANDLOCK_CREATE_RULESET_VERSION
            return self.version
        if number == 444:
            data, length, flags = given
            assert (len(data), flags) == (length, 0)
            self.rules = struct.unpack(f"={length // 8}Q", data)
        elif number == 445:
            rules, sort, rule, flags = given
            assert (rules, sort, flags) == (7, 1, 0)  # LANDLOCK_RULE_PATH_BENEATH
            rights, descriptor = struct.unpack("=Qi", rule)
            self.grants[os.readlink(f"/proc/self/fd/{descriptor}")] = rights
        else:
            assert number == 446
            self.entered.append(given)
        return self.answers


@pytest.mark.parametrize(
    ("version", "known", "network", "fields"),
    [
        (1, 13, False, ()),
        (2, 14, False, ()),
        (3, 15, False, ()),
        (4, 15, False, (3,)),
        (4, 15, True, (0,)),
        (5, 16, False, (3,)),
        (5, 16, True, (0,)),
        (6, 16, False, (3, 3)),
        (6, 16, True, (0, 3)),
        (9, 16, False, (3, 3)),
    ],
)
def test_the_kernel_is_told_what_its_version_knows(
    version: int,
    known: int,
    network: bool,
    fields: tuple[int, ...],
    places: dict[str, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All rights of files that a version has are handled; reading grants no writing, and writing no
    starting of programs. A version later than those we know is used as the last one we know."""
    kernel = Kernel(version)
    monkeypatch.setattr(jail, "_libc", lambda: kernel)
    read, write = places["read"], places["write"]
    names = ([str(read), str(read / "file")], [str(write), str(write / "file")])
    assert jail.ruleset(*names, network=network) == 7
    every = (1 << known) - 1
    assert kernel.rules == (every, *fields)
    of_files = (1 | 2 | 4 | 1 << 14 | 1 << 15) & every
    assert kernel.grants == {
        str(read): 1 | 4 | 8,
        str(read / "file"): 1 | 4,
        str(write): every - 1,
        str(write / "file"): of_files - 1,
    }
    jail.enter(7)
    assert kernel.entered == [(7, 0)]


def test_what_the_kernel_refuses_is_an_error_that_says_what(
    places: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never a weaker jail."""
    jail._libc.cache_clear()

    def act() -> Any:
        jail.refuse_new_privileges()
        with pytest.raises(OSError, match=r"\] landlock: Bad file descriptor") as caught:
            jail.enter(-1)
        return caught.value.errno

    assert forked(act) == errno.EBADF
    with pytest.raises(OSError, match=r"\] seccomp: ") as caught:
        jail.install(b"")
    assert caught.value.errno == errno.EINVAL
    kernel = Kernel(6, answers=-1)
    monkeypatch.setattr(jail, "_libc", lambda: kernel)
    ctypes.set_errno(errno.ENOSYS)
    with pytest.raises(OSError, match=r"\] landlock rules: ") as caught:
        jail.ruleset([], [], network=False)
    assert caught.value.errno == errno.ENOSYS
    with pytest.raises(OSError, match=f"] landlock rule for {places['read']}: "):
        jail._allow(kernel, 7, str(places["read"]), 4)  # type: ignore[arg-type]
    kernel.version = -1
    assert jail.landlock_version() == 0


@pytest.mark.parametrize(
    ("system", "machine", "known"),
    [
        ("Linux", "x86_64", True),
        ("Linux", "aarch64", True),
        ("Linux", "riscv64", False),
        ("Darwin", "x86_64", False),
    ],
)
def test_machines_whose_calls_are_known(
    system: str, machine: str, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.system", lambda: system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert jail.knows_this_machine() is known
    assert (jail.landlock_version() > 0) is (system == "Linux" and _has_landlock())


def _has_landlock() -> bool:
    return bool(ctypes.CDLL(None).syscall(444, None, 0, 1) > 0)


# What a process says about itself.


def _status(*names: str) -> dict[str, int]:
    lines = Path("/proc/self/status").read_text().splitlines()
    said = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    return {name: int(said[name], 16) for name in names}


def test_programs_gain_no_rights() -> None:
    def act() -> Any:
        jail.refuse_new_privileges()
        return _status("NoNewPrivs")

    assert forked(act) == {"NoNewPrivs": 1}


def test_of_the_rights_of_root_those_over_files_stay() -> None:
    def act() -> Any:
        jail.drop_capabilities()
        return _status("CapInh", "CapPrm", "CapEff")

    kept = _status("CapPrm")["CapPrm"] & 0b110
    assert forked(act) == {"CapInh": 0, "CapPrm": kept, "CapEff": kept}


def test_orphans_become_children_of_who_adopts_them() -> None:
    def act() -> Any:
        jail.adopt_orphans()
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            grandchild = os.fork()
            if grandchild:
                os._exit(0)
            while os.getppid() != parent and time.monotonic() < until:
                time.sleep(0.001)
            os.write(writer, b"ours" if os.getppid() == parent else b"lost")
            os._exit(0)
        os.waitpid(child, 0)
        return os.read(reader, 4).decode()

    until = time.monotonic() + HANGS
    parent = -1

    def adopting() -> Any:
        nonlocal parent
        parent = os.getpid()
        return act()

    assert forked(adopting) == "ours"


def test_a_process_ends_with_its_parent() -> None:
    reader, writer = os.pipe()

    def act() -> Any:
        os.close(reader)
        parent = os.getpid()
        ready, go = os.pipe()
        if not os.fork():
            jail.die_with(parent)
            os.write(go, b"x")
            time.sleep(60)
            os._exit(0)
        os.read(ready, 1)
        return "gone"

    try:
        assert forked(act) == "gone"
        os.close(writer)
        # The end of the pipe comes when nobody holds the other end of it.
        signal.setitimer(signal.ITIMER_REAL, 5)
        assert os.read(reader, 1) == b""
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.close(reader)


def test_a_process_whose_parent_is_gone_ends_at_once() -> None:
    def ended(parent: int) -> int:
        child = os.fork()
        if not child:
            try:
                jail.die_with(parent)
            finally:
                os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    assert ended(os.getpid()) == 0
    assert ended(os.getpid() + 1) == 1


def test_limits_are_set_and_never_raised() -> None:
    def act() -> Any:
        resource.setrlimit(resource.RLIMIT_NOFILE, (50, 60))
        jail.set_limits({"NOFILE": 100, "NO_SUCH_LIMIT": 1, "CORE": 0, "FSIZE": 4096})
        return [
            resource.getrlimit(each)
            for each in (resource.RLIMIT_NOFILE, resource.RLIMIT_CORE, resource.RLIMIT_FSIZE)
        ]

    assert forked(act) == [[60, 60], [0, 0], [4096, 4096]]

    def lower() -> Any:
        jail.set_limits({"NOFILE": 40})
        return resource.getrlimit(resource.RLIMIT_NOFILE)

    assert forked(lower) == [40, 40]


# The filter, in the kernel.


def _filtered(act: Callable[[], Any], **given: Any) -> Any:
    if not jail.knows_this_machine():
        pytest.skip("the calls of this machine are not known")

    def inside() -> Any:
        jail.refuse_new_privileges()
        jail.install(
            jail.call_filter(**{"network": False, "forks": False, "starts": False, **given})
        )
        return act()

    return forked(inside)


def test_the_kernel_takes_the_filter() -> None:
    tries: dict[str, Callable[[], Any]] = {
        "socket": lambda: socket.socket(socket.AF_INET).close(),
        "pair": lambda: [each.close() for each in socket.socketpair()],
        "fork": lambda: os.fork() or os._exit(0),
        "signal": lambda: os.kill(1, 0),
    }

    def act() -> Any:
        return {name: word(each) for name, each in tries.items()}

    inside = _filtered(act, pid=4711)
    assert inside == {"socket": "EPERM", "pair": "works", "fork": "EPERM", "signal": "EPERM"}
    assert _filtered(act, network=True, forks=True)["socket"] == "works"


def test_one_program_is_started_with_leave_and_never_another() -> None:
    """The first program runs; a program that it starts in its own place does not."""
    if not jail.knows_this_machine():
        pytest.skip("the calls of this machine are not known")
    ours, theirs = socket.socketpair()
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.dup2(writer, 1)
            os.dup2(writer, 2)
            jail.refuse_new_privileges()
            program = jail.call_filter(network=False, forks=False, starts=True)
            listener = jail.install(program, ask=True)
            socket.send_fds(theirs, [b"x"], [listener])
            os.close(listener)
            os.execv("/bin/sh", ["sh", "-c", "echo first; exec /bin/echo second"])
        finally:
            os._exit(99)
    os.close(writer)
    _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
    before = len(os.listdir("/proc/self/fd"))
    jail.allow_one_start(descriptors[0])
    assert len(os.listdir("/proc/self/fd")) == before - 1
    with os.fdopen(reader, "rb") as said:
        text = said.read().decode()
    _, status = os.waitpid(child, 0)
    assert text.startswith("first\n")
    assert "\nsecond" not in text
    assert os.waitstatus_to_exitcode(status) not in (0, 99)
    ours.close()
    theirs.close()


def test_who_asks_may_be_gone_and_other_errors_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def answering(number: int) -> None:
        def ioctl(listener: int, request: int, _data: Any) -> None:
            asked.append((listener, request))
            raise OSError(number, "no")

        monkeypatch.setattr("fcntl.ioctl", ioctl)

    reader, writer = os.pipe()
    answering(errno.ENOENT)
    jail.allow_one_start(writer)
    answering(errno.EINVAL)
    with pytest.raises(OSError, match="no"):
        jail.allow_one_start(reader)
    assert asked == [(writer, 0xC0502100), (reader, 0xC0502100)]
    for closed in (reader, writer):
        with pytest.raises(OSError, match="Bad file"):
            os.fstat(closed)


def test_a_fork_finds_everything_loaded() -> None:
    jail._libc.cache_clear()
    jail.preload()
    assert "resource" in sys.modules
    assert jail._libc.cache_info().currsize == 1


class Refusing:
    """A kernel that keeps what it is asked and, from some call on, refuses."""

    def __init__(self, allows: int = 99) -> None:
        self.allows, self.asked = allows, list[tuple[Any, ...]]()

    def __getattr__(self, name: str) -> Any:
        def call(*given: Any) -> int:
            self.asked.append((name, *given))
            ctypes.set_errno(errno.EPERM)
            return 3 if len(self.asked) <= self.allows else -1

        return call


@pytest.mark.parametrize(
    ("act", "told", "words"),
    [
        (jail.adopt_orphans, (36, 1, 0, 0, 0), "subreaper"),
        (lambda: jail.die_with(os.getppid()), (1, 9, 0, 0, 0), "parent death signal"),
        (jail.refuse_new_privileges, (38, 1, 0, 0, 0), "no new privileges"),
    ],
)
def test_what_a_process_says_about_itself_is_exactly_this(
    act: Callable[[], Any], told: tuple[int, ...], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel refuses some of these if the numbers that it does not use are not zero."""
    kernel = Refusing()
    monkeypatch.setattr(jail, "_libc", lambda: kernel)
    act()
    assert kernel.asked == [("prctl", *told)]
    assert all(type(each) is int for each in kernel.asked[0][1:])
    kernel.allows = 1
    with pytest.raises(OSError, match=rf"\] {words}: Operation not permitted$") as caught:
        act()
    assert caught.value.errno == errno.EPERM


@pytest.mark.parametrize("allows", [0, 1])
def test_rights_that_cannot_be_given_up_are_an_error(
    allows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = Refusing(allows)
    monkeypatch.setattr(jail, "_libc", lambda: kernel)
    with pytest.raises(OSError, match=r"\] capabilities: Operation not permitted$"):
        jail.drop_capabilities()
    assert [name for name, *_ in kernel.asked] == ["capget", "capset"][: allows + 1]


def test_only_a_filter_that_asks_has_a_descriptor(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Refusing()
    monkeypatch.setattr(jail, "_libc", lambda: kernel)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    program = b"12345678" * 3
    assert jail.install(program) == jail.install(program, ask=True) == 3
    (_, *plain), (_, *asking) = kernel.asked
    assert (plain[:3], asking[:3]) == ([317, 1, 0], [317, 1, 8])
    length, _ = struct.unpack("HxxxxxxQ", plain[3])
    assert length == 3
