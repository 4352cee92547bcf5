"""Attacks on the runtime that take longer, or another machine than this one."""

from __future__ import annotations

import asyncio
import json
import os
import platform
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("jinja2", reason="the extra `serve` is not installed")

from equipage.loading.session import Request
from equipage_serve import jail
from equipage_serve.engine import Engine
from equipage_serve.log import CallLog, mask_secrets
from equipage_serve.outcome import Result
from equipage_serve.platform import Platform, bubblewrap, this_platform
from equipage_serve.snapshot import take_snapshot
from equipage_serve.tools import Settings
from packs import EVERYTHING, WORDS, missing, need, pack, write_packs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="tools are confined on Linux")
only_with_time = pytest.mark.skipif(not EVERYTHING, reason="`make test-serve` runs it")


def calls(
    folder: Path,
    *wanted: tuple[str, dict[str, Any]],
    machine: Platform | None = None,
    env: dict[str, str] | None = None,
    observer: Any = None,
    **settings: Any,
) -> list[Result]:
    """The results of some calls at once, through an engine of its own."""
    chosen = Settings(allow=frozenset({"python", "php", "cli"}), isolation="best")
    chosen = msgspec.structs.replace(chosen, **settings)
    machine = machine or this_platform()
    snapshot = take_snapshot([str(folder)], Request(env={}), chosen, machine)
    assert not snapshot.refused, snapshot.refused

    async def main() -> list[Result]:
        engine = Engine(snapshot.tools, chosen, machine, env or {}, observer)
        try:
            return await asyncio.gather(*(engine.call(name, given) for name, given in wanted))
        finally:
            await engine.close()

    return asyncio.run(main())


def test_values_of_variables_are_in_no_log(tmp_path: Path) -> None:
    code = "import os\ndef f(p): raise ValueError(os.environ['KEY'] + p['text'])\n"
    packs = [
        pack("t.f", "t:f", env={"passthrough": ["KEY"], "set": {"OTHER": "set-value"}}),
        pack("t.g", "g.py", env={"passthrough": ["KEY"]}),
    ]
    script = "import os, sys; sys.exit('stderr ' + os.environ['KEY'])"
    write_packs(tmp_path, packs, {"t.py": code, "g.py": script})
    log = CallLog(str(tmp_path / "calls.jsonl"))
    env = {"KEY": "hunter2hunter2"}
    given = {"text": "the input"}
    found = calls(tmp_path, ("t.f", given), ("t.g", given), env=env, observer=log)
    log.close()
    text = (tmp_path / "calls.jsonl").read_text()
    assert all("***" in each.text for each in found)
    for secret in ("hunter2", "set-value", '"the input'):
        assert secret not in text
        assert not [each for each in found if secret in json.dumps(msgspec.to_builtins(each))]
    assert (tmp_path / "calls.jsonl").stat().st_mode & 0o777 == 0o600
    records = [json.loads(line) for line in text.splitlines()]
    assert {each["code"] for each in records} == {"INTERNAL_ERROR"}


def test_masked_at_any_depth() -> None:
    given = {"a": [{"Api_Key": 1, "b": {"cookie": "x"}}], "tokens": 2}
    assert mask_secrets(given) == {
        "a": [{"Api_Key": "***", "b": {"cookie": "***"}}],
        "tokens": "***",
    }


@only_with_time
def test_sleepers_run_at_once(tmp_path: Path) -> None:
    code = "import time\ndef f(p):\n    time.sleep(1)\n    return {}\n"
    write_packs(tmp_path, [pack("t.f", "t:f")], {"t.py": code})
    start = time.monotonic()
    found = calls(tmp_path, *[("t.f", {"n": n}) for n in range(64)], concurrency=64)
    assert all(each.ok for each in found)
    assert time.monotonic() - start < 32  # one after the other would take 64


