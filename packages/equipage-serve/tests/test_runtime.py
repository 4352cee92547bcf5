"""Calls through the runtime: real processes, each probe of the contract, nothing left behind."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="the extra `serve` is not installed")

from clock import SLACK, Stopwatch
from equipage_serve import NotServed, Result, Runtime
from packs import COUNT, KINDS, TEXT, WORDS, load_packs, need, pack, write_packs
from talk import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="tools are confined on Linux")

#: What `tools.py` of the packs below holds; each function is one tool.
TOOLS = """
import asyncio, json, os, signal, socket, subprocess, sys, threading, time

def count(p): return {"words": len(p["text"].split())}
async def later(p):
    await asyncio.sleep(0)
    return {"words": 1}
def returns_list(p): return [1]
def not_json(p): return {"a": object()}
def nan(p): return {"a": float("nan")}
def leaves(p): raise SystemExit(0)
def raises(p): raise ValueError("no page with the key " + os.environ["SECRET"])
def prints(p):
    print("noise"); sys.stdout.flush(); os.write(1, b"more noise\\n")
    return {"ok": True, "data": 1}
def echo(p): return p
def hang(p): time.sleep(60)
def ignores_term(p):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True: time.sleep(1)
def spins(p):
    while True: pass
def large(p): return {"a": "x" * p["size"]}
def segfault(p): os.kill(os.getpid(), signal.SIGSEGV)
def killed(p): os.kill(os.getpid(), signal.SIGKILL)
def allocates(p): return {"a": len(bytearray(2 << 30))}
def wrong(p): return {"words": "three"}
def environment(p): return dict(os.environ)
def thread(p):
    found = []
    t = threading.Thread(target=lambda: found.append(1)); t.start(); t.join()
    return {"n": len(found)}
def mutates(p):
    p.clear()
    return {"words": 0}

def attempt(action):
    try:
        action()
        return "allowed"
    except OSError as error:
        return type(error).__name__

def jail(p):
    here = os.path.dirname(os.path.abspath(__file__))
    def write():
        with open(os.path.join(here, "made"), "w"): pass
    return {
        "etc": attempt(lambda: os.listdir("/etc")),
        "own": attempt(lambda: open(__file__)),
        "outside": attempt(lambda: open(p["outside"])),
        "environ": attempt(lambda: open(f"/proc/{os.getppid()}/environ")),
        "write": attempt(write),
        "tmp": attempt(lambda: open(os.path.join(os.environ["TMPDIR"], "x"), "w")),
        "tcp": attempt(lambda: socket.create_connection(("127.0.0.1", p["port"]), 1)),
        "udp": attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)),
        "netlink": attempt(lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)),
        "fork": attempt(os.fork),
        "exec": attempt(lambda: os.execv("/bin/true", ["true"])),
        "spawn": attempt(lambda: subprocess.run(["/bin/true"])),
        "mode": attempt(lambda: os.chmod(p["outside"], 0o777)),
        "owner": attempt(lambda: os.chown(p["outside"], -1, -1)),
        "times": attempt(lambda: os.utime(p["outside"])),
        "attribute": attempt(lambda: os.setxattr(p["outside"], "user.x", b"x")),
        "signal": attempt(lambda: os.kill(p["pid"], 0)),
    }

def may(p):
    with open(p["write"], "w") as file:
        file.write("x")
    return {"read": open(p["read"]).read(), "tcp": attempt(
        lambda: socket.create_connection(("127.0.0.1", p["port"]), 1))}

def fills(p):
    with open(p["write"], "wb") as file:
        for _ in range(200): file.write(bytes(1 << 20))
    return {}
