"""One call from its name to its result, and the processes that are kept for the next ones.

Supervisors are copies of this process here; what a whole server does is in `test_runtime`.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from equipage.files.disk import Disk

pytest.importorskip("jinja2", reason="the extra `serve` is not installed")
if sys.platform != "linux":
    pytest.skip("tools are confined on Linux", allow_module_level=True)

from clock import HANGS
from equipage_serve import jail
from equipage_serve.children import Child
from equipage_serve.engine import Engine, Gate
from equipage_serve.execution import process
from equipage_serve.execution.process import Processes
from equipage_serve.outcome import LONGEST, Failure, Result
from equipage_serve.platform import Platform
from equipage_serve.tools import Settings, Tool, prepare
from forked import fork_supervisors
from packs import load_packs, pack, write_packs

HERE = Platform(
    "linux",
    landlock=jail.landlock_version(),
    seccomp=jail.knows_this_machine(),
    root=os.getuid() == 0,
)
SECRET = "hunter2hunter2"
CODE = """
import os, sys, time
def echo(p): return p
def gives(p): return p["value"]
def pid(p): return {"pid": os.getpid()}
def raises(p): raise ValueError(p.get("text", ""))
def fails(p): raise ValueError("no " + p["page"] + " for " + os.environ["KEY"])
def ends(p): os._exit(p["code"])
def killed(p): os.kill(os.getpid(), 9)
def sleeps(p):
    time.sleep(p.get("seconds", 30))
    return {"pid": os.getpid()}
def tells(p):
    print("progress 1", file=sys.stderr, flush=True)
    return dict(os.environ)
