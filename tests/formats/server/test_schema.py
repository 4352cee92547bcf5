"""The JSON Schema for editors agrees with what loads."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

import lab
from casefiles import Case, cases_in
from equipage.loading.editor_schema import schema_for
from equipage.project.registry import format_named
from equipage.syntax.document import load_value

from .test_config import FULL

CASES = [case for case in cases_in(lab.CASES) if case.kind == "server"]
VALIDATOR = jsonschema_rs.validator_for(schema_for(format_named("server")), offline=True)


def value_of(case: Case) -> Any:
    content = case.files[case.entry]
    text = content if isinstance(content, str) else content.decode("utf-8-sig")
    return load_value("yaml", text)


#: Cases whose text has no value until variables are replaced.
CLEAN = [case for case in CASES if not case.findings and "{${" not in str(case.files[case.entry])]


@pytest.mark.parametrize("case", CLEAN, ids=lambda case: case.path.stem)
def test_what_loads_without_a_word_is_valid(case: Case) -> None:
    errors = [
        f"{list(each.instance_path)}: {each.message[:200]}"
        for each in VALIDATOR.iter_errors(value_of(case))
    ]
    assert not errors


def test_everything_at_once_is_valid() -> None:
    VALIDATOR.validate(load_value("yaml", FULL))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("tools: []", id="no server"),
        pytest.param("server: {name: 5}", id="a wrong type"),
        pytest.param("{server: {name: a}, unknown_methods: shout}", id="an unknown word"),
        pytest.param("{server: {name: a}, tools: [{tool: {name: t}}]}", id="missing fields"),
        pytest.param(
            "{server: {name: a}, behavior: {delivery: {type: turtle}}}", id="an unknown type"
        ),
        pytest.param(
            "{server: {name: a}, resources: [{resource: {uri: u, name: n}, response: {content: {$generate: {type: garbage}}}}]}",
            id="a payload without its size",
        ),
    ],
)
def test_what_does_not_load_is_not(text: str) -> None:
    assert not VALIDATOR.is_valid(load_value("yaml", text))


def test_an_unknown_key_is_valid_because_it_loads() -> None:
    assert VALIDATOR.is_valid(load_value("yaml", "server: {name: a, nmae: b}"))