"""
#: Scripts, by name: what a process may do wrong with its output and its end.
SCRIPTS = {
    "count": "import json, sys\nline = sys.stdin.readline()\nprint(json.dumps({'words': len(json.loads(line)['input']['text'].split())}))",
    "twolines": "print('{}'); print('{}')",
    "cut": "print('{\"a\":')",
    "empty": "pass",
    "badbytes": "import os; os.write(1, b'\\xff\\n')",
    "unread": "print('{\"a\": 1}')",
    "unhandled": "def inner():\n    raise ValueError('no such page')\ninner()",
    "exit3": "import sys; print('{}'); print('disk is full', file=sys.stderr); sys.exit(3)",
    "refuses": 'print(\'{"ok": false, "data": null, "error": {"message": "no page"}}\')',
    "floods": "import os\nwhile True: os.write(1, b'x' * 65536)",
    "noisy": "import os\nfor _ in range(3000): os.write(2, b'e' * 65536)\nprint('{}')",
    "closes": "import os, time; os.close(1); time.sleep(60)",
    "bom": "import os; os.write(1, b'\\xef\\xbb\\xbf{}')",
    "sibling": "import helper, json; print(json.dumps({'a': helper.NUMBER}))",
    "holds": "import os, sys, time\nif os.fork():\n    print('{\"a\": 1}')\nelse:\n    time.sleep(30)",
    "daemon": (
        "import os, sys, time\n"
        "if os.fork():\n    while not os.path.exists('daemon.pid'): time.sleep(0.01)\n"
        "    print('{\"a\": 1}')\nelse:\n"
        "    os.setsid()\n    if os.fork(): os._exit(0)\n"
        "    open('daemon.new', 'w').write(str(os.getpid()))\n"
        "    os.rename('daemon.new', 'daemon.pid')\n    time.sleep(60)"
    ),
}
SHORT = {"timeoutMs": 500}
#: Functions that need other fields than the usual ones.
FIELDS: dict[str, dict[str, Any]] = {
    "count": {"inputSchema": TEXT, "outputSchema": COUNT},
    "wrong": {"outputSchema": COUNT},
    "raises": {"env": {"passthrough": ["SECRET"]}},
    "hang": SHORT,
    "ignores_term": SHORT,
    "spins": SHORT,
    "echo": {"limits": {"maxInputBytes": 20, "maxOutputBytes": 100}},
    "large": {"limits": {"maxInputBytes": 100, "maxOutputBytes": 1000}},
    "environment": {"env": {"passthrough": ["SECRET", "ABSENT"], "set": {"A": "1", "SECRET": "2"}}},
}
SCRIPT_FIELDS: dict[str, dict[str, Any]] = {
    "closes": SHORT,
    "holds": {"caps": {"subprocess": True}},
    "daemon": {"caps": {"subprocess": True, "filesystem": {"write": ["."]}}},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = [line[4:].partition("(")[0] for line in TOOLS.splitlines() if line.startswith("def ")]
    names = [each for each in (*names, "later") if each not in ("attempt", "may", "fills")]
    packs = [
        pack(f"t.{each.replace('_', '')}", f"tools:{each}", **FIELDS.get(each, {}))
        for each in names
    ]
    packs += [pack(f"s.{name}", f"{name}.py", **SCRIPT_FIELDS.get(name, {})) for name in SCRIPTS]
    files = {f"{name}.py": text for name, text in SCRIPTS.items()}
    files |= {"tools.py": TOOLS, "helper.py": "NUMBER = 7\n"}
    return write_packs(tmp_path_factory.mktemp("packs"), packs, files)


@pytest.fixture(scope="module")
def runtime(folder: Path) -> Iterator[Runtime]:
    # Root has no limit on processes, which `strict` would refuse for tools that start some.
    env = {"SECRET": "hunter2hunter2", "OTHER": "not declared"}
    with Runtime(load_packs(folder), allow=["python"], isolation="best", env=env) as made:
        yield made
        assert made.call("t.count", WORDS).ok
        # What waits for the next call may still be on its way to do so.
        wait_until(lambda: children_of(supervisor()) == [], 10)


def supervisor() -> int:
    """The process that starts tools; it is a child of this one."""
    for pid in children_of(os.getpid()):
        if b"equipage_serve.supervisor" in Path(f"/proc/{pid}/cmdline").read_bytes():
            return pid
    raise AssertionError("there is no supervisor")


def children_of(pid: int) -> list[int]:
    """The processes of a process that run; those that wait for the next call do not count."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        found += [int(each) for each in (task / "children").read_text().split()]
    return found if pid == os.getpid() else [each for each in found if not _is_idle(each)]


