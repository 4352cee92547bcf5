"""A reach: what an agent may do, and which file and field says so.

A grant is about one thing of a sort: a tool, an MCP server, a path. It allows the thing, denies it,
or lets the client ask. A grant for `*` with `base` is what holds for everything else of its sort.
Which grant decides where several match depends on the client, see `Reach.precedence`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Generic, Literal, TypeVar, get_args

import msgspec

from equipage.core.path import ROOT, Path, format_path

Effect = Literal["allows", "asks", "denies"]
#: The effects from narrow to wide.
EFFECTS: tuple[Effect, ...] = ("denies", "asks", "allows")
#: What a grant may be about, in the order in which people are shown it.
Sort = Literal[
    "mode",
    "tool",
    "server",
    "program",
    "host",
    "path",
    "skill",
    "agent",
    "plugin",
    "variable",
    "guard",
    "setting",
]
SORTS: tuple[Sort, ...] = get_args(Sort)
#: How a client chooses among grants that match: the strictest, or the first or last one written.
Precedence = Literal["strictest", "first", "last"]
EVERYTHING = "*"


class Hidden(msgspec.Struct, frozen=True):
    """A value that may be secret: it is compared with another, and never shown or written."""

    value: str

    def __repr__(self) -> str:
        return "Hidden(***)"


class Grant(msgspec.Struct, frozen=True):
    """One thing that is allowed, asked about or denied, and the place that says so."""

    sort: str  #: one of `SORTS`
    #: the thing as the client writes it, `Bash(git:*)`; `*` is everything of the sort; of a mode,
    #: its name and value
    name: str
    effect: Effect
    file: str = ""  #: the file that says so, as people are shown it
    path: Path = ROOT  #: the value in the configuration that says so
    base: bool = False  #: whether it holds only for what no other grant of the sort matches
    default: bool = False  #: whether nothing is written: it is what an absent field means
    level: int | None = None  #: of a mode: how wide it is; only comparable with the same mode
    widest: bool = False  #: of a mode: whether there is none wider
    usual: int | None = None  #: of a mode: how wide it is if nothing is written
    hidden: Hidden | None = None  #: the part of the value that the name leaves out

    @property
    def field(self) -> str:
        """The path as people write it; empty for the whole file."""
        return format_path(self.path)

    @property
    def mode(self) -> str:
        """Of a mode: its name without its value."""
        return self.name.partition(" = ")[0]


class Reach(msgspec.Struct, frozen=True):
    """What one agent, or everything that a file of settings is for, may do."""

    name: str
    sort: str  #: what it is: agent, settings, command, skill, tool, servers …
    kind: str  #: the kind of the file that describes it
    program: str  #: the client that reads the file
    file: str
    grants: tuple[Grant, ...] = ()
    #: what the settings, servers and skills of the same project add, where it is an agent
    inherited: tuple[Grant, ...] = ()
    path: Path = ROOT  #: its place in the configuration
    precedence: Precedence = "strictest"
    #: why it is not known what the client makes of the file; then everything counts as allowed
    unknown: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """Equal for one subject before and after a change."""
        return (self.file, self.sort, self.name)

    def grants_of(self, sort: str) -> Iterator[Grant]:
        return (each for each in self.grants if each.sort == sort)


Named = TypeVar("Named")


class PatternIndex(Generic[Named]):
    """Things by the beginnings of their names, which are patterns: few of many may cover a name."""

    def __init__(self, things: Iterable[tuple[str, Named]]) -> None:
        self._by_start: dict[str, list[tuple[int, Named]]] = {}
        for number, (name, thing) in enumerate(things):
            self._by_start.setdefault(_literal_start(name), []).append((number, thing))
        self._lengths = sorted(set(map(len, self._by_start)))

    def candidates(self, name: str) -> list[Named]:
        """The things that may cover a name, in order."""
        found: list[tuple[int, Named]] = []
        name = _shortest_form(name)
        for length in self._lengths:
            if length <= len(name):
                found += self._by_start.get(name[:length], ())
        return [thing for _, thing in sorted(found, key=lambda each: each[0])]


@lru_cache(4096)
def _shortest_form(rule: str) -> str:
    """A rule of Claude Code in the shortest of the ways in which it can be written."""
    if rule == "Bash(*)":
        return "Bash"
    if rule.startswith("mcp__"):
        return rule.removesuffix("__*") if rule != "mcp__*" else rule
    rule = f"Agent({rule[5:]}" if rule.startswith("Task(") else rule
    return rule.replace("(./", "(", 1) if rule.startswith(_PATH_TOOLS) else rule


def _literal_start(wide: str) -> str:
    """What every name begins with that a pattern covers."""
    wide = _shortest_form(wide)
    if wide in (EVERYTHING, "**", "all"):
        return ""
    head, bracket, what = wide.partition("(")
    what = what.removesuffix(")")
    if what.endswith((":*", " *")):
        what = what[:-2]
    return re.split(r"[*\\]|@latest", f"{head}{bracket}{what}", maxsplit=1)[0]


class GrantIndex:
    """The grants of a reach, to find the one that decides."""

    def __init__(self, reach: Reach) -> None:
        self._precedence = reach.precedence
        by_sort: dict[str, list[tuple[str, Grant]]] = {}
        for each in reach.grants:
            by_sort.setdefault(each.sort, []).append((each.name, each))
        self._by_sort = {sort: PatternIndex(grants) for sort, grants in by_sort.items()}

    def deciding_grant(self, sort: str, name: str) -> Grant | None:
        """The grant that decides about a thing; None if the file says nothing about its sort."""
        index = self._by_sort.get(sort)
        candidates = () if index is None else index.candidates(name)
        matching = [each for each in candidates if _is_about(each, name)]
        explicit = [each for each in matching if not each.base]
        if not explicit:
            # Of several bases, one for a server and one for everything, the longer name is closer.
            return max(matching, key=lambda each: len(each.name), default=None)
        if self._precedence != "strictest":
            return explicit[0 if self._precedence == "first" else -1]
        return min(explicit, key=lambda each: EFFECTS.index(each.effect))


#: A package that a launcher runs in one version for good, which the same one without it may be.
_PINNED_PACKAGE = re.compile(
    r"\A(?:((?:npx|bunx|pnpx)(?: -y| --yes)? (?:@[\w.-]+/)?[\w.-]+)@\d+\.\d+\.\d+"
    r"|(uvx [\w.-]+)==\d+\.\d+\.\d+"
    r"|(docker run(?: [^@\s]+)+)@sha256:[0-9a-f]{64})(?= |\Z)"
)
#: Sorts with names that match only themselves: a star of a command is a star, `***` hides a secret.
_LITERAL_SORTS = frozenset({"program", "setting", "guard"})


def _is_about(grant: Grant, name: str) -> bool:
    """Whether a grant says something about all that a name matches."""
    if grant.name == name:
        return True
    if grant.sort in _LITERAL_SORTS and not grant.base:
        if grant.sort == "program" and grant.name != EVERYTHING:
            return grant.name in (
                _PINNED_PACKAGE.sub(rf"\1\2\3{tag}", name) for tag in ("", "@latest")
            )
        # What can stop every call can stop some of them.
        event, star, text = grant.name.partition(" *: ")
        is_wider = name.startswith(f"{event} ") and name.endswith(f": {text}")
        return grant.name == EVERYTHING or (grant.sort == "guard" and star != "" and is_wider)
    if not covers(grant.name, name, grant.sort):
        return False
    # What forbids must be certain. `all` is the name of a tool, if a list forbids it; and without
    # the tool that reads, a shell still reads what a rule for its path would have kept from it.
    if grant.effect != "denies" or grant.base:
        return True
    tool = grant.name.removesuffix("(*)")
    is_path = name.startswith(("Read(", "Edit(")) and "(" not in tool
    return grant.name != "all" and not (is_path and not covers(tool, "Bash"))


def is_unrestricted(grant: Grant) -> bool:
    """Whether a grant lets everything of its sort through."""
    if grant.level is not None:
        return grant.widest and not grant.default
    return grant.effect == "allows" and grant.name in (EVERYTHING, "**", "all")


def covers(wide: str, narrow: str, sort: str = "tool") -> bool:
    """Whether a pattern matches all that another pattern or name matches.

    False if that is not certain: then a change counts as one that widens.
    """
    wide, narrow = _shortest_form(wide), _shortest_form(narrow)
    if wide == narrow or wide in (EVERYTHING, "**", "all"):
        return True
    if _leads_elsewhere(wide, narrow, sort):
        return False
    if sort == "mode" or (EVERYTHING not in wide and "(" not in narrow and "__" not in narrow):
        return False
    # Of many rules few begin alike, and an expression costs more to make than to try.
    is_possible = narrow.startswith(_literal_start(wide))
    return is_possible and _pattern(wide, sort == "path").fullmatch(narrow) is not None


#: Tools whose brackets hold paths: a single star in them ends at a slash.
_PATH_TOOLS = ("Read(", "Edit(", "Write(", "read ", "write ")
#: Where a path starts: in the home folder, at the root of all files, in the project, below any.
_ANCHOR = re.compile(r"(?:\w+\()?(~|//?|)")


def _leads_elsewhere(wide: str, narrow: str, sort: str) -> bool:
    """Whether two patterns of paths start in different folders, or one of them climbs."""
    if sort != "path" and not (wide.startswith(_PATH_TOOLS) and "(" in wide):
        return False
    one, other = _ANCHOR.match(wide), _ANCHOR.match(narrow)
    assert one is not None
    assert other is not None
    return one[1] != other[1] or "../" in f"{wide}{narrow}"


@lru_cache(4096)
def _pattern(wide: str, is_path: bool) -> re.Pattern[str]:
    """A pattern as an expression over other patterns. Only stars mean more than themselves."""
    tool, bracket, what = wide.partition("(")
    if not bracket:
        # `Bash` matches `Bash(git:*)`, and `mcp__github` every tool of that server.
        return re.compile(f"{_expand_stars(tool, is_path)}(?:\\(.*\\)|__.*)?", re.DOTALL)
    what = what.removesuffix(")")
    paths = is_path or wide.startswith(_PATH_TOOLS)
    if not paths and what.endswith((":*", " *")):
        # A command with any arguments, or with none.
        return re.compile(
            f"{re.escape(tool)}\\({_expand_stars(what[:-2])}(?:[ :].*)?\\)", re.DOTALL
        )
    return re.compile(f"{re.escape(tool)}\\({_expand_stars(what, paths)}\\)", re.DOTALL)


def _expand_stars(text: str, is_path: bool = False) -> str:
    one = "(?:(?!\\*\\*)[^/])*" if is_path else ".*"
    # A star with a backslash is one: some clients have lists in which it means nothing more.
    folders = r"(?:\A|(?<=/))\*\*/|" if is_path else ""
    parts = re.split(rf"({folders}\\\*|\*\*|\*)", text)
    meant = {"**/": "(?:.*/)?", "**": ".*", "*": one, "\\*": re.escape("\\*")}
    return "".join(meant.get(part) or re.escape(part) for part in parts)
