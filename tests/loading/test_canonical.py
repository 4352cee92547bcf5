"""Canonical JSON has the bytes it always had, whatever writes them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipage.loading.result import canonical_json

_LEAVES = st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False)
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20
)


@given(_VALUES.filter(lambda value: "Infinity" not in json.dumps(value)))
def test_the_bytes_are_those_of_the_standard_library(value: Any) -> None:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert canonical_json(value) == text.encode()


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param({"b": 1, "a": "é"}, b'{"a":"\xc3\xa9","b":1}', id="keys are sorted"),
        pytest.param([1e16, 1e-7], b"[1e+16,1e-07]", id="numbers as Python writes them"),
        pytest.param({1: "a", 10: "b", 9: "c"}, b'{"1":"a","9":"c","10":"b"}', id="other keys"),
        pytest.param(2**70, b"1180591620717411303424", id="a number of any size"),
        pytest.param("\x00\x1f\x7f\u2028", b'"\\u0000\\u001f\x7f\xe2\x80\xa8"', id="controls"),
    ],
)
def test_canonical(value: Any, written: bytes) -> None:
    assert canonical_json(value) == written


def test_no_number_is_lost() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json({"a": float("inf")})
