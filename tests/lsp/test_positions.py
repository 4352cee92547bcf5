"""Positions that clients send, in every encoding, and those that no text has."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipage.lsp.protocol import ENCODINGS, Encoding, Position, Text, path_of, uri_of

TEXT = "a\r\né🙂b\rc\nlast"


@pytest.mark.parametrize(
    ("encoding", "character"), [("utf-8", 6), ("utf-16", 3), ("utf-32", 2)], ids=str
)
def test_a_column_counts_units(encoding: Encoding, character: int) -> None:
    text = Text(TEXT, encoding)
    offset = TEXT.index("b")
    assert text.position(offset) == Position(1, character)
    assert text.offset(Position(1, character)) == offset


@pytest.mark.parametrize(
    ("position", "offset"),
    [
        (Position(-1, 5), 0),
        (Position(0, -1), 0),
        (Position(0, 99), 1),
        (Position(99, 0), len(TEXT)),
        (Position(1, 2), 4),
    ],
    ids=["line before", "column before", "column behind", "line behind", "half a character"],
)
def test_a_position_that_does_not_exist_is_the_nearest_one(position: Position, offset: int) -> None:
    assert Text(TEXT, "utf-16").offset(position) == offset


@given(st.text(), st.sampled_from(ENCODINGS), st.integers(0, 50))
def test_an_offset_comes_back(text: str, encoding: Encoding, offset: int) -> None:
    known = Text(text, encoding)
    offset = min(offset, len(text))
    if text[offset - 1 : offset + 1] != "\r\n":  # no position is between the two
        assert known.offset(known.position(offset)) == offset


def test_a_stretch_that_is_the_wrong_way_round_is_turned() -> None:
    assert Text("abc", "utf-16").replace(Position(0, 2), Position(0, 1), "-").text == "a-c"


@pytest.mark.parametrize("path", ["/a b/ü.yaml", "/a/#x?.md", "/100%/a.md", "/a:b/c"])
def test_a_path_comes_back_from_its_address(path: str) -> None:
    assert path_of(uri_of(path)) == path


def test_bytes_that_are_not_text_have_an_address() -> None:
    assert uri_of(os.fsdecode(b"/a\xff")) == "file:///a%FF"


@pytest.mark.parametrize(
    "uri", ["untitled:Untitled-1", "git:/a.md?x", "", "file://[", "file:///a%00b", "x"]
)
def test_other_addresses_are_no_files(uri: str) -> None:
    assert path_of(uri) is None
