"""Bounds on time: they tell a load that ends from one that would never end. `make bench` measures
how fast equipage is.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: What is promised for an idle machine may take this much longer on a busy one.
SLACK = 5

#: Seconds by the clock after which something that was to happen never will. No promise: it ends a
#: test that would hang, so it is far above what the busiest machine takes.
HANGS = 120


class Clock:
    """Time of this thread's own work: what others do on the machine does not count, nor what
    watching it would cost, so nothing is traced meanwhile."""

    def __enter__(self) -> Clock:
        self.tracer = sys.gettrace()
        sys.settrace(None)
        self.start = time.thread_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.thread_time() - self.start
        sys.settrace(self.tracer)


@contextmanager
def promised(seconds: float) -> Iterator[None]:
    """The work inside ends in this time on an idle machine."""
    with Clock() as clock:
        yield
    assert clock.seconds < seconds * SLACK, f"{clock.seconds:.2f} s, promised are {seconds}"


class Stopwatch:
    """Time by the clock, less the time in which a process could have run and others had the cores:
    what it computes, sleeps or waits for counts, and what others do on the machine does not.

    Linux counts this for each thread and forgets it with the thread, so it is asked for repeatedly.
    Where nothing counts it, this is the clock.
    """

    def __init__(self, *pids: int) -> None:
        self._pids = pids or (os.getpid(),)
        self._lost: dict[str, float] = {}
        self._before: dict[str, float] = {}
        self._look()
        self._before = dict(self._lost)
        self._started = time.monotonic()

    def _look(self) -> None:
        for pid in self._pids:
            with suppress(OSError):
                for task in Path(f"/proc/{pid}/task").iterdir():
                    with suppress(OSError):
                        nanoseconds = int((task / "schedstat").read_text().split()[1])
                        self._lost[str(task)] = nanoseconds / 1e9

    @property
    def seconds(self) -> float:
        self._look()
        lost = sum(each - self._before.get(task, 0.0) for task, each in self._lost.items())
        return time.monotonic() - self._started - lost

    def until(self, holds: Callable[[], object], seconds: float) -> float:
        """Wait until something holds; the time it took. Fails if that is not within `seconds` on an
        idle machine, which may be more on a busy one."""
        most = seconds * SLACK
        while not holds():
            assert self.seconds < most, f"it did not happen within {most} s, promised are {seconds}"
            time.sleep(0.01)
        took = self.seconds
        assert took < most, f"it took {took:.2f} s, promised are {seconds}"
        return took
