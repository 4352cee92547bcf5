"""Checking trees of real agents and skills beside the linters that people would pick instead.

    python lab/bench/linters.py [--quick] [--equipage PROGRAM]

Prints, for each tree and program, processor time, time, peak memory and the files that were
examined: only files that a program examines are work that it did. Every round runs all programs one
after the other; the minimum counts. Fails if a bound does not hold.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import peers
import trees
from programs import LONGEST, Measured, compare, ours

ROUNDS = 3
SIZES = (300, 3000, 30_000)
#: Peer → how many times its processor time per file examined ours may be.
BOUNDS = {"claude-code-lint": 1 / 3, "cclint": 1 / 3, "skills-ref": 1 / 3, "agnix": 2.5}


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="small trees, one round")
    arguments.add_argument("--equipage", default=str(Path(sys.executable).with_name("equipage")))
    given = arguments.parse_args()
    folders = trees.collections()
    if not folders:
        print(f"skipped: there are no collections; {trees.CORPUS} is missing")
        return 0
    found, skipped = peers.find_peers()
    for name, why in skipped.items():
        print(f"skipped: {name}: {why}")
    own = ours(given.equipage, "equipage", "-j", "1")
    files = trees.real_files(folders)
    sizes, rounds = (SIZES[:1], 1) if given.quick else (SIZES, ROUNDS)
    print(f"{len(files):,} real agents and skills in {len(folders)} collections")
    missed: list[str] = []
    cpu: dict[tuple[str, int], float] = {}
    for sort, those in trees.divided(files, given.equipage).items():
        for size in sizes if those else ():
            with tempfile.TemporaryDirectory() as name:
                tree = trees.write(Path(name), those, size)
                often = rounds if size < 30_000 else 1
                measured = compare([own, *found], tree, often)
            cpu[sort, size] = measured["equipage"].cpu
            show(f"{size:,} files {sort} ({len(those)} of them real)", measured)
            if size == 3000:
                missed += judged(sort, measured)
    missed += growth(cpu)
    for each in missed:
        print(f"does not hold: {each}")
    return int(bool(missed))


def show(title: str, measured: dict[str, Measured]) -> None:
    heads = f"{'CPU s':>8}{'s':>8}{'MB':>7}{'examined':>10}{'ms a file':>11}{'x':>7}"
    print(f"\n{title}\n{'':18}{heads}")
    base = measured["equipage"].per_file
    for name, each in measured.items():
        ratio = base / each.per_file if each.files else float("nan")
        line = f"{name:18}{each.cpu:>8.2f}{each.wall:>8.2f}{each.memory:>7.0f}{each.files:>10,}"
        note = f"  ended after {LONGEST:.0f} s" if each.ended else ""
        print(f"{line}{1000 * each.per_file:>11.2f}{ratio:>7.2f}{note}", flush=True)


def judged(sort: str, measured: dict[str, Measured]) -> list[str]:
    """The bounds that do not hold; of a program that was ended, nothing more is known."""
    own, missed = measured["equipage"].per_file, []
    for name, bound in BOUNDS.items():
        peer = measured.get(name)
        if peer is not None and peer.files and not peer.ended and own > bound * peer.per_file:
            ratio = own / peer.per_file
            missed.append(f"{sort}: {ratio:.2f} x the time of {name} a file, bound {bound:.2f}")
    return missed


def growth(cpu: dict[tuple[str, int], float]) -> list[str]:
    """Ten times the files may take eleven times the time."""
    missed = []
    for sort in sorted({sort for sort, _ in cpu}):
        few, many = cpu.get((sort, 3000)), cpu.get((sort, 30_000))
        if few is not None and many is not None:
            print(f"\n30,000 / 3,000 files {sort}: {many / few:.1f} x, bound 11")
            missed += [f"{sort}: growth {many / few:.1f}"] if many > 11 * few else []
    return missed


if __name__ == "__main__":
    sys.exit(main())
