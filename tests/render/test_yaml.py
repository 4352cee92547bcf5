"""What the YAML writer promises: it reads back as the same value."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipage.render.yaml import dump
from equipage.syntax import yaml

# fmt: off
TRICKY = st.sampled_from([
    "", " ", "~", "null", "yes", "true", "1", "1.0", "0x1f", ".inf", "- a", "a: b", "a #b", "#a", "<<", "? x", "*a", "&a",
    "!x", "%d", "@a", "`a", "'a'", '"a"', "{a}", "[a]", "a,b", "a\nb", "a\n", "\na", "  a\n b", "a \nb", "a\n\n\nb\n\n",
    "\t", "a\tb", "a\t\nb", "\u2028", "\x85", "\ufeffa", "\u200b", "😀", "---", "...", "--- a\nb", "2024-01-01", "a\r\nb",
    "=", "\\", "k" * 1500,
])
# fmt: on
TEXT = TRICKY | st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_reads_back_as_the_same_value(value: Any) -> None:
    parsed = yaml.load(dump(value))
    assert parsed.value == value
    assert {each.code for each in parsed.irregularities} <= {"not-finite"}


@given(VALUES)
def test_comments_change_nothing(value: Any) -> None:
    from equipage.core.path import walk

    comments = {path: "from here: 'a\n#" for path, _ in walk(value)}
    assert yaml.load(dump(value, comments)).value == value


def test_not_a_number_is_kept() -> None:
    assert math.isnan(yaml.load(dump({"a": float("nan")})).value["a"])


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param(
            {"a": {"b": [1, {"c": None}]}}, "a:\n  b:\n    - 1\n    - c: null\n", id="nested"
        ),
        pytest.param({"a": "x\ny\n"}, "a: |\n  x\n  y\n", id="lines are a block"),
        pytest.param({"a": "5"}, 'a: "5"\n', id="text that looks like a number is quoted"),
        pytest.param({"a": []}, "a: []\n", id="empty list"),
        pytest.param([["a"], {}], "- - a\n- {}\n", id="list in list"),
        pytest.param(
            {"a": "Don't, please"}, "a: Don't, please\n", id="what only looks special stays plain"
        ),
        pytest.param({"a": "https://x.y/#z"}, "a: https://x.y/#z\n", id="an address stays plain"),
        pytest.param({"a": "b: c"}, 'a: "b: c"\n', id="what would be a mapping is quoted"),
        pytest.param({"a": "é\u200b"}, 'a: "é\\u200b"\n', id="what nobody sees is escaped"),
    ],
)
def test_how_it_looks(value: Any, written: str) -> None:
    assert dump(value) == written
