"""What a kind of configuration is: data, and a few small functions the stages call.

No stage asks which kind it serves. A new kind is one `Format` value, its model, its rules and its
cases. A field that is None, or empty, leaves the stages to do what is usual.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from equipage.core.diagnostics import Change, Code, Fact, Severity
from equipage.core.path import ROOT, Path
from equipage.core.source import Source
from equipage.loading.model import Shape
from equipage.loading.tree import Tree
from equipage.syntax.document import Document, Syntax

if TYPE_CHECKING:
    from equipage.files import System
    from equipage.files.reading import Files
    from equipage.loading.outcome import Outcome
    from equipage.loading.session import Request, Session

#: A step of resolving: takes a tree, gives a tree and what it found.
Stage = Callable[[Tree, "Session"], tuple[Tree, list[Fact]]]
#: A check of the resolved, plain value. It may have been pruned, so any part of it may be missing.
Rule = Callable[[Any, "Session"], Iterator[Fact]]
#: A check of all files of a kind together. Each fact is placed in the load that comes with it.
SetRule = Callable[[Sequence["Outcome"]], Iterator[tuple["Outcome", Fact]]]
#: A check of the files of a kind that refer to others, given what all files offer.
CrossRule = Callable[[Sequence["Outcome"], Sequence["Offer"]], Iterator[tuple["Outcome", Fact]]]
#: How a source becomes a document, where the extension alone does not say it.
Reader = Callable[[Source, "Session"], tuple[Document | None, list[Fact]]]
#: How severe a finding about the text is, where that depends on its place; None silences it.
Judgement = Callable[[Fact], Severity | None]

YAML_ONLY: Mapping[str, Syntax] = {".yaml": "yaml", ".yml": "yaml"}


class NoOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """For kinds that take no options."""


class Limits(msgspec.Struct, frozen=True):
    """The limits every kind has. A kind with more of them extends this class.

    >>> equipage.load("server.yaml", limits=equipage.Limits(max_file_bytes=1000)).kind
    'server'
    """

    max_file_bytes: int = 10 * 1024 * 1024
    """How large a file may be."""
    file_bytes_variable: str | None = None
    """The environment variable that raises it."""


class Reading(msgspec.Struct, frozen=True):
    """How the text of a kind becomes a document, and what the caller may decide about it."""

    formats: Mapping[str, Syntax] = msgspec.field(default_factory=lambda: dict(YAML_ONLY))
    """File extension → format; a file with another extension cannot be of this kind."""
    read: Reader | None = None
    """Overrides `formats` for sources with their own structure, such as a header and a body."""
    options: type[Any] = NoOptions
    limits: Callable[[Mapping[str, str]], tuple[Limits, list[Fact]]] | None = None
    """The limits by the environment, and what is wrong with its variables; None: `Limits()`."""
    uses_environment: bool = False
    """Replace `${VAR}` before parsing."""
    merge_keys: bool = False
    """Apply `<<`."""
    lenient: bool = True
    """Whether a comment may silence an error of a rule, so that the file loads in spite of it."""
    variant: Callable[[str, Files], Format] | None = None
    """For files that several tools read: the kind of one of them, by its absolute path with `/` and
    what lies around it. Every variant has the name, the codes and the options of this kind."""


class Offer(msgspec.Struct, frozen=True):
    """A file as others may refer to it: its kind, its absolute path with `/`, and its names; then
    the room it takes in a list of its client, and a sum over what it says, equal for copies."""

    kind: str
    path: str
    names: tuple[str, ...]
    weight: tuple[int, int] = (0, 0)


class Together(msgspec.Struct, frozen=True):
    """What several files of a kind have to do with each other, and with files of other kinds."""

    set_rules: tuple[SetRule, ...] = ()
    set_key: Callable[[Outcome], Hashable] | None = None
    """Files with equal keys are seen together by the set rules, others need not be. A key of None
    means with no other file; without a function, any two files may concern each other."""
    cross_rules: tuple[CrossRule, ...] = ()
    offers: Callable[[Outcome], Iterable[str]] | None = None
    """The names under which other files may refer to a file of this kind."""
    weigh: Callable[[Outcome], tuple[int, int]] | None = None  # of its offer
    refers: Callable[[Outcome], bool] | None = None
    """Whether the cross rules have anything to say about a file."""
    codes: tuple[Code, ...] = ()
    """The codes of both sorts of rules: one load cannot say that a comment ignores them in vain."""

    def key_of(self, outcome: Outcome) -> Hashable:
        """The key of a file: set rules see files with equal keys together."""
        return () if self.set_key is None else self.set_key(outcome)


class LayerFolder(msgspec.Struct, frozen=True):
    """A folder outside the project whose files take part, such as the user's own."""

    folder: str
    layer: str


