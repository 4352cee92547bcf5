"""One changed byte in any file is named, in a workspace of more than two thousand files."""

from __future__ import annotations

import json
import os
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from casefiles import read_case
from lab import CASES, Link, environment, in_process, matching, settle, write
from packs import pack, write_packs

#: How many folders there are with files of a team, beside those of the cases.
_TEAMS = 110


def _team(folder: Path, number: int) -> None:
    """What a team has: settings with hooks, agents, skills, servers, tools, texts that import."""
    hook = {"type": "command", "command": f"sh -c '$CLAUDE_PROJECT_DIR/t{number}/hooks/guard.sh'"}
    skill = f"---\nname: notes\ndescription: Notes of team {number}.\n---\nRun scripts/a.py.\n"
    write(
        folder,
        {
            ".claude/settings.json": {"permissions": {"deny": ["Read(.env)"]}, "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}},
            "hooks/guard.sh": f"exit {number % 3}\n",
            ".claude/agents/reviewer.md": f"---\nname: reviewer\ndescription: d{number}\ntools: Read, Grep\n---\nReview.\n",
            ".claude/skills/notes/SKILL.md": skill,
            ".claude/skills/notes/scripts/a.py": f"print({number})\n",
            ".claude/skills/notes/data.bin": bytes([0, 255, number]),
            ".mcp.json": {"mcpServers": {"docs": {"command": "node", "args": ["servers/docs.js"]}}},
            "servers/docs.js": f"serve({number})\n",
            "CLAUDE.md": f"Team {number}, see @docs/rules.md.\n",
            "docs/rules.md": f"Rule {number}.\n",
            ".cursorignore": f"secret{number}\n",
            ".codex/rules/all.rules": f'prefix_rule(pattern = ["tool{number}"], decision = "prompt")\n',
        },
    )  # fmt: skip
    write_packs(folder / "packs", [pack("a.b", "t:f")], {"t.py": "def f(p): return {}\n"})


def _workspace(root: Path) -> None:
    """Every case, whatever it is about, beside the folders of many teams."""
    for file in matching(CASES, "**/*.md"):
        case = read_case(file, file.parent.name)
        links = {name: Link(target) for name, target in case.links.items()}
        write(root / f"{file.parent.name}-{file.stem}", {**case.files, **links})
    for number in range(_TEAMS):
        _team(root / f"t{number}", number)
    write(root, {".git/HEAD": "ref: refs/heads/main\n"})


def _found() -> tuple[set[str], set[str]]:
    """The files that `verify` names, and the configurations that mean something else."""
    code, out, err = in_process(["verify", "--frozen", "--json"])
    assert code == 1, err
    found: dict[str, Any] = json.loads(out)
    named = {name for names in found["sources"].values() for name in names}
    return named, {each["file"] for each in found["meaning"]}


@pytest.mark.skipif(
    not os.environ.get("EQUIPAGE_TEST_BYTES"), reason="a minute; run by `make test-bytes`"
)
@pytest.mark.requirement("LK-03")
def test_a_changed_byte_in_each_of_two_thousand_files_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _workspace(tmp_path)
    settle(monkeypatch, tmp_path, environment())
    assert in_process(["lock"]).code == 0
    lock = json.loads(Path("equipage.lock").read_text())
    kinds = {each["kind"] for each in lock["items"].values()}
    assert len(lock["files"]) > 2000
    assert len(kinds) > 60
    # One file of each folder at a time: none of them reads files of another folder.
    folders: dict[str, list[str]] = defaultdict(list)
    for name in sorted(lock["files"]):
        folders[name.partition("/")[0]].append(name)
    draw = random.Random(7)
    done = 0
    for turn in range(max(map(len, folders.values()))):
        touched = {}
        for names in folders.values():
            if turn < len(names) and (data := Path(names[turn]).read_bytes()):
                touched[names[turn]] = data
        for name, data in touched.items():
            place = draw.randrange(len(data))
            changed = bytes([data[place] ^ draw.randrange(1, 256)])
            Path(name).write_bytes(data[:place] + changed + data[place + 1 :])
        named, _ = _found()
        assert set(touched) - named == set()
        # What else is named lies beside a file that changed, and went or came with it.
        assert {name.partition("/")[0] for name in named} <= {
            name.partition("/")[0] for name in touched
        }
        for name, data in touched.items():
            Path(name).write_bytes(data)
        done += len(touched)
    empty = [name for name in lock["files"] if not Path(name).read_bytes()]
    assert done == len(lock["files"]) - len(empty)
    assert in_process(["verify", "--frozen"]).code == 0


def _other_text(name: str, text: str) -> str | None:
    """A text that means the same: keys in another order, or with a comment; None without a way."""
    if name.endswith(".json"):
        try:
            value = json.loads(text)
        except json.JSONDecodeError:  # what loads nevertheless has comments, or nothing in it
            return f"{text}// A comment.\n" if text.strip() else None
        return json.dumps(dict(reversed(value.items())), indent=3, ensure_ascii=False)
    if name.endswith((".yaml", ".toml")):
        return f"{text}{'' if text.endswith(chr(10)) else chr(10)}# A comment.\n"
    if name.endswith(".rules"):
        return f"# A comment.\n{text}"
    closed = text.startswith("---\n") and "\n---\n" in text
    return f"---\n# A comment.{text[3:]}" if closed else None


@pytest.mark.requirement("LK-03")
def test_order_and_comments_change_no_meaning_in_any_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _workspace(tmp_path)
    settle(monkeypatch, tmp_path, environment())
    assert in_process(["lock"]).code == 0
    items = json.loads(Path("equipage.lock").read_text())["items"]
    # The files of a skill are locked byte for byte, whatever they are.
    folders = {
        Path(name).parent: item["folder"] for name, item in items.items() if "folder" in item
    }
    of_skills = {
        str(at / each) for at, names in folders.items() for each in names if each != "SKILL.md"
    }
    touched = set()
    for name, item in items.items():
        # What has errors has no meaning, what is not read has only its bytes, and a comment ends
        # another line in files of Windows.
        data = Path(name).read_bytes()
        if "digest" not in item or item["kind"] == "unread" or name in of_skills or b"\r" in data:
            continue
        other = _other_text(name, data.decode())
        if other is not None:
            Path(name).write_bytes(other.encode())
            touched.add(name)
    assert len(touched) > 900
    assert len({items[name]["kind"] for name in touched}) > 50
    named, meaning = _found()
    assert named == touched
    assert meaning == set()
    assert in_process(["verify"]).code == 0
