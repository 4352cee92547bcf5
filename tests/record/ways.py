"""Ways to let an agent do more that go through files: what lies there, what changes, what is said.

A content that is None removes the file; `PROGRAM` and `TEXT` set or take away its mark as a
program. What is said is a part of a line; empty where a change must not be stopped.
"""

from __future__ import annotations

from typing import Any

#: Marks of a file, in place of a content.
PROGRAM, TEXT = 0o755, 0o644
Files = dict[str, Any]

MANIFEST = ".claude-plugin/plugin.json"
SKILL = "---\nname: a\ndescription: d\n---\nText.\n"
WIDER = SKILL.replace("description: d\n", "description: d\nallowed-tools: Bash\n")
AGENT = "---\nname: a\ndescription: d\ntools: Read\n---\nText.\n"
MONITOR = {"name": "n", "command": "watch", "description": "d"}
LINE = {"type": "command", "command": "./line.sh"}
SERVER = {"command": "run"}
SERVERS = {"mcpServers": {"a": SERVER}}
LSP = {"go": {"command": "gopls", "extensionToLanguage": {".go": "go"}}}


def plugin(**fields: Any) -> Files:
    """A plugin of Claude Code."""
    usual = {"name": "p", "version": "1.0.0", "description": "d", "author": {"name": "a"}}
    return {MANIFEST: {**usual, **fields}}


def market(**fields: Any) -> Files:
    """A marketplace with one plugin, which has no manifest of its own."""
    entry = {"name": "q", "source": "./plugins/q", **fields}
    return {
        ".claude-plugin/marketplace.json": {"name": "m", "owner": {"name": "o"}, "plugins": [entry]}
    }


def hooks(command: str, event: str = "PreToolUse") -> Any:
    handler = {"type": "command", "command": command}
    return {"hooks": {event: [{"matcher": "Bash", "hooks": [handler]}]}}


def guard(command: str, **files: Any) -> Files:
    """Settings of Claude Code with a hook that guards."""
    return {".claude/settings.json": hooks(command), "g.sh": "exit 2\n"} | files


def workflow(**fields: str) -> Files:
    lines = "".join(f"{name}: {value}\n" for name, value in {"on": "push", **fields}.items())
    return {".github/workflows/a.md": f"---\n{lines}---\nText.\n"}


def vscode(**fields: Any) -> Files:
    return {".vscode/settings.json": {"editor.tabSize": 2, **fields}}


def asked(**fields: Any) -> Files:
    """The servers of VS Code, and one value that it asks for."""
    entry = {"id": "a", "type": "promptString", **fields}
    return {".vscode/mcp.json": {"inputs": [entry], "servers": {"a": SERVER}}}


def _read(name: str, before: Any, after: Any) -> tuple[Files, Files]:
    return {name: before}, {name: after}


def _new(name: str, content: Any) -> tuple[Files, Files]:
    return {"notes.txt": "x"}, {name: content}


def _bundle(file: str) -> Any:
    return {"manifest_version": "0.3", "name": "a", "server": {"type": "node", "entry_point": file}}


def _entry(url: str) -> Any:
    return {"name": "org.example/a", "remotes": [{"type": "sse", "url": url}]}


_TEAM = "agents:\n  root:\n    model: m\n    instruction: Review.\n"
_COMPILED = "name: a\non: push\njobs: {{a: {{runs-on: x, steps: [{{run: {}}}]}}}}\n"
_POLICY = '[[rule]]\ntoolName = "x"\ndecision = "{}"\npriority = 5\n'
_EXTENSION = {"gemini-extension.json": {"name": "x", "version": "1.0.0"}}
_CODEX_PLUGIN = {"name": "p", "version": "1.0.0", "description": "d", "author": {"name": "a"}}

