"""The gate: a change that lets an agent do more is seen before it is merged."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from equipage.files.sandbox import MAX_BYTES
from lab import Link, commit, environment, in_process, settle, write
from record.ways import WAYS, WIDER, guard, plugin

WIDE = "---\nname: b\ndescription: d\n---\nText.\n"
AGENT = "---\nname: reviewer\ndescription: d\ntools: {}\n---\nReview.\n"


@pytest.fixture(scope="module")
def committed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository to copy, because making one takes five processes."""
    policy = '[policy]\nmay-widen = ["lead"]\n'
    made = tmp_path_factory.mktemp("committed")
    write(made, {".claude/agents/a.md": AGENT.format("Read, Grep"), "equipage.toml": policy})
    commit(made)
    return made


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, committed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(committed, tmp_path / "work")
    settle(monkeypatch, tmp_path / "work", environment())
    return tmp_path / "work"


def gate(*more: str) -> Any:
    return in_process(["diff", "--fail-on", "widened", "HEAD", *more])


def change(text: str) -> None:
    Path(".claude/agents/a.md").write_text(text)


@pytest.mark.requirement("GT-02")
def test_nothing_is_said_when_nothing_widened() -> None:
    assert gate("-f", "markdown") == (0, "", "")
    change(AGENT.format("Read, Grep") + "Another text.\n")
    assert gate("-f", "markdown") == (0, "", "")
    change(AGENT.format("Read"))
    code, out, _ = gate("-f", "markdown")
    assert (code, out.splitlines()[0]) == (0, "### One agent may do less")
    assert "permission changed" in gate().out


def test_what_widened_comes_first_by_agent() -> None:
    change(AGENT.format("Read, Agent(a|`b`)"))
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
        "| **wider** | tool ``Agent(a\\|`b`)`` | denied | allowed | `tools[1]` |\n"
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


@pytest.mark.requirement("GT-03")
def test_the_policy_of_the_base_says_who_may_widen() -> None:
    change(AGENT.format("Read, Grep, Bash"))
    Path("equipage.toml").write_text('[policy]\nmay-widen = ["lead", "me"]\n')
    assert gate("--author", "me").code == 1
    code, out, err = gate("--author", "lead", "-f", "markdown")
    assert (code, "| **wider** | tool `Bash` |" in out) == (0, True)
    assert "lead may widen what agents do" in err


@pytest.mark.parametrize("file", ["", "/.claude/settings.json"])
@pytest.mark.requirement("GT-02")
def test_two_folders_that_are_the_same_have_the_same_main_agents(file: str) -> None:
    for folder in ("old", "new"):
        write(Path(folder), {".claude/settings.json": '{"permissions": {"allow": ["Edit"]}}'})
    sides = [f"old{file}", f"new{file}"]
    assert in_process(["diff", *sides, "--fail-on", "widened"]).code == 0
    write(Path("new"), {".claude/settings.json": '{"permissions": {"allow": ["Bash"]}}'})
    assert in_process(["diff", *sides, "--fail-on", "widened"]).code == 1


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


# One file that does not load must neither open the gate nor close it.

BROKEN = "---\nname: b\ndescription: d\ntools: 5\n---\nText.\n"


@pytest.mark.requirement("GT-02")
def test_a_broken_file_at_the_base_does_not_blind_the_gate() -> None:
    write(Path(), {".claude/agents/b.md": BROKEN})
    commit(Path.cwd())
    code, out, err = gate("-f", "markdown")
    assert (code, out) == (0, "")
    assert "HEAD:. has errors" in err
    # What loads on both sides is compared.
    change(AGENT.format("Read, Grep, Bash"))
    code, out, _ = gate()
    assert code == 1
    assert "permission widened: tools[2]" in out
    assert "cannot be judged: .claude/agents/b.md: what Claude Code makes of it is not known; it did not change" in out  # fmt: skip
    change(AGENT.format("Read, Grep"))
    # It loads now: all that it allows is new.
    write(Path(), {".claude/agents/b.md": AGENT.format("Bash").replace("reviewer", "b")})
    code, out, _ = gate("-f", "markdown")
    assert (code, "| **wider** | tool `Bash` | denied | allowed |" in out) == (1, True)
    # It is still broken, in another way; or it is gone.
    write(Path(), {".claude/agents/b.md": BROKEN.replace("5", "6")})
    code, out, _ = gate("-f", "markdown")
    assert (code, "### 1 change that cannot be judged" in out) == (1, True)
    Path(".claude/agents/b.md").unlink()
    assert "what Claude Code made of it was not known, and it is gone" in gate().out


