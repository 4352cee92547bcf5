"""Conventions as data: each sort of file of each tool has one table.

Facts about other people's tools change often. A change is a change of a row in a table: the model,
the checks, the schema for editors and the comparison between tools all follow from it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any, Literal

import msgspec

from equipage.core.diagnostics import Code, Fact, Severity
from equipage.files.walking import expand_choices
from equipage.loading.session import Session

FileSyntax = Literal["header", "toml", "json", "yaml", "text"]
#: What the entries of a field may name.
ReferenceKind = Literal["tool", "skill", "server", "agent"]
#: What distinguishes two files of a kind: a field, the name of the file, the name of its folder.
Identity = Literal["field", "file", "folder"]

Names = tuple[str, ...]
Table = dict[str, Any]


#: A check of a file of a client, beyond what its table says.
Rule = Callable[["Convention", Any, "Session"], Iterator[Fact]]


class OwnRules(msgspec.Struct, frozen=True):
    """What a client checks in one kind of its files beyond the table, and the codes of that."""

    rules: tuple[Rule, ...]
    codes: tuple[Code, ...]


#: How a client reads a header that is not YAML, see `clients.headers`. To `lines` it never was
#: YAML: each line is a key and its text. `lenient` clients cannot be run here: they are taken to
#: read what was meant.
Reader = Literal["strict", "lenient", "claude", "codex", "gemini", "opencode", "lines"]


class Field(msgspec.Struct, frozen=True):
    """One field that a tool reads."""

    name: str
    meaning: str = ""  #: what it does, for people who write such files
    type: Any = str  #: a type of Python, a `Group`, or an `CompositeType` that holds groups
    #: `error`: the tool ignores a file without the field; `warning`: it reads the file, to little
    #: use
    required: Severity | None = None
    #: whether the agent may do more if the field is missing or misspelt
    restricts: bool = False
    split: str | None = None  #: characters at which text is split into a list
    refers: ReferenceKind | None = None  #: what its entries name
    instead: Names = ()  #: what people write instead, which the tool does not read
    order: Names = ()  #: its values from narrow to wide, where it decides what an agent may do
    default: str | None = None  #: the one of them that an absent field means


def tool_list(
    name: str, meaning: str, *, split: str | None = ",", instead: tuple[str, ...] = ()
) -> Field:
    """A field with the names of tools that an agent may use, or may not."""
    return Field(name, meaning, Names, restricts=True, split=split, refers="tool", instead=instead)


class Group(msgspec.Struct, frozen=True):
    """A table inside a file: the entries that it may have."""

    title: str  #: what it is, with its article: “a hook of Codex”. No two groups share one
    fields: tuple[Field, ...]
    #: severity of a key that is in no table; None: as in the file around it; `acts`: a warning,
    #: since every key is meant to do something
    unknown: Severity | Literal["ignore", "acts"] | None = None


class CompositeType(msgspec.Struct, frozen=True):
    """How a field holds groups or other types."""

    how: Literal["list", "names", "either"]
    parts: tuple[Any, ...]


def list_of(part: Any) -> CompositeType:
    """A list whose entries are such groups."""
    return CompositeType("list", (part,))


def mapping_of(part: Any) -> CompositeType:
    """A table of such groups by names that the author chooses."""
    return CompositeType("names", (part,))


def either(*parts: Any) -> CompositeType:
    """A value of one of several types, at most one of which is a group."""
    return CompositeType("either", parts)


def patterns_in(fields: tuple[Field, ...], path: str = "") -> Iterator[tuple[str, Field]]:
    """Every field below `fields` with the pattern of its path: `hooks.*.command`."""
    for field in fields:
        yield path + field.name, field
        yield from _patterns_at(field.type, path + field.name)


def _patterns_at(part: Any, path: str) -> Iterator[tuple[str, Field]]:
    if isinstance(part, Group):
        yield from patterns_in(part.fields, f"{path}.")
    elif isinstance(part, CompositeType):
        for each in part.parts:
            yield from _patterns_at(each, path if part.how == "either" else f"{path}.*")


class NameRule(msgspec.Struct, frozen=True):
    """What a name must look like."""

    pattern: str  #: a regular expression that the whole name matches
    words: str  #: the pattern in words
    longest: int | None = None  #: how many characters it may have
    equals: Literal["file", "folder"] | None = None  #: whose name it must repeat
    severity: Severity = "warning"

    def allows(self, name: str) -> bool:
        is_short = self.longest is None or len(name) <= self.longest
        return is_short and _compile(self.pattern).fullmatch(name) is not None


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


class Convention(msgspec.Struct, frozen=True):
    """One sort of file of one tool."""

    kind: str  #: the name of the kind, as in `claude-agent`
    tool: str  #: the tool, as people call it
    title: str  #: what the file is, as in “a Claude Code agent”
    fields: tuple[Field, ...]
    #: keys at any level that a version of the tool reads, and that no row describes
    unlisted: frozenset[str] = frozenset()
    #: the files it is, as globs over the end of a path, with `{a,b}` for a choice
    paths: tuple[str, ...] = ()
    syntax: FileSyntax = "header"
    comments: bool = False  #: whether a JSON file may have comments
    trailing_commas: bool = False  #: whether a JSON file may have commas before closing brackets
    sort: str = "agent"  #: what `list` calls it
    header_optional: bool = False  #: whether the tool also reads files without a header
    body_optional: bool = False  #: whether a header alone does something
    #: whether the tool ignores Markdown files in its folder that do not start with a header
    ignores_headerless: bool = False
    reader: Reader = "strict"  #: how the tool reads a header that is not YAML
    #: severity of a key that is in no table; None: such keys have a meaning, for example to the
    #: provider of the model
    unknown: Severity | None = "warning"
    #: whether the tool was run, or its own schema read: else nothing in the file is an error
    measured: bool = True
    #: severity of a value that does not fit a field that neither restricts nor is required
    mismatch: Severity = "warning"
    identity: Identity = "file"
    suffixes: Names = (".md",)  #: endings that are not part of the name of a file
    #: the field that the whole file is, for files that hold entries by name and nothing else
    wraps: str | None = None
    servers: str | None = None  #: the tool whose way to write MCP servers the file follows
    name: NameRule | None = None  #: what the name must look like
    tools: frozenset[str] | None = None  #: every tool there is; None if they are not all known
    #: names that may be referred to although no file defines them
    built_in: dict[ReferenceKind, frozenset[str]] = {}
    longest: dict[str, int] = {}  #: field → how many characters it may have
    longest_body: int | None = None  #: how many characters the body may have
    unread: str | None = None  #: why the tool does not read files in this place
    example: str | None = None  #: the text of a good first file
    example_place: str | None = None  #: where that file goes, if the first of `paths` is not it

    @property
    def example_path(self) -> str:
        """Where a good first file goes, with `NAME` in place of the name."""
        if self.example_place is not None:
            return self.example_place
        return expand_choices(self.paths[0])[0].replace("**/", "").replace("*", "NAME")

    @property
    def title_with_article(self) -> str:
        """The title with its article."""
        return f"{'an' if self.title[0] in 'AEIOUaeiou' else 'a'} {self.title}"

    @property
    def field_names(self) -> frozenset[str]:
        return frozenset(field.name for field in self.fields)

    @property
    def mandatory_fields(self) -> frozenset[str]:
        """The fields without which the tool ignores the file."""
        return frozenset(field.name for field in self.fields if field.required == "error")

    @property
    def restricting_fields(self) -> frozenset[str]:
        """The fields that restrict what an agent may do."""
        return frozenset(field.name for field in self.fields if field.restricts)

    @property
    def synonyms(self) -> dict[str, str]:
        """What people write instead of a field → the field."""
        return {other: field.name for field in self.fields for other in field.instead}

    def field(self, name: str) -> Field | None:
        return next((field for field in self.fields if field.name == name), None)


#: A file without a header, by its syntax.
json_file = partial(Convention, syntax="json", suffixes=(".json",))
toml_file = partial(Convention, syntax="toml", suffixes=(".toml",))
yaml_file = partial(Convention, syntax="yaml", suffixes=(".yaml",))
#: Markdown that may have a header, of a tool that cannot be run here.
lenient_file = partial(Convention, header_optional=True, reader="lenient")


# Hooks: programs that a tool runs at certain events. Most tools share the shape, none the words. A
# misspelt event never fires and nothing is reported, so a hook that guards something is lost.


def events_group(title: str, names: Iterable[str], entries: Any, *more: Field) -> Group:
    """The table of hooks by event: each event holds a list of `entries`."""
    fields = tuple(
        Field(name, f"what runs at the event `{name}`", list_of(entries), restricts=True)
        for name in names
    )
    return Group(title, (*fields, *more), unknown="acts")


def hooks_field(tool: str, events: Iterable[str], entries: Any) -> Field:
    """The field of a file that holds the hooks of a tool, and little else."""
    group = events_group(f"the hooks of {tool}", events, entries)
    return Field("hooks", "what runs, by event", group, required="warning")


def matcher_group(title: str, handler: Group, *more: Field) -> Group:
    """A matcher, and the handlers that run for what it matches."""
    return Group(
        title,
        (
            Field("matcher", "the tools or sources it is for; without it, all of them"),
            Field("hooks", "what runs", list_of(handler), required="warning"),
            *more,
        ),
    )
