"""Runs the tests of a part once, and then, with one wrong change after another, those that reach
the change.

This is a plugin: pytest collects, and instead of running the tests once, `pytest_runtestloop` does
the rest. Every change is tried in a process of its own that starts as a copy of this one, so that
nothing is imported or collected again. It gets the changed code by exchanging the code of the
function that is alive, which every name for it shares.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import json
import mmap
import os
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any

import pytest
from changes import Change, alone, changes_of, codes, module_name, shown

#: A test that takes longer than this is left out: seconds of the processor, with its lines watched.
SLOWEST = 5.0
#: Bounds: seconds of the processor beyond ten times what a test takes, and seconds by the clock.
SPARE, CLOCK = 1.0, 60.0
#: So many seconds without a tick of the processor are too long.
IDLE = 10.0
MEMORY, FILE = 4 << 30, 64 << 20

NOTICED, LIVES, ENDED, BROKEN = 1, 0, 2, 3


class Runner:
    def __init__(self, root: Path, modules: list[Path], out: Path, children: int) -> None:
        self.root, self.modules, self.out, self.children = root, modules, out, children
        self.only: set[str] = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted(f"{session.testsfailed} errors during collection")
        started = time.monotonic()
        seen = self._tested(session.items)
        for name in seen["modules"]:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        for file in self.modules:
            importlib.import_module(module_name(file, self.root / "src"))
        gc.collect()
        gc.freeze()
        self._try_all(session.items, seen, started)
        return True

    # The tests as they are.

    def _tested(self, items: list[pytest.Item]) -> dict[str, Any]:
        """Which tests pass, how long they take, and which lines of the modules each one runs."""
        with tempfile.NamedTemporaryFile("r", suffix=".json") as told:
            child = os.fork()
            if not child:
                with _leaving():
                    Path(told.name).write_text(json.dumps(self._measured(items)))
                    os._exit(0)
            _, status = os.waitpid(child, 0)
            if status:
                raise RuntimeError(f"the tests cannot be run: {status}")
            return json.loads(told.read())

    def _measured(self, items: list[pytest.Item]) -> dict[str, Any]:
        seconds: dict[str, float] = {}
        left_out = []
        lines: dict[str, dict[int, list[str]]] = {str(file): {} for file in self.modules}
        with _Watch(self.modules) as watch:
            for item in items:
                begun = time.process_time()
                failed, passed = _run(item)
                took = time.process_time() - begun
                seen = watch.taken()
                if failed or not passed:
                    left_out.append((item.nodeid, "fails" if failed else "is skipped"))
                elif took > SLOWEST:
                    left_out.append((item.nodeid, f"takes {took:.1f} s"))
                else:
                    seconds[item.nodeid] = took
                    for file, line in seen:
                        lines[file].setdefault(line, []).append(item.nodeid)
        modules = [name for name in sys.modules if name.partition(".")[0] == "equipage"]
        return {"seconds": seconds, "lines": lines, "modules": modules, "left_out": left_out}

    # The tests against each change.

    def _try_all(self, items: list[pytest.Item], seen: dict[str, Any], started: float) -> None:
        by_id = {item.nodeid: item for item in items}
        seconds = seen["seconds"]
        killers: dict[str, list[str]] = defaultdict(list)
        results: list[dict[str, Any]] = []
        waiting: dict[int, tuple[Change, str, list[str], float, Path, Path]] = {}
        idle: dict[int, tuple[int, float, float]] = {}
        say = sys.__stderr__.write if sys.__stderr__ else print

        def finish() -> None:
            pid, status = _ended(waiting, idle)
            change, source, tests, _, told, folder = waiting.pop(pid)
            code = os.waitstatus_to_exitcode(status)
            by = told.read_text() if told.exists() else ""
            shutil.rmtree(folder, ignore_errors=True)
            if code == NOTICED and by:
                own = killers[change.function]
                if by in own:
                    own.remove(by)
                own.insert(0, by)
            outcome = {LIVES: "lives", NOTICED: "noticed", BROKEN: "broken"}.get(code, "ended")
            results.append(
                {
                    "name": change.name,
                    "line": change.lines[0],
                    "outcome": outcome,
                    "by": by,
                    "tests": len(tests),
                    "change": shown(change, source),
                }
            )
            if len(results) % 100 == 0:
                self._keep(results, seen)
                lives = sum(each["outcome"] == "lives" for each in results)
                say(f"  {len(results)} tried, {lives} live, {time.monotonic() - started:.0f} s\n")

        for file in self.modules:
            source = file.read_text()
            name = str(file.relative_to(self.root / "src" / "equipage"))
            lines = seen["lines"][str(file)]
            alive = _alive(file)
            for change in changes_of(name, source):
                if self.only and change.name not in self.only:
                    continue
                reach = {test for line in change.lines for test in lines.get(str(line), ())}
                if not reach:
                    results.append(
                        {
                            "name": change.name,
                            "line": change.lines[0],
                            "outcome": "unreached",
                            "by": "",
                            "tests": 0,
                            "change": shown(change, source),
                        }
                    )
                    continue
                first = [test for test in killers[change.function] if test in reach]
                tests = first + sorted(reach - set(first), key=lambda test: seconds[test])
                while len(waiting) >= self.children:
                    finish()
                folder = Path(tempfile.mkdtemp(prefix="mutant-"))
                told = folder / "by"
                bound = sum(_bound(seconds[test]) for test in tests)
                child = os.fork()
                if not child:
                    with _leaving():
                        os.setsid()
                        _bounded()
                        if not _exchange(change, file, source, alive):
                            os._exit(BROKEN)
                        _scratch(items[0], folder)
                        for test in tests:
                            _seconds(_bound(seconds[test]))
                            if _run(by_id[test])[0]:
                                told.write_text(test)
                                os._exit(NOTICED)
                        os._exit(LIVES)
                until = time.monotonic() + CLOCK + bound
                waiting[child] = (change, source, tests, until, told, folder)
        while waiting:
            finish()
        self._keep(results, seen)

    def _keep(self, results: list[dict[str, Any]], seen: dict[str, Any]) -> None:
        self.out.write_text(
            json.dumps({"left_out": seen["left_out"], "results": results}, indent=1)
        )


class _Watch:
    """Which lines of some files run, in this process and in all that start as copies of it, also if
    such a copy is in a jail: the marks are in memory that they share."""

    def __init__(self, files: list[Path]) -> None:
        self._starts: dict[str, int] = {}
        length = 0
        for file in files:
            self._starts[str(file)] = length
            length += len(file.read_text().splitlines()) + 2
        self._marks = mmap.mmap(-1, length)

    def __enter__(self) -> _Watch:
        threading.settrace(self._called)
        sys.settrace(self._called)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]

    def _called(self, frame: FrameType, _event: str, _given: object) -> Any:
        start = self._starts.get(frame.f_code.co_filename)
        if start is None:
            return None
        marks = self._marks

        def ran(frame: FrameType, event: str, _given: object) -> Any:
            if event == "line":
                marks[start + frame.f_lineno] = 1
            return ran

        return ran

    def taken(self) -> list[tuple[str, int]]:
        """The lines that ran since this was asked last."""
        sys.settrace(self._called)  # a test may have ended it
        marks = self._marks[:]
        self._marks[:] = bytes(len(marks))
        files = sorted(self._starts.items(), key=lambda each: -each[1])
        return [
            next((file, at - start) for file, start in files if at >= start)
            for at, mark in enumerate(marks)
            if mark
        ]


@contextlib.contextmanager
def _leaving() -> Any:
    """A copy of this process never comes back from here."""
    try:
        yield
    except BaseException:
        import traceback

        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(NOTICED)


def _run(item: pytest.Item) -> tuple[bool, bool]:
    """Run one test; whether anything of it failed, and whether it was run at all."""
    from _pytest.runner import runtestprotocol

    reports = runtestprotocol(item, log=False, nextitem=None)
    failed = any(each.failed for each in reports)
    return failed, any(each.when == "call" and each.passed for each in reports)


def _ended(waiting: dict[int, Any], idle: dict[int, tuple[int, float, float]]) -> tuple[int, int]:
    """Wait for one process. Who takes too long by the clock, or waits for nothing, is ended with
    all that it started."""
    while True:
        for pid, (*_, until, _, _) in list(waiting.items()):
            if time.monotonic() > until or _waits(pid, idle):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(pid, signal.SIGKILL)
                idle.pop(pid, None)
                return pid, status
        time.sleep(0.003)


def _waits(session: int, idle: dict[int, tuple[int, float, float]]) -> bool:
    """Whether a process and all that it started have not run for long. Looked at once a second."""
    now = time.monotonic()
    before, since, look = idle.setdefault(session, (-1, now, now + 1))
    if now < look:
        return False
    ran = 0
    for each in os.listdir("/proc"):
        if each.isdecimal():
            try:
                fields = Path("/proc", each, "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session:
                ran += int(fields[11]) + int(fields[12])
    idle[session] = ran, since if ran == before else now, now + 1
    return ran == before and now - since > IDLE


def _bound(seconds: float) -> float:
    """What a test may take that takes so long with the right code."""
    return SPARE + 10 * seconds


def _seconds(more: float) -> None:
    """End this process when it has run for so much longer."""
    until = int(time.process_time() + more) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.RLIM_INFINITY))


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)


def _scratch(item: pytest.Item, folder: Path) -> None:
    """Give this process a folder of its own for the files of its tests."""
    factory = item.config._tmp_path_factory  # type: ignore[attr-defined]
    factory._basetemp = folder / "tmp"
    factory._basetemp.mkdir()


def _alive(file: Path) -> dict[tuple[str, int], list[FunctionType]]:
    """The functions of a module, by name and first line."""
    found: dict[tuple[str, int], list[FunctionType]] = defaultdict(list)
    gc.unfreeze()
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename == str(file):
            found[each.__code__.co_qualname, each.__code__.co_firstlineno].append(each)
    gc.freeze()
    return found


def _exchange(
    change: Change, file: Path, source: str, alive: dict[tuple[str, int], list[FunctionType]]
) -> bool:
    """Put the changed code in the place of the right one; whether that can be done."""
    text = alone(change, source)
    made = codes(compile(text, str(file), "exec", dont_inherit=True))
    done = False
    for (name, line), functions in alive.items():
        if not change.first <= line <= change.last:
            continue
        code = made.get((name, line))
        for function in functions:
            if code is None or len(code.co_freevars) != len(function.__code__.co_freevars):
                continue
            function.__code__ = code
            if name == change.function:
                done = True
                _defaults(function, text)
    return done


def _defaults(function: FunctionType, text: str) -> None:
    """Simple defaults are changed, too; they are kept beside the code."""
    line = function.__code__.co_firstlineno
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if min([node.lineno, *(each.lineno for each in node.decorator_list)]) != line:
            continue
        kept = list(function.__defaults__ or ())
        for at, given in enumerate(node.args.defaults):
            kept[at] = _simple(given, kept[at])
        function.__defaults__ = tuple(kept) or None
        for argument, given in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
            if given is not None and function.__kwdefaults__:
                function.__kwdefaults__[argument.arg] = _simple(
                    given, function.__kwdefaults__[argument.arg]
                )


def _simple(node: ast.expr, otherwise: Any) -> Any:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return otherwise


def main(arguments: list[str]) -> int:
    told = json.loads(arguments[0])
    root = Path(told["root"])
    runner = Runner(
        root,
        [root / "src" / "equipage" / each for each in told["modules"]],
        Path(told["out"]),
        told["children"],
    )
    runner.only = set(told.get("only") or ())
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "default", "-m", "not long"]
    return int(pytest.main([*options, *told["tests"]], plugins=[runner]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
