"""Agents in the terminal whose own words are not measured: Amp, Qwen Code, Continue, OpenHands."""

from __future__ import annotations

from typing import Any, Literal

from equipage.kinds.tables import Convention, Field, Group, Names, Table, list_of, tool_list

_SERVERS = dict[str, dict[str, Any]]

AMP_SETTINGS = Convention(
    kind="amp-settings",
    paths=(".amp/settings.{json,jsonc}", "amp.{json,jsonc}"),
    tool="Amp",
    title="Amp settings file",
    sort="settings",
    syntax="json",
    comments=True,
    trailing_commas=True,
    suffixes=(".json",),
    measured=False,
    servers="Amp",
    fields=(
        Field("amp.mcpServers", "MCP servers, by name", _SERVERS),
        Field(
            "amp.permissions",
            "what may be done; the first rule that matches counts",
            list_of(
                Group(
                    "a permission of Amp",
                    (
                        Field("tool", "the tools it is for", required="warning"),
                        Field(
                            "action",
                            "what happens",
                            Literal["allow", "ask", "reject", "delegate"],
                            required="warning",
                            restricts=True,
                        ),
                        Field("matches", "the arguments it is for", Table),
                        Field("context", "`thread` or `subagent`"),
                        Field("to", "the program that decides"),
                        Field("message", "the message to the model"),
                    ),
                )
            ),
            restricts=True,
        ),
        Field("amp.tools.disable", "tools that are left out", Names, restricts=True),
        Field("amp.mcpPermissions", "which servers may be used", Any, restricts=True),
    ),
    example_path=".amp/settings.json",
    example="""\
{
  "amp.permissions": [{ "tool": "Bash", "matches": { "cmd": "*git push*" }, "action": "ask" }],
  "amp.mcpServers": { "docs": { "url": "https://example.org/mcp" } }
}
""",
)

QWEN_SETTINGS = Convention(
    kind="qwen-settings",
    paths=(".qwen/settings.json",),
    tool="Qwen Code",
    title="Qwen settings file",
    sort="settings",
    syntax="json",
    comments=True,
    suffixes=(".json",),
    unknown=None,
    measured=False,
    servers="Qwen Code",
    fields=(
        Field("mcpServers", "MCP servers, by name", _SERVERS),
        Field("tools", "which tools there are", Table),
        Field("mcp", "which servers are used", Table),
        Field("context", "what is read into the prompt", Table),
        Field("security", "what is not allowed", Table),
        Field("permissions", "what may be done", Table, restricts=True),
        Field("hooks", "programs that run at certain events", Table),
    ),
    example_path=".qwen/settings.json",
    example="""\
{
  "mcpServers": { "docs": { "httpUrl": "https://example.org/mcp" } }
}
""",
)

QWEN_AGENT = Convention(
    kind="qwen-agent",
    paths=(".qwen/agents/*.md",),
    tool="Qwen Code",
    title="Qwen agent",
    sort="qwen agent",
    ignores_headerless=True,
    reader="lenient",
    measured=False,
    identity="field",
    fields=(
        Field("name", "the name by which others call it", required="warning"),
        Field("description", "when to use it; others choose it by this text", required="warning"),
        tool_list("tools", "the only tools it may use; without the field it has all of them"),
        tool_list("disallowedTools", "tools it may not use"),
        Field("model", "the model; `inherit` for the caller's"),
        Field("color", "its colour in the terminal"),
        Field("approvalMode", "when it must ask the user", restricts=True),
    ),
    example_path=".qwen/agents/NAME.md",
    example="""\
---
name: NAME
description: Reviews a change and reports problems. Use it before a merge.
tools: [read_file, grep_search]
---
You review changes. Report each problem with file and line. Do not edit anything.
""",
)

CONTINUE_RULE = Convention(
    kind="continue-rule",
    paths=(".continue/rules/**/*.md",),
    tool="Continue",
    title="Continue rule",
    sort="rule",
    header_optional=True,
    reader="lenient",
    measured=False,
    fields=(
        Field("name", "the name that people see"),
        Field("globs", "the files it applies to", str | Names),
        Field("regex", "an expression over the files it applies to", str | Names),
        Field("alwaysApply", "whether it is part of every prompt", bool),
        Field("description", "what it is about"),
        Field("invokable", "whether people may call it", bool),
    ),
    example_path=".continue/rules/NAME.md",
    example="""\
---
name: NAME
globs: "**/*.py"
---
Every public function has a docstring that says what is promised.
""",
)

MICROAGENT = Convention(
    kind="openhands-microagent",
    paths=(".openhands/microagents/**/*.md",),
    tool="OpenHands",
    title="OpenHands microagent",
    sort="microagent",
    header_optional=True,
    reader="lenient",
    measured=False,
    fields=(
        Field("name", "its name"),
        Field("type", "when it is read", Literal["knowledge", "repo", "task"]),
        Field("triggers", "words that bring it into the prompt", Names),
        Field("version", "its version", str | int | float),
        Field("agent", "the agent that reads it"),
        Field("inputs", "what the user is asked for", tuple[Any, ...]),
        Field("mcp_tools", "MCP servers it brings", Any),
    ),
    example_path=".openhands/microagents/NAME.md",
    example="""\
---
name: NAME
type: knowledge
triggers: [docstring]
---
Every public function has a docstring that says what is promised.
""",
)

CONVENTIONS = (AMP_SETTINGS, QWEN_SETTINGS, QWEN_AGENT, CONTINUE_RULE, MICROAGENT)
