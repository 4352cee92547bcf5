"""Paths as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipage.core.path import PathSyntaxError, format_path, parse_path, pointer

PATHS = st.lists(st.text() | st.integers(min_value=0, max_value=10_000)).map(tuple)


@pytest.mark.parametrize(
    ("path", "written"),
    [
        pytest.param((), "", id="the root is empty"),
        pytest.param(("server", "name"), "server.name", id="keys are joined by dots"),
        pytest.param(("tools", 0, "tool"), "tools[0].tool", id="indexes stand in brackets"),
        pytest.param((0, "a"), "[0].a", id="an index may come first"),
        pytest.param(("a", "file:///x.b"), 'a["file:///x.b"]', id="other keys are quoted"),
        pytest.param(("",), '[""]', id="the empty key"),
        pytest.param(("$include",), "$include", id="directives need no quotes"),
        pytest.param(("0",), '["0"]', id="a key of digits is no index"),
        pytest.param(('say "hi"\n',), '["say \\"hi\\"\\n"]', id="quotes and breaks are escaped"),
    ],
)
def test_format_and_parse(path: tuple[str | int, ...], written: str) -> None:
    assert format_path(path) == written
    assert parse_path(written) == path


@given(PATHS)
def test_every_path_round_trips(path: tuple[str | int, ...]) -> None:
    assert parse_path(format_path(path)) == path


@pytest.mark.parametrize(
    ("written", "offset"),
    [
        (".a", 0),
        ("a..b", 1),
        ("a[", 1),
        ("a[x]", 1),
        ("a b", 1),
        ('a["\\x"]', 1),
        ("a[0]b", 4),
        pytest.param(f"a[{'9' * 5_000}]", 1, id="more digits than Python reads"),
    ],
)
def test_what_is_no_path(written: str, offset: int) -> None:
    with pytest.raises(PathSyntaxError) as caught:
        parse_path(written)
    assert caught.value.offset == offset


def test_pointer() -> None:
    assert pointer(("a/b", 0, "c~d")) == "/a~1b/0/c~0d"
