"""Names inside one configuration: the tools of a server, the agents of a blueprint, and events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab import repository
from lsp.talking import Here, edits_of
from lsp.test_publishing import TOOL

PHASED = """\
server: {name: demo, version: '1'}
baseline:
  tools:
    - $include: tools/echo.yaml
    - tool: {name: "add", description: d, inputSchema: {type: object}}
      response: {content: [{type: text, text: hello}]}
phases:
  - name: first
    remove_tools: [add]
    advance: {on: 'tools/call:echo'}
  - name: second
    replace_tools:
      echo:
        tool: {name: echo, description: d, inputSchema: {type: object}}
        response: {content: [{type: text, text: other}]}
"""
BLUEPRINT = """\
id: team
flow:
  kind: seq
  children:
    - {kind: step, ref: writer, in: {op: path, at: $}, out: {op: path, at: $.text}}
    - {kind: step, ref: writer, in: {op: path, at: $}, out: {op: path, at: $.more}}
agents:
  - {name: writer, kind: lua, spec: {fn_id: f}, runner_ref: main}
runners:
  - {name: main, runner: {backend: agent_block_in_process}}
"""
SETTINGS = "[kinds]\n'team.yaml' = 'blueprint'\n"
PROJECT = {
    "main.yaml": PHASED,
    "library/tools/echo.yaml": TOOL,
    "team.yaml": BLUEPRINT,
    "equipage.toml": SETTINGS,
}


@pytest.fixture
def client(tmp_path: Path) -> Here:
    made = Here(repository(tmp_path, PROJECT), env={"TOOL": "echo"})
    made.settle()
    return made


def renamed(client: Here, name: str, mark: str, new: str) -> Any:
    params = {**client.at(name, mark), "newName": new}
    return client.request("textDocument/rename", params)


def lines(client: Here, method: str, name: str, mark: str) -> list[tuple[str, int]]:
    params = {**client.at(name, mark), "context": {"includeDeclaration": True}}
    found = client.ask(f"textDocument/{method}", params)
    root = client.uri("")
    return sorted(
        (each["uri"].removeprefix(root), each["range"]["start"]["line"]) for each in found
    )


def test_a_tool_that_a_phase_names_leads_to_its_definition(client: Here) -> None:
    client.open("main.yaml")
    client.settle()
    assert lines(client, "definition", "main.yaml", "add]") == [("/main.yaml", 4)]
    assert lines(client, "definition", "main.yaml", "echo'}") == [("/library/tools/echo.yaml", 0)]
    found = lines(client, "references", "main.yaml", "echo'}")
    assert found == [
        ("/library/tools/echo.yaml", 0),
        ("/main.yaml", 9),
        ("/main.yaml", 12),
        ("/main.yaml", 13),
    ]


def test_a_rename_changes_the_phases_and_the_included_file(client: Here) -> None:
    client.open("main.yaml")
    client.open("library/tools/echo.yaml")
    client.settle()
    edit = renamed(client, "main.yaml", "echo'}", "say")["result"]
    text = client.edited("main.yaml", edit)
    assert "{on: 'tools/call:say'}" in text
    assert "      say:\n        tool: {name: say," in text
    assert "tool: {name: say," in client.edited("library/tools/echo.yaml", edit)
    client.change("main.yaml", text)
    client.change("library/tools/echo.yaml", client.edited("library/tools/echo.yaml", edit), 3)
    client.settle()
    assert client.published("main.yaml") == []


@pytest.mark.parametrize(
    ("mark", "new", "words"),
    [
        ("echo'}", "add", "there is a tool of the server `add` already"),
        ("echo'}", "../x", "is not a name"),
        ("first", "x", "no name here"),
    ],
    ids=["taken", "no name", "nothing names a phase"],
)
def test_an_inner_rename_that_cannot_be_right_is_refused(
    mark: str, new: str, words: str, client: Here
) -> None:
    client.open("main.yaml")
    client.settle()
    assert words in renamed(client, "main.yaml", mark, new)["error"]["message"]


def test_a_name_from_a_variable_or_a_shared_file_is_not_renamed(client: Here) -> None:
    client.open("main.yaml", PHASED.replace("tools/call:echo", "tools/call:${TOOL}"))
    client.settle()
    answer = renamed(client, "main.yaml", "echo:\n", "say")
    assert "cannot be replaced" in answer["error"]["message"]
    client.change("main.yaml", PHASED)
    client.open("other.yaml", PHASED)
    client.settle()
    answer = renamed(client, "main.yaml", "echo'}", "say")
    assert "other.yaml includes, too" in answer["error"]["message"]


def test_the_agents_and_runners_of_a_blueprint(client: Here) -> None:
    client.open("team.yaml")
    client.settle()
    assert client.published("team.yaml") == []
    assert lines(client, "definition", "team.yaml", "main}") == [("/team.yaml", 9)]
    edit = renamed(client, "team.yaml", "writer", "author")["result"]
    assert client.edited("team.yaml", edit) == BLUEPRINT.replace("writer", "author")
    assert list(edits_of(edit)) == [client.uri("team.yaml")]


def labels(client: Here, name: str, mark: str) -> set[str]:
    answer = client.ask("textDocument/completion", client.at(name, mark, after=True))
    return {each["label"] for each in answer["items"]}


def test_events_and_inner_names_are_offered(client: Here) -> None:
    client.open("main.yaml")
    client.open("team.yaml")
    client.settle()
    client.change("main.yaml", PHASED.replace("{on: 'tools/call:echo'}", "{on: "))
    events = labels(client, "main.yaml", "{on: ")
    assert {"initialized", "tools/list", "tools/call:echo", "tools/call:add"} <= events
    client.change("main.yaml", PHASED.replace("[add]", "["))
    assert {"add", "echo"} <= labels(client, "main.yaml", "remove_tools: [")
    client.change("team.yaml", BLUEPRINT.replace("runner_ref: main", "runner_ref: "))
    assert "main" in labels(client, "team.yaml", "runner_ref: ")


def test_events_of_hooks_are_offered(client: Here) -> None:
    name = ".claude/settings.json"
    client.open(name, '{"hooks": {}}')
    client.settle()
    client.change(name, '{"hooks": {"Pre"}}')
    assert "PreToolUse" in labels(client, name, '"Pre')
