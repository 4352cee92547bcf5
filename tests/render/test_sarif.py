"""SARIF: valid, stable, complete, and no place for foreign links."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from casefiles import Case, cases_in
from equipage.core.codes import CORE_CODES
from equipage.core.diagnostics import Diagnostic, Edit, Fix, Label
from equipage.core.source import Source, Span
from equipage.project.registry import all_codes
from equipage.render import sarif
from equipage.workspace.report import FileReport, Report
from lab import TESTS

SCHEMA = json.loads((TESTS / "data" / "sarif-2.1.0-minimal.schema.json").read_text())
VALIDATOR = jsonschema_rs.Draft202012Validator(SCHEMA, offline=True, validate_formats=True)
CODES = {code.name: code for code in CORE_CODES}


def log(*diagnostics: Diagnostic) -> dict[str, Any]:
    """The log of a report, checked against the constraints of the standard."""
    report = Report((FileReport("a.yaml", "server", ok=True),), diagnostics)
    written = json.loads(sarif.render(report, CODES))
    VALIDATOR.validate(written)
    return written


def result(each: Diagnostic) -> dict[str, Any]:
    results: list[dict[str, Any]] = log(each)["runs"][0]["results"]
    return results[0]


def span(name: str = "a.yaml", text: str = "nmae: 🦊 x\n", start: int = 0, end: int = 4) -> Span:
    return Span(Source.of_text(name, text), start, end)


def finding(message: str = "m", **changes: Any) -> Diagnostic:
    fields: dict[str, Any] = {"span": span(), **changes}
    return Diagnostic("unknown-field", "warning", message, **fields)


def test_an_empty_report_is_a_run_without_results() -> None:
    run = log()["runs"][0]
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])
    assert run["columnKind"] == "unicodeCodePoints"


def test_places_count_code_points() -> None:
    region = result(finding(span=span(start=8, end=9)))["locations"][0]["physicalLocation"][
        "region"
    ]
    assert region == {"startLine": 1, "startColumn": 9, "endLine": 1, "endColumn": 10}


def test_a_rule_explains_each_code_that_occurs() -> None:
    run = log(finding(), Diagnostic("wrong-type", "error", "m"), finding("n"))["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["unknown-field", "wrong-type"]
    assert [rules[each["ruleIndex"]]["id"] for each in run["results"]] == [
        each["ruleId"] for each in run["results"]
    ]
    assert rules[1]["shortDescription"]["text"] == "expected …, found …"
    assert "equipage: ignore[unknown-field]" in rules[0]["help"]["text"]
    assert "equipage: ignore" not in rules[1]["help"]["text"], "nothing silences it"


def test_every_code_makes_a_rule_without_braces_left_over() -> None:
    report = Report((), tuple(Diagnostic(code, "note", "m") for code in sorted(all_codes())))
    written = sarif.to_dict(report, all_codes())
    VALIDATOR.validate(written)
    rules = written["runs"][0]["tool"]["driver"]["rules"]
    assert not [
        rule["id"] for rule in rules if "{{" in json.dumps(rule) or "fullDescription" not in rule
    ]


def test_a_code_nobody_knows_is_still_a_rule() -> None:
    assert log(Diagnostic("of-a-plugin", "error", "m"))["runs"][0]["tool"]["driver"]["rules"] == [
        {"id": "of-a-plugin"}
    ]


@pytest.mark.parametrize(
    ("name", "artifact"),
    [
        pytest.param("d/a.yaml", {"uri": "d/a.yaml", "uriBaseId": "%SRCROOT%"}, id="relative"),
        pytest.param(
            "a b#c?.yaml", {"uri": "a%20b%23c%3F.yaml", "uriBaseId": "%SRCROOT%"}, id="escaped"
        ),
        pytest.param(
            "c:d.yaml",
            {"uri": "c%3Ad.yaml", "uriBaseId": "%SRCROOT%"},
            id="a colon makes no scheme",
        ),
        pytest.param("é.yaml", {"uri": "%C3%A9.yaml", "uriBaseId": "%SRCROOT%"}, id="UTF-8"),
        pytest.param(
            "\udcff.yaml",
            {"uri": "%FF.yaml", "uriBaseId": "%SRCROOT%"},
            id="a name that is no text",
        ),
        pytest.param("/tmp/a b", {"uri": "file:///tmp/a%20b"}, id="absolute"),
        pytest.param("C:/tmp/a b", {"uri": "file:///C:/tmp/a%20b"}, id="absolute on Windows"),
    ],
)
def test_files_are_uris(name: str, artifact: dict[str, str]) -> None:
    assert (
        result(finding(span=span(name)))["locations"][0]["physicalLocation"]["artifactLocation"]
        == artifact
    )


def test_a_finding_about_a_whole_file_has_no_region() -> None:
    each = finding(span=None, file="a.yaml")
    assert result(each)["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "a.yaml", "uriBaseId": "%SRCROOT%"}}}
    ]
    assert result(finding(span=None))["locations"] == []


def test_related_places_and_fixes_are_there() -> None:
    fix = Fix("rename to `name`", (Edit(span(), "name"),))
    each = result(
        finding(related=(Label(span("b.yaml"), "included from here"),), fix=fix, count=3, help="h")
    )
    assert each["message"]["text"] == "m\nh"
    assert each["occurrenceCount"] == 3
    assert each["relatedLocations"][0]["message"]["text"] == "included from here"
    change = each["fixes"][0]["artifactChanges"][0]
    assert change["replacements"][0]["insertedContent"] == {"text": "name"}
    assert change["replacements"][0]["deletedRegion"]["endColumn"] == 5


def test_no_text_becomes_a_link() -> None:
    assert (
        result(finding("`[click](http://evil)`"))["message"]["text"] == "`[click\\](http://evil)`"
    )


def test_fingerprints_do_not_depend_on_lines() -> None:
    def prints(*each: Diagnostic) -> list[str]:
        return [
            each["partialFingerprints"]["equipage/v1"] for each in log(*each)["runs"][0]["results"]
        ]

    here, moved = (
        finding(pointer="/nmae"),
        finding(pointer="/nmae", span=span(text="\n\nnmae: 1\n", start=2, end=6)),
    )
    assert prints(here) == prints(moved)
    assert len(set(prints(here, moved, finding(pointer="/x")))) == 3


@given(st.text(), st.text(min_size=1))
def test_any_text_makes_a_valid_log(message: str, name: str) -> None:
    log(finding(message, span=span(name.replace("\0", "") or "a"), path=message))


@pytest.mark.parametrize("case", list(cases_in(TESTS / "cases")), ids=lambda case: case.path.stem)
def test_every_case_makes_a_valid_log(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    diagnostics, _ = case.run()
    VALIDATOR.validate(json.loads(sarif.render(Report((), tuple(diagnostics)), all_codes())))
