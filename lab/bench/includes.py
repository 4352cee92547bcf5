"""A configuration of many small included files, beside the loader that people write by hand.

    python lab/bench/includes.py [--quick]

The programs are in `loading/`. All of them include, lay an override over what they include, replace
a variable and check the result with a model. They run in turn, in one process, and then each in a
process of its own that loads once and ends. Prints the least and the median of their processor time
and what they are of the time of `by_hand_confined.py`, which is as careful about paths as a
`Format` is by default; `by_hand.py` reads any file of the machine. Fails if a program with equipage
takes longer than the careful one.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path

from harness import processor_time, timed

PROGRAMS = Path(__file__).parent / "loading"
NAMES = ("by_hand", "by_hand_confined", "with_dataclass", "with_msgspec", "with_pydantic")
#: A folder that changed in the last two seconds is looked at anew for every file in it.
SETTLED_SECONDS = 2.1
SIZES, ROUNDS, COLD_ROUNDS, BOUND = (200, 1000), 21, 15, 1.0
PART = "name: tool{n}\nurl: https://${{HOST:-a.example}}/{n}\ntimeout: {n}\n"
ENTRY = "  - $include: lib/t{n}.yaml\n    override: {{timeout: {timeout}}}\n"


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="a fifth of the rounds")
    quick = arguments.parse_args().quick
    sys.path.insert(0, str(PROGRAMS))
    late: list[str] = []
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            file = composed(Path(folder).resolve(), size)
            time.sleep(SETTLED_SECONDS)
            warm = {name: partial(import_module(name).load, file) for name in NAMES}
            assert len({_plain(load().tools) for load in warm.values()}) == 1
            late += compared(f"{size:,} files", warm, timed_once, ROUNDS // 5 if quick else ROUNDS)
            cold = {name: command(name, file) for name in NAMES}
            rounds = COLD_ROUNDS // 5 if quick else COLD_ROUNDS
            # A process that starts pays for its imports, too: there is no bound.
            compared(f"{size:,} files, a process each", cold, started, rounds)
    for each in late:
        print(f"does not hold: {each}")
    return int(bool(late))


def composed(folder: Path, count: int) -> Path:
    """A configuration that includes `count` files, each with an override."""
    (folder / "lib").mkdir()
    entries = []
    for n in range(count):
        (folder / "lib" / f"t{n}.yaml").write_text(PART.format(n=n))
        entries.append(ENTRY.format(n=n, timeout=n + 1))
    file = folder / "app.yaml"
    file.write_text(f"name: demo\nprompt: Be kind.\ntools:\n{''.join(entries)}")
    return file


def _plain(tools: Iterable[object]) -> tuple[tuple[object, ...], ...]:
    return tuple((each.name, each.url, each.timeout) for each in tools)  # type: ignore[attr-defined]


def command(name: str, file: Path) -> list[str]:
    return [sys.executable, "-c", f"import {name}; {name}.load({str(file)!r})"]


def timed_once(load: Callable[[], object]) -> float:
    return timed(load, collect=True)


def started(words: list[str]) -> float:
    return processor_time(words, PROGRAMS)


def compared(
    title: str, programs: Mapping[str, object], clock: Callable[..., float], rounds: int
) -> list[str]:
    """Print what each program takes; what of it takes longer than the careful one by hand."""
    times: dict[str, list[float]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, program in programs.items():
            times[name].append(clock(program))
    base = {of: of(times["by_hand_confined"]) for of in (min, statistics.median)}
    print(f"\n{title:32} least ms       x   median ms       x")
    for name, taken in times.items():
        cells = [f"{of(taken) * 1000:11.1f} {of(taken) / base[of]:7.2f}" for of in base]
        print(f"{name:30}{' '.join(cells)}")
    return [
        f"{title}: {name} {min(taken) / base[min]:.2f} x the time of by_hand_confined"
        for name, taken in times.items()
        if name.startswith("with_") and min(taken) > BOUND * base[min]
    ]


if __name__ == "__main__":
    sys.exit(main())
