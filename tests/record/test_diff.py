"""Differences in meaning: what counts as one, and what is seen first."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipage.core.path import format_path
from equipage.loading.format import Sensitive
from equipage.record.diff import MEANINGS, compare

SENSITIVE = (
    Sensitive("tools.*", "tool"),
    Sensitive("agents.*", "agent"),
    Sensitive("**.prompt", "prompt"),
    Sensitive("allow", "permission", absent="everything"),
    Sensitive("deny", "permission", widens="fewer"),
    Sensitive("granted", "permission"),
    Sensitive("usual", "permission", default=("read", "search")),
    Sensitive("mode", "permission", order=("none", "read", "write"), default="read"),
    Sensitive("flags.*", "permission"),
)


def told(before: Any, after: Any) -> list[str]:
    return [
        f"{each.meaning}: {each.how} {format_path(each.path)}"
        for each in compare(before, after, SENSITIVE)
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, [], id="the order of keys means nothing"),
        pytest.param({"a": 1}, {"a": 1.0}, ["changed: changed a"], id="a float is no whole number"),
        pytest.param({"a": 1}, {"a": True}, ["changed: changed a"], id="true is no number"),
        pytest.param({"a": None}, {}, ["changed: removed a"], id="null is not absent"),
        pytest.param({"a": {"b": 1}}, {"a": [1]}, ["changed: changed a"], id="another type"),
        pytest.param({"l": ["a", "b"]}, {"l": ["b", "a", "c"]}, ["changed: added l[2]", "changed: reordered l"], id="scalars by value"),
        pytest.param({"l": [1, 1, 2]}, {"l": [1, 2]}, ["changed: removed l[0]"], id="equal scalars by place"),
        pytest.param({"l": [{"name": "a", "x": 1}, {"name": "b"}]}, {"l": [{"name": "b"}, {"name": "a", "x": 2}]}, ["changed: changed l[1].x", "changed: reordered l"], id="entries by name"),
        pytest.param({"l": [{"t": {"uri": "a"}, "x": 1}]}, {"l": [{"t": {"uri": "b"}}, {"t": {"uri": "a"}, "x": 2}]}, ["changed: added l[0]", "changed: changed l[1].x"], id="entries by the part they wrap"),
        pytest.param({"l": [{"name": "a"}, {"name": "a"}]}, {"l": [{"name": "a"}]}, ["changed: removed l[1]"], id="a name twice is no name"),
        pytest.param({"l": [{"x": 1}, {"x": 2}]}, {"l": [{"x": 0}, {"x": 1}, {"x": 2}]}, ["changed: added l[0]"], id="entries without names by content"),
        pytest.param({"l": [[1], [2]]}, {"l": [[1], [3]]}, ["changed: removed l[1][0]", "changed: added l[1][0]"], id="lists in lists"),
        pytest.param({"tools": [{"name": "a"}]}, {"tools": [{"name": "b"}, {"name": "a"}]}, ["tool added: added tools[0]"], id="an added tool"),
        pytest.param({}, {"tools": [{"name": "b"}], "z": 1}, ["tool added: added tools[0]", "changed: added z"], id="the first tool"),
        pytest.param({"tools": [{"name": "a"}]}, {"tools": []}, ["tool removed: removed tools[0]"], id="a removed tool"),
        pytest.param({"tools": [{"name": "a", "x": 1, "prompt": "p"}]}, {"tools": [{"name": "a", "x": 2, "prompt": "q"}]}, ["prompt changed: changed tools[0].prompt", "tool changed: changed tools[0].x"], id="inside a tool"),
        pytest.param({"agents": {}}, {"agents": {"a": {"prompt": "p"}}}, ["agent added: added agents.a"], id="an added agent is one change"),
        pytest.param({"allow": ["a"]}, {"allow": ["a", "b"]}, ["permission widened: added allow[1]"], id="one more allowed"),
        pytest.param({"allow": ["a", "b"]}, {"allow": ["a"]}, ["permission changed: removed allow[1]"], id="one less allowed"),
        pytest.param({"allow": ["a"]}, {}, ["permission widened: removed allow"], id="no allow list allows everything"),
        pytest.param({}, {"allow": ["a"]}, ["permission changed: added allow"], id="an allow list restricts"),
        pytest.param({"granted": ["a"]}, {}, ["permission changed: removed granted"], id="nothing granted"),
        pytest.param({}, {"granted": ["a"]}, ["permission widened: added granted"], id="something granted"),
        pytest.param({"deny": ["a", "b"]}, {"deny": ["a"]}, ["permission widened: removed deny[1]"], id="one less denied"),
        pytest.param({"deny": ["a"]}, {}, ["permission widened: removed deny"], id="nothing denied"),
        pytest.param({}, {"deny": ["a"]}, ["permission changed: added deny"], id="something denied"),
        pytest.param({}, {"usual": ["read"]}, ["permission changed: added usual"], id="less than what is usual"),
        pytest.param({}, {"usual": ["read", "write"]}, ["permission widened: added usual"], id="more than what is usual"),
        pytest.param({"usual": ["write"]}, {}, ["permission widened: removed usual"], id="back to what is usual"),
        pytest.param({"mode": "read"}, {"mode": "write"}, ["permission widened: changed mode"], id="a wider mode"),
        pytest.param({"mode": "read"}, {"mode": "none"}, ["permission changed: changed mode"], id="a narrower mode"),
        pytest.param({}, {"mode": "read"}, ["permission changed: added mode"], id="the default spelt out"),
        pytest.param({"mode": "none"}, {}, ["permission widened: removed mode"], id="back to a wider default"),
        pytest.param({"mode": "none"}, {"mode": "odd"}, ["permission widened: changed mode"], id="an unknown mode may be wide"),
        pytest.param({"flags": {"a": False}}, {"flags": {"a": True}}, ["permission widened: changed flags.a"], id="switched on"),
        pytest.param({"flags": {"a": True}}, {"flags": {"a": False}}, ["permission changed: changed flags.a"], id="switched off"),
        pytest.param({"flags": {"a": "x"}}, {"flags": {"a": "y"}}, ["permission widened: changed flags.a"], id="other than before may be more"),
    ],
)  # fmt: skip
def test_differences(before: Any, after: Any, expected: list[str]) -> None:
    assert told(before, after) == expected


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text("ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["name", "tools", "prompt", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


def _shuffled(value: Any, draw: random.Random) -> Any:
    if isinstance(value, dict):
        items = list(value.items())
        draw.shuffle(items)
        return {key: _shuffled(each, draw) for key, each in items}
    return [_shuffled(each, draw) for each in value] if isinstance(value, list) else value


@given(VALUES, st.randoms(use_true_random=False))
def test_a_value_differs_not_from_itself_with_its_keys_in_another_order(
    value: Any, draw: random.Random
) -> None:
    assert compare(value, _shuffled(value, draw), SENSITIVE) == []


@given(VALUES, VALUES)
def test_what_differs_is_told_and_in_order(before: Any, after: Any) -> None:
    changes = compare(before, after, SENSITIVE)
    from equipage.loading.result import canonical_json

    assert bool(changes) == (canonical_json(before) != canonical_json(after))
    ranks = [MEANINGS.index(each.meaning) for each in changes]
    assert ranks == sorted(ranks)
