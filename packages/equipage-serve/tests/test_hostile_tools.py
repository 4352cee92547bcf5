"""Tools that attack the machine, the server and each other from inside their jail.

What a pack may do at all is in `serve/test_runtime`; here a tool tries what Landlock does not see.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import os
import re
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="the extra `serve` is not installed")
if sys.platform != "linux":
    pytest.skip("tools are confined on Linux", allow_module_level=True)

from equipage.loading.session import Request
from equipage_serve import jail, supervisor
from equipage_serve.engine import Engine
from equipage_serve.outcome import Result
from equipage_serve.platform import Platform, this_platform
from equipage_serve.snapshot import take_snapshot
from equipage_serve.tools import Settings
from packs import pack, write_packs
from talk import is_there, wait_until

CONFINED = jail.landlock_version() >= 3 and jail.knows_this_machine()
pytestmark = pytest.mark.skipif(not CONFINED, reason="this kernel confines no tool")


def results(
    folder: Path, *wanted: tuple[str, dict[str, Any]], env: dict[str, str] | None = None
) -> list[Result]:
    """Calls one after the other, through one engine."""
    settings = Settings(allow=frozenset({"python", "cli"}), isolation="best")
    platform = this_platform()
    snapshot = take_snapshot([str(folder)], Request(env={}), settings, platform)
    assert not snapshot.refused, snapshot.refused

    async def main() -> list[Result]:
        engine = Engine(snapshot.tools, settings, platform, env or {}, None)
        try:
            return [await engine.call(name, given) for name, given in wanted]
        finally:
            await engine.close()

    return asyncio.run(main())


#: What the tools below use: an attempt that raises, or gives an error number, was refused.
HELPERS = r"""
import ctypes, os, re, resource, signal, socket, sys, time

libc = ctypes.CDLL(None, use_errno=True)

def call(number, *arguments):
    given = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    if libc.syscall(number, *given) >= 0:
        return "allowed"
    return os.strerror(ctypes.get_errno())

def attempt(action):
    try:
        action()
        return "allowed"
    except (OSError, ValueError) as error:
        return type(error).__name__
"""


@pytest.fixture
def victim() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the same user that no tool may touch."""
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


OTHERS = """
def f(p):
    pid = p["pid"]
    parent = os.getppid()
    limit = resource.RLIMIT_CPU
    return {
        "a limit on time": attempt(lambda: resource.prlimit(pid, limit, (0, 0))),
        "a limit of the supervisor": attempt(lambda: resource.prlimit(parent, limit, (0, 0))),
        "looking at limits": attempt(lambda: resource.prlimit(parent, limit)),
        "its priority": attempt(lambda: os.setpriority(os.PRIO_PROCESS, pid, 19)),
        "that of a user": attempt(lambda: os.setpriority(os.PRIO_USER, 54321, 19)),
        "that of a group": attempt(lambda: os.setpriority(os.PRIO_PGRP, pid, 19)),
        "its processors": attempt(lambda: os.sched_setaffinity(pid, os.sched_getaffinity(0))),
        "its class": attempt(lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))),
        "a signal": attempt(lambda: os.kill(pid, signal.SIGTERM)),
        "a signal to the supervisor": attempt(lambda: os.kill(parent, signal.SIGKILL)),
        "a signal by a descriptor": attempt(
            lambda: signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGTERM)),
        "tracing": call(101, 16, pid, 0, 0) if p["x86"] else "refused",
        "its memory": attempt(lambda: open(f"/proc/{pid}/mem", "rb")),
        "its descriptors": call(438, os.pidfd_open(pid), 0, 0),
        "its variables": attempt(lambda: open(f"/proc/{pid}/environ")),
        "its working folder": attempt(lambda: os.listdir(f"/proc/{pid}/cwd")),
    }
def own(p):
    os.setpriority(os.PRIO_PROCESS, 0, min(os.getpriority(os.PRIO_PROCESS, 0) + 1, 19))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    os.kill(os.getpid(), 0)
    left, right = socket.socketpair()
    left.send(b"x")
    return {"got": right.recv(1).decode()}
"""


