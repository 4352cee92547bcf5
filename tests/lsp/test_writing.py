"""Hover, completion, definitions, references, renames, links and symbols."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from equipage.lsp.protocol import uri_of
from lab import repository, write
from lsp.talking import Here, applied, edits_of
from lsp.test_publishing import AGENT, PACK, SERVER, TOOL

SKILL = "---\nname: pdf\ndescription: Reads PDF files.\n---\n# Read\n\nText.\n\n## More\n\nText.\n"
TOOL_ALONE = TOOL.replace("echo", "alone") + (
    "behavior: {delivery: slow_loris, byte_delay_ms: 5}\n"
)
PROJECT = {
    "main.yaml": SERVER,
    "library/tools/echo.yaml": TOOL,
    ".claude/skills/pdf/SKILL.md": SKILL,
    ".claude/agents/a.md": AGENT.format("a", "tools: Read, mcp__github__search\nskills: [pdf]\n"),
    ".claude/agents/b.md": AGENT.format("b", "tools: [Read, 'Agent(a)']\n"),
    ".mcp.json": '{"mcpServers": {"github": {"command": "gh"}}}\n',
}


@pytest.fixture
def client(tmp_path: Path) -> Here:
    made = Here(repository(tmp_path, PROJECT), env={"TOKEN": "hunter2"})
    made.settle()
    return made


def labels(client: Here, name: str, mark: str) -> dict[str, dict[str, Any]]:
    answer = client.ask("textDocument/completion", client.at(name, mark, after=True))
    return {each["label"]: each for each in answer["items"]}


def completed(client: Here, name: str, mark: str, label: str) -> str:
    edit = labels(client, name, mark)[label]["textEdit"]
    text = client.server.workspace.open[client.uri(name)].text
    return applied(text, [edit])


def hovered(client: Here, name: str, mark: str) -> str:
    answer = client.ask("textDocument/hover", client.at(name, mark))
    return "" if answer is None else answer["contents"]["value"]


# Hover.


def test_hover_says_what_a_field_means_and_whether_it_restricts(client: Here) -> None:
    client.open(".claude/agents/a.md")
    words = hovered(client, ".claude/agents/a.md", "tools:")
    assert words.startswith("**tools**: ")
    assert "restricts" in words
    client.open("a.tool.yaml", PACK)
    assert "whole number" in hovered(client, "a.tool.yaml", "timeoutMs")
    assert "required" in hovered(client, "a.tool.yaml", "deterministic")


def test_hover_in_a_shared_file_speaks_of_the_server_and_not_of_its_part(client: Here) -> None:
    assert client.folder is not None
    write(
        client.folder,
        {
            "library/schema.json": '{"type": "object"}',
            "library/tools/echo.yaml": TOOL.replace("{type: object}", "{$file: schema.json}"),
        },
    )
    client.open("main.yaml")
    client.open("library/schema.json")
    client.settle()
    assert "`tools[0].tool.inputSchema.type`" in hovered(client, "library/schema.json", "object")
    assert "main.yaml:3" in hovered(client, "library/schema.json", "object")


def test_hover_in_an_included_file_knows_its_place(client: Here) -> None:
    client.open("main.yaml")
    client.open("library/tools/echo.yaml")
    client.settle()
    words = hovered(client, "library/tools/echo.yaml", "description")
    assert words.startswith("**description**")
    assert "included from here at" in words
    assert "main.yaml:3:15" in words


def test_hover_in_a_pattern_that_nobody_includes_knows_its_fields(client: Here) -> None:
    client.open("library/tools/alone.yaml", TOOL_ALONE)
    client.settle()
    words = hovered(client, "library/tools/alone.yaml", "description")
    assert words.startswith("**description**")
    assert "delay" in hovered(client, "library/tools/alone.yaml", "byte_delay_ms")


def test_hover_on_a_variable_never_shows_its_value(client: Here) -> None:
    text = "server: {name: '${TOKEN}', version: '${VERSION:-1.0}'}\ntools: []\n"
    client.open("main.yaml", text)
    assert "Its value is not shown" in hovered(client, "main.yaml", "TOKEN")
    assert "`1.0`" in hovered(client, "main.yaml", "VERSION")
    assert "hunter2" not in str(client.sent)


def test_hover_goes_on_while_a_text_is_broken(client: Here) -> None:
    client.open("a.tool.yaml", PACK)
    client.settle()
    client.change("a.tool.yaml", PACK + "broken: [\n")
    assert hovered(client, "a.tool.yaml", "timeoutMs").startswith("**timeoutMs**")


def test_hover_on_a_name_describes_what_it_names(client: Here) -> None:
    client.open(".claude/agents/a.md")
    assert "Reads PDF files." in hovered(client, ".claude/agents/a.md", "pdf]")


def test_hover_on_nothing_is_nothing(client: Here) -> None:
    client.open("notes.txt", "hello")
    assert client.ask("textDocument/hover", client.at("notes.txt", "hello")) is None
    client.open("a.tool.yaml", PACK + "\n\n# comment\n")
    assert hovered(client, "a.tool.yaml", "comment") == ""


# Completion.


def test_keys_that_are_missing_are_offered_with_their_meaning(client: Here) -> None:
    text = PACK.replace("deterministic: true\n", "det\n")
    client.open("a.tool.yaml", PACK)
    client.settle()
    client.change("a.tool.yaml", text)
    found = labels(client, "a.tool.yaml", "\ndet")
    assert "deterministic" in found
    assert "version" not in found
    assert found["deterministic"]["detail"].endswith("required")
    assert completed(client, "a.tool.yaml", "\ndet", "deterministic") == text.replace(
        "det\n", "deterministic: \n"
    )


def test_keys_inside_brackets_and_values_of_a_choice(client: Here) -> None:
    text = PACK.replace(
        "execution: {kind: python, module: 'tools.text:count'}", "execution: {kind: "
    )
    client.open("a.tool.yaml", PACK)
    client.settle()
    client.change("a.tool.yaml", text)
    assert "python" in labels(client, "a.tool.yaml", "{kind: ")
    client.change("a.tool.yaml", text.replace("{kind: ", "{kind: python, m"))
    assert "module" in labels(client, "a.tool.yaml", "python, m")


def test_paths_of_includes_start_at_the_library(client: Here) -> None:
    client.open("main.yaml", SERVER.replace("tools/echo.yaml", "to"))
    found = labels(client, "main.yaml", "$include: to")
    assert set(found) == {"tools/"}
    client.change("main.yaml", SERVER.replace("tools/echo.yaml", "tools/"))
    assert completed(client, "main.yaml", "$include: tools/", "tools/echo.yaml") == SERVER


def test_names_of_the_workspace_are_offered(client: Here) -> None:
    name = ".claude/agents/c.md"
    client.open(name, AGENT.format("c", "skills: []\ntools: Read, \n"))
    client.settle()
    assert "pdf" in labels(client, name, "skills: [")
    tools = labels(client, name, "Read, ")
    assert {"Bash", "mcp__github"} <= set(tools)
    assert completed(client, name, "Read, ", "Bash") == AGENT.format(
        "c", "skills: []\ntools: Read, Bash\n"
    )


def test_names_of_variables_are_offered_and_never_values(client: Here) -> None:
    client.open("main.yaml", "server: {name: '${TO', version: '1'}\ntools: []\n")
    client.change("main.yaml", "server: {name: demo, version: '1'}\ntools: []\n")
    client.settle()
    client.change("main.yaml", "server: {name: '${TO', version: '1'}\ntools: []\n")
    assert "TOKEN" in labels(client, "main.yaml", "${TO")
    assert "hunter2" not in str(client.sent)


def test_keys_of_json_are_quoted(client: Here) -> None:
    client.open(".mcp.json")
    client.settle()
    client.change(".mcp.json", '{"mcpServers": {"github": {"command": "gh", "ar"}}}')
    text = completed(client, ".mcp.json", '"ar', "args")
    assert '"command": "gh", "args"' in text


def test_an_import_in_instructions_is_a_path(client: Here) -> None:
    client.open("CLAUDE.md", "# Rules\n\nSee @libr\n")
    assert "@library/" in labels(client, "CLAUDE.md", "@libr")


# Definitions, references, links.


def found_at(client: Here, method: str, name: str, mark: str) -> list[tuple[str, int]]:
    params = {**client.at(name, mark), "context": {"includeDeclaration": True}}
    root = client.uri("")
    answer = client.ask(f"textDocument/{method}", params)
    return sorted(
        (each["uri"].removeprefix(root), each["range"]["start"]["line"]) for each in answer
    )


def test_a_definition_is_found_through_includes_and_names(client: Here) -> None:
    client.open("main.yaml")
    client.open(".claude/agents/a.md")
    client.open(".claude/agents/b.md")
    client.settle()
    agent = ".claude/agents/a.md"
    assert found_at(client, "definition", "main.yaml", "tools/echo") == [
        ("/library/tools/echo.yaml", 0)
    ]
    assert found_at(client, "definition", agent, "pdf]") == [("/.claude/skills/pdf/SKILL.md", 1)]
    assert found_at(client, "definition", agent, "github") == [("/.mcp.json", 0)]
    assert found_at(client, "definition", ".claude/agents/b.md", "a)") == [
        ("/.claude/agents/a.md", 1)
    ]


def test_references_lead_back(client: Here) -> None:
    client.open(".claude/skills/pdf/SKILL.md")
    client.open("library/tools/echo.yaml")
    client.settle()
    found = found_at(client, "references", ".claude/skills/pdf/SKILL.md", "pdf")
    assert found == [("/.claude/agents/a.md", 4), ("/.claude/skills/pdf/SKILL.md", 1)]
    assert found_at(client, "references", "library/tools/echo.yaml", "tool") == [("/main.yaml", 2)]


def test_files_that_a_text_names_are_links(client: Here) -> None:
    client.open("main.yaml")
    client.settle()
    document = {"textDocument": {"uri": client.uri("main.yaml")}}
    (link,) = client.ask("textDocument/documentLink", document)
    assert link["target"] == client.uri("library/tools/echo.yaml")


# Renames.


def renamed(client: Here, name: str, mark: str, new: str) -> Any:
    params = {**client.at(name, mark), "newName": new}
    return client.request("textDocument/rename", params)


def test_a_rename_changes_every_file(client: Here) -> None:
    client.open(".claude/agents/a.md")
    client.settle()
    place = client.ask("textDocument/prepareRename", client.at(".claude/agents/a.md", "pdf]"))
    assert place["start"] == {"line": 4, "character": 9}
    edit = renamed(client, ".claude/agents/a.md", "pdf]", "papers")["result"]
    texts = edits_of(edit)
    assert set(texts) == {
        client.uri(".claude/agents/a.md"),
        client.uri(".claude/skills/pdf/SKILL.md"),
    }
    assert "skills: [papers]" in client.edited(".claude/agents/a.md", edit)
    (move,) = [each for each in edit["documentChanges"] if each.get("kind") == "rename"]
    assert move["newUri"] == client.uri(".claude/skills/papers")


@pytest.mark.parametrize(
    ("name", "mark", "new", "words"),
    [
        (".claude/agents/a.md", "pdf]", "a b", "is not a name"),
        (".claude/agents/a.md", "pdf]", "pdf", "already"),
        (".claude/agents/b.md", "a)", "b", "there is a agent `b` already"),
        (".claude/agents/a.md", "Reviews", "x", "no name here"),
        (".claude/agents/a.md", "Read,", "x", "no file of the workspace defines"),
    ],
    ids=["no name", "the same", "taken", "prose", "a tool"],
)
def test_a_rename_that_would_change_meanings_is_refused(
    name: str, mark: str, new: str, words: str, client: Here
) -> None:
    client.open(name)
    client.settle()
    error = renamed(client, name, mark, new)["error"]
    assert error["code"] == -32803
    assert words in error["message"]


def test_a_rename_never_touches_what_is_outside(client: Here, tmp_path: Path) -> None:
    """A link out of the workspace, a file of another project, and a name that is taken on disk."""
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    repository(outside, {".claude/agents/c.md": AGENT.format("c", "skills: [pdf]\n")})
    client.open(".claude/agents/a.md")
    uri = uri_of(str(outside / ".claude/agents/c.md"))
    text = AGENT.format("c", "skills: [pdf]\n")
    client.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "text": text, "version": 1}})
    client.settle()
    answer = renamed(client, ".claude/agents/a.md", "pdf]", "papers")
    assert "is not in the workspace" in answer["error"]["message"]
    client.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
    client.settle()
    (tmp_path / ".claude/skills/papers").mkdir()
    answer = renamed(client, ".claude/agents/a.md", "pdf]", "papers")
    assert answer["error"]["message"] == "`papers` exists already"
    assert "result" in renamed(client, ".claude/agents/a.md", "pdf]", "paper")


def test_an_open_text_outside_is_no_way_around_the_limits_of_includes(
    client: Here, tmp_path: Path
) -> None:
    outside = tmp_path.parent / "elsewhere.yaml"
    item = {"uri": uri_of(str(outside)), "text": TOOL, "version": 1}
    client.tell("textDocument/didOpen", {"textDocument": item})
    client.open("main.yaml", SERVER.replace("tools/echo.yaml", "../../elsewhere.yaml"))
    client.settle()
    assert [each["code"] for each in client.published("main.yaml")] != []
    assert "hello" not in str(client.ask("textDocument/hover", client.at("main.yaml", "tools:")))


# Names, and texts that are not open.


def test_names_of_the_workspace_are_symbols(client: Here) -> None:
    found = client.ask("workspace/symbol", {"query": "PD"})
    assert [(each["name"], each["containerName"]) for each in found] == [("pdf", "skill")]
    names = {each["name"] for each in client.ask("workspace/symbol", {"query": ""})}
    assert {"a", "b", "pdf", "github"} <= names


def test_questions_about_texts_that_are_not_open_have_empty_answers(client: Here) -> None:
    where = {"textDocument": {"uri": client.uri("x.yaml")}, "position": {"line": 0, "character": 0}}
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
    for method in (
        "hover",
        "completion",
        "definition",
        "references",
        "prepareRename",
        "documentLink",
        "rename",
    ):
        params = {**where, "range": whole, "newName": "x"}
        assert not client.ask(f"textDocument/{method}", params)
