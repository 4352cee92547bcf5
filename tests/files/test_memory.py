"""How much memory a process may take: what it has, and so much more."""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable
from typing import Any

import pytest

from equipage.files.memory import can_limit_memory, limit_memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts it")
MORE = 64 << 20


def in_a_copy(act: Callable[[], object]) -> Any:
    """What an act comes to in a copy of this process, which it may change."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(write, json.dumps(act()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return json.loads(said)


def limits(hard: int | None = None) -> tuple[int, int, int]:
    """What this process has, and its limits once it may take `MORE`."""
    if hard is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    with open("/proc/self/status") as lines:
        has = next(int(each.split()[1]) << 10 for each in lines if each.startswith("VmData:"))
    limit_memory(MORE)
    return (has, *resource.getrlimit(resource.RLIMIT_DATA))


def test_a_process_may_take_so_much_more() -> None:
    assert can_limit_memory()
    has, soft, hard = in_a_copy(limits)
    assert has + MORE - (1 << 20) <= soft <= has + MORE + (1 << 20)
    assert hard == resource.getrlimit(resource.RLIMIT_DATA)[1]


def test_no_more_than_its_own_limit() -> None:
    _, soft, hard = in_a_copy(lambda: limits(hard=1 << 40))
    assert (soft < 1 << 40, hard) == (True, 1 << 40)
    _, soft, hard = in_a_copy(lambda: limits(hard=1 << 20 << 4))
    assert (soft, hard) == (1 << 24, 1 << 24)


def test_without_a_number_nothing_changes() -> None:
    def same() -> bool:
        before = resource.getrlimit(resource.RLIMIT_DATA)
        limit_memory(None)
        return resource.getrlimit(resource.RLIMIT_DATA) == before

    assert in_a_copy(same)


def test_an_allocation_beyond_it_fails() -> None:
    def taken() -> list[bool]:
        limit_memory(MORE)
        found = []
        for size in (MORE // 2, MORE * 2):
            try:
                found.append(len(bytearray(size)) == size)
            except MemoryError:
                found.append(False)
        return found

    assert in_a_copy(taken) == [True, False]
