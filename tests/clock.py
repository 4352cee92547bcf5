"""Bounds on time: they tell a load that ends from one that would never end. `make bench` measures
how fast equipage is.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

#: What is promised for an idle machine may take this much longer on a busy one.
SLACK = 5


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
