"""Schemas against their meta-schemas: the same verdict as the reference implementation, in our
words and places."""

from __future__ import annotations

from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clock import promised
from equipage.core.path import HOLE, get
from equipage.loading.wording import Redactor, message_of
from equipage.schemas import checking as schemas
from equipage.schemas.checking import Verdict, judge

DRAFTS = {
    "draft-04": jsonschema.Draft4Validator,
    "draft-06": jsonschema.Draft6Validator,
    "draft-07": jsonschema.Draft7Validator,
    "2019-09": jsonschema.Draft201909Validator,
    "2020-12": jsonschema.Draft202012Validator,
}

_VALUES = st.one_of(
    st.sampled_from(["string", "object", "strng", "", -1, 0, 1, 1.5, True, False, None]),
    st.lists(st.sampled_from(["string", "null", "x", 5]), max_size=3),
)
_KEYWORDS = st.sampled_from(
    [
        "type",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "uniqueItems",
        "required",
        "enum",
        "const",
        "title",
        "description",
        "default",
        "items",
        "additionalItems",
        "prefixItems",
        "contains",
        "properties",
        "patternProperties",
        "additionalProperties",
        "dependencies",
        "dependentRequired",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "$defs",
        "definitions",
        "propertyNames",
        "format",
        "readOnly",
    ]
)
_SCHEMAS = st.recursive(
    st.dictionaries(_KEYWORDS, _VALUES, max_size=3),
    lambda inner: st.dictionaries(
        _KEYWORDS,
        st.one_of(
            inner,
            st.lists(inner, max_size=2),
            st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            _VALUES,
        ),
        max_size=4,
    ),
    max_leaves=8,
)


@pytest.mark.requirement("TP-03", "TP-27")
@settings(max_examples=400, deadline=None)
@given(_SCHEMAS, st.sampled_from(sorted(DRAFTS)))
def test_the_verdict_is_that_of_the_reference_implementation(schema: Any, draft: str) -> None:
    try:
        DRAFTS[draft].check_schema(schema)
        expected = True
    except jsonschema.SchemaError:
        expected = False
    facts = schemas.check(schema, default_draft=draft)
    assert (not facts) == expected, facts
    assert len({(each.code, each.path) for each in facts}) == len(facts)
    missing = object()
    assert all(get(schema, each.path, missing) is not missing for each in facts)


@pytest.mark.requirement("TP-27")
@given(st.text(min_size=1).filter(lambda text: text not in schemas.TYPES))
def test_any_other_type_is_reported(name: str) -> None:
    facts = schemas.check({"properties": {"a": {"type": name}}}, default_draft="2020-12")
    assert [(each.code, each.path) for each in facts] == [
        ("schema-type-unknown", ("properties", "a", "type"))
    ]


@pytest.mark.parametrize(
    ("schema", "draft"),
    [
        (
            {
                "$schema": "http://json-schema.org/draft-04/schema#",
                "minimum": 1,
                "exclusiveMinimum": True,
            },
            None,
        ),
        ({"$schema": "http://json-schema.org/draft-04/schema", "id": "x"}, None),
        ({"minimum": 1, "exclusiveMinimum": True}, "schema-keyword-type"),
        ({"$schema": 5}, "schema-dialect"),
        ({"$schema": "https://example.test/"}, "schema-dialect-unknown"),
        ({"$schema": "http://json-schema.org/draft-03/schema#", "type": "any"}, None),
        ({"$schema": "http://json-schema.org/draft-03/schema#", "type": 5}, "schema-keyword-type"),
        (5, "schema-not-schema"),
        (None, "schema-not-schema"),
        ([], "schema-not-schema"),
        (True, None),
        ({"$ref": 5}, "schema-keyword-type"),
        ({"properties": {"a": {"$schema": 5}}}, "schema-keyword-type"),
        (
            {"$schema": "http://json-schema.org/draft-04/schema#", "enum": []},
            "schema-keyword-value",
        ),
        (
            {"$schema": "http://json-schema.org/draft-04/schema#", "not": {"enum": [1, 1.0]}},
            "schema-keyword-value",
        ),
        (
            {
                "$schema": "http://json-schema.org/draft-04/schema#",
                "enum": [1, True, "1", [1], [True]],
            },
            None,
        ),
    ],
)
def test_drafts(schema: Any, draft: str | None) -> None:
    assert [each.code for each in schemas.check(schema, default_draft="2020-12")] == (
        [] if draft is None else [draft]
    )


