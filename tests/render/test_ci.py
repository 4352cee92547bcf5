"""Workflow commands: one line each, whatever a file contains."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipage.core.diagnostics import Diagnostic
from equipage.core.source import Source, Span
from equipage.render import ci
from equipage.workspace.report import Report

TEXT = "a: 1\nb: 2\n"


def finding(
    message: str = "m", name: str = "a.yaml", start: int = 5, end: int = 6, **changes: Any
) -> Diagnostic:
    fields: dict[str, Any] = {"span": Span(Source.of_text(name, TEXT), start, end), **changes}
    return Diagnostic("wrong-type", fields.pop("severity", "error"), message, **fields)


@pytest.mark.parametrize(
    ("each", "line"),
    [
        pytest.param(
            finding(),
            "::error file=a.yaml,line=2,endLine=2,col=1,endColumn=2,title=equipage%3A wrong-type::m",
            id="a place",
        ),
        pytest.param(
            finding(start=0, end=6),
            "::error file=a.yaml,line=1,endLine=2,title=equipage%3A wrong-type::m",
            id="columns count only within one line",
        ),
        pytest.param(
            finding(span=None, file="a.yaml", severity="warning"),
            "::warning file=a.yaml,title=equipage%3A wrong-type::m",
            id="a whole file",
        ),
        pytest.param(
            finding(span=None, severity="note"),
            "::notice title=equipage%3A wrong-type::m",
            id="no file",
        ),
        pytest.param(
            finding("a\n::set-output name=x::y\r100%", help="h"),
            "::error file=a.yaml,line=2,endLine=2,col=1,endColumn=2,title=equipage%3A wrong-type"
            "::a%0A::set-output name=x::y%0D100%25%0Ah",
            id="a message cannot start a command",
        ),
        pytest.param(
            finding(name="a,line=9::x%0A.yaml", span=None, file="a,line=9::x%0A\n.yaml"),
            "::error file=a%2Cline=9%3A%3Ax%250A%0A.yaml,title=equipage%3A wrong-type::m",
            id="nor can a file name",
        ),
    ],
)
def test_commands(each: Diagnostic, line: str) -> None:
    assert ci.workflow_command(each) == line + "\n"


def test_files_are_named_from_the_root_of_the_repository() -> None:
    assert "file=sub/a.yaml," in ci.workflow_command(finding(), "sub")
    assert "file=/tmp/a.yaml," in ci.workflow_command(finding(name="/tmp/a.yaml"), "sub")


def test_quiet_leaves_errors() -> None:
    report = Report((), (finding(), finding(severity="warning")))
    assert [line.split()[0] for line in ci.render_github(report)] == ["::error", "::warning"]


@given(st.text(), st.text(min_size=1))
def test_any_text_stays_in_its_place(message: str, name: str) -> None:
    line = ci.workflow_command(finding(message, name))
    assert re.fullmatch(
        r"::error file=[^:,\r\n]*,line=2,endLine=2,col=1,endColumn=2,title=[^:,\r\n]*::[^\r\n]*\n",
        line,
    )
