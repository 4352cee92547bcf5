"""Cursor: rules, whose header only looks like YAML, and sub-agents."""

from __future__ import annotations

from equipage.kinds.tables import Convention, Field, Names

TOOL = "Cursor"

RULE = Convention(
    kind="cursor-rule",
    paths=(".cursor/rules/**/*.{md,mdc}", "*.mdc"),
    tool=TOOL,
    title="Cursor rule",
    sort="rule",
    header_optional=True,
    reader="lines",
    suffixes=(".mdc", ".md"),
    fields=(
        Field("description", "what the rule is about; agents choose it by this text"),
        Field(
            "globs",
            "the rule applies to files that match these patterns",
            str | Names,
            instead=("glob", "applyTo", "paths"),
        ),
        Field("alwaysApply", "whether the rule is part of every prompt", bool),
    ),
    example_path=".cursor/rules/NAME.mdc",
    example="""\
---
description: How we write Python
globs: **/*.py
alwaysApply: false
---
Every public function has a docstring that says what is promised.
""",
)

AGENT = Convention(
    kind="cursor-agent",
    paths=(".cursor/agents/**/*.md",),
    tool=TOOL,
    title="Cursor agent",
    header_optional=True,
    reader="lenient",
    fields=(
        Field("name", "the name by which others call it; by default that of the file"),
        Field("description", "when to use it; others choose it by this text", required="warning"),
        Field("model", "the model; `inherit` for the caller's"),
        Field(
            "readonly",
            "whether it may only read",
            bool,
            restricts=True,
            instead=("read-only", "read_only"),
        ),
        Field("is_background", "whether it runs in the background", bool),
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
