"""Measuring two things side by side: interleaved, minimum of several repeats, ratios and not times.

The minimum is what the code costs; everything above it is what the machine did meanwhile. Interleaving gives both
sides the same weather. Where one process does the work, its processor time counts, so that a busy machine does not.
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
from typing import Any, Literal

REPEATS = 7
#: A side that takes longer than this is measured less often: twice, or once if it takes very long. The table says so.
PATIENCE_SECONDS = 8.0
LAST_PATIENCE_SECONDS = 40.0


@dataclass(frozen=True)
class Row:
    """One comparison: `ours` should be `bound` times faster than `theirs` ("faster"), or cost at most `bound`
    times as much ("at most").

    `counts`: the two sides return what is compared, such as bytes, instead of being timed. `elsewhere`: the work is
    done by other processes, so that the collector of this one does not matter.
    """

    work: str
    against: str
    bound: float
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
    repeats: tuple[int, int]

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours if self.row.sense == "faster" else self.ours / self.theirs

    @property
    def holds(self) -> bool:
        return self.ratio >= self.row.bound if self.row.sense == "faster" else self.ratio <= self.row.bound

    def line(self, repeats: int = REPEATS) -> str:
        sign = "≥" if self.row.sense == "faster" else "≤"
        few = "" if min(self.repeats) >= repeats else f" ({min(self.repeats)} repeats)"
        mark = "yes" if self.holds else "**no**"
        bound = f"{sign} {self.row.bound:g} ×"
        return f"| {self.row.work} | {self.row.against}{few} | {bound} | **{self.ratio:.2f} ×** | {mark} |"


def measure(row: Row, *, collect: bool = True, repeats: int = REPEATS) -> Result:
    """Run both sides in turn. With `collect` False the garbage collector is off on both sides."""
    best = {"ours": float("inf"), "theirs": float("inf")}
    count = {"ours": 0, "theirs": 0}
    for _ in range(repeats):
        for name in ("ours", "theirs"):
            if count[name] >= (1 if best[name] > LAST_PATIENCE_SECONDS else 2) and best[name] > PATIENCE_SECONDS:
                continue
            work = getattr(row, name)
            clock = time.perf_counter if row.elsewhere else time.process_time
            best[name] = min(best[name], work() if row.counts else timed(work, collect=collect, clock=clock))
            count[name] += 1
    return Result(row, best["ours"], best["theirs"], (count["ours"], count["theirs"]))


def timed(work: Callable[[], object], *, collect: bool, clock: Callable[[], float] = time.process_time) -> float:
    """What some work takes by a clock, by default the one that stands still while the machine does other things."""
    gc.collect()
    if not collect:
        gc.disable()
    try:
        started = clock()
        work()
        return clock() - started
    finally:
        gc.enable()


def peak_growth(code: str) -> int:
    """How many bytes the peak memory of a fresh interpreter grows while `code` runs.

    `code` is in two parts, divided by a line `# ---`: what to import and prepare, and what to measure.
    """
    setup, work = code.split("# ---\n")
    script = f"import resource\n{setup}\nbefore = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n{work}\n"
    script += "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    output = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    unit = 1 if sys.platform == "darwin" else 1024
    return int(output) * unit


def processor_time(command: list[str], folder: Path) -> float:
    """The seconds of the processor that a command takes. It must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
