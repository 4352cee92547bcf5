"""What a format of configuration is: data, and a few small functions the stages call.

No stage asks which format it serves. A new format is one `Format` value around a model; all else
has a default that is right for a format of one's own. The formats we ship are such values, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypedDict

import msgspec
from msgspec.structs import force_setattr

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Change, Code, Fact, LoadError, Severity
from equipage.core.path import ROOT, Path, matches_path, path_pattern
from equipage.core.source import Source
from equipage.directives.composing import USUAL_STAGES
from equipage.files import wrong_argument
from equipage.loading.shape import Shape
from equipage.loading.tree import Tree
from equipage.syntax.document import Document, Syntax

if TYPE_CHECKING:
    from typing import Unpack

    from typing_extensions import TypeVar

    from equipage.files import System
    from equipage.files.reading import Files
    from equipage.loading.pipeline import Outcome
    from equipage.loading.result import Loaded
    from equipage.loading.session import Request, Session
    from equipage.workspace.report import Report
    from equipage.workspace.watch import Watch

    C = TypeVar("C", default=Any)
else:
    from typing import TypeVar

    C = TypeVar("C")
    # `help` evaluates the types of the fields; these lie in modules that import this one.
    Files = Loaded = Outcome = Report = Request = Session = System = Watch = Any

StrPath = str | os.PathLike[str]
#: A step of resolving: takes a tree, gives a tree and what it found.
Stage = Callable[[Tree, "Session"], tuple[Tree, list[Fact]]]
#: A check of the resolved, plain value. It may have been pruned, so any part of it may be missing.
Check = Callable[[Any, "Session"], Iterator[Fact]]
#: A check of all files of a kind together. Each fact is placed in the load that comes with it.
SetRule = Callable[[Sequence["Outcome"]], Iterator[tuple["Outcome", Fact]]]
#: A check of the files of a kind that refer to others, given what all files offer.
CrossRule = Callable[[Sequence["Outcome"], Sequence["Offer"]], Iterator[tuple["Outcome", Fact]]]
#: How a source becomes a document, where the extension alone does not say it.
Reader = Callable[[Source, "Session"], tuple[Document | None, list[Fact]]]
#: How severe a finding about the text is, where that depends on its place; None silences it.
Judgement = Callable[[Fact], Severity | None]

#: For `Reading.syntaxes` of a format whose files are YAML.
YAML_ONLY: Mapping[str, Syntax] = {".yaml": "yaml", ".yml": "yaml"}
_SYNTAXES: Mapping[str, Syntax] = {
    **YAML_ONLY, ".json": "json", ".jsonc": "json", ".toml": "toml"
}  # fmt: skip
#: A variable that is not set, or that changes what the text means, is a mistake.
_STRICT_VARIABLES: Mapping[str, Severity | Judgement | None] = {
    core_codes.ENV_MISSING: "error",
    core_codes.ENV_CHANGES_STRUCTURE: "error",
}
#: For the files of other tools: what those tools refuse, and a TOML that some cannot read yet.
TOLERANT: dict[str, Severity] = {
    core_codes.UNKNOWN_TAG: "error",
    core_codes.MERGE_KEY: "error",
    core_codes.TOML_TOO_NEW: "warning",
}


class Problem(msgspec.Struct, frozen=True):
    """What a rule has against a configuration.

    >>> def is_short(app):
    ...     if len(app["name"]) > 8:
    ...         yield equipage.Problem("name", "is too long", fix=app["name"][:8])
    >>> equipage.Format({}, "app", rules=(is_short,)).loads("name: a long name")
    Traceback (most recent call last):
    equipage.core.diagnostics.LoadError: <string>:1:7: error[rule] is too long (at name)
    """

    path: str | Path
    """The value at fault, as people write its path: `tools[0].url`; empty for the whole file."""
    message: str
    """One line that names what is wrong, without a final period."""
    fix: str | int | float | bool | None = None
    """The value to write instead, if there is one."""
    help: str | None = None
    """What to write instead, in words."""
    code: str = "rule"
    """The name that comments, settings and reports have for it, in kebab case."""
    severity: Severity = "error"
    """`error`, `warning` or `note`."""


#: What is wrong with a typed configuration that fits its model.
Rule = Callable[[C], Iterable[Problem | str] | None]


class Layer(msgspec.Struct, frozen=True):
    """A file that is merged with others.

    >>> equipage.Layer("app.{STAGE}.yaml"), equipage.FILE
    (Layer(name='app.{STAGE}.yaml', at='beside'), Layer(name='', at='file'))
    """

    name: str
    """Its name; `{NAME}` in it is the value of a variable, and without that there is no layer."""
    at: Literal["file", "beside", "user", "project"] = "beside"
    """Where it is: the file itself, its folder, the user's configuration, the project's root."""


#: The file that is loaded, among the layers of a format.
FILE: Final = Layer("", "file")


def user_layer(name: str) -> Layer:
    """A layer in the user's configuration: below `$XDG_CONFIG_HOME`, by default `~/.config`.

    >>> equipage.user_layer("my-app/app.yaml")
    Layer(name='my-app/app.yaml', at='user')
    """
    return Layer(name, "user")


def project_layer(name: str) -> Layer:
    """A layer in the root of the project: the nearest folder with `.git` or `equipage.toml`.

    >>> equipage.project_layer(".my-app.yaml")
    Layer(name='.my-app.yaml', at='project')
    """
    return Layer(name, "project")


class By(msgspec.Struct, frozen=True):
    """Merge two lists of mappings entry by entry: those whose `key` has the same value."""

    key: str


def by(key: str) -> By:
    """Merge lists entry by entry, by the value of a key.

    >>> merge = {"tools": equipage.by("name")}
    >>> app = equipage.Format({}, "app", layers=("base.yaml",), merge=merge)
    >>> app.load("app.yaml").config["tools"]
    [{'name': 'search', 'timeout': 5}]
    """
    return By(key)


#: How layers are merged at a path: `append` two lists; `replace` also a mapping; `remove` a value
#: where a higher layer has `null`; or entry by entry.
MergeWord = Literal["append", "replace", "remove"] | By


class Renamed(msgspec.Struct, frozen=True):
    """The name that a key has now, if it still has one.

    >>> renamed = {"secs": equipage.Renamed("timeout", since="2.0")}
    >>> print(*equipage.Format({}, "tool", renamed=renamed).loads("secs: 5").warnings)
    <string>:1:1: warning[renamed-key] `secs` is called `timeout` now, since 2.0 (at secs)
    """

    to: str | None
    """The new name, in the same mapping; None: the key has no meaning any more, and is left out."""
    since: str | None = None
    """The version of the format that has it."""
    help: str | None = None
    """What else to change."""


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
    """How the text of a kind becomes a document, and what the caller may decide about it.

    >>> plain = equipage.Reading(variables=False)
    >>> equipage.Format({}, "app", reading=plain).loads("price: ${5}").config
    {'price': '${5}'}
    """

    syntaxes: Mapping[str, Syntax] = msgspec.field(default_factory=lambda: dict(_SYNTAXES))
    """File extension → syntax; a file with another extension cannot be of this kind."""
    read: Reader | None = None
    """Overrides `syntaxes` for sources with their own structure, such as a header and a body."""
    options: type[Any] = NoOptions
    """A Struct of what callers may pass: `load(path, kind=…, option=…)`."""
    limits: Callable[[Mapping[str, str]], tuple[Limits, list[Fact]]] | None = None
    """The limits by the environment, and what is wrong with its variables; None: `Limits()`."""
    variables: bool | str = True
    """Replace `${NAME}` before parsing. A text, such as `:`, is the mark between a name and its
    default in place of `:-`."""
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
    unseen: Mapping[str, str] = {}
    """Option → the layer that only takes part where that option names it."""

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
        """The pattern as an expression, see `path_pattern`."""
        return path_pattern(self.pattern)

    def covers(self, path: Path) -> bool:
        """Whether the value at `path` is such a value, or a part of one."""
        expression = self.expression()
        return any(matches_path(expression, path[:depth]) for depth in range(1, len(path) + 1))


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
    hidden: str | None = None
    """A field of the model that authors cannot write, as the body of a file with a header is."""
    schema: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """Adds to the JSON Schema of the model what directives and shorthands accept beyond it."""
    dump: Callable[[Any], Any] | None = None
    """Plain data as the format's own tools write it; by default the model without its defaults."""


