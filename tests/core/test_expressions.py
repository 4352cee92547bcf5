"""Expressions that are compiled late are as good as others."""

from __future__ import annotations

import re

import pytest

from equipage.core.text import lazy_regex


def test_an_expression_matches_as_if_it_were_compiled() -> None:
    late = lazy_regex(r"(a+)b", re.IGNORECASE)
    assert [late.sub("x", "AAb ab"), late.pattern, late.findall("ab AB")] == [
        "x x",
        "(a+)b",
        ["a", "A"],
    ]
    assert late.fullmatch("Aab") is not None
    assert late.match("b") is None


def test_it_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    late = lazy_regex("a")
    assert late.search("ba") is not None
    monkeypatch.setattr(re, "compile", None)
    assert late.search("ba") is not None
    assert late.match("a") is not None


def test_nothing_else_is_an_attribute() -> None:
    with pytest.raises(AttributeError):
        _ = lazy_regex("a").flagz  # type: ignore[attr-defined]
