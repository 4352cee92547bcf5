"""No input ends in anything but findings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from casefiles import cases_in
from equipage.core.path import walk
from equipage.files.memory import Memory
from equipage.loading.pipeline import load_path, load_text
from equipage.loading.session import Request
from equipage.project.registry import format_named
from equipage.syntax.document import load_value
from lab import CASES, tries

BLUEPRINT, AGENT_MD = format_named("blueprint"), format_named("agent_md")


def case_value(name: str) -> Any:
    case = next(case for case in cases_in(CASES) if case.path.stem == name)
    text = case.files[case.entry]
    assert isinstance(text, str)
    return load_value("yaml", text)


STARTS = [
    case_value(name)
    for name in (
        "worked-example-gives-the-form-programs-write",
        "unknown-repeated-and-unused-names-are-reported",
        "every-current-field-loads",
        "older-flow-loads-unchanged",
        "newer-flow-loads-with-canonical-paths",
        "mixed-wire-forms-are-reported-at-the-rarer-one",
        "verdicts-are-compared-in-their-channel-with-possible-words",
        "verdicts-without-a-condition-are-reported",
        "projection-name-belongs-to-one-agent",
        "subprocess-commands-are-checked",
        "scripts-cannot-use-tools-of-mcp-servers",
        "declarations-without-effect-are-reported",
    )
]
WORDS = [
    "$file",
    "$agent_md",
    "kind",
    "op",
    "path",
    "at",
    "$.a",
    "x",
    "operator",
    "lit",
    "args",
    "name",
    "agents",
]
JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3)
    ),
    max_leaves=6,
)


def replaced(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    if not path:
        return new
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


@st.composite
def damaged(draw: st.DrawFn) -> Any:
    value = draw(st.sampled_from(STARTS))
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from([path for path, _ in walk(value)]))
        value = replaced(value, path, draw(JUNK))
    return value


@pytest.mark.requirement("BP-17")
@settings(max_examples=tries(400), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damaged())
def test_damaged_blueprints(value: Any) -> None:
    agent = b"---\nname: a\n---\nHello.\n"
    text = json.dumps(value).encode()
    memory = Memory(
        {"/b/a.json": text, "/b/r.md": agent, "/b/x": b"text", "/b/$.a": b"\xff"}, root="/b"
    )
    outcome = load_path("a.json", BLUEPRINT, Request(env={}, system=memory, project="/b"))
    assert (outcome.config is None) == (not outcome.ok)
    loaded = outcome.loaded_or_none()
    if loaded is not None:
        json.dumps(loaded.to_dict())
        assert len(loaded.digest) == 64


HEADERS = st.dictionaries(
    st.sampled_from(
        [
            "name",
            "description",
            "model",
            "effort",
            "tools",
            "worker_binding",
            "lints",
            "kind",
            "spec",
            "x",
        ]
    ),
    JUNK,
    max_size=6,
)


@settings(max_examples=tries(200), deadline=None)
@given(HEADERS, st.text(max_size=20))
def test_odd_headers(header: dict[str, Any], body: str) -> None:
    text = f"---\n{json.dumps(header)}\n---\n{body}"
    request = Request(env={}, system=Memory({}))
    outcome = load_text(text, AGENT_MD, request, name="a.md", base="/")
    assert outcome.ok == isinstance(header.get("name"), str)
    if outcome.ok:
        assert outcome.config.profile.system_prompt == body


@settings(max_examples=tries(300), deadline=None)
@given(st.text(alphabet="-\n\r: abn[]{}!&*'\"\ufeff\0", max_size=40))
def test_any_text_as_an_agent_file(text: str) -> None:
    for start in ("", "---\n", "---\nname: a\n"):
        request = Request(env={}, system=Memory({}))
        load_text(start + text, AGENT_MD, request, name="a.md", base="/")