class Layering(msgspec.Struct, frozen=True):
    """For kinds whose files lie in layers: the user's, the project's, the machine's own."""

    layers: tuple[str, ...] = ()
    """The names of the layers, lowest first: of two items with one name, the higher layer wins."""
    layer: Callable[[str, Mapping[str, str]], str | None] | None = None
    """The layer of a file, by its absolute path."""
    identity: Callable[[str, System], str] | None = None
    """What tells a file from others, by its path, where that is not the file that links lead to."""
    discovered: bool = False
    """Whether a discovery decides which files there are: a check follows links as it does."""
    beside: Callable[[str, System], Iterable[tuple[str, Fact]]] | None = None
    """Findings about a folder of such files, itself perhaps missing, each with its path."""
    above: Callable[[str, System], Iterable[LayerFolder]] | None = None
    """The folder of such files in the layer that a folder belongs to; it may lie above it."""
    stack: Callable[[str, Request], Outcome | None] | None = None
    """A file together with the layers it is merged with; None where it is not one of them."""
    stacks: Callable[[Sequence[str], Request], Iterable[Outcome]] | None = None
    """The merges that the files of a check make, each once, by them and their project alone."""
    elsewhere: Callable[[Mapping[str, str], System], Iterable[LayerFolder]] | None = None
    """Folders outside the project that take part, by the environment."""

    def layer_of(self, path: str, env: Mapping[str, str]) -> str | None:
        return None if self.layer is None else self.layer(path, env)


class Item(msgspec.Struct, frozen=True):
    """Something a configuration offers at a path, under a name; `sort` is what: agent, tool …"""

    sort: str
    name: str
    description: str | None = None
    path: Path = ROOT


class Sensitive(msgspec.Struct, frozen=True):
    """Values whose change deserves to be seen first.

    `pattern` is a path in which `*` matches any one step and `**` any number of them, steps divided
    by dots: `**.tools.*`. An absent permission may mean that nothing is allowed, or everything:
    `absent` says which, or `default` what.
    """

    pattern: str
    what: Literal["tool", "agent", "permission", "prompt"]
    widens: Literal["more", "fewer"] = "more"
    """What widens a permission: more entries (an allow list), fewer (a deny list)."""
    absent: Literal["nothing", "everything"] = "nothing"
    order: tuple[Any, ...] = ()
    """For a permission that is one of a few values: these, from narrow to wide."""
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
        return any(
            expression.fullmatch("".join(f"{step}\0" for step in path[:depth]))
            for depth in range(1, len(path) + 1)
        )


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


def file_as_item(plain: Any, file: str) -> Iterator[Item]:
    """The configuration as one item: its own `name` or `id`, else the name of its file."""
    fields: dict[str, Any] = plain if isinstance(plain, dict) else {}
    stem = file.rpartition("/")[2].partition(".")[0]
    name = next((fields[key] for key in ("name", "id") if isinstance(fields.get(key), str)), stem)
    description = fields.get("description")
    yield Item("file", name, description if isinstance(description, str) else None)


class Presentation(msgspec.Struct, frozen=True):
    """How commands and editors show a kind."""

    example: str | None = None
    """The text of a good first file; `NAME` is its name, `WORD` the letters and digits of it."""
    example_path: str = "NAME.yaml"
    listing: Callable[[Any, str], Iterable[Item]] = file_as_item
    """What `list` shows: the plain configuration and the name of its file → items."""
    ignored: Callable[[Outcome], bool] | None = None
    """Whether the tool that a file is for ignores it, so that `list` does not show it."""
    sensitive: tuple[Sensitive, ...] = USUALLY_SENSITIVE
    """What `diff` shows first."""
    schema: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """Adds to the JSON Schema of the model what directives and shorthands accept beyond it."""
    dump: Callable[[Any], Any] | None = None
    """Plain data as the format's own tools write it; by default the model without its defaults."""


class Format(msgspec.Struct, frozen=True):
    """One sort of configuration."""

    name: str
    title: str
    """As in “is not a valid …”."""
    model: type[Any]
    reading: Reading = Reading()
    strictness: Mapping[str, Severity | Judgement | None] = {}
    """Code → severity where this kind is stricter or milder than the code itself; None silences it.
    A format may precede the code, as in `json:duplicate-key`."""
    shape: Shape = Shape()
    stages: tuple[Stage, ...] = ()
    rules: tuple[Rule, ...] = ()
    codes: tuple[Code, ...] = ()
    fold: Callable[[Tree, Any], tuple[Tree, Any]] | None = None
    """Folds what the author may write (the model) into what a program gets, once it is valid."""
    build_result: Callable[[Any, Session], Any] | None = None
    """Makes `Loaded.config`, frozen and with `to_dict`, where that is not the model itself."""
    together: Together = Together()
    layering: Layering = Layering()
    presentation: Presentation = Presentation()

    def adjust_severity(self, each: Fact, syntax: Syntax | None = None) -> Fact | None:
        """The fact with the severity this kind gives it; None if the kind allows it."""
        for name in (f"{syntax}:{each.code}", each.code):
            if name in self.strictness:
                given = self.strictness[name]
                wanted = given(each) if callable(given) else given
                return None if wanted is None else msgspec.structs.replace(each, severity=wanted)
        return each

    def mark_risky_remedy(self, each: Fact) -> Fact:
        """The fact, its remedy marked unsafe if it would change what an agent may do."""
        remedy = each.remedy
        if (
            remedy is None
            or not remedy.safe
            or not any(map(self._changes_permission, remedy.changes))
        ):
            return each
        return msgspec.structs.replace(each, remedy=msgspec.structs.replace(remedy, safe=False))

    def _changes_permission(self, change: Change) -> bool:
        """Whether a change writes a permission, or the key of one."""
        path = (*change.path[:-1], str(change.text)) if change.part == "key" else change.path
        sensitive = self.presentation.sensitive
        return any(each.what == "permission" and each.covers(path) for each in sensitive)
