"""Locks of workspaces: every changed byte is named, and the meaning and the reach are told apart."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from equipage.clients.launchers import launch_of
from equipage.loading.session import Request
from equipage.record import dependencies
from equipage.record import lock as locks
from equipage.record.verify import compare
from lab import Result, environment, in_process, settle, write
from packs import pack, write_packs

AGENT = "---\nname: reviewer\ndescription: d\ntools: Read, Grep\nskills: notes\n---\nReview.\n"
SETTINGS = {
    "permissions": {"deny": ["Read(.env)"]},
    "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./hooks/guard.sh"}]}]},
}  # fmt: skip
SERVERS = {
    "mcpServers": {
        "pinned": {"command": "npx", "args": ["-y", "server-a@1.2.3"]},
        "loose": {"command": "uvx", "args": ["server-b"], "env": {"API_TOKEN": "${TOKEN}"}},
    }
}
FILES: dict[str, Any] = {
    ".claude/agents/reviewer.md": AGENT,
    ".claude/agents/README.md": "Notes beside the agents.\n",
    ".claude/skills/notes/SKILL.md": "---\nname: notes\ndescription: d\n---\nRun scripts/a.py.\n",
    ".claude/skills/notes/scripts/a.py": "print(1)\n",
    ".claude/skills/notes/data.bin": b"\0\xff\xfe",
    ".claude/settings.json": json.dumps(SETTINGS),
    "hooks/guard.sh": "exit 0\n",
    ".mcp.json": json.dumps(SERVERS),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path / "work", {**FILES, ".git/HEAD": "ref: refs/heads/main\n"})
    settle(monkeypatch, tmp_path / "work", environment())
    return tmp_path / "work"


def locked() -> dict[str, Any]:
    code, _, err = in_process(["lock"])
    assert code == 0, err
    found: dict[str, Any] = json.loads(Path("equipage.lock").read_text())
    return found


def verified(*arguments: str) -> Result:
    return in_process(["verify", *arguments])


@pytest.mark.requirement("LK-01")
def test_a_lock_holds_what_a_reviewer_needs() -> None:
    lock = locked()
    items = lock["items"]
    assert sorted(items) == [
        ".claude/agents/reviewer.md",
        ".claude/settings.json",
        ".claude/skills/notes/SKILL.md",
        ".mcp.json",
    ]
    agent = items[".claude/agents/reviewer.md"]
    assert agent["refers"] == ["skill notes", "tool Grep", "tool Read"]
    assert {"allows": "tool Read", "at": "tools[0]"} in agent["reach"]["agent reviewer"]
    skill = items[".claude/skills/notes/SKILL.md"]
    assert skill["folder"] == ["SKILL.md", "data.bin", "scripts/a.py"]
    assert items[".claude/settings.json"]["runs"] == ["hooks/guard.sh"]
    assert items[".mcp.json"]["launches"] == [
        {"runs": "npx server-a@1.2.3", "pin": "1.2.3"},
        {"runs": "uvx server-b"},
    ]
    assert lock["files"]["hooks/guard.sh"] == hashlib.sha256(b"exit 0\n").hexdigest()
    assert ".claude/agents/README.md" not in lock["files"]


@pytest.mark.requirement("LK-02")
def test_a_lock_is_the_same_elsewhere_and_has_no_secret(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked()
    text = Path("equipage.lock").read_text()
    other = tmp_path / "another place"
    shutil.copytree(folder, other, ignore=shutil.ignore_patterns("equipage.lock"))
    settle(monkeypatch, other, environment(TOKEN="hunter2hunter2", LC_ALL="C"))
    os.utime(other / ".mcp.json", (1, 1))
    code, _, err = in_process(["lock"])
    assert code == 0
    assert "`uvx server-b` is not pinned" in err
    assert Path("equipage.lock").read_text() == text
    assert "hunter2" not in text
    assert str(tmp_path) not in text
    # From inside the project, too.
    monkeypatch.chdir(other / "hooks")
    assert in_process(["verify"]).out == "nothing changed\n"


def test_nothing_changed() -> None:
    locked()
    assert verified() == (0, "nothing changed\n", "")
    assert verified("--frozen").code == 0


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (".claude/agents/reviewer.md", AGENT.replace("name:", "# a comment\nname:")),
        (".claude/agents/reviewer.md", AGENT.replace("tools: Read, Grep", "tools: [Read, Grep]")),
        (".mcp.json", json.dumps(SERVERS, indent=4)),
        (".claude/settings.json", json.dumps(dict(reversed(SETTINGS.items())))),
    ],
)
@pytest.mark.requirement("LK-03")
def test_comments_and_order_change_a_source_but_no_meaning(file: str, text: str) -> None:
    locked()
    Path(file).write_text(text)
    code, out, _ = verified()
    assert code == 0
    assert out == f"source changed: {file}\nchanged: 1 source, 0 meanings, 0 reaches (0 widened)\n"
    assert verified("--frozen").code == 1


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        (".claude/agents/reviewer.md", AGENT.replace("Review.", "Approve."), "meaning changed: .claude/agents/reviewer.md: it means something else"),
        (".claude/agents/reviewer.md", AGENT.replace("Grep", "Bash"), "  widened: tool Bash: denied → allowed (tools[1])"),
        (".claude/agents/reviewer.md", AGENT.replace("tools: Read, Grep\n", ""), "  widened: tool everything else: denied → allowed (tools is absent)"),
        (".claude/settings.json", "{}", "  widened: guard PreToolUse Bash: ./hooks/guard.sh: denied → allowed (hooks.PreToolUse[0].hooks[0])"),
        (".claude/skills/notes/scripts/a.py", "print(2)\n", "meaning changed: .claude/skills/notes/SKILL.md: scripts/a.py changed"),
        (".claude/skills/notes/scripts/b.py", "", "meaning changed: .claude/skills/notes/SKILL.md: scripts/b.py added"),
        ("hooks/guard.sh", "exit 1\n", "meaning changed: .claude/settings.json: hooks/guard.sh changed"),
        (".mcp.json", '{"mcpServers": {"a": 5}}', "meaning changed: .mcp.json: it means something else"),
        (".claude/agents/new.md", AGENT.replace("reviewer", "new"), "reach widened: .claude/agents/new.md: agent new (new)"),
    ],
)  # fmt: skip
@pytest.mark.requirement("LK-04")
def test_a_change_of_meaning_or_reach_fails(file: str, text: str, expected: str) -> None:
    locked()
    Path(file).write_text(text)
    code, out, _ = verified()
    assert code == 1
    assert expected in out.splitlines()
    found = json.loads(verified("--json").out)
    assert not found["same"]
    assert file in [*found["sources"]["changed"], *found["sources"]["added"]]


def test_a_file_that_is_gone_is_named() -> None:
    locked()
    Path(".claude/agents/reviewer.md").unlink()
    code, out, _ = verified()
    assert code == 1
    assert "meaning changed: .claude/agents/reviewer.md: claude-agent removed" in out
    assert "source removed: .claude/agents/reviewer.md" in out


def test_a_link_is_locked_by_its_target_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("secret")
    link = Path(".claude/skills/notes/link")
    link.symlink_to(tmp_path / "outside")
    locked()
    (tmp_path / "outside").write_text("another")
    assert verified().code == 0
    link.unlink()
    link.symlink_to("SKILL.md")
    assert "link changed" in verified().out


def test_the_order_of_patterns_counts_where_a_client_counts_it() -> None:
    rules = {"bash": {"*": "allow", "rm *": "deny"}}
    Path("opencode.json").write_text(json.dumps({"permission": rules}))
    locked()
    rules["bash"] = {"rm *": "deny", "*": "allow"}
    Path("opencode.json").write_text(json.dumps({"permission": rules}))
    code, out, _ = verified()
    assert code == 1
    assert "widened: tool bash(rm *): denied → allowed" in out


# What decides which files are read, and what a client reads beside that.


@pytest.mark.requirement("LK-01")
def test_settings_are_locked_by_their_meaning() -> None:
    Path("equipage.toml").write_text('exclude = ["old"]\n')
    item = locked()["items"]["equipage.toml"]
    assert item["kind"] == "project"
    assert item["reach"]["settings equipage"] == [
        {"allows": "setting exclude = old", "at": "exclude[0]"}
    ]
    Path("equipage.toml").write_text('# a comment\nexclude = ["old"]\n')
    code, out, _ = verified()
    assert (code, "source changed: equipage.toml" in out) == (0, True)
    # Hiding an agent changes the settings, and the agent is gone.
    Path("equipage.toml").write_text('exclude = ["old", ".claude/agents"]\n')
    code, out, _ = verified()
    assert code == 1
    assert "  widened: setting exclude = .claude/agents: denied → allowed (exclude[1])" in out
    assert "meaning changed: equipage.toml: it means something else" in out
    assert "source removed: .claude/agents/reviewer.md" in out
    Path("equipage.toml").write_text("exclude = 5\n")
    assert "meaning changed: equipage.toml: it cannot be loaded any more" in verified().out
    Path("equipage.toml").unlink()
    assert "meaning changed: equipage.toml: project removed" in verified().out


def test_of_a_shared_file_only_the_settings_count() -> None:
    text = '[project]\nversion = "1"\n[tool.equipage]\nexclude = ["old"]\n'
    Path("pyproject.toml").write_text(text)
    lock = locked()
    assert "pyproject.toml" in lock["items"]
    assert "pyproject.toml" not in lock["files"]
    Path("pyproject.toml").write_text(text.replace('"1"', '"2"'))
    assert verified("--frozen").code == 0
    Path("pyproject.toml").write_text(text.replace("old", "new"))
    assert verified().code == 1


def test_settings_of_a_folder_inside_are_locked_too() -> None:
    write(Path("sub"), {".claude/agents/b.md": AGENT.replace("reviewer", "b")})
    locked()
    write(Path("sub"), {"equipage.toml": 'exclude = ["**"]\n'})
    code, out, _ = verified()
    assert code == 1
    assert "meaning changed: sub/equipage.toml: project added" in out


@pytest.mark.requirement("LK-03")
def test_files_that_only_a_client_reads_are_locked() -> None:
    write(Path(), {".codex/rules/git.rules": "git = ['git']\n", ".rooignore": "x\n"})
    item = locked()["items"][".codex/rules/git.rules"]
    assert (item["kind"], item["what"]) == ("unread", "Codex rule")
    Path(".codex/rules/git.rules").write_text("git = ['rm']\n")
    Path(".rooignore").unlink()
    code, out, _ = verified()
    assert code == 1
    assert "meaning changed: .codex/rules/git.rules: Codex rule changed; equipage does not read it" in out  # fmt: skip
    assert "meaning changed: .rooignore: list of files that agents leave alone removed" in out


@pytest.mark.requirement("LK-02")
def test_plain_rules_of_codex_are_locked_by_what_they_mean() -> None:
    rule = Path(".codex/rules/git.rules")
    write(Path(), {str(rule): "prefix_rule(pattern=['git', ['push', 'tag']], decision='prompt')\n"})
    item = locked()["items"][str(rule)]
    assert item["kind"] == "codex-rules"
    assert {"asks": "tool shell(git tag *)"} in item["reach"]["policy git.rules"]
    rule.write_text(
        "# Two rules mean what one with alternatives means.\n"
        'prefix_rule(decision = "prompt", pattern = ["git", "tag"])\n'
        'prefix_rule(pattern = ["git", "push"], decision = "prompt")\n'
    )
    code, out, _ = verified()
    assert (code, out) == (0, f"source changed: {rule}\nchanged: 1 source, 0 meanings, 0 reaches (0 widened)\n")  # fmt: skip
    rule.write_text("prefix_rule(pattern=['git', ['push', 'tag']])\n")
    code, out, _ = verified()
    assert code == 1
    assert "widened: tool shell(git push *): asks → allowed" in out


def test_two_agents_of_one_name_in_a_file_are_locked_apart() -> None:
    mode = "  - {{slug: r, name: R, roleDefinition: d, groups: [{}]}}\n"
    modes = Path(".roomodes")
    modes.write_text(f"customModes:\n{mode.format('read')}{mode.format('edit')}")
    reach = locked()["items"][".roomodes"]["reach"]
    assert list(reach) == ["agent r", "agent r (2)"]
    modes.write_text(f"customModes:\n{mode.format('read, command')}{mode.format('edit')}")
    code, out, _ = verified()
    assert code == 1
    assert "widened: tool command: denied → allowed" in out


def test_launchers_that_differ_in_their_pin_alone_are_always_in_one_order() -> None:
    plugins = [
        {
            "name": f"p{number}",
            "source": {"source": "github", "repo": "x/y", "sha": f"{number}" * 40},
        }
        for number in (3, 1, 2)
    ]
    market = {"name": "m", "owner": {"name": "o"}, "plugins": plugins}
    write(Path(), {".claude-plugin/marketplace.json": json.dumps(market)})
    launches = locked()["items"][".claude-plugin/marketplace.json"]["launches"]
    assert [each["pin"][0] for each in launches] == ["1", "2", "3"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such a name")
def test_a_file_of_a_skill_may_have_a_name_that_is_not_text() -> None:
    write(Path(), {".claude/skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\nText.\n"})
    odd = os.fsencode(".claude/skills/s/") + b"odd\xff.txt"
    with open(odd, "wb") as file:
        file.write(b"one")
    assert locked()["items"][".claude/skills/s/SKILL.md"]["folder"] == ["SKILL.md", "odd\\xff.txt"]
    assert verified().code == 0
    with open(odd, "wb") as file:
        file.write(b"two")
    assert "odd\\xff.txt changed" in verified().out


@pytest.mark.requirement("LK-01")
def test_files_that_a_text_imports_are_locked() -> None:
    write(
        Path(),
        {
            "CLAUDE.md": "First @docs/one.md and `@docs/code.md`.\n",
            "docs/one.md": "Then @two.md\n",
            "docs/two.md": "Text.\n",
            "docs/code.md": "Not imported.\n",
            ".opencode/opencode.json": {"agent": {"a": {"prompt": "{file:../prompts/a.txt}"}}, "instructions": ["docs/rules.txt"]},
            "prompts/a.txt": "Prompt.\n",
            "docs/rules.txt": "Rules.\n",
        },
    )  # fmt: skip
    items = locked()["items"]
    assert items["CLAUDE.md"]["names"] == ["docs/one.md", "docs/two.md"]
    for name, owner in (("docs/two.md", "CLAUDE.md"), ("prompts/a.txt", ".opencode/opencode.json"), ("docs/rules.txt", ".opencode/opencode.json")):  # fmt: skip
        before = Path(name).read_text()
        Path(name).write_text(before + "More.\n")
        code, out, _ = verified()
        assert (code, f"source changed: {name}" in out) == (1, True)
        assert f"meaning changed: {owner}: {name} changed" in out
        Path(name).write_text(before)


def _hook(command: str) -> dict[str, Any]:
    return {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}}


@pytest.mark.parametrize(
    ("file", "content", "script"),
    [
        (".claude/settings.json", _hook("sh -c './hooks/a.sh && ./hooks/b.sh'"), "hooks/b.sh"),
        (".claude/settings.json", _hook("cd hooks && ./a.sh;"), "hooks/a.sh"),
        (".claude/settings.json", _hook("python -m hooks.guard"), "hooks/guard.py"),
        (".claude/settings.json", _hook('"$(git rev-parse --show-toplevel)"/hooks/a.sh'), "hooks/a.sh"),
        (".claude/settings.json", _hook("$(git rev-parse --show-toplevel)/hooks/a.sh"), "hooks/a.sh"),
        (".claude/settings.json", _hook("${CLAUDE_PROJECT_DIR:-.}/hooks/a.sh"), "hooks/a.sh"),
        (".claude/settings.json", _hook("tool --rules=hooks/rules.json"), "hooks/rules.json"),
        (".claude/settings.json", {"apiKeyHelper": "sh hooks/a.sh"}, "hooks/a.sh"),
        (".claude/commands/c.md", "---\ndescription: d\n---\n!`hooks/a.sh $ARGUMENTS`\n", "hooks/a.sh"),
        (".gemini/commands/c.toml", 'prompt = "!{hooks/a.sh}"\n', "hooks/a.sh"),
        (".gemini/settings.json", {"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "$GEMINI_PROJECT_DIR/hooks/a.sh"}]}]}}, "hooks/a.sh"),
        (".mcp.json", {"mcpServers": {"a": {"command": "node", "args": ["x"], "env": {"NODE_OPTIONS": "--require ./hooks/x.js"}}}}, "hooks/x.js"),
        # It has an error here; the client may be content.
        (".claude/settings.json", {**_hook("./hooks/a.sh"), "model": 5}, "hooks/a.sh"),
    ],
)  # fmt: skip
@pytest.mark.requirement("LK-01")
def test_a_script_is_locked_however_a_command_names_it(
    file: str, content: Any, script: str
) -> None:
    names = ("a.sh", "b.sh", "guard.py", "rules.json", "x.js")
    write(Path(), {f"hooks/{name}": "1\n" for name in names})
    write(Path(), {file: content})
    locked()
    assert verified().code == 0
    Path(script).write_text("2\n")
    code, out, _ = verified()
    assert code == 1
    assert f"source changed: {script}" in out
    assert f"meaning changed: {file}: {script} changed" in out


@pytest.mark.requirement("LK-02")
def test_files_of_one_machine_and_secrets_are_not_locked() -> None:
    server = {"command": "node", "args": ["--env-file", ".env", "made/a.js", "src/a.js"]}
    write(
        Path(),
        {
            ".mcp.json": {"mcpServers": {"a": server}},
            ".vscode/mcp.json": {"servers": {"b": {"command": "x", "envFile": ".env.local"}}},
            ".gitignore": "made\n",
            ".env": "TOKEN=s3cr3t\n",
            ".env.local": "TOKEN=s3cr3t\n",
            "made/a.js": "1\n",
            "src/a.js": "1\n",
        },
    )
    lock = locked()
    assert lock["items"][".mcp.json"]["runs"] == ["src/a.js"]
    assert not {".env", ".env.local", "made/a.js"} & set(lock["files"])


# Locks that cannot be used.


def _text() -> str:
    locked()
    return Path("equipage.lock").read_text()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.replace('"lock": 3', '"lock": 9'), "it has version 9, this equipage reads version 3"),
        (lambda text: text.replace('"canonical": 1', '"canonical": 7'), "its digests have version 7"),
        (lambda text: text[: len(text) // 2], "it is damaged or cut off"),
        (lambda text: "", "it is damaged or cut off"),
        (lambda text: "[]", "it has no version"),
        (lambda text: text.replace("tool Grep", "tool Bash"), "it was changed after it was written"),
        (lambda text: text.replace('"paths"', '"lock": 3,\n "paths"', 1), "it was changed after it was written"),
        (lambda text: text.replace('"kind"', '"kinds"', 1), "kinds"),
        (lambda text: f"<<<<<<< ours\n{text}", "it has marks of a merge conflict"),
        (lambda text: "[" * 100_000, "it is damaged or cut off"),
    ],
)  # fmt: skip
@pytest.mark.requirement("LK-05")
def test_a_lock_that_cannot_be_used_is_refused_with_the_reason(change: Any, reason: str) -> None:
    Path("equipage.lock").write_text(change(_text()))
    code, out, err = verified()
    assert (code, out) == (2, "")
    assert "equipage.lock is not a lock that can be used" in err
    assert reason in err


def _sealed(**changes: Any) -> None:
    """Write the lock with other fields, and a seal that fits: anyone can compute one."""
    lock = locks.read(_text().encode())
    lock = msgspec.structs.replace(lock, **changes)
    lock = msgspec.structs.replace(lock, seal=locks._seal(lock))
    Path("equipage.lock").write_text(locks.write(lock))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"paths": (), "items": {}, "files": {}}, "it locks nothing"),
        ({"items": {}, "files": {}}, "it locks nothing"),
        ({"paths": ()}, "it locks nothing"),
        ({"paths": ("hooks/../..",)}, "it locks what is outside of its project"),
        ({"paths": ("/",)}, "it locks what is outside of its project"),
    ],
)
@pytest.mark.requirement("LK-05")
def test_a_sealed_lock_that_would_match_anything_is_refused(
    changes: dict[str, Any], reason: str
) -> None:
    _sealed(**changes)
    code, out, err = verified("--frozen")
    assert (code, out, reason in err) == (2, "", True)


def test_a_lock_of_a_part_says_so() -> None:
    assert in_process(["lock", ".claude"]).code == 0
    code, out, err = verified("--frozen")
    assert (code, out) == (0, "nothing changed\n")
    assert "equipage: equipage.lock covers .claude alone" in err


def test_line_ends_of_another_system_do_no_harm() -> None:
    Path("equipage.lock").write_bytes(_text().replace("\n", "\r\n").encode())
    assert verified().code == 0


@pytest.mark.requirement("LK-04")
def test_without_a_lock() -> None:
    code, _, err = verified()
    assert code == 2
    assert "there is no equipage.lock; run `equipage lock` and commit it" in err
    assert verified("--frozen").code == 1


def test_a_lock_of_one_file() -> None:
    assert in_process(["lock", ".mcp.json", "-o", "one.lock"]).code == 0
    assert list(json.loads(Path("one.lock").read_text())["items"]) == [".mcp.json"]
    code, out, err = verified("--lock", "one.lock")
    assert (code, out) == (0, "nothing changed\n")
    assert "equipage: one.lock covers .mcp.json alone" in err
    Path(".mcp.json").write_text("{}")
    assert verified("--lock", "one.lock").code == 1


def test_a_lock_of_a_file_outside_of_every_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "alone", {".mcp.json": FILES[".mcp.json"]})
    monkeypatch.chdir(tmp_path / "alone")
    assert in_process(["lock", ".mcp.json"]).code == 0
    assert verified().out == "nothing changed\n"


def test_a_lock_of_a_file_whose_kind_is_given() -> None:
    server = "server: {name: a, version: 1.0.0}\n"
    Path("notes.txt.yaml").write_text(server)
    arguments = ["notes.txt.yaml", "--kind", "server"]
    assert in_process(["lock", *arguments, "-o", "one.lock"]).code == 0
    assert json.loads(Path("one.lock").read_text())["items"]["notes.txt.yaml"]["kind"] == "server"
    assert verified("--lock", "one.lock", "--kind", "server").out == "nothing changed\n"


def test_nothing_to_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    assert in_process(["lock"]).code == 2
    assert not Path("equipage.lock").exists()
    code, _, err = in_process(["lock", "lost", "also-lost"])
    assert (code, "no such file or folder" in err) == (2, True)


# Signatures.


def _key(name: str) -> str:
    path = Path("..") / name
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(path)], check=True
    )
    return str(path)


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
@pytest.mark.requirement("LK-05")
def test_signatures() -> None:
    ours, strange = _key("ours"), _key("strange")
    Path("../signers").write_text(f"me@example.org {Path(f'{ours}.pub').read_text()}")
    check = ("--allowed-signers", "../signers")
    assert in_process(["lock"]).code == 0
    assert "is not signed" in verified(*check).err
    assert in_process(["lock", "--sign", ours]).code == 0
    assert verified(*check).out == "nothing changed\nsigned by me@example.org\n"
    assert json.loads(verified(*check, "--json").out)["signer"] == "me@example.org"
    # A lock that changed after it was signed.
    Path(".claude/agents/reviewer.md").write_text(AGENT.replace("Grep", "Bash"))
    signature = Path("equipage.lock.sig").read_bytes()
    assert in_process(["lock"]).code == 0
    code, out, err = verified(*check)
    assert (code, out) == (2, "")
    assert "the signature of equipage.lock is not valid" in err
    # A signature by somebody else, and something that is no signature.
    assert in_process(["lock", "--sign", strange]).code == 0
    assert "no key in ../signers made the signature" in verified(*check).err
    assert signature != Path("equipage.lock.sig").read_bytes()
    Path("equipage.lock.sig").write_text("nonsense")
    assert verified(*check).code == 2
    assert "no such key" in in_process(["lock", "--sign", "lost"]).err
    assert "no such file" in verified("--allowed-signers", "lost").err


# Pins.


@pytest.mark.parametrize(
    ("command", "package", "pin"),
    [
        ("npx -y a@1.2.3", "a@1.2.3", "1.2.3"),
        ("npx @s/a@1.2.3 --flag", "@s/a@1.2.3", "1.2.3"),
        ("npx a@latest", "a@latest", None),
        ("npx a@^1", "a@^1", None),
        ("npx --package=a@1.0.0 b", "a@1.0.0", "1.0.0"),
        ("pnpm dlx a", "a", None),
        ("uvx a==1.2.3", "a==1.2.3", "1.2.3"),
        ("uvx --from git+https://x/y@" + "a" * 40 + " z", "git+https://x/y@" + "a" * 40, "a" * 40),
        ("uvx --from git+https://x/y z", "git+https://x/y", None),
        ("uv tool run a", "a", None),
        ("pipx run a==2.0", "a==2.0", "2.0"),
        ("docker run -i --rm -e K img:1.2", "img:1.2", None),
        ("docker run -v a:b img@sha256:" + "0" * 64, "img@sha256:" + "0" * 64, "sha256:" + "0" * 64),
        ("podman run img", "img", None),
        ("deno run -A npm:a@1.2.3", "npm:a@1.2.3", "1.2.3"),
        ("go run example.org/a@v1.2.3", "example.org/a@v1.2.3", "v1.2.3"),
        ("go run ./cmd", None, None),
        ("node server.js", None, None),
        ("docker ps", None, None),
        ("npx", None, None),
        ("npx -y --token s3cr3t a@1.2.3", "--token …", None),
        ("cmd /c npx a", "a", None),
    ],
)  # fmt: skip
def test_what_a_launcher_is_pinned_to(command: str, package: str | None, pin: str | None) -> None:
    launch = launch_of(command.split())
    assert (launch and launch.package, launch and launch.pin) == (package, pin)


def test_plugins_of_a_marketplace_are_pinned_by_a_commit() -> None:
    source = {"source": "github", "repo": "o/r"}
    plugins = [
        {"name": "a", "source": {**source, "sha": "1" * 40}},
        {"name": "b", "source": source},
        {"name": "c", "source": {"source": "npm", "package": "p", "version": "1.0.0"}},
    ]
    value = {"name": "m", "owner": {"name": "o"}, "plugins": plugins}
    write(Path(), {".claude-plugin/marketplace.json": json.dumps(value)})
    found = locked()["items"][".claude-plugin/marketplace.json"]["launches"]
    assert found == [
        {"runs": "github o/r", "pin": "1" * 40},
        {"runs": "github o/r"},
        {"runs": "npm p", "pin": "1.0.0"},
    ] or found == [
        {"runs": "github o/r"},
        {"runs": "github o/r", "pin": "1" * 40},
        {"runs": "npm p", "pin": "1.0.0"},
    ]


# Tools.


@pytest.mark.requirement("LK-01")
def test_the_code_of_tools_is_locked_without_the_programs_of_the_machine(tmp_path: Path) -> None:
    write_packs(Path("packs"), [pack("a.b", "t:f")], {"t.py": "import u\ndef f(p): return {}\n"})
    Path("packs/u.py").write_text("")
    code = locked()["items"]["packs/a.b.tool.yaml"]["code"]
    assert code["files"] == ["packs/t.py", "packs/u.py"]
    Path("packs/u.py").write_text("1")
    assert "meaning changed: packs/a.b.tool.yaml: the code that it runs changed" in verified().out
    Path("packs/t.py").unlink()
    found = locked()["items"]["packs/a.b.tool.yaml"]["code"]
    assert "there is no module `t`" in found["problem"]


PHP = {"kind": "php", "script": "t.php"}


def test_programs_are_locked_if_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_packs(Path("packs"), [pack("a.b", PHP)], {"t.php": "<?php"})
    write(tmp_path / "bin", {"php": "first"})
    monkeypatch.setattr(dependencies, "SYSTEM_PATH", str(tmp_path / "bin"))
    name = "packs/a.b.tool.yaml"
    assert "installed" not in locked()["items"][name]["code"]
    assert in_process(["lock", "--programs"]).code == 0
    code = json.loads(Path("equipage.lock").read_text())["items"][name]["code"]
    assert code["installed"] == {
        "path": str(tmp_path / "bin/php"),
        "sha256": hashlib.sha256(b"first").hexdigest(),
    }
    assert verified("--frozen").out == "nothing changed\n"
    (tmp_path / "bin/php").write_text("second")
    result = verified()
    assert result.code == 1
    assert f"meaning changed: {name}: the program {tmp_path}/bin/php changed" in result.out
    assert "source" not in result.out.partition("changed:")[0]
    (tmp_path / "bin/php").unlink()
    result = verified()
    assert f"meaning changed: {name}: the program php is gone" in result.out
    assert f"equipage: {name}: there is no program `php`" in result.err
    # A lock that is written without the program holds nothing to compare.
    assert in_process(["lock", "--programs"]).code == 0
    (tmp_path / "bin/php").write_text("third")
    assert verified().out == "nothing changed\n"


# Every byte.


@pytest.mark.requirement("LK-03")
def test_a_changed_byte_in_any_of_two_thousand_files_is_named(tmp_path: Path) -> None:
    root = tmp_path / "many"
    draw = random.Random(5)
    for number in range(1000):
        write(root, {f".claude/agents/a{number}.md": AGENT.replace("reviewer", f"a{number}")})
    for number in range(250):
        skill = f"---\nname: s{number}\ndescription: d\n---\nText {number}.\n"
        files = {f"{name}.py": f"print({number})\n" for name in ("a", "b", "c")}
        write(root / f".claude/skills/s{number}", {"SKILL.md": skill, **files})
    lock, problems = locks.lock_all([str(root)], str(root), Request(env={}))
    assert (len(lock.files), problems) == (2000, [])
    # One byte in each of a hundred files, wherever in the file; each of them is named.
    touched = draw.sample(sorted(lock.files), 100)
    for name in touched:
        data = bytearray((root / name).read_bytes())
        data[draw.randrange(len(data))] ^= 1
        (root / name).write_bytes(data)
    now, _ = locks.lock_all([str(root)], str(root), Request(env={}))
    found = compare(lock, now)
    # A byte of the fence makes a file one that no tool reads: it is gone.
    assert sorted((*found.changed, *found.removed)) == sorted(touched)
    assert found.added == ()
    assert locks.read(locks.write(now).encode()) == now


def test_a_lock_with_a_field_of_tomorrow_is_refused() -> None:
    raw = json.loads(_text())
    raw["tomorrow"] = 1
    with pytest.raises(locks.LockError, match="tomorrow"):
        locks.read(json.dumps(raw).encode())
