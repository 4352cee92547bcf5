"""The parts of `make clients` that need no client: how answers are read, what differs, the page."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lab import REPOSITORY

TOOLS = REPOSITORY / "tools" / "clients"


@pytest.fixture(scope="module")
def tools() -> Iterator[dict[str, ModuleType]]:
    """The modules of the tool, which import each other by their bare names."""
    names = ("programs", "verdicts", "shapes", "page", "judges.claude", "judges.codex")
    names += ("judges.opencode", "judges.gemini", "judges.copilot")
    sys.path.insert(0, str(TOOLS))
    try:
        yield {name.rpartition(".")[2]: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(TOOLS))
        for name in (*names, "judges"):
            del sys.modules[name]


def answer(tools: dict[str, ModuleType], out: str = "", err: str = "", status: int = 0) -> Any:
    return tools["programs"].Answer(status, out, err)


def test_the_page_has_the_tables_of_the_data(tools: dict[str, ModuleType]) -> None:
    page = tools["page"]
    text = page.PAGE.read_text(encoding="utf-8")
    assert page.written(text) == text, "run python tools/clients/page.py"


def test_every_row_gives_one_side_and_a_reason(
    tools: dict[str, ModuleType], tmp_path: Path
) -> None:
    clients = tools["programs"].pinned().keys()
    for row in tools["verdicts"].rows():
        assert row.client in clients
        assert row.what
        assert row.reason.endswith(".")
    both = tmp_path / "both.toml"
    row = 'client = "codex"\nkind = "skill"\nwhat = "x"\nreason = "y"'
    both.write_text(f"[[difference]]\n{row}\n")
    with pytest.raises(ValueError, match="one of `code` and `says`"):
        tools["verdicts"].rows(both)


def test_versions_are_exact(tools: dict[str, ModuleType]) -> None:
    for pin in tools["programs"].pinned().values():
        version = pin["package"].rpartition("@")[2]
        assert version.replace(".", "").isdigit()


def test_only_what_a_row_explains_is_explained(tools: dict[str, ModuleType]) -> None:
    verdicts = tools["verdicts"]
    refused = verdicts.Verdict("codex", "skill", "/a/SKILL.md", ("no name", "too long"))
    accepted = verdicts.Verdict("codex", "skill", "/b/SKILL.md")
    agreed = verdicts.Verdict("codex", "skill", "/c/SKILL.md", ("no name",))
    ours = {"/b/SKILL.md": ("x", "y"), "/c/SKILL.md": ("missing-field",)}
    first, second = verdicts.differences([refused, accepted, agreed], ours)
    assert (first.verdict, second.verdict) == (refused, accepted)

    def row(**side: str) -> Any:
        return verdicts.Row("codex", "skill", "what", "why", **side)

    assert not first.explained([])
    assert not first.explained([row(says="no name")])
    assert first.explained([row(says="no name"), row(says="long$")])
    assert not first.explained([row(says="", file="*/b/*"), row(code="x")])
    assert not second.explained([row(code="x")])
    assert second.explained([row(code="x"), row(code="y")])
    table = verdicts.agreement([refused, accepted, agreed], [first, second])
    assert table[1].split() == ["codex", "skill", "3", "2", "1"]


def test_what_clients_said_can_be_kept(tools: dict[str, ModuleType], tmp_path: Path) -> None:
    verdicts = tools["verdicts"]
    said = [
        verdicts.Verdict("codex", "skill", "/a", ("no name",)),
        verdicts.Verdict("x", "y", "/b"),
    ]
    verdicts.remember(said, tmp_path / "said.json")
    assert verdicts.remembered(tmp_path / "said.json") == said


def test_our_errors_are_by_file(tools: dict[str, ModuleType], tmp_path: Path) -> None:
    (tmp_path / ".codex" / "skills" / "a").mkdir(parents=True)
    (tmp_path / ".codex" / "skills" / "a" / "SKILL.md").write_text("---\nname: a\n---\nbody\n")
    found = tools["verdicts"].our_errors(tmp_path)
    assert found == {str(tmp_path / ".codex/skills/a/SKILL.md"): ("missing-field",)}


def test_answers_of_claude_code(tools: dict[str, ModuleType]) -> None:
    claude = tools["claude"]
    part = {"file": "/p/agents/a.md", "errors": [{"path": "frontmatter", "message": "broken"}]}
    clean = {"file": "/p/agents/b.md", "errors": []}
    manifest = {
        "file": "/p/m.json",
        "errors": [
            {"path": "plugins[1] plugin.json → agents", "message": "no"},
            {"path": "owner", "message": "missing"},
        ],
    }
    out = json.dumps({"manifest": manifest, "contents": [part, clean]})
    assert claude.validation(answer(tools, out)) == {
        "/p/m.json": ("owner: missing",),
        "/p/agents/a.md": ("frontmatter: broken",),
    }
    with pytest.raises(tools["programs"].NoAnswer):
        claude.validation(answer(tools, "native binary not installed"))
    doctor = """Claude Code doctor

Invalid settings
- /p/.mcp.json › mcpServers.a: Skipped
  Suggested fix: add a type
- /p/.mcp.json › mcpServers.b: Missing environment variables: X
- /p/other.json › x: no

