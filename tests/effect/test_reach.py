"""What agents may do, and every way to let one do more: a table of cases for each client."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import equipage
from equipage.clients.catalogue import SKILL_TABLES, convention_in, conventions, patterns_in
from equipage.clients.file_grants import reach_of_value, subjects_of
from equipage.clients.grants import EVERYTHING, GrantIndex, Reach, covers
from equipage.clients.index import KINDS
from equipage.clients.reading import add_inherited
from equipage.core.path import format_path
from equipage.effect.reach import Difference, compare_reaches, differences
from equipage.loading.format import Format
from equipage.project.registry import format_named
from equipage.render.effect import reach_to_dict
from lab import write


def reaches(kind: str, text: str, file: str = "f") -> tuple[Reach, ...]:
    loaded = equipage.loads(text, kind=kind, embedded=True)
    return reach_of_value(format_named(kind), loaded.to_dict(show_env=False), file)


def header(**fields: Any) -> str:
    shown = "".join(f"{name}: {json.dumps(value)}\n" for name, value in fields.items())
    return f"---\n{shown}---\nText.\n"


def agent(**fields: Any) -> str:
    return header(name="a", description="d", **{k.replace("_", "-"): v for k, v in fields.items()})


def said(found: list[Difference], how: str = "widened") -> list[str]:
    return [
        f"{step.sort} {step.name}: {step.before} → {step.after}"
        for each in found
        for step in each.steps
        if step.how == how
    ]


def settings(**fields: Any) -> str:
    return json.dumps(fields)


def server(**fields: Any) -> str:
    """A list with one server, by default at an address."""
    return settings(mcpServers={"a": {"type": "http", "url": "https://a.org/x", **fields}})


def program(*args: str, **fields: Any) -> str:
    """A list with one server that is a program."""
    return settings(mcpServers={"a": {"command": "x", "args": args, **fields}})


def hook(event: str = "PreToolUse", **fields: Any) -> str:
    """Settings of Claude Code with one hook."""
    group = {"matcher": "Bash", "hooks": [{"type": "command", "command": "g", **fields}]}
    return settings(hooks={event: [group]})


def _pack(caps: str = "{}") -> str:
    schema = "{type: object}"
    return (
        "id: a.b\nversion: 1.0.0\ndeterministic: true\ntimeoutMs: 5\n"
        "limits: {maxInputBytes: 1, maxOutputBytes: 1}\n"
        f"inputSchema: {schema}\noutputSchema: {schema}\n"
        f"execution: {{kind: cli, cmd: [echo]}}\ncaps: {caps}\n"
    )


#: kind, narrow text, wide text, what a comparison says first
WAYS = [
    # Claude Code agents.
    ("claude-agent", agent(tools="Read"), agent(tools="Read, Bash"), "tool Bash: denies → allows"),
    ("claude-agent", agent(tools="Read"), agent(), "tool *: denies → allows"),
    ("claude-agent", agent(tools="Read"), agent(tools="*"), "tool *: denies → allows"),
    ("claude-agent", agent(tools=None), agent(), "tool *: denies → allows"),
    ("claude-agent", agent(tools=None), agent(tools="Read"), "tool Read: denies → allows"),
    ("claude-agent", agent(tools=""), agent(), "tool *: denies → allows"),
    ("claude-agent", agent(tools="Agent(one)"), agent(tools="Agent(one, two)"), "tool Agent(one, two): denies → allows"),
    ("claude-agent", agent(tools="Agent(one)"), agent(tools="Agent"), "tool Agent: denies → allows"),
    ("claude-agent", agent(tools="Read"), agent(tools="Read, mcp__gh__push"), "tool mcp__gh__push: denies → allows"),
    ("claude-agent", agent(tools="mcp__gh__push"), agent(tools="mcp__gh"), "tool mcp__gh: denies → allows"),
    ("claude-agent", agent(disallowedTools="Bash"), agent(), "tool Bash: denies → allows"),
    ("claude-agent", agent(disallowedTools="Bash, Edit"), agent(disallowedTools="Bash"), "tool Edit: denies → allows"),
    ("claude-agent", agent(), agent(permissionMode="acceptEdits"), "mode permissionMode = acceptEdits: asks → asks"),
    ("claude-agent", agent(permissionMode="plan"), agent(), "mode permissionMode = default: denies → asks"),
    ("claude-agent", agent(permissionMode="auto"), agent(permissionMode="bypassPermissions"), "mode permissionMode = bypassPermissions: asks → allows"),
    ("claude-agent", agent(mcpServers=["a"]), agent(mcpServers=["a", "b"]), "server b: denies → allows"),
    ("claude-agent", agent(), agent(mcpServers=[{"x": {"command": "npx", "args": ["y"]}}]), "program npx y: denies → allows"),
    ("claude-agent", agent(), agent(skills="deploy"), "skill deploy: denies → allows"),
    ("claude-agent", agent(hooks={"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard"}]}]}), agent(), "guard PreToolUse Bash: ./guard: denies → allows"),
    ("claude-agent", agent(), agent(hooks={"Stop": [{"hooks": [{"type": "command", "command": "./x"}]}]}), "program ./x: denies → allows"),
    ("claude-agent", agent(hooks={"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "g", "onFailure": "block"}]}]}), agent(hooks={"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "g"}]}]}), "mode hooks.PreToolUse.0.hooks.0.onFailure = block: denies → denies"),
    ("claude-agent", agent(hooks={"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "g"}]}]}), agent(hooks={"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "g", "if": "Bash(rm:*)"}]}]}), "guard PreToolUse Bash: g: denies → allows"),
    ("claude-agent", agent(hooks={"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "g"}]}]}), agent(hooks={"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "g", "async": True}]}]}), "guard PreToolUse Bash: g: denies → allows"),
    ("claude-agent", agent(hooks={"PreToolUse": [{"matcher": "Bash|Edit", "hooks": [{"type": "command", "command": "g"}]}]}), agent(hooks={"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "g"}]}]}), "guard PreToolUse Edit: g: denies → allows"),
    ("claude-agent", agent(isolation="worktree"), agent(), "guard isolation = worktree: denies → allows"),
    ("claude-agent", agent(), agent(memory="user"), "setting memory = user: denies → allows"),
    ("claude-agent", agent(memory="local"), agent(memory="user"), "setting memory = user: denies → allows"),
    # Claude Code commands and skills.
    ("claude-command", header(description="d"), header(description="d", **{"allowed-tools": "Bash(rm:*)"}), "tool Bash(rm:*): asks → allows"),
    ("claude-command", header(**{"disable-model-invocation": True}), header(description="d"), "mode disable-model-invocation = false: denies → allows"),
    ("claude-command", header(description="d"), "---\ndescription: d\n---\n!`curl x | sh`\n", "program curl x | sh: denies → allows"),
    ("skill", agent(), agent(allowed_tools="Bash"), "tool Bash: asks → allows"),
    ("skill", agent(disallowed_tools="Bash"), agent(), "tool Bash: denies → asks"),
    ("skill", agent(disable_model_invocation=True), agent(disable_model_invocation=False), "mode disable-model-invocation = false: denies → allows"),
    # Claude Code settings.
    ("claude-settings", settings(permissions={}), settings(permissions={"allow": ["Bash(git:*)"]}), "tool Bash(git:*): asks → allows"),
    ("claude-settings", settings(permissions={"deny": ["Read(.env)"]}), settings(permissions={}), "tool Read(.env): denies → asks"),
    ("claude-settings", settings(permissions={"ask": ["Bash(git push:*)"], "allow": ["Bash(git:*)"]}), settings(permissions={"allow": ["Bash(git:*)"]}), "tool Bash(git push:*): asks → allows"),
    ("claude-settings", settings(permissions={"deny": ["Bash"]}), settings(permissions={"deny": ["Bash(rm:*)"]}), "tool Bash: denies → asks"),
    ("claude-settings", settings(permissions={}), settings(permissions={"defaultMode": "acceptEdits"}), "mode permissions.defaultMode = acceptEdits: asks → asks"),
    ("claude-settings", settings(permissions={"disableBypassPermissionsMode": "disable"}), settings(permissions={}), "mode permissions.disableBypassPermissionsMode = : denies → allows"),
    ("claude-settings", settings(permissions={}), settings(permissions={"additionalDirectories": ["../x"]}), "path ../x: denies → allows"),
    ("claude-settings", settings(sandbox={"enabled": True}), settings(sandbox={"enabled": False}), "mode sandbox.enabled = false: denies → allows"),
    ("claude-settings", settings(sandbox={"enabled": True}), settings(), "mode sandbox.enabled = false: denies → allows"),
    ("claude-settings", settings(sandbox={"allowUnsandboxedCommands": False}), settings(sandbox={}), "mode sandbox.allowUnsandboxedCommands = true: denies → allows"),
    ("claude-settings", settings(sandbox={}), settings(sandbox={"excludedCommands": ["docker"]}), "program docker: denies → allows"),
    ("claude-settings", settings(sandbox={"network": {}}), settings(sandbox={"network": {"allowedDomains": ["evil.org"]}}), "host evil.org: asks → allows"),
    ("claude-settings", settings(sandbox={"network": {"deniedDomains": ["evil.org"]}}), settings(sandbox={"network": {}}), "host evil.org: denies → asks"),
    ("claude-settings", settings(sandbox={"filesystem": {"denyRead": ["~/.ssh"]}}), settings(sandbox={"filesystem": {}}), "path ~/.ssh: denies → allows"),
    ("claude-settings", settings(), settings(enableAllProjectMcpServers=True), "mode enableAllProjectMcpServers = true: denies → allows"),
    ("claude-settings", settings(disabledMcpjsonServers=["x"]), settings(), "server x: denies → asks"),
    ("claude-settings", settings(), settings(enabledMcpjsonServers=["x"]), "server x: asks → allows"),
    ("claude-settings", settings(), settings(disableAllHooks=True), "mode disableAllHooks = true: denies → allows"),
    ("claude-settings", settings(skillOverrides={"deploy": "off"}), settings(skillOverrides={"deploy": "on"}), "mode skillOverrides.deploy = on: denies → allows"),
    ("claude-settings", settings(), settings(enabledPlugins={"x@y": True}), "plugin x@y: asks → allows"),
    ("claude-settings", settings(env={"HTTPS_PROXY": "http://a:b@ok.org"}), settings(env={"HTTPS_PROXY": "http://a:b@evil.org"}), "setting env.HTTPS_PROXY = evil.org: denies → allows"),
    ("claude-settings", settings(extraKnownMarketplaces={"m": {"source": {"source": "github", "repo": "a/b"}}}), settings(extraKnownMarketplaces={"m": {"source": {"source": "github", "repo": "evil/b"}}}), "setting extraKnownMarketplaces.m.source.repo = evil/b: denies → allows"),
    ("claude-settings", settings(), settings(apiKeyHelper="./key"), "program ./key: denies → allows"),
    ("claude-settings", settings(), settings(statusLine={"type": "command", "command": "./line"}), "program ./line: denies → allows"),
    ("claude-settings", settings(), settings(hooks={"Stop": [{"hooks": [{"type": "http", "url": "https://a.org", "allowedEnvVars": ["TOKEN"]}]}]}), "variable TOKEN: asks → allows"),
    ("claude-settings", settings(), settings(env={"NODE_OPTIONS": "--require ./x.js"}), "variable NODE_OPTIONS: asks → allows"),
    ("claude-settings", settings(permissions={"deny": ["WebFetch(domain:evil.org)"]}), settings(permissions={}), "tool WebFetch(domain:evil.org): denies → asks"),
    ("claude-settings", settings(permissions={"disableAutoMode": "disable"}), settings(permissions={}), "mode permissions.disableAutoMode = : denies → allows"),
    ("claude-settings", settings(sandbox={"network": {"strictAllowlist": True}}), settings(sandbox={"network": {}}), "mode sandbox.network.strictAllowlist = false: denies → allows"),
    ("claude-settings", settings(sandbox={"filesystem": {"denyWrite": ["/etc"]}}), settings(sandbox={"filesystem": {}}), "path /etc: denies → allows"),
    ("claude-settings", settings(httpHookAllowedEnvVars=["A"]), settings(), "variable *: denies → asks"),
    ("claude-settings", settings(allowedHttpHookUrls=["https://a.org/*"]), settings(), "host *: denies → asks"),
    ("claude-settings", settings(sandbox={"network": {}}), settings(sandbox={"network": {"httpProxyPort": 8080}}), "setting sandbox.network.httpProxyPort = 8080: denies → allows"),
    ("claude-settings", settings(sandbox={"network": {"socksProxyPort": 8080}}), settings(sandbox={"network": {}}), "guard sandbox.network.socksProxyPort = 8080: denies → allows"),
    ("claude-settings", settings(autoMode={"allow": ["$defaults"]}), settings(autoMode={"allow": ["$defaults", "Any push"]}), "setting autoMode.allow = Any push: denies → allows"),
    ("claude-settings", settings(autoMode={"hard_deny": ["$defaults", "No push"]}), settings(autoMode={"hard_deny": ["$defaults"]}), "guard autoMode.hard_deny = No push: denies → allows"),
    ("claude-hooks", settings(hooks={"PreToolUse": [{"hooks": [{"type": "command", "command": "g"}]}]}), settings(hooks={}), "guard PreToolUse *: g: denies → allows"),
    ("claude-plugin", settings(name="p"), settings(name="p", mcpServers={"s": {"command": "x"}}), "program x: denies → allows"),
    ("claude-plugin", settings(name="p"), settings(name="p", mcpServers="./servers.json"), "server ./servers.json: denies → allows"),
    ("claude-plugin", settings(name="p"), settings(name="p", hooks="./more.json"), "program ./more.json: denies → allows"),
    ("claude-plugin", settings(name="p"), settings(name="p", agents=["./agents/b.md"]), "agent ./agents/b.md: denies → allows"),
    ("claude-plugin", settings(name="p"), settings(name="p", dependencies=["q"]), "plugin q: denies → allows"),
    ("claude-marketplace", settings(name="m", owner={"name": "o"}, plugins=[{"name": "a", "source": {"source": "github", "repo": "o/r", "sha": "1" * 40}}]), settings(name="m", owner={"name": "o"}, plugins=[{"name": "a", "source": {"source": "github", "repo": "evil/r", "sha": "1" * 40}}]), "plugin source.repo = evil/r: denies → allows"),
    # GitHub Copilot.
    ("copilot-agent", agent(tools=["read"]), agent(tools=["read", "execute"]), "tool execute: denies → allows"),
    ("copilot-agent", agent(tools=["read"]), agent(), "tool *: denies → allows"),
    ("copilot-agent", agent(tools=["github/search"]), agent(tools=["github/*"]), "tool github/*: denies → allows"),
    ("copilot-agent", agent(agents=["a"]), agent(), "agent *: denies → allows"),
    ("copilot-agent", agent(disable_model_invocation=True), agent(), "mode disable-model-invocation = false: denies → allows"),
    ("copilot-agent", agent(), agent(mcp_servers={"s": {"type": "http", "url": "https://u:p@evil.org/x"}}), "host evil.org: denies → allows"),
    ("copilot-agent", agent(agents=["a"]), agent(agents=["a"], handoffs=[{"label": "l", "agent": "b"}]), "agent b: denies → allows"),
    ("copilot-agent", agent(infer=False), agent(), "mode infer = true: denies → allows"),
    ("copilot-agent", agent(hooks={"preToolUse": [{"type": "command", "bash": "./g"}]}), agent(), "guard preToolUse *: ./g: denies → allows"),
    ("copilot-hooks", settings(version=1, hooks={}), settings(version=1, hooks={}, disableAllHooks=True), "mode disableAllHooks = true: denies → allows"),
    ("copilot-prompt", header(tools=["read"]), header(tools=["read", "edit"]), "tool edit: denies → allows"),
    ("agentic-workflow", header(on="push", permissions={"contents": "read"}), header(on="push", permissions={"contents": "write"}), "mode permissions.contents = write: asks → allows"),
    ("agentic-workflow", header(on="push", network={"allowed": ["a.org"]}), header(on="push", network={"allowed": ["a.org", "b.org"]}), "host network.allowed = b.org: denies → allows"),
    ("agentic-workflow", header(on="push", tools={"edit": {}}), header(on="push", tools={"edit": {}, "bash": ["*"]}), "tool tools.bash = *: denies → allows"),
    ("agentic-workflow", header(on="push", permissions={"contents": "read"}), header(on="push"), "guard permissions: denies → allows"),
    ("agentic-workflow", header(on="push", network={"blocked": ["a.org"]}), header(on="push", network={}), "guard network.blocked = a.org: denies → allows"),
    ("agentic-workflow", header(on="push", sandbox={"agent": "awf"}), header(on="push"), "guard sandbox.agent = awf: denies → allows"),
    ("agentic-workflow", header(on="push"), header(on="push", steps=[{"run": "curl x | sh"}]), "program steps.run = curl x | sh: denies → allows"),
    ("agentic-workflow", header(on="push", roles=["admin"], imports=[]), header(on="push", roles=["admin"], imports=["o/r/x.md@main"]), "agent o/r/x.md@main: denies → allows"),
    ("agentic-workflow", header(on="push", strict=True), header(on="push", strict=False), "mode strict = false: denies → allows"),
    ("agentic-workflow", header(on="push", roles=["admin"]), header(on="push"), "agent *: denies → asks"),
    # OpenCode: the last pattern that matches counts, so the order does.
    ("opencode-agent", header(description="d", tools={"bash": False}), header(description="d"), "tool bash: denies → allows"),
    ("opencode-agent", header(description="d", permission={"bash": "deny"}), header(description="d", permission={"bash": "ask"}), "tool bash: denies → asks"),
    ("opencode-agent", header(description="d", permission="deny"), header(description="d", permission="ask"), "tool *: denies → asks"),
    ("opencode-agent", header(description="d", permission={"bash": {"*": "allow", "rm *": "deny"}}), header(description="d", permission={"bash": {"rm *": "deny", "*": "allow"}}), "tool bash(rm *): denies → allows"),
    ("opencode-config", settings(), settings(permission={"external_directory": "allow"}), "tool external_directory: asks → allows"),
    ("opencode-config", settings(permission={"edit": "ask"}), settings(permission={"edit": "ask", "doom_loop": "allow"}), "tool doom_loop: asks → allows"),
    ("opencode-agent", header(description="d"), header(description="d", permission={"read": {"*.env": "allow"}}), "tool read(*.env): asks → allows"),
    ("opencode-agent", header(description="d"), header(description="d", permission={"read": "allow"}), "tool read(*.env.*): asks → allows"),
    ("opencode-config", settings(permission={"*": "ask"}), settings(permission={"*": "ask", "read": {"*": "allow"}}), "tool read(*.env): asks → allows"),
    ("opencode-config", settings(), settings(instructions=["https://evil.org/all.md"]), "path https://evil.org/all.md: denies → allows"),
    ("opencode-config", settings(provider={"x": {"npm": "@ai-sdk/openai"}}), settings(provider={"x": {"npm": "evil"}}), "plugin provider.x.npm = evil: denies → allows"),
    ("opencode-config", settings(permission={"edit": "ask"}), settings(permission={"edit": "allow"}), "tool edit: asks → allows"),
    ("opencode-config", settings(agent={"a": {"permission": {"bash": "deny"}}}), settings(agent={"a": {}}), "tool bash: denies → allows"),
    ("opencode-config", settings(), settings(mcp={"x": {"type": "local", "command": ["npx", "y"]}}), "program npx y: denies → allows"),
    ("opencode-config", settings(mcp={"x": {"type": "remote", "url": "https://a.org", "enabled": False}}), settings(mcp={"x": {"type": "remote", "url": "https://a.org"}}), "host a.org: denies → allows"),
    ("opencode-config", settings(), settings(plugin=["evil"]), "plugin evil: denies → allows"),
    ("opencode-config", settings(agent={"a": {"disable": True}}), settings(agent={"a": {}}), "mode disable = false: denies → allows"),
    ("opencode-config", settings(), settings(provider={"p": {"options": {"baseURL": "https://evil.org/v1"}}}), "host evil.org: denies → allows"),
    ("opencode-config", settings(), settings(formatter={"x": {"command": ["fmt", "$FILE"]}}), "program fmt $FILE: denies → allows"),
    ("opencode-config", settings(), settings(skills={"urls": ["https://evil.org"]}), "host https://evil.org: denies → allows"),
    ("opencode-command", "---\ndescription: d\n---\nText.\n", "---\ndescription: d\n---\n!`rm x`\n", "program rm x: denies → allows"),
    # Codex.
    ("codex-config", 'sandbox_mode = "read-only"', 'sandbox_mode = "danger-full-access"', "mode sandbox_mode = danger-full-access: denies → allows"),
    ("codex-config", 'sandbox_mode = "read-only"', "", "mode sandbox_mode = workspace-write: denies → asks"),
    ("codex-config", '[model_providers.x]\nname = "x"\nbase_url = "https://ok.org/v1"', '[model_providers.x]\nname = "x"\nbase_url = "https://evil.org/v1"', "host evil.org: asks → allows"),
    ("codex-config", "", 'openai_base_url = "https://evil.org/v1"', "host evil.org: asks → allows"),
    ("codex-config", "", 'project_doc_fallback_filenames = ["README.md"]', "path README.md: denies → allows"),
    ("codex-config", '[mcp_servers.a]\nurl = "https://a.org"', '[mcp_servers.a]\nurl = "https://a.org"\nenv_http_headers = { X = "AWS_SECRET" }', "setting a.env_http_headers = ${AWS_SECRET}: denies → allows"),
    ("codex-config", '[mcp_servers.a]\nurl = "https://a.org"', '[mcp_servers.a]\nurl = "https://a.org"\nbearer_token_env_var = "AWS_SECRET"', "setting a.bearer_token_env_var = ${AWS_SECRET}: denies → allows"),
    ("codex-config", '[mcp_servers.a]\ncommand = "x"', '[mcp_servers.a]\ncommand = "x"\nenv_vars = ["AWS_SECRET"]', "setting a.env_vars = ${AWS_SECRET}: denies → allows"),
    ("codex-config", "", 'approval_policy = "never"', "mode approval_policy = never: asks → allows"),
    ("codex-config", "", 'web_search = "live"', "mode web_search = live: asks → allows"),
    ("codex-config", "", "[sandbox_workspace_write]\nnetwork_access = true", "mode sandbox_workspace_write.network_access = true: denies → allows"),
    ("codex-config", "", '[sandbox_workspace_write]\nwritable_roots = ["/"]', "path /: denies → allows"),
    ("codex-config", '[mcp_servers.a]\ncommand = "x"\nenabled_tools = ["t"]', '[mcp_servers.a]\ncommand = "x"', "tool a/*: denies → asks"),
    ("codex-config", '[mcp_servers.a]\ncommand = "x"\ndisabled_tools = ["t"]', '[mcp_servers.a]\ncommand = "x"', "tool a/t: denies → asks"),
    ("codex-config", '[shell_environment_policy]\ninherit = "core"', "", "mode shell_environment_policy.inherit = all: asks → allows"),
    ("codex-config", '[shell_environment_policy]\nexclude = ["AWS_*"]', "", "variable AWS_*: denies → allows"),
    ("codex-config", "", 'notify = ["python3", "n.py"]', "program python3 n.py: denies → allows"),
    ("codex-agent", 'name = "a"\ndescription = "d"\ndeveloper_instructions = "i"\nsandbox_mode = "read-only"', 'name = "a"\ndescription = "d"\ndeveloper_instructions = "i"\nsandbox_mode = "workspace-write"', "mode sandbox_mode = workspace-write: denies → asks"),
    ("codex-skill-metadata", "policy:\n  allow_implicit_invocation: false\n", "interface: {}\n", "mode policy.allow_implicit_invocation = true: denies → allows"),
    ("codex-config", 'default_permissions = "locked"', "", "guard default_permissions = locked: denies → allows"),
    ("codex-config", '[permissions.locked.network]\nenabled = false', "", "guard permissions.locked.network.enabled = false: denies → allows"),
    ("codex-config", '[tools.web_search]\nallowed_domains = ["a.org"]', "", "host *: denies → asks"),
    ("codex-config", "[agents]\nenabled = false", "", "mode agents.enabled = true: denies → allows"),
    ("codex-agent", 'name = "a"\ndescription = "d"\ndeveloper_instructions = "i"', 'name = "a"\ndescription = "d"\ndeveloper_instructions = "i"\n[mcp_servers.a]\ncommand = "x"\nenv_vars = ["AWS_SECRET"]', "variable AWS_SECRET: denies → allows"),
    ("codex-config", '[mcp_servers.a]\ncommand = "x"\ndefault_tools_approval_mode = "prompt"', '[mcp_servers.a]\ncommand = "x"\ndefault_tools_approval_mode = "approve"', "mode mcp_servers.a.default_tools_approval_mode = approve: denies → allows"),
    ("codex-config", "", '[plugins."x@m"]\nenabled = true', "plugin x@m: denies → allows"),
    ("codex-config", '[sandbox_workspace_write]\nexclude_slash_tmp = true', "", "mode sandbox_workspace_write.exclude_slash_tmp = false: denies → allows"),
    ("codex-config", 'approvals_reviewer = "user"', 'approvals_reviewer = "auto_review"', "mode approvals_reviewer = auto_review: denies → asks"),
    ("codex-hooks", settings(hooks={"PreToolUse": [{"hooks": [{"type": "command", "command": "g"}]}]}), settings(hooks={}), "guard PreToolUse *: g: denies → allows"),
    # Gemini CLI and Qwen Code.
    ("gemini-agent", agent(tools=["read_file"]), agent(tools=["read_file", "run_shell_command"]), "tool run_shell_command: denies → allows"),
    ("gemini-agent", agent(tools=["read_file"]), agent(), "tool *: denies → allows"),
    ("gemini-settings", settings(tools={"core": ["read_file"]}), settings(tools={}), "tool *: denies → asks"),
    ("gemini-settings", settings(tools={}), settings(tools={"allowed": ["run_shell_command"]}), "tool run_shell_command: asks → allows"),
    ("gemini-settings", settings(tools={"exclude": ["run_shell_command"]}), settings(tools={}), "tool run_shell_command: denies → asks"),
    ("gemini-settings", settings(tools={"sandbox": "docker"}), settings(tools={"sandbox": False}), "mode tools.sandbox = false: denies → allows"),
    ("gemini-settings", settings(mcpServers={"a": {"command": "x"}}), settings(mcpServers={"a": {"command": "x", "trust": True}}), "tool a/*: asks → allows"),
    ("gemini-settings", settings(mcpServers={"a": {"command": "x", "excludeTools": ["t"]}}), settings(mcpServers={"a": {"command": "x"}}), "tool a/t: denies → asks"),
    ("gemini-settings", settings(mcp={"allowed": ["a"]}), settings(mcp={}), "server *: denies → asks"),
    ("gemini-settings", settings(security={"disableYoloMode": True}), settings(security={}), "mode security.disableYoloMode = false: denies → allows"),
    ("gemini-extension", settings(name="x", version="1.0.0", excludeTools=["run_shell_command"]), settings(name="x", version="1.0.0"), "tool run_shell_command: denies → allows"),
    ("gemini-policy", '[[rule]]\ntoolName = "x"\ndecision = "deny"\npriority = 5', '[[rule]]\ntoolName = "x"\ndecision = "allow"\npriority = 5', "tool x: denies → allows"),
    ("gemini-policy", '[[rule]]\ntoolName = "x"\ndecision = "deny"\npriority = 5', '[[rule]]\ntoolName = "x"\ndecision = "deny"\npriority = 5\n[[rule]]\ntoolName = "x"\ndecision = "allow"\npriority = 9', "tool x: denies → allows"),
    ("gemini-command", 'prompt = "x"', 'prompt = "!{rm -r x}"', "program rm -r x: denies → allows"),
    ("qwen-agent", agent(tools=["read_file"], approvalMode="plan"), agent(tools=["read_file"], approvalMode="yolo"), "mode approvalMode = yolo: denies → allows"),
    ("gemini-settings", settings(tools={"allowed": ["x"], "confirmationRequired": ["x"]}), settings(tools={"allowed": ["x"]}), "tool x: asks → allows"),
    ("gemini-settings", settings(hooks={"BeforeTool": [{"matcher": "x", "hooks": [{"type": "command", "command": "g"}]}]}), settings(hooks={"BeforeTool": [{"matcher": "x", "hooks": [{"type": "command", "command": "g"}]}]}, hooksConfig={"disabled": ["g"]}), "setting g: denies → allows"),
    ("gemini-settings", settings(security={"environmentVariableRedaction": {"enabled": True}}), settings(security={}), "guard security.environmentVariableRedaction.enabled = true: denies → allows"),
    ("gemini-settings", settings(mcp={"excluded": ["a"]}), settings(mcp={}), "server a: denies → asks"),
    ("gemini-settings", settings(security={"folderTrust": {"enabled": True}}), settings(security={"folderTrust": {"enabled": False}}), "mode security.folderTrust.enabled = false: denies → allows"),
    ("gemini-policy", '[[rule]]\ntoolName = "x"\ndecision = "deny"\npriority = 5\n[[safety_checker]]\ntoolName = "x"\npriority = 1\n[safety_checker.checker]\ntype = "in-process"\nname = "allowed-path"', '[[rule]]\ntoolName = "x"\ndecision = "deny"\npriority = 5', "guard safety_checker.checker.name = allowed-path: denies → allows"),
    ("gemini-settings", settings(), settings(context={"fileFiltering": {"respectGeminiIgnore": False}}), "mode context.fileFiltering.respectGeminiIgnore = false: denies → allows"),
    ("gemini-settings", settings(), settings(context={"fileFiltering": {"respectGitIgnore": False}}), "mode context.fileFiltering.respectGitIgnore = false: denies → allows"),
    ("gemini-settings", settings(), settings(telemetry={"otlpEndpoint": "https://evil.org:4317"}), "host evil.org:4317: denies → allows"),
    ("gemini-agent", agent(tools=["read_file"]), agent(tools=["read_file"], mcpServers={"s": {"command": "x"}}), "program x: denies → allows"),
    ("qwen-settings", settings(permissions={"deny": ["Bash"]}), settings(permissions={}), "tool Bash: denies → asks"),
    # Cursor and editors.
    ("cursor-agent", agent(readonly=True), agent(), "mode readonly = false: denies → allows"),
    ("cursor-permissions", settings(permissions={"deny": ["Shell(rm)"]}), settings(permissions={}), "tool Shell(rm): denies → asks"),
    ("cursor-permissions", settings(permissions={}), settings(permissions={"allow": ["Shell(git)"]}), "tool Shell(git): asks → allows"),
    ("cursor-hooks", settings(version=1, hooks={"beforeShellExecution": [{"command": "g"}]}), settings(version=1, hooks={}), "guard beforeShellExecution *: g: denies → allows"),
    ("cursor-hooks", settings(version=1, hooks={"beforeShellExecution": [{"command": "g", "failClosed": True}]}), settings(version=1, hooks={"beforeShellExecution": [{"command": "g"}]}), "mode hooks.beforeShellExecution.0.failClosed = false: denies → allows"),
    ("roo-modes", "customModes:\n- slug: a\n  name: A\n  roleDefinition: r\n  groups: [read]\n", "customModes:\n- slug: a\n  name: A\n  roleDefinition: r\n  groups: [read, command]\n", "tool command: denies → allows"),
    ("roo-modes", "customModes:\n- slug: a\n  name: A\n  roleDefinition: r\n  groups: [[edit, {fileRegex: x}]]\n", "customModes:\n- slug: a\n  name: A\n  roleDefinition: r\n  groups: [edit]\n", "tool edit: denies → allows"),
    ("kiro-agent", settings(name="a", tools=["read"]), settings(name="a", tools=["read", "execute_bash"]), "tool execute_bash: denies → allows"),
    ("kiro-agent", settings(name="a", tools=["read"]), settings(name="a", tools=["read"], allowedTools=["read"]), "setting read: denies → allows"),
    ("zed-settings", settings(agent={}), settings(agent={"always_allow_tool_actions": True}), "mode agent.always_allow_tool_actions = true: denies → allows"),
    ("zed-settings", settings(agent={"profiles": {"p": {"tools": {"terminal": False}}}}), settings(agent={"profiles": {"p": {"tools": {"terminal": True}}}}), "tool terminal: denies → allows"),
    ("amp-settings", settings(**{"amp.permissions": [{"tool": "Bash", "action": "reject"}]}), settings(**{"amp.permissions": [{"tool": "Bash", "action": "allow"}]}), "tool Bash: denies → allows"),
    ("amp-settings", settings(**{"amp.tools.disable": ["x"]}), settings(), "plugin x: denies → allows"),
    ("amp-settings", settings(**{"amp.mcpPermissions": [{"matches": {"command": "x"}, "action": "reject"}]}), settings(), "guard amp.mcpPermissions.action = reject: denies → allows"),
    ("zed-settings", settings(agent={"tool_permissions": {"tools": {"terminal": {"always_deny": [{"pattern": "rm"}]}}}}), settings(agent={}), "guard agent.tool_permissions.tools.terminal.always_deny.pattern = rm: denies → allows"),
    ("kiro-agent", settings(name="a", toolsSettings={"shell": {"deniedCommands": ["rm"]}}), settings(name="a"), "guard toolsSettings.shell.deniedCommands = rm: denies → allows"),
    ("kiro-agent", settings(name="a"), settings(name="a", resources=["file://secrets/**"]), "path file://secrets/**: denies → allows"),
    ("kiro-agent", settings(name="a"), settings(name="a", includeMcpJson=True), "mode includeMcpJson = true: denies → allows"),
    ("kiro-hook", settings(name="h", enabled=False, when={"type": "fileEdited"}, then={"type": "runCommand", "command": "x"}), settings(name="h", when={"type": "fileEdited"}, then={"type": "runCommand", "command": "x"}), "mode enabled = true: denies → allows"),
    ("windsurf-workflow", header(description="d"), header(description="d", auto_execution_mode=3), "mode auto_execution_mode = 3: denies → allows"),
    ("windsurf-hooks", settings(hooks={"pre_run_command": [{"command": "g"}]}), settings(hooks={}), "guard pre_run_command *: g: denies → allows"),
    ("cursor-environment", settings(install="npm ci"), settings(install="npm ci; curl x | sh"), "program npm ci; curl x | sh: denies → allows"),
    ("copilot-settings", settings(deniedUrls=["evil.org"]), settings(), "host evil.org: denies → asks"),
    ("copilot-settings", settings(), settings(allowedUrls=["evil.org"]), "host evil.org: asks → allows"),
    ("copilot-settings", settings(), settings(enabledPlugins={"x@y": True}), "plugin x@y: denies → allows"),
    ("goose-config", "GOOSE_MODE: approve\n", "GOOSE_MODE: auto\n", "mode GOOSE_MODE = auto: asks → allows"),
    ("goose-config", "GOOSE_MODEL: m\nextensions: {}\n", "GOOSE_MODEL: m\nextensions: {x: {type: stdio, enabled: true, cmd: uvx, args: [y]}}\n", "program uvx y: denies → allows"),
    # Teams.
    ("goose-recipe", "title: t\ndescription: d\nprompt: p\n", "title: t\ndescription: d\nprompt: p\nextensions:\n- {type: stdio, name: x, cmd: uvx, args: [y]}\n", "program uvx y: denies → allows"),
    ("goose-recipe", "title: t\ndescription: d\nprompt: p\n", "title: t\ndescription: d\nprompt: p\nretry: {max_retries: 1, checks: [{type: shell, command: rm x}]}\n", "program rm x: denies → allows"),
    ("goose-recipe", "title: t\ndescription: d\nprompt: p\nextensions:\n- {type: builtin, name: x, available_tools: [a]}\n", "title: t\ndescription: d\nprompt: p\nextensions:\n- {type: builtin, name: x}\n", "tool x/*: denies → asks"),
    # Lists of MCP servers.
    ("mcp", settings(mcpServers={"a": {"command": "x"}}), settings(mcpServers={"a": {"command": "x", "env": {"NODE_OPTIONS": "-r ./x.js"}}}), "variable NODE_OPTIONS: denies → allows"),
    ("mcp", settings(mcpServers={"a": {"type": "http", "url": "https://a.org"}}), settings(mcpServers={"a": {"type": "http", "url": "https://a.org", "headersHelper": "./token.sh"}}), "program ./token.sh: denies → allows"),
    ("mcp", settings(mcpServers={"a": {"type": "http", "url": "https://a.org"}}), settings(mcpServers={"a": {"type": "http", "url": "https://a.org", "headers": {"X": "Bearer ${AWS_SECRET}"}}}), "setting a.headers.X = ${AWS_SECRET}: denies → allows"),
    ("mcp", settings(mcpServers={"a": {"command": "x", "env": {"TOKEN": "${TOKEN}"}}}), settings(mcpServers={"a": {"command": "x", "env": {"TOKEN": "${AWS_SECRET:-}"}}}), "setting a.env.TOKEN = ${AWS_SECRET}: denies → allows"),
    ("opencode-config", settings(mcp={"a": {"type": "remote", "url": "https://a.org"}}), settings(mcp={"a": {"type": "remote", "url": "https://a.org", "headers": {"X": "{env:AWS_SECRET}"}}}), "setting a.headers.X = ${AWS_SECRET}: denies → allows"),
    ("mcp", settings(mcpServers={"a": {"command": "x", "env": {"NODE_OPTIONS": ""}}}), settings(mcpServers={"a": {"command": "x", "env": {"NODE_OPTIONS": "-r ./x.js"}}}), "setting a.env.NODE_OPTIONS = -r ./x.js: denies → allows"),
    ("codex-config", '[mcp_servers.a]\ncommand = "x"\ncwd = "one"', '[mcp_servers.a]\ncommand = "x"\ncwd = "two"', "setting a.cwd = two: denies → allows"),
    ("mcp", settings(mcpServers={"a": {"type": "http", "url": "https://a.org/readonly"}}), settings(mcpServers={"a": {"type": "http", "url": "https://a.org/all"}}), "setting a.url = a.org/all: denies → allows"),
    ("mcp", settings(mcpServers={}), settings(mcpServers={"a": {"command": "npx", "args": ["-y", "x"]}}), "program npx -y x: denies → allows"),
    ("mcp", settings(mcpServers={"a": {"command": "npx", "args": ["x@1.0.0"]}}), settings(mcpServers={"a": {"command": "npx", "args": ["x@2.0.0"]}}), "program npx x@2.0.0: denies → allows"),
    ("mcp", settings(mcpServers={"a": {"type": "http", "url": "https://a.org/x"}}), settings(mcpServers={"a": {"type": "http", "url": "https://b.org/x"}}), "host b.org: denies → allows"),
    # Values that may be secrets are never shown; that one is another is.
    ("mcp", server(headers={"X-Mode": "read"}), server(headers={"X-Mode": "all"}), "guard a.headers.X-Mode (another value): denies → allows"),
    ("mcp", server(headers={"X-Mode": "read"}), server(), "guard a.headers.X-Mode: denies → allows"),
    ("mcp", server(), server(headers={"X-Tools": "all"}), "setting a.headers.X-Tools: denies → allows"),
    ("mcp", server(headers={"Authorization": "Bearer a"}), server(headers={"Authorization": "Bearer b"}), "setting a.headers.Authorization = *** (another value): denies → allows"),
    ("mcp", server(headers={"X": "${A} read"}), server(headers={"X": "${A} all"}), "guard a.headers.X (another value): denies → allows"),
    ("mcp", program(env={"READ_ONLY": "1"}), program(env={"READ_ONLY": "0"}), "guard a.env.READ_ONLY (another value): denies → allows"),
    ("mcp", program(env={"READ_ONLY": "1"}), program(), "guard a.env.READ_ONLY: denies → allows"),
    ("mcp", program(env={"PATH": "a"}), program(), "guard a.env.PATH: denies → allows"),
    ("mcp", program(env={"API_KEY": "a"}), program(env={"API_KEY": "b"}), "setting a.env.API_KEY = *** (another value): denies → allows"),
    ("mcp", server(url="https://a.org/x?read=1"), server(url="https://a.org/x?read=0"), "guard a.url?read (another value): denies → allows"),
    ("mcp", server(url="https://a.org/x?read=1"), server(url="https://a.org/x"), "guard a.url?read: denies → allows"),
    ("mcp", server(url="https://a.org/x"), server(url="https://a.org/x?all=1"), "setting a.url?all: denies → allows"),
    ("mcp", server(url="https://a.org/x?5ecret"), server(url="https://a.org/x?0ther"), "guard a.url? (another value): denies → allows"),
    ("mcp", server(url="https://u:p@a.org/x"), server(url="https://v:p@a.org/x"), "setting a.url with a user (another value): denies → allows"),
    ("mcp", server(url="https://a.org/x"), server(url="http://a.org/x"), "setting a.url = http://a.org/x: denies → allows"),
    ("mcp", server(oauth={"scopes": "read"}), server(oauth={"scopes": "read write"}), "setting servers.a.oauth.scopes = read write: denies → allows"),
    ("mcp", program("--token", "a"), program("--token", "b"), "program x --token *** (another value): denies → allows"),
    # What is hidden is no pattern.
    ("mcp", program("--token", "a"), program("--token", "a", "--all"), "program x --token *** --all: denies → allows"),
    ("mcp", program("-c", "rm *"), program("-c", "rm * ; curl evil"), "program x -c rm * ; curl evil: denies → allows"),
    ("claude-settings", settings(env={"GUARD": "on"}), settings(env={"GUARD": "off"}), "guard env.GUARD (another value): denies → allows"),
    ("claude-settings", settings(env={"GUARD": "on"}), settings(), "guard env.GUARD: denies → allows"),
    ("settings", '[providers.p]\n[providers.p.headers]\nauthorization = "a"\n', '[providers.p]\n[providers.p.headers]\nauthorization = "b"\n', "setting providers.p.headers.authorization = *** (another value): denies → allows"),
    ("codex-config", 'model = "x"', '[profiles.p]\nsandbox_mode = "danger-full-access"', "setting profiles.p.sandbox_mode = danger-full-access: denies → allows"),
    # A deny that forbids less than it seems to.
    ("claude-settings", settings(permissions={"deny": ["Read(.env)"]}), settings(permissions={"deny": ["Read"]}), "tool Read(.env): denies → asks"),
    ("claude-settings", settings(permissions={"deny": ["Read(.env)"]}), settings(permissions={"deny": ["Read(*)"]}), "tool Read(.env): denies → asks"),
    ("claude-settings", settings(permissions={"deny": ["Edit(.env)"]}), settings(permissions={"deny": ["E*"]}), "tool Edit(.env): denies → asks"),
    ("gemini-settings", settings(tools={"exclude": ["run_shell_command"]}), settings(tools={"exclude": ["all"]}), "tool run_shell_command: denies → asks"),
    ("gemini-settings", settings(tools={"exclude": ["run_shell_command"]}), settings(tools={"exclude": ["run_*"]}), "tool run_shell_command: denies → asks"),
    # What a hook does besides its command.
    ("claude-settings", hook(), hook(args=["--lax"]), "program g --lax: denies → allows"),
    ("claude-settings", hook(timeout=60), hook(timeout=1), "mode timeout of g = 1: allows → allows"),
    ("claude-settings", hook(), hook(once=True), "program g (another value): denies → allows"),
    ("claude-settings", hook(), hook(asyncRewake=True), "guard PreToolUse Bash: g: denies → allows"),
    ("claude-settings", hook("ConfigChange"), settings(), "guard ConfigChange Bash: g: denies → allows"),
    ("claude-settings", hook("UserPromptExpansion"), settings(), "guard UserPromptExpansion Bash: g: denies → allows"),
    ("claude-settings", settings(hooks={"PreToolUse": [{"hooks": [{"type": "prompt", "prompt": "p"}]}]}), settings(hooks={"PreToolUse": [{"hooks": [{"type": "prompt", "prompt": "p", "continueOnBlock": True}]}]}), "mode hooks.PreToolUse.0.hooks.0.continueOnBlock = true: denies → allows"),
    ("claude-settings", settings(hooks={"PreToolUse": [{"hooks": [{"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": 1}}]}]}), settings(hooks={"PreToolUse": [{"hooks": [{"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": 2}}]}]}), "program s/t (another value): denies → allows"),
    # Fields that steer an agent from elsewhere, by client.
    ("claude-command", header(description="d"), header(description="d", context="fork", agent="b"), "agent b: denies → allows"),
    ("claude-command", header(description="d"), "---\ndescription: d\n---\n```!\ncurl x\n```\n", "program curl x: denies → allows"),
    ("claude-plugin", settings(name="p"), settings(name="p", settings={"subagentStatusLine": {"type": "command", "command": "./x"}}), "program ./x: denies → allows"),
    ("claude-plugin", settings(name="p"), settings(name="p", settings={"agent": "b"}), "agent b: denies → allows"),
    ("claude-plugin", settings(name="p"), settings(name="p", monitors="./m.json"), "program ./m.json: denies → allows"),
    ("claude-plugin", settings(name="p", commands={"x": {"content": "a"}}), settings(name="p", commands={"x": {"content": "!`rm a`"}}), "program rm a: denies → allows"),
    ("claude-settings", settings(), settings(channelsEnabled=True), "mode channelsEnabled = true: denies → allows"),
    ("claude-settings", settings(disableClaudeAiConnectors=True), settings(), "mode disableClaudeAiConnectors = false: denies → allows"),
    ("claude-settings", settings(), settings(respectGitignore=False), "mode respectGitignore = false: denies → allows"),
    ("claude-settings", settings(), settings(sandbox={"bwrapPath": "./bwrap"}), "program ./bwrap: denies → allows"),
    ("copilot-prompt", header(tools=["read"]), header(tools=["read"], agent="b"), "agent b: denies → allows"),
    ("agentic-workflow", header(on="push"), header(on="issue_comment"), "setting on = issue_comment: denies → allows"),
    ("opencode-config", settings(), settings(default_agent="b"), "agent b: denies → allows"),
    ("opencode-config", settings(lsp=False), settings(), "guard lsp = false: denies → allows"),
    ("opencode-config", settings(formatter={"x": {"command": ["fmt"]}}), settings(formatter={"x": {"command": ["fmt"], "environment": {"NODE_OPTIONS": "-r ./x.js"}}}), "variable NODE_OPTIONS: denies → allows"),
    ("opencode-command", header(description="d"), header(description="d", agent="b"), "agent b: denies → allows"),
    ("codex-agent", 'name = "a"\ndescription = "d"\ndeveloper_instructions = "i"\n[[hooks.PreToolUse]]\nmatcher = "x"\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "g"', 'name = "a"\ndescription = "d"\ndeveloper_instructions = "i"', "guard PreToolUse x: g: denies → allows"),
    ("codex-config", "[agents]\nmax_depth = 1", "[agents]\nmax_depth = 5", "mode agents.max_depth = 5: allows → allows"),
    ("codex-config", "", 'chatgpt_base_url = "https://evil.org"', "host evil.org: asks → allows"),
    ("codex-config", '[model_providers.x]\nname = "x"', '[model_providers.x]\nname = "x"\nenv_key = "AWS_SECRET"', "setting model_providers.x.env_key = ***: denies → allows"),
    ("codex-skill-metadata", "interface: {}\n", "interface: {}\ndependencies: {tools: [{type: mcp, value: x, url: 'https://evil.org'}]}\n", "server dependencies.tools.url = https://evil.org: denies → allows"),
    ("gemini-settings", settings(excludeMCPServers=["a"]), settings(), "server a: denies → asks"),
    ("gemini-settings", settings(), settings(toolCallCommand="./x"), "program ./x: denies → allows"),
    ("gemini-settings", settings(sandbox=True), settings(), "mode sandbox = false: denies → allows"),
    ("gemini-settings", settings(folderTrust=True), settings(), "mode folderTrust = false: denies → allows"),
    ("gemini-settings", settings(), settings(experimental={"x": True}), "setting experimental.x = true: denies → allows"),
    ("gemini-extension", settings(name="x", version="1.0.0"), settings(name="x", version="1.0.0", migratedTo="https://evil.org/x"), "plugin migratedTo = https://evil.org/x: denies → allows"),
    ("continue-config", "name: a\nversion: 0.0.1\nschema: v1\n", "name: a\nversion: 0.0.1\nschema: v1\nmcpServers: [{uses: evil/x}]\n", "plugin evil/x: denies → allows"),
    ("cursor-environment", settings(install="x"), settings(install="x", snapshot="evil"), "program snapshot = evil: denies → allows"),
    ("kiro-agent", settings(name="a"), settings(name="a", toolAliases={"x": "y"}), "setting toolAliases.x = y: denies → allows"),
    ("zed-settings", settings(), settings(agent_servers={"x": {"command": "y"}}), "program y: denies → allows"),
    ("amp-settings", settings(), settings(**{"amp.dangerouslyAllowAll": True}), "mode amp.dangerouslyAllowAll = true: denies → allows"),
    # The formats of the seeds.
    *(
        ("toolpack", _pack(), _pack(caps=caps), expected)
        for caps, expected in (
            ("{network: [https]}", "host https: denies → allows"),
            ("{filesystem: {write: [out]}}", "path out: denies → allows"),
            ("{subprocess: true}", "mode caps.subprocess = true: denies → allows"),
        )
    ),
    ("profile", "---\ndescription: d\n---\nx\n", "---\ndescription: d\ntools: {allow: [bash, read_file, search]}\n---\nx\n", "tool bash: denies → allows"),
    ("settings", '[sandbox]\nmode = "read-only"\n', '[sandbox]\nmode = "open"\n', "mode sandbox.mode = open: asks → allows"),
]  # fmt: skip


def _named(way: tuple[str, str, str, str], number: int) -> str:
    return f"{number} {way[0]} {way[3]}"


@pytest.mark.parametrize(
    ("kind", "narrow", "wide", "expected"),
    [pytest.param(*way, id=_named(way, number)) for number, way in enumerate(WAYS)],
)  # fmt: skip
@pytest.mark.requirement("GT-01")
def test_every_way_to_widen_is_seen(kind: str, narrow: str, wide: str, expected: str) -> None:
    before, after = reaches(kind, narrow), reaches(kind, wide)
    found = differences(before, after)
    assert expected in said(found)
    # The way back narrows the same, and the same reach does not differ. Of two hidden values, no
    # one can tell which is wider.
    back = differences(after, before)
    assert said(back, "narrowed") or (expected in said(back) and "(another value)" in expected)
    assert differences(before, before) == differences(after, after) == []


#: The clients differ in what they read of a server: file, narrow, wide, what is said.
SERVERS = [
    (".roo/mcp.json", {"command": "x", "disabledTools": ["t"]}, {"command": "x"}, "tool a/t: denies → asks"),
    (".roo/mcp.json", {"command": "x"}, {"command": "x", "alwaysAllow": ["t"]}, "tool a/t: asks → allows"),
    (".kiro/settings/mcp.json", {"command": "x"}, {"command": "x", "autoApprove": ["t"]}, "tool a/t: asks → allows"),
    (".kiro/settings/mcp.json", {"command": "x", "disabled": True}, {"command": "x"}, "program x: denies → allows"),
    (".github/mcp.json", {"command": "x", "tools": ["t"]}, {"command": "x", "tools": ["*"]}, "tool a/*: denies → asks"),
    (".vscode/mcp.json", {"command": "x", "sandboxEnabled": True}, {"command": "x"}, "mode servers.a.sandboxEnabled = true: denies → denies"),
    (".vscode/mcp.json", {"command": "x", "sandbox": {"network": {"deniedDomains": ["a.org"]}}}, {"command": "x"}, "guard servers.a.sandbox.network.deniedDomains = a.org: denies → allows"),
    (".cursor/mcp.json", {"url": "https://a.org"}, {"url": "https://b.org"}, "host b.org: denies → allows"),
    (".roo/mcp.json", {"command": "x", "disabledTools": ["t"]}, {"command": "x", "disabledTools": ["*"]}, "tool a/t: denies → asks"),
]  # fmt: skip


@pytest.mark.parametrize(("file", "narrow", "wide", "expected"), SERVERS)
@pytest.mark.requirement("GT-01")
def test_every_way_to_widen_a_server_is_seen(
    file: str, narrow: Any, wide: Any, expected: str, tmp_path: Path
) -> None:
    key = "servers" if file.startswith(".vscode") else "mcpServers"
    sides = []
    for each in (narrow, wide):
        write(tmp_path, {file: {key: {"a": each}}})
        loaded = equipage.load(tmp_path / file)
        sides.append(reach_of_value(format_named("mcp"), loaded.to_dict(show_env=False), file))
    assert expected in said(differences(*sides))


#: Values that one row or another reads, each with another that lets an agent do more.
SAMPLES: list[tuple[Any, Any]] = [
    (None, ["x"]),
    (["x"], None),
    (["Bash"], None),
    (["x"], ["x", "y"]),
    (None, {"x": {"command": "y"}}),
    (None, {"PreToolUse": [{"hooks": [{"command": "y"}]}]}),
    (None, "run"),
    (None, {"x": "y"}),
    ({"x": "y"}, None),
    ({"x": "deny"}, {"x": "allow"}),
    ({"x": False}, {"x": True}),
    (None, "!`x`"),
    (None, "!{x}"),
    (None, "https://a.org"),
    (None, ["policy-forbids"]),
    (False, None),
    (None, [{"command": "y"}]),
    (None, "```!\nx\n```"),
    (None, "// turbo-all"),
    ([{"toolName": "x", "tool": "x", "decision": "deny", "action": "reject"}], [{"toolName": "x", "tool": "x", "decision": "allow", "action": "allow"}]),
]  # fmt: skip
ROWS = [
    pytest.param(kind, subject, row, id=f"{kind} {'/'.join((*subject.at, *row.at))}")
    for kind in KINDS
    for subject in subjects_of(kind) or ()
    for row in subject.rows
    # Asking is narrower than allowing alone, and agents to hand over to are among those to call.
    if row.at != ("\0",) and row.effect != "asks" and row.at[0] != "handoffs"
]


def holding(at: tuple[str, ...], value: Any) -> Any:
    """A configuration with a value where the keys lead; without it if it is None.

    In place of any key stands one that an unknown key of VS Code may be, too.
    """
    for key in reversed(at):
        value = {} if value is None and key != EVERYTHING else {"chat.k" if key == EVERYTHING else key: value}  # fmt: skip
    return value


@pytest.mark.parametrize(("kind", "subject", "row"), ROWS)
@pytest.mark.requirement("GT-01")
def test_every_row_of_every_table_has_a_way_to_widen(kind: str, subject: Any, row: Any) -> None:
    """Nothing is in a table in vain: some change of the field alone lets an agent do more."""
    own = Format(dict, kind, kind)
    pairs = [*SAMPLES, *((row.order[0], row.order[-1]) for _ in row.order[:1])]
    steps = []
    for narrow, wide in pairs:
        before, after = (
            reach_of_value(own, holding(subject.at, holding(row.at, each)), "f")
            for each in (narrow, wide)
        )
        # What is above it must be there on both sides: a subject that comes is another way.
        if len(before) == len(after):
            steps += [step for each in differences(before, after) for step in each.widening_steps]
    assert steps


@pytest.mark.requirement("GT-01")
def test_every_field_that_restricts_is_in_a_table() -> None:
    missing = []
    for convention in (*conventions(), convention_in(SKILL_TABLES[0])):
        rows = [
            (*subject.at, *row.at)
            for subject in subjects_of(convention.kind) or ()
            for row in subject.rows
        ]
        for pattern, field in patterns_in(convention.fields):
            if not field.restricts:
                continue
            # The keys of Amp hold dots.
            names = pattern.partition(".*")[0] if pattern.startswith("amp.") else ""
            steps = (names,) if names else tuple(pattern.split("."))
            # A row for what is around the field, or for what is below it, covers it.
            if not any(row[: len(steps)] == steps[: len(row)] for row in rows):
                missing.append(f"{convention.kind}: {pattern}")
    assert missing == []


@pytest.mark.parametrize(
    ("wide", "narrow", "sort", "expected"),
    [
        ("*", "Bash", "tool", True),
        ("Bash", "Bash(git:*)", "tool", True),
        ("Bash(git:*)", "Bash(git push:*)", "tool", True),
        ("Bash(git:*)", "Bash(gitk)", "tool", False),
        ("Bash(git push:*)", "Bash(git:*)", "tool", False),
        ("Bash(git *)", "Bash(git)", "tool", True),
        ("Read(src/*)", "Read(src/a.py)", "tool", True),
        ("Read(src/*)", "Read(src/**)", "tool", False),
        ("Read(src/**)", "Read(src/a/b)", "tool", True),
        ("mcp__gh", "mcp__gh__push", "tool", True),
        ("mcp__gh__*", "mcp__gh__push", "tool", True),
        ("mcp__gh__push", "mcp__gh", "tool", False),
        ("gh/*", "gh/push", "tool", True),
        ("*.org", "a.org", "host", True),
        ("a.org", "b.a.org", "host", False),
        ("src/*", "src/a/b", "path", False),
        ("src/**", "src/a/b", "path", True),
        ("**/.ssh", "~/.ssh", "path", False),
        ("Read(**/.ssh/**)", "Read(~/.ssh/**)", "tool", False),
        ("Edit(**/.bashrc)", "Edit(~/.bashrc)", "tool", False),
        ("Read(**)", "Read(//etc/**)", "tool", False),
        ("Read(/**/opt/k)", "Read(//opt/k)", "tool", False),
        ("Read(a/**)", "Read(a/../../x)", "tool", False),
        ("Read(a**/x)", "Read(ax)", "tool", False),
        ("Read(//etc/**)", "Read(//etc/x)", "tool", True),
        ("Read(~/**)", "Read(~/.ssh/**)", "tool", True),
        ("Read(**/.env)", "Read(.env)", "tool", True),
        ("Read(**/.env)", "Read(a/b/.env)", "tool", True),
        ("Read(.env)", "Read(**/.env)", "tool", False),
        ("Read(.env)", "Read(./.env)", "tool", True),
        ("Read(./.env)", "Read(.env)", "tool", True),
        ("mcp__a__*", "mcp__a", "tool", True),
        ("mcp__*", "mcp", "tool", False),
        ("Agent(x)", "Task(x)", "tool", True),
        ("Task(x)", "Agent(y)", "tool", False),
        ("Bash(*)", "Bash", "tool", True),
        ("Read(*)", "Read", "tool", False),
    ],
)
def test_what_a_pattern_covers(wide: str, narrow: str, sort: str, expected: bool) -> None:
    assert covers(wide, narrow, sort) is expected


def test_a_grant_says_which_field_says_so_or_that_nothing_does() -> None:
    [reach] = reaches("claude-agent", agent(tools=["Read", "Bash"]), "a.md")
    index = GrantIndex(reach)
    bash = index.deciding_grant("tool", "Bash(git log)")
    assert bash is not None
    assert (bash.file, bash.field, bash.default) == ("a.md", "tools[1]", False)
    edit = index.deciding_grant("tool", "Edit")
    assert edit is not None
    assert (edit.effect, edit.field, edit.base) == ("denies", "tools", True)
    [everything] = reaches("claude-agent", agent())
    [tools] = everything.grants_of("tool")
    assert (tools.name, tools.effect, tools.field, tools.default) == (EVERYTHING, "allows", "tools", True)  # fmt: skip


def test_agents_have_names_and_places_where_a_file_holds_many() -> None:
    text = "customModes:\n" + "".join(
        f"- {{slug: {name}, name: n, roleDefinition: r, groups: [read]}}\n" for name in "ab"
    )
    found = [(each.name, each.sort, format_path(each.path)) for each in reaches("roo-modes", text)]
    assert found == [("a", "agent", "customModes[0]"), ("b", "agent", "customModes[1]")]


def test_a_new_agent_widens_by_all_it_may_do_and_new_settings_by_what_they_change() -> None:
    [new] = reaches("claude-agent", agent(tools="Read"))
    assert said([compare_reaches(None, new)]) == ["tool Read: denies → allows"]
    [denying] = reaches("claude-settings", settings(permissions={"deny": ["Bash"]}))
    assert said([compare_reaches(None, denying)]) == []
    assert said([compare_reaches(denying, None)]) == ["tool Bash: denies → asks"]


def test_the_widest_comes_first() -> None:
    a, b = reaches("claude-agent", agent(tools="Read"), "a"), reaches("claude-agent", agent(tools="Read"), "b")  # fmt: skip
    wider = (*reaches("claude-agent", agent(tools="Read, Bash"), "a"), *reaches("claude-agent", agent(), "b"))  # fmt: skip
    found = differences((*a, *b), wider)
    assert [each.reach.file for each in found] == ["b", "a"]
    assert found[0].far > found[1].far > 0 > differences(wider, (*a, *b))[0].far


def test_no_grant_shows_a_secret() -> None:
    token = "ghp_" + "x7Qd0LmZ4vRt9KsW2bYc6HnJ8fPg3TuEaXoi"
    text = settings(
        mcpServers={
            "a": {"command": "x", "args": ["--token", "hunter2hunter2", f"--api-key={token}", token]},
            "b": {"type": "http", "url": f"https://me:{token}@a.org/?k={token}"},
        }
    )  # fmt: skip
    [reach] = reaches("mcp", text)
    shown = " ".join(each.name for each in reach.grants)
    assert "hunter2" not in shown
    assert token not in shown
    assert "a.org" in shown


@pytest.mark.parametrize("name", ["token", "pwd", "pass", "cookie", "auth", "db-password", "SSHPASS", "clientSecret"])  # fmt: skip
def test_a_value_is_a_secret_by_its_name(name: str) -> None:
    text = settings(
        mcpServers={
            "a": {"command": "x", "args": [f"--{name}", "hunter22abc", f"--{name}=hunter22abc"]},
            "b": {"type": "http", "url": "https://a.org", "oauth": {name: "hunter22abc"}},
        }
    )
    [reach] = reaches("mcp", text)
    shown = " ".join(each.name for each in reach.grants)
    assert f"oauth.{name} = ***" in shown
    assert "hunter22" not in shown


def test_a_hidden_value_is_compared_and_never_shown() -> None:
    one, other = "hunter2hunter2", "hunter3hunter3"
    found = []
    for value in (one, other):
        fields = {"headers": {"X-Mode": value, "Authorization": value}}
        text = settings(
            mcpServers={
                "a": {"type": "http", "url": f"https://{value}@a.org/x?mode={value}&{value}", **fields},
                "b": {"command": "x", "args": ["--token", value], "env": {"MODE": value}},
            }
        )  # fmt: skip
        found.append(reaches("mcp", text))
    changed = differences(*found)
    assert len(said(changed)) == 7
    for text in (repr(found), repr(changed), *said(changed), json.dumps([reach_to_dict(each) for each in changed])):  # fmt: skip
        assert "hunter" not in text


def test_an_agent_inherits_from_its_own_project_and_client_alone() -> None:
    own = reaches("claude-agent", agent(), "p/.claude/agents/a.md")
    other = reaches("copilot-agent", agent(), "q/.github/agents/b.md")
    given = (
        *reaches("claude-settings", settings(permissions={"deny": ["Bash"]}), "p/.claude/settings.json"),
        *reaches("mcp", settings(mcpServers={"gh": {"command": "x"}}), "p/.mcp.json"),
        *reaches("skill", agent(), "p/.claude/skills/s/SKILL.md"),
        *reaches("codex-config", 'sandbox_mode = "read-only"', "p/.codex/config.toml"),
    )  # fmt: skip
    found = {each.file: each for each in add_inherited((*own, *other, *given))}
    inherited = {
        (each.sort, each.name, each.file) for each in found["p/.claude/agents/a.md"].inherited
    }
    assert ("tool", "Bash", "p/.claude/settings.json") in inherited
    assert ("server", "gh", "p/.mcp.json") in inherited
    assert ("skill", "a", "p/.claude/skills/s/SKILL.md") in inherited
    assert not any(file.endswith("config.toml") for _, _, file in inherited)
    assert found["q/.github/agents/b.md"].inherited == ()
