"""Skills: the open specification, and what each tool adds to it or asks of it."""

from __future__ import annotations

from msgspec.structs import replace

from equipage.clients.catalogue import Convention, Field, NameRule, Table, tool_list
from equipage.clients.tables import claude, opencode

#: Unicode letters are allowed, as in the reference validator.
_NAME = NameRule(
    r"[^\W_A-Z]+(?:-[^\W_A-Z]+)*",
    "lower-case letters, digits and single hyphens",
    longest=64,
    equals="folder",
)

_NAME_AND_DESCRIPTION = (
    Field("name", "the name of the skill and of its folder", required="warning"),
    Field("description", "what it does and when to use it", required="warning"),
)
_REQUIRED_DESCRIPTION = replace(_NAME_AND_DESCRIPTION[1], required="error")
#: The other fields of the open specification.
_OPEN_FIELDS = (
    Field("license", "the licence, or the file that holds it"),
    Field("compatibility", "what it needs: programs, packages, the network"),
    Field("metadata", "anything else, as text by name", Table),
    tool_list("allowed-tools", "tools it may use without asking the user", split=", "),
)
#: What Claude Code adds. Many skills that other tools read have some of these fields.
_CLAUDE_FIELDS = (
    *claude.COMMAND_AND_SKILL_FIELDS,
    Field(
        "user-invocable",
        "whether people may call it; `false` hides it in the menu",
        bool,
        instead=("user-invokable",),
    ),
    tool_list("disallowed-tools", "tools it may not use", split=", "),
    Field("version", "the version of the skill"),
)

OPEN = Convention(
    kind="skill",
    paths=("SKILL.md", "{skill,skills}/*/skill.md", ".agents/skills/*/SKILL.md"),
    tool="Agent Skills",
    title="skill",
    sort="skill",
    reader="claude",
    identity="folder",
    name=_NAME,
    built_in={"agent": claude.AGENTS},
    longest={"description": 1024, "compatibility": 500},
    fields=(*_NAME_AND_DESCRIPTION, *_OPEN_FIELDS, *_CLAUDE_FIELDS),
    example_place="skills/NAME/SKILL.md",
    example="""\
---
name: NAME
description: Writes release notes from the history of the repository. Use it before a release.
---
1. List what was merged since the last tag.
2. Write one line for each change that people who use the program will notice.
""",
)

#: Knows the tools, and takes a file without a header.
CLAUDE = replace(
    OPEN,
    tool=claude.TOOL,
    header_optional=True,
    tools=claude.TOOLS,
    # The folder names the skill.
    fields=(replace(_NAME_AND_DESCRIPTION[0], required=None), *OPEN.fields[1:]),
    example_place=".claude/skills/NAME/SKILL.md",
)

#: Folders that Claude Code does not read. Copilot forgives nothing.
COPILOT = replace(OPEN, tool="GitHub Copilot", reader="strict")
#: Both drop a skill without a description, Gemini also one without a name.
CODEX = replace(
    OPEN,
    tool="Codex",
    reader="codex",
    fields=(
        replace(_NAME_AND_DESCRIPTION[0], required=None),
        _REQUIRED_DESCRIPTION,
        *OPEN.fields[2:],
    ),
)
GEMINI = replace(
    OPEN,
    tool="Gemini CLI",
    reader="gemini",
    identity="field",
    fields=(
        replace(_NAME_AND_DESCRIPTION[0], required="error"),
        _REQUIRED_DESCRIPTION,
        *OPEN.fields[2:],
    ),
)

#: Does not offer a skill without a name; any name will do.
OPENCODE = replace(
    OPEN,
    tool=opencode.TOOL,
    built_in={},
    identity="field",
    reader="opencode",
    longest={"description": 1024},
    fields=(
        replace(_NAME_AND_DESCRIPTION[0], required="error"),
        _NAME_AND_DESCRIPTION[1],
        *_OPEN_FIELDS,
        *_CLAUDE_FIELDS,
    ),
    example_place=".opencode/skills/NAME/SKILL.md",
)

#: In a folder of no tool, a field may be meant for any: Qwen Code and Cursor read these.
OPEN = replace(
    OPEN,
    fields=(
        *OPEN.fields,
        tool_list("allowedTools", "tools it may use without asking, as Qwen Code names the field"),
        Field("mode", "whether it is a mode that people switch on, in Cursor", bool | str),
    ),
)

VARIANTS = (OPEN, CLAUDE, OPENCODE, COPILOT, CODEX, GEMINI)
