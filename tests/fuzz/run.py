"""`run.py --inputs 100000`: random input for each surface; prints what was tried and what fell.

Input number N of a surface depends on the seed and N alone: `run.py --surface yaml --seed 1 --input
4711` does it again and prints it. An input falls if it raises what is not expected, gives a place
outside its file, or takes more than two seconds of the processor.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import sys
import time
import traceback
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
# Native parsers that are to be missing, as on machines for which they have no wheel.
for missing in os.environ.get("EQUIPAGE_FUZZ_WITHOUT", "").split():
    sys.modules[missing] = None  # type: ignore[assignment]

import coverage  # noqa: E402

from fuzz.surfaces import Surface, every  # noqa: E402
from lab import REPOSITORY, matching  # noqa: E402

#: Seconds of the processor for one input; and by the clock, which a busy machine makes longer.
SLOW, STUCK = 2.0, 120.0
MOST_FAILURES = 5
#: So many inputs are one piece of work, so that two processes end at about the same time.
PIECE = 10_000


class Hangs(BaseException):
    """An input took too long. Not an `Exception`, so that no handler on the way takes it."""


def _hang(_number: int, _frame: object) -> None:
    raise Hangs


def random_of(name: str, seed: int, number: int) -> random.Random:
    return random.Random(f"{seed}/{name}/{number}")


def attempt(surface: Surface, value: Any, rng: random.Random) -> tuple[int, str | None]:
    """How many inputs it was, and what went wrong."""
    signal.setitimer(signal.ITIMER_PROF, SLOW)
    signal.setitimer(signal.ITIMER_REAL, STUCK)
    try:
        return surface.run(value, rng) or 1, None
    except Hangs:
        return 1, f"more than {SLOW:g} s:\n{traceback.format_exc(limit=-6)}"
    except Exception:
        return 1, traceback.format_exc(limit=-6)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)


def fuzz(name: str, surface: Surface, seed: int, inputs: int, first: int = 0) -> tuple[int, int]:
    """Try so many inputs; how many were tried and how many fell."""
    failures = count = 0
    number = first
    while count < inputs and failures < MOST_FAILURES:
        rng = random_of(name, seed, number)
        tried, problem = attempt(surface, surface.make(rng), rng)
        count += tried
        if problem is not None:
            failures += 1
            print(f"{name}: --surface {name} --seed {seed} --input {number}\n{problem}", flush=True)
        number += 1
    return count, failures


def covered(name: str, surface: Surface, seed: int, inputs: int) -> str:
    """Which share of the lines of a surface's own code a sample of the inputs runs."""
    files = [str(each) for each in matching(REPOSITORY / surface.package, *surface.code)]
    watch = coverage.Coverage(data_file=None, include=files, config_file=False)
    watch.start()
    try:
        fuzz(name, surface, seed, inputs)
    finally:
        watch.stop()
    lines = missing = 0
    for file in files:
        _, there, _, missed, _ = watch.analysis2(file)
        # What runs when a module is imported ran before.
        inner = _inside_functions(file)
        lines += len(inner.intersection(there))
        missing += len(inner.intersection(missed))
    return f"{100 * (lines - missing) / max(1, lines):3.0f} % of {lines:5,} lines"


def _inside_functions(file: str) -> set[int]:
    """The lines of a file that run when something is called."""
    import ast

    found: set[int] = set()
    for node in ast.walk(ast.parse(Path(file).read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            last = node.end_lineno or node.lineno
            found.update(range(node.body[0].lineno, last + 1))
    return found


def again(name: str, surface: Surface, seed: int, number: int) -> int:
    """Try one input again, and show it."""
    rng = random_of(name, seed, number)
    value = surface.make(rng)
    print(repr(value))
    _, problem = attempt(surface, value, rng)
    print(problem or "nothing falls")
    return int(problem is not None)


# Work is shared out in pieces. Each process makes its own surfaces, because some of them keep files.

_SURFACES: dict[str, Surface] = {}


def _begin() -> None:
    signal.signal(signal.SIGPROF, _hang)
    signal.signal(signal.SIGALRM, _hang)
    _SURFACES.update(every())


def _piece(name: str, seed: int, inputs: int, first: int) -> tuple[int, int, float]:
    """Some of the inputs of a surface: how many were tried, how many fell, and the seconds."""
    started = time.process_time()
    count, failures = fuzz(name, _SURFACES[name], seed, inputs, first)
    return count, failures, time.process_time() - started


def _share(name: str, seed: int, inputs: int) -> str:
    return covered(name, _SURFACES[name], seed, inputs)


def _print(name: str, count: int, fell: int, seconds: float, share: str = "") -> None:
    each = f"{1_000_000 * seconds / max(1, count):6,.0f} µs each"
    print(f"{name:16} {count:9,} inputs {fell:3} fell {seconds:6.0f} s {each}  {share}", flush=True)


def run(chosen: list[str], options: argparse.Namespace) -> int:
    """Try all of it, and say what came of each surface when its last piece is done."""
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, spawned, _begin) as pool:
        work: dict[str, tuple[list[Future[tuple[int, int, float]]], Future[str]]] = {}
        for name in chosen:
            pieces = [
                pool.submit(
                    _piece, name, options.seed, min(PIECE, options.inputs - at), options.first + at
                )
                for at in range(0, options.inputs, PIECE)
            ]
            sample = min(options.sample, options.inputs)
            work[name] = pieces, pool.submit(_share, name, options.seed, sample)
        together = [0, 0, 0.0]
        for name, (pieces, share) in work.items():
            sums = [sum(column) for column in zip(*(each.result() for each in pieces), strict=True)]
            _print(name, int(sums[0]), int(sums[1]), sums[2], share.result())
            together = [old + new for old, new in zip(together, sums, strict=True)]
    _print("together", int(together[0]), int(together[1]), together[2])
    return int(together[1] > 0)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--inputs", type=int, default=100_000, help="for each surface")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--surface", action="append", help="only this one")
    parser.add_argument("--input", type=int, help="try one input again, and show it")
    parser.add_argument(
        "--sample", type=int, default=1000, help="inputs that lines are counted for"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes side by side")
    options = parser.parse_args(arguments)
    if options.input is None:
        return run(options.surface or list(every()), options)
    _begin()
    name = options.surface[0]
    return again(name, _SURFACES[name], options.seed, options.input)


if __name__ == "__main__":
    sys.exit(main())