def unfit(p): return {"a": {1, os.environ["KEY"]}}
"""


@pytest.fixture(autouse=True)
def _forked(monkeypatch: pytest.MonkeyPatch) -> None:
    fork_supervisors(monkeypatch)


def tools(folder: Path, *packs: dict[str, Any], **how: Any) -> list[Tool]:
    files = {"t.py": CODE, **how.pop("files", {})}
    write_packs(folder, list(packs), files)
    platform = how.pop("platform", HERE)
    kinds = frozenset({"python", "cli", "http", "php"})
    settings = Settings(**{"allow": kinds, "isolation": "best", **how})
    return [prepare(each, settings, platform) for each in load_packs(folder)]


def with_engine(
    made: list[Tool], use: Callable[[Engine], Awaitable[Any]], env: Any = None, **how: Any
) -> Any:
    observer = how.pop("observer", None)

    async def main() -> Any:
        engine = Engine(
            made, Settings(**how), HERE, {"KEY": SECRET} if env is None else env, observer
        )
        try:
            return await asyncio.wait_for(use(engine), HANGS)
        finally:
            await engine.close()

    return asyncio.run(main())


def called(made: list[Tool], *calls: Any, **how: Any) -> list[Result]:
    async def use(engine: Engine) -> list[Result]:
        return [await engine.call(name, arguments) for name, arguments in calls]

    return with_engine(made, use, **how)  # type: ignore[no-any-return]


# What ends a call before anything runs.

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}
DEEP: Any = {"a": 1}
for _ in range(70):
    DEEP = {"a": DEEP}
BEFORE = {
    "unknown": ("x" * 200, {}, "NOT_FOUND", f"there is no tool `{'x' * 100}`", 0),
    "no mapping": ("a.b", [1], "INVALID_INPUT", "the arguments must be a mapping", 0),
    "too deep": ("a.b", DEEP, "INVALID_INPUT", "the arguments are nested deeper than 64 levels", 0),
    "too many bytes": (
        "a.b",
        {"a": "x" * 13},
        "INVALID_INPUT",
        "the arguments have 21 bytes, more than 20",
        21,
    ),
    "the schema": (
        "a.b",
        {"n": "x"},
        "INVALID_INPUT",
        'the arguments do not fit the input schema at `/n`: type: "integer"',
        9,
    ),
}


@pytest.mark.parametrize("name", BEFORE)
def test_before_anything_runs(name: str, tmp_path: Path) -> None:
    tool, arguments, code, message, size = BEFORE[name]
    limits = {"maxInputBytes": 20, "maxOutputBytes": 100}
    made = tools(tmp_path, pack("a.b", "t:echo", inputSchema=SCHEMA, limits=limits))
    seen: list[Any] = []
    (result,) = called(made, (tool, arguments), observer=lambda *given: seen.append(given))
    assert (result.ok, result.code, result.message) == (False, code, message)
    stats = result.stats
    assert (stats.input_bytes, stats.output_bytes, stats.cache_hit) == (size, 0, False)
    assert stats.isolation == ("" if name == "unknown" else made[0].confinement.summary)
    assert seen == [(tool, None if name == "unknown" else made[0], arguments, result)]


def test_as_many_bytes_as_may_be_are_taken(tmp_path: Path) -> None:
    limits = {"maxInputBytes": 7, "maxOutputBytes": 100}
    made = tools(tmp_path, pack("a.b", "t:echo", limits=limits))
    (result,) = called(made, ("a.b", {"a": 1}))
    assert (result.ok, result.stats.input_bytes) == (True, 7)


def test_calls_wait_for_their_turn_and_are_refused_beyond(tmp_path: Path) -> None:
    async def main() -> list[str]:
        gate, order = Gate(1, 1), list[str]()
        release = asyncio.Event()

        async def one(name: str) -> None:
            try:
                async with gate():
                    order.append(name)
                    await release.wait()
            except Failure as failure:
                order.append(f"{failure.code}: {failure.message}")

        tasks = [asyncio.ensure_future(one(name)) for name in "abc"]
        await asyncio.sleep(0.01)
        assert order == ["a", "RATE_LIMIT: too many calls are waiting; try again later"]
        release.set()
        await asyncio.gather(*tasks)
        release.clear()
        # As many as before, and no more.
        tasks = [asyncio.ensure_future(one(name)) for name in "def"]
        await asyncio.sleep(0.01)
        release.set()
        await asyncio.gather(*tasks)
        return [each[:10] for each in order[2:]]

    assert asyncio.run(main()) == ["b", "d", "RATE_LIMIT", "e"]
    made = tools(tmp_path, pack("a.b", "t:echo"))
    (result,) = called(made, ("a.b", {}), concurrency=0, queue=0)
    assert result.code == "RATE_LIMIT"


# Values.


def test_a_value_and_its_numbers(tmp_path: Path) -> None:
    made = tools(tmp_path, pack("a.b", "t:echo"))
    first, second = called(made, ("a.b", {"ü": "é"}), ("a.b", None))
    assert (first.ok, first.data, first.code, first.text) == (True, {"ü": "é"}, None, "")
    stats = first.stats
    # The size of an output is that of JSON without blanks, and of letters as they are.
    assert (stats.input_bytes, stats.output_bytes) == (19, 11)
    assert (stats.cache_hit, stats.isolation) == (False, made[0].confinement.summary)
    assert 0 < stats.duration_ms < 60_000
    assert second.data == {}


AFTER: dict[str, tuple[Any, Any, str, str]] = {
    "as large as may be": ("gives", {"value": {"a": "x" * 12}}, "", ""),
    "too large": (
        "gives",
        {"value": {"a": "x" * 13}},
        "INVALID_OUTPUT",
        "the output is larger than 20 bytes",
    ),
    "much too large": (
        "gives",
        {"value": {"a": "x" * 300}},
        "INVALID_OUTPUT",
        "the output is larger than 20 bytes",
    ),
    "the schema": (
        "gives",
        {"value": {"n": "x"}},
        "INVALID_OUTPUT",
        'the output does not fit the output schema at `/n`: type: "integer"',
    ),
    "no mapping": ("gives", {"value": [1]}, "INVALID_OUTPUT", "the tool must return a mapping"),
    "not JSON": (
        "unfit",
        {},
        "INVALID_OUTPUT",
        "the value is not JSON: Object of type set is not JSON serializable",
    ),
    "an exception": (
        "fails",
        {"page": "the page"},
        "INTERNAL_ERROR",
        "the tool raised ValueError: no *** for ***",
    ),
    "an exception without words": ("raises", {}, "INTERNAL_ERROR", "the tool raised ValueError"),
    "an end": ("ends", {"code": 3}, "INTERNAL_ERROR", "the tool ended with exit 3"),
    "a good end": ("ends", {"code": 0}, "INTERNAL_ERROR", "the tool ended without an answer"),
    "a signal": ("killed", {}, "INTERNAL_ERROR", "the tool ended with signal 9"),
    "a long wait": ("sleeps", {}, "TIMEOUT", "the tool did not answer within 300 ms"),
}


@pytest.mark.parametrize("name", AFTER)
def test_what_a_callable_gives(name: str, tmp_path: Path) -> None:
    function, arguments, code, message = AFTER[name]
    fields: dict[str, Any] = {"timeoutMs": 300} if name == "a long wait" else {}
    made = tools(
        tmp_path,
        pack(
            "a.b",
            f"t:{function}",
            outputSchema=SCHEMA,
            limits={"maxInputBytes": 1000, "maxOutputBytes": 20},
            env={"passthrough": ["KEY"]},
            **fields,
        ),
    )
    (result,) = called(made, ("a.b", arguments))
    assert (result.code or "", result.message) == (code, message)
    assert result.stats.output_bytes == (0 if code else 20)
    assert result.stats.duration_ms >= (300 if code == "TIMEOUT" else 0)


SH = {"kind": "cli", "cmd": ["sh", "run.sh"]}
FREE = {"caps": {"subprocess": True}}
#: What a program does, and what comes of it.
PROGRAMS: dict[str, tuple[str, Any, str]] = {
    "a value": ("echo '{\"a\":1}'", {"a": 1}, ""),
    "an envelope": ('echo \'{"ok": true, "data": {"a": 1}}\'', {"a": 1}, ""),
    "a value with those names": (
        'echo \'{"ok": true, "data": 1, "total": 9}\'',
        {"ok": True, "data": 1, "total": 9},
        "",
    ),
    "an end": (
        "echo '{}'; echo disk is full >&2; exit 3",
        "INTERNAL_ERROR",
        "the tool ended with exit 3: disk is full",
    ),
    "a secret": (
        'echo "no $KEY" >&2; exit 1',
        "INTERNAL_ERROR",
        "the tool ended with exit 1: no ***",
    ),
    "bytes": ("printf '\\377' >&2; exit 1", "INTERNAL_ERROR", "the tool ended with exit 1: \\xff"),
    "a signal": ("kill -9 $$", "INTERNAL_ERROR", "the tool ended with signal 9"),
    "a report": (
        'echo "{\\"ok\\": false, \\"error\\": {\\"message\\": \\"no $KEY\\"}}"',
        "INTERNAL_ERROR",
        "the tool reports: no ***",
    ),
    "nothing": ("true", "INVALID_OUTPUT", "the output of the tool is empty"),
    "a flood": (
        "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxx; done",
        "INVALID_OUTPUT",
        "the output is larger than 65536 bytes",
    ),
    "125": ("echo equipage: x >&2; exit 125", "INTERNAL_ERROR", "the tool x"),
    "126": (
        "echo equipage: x >&2; exit 126",
        "INTERNAL_ERROR",
        "the tool ended with exit 126: equipage: x",
    ),
    "a held pipe": ("sleep 30 & echo '{\"a\":1}'", {"a": 1}, ""),
    "a closed pipe": ("exec >&-; sleep 30", "TIMEOUT", "the tool did not answer within 600 ms"),
    "a long wait": ("sleep 30", "TIMEOUT", "the tool did not answer within 600 ms"),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_program_gives(name: str, tmp_path: Path) -> None:
    script, expected, message = PROGRAMS[name]
    fields: dict[str, Any] = {"timeoutMs": 600} if expected == "TIMEOUT" else {}
    content = pack("a.b", SH, env={"passthrough": ["KEY"]}, **FREE, **fields)
    made = tools(tmp_path, content, files={"run.sh": script})
    (result,) = called(made, ("a.b", {}))
    if message:
        assert (result.code, result.message) == (expected, message)
    else:
        assert (result.data, result.text) == (expected, "")


def test_a_program_that_cannot_be_started(tmp_path: Path) -> None:
    execution = {"kind": "cli", "cmd": ["./x.sh"]}
    made = tools(tmp_path, pack("a.b", execution, **FREE), files={"x.sh": "#!/no/such\n"})
    (tmp_path / "x.sh").chmod(0o755)
    (result,) = called(made, ("a.b", {}))
    assert result.message == "the tool cannot start x.sh: No such file or directory"


LONG = "def long(p): raise ValueError('x' * 5000)\n"


def test_messages_have_a_longest_length(tmp_path: Path) -> None:
    made = tools(tmp_path, pack("a.b", "t:long"), files={"t.py": LONG})
    (result,) = called(made, ("a.b", {}))
    assert len(result.message) == LONGEST


def test_a_process_has_the_variables_of_its_pack(tmp_path: Path) -> None:
    made = tools(tmp_path, pack("a.b", "t:tells", env={"passthrough": ["KEY"], "set": {"A": "1"}}))
    heard: list[str] = []

    async def use(engine: Engine) -> Any:
        result = await engine.call("a.b", heard=heard.append)
        return result.data, engine._children.home

    seen, home = with_engine(made, use)
    assert (seen["KEY"], seen["A"], seen["HOME"]) == (SECRET, "1", seen["TMPDIR"])
    assert os.path.dirname(seen["HOME"]) == home
    assert heard == ["progress 1"]


def test_without_others_the_variables_are_those_of_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "of this process")
    made = tools(tmp_path, pack("a.b", "t:tells", env={"passthrough": ["KEY"]}))

    async def main() -> Any:
        engine = Engine(made, Settings(), HERE)
        try:
            return (await engine.call("a.b")).data
        finally:
            await engine.close()

    assert asyncio.run(main())["KEY"] == "of this process"


def test_a_tool_that_was_looked_up_before_is_called(tmp_path: Path) -> None:
    made = tools(tmp_path, pack("a.b", "t:echo"), pack("c.d", "t:pid"))

    async def use(engine: Engine) -> Any:
        return (await engine.call("gone", {"x": 1}, tool=made[0])).data

    assert with_engine(made[1:], use) == {"x": 1}


@pytest.mark.parametrize("private", [True, False])
def test_a_request_is_sent_by_this_process(private: bool, tmp_path: Path) -> None:
    from test_requests import Service, answer

    async def use(engine: Engine) -> Any:
        async with service:
            url = f"http://127.0.0.1:{service.port}/{{{{ input.x }}}}"
            content = pack("h.t", {"kind": "http", "url": url}, caps={"network": ["http"]})
            (tool,) = tools(tmp_path, content)
            return await engine.call("h.t", {"x": 1}, tool=tool)

    service = Service(answer(b'{"a":1}'))
    result = with_engine([], use, private_addresses=private)
    assert (result.code, result.data) == (
        (None, {"a": 1}) if private else ("PERMISSION_DENIED", None)
    )
    if private:
        assert service.heard.startswith(b"POST /1 HTTP/1.1\r\n")
        assert json.loads(service.heard.rpartition(b"\r\n")[2])["input"] == {"x": 1}


def test_answers_of_a_worker(tmp_path: Path) -> None:
    fields = {"limits": {"maxInputBytes": 10, "maxOutputBytes": 20}}
    callable_, script = tools(
        tmp_path,
        pack("a.b", "t:echo", env={"passthrough": ["KEY"]}, **fields),
        pack("c.d", "s.py", **fields),
        files={"s.py": ""},
    )
    # The answer of a callable has some bytes around its value.
    assert (process._output_cap(callable_), process._output_cap(script)) == (84, 20)
    names = {"env": {"KEY": SECRET}, "input": {}}
    assert process._parse_answer(b'{"result": {"a": 1}}', callable_, names) == {"a": 1}
    for answer, code, message in (
        (b"{}", "INTERNAL_ERROR", "the tool ended without an answer"),
        (b'{"unfit": "%b"}' % SECRET.encode(), "INVALID_OUTPUT", "the value is not JSON: ***"),
    ):
        with pytest.raises(Failure) as failed:
            process._parse_answer(answer, callable_, names)
        assert (failed.value.code, failed.value.message) == (code, message)


# What is kept.


def test_a_deterministic_tool_runs_once_for_each_who_asks(tmp_path: Path) -> None:
    made = tools(
        tmp_path,
        pack("a.b", "t:pid", deterministic=True),
        pack("c.d", "t:pid"),
        pack("e.f", "t:pid", deterministic=True, templating={"cacheKey": "{{ input.k }}"}),
        pack("g.h", "t:raises", deterministic=True),
        pack("i.j", "t:pid", deterministic=True, version="2.0.0"),
    )

    async def use(engine: Engine) -> list[tuple[bool, int]]:
        found = []
        for name, arguments, principal in (
            ("a.b", {"n": 1}, "x"),
            ("a.b", {"n": 1}, "x"),
            ("a.b", {"n": 2}, "x"),
            ("a.b", {"n": 1}, "y"),
            ("i.j", {"n": 1}, "x"),
            ("c.d", {"n": 1}, "x"),
            ("c.d", {"n": 1}, "x"),
            ("e.f", {"k": 1}, ""),
            ("e.f", {"k": 1}, ""),
            ("e.f", {"n": 1}, ""),  # its key cannot be made
            ("g.h", {}, ""),
            ("g.h", {}, ""),
        ):
            result = await engine.call(name, arguments, principal=principal)
            assert (result.stats.output_bytes > 0) is result.ok
            found.append((result.stats.cache_hit, result.data["pid"] if result.ok else 0))
        return found

    found = with_engine(made, use)
    hits = [hit for hit, _ in found]
    assert hits == [False, True, *[False] * 6, True, False, False, False]
    pids = [pid for _, pid in found if pid]
    assert [pids.index(each) for each in pids] == [0, 0, 2, 3, 4, 5, 6, 7, 7]


def test_a_result_that_was_kept_has_its_size(tmp_path: Path) -> None:
    made = tools(tmp_path, pack("a.b", "t:echo", deterministic=True))
    first, second = called(made, ("a.b", {"a": 1}), ("a.b", {"a": 1}))
    assert (first.stats.output_bytes, second.stats.output_bytes) == (7, 7)
    assert second.stats.cache_hit
    # Without a principal, calls are those of the empty one.

    async def use(engine: Engine) -> Any:
        await engine.call("a.b", {"a": 1})
        return (await engine.call("a.b", {"a": 1}, principal="")).stats.cache_hit

    assert with_engine(made, use)
    # The cache has the size and the time that were asked for.
    for how in ({"cache_bytes": 0}, {"cache_seconds": 0.0}):
        results = called(made, ("a.b", {"a": 1}), ("a.b", {"a": 1}), **how)
        assert not results[1].stats.cache_hit


# Code that changed.

CHANGED = "the code of the tool changed since it was loaded; load it again"


def test_changed_code_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tools(tmp_path, pack("a.b", "t:echo"))
    hashed: list[str] = []
    real = Disk.sha256

    def count(disk: Disk, path: str) -> str | None:
        hashed.append(os.path.basename(path))
        return real(disk, path)

    monkeypatch.setattr(Disk, "sha256", count)

    async def use(engine: Engine) -> list[Any]:
        found = []
        for change in (None, None, "touch", None, "change", "back"):
            hashed.clear()
            if change == "touch":
                os.utime(tmp_path / "t.py", (1, 1))
            elif change is not None:
                (tmp_path / "t.py").write_text(CODE if change == "back" else CODE + "#")
            result = await engine.call("a.b")
            found.append((result.text, len(hashed)))
        return found

    unavailable = f"UNAVAILABLE: {CHANGED}"
    # A process that waits for its call would have imported the code meanwhile.
    assert with_engine(made, use, warm=0) == [
        ("", 1),
        ("", 0),
        ("", 1),
        ("", 0),
        (unavailable, 1),
        ("", 1),
    ]


def test_a_changed_program_is_not_run(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho '{}'\n")
    program.chmod(0o755)
    made = tools(tmp_path, pack("a.b", {"kind": "cli", "cmd": [str(program)]}, **FREE))

    async def use(engine: Engine) -> list[str]:
        first = await engine.call("a.b")
        program.write_text("#!/bin/sh\necho '{\"a\": 1}'\n")
        return [first.text, (await engine.call("a.b")).text]

    assert with_engine(made, use) == ["", f"UNAVAILABLE: {CHANGED}"]


# Other tools.


def test_tools_are_replaced_as_a_whole(tmp_path: Path) -> None:
    old = tools(tmp_path / "old", pack("a.b", "t:echo"), pack("c.d", "t:pid"))
    new = tools(tmp_path / "new", pack("a.b", "t:pid"), pack("e.f", "t:echo"))
    kept = [old[1], *new]

    async def use(engine: Engine) -> Any:
        await engine.replace([])
        await engine.replace(old)
        await engine.call("a.b", {"x": 1})
        await engine.call("c.d")
        assert set(engine._children._defined) == {old[0].key, old[1].key}
        await engine.replace(kept)
        assert set(engine._children._defined) == {old[1].key}
        assert set(engine._stamps) == {old[1].key}
        assert engine._processes._leaving == {old[0].key}
        names = [(await engine.call(name)).code for name in ("a.b", "c.d", "e.f")]
        # Back again: what was given up is had again.
        await engine.replace(old)
        assert old[0].key not in engine._processes._leaving
        assert new[0].key in engine._processes._leaving
        return names, (await engine.call("a.b", {"x": 2})).data

    assert with_engine(old, use) == ([None, None, None], {"x": 2})


def test_a_call_under_way_goes_on_with_its_tool(tmp_path: Path) -> None:
    made = tools(tmp_path, pack("a.b", "t:sleeps"))

    async def use(engine: Engine) -> Any:
        call = asyncio.ensure_future(engine.call("a.b", {"seconds": 0.3}))
        while not engine._processes._calls[made[0].key] or not engine._children._children:
            await asyncio.sleep(0.01)
        await engine.replace([])
        assert set(engine._children._defined) == {made[0].key}
        result = await call
        assert set(engine._children._defined) == set()
        assert engine._processes._calls == {}
        return result.ok

    assert with_engine(made, use) is True


# Processes that are made before they are needed.


async def settled(processes: Processes) -> None:
    """Until what is made for the next call is there."""
    await asyncio.sleep(10 * process.REFILL_AFTER)
    while processes._warming:
        await asyncio.wait(list(processes._warming))


@pytest.mark.parametrize("root", [True, False])
def test_processes_know_whether_they_are_those_of_root(root: bool, tmp_path: Path) -> None:
    made = tools(tmp_path, pack("a.b", "t:echo"))
    engine = Engine(made, Settings(), msgspec.structs.replace(HERE, root=root))
    assert engine._processes.root is root


async def ready_for(engine: Engine, tool: Tool) -> Child:
    """The one process that waits for the next call, after the first one."""
    await engine.call(tool.pack.id)
    await settled(engine._processes)
    (ready,) = engine._processes._ready[tool.key]
    return ready


def waiting(processes: Processes) -> dict[str, int]:
    return {key: len(ready) for key, ready in processes._ready.items()}


def test_processes_are_ready_for_tools_that_are_called_often(tmp_path: Path) -> None:
    if not HERE.landlock:
        pytest.skip("this kernel has no Landlock")
    made = tools(tmp_path, pack("a.b", "t:pid"))
    key = made[0].key

    async def use(engine: Engine) -> list[Any]:
        processes, found = engine._processes, list[Any]()
        assert waiting(processes) == {}
        await engine.call("a.b")
        await settled(processes)
        found.append(waiting(processes)[key])
        (ready,) = processes._ready[key]
        # The process that waits is used, and one takes its place.
        await engine.call("a.b")
        assert ready not in processes._ready[key]
        await settled(processes)
        found.append(waiting(processes)[key])
        for count in (2, 5, 9, 9):
            await asyncio.gather(*(engine.call("a.b") for _ in range(count)))
            await settled(processes)
            found.append((waiting(processes)[key], processes._wanted[key]))
        return found

    found = with_engine(made, use, warm=3)
    assert found[:2] == [1, 1]
    assert found[2] == (2, 2)
    assert found[-1] == (3, 3)


def test_a_process_that_waits_and_ends_is_not_used(tmp_path: Path) -> None:
    if not HERE.landlock:
        pytest.skip("this kernel has no Landlock")
    made = tools(tmp_path, pack("a.b", "t:pid"))

    async def use(engine: Engine) -> Any:
        ready = await ready_for(engine, made[0])
        await engine._children._send({"op": "kill", "id": ready.number, "grace": 0}, ())
        await asyncio.wait_for(asyncio.shield(ready.status), HANGS)
        result = await engine.call("a.b")
        assert ready._open == set()
        return result.ok

    assert with_engine(made, use) is True


@pytest.mark.parametrize(("execution", "how"), [("t:pid", {"warm": 0}), ("s.py", {})])
def test_nothing_waits_for_tools_that_act_at_once(
    execution: str, how: dict[str, Any], tmp_path: Path
) -> None:
    made = tools(tmp_path, pack("a.b", execution), files={"s.py": "print('{}')"})

    async def use(engine: Engine) -> Any:
        assert (await engine.call("a.b")).ok
        await settled(engine._processes)
        return waiting(engine._processes), len(engine._children._children)

    found, left = with_engine(made, use, **how)
    assert found == {}
    assert left <= 1


def test_the_tools_that_were_called_last_keep_their_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not HERE.landlock:
        pytest.skip("this kernel has no Landlock")
    monkeypatch.setattr(process, "MAX_WARM", 2)
    made = tools(
        tmp_path, *(pack(f"a.{name}", "t:pid", version=f"1.0.{n}") for n, name in enumerate("bcd"))
    )
    keys = [each.key for each in made]

    async def use(engine: Engine) -> Any:
        processes = engine._processes
        for name in ("a.b", "a.c", "a.b", "a.d"):
            await engine.call(name)
            await settled(processes)
        return waiting(processes), set(processes._wanted)

    found, wanted = with_engine(made, use)
    assert found == {keys[0]: 1, keys[2]: 1}
    assert wanted == {keys[0], keys[2]}
    assert process.MAX_WARM == 2


def test_one_process_serves_several_calls(tmp_path: Path) -> None:
    if not HERE.landlock:
        pytest.skip("this kernel has no Landlock")
    packs = [pack("a.b", "t:pid", deterministic=True), pack("c.d", "t:raises", deterministic=True)]
    made = tools(tmp_path, *packs, reuse=True)
    assert all(each.reused for each in made)

    async def use(engine: Engine) -> Any:
        processes = engine._processes
        pids = [(await engine.call("a.b", {"n": n})).data["pid"] for n in range(3)]
        assert waiting(processes)[made[0].key] == 1
        child = processes._ready[made[0].key][0]
        assert (child.output, child.heard) == (b"", None)
        # As many as are kept ready, and no more.
        results = await asyncio.gather(*(engine.call("a.b", {"m": n}) for n in range(4)))
        assert waiting(processes)[made[0].key] == 2
        await engine.call("c.d")
        assert not waiting(processes).get(made[1].key)
        return pids, [each.data["pid"] for each in results]

    pids, others = with_engine(made, use, reuse=True, warm=2)
    assert len(set(pids)) == 1
    assert pids[0] in others


def test_a_tool_that_is_gone_has_no_processes(tmp_path: Path) -> None:
    if not HERE.landlock:
        pytest.skip("this kernel has no Landlock")
    made = tools(tmp_path, pack("a.b", "t:pid"))

    async def use(engine: Engine) -> Any:
        processes = engine._processes
        ready = await ready_for(engine, made[0])
        await processes.forget(made[0].key)
        assert waiting(processes) == {}
        assert processes._wanted == {}
        return await asyncio.wait_for(asyncio.shield(ready.status), HANGS)

    # It is killed, unless it is quicker to notice that nobody will ask it any more.
    assert with_engine(made, use) in (-signal.SIGKILL, 0)


def test_a_tool_that_goes_while_a_process_is_made_for_it(tmp_path: Path) -> None:
    if not HERE.landlock:
        pytest.skip("this kernel has no Landlock")
    made = tools(tmp_path, pack("a.b", "t:pid"))

    async def use(engine: Engine) -> Any:
        processes = engine._processes
        await engine.call("a.b")
        while not processes._making:
            await asyncio.sleep(0)
        processes._ready.pop(made[0].key)
        processes._ready[made[0].key] = other = []
        await settled(processes)
        assert other == []
        while engine._children._children:
            await asyncio.sleep(0.01)
        return True

    assert with_engine(made, use)


def test_a_process_that_cannot_be_made_before_is_reported_by_the_next_call(tmp_path: Path) -> None:
    if not HERE.landlock:
        pytest.skip("this kernel has no Landlock")
    made = tools(tmp_path, pack("a.b", "t:pid"))

    async def use(engine: Engine) -> Any:
        processes = engine._processes

        async def fails(*_: Any) -> Any:
            raise Failure("UNAVAILABLE", "x")

        await engine.call("a.b")
        await settled(processes)
        processes._ready[made[0].key].pop().close()
        processes._start = fails  # type: ignore[method-assign]
        processes._refill(made[0], {})
        await settled(processes)
        return (await engine.call("a.b")).text

    assert with_engine(made, use) == "UNAVAILABLE: x"


def test_waiting_processes_are_given_up_at_the_end(tmp_path: Path) -> None:
    if not HERE.landlock:
        pytest.skip("this kernel has no Landlock")
    made = tools(tmp_path, pack("a.b", "t:pid"))

    async def use(engine: Engine) -> Any:
        ready = await ready_for(engine, made[0])
        await engine.close()
        return waiting(engine._processes), ready._open, ready.status.result()

    assert with_engine(made, use) == ({}, set(), -9)


@pytest.mark.parametrize(
    ("execution", "fails"), [("t:tells", False), ("t:tells", True), ("s.py", False)]
)
def test_where_writing_cannot_be_denied_calls_share_no_folder(
    execution: str, fails: bool, tmp_path: Path
) -> None:
    old = Platform("linux")
    script = "import json, os\nprint(json.dumps(dict(os.environ)))"
    made = tools(tmp_path, pack("a.b", execution), platform=old, files={"s.py": script})

    async def use(engine: Engine) -> Any:
        homes = []
        for _ in range(2):
            result = await engine.call("a.b")
            assert result.ok, result.text
            homes.append(result.data["HOME"])
            assert os.path.dirname(homes[-1]) == engine._children.home
        if fails:
            engine._children._fail_everything("x")
            engine._children.spawn = refuse  # type: ignore[method-assign]
            assert (await engine.call("a.b")).code == "UNAVAILABLE"
        home = engine._children.home
        for _ in range(500):
            if not os.listdir(home):
                break
            await asyncio.sleep(0.01)
        return homes, [os.path.exists(each) for each in homes], os.listdir(home)

    async def refuse(*_: Any, **__: Any) -> Any:
        raise Failure("UNAVAILABLE", "x")

    homes, there, left = with_engine(made, use)
    assert len(set(homes)) == 2
    assert (there, left) == ([False, False], [])


def test_a_cancelled_call_ends_its_process_first(tmp_path: Path) -> None:
    made = tools(tmp_path, pack("a.b", "t:sleeps"))

    async def use(engine: Engine) -> Any:
        call = asyncio.ensure_future(engine.call("a.b"))
        while (
            not engine._children._children
            or next(iter(engine._children._children.values()))._pending is not None
        ):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        (child,) = engine._children._children.values()
        call.cancel()
        await asyncio.wait([call])
        return call.cancelled(), child.has_ended, engine._processes._calls[made[0].key]

    assert with_engine(made, use) == (True, True, 0)
