"""Stream 100 MB of every generator: how fast, and how much memory it takes beyond the interpreter.

Each runs in its own process, whose peak resident size (`VmHWM`, Linux) is read before and after.
Fails if one of them takes 8 MB or more.

    python lab/bench/generators.py
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from equipage.formats.server.payloads import GeneratorLimits, build

MB = 1_000_000
ALLOWED = 8 * MB

#: About 100 MB each.
NODES: list[dict[str, object]] = [
    {"type": "nested_json", "depth": 16_600_000},
    {"type": "nested_json", "depth": 20_000_000, "structure": "mixed", "key": "key"},
    {"type": "batch_notifications", "count": 1_960_000},
    {"type": "garbage", "bytes": 100 * MB, "charset": "ascii"},
    {"type": "garbage", "bytes": 100 * MB, "charset": "alphanumeric"},
    {"type": "garbage", "bytes": 100 * MB, "charset": "binary"},
    {"type": "garbage", "bytes": 100 * MB, "charset": "utf8"},
    {"type": "repeated_keys", "count": 6_650_000},
    {"type": "repeated_keys", "count": 1, "key_length": 100 * MB},
    {"type": "unicode_spam", "bytes": 100 * MB, "category": "mixed"},
    {
        "type": "unicode_spam",
        "bytes": 100 * MB,
        "category": "emoji",
        "carrier": "some words to carry",
    },
    {"type": "ansi_escape", "count": 6_600_000},
    {"type": "ansi_escape", "count": 14_200_000, "sequences": ["clear"]},
]


def stream(node: dict[str, object]) -> tuple[int, float, int]:
    """The bytes made, the seconds it took, and by how many bytes the peak grew."""
    limits = GeneratorLimits(max_payload_bytes=2**40, max_nest_depth=2**40, max_batch_size=2**40)
    generator, facts = build(node, limits, ())
    if generator is None:
        raise ValueError(facts)
    before, start = peak(), time.perf_counter()
    made = sum(map(len, generator.stream()))
    return made, time.perf_counter() - start, peak() - before


def peak() -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def main() -> int:
    print(f"{'MB':>6} {'MB/s':>7} {'peak +MB':>9}  node")
    largest = 0
    for node in NODES:
        command = [sys.executable, __file__, json.dumps(node)]
        run = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        made, seconds, grown = json.loads(run.stdout)
        largest = max(largest, grown)
        print(f"{made / MB:6.1f} {made / MB / seconds:7.0f} {grown / MB:9.2f}  {json.dumps(node)}")
    print(f"largest growth {largest / MB:.2f} MB, allowed {ALLOWED / MB:.0f} MB")
    return int(largest >= ALLOWED)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(stream(json.loads(sys.argv[1]))))
    else:
        sys.exit(main())
