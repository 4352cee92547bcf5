"""Guessing what name was meant."""

from __future__ import annotations

import pytest

from clock import promised
from equipage.core.text import Guesses, edit_distance, nearest

KNOWN = ("nested_json", "batch_notifications", "garbage", "max_depth", "depth", "name")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        pytest.param("Garbage", "garbage", id="another case"),
        pytest.param("nested-json", "nested_json", id="a hyphen for an underscore"),
        pytest.param("nestedJson", "nested_json", id="camel case"),
        pytest.param("NestedJSON", "nested_json", id="camel case with a shouted word"),
        pytest.param("MAX_DEPTH", "max_depth", id="the same words win over a shorter slip"),
        pytest.param("garbge", "garbage", id="a letter left out"),
        pytest.param("dpeth", "depth", id="two letters swapped"),
        pytest.param("nmae", "name", id="two letters swapped in a short name"),
        pytest.param("batch_notification", "batch_notifications", id="singular for plural"),
        pytest.param("max_depths", "max_depth", id="two slips at most"),
        pytest.param("maximal_depth", None, id="three slips are another name"),
        pytest.param("colour", None, id="nothing is close"),
        pytest.param("x", None, id="a single letter resembles nothing"),
        pytest.param("", None, id="nothing written"),
    ],
)
def test_nearest(written: str, meant: str | None) -> None:
    assert nearest(written, KNOWN) == meant


@pytest.mark.parametrize(
    ("written", "known"),
    [
        ("allowedMarketplaces", "blockedMarketplaces"),
        ("enableWorkflows", "disableWorkflows"),
        ("max_tokens", "maxTurns"),
        ("defaultMode", "fastMode"),
        ("minTurns", "maxTurns"),
        ("excludeTools", "includeTools"),
        ("timeout_ms", "timeout_s"),
        ("addDirs", "removeDirs"),
    ],
)
def test_no_guess_says_the_opposite_or_means_another_number(written: str, known: str) -> None:
    assert nearest(written, [known]) is None
    assert nearest(f"{known}x", [known]) == known


def test_nothing_known() -> None:
    assert nearest("garbage", ()) is None


def test_very_long_names_cost_nothing() -> None:
    with promised(0.1):
        assert nearest("x" * 1_000_000, KNOWN) is None


def test_guesses_of_one_load_are_spent_some_time() -> None:
    guesses = Guesses()
    known = [f"weather{number:04d}" for number in range(1000)]
    with promised(2):
        found = [guesses.nearest(f"wether{number:04d}", known) for number in range(1000)]
    assert found[:5] == known[:5]
    assert found[-1] is None
    assert guesses.are_spent


def test_one_guess_among_very_many_names_ends_too() -> None:
    with promised(2):
        assert (
            nearest("wether000000", [f"weather{number:06d}" for number in range(200_000)])
            == "weather000000"
        )


@pytest.mark.parametrize(
    ("a", "b", "slips"),
    [("", "", 0), ("", "abc", 3), ("abc", "acb", 1), ("abc", "abcd", 1), ("kitten", "sitting", 3)],
)
def test_distance(a: str, b: str, slips: int) -> None:
    assert edit_distance(a, b) == edit_distance(b, a) == slips
