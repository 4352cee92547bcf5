"""Places after what the parser does not count, or reads otherwise than it looks."""

from __future__ import annotations

import pytest

from equipage.syntax import SyntaxProblem, yaml


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("\ufeffkey: value", "value"),
        ("\ufeff# c\nkey: [1, 2]", "[1, 2]"),
        ("key: &an:chor value", "value"),
        ("key: &a-b_1 value", "value"),
        ("key: &a !!str value", "value"),
        ("key: !!str &a [1]", "[1]"),
    ],
)
def test_the_place_of_a_value(text: str, written: str) -> None:
    place = yaml.locate(text, [("key",)])[("key",)]
    assert text[slice(*place.value)] == written
    assert place.key is not None
    assert text[slice(*place.key)] == "key"


def test_the_place_of_an_error_behind_a_second_mark() -> None:
    places = []
    for text in ("a: b: c", "\ufeffa: b: c"):
        with pytest.raises(SyntaxProblem) as caught:
            yaml.load(text)
        places.append(caught.value.args[0][0].range[0])
    assert places[1] == places[0] + 1
