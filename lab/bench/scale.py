"""Many skills in memory, checked with Dask by two workers: is the time linear, the memory bounded?

    python lab/bench/scale.py [--quick]

Prints, for each number of skills, the time, the processor time of the workers, the throughput of a
core and the largest memory of a worker. The processor time decides whether it is linear: other work
on the machine changes the time, and not that. Needs the extra `scale`.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples/scale"))

from on_dask import check  # found by the line above
from partition import Item

COUNTS = (10_000, 100_000)
WORKERS = 2
#: How much longer than ten times as long ten times as many skills may take.
SLACK = 1.3


def skills(count: int) -> Iterator[Item]:
    """Repositories of one skill each; every hundredth has a finding."""
    for number in range(count):
        description = "" if number % 100 == 0 else "description: Does one thing well\n"
        text = f"---\nname: skill-{number}\n{description}---\nDo step {number}.\n"
        yield f"r{number}", {f"skills/skill-{number}/SKILL.md": text.encode()}


def peak() -> float:
    """The largest memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(counts: tuple[int, ...] = COUNTS) -> list[tuple[int, float, float, float]]:
    """For each count: seconds, seconds of processors, MB of the largest worker."""
    from dask.distributed import Client, LocalCluster

    rows = []
    for count in counts:
        with (
            tempfile.TemporaryDirectory() as folder,
            LocalCluster(WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            check(skills(100), folder, client)  # the workers import equipage
            before = sum(client.run(time.process_time).values())
            start = time.perf_counter()
            found = check(skills(count), folder, client)
            took = time.perf_counter() - start
            assert found == count // 100, found
            worked = sum(client.run(time.process_time).values()) - before
            largest = max(client.run(peak).values())
        rows.append((count, took, worked, largest))
    return rows


def main() -> int:
    counts = tuple(each // 10 for each in COUNTS) if "--quick" in sys.argv else COUNTS
    rows = measure(counts)
    print(f"{'skills':>9} {'seconds':>9} {'of cores':>9} {'per s, core':>12} {'MB, worker':>11}")
    for count, took, worked, largest in rows:
        rate = count / worked
        print(f"{count:>9} {took:>9.1f} {worked:>9.1f} {rate:>12.0f} {largest:>11.0f}")
    growth = rows[-1][2] / rows[0][2]
    most = counts[-1] / counts[0] * SLACK
    is_linear = growth <= most
    print(
        f"{'linear' if is_linear else 'NOT LINEAR'}: {counts[-1] // counts[0]} times as many "
        f"skills are {growth:.1f} times the work, allowed {most:.0f}; {os.cpu_count()} processors"
    )
    return int(not is_linear)


if __name__ == "__main__":
    sys.exit(main())
