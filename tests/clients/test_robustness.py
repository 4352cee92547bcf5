"""equipage reports any content of a file and never fails; the examples are clean."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import equipage
import lab
from lab import tries, write

EXAMPLES = lab.EXAMPLES / "conventions"

PLACES = [
    ".claude/agents/a.md",
    ".claude/commands/a.md",
    ".claude/skills/a/SKILL.md",
    ".defect/skills/a/SKILL.md",
    ".github/agents/a.agent.md",
    ".github/instructions/a.instructions.md",
    ".opencode/agents/a.md",
    ".gemini/agents/a.md",
    ".cursor/rules/a.mdc",
    ".codex/agents/a.toml",
    ".mcp.json",
    ".codex/config.toml",
    ".claude-plugin/plugin.json",
]

_WORDS = st.sampled_from(
    [
        *(
            "name",
            "description",
            "tools",
            "model",
            "globs",
            "mcpServers",
            "hooks",
            "command",
            "url",
            "type",
        ),
        *(
            ": ",
            ":",
            "- ",
            "\n",
            "\n  ",
            "\n---\n",
            "---\n",
            "\t",
            "#",
            " #",
            "*",
            "&a",
            "*a",
            "!t ",
            "<<",
            "|",
            ">",
        ),
        *(
            "[",
            "]",
            "{",
            "}",
            ",",
            '"',
            "'",
            "x",
            "Read",
            "Agent(b)",
            "mcp__s__t",
            "\u200b",
            "é",
            "\r\n",
            "\ufeff",
        ),
        *("= ", '"""', "null", "true", "5", "{}", "[]", "\x00", "\ud7ff"),
    ]
)


@pytest.mark.requirement("CV-05")
@settings(
    max_examples=tries(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(place=st.sampled_from(PLACES), words=st.lists(_WORDS, max_size=30), fenced=st.booleans())
def test_any_file_is_reported(place: str, words: list[str], fenced: bool, tmp_path: Path) -> None:
    folder = tmp_path / str(abs(hash((place, tuple(words), fenced))))
    write(folder, {place: ("---\n" if fenced else "") + "".join(words)})
    report = equipage.check([folder], env={})
    assert len(report.files) == 1
    assert not [each for each in report.diagnostics if each.code == "internal-error"]


@pytest.mark.parametrize("place", PLACES)
def test_bytes_that_are_no_text(place: str, tmp_path: Path) -> None:
    write(tmp_path, {place: b"---\nname: \xff\n---\n"})
    report = equipage.check([tmp_path], env={})
    assert [each.code for each in report.errors] == ["not-utf8"]


@pytest.mark.requirement("CV-01", "CV-06")
def test_the_examples_are_clean() -> None:
    report = equipage.check([EXAMPLES], env={})
    assert report.diagnostics == ()
    assert sorted(str(each.kind) for each in report.files) == [
        "claude-agent",
        "claude-command",
        "copilot-agent",
        "cursor-rule",
        "mcp",
        "opencode-agent",
        "skill",
    ]
