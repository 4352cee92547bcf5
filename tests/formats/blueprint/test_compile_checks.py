"""What programs would refuse or doubt when they compile a blueprint."""

from __future__ import annotations

import json
from typing import Any

import pytest

import equipage
from equipage.formats.blueprint.rules import lint_level

PASS = {"op": "eq", "lhs": {"op": "path", "at": "$.review"}, "rhs": {"op": "lit", "value": "PASS"}}
TRUE = {"op": "lit", "value": True}


def findings(
    condition: Any, values: list[str], *, lints: Any = None, metadata: Any = None, more: Any = ()
) -> list[str]:
    """The findings about the verdict of one agent whose result one condition reads."""
    nothing = {"kind": "seq", "children": []}
    step = {"kind": "step", "ref": "a", "in": TRUE, "out": {"op": "path", "at": "$.review"}}
    branch = {"kind": "branch", "cond": condition, "then": nothing, "else": nothing}
    agent = {
        "name": "a",
        "kind": "agent_block",
        "verdict": {"channel": "body", "values": values},
        "lints": lints,
    }
    flow = {"kind": "seq", "children": [step, *more, branch]}
    text = json.dumps({"id": "t", "flow": flow, "agents": [agent], "metadata": metadata or {}})
    loaded = equipage.loads(text, kind="blueprint")
    return [f"{each.path} {each.code}" for each in loaded.warnings]


SECOND, THIRD = (
    "agents[0].verdict.values[1] verdict-unhandled",
    "agents[0].verdict.values[2] verdict-unhandled",
)
NEVER = "agents[0].verdict verdict-never-read"
STRICT = {"strict_verdict_handling": True}
KIND, CONTRACT = "verdict-value-unhandled", "verdict-contract-never-read"


@pytest.mark.requirement("BP-22")
@pytest.mark.parametrize(
    ("values", "lints", "metadata", "expected"),
    [
        pytest.param("PASS", None, None, [], id="every word is asked for"),
        pytest.param("PASS FAIL", None, None, [], id="the last word is what the other arm is for"),
        pytest.param("PASS FAIL", None, STRICT, [SECOND], id="unless the blueprint is strict"),
        pytest.param(
            "PASS FAIL", {KIND: "warn"}, None, [SECOND], id="or the agent wants to hear of it"
        ),
        pytest.param(
            "PASS FAIL", None, {"lints": {"all": "deny"}}, [SECOND], id="or everybody does"
        ),
        pytest.param(
            "PASS FAIL SKIP", None, None, [SECOND, THIRD], id="two words are not distinguished"
        ),
        pytest.param("PASS FAIL SKIP", {KIND: "allow"}, None, [], id="allowed by kind"),
        pytest.param(
            "PASS FAIL SKIP", {"category:Suspicious": "allow"}, None, [], id="allowed by category"
        ),
        pytest.param(
            "PASS FAIL SKIP",
            {"category:style": "allow"},
            None,
            [SECOND, THIRD],
            id="another category",
        ),
        pytest.param("PASS FAIL SKIP", None, {"lints": {"all": "allow"}}, [], id="allowed for all"),
        pytest.param(
            "PASS FAIL SKIP", {CONTRACT: "allow"}, None, [SECOND, THIRD], id="another kind"
        ),
        pytest.param(
            "PASS FAIL",
            {"all": "warn"},
            {"lints": {KIND: "allow"}},
            [SECOND],
            id="the agent decides first",
        ),
        pytest.param(
            "PASS FAIL", {"all": "allow"}, STRICT, [SECOND], id="strictness beats what is allowed"
        ),
        pytest.param("YES NO", None, None, [NEVER], id="nothing is asked for"),
        pytest.param("YES NO", {CONTRACT: "allow"}, None, [], id="which may be allowed"),
        pytest.param("YES NO", {KIND: "allow"}, None, [NEVER], id="under its own name"),
    ],
)
def test_words_no_condition_asks_for(
    values: str, lints: Any, metadata: Any, expected: list[str]
) -> None:
    condition = PASS if values.startswith("PASS") else TRUE
    assert findings(condition, values.split(), lints=lints, metadata=metadata) == expected


def copied(at: str) -> list[dict[str, Any]]:
    """An assignment that hands a value on."""
    return [
        {"kind": "assign", "at": {"op": "path", "at": "$.copy"}, "value": {"op": "path", "at": at}}
    ]


@pytest.mark.requirement("BP-22")
@pytest.mark.parametrize(
    ("condition", "more"),
    [
        pytest.param(TRUE, copied("$.review"), id="copied"),
        pytest.param(TRUE, copied("$"), id="copied with all around it"),
        pytest.param(
            {"op": "exists", "arg": {"op": "path", "at": "$.review"}}, [], id="asked for as such"
        ),
        pytest.param(
            {"op": "call_extern", "ref": "f", "args": [PASS]}, [], id="compared somewhere inside"
        ),
        pytest.param(
            {
                "op": "eq",
                "lhs": {"op": "path", "at": "$.review"},
                "rhs": {"op": "path", "at": "$.x"},
            },
            [],
            id="compared with another place",
        ),
    ],
)
def test_what_cannot_be_followed_may_decide(condition: Any, more: Any) -> None:
    assert findings(condition, ["YES", "NO"], more=more) == []
    assert findings(condition, ["YES", "NO"], more=more, metadata=STRICT) == [NEVER]


@pytest.mark.requirement("BP-22")
def test_a_copy_of_something_else_decides_nothing() -> None:
    assert findings(TRUE, ["YES", "NO"], more=copied("$.rev")) == [NEVER]


@pytest.mark.requirement("BP-22")
def test_the_first_layer_that_knows_a_kind_decides() -> None:
    assert (
        lint_level("k", "style", None, {"other": "deny"}, {"all": "warn", "category:STYLE": "deny"})
        == "deny"
    )
    assert lint_level("k", "style", {"all": "warn"}, {"k": "deny"}) == "warn"
    assert lint_level("k", "style", {"category:contract": "warn"}) is None


@pytest.mark.requirement("BP-25")
@pytest.mark.parametrize(
    ("top", "agent", "expected"),
    [
        pytest.param({}, {}, ["strict-binding-unused"], id="no agent has a runner"),
        pytest.param(
            {}, {"runner": {"backend": "agent_block_in_process"}}, [], id="a runner of its own"
        ),
        pytest.param({}, {"profile": {"worker_binding": "w"}}, [], id="a worker binding"),
        pytest.param({}, {"runner_ref": "gone"}, ["unknown-name"], id="one that does not exist"),
        pytest.param({"default_runner": "gone"}, {}, ["unknown-name"], id="nor for all"),
        pytest.param(
            {"metadata": {"lints": {"category:suspicious": "allow"}}},
            {},
            [],
            id="which may be allowed",
        ),
        pytest.param({"strategy": {"strict_binding": False}}, {}, [], id="not strict"),
    ],
)
def test_strict_binding(top: Any, agent: Any, expected: list[str]) -> None:
    step = {"kind": "step", "ref": "a", "in": TRUE, "out": {"op": "path", "at": "$.out"}}
    agents = [{"name": "a", "kind": "agent_block", **agent}]
    text = json.dumps(
        {"id": "t", "flow": step, "agents": agents, "strategy": {"strict_binding": True}, **top}
    )
    assert [each.code for each in equipage.loads(text, kind="blueprint").warnings] == expected
