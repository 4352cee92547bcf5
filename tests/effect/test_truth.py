"""No false assurance: what is said of files where a client reads them otherwise than they look.

Each case is a folder and a command: what its answer must say, and what it must not.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lab import environment, in_process, settle, write

AGENT = "---\nname: reviewer\ndescription: Review.\n{}---\nReview.\n"
SETTINGS, LOCAL = ".claude/settings.json", ".claude/settings.local.json"
REVIEWER = ".claude/agents/reviewer.md"


def rules(**lists: Any) -> dict[str, Any]:
    return {"permissions": lists}


class Case(NamedTuple):
    """A folder, a command, and what its answer says on standard output and error."""

    name: str
    files: dict[str, Any]
    command: str
    says: tuple[str, ...]
    never: tuple[str, ...] = ()
    code: int = 0


EVERY = "reviewer  Claude Code  yes*   yes*    yes*  yes*     yes*    "
UNKNOWN = "unknown  unknown  unknown  unknown  unknown  "
README = {REVIEWER: AGENT.format("allowed_tools: [Read, Grep]\n")}

CASES = [
    # A misspelt restriction is ignored by the client, so the agent has every tool.
    Case("1: reach", README, "reach", (EVERY, f"read as its client reads it: {REVIEWER}"), ("no agents",)),
    Case("1: list", README, "list", ("claude-agent  reviewer", "Claude Code"), (), 1),
    Case("1: lock", README, "lock", ("locked 1 configuration",), ("not locked", "not known")),
    # What people talk to has the reach of settings, hooks and servers.
    Case("5: settings alone", {SETTINGS: rules(allow=["Bash"])}, "reach", ("main agent  Claude Code  yes*   asks*   yes",), ("no agents",)),
    Case("5: servers alone", {".mcp.json": {"mcpServers": {"docs": {"command": "docs"}}}}, "reach", ("main agent", "docs"), ("no agents",)),
    Case("5: why", {SETTINGS: rules(allow=["Bash"])}, "reach --why run", (f"allows tool Bash: {SETTINGS}:1:28 at permissions.allow[0]",)),
    Case("5: a mode that does not ask", {SETTINGS: rules(defaultMode="acceptEdits")}, "reach", ("main agent  Claude Code  yes*   yes ",)),
    Case("5: local settings win", {SETTINGS: rules(defaultMode="acceptEdits"), LOCAL: rules(defaultMode="default")}, "reach", ("main agent  Claude Code  yes*   asks*",)),
    Case("5: rules of all layers count", {SETTINGS: rules(deny=["WebFetch", "WebSearch"]), LOCAL: rules(allow=["Bash"])}, "reach", ("main agent  Claude Code  yes*   asks*   yes   no ",)),
    # `permissionMode` has no effect with `--agent`, and settings beat it.
    Case("15", {REVIEWER: AGENT.format("permissionMode: plan\n"), SETTINGS: rules(defaultMode="acceptEdits")}, "reach reviewer --why write", ("write files: yes",), ("write files: no",)),
    # Files with errors: dropped, a part ignored, or unknown.
    Case("settings are dropped for one wrong type", {SETTINGS: {**rules(allow=["Bash"], deny=["Read"]), "model": 5}}, "reach", ("main agent  Claude Code  yes*   asks*   asks*",)),
    Case("a rule that is no text is left out alone", {SETTINGS: rules(deny=["Bash", 5])}, "reach", ("main agent  Claude Code  yes*   asks*   asks*",)),
    Case("a list of tools that is a number", {REVIEWER: AGENT.format("tools: 5\n")}, "reach", (UNKNOWN, f"unknown: assume everything: {REVIEWER}: expected a list, found the number 5\n")),
    Case("such an agent in a list", {REVIEWER: AGENT.format("tools: 5\n")}, "list", ("reviewer  .claude/agents/reviewer.md  unknown",), (), 1),
    Case("a header that never ends", {REVIEWER: "---\nname: reviewer\ntools: Read\n\nText.\n"}, "reach", (UNKNOWN, "the header is never closed")),
    Case("settings that are a list", {SETTINGS: "[]"}, "reach", ("main agent",), ("no agents",)),
    Case("settings that are not JSON", {SETTINGS: "{"}, "reach", ("main agent",), ("no agents",)),
    Case("settings that are not text", {SETTINGS: b"\xff\xfe\x00{"}, "reach", ("unknown: assume everything: .claude/settings.json",), ("no agents",)),
    Case("two agents of one name", {REVIEWER: AGENT.format("tools: Read\n"), ".claude/agents/b.md": AGENT.format("")}, "reach", (EVERY, "reviewer  Claude Code  yes    no")),
    Case("a key that is no text", {REVIEWER: AGENT.format("tools: Read\n5: x\n")}, "reach", ("reviewer  Claude Code  yes    no",)),
    Case("a rule of 100 kB", {SETTINGS: rules(deny=[f"Bash({'x' * 100_000}:*)"])}, "reach", ("main agent",)),
]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "work" / ".git").mkdir(parents=True)
    settle(monkeypatch, tmp_path / "work", environment(COLUMNS="1000"))
    return tmp_path / "work"


@pytest.mark.parametrize("case", [pytest.param(each, id=each.name) for each in CASES])
def test_nothing_is_promised_that_does_not_hold(case: Case) -> None:
    write(Path(), case.files)
    done = in_process(case.command.split())
    said = done.out + done.err
    assert done.code == case.code, said
    assert [each for each in case.says if each not in said] == [], said
    assert [each for each in case.never if each in said] == [], said


def test_a_layer_that_cannot_be_read_is_unknown() -> None:
    write(Path(), {SETTINGS: "{}"})
    os.truncate(SETTINGS, 11_000_000)
    done = in_process(["reach"])
    assert "no agents found" not in done.err
    assert done.err.splitlines()[-1].startswith(f"equipage: unknown: assume everything: {SETTINGS}")
