"""Headers: both fence grammars, row by row."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipage.syntax.header import AGENT_MD, PROFILE, Grammar, Header, NoHeader, body_range, split
from lab import TESTS

ROWS = json.loads((TESTS / "data" / "frontmatter_split.json").read_text(encoding="utf-8"))


def parts(text: str, grammar: Grammar) -> dict[str, str] | None:
    header = split(text, grammar)
    if isinstance(header, NoHeader):
        return None
    return {
        "kind": header.syntax,
        "header": text[header.start : header.end],
        "body": text[slice(*body_range(text, header.end, grammar))],
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: repr(row["input"]))
def test_profile(row: dict[str, object]) -> None:
    assert parts(str(row["input"]), PROFILE) == row["result"]


@pytest.mark.parametrize(
    ("text", "header", "body"),
    [
        pytest.param(
            "---\nname: x\n---\nbody\n", "name: x\n", "body\n", id="the body keeps its line break"
        ),
        pytest.param(
            "---\r\nname: x\r\n---\r\na\r\nb\r\n", "name: x\r\n", "a\r\nb\r\n", id="CRLF is kept"
        ),
        pytest.param("---\na: 1\n---\n\n b \n\n", "a: 1\n", "\n b \n\n", id="nothing is trimmed"),
        pytest.param("---\na: 1\n---", "a: 1\n", "", id="the fence may end the file"),
        pytest.param("---\n---\nbody\n", "", "body\n", id="an empty header"),
        pytest.param(
            "---\na: 1\n----\nbody\n", "a: 1\n", "-\nbody\n", id="a fourth dash belongs to the body"
        ),
        pytest.param("---\na: 1\n---foo\nbody\n", "a: 1\n", "foo\nbody\n", id="so does a word"),
        pytest.param("---\na: 1\n--- \nbody\n", "a: 1\n", " \nbody\n", id="and a blank"),
        pytest.param(
            "---\na: |\n  ---\n---\nb", "a: |\n  ---\n", "b", id="an indented fence is none"
        ),
        pytest.param(
            "---\na: |\n---\nb\n---\nc", "a: |\n", "b\n---\nc", id="later fences belong to the body"
        ),
        pytest.param(
            "---\na: 1\n...\n---\nb", "a: 1\n...\n", "b", id="an end of document does not close"
        ),
        pytest.param(
            "---\na: a --- b\n---\nb", "a: a --- b\n", "b", id="dashes inside a line do not close"
        ),
        pytest.param("---\na: 1\n---\r\nb", "a: 1\n", "b", id="mixed line breaks"),
    ],
)
def test_agent_md(text: str, header: str, body: str) -> None:
    assert parts(text, AGENT_MD) == {"kind": "yaml", "header": header, "body": body}


@pytest.mark.parametrize(
    ("grammar", "text", "reason", "place"),
    [
        pytest.param(PROFILE, "Hello\n", "no-opening-fence", (0, 3), id="no header at all"),
        pytest.param(PROFILE, "", "no-opening-fence", (0, 0), id="an empty file"),
        pytest.param(
            PROFILE, "\n\n# x", "no-opening-fence", (2, 5), id="blank lines, then no header"
        ),
        pytest.param(
            PROFILE,
            " \ufeff---\na: 1\n---\n",
            "fence-not-first",
            (0, 2),
            id="a mark behind a blank",
        ),
        pytest.param(
            PROFILE, "---\t \na: 1\n---\n", "text-after-fence", (3, 5), id="blanks after the fence"
        ),
        pytest.param(
            PROFILE, "\n--- yaml\r\na: 1\n---\n", "text-after-fence", (4, 10), id="a language tag"
        ),
        pytest.param(PROFILE, "+++", "text-after-fence", (3, 3), id="a fence and nothing else"),
        pytest.param(
            PROFILE,
            "\ufeff+++\na = 1\n---\n",
            "never-closed",
            (1, 4),
            id="the other fence does not close",
        ),
        pytest.param(
            AGENT_MD, "\ufeff---\na: 1\n---\n", "fence-not-first", (0, 1), id="a byte order mark"
        ),
        pytest.param(AGENT_MD, "\n---\na: 1\n---\n", "fence-not-first", (0, 1), id="a blank line"),
        pytest.param(
            AGENT_MD, "+++\na = 1\n+++\n", "no-opening-fence", (0, 3), id="TOML is not known here"
        ),
        pytest.param(
            AGENT_MD, "--- \na: 1\n---\n", "text-after-fence", (3, 4), id="a blank after the fence"
        ),
        pytest.param(
            AGENT_MD, "---\ra: 1\r---\rb", "text-after-fence", (3, 4), id="lone carriage returns"
        ),
        pytest.param(
            AGENT_MD, "---\na: 1\n  ---\nb", "never-closed", (0, 3), id="an indented fence only"
        ),
    ],
)
def test_no_header_says_why(
    grammar: Grammar, text: str, reason: str, place: tuple[int, int]
) -> None:
    assert split(text, grammar) == NoHeader(reason, place)


@given(st.text("-+\n\r \t\ufeffa:", max_size=40), st.sampled_from([PROFILE, AGENT_MD]))
def test_the_parts_lie_in_order_inside_the_text(text: str, grammar: Grammar) -> None:
    header = split(text, grammar)
    if isinstance(header, Header):
        body = body_range(text, header.end, grammar)
        assert 0 < header.start <= header.end < body[0] <= body[1] <= len(text)
        assert text[header.start - 1] == "\n"
    else:
        assert 0 <= header.range[0] <= header.range[1] <= len(text)


@given(st.text(max_size=30))
def test_an_exact_body_is_exact(body: str) -> None:
    text = f"---\na: 1\n---\n{body}"
    header = split(text, AGENT_MD)
    assert isinstance(header, Header)
    assert text[slice(*body_range(text, header.end, AGENT_MD))] == body


@pytest.mark.parametrize(
    "blanks", ["", "\n", " \t\r\n", "\n" * 63, "\n" * 64, "\n" * 65, " " * 500]
)
@pytest.mark.parametrize("body", ["", "a", "é" * 5, "a b\n" * 15 + "c", "x" * 64, "x " * 200 + "x"])
def test_blanks_around_a_body_are_not_part_of_it(blanks: str, body: str) -> None:
    head = "---\nname: a\n---\n"
    for before, after in ((blanks, ""), ("", blanks), (blanks, blanks)):
        text = f"{head}{before}{body}{after}"
        start, end = body_range(text, len(head) - 4, PROFILE)
        assert text[start:end] == body
        assert 0 <= start <= end <= len(text)
