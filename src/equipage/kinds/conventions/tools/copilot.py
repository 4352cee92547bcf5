"""GitHub Copilot and VS Code: custom agents (once chat modes), prompt files, instructions."""

from __future__ import annotations

from typing import Any, Literal

from equipage.kinds.tables import Convention, Field, Names, Table

TOOL = "GitHub Copilot"

AGENT = Convention(
    kind="copilot-agent",
    tool=TOOL,
    title="Copilot agent",
    header_optional=True,
    forgiving=True,
    suffixes=(".agent.md", ".chatmode.md", ".md"),
    longest_body=30_000,
    fields=(
        Field("description", required="warning"),
        Field("name"),
        Field("target", Literal["vscode", "github-copilot"]),
        Field(
            "tools",
            Names,
            restricts=True,
            split=",",
            refers="tool",
            instead=("allowed-tools", "allowed_tools"),
        ),
        Field("model", str | Names),
        Field("disable-model-invocation", bool, restricts=True),
        Field("user-invocable", bool),
        Field("user-invokable", bool),
        Field("infer", bool | str),
        Field("mcp-servers", Table),
        Field("metadata", Table),
        Field("argument-hint", str | tuple[Any, ...]),
        Field("agents", Names, split=",", refers="agent"),
        Field("handoffs", tuple[Any, ...]),
        Field("hooks", Table),
    ),
    built_in={"agent": frozenset({"*", "ask", "edit", "agent", "plan", "Plan", "Explore"})},
    example_path=".github/agents/NAME.agent.md",
    example="""\
---
description: Reviews a change and reports problems. Use it before a merge.
tools: [read, search]
---
You review changes. Report each problem with file and line. Do not edit anything.
""",
)

PROMPT = Convention(
    kind="copilot-prompt",
    tool=TOOL,
    title="Copilot prompt",
    sort="prompt",
    header_optional=True,
    forgiving=True,
    suffixes=(".prompt.md",),
    fields=(
        Field("description"),
        Field("name"),
        Field("argument-hint", str | tuple[Any, ...]),
        Field("agent", refers="agent"),
        Field("mode"),
        Field("model", str | Names),
        Field("tools", Names, restricts=True, split=",", refers="tool"),
    ),
    built_in={"agent": frozenset({"ask", "edit", "agent", "plan", "Plan"})},
    example_path=".github/prompts/NAME.prompt.md",
    example="""\
---
description: Explain the selected code
agent: ask
---
Explain the selected code to somebody new to the project.
""",
)

INSTRUCTIONS = Convention(
    kind="copilot-instructions",
    tool=TOOL,
    title="Copilot instructions",
    sort="instructions",
    header_optional=True,
    forgiving=True,
    suffixes=(".instructions.md",),
    fields=(
        Field("applyTo", str | Names, instead=("globs", "paths")),
        Field("description"),
        Field("name"),
        Field("excludeAgent", str | Names),
    ),
    example_path=".github/instructions/NAME.instructions.md",
    example="""\
---
applyTo: "**/*.py"
description: How we write Python
---
Every public function has a docstring that says what is promised.
""",
)

CONVENTIONS = (AGENT, PROMPT, INSTRUCTIONS)
