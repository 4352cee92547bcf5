"""How deep brackets nest."""

from __future__ import annotations

import pytest

from equipage.syntax import bracket_depth


@pytest.mark.parametrize(
    ("data", "depth"),
    [
        (b"", 0),
        (b"no brackets", 0),
        (b"[]", 1),
        (b"[1, {}]", 2),
        (b"[][][]", 1),
        (b"]][[", 0),
        (b"{[{", 3),
    ],
)
def test_the_most_that_are_open_at_once(data: bytes, depth: int) -> None:
    assert bracket_depth(data) == depth
