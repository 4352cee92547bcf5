"""Results that are kept: bounded, made once, and never shared by reference."""

from __future__ import annotations

import asyncio

import pytest

from equipage_serve.cache import ENTRY_OVERHEAD, Cache, decode_result, encode_result
from equipage_serve.outcome import Failure


def test_results_age() -> None:
    now = [0.0]
    cache = Cache(1000, 10, lambda: now[0])
    cache.put("a", b"1")
    now[0] = 9.9
    assert cache.get("a") == b"1"
    now[0] = 10.0
    assert cache.get("a") is None


def test_what_was_not_asked_for_the_longest_gives_way() -> None:
    cache = Cache(2 * ENTRY_OVERHEAD + 10, 100)
    for name in "abc":
        cache.put(name, b"1234")
        cache.get("a")
    assert cache.get("a") is not None
    assert cache.get("b") is None
    assert cache.get("c") is not None
    cache.put("huge", b"x" * (ENTRY_OVERHEAD + 11))
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
        found = await asyncio.gather(*(cache.get_or_make("k", make) for _ in range(10)))
        assert [data for data, _ in found] == [b"x"] * 10
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
            *(cache.get_or_make("k", fail) for _ in range(3)), return_exceptions=True
        )
        assert [type(each) for each in found] == [Failure] * 3
        assert await cache.get_or_make("k", fine) == (b"x", False)

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
        leader = asyncio.create_task(cache.get_or_make("k", make))
        await asyncio.sleep(0.01)
        waiting = [asyncio.create_task(cache.get_or_make("k", make)) for _ in range(3)]
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


def test_a_cache_holds_as_much_as_it_may_and_not_a_byte_more() -> None:
    cache = Cache(2 * ENTRY_OVERHEAD + 8, 100)
    cache.put("a", b"1234")
    cache.put("b", b"1234")
    assert (cache.get("a"), cache.get("b")) == (b"1234", b"1234")
    cache.put("b", b"12345")
    assert (cache.get("a"), cache.get("b")) == (None, b"12345")
    whole = Cache(ENTRY_OVERHEAD + 4, 100)
    whole.put("a", b"1234")
    assert whole.get("a") == b"1234"
    whole.put("b", b"12345")
    assert (whole.get("a"), whole.get("b")) == (b"1234", None)


def test_what_is_replaced_or_too_old_gives_its_room_back() -> None:
    now = [0.0]
    cache = Cache(2 * ENTRY_OVERHEAD + 8, 10, lambda: now[0])
    for _ in range(5):
        cache.put("a", b"1234")
    cache.put("b", b"1234")
    assert (cache.get("a"), cache.get("b")) == (b"1234", b"1234")
    now[0] = 10.0
    assert (cache.get("a"), cache.get("b")) == (None, None)
    for name in "cd":
        cache.put(name, b"1234")
    assert (cache.get("c"), cache.get("d")) == (b"1234", b"1234")
    # A result that is too large for the cache takes the place of the one before it, too.
    cache.put("c", b"x" * 1000)
    assert cache.get("c") is None


def test_a_result_is_kept_for_the_next_call_and_for_no_other() -> None:
    async def make(data: bytes) -> bytes:
        return data

    async def main() -> None:
        cache = Cache(100_000, 100)
        assert await cache.get_or_make("k", lambda: make(b"x")) == (b"x", False)
        assert await cache.get_or_make("k", lambda: make(b"other")) == (b"x", True)
        assert await cache.get_or_make("l", lambda: make(b"y")) == (b"y", False)
        assert await cache.get_or_make("l", lambda: make(b"other")) == (b"y", True)

    asyncio.run(main())


def test_values_are_kept_as_short_json() -> None:
    value = {"b": [1, None, "é"], "a": {"c": True}}
    assert encode_result(value) == b'{"b":[1,null,"\\u00e9"],"a":{"c":true}}'
    assert decode_result(encode_result(value)) == value


def test_what_is_too_old_does_not_push_out_what_is_not() -> None:
    now = [0.0]
    cache = Cache(2 * ENTRY_OVERHEAD + 8, 10, lambda: now[0])
    cache.put("old", b"1234")
    now[0] = 5.0
    cache.put("young", b"1234")
    cache.get("old")
    now[0] = 10.0
    assert cache.get("old") is None
    cache.put("new", b"1234")
    assert (cache.get("young"), cache.get("new")) == (b"1234", b"1234")
