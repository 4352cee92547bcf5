"""Which files belong to which tool: by place, by plugin, by header."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import equipage
from equipage.clients.headers import kind_of_header
from equipage.clients.index import UNREAD
from equipage.clients.mcp import CLAUDE, DIALECTS, dialect_of
from equipage.files.walking import PlaceIndex, expand_choices
from equipage.project.registry import (
    BUILT_IN,
    agent_folders,
    built_in_kinds,
    conventions,
    format_named,
)
from lab import write


@pytest.mark.requirement("CV-01")
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/r/.claude/agents/a.md", "claude-agent"),
        ("/r/.claude/agents/team/a.md", "claude-agent"),
        ("/r/.claude/commands/git/commit.md", "claude-command"),
        ("/r/.claude/skills/pdf/SKILL.md", "skill"),
        ("/r/anything/SKILL.md", "skill"),
        ("/r/x/.claude-plugin/plugin.json", "claude-plugin"),
        ("/r/.claude-plugin/marketplace.json", "claude-marketplace"),
        ("/r/.github/agents/a.agent.md", "copilot-agent"),
        ("/r/.github/agents/a.md", "copilot-agent"),
        ("/r/.github/chatmodes/a.chatmode.md", "copilot-agent"),
        ("/r/agents/a.agent.md", "copilot-agent"),
        ("/r/.github/prompts/a.prompt.md", "copilot-prompt"),
        ("/r/.github/instructions/a.instructions.md", "copilot-instructions"),
        ("/r/.opencode/agent/a.md", "opencode-agent"),
        ("/r/.opencode/agents/a.md", "opencode-agent"),
        ("/home/.config/opencode/agents/a.md", "opencode-agent"),
        ("/r/.opencode/commands/a.md", "opencode-command"),
        ("/r/.codex/agents/a.toml", "codex-agent"),
        ("/r/.gemini/agents/a.md", "gemini-agent"),
        ("/r/.gemini/commands/git/a.toml", "gemini-command"),
        ("/r/.cursor/rules/a.mdc", "cursor-rule"),
        ("/r/rules/a.mdc", "cursor-rule"),
        ("/r/.cursor/agents/a.md", "cursor-agent"),
        ("/r/.mcp.json", "mcp"),
        ("/r/.vscode/mcp.json", "mcp"),
        ("/r/.codex/config.toml", "codex-config"),
        ("/r/opencode.json", "opencode-config"),
        ("/r/README.md", None),
        ("/r/docs/agents.md", None),
        ("/r/plugin.json", None),
        ("/r/.claude/settings.json", "claude-settings"),
    ],
)
def test_by_place(path: str, kind: str | None) -> None:
    found = _CLIENT_PLACES.find(path)
    assert (found and found[0]) == kind


_CLIENT_PLACES = PlaceIndex((each.kind, each.paths) for each in conventions())


_ROWS = [(each.kind, each.paths) for each in (*BUILT_IN, *conventions())] + list(UNREAD)
_GLOBS = sorted({each for _, globs in _ROWS for glob in globs for each in expand_choices(glob)})
_PLACES = PlaceIndex(_ROWS)
_STEPS = sorted({step for glob in _GLOBS for step in glob.split("/")[:-1] if "*" not in step})
_NAMES = sorted({glob.split("/")[-1].replace("*", "x") for glob in _GLOBS})


def path_pattern(globs: Iterable[str]) -> str:
    """An expression that is found in absolute paths whose end matches one of the globs."""
    plain = (re.escape(each) for glob in globs for each in expand_choices(glob))
    ends = (each.replace(r"\*\*/", "(?:[^/]+/)*").replace(r"\*", "[^/]*") for each in plain)
    return f"/(?:{'|'.join(ends)})\\Z"


@given(
    st.lists(st.sampled_from([*_STEPS, "x"]), max_size=4),
    st.sampled_from([*_NAMES, "x", "x.y", "x.json", "SKILL.MD", ".md"]),
)
def test_a_place_is_that_of_the_first_glob_that_matches(steps: list[str], name: str) -> None:
    path = "/".join(["", "r", *steps, name])
    matching = (
        (kind, glob) for kind, globs in _ROWS for row in globs for glob in expand_choices(row)
    )
    first = next((each for each in matching if re.search(path_pattern(each[1:]), path)), None)
    assert _PLACES.find(path) == first


@given(st.lists(st.sampled_from([*_STEPS, "x"]), max_size=4), st.sampled_from([*_NAMES, "x.json"]))
def test_the_dialect_is_the_first_whose_paths_match(steps: list[str], name: str) -> None:
    path = "/".join(["", "r", *steps, name])
    first = (each for each in DIALECTS if re.search(path_pattern(each.paths), path))
    assert dialect_of(path) is next(first, CLAUDE)


def test_every_place_has_a_kind() -> None:
    for each in conventions():
        assert each.paths
        assert each.kind in built_in_kinds()
        assert format_named(each.kind).name == each.kind


def test_walks_enter_the_folders_of_the_tables() -> None:
    assert {".claude", ".agents", ".defect", ".vscode"} <= agent_folders()
    assert ".config" not in agent_folders()
    assert not [each for each in agent_folders() if not each.startswith(".") or "." in each[1:]]


HEADER = "---\nname: a\ndescription: b\n{}---\ntext\n"


@pytest.mark.requirement("CV-01", "CV-05")
@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        pytest.param(
            "/r/agents/a.md", HEADER.format(""), "claude-agent", id="in a folder of agents"
        ),
        pytest.param(
            "/r/x/a.md", HEADER.format("tools: Read\n"), "claude-agent", id="anywhere, with tools"
        ),
        pytest.param(
            "/r/x/a.md", HEADER.format(""), None, id="a name and a description alone say nothing"
        ),
        pytest.param(
            "/r/agents/a.md",
            "---\ndescription: b\nmode: all\n---\n",
            "opencode-agent",
            id="with a mode",
        ),
        pytest.param(
            "/r/agents/a.md",
            "---\ndescription: b\ntools: []\n---\n",
            "copilot-agent",
            id="named by its file",
        ),
        pytest.param(
            "/r/docs/agents/a.md", "---\ndescription: b\n---\n", None, id="a description alone"
        ),
        pytest.param(
            "/r/agents/a.md", HEADER.format("title: x\n"), None, id="a page of a web site"
        ),
        pytest.param(
            "/r/commands/a.md",
            "---\ntitle: x\ndescription: b\n---\n",
            None,
            id="a page about a command",
        ),
        pytest.param(
            "/r/commands/a.md",
            "---\ndescription: b\n---\n",
            "claude-command",
            id="in a folder of commands",
        ),
        pytest.param("/r/agents/README.md", HEADER.format(""), None, id="notes are notes"),
        pytest.param("/r/agents/a.md", "# text\n", None, id="no header"),
        pytest.param("/r/agents/a.md", "---\ntitle: b\n---\n", None, id="another header"),
        pytest.param(
            "/r/agents/a.md",
            HEADER.format("x: a: b\n"),
            "claude-agent",
            id="a header that is not YAML",
        ),
    ],
)
def test_by_header(path: str, text: str, kind: str | None) -> None:
    guess = kind_of_header(path, text)
    assert (None if guess is None else guess.kind) == kind


AGENT = HEADER.format("")


@pytest.mark.requirement("CV-01", "CV-05")
def test_what_plugins_hold(tmp_path: Path) -> None:
    """A plugin's folders, and what its manifest or a marketplace lists beside them."""
    write(
        tmp_path,
        {
            "one/.claude-plugin/plugin.json": '{"name": "one", "agents": ["./extra.md", "./more"]}',
            "one/agents/a.md": AGENT,
            "one/commands/deep/c.md": "text",
            "one/extra.md": AGENT.replace("a", "e", 1),
            "one/more/b.md": "no header",
            "one/more/README.md": "# notes",
            "one/README.md": "# notes",
            "one/skills/s/agents/helper.md": "# text of a skill",
            ".claude-plugin/marketplace.json": '{"name": "m", "owner": {}, "plugins": '
            '[{"name": "two", "source": "./two", "commands": ["./x/y.md"]}, 5, {"source": {}}]}',
            "two/agents/a.md": "no header",
            "two/x/y.md": "text",
            "broken/.claude-plugin/plugin.json": "{",
            "broken/agents/a.md": "no header",
        },
    )
    report = equipage.check([tmp_path], env={})
    kinds = {
        str(Path(each.path).resolve().relative_to(tmp_path.resolve())): each.kind
        for each in report.files
    }
    assert kinds == {
        ".claude-plugin/marketplace.json": "claude-marketplace",
        "broken/.claude-plugin/plugin.json": "claude-plugin",
        "broken/agents/a.md": "claude-agent",
        "one/.claude-plugin/plugin.json": "claude-plugin",
        "one/agents/a.md": "claude-agent",
        "one/commands/deep/c.md": "claude-command",
        "one/extra.md": "claude-agent",
        "one/more/b.md": "claude-agent",
        "two/agents/a.md": "claude-agent",
        "two/x/y.md": "claude-command",
    }


