"""Gemini CLI: sub-agents with a header, commands in TOML."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from equipage.kinds.tables import Convention, Field, NameRule, Table, tool_list

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
    example_path=".gemini/agents/NAME.md",
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

COMMAND = Convention(
    kind="gemini-command",
    paths=(".gemini/commands/**/*.toml",),
    tool=TOOL,
    title="Gemini command",
    sort="command",
    syntax="toml",
    suffixes=(".toml",),
    fields=(
        Field("prompt", "the prompt; `{{args}}` becomes the arguments", required="error"),
        Field("description", "what it does; the menu shows this text"),
    ),
    example_path=".gemini/commands/NAME.toml",
    example='''\
description = "Explain what changed since the last release"
prompt = """
Explain what changed since {{args}}, for people who use the program.
"""
''',
)

CONVENTIONS = (AGENT, COMMAND)
