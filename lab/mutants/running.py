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
import functools
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
from typing import Any, NamedTuple, NoReturn

import pytest
from changes import Change, alone, changes_of, codes, module_name, shown

#: A test that takes longer than this is left out: seconds of the processor, with its lines watched.
SLOWEST = 1.5
#: Bounds: seconds of the processor beyond ten times what a test takes, and seconds by the clock.
SPARE, CLOCK = 1.0, 60.0
#: So many seconds without a tick of the processor are too long.
IDLE = 5.0
MEMORY, FILE = 4 << 30, 64 << 20

#: What a process says of its change; one that is ended says nothing, nor does one that a change
#: ends with the code 0.
NOTICED, BROKEN, LIVES = 1, 3, 4
#: The functions of a module, by name and first line.
Functions = dict[tuple[str, int], list[FunctionType]]


def _sources_of(file: Path) -> Path:
    """The folder `src` that a module is imported from."""
    return next(each for each in file.parents if each.name == "src")


class Runner:
    def __init__(self, root: Path, modules: list[Path], out: Path, children: int) -> None:
        self.root, self.modules, self.out, self.children = root, modules, out, children
        #: What was noticed before and need not be tried again, by name: the change.
        self.known: dict[str, str] = {}
        self.skipped: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise session.Interrupted(f"{session.testsfailed} errors during collection")
        started = time.monotonic()
        seen = self._tested(session.items)
        for name in seen["modules"]:
            with contextlib.suppress(ImportError, ValueError):
                importlib.import_module(name)
        for file in self.modules:
            importlib.import_module(module_name(file, _sources_of(file)))
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
        before = set(sys.modules)
        seconds: dict[str, float] = {}
        by_clock: dict[str, float] = {}
        left_out = []
        lines: dict[str, dict[int, list[str]]] = {str(file): {} for file in self.modules}
        caches: list[Any] = []
        imported = 0
        with _Watch(self.modules) as watch:
            for item in items:
                if len(sys.modules) != imported:
                    imported, caches = len(sys.modules), _caches()
                for each in caches:
                    each.cache_clear()  # or only the first test that asks would run the lines
                begun, clock = time.process_time(), time.monotonic()
                failed, passed = _run(item)
                took = time.process_time() - begun
                by_clock[item.nodeid] = time.monotonic() - clock
                seen = watch.taken()
                if failed or not passed:
                    left_out.append((item.nodeid, "fails" if failed else "is skipped"))
                elif took > SLOWEST:
                    left_out.append((item.nodeid, f"takes {took:.1f} s"))
                else:
                    seconds[item.nodeid] = took
                    for file, line in seen:
                        lines[file].setdefault(line, []).append(item.nodeid)
        # Whatever the tests import late, once: each copy of the process would do it again.
        modules = [name for name in sys.modules if name not in before]
        order = sorted(seconds, key=by_clock.__getitem__)  # what copies of it take counts, too
        return {
            "seconds": {each: seconds[each] for each in order},
            "lines": lines,
            "modules": modules,
            "left_out": left_out,
        }

    # The tests against each change.

    def _try_all(self, items: list[pytest.Item], seen: dict[str, Any], started: float) -> None:
        trials = _Trials(items, seen["seconds"], self.children)
        for file in self.modules:
            source = file.read_text()
            name = str(file.relative_to(_sources_of(file)))
            lines = seen["lines"][str(file)]
            alive = _alive(file)
            for change in changes_of(name, source):
                if self.known.get(change.name) == shown(change, source):
                    self.skipped.append(change.name)
                    continue
                reach = {test for line in change.lines for test in lines.get(str(line), ())}
                if not reach:
                    # The watch ends where a test runs out of stack; then its function counts.
                    around = range(change.first, change.last + 1)
                    reach = {test for line in around for test in lines.get(str(line), ())}
                trials.start(change, file, source, alive, reach)
                if trials.results and len(trials.results) % 100 == 0:
                    self._keep(trials, seen, started)
        trials.end()
        self._keep(trials, seen, started)

    def _keep(self, trials: _Trials, seen: dict[str, Any], started: float) -> None:
        results = trials.results
        told = {"left_out": seen["left_out"], "results": results, "skipped": self.skipped}
        self.out.write_text(json.dumps(told, indent=1))
        lives = sum(each["outcome"] in ("lives", "unreached") for each in results)
        took = time.monotonic() - started
        print(
            f"  {len(results)} tried, {lives} live, {took:.0f} s", file=sys.__stderr__, flush=True
        )


class _Trial(NamedTuple):
    """A change that is being tried."""

    change: Change
    source: str
    tests: int
    until: float  #: when it has taken too long by the clock
    folder: Path


