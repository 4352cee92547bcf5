"""What a convention is: data. Each sort of file of each tool has one table.

Facts about other people's tools change often. A change is a change of a row in a table: the model,
the checks, the schema for editors and the comparison between tools all follow from it.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from equipage.core.diagnostics import Severity

Syntax = Literal["header", "toml", "json"]
Sort = Literal["tool", "skill", "server", "agent"]
#: What tells one file from another: a field, the name of the file, the name of its folder.
Identity = Literal["field", "file", "folder"]

Names = tuple[str, ...]
Table = dict[str, Any]


class Field(msgspec.Struct, frozen=True):
    """One field that a tool reads."""

    name: str
    meaning: str = ""  #: what it does, for people who write such files
    type: Any = str
    #: `error`: the tool ignores a file without it; `warning`: the file loads, to little use
    required: Severity | None = None
    #: without it, or misspelt, the agent may do more, so that a slip must be an error
    restricts: bool = False
    #: one text is divided at these characters into a list
    split: str | None = None
    #: what its entries name
    refers: Sort | None = None
    #: what people write instead, which the tool does not read
    instead: tuple[str, ...] = ()


def tool_list(
    name: str, meaning: str, *, split: str | None = ",", instead: tuple[str, ...] = ()
) -> Field:
    """A field with the names of tools that an agent may use, or may not."""
    return Field(name, meaning, Names, restricts=True, split=split, refers="tool", instead=instead)


class NameRule(msgspec.Struct, frozen=True):
    """What a name must look like, as a pattern and in words."""

    pattern: str
    words: str
    longest: int | None = None
    #: what the name must be equal to
    equals: Literal["file", "folder"] | None = None
    severity: Severity = "warning"

    def allows(self, name: str) -> bool:
        is_short = self.longest is None or len(name) <= self.longest
        return is_short and re.fullmatch(self.pattern, name) is not None


class Convention(msgspec.Struct, frozen=True):
    """One sort of file of one tool."""

    kind: str  #: the name of the kind, as in `claude-agent`
    tool: str  #: as people call it
    title: str  #: what the file is, as in “a Claude Code agent”
    fields: tuple[Field, ...]
    syntax: Syntax = "header"
    sort: str = "agent"  #: what `list` calls it
    header_optional: bool = False
    #: whether the tool ignores a Markdown file in its folder that has no header
    ignores_headerless: bool = False
    #: whether the tool reads a header that is not YAML line by line
    forgiving: bool = False
    #: the severity of a key that is not in the table; None if the tool passes such keys on
    unknown: Severity | None = "warning"
    identity: Identity = "file"
    suffixes: tuple[str, ...] = (".md",)  #: what follows the name in the name of the file
    name: NameRule | None = None
    tools: frozenset[str] | None = None  #: the tools there are; None if the set is open
    #: names that other files may use though no file defines them
    built_in: dict[Sort, frozenset[str]] = {}
    longest: dict[str, int] = {}  #: the most characters of a field, by its name
    longest_body: int | None = None
    needs_body: bool = True
    example: str | None = None
    example_path: str = "NAME.md"

    @property
    def one(self) -> str:
        """The title with its article."""
        return f"{'an' if self.title[0] in 'AEIOUaeiou' else 'a'} {self.title}"

    @property
    def names(self) -> frozenset[str]:
        return frozenset(field.name for field in self.fields)

    @property
    def needed(self) -> frozenset[str]:
        return frozenset(field.name for field in self.fields if field.required == "error")

    @property
    def restricting(self) -> frozenset[str]:
        return frozenset(field.name for field in self.fields if field.restricts)

    @property
    def synonyms(self) -> dict[str, str]:
        return {other: field.name for field in self.fields for other in field.instead}

    def field(self, name: str) -> Field | None:
        return next((field for field in self.fields if field.name == name), None)
