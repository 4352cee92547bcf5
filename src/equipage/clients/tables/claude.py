"""Claude Code: agents, commands, plugins and their marketplaces, language servers.

Skills are in `skills`, settings and hooks in `claude_settings`.
"""

from __future__ import annotations

from typing import Any, Literal

from equipage.clients.catalogue import (
    Convention,
    Field,
    Group,
    NameRule,
    Names,
    Table,
    json_file,
    list_of,
    mapping_of,
    tool_list,
)

TOOL = "Claude Code"

# fmt: off
#: The tools that come with it, those of earlier versions included.
TOOLS = frozenset({
    "Agent", "Artifact", "AskUserQuestion", "Bash", "BashOutput", "Cd", "CronCreate",
    "CronDelete", "CronList", "Edit", "EnterPlanMode", "EnterWorktree", "ExitPlanMode",
    "ExitWorktree", "Glob", "Grep", "KillBash", "KillShell", "ListAgents", "ListMcpResources",
    "ListMcpResourcesTool", "LS", "LSP", "Monitor", "MultiEdit", "NotebookEdit", "NotebookRead",
    "PowerShell", "PushNotification", "Read", "ReadMcpResource", "ReadMcpResourceTool",
    "RemoteTrigger", "ReportFindings", "ScheduleWakeup", "SendMessage", "SendUserMessage", "Skill",
    "SlashCommand", "StructuredOutput", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput",
    "TaskStop", "TaskUpdate", "TeamCreate", "TeamDelete", "TodoRead", "TodoWrite", "ToolSearch",
    "WaitForMcpServers", "WebFetch", "WebSearch", "Workflow", "Write",
})
# fmt: on
#: Short names of models; any other name is sent to the provider as it is.
MODELS = ("default", "sonnet", "opus", "haiku", "fable", "opusplan", "best", "inherit")
#: Names that no model of a provider of Claude Code has → why.
MODELS_OF_OTHERS = {
    r"(?:gpt-\d|o[134](?:-|\Z)|codex-)[\w.-]*": "it is one of OpenAI",
    r"gemini-[\w.-]+": "it is one of Google",
    r"grok-[\w.-]+": "it is one of xAI",
    r"claude-3(?:-[57])?-(?:sonnet|opus|haiku)": "a name of that age ends in a date or `-latest`",
}
#: Agents that need no file.
AGENTS = frozenset(
    {"Explore", "Plan", "general-purpose", "statusline-setup", "claude-code-guide"}
    | {"Claude", "claude"}
)

KEBAB = NameRule(r"[a-z0-9]+(?:-[a-z0-9]+)*", "lower-case letters, digits and single hyphens")
_EFFORT = Literal["low", "medium", "high", "xhigh", "max"] | int
_TEXTS = str | tuple[Any, ...]
_FILES = str | Names
#: Paths of files, or what such a file holds.
_PARTS = str | tuple[str | Table, ...] | Table
#: What an agent may do without asking, from narrow to wide.
_MODES_BY_WIDTH = ("plan", "dontAsk", "default", "acceptEdits", "auto", "bypassPermissions")
_MODES = Literal["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"]

