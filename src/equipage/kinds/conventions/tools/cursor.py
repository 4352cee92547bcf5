"""Cursor: rules, whose header only looks like YAML, and sub-agents."""

from __future__ import annotations

from equipage.kinds.tables import Convention, Field, Names

TOOL = "Cursor"

RULE = Convention(
    kind="cursor-rule",
    tool=TOOL,
    title="Cursor rule",
    sort="rule",
    header_optional=True,
    forgiving=True,
    suffixes=(".mdc", ".md"),
    fields=(
        Field("description"),
        Field("globs", str | Names, instead=("glob", "applyTo", "paths")),
        Field("alwaysApply", bool),
    ),
    example_path=".cursor/rules/NAME.mdc",
    example="""\
---
description: How we write Python
globs: "**/*.py"
alwaysApply: false
---
Every public function has a docstring that says what is promised.
""",
)

AGENT = Convention(
    kind="cursor-agent",
    tool=TOOL,
    title="Cursor agent",
    header_optional=True,
    forgiving=True,
    fields=(
        Field("name"),
        Field("description", required="warning"),
        Field("model"),
        Field("readonly", bool, restricts=True, instead=("read-only", "read_only")),
        Field("is_background", bool),
    ),
    example_path=".cursor/agents/NAME.md",
    example="""\
---
name: NAME
description: Reviews a change and reports problems. Use it before a merge.
readonly: true
---
You review changes. Report each problem with file and line. Do not edit anything.
""",
)

CONVENTIONS = (RULE, AGENT)