Next
- /p/.mcp.json › not this
"""
    path = Path("/p/.mcp.json")
    assert claude.complaints(answer(tools, doctor), path) == ("mcpServers.a: Skipped",)
    assert claude.complaints(answer(tools, "Claude Code doctor\n"), path) == ()
    with pytest.raises(tools["programs"].NoAnswer):
        claude.complaints(answer(tools, "segmentation fault"), path)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("---\nname: a b\n---\n", "a b"),
        ('\ufeff---\ndescription: x\nname: "a"\r\n---\n', "a"),
        ("\n---\nname: a\n---\n", "a"),
        ("---\ndescription: x\n---\n", ""),
        ("# Agents\nname: a\n", None),
    ],
)
def test_the_name_that_a_session_should_list(
    tools: dict[str, ModuleType], text: str, name: str | None
) -> None:
    assert tools["claude"].agent_name(text) == name


def test_answers_of_codex(tools: dict[str, ModuleType]) -> None:
    codex, silent = tools["codex"], tools["programs"].NoAnswer
    assert codex.refusal(answer(tools, "[]", "WARNING: x")) == ()
    said = "WARNING: proceeding\nError: unknown variant\nin `approval_policy`"
    assert codex.refusal(answer(tools, "", said, 1)) == (
        "Error: unknown variant in `approval_policy`",
    )
    with pytest.raises(silent):
        codex.refusal(answer(tools, "", "WARNING: x", 1))
    text = "- a: does a (file: r0/own/SKILL.md)\n- b: does b (file: /x/.agents/skills/s1/SKILL.md)"
    out = json.dumps([{"content": [{"text": text}]}, {"content": [{"image": 1}]}])
    assert codex.listed(answer(tools, out)) == {"own", "s1"}
    with pytest.raises(silent):
        codex.listed(answer(tools, "[]"))


def test_answers_of_opencode(tools: dict[str, ModuleType]) -> None:
    opencode = tools["opencode"]
    assert opencode.refusal(answer(tools, "{}")) == ()
    said = (
        "\x1b[91mError: \x1b[0mConfiguration is invalid at /p/agent/f1.md\n↳ got null description"
    )
    wrong = answer(tools, "", said, 1)
    assert opencode.refusal(wrong) == (
        "Error: Configuration is invalid at /p/agent/f1.md ↳ got null description",
    )
    copies = {Path("/p/agent/f11.md"): Path("/b"), Path("/p/agent/f1.md"): Path("/a")}
    assert opencode.culprit(wrong, copies) == Path("/p/agent/f1.md")
    with pytest.raises(tools["programs"].NoAnswer):
        opencode.culprit(answer(tools, "", "panic", 1), copies)
    assert opencode.headless({"prompt": "---\ntools: x"}, "agent") == (opencode.BROKEN,)
    assert opencode.headless({"template": "Do it\n---\n"}, "command") == ()
    assert opencode.headless(None, "agent")
    loaded = {"b": {"prompt": "x"}}
    assert opencode.named(loaded, "---\nname: 'b'\n---\n") == {"prompt": "x"}
    assert opencode.named(loaded, "---\nname: c\n---\n") is None


def test_answers_of_gemini(tools: dict[str, ModuleType]) -> None:
    gemini = tools["gemini"]
    assert gemini.complaints(answer(tools, "No MCP servers configured.")) == ()
    said = (
        "Invalid configuration in /p/settings.json:\n\nError in: tools.sandbox\n    Invalid input\n"
    )
    assert gemini.complaints(answer(tools, "", said)) == ("tools.sandbox: Invalid input",)
    assert gemini.complaints(answer(tools, "", "Expected ','\nat 3", 52)) == ("Expected ',' at 3",)
    with pytest.raises(tools["programs"].NoAnswer):
        gemini.complaints(answer(tools, "", "killed", 137))
    listing = """Agent loading error: Failed to load agent from /p/.gemini/agents/f2.md: Validation failed:
Unrecognized key(s) in object: 'foo'
a [Enabled]
  Location:    /p/.gemini/skills/s4/SKILL.md
"""
    seen, failed = gemini.listing(answer(tools, listing))
    assert seen == {"a", "s4"}
    assert gemini.named('---\nname: "b c"\n---\n') == "b c"
    assert gemini.named("text") is None
    assert failed == {"f2": ("Validation failed: Unrecognized key(s) in object: 'foo'",)}


def test_answers_of_copilot(tools: dict[str, ModuleType]) -> None:
    copilot = tools["copilot"]
    said = (
        "✖ The following skills failed to load:\n  • .github/skills/s3/SKILL.md: not YAML at line 2"
    )
    assert copilot.failures(answer(tools, "[]", said)) == {"s3": ("not YAML at line 2",)}
    assert copilot.failures(answer(tools, "[]")) == {}
    with pytest.raises(tools["programs"].NoAnswer):
        copilot.failures(answer(tools, "", "no network", 1))


def test_shapes_are_written_as_trees(tools: dict[str, ModuleType], tmp_path: Path) -> None:
    shapes = tools["shapes"]
    trees = shapes.write(tmp_path / "shapes")
    assert len(trees) == len(set(trees))
    mark = tmp_path / "shapes/codex-skills/.codex/skills/byte-order-mark/SKILL.md"
    assert mark.read_bytes().startswith(b"\xef\xbb\xbf---\nname: byte-order-mark\n")
    crlf = tmp_path / "shapes/claude-agents/.claude/agents/colon-with-crlf.md"
    assert b"\r\ndescription: Use when: tests fail\r\n---\n" in crlf.read_bytes()