@only_with_time
def test_large_input_and_output(tmp_path: Path) -> None:
    """Input that is never read, and an answer of 50 MB."""
    limits = {"limits": {"maxInputBytes": 10 << 20, "maxOutputBytes": 64 << 20}}
    packs = [pack("t.unread", "unread.py", **limits), pack("t.large", "large.py", **limits)]
    files = {
        "unread.py": "print('{\"a\": 1}')",
        "large.py": "import json; print(json.dumps({'a': ['x' * 1000] * 50_000}))",
    }
    write_packs(tmp_path, packs, files)
    given = {"text": "x" * (5 << 20)}
    found = calls(
        tmp_path,
        ("t.unread", given),
        ("t.large", {}),
        max_input_bytes=10 << 20,
        max_output_bytes=64 << 20,
    )
    assert found[0].data == {"a": 1}
    assert len(found[1].data["a"]) == 50_000


@only_with_time
def testbubblewrap(tmp_path: Path) -> None:
    """Where Landlock and seccomp are missing: no other files, no network, nothing left."""
    path = bubblewrap()
    if path is None:
        missing("bubblewrap that works")
    secret = tmp_path / "secret"
    secret.write_text("x")
    code = f"""
import os, socket
def attempt(action):
    try:
        action()
        return "allowed"
    except OSError as error:
        return type(error).__name__
def f(p):
    return {{
        "passwd": attempt(lambda: open("/etc/passwd")),
        "secret": attempt(lambda: open({str(secret)!r})),
        "own": attempt(lambda: open(__file__)),
        "write": attempt(lambda: open("made", "w")),
        "tcp": attempt(lambda: socket.create_connection(("127.0.0.1", p["port"]), 1)),
        "pid": os.getpid(),
    }}
"""
    script = "import json, sys; print(json.dumps({'words': 3}))"
    caps = {"caps": {"subprocess": True}}
    packs = [pack("t.f", "t:f"), pack("t.s", "s.py", **caps)]
    packs.append(pack("t.c", {"kind": "cli", "cmd": ["sh", "-c", "sleep 60 & echo '{}'"]}, **caps))
    folder = write_packs(tmp_path / "pack", packs, {"t.py": code, "s.py": script})
    bubble = Platform("linux", bwrap=path, root=os.getuid() == 0)
    found = calls(folder, ("t.f", {"port": 9}), ("t.s", WORDS), ("t.c", {}), machine=bubble)
    assert [each.text for each in found] == ["", "", ""]
    inside = found[0].data
    assert inside.pop("own") == "allowed"
    assert inside.pop("pid") < 10
    assert "allowed" not in inside.values(), inside
    assert found[1].stats.isolation == "bubblewrap"