#: The parts of a format that are easily given as something else.
_TYPES_OF_PARTS: Mapping[str, tuple[str, tuple[type[Any], ...]]] = {
    **dict.fromkeys(
        ("paths", "layers", "rules", "stages", "checks", "codes"), ("a tuple", (tuple, list))
    ),
    **dict.fromkeys(("merge", "renamed", "strictness"), ("a mapping", (Mapping,))),
    **dict.fromkeys(("name", "title"), ("a str", (str,))),
    "reading": ("a `Reading`", (Reading,)),
    "shape": ("a `Shape`", (Shape,)),
}


class Format(msgspec.Struct, Generic[C], frozen=True, repr_omit_defaults=True):
    """One sort of configuration: a model, and how files become values of it.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Greeting:
    ...     text: str
    >>> equipage.Format(Greeting).loads("text: hello").config
    Greeting(text='hello')
    """

    model: type[C] | Mapping[str, Any]
    """The class of the configuration: a dataclass, a Struct of msgspec, an attrs class, a pydantic
    model, a TypedDict; or a JSON Schema."""
    name: str = ""
    """What `kind` is in output; by default the name of the model."""
    title: str = ""
    """As in “is not a valid …”."""
    paths: tuple[str, ...] = ()
    """Globs over the end of a path, such as `*.app.yaml`: which files below a folder are of the
    format. By default all with an extension that it reads, but a `*.schema.json`, if no other of
    them reads them."""
    layers: tuple[str | Layer, ...] = ()
    """The files that are merged, lowest first: names beside the file, `FILE` for the file itself,
    `user_layer(…)` and `project_layer(…)`. One that is missing is left out."""
    merge: Mapping[str, MergeWord] = {}
    """Pattern of paths → how layers are merged there. Elsewhere mappings are merged key by key, and
    anything else replaces what is below."""
    renamed: Mapping[str, str | Renamed | None] = {}
    """Pattern of the path of an old key → the name it has now; None if it means nothing now."""
    rules: tuple[Rule[C], ...] = ()
    """What types cannot say: functions of the configuration that yield problems."""
    reading: Reading = Reading()
    """How texts become values, and what callers may decide about it."""
    strictness: Mapping[str, Severity | Judgement | None] = {}
    """Code → severity where this kind is stricter or milder than usual; None silences it. It is
    about unknown keys, variables, the text and the codes of its own. A syntax may precede a code,
    as in `json:duplicate-key`. With `document-empty` silenced, an empty file is a mapping."""
    shape: Shape = Shape()
    """How strictly the model is read: which unknown keys are allowed, for example."""
    stages: tuple[Stage, ...] = USUAL_STAGES
    """What happens to the value of each file before it is merged and checked; by default its
    `$include` and `$file` are replaced."""
    checks: tuple[Check, ...] = ()
    """Checks of the plain value, also where it does not fit the model."""
    codes: tuple[Code, ...] = ()
    """The codes of its checks, and of stages that do not bring their own."""
    fold: Callable[[Tree, Any], tuple[Tree, Any]] | None = None
    """Folds what the author may write (the model) into what a program gets, once it is valid."""
    build_result: Callable[[Any, Session], Any] | None = None
    """Makes `Loaded.config`, frozen and with `to_dict`, where that is not the model itself."""
    together: Together = Together()
    """What several files have to do with each other."""
    layering: Layering = Layering()
    """For files that lie in layers with names of their own, such as profiles."""
    presentation: Presentation = Presentation()
    """How commands and editors show it."""

    def __post_init__(self) -> None:
        for part, (expected, types) in _TYPES_OF_PARTS.items():
            if not isinstance(value := getattr(self, part), types):
                raise wrong_argument(part, value, expected)
        if not self.name:
            given = self.model.get("title") if isinstance(self.model, Mapping) else None
            name = given or getattr(self.model, "__name__", None) or "schema"
            # In kebab case: the format of `AgentTeam` is `agent-team`.
            words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|\s+", "-", str(name)).lower()
            force_setattr(self, "name", words)
        if not self.title:
            force_setattr(self, "title", f"`{self.name}` file")
        if self.reading.variables:
            force_setattr(self, "strictness", {**_STRICT_VARIABLES, **self.strictness})
        if core_codes.UNKNOWN_FIELD in self.strictness:
            severity = self.strictness[core_codes.UNKNOWN_FIELD]
            force_setattr(self, "shape", msgspec.structs.replace(self.shape, unknown=severity))

    # What callers do with a format: the public functions, with the format filled in.

    def load(self, path: StrPath, **options: Unpack[LoadOptions]) -> Loaded[C]:
        """As `equipage.load`."""
        import equipage

        loaded: Loaded[C] = equipage.load(path, kind=self, **options)
        return loaded

    def loads(self, text: str, **options: Unpack[LoadsOptions]) -> Loaded[C]:
        """As `equipage.loads`."""
        import equipage

        loaded: Loaded[C] = equipage.loads(text, kind=self, **options)
        return loaded

    def watch(self, path: StrPath, **options: Unpack[WatchOptions]) -> Watch[C]:
        """As `equipage.watch`."""
        import equipage

        watch: Watch[C] = equipage.watch(path, kind=self, **options)
        return watch

    def discover(
        self, folder: StrPath = ".", **options: Unpack[DiscoverOptions]
    ) -> dict[str, Loaded[C]]:
        """As `equipage.discover`."""
        import equipage

        return equipage.discover(folder, kind=self, **options)

    def check(
        self, paths: StrPath | Iterable[StrPath] = ".", **options: Unpack[CheckOptions]
    ) -> Report:
        """As `equipage.check`: below folders, every file whose extension the format reads."""
        import equipage

        return equipage.check(paths, kind=self, **options)

    def schema(self) -> dict[str, Any]:
        """As `equipage.schema`."""
        import equipage

        return equipage.schema(self)

    def example(self) -> str:
        """As `equipage.example`."""
        import equipage

        return equipage.example(self)

    # What the stages ask.

    def every_code(self) -> tuple[Code, ...]:
        """The codes that findings about its files may have, beside those of any file."""
        brought = (getattr(stage, "codes", ()) for stage in self.stages)
        return (*self.codes, *(code for codes in brought for code in codes))

    def adjust_severity(self, each: Fact, syntax: Syntax | None = None) -> Fact | None:
        """The fact with the severity this kind gives it; None if the kind allows it."""
        for name in (f"{syntax}:{each.code}", each.code):
            if name in self.strictness:
                given = self.strictness[name]
                wanted = given(each) if callable(given) else given
                return None if wanted is None else msgspec.structs.replace(each, severity=wanted)
        return each

    def refused_variables(self) -> tuple[str, ...]:
        """The codes of variables without which a value has no meaning, as they are errors."""
        return tuple(each for each in _STRICT_VARIABLES if self.strictness.get(each) == "error")

    def mark_risky_remedy(self, each: Fact) -> Fact:
        """The fact, its remedy marked unsafe if it would change what an agent may do.

        Of a file with an error a client reads less, or nothing; fixed, all that it grants counts.
        """
        remedy = each.remedy
        if remedy is None or not remedy.safe:
            return each
        counts_again = self.shape.ignores and (each.severity or each.code.severity) == "error"
        if not counts_again and not any(map(self._changes_permission, remedy.changes)):
            return each
        return msgspec.structs.replace(each, remedy=msgspec.structs.replace(remedy, safe=False))

    def _changes_permission(self, change: Change) -> bool:
        """Whether a change writes a permission, or the key of one."""
        path = (*change.path[:-1], str(change.text)) if change.part == "key" else change.path
        sensitive = self.presentation.sensitive
        return any(each.what == "permission" and each.covers(path) for each in sensitive)


# What the public functions take beside the file, for type checkers.


class CommonOptions(TypedDict, total=False):
    """What every load takes."""

    env: Mapping[str, str] | None
    strict: bool
    limits: Limits | None
    options: msgspec.Struct
    """The options of a kind of your own, as a value of its Struct."""


class LoadOptions(CommonOptions, total=False):
    """What `load` takes."""

    embedded: bool
    roots: Iterable[StrPath]


class LoadsOptions(CommonOptions, total=False):
    """What `loads` takes."""

    embedded: bool
    base_dir: StrPath


class WatchOptions(CommonOptions, total=False):
    """What `watch` takes."""

    roots: Iterable[StrPath]
    on_problem: Callable[[LoadError], object] | None


class DiscoverOptions(TypedDict, total=False):
    """What `discover` takes."""

    env: Mapping[str, str] | None
    roots: Iterable[StrPath]
    limits: Limits | None
    options: msgspec.Struct


class CheckOptions(TypedDict, total=False):
    """What `check` takes."""

    env: Mapping[str, str] | None
    embedded: bool
    jobs: int
    limits: Limits | None
