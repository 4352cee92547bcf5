"""What files of clients may contain: one TOML file for each client and sort of file, read here.

Facts about other people's tools change often. A change is a change of a row in a table: the model,
the checks, the schema for editors and the comparison between tools all follow from it.
CONTRIBUTING.md says what a table looks like; `index` knows the kinds whose table was not read.
"""

from __future__ import annotations

import functools
import operator
import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from types import GenericAlias
from typing import Annotated, Any, Literal

import msgspec

from equipage.clients.index import CLIENTS, KINDS, FileSyntax, add_article
from equipage.core.diagnostics import Code, Fact, Severity
from equipage.files.walking import expand_choices
from equipage.loading.session import Session

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


class Field(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One field that a tool reads."""

    name: str
    meaning: str = ""  #: what it does, for people who write such files
    type: Any = str  #: a type of Python, a `Group`, or a `CompositeType` that holds groups
    #: `error`: the tool ignores a file without the field; `warning`: it reads the file, to little
    #: use
    required: Severity | None = None
    #: whether the agent may do more if the field is missing or misspelt
    restricts: bool = False
    split: str | None = None  #: characters at which text is split into a list
    refers: ReferenceKind | None = None  #: what its entries name
    instead: Names = ()  #: what people write instead, which the tool does not read


class Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table inside a file: the entries that it may have."""

    #: what it is, with its article: “a hook of Codex”. No two groups share one
    title: Annotated[str, msgspec.Meta(pattern="^(an?|the) ")]
    fields: tuple[Field, ...]
    #: severity of a key that is in no table; None: as in the file around it; `acts`: a warning,
    #: since every key is meant to do something
    unknown: Severity | Literal["ignore", "acts"] | None = None


class CompositeType(msgspec.Struct, frozen=True):
    """How a field holds groups or other types."""

    how: Literal["list", "names", "either"]
    parts: tuple[Any, ...]


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


class NameRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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


class Convention(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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
    version: str | None = None  #: which one of the tool was run; else it is known by its pages
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
        return add_article(self.title)

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


# Tables in TOML.


class WrongTable(Exception):
    """A file of the catalogue says something that it cannot; the text names the file and place."""


#: The words for types. Before the others: `list of`, `map of`; between them: `or`.
_TYPES: dict[str, Any] = {
    "text": str,
    "flag": bool,
    "whole": int,
    "decimal": float,
    "number": int | float,
    "names": Names,
    "table": Table,
    "any": Any,
    "nothing": None,
}
#: What a field says about the size and form of its value → the word of msgspec.
_LIMITS = {"at_least": "ge", "at_most": "le", "more_than": "gt", "pattern": "pattern"}
#: Endings that are not part of the name of a file, unless a table names others.
_SUFFIXES = {"json": (".json",), "toml": (".toml",), "yaml": (".yaml",)}
#: The parts of a table that are not settings of its `Convention`.
_PARTS = frozenset({"like", "example", "groups", "types", "rows", "grants"})
#: Where a table that is `like` another says only what differs.
_JOINED_PARTS = ("fields", "example")


#: What people ask about, in their words.
ACTIVITIES = ("read files", "write files", "run commands", "use the network", "start agents")
_Activity = Annotated[str, msgspec.Meta(pattern=rf"\A(?:{'|'.join(ACTIVITIES)})\Z")]
State = Literal["allows", "partly", "asks", "denies", "unknown"]


@contextmanager
def locate(place: str) -> Iterator[None]:
    """Say what is wrong there."""
    try:
        yield
    except (LookupError, AttributeError, OSError, TypeError, ValueError) as error:
        reason = f"there is no {error}" if isinstance(error, KeyError) else error
        raise WrongTable(f"{place}: {reason}") from error


def refuse(given: Table, *names: str) -> None:
    """Refuse settings that no table makes: they follow from other things."""
    if wrong := given.keys() & {*names}:
        raise TypeError(f"Object contains unknown field `{min(wrong)}`")


class Client(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `client.toml` of a client: what it does with its files, and what its tables share."""

    name: str  #: as people call it
    #: which one was run for the tables; without it, they are known by its pages
    version: str | None = None
    #: the tools that let an agent do what people ask about
    tools_by_activity: dict[_Activity, Names] = {}
    #: where modes decide instead of tools: each mode, and what its values mean. The widest counts
    modes_by_activity: dict[_Activity, dict[str, dict[str, State]]] = {}
    #: tools that do none of it, of a client whose tools are not all known: what a tool of another
    #: name does is unknown
    other_tools: Names = ()
    aliases: dict[str, str] = {}  #: names of tools that the client reads as another
    built_in_tools: str | None = None  #: the name in a list of tools that means all its own
    skill_tool: str | None = None  #: the tool without which an agent cannot use skills
    #: tools that the main agent uses without a question, unless a rule says otherwise
    unasked_tools: Names = ()
    #: the modes of the main agent in which it uses tools without a question; `*` is every tool
    unasked_by_mode: dict[str, Names] = {}
    disabled_by: str | None = None  #: the switch without which an agent is there
    #: whether a skill or a command lets the main agent use tools without a question
    headers_allow_tools: bool = False
    #: how paths in a project begin that belong to it, where their kind does not say it: several
    #: clients read skills and instructions
    starts: Names = ()
    also_reads: Names = ()  #: how paths of files of other clients begin that it reads as well
    local_settings: Names = ()  #: settings that git may ignore while the client reads them
    tools: Names = ()  #: those that come with it, if all are known
    #: agents that are there without a file: one that is removed is as it was made
    agents: Names = ()
    wide_agents: Names = ()  #: those of them that may do everything
    types: dict[str, str] = {}  #: further words for types
    groups: dict[str, Table] = {}
    rows: dict[str, tuple[Table, ...]] = {}  #: rows of grants, see `grant_rows`


class _Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str
    place: str | None = None


class _FieldsOf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry in place of which the fields of a group come."""

    fields_of: str
    without: Names = ()


class TableFile:
    """A file of the catalogue. What it refers to is in it, in the file of its client, or behind the
    name of another client and a colon."""

    def __init__(self, name: str, content: Table) -> None:
        self.name = name
        self.content = content
        if "like" in content:
            with self.locate("like"):
                base = table_file(content["like"]).content
                joined = {part: {**base[part], **content.get(part, {})} for part in _JOINED_PARTS}
                self.content = {**base, **content, **joined}

    def locate(self, place: str = "the whole of it") -> AbstractContextManager[None]:
        return locate(f"{self.name}.toml, {place}")

    def find(self, part: str, name: str) -> tuple[TableFile, Any]:
        """What has a name in a part of this file or of its client, and the file that has it."""
        client, _, word = name.rpartition(":")
        if not client and word in self.content.get(part, {}):
            return self, self.content[part][word]
        file = table_file(f"{client or self.name.partition('/')[0]}/client")
        if word not in file.content.get(part, {}):
            raise LookupError(f"there is no `{name}` in `{part}`")
        return file, file.content[part][word]

    def fields(self, rows: Table, place: str) -> Iterator[Field]:
        for name, row in rows.items():
            with self.locate(f"{place}.{name}"):
                yield from self._fields_of_row(name, msgspec.convert(row, str | Table))

    def _fields_of_row(self, name: str, row: str | Table) -> Iterator[Field]:
        """The fields of a row: mostly one, the same for `each` of a list of names, a group's."""
        if not isinstance(row, str) and "fields_of" in row:
            wanted = msgspec.convert(row, _FieldsOf)
            file, group = self.find("groups", wanted.fields_of)
            fields = file.fields(group["fields"], f"groups.{wanted.fields_of}.fields")
            yield from (each for each in fields if each.name not in wanted.without)
            return
        settings = {"meaning": row} if isinstance(row, str) else dict(row)
        refuse(settings, "name")
        kind = self.parse_type(msgspec.convert(settings.pop("type", "text"), str))
        limits: Table = {_LIMITS[key]: settings.pop(key) for key in _LIMITS if key in settings}
        if limits:
            kind = Annotated[kind, msgspec.Meta(**limits)]
            msgspec.json.Decoder(kind)  # refuses limits that the type does not have
        names = settings.pop("each", None)
        for each in [name] if names is None else names:
            meaning = settings["meaning"].replace("NAME", each if names else "NAME")
            found = {**settings, "name": each, "type": kind, "meaning": meaning}
            yield msgspec.convert(found, Field)

    def parse_type(self, text: str) -> Any:
        """The type that words mean: one of Python, a group, or what is made of groups."""
        parts = [self._parse_part(each) for each in text.split(" or ")]
        plain = [each for each in parts if not isinstance(each, Group | CompositeType)]
        union = [functools.reduce(operator.or_, plain)] if plain else []
        kinds = (*union, *(each for each in parts if isinstance(each, Group | CompositeType)))
        return kinds[0] if len(kinds) == 1 else CompositeType("either", kinds)

    def _parse_part(self, text: str) -> Any:
        if text in _TYPES:
            return _TYPES[text]
        if text.startswith("one of "):
            return Literal[tuple(text.removeprefix("one of ").split(", "))]
        if text.startswith("group:"):
            return self.group(text.removeprefix("group:"))
        how, found, rest = text.partition(" of ")
        if not found or how not in ("list", "map"):
            file, meant = self.find("types", text)
            return file.parse_type(meant)
        part = self._parse_part(rest)
        if isinstance(part, Group | CompositeType):
            return CompositeType("list" if how == "list" else "names", (part,))
        return GenericAlias(*((tuple, (part, ...)) if how == "list" else (dict, (str, part))))

    def group(self, name: str) -> Group:
        file, row = self.find("groups", name)
        with file.locate(f"groups.{name}"):
            fields = tuple(file.fields(row["fields"], f"groups.{name}.fields"))
            return msgspec.convert({**row, "fields": fields}, Group)

    def names(self, value: Any) -> Any:
        """Names as they are written, or a list of a client by its own name: `claude:agents`."""
        if not isinstance(value, str):
            return value
        client, _, word = value.rpartition(":")
        return table_file(f"{client or self.name.partition('/')[0]}/client").content[word]

    def convention(self) -> Convention:
        settings = {key: each for key, each in self.content.items() if key not in _PARTS}
        with self.locate():
            refuse(settings, "version", "example_place")
            settings["fields"] = tuple(self.fields(settings.get("fields", {}), "fields"))
            settings.setdefault("suffixes", _SUFFIXES.get(settings.get("syntax", ""), (".md",)))
            if "tool" not in settings:
                client = client_named(self.name.partition("/")[0])
                settings |= {"tool": client.name, "version": client.version}
            if "example" in self.content:
                example = msgspec.convert(self.content["example"], _Example)
                settings |= {"example": example.text, "example_place": example.place}
            if "servers" in settings:
                dialects = table_file("mcp/dialects").content["dialects"].values()
                tools = [each["tool"] for each in dialects if "paths" in each]
                if settings["servers"] not in tools:
                    raise LookupError(f"there is no dialect of `{settings['servers']}`")
            if settings.get("unknown") == "ignore":
                settings["unknown"] = None
            if "tools" in settings:
                settings["tools"] = self.names(settings["tools"])
            built_in = settings.get("built_in", {})
            settings["built_in"] = {sort: self.names(each) for sort, each in built_in.items()}
            return msgspec.convert(settings, Convention)


@cache
def table_file(name: str) -> TableFile:
    """A file by its path below this folder, without its ending."""
    import rtoml  # what is in no folder of a client needs no table

    path = os.path.join(os.path.dirname(__file__), f"{name}.toml")
    with open(path, "rb") as file:  # if it is not there, what names it is wrong
        content = file.read()
    with locate(f"{name}.toml"):
        return TableFile(name, rtoml.loads(content.decode()))


@cache
def client_named(folder: str) -> Client:
    file = table_file(f"{folder}/client")
    with file.locate():
        return msgspec.convert(file.content, Client)


def client_of(program: str) -> Client:
    """The client that people call so; one of which nothing is known if there is none."""
    return client_named(CLIENTS[program]) if program in CLIENTS else Client(program)


@cache
def convention_in(file: str) -> Convention:
    """The table in a file of the catalogue."""
    return table_file(file).convention()


def convention_of(kind: str) -> Convention | None:
    """The table of a kind; None for skills and lists of MCP servers, of which several clients have
    a table each."""
    entry = KINDS.get(kind)
    if entry is None or not entry.title or kind == "skill":
        return None
    return convention_in(entry.file)


@cache
def conventions() -> tuple[Convention, ...]:
    """Every table that is a kind of its own, in order of recognition."""
    return tuple(table for kind in KINDS if (table := convention_of(kind)) is not None)


#: The tables of skills: that of no client, and those that say what a client asks of them.
SKILL_TABLES = (
    "common/skill",
    "claude/skill",
    "opencode/skill",
    "copilot/skill",
    "codex/skill",
    "gemini/skill",
)