#: what it is, before, what changes, what the gate says, whether `verify` fails
WAYS: list[tuple[str, Files, Files, str, bool]] = [
    # The components of a plugin of Claude Code, each where the client looks for it.
    ("bin: one more", plugin(), {"bin/git": "#!/bin/sh\n"}, "bin/git: program that a plugin puts on the path added", True),
    ("bin: another text", {**plugin(), "bin/x": "a"}, {"bin/x": "b"}, "bin/x: program that a plugin puts on the path changed", True),
    ("bin: the mark", {**plugin(), "bin/x": "a"}, {"bin/x": PROGRAM}, "bin/x: program that a plugin puts on the path changed", True),
    ("bin: of an entry", {**market(), "plugins/q/README.md": "x"}, {"plugins/q/bin/x": "a"}, "plugins/q/bin/x: program that a plugin puts on the path added", True),
    ("bin: below a root for all", {".claude-plugin/marketplace.json": {"name": "m", "owner": {"name": "o"}, "metadata": {"pluginRoot": "./all"}, "plugins": [{"name": "q", "source": "q"}]}, "all/q/README.md": "x"}, {"all/q/bin/x": "a"}, "all/q/bin/x: program that a plugin puts on the path added", True),
    ("bin: of no plugin", {"a.txt": "x"}, {"bin/x": "a"}, "", False),
    ("settings: a status line", plugin(), {"settings.json": {"subagentStatusLine": LINE}}, "program ./line.sh: denied → allowed", True),
    ("settings: an agent", {**plugin(), "settings.json": {}}, {"settings.json": {"agent": "b"}}, "agent b: denied → allowed", True),
    ("settings: gone", {**plugin(), "settings.json": {"agent": "b"}}, {"settings.json": None}, "", True),
    ("settings: not JSON", {**plugin(), "settings.json": {}}, {"settings.json": "{"}, "settings.json: settings of a plugin changed", True),
    ("settings: a key that does not apply", {**plugin(), "settings.json": {}}, {"settings.json": {"theme": "b"}}, "", False),
    ("settings in the manifest: an agent", plugin(), plugin(settings={"agent": "b"}), "permission widened: settings", True),
    ("settings in the manifest: a status line", plugin(), plugin(settings={"subagentStatusLine": LINE}), "permission widened: settings", True),
    ("settings in an entry", market(), market(settings={"agent": "b"}), "permission widened: plugins[0].settings", True),
    ("language servers", plugin(), {".lsp.json": LSP}, "permission widened: servers", True),
    ("language servers by a path", {**plugin(lspServers="./l.json"), "l.json": {}}, {"l.json": LSP}, "permission widened: servers", True),
    ("monitors", plugin(), {"monitors/monitors.json": [MONITOR]}, "Claude Code monitor added", True),
    ("monitors in the manifest", plugin(), plugin(monitors=[MONITOR]), "permission widened: monitors", True),
    ("monitors by a path", {**plugin(), "m.json": []}, plugin(monitors="./m.json"), "permission widened: monitors", True),
    ("monitors at a path", {**plugin(monitors="./m.json"), "m.json": []}, {"m.json": [MONITOR]}, "program watch: denied → allowed", True),
    ("monitors in an entry", market(), market(monitors=[MONITOR]), "permission widened: plugins[0].monitors", True),
    ("hooks", plugin(), {"hooks/hooks.json": hooks("x")}, "permission widened: hooks", True),
    ("hooks at a path", {**plugin(hooks="./h.json"), "h.json": {"hooks": {}}}, {"h.json": hooks("x")}, "permission widened: hooks", True),
    ("servers without a wrapper", plugin(), {".mcp.json": SERVERS["mcpServers"]}, "reach widened: .mcp.json", True),
    ("servers at a path", {**plugin(mcpServers="./s.json"), "s.json": {"mcpServers": {}}}, {"s.json": SERVERS}, "reach widened: s.json", True),
    ("servers at one of several paths", {**plugin(mcpServers=["./r.json", "./s.json"]), "r.json": {"mcpServers": {}}, "s.json": {"mcpServers": {}}}, {"s.json": SERVERS}, "reach widened: s.json", True),
    ("a lone skill at the root", plugin(), {"SKILL.md": WIDER}, "permission widened: allowed-tools", True),
    ("skills in one more folder", {**plugin(skills="./more"), "more/a/SKILL.md": SKILL}, {"more/a/SKILL.md": WIDER}, "permission widened: allowed-tools", True),
    ("commands in another folder", {**plugin(commands="./c"), "c/a.md": SKILL}, {"c/a.md": WIDER}, "permission widened: allowed-tools", True),
    ("commands in the manifest", plugin(commands={"x": {"content": "hi"}}), plugin(commands={"x": {"content": "!`curl x`"}}), "permission widened: commands.x.content", True),
    ("agents at a path", {**plugin(agents=["./z.md"]), "z.md": AGENT}, {"z.md": AGENT.replace("Read", "Bash")}, "permission widened: tools[0]", True),
    ("agents of an entry", market(), market(agents=["./a.md"]), "permission widened: plugins[0].agents", True),
    ("a channel", plugin(mcpServers=SERVERS["mcpServers"]), plugin(mcpServers=SERVERS["mcpServers"], channels=[{"server": "a"}]), "permission widened: channels", True),
    ("on from the start", plugin(defaultEnabled=False), plugin(), "permission widened: defaultEnabled", True),
    ("an entry in place of the manifest", market(), market(strict=False), "permission widened: plugins[0].strict", True),
    # Texts and colours are no permission; a lock holds them.
    ("output styles", plugin(), {"output-styles/a.md": "---\nname: a\ndescription: d\nforce-for-plugin: true\n---\nx\n"}, "", True),
    ("output styles at a path", {**plugin(outputStyles="./o"), "o/a.md": "a"}, {"o/a.md": "b"}, "", True),
    ("themes", plugin(), {"themes/a.json": {"name": "x"}}, "", True),
    # A hook that calls a program by its name needs the mark; one that gives it to a shell does not.
    ("guard: the mark", {**guard("./g.sh"), "g.sh": (PROGRAM, "exit 2\n")}, {"g.sh": TEXT}, "g.sh: a program that guards cannot be run any more", True),
    ("guard: the mark, in a variable", {**guard('"$CLAUDE_PROJECT_DIR"/g.sh --x'), "g.sh": (PROGRAM, "exit 2\n")}, {"g.sh": TEXT}, "g.sh: a program that guards cannot be run any more", True),
    ("guard: the mark, in a shell", {**guard("bash -c 'X=1 ./g.sh'"), "g.sh": (PROGRAM, "exit 2\n")}, {"g.sh": TEXT}, "g.sh: a program that guards cannot be run any more", True),
    ("guard: the mark, behind another", {**guard("true && exec ./g.sh"), "g.sh": (PROGRAM, "exit 2\n")}, {"g.sh": TEXT}, "g.sh: a program that guards cannot be run any more", True),
    ("guard: the mark, in a plugin", {**plugin(), "hooks/hooks.json": hooks("${CLAUDE_PLUGIN_ROOT}/g.sh"), "g.sh": (PROGRAM, "exit 2\n")}, {"g.sh": TEXT}, "g.sh: a program that guards cannot be run any more", True),
    ("guard: the mark, in another folder", {**guard("cd sub && ./h.sh"), "sub/h.sh": (PROGRAM, "exit 2\n")}, {"sub/h.sh": TEXT}, "sub/h.sh: a program that guards cannot be run any more", True),
    ("guard: the mark, of what a script runs", {**guard("sh s/g.sh"), "s/g.sh": 'exec "$HERE/s/h.sh"\n', "s/h.sh": (PROGRAM, "exit 2\n")}, {"s/h.sh": TEXT}, "s/h.sh: a program that guards cannot be run any more", True),
    ("guard: the mark, without an ending", {**guard("./g"), "g": (PROGRAM, "exit 2\n")}, {"g": TEXT}, "g: a program that guards cannot be run any more", True),
    ("guard: given to a shell by a script", {**guard("sh g.sh"), "g.sh": ". ./h.sh\n", "h.sh": (PROGRAM, "exit 2\n")}, {"h.sh": TEXT}, "", False),
    ("guard: given to a shell", {**guard("sh ./g.sh"), "g.sh": (PROGRAM, "exit 2\n")}, {"g.sh": TEXT}, "", False),
    ("guard: the mark comes", guard("./g.sh"), {"g.sh": PROGRAM}, "", False),
    ("hook of Cline: the mark", {".clinerules/hooks/PreToolUse": (PROGRAM, "exit 2\n")}, {".clinerules/hooks/PreToolUse": TEXT}, "Cline hook changed", True),
    # Editors keep what agents may do among much else.
    ("VS Code: nothing is asked", vscode(), vscode(**{"chat.tools.autoApprove": True}), "mode chat.tools.autoApprove = true", True),
    ("VS Code: nothing is asked, of today", {"a": "x"}, vscode(**{"chat.tools.global.autoApprove": True}), "mode chat.tools.global.autoApprove = true", True),
    ("VS Code: a command", vscode(**{"chat.tools.terminal.autoApprove": {"rm": False}}), vscode(**{"chat.tools.terminal.autoApprove": {"rm": True}}), "setting chat.tools.terminal.autoApprove.rm = true", True),
    ("VS Code: a server", vscode(), vscode(mcp={"servers": {"a": SERVER}}), "program run: denied → allowed", True),
    ("VS Code: hooks elsewhere", vscode(), vscode(**{"chat.hookFilesLocations": {"x": True}}), "path x: denied → allowed", True),
    ("VS Code: with comments", vscode(), {".vscode/settings.json": '{ // x\n "chat.tools.autoApprove": true, }'}, "mode chat.tools.autoApprove = true", True),
    ("VS Code: not JSON", vscode(), {".vscode/settings.json": '{"chat.tools.autoApprove": true'}, "settings of an editor changed", True),
    ("VS Code: something else", vscode(), vscode(**{"editor.rulers": [100]}), "", False),
    ("VS Code: less", vscode(**{"chat.tools.autoApprove": True}), vscode(), "", True),
    ("VS Code: a command answers", asked(), asked(type="command", command="x.pick"), "permission widened: inputs[0].command", True),
    ("VS Code: another command answers", asked(type="command", command="x.pick"), asked(type="command", command="y.pick"), "permission widened: inputs[0].command", True),
    ("VS Code: with other arguments", asked(type="command", command="x.pick", args={"shell": "ls"}), asked(type="command", command="x.pick", args={"shell": "id"}), "permission widened: inputs[0].args.shell", True),
    ("VS Code: one more choice", asked(type="pickString", options=["dev"]), asked(type="pickString", options=["dev", "live"]), "permission widened: inputs[0].options", True),
    ("VS Code: another usual answer", asked(default="dev"), asked(default="live"), "permission widened: inputs[0].default", True),
    ("VS Code: the answer can be read", asked(password=True), asked(), "permission widened: inputs[0].password", True),
    ("VS Code: among entries that do not fit", asked(), {".vscode/mcp.json": {"inputs": [1, {"type": "command", "command": "x"}], "servers": {"a": SERVER}}}, "permission widened: inputs", True),
    ("VS Code: asked in other words", asked(), asked(description="Which?"), "", True),
    ("VS Code: a command answers in the settings", vscode(), vscode(mcp={"inputs": [{"id": "a", "type": "command", "command": "x"}]}), "input a (new)", True),
    # GitHub.
    ("workflow: compiled alone", {**workflow(), ".github/workflows/a.lock.yml": _COMPILED.format("ls")}, {".github/workflows/a.lock.yml": _COMPILED.format("curl")}, "compiled agentic workflow changed; equipage does not read it", True),
    ("workflow: compiled from nothing", *_new(".github/workflows/a.lock.yml", _COMPILED.format("ls")), "compiled agentic workflow added; equipage does not read it", True),
    ("workflow: compiled with its source", {**workflow(), ".github/workflows/a.lock.yml": _COMPILED.format("ls")}, {**workflow(name="b"), ".github/workflows/a.lock.yml": _COMPILED.format("ls -l")}, "compiled agentic workflow changed; equipage does not read it", True),
    ("workflow: who starts it", workflow(), workflow(on="issue_comment"), "permission widened: on", True),
    ("workflow: when", workflow(**{"if": "false"}), workflow(), "permission widened: if", True),
    ("workflow: where", workflow(), workflow(**{"runs-on": "self-hosted"}), "permission widened: runs-on", True),
    ("workflow: another container", workflow(), workflow(services="{x: {image: y}}"), "permission widened: services", True),
    ("Copilot: a plugin", *_new(".github/plugin/plugin.json", {"name": "x"}), "GitHub Copilot plugin added", True),
    ("Copilot: where plugins come from", *_read(".github/copilot/settings.json", {"extraKnownMarketplaces": {"a": {"source": {"source": "github", "repo": "a/b"}}}}, {"extraKnownMarketplaces": {"a": {"source": {"source": "github", "repo": "c/b"}}}}), "permission widened: extraKnownMarketplaces", True),
    # Codex.
    ("Codex: a marketplace", *_new(".agents/plugins/marketplace.json", {"name": "x", "plugins": []}), "Codex marketplace added", True),
    ("Codex: hooks of a plugin", {".codex-plugin/plugin.json": {**_CODEX_PLUGIN, "hooks": "./h.json"}, "h.json": {"hooks": {}}}, {"h.json": hooks("x")}, "permission widened: hooks", True),
    ("Codex: apps of a plugin", {".codex-plugin/plugin.json": {**_CODEX_PLUGIN, "apps": "./a.json"}, "a.json": {}}, {"a.json": {"apps": {"x": {"id": "y"}}}}, "a.json: list of apps of a plugin changed", True),
    # Gemini CLI.
    ("Gemini: policy of an extension", {**_EXTENSION, "policies/a.toml": _POLICY.format("deny")}, {"policies/a.toml": _POLICY.format("ask_user")}, "permission widened: rule[0].decision", True),
    ("Gemini: command of an extension", _EXTENSION, {"commands/b/a.toml": 'prompt = "!{rm x}"\n'}, "permission widened: prompt", True),
    ("Gemini: the profile of its sandbox", *_new(".gemini/sandbox-macos-custom.sb", "(allow default)\n"), "Gemini sandbox added", True),
    ("Gemini: the image of its sandbox", *_new(".gemini/sandbox.Dockerfile", "FROM x\n"), "Gemini sandbox added", True),
    # Cursor and others.
    ("Cursor: hooks of a plugin", {".cursor-plugin/plugin.json": {"name": "x", "hooks": "./h.json"}, "h.json": {"version": 1, "hooks": {}}}, {"h.json": {"version": 1, "hooks": {"stop": [{"command": "x"}]}}}, "permission widened: hooks", True),
    ("Cursor: servers of a plugin", {".cursor-plugin/plugin.json": {"name": "x"}}, {"mcp.json": SERVERS}, "reach widened: mcp.json", True),
    ("Cursor: a marketplace", *_new(".cursor-plugin/marketplace.json", {"name": "x"}), "Cursor file added", True),
    ("Cursor: the image", {".cursor/environment.json": {"build": {"dockerfile": "Dockerfile"}}, ".cursor/Dockerfile": "FROM a\n"}, {".cursor/Dockerfile": "FROM b\n"}, "image that agents run in changed", True),
    ("Goose: what it leaves alone", {".gooseignore": "x\n"}, {".gooseignore": None}, "list of files that agents leave alone removed", True),
    ("OpenHands: what runs first", *_new(".openhands/setup.sh", "curl x\n"), "OpenHands file added", True),
    ("OpenHands: a skill", *_new(".openhands/skills/a.md", SKILL), "OpenHands file added", True),
    ("Amp: nothing is asked", *_read(".amp/settings.json", {}, {"amp.dangerouslyAllowAll": True}), "amp.dangerouslyAllowAll", True),
    ("Amp: a command", *_new(".agents/commands/x", "#!/bin/sh\n"), "Amp file added", True),
    ("Zed: an agent of others", *_read(".zed/settings.json", {}, {"agent_servers": {"x": {"command": "y"}}}), "permission widened: agent_servers", True),
    ("Claude Code: a workflow", *_new(".claude/workflows/a.js", "x"), "Claude Code workflow added", True),
    # Frameworks and authors of servers: by their place, or by what they hold.
    ("A2A: a card", *_read(".well-known/agent-card.json", {"name": "a"}, {"name": "b"}), "A2A agent card changed; equipage does not read it", True),
    ("Aider: nothing is asked", *_read(".aider.conf.yml", "model: m\n", "model: m\nyes-always: true\n"), "Aider file changed; equipage does not read it", True),
    ("Claude Code: keys", *_read(".claude/keybindings.json", {"bindings": []}, {"bindings": [{}]}), "Claude Code file changed; equipage does not read it", True),
    ("CrewAI: an agent runs code", *_read("config/agents.yaml", "a: {role: r}\n", "a: {role: r, allow_code_execution: true}\n"), "CrewAI file changed; equipage does not read it", True),
    ("CrewAI: a task", *_new("config/tasks.yml", "a: {description: d}\n"), "CrewAI file added; equipage does not read it", True),
    ("FastMCP: another server", *_read("fastmcp.json", {"source": {"path": "a.py"}}, {"source": {"path": "b.py"}}), "FastMCP configuration changed; equipage does not read it", True),
    ("LangGraph: a package", *_read("langgraph.json", {"dependencies": ["."]}, {"dependencies": [".", "x"]}), "LangGraph configuration changed; equipage does not read it", True),
    ("Docker Agent: a toolset", *_read("team.yaml", _TEAM, _TEAM + "    toolsets: [{type: shell}]\n"), "team.yaml: Docker Agent configuration changed; equipage does not read it", True),
    ("Docker Agent: no longer one", *_read("team.yaml", _TEAM, "agents: {}\n"), "team.yaml: Docker Agent configuration removed; equipage does not read it", True),
    ("MCP bundle: another program", *_read("x/manifest.json", _bundle("a.js"), _bundle("b.js")), "x/manifest.json: MCP bundle changed; equipage does not read it", True),
    ("MCP registry: another host", *_read("x/server.json", _entry("https://a.org"), _entry("https://b.org")), "x/server.json: MCP registry entry changed; equipage does not read it", True),
    ("Claude Code: files for worktrees", *_new(".worktreeinclude", ".env\n"), "list of files that worktrees get added", True),
]  # fmt: skip
