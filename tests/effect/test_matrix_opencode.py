"""The matrix agrees with OpenCode about what its agents may do.

`make test-opencode` runs this: it needs the client. The agents of the corpus are of Claude Code,
which OpenCode does not read: each is written as an agent of OpenCode with the permissions that its
list of tools comes to.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from equipage.clients.reading import MAIN_AGENT, read_folder
from equipage.effect.reach import Column, answer, matrices
from equipage.loading.session import Request
from equipage.workspace import Workspace
from lab import SHARED, write

PROGRAM = os.environ.get("EQUIPAGE_OPENCODE", "")
pytestmark = pytest.mark.skipif(not PROGRAM, reason="needs OpenCode: run `make test-opencode`")

TOOLS = ("read", "edit", "bash", "webfetch", "websearch", "task", "skill", "glob", "grep")
#: What an agent of the corpus needs of Claude Code, for each tool of OpenCode.
MEANS = {
    "edit": ("Edit", "Write"),
    "bash": ("Bash",),
    "webfetch": ("WebFetch",),
    "websearch": ("WebSearch",),
    "task": ("Agent", "Task"),
}
#: Headers whose order, patterns and old spellings matter.
HEADERS = {
    "nothing": {},
    "denied": {"permission": {"edit": "deny", "bash": "ask"}},
    "patterns": {"permission": {"bash": {"*": "deny", "git *": "allow"}}},
    "undone": {"permission": {"bash": "deny", "*": "allow"}},
    "everything": {"permission": "ask"},
    "old": {"tools": {"write": False, "webfetch": False}},
    "both": {"tools": {"bash": False}, "permission": {"bash": "allow"}},
    "overrides": {"permission": {"websearch": "allow"}},
}
SETTINGS = {"permission": {"websearch": "ask", "bash": {"rm *": "deny"}}}


def corpus_headers(most: int) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for path in sorted((SHARED / "corpus").rglob("*.md")):
        listed = re.search(r"\A---\n(?:.*\n)*?tools: ([A-Z][\w, ]*)\n", path.read_text())
        if listed is not None and len(found) < most:
            tools = {each.strip() for each in listed[1].split(",")}
            denied = {
                name: "deny" for name, others in MEANS.items() if not tools.intersection(others)
            }
            found[path.stem] = {"permission": denied}
    return found


def told(name: str, folder: Path, home: Path) -> dict[str, str]:
    """What OpenCode says about each tool: the last rule that matches counts."""
    env = {
        **os.environ,
        "HOME": str(home),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }
    done = subprocess.run(
        [PROGRAM, "debug", "agent", name],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found: dict[str, str] = {}
    for rule in json.loads(done.stdout)["permission"]:
        for tool in TOOLS:
            if rule["permission"] not in ("*", tool):
                continue
            effect = {"allow": "allows", "ask": "asks", "deny": "denies"}[rule["action"]]
            if rule["pattern"] == "*":
                found[tool] = effect
            # Every agent asks before it reads `.env`; no file says so.
            elif tool != "read" and found.get(tool) != effect:
                found[tool] = "partly"
    return found


@pytest.mark.requirement("SE-01")
def test_opencode_says_the_same(tmp_path: Path) -> None:
    folder, home = tmp_path / "project", tmp_path / "home"
    headers = {**HEADERS, **corpus_headers(8)}
    write(
        folder,
        {
            f".opencode/agents/{name}.md": f"---\n{json.dumps({'description': 'd', **header})}\n---\nGo.\n"
            for name, header in headers.items()
        }
        | {"opencode.json": SETTINGS},
    )
    home.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    workspace = Workspace([str(folder)], Request(env={}, shared=True))
    found = workspace.loads()
    outcomes = [each.outcome for each in found if each.outcome is not None]
    (matrix,) = matrices(read_folder(outcomes))
    # The agent that people talk to is called `build`.
    assert {each.name for each in matrix.agents} == {MAIN_AGENT, *headers}
    for agent in matrix.agents:
        ours = {tool: answer(agent, Column("tool", tool)) for tool in TOOLS}
        states = {tool: each.state if each is not None else None for tool, each in ours.items()}
        name = "build" if agent.name == MAIN_AGENT else agent.name
        assert states == told(name, folder, home), agent.name
