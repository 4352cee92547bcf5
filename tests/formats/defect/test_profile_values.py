"""Small tables: patterns, limits, and that the model's collector and converter agree."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equipage.core.text import glob_problem
from equipage.formats.defect.profile import FORMAT
from equipage.formats.defect.profile_model import (
    AgentProfile,
    RequestLimit,
    RequestLimitMode,
    request_limit,
)
from equipage.formats.defect.settings import Settings
from equipage.loading.editor_schema import schema_for
from equipage.loading.model import build
from equipage.loading.shape import Shape


@pytest.mark.parametrize(
    ("glob", "problem"),
    [
        ("read_file", None),
        ("mcp__*__read?", None),
        ("[a-z]*", None),
        ("[!a]", None),
        ("[]]", None),
        ("{read,write}_file", None),
        ("\\[", None),
        ("", None),
        ("[bad", "`[` is never closed"),
        ("[]", "`[` is never closed"),
        ("{a,b", "`{` is never closed"),
        ("a}", "`}` without `{`"),
        ("[z-a]", "a range runs backwards"),
        ("a\\", "it ends with `\\`"),
    ],
)
def test_patterns(glob: str, problem: str | None) -> None:
    assert glob_problem(glob) == problem


@pytest.mark.requirement("PR-10")
@pytest.mark.parametrize(
    ("number", "mode", "limit"),
    [
        (None, None, None),
        (5, None, RequestLimit("adaptive", 5)),
        (5, "adaptive", RequestLimit("adaptive", 5)),
        (0, "fixed", RequestLimit("fixed", 0)),
        (None, "unbounded", RequestLimit("unbounded")),
        (5, "unbounded", RequestLimit("unbounded")),
    ],
)
def test_request_limit(
    number: int | None, mode: RequestLimitMode | None, limit: RequestLimit | None
) -> None:
    assert request_limit(number, mode) == limit


WORDS = st.sampled_from(
    [
        "description",
        "model",
        "prompt",
        "text",
        "tools",
        "allow",
        "hooks",
        "before_ingest",
        "handler",
        "type",
        "builtin",
        "command",
        "argv",
        "match",
        "tool",
        "default",
        "turn",
        "providers",
        "mcp",
        "servers",
        "sandbox",
        "mode",
        "open",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2**33) | st.floats(allow_nan=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(WORDS, VALUES, max_size=5), st.sampled_from([AgentProfile, Settings]))
def test_the_collector_accepts_what_the_model_does(value: Any, model: type) -> None:
    _, _, facts = build(value, model, Shape())
    try:
        msgspec.convert(value, model)
    except msgspec.ValidationError:
        assert facts
    else:
        assert not facts


def test_the_layer_of_a_hook_is_not_in_the_schema() -> None:
    schema = schema_for(FORMAT)
    assert "source" not in schema["$defs"]["Hook"]["properties"]
    assert "handler" in schema["$defs"]["Hook"]["properties"]
