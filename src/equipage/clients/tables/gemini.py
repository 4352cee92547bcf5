"""Gemini CLI: settings, extensions, policies, sub-agents with a header, commands in TOML.

Gemini reports settings of the wrong type and uses them all the same; an agent with an unknown key
is dropped.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from equipage.clients.catalogue import (
    Convention,
    Field,
    Group,
    NameRule,
    Names,
    Table,
    either,
    events_group,
    json_file,
    list_of,
    matcher_group,
    toml_file,
    tool_list,
)

TOOL = "Gemini CLI"

# fmt: off
TOOLS = frozenset({
    "activate_skill", "ask_user", "cli_help", "codebase_investigator", "enter_plan_mode",
    "exit_plan_mode", "get_internal_docs", "glob", "google_web_search", "grep_search",
    "list_directory", "read_file", "read_many_files", "replace", "run_shell_command",
    "save_memory", "search_file_content", "web_fetch", "write_file", "write_todos",
})
# fmt: on

AGENT = Convention(
    kind="gemini-agent",
    paths=(".gemini/agents/*.md",),
    tool=TOOL,
    title="Gemini agent",
    ignores_headerless=True,
    unknown="error",
    mismatch="error",
    identity="field",
    name=NameRule(
        r"[a-z0-9_-]+", "lower-case letters, digits, hyphens and underscores", severity="error"
    ),
    tools=TOOLS,
    fields=(
        Field("name", "the name by which others call it", required="error"),
        Field("description", "when to use it; others choose it by this text", required="error"),
        Field("kind", "`remote` for an agent that runs elsewhere", Literal["local", "remote"]),
        Field("display_name", "the name that people see"),
        tool_list(
            "tools",
            "the only tools it may use; without the field it has all of them",
            split=None,
            instead=("allowed-tools", "allowed_tools"),
        ),
        Field("mcpServers", "MCP servers of its own, by name", Table, instead=("mcp_servers",)),
        Field("model", "the model; `inherit` for the caller's"),
        Field(
            "temperature", "how random its answers are", Annotated[float, msgspec.Meta(ge=0, le=2)]
        ),
        Field("max_turns", "after how many turns it stops", int),
        Field("timeout_mins", "after how many minutes it stops", int | float),
        Field("agent_card_url", "the address of a remote agent's card"),
        Field("agent_card_json", "the card of a remote agent itself", str | Table),
        Field("auth", "how to sign in to a remote agent", Any),
    ),
    example="""\
