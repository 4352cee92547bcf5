"""Checking many files by several processes, where that wins or where they must be ended.

Results come in the order of the files, whatever the number of processes. What goes back from a
worker is small: findings refer to their sources by a key, a source is sent once, and only if a
finding is about it; equal sources of different files are one again on arrival.

A worker that dies, because the system or a limit ended it, costs the file it was at: that file gets
a finding, and another worker checks the rest.
"""

from __future__ import annotations

import hashlib
import io
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from ctypes import c_int
from multiprocessing.connection import Connection, wait
from typing import Any, Protocol

from equipage.core import interrupts
from equipage.core.diagnostics import UsageError
from equipage.core.frozen import prepare_alone
from equipage.core.source import Source, whole_span
from equipage.files.memory import limit_memory
from equipage.files.reading import decoded
from equipage.loading.session import Request
from equipage.workspace.allowance import Meter
from equipage.workspace.loads import NO_MEMORY, Candidate, ended

#: How many chunks wait for each process; more would only pile up results.
_AHEAD = 4
#: How often a worker may die before it has begun a file. Then the fault is not a file's.
_FALSE_STARTS = 3
#: The exit code of a worker that has no memory left.
_NO_MEMORY = 12

Chunk = Sequence[Candidate]
_Key = tuple[str | None, str, bytes]


class Checks(Protocol):
    """What looks at files, such as a `Checker`. Each process makes one of its own."""

    request: Request
    kind: str | None
    digests: bool

    def __init__(self, request: Request, kind: str | None, *, digests: bool = True) -> None: ...

    def check(self, candidates: Iterable[Candidate]) -> list[Any]:
        """What is kept of each file, None for those that are not ours; it pickles."""
        ...


def by_processes(
    chunks: Iterator[Chunk], checker: Checks, jobs: int, meter: Meter
) -> Iterator[Any]:
    """Check each candidate of each chunk as `checker` would, by `jobs` processes.

    Ends early, and ends what is under way, when the time of `meter` is up.
    """
    crew = _Crew(checker, meter)
    tasks = (_Task(number, chunk) for number, chunk in enumerate(chunks))
    again: deque[_Task] = deque()
    finished: dict[int, list[Any]] = {}
    shown = 0
    try:
        while True:
            # Before new work is given out: how far ahead it may be depends on what was shown.
            while shown in finished:
                yield from finished.pop(shown)
                shown += 1
            while crew.busy < jobs:
                # Chunks of workers that died come first, so that results do not pile up behind.
                task = again.popleft() if again else None
                if task is None and crew.last < shown + jobs * _AHEAD:
                    task = next(tasks, None)
                if task is None:
                    break
                if not crew.start(task):
                    again.appendleft(task)
                    jobs = crew.busy  # those that there are do the rest
            if not crew.busy:
                if not again:
                    return
                task, jobs = again.popleft(), 1
                crew.instead(task, "no process could be started")
                finished[task.number] = task.results
                continue
            if not (ready := crew.wait()):
                return
            for worker in ready:
                task = crew.result_of(worker)
                if task.left:
                    again.append(task)
                else:
                    finished[task.number] = task.results
    finally:
        crew.end()


class _Task:
    """A chunk, and what is known of it."""

    def __init__(self, number: int, chunk: Chunk) -> None:
        self.number = number
        self.chunk = chunk
        self.results: list[Any] = [None] * len(chunk)
        self.left = list(range(len(chunk)))  #: the candidates without a result
        self.false_starts = 0

    def candidates(self) -> list[Candidate]:
        return [self.chunk[index] for index in self.left]

    def arrive(self, results: Sequence[Any]) -> None:
        for index, result in zip(self.left, results, strict=True):
            self.results[index] = result
        self.left = []

    def lose(self, at: int, reason: str) -> None:
        """The worker died at this candidate; the others have to be checked again."""
        index = self.left.pop(at)
        self.results[index] = ended(self.chunk[index], reason)


class _Worker:
    """A process that checks one chunk after the other."""

    def __init__(self, checker: Checks, memory: int | None, others: Sequence[_Worker]) -> None:
        context = _context()
        self.pipe, there = context.Pipe()
        # A fork has every pipe of its parent. While it holds our end of one, it never sees that we
        # are gone, and would wait for ever.
        ours = [self, *others] if context.get_start_method() == "fork" else []
        #: which candidate of its chunk it is at; it survives the process
        self.at = context.RawValue(c_int, -1)
        self.process = context.Process(  # type: ignore[attr-defined]  # typeshed has it by method
            target=_work,
            args=(
                there,
                self.at,
                (type(checker), *_settings(checker)),
                memory,
                [each.pipe for each in ours],
            ),
            daemon=True,
        )
        self.process.start()
        interrupts.ends_with_us(self, self.process.kill)
        there.close()  # so that the death of the worker is the end of the pipe
        self.task: _Task | None = None

    def end(self) -> int:
        """End the process; its exit code, negative for a signal."""
        self.pipe.close()
        self.process.kill()
        self.process.join()
        interrupts.ended(self)
        return int(self.process.exitcode or 0)


def _settings(checker: Checks) -> tuple[Request, str | None, bool]:
    return checker.request, checker.kind, checker.digests


