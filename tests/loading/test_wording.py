"""Sentences: made in one place, safe to print, without secrets."""

from __future__ import annotations

from typing import Any

import pytest

from equipage.core.diagnostics import Shown, Words
from equipage.core.text import visible
from equipage.loading.wording import Redactor, help_of, message_of, shorten, show, type_name

NOBODY = Redactor()


@pytest.mark.parametrize(
    ("value", "bare", "as_found"),
    [
        ("a", "a", "text `a`"),
        ("", "", "empty text"),
        (5, "5", "the number 5"),
        (1.5, "1.5", "the number 1.5"),
        (True, "true", "`true`"),
        (None, "null", "null"),
        ([1], "[1]", "a list"),
        ({"a": 1}, '{"a": 1}', "a mapping"),
        (["a", "b"], "`a`, `b`", "a list"),
        ("x" * 100, "x" * 79 + "…", "text `" + "x" * 79 + "…`"),
        ("a\nb", "a\\nb", "text `a\\nb`"),
        (10**5000, "a number with 5001 digits", "a number with 5001 digits"),
    ],
    ids=[
        "text",
        "empty",
        "number",
        "float",
        "bool",
        "null",
        "list",
        "mapping",
        "words",
        "long",
        "break",
        "huge",
    ],
)
def test_values_in_sentences(value: Any, bare: str, as_found: str) -> None:
    assert show(value, NOBODY) == bare
    assert show(value, NOBODY, as_found=True) == as_found


def test_help_is_left_out_where_a_value_is_missing() -> None:
    code = Words("m {a}", "about", "did you mean `{nearest}`?")
    assert help_of(code, {"nearest": None}, NOBODY) is None
    assert help_of(code, {}, NOBODY) is None
    assert help_of(code, {"nearest": "y"}, NOBODY) == "did you mean `y`?"
    assert help_of(Words("m", "about"), {}, NOBODY) is None
    parts = Words("m", "about", "first {a}; then {b}")
    assert help_of(parts, {"b": 1}, NOBODY) == "then 1"


def test_a_value_nobody_gave_is_shown_by_its_name() -> None:
    assert message_of(Words("is {lost}", "about"), {}, NOBODY) == "is {lost}"


def test_lists_and_control_characters() -> None:
    code = Words("one of {allowed}, not {found}", "about")
    values = {"allowed": ("a", "b"), "found": Shown("c\x1b[0m")}
    assert message_of(code, values, NOBODY) == "one of `a`, `b`, not c\\u001b[0m"


def test_small_things() -> None:
    assert visible("a\tb\u200b") == "a\\tb\\u200b"
    assert shorten("abc", 2) == "a…"
    names = [type_name(each) for each in (None, True, 1, 1.5, "x", [], {}, object())]
    assert names == [
        "null",
        "true or false",
        "a whole number",
        "a number",
        "text",
        "a list",
        "a mapping",
        "object",
    ]
