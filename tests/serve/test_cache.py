"""Results that are kept: bounded, made once, and never shared by reference."""

from __future__ import annotations

import asyncio

import pytest

from equipage.serve.cache import ENTRY, Cache
from equipage.serve.outcome import Failure


def test_results_age() -> None:
    now = [0.0]
    cache = Cache(1000, 10, lambda: now[0])
    cache.put("a", b"1")
    now[0] = 9.9
    assert cache.get("a") == b"1"
    now[0] = 10.0
    assert cache.get("a") is None


def test_what_was_not_asked_for_the_longest_gives_way() -> None:
    cache = Cache(2 * ENTRY + 10, 100)
    for name in "abc":
        cache.put(name, b"1234")
        cache.get("a")
    assert cache.get("a") is not None
    assert cache.get("b") is None
    assert cache.get("c") is not None
    cache.put("huge", b"x" * (ENTRY + 11))
    assert cache.get("huge") is None
    assert cache.get("a") is not None


def test_ten_at_once_make_one() -> None:
    made = []

    async def make() -> bytes:
        made.append(1)
        await asyncio.sleep(0.01)
        return b"x"

    async def main() -> None:
        cache = Cache(100_000, 100)
        found = await asyncio.gather(*(cache.once("k", make) for _ in range(10)))
        assert [hit for _, hit in found].count(False) == 1

    asyncio.run(main())
    assert made == [1]


def test_a_failure_reaches_those_who_wait_and_is_not_kept() -> None:
    async def fail() -> bytes:
        await asyncio.sleep(0.01)
        raise Failure("TIMEOUT", "late")

    async def fine() -> bytes:
        return b"x"

    async def main() -> None:
        cache = Cache(100_000, 100)
        found = await asyncio.gather(
            *(cache.once("k", fail) for _ in range(3)), return_exceptions=True
        )
        assert [type(each) for each in found] == [Failure] * 3
        assert await cache.once("k", fine) == (b"x", False)

    asyncio.run(main())


def test_who_waits_for_a_cancelled_call_makes_the_result_itself() -> None:
    started = []

    async def main() -> None:
        may_end = asyncio.Event()

        async def make() -> bytes:
            started.append(1)
            await may_end.wait()
            return b"x"

        cache = Cache(100_000, 100)
        leader = asyncio.create_task(cache.once("k", make))
        await asyncio.sleep(0.01)
        waiting = [asyncio.create_task(cache.once("k", make)) for _ in range(3)]
        await asyncio.sleep(0.01)
        assert len(started) == 1
        leader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leader
        may_end.set()
        found = await asyncio.gather(*waiting)
        assert {data for data, _ in found} == {b"x"}

    asyncio.run(main())
    assert len(started) == 2
