"""OpenCode: agents and commands. Keys it does not know are passed to the provider of the model."""

from __future__ import annotations

from typing import Any, Literal

from equipage.kinds.tables import Convention, Field, Table

TOOL = "OpenCode"

_ACTION = Literal["ask", "allow", "deny"]
_AGENTS = frozenset({"build", "plan", "general", "explore", "scout"})

AGENT = Convention(
    kind="opencode-agent",
    tool=TOOL,
    title="OpenCode agent",
    passes_over=True,
    forgiving=True,
    unknown=None,
    built_in={"agent": _AGENTS},
    fields=(
        Field("description", required="warning"),
        Field("name"),
        Field("mode", Literal["primary", "subagent", "all"]),
        Field("model"),
        Field("variant"),
        Field("temperature", float),
        Field("top_p", float),
        Field("prompt"),
        Field(
            "tools",
            dict[str, bool],
            restricts=True,
            refers="tool",
            instead=("allowed-tools", "allowed_tools"),
        ),
        Field("permission", dict[str, Any] | _ACTION, restricts=True),
        Field("steps", int),
        Field("maxSteps", int),
        Field("disable", bool),
        Field("hidden", bool),
        Field("color"),
        Field("options", Table),
    ),
    example_path=".opencode/agents/NAME.md",
    example="""\
---
description: Reviews a change and reports problems. Use it before a merge.
mode: subagent
permission:
  edit: deny
  bash: deny
---
You review changes. Report each problem with file and line. Do not edit anything.
""",
)

COMMAND = Convention(
    kind="opencode-command",
    tool=TOOL,
    title="OpenCode command",
    sort="command",
    header_optional=True,
    forgiving=True,
    built_in={"agent": _AGENTS},
    fields=(
        Field("description"),
        Field("name"),
        Field("agent", refers="agent"),
        Field("model"),
        Field("subtask", bool),
        Field("template"),
    ),
    example_path=".opencode/commands/NAME.md",
    example="""\
---
description: Explain what changed since the last release
agent: plan
---
Explain what changed since $ARGUMENTS, for people who use the program.
""",
)

CONVENTIONS = (AGENT, COMMAND)