@pytest.mark.parametrize("before", [None, '{"permissions": {"deny": ["Read(.env)"]}}'])
@pytest.mark.requirement("GT-02")
def test_a_file_that_is_broken_now_is_named(before: str | None) -> None:
    if before is not None:
        write(Path(), {".claude/settings.json": before})
        commit(Path.cwd())
    write(Path(), {".claude/settings.json": '{"permissions": {"deny": "Read(.env)"}}'})
    code, out, _ = gate("-f", "markdown")
    reason = "it has errors, for which Claude Code drops it; another version may read it"
    assert code == 1
    assert f"- `.claude/settings.json`: `{reason}`" in out
    found = json.loads(gate("--json").out)
    assert found["unjudged"] == [
        {"file": ".claude/settings.json", "line": None, "reason": reason, "changed": True}
    ]
    assert gate("--author", "lead").code == 0


@pytest.mark.requirement("GT-02")
def test_a_file_that_a_client_reads_and_equipage_does_not_is_named() -> None:
    name = ".codex/rules/git.rules"
    write(Path(), {name: 'git = ["git"]\nprefix_rule(pattern=git, decision="forbidden")\n'})
    commit(Path.cwd())
    assert gate().code == 0
    write(Path(), {name: 'git = ["git"]\nprefix_rule(pattern=git, decision="allow")\n'})
    code, out, _ = gate()
    assert (code, out) == (1, f"cannot be judged: {name}: Codex rule changed; equipage does not read it\n")  # fmt: skip
    Path(name).unlink()
    assert "Codex rule removed" in gate().out
    write(Path(), {name: "", ".clineignore": "secrets\n"})
    assert "list of files that agents leave alone added" in gate().out


@pytest.mark.requirement("GT-02")
def test_a_program_that_guards_is_not_changed_unseen() -> None:
    group = {"matcher": "Bash", "hooks": [{"type": "command", "command": "sh hooks/guard.sh"}]}
    other = {"hooks": [{"type": "command", "command": "sh hooks/after.sh"}]}
    write(
        Path(),
        {
            ".claude/settings.json": {"hooks": {"PreToolUse": [group], "Stop": [other]}},
            "hooks/guard.sh": "exit 2\n",
            "hooks/after.sh": "exit 0\n",
        },
    )
    commit(Path.cwd())
    # What runs afterwards stops nothing: it is named.
    Path("hooks/after.sh").write_text("exit 1\n")
    ran = "cannot be judged: hooks/after.sh: a program that a client runs changed; equipage does not read it\n"  # fmt: skip
    assert gate()[:2] == (0, ran)
    Path("hooks/guard.sh").write_text("exit 0\n")
    code, out, _ = gate()
    assert (code, out) == (1, "cannot be judged: hooks/guard.sh: a program that guards changed; equipage does not read it\n" + ran)  # fmt: skip
    Path("hooks/guard.sh").unlink()
    assert "hooks/guard.sh: a program that guards is gone, or no longer run" in gate().out


@pytest.mark.requirement("GT-02")
def test_more_files_than_are_looked_for_are_not_passed_unseen() -> None:
    many = {f"d/{number}.txt": "1\n" for number in range(2_001)}
    put({**guard("sh g.sh"), "g.sh": "cat d/*\n", **many, "e.txt": "1\n"})
    commit(Path.cwd())
    assert gate()[:2] == (0, "no difference in meaning\n")
    code, _, err = in_process(["lock"])
    assert (code, "lead to more than 2,000 files; no more are locked" in err) == (0, True), err
    put({"e.txt": "2\n"})
    code, out, _ = gate()
    assert (code, "guards name more than 2,000 files, and one of them may have changed" in out) == (1, True)  # fmt: skip


@pytest.mark.requirement("GT-02")
def test_what_version_control_keeps_is_no_file_of_a_guard() -> None:
    put({**guard("sh g.sh"), "g.sh": "[ -d .git ] && . lib/a.sh\n", "lib/a.sh": ". lib/b.sh\n", "lib/b.sh": "1\n"})  # fmt: skip
    for number in range(300):
        write(Path(), {f".git/objects/00/{number:038}": "x"})
    commit(Path.cwd())
    assert in_process(["lock"]).code == 0
    assert ".git/" not in Path("equipage.lock").read_text()
    put({"lib/b.sh": "0\n"})
    assert "lib/b.sh: a program that guards changed" in gate().out
    code, out, _ = in_process(["verify"])
    assert (code, "meaning changed: .claude/settings.json: lib/b.sh changed" in out) == (1, True), (
        out
    )