class _Crew:
    """The workers of one check."""

    def __init__(self, checker: Checks, meter: Meter) -> None:
        self.checker = checker
        self.meter = meter
        self.workers: list[_Worker] = []
        self.arrivals = _Arrivals()
        self.last = -1  #: the number of the last chunk that was started

    @property
    def busy(self) -> int:
        return sum(worker.task is not None for worker in self.workers)

    def start(self, task: _Task) -> bool:
        """Give a task to a worker; False if there is none, and no process or descriptor for one."""
        worker = next((each for each in self.workers if each.task is None), None)
        if worker is None:
            try:
                worker = _Worker(self.checker, self.meter.memory, self.workers)
            except OSError:
                return False
            self.workers.append(worker)
        self.last = max(self.last, task.number)
        worker.task, worker.at.value = task, -1
        with suppress(OSError):  # it died meanwhile: `wait` finds the end of its pipe
            worker.pipe.send(task.candidates())
        return True

    def wait(self) -> list[_Worker]:
        """The workers that have a result or died; none when the time is up."""
        pipes = {each.pipe: each for each in self.workers if each.task is not None}
        ready: list[Any] = wait([*pipes], self.meter.seconds_left())
        return [pipes[pipe] for pipe in ready]

    def result_of(self, worker: _Worker) -> _Task:
        """What a worker did of its task. Raises what it raised."""
        task, worker.task = worker.task, None
        assert task is not None
        try:
            done = worker.pipe.recv()
        except (EOFError, OSError):
            self.workers.remove(worker)
            self._lost(task, worker)
            return task
        if isinstance(done, Exception):
            raise done
        task.arrive(self.arrivals.unpack(done))
        return task

    def _lost(self, task: _Task, worker: _Worker) -> None:
        worker.process.join()
        interrupts.ended(worker)
        at, code = worker.at.value, int(worker.process.exitcode or 0)
        worker.pipe.close()
        if at >= 0:
            task.lose(at, _ended_by(code))
            return
        task.false_starts += 1
        if task.false_starts == _FALSE_STARTS:
            self.instead(task, _ended_by(code))

    def instead(self, task: _Task, reason: str) -> None:
        """Do a task without a worker, unless only a worker can be held to what it may use."""
        if self.meter.allowance.needs_processes:
            while task.left:
                task.lose(0, reason)
        else:
            task.arrive(self.checker.check(task.candidates()))

    def end(self) -> None:
        for worker in self.workers:
            worker.end()


def _ended_by(code: int) -> str:
    """Why a worker ended, by its exit code."""
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return NO_MEMORY if code == _NO_MEMORY else f"its process ended with {how}"


def can_share() -> bool:
    """Whether other processes can be started without surprises.

    Forking copies locks that other threads hold, and some systems forbid it. A process that is
    spawned runs the script of the caller again, unless that is our own command.
    """
    return _can_fork() or "equipage.__main__" in sys.modules or _is_command()


def _can_fork() -> bool:
    return sys.platform == "linux" and threading.active_count() == 1


def _is_command() -> bool:
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    return spec is not None and spec.name == "equipage.__main__"


def _context() -> multiprocessing.context.BaseContext:
    return multiprocessing.get_context("fork" if _can_fork() else "spawn")


# --- the worker


def _work(
    pipe: Connection,
    at: Any,
    job: tuple[type[Checks], Request, str | None, bool],
    memory: int | None,
    of_parent: Sequence[Connection],
) -> None:
    """Check chunks until the pipe ends. An interrupt is the business of who started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    prepare_alone()
    for each in of_parent:
        each.close()
    make, request, kind, digests = job
    checker, departures = make(request, kind, digests=digests), _Departures()
    limit_memory(memory)
    while True:
        try:
            chunk: list[Candidate] = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(departures.pack(checker.check(_counted(chunk, at))))
        except UsageError as error:
            pipe.send(error)
        except Exception as error:
            # Without memory, an import or a call of the system fails in any way. Then nothing more
            # can be done here, not even say so.
            if memory is not None or isinstance(error, MemoryError):
                os._exit(_NO_MEMORY)
            pipe.send(error)


def _counted(chunk: Chunk, at: Any) -> Iterator[Candidate]:
    """The candidates; `at` is always the number of the one that is under way."""
    for number, candidate in enumerate(chunk):
        at.value = number
        yield candidate


class _Departures:
    """Packs results. A source that was sent before is only named: chunks of a worker arrive in
    order.
    """

    def __init__(self) -> None:
        self.sent: set[_Key] = set()

    def pack(self, results: list[Any]) -> bytes:
        packed = io.BytesIO()
        pickler = _Pickler(packed, protocol=pickle.HIGHEST_PROTOCOL)
        pickler.found = {}
        pickler.dump(results)
        new = {key: source.data for key, source in pickler.found.items() if key not in self.sent}
        self.sent.update(new)
        return pickle.dumps((new, packed.getvalue()), protocol=pickle.HIGHEST_PROTOCOL)


class _Pickler(pickle.Pickler):
    found: dict[_Key, Source]

    def persistent_id(self, value: Any) -> _Key | None:
        if not isinstance(value, Source):
            return None
        key = value.filename, value.name, hashlib.sha256(value.data).digest()
        self.found.setdefault(key, value)
        return key

    def reducer_override(self, value: Any) -> Any:
        return whole_span(value)  # the command shows excerpts


class _Arrivals:
    """Unpacks results; equal sources are one."""

    def __init__(self) -> None:
        self.sources: dict[_Key, Source] = {}

    def unpack(self, data: bytes) -> list[Any]:
        new, packed = pickle.loads(data)
        for key, content in new.items():
            if key not in self.sources:
                self.sources[key] = decoded(key[1], content, key[0])
        unpickler = _Unpickler(io.BytesIO(packed))
        unpickler.sources = self.sources
        results: list[Any] = unpickler.load()
        return results


class _Unpickler(pickle.Unpickler):
    sources: dict[_Key, Source]

    def persistent_load(self, key: Any) -> Source:
        return self.sources[key]
