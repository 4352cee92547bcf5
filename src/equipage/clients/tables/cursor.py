"""Cursor: rules, whose header only looks like YAML, sub-agents, commands, hooks and permissions.

Cursor cannot be run without a screen, so nothing but a misspelt restriction is an error.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from equipage.clients.catalogue import (
    Convention,
    Field,
    Group,
    Names,
    Table,
    hooks_field,
    json_file,
    lenient_file,
    list_of,
)

TOOL = "Cursor"
_json_file = partial(json_file, tool=TOOL, measured=False)

RULE = Convention(
    kind="cursor-rule",
    paths=(".cursor/rules/**/*.{md,mdc}", "*.mdc"),
    tool=TOOL,
    title="Cursor rule",
    sort="rule",
    header_optional=True,
    reader="lines",
    suffixes=(".mdc", ".md"),
    fields=(
        Field("description", "what the rule is about; agents choose it by this text"),
        Field(
            "globs",
            "the rule applies to files that match these patterns",
            str | Names,
            instead=("glob", "applyTo", "paths"),
        ),
        Field("alwaysApply", "whether the rule is part of every prompt", bool),
    ),
    example_place=".cursor/rules/NAME.mdc",
    example="""\
---
description: How we write Python
globs: **/*.py
alwaysApply: false
---
Every public function has a docstring that says what is promised.
""",
)

AGENT = lenient_file(
    kind="cursor-agent",
    paths=(".cursor/agents/**/*.md",),
    tool=TOOL,
    title="Cursor agent",
    fields=(
        Field("name", "the name by which others call it; by default that of the file"),
        Field("description", "when to use it; others choose it by this text", required="warning"),
        Field("model", "the model; `inherit` for the caller's"),
        Field(
            "readonly",
            "whether it may only read",
            bool,
            restricts=True,
            instead=("read-only", "read_only"),
        ),
        Field("is_background", "whether it runs in the background", bool),
    ),
    example="""\
---
name: NAME
description: Reviews a change and reports problems. Use it before a merge.
readonly: true
---
You review changes. Report each problem with file and line. Do not edit anything.
""",
)

COMMAND = lenient_file(
    kind="cursor-command",
    paths=(".cursor/commands/**/*.md",),
    tool=TOOL,
    title="Cursor command",
    sort="command",
    measured=False,
    fields=(
        Field("description", "what it does"),
        Field("name", "its name; by default that of the file"),
    ),
    example="""\
Explain what changed since the last release, for people who use the program.
""",
)

# fmt: off
_EVENTS = (
    "sessionStart", "sessionEnd", "preToolUse", "postToolUse", "postToolUseFailure",
    "subagentStart", "subagentStop", "beforeShellExecution", "afterShellExecution",
    "beforeMCPExecution", "afterMCPExecution", "beforeReadFile", "afterFileEdit",
    "beforeSubmitPrompt", "preCompact", "stop", "afterAgentResponse", "afterAgentThought",
    "beforeTabFileRead", "afterTabFileEdit", "workspaceOpen",
)
# fmt: on
_HOOK = Group(
    "a hook of Cursor",
    (
        Field("command", "the command to run"),
        Field("type", "what runs", Literal["command", "prompt"]),
        Field("prompt", "the prompt, with the type `prompt`"),
        Field("model", "the model, with the type `prompt`"),
        Field("timeout", "after how many seconds it is stopped", int | float),
        Field("matcher", "what it is for", str | Table),
        Field("failClosed", "whether a hook that fails blocks", bool, restricts=True),
        Field("loop_limit", "how often it may start the agent again", Any),
    ),
)

HOOKS = _json_file(
    kind="cursor-hooks",
    paths=(".cursor/hooks.json",),
    title="list of Cursor hooks",
    sort="hooks",
    fields=(
        Field("version", "the version of the format", int, required="warning"),
        hooks_field("Cursor", _EVENTS, _HOOK),
        Field("$schema", "the schema for editors"),
    ),
    example="""\
{
  "version": 1,
  "hooks": {
    "beforeShellExecution": [{ "command": "check-command", "failClosed": true }]
  }
}
""",
)

PERMISSIONS = _json_file(
    kind="cursor-permissions",
    paths=(".cursor/{cli,permissions}.json",),
    title="list of Cursor permissions",
    sort="settings",
    unknown=None,
    fields=(
        Field(
            "permissions",
            "what the agent may do",
            Group(
                "the permissions of Cursor",
                (
                    Field("allow", "what is allowed: `Shell(git)`, `Read(src/**)`", Names),
                    Field("deny", "what is denied", Names, restricts=True),
                ),
            ),
            restricts=True,
        ),
        Field("version", "the version of the format", int),
    ),
    example="""\
{ "permissions": { "allow": ["Shell(git)"], "deny": ["Read(.env*)"] } }
""",
)

ENVIRONMENT = _json_file(
    kind="cursor-environment",
    paths=(".cursor/environment.json",),
    title="Cursor environment",
    sort="settings",
    fields=(
        Field("snapshot", "the machine to start from"),
        Field("build", "how the machine is made", Table),
        Field("install", "the command that installs what is needed"),
        Field("start", "the command that starts what is needed"),
        Field(
            "terminals",
            "commands that go on running",
            list_of(
                Group(
                    "a terminal of Cursor",
                    (
                        Field("name", "the name that people see", required="warning"),
                        Field("command", "the command to run", required="warning"),
                        Field("description", "what it is for"),
                        Field("ports", "ports that it listens at", Any),
                    ),
                    unknown="ignore",
                )
            ),
        ),
        Field("ports", "ports to show", Any),
        Field("user", "the user that runs it"),
        Field("name", "the name that people see"),
        Field("agentCanUpdateSnapshot", "whether the agent may change the machine", bool),
        Field("persistedDirectories", "folders that are kept", Names),
        Field("repositoryDependencies", "other repositories to fetch", Any),
        Field("$schema", "the schema for editors"),
    ),
    example="""\
{
  "install": "npm ci",
  "terminals": [{ "name": "server", "command": "npm start" }]
}
""",
)

PLUGIN = _json_file(
    kind="cursor-plugin",
    paths=(".cursor-plugin/plugin.json",),
    title="Cursor plugin",
    sort="plugin",
    identity="field",
    fields=(
        Field("name", "the name by which it is installed", required="warning"),
        Field("version", "its version"),
        Field("description", "what it brings"),
        Field("displayName", "the name that people see"),
        Field("author", "who wrote it", str | Table),
        Field("homepage", "where to read about it"),
        Field("repository", "where its source is", str | Table),
        Field("license", "the licence"),
        Field("keywords", "words to find it by", Names),
        Field("category", "where to find it"),
        Field("tags", "words to find it by", Names),
        Field("logo", "its picture"),
        *(
            Field(name, f"where its {name} are", Any)
            for name in ("agents", "commands", "skills", "rules", "hooks", "mcpServers")
        ),
    ),
    example="""\
{ "name": "NAME", "version": "1.0.0", "description": "Reviews changes" }
""",
)

CONVENTIONS = (RULE, AGENT, COMMAND, HOOKS, PERMISSIONS, ENVIRONMENT, PLUGIN)