@pytest.mark.requirement("GT-02")
def test_files_with_one_cause_are_one_line() -> None:
    put({**guard("sh g.sh"), "g.sh": "cat d/* README.md\n", "README.md": "See notes/a.txt.\n"})
    put({"notes/a.txt": "1\n"})
    commit(Path.cwd())
    put({f"d/{name}.png": name for name in "abcd"} | {"notes/a.txt": "2\n"})
    line = "4 files (d/a.png, d/b.png, d/c.png …): a file that a guard names is new, or newly run; equipage does not read it"  # fmt: skip
    assert gate()[:2] == (1, f"cannot be judged: {line}\n")
    files, _, reason = line.partition(": ")
    assert f"- `{files}`: `{reason}`" in gate("-f", "markdown").out
    assert len(json.loads(gate("--json").out)["unjudged"]) == 4


@pytest.mark.parametrize(
    ("name", "what"),
    [
        (".opencode/plugin/evil.js", "OpenCode plugin"),
        (".opencode/tool/evil.ts", "OpenCode plugin"),
        ("qwen-extension.json", "Qwen Code file"),
        (".qwen/commands/evil.toml", "Qwen Code file"),
        ("monitors/monitors.json", "Claude Code monitor"),
    ],
)
@pytest.mark.requirement("GT-02")
def test_code_that_a_client_runs_from_a_place_is_named(name: str, what: str) -> None:
    write(Path(), {name: "{}"})
    code, out, _ = gate()
    assert (code, out) == (1, f"cannot be judged: {name}: {what} added; equipage does not read it\n")  # fmt: skip


@pytest.mark.requirement("GT-01")
def test_a_file_that_git_tracks_and_ignores_is_in_every_revision() -> None:
    settings = ".claude/settings.json"
    write(Path(), {settings: {"permissions": {"deny": ["Bash"]}}})
    commit(Path.cwd())
    write(Path(), {".gitignore": ".claude/\n"})
    commit(Path.cwd())
    assert gate()[:2] == (0, "no difference in meaning\n")
    write(Path(), {settings: {}, ".claude/agents/a.md": AGENT.format("Read, Grep, Bash")})
    commit(Path.cwd())
    code, out, _ = in_process(["diff", "HEAD~1", "HEAD", "--fail-on", "widened"])
    assert (code, out.count("permission widened: ")) == (1, 2), out
    shutil.rmtree(".claude")
    assert in_process(["diff", "HEAD"]).code == 1


def put(files: Any) -> None:
    """Write files, remove those without a content, and set the marks of programs."""
    for name, content in files.items():
        mark, text = content if isinstance(content, tuple) else (None, content)
        if isinstance(text, int):
            mark = text
        else:
            write(Path(), {name: text})
        if mark is not None:
            Path(name).chmod(mark)


@pytest.mark.parametrize(
    ("before", "change", "said", "verified"), [pytest.param(*way[1:], id=way[0]) for way in WAYS]
)
@pytest.mark.requirement("GT-01")
def test_every_way_through_files_is_seen(
    before: Any, change: Any, said: str, verified: bool
) -> None:
    put(before)
    commit(Path.cwd())
    assert in_process(["lock"]).code == 0
    assert (gate().code, in_process(["verify"]).code) == (0, 0)
    put(change)
    code, out, err = gate()
    assert (code, said in out) == (1 if said else 0, True), out + err
    assert in_process(["verify"]).code == (1 if verified else 0)


def test_programs_of_any_size_and_links_are_seen() -> None:
    """A file too large to be read, and a link that leads out of the project, are there as well."""
    put(plugin())
    commit(Path.cwd())
    put({"bin/large": "x"})
    os.truncate("bin/large", MAX_BYTES + 1)
    Path("bin/link").symlink_to("/bin/sh")
    code, out, _ = gate()
    assert code == 1
    assert "bin/large, bin/link: program that a plugin puts on the path added" in out
    commit(Path.cwd())
    assert gate().code == 0
    assert in_process(["lock"]).code == 0
    assert in_process(["verify"]).code == 0
    os.truncate("bin/large", MAX_BYTES + 2)
    Path("bin/link").unlink()
    out = gate().out
    assert "bin/large: program that a plugin puts on the path changed" in out
    assert "bin/link: program that a plugin puts on the path removed" in out
    code, out, _ = in_process(["verify"])
    assert code == 1
    assert "bin/large" in out
    assert "bin/link" in out


