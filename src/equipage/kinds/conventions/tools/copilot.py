"""GitHub Copilot and VS Code: custom agents (once chat modes), prompt files, instructions."""

from __future__ import annotations

from typing import Any, Literal

from equipage.kinds.tables import Convention, Field, Names, Table, tool_list

TOOL = "GitHub Copilot"

AGENT = Convention(
    kind="copilot-agent",
    paths=(".github/{agents,chatmodes}/**/*.md", "*.{agent,chatmode}.md"),
    tool=TOOL,
    title="Copilot agent",
    header_optional=True,
    reader="lenient",
    suffixes=(".agent.md", ".chatmode.md", ".md"),
    longest_body=30_000,
    fields=(
        Field("description", "what it does and when to use it", required="warning"),
        Field("name", "the name that people see; by default that of the file"),
        Field(
            "target", "where it runs; by default everywhere", Literal["vscode", "github-copilot"]
        ),
        tool_list(
            "tools",
            "the only tools it may use; without the field it has all of them",
            instead=("allowed-tools", "allowed_tools"),
        ),
        Field("model", "the model, or several in order of preference", str | Names),
        Field("disable-model-invocation", "whether only people may call it", bool, restricts=True),
        Field("user-invocable", "whether people may choose it", bool),
        Field("user-invokable", "an old spelling of `user-invocable`", bool),
        Field("infer", "an old form of the two fields above", bool | str),
        Field("mcp-servers", "MCP servers of its own, by name", Table),
        Field("metadata", "anything else, as text by name", Table),
        Field("argument-hint", "what to type, as the chat shows it", str | tuple[Any, ...]),
        Field("agents", "the agents it may call", Names, split=",", refers="agent"),
        Field("handoffs", "buttons that hand over to another agent", tuple[Any, ...]),
        Field("hooks", "programs that run at certain events while it works", Table),
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
    paths=("*.prompt.md",),
    tool=TOOL,
    title="Copilot prompt",
    sort="prompt",
    header_optional=True,
    reader="lenient",
    suffixes=(".prompt.md",),
    fields=(
        Field("description", "what it does"),
        Field("name", "the name after `/` in the chat; by default that of the file"),
        Field("argument-hint", "what to type, as the chat shows it", str | tuple[Any, ...]),
        Field("agent", "the agent that runs it", refers="agent"),
        Field("mode", "the old name of `agent`"),
        Field("model", "the model, or several in order of preference", str | Names),
        tool_list("tools", "the only tools it may use"),
    ),
    built_in={"agent": frozenset({"ask", "edit", "agent", "plan", "Plan"})},
    example_path=".github/prompts/NAME.prompt.md",
    example="""\
---
description: Explain the selected code
agent: ask
---
Explain the selected code to a newcomer to the project.
""",
)

INSTRUCTIONS = Convention(
    kind="copilot-instructions",
    paths=("*.instructions.md",),
    tool=TOOL,
    title="Copilot instructions",
    sort="instructions",
    header_optional=True,
    reader="lenient",
    suffixes=(".instructions.md",),
    fields=(
        Field(
            "applyTo",
            "the files they hold for, as patterns; without it they hold when attached",
            str | Names,
            instead=("globs", "paths"),
        ),
        Field("description", "what they are about"),
        Field("name", "the name that people see; by default that of the file"),
        Field("excludeAgent", "the agent that must not read them", str | Names),
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