#: Tries everything that a process may want to do, and says what the kernel let it do.
TRIES = """
import ctypes, os, platform, signal, socket, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
def call(*given):
    if libc.syscall(*given) < 0:
        raise OSError(ctypes.get_errno(), "refused")
def clone(flags):
    pid = libc.syscall(56, flags | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0: os._exit(0)
    if pid < 0: raise OSError(ctypes.get_errno(), "refused")
    os.waitpid(pid, 0)
def fork():
    pid = os.fork()
    if not pid: os._exit(0)
    os.waitpid(pid, 0)
def starts(*command):
    import subprocess
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
def thread():
    one = threading.Thread(target=int)
    one.start()
    one.join()
def f(p):
    outside, unix, port = p["outside"], p["unix"], p["port"]
    parent, home = os.getppid(), os.environ["TMPDIR"]
    io = ctypes.create_string_buffer(64)
    def made(name): return os.path.join(home, name)
    def pair(*sort): return socket.socketpair(socket.AF_UNIX, *sort)[0]
    def temporary():
        with open(made("x"), "w") as file: file.write("x")
    tries = {
        "read: its code": lambda: open(__file__).read(),
        "read: a file beside it": lambda: open("data.txt").read(),
        "read: a hidden file beside it": lambda: open(".env").read(),
        "read: the project": lambda: open("../other.txt").read(),
        "read: what is declared": lambda: open("../in/x").read(),
        "read: a file of its user": lambda: open(outside).read(),
        "read: by its inode": lambda: call(304, -100, io, 0),
        "read: /etc/passwd": lambda: open("/etc/passwd").read(),
        "read: other processes": lambda: open(f"/proc/{parent}/environ").read(),
        "read: itself in /proc": lambda: open("/proc/self/maps").read(),
        "read: random numbers": lambda: open("/dev/urandom", "rb").read(1),
        "read: memory of the machine": lambda: open("/dev/kmsg").read(1),
        "list: its folder": lambda: os.listdir("."),
        "list: the project": lambda: os.listdir(".."),
        "list: temporary folders of others": lambda: os.listdir(os.path.dirname(home)),
        "list: /proc": lambda: os.listdir("/proc"),
        "write: its folder": lambda: open("made", "w"),
        "write: its code": lambda: open(__file__, "a"),
        "write: what is declared": lambda: open("../out/x", "w").write("x"),
        "write: a temporary file": temporary,
        "write: /tmp": lambda: open("/tmp/equipage-test", "w"),
        "write: /dev/null": lambda: open(os.devnull, "r+b").write(b"x"),
        "write: shared memory": lambda: open("/dev/shm/equipage-test", "w"),
        "make: a link out": lambda: os.symlink(outside, made("link")),
        "make: a pipe": lambda: os.mkfifo(made("pipe")),
        "make: another name for a file": lambda: os.link(outside, made("name")),
        "make: a device": lambda: os.mknod(made("disk"), 0o60600, os.makedev(8, 0)),
        "make: a socket that others find": lambda: socket.socket(socket.AF_UNIX).bind(made("s")),
        "change: a mode": lambda: os.chmod(made("x"), 0o777),
        "change: an owner": lambda: os.chown(made("x"), os.getuid(), -1),
        "change: times": lambda: os.utime(made("x")),
        "change: attributes": lambda: os.setxattr(made("x"), "user.x", b"x"),
        "start: a thread": thread,
        "start: a process": fork,
        "start: a program": lambda: starts("/bin/echo"),
        "start: its own file": lambda: starts(made("x")),
        "net: IPv4": lambda: socket.create_connection(("127.0.0.1", port), 1),
        "net: IPv6": lambda: socket.socket(socket.AF_INET6),
        "net: datagrams": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        "net: raw packets": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
        "net: raw IP": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW),
        "net: a socket of the machine": lambda: socket.socket(socket.AF_UNIX).connect(unix),
        "net: the same through a pair": lambda: pair(socket.SOCK_DGRAM).connect(unix),
        "net: netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
        "net: virtual machines": lambda: socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM),
        "net: cryptography": lambda: socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET),
        "net: a pair of streams": lambda: pair(),
        "net: a pair of packets": lambda: pair(socket.SOCK_SEQPACKET),
        "processes: signal itself": lambda: os.kill(os.getpid(), 0),
        "processes: signal its parent": lambda: os.kill(parent, 0),
        "processes: limit itself": lambda: call(302, 0, 4, io, None),
        "processes: limit its parent": lambda: call(302, parent, 7, None, io),
        "processes: lower its priority": lambda: os.nice(1),
        "processes: that of its parent": lambda: os.setpriority(os.PRIO_PROCESS, parent, 5),
        "processes: bind its parent": lambda: os.sched_setaffinity(parent, {0}),
        "processes: trace its parent": lambda: call(101, 16, parent, 0, 0),
        "processes: trace itself": lambda: call(101, 0, 0, 0, 0),
        "processes: memory of its parent": lambda: call(310, parent, io, 1, io, 1, 0),
        "processes: files of its parent": lambda: call(438, os.pidfd_open(parent), 0, 0),
        "space: of users": lambda: call(272, 0x10000000),
        "space: of mounts": lambda: call(272, 0x20000),
        "space: of users, by clone": lambda: clone(0x10000000),
        "space: of networks, by clone": lambda: clone(0x50000000),
        "space: by clone3": lambda: call(435, io, 64),
        "space: that of another": lambda: call(308, os.pidfd_open(parent), 0),
        "kernel: bpf": lambda: call(321, 0, io, 64),
        "kernel: perf": lambda: call(298, io, 0, -1, -1, 0),
        "kernel: userfaultfd": lambda: call(323, 1),
        "kernel: io_uring": lambda: call(425, 1, io),
        "kernel: keys": lambda: call(250, 0, -3, 0),
        "kernel: shared memory": lambda: call(29, 4711, 64, 0o1600),
        "kernel: semaphores": lambda: call(64, 4711, 1, 0o1600),
        "kernel: queues": lambda: call(68, 4711, 0o1600),
        "kernel: memory that is a file": lambda: os.memfd_create("x"),
        "kernel: watch files of others": lambda: call(300, 0, 0),
        "root: mount": lambda: call(165, b"none", home.encode(), b"tmpfs", 0, None),
        "root: change the root": lambda: os.chroot(home),
        "root: the name of the machine": lambda: socket.sethostname("x"),
        "root: modules": lambda: call(313, 0, b"", 0),
        "root: the clock": lambda: call(227, 0, io),
        "root: another user": lambda: os.setuid(12345),
        "root: rights": lambda: call(126, (ctypes.c_uint * 2)(0x20080522, 0), (ctypes.c_uint * 6)(*[2**32 - 1] * 6)),
    }
    allowed = []
    for name, act in tries.items():
        try:
            act()
            allowed.append(name)
        except OSError:
            continue
    return {"allowed": allowed, "tried": len(tries)}
"""
#: What every tool may do,
ALLOWED = [
    "read: its code",
    "read: a file beside it",
    "read: random numbers",
    "list: its folder",
    "write: a temporary file",
    "write: /dev/null",
    "make: a link out",
    "make: a pipe",
    "start: a thread",
    "net: a pair of streams",
    "net: a pair of packets",
    "processes: signal itself",
    "processes: limit itself",
    "processes: lower its priority",
    "kernel: memory that is a file",
]
#: what a pack may ask for, and what it may do then.
ASKED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "nothing": ({}, []),
    "files": (
        {"filesystem": {"read": ["../in"], "write": ["../out"]}},
        ["read: what is declared", "write: what is declared"],
    ),
    "processes": ({"subprocess": True}, ["start: a process", "start: a program"]),
    "the network": ({"network": ["https"]}, ["net: IPv4", "net: IPv6", "net: datagrams"]),
}


