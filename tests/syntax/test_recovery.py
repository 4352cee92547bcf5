"""Headers that are not quite YAML: what is recovered, where it is wrong, and what is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipage.clients.headers import read_as_client
from equipage.syntax import SyntaxProblem, yaml
from equipage.syntax.header import recover

KNOWN = ("name", "description", "tools", "model", "globs", "argument-hint")


def value(text: str) -> object:
    return yaml.load(text, merge=False).value


@pytest.mark.requirement("CV-04")
@pytest.mark.parametrize(
    ("header", "reason", "place", "means"),
    [
        pytest.param(
            "description: on: 'a'\n",
            "colon",
            ":",
            {"description": "on: 'a'"},
            id="a colon in the text",
        ),
        pytest.param(
            "description: ends with:\n",
            "colon",
            ":",
            {"description": "ends with:"},
            id="a colon at its end",
        ),
        pytest.param(
            "argument-hint: [a] [b]\n", "brackets", "[b]", {"argument-hint": "[a] [b]"}, id="hints"
        ),
        pytest.param(
            "description: {x} and y\n",
            "brackets",
            "and y",
            {"description": "{x} and y"},
            id="braces",
        ),
        pytest.param("tools: *\n", "indicator", "*", {"tools": "*"}, id="a star"),
        pytest.param(
            "globs: **/*.ts, **/*.js\n",
            "indicator",
            "*",
            {"globs": "**/*.ts, **/*.js"},
            id="patterns",
        ),
        pytest.param(
            "description: @me, please\n",
            "indicator",
            "@",
            {"description": "@me, please"},
            id="an at sign",
        ),
        pytest.param(
            "description: `a` b\n", "indicator", "`", {"description": "`a` b"}, id="a backtick"
        ),
        pytest.param(
            "description: %d of it\n",
            "indicator",
            "%",
            {"description": "%d of it"},
            id="a per cent sign",
        ),
        pytest.param(
            "description: a: b # not a comment\n",
            "colon",
            ":",
            {"description": "a: b # not a comment"},
            id="all of the line is text",
        ),
        pytest.param(
            'description: it\'s: \\n "x"\n',
            "colon",
            ":",
            {"description": 'it\'s: \\n "x"'},
            id="quotes and escapes",
        ),
        pytest.param(
            "description: Use it.\n<example>\nuser: x\n\n</example>\nmodel: y\n",
            "unindented",
            "<example>",
            {"description": "Use it.\n<example>\nuser: x\n\n</example>", "model": "y"},
            id="an example that is not indented",
        ),
        pytest.param(
            "description: |\nUse it.\nwhen: asked\nmodel: y\n",
            "unindented",
            "Use it.",
            {"description": "Use it.\nwhen: asked\n", "model": "y"},
            id="a block that is not indented",
        ),
        pytest.param(
            "description: one\n  two: three\nmodel: y\n",
            "colon",
            ":",
            {"description": "one two: three", "model": "y"},
            id="a colon in a line that goes on",
        ),
        pytest.param(
            "tools:\n  - *\n  - Read\n",
            "indicator",
            "*",
            {"tools": ["*", "Read"]},
            id="an item of a list",
        ),
        pytest.param(
            'description: "a "b" c"\n',
            "quotes",
            '"',
            {"description": 'a "b" c'},
            id="quotes inside quotes",
        ),
        pytest.param(
            "description: 'it's'\n", "quotes", "'", {"description": "it's"}, id="an apostrophe"
        ),
        pytest.param(
            'description: "a" b\n',
            "quotes",
            " b",
            {"description": '"a" b'},
            id="text behind a quote",
        ),
        pytest.param(
            "name:a\nmodel: b\n",
            "no-space",
            ":",
            {"name": "a", "model": "b"},
            id="no blank after the colon",
        ),
        pytest.param(
            "tools: [a, b\nmodel: x\n",
            "unclosed",
            "[a, b",
            {"tools": ["a", "b"], "model": "x"},
            id="a bracket that is never closed",
        ),
        pytest.param(
            "description: |-\nsome words\n\n# about the model\n\nmodel: x\n",
            "unindented",
            "some words",
            {"description": "some words", "model": "x"},
            id="a comment above the next entry",
        ),
        pytest.param("tools:\n\t- Read\n", "tabs", "\t", {"tools": ["Read"]}, id="a tab"),
    ],
)
def test_recovered(header: str, reason: str, place: str, means: object) -> None:
    with pytest.raises(SyntaxProblem):
        value(header)
    found = recover(header, KNOWN)
    assert found is not None
    assert [each.reason for each in found.corrections] == [reason]
    assert header[slice(*found.corrections[0].place)] == place
    assert value(found.text) == means


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("description: [a, b\nmodel: x\n", id="a text that begins with a bracket"),
        pytest.param("just text\n", id="no entries at all"),
        pytest.param("description: a: b\ntools: [a, {b\n", id="one entry is beyond help"),
        pytest.param("x" * 70_000 + ": a: b", id="too long"),
    ],
)
def test_left_alone(header: str) -> None:
    assert recover(header, KNOWN) is None


def test_entries_that_parse_stay_as_they_are() -> None:
    header = (
        "# a comment\nmodel: &m sonnet\nother: *m\ndescription: a: b\nhooks:\n  Stop: [{x: 1}]\n"
    )
    found = recover(header, KNOWN)
    assert found is not None
    assert found.text == header.replace("a: b", "'a: b'")


def test_line_ends_are_kept() -> None:
    found = recover("description: a\r\n<b>\r\nmodel: x\r\n", KNOWN)
    assert found is not None
    assert "\n" not in found.text.replace("\r\n", "")


@pytest.mark.requirement("CV-04")
@given(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=60)
)
def test_one_line_of_any_text(text: str) -> None:
    """Whatever is recovered means the text of the line; whatever parses is left alone."""
    text = text.strip(" \ufeff")
    header = f"name: x\ndescription: {text}\nmodel: y\n"
    try:
        value(header)
    except SyntaxProblem:
        found = recover(header, KNOWN)
        if found is not None and found.corrections[0].reason != "quotes":
            assert value(found.text) == {"name": "x", "description": text, "model": "y"}


@given(st.text("ab:-[]{}*&'\"#|> \n\t@", max_size=80))
def test_it_never_fails(text: str) -> None:
    found = recover(text, KNOWN)
    if found is not None:
        assert isinstance(value(found.text), dict)


def test_a_lone_carriage_return_ends_a_line() -> None:
    found = recover("name: a\rdescription: x: y\rmodel: m\n", ("name", "description", "model"))
    assert found is not None
    assert yaml.load(found.text).value == {"name": "a", "description": "x: y", "model": "m"}


@pytest.mark.requirement("CV-04")
@pytest.mark.parametrize(
    ("lines", "read"),
    [
        ("description: Use when: x", True),
        ("description: *bold* text", True),
        ("description: `x` y", True),
        ("description: [a] [b]", True),
        ("description: [a", True),
        ("description: > text", True),
        ("description: a\nuser: x\nassistant: y: z", True),
        ("metadata:\n\ta: b", True),
        ("description: ends in a colon:", False),
        ("description: - x", False),
        ('description: "quoted" and more', False),
        ("description: 'it's broken'", False),
        ("description: a\nb c", False),
        ("description: a\n  b: c", False),
        ("description: |\ntext here", False),
        ("description: Use when: x\r", False),
        ("key2: a: b", False),
        ("metadata:\n  a: b: c", False),
        ("tools:Read", False),
    ],
)
def test_what_claude_code_makes_of_a_header(lines: str, read: bool) -> None:
    """As `claude plugin validate` of Claude Code 2.1.325 judged these headers."""
    header = f"name: x\n{lines}\nmodel: y\n"
    with pytest.raises(SyntaxProblem):
        value(header)
    found = read_as_client(header, "claude")
    assert (found is not None) == read
    if found is not None:
        assert isinstance(value(found.text), dict)
