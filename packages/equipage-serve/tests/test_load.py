"""Ten thousand calls, 32 at once, with every fault mixed in."""

from __future__ import annotations

import asyncio
import os
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jinja2", reason="the extra `serve` is not installed")

from equipage.loading.session import Request
from equipage_serve.engine import Engine
from equipage_serve.platform import this_platform
from equipage_serve.snapshot import take_snapshot
from equipage_serve.tools import Settings
from packs import COUNT, EVERYTHING, TEXT, pack, write_packs

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="tools are confined on Linux"),
    pytest.mark.skipif(not EVERYTHING, reason="`make test-serve` runs it"),
]

CALLS, AT_ONCE = 10_000, 32
TOOLS = """
import os, signal, subprocess, time
def count(p): return {"words": len(p["text"].split())}
def hang(p): time.sleep(60)
def dies(p): os.kill(os.getpid(), signal.SIGSEGV)
def floods(p): return {"a": "x" * 300000}
def raises(p): raise ValueError("no")
def forks(p):
    if os.fork() == 0:
        os.setsid()
        time.sleep(60)
    return {"words": 1}
"""
#: Of each hundred calls, how many are of which tool, and what each must come to.
MIX = {
    "t.count": (90, None),
    "t.hang": (1, "TIMEOUT"),
    "t.dies": (2, "INTERNAL_ERROR"),
    "t.floods": (2, "INVALID_OUTPUT"),
    "t.raises": (2, "INTERNAL_ERROR"),
    "t.forks": (1, None),
    "s.cut": (1, "INVALID_OUTPUT"),
    "s.exit": (1, "INTERNAL_ERROR"),
}


def test_ten_thousand_calls(tmp_path: Path) -> None:
    same: dict[str, Any] = {"inputSchema": TEXT, "outputSchema": COUNT}
    packs = [
        pack("t.count", "tools:count", **same),
        pack("t.hang", "tools:hang", timeoutMs=300),
        pack("t.dies", "tools:dies"),
        pack("t.floods", "tools:floods"),
        pack("t.raises", "tools:raises"),
        pack("t.forks", "tools:forks", caps={"subprocess": True}),
        pack("s.cut", "cut.py"),
        pack("s.exit", "exit.py"),
    ]
    files = {"tools.py": TOOLS, "cut.py": "print('{')", "exit.py": "raise SystemExit(3)"}
    write_packs(tmp_path, packs, files)
    settings = Settings(
        allow=frozenset({"python"}), isolation="best", concurrency=AT_ONCE, queue=CALLS
    )
    snapshot = take_snapshot([str(tmp_path)], Request(env={}), settings, this_platform())
    chance = random.Random(23)
    names = [name for name, (share, _) in MIX.items() for _ in range(share)]
    wanted = [chance.choice(names) for _ in range(CALLS)]
    sizes: list[int] = []
    wrong: Counter[str] = Counter()

    async def main() -> None:
        engine = Engine(snapshot.tools, settings, this_platform(), {})
        turn = iter(range(CALLS))

        async def worker() -> None:
            for number in turn:
                name = wanted[number]
                text = "a " * (number % 50)
                result = await engine.call(name, {"text": text})
                expected = MIX[name][1]
                if result.code != expected:
                    wrong[f"{name}: {result.text}"] += 1
                elif name == "t.count" and result.data != {"words": number % 50}:
                    wrong[f"{name}: another value"] += 1
                if number % 100 == 99:
                    sizes.append(resident())

        await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
        await engine.close()

    asyncio.run(main())
    assert not wrong
    assert children() == []
    tenth = len(sizes) // 10
    second = sorted(sizes[tenth : 2 * tenth])[tenth // 2]
    last = sorted(sizes[-tenth:])[tenth // 2]
    assert last <= 1.1 * second, (second, last)


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])


def children() -> list[str]:
    tasks = Path(f"/proc/{os.getpid()}/task").iterdir()
    return [each for task in tasks for each in (task / "children").read_text().split()]
