"""OpenCode: agents and commands. Keys it does not know go to the provider of the model."""

from __future__ import annotations

from typing import Any, Literal

from equipage.kinds.tables import Convention, Field, Table

TOOL = "OpenCode"

_ACTION = Literal["ask", "allow", "deny"]
_AGENTS = frozenset({"build", "plan", "general", "explore", "scout"})

AGENT = Convention(
    kind="opencode-agent",
    paths=(
        "{opencode,.opencode,.config/opencode,config/opencode}/{agent,agents,mode,modes}/**/*.md",
    ),
    tool=TOOL,
    title="OpenCode agent",
    ignores_headerless=True,
    reader="opencode",
    unknown=None,
    built_in={"agent": _AGENTS},
    fields=(
        Field(
            "description", "when to use it; other agents choose it by this text", required="warning"
        ),
        Field("name", "the name; by default that of the file"),
        Field(
            "mode",
            "whether people choose it, other agents call it, or both",
            Literal["primary", "subagent", "all"],
        ),
        Field("model", "the model, as `provider/model`"),
        Field("variant", "the variant of the model, such as its effort"),
        Field("temperature", "how random its answers are", float),
        Field("top_p", "sample only from the most likely tokens up to this probability", float),
        Field("prompt", "the prompt, instead of the text below the header"),
        Field(
            "tools",
            "tools to turn on or off by name; `permission` replaces it",
            dict[str, bool],
            restricts=True,
            refers="tool",
            instead=("allowed-tools", "allowed_tools"),
        ),
        Field(
            "permission",
            "what it may do: one action, or an action for each tool",
            dict[str, Any] | _ACTION,
            restricts=True,
        ),
        Field("steps", "after how many steps it stops", int),
        Field("maxSteps", "the old name of `steps`", int),
        Field("disable", "whether to turn the agent off", bool),
        Field("hidden", "whether to hide it from people", bool),
        Field("color", "its colour: a hexadecimal number or a name of the theme"),
        Field("options", "further options for the provider of the model", Table),
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
    paths=("{opencode,.opencode,.config/opencode,config/opencode}/{command,commands}/**/*.md",),
    tool=TOOL,
    title="OpenCode command",
    sort="command",
    header_optional=True,
    reader="opencode",
    built_in={"agent": _AGENTS},
    fields=(
        Field("description", "what it does; the menu shows this text"),
        Field("name", "a name to show; the file gives the name to call it by"),
        Field("agent", "the agent that runs it", refers="agent"),
        Field("model", "the model to use, as `provider/model`"),
        Field("subtask", "whether it always runs in an agent of its own", bool),
        Field("template", "the prompt, instead of the text below the header"),
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
