"""Findings in an editor are those of a check, at exact places, also in texts nobody has saved."""

from __future__ import annotations

from pathlib import Path

import pytest

import equipage
from equipage.cli import main
from lab import repository, write
from lsp.talking import EDITOR, PULLING, Here

PACK = """\
id: text.count
version: 1.0.0
description: Counts words.
deterministic: true
timeoutMs: 2000
limits: {maxInputBytes: 65536, maxOutputBytes: 1024}
inputSchema: {type: object}
outputSchema: {type: object}
execution: {kind: python, module: 'tools.text:count'}
"""
SERVER = "server: {name: demo, version: '1'}\ntools:\n  - $include: tools/echo.yaml\n"
TOOL = """\
tool: {name: echo, description: d, inputSchema: {type: object}}
response: {content: [{type: text, text: hello}]}
"""


def rows(found: list[dict[str, object]]) -> list[tuple[object, object]]:
    return [(each["code"], each["severity"]) for each in found]


def test_a_misspelt_field_is_shown_at_its_key(tmp_path: Path) -> None:
    client = Here(repository(tmp_path))
    client.open("a.tool.yaml", PACK.replace("timeoutMs", "timeoutMS"))
    client.settle()
    error, warning = client.published("a.tool.yaml")
    assert (error["code"], error["severity"], error["source"]) == ("missing-field", 1, "equipage")
    assert (warning["code"], warning["severity"]) == ("unknown-field", 2)
    assert warning["range"] == {
        "start": {"line": 4, "character": 0},
        "end": {"line": 4, "character": 9},
    }
    client.change("a.tool.yaml", PACK)
    client.settle()
    assert client.published("a.tool.yaml") == []


@pytest.mark.parametrize(
    ("encoding", "column"), [("utf-8", 8), ("utf-16", 5), ("utf-32", 4)], ids=str
)
def test_columns_count_in_the_encoding_that_was_negotiated(
    encoding: str, column: int, tmp_path: Path
) -> None:
    capabilities = {**EDITOR, "general": {"positionEncodings": ["utf-7", encoding]}}
    client = Here(repository(tmp_path), capabilities)
    assert client.offered["capabilities"]["positionEncoding"] == encoding
    text = PACK.replace("limits: {", "limits: {'é🙂': 1, ")
    client.open("a.tool.yaml", text)
    client.settle()
    found = next(
        each for each in client.published("a.tool.yaml") if each["code"] == "unknown-field"
    )
    place = found["range"]
    assert place["end"]["character"] - place["start"]["character"] == column


def test_an_unsaved_text_counts_for_the_files_that_include_it(tmp_path: Path) -> None:
    files = {"main.yaml": SERVER, "library/tools/echo.yaml": TOOL}
    client = Here(repository(tmp_path, files))
    client.open("main.yaml")
    client.settle()
    assert client.published("main.yaml") == []
    client.open("library/tools/echo.yaml", TOOL.replace("inputSchema", "inputSchem"))
    client.settle()
    found = client.published("library/tools/echo.yaml")
    assert "missing-field" in [each["code"] for each in found]
    way = found[0]["relatedInformation"][0]
    assert way["location"]["uri"] == client.uri("main.yaml")
    assert way["location"]["range"]["start"] == {"line": 2, "character": 14}
    assert "included" in way["message"]


def test_a_text_that_is_in_no_file_yet_is_checked_and_included(tmp_path: Path) -> None:
    client = Here(repository(tmp_path, {"main.yaml": SERVER}))
    client.open("main.yaml")
    client.settle()
    assert rows(client.published("main.yaml")) == [("include-not-found", 1)]
    client.open("library/tools/echo.yaml", TOOL)
    client.settle()
    assert client.published("main.yaml") == []


def test_files_that_are_not_open_are_checked_in_the_background(tmp_path: Path) -> None:
    client = Here(repository(tmp_path, {"a.tool.yaml": "id: 5\n", "b.tool.yaml": PACK}))
    client.settle()
    assert ("wrong-type", 1) in rows(client.published("a.tool.yaml"))
    write(tmp_path, {"a.tool.yaml": PACK.replace("text.count", "text.other")})
    change = {"uri": client.uri("a.tool.yaml"), "type": 2}
    client.tell("workspace/didChangeWatchedFiles", {"changes": [change]})
    client.settle()
    assert client.published("a.tool.yaml") == []


