"""Claude Code: agents, commands, plugins and their marketplaces. (Skills: `skills`.)"""

from __future__ import annotations

from typing import Any, Literal

from equipage.kinds.tables import Convention, Field, NameRule, Names, Table

TOOL = "Claude Code"

#: The tools that come with it, those of earlier versions included.
TOOLS = frozenset(
    {
        "Agent",
        "Artifact",
        "AskUserQuestion",
        "Bash",
        "BashOutput",
        "CronCreate",
        "CronDelete",
        "CronList",
        "Edit",
        "EnterPlanMode",
        "EnterWorktree",
        "ExitPlanMode",
        "ExitWorktree",
        "Glob",
        "Grep",
        "KillBash",
        "KillShell",
        "ListMcpResources",
        "ListMcpResourcesTool",
        "LS",
        "LSP",
        "Monitor",
        "MultiEdit",
        "NotebookEdit",
        "NotebookRead",
        "PowerShell",
        "Read",
        "ReadMcpResource",
        "ReadMcpResourceTool",
        "RemoteTrigger",
        "SendMessage",
        "Skill",
        "SlashCommand",
        "StructuredOutput",
        "Task",
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskOutput",
        "TaskStop",
        "TaskUpdate",
        "TeamCreate",
        "TeamDelete",
        "TodoRead",
        "TodoWrite",
        "ToolSearch",
        "WaitForMcpServers",
        "WebFetch",
        "WebSearch",
        "Workflow",
        "Write",
    }
)
#: Agents that need no file.
AGENTS = frozenset(
    {"Explore", "Plan", "general-purpose", "statusline-setup", "claude-code-guide", "Claude"}
)

KEBAB = NameRule(r"[a-z0-9]+(?:-[a-z0-9]+)*", "lower-case letters, digits and single hyphens")
_EFFORT = Literal["low", "medium", "high", "xhigh", "max"] | int

AGENT = Convention(
    kind="claude-agent",
    tool=TOOL,
    title="Claude Code agent",
    passes_over=True,
    forgiving=True,
    identity="field",
    name=KEBAB,
    tools=TOOLS,
    built_in={"agent": AGENTS},
    fields=(
        Field("name", required="error"),
        Field("description", required="error"),
        Field(
            "tools",
            Names,
            restricts=True,
            split=",",
            refers="tool",
            instead=("allowed-tools", "allowed_tools", "allowedTools", "tool"),
        ),
        Field(
            "disallowedTools",
            Names,
            restricts=True,
            split=",",
            refers="tool",
            instead=("denied-tools",),
        ),
        Field("model"),
        Field(
            "permissionMode",
            Literal[
                "default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions", "delegate"
            ],
            restricts=True,
        ),
        Field("maxTurns", int, instead=("max-turns",)),
        Field("skills", Names, split=",", refers="skill"),
        Field("mcpServers", tuple[Any, ...] | Table, refers="server"),
        Field("hooks", Table),
        Field("memory", Literal["user", "project", "local"]),
        Field("background", bool),
        Field("effort", _EFFORT),
        Field("isolation", Literal["worktree"]),
        Field("color"),
        Field("initialPrompt"),
    ),
    example_path=".claude/agents/NAME.md",
    example="""\
---
name: NAME
description: Reviews a change and reports problems. Use it before a merge.
tools: Read, Grep, Glob
model: inherit
---
You review changes. Read the files that changed, and the tests beside them.

Report each problem with file and line, the worst first. Do not edit anything.
""",
)

COMMAND = Convention(
    kind="claude-command",
    tool=TOOL,
    title="Claude Code command",
    sort="command",
    header_optional=True,
    forgiving=True,
    tools=TOOLS,
    built_in={"agent": AGENTS},
    fields=(
        Field("description"),
        Field("name"),
        Field("allowed-tools", Names, restricts=True, split=", ", refers="tool"),
        Field("argument-hint", str | tuple[Any, ...]),
        Field("arguments", str | tuple[Any, ...]),
        Field("model"),
        Field("effort", _EFFORT),
        Field("disable-model-invocation", bool, restricts=True),
        Field("user-invocable", bool),
        Field("context", Literal["fork"]),
        Field("agent", refers="agent"),
        Field("hooks", Table),
        Field("paths", Names, split=","),
        Field("shell", Literal["bash", "powershell"]),
        Field("when_to_use"),
        Field("hide-from-slash-command-tool", str | bool),
    ),
    example_path=".claude/commands/NAME.md",
    example="""\
---
description: Explain what changed since the last release
argument-hint: "[tag]"
allowed-tools: Bash(git log:*), Bash(git diff:*)
---
Explain what changed since $ARGUMENTS, for people who use the program.
""",
)

_PATHS = str | tuple[Any, ...]

PLUGIN = Convention(
    kind="claude-plugin",
    tool=TOOL,
    title="Claude Code plugin",
    sort="plugin",
    syntax="json",
    identity="field",
    name=KEBAB,
    needs_body=False,
    fields=(
        Field("name", required="error"),
        Field("$schema"),
        Field("version"),
        Field("description"),
        Field("displayName"),
        Field("author", str | Table),
        Field("homepage"),
        Field("repository", str | Table),
        Field("license"),
        Field("keywords", Names),
        Field("category"),
        Field("tags", Names),
        Field("commands", _PATHS | Table),
        Field("agents", _PATHS),
        Field("skills", _PATHS),
        Field("hooks", _PATHS | Table),
        Field("mcpServers", _PATHS | Table),
        Field("lspServers", _PATHS | Table),
        Field("outputStyles", _PATHS),
        Field("themes", _PATHS),
        Field("monitors", _PATHS | Table),
        Field("channels", tuple[Any, ...]),
        Field("settings", Table),
        Field("userConfig", Table),
        Field("dependencies", tuple[Any, ...] | Table),
        Field("strict", bool),
        Field("experimental", Table),
    ),
    suffixes=(".json",),
    example_path=".claude-plugin/plugin.json",
    example="""\
{
  "name": "NAME",
  "version": "0.1.0",
  "description": "What the plugin brings, in one sentence"
}
""",
)

MARKETPLACE = Convention(
    kind="claude-marketplace",
    tool=TOOL,
    title="Claude Code marketplace",
    sort="marketplace",
    syntax="json",
    identity="field",
    name=KEBAB,
    needs_body=False,
    fields=(
        Field("name", required="error"),
        Field("owner", str | Table, required="warning"),
        Field("plugins", tuple[Any, ...], required="error"),
        Field("$schema"),
        Field("version"),
        Field("description"),
        Field("metadata", Table),
        Field("allowCrossMarketplaceDependenciesOn", Names),
        Field("forceRemoveDeletedPlugins", bool),
    ),
    suffixes=(".json",),
    example_path=".claude-plugin/marketplace.json",
    example="""\
{
  "name": "NAME",
  "owner": { "name": "Your name" },
  "plugins": [{ "name": "first", "source": "./plugins/first" }]
}
""",
)

CONVENTIONS = (AGENT, COMMAND, PLUGIN, MARKETPLACE)