@pytest.mark.parametrize("written", ["{}", "\ufeff{}", "// all of them\n{}"])
@pytest.mark.parametrize(
    ("source", "folder"),
    [
        ("q", "market/all/q"),
        ("./q", "market/q"),
        ("deep/q", "market/deep/q"),
        ("../q", None),
        ({"source": "github", "repo": "a/q"}, None),
    ],
)
def test_where_the_plugins_of_a_marketplace_lie(
    source: object, folder: str | None, written: str, tmp_path: Path
) -> None:
    """`pluginRoot` moves bare names alone, for recognition and for rules."""
    entry = {"name": "q", "source": source, "agents": ["./own.md"]}
    market = {"metadata": {"pluginRoot": "./all"}, "plugins": [entry]}
    agent = "---\nname: a\ndescription: Reviews.\nhooks: {Stop: []}\n---\nReview.\n"
    agents = ["market/all/q", "market/q", "market/deep/q", "q"]
    write(tmp_path, {f"{each}/own.md": agent for each in agents})
    text = written.format(json.dumps(market))
    write(tmp_path, {"market/.claude-plugin/marketplace.json": text})
    report = equipage.check([tmp_path], env={})
    parts = {each.path for each in report.files if each.kind == "claude-agent"}
    told = {each.name for each in report.diagnostics if each.code == "foreign-field"}
    assert parts == told == ({f"{tmp_path}/{folder}/own.md"} if folder else set())