RULES = """
prefix_rule(pattern = ["git", ["push", "tag"]], decision = "prompt", not_match = ["git log"])
prefix_rule(pattern = ["rm"], decision = "forbidden", justification = "never")
prefix_rule(pattern = ["npm", "run", "test"], match = [["npm", "run", "test", "-q"]])
"""


@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        ('["rm"]', '[\'rm\']', None),  # another spelling
        ('"never"', '"because"', None),
        ('decision = "prompt"', 'decision = "forbidden"', None),
        ('["git", ["push", "tag"]]', '["git", ["push", "tag", "fetch"]]', None),
        ('["npm", "run", "test"], match', '["npm", "run", "test", "-q"], match', None),
        ('decision = "forbidden"', 'decision = "prompt"', "tool shell(rm *): denied → asks"),
        (', decision = "forbidden"', "", "tool shell(rm *): denied → allowed"),
        ('["push", "tag"]', '["push"]', "guard shell(git tag *): denied → allowed"),
        ("prefix_rule(pattern = [\"rm\"]", "prefix_rule(pattern = [\"ls\"])\nprefix_rule(pattern = [\"rm\"]", "tool shell(ls *): asks → allowed"),
        ('"test"], match = [["npm", "run", "test", "-q"]]', '"test:unit"]', 'tool shell(npm run "test:unit" *)'),
        ('"run", "test"], match', '"run"], match', "tool shell(npm run *): asks → allowed"),
        # What Codex refuses or may read in another way is not judged.
        ('["rm"]', '["rm", "*"]', "equipage does not read it"),
        ('["rm"]', '["r" "m"]', "equipage does not read it"),
        ('["rm"]', '["\\x72m"]', "equipage does not read it"),
        ('["git log"]', '["git push"]', "equipage does not read it"),
        ('"-q"]]', '"-q"], ["ls"]]', "equipage does not read it"),
        ('"prompt"', '"ask"', "equipage does not read it"),
        ("prefix_rule(pattern = [\"rm\"]", "host_executable(name = [\"rm\"]", "equipage does not read it"),
        ("justification", "reason", "equipage does not read it"),
    ],
)  # fmt: skip
@pytest.mark.requirement("GT-01")
def test_plain_rules_of_codex_are_judged(old: str, new: str, seen: str | None) -> None:
    name = ".codex/rules/all.rules"
    write(Path(), {name: RULES})
    commit(Path.cwd())
    assert RULES.count(old) == 1
    write(Path(), {name: RULES.replace(old, new)})
    code, out, _ = gate()
    assert code == (0 if seen is None else 1), out
    assert seen is None or seen in out
    # A file that goes takes with it what it forbids.
    Path(name).unlink()
    assert "widened: tool shell(rm *): denied → asks" in gate().out


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ('exclude = [".claude/agents/evil.md"]', "setting exclude = .claude/agents/evil.md"),
        ("conventions = false", "mode conventions = false"),
        ('[policy]\nmay-widen = ["lead", "me"]', "setting policy.may-widen = me"),
        ('ignore = ["policy-forbids"]', "setting ignore = policy-forbids"),
        ('[kinds]\n".claude/agents/*.md" = "skill"', "setting kinds..claude/agents/*.md = skill"),
    ],
)
@pytest.mark.requirement("GT-01")
def test_settings_that_hide_files_or_forbid_less_are_seen(settings: str, expected: str) -> None:
    Path("equipage.toml").write_text(f"{settings}\n")
    found = json.loads(gate("--json").out)
    steps = [
        f"{step['sort']} {step['name']}"
        for each in found["files"]
        if each["path"] == "equipage.toml"
        for reach in each["reach"]
        for step in reach["steps"]
        if step["how"] == "widened"
    ]
    assert expected in steps
    assert gate().code == 1


@pytest.mark.requirement("GT-03")
def test_a_policy_that_forbids_less_is_seen() -> None:
    Path("equipage.toml").write_text("[policy]\npins = true\n[policy.never]\ntools = ['Bash']\n")
    commit(Path.cwd())
    Path("equipage.toml").write_text("ignore = ['env-missing']\n")
    out = gate("-f", "markdown").out
    assert "| **wider** | tool `Bash` | denied | allowed |" in out
    assert "mode `policy.pins = false`" in out


