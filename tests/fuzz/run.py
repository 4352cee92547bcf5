"""`run.py --seconds 60`: random input for each target; prints what was tried and what fell.

Input number N of a target depends on the seed and N alone: `run.py --target yaml --seed 1 --input
4711` does it again and prints the text.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.corpus import seeds
from fuzz.mutating import mutated
from fuzz.targets import Target, targets

#: More than this for one input of at most 20,000 characters is a finding; in seconds of our own
#: work.
SLOW = 3.0
MOST_FAILURES = 5


def text_of(target: str, seed: int, number: int, texts: list[str]) -> tuple[str, random.Random]:
    rng = random.Random(f"{seed}/{target}/{number}")
    return mutated(texts, rng), rng


def attempt(run: Target, text: str, rng: random.Random) -> str | None:
    """None, or what went wrong."""
    started = time.thread_time()
    try:
        run(text, rng)
    except Exception:
        return traceback.format_exc(limit=-4)
    seconds = time.thread_time() - started
    return f"slow: {seconds:.1f} s" if seconds > SLOW else None


def fuzz(
    name: str,
    run: Target,
    texts: list[str],
    seed: int,
    seconds: float,
    inputs: int | None,
    first: int,
) -> int:
    """Try inputs until the time or their number is up; the number of failures."""
    failures = count = 0
    deadline = time.monotonic() + seconds
    while (
        time.monotonic() < deadline
        and (inputs is None or count < inputs)
        and failures < MOST_FAILURES
    ):
        number = first + count
        text, rng = text_of(name, seed, number, texts)
        problem = attempt(run, text, rng)
        count += 1
        if problem is not None:
            failures += 1
            print(f"{name}: --target {name} --seed {seed} --input {number}\n{problem}", flush=True)
    print(f"{name:10} {count:8,} inputs from {len(texts):4} texts, {failures} failures", flush=True)
    return failures


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=60, help="for each target")
    parser.add_argument("--inputs", type=int, help="at most so many for each target")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--target", action="append", help="only this one")
    parser.add_argument("--input", type=int, help="try one input again, and show it")
    options = parser.parse_args(arguments)
    every, texts = targets(), seeds()
    chosen = options.target or list(every)
    if options.input is not None:
        text, rng = text_of(chosen[0], options.seed, options.input, texts[chosen[0]])
        print(repr(text))
        problem = attempt(every[chosen[0]], text, rng)
        print(problem or "nothing falls")
        return int(problem is not None)
    failures = sum(
        fuzz(
            name,
            every[name],
            texts[name],
            options.seed,
            options.seconds,
            options.inputs,
            options.first,
        )
        for name in chosen
    )
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