def _is_idle(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/wchan").read_text() in ("anon_pipe_read", "pipe_read", "0")
    except OSError:
        return True


VALUES = {
    "t.count": (WORDS, {"words": 3}),
    "t.later": ({}, {"words": 1}),
    "t.prints": ({}, {"ok": True, "data": 1}),  # a callable returns a value, not an envelope
    "t.thread": ({}, {"n": 1}),
    "t.mutates": ({"a": 1}, {"words": 0}),
    "s.count": (WORDS, {"words": 3}),
    "s.unread": ({"text": "x" * 60_000}, {"a": 1}),
    "s.noisy": ({}, {}),
    "s.sibling": ({}, {"a": 7}),
    "s.holds": ({}, {"a": 1}),
}


@pytest.mark.parametrize("tool", VALUES)
def test_a_tool_gives_a_value(tool: str, runtime: Runtime) -> None:
    arguments, value = VALUES[tool]
    result = runtime.call(tool, arguments)
    assert (result.data, result.text) == (value, "")
    assert result.stats.output_bytes > 0


FAILURES = {
    "t.returnslist": ({}, "INVALID_OUTPUT: the tool must return a mapping"),
    "t.notjson": ({}, "INVALID_OUTPUT: the value is not JSON"),
    "t.nan": ({}, "INVALID_OUTPUT: the value is not JSON"),
    "t.leaves": ({}, "INTERNAL_ERROR: the tool raised SystemExit: 0"),
    "t.raises": ({}, "INTERNAL_ERROR: the tool raised ValueError: no page with the key ***"),
    "t.count": ({"text": 5}, "INVALID_INPUT: the arguments do not fit the input schema at `/text`"),
    "t.large": ({"size": 993}, "INVALID_OUTPUT: the output is larger than 1000 bytes"),
    "t.wrong": ({}, "INVALID_OUTPUT: the output does not fit the output schema at `/words`"),
    "t.segfault": ({}, "INTERNAL_ERROR: the tool ended with signal 11"),
    "t.killed": ({}, "INTERNAL_ERROR: the tool ended with signal 9"),
    "t.allocates": ({}, "INTERNAL_ERROR: the tool raised MemoryError"),
    "t.hang": ({}, "TIMEOUT: the tool did not answer within 500 ms"),
    "t.ignoresterm": ({}, "TIMEOUT: "),
    "t.spins": ({}, "TIMEOUT: "),
    "s.twolines": ({}, "INVALID_OUTPUT: the output of the tool has more than one line"),
    "s.cut": ({}, "INVALID_OUTPUT: the output of the tool is not JSON"),
    "s.empty": ({}, "INVALID_OUTPUT: the output of the tool is empty"),
    "s.badbytes": ({}, "INVALID_OUTPUT: the output of the tool is not UTF-8"),
    "s.bom": ({}, "INVALID_OUTPUT: the output of the tool starts with a byte order mark"),
    "s.exit3": ({}, "INTERNAL_ERROR: the tool ended with exit 3: disk is full"),
    "s.unhandled": ({}, "INTERNAL_ERROR: the tool ended with exit 1: Traceback"),
    "s.refuses": ({}, "INTERNAL_ERROR: the tool reports: no page"),
    "s.floods": ({}, "INVALID_OUTPUT: the output is larger than 65536 bytes"),
    "s.closes": ({}, "TIMEOUT: "),
    "no.such": ({}, "NOT_FOUND: "),
}


@pytest.mark.parametrize("tool", FAILURES)
def test_a_tool_fails_with_a_code(tool: str, runtime: Runtime) -> None:
    arguments, text = FAILURES[tool]
    watch = Stopwatch()
    result = runtime.call(tool, arguments)
    taken = watch.seconds
    assert not result.ok
    assert result.text.startswith(text), result.text
    assert result.stats.output_bytes == 0
    if result.code == "TIMEOUT":
        assert taken < (0.5 + 0.3) * SLACK  # the limit and the grace


def test_the_trace_of_a_script_begins_with_the_script(runtime: Runtime) -> None:
    """Only the beginning of stderr is kept; frames of the launcher would hide the exception."""
    text = runtime.call("s.unhandled").text
    assert text.endswith("ValueError: no such page")
    assert "worker.py" not in text


def test_arguments_are_counted_in_canonical_bytes(runtime: Runtime) -> None:
    """Exactly at the limit runs; one byte more is never started."""
    assert runtime.call("t.echo", {"a": "x" * 12}).stats.input_bytes == 20
    assert runtime.call("t.echo", {"a": "x" * 12}).ok
    assert runtime.call("t.echo", {"a": "x" * 13}).code == "INVALID_INPUT"
    assert runtime.call("t.echo").data == {}


@pytest.mark.parametrize("arguments", [[1], "text", 5, {"a": float("inf")}, {"a": object()}])
def test_arguments_must_be_a_mapping_of_json(arguments: Any, runtime: Runtime) -> None:
    assert runtime.call("t.echo", arguments).code == "INVALID_INPUT"


def test_arguments_that_are_nested_too_deep(runtime: Runtime) -> None:
    deep: Any = 1
    for _ in range(70):
        deep = [deep]
    assert "deeper" in runtime.call("t.echo", {"a": deep}).message


def test_a_daemon_is_gone_after_the_call(runtime: Runtime, folder: Path) -> None:
    """A process with a session of its own survives a signal to the group of the tool."""
    assert runtime.call("s.daemon").data == {"a": 1}
    assert not Path(f"/proc/{(folder / 'daemon.pid').read_text()}").exists()


DAEMONS = """
import os, signal, time
def leaves(p):
    for _ in range(3):
        if not os.fork():
            os.setsid()
            if os.fork(): os._exit(0)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            with open(p["file"], "a") as file: file.write(f"{os.getpid()}\\n")
            time.sleep(60)
    while not os.path.exists(p["file"]) or open(p["file"]).read().count("\\n") < 3:
        time.sleep(0.001)
    time.sleep(p["seconds"])
    return {}
"""


def test_nothing_that_a_call_started_outlives_it(tmp_path: Path) -> None:
    """Neither a return nor a timeout, while other processes wait for the next calls."""
    caps = {"subprocess": True, "filesystem": {"write": ["out"]}}
    packs = [pack("t.leaves", "daemons:leaves", caps=caps, timeoutMs=1000, deterministic=True)]
    write_packs(tmp_path, packs, {"daemons.py": DAEMONS, "out/x": ""})
    how: dict[str, Any] = {"allow": ["python"], "isolation": "best", "reuse": True}
    with Runtime(load_packs(tmp_path), **how) as runtime:
        for number in range(6):
            file = tmp_path / "out" / str(number)
            result = runtime.call("t.leaves", {"file": str(file), "seconds": 60 * (number % 2)})
            assert result.code == ("TIMEOUT" if number % 2 else None)
            pids = file.read_text().split()
            assert len(pids) == 3
            assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


TEMPORARY = """
import os, subprocess, sys, tempfile
def keeps(p):
    with tempfile.NamedTemporaryFile("w", delete=False) as file: file.write("x")
    with open(os.devnull, "w") as nothing: nothing.write("x")
    others = os.path.dirname(os.environ["TMPDIR"])
    try:
        found = os.listdir(others)
    except PermissionError:
        found = None
    return {"name": file.name, "there": os.listdir(os.environ["HOME"]), "others": found}
def null(p):
    done = subprocess.run(["/bin/echo", "x"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return {"status": done.returncode}
"""


def test_temporary_files_are_those_of_one_call(tmp_path: Path) -> None:
    packs = [pack("t.keeps", "temporary:keeps")]
    packs.append(pack("t.null", "temporary:null", caps={"subprocess": True}))
    write_packs(tmp_path, packs, {"temporary.py": TEMPORARY})
    with Runtime(load_packs(tmp_path), allow=["python"], isolation="best") as runtime:
        found = [runtime.call("t.keeps").data for _ in range(3)]
        assert runtime.call("t.null").data == {"status": 0}
        for each in found:
            wait_until(lambda each=each: not os.path.exists(each["name"]), 10)
    assert [each["others"] for each in found] == [None] * 3
    assert [each["there"] for each in found] == [[os.path.basename(f["name"])] for f in found]
    assert len({os.path.dirname(each["name"]) for each in found}) == 3


def test_a_tool_sees_only_declared_variables(runtime: Runtime) -> None:
    seen = runtime.call("t.environment").data
    assert sorted(seen) == ["A", "HOME", "LANG", "LC_CTYPE", "PATH", "SECRET", "TMPDIR"]
    assert seen["SECRET"] == "2"  # what a pack sets wins
    assert seen["PATH"] == "/usr/local/bin:/usr/bin:/bin"


def test_a_pack_without_caps_can_do_nothing(runtime: Runtime, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x")
    with socket_listening() as port:
        arguments = {"outside": str(secret), "port": port, "pid": os.getpid()}
        found = runtime.call("t.jail", arguments).data
    # Its own code, and a folder of its own that is gone after the call.
    assert (found.pop("own"), found.pop("tmp")) == ("allowed", "allowed")
    assert set(found.values()) == {"PermissionError"}, found


class socket_listening:  # noqa: N801
    def __enter__(self) -> int:
        import socket

        self.socket = socket.create_server(("127.0.0.1", 0))
        return int(self.socket.getsockname()[1])

    def __exit__(self, *_: object) -> None:
        self.socket.close()


def test_caps_allow_what_they_say(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "in").write_text("content")
    (tmp_path / "pack" / "out").mkdir(parents=True)
    caps = {"filesystem": {"read": ["../data"], "write": ["out"]}, "network": ["http"]}
    packs = [pack("t.may", "tools:may", caps=caps), pack("t.fills", "tools:fills", caps=caps)]
    write_packs(tmp_path / "pack", packs, {"tools.py": TOOLS})
    arguments = {"write": "out/x", "read": str(tmp_path / "data" / "in")}
    with (
        socket_listening() as port,
        Runtime(load_packs(tmp_path / "pack"), allow=["python"]) as runtime,
    ):
        assert runtime.call("t.may", {**arguments, "port": port}).data == {
            "read": "content",
            "tcp": "allowed",
        }
        assert runtime.call("t.may", {**arguments, "write": "y", "port": port}).code
        filled = runtime.call("t.fills", {"write": "out/large"})
        assert "OSError" in filled.text or "signal 25" in filled.text
    assert (tmp_path / "pack" / "out" / "large").stat().st_size <= 64 << 20


# Calls at once, cancelled calls, and what is kept.


def test_calls_from_threads_and_tasks(runtime: Runtime) -> None:
    async def many() -> list[Result]:
        return await asyncio.gather(
            *(runtime.call_async("t.count", {"text": "a " * n}) for n in range(20))
        )

    assert [each.data["words"] for each in asyncio.run(many())] == list(range(20))


def test_a_cancelled_call_ends_its_process(runtime: Runtime) -> None:
    async def main() -> None:
        task = asyncio.create_task(runtime.call_async("t.hang"))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert runtime.call("t.count", WORDS).ok


def test_a_script_runs_once_for_each_call(tmp_path: Path) -> None:
    """It is not started before its call, unlike a callable, which only imports its module then."""
    script = "open('runs', 'a').write('x')\nprint('{}')\n"
    caps = {"caps": {"filesystem": {"write": ["."]}}}
    write_packs(tmp_path, [pack("s.once", "once.py", **caps)], {"once.py": script})
    with Runtime(load_packs(tmp_path), allow=["python"]) as runtime:
        for _ in range(20):
            assert runtime.call("s.once").data == {}
    assert (tmp_path / "runs").read_text() == "x" * 20


def test_too_many_calls_are_refused(tmp_path: Path) -> None:
    write_packs(
        tmp_path,
        [pack("t.nap", "nap:nap")],
        {"nap.py": "import time\ndef nap(p):\n    time.sleep(0.3)\n    return {}\n"},
    )
    with Runtime(load_packs(tmp_path), allow=["python"], concurrency=2, queue=3) as runtime:

        async def many() -> list[Result]:
            return await asyncio.gather(*(runtime.call_async("t.nap") for _ in range(8)))

        codes = [each.code for each in asyncio.run(many())]
    assert codes.count(None) == 5
    assert codes.count("RATE_LIMIT") == 3


def test_a_deterministic_tool_runs_once(tmp_path: Path) -> None:
    code = "import time\ndef now(p):\n    return {'now': time.time_ns()}\n"
    files = {"clock.py": code}
    write_packs(tmp_path, [pack("t.now", "clock:now", deterministic=True)], files)
    with Runtime(load_packs(tmp_path), allow=["python"]) as runtime:
        first, second = runtime.call("t.now", {"a": 1}), runtime.call("t.now", {"a": 1})
        other = runtime.call("t.now", {"a": 1.0})
        first.data["now"] = 0  # what a caller does with its value is its own affair
        third = runtime.call("t.now", {"a": 1})
        assert [each.stats.cache_hit for each in (first, second, other, third)] == [
            False,
            True,
            False,
            True,
        ]
        assert second.data == third.data != other.data

        async def many() -> list[Result]:
            return await asyncio.gather(*(runtime.call_async("t.now", {"b": 1}) for _ in range(10)))

        assert len({each.data["now"] for each in asyncio.run(many())}) == 1


def test_changed_code_is_not_run(tmp_path: Path) -> None:
    write_packs(tmp_path, [pack("t.one", "one:one")], {"one.py": "def one(p): return {'n': 1}\n"})
    with Runtime(load_packs(tmp_path), allow=["python"]) as runtime:
        assert runtime.call("t.one").data == {"n": 1}
        (tmp_path / "one.py").write_text("def one(p): return {'n': 2}\n")
        assert runtime.call("t.one").code == "UNAVAILABLE"
        (tmp_path / "one.py").write_text("def one(p): return {'n': 1}\n")
        # A worker that was started in between has met the changed code, and refuses its call.
        results = [runtime.call("t.one") for _ in range(10)]
        assert results[-1].data == {"n": 1}
        assert {each.data["n"] for each in results if each.ok} == {1}


def test_a_module_that_appears_later_is_not_imported(tmp_path: Path) -> None:
    """A file beside the pack must not replace a module that the checked code imports."""
    code = "def one(p):\n    import decimal\n    return {'file': decimal.__file__}\n"
    write_packs(tmp_path, [pack("t.one", "one:one")], {"one.py": code})
    with Runtime(load_packs(tmp_path), allow=["python"], warm=0) as runtime:
        (tmp_path / "decimal.py").write_text("x = 1\n")
        assert "is not the code that was checked" in runtime.call("t.one").text


def test_compiled_code_beside_the_source_is_not_used(tmp_path: Path) -> None:
    import importlib.util
    import py_compile

    write_packs(tmp_path, [pack("t.one", "one:one")], {"one.py": "def one(p): return {'n': 2}\n"})
    source = tmp_path / "one.py"
    cached = importlib.util.cache_from_source(str(source))
    py_compile.compile(str(source), cfile=cached)
    times = source.stat()
    source.write_text("def one(p): return {'n': 1}\n")
    os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
    with Runtime(load_packs(tmp_path), allow=["python"]) as runtime:
        assert runtime.call("t.one").data == {"n": 1}


def test_when_the_supervisor_is_killed_the_next_call_starts_another(runtime: Runtime) -> None:
    assert runtime.call("t.count", WORDS).ok
    os.kill(supervisor(), signal.SIGKILL)
    time.sleep(0.05)
    results = [runtime.call("t.count", WORDS) for _ in range(2)]
    assert results[-1].data == {"words": 3}


# The other kinds.


class Service(BaseHTTPRequestHandler):
    """Answers by its path."""

    contacted: list[str] = []  # noqa: RUF012

    def do_POST(self) -> None:
        Service.contacted.append(self.path)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        words = len(body["input"].get("text", "").split())
        data, status, headers = json.dumps({"words": words}).encode(), 200, {}
        if self.path == "/moved":
            status, headers = 302, {"location": "/target"}
        elif self.path == "/broken":
            status = 500
        elif self.path == "/large":
            data = b"x" * 100_000
        elif self.path == "/slow":
            time.sleep(1)
        elif self.path == "/header":
            data = json.dumps({"words": int(self.headers["x-count"])}).encode()
        elif self.path == "/cut":
            headers = {"content-length": "99999"}
        self.send_response(status)
        for name, value in {"content-length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture(scope="module")
def service() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


HTTP = {
    "/count": None,
    "/header": None,
    "/moved": "INTERNAL_ERROR: the service answered 302",
    "/broken": "INTERNAL_ERROR: the service answered 500",
    "/large": "INVALID_OUTPUT: the output is larger than",
    "/slow": "TIMEOUT: ",
    "/cut": "UNAVAILABLE: the service broke off",
}


def test_http(service: int, tmp_path: Path) -> None:
    pytest.importorskip("h11", reason="the extra `serve` is not installed")
    headers = {"X-Count": "{{ input.text | length }}", "Authorization": "Bearer {{ env.KEY }}"}
    packs = [
        pack(
            f"h{path.replace('/', '.')}",
            {
                "kind": "http",
                "url": f"http://127.0.0.1:{service}{path}",
                "headers": headers,
                "timeoutMs": 400,
            },
            caps={"network": ["http"]},
            env={"set": {"KEY": "hunter2"}},
            inputSchema=TEXT,
            outputSchema=COUNT,
        )
        for path in HTTP
    ]
    write_packs(tmp_path, packs, {})
    loaded = load_packs(tmp_path)
    with Runtime(loaded, allow=["http"]) as runtime:
        assert runtime.call("h.count", WORDS).code == "PERMISSION_DENIED"
    Service.contacted.clear()
    with Runtime(loaded, allow=["http"], private_addresses=True) as runtime:
        for path, text in HTTP.items():
            result = runtime.call(f"h{path.replace('/', '.')}", WORDS)
            if text is None:
                assert result.data == {"words": 3 if path == "/count" else 5}
            else:
                assert result.text.startswith(text), result.text
    assert "/target" not in Service.contacted


def test_node_and_php_count_words_and_start_nothing(tmp_path: Path) -> None:
    need("node", "php")
    files = {
        "count.js": (
            "let s = ''; process.stdin.on('data', d => s += d).on('end', () => console.log("
            "JSON.stringify({words: JSON.parse(s).input.text.split(' ').length})))"
        ),
        "escape.js": (
            "let r = 'started'; try { require('child_process').execFileSync('/bin/true') } "
            "catch (e) { r = e.code } console.log(JSON.stringify({r}))"
        ),
        "count.php": (
            "<?php $i = json_decode(fgets(STDIN), true);"
            "echo json_encode(['words' => count(explode(' ', $i['input']['text']))]);"
        ),
        "node_modules/counter/package.json": {"name": "counter", "type": "module", "main": "x.js"},
        "node_modules/counter/x.js": (
            "import fs from 'node:fs'; const s = fs.readFileSync(0, 'utf8');"
            "console.log(JSON.stringify({words: JSON.parse(s).input.text.split(' ').length}))"
        ),
        "escape.php": (
            "<?php echo json_encode(['r' => @shell_exec('/bin/echo started') ?: 'denied']);"
        ),
    }
    same = {"inputSchema": TEXT, "outputSchema": COUNT}
    packs = [
        pack("n.count", {"kind": "node", "script": "./count.js"}, **same),
        pack("n.package", {"kind": "node", "module": "counter"}, **same),
        pack("n.escape", {"kind": "node", "script": "escape.js"}),
        pack("p.count", {"kind": "php", "script": "count.php"}, **same),
        pack("p.escape", {"kind": "php", "php": "escape.php"}),
    ]
    write_packs(tmp_path, packs, files)
    with Runtime(load_packs(tmp_path), allow=["node", "php"]) as runtime:
        assert runtime.call("n.count", WORDS).data == {"words": 3}
        assert runtime.call("n.package", WORDS).data == {"words": 3}
        assert runtime.call("p.count", WORDS).data == {"words": 3}
        assert runtime.call("n.escape").data["r"] in ("EPERM", "ENOSYS", "EAGAIN")
        assert runtime.call("p.escape").data == {"r": "denied"}


def test_cli(tmp_path: Path) -> None:
    script = 'read line; set -- $1; echo "{\\"words\\": $#}"'
    count = {"kind": "cli", "cmd": ["sh", "-c", script, "sh", "{{ input.text }}"]}
    spawns = {"kind": "cli", "cmd": ["sh", "-c", "sleep 60 & echo '{}'"]}
    caps = {"caps": {"subprocess": True}}
    packs = [pack("c.count", count, inputSchema=TEXT, **caps), pack("c.spawns", spawns, **caps)]
    write_packs(tmp_path, packs, {})
    with Runtime(load_packs(tmp_path), allow=["cli"], isolation="best") as runtime:
        assert runtime.call("c.count", WORDS).data == {"words": 3}
        assert runtime.call("c.count", {"text": "-x"}).code == "INVALID_INPUT"
        assert runtime.call("c.spawns").data == {}


# What is not run.

REFUSED = {
    "script above the pack": (pack("x.a", "../outside.py"), "path traversal"),
    "absolute script": (pack("x.a", "/etc/passwd"), "absolute path"),
    "script that a link leads out to": (pack("x.a", "link.py"), "outside"),
    "missing script": (pack("x.a", "none.py"), "not found"),
    "module from elsewhere": (pack("x.a", "subprocess:run"), "modules from elsewhere"),
    "template as program": (
        pack("x.a", {"kind": "cli", "cmd": ["{{ input.x }}"]}, caps={"subprocess": True}),
        "must not be a template",
    ),
    "cli without subprocess": (pack("x.a", {"kind": "cli", "cmd": ["true"]}), "subprocess: true"),
    "scheme that is not declared": (
        pack("x.a", {"kind": "http", "url": "https://a.example/"}, caps={"network": ["http"]}),
        "does not list",
    ),
    "broken template": (
        pack("x.a", {"kind": "http", "url": "https://a.example/{{"}, caps={"network": ["https"]}),
        "not valid",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_its_reason(name: str, tmp_path: Path) -> None:
    content, reason = REFUSED[name]
    (tmp_path / "outside.py").write_text("print('{}')")
    folder = write_packs(tmp_path / "pack", [content], {})
    (folder / "link.py").symlink_to(tmp_path / "outside.py")
    with pytest.raises(NotServed, match=reason):
        Runtime(load_packs(folder), allow=KINDS)


def test_no_kind_is_allowed_by_itself(folder: Path) -> None:
    with pytest.raises(NotServed, match="not allowed"):
        Runtime(load_packs(folder))


# One process for several calls.


def test_a_process_serves_several_calls_only_where_that_is_wanted(tmp_path: Path) -> None:
    code = (
        "import os\ndef f(p):\n    if p.get('raise'): raise ValueError\n"
        "    if p.get('die'): os._exit(3)\n    return {'pid': os.getpid()}\n"
    )
    packs = [pack("t.once", "t:f"), pack("t.again", "t:f", deterministic=True)]
    write_packs(tmp_path, packs, {"t.py": code})
    with Runtime(load_packs(tmp_path), allow=["python"], reuse=True) as runtime:

        def pids(tool: str, *calls: dict[str, Any]) -> list[int]:
            return [runtime.call(tool, each).data["pid"] for each in calls]

        once = pids("t.once", {"n": 1}, {"n": 2}, {"n": 3})
        again = pids("t.again", {"n": 1}, {"n": 2}, {"n": 3})
        assert (len(set(once)), len(set(again))) == (3, 1)
        # A process that raised or died is not used again.
        assert runtime.call("t.again", {"raise": 1}).text.startswith("INTERNAL_ERROR: ")
        other = pids("t.again", {"n": 4}, {"n": 5})
        assert len({*again, *other}) == 2
        assert runtime.call("t.again", {"die": 1}).text == (
            "INTERNAL_ERROR: the tool ended with exit 3"
        )
        assert len(set(pids("t.again", {"n": 6}, {"n": 7}))) == 1
