"""Where a position is in a text that is being written."""

from __future__ import annotations

import pytest

from equipage.lsp.cursor import cursor_at


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_separator_ends_no_line(end: str) -> None:
    """What follows one in a comment or a value is no key."""
    lines = ("a: 1 # x\u2028b:", "c:\x85d:", "e:", "  f: [1,", "  ")
    cursor = cursor_at(written := end.join(lines), len(written), "x.yaml")
    assert cursor.path[:2] == ("e", "f")
    written = end.join((*lines[:3], "  g: 1", "b"))
    cursor = cursor_at(written, len(written), "x.yaml")
    assert (cursor.path, cursor.keys) == ((), {"a", "e"})
