"""What a kind of configuration is: data, and a few small functions the stages call.

No stage asks which kind it serves. A new kind is one `Kind` value, its models, its rules and its cases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from equipage.core.codes import Code
from equipage.core.diagnostics import Change, Fact, Severity
from equipage.core.path import ROOT, Path
from equipage.core.source import Source
from equipage.loading.model import Shape
from equipage.loading.tree import Tree
from equipage.syntax.document import Document, Format

if TYPE_CHECKING:
    from equipage.files.reading import Files
    from equipage.loading.pipeline import Outcome, Request
    from equipage.loading.session import Session

#: A step of resolving: takes a tree, gives a tree and what it found.
Stage = Callable[[Tree, "Session"], tuple[Tree, list[Fact]]]
#: A check of the resolved, normalised, plain value. It may have been pruned: nothing is sure to be there.
Rule = Callable[[Any, "Session"], Iterator[Fact]]
#: A check of all files of a kind together. Each fact is placed in the load it is given with.
SetRule = Callable[[Sequence["Outcome"]], Iterator[tuple["Outcome", Fact]]]
#: A check of the files of a kind that refer to others, given what all files offer.
CrossRule = Callable[[Sequence["Outcome"], Sequence["Offer"]], Iterator[tuple["Outcome", Fact]]]
#: Makes the value handed to programs from the resolved value, once it is known to fit the model.
Making = Callable[[Any, "Session"], Any]
#: How severe a finding about the text is, where that depends on its place; None silences it.
Judgement = Callable[[Fact], Severity | None]
#: How a source becomes a document, where the extension alone does not say it.
Reading = Callable[[Source, "Session"], tuple[Document | None, list[Fact]]]


YAML_ONLY: Mapping[str, Format] = {".yaml": "yaml", ".yml": "yaml"}


class Item(msgspec.Struct, frozen=True):
    """Something a configuration offers under a name: an agent, a tool, a server."""

    sort: str  #: what it is, in one word
    name: str
    description: str | None = None
    path: Path = ROOT  #: where it stands in the configuration


class Sensitive(msgspec.Struct, frozen=True):
    """Values whose change deserves to be seen first.

    `pattern` is a path in which `*` stands for any one step and `**` for any number of them, steps divided by
    dots: `**.tools.*`. An absent permission may mean that nothing is allowed, or everything: `absent` says which,
    or `default` what.
    """

    pattern: str
    what: Literal["tool", "agent", "permission", "prompt"]
    #: what widens a permission: more entries (an allow list), fewer (a deny list)
    widens: Literal["more", "fewer"] = "more"
    absent: Literal["nothing", "everything"] = "nothing"
    #: for a permission that is one of a few values: these, from narrow to wide
    order: tuple[Any, ...] = ()
    #: what an absent permission stands for, where it is a certain value
    default: Any = None

    def expression(self) -> re.Pattern[str]:
        """The pattern as an expression over steps, each followed by a NUL."""
        parts = {"**": "(?:[^\0]*\0)*", "*": "[^\0]*\0"}
        return re.compile(
            "".join(parts.get(step, re.escape(step) + "\0") for step in self.pattern.split("."))
        )

    def covers(self, path: Path) -> bool:
        """Whether the value at `path` is such a value, or a part of one."""
        expression = self.expression()
        return any(expression.fullmatch(_steps(path[:depth])) for depth in range(1, len(path) + 1))


def _steps(path: Path) -> str:
    return "".join(f"{step}\0" for step in path)


class Elsewhere(msgspec.Struct, frozen=True):
    """A folder outside the project whose files take part, such as the user's own."""

    folder: str
    layer: str


#: By the names people give such fields, for kinds that do not say it themselves.
USUALLY_SENSITIVE: tuple[Sensitive, ...] = (
    Sensitive("**.tools.*", "tool"),
    Sensitive("**.allowed_tools", "permission", absent="everything"),
    Sensitive("**.disallowed_tools", "permission", widens="fewer"),
    Sensitive("**.permissions", "permission"),
    Sensitive("**.system_prompt", "prompt"),
    Sensitive("**.prompt", "prompt"),
    Sensitive("**.instructions", "prompt"),
    Sensitive("**.description", "prompt"),
)


