"""Paths in flows, and which programs read them."""

from __future__ import annotations

import pytest

from equipage.formats.blueprint.rules import canonical_path


@pytest.mark.requirement("BP-16")
@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("$", "$"),
        ("$.a", "$.a"),
        ("$.a.b", "$.a.b"),
        ("$.a-b", "$.a-b"),
        ("$.a b", "$.a b"),
        ("$.r.0", "$.r.0"),
        ('$["x.y"]', '$["x.y"]'),
        ('$.a["p.md"]', '$.a["p.md"]'),
        ('$.a["verdict"]', "$.a.verdict"),
        ('$.a["x"]["y"]', "$.a.x.y"),
        ('$["x.y"].z', '$["x.y"].z'),
        ('$.a.["x"]', "$.a.x"),
    ],
)
def test_a_path_is_printed_in_its_shortest_form(written: str, printed: str) -> None:
    assert canonical_path(written) == printed
    assert canonical_path(printed) == printed


@pytest.mark.requirement("BP-16")
@pytest.mark.parametrize(
    "written",
    [
        "",
        "a.b",
        "$foo",
        "$.",
        "$.a.",
        "$.a..b",
        "$.r[0]",
        "$[a]",
        "$['x']",
        '$.a[""]',
        '$.a["x',
        '$.a["x"]b',
    ],
)
def test_what_is_not_a_path(written: str) -> None:
    assert canonical_path(written) is None
