"""What one run may use: time, memory, files, bytes.

A run that would need more ends early and says so; a finding names the limit and what was left out.
Time and memory of single files can only be held by other processes, see `parallel`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from equipage.core import codes
from equipage.files import size_of
from equipage.files.reading import display_name

if TYPE_CHECKING:  # imported where they are needed
    from equipage.core.diagnostics import Diagnostic
    from equipage.workspace.loads import Candidate


#: Seconds after which no system waits any longer for a process.
_FOR_EVER = 1_000_000


class Allowance(msgspec.Struct, frozen=True):
    """The most that a run may use; None for as much as it needs.

    >>> equipage.Allowance(seconds=60, files=10_000).memory is None
    True
    """

    seconds: float | None = None
    """Of wall-clock time."""
    memory: int | None = None
    """Bytes that a process may add to those it starts with."""
    files: int | None = None
    """Files that are looked at."""
    bytes: int | None = None
    """Of the files that are looked at."""

    @property
    def needs_processes(self) -> bool:
        """Whether only another process can be held to it."""
        return self.seconds is not None or self.memory is not None


class TimeIsUp(Exception):
    """What is under way in this process is not worth its end."""


class Meter:
    """Counts what a run has used of its allowance."""

    def __init__(self, allowance: Allowance, clock: Callable[[], float] = time.monotonic) -> None:
        self.allowance = allowance
        self._clock = clock
        self._started = clock()
        self._files = self._bytes = 0
        #: what ended the run early, what it left out, and the first of that
        self.ended: tuple[str, str, str] | None = None

    @property
    def memory(self) -> int | None:
        return self.allowance.memory

    def seconds_left(self) -> float | None:
        """At least 0; None without a limit."""
        limit = self.allowance.seconds
        if limit is None or limit > _FOR_EVER:
            return None
        return max(0.0, self._started + limit - self._clock())

    def go_on(self, path: str, what: str) -> None:
        """Look at `what`, of which `path` comes first, if there is time. Raises `TimeIsUp`."""
        if self.seconds_left() == 0:
            self._note("--max-time", what, path)
            raise TimeIsUp

    def affordable(self, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        """Those of the candidates, from the first on, that the allowance has room for."""
        for number, each in enumerate(candidates):
            self._files += 1
            if self.allowance.files is not None and self._files > self.allowance.files:
                return self._end("--max-files", candidates, number)
            if self.allowance.bytes is not None:
                self._bytes += size_of(each.path)
                if self._bytes > self.allowance.bytes:
                    return self._end("--max-bytes", candidates, number)
        return candidates

    def out_of_time(self, candidates: Sequence[Candidate], done: int) -> None:
        """Only the first `done` of the candidates were checked before the time was up."""
        self._end("--max-time", candidates, done)

    def _end(self, limit: str, candidates: Sequence[Candidate], done: int) -> Sequence[Candidate]:
        if done < len(candidates):
            what = f"{len(candidates) - done:,} of {len(candidates):,} files"
            self._note(limit, what, candidates[done].path)
        return candidates[:done]

    def _note(self, limit: str, what: str, path: str) -> None:
        self.ended = self.ended or (limit, what, display_name(path))

    def finding(self) -> Diagnostic | None:
        """What to report of a run that ended early."""
        if self.ended is None:
            return None
        from equipage.loading.findings import finding

        limit, left, first = self.ended
        return finding(codes.ENDED_EARLY, first, {"limit": limit, "left": left})