@pytest.mark.parametrize(
    ("schema", "draft", "path", "words"),
    [
        ({"items": [{}, 5]}, "draft-04", ("items", 1), "expected a schema, found the number 5"),
        ({"items": [True]}, "draft-04", ("items", 0), "expected a schema, found `true`"),
        ({"items": [{}, "x"]}, "draft-07", ("items", 1), "expected a schema, found text `x`"),
        ({"items": []}, "2019-09", ("items",), "`items` must have at least 1 entry"),
        ({"items": []}, "2020-12", ("items",), "expected a schema, found a list"),
        (
            {"required": ["a", 5]},
            "2020-12",
            ("required", 1),
            "`required[1]` must be text, found the number 5",
        ),
        (
            {"dependentRequired": {"a": [5]}},
            "2020-12",
            ("dependentRequired", "a", 0),
            "`dependentRequired.a[0]` must be text, found the number 5",
        ),
        (
            {"$vocabulary": {"a": 5}},
            "2020-12",
            ("$vocabulary", "a"),
            "`$vocabulary.a` must be `true` or `false`, found the number 5",
        ),
        (
            {"$id": "x#y"},
            "2020-12",
            ("$id",),
            "`$id` must not have anything behind `#`; a name goes into `$anchor`",
        ),
        (
            {"$anchor": "a:b"},
            "2020-12",
            ("$anchor",),
            "`$anchor` must begin with a letter or `_` and hold only letters, digits, `-`, `_` and `.`",
        ),
        (
            {"$anchor": "_a"},
            "2019-09",
            ("$anchor",),
            "`$anchor` must begin with a letter and hold only letters, digits, `-`, `_`, `:` and `.`",
        ),
    ],
)
def test_the_words_name_the_entry_and_fit_the_draft(
    schema: Any, draft: str, path: Any, words: str
) -> None:
    facts = schemas.check(schema, default_draft=draft)
    assert [
        (each.path, message_of(each.code.words, each.values, Redactor())) for each in facts
    ] == [(path, words)]


def test_booleans_are_schemas_from_draft_6_on() -> None:
    assert schemas.check(False, default_draft="draft-04")
    assert not schemas.check(False, default_draft="draft-06")


def test_what_is_missing_silences_what_is_below() -> None:
    assert schemas.check(HOLE, default_draft="2020-12") == []
    assert schemas.check(
        {"properties": {"a": HOLE}, "items": HOLE, "title": HOLE, "type": "strng"},
        default_draft="2020-12",
    )
    assert not schemas.check(
        {"properties": {"a": HOLE}, "items": HOLE, "allOf": [HOLE]}, default_draft="2020-12"
    )


def test_depth_is_bounded_before_anything_recurses() -> None:
    schema: Any = {}
    for _ in range(100_000):
        schema = {"not": schema}
    with promised(0.2):
        assert [each.code for each in schemas.check(schema, default_draft="2020-12")] == [
            "schema-too-deep"
        ]
    while (
        isinstance(schema, dict) and schema
    ):  # taken apart from outside, since freeing it recurses too
        schema = schema.pop("not", None)


@pytest.mark.parametrize("levels", [3, 30, 60])
def test_nested_mistakes_are_found_in_time_that_does_not_explode(levels: int) -> None:
    schema: Any = {"type": "strng"}
    for _ in range(levels):
        schema = {"items": schema, "anyOf": [{"dependencies": {"a": {"type": 5}}}]}
    with promised(0.2):
        facts = schemas.check(schema, default_draft="draft-07")
    assert len(facts) == levels + 1


@pytest.mark.parametrize(
    ("pattern", "verdict"),
    [
        (r"^[a-z0-9]+(\.[a-z0-9]+)*$", "fine"),
        (r"^(\([0-9]{3}\))?[0-9]{3}-[0-9]{4}$", "fine"),
        (r"\p{L}+", "not-python"),
        (r"(?<year>\d{4})\k<year>", "not-python"),
        (r"^(?:a|b)*$", "fine"),
        (r"(a+)?b", "fine"),
        (r"(", "broken"),
        (r"[z-a]", "broken"),
        (r"a**", "broken"),
        (r"(?P<n>a)", "python-only"),
        (r"\Aa\Z", "python-only"),
        (r"(a+)+", "backtracks"),
        (r"((a+))*", "backtracks"),
        (r"(\w+\s?)+$", "backtracks"),
        (r"(a|a)*", "backtracks"),
        (r"(a?b|ab)*", "backtracks"),
        (r"(a{2}|a{2})*", "backtracks"),
        (r"(a{2}b|a{3}b)*", "fine"),
        (r"^(?:\d{4} |\d{6} )*$", "fine"),
        (r"(#[0-9a-f]{3};|#[0-9a-f]{6};)+", "fine"),
        (r"(a{50}){500}", "repeats"),
        (r"a{20000}", "repeats"),
        pytest.param("a{" + "9" * 5_000 + "}", "repeats", id="more digits than Python reads"),
        pytest.param("(a){1,9" + "0" * 5_000 + "}", "repeats", id="as an upper bound"),
        pytest.param("a{" + "0" * 5_000 + "2}", "fine", id="zeros in front do not count"),
    ],
)
def test_patterns(pattern: str, verdict: str) -> None:
    assert judge(pattern) == verdict


@given(st.text(alphabet=r"ab(|)*+?{1,2}[]\d^$.-", max_size=30))
def test_judging_a_pattern_never_fails(pattern: str) -> None:
    assert judge(pattern) in get_args(Verdict)
