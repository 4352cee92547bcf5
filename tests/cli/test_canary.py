"""The value of an environment variable appears in no output of any command, unless it is asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lab import environment, in_process, settle, write

SECRET = "s3cr3t-c4n4ry"
NUMBER = "31337"
SERVER = """\
server: {name: "a ${S} b", version: "${S}"}
tools:
  - $include: t.yaml
  - $include: t.yaml
    override:
      tool: {name: "${S}", description: "${N}"}
"""
TOOL = """\
tool: {name: t, description: "${S}", inputSchema: {type: object, "x-${S}": "${S}", list: ["${S}", "x ${S}"], deep: {"k${S}": {a: "${N}"}}}}
response: {content: [{type: text, text: "${S} and more"}]}
"""
COMMANDS = [
    ["check", "."],
    ["check", ".", "--json"],
    ["show", "server.yaml"],
    ["show", "server.yaml", "--annotate"],
    ["show", "server.yaml", "--json", "--annotate"],
    ["show", "server.yaml", "tools[0].tool.inputSchema.deep"],
    ["show", "server.yaml", "tools[0].tool.inputSchema.kx"],
    ["show", "server.yaml", "tools[0].tool.inputSchema"],
    ["show", "server.yaml", "tools[0].tool.inputSchema", "--json", "--annotate"],
    ["explain", "server.yaml", "server.name"],
    ["explain", "server.yaml", "tools[1]"],
    ["explain", "server.yaml", "tools[1].tool.name", "--json"],
    ["explain", "server.yaml", "tools[1].tool", "--json"],
    ["explain", "server.yaml", "tools[0].tool.inputSchema.deep", "--json"],
    ["explain", "server.yaml", "tools[0].tool.inputSchema.deep.x"],
    ["explain", "server.yaml", 'tools[0].tool.inputSchema["x-${S}"]'],
    ["list", "."],
    ["list", ".", "--json"],
    ["diff", "server.yaml", "other.yaml"],
    ["diff", "server.yaml", "other.yaml", "--json"],
    ["diff", "server.yaml", "broken.yaml"],
    ["lock", "server.yaml", "-o", "-"],
    ["show", "broken.yaml"],
    ["explain", "broken.yaml", "server"],
]


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(monkeypatch, tmp_path, environment(S=SECRET, N=NUMBER))
    files = {
        "server.yaml": SERVER,
        "other.yaml": SERVER.replace("a ${S} b", "c ${S} d").replace('"${N}"', '"${S}${N}"'),
        "broken.yaml": 'server: {name: ["${S}"], "${S}": "${S}"}\ntools: ${S}\n',
        "library/t.yaml": TOOL,
    }
    write(tmp_path, files)


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_the_canary_sings_nowhere(arguments: list[str]) -> None:
    code, out, err = in_process(arguments)
    assert code != 3, err
    assert out or err
    assert SECRET not in out + err
    assert NUMBER not in out + err


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "server.yaml"],
        ["show", "server.yaml", "--json"],
        ["explain", "server.yaml", "server.name"],
        ["diff", "server.yaml", "other.yaml"],
    ],
    ids=" ".join,
)
def test_it_sings_when_it_is_asked_to(arguments: list[str]) -> None:
    assert SECRET in in_process([*arguments, "--show-env"])[1]


def test_a_lock_is_the_same_whatever_the_variables_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    first = in_process(["lock", "server.yaml", "-o", "-"])[1]
    monkeypatch.setenv("S", "another")
    monkeypatch.setenv("N", "1")
    assert in_process(["lock", "server.yaml", "-o", "-"])[1] == first
    assert json.loads(first)["items"]["server.yaml"]["variables"] == ["N", "S"]
