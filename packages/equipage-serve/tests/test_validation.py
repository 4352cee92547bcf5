"""Values against the schemas of a pack: where they do not fit, in words without values."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("jsonschema_rs")

from equipage.core.frozen import freeze_plain
from equipage.schemas import SchemaProblem
from equipage_serve.validation import Validator

LONG = "x" * 200
#: The schema, the value, and what is said about it.
PROBLEMS: list[tuple[Any, Any, str | None]] = [
    ({"type": "object"}, {}, None),
    ({"type": "object"}, [], 'type: "object"'),
    (False, {}, "false: false"),
    ({"properties": {"a": {"maxLength": 3}}}, {"a": "secret"}, "`/a`: maxLength: 3"),
    ({"properties": {"a": {"items": {"const": 1}}}}, {"a": [1, 2]}, "`/a/1`: const: 1"),
    ({"required": ["a", "b"]}, {"a": 1}, 'required: ["a", "b"]'),
    # What is not in the schema itself is not shown, nor what is long.
    ({"$ref": "https://json-schema.org/draft/2020-12/schema"}, 5, "type"),
    ({"enum": ["y" * 116]}, 1, f'enum: ["{"y" * 116}"]'),
    ({"enum": ["y" * 117]}, 1, "enum"),
    ({"additionalProperties": {"type": "integer"}}, {"secret": "x"}, '`/*`: type: "integer"'),
    ({"additionalProperties": {"type": "integer"}}, {"4711": "x"}, '`/*`: type: "integer"'),
    ({"items": {"items": False}}, [[], [4711]], "`/1/0`: items: false"),
    (
        {"properties": {LONG: {"type": "integer"}}},
        {LONG: "secret"},
        f'`/{LONG[:119]}`: type: "integer"',
    ),
]


@pytest.mark.parametrize(("schema", "value", "problem"), PROBLEMS)
def test_problems(schema: Any, value: Any, problem: str | None) -> None:
    assert Validator(freeze_plain(schema)).problem(value) == problem


def test_a_schema_that_cannot_be_used() -> None:
    with pytest.raises(SchemaProblem) as refused:
        Validator({"$schema": "http://json-schema.org/draft-03/schema#"})
    assert str(refused.value) == (
        "the schema cannot be used: no validator reads schemas of draft-03"
    )