class _Trials:
    """Some changes at a time, each in a process of its own."""

    def __init__(self, items: list[pytest.Item], seconds: dict[str, float], most: int) -> None:
        self.results: list[dict[str, Any]] = []
        self._items = {item.nodeid: item for item in items}
        self._caches = _caches()
        self._seconds, self._most = seconds, most
        self._order = {test: number for number, test in enumerate(seconds)}  # quick ones first
        self._waiting: dict[int, _Trial] = {}
        self._idle: dict[int, tuple[int, float, float]] = {}
        #: By function: the tests that noticed a change, the last one first.
        self._noticed: dict[str, list[str]] = defaultdict(list)

    def start(
        self, change: Change, file: Path, source: str, alive: Functions, reach: set[str]
    ) -> None:
        """Try a change as soon as there is a place."""
        if not reach:
            self._tell(change, source, "unreached", "", 0)
            return
        first = [test for test in self._noticed[change.function] if test in reach]
        tests = first + sorted(reach - set(first), key=self._order.__getitem__)
        while len(self._waiting) >= self._most:
            self._finish()
        folder = Path(tempfile.mkdtemp(prefix="mutant-"))
        child = os.fork()
        if not child:
            with _leaving():
                self._inside(change, file, source, alive, tests, folder)
        bound = sum(_bound(self._seconds[test]) for test in tests)
        until = time.monotonic() + CLOCK + bound
        self._waiting[child] = _Trial(change, source, len(tests), until, folder)

    def _inside(
        self,
        change: Change,
        file: Path,
        source: str,
        alive: Functions,
        tests: list[str],
        folder: Path,
    ) -> NoReturn:
        os.setsid()
        _bounded()
        if not _exchange(change, file, source, alive):
            os._exit(BROKEN)
        for each in self._caches:
            each.cache_clear()  # what the right code came to while tests were collected
        _scratch(self._items[tests[0]], folder)
        self._items[tests[0]].config.pluginmanager.register(_Leaving(folder))
        for test in tests:
            _seconds(_bound(self._seconds[test]))
            _run(self._items[test])
        os._exit(LIVES)

    def _finish(self) -> None:
        pid, status = _ended(self._waiting, self._idle)
        change, source, tests, _, folder = self._waiting.pop(pid)
        code = os.waitstatus_to_exitcode(status)
        by = (folder / "by").read_text() if (folder / "by").exists() else ""
        shutil.rmtree(folder, ignore_errors=True)
        if code == NOTICED and by:
            own = self._noticed[change.function]
            if by in own:
                own.remove(by)
            own.insert(0, by)
        outcome = {LIVES: "lives", NOTICED: "noticed", BROKEN: "broken"}.get(code, "ended")
        self._tell(change, source, outcome, by, tests)

    def end(self) -> None:
        while self._waiting:
            self._finish()

    def _tell(self, change: Change, source: str, outcome: str, by: str, tests: int) -> None:
        said = {"name": change.name, "line": change.lines[0], "outcome": outcome, "by": by}
        self.results.append({**said, "tests": tests, "change": shown(change, source)})


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


class _Leaving:
    """Ends a process at the first failure: what the test began may never end by itself."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Any:
        report = yield
        if report.failed:
            (self._folder / "by").write_text(item.nodeid)
            os._exit(NOTICED)
        return report


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


def _ended(
    waiting: dict[int, _Trial], idle: dict[int, tuple[int, float, float]]
) -> tuple[int, int]:
    """Wait for one process. Who takes too long by the clock, or waits for nothing, is ended with
    all that it started."""
    pause = 0.002
    while True:
        for pid, trial in list(waiting.items()):
            if time.monotonic() > trial.until or _waits(pid, idle):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(pid, signal.SIGKILL)
                idle.pop(pid, None)
                return pid, status
        time.sleep(pause)
        pause = min(2 * pause, 0.05)  # looking costs time, too


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


def _alive(file: Path) -> Functions:
    """The functions of a module that are in memory."""
    found: Functions = defaultdict(list)
    gc.unfreeze()
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename == str(file):
            found[each.__code__.co_qualname, each.__code__.co_firstlineno].append(each)
    gc.freeze()
    return found


def _caches() -> list[Any]:
    """What functions of ours remember."""
    gc.unfreeze()
    found = [
        each
        for each in gc.get_objects()
        if isinstance(each, functools._lru_cache_wrapper)
        and str(getattr(each, "__module__", "")).startswith("equipage")
    ]
    gc.freeze()
    return found


def _exchange(change: Change, file: Path, source: str, alive: Functions) -> bool:
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
    told = json.loads(Path(arguments[0]).read_text())
    root = Path(told["root"])
    runner = Runner(
        root, [root / each for each in told["modules"]], Path(told["out"]), told["children"]
    )
    runner.known = told["known"]
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "default"]
    return int(pytest.main([*options, *told["tests"]], plugins=[runner]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