AGENT = Convention(
    kind="claude-agent",
    paths=(".claude/agents/**/*.md",),
    tool=TOOL,
    title="Claude Code agent",
    ignores_headerless=True,
    reader="claude",
    identity="field",
    tools=TOOLS,
    built_in={"agent": AGENTS},
    fields=(
        Field("name", "the name by which people and agents call it", required="error"),
        Field("description", "when to use it; Claude chooses it by this text", required="error"),
        tool_list(
            "tools",
            "the only tools it may use; without the field it has all of them",
            split=", ",
            instead=("allowed-tools", "allowed_tools", "allowedTools", "tool"),
        ),
        tool_list("disallowedTools", "tools it may not use", instead=("denied-tools",)),
        Field("model", "the model, such as `sonnet`; `inherit` for the caller's"),
        Field(
            "permissionMode",
            "what it may do without asking the user",
            _MODES,
            restricts=True,
            order=_MODES_BY_WIDTH,
            default="default",
        ),
        Field("maxTurns", "after how many turns it stops", int, instead=("max-turns",)),
        Field("skills", "skills it knows from the start", Names, split=",", refers="skill"),
        Field(
            "mcpServers",
            "MCP servers it may use: names, or definitions of its own",
            tuple[Any, ...] | Table,
            refers="server",
        ),
        Field("hooks", "programs that run at certain events while it works", Table),
        Field(
            "memory", "where it keeps notes between sessions", Literal["user", "project", "local"]
        ),
        Field("background", "whether it runs in the background", bool),
        Field("effort", "how much its model reasons", _EFFORT),
        Field(
            "isolation",
            "`worktree`: it works in its own copy of the repository",
            Literal["worktree"],
        ),
        Field("color", "its colour in the terminal"),
        Field("initialPrompt", "the first message, if it runs as the main agent"),
    ),
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

#: Fields that commands and skills share.
COMMAND_AND_SKILL_FIELDS = (
    Field("argument-hint", "the arguments, as the menu shows them: `[file] [line]`", _TEXTS),
    Field("arguments", "names for the arguments; the text uses them as `$name`", _TEXTS),
    Field("model", "the model to use while it runs"),
    Field("effort", "how much the model reasons while it runs", _EFFORT),
    Field("disable-model-invocation", "whether only people may call it", bool, restricts=True),
    Field("context", "`fork`: it runs in an agent of its own", Literal["fork"]),
    Field("agent", "the agent that runs it, with `context: fork`", refers="agent"),
    Field("hooks", "programs that run at certain events while it runs", Table),
    Field("paths", "Claude sees it once files match these patterns", Names, split=","),
    Field("shell", "the shell for commands in the text", Literal["bash", "powershell"]),
    Field("when_to_use", "text that is added to the description"),
)

COMMAND = Convention(
    kind="claude-command",
    paths=(".claude/commands/**/*.md",),
    tool=TOOL,
    title="Claude Code command",
    sort="command",
    header_optional=True,
    reader="claude",
    tools=TOOLS,
    built_in={"agent": AGENTS},
    fields=(
        Field("description", "what it does; the menu shows this text"),
        Field("name", "a name to show; the file gives the name to call it by"),
        tool_list("allowed-tools", "tools it may use without asking the user", split=", "),
        *COMMAND_AND_SKILL_FIELDS,
        Field("user-invocable", "whether people may call it; `false` hides it in the menu", bool),
        Field("hide-from-slash-command-tool", "whether Claude must not call it", str | bool),
    ),
    example="""\
---
description: Explain what changed since the last release
argument-hint: "[tag]"
allowed-tools: Bash(git log:*), Bash(git diff:*)
---
Explain what changed since $ARGUMENTS, for people who use the program.
""",
)

_PERSON_FIELDS = (
    Field("name", "the name", required="error"),
    Field("email", "the address for mail"),
    Field("url", "the address of a web page"),
)
_PERSON = Group("the author of a plugin", _PERSON_FIELDS)
#: What a plugin asks its user for. Claude Code refuses the manifest for any other key.
_USER_CONFIG = Group(
    "a value that a plugin asks for",
    (
        Field(
            "type",
            "what sort of value it is",
            Literal["string", "number", "boolean", "directory", "file"],
            required="error",
        ),
        Field("title", "its name in the dialog", required="error"),
        Field("description", "the text below it in the dialog", required="error"),
        Field("required", "whether it must be given", bool),
        Field("default", "the value if none is given", str | int | float | bool | Names),
        Field("multiple", "whether it may be a list of texts", bool),
        Field("sensitive", "whether it is kept where secrets are kept", bool),
        Field("min", "the least number", int | float),
        Field("max", "the greatest number", int | float),
        Field("options", "the only values of a text", Names),
    ),
    unknown="error",
)
_CHANNEL = Group(
    "a channel of a plugin",
    (
        Field("server", "the MCP server that sends the messages", required="error"),
        Field("displayName", "the name that people see"),
        Field("userConfig", "values to ask the user for", mapping_of(_USER_CONFIG)),
    ),
    unknown="error",
)
_OWNER = Group("the owner of a marketplace", _PERSON_FIELDS)

#: What a manifest and an entry of a marketplace share.
_DEFINITION_FIELDS = (
    Field("version", "the version of the plugin"),
    Field("description", "what the plugin adds"),
    Field("displayName", "the name that people see"),
    Field("author", "who wrote it: `name`, `email` and `url`", _PERSON),
    Field("homepage", "the address of its web page"),
    Field("repository", "the address of its source code"),
    Field("license", "the licence, such as `MIT`"),
    Field("keywords", "words to find it by", Names),
    Field("commands", "files and folders of commands, instead of `commands/`", _FILES | Table),
    Field("agents", "files of agents, instead of `agents/`", _FILES),
    Field("skills", "folders of skills, beside those in `skills/`", _FILES),
    Field("hooks", "hooks, or the files that hold them", _PARTS),
    Field("mcpServers", "MCP servers by name, or the files that hold them", _PARTS),
    Field("lspServers", "language servers by name, or the files that hold them", _PARTS),
    Field("outputStyles", "files and folders of output styles", _FILES),
    Field("themes", "files and folders of colour themes", _FILES),
    Field("monitors", "programs whose output Claude follows", str | tuple[Table, ...]),
    Field("channels", "MCP servers that send messages into a session", list_of(_CHANNEL)),
    Field("settings", "settings that hold while the plugin is on", Table),
    Field(
        "userConfig",
        "values to ask the user for when the plugin is turned on",
        mapping_of(_USER_CONFIG),
    ),
    Field("dependencies", "plugins that it needs", tuple[Any, ...]),
    Field("defaultEnabled", "whether it is on once it is installed", bool),
    Field("experimental", "features that may still change", Any),
)

PLUGIN = json_file(
    kind="claude-plugin",
    paths=(".claude-plugin/plugin.json",),
    tool=TOOL,
    title="Claude Code plugin",
    sort="plugin",
    mismatch="error",
    identity="field",
    fields=(
        Field("name", "the name; it precedes the names of all parts", required="error"),
        Field("$schema", "the address of the JSON Schema, for editors"),
        *_DEFINITION_FIELDS,
        # A marketplace needs these three right; here they do nothing.
        Field("category", "the category it is listed under", Any),
        Field("tags", "words to find it by", Any),
        Field("strict", "whether this file must list all parts of the plugin", Any),
    ),
    example="""\
{
  "name": "NAME",
  "version": "0.1.0",
  "description": "What the plugin brings, in one sentence"
}
""",
)

_ENTRY = Group(
    "an entry of a marketplace",
    (
        Field("name", "the name of the plugin", required="error"),
        # Whether it can be found is a matter of rules.
        Field("source", "where the plugin comes from", Any),
        *_DEFINITION_FIELDS,
        Field("category", "the category it is listed under"),
        Field("tags", "words to find it by", Names),
        Field("strict", "whether the manifest of the plugin must list all its parts", bool),
    ),
    unknown="ignore",
)

MARKETPLACE = json_file(
    kind="claude-marketplace",
    paths=(".claude-plugin/marketplace.json",),
    tool=TOOL,
    title="Claude Code marketplace",
    sort="marketplace",
    mismatch="error",
    identity="field",
    fields=(
        Field("name", "the name; users write it as `plugin@name`", required="error"),
        Field("owner", "who keeps it: `name`, `email` and `url`", _OWNER, required="error"),
        Field(
            "plugins",
            "the plugins, each with its name and where it comes from",
            list_of(_ENTRY),
            required="error",
        ),
        Field("$schema", "the address of the JSON Schema, for editors"),
        Field("version", "the version of the list"),
        Field("description", "what the plugins have in common"),
        Field("metadata", "a description, a version, and the folder of the plugins", Table),
        Field(
            "allowCrossMarketplaceDependenciesOn",
            "other marketplaces whose plugins may be needed",
            Names,
        ),
        Field("renames", "old names of plugins → new ones", Table),
        Field("forceRemoveDeletedPlugins", "whether users lose plugins that leave the list", bool),
    ),
    example="""\
{
  "name": "NAME",
  "owner": { "name": "Your name" },
  "plugins": [{ "name": "first", "source": "./plugins/first" }]
}
""",
)

_LANGUAGE_SERVER = Group(
    "a language server of Claude Code",
    (
        Field("command", "the program to start", required="error"),
        Field("args", "the arguments of the program", Names),
        Field(
            "extensionToLanguage",
            "an ending of files → the name of its language",
            dict[str, str],
            required="error",
        ),
        Field("transport", "how to talk to it", Literal["stdio", "socket"]),
        Field("env", "environment variables to add for the program", dict[str, str]),
        Field("initializationOptions", "options for its start", Any),
        Field("settings", "its settings", Any),
        Field("workspaceFolder", "the folder it works in"),
        Field("startupTimeout", "how long the start may take, in milliseconds", int | float),
        Field("shutdownTimeout", "how long the end may take, in milliseconds", int | float),
        Field("restartOnCrash", "whether it is started again", bool),
        Field("maxRestarts", "how often it is started again", int | float),
        Field("loggingConfig", "what is logged", Any),
        Field("diagnostics", "whether its findings are shown", bool),
    ),
)
LSP = json_file(
    kind="claude-lsp",
    paths=(".lsp.json",),
    tool=TOOL,
    title="list of language servers",
    sort="language servers",
    wraps="servers",
    fields=(Field("servers", "the language servers, by name", mapping_of(_LANGUAGE_SERVER)),),
    example="""\
{
  "go": {
    "command": "gopls",
    "args": ["serve"],
    "extensionToLanguage": { ".go": "go" }
  }
}
""",
)

CONVENTIONS = (AGENT, COMMAND, PLUGIN, MARKETPLACE, LSP)
