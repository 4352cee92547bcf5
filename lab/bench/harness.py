"""Measuring two things side by side: interleaved, minimum of several repeats, ratios and not times.

The minimum is what the code costs; everything above it is what the machine did meanwhile.
Interleaving gives both sides the same conditions. Where one process does the work, its processor
time counts, so that other work on the machine does not.
"""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any, Literal

REPEATS = 7
#: Short work is measured more often, because its minimum takes longer to show: up to
#: `MOST_REPEATS` times, or for `ENOUGH_SECONDS`.
MOST_REPEATS = 30
ENOUGH_SECONDS = 12.0
#: A side that took so long twice is not run again: no accident hides in its minimum.
_LONG_SECONDS = 20.0


@dataclass(frozen=True)
class Row:
    """One comparison: `ours` should be `bound` times faster than `theirs` ("faster"), or cost at
    most `bound` times as much ("at most"). Without a bound it is there to be known.

    `counts`: the two sides return what is compared, such as bytes, instead of being timed.
    `elsewhere`: other processes do the work, so that the collector of this one does not matter.
    """

    work: str
    against: str
    bound: float | None
    sense: Literal["faster", "at most"]
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    counts: bool = False
    elsewhere: bool = False


@dataclass(frozen=True)
class Result:
    row: Row
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours if self.row.sense == "faster" else self.ours / self.theirs

    @property
    def holds(self) -> bool:
        if self.row.bound is None:
            return True
        return (
            self.ratio >= self.row.bound
            if self.row.sense == "faster"
            else self.ratio <= self.row.bound
        )

    def line(self) -> str:
        sign = "≥" if self.row.sense == "faster" else "≤"
        mark = "–" if self.row.bound is None else "yes" if self.holds else "**no**"
        bound = "none" if self.row.bound is None else f"{sign} {self.row.bound:g} ×"
        return (
            f"| {self.row.work} | {self.row.against} | {bound} | **{self.ratio:.2f} ×** | {mark} |"
        )


def measure(row: Row, *, collect: bool = True, repeats: int = REPEATS) -> Result:
    """Run both sides in turn, at least `repeats` times, or until it is known what they take.

    If `collect` is False, the garbage collector is off on both sides.
    """
    least, spent = [float("inf")] * 2, [0.0, 0.0]
    clock = time.perf_counter if row.elsewhere else process_time
    for number in range(MOST_REPEATS):
        if number >= repeats and sum(spent) > ENOUGH_SECONDS:
            break
        for side, work in enumerate((row.ours, row.theirs)):
            if number >= 2 and spent[side] > _LONG_SECONDS:
                continue
            started = time.monotonic()
            value = work() if row.counts else timed(work, collect=collect, clock=clock)
            least[side] = min(least[side], value)
            spent[side] += time.monotonic() - started
    return Result(row, *least)


def timed(
    work: Callable[[], object], *, collect: bool, clock: Callable[[], float] = process_time
) -> float:
    """What some work takes by a clock, by default the clock of this process's own work."""
    gc.collect()
    if not collect:
        gc.disable()
    try:
        started = clock()
        result = work()
        elapsed = clock() - started
        del result  # giving it back is not part of making it
        return elapsed
    finally:
        gc.enable()


def peak_growth(code: str) -> int:
    """How many bytes the peak memory of a fresh interpreter grows while `code` runs.

    A line `# ---` divides `code` into what to prepare and what to measure.
    """
    return int(_grown(code, "peak_memory"))


def fresh_time(code: str) -> float:
    """The seconds of the processor that `code`, divided as above, takes in a fresh interpreter,
    which remembers nothing of a repeat before."""
    return _grown(code, "process_time")


def _grown(code: str, counter: str) -> float:
    setup, work = code.split("# ---\n")
    before = f"from harness import peak_memory, process_time\n{setup}\nbefore = {counter}()\n"
    script = f"{before}{work}\nprint({counter}() - before)"
    command = [sys.executable, "-c", script]
    folder = Path(__file__).parent
    return float(
        subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder).stdout
    )


def peak_memory() -> int:
    """The most bytes this process ever had in memory.

    Linux hands `ru_maxrss` down from the process that started this one, so it is asked elsewhere.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def processor_time(command: list[str], folder: Path) -> float:
    """The seconds of the processor that a command takes. It must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
