"""Which tools and modes of a client let an agent do what people ask about."""

from __future__ import annotations

from typing import Literal

from equipage.clients.tables import claude, opencode

State = Literal["allows", "partly", "asks", "denies", "unknown"]
#: What people ask about, in their words.
ACTIVITIES = ("read files", "write files", "run commands", "use the network", "start agents")
_GEMINI_TOOLS = {
    "read files": ("read_file", "read_many_files", "list_directory", "glob", "grep_search"),
    "write files": ("write_file", "replace"),
    "run commands": ("run_shell_command",),
    "use the network": ("web_fetch", "google_web_search"),
}
_CLAUDE_TOOLS = {
    "read files": ("Read", "Grep", "Glob"),
    "write files": ("Edit", "Write", "NotebookEdit"),
    "run commands": ("Bash", "PowerShell"),
    "use the network": ("WebFetch", "WebSearch"),
    "start agents": ("Agent", "Task"),
}
#: The tools of each client that do it.
TOOLS_BY_ACTIVITY: dict[str, dict[str, tuple[str, ...]]] = {
    "Claude Code": _CLAUDE_TOOLS,
    "mlua_swarm": _CLAUDE_TOOLS,  # its agents name the tools of Claude Code
    "GitHub Copilot": {
        "read files": ("read", "search"),
        "write files": ("edit",),
        "run commands": ("execute",),
        "use the network": ("web", "browser"),
        "start agents": ("agent",),
    },
    "OpenCode": {
        "read files": ("read", "grep", "glob", "list"),
        "write files": ("edit",),
        "run commands": ("bash",),
        "use the network": ("webfetch", "websearch"),
        "start agents": ("task",),
    },
    "Gemini CLI": _GEMINI_TOOLS,
    "Qwen Code": _GEMINI_TOOLS,
    "Roo Code": {
        "read files": ("read",),
        "write files": ("edit",),
        "run commands": ("command",),
        "use the network": ("browser",),
    },
    "Kiro": {
        "read files": ("read", "fs_read", "grep", "glob"),
        "write files": ("write", "fs_write"),
        "run commands": ("shell", "execute_bash"),
        "use the network": ("web", "web_fetch", "web_search"),
        "start agents": ("subagent", "use_subagent", "delegate"),
    },
    "Zed": {
        "read files": ("read_file", "grep", "find_path", "list_directory"),
        "write files": ("edit_file", "create_directory", "move_path", "copy_path", "delete_path"),
        "run commands": ("terminal",),
        "use the network": ("fetch", "web_search"),
    },
    "defect": {
        "read files": ("read_file", "search"),
        "write files": ("write_file", "edit_file"),
        "run commands": ("bash",),
        "use the network": ("fetch",),
    },
}
#: Clients whose tools are not all known: what a tool of another name does is unknown. These names
#: do none of the activities.
OTHER_TOOLS = {"GitHub Copilot": frozenset({"todo", "vscode"})}
_SWITCH_STATES: dict[str, State] = {"false": "denies", "true": "allows"}

#: Files of other clients that a client reads, as the beginning of their path in the project.
ALSO_READ_PATHS = {
    "GitHub Copilot": (".mcp.json", ".claude/skills/", ".agents/skills/", ".github/skills/"),
    "Claude Code": (".claude/skills/",),
    "Codex": (".agents/skills/", ".codex/skills/"),
    "Gemini CLI": (".gemini/skills/", ".agents/skills/"),
    "OpenCode": (".opencode/skill", ".claude/skills/", ".agents/skills/"),
    "Cursor": (".cursor/skills/", ".agents/skills/", ".claude/skills/"),
    "Roo Code": (".agents/skills/", ".roo/skills/"),
    "defect": (".mcp.json", ".defect/"),
}


def _codex_sandbox_states(read_only: State, writing: State) -> tuple[str, dict[str, State]]:
    """What the sandbox of Codex decides; outside of it, everything is allowed."""
    states: dict[str, State] = {"read-only": read_only, "workspace-write": writing}
    return "sandbox_mode", {**states, "danger-full-access": "allows"}


