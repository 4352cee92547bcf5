"""What an editor offers to do about a finding: proven fixes, ignoring it, and its rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab import repository
from lsp.talking import Here
from lsp.test_publishing import AGENT, PACK

WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}}


def actions(client: Here, name: str, *only: str, place: Any = WHOLE) -> list[dict[str, Any]]:
    context: dict[str, Any] = {"diagnostics": []}
    if only:
        context["only"] = list(only)
    document = {"uri": client.uri(name)}
    params = {"textDocument": document, "range": place, "context": context}
    found: list[dict[str, Any]] = client.ask("textDocument/codeAction", params)
    return found


def test_a_safe_fix_is_offered_and_does_what_it_says(tmp_path: Path) -> None:
    client = Here(repository(tmp_path))
    client.open("a.tool.yaml", PACK.replace("version", "verison"))
    fix = next(each for each in actions(client, "a.tool.yaml") if "edit" in each)
    assert (fix["title"], fix["kind"]) == ("Rename to `version`", "quickfix")
    assert fix["isPreferred"]
    assert fix["diagnostics"][0]["code"] == "unknown-field"
    assert client.edited("a.tool.yaml", fix["edit"]) == PACK


def test_an_unsafe_fix_says_its_risk_and_is_no_part_of_fix_all(tmp_path: Path) -> None:
    client = Here(repository(tmp_path))
    client.open(".claude/agents/a.md", AGENT.format("a", "tools: [Raed]\n"))
    titles = [each["title"] for each in actions(client, ".claude/agents/a.md", "quickfix")]
    assert "Change to `Read` (unsafe: it may change what the file means or allows)" in titles
    assert not [each for each in actions(client, ".claude/agents/a.md") if each.get("isPreferred")]
    assert actions(client, ".claude/agents/a.md", "source.fixAll") == []


def test_fix_all_makes_every_safe_fix_in_one_edit(tmp_path: Path) -> None:
    client = Here(repository(tmp_path))
    wrong = PACK.replace("version: 1.0.0", "verison: 1.0.0").replace("outputSchema", "outputShema")
    client.open("a.tool.yaml", wrong)
    (action,) = actions(client, "a.tool.yaml", "source.fixAll.equipage")
    assert action["kind"] == "source.fixAll.equipage"
    assert client.edited("a.tool.yaml", action["edit"]) == PACK


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.tool.yaml", PACK + "extra: 1\n", "extra: 1  # equipage: ignore[unknown-field]"),
        (
            "a.tool.yaml",
            PACK + "extra: 1  # equipage: ignore[x]\n",
            "extra: 1  # equipage: ignore[x, unknown-field]",
        ),
        (
            ".claude/agents/a.md",
            AGENT.format("a", "") + "Hidden\u200b text\n",
            "Hidden\u200b text <!-- equipage: ignore[invisible-character] -->",
        ),
    ],
    ids=["yaml", "beside another code", "below a header"],
)
def test_a_finding_is_ignored_by_a_comment_that_works(
    name: str, text: str, line: str, tmp_path: Path
) -> None:
    client = Here(repository(tmp_path))
    client.open(name, text)
    found = [each for each in actions(client, name) if each["title"].startswith("Ignore")]
    codes = [each["title"] for each in found]
    wanted = line.partition("ignore[")[2].partition("]")[0].split(", ")[-1]
    action = next((each for each in found if wanted in each["title"]), None)
    assert action is not None, (codes, [each["code"] for each in client.published(name)])
    assert line in client.edited(name, action["edit"])


def test_what_cannot_be_ignored_is_not_offered(tmp_path: Path) -> None:
    client = Here(repository(tmp_path, {}))
    client.open(".mcp.json", '{"mcpServers": {"x": {"command": "x", "arg": []}}}\n')
    titles = [each["title"] for each in actions(client, ".mcp.json")]
    assert titles
    assert not [each for each in titles if each.startswith("Ignore")]


def test_only_findings_in_the_range_have_actions(tmp_path: Path) -> None:
    client = Here(repository(tmp_path))
    client.open("a.tool.yaml", PACK.replace("version", "verison"))
    place = {"start": {"line": 5, "character": 0}, "end": {"line": 5, "character": 1}}
    assert actions(client, "a.tool.yaml", place=place) == []


def test_a_rule_is_explained(tmp_path: Path) -> None:
    client = Here(repository(tmp_path))
    client.open("a.tool.yaml", PACK.replace("version", "verison"))
    found = actions(client, "a.tool.yaml")
    command = next(each["command"] for each in found if each["title"] == "Explain `unknown-field`")
    client.ask("workspace/executeCommand", command)
    assert client.sent[-2]["params"]["message"].startswith("unknown-field (warning): ")
    for wrong in ({"command": "rm"}, {"command": command["command"], "arguments": ["nonsense"]}):
        assert client.request("workspace/executeCommand", wrong)["error"]["code"] == -32602


def test_a_rule_is_opened_where_its_pages_are(tmp_path: Path) -> None:
    capabilities = {"window": {"showDocument": {"support": True}}}
    client = Here(repository(tmp_path), capabilities, site="https://example.org")
    arguments = {"command": "equipage.explainRule", "arguments": ["unknown-field"]}
    client.ask("workspace/executeCommand", arguments)
    asked = next(each for each in client.sent if each.get("method") == "window/showDocument")
    assert asked["params"]["uri"] == "https://example.org/reference/codes/unknown-field/"
