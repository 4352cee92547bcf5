"""Codex: custom agents in TOML. Any other key of Codex's own configuration may be beside these."""

from __future__ import annotations

from typing import Any, Literal

from equipage.kinds.tables import Convention, Field, Names, Table

TOOL = "Codex"

AGENT = Convention(
    kind="codex-agent",
    paths=(".codex/agents/*.toml",),
    tool=TOOL,
    title="Codex agent",
    syntax="toml",
    identity="field",
    suffixes=(".toml",),
    unknown=None,
    fields=(
        Field("name", "the name by which others call it", required="error"),
        Field("description", "when to use it; others choose it by this text", required="error"),
        Field("developer_instructions", "the prompt", required="error"),
        Field("nickname_candidates", "names to show for each run of it", Names),
        Field("model", "the model to use"),
        Field("model_reasoning_effort", "how much the model reasons"),
        Field(
            "sandbox_mode",
            "what commands may write",
            Literal["read-only", "workspace-write", "danger-full-access"],
            restricts=True,
            instead=("sandbox",),
        ),
        Field(
            "approval_policy",
            "when it must ask the user",
            Literal["untrusted", "on-failure", "on-request", "never"] | Table,
            restricts=True,
        ),
        Field("web_search", "whether it may search the web", str | bool),
        Field("mcp_servers", "MCP servers of its own, by name", Table),
        Field("skills", "which skills it has", Table),
        Field("tools", "settings of the built-in tools", Table),
        Field("sandbox_workspace_write", "what `workspace-write` allows", Table),
        Field("hooks", "programs that run at certain events while it works", Any),
    ),
    example_path=".codex/agents/NAME.toml",
    example='''\
name = "NAME"
description = "Reviews a change and reports problems. Use it before a merge."
sandbox_mode = "read-only"
developer_instructions = """
You review changes. Report each problem with file and line. Do not edit anything.
"""
''',
)

CONVENTIONS = (AGENT,)