@pytest.mark.parametrize("asked", [*ASKED, "everything"])
@pytest.mark.parametrize("who", ["this user", "another user"])
def test_a_tool_may_do_this_and_nothing_else(asked: str, who: str) -> None:
    """A list of what is allowed, not of what is refused: what is new has to be added here."""
    if platform.machine() != "x86_64":
        pytest.skip("the numbers of the calls are those of x86-64")
    if not (jail.landlock_version() >= jail.SCOPES_SINCE and jail.knows_this_machine()):
        pytest.skip("this kernel has no such jail")
    chosen = [each for name, each in ASKED.items() if asked in (name, "everything")]
    caps = {key: value for each, _ in chosen for key, value in each.items()}
    allowed = {*ALLOWED, *(name for _, names in chosen for name in names)}
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        project = Path(made)
        files = {"in/x": "", "other.txt": "", "pack/data.txt": "", "pack/.env": "", "out/x": ""}
        write_packs(project, [], {**files, "outside": "", "pack/t.py": TRIES})
        write_packs(project / "pack", [pack("t.f", "t:f", caps=caps)], {})
        for each in (project, *project.rglob("*")):
            each.chmod(0o777 if each.is_dir() or "out" in each.parts else 0o644)
        with (
            socket.create_server(("127.0.0.1", 0)) as server,
            socket.socket(socket.AF_UNIX) as listening,
        ):
            listening.bind(str(project / "socket"))
            listening.listen()
            outside, unix = str(project / "outside"), str(project / "socket")
            given = {"outside": outside, "unix": unix, "port": server.getsockname()[1]}
            data, text = _called_by(who, project / "pack", given)
    assert text == ""
    assert data["tried"] > 80
    assert set(data["allowed"]) == allowed


