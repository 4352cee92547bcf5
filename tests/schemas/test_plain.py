"""Schemas that are good at sight are good for the meta-schema of every draft."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipage.schemas import DRAFTS, meta_validator
from equipage.schemas.checking import is_plain

TEXTS = st.text("abc é", max_size=4)
VALUES: st.SearchStrategy[Any] = st.one_of(
    TEXTS,
    st.sampled_from(
        [
            "string",
            "object",
            "array",
            "null",
            True,
            False,
            None,
            -1,
            0,
            1,
            2**40,
            1.5,
            float("inf"),
            [],
            {},
        ]
    ),
    st.lists(st.one_of(TEXTS, st.integers(0, 3)), max_size=3),
)
KEYWORDS = st.sampled_from(
    (
        *(
            "type",
            "title",
            "description",
            "default",
            "enum",
            "required",
            "minimum",
            "maximum",
            "minLength",
            "maxItems",
        ),
        *("additionalProperties", "items", "properties", "pattern", "$ref", "$schema", "format"),
    )
)
SCHEMAS = st.recursive(
    st.dictionaries(KEYWORDS, VALUES, max_size=3),
    lambda below: st.one_of(
        st.fixed_dictionaries(
            {"properties": st.dictionaries(TEXTS, below, max_size=3)}, optional={"type": VALUES}
        ),
        st.fixed_dictionaries({"items": below}),
        st.fixed_dictionaries({"additionalProperties": st.one_of(below, st.booleans())}),
    ),
    max_leaves=6,
)


@given(SCHEMAS)
def test_what_is_plain_is_valid_in_every_draft(schema: dict[str, Any]) -> None:
    if is_plain(schema):
        for draft in DRAFTS:
            assert draft.validator is None or meta_validator(draft).is_valid(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {
            "type": "object",
            "properties": {"a": {"type": "string", "minLength": 1}},
            "required": ["a"],
        },
        {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3},
        {"additionalProperties": False, "description": "x", "default": None},
        # Whether they can be read, and lead somewhere, is not a matter of meta-schemas.
        {"$schema": "x", "properties": {"a": {"$ref": "#/%%"}, "b": {"pattern": "("}}},
    ],
)
def test_plain(schema: dict[str, Any]) -> None:
    assert is_plain(schema)
    for draft in DRAFTS:
        assert draft.validator is None or meta_validator(draft).is_valid(schema)


@pytest.mark.parametrize(
    "schema",
    [
        True,
        {"type": "text"},
        {"type": ["string"]},
        {"required": []},
        {"required": ["a", "a"]},
        {"minLength": -1},
        {"minLength": True},
        {"minimum": "1"},
        {"properties": {"a": "string"}},
        {"items": [{}]},
        {"enum": [1]},
        {"$ref": 1},
        {"$schema": None},
        {"pattern": ["("]},
        {"format": "x"},
        {"default": float("nan")},
    ],
)
def test_left_to_the_meta_schema(schema: Any) -> None:
    assert not is_plain(schema)