def test_only_open_files_have_findings_if_the_client_wants_that(tmp_path: Path) -> None:
    """What they refer to counts all the same, so the findings are those of a check."""
    files = {
        "a.tool.yaml": "id: 5\n",
        "b.tool.yaml": "id: 6\n",
        "s.json": '{"type": "string"}',
        "packs/c.tool.yaml": PACK.replace("{type: object}", "{$ref: ../s.json}"),
        ".claude/skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Reads.\n---\nRead.\n",
        ".claude/agents/a.md": AGENT.format("a", "skills: [pdf]\n"),
    }
    write(tmp_path, files)
    client = Here(tmp_path, options={"workspace": False})
    client.settle()
    clean = ("packs/c.tool.yaml", ".claude/agents/a.md")
    for name in ("a.tool.yaml", *clean):
        client.open(name)
        client.settle()
    assert client.published("a.tool.yaml") != []
    assert [client.published(name) for name in (*clean, "b.tool.yaml")] == [[], [], []]
    client.tell("textDocument/didClose", {"textDocument": {"uri": client.uri("a.tool.yaml")}})
    client.settle()
    assert client.published("a.tool.yaml") == []


AGENT = "---\nname: {}\ndescription: Reviews.\n{}---\nReview.\n"


def test_names_of_other_files_count_and_those_of_unsaved_ones(tmp_path: Path) -> None:
    files = {
        ".claude/skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead.\n",
        ".claude/agents/a.md": AGENT.format("a", "skills: [pfd]\n"),
    }
    client = Here(repository(tmp_path, files))
    client.open(".claude/agents/a.md")
    client.settle()
    found = client.published(".claude/agents/a.md")
    assert rows(found) == [("unknown-reference", 2)]
    client.open(".claude/agents/b.md", AGENT.format("a", ""))
    client.settle()
    codes = [
        each["code"] for name in "ab" for each in client.published(f".claude/agents/{name}.md")
    ]
    assert "name-taken" in codes


@pytest.mark.parametrize(
    ("root", "path", "is_checked"),
    [
        (".", ".claude/agents/a.md", True),
        (".", "node_modules/x/.claude/agents/a.md", False),
        (".", ".claude/agents/venv/a.md", True),
        (".", ".claude/agents/.git/a.md", False),
        (".config/project", ".claude/agents/a.md", True),
        (".config/project", "venv/.claude/agents/a.md", False),
        (".", ".foo/.claude/agents/a.md", True),
    ],
)
def test_an_open_file_is_checked_where_a_check_of_the_workspace_comes_to_it(
    root: str, path: str, is_checked: bool, tmp_path: Path
) -> None:
    """Where the workspace itself lies does not matter, nor in what hidden folder a file is."""
    folder = repository(tmp_path / root, {path: AGENT.format("a", "tools: Raed\n")})
    report = equipage.check([folder])
    assert [each.code for each in report.diagnostics] == ["unknown-reference"] * is_checked
    client = Here(folder, options={"workspace": False})
    client.open(path)
    client.settle()
    assert [each["code"] for each in client.published(path)] == ["unknown-reference"] * is_checked


def test_what_another_file_reads_has_findings_where_no_check_looks_for_files(
    tmp_path: Path,
) -> None:
    """Silent in itself, a file in a hidden folder is a part of the server that includes it."""
    files = {
        "equipage.toml": "library = '.parts'\n",
        "main.yaml": SERVER.replace("tools/", ""),
        ".parts/echo.yaml": TOOL + "x: 5\n",
        ".parts/main.yaml": SERVER.replace("tools/", "") + "x: 5\n",
    }
    folder = repository(tmp_path, files)
    spans = [each.span for each in equipage.check([folder]).diagnostics]
    found = {each.source.filename for each in spans if each is not None}
    assert found == {f"{folder}/.parts/echo.yaml"}
    client = Here(folder)
    for name in (".parts/main.yaml", ".parts/echo.yaml"):
        client.open(name)
        client.settle()
        assert bool(client.published(name)) is (f"{folder}/{name}" in found), name


def test_a_whole_workspace_is_as_a_check_finds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        ".claude/agents/a.md": AGENT.format("a", "tools: Raed\nskills: [x]\n"),
        ".claude/agents/b.md": AGENT.format("a", ""),
        ".mcp.json": {"mcpServers": {"x": {"command": "x", "arg": []}}},
        ".defect/config.toml": "nonsense = 1\n",
        "main.yaml": SERVER,
        "a.tool.yaml": "id: 5\n",
        "equipage.toml": "ignore = ['nonsense']\n",
    }
    monkeypatch.chdir(repository(tmp_path, files))
    report = equipage.check(".", env={})
    client = Here(tmp_path)
    client.settle()
    for name in files:
        expected = [each.code for each in report.diagnostics if each.name == name]
        assert [each["code"] for each in client.published(name)] == expected, name
        client.open(name)  # an open text is checked alone, with what is known of the others
        client.settle()
        assert [each["code"] for each in client.published(name)] == expected, name


