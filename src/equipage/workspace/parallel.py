"""Checking many files by several processes, where that wins.

Results come in the order of the files, whatever the number of processes. What goes back from a
worker is small: findings refer to their sources by a key, a source is sent once, and only if a
finding is about it; equal sources of different files are one again on arrival.
"""

from __future__ import annotations

import hashlib
import io
import multiprocessing
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import chain, repeat
from typing import Any, Protocol, TypeVar

from equipage.core.source import Source, whole_span
from equipage.files.reading import decoded
from equipage.loading.session import Request
from equipage.workspace.loads import Candidate

#: How many chunks wait for each process; more would only pile up results.
_AHEAD = 4

Chunk = Sequence[Candidate]
_Key = tuple[str | None, str, bytes]
_Kept = TypeVar("_Kept")


class Worker(Protocol[_Kept]):
    """What looks at files, such as a `Checker`. It is made again in each process."""

    request: Request
    kind: str | None
    digests: bool

    def __init__(self, request: Request, kind: str | None, *, digests: bool = True) -> None: ...

    def check(self, candidates: Sequence[Candidate]) -> list[_Kept | None]:
        """What is kept of each file: small, and it pickles."""
        ...


def by_processes(
    chunks: Iterator[Chunk], checker: Worker[_Kept], jobs: int
) -> Iterator[_Kept | None]:
    """Check each candidate of each chunk as `checker` would, by `jobs` processes."""
    arrivals = _Arrivals()
    waiting: deque[Chunk] = deque()
    futures: deque[Future[bytes]] = deque()
    with ProcessPoolExecutor(
        jobs, _context(), _start, (type(checker), checker.request, checker.kind, checker.digests)
    ) as pool:
        try:
            for chunk in chain(chunks, repeat(())):
                if chunk:
                    waiting.append(chunk)
                    futures.append(pool.submit(_work, chunk))
                if not futures:
                    return
                if not chunk or len(futures) >= jobs * _AHEAD:
                    arrived = arrivals.unpack(futures.popleft().result())
                    waiting.popleft()
                    yield from arrived
        except BrokenProcessPool:
            # A worker was killed, as systems do when memory runs out. One process needs less of it.
            for chunk in chain(waiting, chunks):
                yield from checker.check(chunk)
        finally:
            pool.shutdown(cancel_futures=True)


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

_job: tuple[Worker[Any], _Departures]


def _start(make: type[Worker[Any]], request: Request, kind: str | None, digests: bool) -> None:
    """Prepare a process. An interrupt is the business of the one that started it."""
    global _job  # a process has one job, and this is how a pool hands it over
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _job = make(request, kind, digests=digests), _Departures()


def _work(chunk: Chunk) -> bytes:
    checker, departures = _job
    return departures.pack(checker.check(chunk))


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
        key = value.path, value.name, hashlib.sha256(value.data).digest()
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
