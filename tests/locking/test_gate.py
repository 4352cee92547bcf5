"""The gate: a change that lets an agent do more is seen before it is merged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lab import commit, environment, in_process, settle, write

AGENT = "---\nname: reviewer\ndescription: d\ntools: {}\n---\nReview.\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    policy = '[policy]\nmay-widen = ["lead"]\n'
    write(
        tmp_path / "work",
        {".claude/agents/a.md": AGENT.format("Read, Grep"), "equipage.toml": policy},
    )
    commit(tmp_path / "work")
    settle(monkeypatch, tmp_path / "work", environment())
    return tmp_path / "work"


def gate(*more: str) -> Any:
    return in_process(["diff", "--fail-on", "widened", "HEAD", *more])


def change(text: str) -> None:
    Path(".claude/agents/a.md").write_text(text)


def test_nothing_is_said_when_nothing_widened() -> None:
    assert gate("-f", "markdown") == (0, "", "")
    change(AGENT.format("Read") + "Another text.\n")
    assert gate("-f", "markdown") == (0, "", "")
    assert "permission changed" in gate().out


def test_what_widened_comes_first_by_agent() -> None:
    change(AGENT.format("Read, Bash(a|`b`:*)"))
    write(Path(), {".claude/agents/b.md": "---\nname: b\ndescription: d\n---\nText.\n"})
    code, out, _ = gate("-f", "markdown")
    assert code == 1
    assert out == (
        "### 2 agents or settings may do more\n"
        "\n"
        "**agent `b`** in `.claude/agents/b.md`, new\n"
        "\n"
        "| | what | before | after | where |\n"
        "|---|---|---|---|---|\n"
        "| **wider** | tool `*` | denied | allowed | `tools` is absent |\n"
        "\n"
        "**agent `reviewer`** in `.claude/agents/a.md`\n"
        "\n"
        "| | what | before | after | where |\n"
        "|---|---|---|---|---|\n"
        "| **wider** | tool ``Bash(a\\|`b`:*)`` | denied | allowed | `tools[1]` |\n"
        "| narrower | tool `Grep` | allowed | denied | `tools` |\n"
    )
    found = json.loads(gate("--json").out)
    assert found["widened"]
    assert [step["how"] for step in found["files"][0]["reach"][0]["steps"]] == ["widened", "narrowed"]  # fmt: skip


def test_markup_in_a_name_stays_text() -> None:
    write(
        Path(),
        {".claude/agents/x.md": "---\nname: '`</b> | @team\\n# h'\ndescription: d\n---\nT.\n"},
    )
    _, out, _ = gate("-f", "markdown")
    assert "\n# h" not in out
    assert "**agent `` `</b>" in out


def test_the_policy_of_the_base_says_who_may_widen() -> None:
    change(AGENT.format("Read, Grep, Bash"))
    Path("equipage.toml").write_text('[policy]\nmay-widen = ["lead", "me"]\n')
    assert gate("--author", "me").code == 1
    code, out, err = gate("--author", "lead", "-f", "markdown")
    assert (code, "| **wider** | tool `Bash` |" in out) == (0, True)
    assert "lead may widen what agents do" in err


def test_the_order_of_patterns_is_part_of_a_reach() -> None:
    def rules(*names: str) -> str:
        actions = {"*": "allow", "rm *": "deny"}
        return json.dumps({"permission": {"bash": {name: actions[name] for name in names}}})

    write(Path(), {"opencode.json": rules("*", "rm *")})
    commit(Path.cwd())
    Path("opencode.json").write_text(rules("rm *", "*"))
    code, out, _ = gate()
    assert code == 1
    assert "widened: tool bash(rm *): denied → allowed" in out
