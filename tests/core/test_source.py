"""Offsets to lines and columns."""

from __future__ import annotations

import pickle
from pathlib import Path

import msgspec
import pytest

from equipage.core.source import Source, Span
from equipage.core.text import split_lines

TEXT = "one\r\ntwo 😀 x\rthree\n\nfive"


@pytest.mark.parametrize(
    ("offset", "position"),
    [
        pytest.param(0, (1, 1), id="the start"),
        pytest.param(3, (1, 4), id="a line break belongs to its line"),
        pytest.param(5, (2, 1), id="CRLF is one break"),
        pytest.param(11, (2, 7), id="columns count code points"),
        pytest.param(TEXT.index("three"), (3, 1), id="a lone CR is a break"),
        pytest.param(TEXT.index("five"), (5, 1), id="an empty line counts"),
        pytest.param(len(TEXT), (5, 5), id="the end"),
    ],
)
def test_position(offset: int, position: tuple[int, int]) -> None:
    assert Source.of_text("a", TEXT).position(offset) == position


def test_lines() -> None:
    source = Source.of_text("a", TEXT)
    assert [source.line(number) for number in range(1, 6)] == [
        "one",
        "two 😀 x",
        "three",
        "",
        "five",
    ]


def test_line_separators_that_are_no_breaks() -> None:
    """`str.splitlines` breaks lines at U+2028; editors and YAML do not."""
    assert Source.of_text("a", "a\u2028b\x85c").position(4) == (1, 5)
    assert split_lines("a\u2028b\x85c\rd\r\n\ne") == ["a\u2028b\x85c", "d", "", "e"]


def test_a_byte_order_mark_is_no_column() -> None:
    source = Source.of_text("a", "\ufeffab\ncd")
    assert [source.position(offset) for offset in (0, 1, 2, 4)] == [(1, 1), (1, 1), (1, 2), (2, 1)]
    assert [source.line(1), source.line(2)] == ["ab", "cd"]


def test_a_source_pickles() -> None:
    source = Source.of_bytes("a", b"x: 1\n", path="/a")
    copy = pickle.loads(pickle.dumps(source))
    assert (copy.name, copy.text, copy.filename) == ("a", "x: 1\n", "/a")
    assert (copy.path, copy.sha256) == (Path("/a"), source.sha256)
    assert repr(copy) == "Source('a')"


def test_a_path_is_a_path_and_encoders_see_its_text() -> None:
    source = Source.of_bytes("a", b"x: 1\n", path="/folder/a")
    assert source.path == Path("/folder/a")
    assert Source.of_text("a", "x: 1\n").path is None
    assert msgspec.to_builtins(source)["path"] == "/folder/a"
    # What another process gets, with the text and without it: the path is a path there as well.
    assert pickle.loads(pickle.dumps(Span(source, 0, 1))).source.path == Path("/folder/a")


def test_span() -> None:
    span = Span(Source.of_text("a", "ab\ncd"), 3, 5)
    assert (span.line, span.column, span.text()) == (2, 1, "cd")


def test_spans_of_one_place_are_equal_whichever_load_read_it() -> None:
    """The rule of findings, which hold spans: two loads, and a pickle, say the same."""
    span, again = (Span(Source.of_bytes("a", b"x: 1\ny: 2\n", path="/a"), 5, 6) for _ in range(2))
    assert span == again == pickle.loads(pickle.dumps(span))
    assert hash(span) == hash(again)
    for other in (
        Span(span.source, 5, 7),
        Span(Source.of_bytes("b", b"x: 1\ny: 2\n", path="/a"), 5, 6),
        Span(Source.of_bytes("a", b"x: 1\ny: 2\n", path="/b"), 5, 6),
        Span(Source.of_bytes("a", b"x: 1 y: 2\n", path="/a"), 5, 6),
        "a:2:1",
    ):
        assert span != other
