"""A progress bar for runs that take long enough to wonder."""

from __future__ import annotations

import sys
import time

#: Shorter runs show nothing: a bar that flashes by only disturbs.
DELAY = 1.0
_EVERY = 0.1
_WIDTH = 24


class Progress:
    """Draws itself on standard error, if that is a terminal, and leaves no trace."""

    def __init__(self, what: str, width: int) -> None:
        self.what = what
        self.width = width
        self.wanted = sys.stderr is not None and sys.stderr.isatty()
        self._next = time.monotonic() + DELAY
        self._drawn = False

    def __call__(self, done: int, total: int) -> None:
        if self.wanted and time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY
            self._drawn = True
            self._write(f"\r{self.line(done, total)}\x1b[K")

    def line(self, done: int, total: int) -> str:
        """The bar, cut to what fits."""
        filled = _WIDTH * done // max(1, total)
        bar = "#" * filled + "-" * (_WIDTH - filled)
        return f"{self.what} [{bar}] {done}/{total}"[: self.width - 1]

    def clear(self) -> None:
        if self._drawn:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