def test_other_processes(tmp_path: Path, victim: subprocess.Popen[bytes]) -> None:
    """Limits, priorities, processors, signals, memory: of no process but its own."""
    files = {"t.py": HELPERS + OTHERS}
    write_packs(tmp_path, [pack("t.f", "t:f"), pack("t.own", "t:own")], files)
    given = {"pid": victim.pid, "x86": os.uname().machine == "x86_64"}
    found, own = results(tmp_path, ("t.f", given), ("t.own", {}))
    assert found.ok, found.text
    assert "allowed" not in found.data.values(), found.data
    assert victim.poll() is None
    assert os.getpriority(os.PRIO_PROCESS, victim.pid) < 19
    # What a process does to itself is its own business.
    assert own.data == {"got": "x"}, own.text


def test_a_tool_that_starts_programs_reaches_its_own_processes_only(
    tmp_path: Path, victim: subprocess.Popen[bytes]
) -> None:
    code = """
def f(p):
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    os.kill(child, signal.SIGKILL)
    ended = os.waitpid(child, 0)[1]
    return {
        "ended": ended,
        "signal": attempt(lambda: os.kill(p["pid"], signal.SIGTERM)),
        "limit": attempt(lambda: resource.prlimit(p["pid"], resource.RLIMIT_CPU, (0, 0))),
    }
"""
    packs = [pack("t.f", "t:f", caps={"subprocess": True})]
    write_packs(tmp_path, packs, {"t.py": HELPERS + code})
    (found,) = results(tmp_path, ("t.f", {"pid": victim.pid}))
    assert found.ok, found.text
    assert found.data["ended"] == 9
    assert found.data["limit"] != "allowed"
    if jail.landlock_version() >= jail.SCOPES_SINCE:
        assert found.data["signal"] != "allowed"
        assert victim.poll() is None


SHARED = """
def f(p):
    numbers = p["numbers"]
    return {name: call(number, *given) for name, (number, *given) in numbers.items()} | {
        "the name of the machine": attempt(lambda: socket.sethostname(socket.gethostname())),
        "another user": attempt(lambda: os.setuid(os.getuid() + 1)),
        "more memory": attempt(lambda: resource.setrlimit(resource.RLIMIT_AS, (-1, -1))),
        "a device": attempt(lambda: os.mknod("null", 0o020666, os.makedev(1, 3))),
        "another root": attempt(lambda: os.chroot("/usr")),
    }
"""


def test_what_belongs_to_no_process(tmp_path: Path) -> None:
    """Memory, semaphores and queues that all processes of a user share; keys; rights of root."""
    if os.uname().machine != "x86_64":
        pytest.skip("the numbers of the calls are those of x86-64")
    libc = ctypes.CDLL(None)
    key = os.getpid()
    memory = libc.shmget(key, 4096, 0o1600)
    assert memory >= 0
    numbers = {
        "memory of others": [29, key, 4096, 0],
        "memory by its number": [30, memory, 0, 0],
        "removing memory": [31, memory, 0, 0],
        "semaphores": [64, key, 1, 0o1600],
        "a queue": [68, key, 0o1600],
        "a queue of POSIX": [240, 0, 0o102, 0o600, 0],
        "keys": [250, 0, -4, 0],
        "a new key": [248, 0, 0, 0, 0, -4],
        "a file by its number": [304, -100, 0, 0],
        "mounting": [165, 0, 0, 0, 0, 0],
        "an io_uring": [425, 1, 0],
    }
    try:
        write_packs(tmp_path, [pack("t.f", "t:f")], {"t.py": HELPERS + SHARED})
        (found,) = results(tmp_path, ("t.f", {"numbers": numbers}))
    finally:
        assert libc.shmctl(memory, 0, None) == 0  # it is still there
    assert found.ok, found.text
    assert "allowed" not in found.data.values(), found.data
    filtered = {found.data[name] for name in list(numbers)[:9]}
    assert filtered == {os.strerror(errno.EPERM)}


