"""YAML: corners of names, places and errors, each once got wrong."""

from __future__ import annotations

import pytest

from lading.syntax.engine import Irregularity, SyntaxProblem
from lading.syntax.yaml import load


def test_a_name_belongs_to_the_node_that_starts_latest() -> None:
    assert load("[&a [&a 1], *a]").value == [[1], 1]


def test_a_name_is_recursive_only_inside_the_node_that_has_it() -> None:
    with pytest.raises(SyntaxProblem) as caught:
        load("&a [&b [*a]]")
    assert caught.value.problems[0].code == "recursive-alias"


def test_a_control_character_is_placed_in_code_points() -> None:
    with pytest.raises(SyntaxProblem) as caught:
        load("a: é😀\nb: \x01\n")
    assert caught.value.problems == (Irregularity("control-character", (9, 10), values={"character": "U+0001"}),)


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(SyntaxProblem) as caught:
        load("a: \ud800")
    assert caught.value.problems == (Irregularity("lone-surrogate", (3, 4), values={"found": "\\ud800"}),)
