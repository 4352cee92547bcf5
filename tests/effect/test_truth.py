"""No false assurance: what is said of files where a client reads them otherwise than they look.

Each case is a folder and a command: what its answer must say, and what it must not.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from lab import Link, commit, environment, in_process, settle, write

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


def guard(matcher: str) -> dict[str, Any]:
    handler = {"type": "command", "command": "./guard.sh"}
    return {"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [handler]}]}}


CASES = [
    # A misspelt restriction is ignored by the client, so the agent has every tool.
    Case("1: reach", README, "reach", (EVERY, f"read as its client reads it: {REVIEWER}"), ("no agents",)),
    Case("1: list", README, "list", ("claude-agent  reviewer", "Claude Code"), (), 1),
    Case("1: budget", README, "budget", ("agent listing",), ("nothing here",)),
    Case("1: lock", README, "lock", ("locked 1 configuration",), ("not locked", "not known")),
    # Of several layers, only the value that wins is in effect.
    Case("3", {SETTINGS: rules(defaultMode="plan"), LOCAL: rules(defaultMode="acceptEdits")}, f"explain {SETTINGS} permissions.defaultMode", (f"1. {SETTINGS}:1:33 replaced by the next one (layer: project)", f"2. {LOCAL}:1:33 in effect (layer: local)", "not looked at, and may decide: your own settings (--home), managed settings (--managed)")),
    Case("3: the user and the organisation", {SETTINGS: {"model": "b"}, f"home/{SETTINGS}": {"model": "a"}, "managed-settings.json": {"model": "c"}}, f"explain {SETTINGS} model --home home --managed managed-settings.json", (f"1. home/{SETTINGS}:1:11 replaced by the next one (layer: user)", f"2. {SETTINGS}:1:11 replaced by the next one (layer: project)", "3. managed-settings.json:1:11 in effect (layer: managed)"), ("not looked at",)),
    Case("3: lists are joined", {SETTINGS: rules(allow=["Read"]), LOCAL: rules(allow=["Bash"])}, f"show {SETTINGS} --annotate", (f"- Read  # {SETTINGS}:1", f"- Bash  # {LOCAL}:1")),
    Case("3: a layer that is dropped says nothing", {SETTINGS: rules(defaultMode="plan"), LOCAL: {**rules(defaultMode="default"), "model": 5}}, f"explain {SETTINGS} permissions.defaultMode", (f"{SETTINGS}:1:33 in effect",)),
    Case("3: a layer of which that is not known", {SETTINGS: rules(defaultMode="plan"), LOCAL: {"statusLine": {"type": "command"}}}, f"explain {SETTINGS} permissions.defaultMode", (LOCAL, "missing required field"), ("in effect",), 1),
    Case("3: no such layer", {SETTINGS: {"model": "b"}}, f"explain {SETTINGS} model --home nowhere", ("--home nowhere: no such file or folder",), ("in effect",), 2),
    # What people talk to has the reach of settings, hooks and servers.
    Case("5: settings alone", {SETTINGS: rules(allow=["Bash"])}, "reach", ("main agent  Claude Code  yes*   asks*   yes",), ("no agents",)),
    Case("5: servers alone", {".mcp.json": {"mcpServers": {"docs": {"command": "docs"}}}}, "reach", ("main agent  Claude Code  yes*   asks*   asks*  asks*    yes*    docs",), ("no agents",)),
    Case("5: why", {SETTINGS: rules(allow=["Bash"])}, "reach --why run", (f"allows tool Bash: {SETTINGS}:1:28 at permissions.allow[0]",)),
    Case("5: a mode that does not ask", {SETTINGS: rules(defaultMode="acceptEdits")}, "reach", ("main agent  Claude Code  yes*   yes ",)),
    Case("5: local settings win", {SETTINGS: rules(defaultMode="acceptEdits"), LOCAL: rules(defaultMode="default")}, "reach", ("main agent  Claude Code  yes*   asks*",)),
    Case("5: a part of a tool is not asked about", {SETTINGS: rules(allow=["Bash(git *)"])}, "reach", ("main agent  Claude Code  yes*   asks*   partly",)),
    Case("5: a part of a tool is asked about", {SETTINGS: rules(allow=["Bash"], ask=["Bash(curl *)"])}, "reach", ("main agent  Claude Code  yes*   asks*   partly",)),
    Case("5: rules of all layers count", {SETTINGS: rules(deny=["WebFetch", "WebSearch"]), LOCAL: rules(allow=["Bash"])}, "reach", ("main agent  Claude Code  yes*   asks*   yes   by commands ",)),
    # `permissionMode` has no effect with `--agent`, and settings beat it.
    Case("15", {REVIEWER: AGENT.format("permissionMode: plan\n"), SETTINGS: rules(defaultMode="acceptEdits")}, "reach reviewer --why write", ("write files: yes",), ("write files: no",)),
    # A pattern behind a tool has no effect in an agent: the whole tool is offered, or taken away.
    Case("16: offered", {REVIEWER: AGENT.format("tools: Bash(git push:*)\n")}, "reach reviewer --why Bash", ("Bash: yes",), ("partly",)),
    Case("16: taken away", {REVIEWER: AGENT.format("disallowedTools: Bash(git push:*)\n")}, "reach reviewer --why Bash", ("Bash: no",), ("partly",)),
    Case("17", {SETTINGS: rules(ask=["Agent(x)", "Skill(y)"])}, "check", ("permission-rule-never-matches", "only `Agent` alone is", "only `Skill` alone is"), (), 1),
    Case("17: reach", {SETTINGS: rules(ask=["Agent(x)"])}, "reach", ("main agent  Claude Code  yes*   asks*   asks*  asks*    yes*",)),
    # A dead rule forbids nothing, and is an error; what works is none.
    Case("6", {SETTINGS: rules(deny=["Bash(cat **/*.pem:*)"])}, "check", ("permission-rule-never-matches", "hold no other `*`"), (), 1),
    Case("6: reach", {SETTINGS: rules(deny=["Bash(cat **/*.pem:*)"])}, "reach", ("main agent  Claude Code  yes*   asks*   asks*",), ("partly",)),
    *(Case(f"19: {rule} works", {SETTINGS: rules(deny=[rule])}, "check", ("no problems",)) for rule in ("Bash( *)", "Bash(* push)", "Bash(*git push)", "Bash(git  push:*)", "B*", "*")),
    *(Case(f"19: {rule} is dead", {SETTINGS: rules(deny=[rule])}, "check", ("permission-rule-",), (), 1) for rule in (" Bash(x)", "Bash(x) ", "Bash (x)", "Bash( x)", "Bash(x )", "Bash(x:* )", "Bash:x", "Bash x", "Bash(a),Bash(b)", "Bash(/x/)", 'Bash("x:*")', "BASH(x)", "Bash(x:* y)", "Bash(x\\:*)", "Bash(x ?)", "Bash(x*:*)", "Bash(x:**)", "Bash(\tx)", "Bash(:*)", "Shell(x)", "Bash(x)y", "WebFetch(domain: h)", "WebFetch(domain:h/p)", "Agent(a, b)", "Agent(r*)", "mcp__s(x)")),
    *(Case(f"8, 9: OpenCode does not ask {rule}", {"opencode.json": {"permission": rule}}, "reach", ("main agent  OpenCode  yes*   yes*    yes*",), ("partly",)) for rule in (
        {"write": "deny"}, {"shell": "deny"}, {"bash": {"rm:*": "deny"}}, {"bash": {"Bash(rm:*)": "ask"}}, {"edit": {"./a": "deny"}},
    )),
    Case("8: nor of an agent", {".opencode/agent/a.md": "---\ndescription: d\npermission: {write: deny}\n---\nx"}, "reach", ("a      OpenCode  yes*   yes*    yes*",)),
    *(Case(f"OpenCode asks {rule}", {"opencode.json": {"permission": rule}}, "reach", (f"main agent  OpenCode  {row}",)) for rule, row in (
        ({"*": "deny"}, "no     no      no"), ({"edit": "deny"}, "yes*   by commands"), ({"bash": {"*": "ask"}}, "yes*   yes*    asks"), ({"bash": {"rm *": "deny"}}, "yes*   yes*    partly"),
    )),
    Case("files that only the client reads", {".codex/config.toml": "", ".codex/rules/a.rules": "x"}, "reach", ("main agent  Codex", "not read here, and may decide: .codex/rules/a.rules")),
    Case("such files alone", {".codex/rules/a.rules": "x"}, "reach", ("not read here, and may decide: .codex/rules/a.rules",), ("no agents",)),
    # Whatever lies there, people talk to its client; what is not known of it is unknown.
    *(Case(f"{name} alone", {name: text}, "reach", (f"main agent  {row}", name), ("no agents",)) for name, text, row in (
        ("CLAUDE.md", "x", "Claude Code  yes*   asks*   asks*"),
        (".claude/skills/s/SKILL.md", "---\nname: s\ndescription: Does.\n---\nx", "Claude Code  yes*   asks*   asks*"),
        (".gemini/commands/a.toml", 'prompt = "!{x}"\n', "Gemini CLI  yes*   asks*   asks*  yes*"),
        ("AGENTS.md", "x", f"any client  {UNKNOWN}"),
        (".windsurf/hooks.json", {"hooks": {"pre_run_command": [{"command": "x"}]}}, f"Windsurf  {UNKNOWN}"),
        (".amp/settings.json", {"amp.dangerouslyAllowAll": True}, f"Amp     {UNKNOWN}"),
        (".github/hooks/a.json", {"version": 1, "hooks": {}}, f"GitHub Copilot  {UNKNOWN}"),
        (".zed/settings.json", {"agent": {"always_allow_tool_actions": True}}, "Zed     unknown  unknown  unknown  unknown"),
        (".vscode/mcp.json", {"servers": {"x": {"command": "y"}}}, f"VS Code  {UNKNOWN}x"),
        (".qwen/settings.json", {"tools": {"approvalMode": "yolo"}}, "Qwen Code  yes*   yes     yes   yes"),
        (".qwen/settings.json", {"tools": {"approvalMode": "auto-edit"}}, "Qwen Code  yes*   yes     asks*"),
    )),
    *(Case(f"{name} lets its client run commands", {name: "---\nname: s\ndescription: Does.\nallowed-tools: Bash(git *)\n---\nx"}, "reach", ("main agent  Claude Code  yes*   asks*   partly",)) for name in (".claude/skills/s/SKILL.md", ".claude/commands/s.md")),
    # What git ignores, a client reads; what an editor says of agents among much else counts.
    Case("local settings that git ignores", {".gitignore": "*.local.json\n", SETTINGS: {}, LOCAL: rules(allow=["Bash"])}, "reach", ("main agent  Claude Code  yes*   asks*   yes ", f"git ignores it, its client reads it, so it counts: {LOCAL}\n")),
    Case("such settings below", {".gitignore": "*.local.json\n", "sub/CLAUDE.md": "x", f"sub/{LOCAL}": rules(allow=["Bash"])}, "reach", ("main agent  Claude Code  yes*   asks*   yes ",)),
    *(Case(f"{file} below that git ignores", {".gitignore": ignored, "CLAUDE.md": "x", f"sub/{file}": value}, "reach", (row, f"git ignores it, its client reads it, so it counts: sub/{file}\n")) for ignored, file, value, row in (
        (".claude\n", LOCAL, rules(allow=["Bash"]), "Claude Code  yes*   asks*   yes "),
        ("*.local.json\n", LOCAL, rules(allow=["Bash"]), "Claude Code  yes*   asks*   yes "),
        (".mcp.json\n", ".mcp.json", {"mcpServers": {"docs": {"command": "x"}}}, "asks*    yes*    docs"),
        (".codex\n", ".codex/config.toml", 'sandbox_mode = "danger-full-access"\n', "Codex        yes    yes     yes"),
        ("opencode.json\n", "opencode.json", {"permission": "allow"}, "OpenCode     yes    yes     yes"),
        (".vscode\n", ".vscode/settings.json", {"chat.tools.autoApprove": True}, f"VS Code      {UNKNOWN}"),
    )),
    Case("a folder that git ignores, as all in it", {".gitignore": "dist\n", "CLAUDE.md": "x", f"dist/{SETTINGS}": rules(allow=["Bash"])}, "reach", ("main agent",), ("dist",)),
    Case("a folder that git ignores", {".gitignore": ".claude\n", SETTINGS: rules(allow=["Bash"])}, "reach", ("main agent  Claude Code  yes*   asks*   yes ",), ("no configuration",)),
    Case("editor settings about agents", {".vscode/settings.json": '{"chat.tools.autoApprove": true, // all\n}'}, "reach", (f"main agent  VS Code  {UNKNOWN}",), ("no configuration",)),
    Case("variables of another program", {".env": "PORT=1\n"}, "reach", ("no configuration found",)),
    Case("a client without a table", {"crush.json": {}}, "reach", ("not read here, and may decide: crush.json\n",), ("no configuration",)),
    Case("files that are excluded", {"equipage.toml": 'exclude = [".claude/**"]\n', SETTINGS: rules(allow=["Bash"])}, "reach", ("leave files out",), ("no configuration", "no agents")),
    Case("other editor settings", {".vscode/settings.json": {"editor.tabSize": 2}}, "reach", ("no configuration found",), ("main agent",)),
    *(Case(f"{name} that only a client reads", {name: "x"}, "reach", (f"not read here, and may decide: {name}\n",), ("no configuration", "no agents")) for name in (".codex/rules/a.rules", ".opencode/plugin/a.ts", ".aider.conf.yml", ".gemini/.env", "x.code-workspace", ".devcontainer.json")),
    Case("instructions beside an agent of their client", {**README, "CLAUDE.md": "x", "AGENTS.md": "x"}, "reach", (EVERY,), ("main agent",)),
    *(Case(f"what grants something beside an agent: {file}", {REVIEWER: AGENT.format("tools: Read\n"), file: AGENT.format("allowed-tools: Bash\n")}, "reach", ("main agent  Claude Code  yes*   asks*   partly",)) for file in (".claude/commands/c.md", ".claude/skills/reviewer/SKILL.md")),
    Case("a command that runs others beside an agent", {REVIEWER: AGENT.format("tools: Read\n"), ".claude/commands/c.md": "!`git log`\n"}, "reach", ("main agent  Claude Code  yes*   asks*   asks*",)),
    Case("a command that grants nothing beside an agent", {**README, ".claude/commands/c.md": "Work.\n"}, "reach", (EVERY,), ("main agent",)),
    # Classes are names of tools, and what only reads is not asked about.
    *(Case(f"{client}: {tool}", {f"{folder}/settings.json": {"tools": {"core": [tool]}}}, "reach", (answers,)) for client, folder in (("Gemini CLI", ".gemini"), ("Qwen Code ", ".qwen")) for tool, answers in (
        ("ShellTool", f"main agent  {client.strip()}  by commands  by commands  asks  by commands"),
        ("ShellTool(git status)", f"main agent  {client.strip()}  by commands  by commands  partly  by commands"),
        ("ReadFileTool", f"main agent  {client.strip()}  yes    no      no    no"),
    )),
    Case("Gemini reads and searches unasked", {".gemini/settings.json": {}}, "reach", ("main agent  Gemini CLI  yes*   asks*   asks*  yes*",)),
    Case("Gemini asks where it should", {".gemini/settings.json": {"tools": {"confirmationRequired": ["GlobTool"], "exclude": ["WebSearchTool"]}}}, "reach --why glob", ("glob: asks", "confirmationRequired")),
    Case("a list of hooks in a folder of Copilot", {".github/hooks/hooks.json": {"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "./g.sh"}]}}, "g.sh": ""}, "reach", ("main agent  GitHub Copilot",), ("Claude Code",)),
    Case("Codex searches", {".codex/config.toml": 'web_search = "live"\n'}, "reach", ("main agent  Codex   yes*   yes*    partly*  yes",)),
    Case("Codex does not search", {".codex/config.toml": 'web_search = "disabled"\n'}, "reach", ("main agent  Codex   yes*   yes*    partly*  no*",)),
    # What is not there, and what is elsewhere.
    Case("an agent that is switched off", {"opencode.json": {"agent": {"build": {"disable": True}, "b": {"disable": False}}}, ".opencode/agent/a.md": "---\ndescription: d\ndisable: true\n---\nx"}, "reach", ("main agent  OpenCode", "b           OpenCode"), ("build ", "a.md")),
    Case("plugins that are elsewhere", {SETTINGS: {"enabledPlugins": {"a@b": True, "c@d": False, "here@own": True}}, ".claude-plugin/plugin.json": {"name": "here"}}, "reach", ("not in this repository, and may bring agents, hooks and servers: a@b\n",)),
    Case("a plugin that is listed in a folder here", {SETTINGS: {"enabledPlugins": {"p@m": True}}, ".claude-plugin/marketplace.json": {"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}}, "reach", ("main agent",), ("not in this repository",)),
    *(Case(f"an agent by what it holds: {fields.strip()}", {"examples/agents/reviewer.md": AGENT.format(fields)}, "reach", says) for fields, says in (
        ("model: opus\ntools: [read_file]\n", (UNKNOWN, "perhaps of another program, and unknown: assume everything: examples/agents/reviewer.md\n")),
        ("model: opus\nservers: [a]\n", (UNKNOWN,)),
        ("model: opus\ntools: [Read]\n", ("reviewer  Claude Code  yes    no      no    no",)),
    )),
    # Files with errors: dropped, a part ignored, or unknown.
    Case("settings are dropped for one wrong type", {SETTINGS: {**rules(allow=["Bash"], deny=["Read"]), "model": 5}}, "reach", ("main agent  Claude Code  yes*   asks*   asks*",)),
    Case("a rule that is no text is left out alone", {SETTINGS: rules(deny=["Bash", 5])}, "reach", ("main agent  Claude Code  yes*   asks*   asks*",)),
    Case("a list of tools that is a number", {REVIEWER: AGENT.format("tools: 5\n")}, "reach", (UNKNOWN, f"unknown: assume everything: {REVIEWER}: expected a list, found the number 5\n")),
    Case("such an agent in a list", {REVIEWER: AGENT.format("tools: 5\n")}, "list", ("reviewer  .claude/agents/reviewer.md  unknown",), (), 1),
    Case("a header that never ends", {REVIEWER: "---\nname: reviewer\ntools: Read\n\nText.\n"}, "reach", (UNKNOWN, "the header is never closed")),
    Case("a header that OpenCode drops", {"opencode.json": {}, ".opencode/agent/a.md": '---\ndescription: "a" b\npermission:\n  bash: deny\n---\nx'}, "reach", ("a           OpenCode  yes*   yes*    yes*",)),
    Case("settings that are a list", {SETTINGS: "[]"}, "reach", ("main agent",), ("no agents",)),
    Case("settings that are not JSON", {SETTINGS: "{"}, "reach", ("main agent",), ("no agents",)),
    Case("settings that are not text", {SETTINGS: b"\xff\xfe\x00{"}, "reach", ("unknown: assume everything: .claude/settings.json",), ("no agents",)),
    Case("a link out of the project", {REVIEWER: Link("../../../outside.md"), "../outside.md": AGENT.format("")}, "reach", (f"unknown: assume everything: {REVIEWER}",), ("no agents", "Review.")),
    Case("a hook that never runs guards nothing", {SETTINGS: guard("mcp__")}, "reach", ("main agent  Claude Code  yes*   asks*   asks*", "read as its client reads it"), ("unknown",)),
    Case("two agents of one name", {REVIEWER: AGENT.format("tools: Read\n"), ".claude/agents/b.md": AGENT.format("")}, "reach", (EVERY, "reviewer  Claude Code  yes    no")),
    Case("a key that is no text", {REVIEWER: AGENT.format("tools: Read\n5: x\n")}, "reach", ("reviewer  Claude Code  yes    no",)),
    Case("a rule of 100 kB", {SETTINGS: rules(deny=[f"Bash({'x' * 100_000}:*)"])}, "reach", ("main agent",)),
]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    work = tmp_path / "Work"  # letters of folders above the project do not matter
    (work / ".git").mkdir(parents=True)
    settle(monkeypatch, work, environment(COLUMNS="1000"))
    return work


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


class Change(NamedTuple):
    """A change of a repository, and what the gate says of it; with code 1 it fails."""

    name: str
    before: dict[str, Any]
    after: dict[str, Any]
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    code: int = 1


def known(key: str) -> str:
    return f"{SETTINGS}: `{key}`"


WORKFLOW, EDITOR = ".github/workflows/a.md", ".vscode/settings.json"


def workflow(more: str = "", **permissions: str) -> str:
    """The text of an agentic workflow."""
    granted = f"permissions: {json.dumps(permissions)}\n" if permissions else ""
    return f"---\non: push\nengine: copilot\n{granted}{more}---\nText.\n"


PLUGINS = ".claude-plugin/marketplace.json"


def marketplace(**pins: str) -> dict[str, Any]:
    source = {"source": "github", "repo": "a/b", **pins}
    return {"extraKnownMarketplaces": {"m": {"source": source}}}


def plugins(**pins: str) -> dict[str, Any]:
    source = {"source": "github", "repo": "a/b", **pins}
    return {"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": source}]}


PLUGIN, LISTED = ".claude-plugin/plugin.json", {"name": "p", "source": "./p"}
HELD = {
    "type": "http", "url": "https://a/?read_only=true", "headers": {"X-Mode": "safe"},
    "env": {"MODE": "safe"}, "oauth": {"clientId": "a"}, "enabled_tools": ["a"], "disabled_tools": ["b"],
    "includeTools": ["a"], "excludeTools": ["b"], "zeal": 1,
}  # fmt: skip
GUARD = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}}
REMOTE = {
    "type": "remote",
    "url": "https://a/?read_only=true",
    "headers": {"X-Mode": "safe"},
    "oauth": {"clientId": "a"},
}
#: What restricts an agent, and what it brings.
OWN = "disallowedTools: Bash\nisolation: worktree\nzeal: 1\nhooks: {PreToolUse: [{hooks: [{type: command, command: sh g.sh}]}]}\nmcpServers:\n- s: {command: x, env: {MODE: safe}}\n"
#: Things that are named and removed as a whole: before, and after.
GONE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    **{f"a server of {file}": ({file: {top: {"a": HELD, "b": {"command": "x"}}}}, {file: {top: {"b": {"command": "x"}}}}) for file, top in {
        ".mcp.json": "mcpServers", ".cursor/mcp.json": "mcpServers", ".gemini/settings.json": "mcpServers", ".zed/settings.json": "context_servers"
    }.items()},
    **{f"{file} with servers": ({file: {top: {"a": HELD}}}, {file: None}) for file, top in {".mcp.json": "mcpServers", ".cursor/mcp.json": "mcpServers"}.items()},
    "servers with what is asked for": ({".vscode/mcp.json": {"inputs": [{"id": "a", "type": "pickString", "password": True, "options": ["a"]}], "servers": {"a": HELD}}}, {".vscode/mcp.json": None}),
    "one of two values that are asked for": ({".vscode/mcp.json": {"inputs": [{"id": "a", "type": "promptString", "password": True}, {"id": "b", "type": "promptString"}], "servers": {}}}, {".vscode/mcp.json": {"inputs": [{"id": "b", "type": "promptString"}], "servers": {}}}),
    "servers of Codex": ({".codex/config.toml": '[mcp_servers.a]\nurl = "https://a/?b=c"\nhttp_headers = {A = "b"}\nenabled_tools = ["a"]\n'}, {".codex/config.toml": ""}),
    "a server of OpenCode": ({"opencode.json": {"mcp": {"a": REMOTE}}}, {"opencode.json": {"mcp": {}}}),
    "a server that is off": ({"opencode.json": {"mcp": {"a": REMOTE}}}, {"opencode.json": {"mcp": {"a": {**REMOTE, "enabled": False}}}}),
    "the servers of an agent": ({REVIEWER: AGENT.format("mcpServers:\n- a: {command: x}\n- s: {command: x, env: {MODE: safe}}\n")}, {REVIEWER: AGENT.format("mcpServers:\n- a: {command: x}\n")}),
    "an agent": ({REVIEWER: AGENT.format(OWN), "g.sh": "exit 2\n"}, {REVIEWER: None}),
    "an agent of which nothing is known": ({REVIEWER: AGENT.format("tools: 5\n")}, {REVIEWER: None}),
    "a command": ({".claude/commands/a.md": AGENT.format("disallowed-tools: Bash\n")}, {".claude/commands/a.md": None}),
    "a skill": ({".claude/skills/a/SKILL.md": AGENT.format("disallowed-tools: Bash\n")}, {".claude/skills/a/SKILL.md": None}),
    "an agent of Cursor": ({".cursor/agents/a.md": AGENT.format("readonly: true\n")}, {".cursor/agents/a.md": None}),
    "an agent of OpenCode": ({".opencode/agent/a.md": AGENT.format("permission: {bash: deny}\n")}, {".opencode/agent/a.md": None}),
    "an agent in a list of them": ({"opencode.json": {"agent": {"a": {"permission": {"bash": "deny"}}}}}, {"opencode.json": {}}),
    "a workflow": ({WORKFLOW: workflow("if: false\n", contents="read")}, {WORKFLOW: None}),
    "a plugin": ({PLUGIN: {"name": "p", "version": "1.0.0", "mcpServers": {"a": HELD}, "defaultEnabled": False}}, {PLUGIN: None}),
    "a plugin in a list": ({PLUGINS: {"name": "m", "owner": {"name": "o"}, "plugins": [{**LISTED, "strict": False, "defaultEnabled": False}]}}, {PLUGINS: plugins() | {"plugins": []}}),
}  # fmt: skip


def moved(was: str, now: str, text: str, new: str = "", **files: Any) -> tuple[dict[str, Any], dict[str, Any]]:  # fmt: skip
    """A file at one place, and then, with the same text or a new one, at another."""
    return {was: text, **files}, {was: None, now: new or text}


GUARDED = AGENT.format("hooks: {PreToolUse: [{hooks: [{type: command, command: sh g.sh}]}]}\n")
WIDE, NAMELESS = AGENT.format(""), "---\ndescription: Review.\n---\nReview.\n"
SAME_PLACE = ".claude/agents/more/r.md"
MOVED = [
    ("an agent", moved(REVIEWER, SAME_PLACE, WIDE), (f"{SAME_PLACE} (was {REVIEWER})",)),
    (
        "an agent of which nothing is known",
        moved(REVIEWER, SAME_PLACE, AGENT.format("tools: 5\n")),
        ("it did not change",),
    ),
    ("an agent with an unknown key", moved(REVIEWER, SAME_PLACE, AGENT.format("zeal: 1\n")), ()),
    ("an agent with a guard", moved(REVIEWER, SAME_PLACE, GUARDED, **{"g.sh": "exit 2\n"}), ()),
    (
        "a narrower one",
        moved(REVIEWER, SAME_PLACE, WIDE, AGENT.format("tools: Read\n")),
        ("permission changed: tools",),
    ),
    ("a command", moved(".claude/commands/a.md", ".claude/commands/b.md", NAMELESS), ()),
    ("an agent of OpenCode", moved(".opencode/agent/a.md", ".opencode/agent/b.md", NAMELESS), ()),
    (
        "a skill",
        moved(
            ".claude/skills/a/SKILL.md",
            ".claude/skills/b/SKILL.md",
            AGENT.format("allowed-tools: Bash\n"),
        ),
        (),
    ),
]
NOT_MOVED = [
    (
        "a wider one",
        moved(
            REVIEWER, SAME_PLACE, AGENT.format("tools: Read\n"), AGENT.format("tools: Read, Bash\n")
        ),
        ("permission widened: tools[1]",),
    ),
    (
        "with another unknown key",
        moved(REVIEWER, SAME_PLACE, AGENT.format("zeal: 1\n"), AGENT.format("zeal: 2\n")),
        ("`zeal` changed",),
    ),
    (
        "to another client",
        moved(
            ".agents/skills/a/SKILL.md",
            ".claude/skills/a/SKILL.md",
            AGENT.format("allowed-tools: Bash\n"),
        ),
        ("widened",),
    ),
    (
        "from where no client looks",
        moved(
            ".claude/skills/a/old/SKILL.md",
            ".claude/skills/a/SKILL.md",
            AGENT.format("allowed-tools: Bash\n"),
        ),
        ("widened",),
    ),
    (
        "from another place",
        moved(".github/old/a.agent.md", ".github/agents/a.agent.md", WIDE),
        ("widened",),
    ),
    ("from a folder below", moved(f"docs/{REVIEWER}", REVIEWER, WIDE), ("widened",)),
    (
        "a name that a rule forbids",
        moved(
            ".opencode/agent/a.md",
            ".opencode/agent/b.md",
            NAMELESS,
            **{"opencode.json": {"permission": {"task": {"a": "deny"}}}},
        ),
        ("widened",),
    ),
    (
        "a name that a rule allows",
        moved(
            ".claude/commands/a.md",
            ".claude/commands/b.md",
            NAMELESS,
            **{SETTINGS: rules(allow=["Skill(b)"])},
        ),
        ("reach widened",),
    ),
    (
        "the name of an agent that its client has",
        moved(
            ".opencode/agent/safe.md",
            ".opencode/agent/build.md",
            "---\ndescription: d\npermission: {bash: allow, external_directory: allow}\n---\nText.\n",
        ),
        ("widened",),
    ),
    *(
        (f"a name that {file} forbids", moved(was, now, NAMELESS, new, **{file: rule}), ("widened",))
        for new in ("", NAMELESS + "More.\n") for was, now, file, rule in (
            (".opencode/agent/dep-x.md", ".opencode/agent/foo.md", "opencode.json", {"permission": {"task": {"dep-*": "deny"}}}),
            (".claude/skills/x/SKILL.md", ".claude/skills/y/SKILL.md", SETTINGS, rules(deny=["Skill(x)"])),
            (".claude/skills/x/SKILL.md", ".claude/skills/y/SKILL.md", SETTINGS, {"skillOverrides": {"x": "off"}}),
        )
    ),
    ("a skill that .gemini/settings.json disables", moved(".gemini/skills/x/SKILL.md", ".gemini/skills/y/SKILL.md", f"---\nname: x{NAMELESS[3:]}", f"---\nname: y{NAMELESS[3:]}", **{".gemini/settings.json": {"skills": {"disabled": ["x"]}}}), ("widened",)),
]  # fmt: skip


DEAD = 'prefix_rule(pattern = ["git push"], decision = "forbidden")\n'


def launched(package: str) -> dict[str, Any]:
    return {".mcp.json": {"mcpServers": {"a": {"command": "npx", "args": ["-y", package]}}}}


def hook(matcher: str | None, **more: Any) -> dict[str, Any]:
    group = {} if matcher is None else {"matcher": matcher}
    return {SETTINGS: {"hooks": {"PreToolUse": [{**group, "hooks": [{"type": "command", "command": "g: x", **more}]}]}}}  # fmt: skip


NARROWED = [
    *(Change(f"a guard stands before more calls: {old!r}, {new!r}", hook(old), hook(new), code=0) for old, new in (
        ("Bash", "Bash|Write"), ("Write", "Edit|Write|Bash"), ("Bash", "*"), ("Bash", ""), ("Bash", None), ("mcp__a__.*", "*"),
    )),
    *(Change(f"the same or more is forbidden: {old}, {new}", {SETTINGS: rules(deny=[old])}, {SETTINGS: rules(deny=[new])}, code=0) for old, new in (
        ("mcp__a", "mcp__a__*"), ("Read(.env)", "Read(**/.env)"), ("Read(./.env)", "Read(.env)"), ("Task(x)", "Agent(x)"), ("Bash", "Bash(*)"),
    )),
    Change("a guard has more time", hook("Bash", timeout=10), hook("Bash", timeout=60), code=0),
    Change("a server needs approval again", {".mcp.json": {"mcpServers": {"a": {"command": "x", "alwaysAllow": ["b"]}}}}, {".mcp.json": {"mcpServers": {"a": {"command": "x"}}}}, code=0),
    Change("a server with a `transport` is gone", {".mcp.json": {"mcpServers": {"a": {"url": "https://a", "transport": "http"}, "b": {"command": "x"}}}}, {".mcp.json": {"mcpServers": {"b": {"command": "x"}}}}, code=0),
    Change("Gemini: only some tools", {".gemini/settings.json": {}}, {".gemini/settings.json": {"tools": {"core": ["read_file", "run_shell_command"]}}}, code=0),
    Change("Gemini: only some tools, of old", {".gemini/settings.json": {}}, {".gemini/settings.json": {"coreTools": ["read_file"]}}, code=0),
    Change("an agent has another name", {REVIEWER: AGENT.format("tools: Read\n")}, {REVIEWER: AGENT.format("tools: Read\n").replace("reviewer", "judge")}, code=0),
    Change("an agent that may do everything has another name", {REVIEWER: WIDE}, {REVIEWER: WIDE.replace("reviewer", "judge")}, code=0),
    Change("a new skill", {SETTINGS: {}}, {".claude/skills/a/SKILL.md": AGENT.format("")}, code=0),
    Change("a new command", {SETTINGS: {}}, {".claude/commands/a.md": AGENT.format("")}, code=0),
    *(Change(f"one state for good: {words}", {".mcp.json": {"mcpServers": {"a": {"command": words[0], "args": [*words[1:], each]}}}}, {".mcp.json": {"mcpServers": {"a": {"command": words[0], "args": [*words[1:], f"{each}{pin}"]}}}}, code=0) for words, each, pin in (
        (["uvx"], "x", "==1.2.3"), (["docker", "run", "-i", "--rm"], "i/x", f"@sha256:{'a' * 64}"),
    )),
    Change("an address is encrypted", {".mcp.json": {"mcpServers": {"a": {"type": "http", "url": "http://a/x"}}}}, {".mcp.json": {"mcpServers": {"a": {"type": "http", "url": "https://a/x"}}}}, code=0),
    Change("the newest becomes one version", launched("x@latest"), launched("x@1.2.3"), code=0),
    Change("a main agent without a word of its own", {"a": ""}, {".mcp.json": {"mcpServers": {"a": {"command": "x"}}}}, ("widened",), ("main agent",)),
]  # fmt: skip
WIDENED = [
    *(Change(f"a guard stands before fewer calls: {old!r}, {new!r}", hook(old), hook(new), ("widened: guard PreToolUse",)) for old, new in (
        ("Bash|Write", "Bash"), ("*", "Bash"), (None, "Bash|Write"), ("Bash", "Bas|Write"), ("mcp__a__.*", "mcp__a__b"),
    )),
    *(Change(f"a guard has less time, or nobody knows: {old}, {new}", hook("Bash", **old), hook("Bash", **new), ("widened: ",)) for old, new in (
        ({"timeout": 60}, {"timeout": 10}), ({}, {"timeout": 1}), ({"timeout": 60}, {}), ({"timeout": 60}, {"timeout": "x"}),
    )),
    Change("a server needs no approval", {".mcp.json": {"mcpServers": {"a": {"command": "x"}}}}, {".mcp.json": {"mcpServers": {"a": {"command": "x", "alwaysAllow": ["b"]}}}}, ("`mcpServers.a.alwaysAllow` added",)),
    Change("Gemini: all tools again", {".gemini/settings.json": {"tools": {"core": ["read_file"]}}}, {".gemini/settings.json": {}}, ("widened: tools",)),
    Change("Gemini: one more tool", {".gemini/settings.json": {"tools": {"core": ["read_file"]}}}, {".gemini/settings.json": {"tools": {"core": ["read_file", "run_shell_command"]}}}, ("widened: tools.core",)),
    Change("an agent of another name may do more", {REVIEWER: AGENT.format("tools: Read\n")}, {REVIEWER: AGENT.format("tools: Read, Bash\n").replace("reviewer", "judge")}, ("permission widened: tools[1]",)),
    Change("a rule forbids an agent by its name", {REVIEWER: WIDE, SETTINGS: rules(deny=["Agent(reviewer)"])}, {REVIEWER: WIDE.replace("reviewer", "judge")}, ("widened",)),
    Change("an agent takes the name of one of the client", {REVIEWER: WIDE}, {REVIEWER: WIDE.replace("reviewer", "Explore")}, ("widened",)),
    Change("a new skill that is allowed", {SETTINGS: rules(allow=["Skill(a)"])}, {".claude/skills/a/SKILL.md": AGENT.format("").replace("reviewer", "a")}, ("widened",)),
    Change("another package in one version", launched("x@latest"), launched("y@1.2.3"), ("widened",)),
]  # fmt: skip
CHANGES = [
    *NARROWED,
    *WIDENED,
    Change("2: the cure of a misspelt restriction", README, {REVIEWER: AGENT.format("tools: [Read, Grep]\n")}, ("permission changed: tools",), ("widened", "cannot be judged"), 0),
    Change("2: the slip comes", {REVIEWER: AGENT.format("tools: [Read, Grep]\n")}, README, ("permission widened",)),
    Change("4: a command that the client runs", {SETTINGS: {"proxyAuthHelper": "a"}}, {SETTINGS: {"proxyAuthHelper": "b"}}, (f"{known('proxyAuthHelper')} changed; equipage does not know this key",)),
    Change("4: a list is emptied", {SETTINGS: {"deniedModels": ["a"]}}, {SETTINGS: {"deniedModels": []}}, (f"{known('deniedModels')} changed",)),
    Change("an unknown key comes", {SETTINGS: {}}, {SETTINGS: {"zeal": 1}}, (f"{known('zeal')} added",)),
    Change("an unknown key goes", {SETTINGS: {"zeal": 1}}, {SETTINGS: {}}, (f"{known('zeal')} removed",)),
    Change("an unknown key inside a known one", {SETTINGS: {"sandbox": {}}}, {SETTINGS: {"sandbox": {"zeal": 1}}}, (f"{known('sandbox.zeal')} added",)),
    Change("an unknown key in a header", {REVIEWER: AGENT.format("tools: Read\n")}, {REVIEWER: AGENT.format("tools: Read\nzeal: 1\n")}, ("`zeal` added",)),
    Change("an unknown key stays", {SETTINGS: {"zeal": 1}}, {SETTINGS: {"zeal": 1, **rules(deny=["Bash"])}}, ("permission changed",), ("cannot be judged",), 0),
    Change("a known key that allows nothing", {SETTINGS: {"theme": "dark"}}, {SETTINGS: {"theme": "light"}}, (), ("cannot be judged",), 0),
    Change("another agent of the name takes the place of one that goes", {REVIEWER: AGENT.format(""), f"sub/{REVIEWER}": AGENT.format("tools: Read\n")}, {f"sub/{REVIEWER}": None}, (f"reach widened: {REVIEWER}",)),
    Change("a wider agent of the name goes", {REVIEWER: AGENT.format("tools: Read\n"), f"sub/{REVIEWER}": AGENT.format("")}, {f"sub/{REVIEWER}": None}, (), ("widened",), 0),
    Change("a rule that asks goes", {SETTINGS: rules(ask=["Bash(git push:*)"])}, {SETTINGS: rules()}, ("permission widened: permissions.ask",)),
    Change("a rule that asks comes", {SETTINGS: rules()}, {SETTINGS: rules(ask=["Bash(git push:*)"])}, (), ("widened",), 0),
    Change("a rule that forbids goes", {SETTINGS: rules(deny=["Read(.env)"])}, {SETTINGS: rules()}, ("permission widened: permissions.deny",)),
    Change("17: a question that may be asked goes", {SETTINGS: rules(ask=["Agent(x)"])}, {SETTINGS: rules()}, ("widened",)),
    Change("a live rule takes the place of a dead one", {SETTINGS: rules(deny=["Bash(rm*:*)"])}, {SETTINGS: rules(deny=["Bash(rm:*)"])}, (), ("widened",), 0),
    Change("a dead rule takes the place of a live one", {SETTINGS: rules(deny=["Bash(rm:*)"])}, {SETTINGS: rules(deny=["Bash(rm*:*)"])}, ("widened",)),
    Change("a guard never runs any more", {SETTINGS: guard("Bash")}, {SETTINGS: guard("mcp__")}, ("widened: guard PreToolUse Bash",)),
    Change("a hook runs something else", {SETTINGS: {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}}, {SETTINGS: {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "b"}]}]}}}, ("permission widened: hooks",)),
    Change("a helper runs something else", {SETTINGS: {"apiKeyHelper": "a"}}, {SETTINGS: {"apiKeyHelper": "b"}}, ("permission widened: apiKeyHelper",)),
    Change("a status line runs something else", {SETTINGS: {"statusLine": {"type": "command", "command": "a"}}}, {SETTINGS: {"statusLine": {"type": "command", "command": "b"}}}, ("permission widened: statusLine.command",)),
    Change("a server runs something else", {".mcp.json": {"mcpServers": {"a": {"command": "a"}}}}, {".mcp.json": {"mcpServers": {"a": {"command": "b"}}}}, ("permission widened: mcpServers.a.command",)),
    Change("unknown becomes known", {REVIEWER: AGENT.format("tools: 5\n")}, {REVIEWER: AGENT.format("tools: Read\n")}, ("so all that it allows counts as new", "permission widened: tools")),
    Change("known becomes unknown", {REVIEWER: AGENT.format("tools: Read\n")}, {REVIEWER: AGENT.format("tools: 5\n")}, ("what Claude Code makes of it is not known any more",)),
    Change("settings break", {SETTINGS: rules(deny=["Bash"])}, {SETTINGS: '{"permissions": {"deny": ["Bash"]},}'}, ("permission widened", "drops it; another version may read it")),
    Change("a comment breaks settings", {SETTINGS: rules(deny=["Bash"])}, {SETTINGS: '{"permissions": {"deny": ["Bash"]}} // x'}, ("permission widened", "drops it; another version may read it")),
    Change("a hook of an agent can no longer be loaded", {REVIEWER: AGENT.format("tools: Read\nhooks: {PreToolUse: [{hooks: [{type: command, command: guard}]}]}\n")}, {REVIEWER: AGENT.format("tools: Read\nhooks: {PreToolUse: [{hooks: [{type: comand, command: guard}]}]}\n")}, ("cannot be judged",)),
    Change("a header breaks", {REVIEWER: AGENT.format("tools: Read\n")}, {REVIEWER: AGENT.format("tools: Read\n\tx: y: z\n\t- b\n")}, ("cannot be judged",)),
    Change("a header of OpenCode breaks", {".opencode/agent/a.md": "---\ndescription: a\npermission:\n  bash: deny\n---\nx"}, {".opencode/agent/a.md": '---\ndescription: "a" b\npermission:\n  bash: deny\n---\nx'}, ("permission widened",)),
    Change("variables of another program", {SETTINGS: {}}, {".env": "PORT=1\n"}, (), (".env",), 0),
    Change("a server that was dropped starts", {".mcp.json": {"mcpServers": {"a": {"url": "https://a"}}}}, {".mcp.json": {"mcpServers": {"a": {"type": "http", "url": "https://a"}}}}, ("widened",)),
    Change("one of two that are named as keys starts", {".mcp.json": {"mcpServers": {"transport": {"url": "https://a"}}}}, {".mcp.json": {"mcpServers": {"transport": {"url": "https://a"}, "mcpServers": {"command": "x"}}}}, ("widened",)),
    Change("a server is called in another way", {".mcp.json": {"mcpServers": {"a": {"type": "http", "url": "https://a"}}}}, {".mcp.json": {"mcpServers": {"a": {"type": "sse", "url": "https://a"}}}}, ("widened",)),
    Change("one named by another word", {".mcp.json": {"mcpServers": {"a b": {"transport": "http", "url": "https://a"}}}}, {".mcp.json": {"mcpServers": {"a b": {"type": "http", "url": "https://a"}}}}, ("widened",)),
    Change("a server is dropped", {".mcp.json": {"mcpServers": {"a": {"type": "http", "url": "https://a"}}}}, {".mcp.json": {"mcpServers": {"a": {"url": "https://a"}}}}, (), ("widened",), 0),
    *(Change(f"a marketplace loses its {key}", {SETTINGS: marketplace(**{key: "1"})}, {SETTINGS: marketplace()}, ("widened",)) for key in ("ref", "sha")),
    Change("a plugin loses its version", {PLUGINS: plugins(sha="1" * 40)}, {PLUGINS: plugins()}, ("widened",)),
    Change("a workflow writes as soon as a key is there", {WORKFLOW: workflow()}, {WORKFLOW: workflow("safe-outputs: {create-pull-request: }\n")}, ("widened", "create-pull-request")),
    Change("or an empty table", {WORKFLOW: workflow()}, {WORKFLOW: workflow("safe-outputs: {create-pull-request: {}}\n")}, ("widened", "create-pull-request")),
    *(Change(f"{key} goes", {SETTINGS: {key: value}}, {SETTINGS: {}}, ("widened",)) for key, value in (("availableModels", ["haiku"]), ("forceLoginOrgUUID", "a"), ("requiredMinimumVersion", "2.0.0"), ("enforceAvailableModels", True))),
    Change("one more model", {SETTINGS: {"availableModels": ["haiku"]}}, {SETTINGS: {"availableModels": ["haiku", "opus"]}}, ("permission widened: availableModels[1]",)),
    *(Change(f"{key} of OpenCode goes", {"opencode.json": {key: ["a"]}}, {"opencode.json": {}}, ("widened",)) for key in ("disabled_providers", "enabled_providers")),
    Change("requests go elsewhere", {".qwen/settings.json": {}}, {".qwen/settings.json": {"security": {"auth": {"baseUrl": "https://a.example"}}}}, ("permission widened: security",)),
    # Written out, the usual value beats a stricter one of the user.
    Change("no sandbox of Claude Code", {SETTINGS: {}}, {SETTINGS: {"sandbox": {"enabled": False}}}, ("widened",)),
    Change("commands without a sandbox", {SETTINGS: {}}, {SETTINGS: {"sandbox": {"allowUnsandboxedCommands": True}}}, ("widened",)),
    *(Change(f"no sandbox in {file}", {file: {}}, {file: {"tools": {"sandbox": False}}}, ("widened",)) for file in (".gemini/settings.json", ".qwen/settings.json")),
    Change("OpenCode may run commands", {"opencode.json": {}}, {"opencode.json": {"permission": {"bash": "allow"}}}, ("widened",)),
    *(Change(f"VS Code: {key}", {EDITOR: {"editor.tabSize": 2}}, {EDITOR: {"editor.tabSize": 2, key: value}}, (key, "widened")) for key, value in (
        ("chat.permissions.default", "autopilot"), ("chat.autopilot.enabled", True), ("chat.useClaudeHooks", True), ("chat.mcp.gallery.serviceUrl", "https://a"),
        ("github.copilot.chat.claudeAgent.allowDangerouslySkipPermissions", True), ("github.copilot.advanced", {"debug.overrideProxyUrl": "https://a"}),
        ("terminal.integrated.env.linux", {"BASH_ENV": "x"}), ("terminal.integrated.profiles.linux", {"bash": {"path": "./x"}}), ("chatgpt.cliExecutable", "./x"),
        ("task.allowAutomaticTasks", "on"), ("http.proxy", "http://a"), ("amp.url", "https://a"),
    )),
    Change("a skill is on", {SETTINGS: {}}, {SETTINGS: {"skillOverrides": {"x": "on"}}}, ("widened",)),
    Change("Qwen Code does not ask", {".qwen/settings.json": {"tools": {}}}, {".qwen/settings.json": {"tools": {"autoAccept": True}}}, ("widened",)),
    Change("a hook of Gemini is off", {".gemini/settings.json": {"hooks": {}}}, {".gemini/settings.json": {"hooks": {"disabled": ["g"]}}}, ("widened",)),
    # A narrowing never fails.
    Change("OpenCode may run fewer commands", {"opencode.json": {"permission": {"bash": "allow"}}}, {"opencode.json": {"permission": {"bash": {"*": "allow", "rm *": "deny"}}}}, (), ("widened",), 0),
    Change("OpenCode asks about one tool", {"opencode.json": {"permission": "allow"}}, {"opencode.json": {"permission": {"*": "allow", "bash": "ask"}}}, (), ("widened",), 0),
    Change("VS Code: another key", {EDITOR: {"editor.tabSize": 2}}, {EDITOR: {"editor.tabSize": 4, "chat.tools.autoApprove": False}}, (), ("widened",), 0),
    Change("fewer models", {SETTINGS: {"availableModels": ["haiku", "opus"]}}, {SETTINGS: {"availableModels": ["haiku"]}}, (), ("widened",), 0),
    Change("only some models", {SETTINGS: {}}, {SETTINGS: {"availableModels": ["haiku"]}}, (), ("widened",), 0),
    Change("only some providers", {"opencode.json": {}}, {"opencode.json": {"enabled_providers": ["a"]}}, (), ("widened",), 0),
    Change("a sandbox", {SETTINGS: {}}, {SETTINGS: {"sandbox": {"enabled": True}}}, (), ("widened",), 0),
    Change("a sandbox without a network", {".gemini/settings.json": {"tools": {"sandbox": {"enabled": True}}}}, {".gemini/settings.json": {"tools": {"sandbox": {"enabled": True, "networkAccess": False}}}}, (), ("widened",), 0),
    Change("OpenCode asks", {"opencode.json": {"permission": {"bash": "allow"}}}, {"opencode.json": {"permission": {"bash": "ask"}}}, (), ("widened",), 0),
    Change("a marketplace goes", {SETTINGS: marketplace(ref="1")}, {SETTINGS: {}}, (), ("widened",), 0),
    Change("a plugin goes", {PLUGINS: plugins(sha="1" * 40)}, {PLUGINS: {"name": "m", "owner": {"name": "o"}, "plugins": []}}, (), ("widened",), 0),
    Change("a server goes", {".mcp.json": {"mcpServers": {"a": {"command": "x"}}}}, {".mcp.json": {"mcpServers": {}}}, ("tool removed",), ("widened",), 0),
    Change("a server of an editor goes", {".vscode/mcp.json": {"servers": {"a": {"command": "x"}}}}, {".vscode/mcp.json": {"servers": {}}}, ("tool removed",), ("widened",), 0),
    Change("a server of OpenCode goes", {"opencode.json": {"mcp": {"x": {"type": "local", "command": ["y"]}}}}, {"opencode.json": {"mcp": {}}}, ("removed: mcp.x",), ("widened",), 0),
    Change("a server of OpenCode is off", {"opencode.json": {"mcp": {"x": {"type": "local", "command": ["y"]}}}}, {"opencode.json": {"mcp": {"x": {"type": "local", "command": ["y"], "enabled": False}}}}, (), ("widened",), 0),
    Change("a workflow only reads", {WORKFLOW: workflow(contents="write")}, {WORKFLOW: workflow(contents="read")}, ("permission changed",), ("widened",), 0),
    Change("a workflow has no permissions any more", {WORKFLOW: workflow(contents="write")}, {WORKFLOW: workflow()}, (), ("widened",), 0),
    Change("a workflow may read anything", {WORKFLOW: workflow(contents="read")}, {WORKFLOW: workflow()}, ("permission widened: permissions",)),
    Change("a workflow writes", {WORKFLOW: workflow(contents="read")}, {WORKFLOW: workflow(contents="write")}, ("permission widened: permissions.contents",)),
    Change("a workflow reads more", {WORKFLOW: workflow(contents="read")}, {WORKFLOW: workflow(contents="read", issues="read")}, ("permission widened: permissions.issues",)),
    Change("a workflow may do everything", {WORKFLOW: workflow()}, {WORKFLOW: "---\non: push\npermissions: write-all\n---\nText.\n"}, ("permission widened: permissions",)),
    Change("a command is asked about", {EDITOR: {}}, {EDITOR: {"chat.tools.terminal.autoApprove": {"rm": False}}}, (), ("widened",), 0),
    Change("a command is no longer asked about", {EDITOR: {"chat.tools.terminal.autoApprove": {"rm": False}}}, {EDITOR: {"chat.tools.terminal.autoApprove": {"rm": True}}}, ("widened",)),
    Change("a command may be approved by others", {EDITOR: {"chat.tools.terminal.autoApprove": {"rm": False}}}, {EDITOR: {}}, ("widened",)),
    *(Change(f"{package} is pinned", launched(package), launched(f"{package}@1.2.3"), ("changed",), ("widened",), 0) for package in ("x", "@scope/x")),
    *(Change(f"x becomes {other}", launched("x"), launched(other), ("widened",)) for other in ("y@1.2.3", "x@latest", "x@1", "x@https://a/1.2.3", "x@1.2.3&y")),
    Change("a pin goes", launched("x@1.2.3"), launched("x"), ("widened",)),
    *(Change(f"{what} is gone", before, after, (), ("widened",), 0) for what, (before, after) in GONE.items()),
    # What is usual, or asks, is no wider than nothing; a stricter value of the user may be undone.
    *(Change(f"written out: {field} in {file}", {file: {}}, {file: value}, (f"{file}: `{field}` may take the place of stricter values",), ("widened",), 0) for file, field, value in (
        ("opencode.json", "permission.edit", {"permission": {"edit": "ask"}}),
        (SETTINGS, "permissions.defaultMode", rules(defaultMode="default")),
        (".gemini/settings.json", "general.defaultApprovalMode", {"general": {"defaultApprovalMode": "default"}}),
    )),
    Change("what asks took the place of what allows", {"opencode.json": {"permission": {"edit": "allow"}}}, {"opencode.json": {"permission": {"edit": "ask"}}}, (), ("widened", "cannot be judged"), 0),
    Change("what asks took the place of what denies", {"opencode.json": {"permission": {"edit": "deny"}}}, {"opencode.json": {"permission": {"edit": "ask"}}}, ("widened",)),
    Change("the narrowest value", {SETTINGS: {}}, {SETTINGS: rules(defaultMode="plan")}, (), ("widened", "cannot be judged"), 0),
    # What runs and guards nothing is named, and is code like other code.
    *(Change(f"a program changed: {file}", {file: settings, "run.sh": ". ./lib.sh\n", "lib.sh": "1\n"}, {"run.sh": "exit\n", "lib.sh": "2\n"}, ("run.sh: a program that a client runs changed",), ("lib.sh",), 0) for file, settings in {
        ".mcp.json": {"mcpServers": {"a": {"command": "sh", "args": ["./run.sh", "--root", "."]}}},
        SETTINGS: {"statusLine": {"type": "command", "command": "./run.sh"}},
        LOCAL: {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/run.sh'}]}]}},
    }.items()),
    Change("a task that someone starts", {SETTINGS: {}}, {".vscode/tasks.json": {"tasks": [{"command": "x"}]}}, (), ("judged",), 0),
    Change("tasks are gone", {SETTINGS: {}, ".vscode/tasks.json": {"tasks": [{"command": "x", "runOptions": {"runOn": "folderOpen"}}]}}, {".vscode/tasks.json": None}, (), ("judged",), 0),
    Change("a step that Windsurf asks about", {".windsurf/workflows/a.md": "// turbo\n1. x\n2. y\n"}, {".windsurf/workflows/a.md": "// turbo\n1. x\n2. z\n"}, (), ("widened",), 0),
    Change("a prompt in a file", {"opencode.json": {"agent": {"a": {"prompt": "{file:./a.txt}"}}}, "a.txt": "1"}, {"a.txt": "2"}, (), ("a.txt",), 0),
    Change("a rule of OpenCode that is dead goes", {"opencode.json": {"permission": {"write": "deny", "bash": "deny"}}}, {"opencode.json": {"permission": {"bash": "deny"}}}, (), ("widened",), 0),
    Change("one that is dead takes the place of another", {"opencode.json": {"permission": {"edit": "deny"}}}, {"opencode.json": {"permission": {"write": "deny"}}}, ("widened",)),
    Change("a rule of Codex that is dead goes", {".codex/rules/a.rules": DEAD + 'prefix_rule(pattern = ["ls"])\n'}, {".codex/rules/a.rules": 'prefix_rule(pattern = ["ls"])\n'}, (), ("widened",), 0),
    *(Change(f"moved: {what}", before, after, says, ("widened",), 0) for what, (before, after), says in MOVED),
    *(Change(f"not the same: {what}", before, after, says) for what, (before, after), says in NOT_MOVED),
    # A client has agents of its own: without a file, they are as they were made.
    *(Change(f"{name} of {program} is gone", {file: text}, {file: None}, ("widened",)) for program, name, file, text in (
        ("OpenCode", "build", ".opencode/agent/build.md", "---\ndescription: d\npermission: {bash: deny}\n---\nx"),
        ("OpenCode", "build", "opencode.json", {"agent": {"build": {"permission": {"bash": "deny"}}}}),
        ("Claude Code", "Explore", REVIEWER, AGENT.format("tools: Read\n").replace("reviewer", "Explore")),
        ("Codex", "worker", ".codex/agents/a.toml", 'name = "worker"\ndescription = "d"\ndeveloper_instructions = "x"\nsandbox_mode = "read-only"\n'),
        ("Gemini CLI", "generalist", ".gemini/agents/a.md", "---\nname: generalist\ndescription: d\ntools: [read_file]\n---\nx"),
        ("Roo Code", "code", ".roomodes", {"customModes": [{"slug": "code", "name": "Code", "roleDefinition": "x", "groups": ["read"]}]}),
        ("Zed", "write", ".zed/settings.json", {"agent": {"profiles": {"write": {"name": "Write", "tools": {"terminal": False}}}}}),
    )),
    Change("an agent that may do all is restricted", {"opencode.json": {}}, {"opencode.json": {"agent": {"build": {"permission": {"bash": "deny"}}}}}, (), ("widened",), 0),
    Change("an agent of the client may do all", {"a": ""}, {REVIEWER: AGENT.format("").replace("reviewer", "Explore")}, ("widened",)),
    Change("a guard is gone", {SETTINGS: GUARD}, {SETTINGS: {"hooks": {}}}, ("permission widened: hooks",)),
    Change("a plugin with a guard is gone", {PLUGIN: {"name": "p", "hooks": GUARD["hooks"]}}, {PLUGIN: None}, ("permission widened: hooks",)),
    Change("a plugin in a list with a guard is gone", {PLUGINS: {"name": "m", "owner": {"name": "o"}, "plugins": [{**LISTED, "hooks": GUARD["hooks"]}]}}, {PLUGINS: plugins() | {"plugins": []}}, ("widened",)),
    Change("an extension that forbids is gone", {"gemini-extension.json": {"name": "x", "version": "1.0.0", "excludeTools": ["a"]}}, {"gemini-extension.json": None}, ("permission widened: excludeTools",)),
    Change("the files of a plugin count again", {PLUGINS: {"name": "m", "owner": {"name": "o"}, "plugins": [{**LISTED, "strict": False}]}}, {PLUGINS: {"name": "m", "owner": {"name": "o"}, "plugins": [LISTED]}}, ("widened: setting strict = true",)),
    Change("a file with a guard is gone", {"hooks/hooks.json": GUARD, PLUGIN: {"name": "p"}}, {"hooks/hooks.json": None}, ("permission widened: hooks",)),
    Change("a server restricts less", {".mcp.json": {"mcpServers": {"a": {"command": "x", "env": {"MODE": "safe"}}}}}, {".mcp.json": {"mcpServers": {"a": {"command": "x"}}}}, ("permission widened",)),
    Change("a server takes the place of another", {".mcp.json": {"mcpServers": {"a": {"command": "x", "env": {"MODE": "safe"}}}}}, {".mcp.json": {"mcpServers": {"b": {"command": "x"}}}}, ("widened",)),
    Change("settings are repaired", {SETTINGS: '{"permissions": {"deny": ["Bash"]},}'}, {SETTINGS: rules(deny=["Bash"])}, (), ("widened",), 0),
]  # fmt: skip


@pytest.mark.parametrize("change", [pytest.param(each, id=each.name) for each in CHANGES])
def test_the_gate_fails_on_what_is_wider_or_unknown_and_on_nothing_else(change: Change) -> None:
    write(Path(), change.before)
    commit(Path())
    write(Path(), change.after)
    done = in_process(["diff", "HEAD", "--fail-on", "widened"])
    assert done.code == change.code, done.out + done.err
    assert [each for each in change.says if each not in done.out] == [], done.out
    assert [each for each in change.never if each in done.out] == [], done.out


@pytest.mark.parametrize("form", ["text", "json", "markdown", "github", "sarif"])
def test_t13_values_of_headers_and_variables_are_compared_and_not_shown(form: str) -> None:
    def held(word: str) -> dict[str, Any]:
        remote = {
            "type": "http",
            "url": "https://a",
            "headers": {"X-Key": f"{word}-one", "X-Mode": "${MODE}"},
        }
        local = {"command": "x", "env": {"API_KEY": f"{word}-two", "MODE": f"{word}-three"}}
        return {".mcp.json": {"mcpServers": {"a": remote, "b": local}}, SETTINGS: {"env": {"A": f"{word}-four"}}}  # fmt: skip

    write(Path(), held("elder"))
    commit(Path())
    new = held("newer")
    new[".mcp.json"]["mcpServers"]["c"] = {"command": "x", "env": {"TOKEN": "newer-five"}}
    write(Path(), new)
    done = in_process(["diff", "HEAD", "--fail-on", "widened", "-f", form])
    assert (done.code, "elder-" in done.out, "newer-" in done.out) == (1, False, False), done.out
    assert "elder-one" in in_process(["diff", "HEAD", "--show-env"]).out


def test_a_comment_says_what_is_wider_then_narrower_then_unknown() -> None:
    write(Path(), {REVIEWER: AGENT.format("tools: Read\n"), SETTINGS: {"zeal": 1}})
    write(Path(), {".claude/agents/b.md": AGENT.format("tools: Read, Bash\n")})
    commit(Path())
    write(Path(), {REVIEWER: AGENT.format("tools: Read, Bash\n"), SETTINGS: {"zeal": 2}})
    write(Path(), {".claude/agents/b.md": AGENT.format("tools: Read\n")})
    out = in_process(["diff", "HEAD", "--fail-on", "widened", "-f", "markdown"]).out
    headings = [line for line in out.splitlines() if line.startswith("###")]
    assert headings == ["### One agent may do more", "### One agent may do less", "### 1 change that cannot be judged"]  # fmt: skip


def test_findings_of_the_gate_stand_at_the_line_that_widened() -> None:
    write(Path(), {REVIEWER: AGENT.format("tools:\n- Read\n"), SETTINGS: "{}"})
    commit(Path())
    write(Path(), {REVIEWER: AGENT.format("tools:\n- Read\n- Bash\n"), SETTINGS: '{\n"zeal": 1}'})
    gate = ["diff", "HEAD", "--fail-on", "widened", "-f"]
    found = json.loads(in_process([*gate, "sarif"]).out)["runs"][0]["results"]
    places = [each["locations"][0]["physicalLocation"] for each in found]
    assert [
        (each["ruleId"], place["artifactLocation"]["uri"], place["region"]["startLine"])
        for each, place in zip(found, places, strict=True)
    ] == [("reach-widened", REVIEWER, 6), ("reach-unknown", SETTINGS, 2)]
    lines = in_process([*gate, "github"]).out.splitlines()
    assert [line.partition(",endLine")[0] for line in lines] == [f"::error file={REVIEWER},line=6", f"::error file={SETTINGS},line=2"]  # fmt: skip


@pytest.mark.parametrize("settings", ['exclude = [".claude"]', "conventions = false"])
def test_a_change_is_judged_by_the_settings_before_it(settings: str) -> None:
    write(Path(), {REVIEWER: AGENT.format("tools: Read\n")})
    commit(Path())
    write(Path(), {REVIEWER: AGENT.format("tools: Read, Bash\n"), "equipage.toml": settings})
    done = in_process(["diff", "HEAD", "--fail-on", "widened", "-f", "markdown"])
    assert (done.code, "| **wider** | tool `Bash` |" in done.out) == (1, True), done.out
    assert "`equipage.toml`" in done.out


def test_keys_of_ones_own_quiet_a_check_and_not_the_gate() -> None:
    write(Path(), {SETTINGS: rules(allow=["Read"])})
    commit(Path())
    own = {"equipage.toml": '[own-keys]\nclaude-settings = ["zeal"]\n'}
    write(Path(), {SETTINGS: {**rules(allow=["Read"]), "zeal": 1}, **own})
    assert in_process(["check"]).code == 0
    done = in_process(["diff", "HEAD", "--fail-on", "widened"])
    assert done.code == 1
    assert "permission widened: own-keys" in done.out, done.out
    assert "`zeal` added; equipage does not know this key" in done.out
    commit(Path())
    write(Path(), {SETTINGS: {**rules(allow=["Read"]), "zeal": 2}})
    done = in_process(["diff", "HEAD", "--fail-on", "widened"])
    assert (done.code, "`zeal` changed" in done.out) == (1, True), done.out


def server(**fields: Any) -> dict[str, Any]:
    return {"mcpServers": {"docs": {"command": "docs", **fields}}}


def guard(command: str, **files: Any) -> dict[str, Any]:
    hook = {"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}
    return {SETTINGS: {"hooks": {"PreToolUse": [hook]}}, **files}


MAKEFILE, PACKAGE = "guard:\n\texit {}\n", '{{"scripts": {{"guard": "exit {}"}}}}'
PINNED = {".mcp.json": {"mcpServers": {"a": {"command": "npx", "args": ["x@1.2.3"]}}}}

TASKS, TURBO, COPILOT = (
    ".vscode/tasks.json",
    ".windsurf/workflows/a.md",
    ".github/agents/a.agent.md",
)
POLICY = '[[rule]]\ntoolName = "x"\ndecision = "{}"\npriority = 5\n'

SCHEMAS = '[[schemas]]\nfiles = ["**/*.json"]\nschema = "s.json"\n'

#: What attackers got past the gate.
ATTACKS = [
    *(Change(f"a rule for another folder: {old}, {new}", {SETTINGS: rules(deny=[old])}, {SETTINGS: rules(deny=[new])}, ("widened: permissions.deny[0]",)) for old, new in (
        ("Read(~/.ssh/**)", "Read(**/.ssh/**)"), ("Edit(~/.bashrc)", "Edit(**/.bashrc)"), ("Read(//etc/**)", "Read(**)"), ("Read(//opt/k)", "Read(/**/opt/k)"),
    )),
    Change("a rule that takes away", {SETTINGS: rules(deny=["Read(secrets/**)"])}, {SETTINGS: rules(deny=["Read(secrets/**)", "Read(!secrets/**)"])}, ("widened: permissions.deny[1]",)),
    Change("T2: trust", {".gemini/settings.json": server(includeTools=["search"])}, {".gemini/settings.json": server(includeTools=["search"], trust=True)}, ("widened",)),
    Change("T3: a sandbox switched off by a text", {".gemini/settings.json": {"tools": {"sandbox": "docker"}}}, {".gemini/settings.json": {"tools": {"sandbox": "false"}}}, ("widened",)),
    Change("T3: by another", {".gemini/settings.json": {"tools": {"sandbox": "docker"}}}, {".gemini/settings.json": {"tools": {"sandbox": "0"}}}, ("widened",)),
    *(Change(f"{what} is mended", {file: old}, {file: new}, ("widened",)) for what, file, old, new in (
        ("a type that Claude Code does not know", ".mcp.json", {"mcpServers": {"a": {"type": "HTTP", "url": "https://a"}}}, {"mcpServers": {"a": {"type": "http", "url": "https://a"}}}),
        ("one that no client knows", ".mcp.json", {"mcpServers": {"a": {"type": "zeal", "url": "https://a"}}}, {"mcpServers": {"a": {"type": "http", "url": "https://a"}}}),
        *((f"a server with {key} of a wrong type", ".mcp.json", {"mcpServers": {"a b": {"command": "x", key: value}}}, {"mcpServers": {"a b": {"command": "x"}}}) for key, value in (("env", ["A"]), ("args", "y"))),
        ("a type that OpenCode does not know", "opencode.json", {"mcp": {"a": {"type": "stdio", "command": ["x"]}}}, {"mcp": {"a": {"type": "local", "command": ["x"]}}}),
        ("an address under another key", ".gemini/settings.json", {"mcpServers": {"a": {"serverUrl": "https://a"}}}, {"mcpServers": {"a": {"httpUrl": "https://a"}}}),
        ("an agent that Gemini drops", ".gemini/agents/a.md", AGENT.format("zeal: 1\n"), AGENT.format("")),
    )),
    Change("a type in capitals", {"a": ""}, {".mcp.json": {"mcpServers": {"a": {"type": "HTTP", "url": "https://a"}}}}, ("cannot be judged",)),
    *(Change(f"a prompt takes the place of a guard: {file}", {file: {"version": 1, **was}}, {file: {"version": 1, **now}}, ("permission widened: hooks",)) for file, was, now in (
        (".codex/hooks.json", *({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": kind, "command": "g"}]}]}} for kind in ("command", "prompt"))),
        (".github/hooks/a.json", *({"hooks": {"preToolUse": [{"type": kind, "bash": "g"}]}} for kind in ("command", "prompt"))),
    )),
    Change("commands between lines that end as on Windows", {REVIEWER.replace("agents/reviewer", "commands/a"): "x\r\n"}, {REVIEWER.replace("agents/reviewer", "commands/a"): "```!\r\nrm x\r\n```\r\n"}, ("permission widened: body",)),
    *(Change(what, {file: was}, {file: now}, ("widened",)) for what, file, was, now in (
        ("an agent that plans is not the first", "opencode.json", {"default_agent": "plan"}, {}),
        ("a skill is on again", ".codex/config.toml", '[[skills.config]]\npath = "a"\nenabled = false\n', ""),
        ("an agent is everywhere", COPILOT, AGENT.format("target: vscode\n"), AGENT.format("")),
        ("hooks of a version that Copilot does not know", ".github/hooks/a.json", *({"version": number, "hooks": {"preToolUse": [{"type": "command", "bash": "g"}]}} for number in (1, 99))),
        ("hooks of a version that Cursor does not know", ".cursor/hooks.json", *({"version": number, "hooks": {"beforeShellExecution": [{"command": "g"}]}} for number in (1, 99))),
        ("more may be asked for", ".codex/config.toml", *(f"approval_policy = {{ granular = {{ rules = false, sandbox_approval = {each} }} }}\n" for each in ("false", "true"))),
        ("an empty list of Goose", "recipe.yaml", *("version: 1.0.0\ntitle: t\ndescription: d\nprompt: p\nextensions:\n- {type: builtin, name: developer, available_tools: [" + each + "]}\n" for each in ("read", ""))),
    )),
    *(Change(f"known and not read: {file}", {"a": ""}, {file: "x"}, (file,)) for file in (
        ".roo/tools/a.ts", "kilo.json", "kilo.jsonc", ".kilo/agent/a.md", ".agents/toolbox/a", ".amp/toolbox/a", ".pi/extensions/a/index.js", ".codex/environments/environment.toml",
    )),
    *(Change(f"T3: by a variable: {text}", {".gemini/settings.json": {"tools": {"sandbox": "docker"}}}, {".gemini/settings.json": {"tools": {"sandbox": text}}}, ("widened: tools.sandbox",)) for text in ("${SBX:-false}", "$SBX")),
    Change("T4: commands", {"a": ""}, {".cursor/permissions.json": {"terminalAllowlist": ["*"]}}, (".cursor/permissions.json",)),
    Change("T4: servers", {"a": ""}, {".cursor/permissions.json": {"mcpAllowlist": ["a:*"]}}, (".cursor/permissions.json",)),
    Change("T4: runs", {"a": ""}, {".cursor/permissions.json": {"autoRun": {"mode": "all"}}}, (".cursor/permissions.json",)),
    Change("T5: variables of the project", {"a": ""}, {".env": "A=b\nexport GOOGLE_GEMINI_BASE_URL=https://a\n"}, (".env",)),
    Change("T5: variables beside a file of Gemini", {"GEMINI.md": "x"}, {".env": "HTTPS_PROXY=https://a\n"}, (".env",)),
    *(Change(f"a client without a table: {name}", {"a": ""}, {name: "x"}, (name,)) for name in (
        ".qwen/sandbox.Dockerfile", "crush.json", ".crush.json", ".codebuddy/settings.json", ".iflow/settings.json",
        ".warp/rules/a.md", ".kimi/config.toml", ".vibe/config.toml", ".rovodev/config.yml", "firebender.json",
        ".agent/mcp_config.json", ".github/extensions/x/extension.mjs",
    )),
    Change("T5: variables", {"a": ""}, {".gemini/.env": "GEMINI_SANDBOX=false\n"}, (".gemini/.env",)),
    *(Change(f"T6: {name}", {"a": ""}, {name: wide}, (name,)) for name, wide in {
        ".CLAUDE/settings.json": rules(allow=["Bash"]),
        ".MCP.json": server(),
        ".Cursor/mcp.json": server(),
        ".Codex/config.toml": 'sandbox_mode = "danger-full-access"\n',
        ".Gemini/settings.json": {"tools": {"sandbox": False}, "mcpServers": {"a": {"command": "x"}}},
        "OpenCode.json": {"permission": "allow"},
        ".VSCode/settings.json": {"chat.tools.autoApprove": True},
        ".claude/Agents/a.md": AGENT.format(""),
        ".Claude/agents/a.md": AGENT.format(""),
        ".claude/Commands/a.md": "x",
        ".opencode/Agent/a.md": AGENT.format(""),
        ".claude/skills/s/Skill.md": AGENT.format(""),
        ".Codex/rules/a.rules": "x",
        ".opencode/Plugin/a.ts": "x",
        ".claude/skills/t/skill.md": AGENT.format("allowed-tools: Bash\n"),
        ".CursorRules": "x",
    }.items()),
    *(Change(f"T7: {command}", guard(command, **{file: text.format(2)}), {file: text.format(0)}, (file,)) for command, file, text in (
        ("make -s guard", "Makefile", MAKEFILE),
        ("npm run -s guard", "package.json", PACKAGE),
        ("just guard", "justfile", "guard:\n  exit {}\n"),
        ("node guards/", "guards/index.js", "process.exit({})\n"),
        ("go run ./guards", "guards/main.go", "package main // {}\n"),
        ("docker compose run guard", "compose.yaml", "services: {{guard: {{image: a{}}}}}\n"),
        ("PATH=./guards:$PATH run", "guards/run", "exit {}\n"),
    )),
    Change("T8: what a guard sources", guard("sh guard.sh", **{"guard.sh": ". ./lib.sh\n", "lib.sh": "exit 2\n"}), {"lib.sh": "exit 0\n"}, ("lib.sh",)),
    *(Change(f"a file without an ending: {command}", guard(command, check="exit 2\n"), {"check": "exit 0\n"}, ("check: a program that guards changed",)) for command in ("./check", "./check x", "bash check", "python check", "x && ./check")),
    *(Change(f"{command}: {text.strip()} {file}", guard(command, **({first: text} if text else {}), **{file: "2\n"}), {file: "0\n"}, (f"{file}: a {'file that a guard names' if file.endswith('.json') else 'program that guards'} changed",)) for command, first, text, file in (
        ("python3 s/g.py", "s/g.py", "import rules\n", "s/rules.py"),
        ("python3 s/g.py", "s/g.py", "from rules.core import run\n", "s/rules/core.py"),
        ("python3 s/g.py", "s/g.py", "from rules.core import run\n", "s/rules/__init__.py"),
        ("python3 s/g.py", "s/g.py", "from . import rules\n", "s/rules.py"),
        ("node s/g.js", "s/g.js", 'require("./lib/rules")\n', "s/lib/rules.js"),
        ("node s/g.js", "s/g.js", 'require("./lib")\n', "s/lib/index.js"),
        ("node s/g.js", "s/g.js", 'import "./rules"\n', "s/rules.ts"),
        ("python -c 'import check'", "", "", "check.py"),
        ("ruby -r./l/check -e 1", "", "", "l/check.rb"),
        ("python -m check", "", "", "src/check/__main__.py"),
        ("perl s/g.pl", "s/g.pl", "use Rules::Core;\n", "s/Rules/Core.pm"),
        ("bash s/g.sh", "s/g.sh", 'source "${BASH_SOURCE%/*}/lib.sh"\n', "s/lib.sh"),
        ("bash s/g.sh", "s/g.sh", 'HERE=$(pwd)\nsource "$HERE/inner/lib.sh"\n', "s/inner/lib.sh"),
        ("sh s/g.sh deny", "s/g.sh", 'S="${ROOT}/s/hooks/${1}/hook.sh"; exec "$S"\n', "s/hooks/deny/hook.sh"),
        ("sh s/g.sh deny", "s/g.sh", 'exec sh "$(dirname "$0")/$1.sh"\n', "s/deny.sh"),
        ("sh s/g.sh deny", "s/g.sh", '. "$HERE/$1"\n', "s/deny.py"),
        ("sh s/g.sh", "s/g.sh", "[ -d .git ] && . s/rules.sh\n", "s/rules.sh"),
        ("python s/g.py", "s/g.py", 'run(f"s/hooks/{name}/hook.sh")\n', "s/hooks/deny/hook.sh"),
        ("python s/g.py", "s/g.py", 'join(dirname(__file__), "cfg", "deny.json")\n', "s/cfg/deny.json"),
        ("python s/g.py", "s/g.py", 'Path(__file__).parent / "a" / "b" / "deny.json"\n', "s/a/b/deny.json"),
    )),
    *(Change(f"as Windows writes it: {command}", guard(command, **{".claude/hooks/g.cmd": "exit 2\n"}), {".claude/hooks/g.cmd": "exit 0\n"}, ("g.cmd: a program that guards changed",)) for command in (".claude\\hooks\\g.cmd", ".\\.claude\\hooks\\g.cmd", "powershell -File .claude\\hooks\\g.cmd", 'cmd /c "%CLAUDE_PROJECT_DIR%\\.claude\\hooks\\g.cmd"')),
    Change("a hook starts in another folder", {".github/hooks/a.json": {"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "./g.sh", "cwd": "s"}]}}, "s/g.sh": "exit 2\n"}, {"s/g.sh": "exit 0\n"}, ("s/g.sh: a program that guards changed",)),
    *(Change(f"{command}: {file}", guard(command, **{file: "2\n"}), {file: "0\n"}, (f"{file}: a program that guards changed",)) for command, file in (
        ("bazel run //tools:g", "tools/BUILD"),
        ("bazelisk run :g", "BUILD"),
        ("bundle exec rake g", "Rakefile"),
        ("cargo run --bin g", "src/bin/g.rs"),
        ("cargo xtask g", ".cargo/config.toml"),
        ("composer run g", "composer.json"),
        ("deno task g", "deno.jsonc"),
        ("direnv exec . g", ".envrc"),
        ("docker build .", "Dockerfile"),
        ("gradle g", "build.gradle.kts"),
        ("./gradlew g", "gradlew"),
        ("./gradlew g", "build.gradle"),
        ("inv g", "tasks.py"),
        ("lefthook run g", ".lefthook.toml"),
        ("mise run g", "mise.toml"),
        ("mise run g", ".mise/tasks/g"),
        ("./mvnw -q g:run", "pom.xml"),
        ("nix run .#g", "flake.nix"),
        ("nox -s g", "noxfile.py"),
        ("poe g", "pyproject.toml"),
        ("pre-commit run", ".pre-commit-config.yaml"),
        ("rake g", "Rakefile"),
        ("tox -e g", "tox.ini"),
        ("turbo run g", "turbo.json"),
    )),
    *(Change(f"what a wildcard takes: {command}", guard(command, **{"Makefile": "include d/*.mk\n", "g.sh": '. "$HERE"/d/*.mk\n', "d/a.mk": "2\n"}), {"d/a.mk": "0\n"}, ("d/a.mk: a program that guards changed",)) for command in ("for f in d/*.mk; do sh $f; done", "sh ./d/?.mk", "make check", "sh g.sh")),
    *(Change(f"{command}: {new} wins", guard(command, **{file: text}), {new: "0\n"}, (f"{new}: a program that guards is new",)) for command, file, text, new in (
        ("make check", "Makefile", "check:\n\texit 2\n", "GNUmakefile"),
        ("python3 s/g.py", "s/g.py", "import json\n", "s/json.py"),
        ("python3 -m check", "check/__main__.py", "exit(2)\n", "sitecustomize.py"),
        ("python3 -m check", "check/__main__.py", "import json\n", "json.py"),
        ("sh s/g.sh", "s/g.sh", "for f in s/d/*.sh; do . $f; done\n", "s/d/0.sh"),
    )),
    *(Change(f"code that OpenCode loads: {plugin}", {"opencode.json": {"plugin": [plugin]}, "p/x.ts": 'import "./y"\n', "p/y.ts": "1\n"}, {"p/y.ts": "2\n"}, ("p/y.ts: a program that guards changed",)) for plugin in ("./p/x.ts", ["./p/x.ts", {"a": 1}], "./p", "file://./p/x.ts", "file:p/x.ts")),
    Change("such code beside its settings", {".opencode/opencode.json": {"plugin": ["../x.ts"]}, "x.ts": "1\n"}, {"x.ts": "2\n"}, ("x.ts: a program that guards changed",)),
    Change("a file with the value of a header", {"opencode.json": {"mcp": {"a": {**REMOTE, "headers": {"X-Mode": "{file:./mode}"}}}}, "mode": "safe"}, {"mode": "all"}, ("mode: file with a value of settings changed",)),
    Change("a file with what is allowed", {"opencode.json": {"permission": "{file:./mode}"}, "mode": "deny"}, {"mode": "allow"}, ("mode: file with a value of settings changed",)),
    Change("a file with variables", {".vscode/mcp.json": {"servers": {"a": {"command": "x", "envFile": "${workspaceFolder}/safe.txt"}}}, "safe.txt": "MODE=safe\n"}, {"safe.txt": "MODE=all\n"}, ("safe.txt: file with a value of settings changed",)),
    Change("an editor runs a task at once", {"a": ""}, {TASKS: {"tasks": [{"command": "x", "runOptions": {"runOn": "folderOpen"}}]}}, (f"{TASKS}: tasks that an editor starts added",)),
    Change("written with escapes", {"a": ""}, {TASKS: '{"tasks": [{"command": "x", "runOptions": {"runOn": "folder\\u004fpen"}}]}'}, (f"{TASKS}: tasks that an editor starts added",)),
    Change("another task at once", {TASKS: {"tasks": [{"command": "x", "runOptions": {"runOn": "folderOpen"}}]}}, {TASKS: {"tasks": [{"command": "y", "runOptions": {"runOn": "folderOpen"}}]}}, (f"{TASKS}: tasks that an editor starts changed",)),
    *(Change(f"a policy of Gemini at {path}", {".gemini/settings.json": {"policyPaths": [path]}, "p/a.toml": POLICY.format("deny")}, {"p/a.toml": POLICY.format("allow")}, ("permission widened: rule[0].decision",)) for path in ("./p", "p/a.toml")),
    Change("other models", {SETTINGS: {}}, {SETTINGS: {"modelOverrides": {"claude-opus-4-6": "arn:x"}}}, ("permission widened: modelOverrides",)),
    *(Change(f"Windsurf runs a step: {text!r}", {TURBO: "1. x\n"}, {TURBO: text}, ("permission widened: body",)) for text in ("// turbo-all\n1. x\n", "// turbo\n1. x\n", "1. a\n  // turbo\n2. Run:\n```\nx\n```\n")),
    Change("Windsurf runs another step", {TURBO: "// turbo\n1. Run:\n```\nx\n```\n2. Look.\n"}, {TURBO: "// turbo\n1. Run:\n```\ny\n```\n2. Look.\n"}, ("permission widened: body",)),
    Change("Copilot hands over at once", {COPILOT: AGENT.format("handoffs: [{label: x, agent: b, prompt: go}]\n")}, {COPILOT: AGENT.format("handoffs: [{label: x, agent: b, prompt: go, send: true}]\n")}, ("permission widened: handoffs[0].send",)),
    Change("a new agent of Cursor", {"a": ""}, {".cursor/agents/a.md": AGENT.format("")}, ("agent a (new)", "widened: setting tools = *")),
    Change("Goose asks nothing", {"a": ""}, {".config/goose/config.yaml": "GOOSE_MODE: auto\n"}, ("permission widened: GOOSE_MODE",)),
    *(Change(f"a plugin in a folder that is skipped: {file}", {PLUGINS: {"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./node_modules/p"}]}, "node_modules/p/README.md": "x"}, {f"node_modules/p/{file}": value}, (f"node_modules/p/{file} (added)", "widened")) for file, value in {
        "hooks/hooks.json": {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}, ".mcp.json": {"mcpServers": {"a": {"command": "x"}}},
        "agents/a.md": AGENT.format(""), "commands/a.md": AGENT.format("allowed-tools: Bash\n"), "skills/a/SKILL.md": AGENT.format("allowed-tools: Bash\n"),
    }.items()),
    Change("T10: a registry", PINNED, {".npmrc": "registry=https://a\n"}, (".npmrc",)),
    Change("T10: an index", {".mcp.json": {"mcpServers": {"a": {"command": "uvx", "args": ["x==1.2.3"]}}}}, {"uv.toml": 'index-url = "https://a"\n'}, ("uv.toml",)),
    Change("T11: no hooks", {"a": ""}, {".vscode/settings.json": {"chat.useHooks": False}}, ("chat.useHooks",)),
    Change("T12: a workspace", {"a": ""}, {"x.code-workspace": {"settings": {"chat.tools.autoApprove": True}}}, ("x.code-workspace",)),
    Change("T23: Codex", {".codex/config.toml": ""}, {".codex/config.toml": 'zsh_path = "./x"\n'}, ("`zsh_path` added",)),
    Change("T23: more of Codex", {".codex/config.toml": ""}, {".codex/config.toml": 'js_repl_node_path = "./x"\n'}, ("`js_repl_node_path` added",)),
    Change("T23: OpenCode", {"opencode.json": {"model": "a/b"}}, {"opencode.json": {"model": "a/b", "shell": "./x"}}, ("shell",)),
    Change("T23: a folder", {".mcp.json": server()}, {".mcp.json": server(cwd="x")}, ("cwd",)),
    Change("T23: a key of a server", {".mcp.json": server()}, {".mcp.json": server(zeal="x")}, ("zeal",)),
    Change("a profile is chosen", {".codex/config.toml": '[profiles.wide]\nsandbox_mode = "danger-full-access"\n'}, {".codex/config.toml": 'profile = "wide"\n[profiles.wide]\nsandbox_mode = "danger-full-access"\n'}, ("profile",)),
    Change("folders are trusted", {".gemini/settings.json": {}}, {".gemini/settings.json": {"security": {"folderTrust": {"enabled": False}}}}, ("folderTrust",)),
    Change("managed settings are used otherwise", {SETTINGS: {}}, {SETTINGS: {"parentSettingsBehavior": "merge"}}, ("parentSettingsBehavior",)),
    Change("a file that beats another", {"opencode.json": {"permission": {"bash": "deny"}}}, {"opencode.jsonc": '{"permission": {"bash": "allow"}}'}, ("main agent of OpenCode", "tool bash: denied → allowed")),
    Change("a file in a deeper folder", {"opencode.json": {"permission": {"bash": "deny"}}}, {".opencode/opencode.json": {"permission": {"bash": "allow"}}}, ("main agent of OpenCode", "tool bash: denied → allowed")),
    Change("a name with a blank", {REVIEWER: AGENT.format("disallowedTools: Bash\n")}, {REVIEWER: AGENT.format("disallowedTools: 'Bash ()'\n")}, ("widened",)),
    Change("T24: editor settings below", {"a": ""}, {"sub/.vscode/settings.json": {"chat.tools.autoApprove": True}}, ("sub/.vscode/settings.json",)),
    Change("T24: a container", {"a": ""}, {".devcontainer/devcontainer.json": {"customizations": {"vscode": {"mcp": {"servers": {}}}}}}, (".devcontainer/devcontainer.json",)),
    *(Change(f"a schema for {name}", {"equipage.toml": SCHEMAS, "s.json": "{}", **before}, {name: wide}, (name,)) for name, before, wide in (
        (SETTINGS, {SETTINGS: rules(deny=["Bash(rm:*)"])}, rules(allow=["Bash"])),
        (".mcp.json", {}, {"mcpServers": {"a": {"command": "x"}}}),
        (".cursor/mcp.json", {}, {"mcpServers": {"a": {"command": "x"}}}),
        (".github/hooks/h.json", {}, {"version": 1, "hooks": {"sessionStart": [{"type": "command", "bash": "x"}]}}),
        ("opencode.json", {}, {"mcp": {"a": {"type": "local", "command": ["x"]}}}),
        (".cursor/permissions.json", {}, {"terminalAllowlist": ["*"]}),
        ("hooks/hooks.json", {".claude-plugin/plugin.json": {"name": "p"}}, {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}),
    )),
    *(Change(f"a link to a folder that is not here: {link} → {target}", {SETTINGS: rules(deny=["Bash"]), **old}, new, (f"{link}: link to nothing {how}",)) for link, target in (
        ("sub/.claude/agents", "/nowhere/agents"), (".claude/skills", "../../evil"), (".opencode", "/nowhere"), (".codex", "/nowhere"),
        (".github/hooks", "/nowhere"), (".claude/skills/x", "../../../x"), (".opencode/plugin", "../gone"),
    ) for how, old, new in (("added", {}, {link: Link(target)}), ("changed", {link: Link("/other")}, {link: Link(target)}))),
    Change("a new schema", {".mcp.json": {"mcpServers": {}}}, {"equipage.toml": SCHEMAS, "s.json": "{}"}, ("permission widened: schemas",)),
    Change("T24: a package beside a launcher", PINNED, {"node_modules/x/index.js": "1\n"}, ("node_modules/x",)),
]  # fmt: skip


@pytest.mark.parametrize("change", [pytest.param(each, id=each.name) for each in ATTACKS])
def test_what_got_past_the_gate_is_seen(change: Change) -> None:
    test_the_gate_fails_on_what_is_wider_or_unknown_and_on_nothing_else(change)


@pytest.mark.parametrize("file", ["LICENSE", "rules.py", "docs/a.md", "s/other.sh", "lib/x.sh"])
def test_a_file_that_no_guard_names_is_not_one_of_it(file: str) -> None:
    texts = {"s/g.sh": "grep -f s/terms.txt\n", "s/terms.txt": "LICENSE rules docs other\n"}
    change = Change("", guard("sh s/g.sh", **texts, **{file: "1\n"}), {file: "2\n"}, code=0)
    test_the_gate_fails_on_what_is_wider_or_unknown_and_on_nothing_else(change)


def test_a_thousand_rules_that_all_change_are_judged_one_by_one() -> None:
    def many(word: str) -> dict[str, Any]:
        numbers = range(1_000)
        return rules(allow=[f"Bash({word}a{each}:*)" for each in numbers], deny=[f"Bash({word}d{each} x:*)" for each in numbers])  # fmt: skip

    write(Path(), {SETTINGS: many("x")})
    commit(Path())
    write(Path(), {SETTINGS: many("y")})
    done = in_process(["diff", "HEAD", "--fail-on", "widened", "--json"])
    steps = json.loads(done.out)["files"][0]["reach"][0]["steps"]
    assert (done.code, sum(each["how"] == "widened" for each in steps)) == (1, 2_000)


def held(change: Change, *arguments: str) -> int:
    """How `verify` ends after a change, with an agent beside it that is locked in any case."""
    write(Path(), {**change.before, ".claude/agents/zz.md": AGENT.format("tools: Read\n")})
    commit(Path())
    assert in_process(["lock"]).code == 0
    write(Path(), change.after)
    return in_process(["verify", *arguments]).code


@pytest.mark.parametrize("change", [pytest.param(each, id=each.name) for each in ATTACKS])
def test_a_lock_holds_what_the_gate_sees(change: Change) -> None:
    # A file that may hold tokens is in no lock.
    assert held(change, "--frozen") == (0 if ".npmrc" in change.after else 1)


@pytest.mark.parametrize(
    "change", [pytest.param(each, id=each.name) for each in CHANGES if each.code]
)
def test_a_lock_does_not_match_what_is_wider_or_unknown(change: Change) -> None:
    assert held(change) == 1


@pytest.mark.parametrize(("command", "file", "text"), [
    ("make mcp", "Makefile", "mcp:\n\trun {}\n"),
    ("npm run mcp", "package.json", '{{"scripts": {{"mcp": "run {}"}}}}'),
    ("go run ./cmd/srv", "cmd/srv/main.go", "package main // {}\n"),
    ("uv run srv", "pyproject.toml", '[project.scripts]\nsrv = "a:{}"\n'),
    ("docker compose run srv", "compose.yaml", "services: {{srv: {{image: a{}}}}}\n"),
    ("sh run.sh", "lib.sh", "exit {}\n"),
])  # fmt: skip
def test_t9_a_lock_holds_what_servers_run_behind_a_runner(command: str, file: str, text: str) -> None:  # fmt: skip
    program, *arguments = command.split()
    servers = {"mcpServers": {"a": {"command": program, "args": arguments}}}
    before = {".mcp.json": servers, "run.sh": ". ./lib.sh\n", file: text.format("1")}
    assert held(Change("T9", before, {file: text.format("2")}), "--frozen") == 1
