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

TOOLS = REPOSITORY / "lab" / "clients"


@pytest.fixture(scope="module")
def tools() -> Iterator[dict[str, ModuleType]]:
    """The modules of the tool, which import each other by their bare names."""
    names = ("programs", "verdicts", "fixing", "shapes", "page", "judges.claude", "judges.codex")
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
    assert page.written(text) == text, "run python lab/clients/page.py"


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


def test_our_findings_are_by_file(tools: dict[str, ModuleType], tmp_path: Path) -> None:
    skills = tmp_path / ".codex" / "skills"
    write(skills / "a" / "SKILL.md", "---\nname: a\n---\nbody\n")
    write(skills / "b" / "SKILL.md", "---\nname: b\ndescription: Use it: now\n---\nbody\n")
    found = tools["verdicts"].findings(tmp_path)
    assert found.errors == {str(skills / "a/SKILL.md"): ("missing-field",)}
    assert found.fixable == {str(skills / "b/SKILL.md")}


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_copy_is_fixed_and_the_tree_is_not(tools: dict[str, ModuleType], tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    text = "---\nname: b\ndescription: Use it: now\n---\nbody\n"
    broken = write(tree / ".claude" / "skills" / "b" / "SKILL.md", text)
    write(tree / ".claude" / "settings.json", '{"permissions": {"deny": "Read"}}')
    write(tree / "README.md", "as it is")
    found = tools["verdicts"].findings(tree)
    done = tools["fixing"].fixed(tree, found, tmp_path / "copy")
    copy = tmp_path / "copy" / ".claude" / "skills" / "b" / "SKILL.md"
    assert done.copies == {broken: copy}
    assert broken.read_text() == text
    assert "description: 'Use it: now'" in copy.read_text()
    assert (tmp_path / "copy" / "README.md").samefile(tree / "README.md")
    settings = str(tmp_path / "copy" / ".claude" / "settings.json")
    assert done.errors == {settings: ("wrong-type",)}


def test_the_manifest_of_a_changed_file_is_asked_about(
    tools: dict[str, ModuleType], tmp_path: Path
) -> None:
    (tmp_path / ".git").mkdir()
    agent = write(tmp_path / "plugin" / "agents" / "a.md", "x")
    manifest = write(tmp_path / "plugin" / ".claude-plugin" / "plugin.json", "{}")
    write(tmp_path / "other" / ".claude-plugin" / "plugin.json", "{}")
    assert tools["fixing"].with_manifests([agent]) == [agent, manifest]


class Judge:
    """A client that refuses texts with a `!` and tells a model the first line of the others."""

    def __init__(self, tools: dict[str, ModuleType]) -> None:
        self.verdict = tools["verdicts"].Verdict

    def verdicts(self, _client: object, paths: list[Path]) -> Iterator[Any]:
        for path in paths:
            refusals = ("has a `!`",) if "!" in path.read_text() else ()
            yield self.verdict("codex", "skill", str(path), refusals)

    def readings(self, _client: object, paths: list[Path]) -> Iterator[tuple[Path, str]]:
        yield from ((path, path.read_text().partition("\n")[0]) for path in paths)


@pytest.mark.parametrize(
    ("before", "after", "ours", "healed", "problem"),
    [
        ("text", "text\nmore", (), 0, ""),
        ("text cut", "text cut and going on", (), 0, ""),
        ("a!", "a", (), 1, ""),
        ("a!", "b!", ("header-dropped",), 0, ""),
        ("a!", "b!", (), 0, "after --fix"),
        ("a", "a!", (), 0, "refuses it after --fix: has a `!`"),
        ("text", "other", (), 0, "before --fix: text"),
        ("---", "a header that was lost", (), 0, ""),
    ],
)
def test_a_fix_is_judged_by_what_a_client_does(
    tools: dict[str, ModuleType],
    tmp_path: Path,
    before: str,
    after: str,
    ours: tuple[str, ...],
    healed: int,
    problem: str,
) -> None:
    old, new = write(tmp_path / "old", before), write(tmp_path / "new", after)
    broken = frozenset({old} if before.startswith("---") else ())
    fixes = tools["fixing"].Fixed({old: new}, broken, {str(new): ours} if ours else {})
    proof = tools["fixing"].proof(None, Judge(tools), fixes, [])
    assert (proof.judged, proof.healed) == (1, healed)
    if problem:
        assert any(problem in each for each in proof.problems)
    else:
        assert not proof.problems


def test_answers_of_claude_code(tools: dict[str, ModuleType]) -> None:
    claude = tools["claude"]
    broken = [{"path": "frontmatter", "message": "broken"}]
    part = {"file": "/p/agents/a.md", "type": "agent", "errors": broken}
    clean = {"file": "/p/agents/b.md", "type": "agent", "errors": []}
    manifest = {
        "file": "/p/m.json",
        "type": "marketplace",
        "errors": [
            {"path": "plugins[1] plugin.json → agents", "message": "no"},
            {"path": "owner", "message": "missing"},
        ],
    }
    out = json.dumps({"manifest": manifest, "contents": [part, clean]})
    said = claude.validation(answer(tools, out))
    assert {file: (each.kind, each.refusals) for file, each in said.items()} == {
        "/p/m.json": ("claude-marketplace", ("owner: missing",)),
        "/p/agents/a.md": ("claude-agent", ("frontmatter: broken",)),
    }
    assert claude.validation(answer(tools, '{"manifest": null, "contents": []}')) == {}
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
    wrong = [{"path": "plugins[12] plugin.json → name", "message": "m"}]
    many = json.dumps({"manifest": {"errors": wrong}})
    assert claude.refused_entries(answer(tools, many)) == {12}
    alone = json.dumps({"manifest": {"errors": [{"path": "owner", "message": "m"}]}})
    for text in (alone, "segmentation fault"):
        with pytest.raises(tools["programs"].NoAnswer):
            claude.refused_entries(answer(tools, text))
    added = "Adding marketplace…\n✔ Added\n"
    assert claude.addition(answer(tools, added)) == ()
    failed = answer(tools, "Adding marketplace…\n", "✘ Failed to add marketplace: it is reserved\n")
    assert claude.addition(failed) == ("it is reserved",)
    with pytest.raises(tools["programs"].NoAnswer):
        claude.addition(answer(tools, "segmentation fault"))
    lists = "Skills:\n\n- s1 (own name): Does: it\n\nand - more\n- f2: Comments (Tools: Read, Edit)"
    request = json.dumps({"messages": [{"content": [{"text": lists}]}], "model": "x"})
    assert claude.told(request) == {
        "s1": "Does: it\n\nand - more",
        "f2": "(Tools: Read, Edit) Comments",
    }


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"plugins": [{"name": "a"}, {"name": "b"}]}', {"a", "b"}),
        ('{"plugins": 5}', set()),
        ('{"name": "x"}', set()),
        ("{", set()),
    ],
)
def test_the_plugins_that_a_marketplace_lists(
    tools: dict[str, ModuleType], text: str, names: set[str]
) -> None:
    assert tools["claude"].listed(text) == names


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
    assert codex.listed(answer(tools, out)) == {"own": "a: does a", "s1": "b: does b"}
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
  Description: Does a
    and b
  Location:    /p/.gemini/skills/s4/SKILL.md
"""
    assert gemini.descriptions(answer(tools, listing)) == {"s4": "Does a\n    and b"}
    quoted = "  Description: 'it's a'\n  Location:    /p/s5/SKILL.md"
    assert gemini.descriptions(answer(tools, quoted)) == {"s5": "it's a"}
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
    out = '[{"name": "a", "description": "Does a", "path": "/p/.github/skills/s3"}]'
    assert copilot.descriptions(answer(tools, out)) == {"s3": "a: Does a"}
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


@pytest.mark.parametrize(
    ("manifest", "more", "plain"),
    [
        ('{"name": "a", "version": "1"}', "agents/a.md", True),
        ('{"name": "a"}', "hooks/hooks.json", False),
        ('{"name": "a", "skills": "./s"}', "s/SKILL.md", False),
        ("[]", "agents/a.md", False),
        ("{", "agents/a.md", False),
    ],
)
def test_plugins_of_words_and_markdown_are_asked_about_together(
    tools: dict[str, ModuleType], tmp_path: Path, manifest: str, more: str, plain: bool
) -> None:
    path = write(tmp_path / ".claude-plugin" / "plugin.json", manifest)
    write(tmp_path / more, "x")
    assert tools["claude"]._is_plain(path) is plain
