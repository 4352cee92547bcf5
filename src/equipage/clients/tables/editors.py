"""Editors with agents: Windsurf, Cline, Roo Code, Kiro, Zed. None of them runs without a screen.

What they do with a mistake is known from their documentation only, so no finding is an error.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from equipage.clients.catalogue import (
    Field,
    Group,
    Names,
    Table,
    hooks_field,
    json_file,
    lenient_file,
    list_of,
    yaml_file,
)

#: Lists of MCP servers: `clients.mcp` checks what is in them.
_SERVERS = dict[str, dict[str, Any]]
#: None of these tools was run.
_json_file = partial(json_file, measured=False)
_lenient_file = partial(lenient_file, measured=False)
_yaml_file = partial(yaml_file, measured=False)

WINDSURF_RULE = _lenient_file(
    kind="windsurf-rule",
    paths=(".windsurf/rules/**/*.md",),
    tool="Windsurf",
    title="Windsurf rule",
    sort="rule",
    longest_body=12_000,
    fields=(
        Field(
            "trigger",
            "when the rule applies",
            Literal["always_on", "model_decision", "glob", "manual"],
        ),
        Field("globs", "with `trigger: glob`, the files it applies to", str | Names),
        Field("description", "with `trigger: model_decision`, what it is about"),
    ),
    example="""\
---
trigger: model_decision
description: How we write Python
---
Every public function has a docstring that says what is promised.
""",
)

WINDSURF_WORKFLOW = _lenient_file(
    kind="windsurf-workflow",
    paths=(".windsurf/workflows/*.md",),
    tool="Windsurf",
    title="Windsurf workflow",
    sort="command",
    longest_body=12_000,
    fields=(
        Field("description", "what it does"),
        Field("auto_execution_mode", "how much runs unasked", int),
    ),
    example="""\
---
description: Explain what changed since the last release
---
Explain what changed since the last release, for people who use the program.
""",
)

_WINDSURF_HOOK = Group(
    "a hook of Windsurf",
    (
        Field("command", "the command to run"),
        Field("powershell", "the command to run on Windows"),
        Field("show_output", "whether its output is shown", bool),
        Field("working_directory", "the folder to run it in"),
    ),
)
# fmt: off
_WINDSURF_EVENTS = (
    "pre_read_code", "post_read_code", "pre_write_code", "post_write_code", "pre_run_command",
    "post_run_command", "pre_mcp_tool_use", "post_mcp_tool_use", "pre_user_prompt",
    "post_cascade_response", "post_cascade_response_with_transcript", "post_setup_worktree",
)
# fmt: on

WINDSURF_HOOKS = _json_file(
    kind="windsurf-hooks",
    paths=(".windsurf/hooks.json",),
    tool="Windsurf",
    title="list of Windsurf hooks",
    sort="hooks",
    fields=(hooks_field("Windsurf", _WINDSURF_EVENTS, _WINDSURF_HOOK),),
    example="""\
{
  "hooks": { "pre_run_command": [{ "command": "check-command", "show_output": true }] }
}
""",
)

CLINE_RULE = _lenient_file(
    kind="cline-rule",
    paths=(".clinerules/*.md",),
    tool="Cline",
    title="Cline rule",
    sort="rule",
    fields=(
        Field("paths", "the files it applies to", str | Names, instead=("globs", "applyTo")),
        Field("description", "what it is about"),
    ),
    example="""\
---
paths: ["src/**/*.py"]
---
Every public function has a docstring that says what is promised.
""",
)

_ROO_GROUP = Literal["read", "edit", "browser", "command", "mcp", "modes"]
ROO_MODES = _yaml_file(
    kind="roo-modes",
    paths=(".roomodes", "custom_modes.{yaml,yml}"),
    tool="Roo Code",
    title="list of Roo modes",
    sort="modes",
    suffixes=(".roomodes", ".yaml"),
    fields=(
        Field(
            "customModes",
            "the modes",
            list_of(
                Group(
                    "a mode of Roo Code",
                    (
                        Field("slug", "the name by which it is called", required="warning"),
                        Field("name", "the name that people see", required="warning"),
                        Field("roleDefinition", "who it is", required="warning"),
                        Field(
                            "groups",
                            "what it may do; an entry may also be `[edit, {fileRegex: …}]`",
                            tuple[_ROO_GROUP | tuple[Any, ...] | dict[str, Any], ...],
                            restricts=True,
                            required="warning",
                        ),
                        Field("whenToUse", "when others choose it"),
                        Field("description", "what it does, in a few words"),
                        Field("customInstructions", "further instructions"),
                        Field("rulesFiles", "files with rules", tuple[Any, ...]),
                        Field("source", "where it comes from"),
                        Field("iconName", "its picture"),
                    ),
                )
            ),
            required="warning",
        ),
    ),
    example="""\
customModes:
  - slug: reviewer
    name: Reviewer
    roleDefinition: You review changes and report problems.
    groups: [read]
