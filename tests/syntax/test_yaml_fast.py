"""The way without a parser: what it reads, what it leaves alone, and that it never disagrees."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import lab
from equipage.syntax import yaml
from equipage.syntax.yaml.values import parse
from syntax.fast_texts import difference, misplaced, text

EXAMPLES = lab.matching(lab.EXAMPLES, "**/*.yaml")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        pytest.param("a: 1\nb: two words # note\n", {"a": 1, "b": "two words"}, id="scalars"),
        pytest.param(
            "a:\n  b:\n    c: ~\n  d: x\n", {"a": {"b": {"c": None}, "d": "x"}}, id="mappings"
        ),
        pytest.param(
            "a:\n- 1\n- b: 2\n  c: 3\nd: 4\n",
            {"a": [1, {"b": 2, "c": 3}], "d": 4},
            id="a list under its key",
        ),
        pytest.param(
            "a:\n  - b:\n    - c\n  - d\n", {"a": [{"b": ["c"]}, "d"]}, id="lists in lists"
        ),
        pytest.param("- a\n-  b\n", ["a", "b"], id="a list as the root"),
        pytest.param("a:\nb:\n\n# end", {"a": None, "b": None}, id="no values"),
        pytest.param("a: [x, {b: 'c, d'}]\n", {"a": ["x", {"b": "c, d"}]}, id="flow"),
    ],
)
def test_it_reads(written: str, value: object) -> None:
    assert yaml.read_simple(written) == value
    assert difference(written) is None
    assert misplaced(written) is None


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("", id="nothing"),
        pytest.param("a", id="a lone scalar"),
        pytest.param("a: b\n  c\n", id="a scalar that goes on"),
        pytest.param("a: b\n  c: d\n", id="a mapping below a scalar"),
        pytest.param("  a: 1\nb: 2\n", id="an entry before the first column"),
        pytest.param("a:\n    b: 1\n  c: 2\n", id="a column nobody opened"),
        pytest.param("a: 1\na: 2\n", id="a key twice"),
        pytest.param("a: {b: 1, b: 2}\n", id="a key twice in flow"),
        pytest.param("1: a\n", id="a number as a key"),
        pytest.param("true: a\n", id="a truth value as a key"),
        pytest.param("<<: {a: b}\n", id="a merge key"),
        pytest.param('"<<": {a: b}\n', id="a merge key in quotes"),
        pytest.param("a: &b c\n", id="an anchor"),
        pytest.param("a: *b\n", id="an alias"),
        pytest.param("a: !b c\n", id="a tag"),
        pytest.param("a: |\n  b\n", id="a block scalar"),
        pytest.param('a: "\\n"\n', id="an escape"),
        pytest.param("a: 'it''s'\n", id="a quote in quotes"),
        pytest.param("a: .inf\n", id="infinity"),
        pytest.param(f"a: {'9' * 5000}\n", id="a number too long"),
        pytest.param("a:\tb\n", id="a tab"),
        pytest.param("a: b\r\n", id="carriage returns"),
        pytest.param("# \x07\na: b\n", id="a control character in a comment"),
        pytest.param("a: b\u2028c\n", id="a line break of Unicode"),
        pytest.param("\ufeffa: b\n", id="a byte order mark"),
        pytest.param("a: b\n---\nc: d\n", id="two documents"),
        pytest.param("- - a\n", id="lists on one line"),
        pytest.param(f"a: {'[' * 50}{']' * 50}\n", id="deep flow"),
        pytest.param("".join(f"{' ' * n}a:\n" for n in range(60)), id="deep blocks"),
    ],
)
def test_it_leaves_to_the_parser(written: str) -> None:
    assert yaml.read_simple(written) is None


@pytest.mark.parametrize("seed", range(8))
def test_it_never_disagrees_with_the_parser(seed: int) -> None:
    source = random.Random(seed)
    texts = [text(source) for _ in range(60)]
    assert [told for told in map(difference, texts) if told] == []
    assert [told for told in map(misplaced, texts) if told] == []
    assert any(yaml.read_simple(each) is not None for each in texts)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_it_agrees_on_the_examples(path: Path) -> None:
    written = path.read_text(encoding="utf-8")
    assert difference(written) is None
    assert misplaced(written) is None


def test_what_is_remembered_is_not_shared() -> None:
    first, second = yaml.read_simple("a: [b, {c: d}]\n"), yaml.read_simple("a: [b, {c: d}]\n")
    assert first == second
    assert first["a"] is not second["a"]
    assert first["a"][1] is not second["a"][1]


def test_memory_of_lines_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml, "_MAX_KNOWN_LINES", 10)
    for number in range(50):
        assert yaml.read_simple(f"a: {number}\n") == parse(f"a: {number}\n", merge=False).value
    assert len(yaml._KNOWN_LINES) <= 10
