"""Checks of whole repositories, as people have them, beside agnix and beside bare Python.

    python lab/bench/repositories.py [--equipage PROGRAM] FOLDER…

Each folder is a repository: mostly files that configure no agent. Prints, for each, the
processor time of a cold `equipage check`, of agnix and of `python -I -c pass`, the least of several
runs in turn. Where agnix needs half a second, ours may be three times as long in the mean, and five
times at most; elsewhere it may take 0.3 s more than bare Python. Fails if a bound does not hold.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import peers
from programs import Measured, compare

ROUNDS = 5
#: From how many seconds of agnix on a repository is large.
LARGE = 0.5
MEAN, MOST = 3.0, 5.0
#: Seconds above bare Python.
ABOVE = 0.3


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folders", nargs="+", type=Path)
    arguments.add_argument("--rounds", type=int, default=ROUNDS)
    arguments.add_argument("--equipage", default=str(Path(sys.executable).with_name("equipage")))
    given = arguments.parse_args()
    check = [given.equipage, "check", "--exit-zero", "-j", "1", "."]
    commands = {
        "python": [sys.executable, "-I", "-c", "pass"],
        "equipage": check,
        "agnix": [peers.agnix().command(Path())[0], "."],
    }
    programs = [_program(name, command) for name, command in commands.items()]
    print(f"{'':40}{'python':>9}{'equipage':>10}{'agnix':>9}{'above':>8}{'x':>7}")
    found: list[dict[str, Measured]] = []
    for folder in given.folders:
        found.append(compare(programs, folder, given.rounds))
        print(line(folder.name, found[-1]), flush=True)
    missed = judged(found)
    for each in missed:
        print(f"does not hold: {each}")
    return int(bool(missed))


def _program(name: str, command: list[str]) -> peers.Peer:
    return peers.Peer(name, lambda _: command, lambda *_: 0)


def line(name: str, measured: dict[str, Measured]) -> str:
    bare, own, agnix = (measured[each].cpu for each in ("python", "equipage", "agnix"))
    figures = f"{bare:>9.3f}{own:>10.3f}{agnix:>9.3f}{own - bare:>8.2f}{own / agnix:>7.2f}"
    return f"{name[:39]:40}{figures}"


def judged(found: list[dict[str, Measured]]) -> list[str]:
    """The bounds that do not hold."""
    large = [each for each in found if each["agnix"].cpu >= LARGE]
    ratios = [each["equipage"].cpu / each["agnix"].cpu for each in large]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 0.0
    above = [each["equipage"].cpu - each["python"].cpu for each in found if each not in large]
    largest, longest = max(ratios, default=0.0), max(above, default=0.0)
    print(f"{len(large)} large: geometric mean {mean:.2f} x agnix, largest {largest:.2f}")
    print(f"{len(above)} small: at most {longest:.2f} s above bare Python")
    bounds = {
        f"geometric mean {mean:.2f}, bound {MEAN}": mean <= MEAN,
        f"largest ratio {largest:.2f}, bound {MOST}": largest <= MOST,
        f"{longest:.2f} s above bare Python, bound {ABOVE}": longest <= ABOVE,
    }
    return [each for each, holds in bounds.items() if not holds]


if __name__ == "__main__":
    sys.exit(main())