SOCKETS = """
def connect(family, kind, address):
    with socket.socket(family, kind) as made:
        made.settimeout(1)
        made.connect(address)
def send(address):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as made:
        made.sendto(b"x", address)
def f(p):
    unix, inet = socket.AF_UNIX, socket.AF_INET
    stream, datagram = socket.SOCK_STREAM, socket.SOCK_DGRAM
    return {
        "an agent in the file system": attempt(lambda: connect(unix, stream, p["path"])),
        "datagrams in the file system": attempt(lambda: send(p["datagrams"])),
        "an abstract socket": attempt(lambda: connect(unix, stream, p["abstract"])),
        "loopback": attempt(lambda: connect(inet, stream, ("127.0.0.1", p["port"]))),
        "loopback of IPv6": attempt(lambda: connect(socket.AF_INET6, stream, ("::1", p["port"]))),
        "datagrams": attempt(lambda: connect(inet, datagram, ("127.0.0.1", 53))),
        "packets": attempt(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)),
        "netlink": attempt(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)),
        "the host of a virtual machine": attempt(lambda: socket.socket(socket.AF_VSOCK, stream)),
        "cryptography of the kernel": attempt(lambda: socket.socket(socket.AF_ALG, 5)),
        "listening": attempt(lambda: socket.create_server(("127.0.0.1", 0))),
    }
"""


def test_sockets(tmp_path: Path) -> None:
    """No tool without a network reaches an agent with keys or a service that starts programs."""
    name = f"\0equipage-{os.getpid()}"
    with (
        socket.socket(socket.AF_UNIX) as agent,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams,
        socket.socket(socket.AF_UNIX) as abstract,
        socket.create_server(("127.0.0.1", 0)) as loopback,
    ):
        os.chdir(tmp_path)  # the path of a socket is short
        agent.bind("agent")
        agent.listen()
        datagrams.bind("datagrams")
        abstract.bind(name)
        abstract.listen()
        files = {"p/t.py": HELPERS + SOCKETS}
        write_packs(tmp_path / "p", [pack("t.f", "t:f")], {"t.py": files["p/t.py"]})
        given = {
            "path": str(tmp_path / "agent"),
            "datagrams": str(tmp_path / "datagrams"),
            "abstract": name,
            "port": loopback.getsockname()[1],
        }
        (found,) = results(tmp_path / "p", ("t.f", given))
        for each in (agent, abstract, loopback):
            each.settimeout(0.05)
            with pytest.raises(TimeoutError):
                each.accept()
    assert found.ok, found.text
    assert "allowed" not in found.data.values(), found.data


