"""How much a value is when it is written out, counted without writing it out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipage.core.frozen import (
    CHARACTERS_PER_NODE,
    WeightCache,
    is_deeper_than,
    levels,
    outweighs,
    weight,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=20,
)


def nodes(value: Any) -> int:
    """The same, by walking everything."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(nodes, inner))


@given(VALUES)
def test_small_values_weigh_what_they_hold(value: Any) -> None:
    assert weight([value]) == nodes([value])


@given(VALUES, st.integers(1, 5))
def test_what_is_shared_counts_each_time(value: Any, times: int) -> None:
    shared = [value]
    assert weight([shared] * times) == 1 + times * weight(shared)


@pytest.mark.parametrize(("length", "extra"), [(0, 0), (63, 0), (64, 1), (640, 10)])
def test_text_counts(length: int, extra: int) -> None:
    assert weight(["x" * length]) == 2 + extra
    assert CHARACTERS_PER_NODE == 64


LONG_TEXTS = st.lists(st.integers(0, 200).map("x".__mul__), max_size=20)


@given(
    st.lists(VALUES) | st.dictionaries(st.text(max_size=3), VALUES | LONG_TEXTS), st.integers(0, 60)
)
def test_what_is_heavier_than_allowed_outweighs_it(value: Any, allowed: int) -> None:
    assert outweighs(value, allowed) is (weight(value) > allowed)


@given(st.lists(VALUES | LONG_TEXTS, max_size=5), st.integers(1, 4), st.integers(0, 200))
def test_what_was_weighed_is_not_walked_and_counts_the_same(
    shared: list[Any], times: int, allowed: int
) -> None:
    weights = WeightCache()
    weights.remember(shared)
    weights.remember("text")
    value = [{"a": shared, "b": "x"}] * times
    assert outweighs(value, allowed, weights) is (weight(value) > allowed)


def test_growth_without_bound_takes_no_time() -> None:
    value: Any = [1]
    for _ in range(200):
        value = [value] * 10
    assert weight(value) > 10**200
    assert outweighs(value, 10**6)


def test_what_holds_nothing_is_light() -> None:
    assert not outweighs("x" * 1000, 0)


@pytest.mark.parametrize(
    "value",
    [
        [1, 2, 3],
        {"a": [{"b": "c"}] * 5},
        {"a": "x" * CHARACTERS_PER_NODE * 1000},
        ["x" * CHARACTERS_PER_NODE * 10] * 50,
        [["y" * (CHARACTERS_PER_NODE - 1)] * 20] * 20,
    ],
)
def test_a_value_may_weigh_exactly_what_is_allowed(value: Any) -> None:
    """Also where most of it is text."""
    exact = weight(value)
    assert not outweighs(value, exact)
    assert outweighs(value, exact - 1)
    assert outweighs(value, exact // 2)
    assert outweighs(value, exact // 3)


def test_the_levels_of_a_value_each_part_once() -> None:
    part: Any = {"x": 1}
    value = {"a": [part, part], "b": (part,), "c": "text"}
    assert list(levels(value)) == [[value], [[part, part], (part,)], [part]]
    assert list(levels("text")) == list(levels(5)) == []
    endless: list[Any] = []
    endless.append(endless)
    assert is_deeper_than(endless, 1000)


@pytest.mark.parametrize("depth", [0, 1, 2, 7])
def test_depth_is_exact(depth: int) -> None:
    value: Any = {"a": 1}
    for number in range(depth):
        value = [value] if number % 2 else {"a": value}
    assert not is_deeper_than(value, depth)
    assert not is_deeper_than("text", depth)
    if depth:
        assert is_deeper_than(value, depth - 1)
