"""Checking many files by several processes.

Results come in the order of the files, whatever the number of processes. A worker that dies breaks
the pool: the files without a result are then checked one by one, and the file at which a worker
dies again gets a finding.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import msgspec

from equipage.core import interrupts
from equipage.core.source import pickle_with_text
from equipage.loading.format import Format
from equipage.loading.session import Request, Run
from equipage.workspace.find import File
from equipage.workspace.load import Summarise, load_chunk, summary_of_dead_process

Chunk = Sequence[File]


class Work(msgspec.Struct, frozen=True):
    """What a process does with each file. Each has a run of its own."""

    request: Request
    summarise: Summarise
    kind: str | Format | None
    run: Run | None = None

    def do(self, chunk: Chunk) -> list[Any]:
        """What is kept of each file; it pickles."""
        run = self.run or self.request.new_run()
        return load_chunk(chunk, self.request, run, self.summarise, self.kind)


def can_share() -> bool:
    """Whether other processes can be started without surprises.

    Forking copies locks that other threads hold, and some systems forbid it. A process that is
    spawned runs the script of the caller again, unless that is our own command.
    """
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    is_command = spec is not None and spec.name == "equipage.__main__"
    return _can_fork() or is_command or "equipage.__main__" in sys.modules


def _can_fork() -> bool:
    return sys.platform == "linux" and threading.active_count() == 1


def share_among_processes(chunks: Sequence[Chunk], work: Work, jobs: int) -> Iterator[Any]:
    """Check each file of each chunk by `jobs` processes."""
    done = 0
    try:
        for results in _run_pool(chunks, work, jobs):
            yield from results
            done += 1
    except BrokenProcessPool:
        yield from _one_by_one([each for chunk in chunks[done:] for each in chunk], work)
    except OSError:  # no process or descriptor is left
        for chunk in chunks[done:]:
            yield from work.do(chunk)


def _one_by_one(files: Chunk, work: Work) -> Iterator[Any]:
    """Check files by one process at a time; each file at which it dies gets a finding."""
    done = 0
    while done < len(files):
        try:
            for results in _run_pool([[each] for each in files[done:]], work, 1):
                yield from results
                done += 1
        except (BrokenProcessPool, OSError):
            reason = "its process was ended"
            yield summary_of_dead_process(files[done], reason, work.request.system)
            done += 1


def _run_pool(chunks: Sequence[Chunk], work: Work, jobs: int) -> Iterator[list[Any]]:
    """The results of each chunk in order. Raises `BrokenProcessPool`, `OSError` at its start."""
    context = multiprocessing.get_context("fork" if _can_fork() else "spawn")
    pool = ProcessPoolExecutor(jobs, context, _begin, (msgspec.structs.replace(work, run=None),))

    def kill() -> None:
        for process in list((pool._processes or {}).values()):
            process.kill()

    interrupts.register_cleanup(pool, kill)
    try:
        for future in [pool.submit(_check, chunk) for chunk in chunks]:
            yield pickle.loads(future.result())
    except BaseException:  # an interrupt, or a caller who wants no more
        kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        interrupts.unregister_cleanup(pool)


# --- the worker

_work: Work


def _begin(work: Work) -> None:
    """Prepare a worker. An interrupt is the business of the process that started it."""
    global _work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _work = msgspec.structs.replace(work, run=work.request.new_run())


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _check(chunk: Chunk) -> bytes:
    return pickle_with_text(_work.do(chunk))  # the command shows excerpts