def test_what_a_baseline_records_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a check: what is known is silent, what is new is not, and an entry that is stale is told."""
    monkeypatch.chdir(repository(tmp_path, {"a.tool.yaml": "id: 5\n", "b.tool.yaml": "id: 6\n"}))
    assert main(["check", "--write-baseline"]) == 0
    (baseline,) = (each.name for each in tmp_path.glob("*baseline*"))
    client = Here(tmp_path)
    client.settle()
    assert (client.published("a.tool.yaml"), client.published("b.tool.yaml")) == ([], [])
    client.open("a.tool.yaml")
    client.settle()
    assert client.published("a.tool.yaml") == []
    client.change("a.tool.yaml", "id: 5\nverison: 1\n")
    client.settle()
    assert rows(client.published("a.tool.yaml")) == [("unknown-field", 2)]
    client.change("a.tool.yaml", PACK)
    client.settle()
    assert {each["code"] for each in client.published(baseline)} == {"baseline-stale"}
    write(tmp_path, {baseline: "{}"})
    changes = [{"uri": client.uri(baseline), "type": 2}]
    client.tell("workspace/didChangeWatchedFiles", {"changes": changes})
    client.settle()
    assert client.published("b.tool.yaml") != []


def test_a_setting_of_the_client_decides_about_files_that_are_not_open(tmp_path: Path) -> None:
    client = Here(repository(tmp_path, {"a.tool.yaml": "id: 5\n"}))
    client.settle()
    assert client.published("a.tool.yaml") != []
    for settings in ({"equipage": {"workspace": False}}, {"equipage": 5}, None):
        client.tell("workspace/didChangeConfiguration", {"settings": settings})
    client.settle()
    assert client.published("a.tool.yaml") == []


def test_findings_are_pulled_where_the_client_prefers_that(tmp_path: Path) -> None:
    client = Here(repository(tmp_path, {"b.tool.yaml": "id: 5\n"}), PULLING)
    assert client.offered["capabilities"]["diagnosticProvider"]["workspaceDiagnostics"]
    uri = client.open("a.tool.yaml", PACK.replace("timeoutMs", "timeoutMS"))
    document = {"textDocument": {"uri": uri}}
    report = client.ask("textDocument/diagnostic", document)
    assert [each["code"] for each in report["items"]] == ["missing-field", "unknown-field"]
    again = {**document, "previousResultId": report["resultId"]}
    assert client.ask("textDocument/diagnostic", again)["kind"] == "unchanged"
    client.settle()
    assert not [each for each in client.sent if "publishDiagnostics" in each.get("method", "")]
    assert [each for each in client.sent if each.get("method") == "workspace/diagnostic/refresh"]
    items = client.ask("workspace/diagnostic", {"previousResultIds": []})["items"]
    assert {each["uri"] for each in items} == {uri, client.uri("b.tool.yaml")}
    known = [{"uri": each["uri"], "value": each["resultId"]} for each in items]
    items = client.ask("workspace/diagnostic", {"previousResultIds": known})["items"]
    assert {each["kind"] for each in items} == {"unchanged"}


def test_what_an_open_text_includes_is_known_though_its_findings_were_never_pulled(
    tmp_path: Path,
) -> None:
    """Editors pull the findings of the text in front; the one that includes it is behind."""
    files = {"main.yaml": SERVER, "library/tools/echo.yaml": TOOL}
    client = Here(repository(tmp_path, files), PULLING)
    client.open("main.yaml")
    uri = client.open("library/tools/echo.yaml", TOOL.replace("inputSchema", "inputSchem"))
    client.settle()
    report = client.ask("textDocument/diagnostic", {"textDocument": {"uri": uri}})
    assert [each["code"] for each in report["items"]] == ["missing-field", "unknown-field"]


def test_a_code_is_a_link_where_its_pages_are_published(tmp_path: Path) -> None:
    client = Here(repository(tmp_path), site="https://example.org/docs")
    client.open("a.tool.yaml", "id: 5\n")
    client.settle()
    page = client.published("a.tool.yaml")[0]["codeDescription"]["href"]
    assert page == "https://example.org/docs/reference/codes/missing-field/"


def test_a_value_of_the_environment_is_never_shown(tmp_path: Path) -> None:
    client = Here(repository(tmp_path), env={"TOKEN": "hunter2hunter2"})
    client.open(
        "main.yaml", "server: {name: demo, version: ${TOKEN}, x: ${TOKEN}}\ntools: 5${TOKEN}\n"
    )
    client.settle()
    assert client.published("main.yaml")
    assert "hunter2" not in str(client.sent)
