"""YAML: every path of a document has a place, and the text there says what the value is."""

from __future__ import annotations

import re

from hypothesis import given

from equipage.syntax import SyntaxProblem
from equipage.syntax.yaml import load, locate
from syntax.documents import LAW, damaged, paths_of, yaml_documents

_ALIAS = re.compile(r"\*\w")
_BLOCK_SCALAR = re.compile(r"[|>][-+0-9]*\s*\n")

_GIVEN_INDENT = re.compile(r"[|>][-+]?[0-9]")  # counts from the indentation of whatever is around


def reads_back(text: str, place: tuple[int, int], value: object) -> bool:
    """Whether the text of a place, on its own, has the value; its column is kept, its last line
    breaks are not."""
    start, end = place
    written = text[start:end]
    column = start - max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) - 1
    again = load(" " * column + written).value
    if isinstance(value, str) and isinstance(again, str) and _BLOCK_SCALAR.match(written):
        return again.rstrip("\n") == value.rstrip("\n")
    return again == value


def stands_alone(written: str, value: object) -> bool:
    """Whether the text of a place can be read without what is around it."""
    if not isinstance(value, dict | list):
        return not _ALIAS.match(written) and not _GIVEN_INDENT.match(written)
    return not _ALIAS.search(written) and not _BLOCK_SCALAR.search(written)


@LAW
@given(yaml_documents())
def test_every_path_is_located_and_reads_back(document: tuple[str, object]) -> None:
    text, value = document
    assert load(text).value == value
    paths = dict(paths_of(value))
    places = locate(text, paths)
    assert set(places) == set(paths)
    for path, place in places.items():
        if stands_alone(text[slice(*place.value)], paths[path]):
            assert reads_back(text, place.value, paths[path])
        assert (place.key is not None) == (bool(path) and isinstance(path[-1], str))
        if place.key is not None and stands_alone(text[slice(*place.key)], path[-1]):
            assert reads_back(text, place.key, path[-1])


@LAW
@given(damaged(yaml_documents()))
def test_no_text_ends_in_any_other_exception(text: str) -> None:
    try:
        load(text)
    except SyntaxProblem as problem:
        for each in problem.problems:
            assert 0 <= each.range[0] <= each.range[1] <= len(text)
