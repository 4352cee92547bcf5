"""Codex: custom agents in TOML. Any other key of its own configuration may stand beside these."""

from __future__ import annotations

from typing import Any, Literal

from equipage.kinds.tables import Convention, Field, Names, Table

TOOL = "Codex"

AGENT = Convention(
    kind="codex-agent",
    tool=TOOL,
    title="Codex agent",
    syntax="toml",
    identity="field",
    suffixes=(".toml",),
    unknown=None,
    needs_body=False,
    fields=(
        Field("name", required="error"),
        Field("description", required="error"),
        Field("developer_instructions", required="error"),
        Field("nickname_candidates", Names),
        Field("model"),
        Field("model_reasoning_effort"),
        Field(
            "sandbox_mode",
            Literal["read-only", "workspace-write", "danger-full-access"],
            restricts=True,
            instead=("sandbox",),
        ),
        Field(
            "approval_policy",
            Literal["untrusted", "on-failure", "on-request", "never"] | Table,
            restricts=True,
        ),
        Field("web_search", str | bool),
        Field("mcp_servers", Table),
        Field("skills", Table),
        Field("tools", Table),
        Field("sandbox_workspace_write", Table),
        Field("hooks", Any),
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
