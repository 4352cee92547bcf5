"""What other tools would make of an agent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from equipage.cli import main
from equipage.views.listing import portability
from lab import load, write


def compared(folder: Path, name: str, text: str, kind: str) -> dict[str, tuple[str, ...]]:
    outcome = load(write(folder, {name: text}) / name, kind)
    return {each.tool: each.obstacles for each in portability(outcome)}


@pytest.mark.requirement("CV-07")
def test_a_plain_agent_is_read_by_most(tmp_path: Path) -> None:
    text = "---\nname: a\ndescription: b\n---\nc\n"
    assert compared(tmp_path, "a.md", text, "claude-agent") == {
        "Claude Code": (),
        "GitHub Copilot": (),
        "OpenCode": (),
        "Codex": ("the file is not TOML",),
        "Gemini CLI": (),
        "Cursor": (),
        "defect": ("refuses `name`",),
    }


@pytest.mark.requirement("CV-07")
def test_a_restriction_that_is_lost_stands_in_the_way(tmp_path: Path) -> None:
    text = "---\nname: a\ndescription: b\ntools: Read\npermissionMode: plan\ncolor: red\n---\nc\n"
    found = compared(tmp_path, "a.md", text, "claude-agent")
    assert found["Claude Code"] == ()
    assert found["GitHub Copilot"] == ("ignores `permissionMode`, so the agent could do more",)
    assert found["Gemini CLI"][0] == "expects another form of `tools`"
    assert found["Cursor"] == (
        "ignores `tools`, so the agent could do more",
        "ignores `permissionMode`, so the agent could do more",
    )
    assert "expects another form of `tools`" in found["OpenCode"]


def test_a_header_that_is_not_yaml(tmp_path: Path) -> None:
    found = compared(tmp_path, "a.md", "---\nname: a\ndescription: b: c\n---\nc\n", "claude-agent")
    assert found["Gemini CLI"] == ("the header is not YAML",)
    assert found["GitHub Copilot"] == ()


def test_the_seed_and_toml(tmp_path: Path) -> None:
    profile = compared(tmp_path, ".defect/agents/a.md", "---\ndescription: b\n---\nc\n", "profile")
    assert profile["defect"] == ()
    assert profile["Claude Code"] == ("`name` is missing",)
    folder = compared(
        tmp_path,
        ".defect/agents/b/config.toml",
        'description = "b"\nprompt.text = "x"\n',
        "profile",
    )
    assert folder["defect"] == ()
    assert folder["Claude Code"] == ("the file is TOML",)


def test_what_is_no_agent(tmp_path: Path) -> None:
    assert compared(tmp_path, ".claude/agents/README.md", "# notes\n", "claude-agent") == {}
    assert compared(tmp_path, "c.md", "text\n", "claude-command") == {}
    broken = compared(
        tmp_path, ".cursor/agents/a.md", "---\nread-only: true\n---\nx\n", "cursor-agent"
    )
    assert broken["Cursor"] == ("the file has errors",)


@pytest.mark.requirement("CV-07")
def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["list", "--portable", "."]) == 2
    (tmp_path / ".claude" / "agents").mkdir(parents=True)
    (tmp_path / ".claude" / "agents" / "a.md").write_text(
        "---\nname: a\ndescription: b\ntools: Read\n---\nc\n"
    )
    capsys.readouterr()
    assert main(["list", "--portable", "."]) == 0
    shown = capsys.readouterr().out
    assert "Claude Code" in shown
    assert "the agent could do more" in shown
    assert main(["list", "--portable", "--json", "."]) == 0
    (agent,) = json.loads(capsys.readouterr().out)["agents"]
    assert agent["name"] == "a"
    assert agent["tools"][0] == {
        "tool": "Claude Code",
        "reads": True,
        "place": ".claude/agents/NAME.md",
        "obstacles": [],
        "ignored": [],
    }
