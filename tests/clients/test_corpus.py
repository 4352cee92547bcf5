"""Published files: good ones are accepted, bad ones reported, and none is skipped."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import equipage
from equipage.loading.header import NOT_YAML_REASONS
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import load_value
from equipage.syntax.header import CONVENTION, Header, split
from equipage.workspace.fixes import repair
from equipage.workspace.report import Report
from lab import SHARED

CORPUS = SHARED / "corpus"


@pytest.fixture(scope="module")
def report() -> Report:
    if not CORPUS.is_dir():
        pytest.skip("the shared data (probes, suites, corpus) is not beside the repository")
    return equipage.check([CORPUS], env={})


def relative(name: str | None) -> str:
    return str(Path(str(name)).resolve().relative_to(CORPUS.resolve()))


@pytest.mark.requirement("CV-05")
def test_files_found_are_files_reported(report: Report) -> None:
    """Every file with a header, every manifest and every list of servers is reported. What is left
    are texts without a header that no plugin lists."""
    every = {str(path.relative_to(CORPUS)) for path in CORPUS.rglob("*") if path.is_file()}
    reported = {relative(each.path) for each in report.files}
    assert reported <= every
    left = every - reported
    assert not [name for name in left if not name.endswith(".md")]
    assert not [
        name for name in left if (CORPUS / name).read_text().lstrip("\ufeff\n ").startswith("---")
    ]
    assert {Path(name).name for name in left} <= {
        "README.md",
        "analyzer.md",
        "comparator.md",
        "grader.md",
    }
    assert Counter(each.kind for each in report.files) == {
        "claude-agent": 189,
        "claude-plugin": 50,
        "skill": 31,
        "claude-command": 30,
        "mcp": 15,
    }


@pytest.mark.requirement("CV-09")
def test_no_error_on_a_file_its_own_tool_accepts(report: Report) -> None:
    assert [str(each) for each in report.errors] == []
    assert all(each.ok and each.digest for each in report.files)


def headers_that_are_not_yaml() -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted(CORPUS.rglob("*.md")):
        text = path.read_bytes().decode()
        header = split(text, CONVENTION)
        if isinstance(header, Header):
            try:
                load_value("yaml", text[header.start : header.end])
            except SyntaxProblem:
                found[str(path.relative_to(CORPUS))] = text
    return found


@pytest.mark.requirement("CV-04")
def test_headers_that_are_not_yaml_are_recovered(report: Report) -> None:
    """One warning and one fix each; with the fix, the header parses strictly, with the same text."""
    broken = headers_that_are_not_yaml()
    assert len(broken) == 9
    warnings = [each for each in report.diagnostics if each.code == "header-not-yaml"]
    assert sorted(relative(each.name) for each in warnings) == sorted(broken)
    for each in warnings:
        assert each.severity == "warning"
        assert NOT_YAML_REASONS["colon"] in each.message
        assert each.span is not None
        assert each.span.text() == ":"
        assert each.fix is not None
        assert each.fix.safe
        (edit,) = each.fix.edits
        text = broken[relative(each.name)]
        raw = text[edit.span.start : edit.span.end]
        fixed = text[: edit.span.start] + edit.text + text[edit.span.end :]
        header = split(fixed, CONVENTION)
        assert isinstance(header, Header)
        value = load_value("yaml", fixed[header.start : header.end])
        assert value["description"] == raw


@pytest.mark.requirement("CV-04")
def test_the_fixes_are_taken(report: Report) -> None:
    """Every fix is proven, and nothing is left to say about the file."""
    repairs, refused = repair(
        [each for each in report.diagnostics if each.code == "header-not-yaml"]
    )
    assert not refused
    assert len(repairs) == 9
    for each in repairs:
        assert equipage.loads(each.text, kind="claude-agent").warnings == ()


@pytest.mark.requirement("CV-06", "CV-08")
def test_how_loud_it_is(report: Report) -> None:
    """Measured precision: each warning was looked at. None of the 315 files has an invisible
    character, a name of mixed scripts or a secret, and none is said to. The names that lead
    nowhere are other people's servers and agents, written where tools belong. The links lead into
    folders that the collection does not have beside its skills."""
    codes = Counter(each.code for each in report.diagnostics)
    assert codes == {
        "header-not-yaml": 9,
        "unknown-reference": 3,
        "foreign-field": 2,
        "name-differs": 1,
        "link-missing": 2,
        "server-not-pinned": 3,
    }
    unknown = [each.path for each in report.diagnostics if each.code == "foreign-field"]
    assert unknown == ["tools", "tools"]
