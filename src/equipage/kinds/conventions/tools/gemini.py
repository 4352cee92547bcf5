"""Gemini CLI: sub-agents with a header, commands in TOML."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from equipage.kinds.tables import Convention, Field, NameRule, Names, Table

TOOL = "Gemini CLI"

TOOLS = frozenset(
    {
        "activate_skill",
        "ask_user",
        "cli_help",
        "codebase_investigator",
        "enter_plan_mode",
        "exit_plan_mode",
        "get_internal_docs",
        "glob",
        "google_web_search",
        "grep_search",
        "list_directory",
        "read_file",
        "read_many_files",
        "replace",
        "run_shell_command",
        "save_memory",
        "search_file_content",
        "web_fetch",
        "write_file",
        "write_todos",
    }
)

AGENT = Convention(
    kind="gemini-agent",
    tool=TOOL,
    title="Gemini agent",
    passes_over=True,
    identity="field",
    name=NameRule(
        r"[a-z0-9_-]+", "lower-case letters, digits, hyphens and underscores", severity="error"
    ),
    tools=TOOLS,
    fields=(
        Field("name", required="error"),
        Field("description", required="error"),
        Field("kind", Literal["local", "remote"]),
        Field("display_name"),
        Field(
            "tools",
            Names,
            restricts=True,
            refers="tool",
            instead=("allowed-tools", "allowed_tools"),
        ),
        Field("mcpServers", Table, instead=("mcp_servers",)),
        Field("model"),
        Field("temperature", Annotated[float, msgspec.Meta(ge=0, le=2)]),
        Field("max_turns", int),
        Field("timeout_mins", int | float),
        Field("agent_card_url"),
        Field("agent_card_json", str | Table),
        Field("auth", Any),
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
    tool=TOOL,
    title="Gemini command",
    sort="command",
    syntax="toml",
    suffixes=(".toml",),
    needs_body=False,
    fields=(Field("prompt", required="error"), Field("description")),
    example_path=".gemini/commands/NAME.toml",
    example='''\
description = "Explain what changed since the last release"
prompt = """
Explain what changed since {{args}}, for people who use the program.
"""
''',
)

CONVENTIONS = (AGENT, COMMAND)