#: Where modes decide instead of tools: each mode, and what its values mean. The widest counts.
MODES_BY_ACTIVITY: dict[str, dict[str, tuple[tuple[str, dict[str, State]], ...]]] = {
    "Codex": {
        "read files": (_codex_sandbox_states("allows", "allows"),),
        "write files": (_codex_sandbox_states("denies", "allows"),),
        # Commands run, but only inside the sandbox.
        "run commands": (_codex_sandbox_states("partly", "partly"),),
        "use the network": (
            _codex_sandbox_states("denies", "denies"),
            ("sandbox_workspace_write.network_access", _SWITCH_STATES),
        ),
        "start agents": (("agents.enabled", _SWITCH_STATES),),
    },
    "Cursor": {
        "read files": (("readonly", {"true": "allows", "false": "allows"}),),
        "write files": (("readonly", {"true": "denies", "false": "allows"}),),
        "run commands": (("readonly", {"true": "partly", "false": "allows"}),),
    },
}
#: Tools that the main agent uses without a question, unless a rule says otherwise.
UNASKED_TOOLS = {"Claude Code": (*_CLAUDE_TOOLS["read files"], "Agent", "Task", "Skill")}
#: The modes of the main agent in which it uses tools without a question; `*` is every tool.
UNASKED_BY_MODE: dict[str, dict[str, tuple[str, ...]]] = {
    "Gemini CLI": {
        "general.defaultApprovalMode = auto_edit": _GEMINI_TOOLS["write files"],
        "general.defaultApprovalMode = yolo": ("*",),
        "autoAccept = true": _GEMINI_TOOLS["read files"],
    },
    "Qwen Code": {
        "tools.approvalMode = auto-edit": _GEMINI_TOOLS["write files"],
        "tools.approvalMode = yolo": ("*",),
    },
    "Claude Code": {
        "permissions.defaultMode = acceptEdits": _CLAUDE_TOOLS["write files"],
        "permissions.defaultMode = auto": ("*",),
        "permissions.defaultMode = bypassPermissions": ("*",),
    },
}
#: Clients in which a skill or a command lets the main agent use tools without a question.
HEADERS_ALLOW_TOOLS = frozenset({"Claude Code"})
#: What a client documents and no run without a person showed; the wider of the two counts.
DOCUMENTED_ONLY = ("permissionMode = ", "permissions.defaultMode = bypassPermissions")
#: Names in a list of tools that mean all tools of the client.
ALL_BUILT_IN = {"Kiro": "@builtin"}
#: Names that a client reads as another.
ALIASES = {"OpenCode": dict.fromkeys(("write", "patch", "multiedit"), "edit")}
#: The tool without which an agent cannot use skills.
SKILL_TOOL = {"Claude Code": "Skill", "OpenCode": "skill"}
#: The client that a file belongs to by the beginning of its path in the project, where its kind
#: does not say it: several clients read skills and instructions.
CLIENT_BY_PATH = {
    "CLAUDE": "Claude Code",
    "GEMINI": "Gemini CLI",
    ".claude/": "Claude Code",
    ".codex/": "Codex",
    ".cursor/": "Cursor",
    ".gemini/": "Gemini CLI",
    ".github/": "GitHub Copilot",
    ".opencode/": "OpenCode",
    ".qwen/": "Qwen Code",
    ".roo/": "Roo Code",
}
#: Agents that are there without a file, by client: one that is removed is as it was made.
BUILT_IN_AGENTS: dict[str, frozenset[str]] = {
    "Claude Code": claude.AGENTS,
    "OpenCode": opencode.AGENTS,
    "Codex": frozenset({"default", "worker", "explorer"}),
    "Gemini CLI": frozenset({"generalist", "codebase_investigator", "cli_help", "browser_agent"}),
    "Qwen Code": frozenset({"general-purpose", "Explore"}),
    "GitHub Copilot": frozenset({"explore", "task", "plan", "code-review", "general-purpose"}),
    "Cursor": frozenset({"explore", "bash", "browser"}),
    "Roo Code": frozenset({"architect", "code", "ask", "debug", "orchestrator"}),
    "Zed": frozenset({"write", "ask", "minimal"}),
}
#: Of these, those that may do everything.
WIDE_AGENTS = {"Claude Code": ("general-purpose",), "OpenCode": ("build",)}
#: Settings that git may ignore while their client reads them.
LOCAL_SETTINGS = (
    *(".claude/settings.json", ".claude/settings.local.json", ".codex/config.toml", ".mcp.json"),
    *(".cursor/mcp.json", ".gemini/settings.json", ".qwen/settings.json", ".vscode/mcp.json"),
    *(".github/copilot/settings.local.json", ".vscode/settings.json", "opencode.json"),
    *("opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"),
)
#: The client of a file that any of them may read.
ANY_CLIENT = "any client"

#: Folders of clients: what lies beside one is the project that it configures.
CLIENT_FOLDERS = frozenset(
    {".claude", ".codex", ".gemini", ".qwen", ".opencode", ".cursor", ".github", ".vscode", ".roo"}
    | {".kiro", ".zed", ".amp", ".agents", ".defect", ".windsurf", "skills", "agents", ".copilot"}
)
