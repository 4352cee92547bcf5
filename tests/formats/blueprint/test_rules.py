"""Findings about single values, as a table."""

from __future__ import annotations

import json
from typing import Any

import pytest

from equipage.core.diagnostics import Diagnostic
from equipage.loading.pipeline import load_text
from equipage.loading.session import Request
from equipage.project.registry import format_named

STEP = {
    "kind": "step",
    "ref": "a",
    "in": {"op": "path", "at": "$.a"},
    "out": {"op": "path", "at": "$.b"},
}
BASE: dict[str, Any] = {"id": "t", "flow": STEP}
RUNNERS = [
    {"name": "shell", "runner": {"backend": "subprocess", "template": "sh"}},
    {"name": "host", "runner": {"backend": "agent_block_in_process"}},
]
SHELL = {"runners": RUNNERS, "subprocesses": [{"name": "sh", "argv": ["sh"]}]}
SOCKET = {"backend": "ws_operator", "variant": "v"}


def found(config: Any) -> tuple[Diagnostic, ...]:
    kind, request = format_named("blueprint"), Request(env={})
    base = request.system.cwd
    return load_text(json.dumps(config), kind, request, name="a.json", base=base).diagnostics


@pytest.mark.parametrize(
    ("version", "code"),
    [
        pytest.param(
            "1.0.0+18446744073709551616", "unknown-schema-version", id="a build is any text"
        ),
        pytest.param(
            "1.0.0-1+18446744073709551616", "unknown-schema-version", id="behind a pre-release, too"
        ),
        pytest.param(
            "18446744073709551615.0.0", "unknown-schema-version", id="as large as 64 bits allow"
        ),
        pytest.param("18446744073709551616.0.0", "not-semver", id="one more"),
        pytest.param("9" * 5_000 + ".0.0", "not-semver", id="longer than Python reads"),
        pytest.param("1.0." + "9" * 5_000, "not-semver", id="also as the last part"),
    ],
)
def test_versions(version: str, code: str) -> None:
    config = {"schema_version": version, "id": "t", "flow": {"kind": "seq", "children": []}}
    assert [each.code for each in found(config)] == [code]


@pytest.mark.parametrize(
    ("agent", "rest", "needed"),
    [
        pytest.param(
            {"kind": "lua", "spec": {"fn_id": None, "source": "return 1"}},
            {},
            None,
            id="either of two",
        ),
        pytest.param(
            {"kind": "lua", "spec": {"fn_id": 1, "source": 2}},
            {},
            "spec.fn_id",
            id="neither is text",
        ),
        pytest.param({"kind": "lua", "spec": "x"}, {}, "spec.fn_id", id="text for a spec"),
        pytest.param(
            {"kind": "operator", "spec": [1]}, {}, "spec.operator_ref", id="a list for a spec"
        ),
        pytest.param({"kind": "agent_block"}, {}, None, id="nothing needed"),
        pytest.param({"kind": "subprocess"}, {}, "spec.program", id="no runner"),
        pytest.param(
            {"kind": "subprocess"},
            {**SHELL, "default_runner": "shell"},
            None,
            id="the default runner",
        ),
        pytest.param(
            {"kind": "subprocess", "runner_ref": "shell"}, SHELL, None, id="a runner by name"
        ),
        pytest.param(
            {"kind": "subprocess", "runner_ref": "host"},
            SHELL,
            "spec.program",
            id="a runner of another sort",
        ),
        pytest.param(
            {"kind": "subprocess", "runner": SOCKET},
            {},
            "spec.program",
            id="its own runner, of another sort",
        ),
        pytest.param(
            {"kind": "subprocess", "profile": {"worker_binding": "w"}},
            {**SHELL, "default_runner": "shell"},
            "spec.program",
            id="a binding goes before the default",
        ),
    ],
)
def test_what_a_kind_needs(agent: dict[str, Any], rest: dict[str, Any], needed: str | None) -> None:
    messages = [
        each.message for each in found({**BASE, **rest, "agents": [{"name": "a", **agent}]})
    ]
    assert [needed is not None and f"needs `{needed}" in message for message in messages] == [
        True
    ] * bool(needed)


@pytest.mark.parametrize(
    ("agent", "code"),
    [
        pytest.param({"kind": "lua"}, "missing-field", id="no name"),
        pytest.param({"name": 5, "kind": "lua"}, "wrong-type", id="no text"),
    ],
)
def test_an_agent_without_a_name_lacks_nothing_else(agent: dict[str, Any], code: str) -> None:
    config = {"id": "t", "flow": {"kind": "seq", "children": []}, "agents": [agent]}
    assert [each.code for each in found(config)] == [code]
