"""The exported schema accepts every blueprint that loads, as its author wrote it."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from casefiles import Case, cases_in
from equipage.core.source import Source
from equipage.formats.blueprint.agent import read_header
from equipage.project.registry import format_named
from equipage.syntax.document import load_value
from formats.blueprint.test_probes import PROBES
from lab import CASES


@cache
def validator(name: str) -> Draft202012Validator:
    kind = format_named(name)
    assert kind.presentation.schema is not None
    schema = kind.presentation.schema(msgspec.json.schema(kind.model))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize(
    "probe",
    [p for p in PROBES if p["expect"] == "valid" and p["kind"] == "blueprint"],
    ids=lambda p: p["id"],
)
def test_probes(probe: dict[str, Any]) -> None:
    text = probe["files"][probe["entry"]]
    value = load_value("json" if probe["entry"].endswith("json") else "yaml", text)
    assert [error.message for error in validator("blueprint").iter_errors(value)] == []


LOADING = [
    case
    for case in cases_in(CASES)
    if case.kind == "blueprint" and case.entry in case.files and "error[" not in case.findings
]


@pytest.mark.parametrize("case", LOADING, ids=lambda case: case.path.stem)
def test_cases(case: Case) -> None:
    text = case.files[case.entry]
    assert isinstance(text, str)
    value = load_value("json" if case.entry.lower().endswith("json") else "yaml", text)
    assert [error.message for error in validator("blueprint").iter_errors(value)] == []


@pytest.mark.parametrize(
    "part",
    [
        '{"agents": [{"$agent_md": 5}]}',
        '{"agents": [{"$agent_md": "a.md", "tools": []}]}',
        '{"flow": {"$file": 5}}',
        '{"flow": {"kind": "assign", "at": {"op": "len"}, "value": {"op": "lit", "value": 1}}}',
        '{"schema_version": null}',
        '{"colour": "red"}',
    ],
)
def test_what_does_not_load_is_refused(part: str) -> None:
    good = {"id": "a", "flow": {"kind": "seq", "children": []}}
    assert validator("blueprint").is_valid(good)
    assert not validator("blueprint").is_valid({**good, **json.loads(part)})


def test_headers() -> None:
    for text in (
        format_named("agent_md").presentation.example or "",
        "---\nname: a\ntools:\ncolor: red\n---\n",
    ):
        document, _ = read_header(Source.of_text("a.md", text))
        assert document is not None
        assert validator("agent_md").is_valid(document.value)