def itself(plain: Any, file: str) -> Iterator[Item]:
    """The configuration as one item: its own `name` or `id`, else the name of its file."""
    fields: dict[str, Any] = plain if isinstance(plain, dict) else {}
    stem = file.rpartition("/")[2].partition(".")[0]
    name = next((fields[key] for key in ("name", "id") if isinstance(fields.get(key), str)), stem)
    description = fields.get("description")
    yield Item("file", name, description if isinstance(description, str) else None)


class NoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """For kinds that take no options."""


class Limits(msgspec.Struct, frozen=True):
    """The limits every kind has. A kind with more of them extends this class."""

    max_file_bytes: int = 10 * 1024 * 1024
    file_bytes_variable: str | None = None  #: the environment variable that raises it


def default_limits(_env: Mapping[str, str]) -> tuple[Limits, list[Fact]]:
    return Limits(), []


class Offer(msgspec.Struct, frozen=True):
    """A file as others may refer to it: its kind, its absolute path with `/`, and its names."""

    kind: str
    path: str
    names: tuple[str, ...]


class Portability(msgspec.Struct, frozen=True):
    """What one tool would make of an agent."""

    tool: str
    place: str  #: where the tool looks for agents
    obstacles: tuple[str, ...] = ()  #: what stands in the way
    ignored: tuple[str, ...] = ()  #: fields it would read without any effect

    @property
    def reads(self) -> bool:
        return not self.obstacles


class Portable(msgspec.Struct, frozen=True):
    """An agent by its name, and what each tool would make of it, its own first."""

    name: str
    tools: tuple[Portability, ...]


def is_no_agent(_outcome: Outcome) -> Portable | None:
    return None


def offers_nothing(_outcome: Outcome) -> Iterable[str]:
    return ()


def refers_to_nothing(_outcome: Outcome) -> bool:
    return False


def all_together(_outcome: Outcome) -> Hashable:
    """For kinds any two of whose files may concern each other."""
    return ()


def in_no_layer(_path: str, _env: Mapping[str, str]) -> str | None:
    return None


def nothing_beside(_folder: str) -> Iterable[tuple[str, Fact]]:
    return ()


def nowhere_above(_folder: str) -> Iterable[Elsewhere]:
    return ()


def nowhere_else(_env: Mapping[str, str]) -> Iterable[Elsewhere]:
    return ()


