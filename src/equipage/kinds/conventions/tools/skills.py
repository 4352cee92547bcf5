"""Skills: the open specification, and what each tool adds to it or asks of it."""

from __future__ import annotations

from typing import Any, Literal

from equipage.kinds.conventions.tools import claude, opencode
from equipage.kinds.tables import Convention, Field, NameRule, Names, Table

#: Unicode letters are allowed, as the reference validator does.
_NAME = NameRule(
    r"[^\W_A-Z]+(?:-[^\W_A-Z]+)*",
    "lower-case letters, digits and single hyphens",
    longest=64,
    equals="folder",
)
_EFFORT = Literal["low", "medium", "high", "xhigh", "max"] | int
_CLAUDE = ("Claude Code",)

#: What the open specification says; it is the same for everybody.
_OPEN = (
    Field("name", required="warning"),
    Field("description", required="warning"),
    Field("license"),
    Field("compatibility"),
    Field("metadata", Table),
    Field("allowed-tools", Names, restricts=True, split=", ", refers="tool"),
)
#: What Claude Code adds. Many skills that others read as well have some of it.
_ADDED = (
    Field("argument-hint", str | tuple[Any, ...], of=_CLAUDE),
    Field("arguments", str | tuple[Any, ...], of=_CLAUDE),
    Field("disable-model-invocation", bool, restricts=True, of=_CLAUDE),
    Field("user-invocable", bool, of=_CLAUDE, instead=("user-invokable",)),
    Field("disallowed-tools", Names, restricts=True, split=", ", refers="tool", of=_CLAUDE),
    Field("model", of=_CLAUDE),
    Field("effort", _EFFORT, of=_CLAUDE),
    Field("context", Literal["fork"], of=_CLAUDE),
    Field("agent", refers="agent", of=_CLAUDE),
    Field("hooks", Table, of=_CLAUDE),
    Field("paths", Names, split=",", of=_CLAUDE),
    Field("shell", Literal["bash", "powershell"], of=_CLAUDE),
    Field("when_to_use", of=_CLAUDE),
    Field("version", of=_CLAUDE),
)

_EXAMPLE = """\
---
name: NAME
description: Writes release notes from the history of the repository. Use it before a release.
---
1. List what was merged since the last tag.
2. Write one line for each change that people who use the program will notice.
"""

OPEN = Convention(
    kind="skill",
    tool="Agent Skills",
    title="skill",
    sort="skill",
    forgiving=True,
    identity="folder",
    name=_NAME,
    built_in={"agent": claude.AGENTS},
    longest={"description": 1024, "compatibility": 500},
    fields=(*_OPEN, *_ADDED),
    example_path="skills/NAME/SKILL.md",
    example=_EXAMPLE,
)

#: With the tools it knows; the header may be missing altogether.
CLAUDE = Convention(
    kind="skill",
    tool=claude.TOOL,
    title="skill",
    sort="skill",
    header_optional=True,
    forgiving=True,
    identity="folder",
    name=_NAME,
    tools=claude.TOOLS,
    built_in={"agent": claude.AGENTS},
    longest={"description": 1024, "compatibility": 500},
    fields=(*_OPEN, *_ADDED),
    example_path=".claude/skills/NAME/SKILL.md",
    example=_EXAMPLE,
)

#: Strict about what the specification asks for: a skill without it is not offered.
OPENCODE = Convention(
    kind="skill",
    tool=opencode.TOOL,
    title="skill",
    sort="skill",
    forgiving=True,
    identity="folder",
    name=NameRule(_NAME.pattern, _NAME.words, 64, "folder", severity="error"),
    longest={"description": 1024},
    fields=(
        Field("name", required="error"),
        Field("description", required="error"),
        *_OPEN[2:],
        *_ADDED,
    ),
    example_path=".opencode/skills/NAME/SKILL.md",
    example=_EXAMPLE,
)