#: Ways to put an agent, a command or settings where a tool reads them, without a new file there.
HIDDEN: dict[str, dict[str, str | Link]] = {
    "a folder of that name is usually skipped": {".claude/agents/venv/b.md": WIDE},
    "so is this one": {".claude/agents/.cache/sub/b.md": WIDE},
    "a skill may have that name": {".claude/skills/node_modules/SKILL.md": WIDER},
    "a link to a file that was there": {".claude/agents/b.md": Link("../../kept/.claude/b.md")},
    "settings of another folder": {".claude/settings.json": Link("../kept/.claude/settings.json")},
    "an agent as a command": {".claude/commands/b.md": Link("../../kept/.claude/agents/c.md")},
    "agents of another folder": {".claude/agents/more": Link("../../kept/.claude/agents")},
    "a file of the machine": {".claude/agents/b.md": Link("/etc/hostname")},
    "a folder of the machine": {".claude/agents/more": Link("/etc")},
    "what is there later": {".claude/agents/b.md": Link("../../node_modules/b.md")},
}


@pytest.mark.parametrize("files", HIDDEN.values(), ids=HIDDEN)
def test_what_is_found_by_another_way_counts(files: dict[str, str | Link]) -> None:
    write(
        Path(),
        {
            "kept/.claude/b.md": WIDE,
            "kept/.claude/agents/c.md": WIDER,
            "kept/.claude/settings.json": '{"permissions": {"allow": ["Bash"]}}',
        },
    )
    commit(Path())
    assert gate().code == 0
    assert in_process(["lock"]).code == 0
    write(Path(), files)
    (name,) = files
    code, out, _ = gate()
    assert (code, name in out) == (1, True)
    code, out, _ = in_process(["verify"])
    assert (code, name in out) == (1, True)
    # Once it is a part of the repository, it is nothing new.
    commit(Path())
    assert in_process(["lock"]).code == 0
    assert in_process(["verify"]).code == 0
    assert gate().code == 0


# What could not be read of a file is in no output.


@pytest.mark.parametrize("form", ["text", "json", "markdown", "github", "sarif"])
@pytest.mark.parametrize(
    "broken", [{"type": "remote", "url": "u"}, {"type": "stdio", "url": "u"}, {"command": 5}, {}]
)
def test_a_server_that_no_client_reads_is_new_once_it_is_mended(
    broken: dict[str, Any], form: str
) -> None:
    sides: tuple[Any, ...] = ({"a": broken}, {"a": {"command": "x"}}, {})
    for number, servers in enumerate(sides):
        write(Path(f"side{number}"), {".mcp.json": {"mcpServers": servers}})
    for old, new, code in ((0, 1, 1), (0, 2, 0), (1, 0, 0)):
        names = (f"side{old}", f"side{new}")
        done = in_process(["diff", *names, "--fail-on", "widened", "-f", form])
        assert done.code == code, done
        assert "Hole" not in done.out
        assert "HOLE" not in done.out


# What a submodule holds is in another repository, so its commit is all that is known of it.


@pytest.mark.parametrize("place", [".claude", ".claude/skills", "guards", "sub/p"])
@pytest.mark.parametrize("is_disk", [True, False])
def test_a_submodule_that_is_new_or_changed_cannot_be_judged(place: str, is_disk: bool) -> None:
    def bump(text: str, *, is_committed: bool) -> None:
        write(Path(place), {"g.sh": text})
        commit(Path(place))
        subprocess.run(["git", "add", "."], check=True, capture_output=True)
        if is_committed:
            commit(Path())

    def differ(old: str) -> Any:
        return in_process(["diff", old, *([] if is_disk else ["HEAD:"]), "--fail-on", "widened"])

    old = "HEAD" if is_disk else "HEAD~1:"
    Path("equipage.toml").unlink()
    if place == ".claude":
        shutil.rmtree(".claude")
        write(Path(), {"CLAUDE.md": "x"})
    commit(Path())
    for text, how in (("exit 2\n", "added"), ("exit 0\n", "changed")):
        bump(text, is_committed=not is_disk)
        done = differ(old)
        reason = f"cannot be judged: {place}: submodule {how}; equipage does not read it"
        assert (done.code, reason in done.out) == (1, True), done
        commit(Path()) if is_disk else None
    assert in_process(["lock"]).code == 0
    assert in_process(["verify", "--frozen"]).code == 0
    bump("exit 1\n", is_committed=False)
    assert in_process(["verify"]).code == 1
    commit(Path())
    shutil.rmtree(place)
    subprocess.run(["git", "rm", "-q", "--cached", place], check=True)
    commit(Path()) if not is_disk else None
    assert differ(old).code == 0