FILES = """
def f(p):
    outside, inside, read = p["outside"], p["inside"], p["read"]
    secret = os.path.join(outside, "secret")
    link = os.path.join(inside, "link")
    def through_link():
        os.symlink(secret, link)
        try:
            open(link)
        finally:
            os.unlink(link)
    def by_folder():
        os.open("secret", os.O_RDONLY, dir_fd=os.open(outside, os.O_RDONLY | os.O_DIRECTORY))
    def by_path_only():
        os.open("secret", os.O_RDONLY, dir_fd=os.open(outside, os.O_PATH))
    def again():
        os.open(f"/proc/self/fd/{os.open(secret, os.O_PATH)}", os.O_RDONLY)
    def from_here():
        os.chdir(outside)
        open("secret")
    made = {
        "reading": attempt(lambda: open(secret)),
        "dots": attempt(lambda: open(os.path.join(inside, "..", "outside", "secret"))),
        "a link": attempt(through_link),
        "a hard link to it": attempt(lambda: os.link(secret, link)),
        "a hard link to what may be read": attempt(lambda: os.link(os.path.join(read, "r"), link)),
        "a hard link out": attempt(lambda: os.link(os.path.join(inside, "a"), os.path.join(outside, "b"))),
        "renaming out": attempt(lambda: os.rename(os.path.join(inside, "a"), os.path.join(outside, "b"))),
        "renaming in": attempt(lambda: os.rename(secret, link)),
        "exchanging": attempt(lambda: os.rename(inside, outside)),
        "a descriptor of the folder": attempt(by_folder),
        "a descriptor of the path": attempt(by_path_only),
        "opening again": attempt(again),
        "the working folder": attempt(from_here),
        "the root of the process": attempt(lambda: open("/proc/self/root" + secret)),
        "cutting": attempt(lambda: os.truncate(secret, 0)),
        "cutting what may be read": attempt(lambda: os.truncate(os.path.join(read, "r"), 0)),
        "writing what may be read": attempt(lambda: open(os.path.join(read, "r"), "a")),
        "writing its own code": attempt(lambda: open(__file__, "a")),
        "removing": attempt(lambda: os.unlink(secret)),
        "a new folder": attempt(lambda: os.mkdir(os.path.join(outside, "d"))),
        "a pipe": attempt(lambda: os.mkfifo(os.path.join(outside, "p"))),
        "a file without a name": attempt(lambda: os.open(outside, os.O_TMPFILE | os.O_WRONLY, 0o600)),
        "the mode": attempt(lambda: os.chmod(secret, 0o777)),
        "the mode inside": attempt(lambda: os.chmod(os.path.join(inside, "a"), 0o4755)),
        "the home of the user": attempt(lambda: os.listdir(p["home"])),
        "passwords": attempt(lambda: open("/etc/shadow")),
        "users": attempt(lambda: open("/etc/passwd")),
        "processes": attempt(lambda: os.listdir("/proc")),
        "its own variables": attempt(lambda: open("/proc/self/environ")),
        "shared memory": attempt(lambda: open("/dev/shm/x", "w")),
        "the terminal": attempt(lambda: open("/dev/tty")),
        "temporary files": attempt(lambda: open("/tmp/equipage-x", "w")),
        "the folder of tools": attempt(lambda: open(os.environ["HOME"] + "/../x", "w")),
        "the device of a disk": attempt(lambda: open("/dev/vda")),
        "memory of the machine": attempt(lambda: open("/dev/mem")),
    }
    with open(os.path.join(inside, "new"), "w") as file:
        file.write("x")
    os.rename(os.path.join(inside, "new"), os.path.join(inside, "newer"))
    return made
"""