class Kind(msgspec.Struct, frozen=True):
    """One sort of configuration."""

    name: str
    title: str  #: as in “is not a valid …”
    model: type[Any]
    #: file extension → format; a file with another extension cannot be of this kind
    formats: Mapping[str, Format] = msgspec.field(default_factory=lambda: dict(YAML_ONLY))
    #: overrides `formats` for sources with a structure of their own, such as a header and a body
    read: Reading | None = None
    options: type[Any] = NoOptions
    limits: Callable[[Mapping[str, str]], tuple[Limits, list[Fact]]] = default_limits
    uses_environment: bool = False  #: replace `${VAR}` before parsing
    merge_keys: bool = False  #: apply `<<`
    #: code → severity where this kind is stricter or milder than the code itself; None silences it. A format may
    #: stand before the code, as in `json:duplicate-key`
    strictness: Mapping[str, Severity | Judgement | None] = {}
    shape: Shape = Shape()
    stages: tuple[Stage, ...] = ()
    rules: tuple[Rule, ...] = ()
    set_rules: tuple[SetRule, ...] = ()
    #: files with equal keys are seen together by the set rules, others need not be; None: with no other file
    set_key: Callable[[Outcome], Hashable] = all_together
    cross_rules: tuple[CrossRule, ...] = ()
    #: the names under which other files may refer to a file of this kind
    offers: Callable[[Outcome], Iterable[str]] = offers_nothing
    #: whether the cross rules have anything to say about a file
    refers: Callable[[Outcome], bool] = refers_to_nothing
    codes: tuple[Code, ...] = ()
    #: makes what `Loaded.config` is, where that is not the model itself; it has `to_dict` and freezes what it takes
    make: Making | None = None
    #: folds what the author may write (the model) into what a program gets, once nothing is wrong with it
    finish: Callable[[Tree, Any], tuple[Tree, Any]] | None = None
    #: fragments for the JSON Schema: what directives and shorthands accept beyond the model
    schema: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    #: the configuration as plain data the way the format's own tools write it; by default, without defaults
    written: Callable[[Any], Any] | None = None
    #: the kind that a file is of more closely, by its absolute path with `/` and what lies around it: files of one
    #: sort that several tools read. Every variant has the name, the codes and the options of this kind
    variant: Callable[[str, Files], Kind] | None = None
    #: the text of a good first file; `NAME` in it stands for the name it is given, `WORD` for nothing but the
    #: letters and digits of it, in lower case
    example: str | None = None
    example_path: str = "NAME.yaml"
    #: what `list` shows: the plain configuration and the name of its file → items
    listing: Callable[[Any, str], Iterable[Item]] = itself
    #: whether a file turns out to be nothing to the tool it is for, and is not listed
    passed_over: Callable[[Outcome], bool] = refers_to_nothing
    #: what other tools would make of a file that is an agent
    portable: Callable[[Outcome], Portable | None] = is_no_agent
    #: what `diff` shows first
    sensitive: tuple[Sensitive, ...] = USUALLY_SENSITIVE
    #: the names of the layers, lowest first: of two items with one name, that of the higher layer counts
    layers: tuple[str, ...] = ()
    #: what tells a file from others, by its path, where that is not the file that links lead to: a name that comes
    #: from the path makes two of one file
    identity: Callable[[str], str] | None = None
    #: whether a discovery decides which files there are: it reads them wherever links lead, and tells itself what is in
    #: the place of one, so a check must tell the same
    discovered: bool = False
    #: the layer of a file, by its absolute path
    layer: Callable[[str, Mapping[str, str]], str | None] = in_no_layer
    #: what a folder of such files tells that none of the files does, each fact with its path; the folder may be missing
    beside: Callable[[str], Iterable[tuple[str, Fact]]] = nothing_beside
    #: the same file together with the other layers it is merged with; None where it is not one of them
    stack: Callable[[str, Request], Outcome | None] | None = None
    #: the folder of such files in the layer that a folder belongs to, though it may lie above it
    above: Callable[[str], Iterable[Elsewhere]] = nowhere_above
    #: the merges that the files of a check make, each once; from what was asked about and its project alone, so that
    #: a check says the same on every machine
    stacks: Callable[[Sequence[str], Request], Iterable[Outcome]] | None = None
    #: folders outside the project that take part, by the environment
    elsewhere: Callable[[Mapping[str, str]], Iterable[Elsewhere]] = nowhere_else

    def severity(self, each: Fact, format: Format | None = None) -> Fact | None:  # noqa: A002
        """The fact with the severity this kind gives it; None if the kind does not mind."""
        for name in (f"{format}:{each.code}", each.code):
            if name in self.strictness:
                given = self.strictness[name]
                wanted = given(each) if callable(given) else given
                return None if wanted is None else msgspec.structs.replace(each, severity=wanted)
        return each

    def cautious(self, each: Fact) -> Fact:
        """The fact with a remedy that nobody applies unasked, if it would change what an agent may do."""
        if (
            each.remedy is None
            or not each.remedy.safe
            or not any(map(self._permits, each.remedy.changes))
        ):
            return each
        return msgspec.structs.replace(
            each, remedy=msgspec.structs.replace(each.remedy, safe=False)
        )

    def _permits(self, change: Change) -> bool:
        """Whether a change writes a permission, or the key of one."""
        path = (*change.path[:-1], str(change.text)) if change.part == "key" else change.path
        return any(each.what == "permission" and each.covers(path) for each in self.sensitive)
