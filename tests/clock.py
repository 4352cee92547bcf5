"""Bounds on time that tell a load that ends from one that never would; how fast lading is, is the business of `make bench`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

#: What is promised for an idle machine may take this much longer on a busy one, with coverage measured.
SLACK = 10


class Clock:
    """Time of this thread's own work: what others do on the machine does not count."""

    def __enter__(self) -> Clock:
        self.start = time.thread_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.thread_time() - self.start


@contextmanager
def promised(seconds: float) -> Iterator[None]:
    """The work inside ends in this time on an idle machine."""
    with Clock() as clock:
        yield
    assert clock.seconds < seconds * SLACK, f"{clock.seconds:.2f} s, promised are {seconds}"
