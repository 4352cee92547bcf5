"""A language server whose client and whose files are hostile: it reads and writes nothing outside."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from equipage.lsp.protocol import uri_of
from lab import repository, write
from lsp.talking import Here

AGENT = "---\nname: a\ndescription: d\nskills: [pdf]\nmodle: x\n---\nRead @../../../outside/secret.md.\n"
SKILL = "---\nname: pdf\ndescription: d\n---\nSee [it](../../../../outside/secret.md).\n"
SERVER = "server: {name: x, version: '1'}\ntools:\n  - $include: ../../outside/part.yaml\n"
QUESTIONS = (
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/completion",
    "textDocument/documentLink",
    "textDocument/codeAction",
    "textDocument/diagnostic",
    "textDocument/prepareRename",
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write(
        tmp_path / "outside",
        {
            "secret.md": "swordfish\n",
            "part.yaml": "tool: {name: swordfish}\n",
            "SKILL.md": SKILL.replace("pdf", "swordfish"),
        },
    )
    project = repository(
        tmp_path / "project",
        {".claude/agents/a.md": AGENT, ".claude/skills/pdf/SKILL.md": SKILL, "main.yaml": SERVER},
    )
    os.symlink(tmp_path / "outside", project / ".claude/skills/linked")
    os.symlink(tmp_path / "outside/secret.md", project / ".claude/agents/link.md")
    return project


def everything(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def ask_everything(client: Here, uri: str, *lines: int) -> list[Any]:
    """Every question at some places of a text; none may fail in an unexpected way."""
    answers = []
    for method in QUESTIONS:
        for line in lines:
            place = {"line": line, "character": 9}
            params = {
                "textDocument": {"uri": uri},
                "position": place,
                "range": {"start": place, "end": place},
                "context": {"diagnostics": [], "includeDeclaration": True},
            }
            answers.append(client.request(method, params))
    return answers


def targets(value: Any) -> set[str]:
    """Every URI in an answer."""
    if isinstance(value, dict):
        found = {
            value[key]
            for key in ("uri", "oldUri", "newUri", "targetUri", "target")
            if isinstance(value.get(key), str)
        }
        return found.union(*map(targets, value.values()))
    return set().union(*map(targets, value)) if isinstance(value, list) else set()


def test_no_answer_quotes_or_edits_what_is_outside(project: Path) -> None:
    before = everything(project.parent)
    client = Here(project)
    said: list[Any] = []
    for name in (".claude/agents/a.md", ".claude/skills/pdf/SKILL.md", "main.yaml"):
        item = {
            "uri": client.uri(name),
            "text": (project / name).read_text(),
            "version": 1,
            "languageId": "x",
        }
        client.tell("textDocument/didOpen", {"textDocument": item})
        said += ask_everything(client, client.uri(name), 3, 6)
        for new in ("b", "../../outside/x", "/etc/x", "x\0y", "-rf", "a/b", ""):
            params = {
                "textDocument": {"uri": client.uri(name)},
                "position": {"line": 1, "character": 7},
                "newName": new,
            }
            answer = client.request("textDocument/rename", params)
            edited = targets(answer.get("result"))
            assert all(each.startswith(uri_of(str(project)) + "/") for each in edited), edited
            said.append(answer)
    written = json.dumps([said, client.sent])
    assert "swordfish" not in written
    assert "-32603" not in written  # a bug
    assert everything(project.parent) == before


@pytest.mark.parametrize(
    "uri",
    [
        "file:///proc/self/environ",
        "file:///etc/passwd",
        "file:///dev/zero",
        "file://elsewhere.example/share/a.md",
        "http://127.0.0.1:1/a.md",
        "file:///%00",
        "file:///a%2f..%2f..%2fetc%2fpasswd",
        "untitled:Untitled-1",
        "file:",
        "",
        "file:///" + "a/" * 3000 + "a.md",
        "javascript:alert(1)",
    ],
)
def test_addresses_of_any_sort_are_survived(uri: str, project: Path) -> None:
    """Whatever a client opens: its text is what it sends, and nothing is read in its place."""
    client = Here(project, env={"TOKEN": "swordfish"})
    item = {"uri": uri, "text": AGENT, "version": 1, "languageId": "markdown"}
    client.tell("textDocument/didOpen", {"textDocument": item})
    ask_everything(client, uri, 3)
    change = {
        "textDocument": {"uri": uri, "version": 2},
        "contentChanges": [{"text": "x: ${TOKEN}"}],
    }
    client.tell("textDocument/didChange", change)
    client.tell("textDocument/didSave", {"textDocument": {"uri": uri}})
    client.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
    written = json.dumps(client.sent)
    assert "swordfish" not in written
    assert "root:" not in written
    assert "-32603" not in written


def test_nothing_is_written_while_a_text_is_checked(project: Path) -> None:
    """Neither a cache nor anything else: an editor writes, the server answers."""
    before = sorted(str(path) for path in project.rglob("*"))
    client = Here(project)
    for number in range(80):
        write(project, {f".claude/agents/n{number}.md": AGENT})
    client.tell("workspace/didChangeWatchedFiles", {"changes": []})
    ask_everything(client, client.uri(".claude/agents/a.md"), 3)
    after = sorted(str(path) for path in project.rglob("*") if "/n" not in str(path.name))
    assert [each for each in after if "/agents/n" not in each] == before