""",
)

ROO_COMMAND = _lenient_file(
    kind="roo-command",
    paths=(".roo/commands/**/*.md",),
    tool="Roo Code",
    title="Roo command",
    sort="command",
    fields=(
        Field("description", "what it does; the menu shows this text"),
        Field("argument-hint", "the arguments, as the menu shows them", str | tuple[Any, ...]),
        Field("mode", "the mode that runs it"),
    ),
    example="""\
---
description: Explain what changed since the last release
argument-hint: <version>
---
Explain what changed since the last release, for people who use the program.
""",
)

KIRO_STEERING = _lenient_file(
    kind="kiro-steering",
    paths=(".kiro/steering/**/*.md",),
    tool="Kiro",
    title="Kiro steering file",
    sort="rule",
    fields=(
        Field("inclusion", "when it is read", Literal["always", "fileMatch", "manual", "auto"]),
        Field("fileMatchPattern", "with `inclusion: fileMatch`, the files", str | Names),
        Field("name", "with `inclusion: auto`, its name"),
        Field("description", "with `inclusion: auto`, what it is about"),
    ),
    example="""\
---
inclusion: fileMatch
fileMatchPattern: "**/*.py"
---
Every public function has a docstring that says what is promised.
""",
)

KIRO_HOOK = _json_file(
    kind="kiro-hook",
    paths=(".kiro/hooks/*.{kiro.hook,json}",),
    tool="Kiro",
    title="Kiro hook",
    sort="hooks",
    suffixes=(".kiro.hook", ".json"),
    fields=(
        Field("name", "the name that people see"),
        Field("version", "the version of the format", str | int),
        Field("description", "what it is for"),
        Field("enabled", "whether it runs", bool),
        Field("when", "the event, and the files it is about", Table, required="warning"),
        Field("then", "what happens", Table, required="warning"),
        Field("shortName", "a short name"),
        Field("workspaceFolderName", "the folder it was made in"),
    ),
    example="""\
{
  "name": "NAME",
  "version": "1",
  "enabled": true,
  "when": { "type": "fileEdited", "patterns": ["**/*.py"] },
  "then": { "type": "askAgent", "prompt": "Look at the docstrings." }
}
""",
)

KIRO_AGENT = _json_file(
    kind="kiro-agent",
    paths=(".kiro/agents/*.json",),
    tool="Kiro",
    title="Kiro agent",
    sort="kiro agent",
    fields=(
        Field("name", "the name by which it is called"),
        Field("description", "what it does"),
        Field("prompt", "the prompt"),
        Field("tools", "the tools it has", Names, restricts=True),
        Field("allowedTools", "tools that run without asking", Names, restricts=True),
        Field("toolsSettings", "settings of tools, by name", Table, restricts=True),
        Field("toolAliases", "other names for tools", Table),
        Field("resources", "files that it reads", tuple[Any, ...]),
        Field("hooks", "programs that run at certain events", Table),
        Field("mcpServers", "MCP servers of its own, by name", Table),
        Field("includeMcpJson", "whether it has the servers of the project", bool),
        Field("useLegacyMcpJson", "an old name of `includeMcpJson`", bool),
        Field("model", "the model to use"),
        Field("welcomeMessage", "what it says first"),
        Field("keyboardShortcut", "the key that chooses it"),
        Field("$schema", "the schema for editors"),
    ),
    example="""\
{
  "name": "NAME",
  "description": "Reviews a change and reports problems",
  "prompt": "You review changes. Report each problem with file and line.",
  "tools": ["read"],
  "allowedTools": ["read"]
}
""",
)

ZED_SETTINGS = _json_file(
    kind="zed-settings",
    paths=(".zed/settings.json",),
    tool="Zed",
    title="Zed settings file",
    sort="settings",
    comments=True,
    trailing_commas=True,
    unknown=None,
    servers="Zed",
    fields=(
        Field("context_servers", "MCP servers, by name", _SERVERS),
        Field("agent_servers", "agents of others that run as programs, by name", Table),
        Field(
            "agent",
            "settings of the agent",
            Group(
                "the agent settings of Zed",
                (
                    Field("default_model", "the model", Any),
                    Field("profiles", "which tools each profile has", Table, restricts=True),
                    Field("default_profile", "the profile to start with"),
                    Field("tool_permissions", "what tools may do", Table, restricts=True),
                    Field("always_allow_tool_actions", "whether nothing is asked", bool),
                ),
                unknown="ignore",
            ),
        ),
    ),
    example="""\
{
  // servers for everybody who works on the project
  "context_servers": {
    "docs": { "url": "https://example.org/mcp" }
  }
}
""",
)

CONVENTIONS = (
    WINDSURF_RULE,
    WINDSURF_WORKFLOW,
    WINDSURF_HOOKS,
    CLINE_RULE,
    ROO_MODES,
    ROO_COMMAND,
    KIRO_STEERING,
    KIRO_HOOK,
    KIRO_AGENT,
    ZED_SETTINGS,
)
