"""The runtime for programs: what it is given, when it is closed, and what it says of wrong use."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="the extra `serve` is not installed")
if sys.platform != "linux":
    pytest.skip("tools are confined on Linux", allow_module_level=True)

import equipage_serve
from equipage.core.diagnostics import UsageError
from equipage_serve import NotServed, Runtime, runtime
from equipage_serve.outcome import Result
from equipage_serve.tools import Settings, prepare
from forked import fork_supervisors
from lab import write
from packs import load_packs, pack, write_packs
from test_engine import HERE

CODE = """
import os, time
def echo(p): return p
def env(p): return dict(os.environ)
def hang(p): time.sleep(60)
"""


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    fork_supervisors(monkeypatch)
    monkeypatch.setattr(runtime, "this_platform", lambda: HERE)


def packs(folder: Path, *more: dict[str, Any]) -> Any:
    contents = more or (pack("a.b", "t:echo"),)
    write_packs(folder, list(contents), {"t.py": CODE})
    return load_packs(folder)


def made(folder: Path, *more: dict[str, Any], **how: Any) -> Runtime:
    return Runtime(packs(folder, *more), **{"allow": ["python"], "isolation": "best", **how})


#: What is given, and what is said.
WRONG: list[tuple[dict[str, Any], str]] = [
    (
        {"allow": ["python", "ruby", "perl"]},
        "`allow`: there is no kind `perl`; known: python, node, php, cli, http",
    ),
    ({"isolation": "loose"}, "`isolation`: expected one of strict, best, none"),
    ({"paths": "Pack"}, "`paths`: expected one of pack, project"),
    ({"speed": 5}, "Unexpected keyword argument 'speed'"),
    ({"roots": ["lib", 5]}, "`roots[1]`: expected a path as str or os.PathLike[str], found int"),
]


@pytest.mark.parametrize(("given", "text"), WRONG)
def test_wrong_use_is_said(given: dict[str, Any], text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as wrong:
        made(tmp_path, **given)
    assert str(wrong.value) == text


def test_packs_that_cannot_be_run_are_told_together(tmp_path: Path) -> None:
    with pytest.raises(NotServed) as refused:
        made(tmp_path, pack("a.b", "none.py"), pack("c.d", "t:echo"), pack("e.f", "no:f"))
    assert sorted(refused.value.reasons) == ["a.b", "e.f"]
    assert all(isinstance(each, tuple) for each in refused.value.reasons.values())
    assert str(NotServed({"a": ["x", "y"], "b": ["z"]})) == "a: x; y\nb: z"
    with pytest.raises(NotServed, match="the kind `python` is not allowed"):
        Runtime(packs(tmp_path / "x"))


def test_packs_are_prepared_with_the_roots_that_are_theirs(tmp_path: Path) -> None:
    write(tmp_path, {"lib/far.py": "def f(p): return {}\n"})
    loaded = packs(tmp_path / "own", pack("a.b", "far:f"), pack("c.d", "far:f"))
    settings = Settings(allow=frozenset({"python"}), isolation="best")
    lib = str(tmp_path / "lib")
    tools, refused = runtime.prepare_all(loaded, settings, HERE, {"a.b": [lib]})
    assert ([each.pack.id for each in tools], list(refused)) == (["a.b"], ["c.d"])
    tools, refused = runtime.prepare_all(loaded, settings, HERE, [lib])
    assert (len(tools), refused) == (2, {})
    assert len(runtime.prepare_all(loaded, settings, HERE)[1]) == 2
    with Runtime(loaded, allow="python", isolation="best", roots=[lib]) as calls:
        assert calls.call("a.b").data == {}
    with pytest.raises(NotServed):
        Runtime(loaded, allow="python", isolation="best")
    # One folder may be given as text; its first letter alone would be the folder of all files.
    with Runtime(loaded, allow="python", isolation="best", roots=lib) as calls:
        (tool, _) = calls._engine.tools.values()
        assert "/" not in tool.confinement.read
        assert calls.call("a.b").data == {}


def test_calls(tmp_path: Path) -> None:
    with made(tmp_path) as calls:
        assert calls.call("a.b", {"x": 1}).data == {"x": 1}
        assert calls.call("a.b", MappingProxyType({"x": 1})).data == {"x": 1}
        assert calls.call("a.b").data == {}
        assert calls.call("a.b", [1]).code == "INVALID_INPUT"  # type: ignore[arg-type]
        thread = calls._thread
        assert (thread.name, thread.daemon, thread.is_alive()) == ("equipage-runtime", True, True)
    assert not thread.is_alive()
    assert calls._loop.is_closed()
    calls.close()  # again is no mistake
    for use in (calls.call, lambda name: asyncio.run(calls.call_async(name))):
        with pytest.raises(UsageError, match=r"^the runtime is closed$"):
            use("a.b")  # type: ignore[operator]


def test_calls_of_coroutines(tmp_path: Path) -> None:
    async def main() -> tuple[Result, bool]:
        async with made(tmp_path, pack("a.b", "t:echo"), pack("a.hang", "t:hang")) as calls:
            result = await calls.call_async("a.b", MappingProxyType({"x": 1}))
            task = asyncio.ensure_future(calls.call_async("a.hang"))
            children = calls._engine._children._children
            while not any(each.number > 1 for each in list(children.values())):
                assert not task.done()
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            while calls._engine._processes._calls.total():
                await asyncio.sleep(0.01)
        return result, calls._closed

    result, closed = asyncio.run(main())
    assert (result.data, closed) == ({"x": 1}, True)


def test_limits_and_variables_are_passed_on(tmp_path: Path) -> None:
    env = pack("a.env", "t:env", env={"passthrough": ["KEY"]})
    with made(tmp_path, env, env={"KEY": "1"}, timeout_ms=4000) as calls:
        assert calls.call("a.env").data["KEY"] == "1"
        tool = calls._engine.tools["a.env"]
        assert (tool.timeout_ms, tool.confinement.level) == (4000, "best")
        assert calls._engine.settings.timeout_ms == 4000
        assert calls._engine._processes.root is HERE.root


def test_tools_that_are_prepared_can_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEY", "here")
    settings = Settings(allow=frozenset({"python"}), isolation="best", queue=7)
    (loaded,) = packs(tmp_path, pack("a.env", "t:env", env={"passthrough": ["KEY"]}))
    with Runtime.from_tools([prepare(loaded, settings, HERE)], settings) as calls:
        assert calls.call("a.env").data["KEY"] == "here"
        assert calls._engine.settings is settings


def test_an_interrupt_ends_the_call(tmp_path: Path) -> None:
    with made(tmp_path, pack("a.hang", "t:hang")) as calls:
        real = calls._submit

        def interrupted(work: Any) -> Any:
            future = real(work)
            future.result = stop
            futures.append(future)
            return future

        def stop() -> None:
            raise KeyboardInterrupt

        futures: list[Any] = []
        calls._submit = interrupted  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            calls.call("a.hang")
        calls._submit = real  # type: ignore[method-assign]
        assert futures[0].cancelled()


def test_the_names_of_the_face() -> None:
    assert equipage_serve.Result is Result
    with pytest.raises(AttributeError, match=r"module 'equipage_serve' has no attribute 'Nothing'"):
        equipage_serve.Nothing  # noqa: B018