def test_files(tmp_path: Path) -> None:
    """Every way to a file outside, from a tool that may write one folder and read another."""
    for name in ("outside/secret", "inside/a", "read/r"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("swordfish")
    before = sorted(os.listdir(tmp_path / "outside"))
    caps = {"filesystem": {"write": ["../inside"], "read": ["../read"]}}
    write_packs(tmp_path / "p", [pack("t.f", "t:f", caps=caps)], {"t.py": HELPERS + FILES})
    given = {name: str(tmp_path / name) for name in ("outside", "inside", "read")}
    (found,) = results(tmp_path / "p", ("t.f", {**given, "home": str(Path.home())}))
    assert found.ok, found.text
    assert "allowed" not in found.data.values(), found.data
    assert sorted(os.listdir(tmp_path / "outside")) == before
    assert {each.read_text() for each in (tmp_path / "outside/secret", tmp_path / "read/r")} == {
        "swordfish"
    }
    assert (tmp_path / "inside/a").stat().st_mode & 0o7000 == 0
    assert (tmp_path / "inside/newer").read_text() == "x"


LINKS = """
def f(p):
    if p["call"] == 1:
        os.rename(p["path"], p["path"] + "-before")
        os.symlink(p["target"], p["path"])
    return {"read": attempt(lambda: open(p["file"])),
            "write": attempt(lambda: open(p["file"], "a"))}
"""


@pytest.mark.parametrize(
    ("declared", "path", "target"),
    [
        ({"write": ["work"], "read": ["work/data"]}, "work/data", "outside"),
        ({"write": ["work", "work/data"]}, "work/data", "outside"),
        ({"write": ["work"], "read": ["work/data/outside"]}, "work/data", ""),
        ({"write": ["."]}, "sub", "outside"),
    ],
    ids=["a folder", "to write", "above it", "its own folder"],
)
def test_a_link_in_the_place_of_a_folder_grants_nothing_to_the_next_call(
    declared: dict[str, list[str]], path: str, target: str, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("")
    caps = {"filesystem": declared}
    files = {"p/work/data/outside/x": "", "p/sub/x": "", "p/.env": "", "p/t.py": HELPERS + LINKS}
    write_packs(tmp_path, [], files)
    write_packs(tmp_path / "p", [pack("t.f", "t:f", caps=caps)], {})
    secret = str(tmp_path / "outside/secret")
    given = {"path": path, "target": str(tmp_path / target), "file": secret}
    calls = [("t.f", {**given, "call": number}) for number in (1, 2, 3)]
    refused = {"read": "PermissionError", "write": "PermissionError"}
    assert [each.data or each.text for each in results(tmp_path / "p", *calls)] == [refused] * 3
    assert (tmp_path / "p" / path).is_symlink()


MEMORY = r"""
def given(p): return {"n": len(os.environ.get("KEY", ""))}
def search(p):
    # Through a pipe: the kernel copies what is mapped and says so about the rest.
    import gc
    pattern = re.compile(p["pattern"].encode())
    reading, writing = os.pipe()
    near = {id(each) >> 20 for each in gc.get_objects()} | {id("x" * 50) >> 20}
    libc.sbrk.restype = ctypes.c_void_p
    top = libc.sbrk(0) >> 20
    parts = {each + more for each in near for more in range(-24, 25)} | set(range(top - 24, top + 1))
    found, pages, before = set(), 0, b""
    for part in sorted(parts):
        for page in range(part << 20, (part + 1) << 20, 4096):
            if libc.write(writing, ctypes.c_void_p(page), ctypes.c_size_t(4096)) != 4096:
                before = b""
                continue
            pages += 1
            data = os.read(reading, 4096)
            found.update(each.decode("latin-1") for each in pattern.findall(before[-80:] + data))
            before = data
    return {"found": sorted(found), "pages": pages}
"""


def test_memory_of_the_supervisor_holds_nothing_of_other_tools(tmp_path: Path) -> None:
    """A tool of Python is a fork of the supervisor, and can read all of its memory.

    The patterns find what they mean and not themselves: `[x]` is an `x`.
    """
    cli = {"kind": "cli", "cmd": ["sh", "-c", "echo '{}'", "x", "{{ input.word }}"]}
    known = str(supervisor.__doc__)
    assert known[40].isalpha()
    packs = [
        pack("t.given", "t:given", env={"passthrough": ["KEY"], "set": {"OWN": "set-by-the-pack-1234"}}),
        pack("t.search", "t:search", timeoutMs=30000),
        pack("t.cli", cli, caps={"subprocess": True}),
    ]  # fmt: skip
    write_packs(tmp_path, packs, {"t.py": HELPERS + MEMORY})
    found = results(
        tmp_path,
        ("t.given", {}),
        ("t.cli", {"word": "the-input-of-another-5678"}),
        *(("t.given", {"n": number}) for number in range(3)),
        ("t.search", {"pattern": "hunter-of-value[s]-[0-9]{4}"}),
        ("t.search", {"pattern": "the-input-of-anothe[r]-[0-9]{4}"}),
        ("t.search", {"pattern": "set-by-the-pac[k]-[0-9]{4}"}),
        # The search itself works: this is a text of the supervisor, where its values are.
        ("t.search", {"pattern": f"{re.escape(known[:40])}[{known[40]}]"}),
        env={"KEY": "hunter-of-values-9012"},
    )
    assert [each.text for each in found] == [""] * len(found)
    assert found[0].data == {"n": 21}
    *secret, control = found[-4:]
    assert [each.data["found"] for each in secret] == [[], [], []]
    assert control.data["found"]
    assert control.data["pages"] > 500


CHAIN = """
def f(p):
    # Each process starts the next one in a session of its own and ends: none lives long.
    if os.fork() == 0:
        os.setsid()
        for number in range(p["most"]):
            if os.fork():
                os._exit(0)
            os.setsid()
            with open(p["beat"], "w") as file:
                file.write(str(number))
        os._exit(0)
    time.sleep(0.3)
    return {}
"""


def test_a_chain_of_processes_ends(tmp_path: Path) -> None:
    """A process that is always another one is ended with its call."""
    beat = tmp_path / "w/beat"
    beat.parent.mkdir()
    caps = {"subprocess": True, "filesystem": {"write": ["../w"]}}
    write_packs(tmp_path / "p", [pack("t.f", "t:f", caps=caps)], {"t.py": HELPERS + CHAIN})
    results(tmp_path / "p", ("t.f", {"beat": str(beat), "most": 100_000}))
    last = beat.read_text()
    time.sleep(0.3)
    assert beat.read_text() == last


def test_orphans_of_a_call_end_while_others_go_on(tmp_path: Path) -> None:
    code = """
def f(p):
    if os.fork() == 0:
        os.setsid()
        libc.prctl(1, 0, 0, 0, 0)  # do not end with the parent
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        with open(p["pid"], "w") as file:
            file.write(str(os.getpid()))
        time.sleep(60)
    while not os.path.exists(p["pid"]) or not os.path.getsize(p["pid"]): time.sleep(0.01)
    return {}
"""
    (tmp_path / "w").mkdir()
    caps = {"subprocess": True, "filesystem": {"write": ["../w"]}}
    write_packs(tmp_path / "p", [pack("t.f", "t:f", caps=caps)], {"t.py": HELPERS + code})
    (found,) = results(tmp_path / "p", ("t.f", {"pid": str(tmp_path / "w/pid")}))
    assert found.ok, found.text
    pid = int((tmp_path / "w/pid").read_text())
    wait_until(lambda: not is_there(pid), 5)


# Kernels whose Landlock does not know signals: the filter does it.


@pytest.mark.parametrize("inside", [True, False])
def test_signals_where_landlock_does_not_know_them(inside: bool) -> None:
    with subprocess.Popen(["sleep", "60"]) as other:
        child = os.fork()
        if child == 0:
            try:
                jail.refuse_new_privileges()
                rules = jail.call_filter(network=True, forks=False, starts=False, pid=os.getpid())
                jail.install(rules)
                os.kill(os.getpid() if inside else other.pid, 0)
                os._exit(0)
            except OSError as error:
                os._exit(error.errno or 99)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        other.kill()
    assert status == (0 if inside else errno.EPERM)


def test_the_plan_says_where_signals_are_open() -> None:
    from equipage_serve.confinement import confine

    old = Platform("linux", landlock=4, seccomp=True)
    forking = confine("python", {"subprocess": True}, "/p", old, "strict")
    assert any("signals" in each for each in forking.open)
    assert confine("python", {}, "/p", old, "strict").open == ()
    new = Platform("linux", landlock=6, seccomp=True)
    assert confine("python", {"subprocess": True}, "/p", new, "strict").open == ()


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_names_the_same_calls_on_every_machine(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: machine)
    for table in (
        jail._SHARED_RESOURCE_CALLS,
        jail._PROCESS_CALLS,
        jail._SIGNAL_CALLS,
        jail._PRIORITY_CALLS,
    ):
        assert len(set(table[machine])) == len(table["x86_64"])
    made = jail.call_filter(network=False, forks=False, starts=False, pid=7)
    steps = list(struct.iter_unpack("HBBI", made))
    for number, (operation, if_true, if_false, _) in enumerate(steps):
        if operation != jail._RETURN:
            assert number + 1 + max(if_true, if_false) < len(steps)