def _called_by(who: str, folder: Path, given: dict[str, Any]) -> Any:
    """The value and the failure of a call; a user that is not root has no rights at all."""
    if who == "this user":
        (found,) = calls(folder, ("t.f", given), isolation="best")
        return found.data, found.text
    need("setpriv")
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    done = subprocess.run(
        [*_OTHER, sys.executable, "-c", AS_A_USER, json.dumps([sys.path, str(folder), given])],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


#: Another user, who may read this Python, wherever it is.
_MAY = "+dac_read_search"
_OTHER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
_OTHER += [f"--inh-caps={_MAY}", f"--ambient-caps={_MAY}"]

BOMB = """
import os, time
def f(p):
    made = 0
    try:
        for _ in range(5000):
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
            made += 1
    except OSError as error:
        return {"made": made, "error": type(error).__name__}
    return {"made": made}
"""
AS_A_USER = """
import json, sys
paths, folder, given = json.loads(sys.argv[1])
sys.path[:0] = paths
from test_attacks import calls
from pathlib import Path
found = calls(Path(folder), ("t.f", given), isolation="strict")[0]
print(json.dumps([found.data, found.text]))
"""


@only_with_time
def test_a_fork_bomb_ends_at_the_limit_of_the_user(tmp_path: Path) -> None:
    """Only users that are not root have such a limit; root plays one that may read this Python."""
    need("setpriv")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as made:
        folder = Path(made)
        write_packs(folder, [pack("t.f", "t:f", caps={"subprocess": True})], {"t.py": BOMB})
        folder.chmod(0o755)
        for each in folder.iterdir():
            each.chmod(0o644)
        done = subprocess.run(
            [
                *(_OTHER if os.getuid() == 0 else []),
                *(sys.executable, "-c", AS_A_USER, json.dumps([sys.path, made, {}])),
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        data, text = json.loads(done.stdout.splitlines()[-1])
    assert text == "", done.stderr
    assert data["error"] == "BlockingIOError"
    assert data["made"] <= 64
    if os.getuid() != 0:
        return  # other processes of this user are none of our business
    left = [
        each for each in Path("/proc").iterdir() if each.name.isdecimal() and _owner(each) == 65534
    ]
    assert left == []


def _owner(path: Path) -> int:
    try:
        return path.stat().st_uid
    except OSError:
        return -1


@only_with_time
def test_a_thousand_tools(tmp_path: Path) -> None:
    from equipage_serve.wire.catalogue import catalogue_of, page

    packs = [pack(f"t.n{number:04}", "t:f") for number in range(1000)]
    write_packs(tmp_path, packs, {"t.py": "def f(p): return {}\n"})
    settings = Settings(allow=frozenset({"python"}), isolation="best")
    snapshot = take_snapshot([str(tmp_path)], Request(env={}), settings, this_platform())
    found = catalogue_of(snapshot)
    names, cursor = [], None
    start = time.process_time()
    while True:
        part, cursor = page(list(found.entries), cursor)
        names += [found.entries[each].definition(modern=True)["name"] for each in part]
        if cursor is None:
            break
    assert time.process_time() - start < 0.5
    assert names == sorted(f"t.n{number:04}" for number in range(1000))


def test_no_descriptors_are_left_open(tmp_path: Path) -> None:
    write_packs(
        tmp_path,
        [pack("t.f", "t:f"), pack("t.g", "g.py")],
        {"t.py": "def f(p): return {}\n", "g.py": "raise SystemExit(3)"},
    )
    before = len(os.listdir("/proc/self/fd"))
    calls(tmp_path, *[(name, {}) for name in ("t.f", "t.g") * 15], concurrency=8)
    assert len(os.listdir("/proc/self/fd")) <= before
