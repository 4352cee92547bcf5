"""What people see."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipage.core.diagnostics import Diagnostic, Edit, Fix, Label
from equipage.core.source import Source, Span
from equipage.core.text import code_page_url
from equipage.record.diff import Change
from equipage.render.text import (
    Style,
    change_lines,
    display_width,
    dump_yaml,
    render,
    render_finding,
    summary,
    table,
)
from equipage.syntax import yaml
from equipage.workspace.report import FileReport, Report

BASE = Source.of_text("tools/base.yaml", "$include: echo.yaml\n")
ECHO = Source.of_text("tools/echo.yaml", "# a\n# b\n$include: base.yaml\n")

CYCLE = Diagnostic(
    "include-cycle",
    "error",
    "`tools/base.yaml` includes itself through `tools/echo.yaml`",
    span=Span(ECHO, 18, 27),
    related=(Label(Span(BASE, 10, 19), "enters it"),),
    help="Include chain:\n1. base\n2. echo ← cycle",
)


def test_a_finding_shows_the_line_and_the_places_behind_it() -> None:
    assert render_finding(CYCLE, Style()) == (
        "error[include-cycle]: `tools/base.yaml` includes itself through `tools/echo.yaml`\n"
        "  --> tools/echo.yaml:3:11\n"
        "   |\n"
        " 3 | $include: base.yaml\n"
        "   |           ^^^^^^^^^\n"
        "  ::: tools/base.yaml:1:11 enters it\n"
        " 1 | $include: echo.yaml\n"
        "   |           ---------\n"
        "   = help: Include chain:\n"
        "           1. base\n"
        "           2. echo ← cycle\n"
    )


def at(text: str, start: int, end: int, **more: object) -> Diagnostic:
    return Diagnostic(
        "x", "warning", "m", span=Span(Source.of_text("f.yaml", text), start, end), **more
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("each", "line", "marks"),
    [
        pytest.param(at("a: b", 3, 4), " 1 | a: b", "   |    ^", id="one character"),
        pytest.param(
            at("a: b", 4, 4), " 1 | a: b", "   |     ^", id="nothing, at the end of the line"
        ),
        pytest.param(at("", 0, 0), " 1 |", "   | ^", id="an empty file"),
        pytest.param(at("\ta: b", 1, 2), " 1 |     a: b", "   |     ^", id="a tab"),
        pytest.param(at("计算: b", 4, 5), " 1 | 计算: b", "   |       ^", id="wide characters"),
        pytest.param(at("é: b", 3, 4), " 1 | é: b", "   |    ^", id="a combining accent"),
        pytest.param(
            at("a\x1b[31m: b", 8, 9),
            " 1 | a\\u001b[31m: b",
            "   |              ^",
            id="control characters",
        ),
        pytest.param(
            at("a\u202e: b", 4, 5),
            " 1 | a\\u202e: b",
            "   |          ^",
            id="a character that turns text round",
        ),
        pytest.param(
            at("a: [1,\n 2]", 3, 10), " 1 | a: [1,", "   |    ^^^", id="over several lines"
        ),
        pytest.param(at("a\r\nb: c\r\n", 6, 7), " 2 | b: c", "   |    ^", id="CRLF"),
    ],
)
def test_marks_stand_below_what_they_mean(each: Diagnostic, line: str, marks: str) -> None:
    lines = render_finding(each, Style()).splitlines()
    assert lines[3:5] == [line, marks]


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("one\n", "", ["- one"]),
        ("one\n", "two\n", ["- one", "+ two"]),
        ("one\ntwo\n", "one\n", ["  one", "- two"]),
        ("one\n", "one", ["  one", "-"]),
        ("a\u2028b\n", "a\n", [r"- a\u2028b", "+ a"]),
    ],
)
def test_the_lines_in_which_texts_differ(before: str, after: str, lines: list[str]) -> None:
    change = Change("changed", ("a",), ("a",), before, after)
    assert list(change_lines(change, Style())) == [f"      {each}" for each in lines]


@pytest.mark.parametrize("width", [20, 40, 80])
@pytest.mark.parametrize("column", [0, 10, 500, 990])
def test_a_long_line_is_cut_around_its_place(width: int, column: int) -> None:
    text = "x" * column + "HERE" + "y" * (1000 - column)
    lines = render_finding(at(text, column, column + 4), Style(width=width)).splitlines()
    source, marks = lines[3], lines[4]
    assert len(source) <= max(width, 24)
    assert source[marks.index("^") :].startswith("HERE")


def test_colour_changes_nothing_but_colour() -> None:
    plain, coloured = render_finding(CYCLE, Style()), render_finding(CYCLE, Style(colour=True))
    assert "\x1b[1;31m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_no_control_character_of_the_input_is_printed() -> None:
    evil = "".join(map(chr, range(32))) + "\x7f\x9b\u2028\u202e\u200b"
    source = Source.of_text(f"evil{evil}.yaml", f"key{evil}: x")
    each = Diagnostic(
        "x", "error", "m", span=Span(source, 0, 3), related=(Label(Span(source, 0, 3), "r"),)
    )
    said = render_finding(each, Style())
    assert not [c for c in said if unicodedata.category(c) in ("Cc", "Cf", "Zl") and c != "\n"]


def test_a_finding_without_a_place() -> None:
    each = Diagnostic("file-missing", "error", "file not found: a.yaml", file="a.yaml")
    assert (
        render_finding(each, Style())
        == "error[file-missing]: file not found: a.yaml\n  --> a.yaml\n"
    )
    limit = Diagnostic("x", "error", "m", related=(Label(None, "because"),))
    assert render_finding(limit, Style()) == "error[x]: m\n   = because\n"


def test_counts_fixes_and_notes() -> None:
    span = Span(BASE, 0, 8)
    each = Diagnostic(
        "x", "note", "m", span=span, count=3, fix=Fix("rename", (Edit(span, "y"),), safe=False)
    )
    said = render_finding(each, Style())
    assert said.startswith("note[x]: m (×3)\n")
    assert said.endswith("   = unsafe fix (may change what the file means): rename\n")


@pytest.mark.parametrize(
    ("severities", "files", "line"),
    [
        ([], 1, "1 file checked, no problems\n"),
        ([], 12, "12 files checked, no problems\n"),
        (["error"], 12, "1 error in 1 of 12 files\n"),
        (
            ["error", "error", "warning", "note"],
            2,
            "4 problems (2 errors, 1 warning, 1 note) in 1 of 2 files\n",
        ),
    ],
)
def test_the_summary(severities: list[str], files: int, line: str) -> None:
    found = tuple(Diagnostic("x", severity, "m", file="f0") for severity in severities)  # type: ignore[arg-type]
    report = Report(tuple(FileReport(f"f{n}", "server", ok=True) for n in range(files)), found)
    assert summary(report, Style()) == line


def test_quiet_shows_errors_only() -> None:
    report = Report(
        (FileReport("a", "server", ok=True),), (Diagnostic("x", "warning", "m", file="a"),)
    )
    assert "".join(render(report, Style(), quiet=True)) == "1 file checked, no errors\n"


HEAD = ("KIND", "NAME", "FILE", "", "DESCRIPTION")
ROWS = [
    ("skill", "greet", "a b/skills/greet/SKILL.md", "", "Says hello to everybody who comes in"),
    ("claude-agent", "a-name-that-is-rather-long", "x/agents/a.md", "shadowed", ""),
    ("server", "日本語", "s.yaml", "", "short"),
]


@pytest.mark.parametrize("width", [1, 20, 40, 60, 80, 100, 200])
def test_a_table_loses_nothing_however_narrow(width: int) -> None:
    text = table(HEAD, ROWS, Style(width=width))
    flat = " ".join(text.split())
    assert all(" ".join(field.split()) in flat for row in ROWS for field in row)
    # What people copy is on one line, blanks and all.
    lines = text.splitlines()
    assert all(any(row[2] in line for line in lines) for row in ROWS)
    longest = max(display_width(field) for row in ROWS for field in (*row[:4], "description:"))
    assert all(display_width(line) <= max(width, longest + len("    file: ")) for line in lines)


def test_a_table_for_programs_has_a_row_on_each_line() -> None:
    text = table(HEAD, ROWS, Style(width=20, fits=False))
    assert len(text.splitlines()) == 1 + len(ROWS)


@pytest.mark.parametrize(
    ("site", "page"),
    [
        ("https://docs.example", "https://docs.example/reference/codes/unknown-field/"),
        ("file:///clone/codes/{code}.md", "file:///clone/codes/unknown-field.md"),
    ],
)
def test_the_page_of_a_code_is_on_a_site_or_in_a_clone(site: str, page: str) -> None:
    assert code_page_url(site, "unknown-field") == page


# Values as YAML: what is written reads back as the same value.

# fmt: off
TRICKY = st.sampled_from([
    "", " ", "~", "null", "yes", "true", "1", "1.0", "0x1f", ".inf", "- a", "a: b", "a #b", "#a", "<<", "? x", "*a", "&a",
    "!x", "%d", "@a", "`a", "'a'", '"a"', "{a}", "[a]", "a,b", "a\nb", "a\n", "\na", "  a\n b", "a \nb", "a\n\n\nb\n\n",
    "\t", "a\tb", "a\t\nb", "\u2028", "\x85", "\ufeffa", "\u200b", "😀", "---", "...", "--- a\nb", "2024-01-01", "a\r\nb",
    "=", "\\", "k" * 1500,
])
# fmt: on
TEXT = TRICKY | st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_reads_back_as_the_same_value(value: Any) -> None:
    parsed = yaml.load(dump_yaml(value))
    assert parsed.value == value
    assert {each.code for each in parsed.irregularities} <= {"not-finite"}


@given(VALUES)
def test_comments_change_nothing(value: Any) -> None:
    from equipage.core.path import walk

    comments = {path: "from here: 'a\n#" for path, _ in walk(value)}
    assert yaml.load(dump_yaml(value, comments)).value == value


def test_not_a_number_is_kept() -> None:
    assert math.isnan(yaml.load(dump_yaml({"a": float("nan")})).value["a"])


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param(
            {"a": {"b": [1, {"c": None}]}}, "a:\n  b:\n    - 1\n    - c: null\n", id="nested"
        ),
        pytest.param({"a": "x\ny\n"}, "a: |\n  x\n  y\n", id="lines are a block"),
        pytest.param({"a": "5"}, 'a: "5"\n', id="text that looks like a number is quoted"),
        pytest.param({"a": []}, "a: []\n", id="empty list"),
        pytest.param([["a"], {}], "- - a\n- {}\n", id="list in list"),
        pytest.param(
            {"a": "Don't, please"}, "a: Don't, please\n", id="what only looks special stays plain"
        ),
        pytest.param({"a": "https://x.y/#z"}, "a: https://x.y/#z\n", id="an address stays plain"),
        pytest.param({"a": "b: c"}, 'a: "b: c"\n', id="what would be a mapping is quoted"),
        pytest.param({"a": "é\u200b"}, 'a: "é\\u200b"\n', id="what nobody sees is escaped"),
    ],
)
def test_how_it_looks(value: Any, written: str) -> None:
    assert dump_yaml(value) == written
