"""What is left of a text that is not YAML: the top-level blocks that are."""

from __future__ import annotations

import pytest

import equipage
from equipage.core.path import HOLE
from equipage.core.source import Source
from equipage.syntax.document import parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("a: [1\nb: 2\n", {"a": HOLE, "b": 2}, id="a bracket"),
        pytest.param('a: "1\nb: 2\n', {"a": HOLE, "b": 2}, id="a quote"),
        pytest.param("a: 1\nb: [\nc: 2\nd: {\ne: 3", {"a": 1, "b": HOLE, "c": 2, "d": HOLE, "e": 3},
                     id="several"),
        pytest.param("a:\n  b: 1\n   c: 2\nd: 3\n", {"a": HOLE, "d": 3}, id="an indent"),
        pytest.param('"a b": [1\r\n\'c\': 2\r\n', {"a b": HOLE, "c": 2}, id="keys in quotes"),
        pytest.param("a: [\rb: 2\r", {"a": HOLE, "b": 2}, id="lines that CR ends"),
        pytest.param("a: [\n- b\nc: 1\n", {"a": HOLE, "c": 1}, id="items in the first column"),
        pytest.param("---\na: [\nb: 1\n---\nc: 1\n", {"a": HOLE, "b": 1}, id="one document"),
        pytest.param("a: &x [\nb: 1\n", {"a": HOLE, "b": 1}, id="an anchor nobody names"),
        pytest.param("a: [\u2028b: 1\nc: 2", {"a": HOLE, "c": 2}, id="a separator"),
    ],
)  # fmt: skip
def test_the_blocks_that_are_yaml(text: str, value: object) -> None:
    document, facts = parse(Source.of_text("a.yaml", text), "yaml")
    assert document is not None
    assert (document.value, document.is_cut) == (value, True)
    assert len(document.parsed_text()) == len(text)
    assert facts[0].code == "yaml-syntax"


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        ("\x01", "control-character"),
        ("*x", "undefined-alias"),
        ("&x [*x]", "recursive-alias"),
        ("[" * 999, "nesting-too-deep"),
    ],
)
def test_whatever_is_wrong_with_a_block(broken: str, code: str) -> None:
    document, facts = parse(Source.of_text("a.yaml", f"a: {broken}\nb: [\nc: 3\n"), "yaml")
    assert document is not None
    assert document.value == {"a": HOLE, "b": HOLE, "c": 3}
    assert facts[0].code == code


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: [\nno key\nb: 1\n", id="a line that may belong to anything"),
        pytest.param("- [\n- 1\n", id="a list"),
        pytest.param("x\na: [\nb: 1", id="what precedes is broken, too"),
        pytest.param("a: &x [\nb: *x\n", id="an alias of the broken block"),
    ],
)
def test_nothing_is_guessed(text: str) -> None:
    document, facts = parse(Source.of_text("a.yaml", text), "yaml")
    assert document is None
    assert facts


def test_places_and_variables_of_the_rest() -> None:
    text = "server: {name: ${NAME}, x: [\nunknown_methods: ${HOW}\n"
    files = {"a.yaml": text.encode()}
    report = equipage.check_files(files, kind="server", env={"NAME": "longer than it", "HOW": "no"})
    found = [
        (each.code, each.span and (each.span.line, each.span.column)) for each in report.errors
    ]
    assert found == [("invalid-value", (2, 18)), ("yaml-syntax", (3, 1))]


def test_no_fix_of_a_text_that_would_stay_broken() -> None:
    files = {"a.yaml": b"server: {name: [\nbehaviour: {}\n"}
    (typo, broken) = equipage.check_files(files, kind="server", env={}).diagnostics
    assert (broken.code, typo.code) == ("yaml-syntax", "unknown-field")
    assert typo.fix is None


def test_what_a_broken_file_brings_to_another_is_unknown() -> None:
    files = {
        "a.yaml": b"server: {name: a}\ntools: [{$include: t.yaml}]\n",
        "library/t.yaml": b"tool: [\nresponse: 5\n",
    }
    errors = equipage.check_files(files, kind="server", env={}).errors
    assert "yaml-syntax" in {each.code for each in errors}
    assert {each.span and each.span.source.name for each in errors} == {"library/t.yaml"}