---
name: NAME
description: Reviews a change and reports problems. Use it before a merge.
tools: [read_file, grep_search, glob]
max_turns: 20
---
You review changes. Report each problem with file and line. Do not edit anything.
""",
)

COMMAND = toml_file(
    kind="gemini-command",
    paths=(".gemini/commands/**/*.toml",),
    tool=TOOL,
    title="Gemini command",
    sort="command",
    fields=(
        Field("prompt", "the prompt; `{{args}}` becomes the arguments", required="error"),
        Field("description", "what it does; the menu shows this text"),
    ),
    example='''\
description = "Explain what changed since the last release"
prompt = """
Explain what changed since {{args}}, for people who use the program.
"""
''',
)

# fmt: off
_EVENTS = (
    "BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel",
    "BeforeToolSelection", "SessionStart", "SessionEnd", "Notification", "PreCompress",
)
# fmt: on
_HANDLER = Group(
    "a hook of Gemini CLI",
    (
        Field("type", "`command`", Literal["command"], required="error"),
        Field("command", "the command to run", required="error"),
        Field("name", "the name that people see"),
        Field("description", "what it is for"),
        Field("timeout", "after how many milliseconds it is stopped", int | float),
        Field("env", "environment variables to add", Table),
    ),
)
_ENTRY = matcher_group(
    "an entry of the hooks of Gemini CLI",
    _HANDLER,
    Field("sequential", "whether the hooks run one after the other", bool),
)
# Keys of older versions, now in `hooksConfig`. They are not events, and Gemini CLI skips them.
_LEGACY_HOOK_KEYS = (
    Field("enabled", "an old form: use `hooksConfig`", Any),
    Field("disabled", "an old form: use `hooksConfig`", Any),
    Field("notifications", "an old form: use `hooksConfig`", Any),
)
_HOOKS = events_group("the hooks of Gemini CLI", _EVENTS, _ENTRY, *_LEGACY_HOOK_KEYS)
_SERVERS = dict[str, dict[str, Any]]
_SANDBOX = Group(
    "a sandbox of Gemini CLI",
    (
        Field("enabled", "whether there is one", bool, restricts=True),
        Field("command", "the program that makes it"),
        Field("image", "the image to run in"),
        Field("allowedPaths", "folders that may be used", Names),
        Field("networkAccess", "whether the network may be used", bool, restricts=True),
    ),
)
# fmt: off
#: Settings as the first version wrote them; they are moved at the start.
_LEGACY_SETTINGS = (
    "coreTools", "excludeTools", "allowedTools", "contextFileName", "sandbox", "autoAccept",
    "theme", "vimMode", "checkpointing", "preferredEditor", "selectedAuthType", "hideTips",
    "hideBanner", "hideFooter", "hideWindowTitle", "maxSessionTurns", "mcpServerCommand",
    "allowMCPServers", "excludeMCPServers", "toolDiscoveryCommand", "toolCallCommand",
    "usageStatisticsEnabled", "bugCommand", "fileFiltering", "includeDirectories",
    "loadMemoryFromIncludeDirectories", "summarizeToolOutput", "memoryImportFormat",
    "disableAutoUpdate", "showMemoryUsage", "showLineNumbers", "accessibility", "ideMode",
    "folderTrust", "useRipgrep", "extensionManagement", "customThemes", "enableHooks",
)
# fmt: on

SETTINGS = json_file(
    kind="gemini-settings",
    paths=(".gemini/settings.json",),
    tool=TOOL,
    title="Gemini settings file",
    sort="settings",
    comments=True,
    servers=TOOL,
    fields=(
        Field("$schema", "the schema for editors"),
        Field("mcpServers", "MCP servers, by name", _SERVERS),
        Field(
            "tools",
            "which tools there are",
            Group(
                "the tools of Gemini CLI",
                (
                    Field("sandbox", "where tools run", either(bool | str, _SANDBOX)),
                    Field("sandboxAllowedPaths", "folders the sandbox lets through", Names),
                    Field("sandboxNetworkAccess", "whether it lets the network through", bool),
                    Field("core", "the only built-in tools", Names, restricts=True),
                    Field("allowed", "tools that run without asking", Names),
                    Field("confirmationRequired", "tools that always ask", Names, restricts=True),
                    Field("exclude", "tools that are left out", Names, restricts=True),
                    Field("discoveryCommand", "a program that lists further tools"),
                    Field("callCommand", "a program that calls them"),
                    Field("shell", "how commands run", Table),
                    Field("useRipgrep", "whether to search with ripgrep", bool),
                    Field("truncateToolOutputThreshold", "how much output is kept", int | float),
                    Field("disableLLMCorrection", "whether edits are not corrected", bool),
                ),
                unknown="warning",
            ),
        ),
        Field(
            "mcp",
            "which servers are used",
            Group(
                "the server rules of Gemini CLI",
                (
                    Field("allowed", "the only servers that are used", Names, restricts=True),
                    Field("excluded", "servers that are not used", Names, restricts=True),
                    Field("serverCommand", "a program that starts servers"),
                ),
                unknown="warning",
            ),
        ),
        Field(
            "context",
            "what is read into the prompt",
            Group(
                "the context of Gemini CLI",
                (
                    Field("fileName", "the names of instruction files", str | Names),
                    Field("includeDirectories", "further folders", Names),
                    Field("loadMemoryFromIncludeDirectories", "whether to read those", bool),
                    Field("importFormat", "how imports are shown"),
                    Field("includeDirectoryTree", "whether the folders are shown", bool),
                    Field("discoveryMaxDirs", "how many folders are searched", int | float),
                    Field("memoryBoundaryMarkers", "files that end the search", Names),
                    Field("fileFiltering", "which files are seen", Table),
                ),
            ),
        ),
        Field(
            "security",
            "what is not allowed",
            Group(
                "the security of Gemini CLI",
                (
                    Field(
                        "folderTrust",
                        "whether folders must be trusted",
                        Group(
                            "the folder trust of Gemini CLI",
                            (Field("enabled", "whether it counts", bool, restricts=True),),
                        ),
                        restricts=True,
                    ),
                    Field("disableYoloMode", "whether `--yolo` is refused", bool, restricts=True),
                    Field("disableAlwaysAllow", "whether to ask each time", bool, restricts=True),
                    Field("blockGitExtensions", "no extensions from git", bool, restricts=True),
                    Field("allowedExtensions", "the only extensions", Names, restricts=True),
                    Field("toolSandboxing", "whether tools are confined", bool, restricts=True),
                    Field("enablePermanentToolApproval", "whether to remember answers", bool),
                    Field("autoAddToPolicyByDefault", "whether answers become rules", bool),
                    Field(
                        "environmentVariableRedaction",
                        "which variables are hidden from tools",
                        Table,
                        restricts=True,
                    ),
                    Field("auth", "how to sign in", Table),
                    Field("enableConseca", "an experiment", bool),
                ),
            ),
            restricts=True,
        ),
        Field("hooks", "programs that run at certain events", _HOOKS),
        Field("hooksConfig", "which hooks run", Table),
        Field("policyPaths", "files with policies", Names),
        Field("adminPolicyPaths", "files with policies of an administrator", Names),
        Field("skills", "which skills are used", Table),
        Field("extensions", "which extensions are used", Table),
        *(
            Field(name, f"settings of {what}", Table)
            for name, what in (
                ("general", "the program"),
                ("output", "the output"),
                ("ui", "the terminal"),
                ("ide", "the editor"),
                ("privacy", "what is reported"),
                ("telemetry", "traces"),
                ("billing", "the account"),
                ("model", "the model"),
                ("modelConfigs", "models"),
                ("agents", "agents"),
                ("advanced", "the machine"),
                ("experimental", "experiments"),
                ("contextManagement", "long sessions"),
                ("admin", "an administrator"),
            )
        ),
        Field("useWriteTodos", "whether it keeps a list of tasks", bool),
        *(
            Field(name, "an old name, which Gemini CLI moves to its place", Any)
            for name in _LEGACY_SETTINGS
        ),
    ),
    example="""\
{
  "context": { "fileName": ["AGENTS.md", "GEMINI.md"] },
  "tools": { "exclude": ["run_shell_command"] },
  "mcpServers": {
    "docs": { "httpUrl": "https://example.org/mcp" }
  }
}
""",
)

EXTENSION = json_file(
    kind="gemini-extension",
    paths=("gemini-extension.json",),
    tool=TOOL,
    title="Gemini extension",
    sort="extension",
    identity="field",
    servers=TOOL,
    fields=(
        Field("name", "the name by which it is installed", required="error"),
        Field("version", "its version", required="error"),
        Field("description", "what it brings"),
        Field("mcpServers", "MCP servers, by name", _SERVERS),
        Field("contextFileName", "files that are read into the prompt", str | Names),
        Field(
            "excludeTools",
            "tools that are left out",
            Names,
            restricts=True,
            instead=("excludeTool",),
        ),
        Field(
            "settings",
            "what the user is asked for",
            list_of(
                Group(
                    "a setting of an extension",
                    (
                        Field("name", "the name that people see", required="warning"),
                        Field("description", "what it is for"),
                        Field("envVar", "the variable that holds it", required="warning"),
                        Field("sensitive", "whether it is a secret", bool),
                    ),
                )
            ),
        ),
        Field("plan", "where plans are kept", Table),
        Field("themes", "themes for the terminal", Any),
        Field("migratedTo", "where the extension went"),
        Field("$schema", "the schema for editors"),
    ),
    example="""\
{
  "name": "reviewer",
  "version": "1.0.0",
  "description": "Reviews changes",
  "excludeTools": ["run_shell_command"]
}
""",
)

_RULE = Group(
    "a rule of a policy",
    (
        Field("toolName", "the tools it is for", str | Names),
        Field("mcpName", "the server it is for"),
        Field("subagent", "the agent it is for"),
        Field("toolAnnotations", "what the tools say of themselves", Table),
        Field("argsPattern", "an expression over the arguments"),
        Field("commandPrefix", "how the command begins", str | Names),
        Field("commandRegex", "an expression over the command"),
        Field(
            "decision",
            "what happens",
            Literal["allow", "deny", "ask_user"],
            required="warning",
            restricts=True,
        ),
        Field("priority", "which rule wins: 0 to 999", int | float, required="warning"),
        Field("modes", "the modes it counts in", Names),
        Field("interactive", "whether it counts with or without a user", bool),
        Field("denyMessage", "the message to the model"),
        Field("allowRedirection", "whether output may go into files", bool),
        Field("name", "a name for people"),
        Field("description", "what it is for"),
    ),
)

POLICY = toml_file(
    kind="gemini-policy",
    paths=(".gemini/policies/*.toml",),
    tool=TOOL,
    title="Gemini policy",
    sort="policy",
    fields=(
        Field("rule", "the rules", list_of(_RULE), restricts=True, instead=("rules",)),
        Field("safety_checker", "programs that judge calls", tuple[Any, ...], restricts=True),
    ),
    unread="policies count only in the user's own folder and in extensions",
)

CONVENTIONS = (SETTINGS, EXTENSION, POLICY, AGENT, COMMAND)