def test_a_guess_gives_way_to_a_load_that_knows_better(tmp_path: Path) -> None:
    """An agent that a blueprint reads is the blueprint's, whatever its header looks like."""
    write(
        tmp_path,
        {
            "agents/a.md": HEADER.format("colour: x\n"),
            "team.yaml": "id: t\nagents:\n  - {name: a, kind: agent, profile: {$agent_md: agents/a.md}}\n"
            "flow: {kind: seq, children: []}\n",
        },
    )
    report = equipage.check([tmp_path], env={})
    assert {Path(each.path).name: each.kind for each in report.files}["a.md"] is None


def test_a_project_may_leave_conventions_alone(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "equipage.toml": "conventions = false\n",
            ".claude/agents/a.md": "no",
            "agents/b.md": AGENT,
        },
    )
    assert equipage.check([tmp_path], env={}).files == ()


@pytest.mark.parametrize(
    ("manifest", "kind"),
    [
        (".claude-plugin/plugin.json", "claude-agent"),
        (".cursor-plugin/plugin.json", "cursor-agent"),
        ("gemini-extension.json", "gemini-agent"),
        ("qwen-extension.json", "qwen-agent"),
    ],
)
def test_a_walk_says_what_a_check_of_the_file_alone_says(
    manifest: str, kind: str, tmp_path: Path
) -> None:
    agent = "---\nname: x\ndescription: d\n---\nText.\n"
    write(tmp_path, {".git/x": "", f"p/{manifest}": '{"name": "p"}', "p/agents/x.md": agent})
    for path in (tmp_path, tmp_path / "p/agents/x.md"):
        found = {Path(each.path).name: each.kind for each in equipage.check(path).files}
        assert found["x.md"] == kind
