"""A toolpack: what its file may say, and what a program gets.

The Structs are the only statement of the shape of a file. Its names are camelCase, and `null` is
allowed exactly where a type says so. Class names appear in findings, in lower case.
"""

# There is no `from __future__ import annotations` here: msgspec would have to compile every
# annotation from its text when a model is first used.

import hashlib
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import wraps
from typing import Annotated, Any, ClassVar, Literal, NoReturn, get_args

from msgspec import Meta, Struct

from equipage.core.frozen import freeze_plain, unfreeze
from equipage.loading.result import canonical_json
from equipage.plugin import Session

NonEmpty = Annotated[str, Meta(min_length=1)]
PositiveInt = Annotated[int, Meta(gt=0)]
#: Any JSON Schema; it is checked against its meta-schema.
Schema = dict[str, Any] | bool

# The file.


class Block(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel", gc=False
):
    """A mapping of the file."""


class Limits(Block, frozen=True):
    """How much a tool takes and gives."""

    max_input_bytes: PositiveInt
    """The largest input, in bytes."""
    max_output_bytes: PositiveInt
    """The largest output, in bytes."""


class Filesystem(Block, frozen=True):
    """The files and folders that a tool uses."""

    read: tuple[NonEmpty, ...] = ()
    """Paths that it reads."""
    write: tuple[NonEmpty, ...] = ()
    """Paths that it writes."""


class Caps(Block, frozen=True):
    """What a tool may do."""

    network: tuple[Literal["http", "https"], ...] = ()
    """Protocols that it speaks."""
    filesystem: Filesystem | None = None
    """Files and folders that it uses."""
    subprocess: bool = False
    """Whether it starts other programs."""


class Env(Block, frozen=True):
    """The environment variables that a tool sees."""

    #: A number in quotes would be no name yet.
    entries_as: ClassVar = {"passthrough": "a name in capitals, such as `HOME`"}

    passthrough: tuple[NonEmpty, ...] = ()
    """Names of the caller's variables, in capitals."""
    set: dict[str, str] | None = None
    """Variables and their values."""


class Templating(Block, frozen=True):
    """How templates in the execution are filled."""

    engine: Literal["jinja2"] = "jinja2"
    """There is no other engine."""
    cache_key: NonEmpty = ""
    """What filled templates are cached by."""
    context: dict[str, Any] | None = None
    """Values for the templates; they must be JSON."""


class PythonExecution(Block, frozen=True, tag_field="kind", tag="python"):
    """A Python callable or script."""

    written_as: ClassVar = {"module": "text of the form `module:callable`"}

    module: NonEmpty | None = None
    """What to import and call, as `module:callable`."""
    script: NonEmpty | None = None
    """A file to run instead."""


class NodeExecution(Block, frozen=True, tag_field="kind", tag="node"):
    """A script for Node.js, under one of three names."""

    script: str | None = None
    """A file to run."""
    node: str | None = None
    """Another name for `script`."""
    module: str | None = None
    """Another name for `script`."""
    args: tuple[NonEmpty, ...] | None = None
    """Arguments of the script."""


class PhpExecution(Block, frozen=True, tag_field="kind", tag="php"):
    """A PHP script, under one of two names."""

    php: str | None = None
    """A file to run."""
    script: str | None = None
    """Another name for `php`."""
    php_binary: NonEmpty | None = None
    """The PHP program that runs it."""


class CliExecution(Block, frozen=True, tag_field="kind", tag="cli"):
    """A program. It is started without a shell."""

    written_as: ClassVar = {"cmd": 'a list with an entry for each word, such as `["ls", "-l"]`'}

    cmd: Annotated[tuple[NonEmpty, ...], Meta(min_length=1)]
    """The program and its arguments."""


class HttpExecution(Block, frozen=True, tag_field="kind", tag="http"):
    """A request to a web service."""

    written_as: ClassVar = {"url": "an address, such as `https://example.org`"}

    url: NonEmpty
    """Where the request is sent."""
    method: NonEmpty | None = None
    """The method of the request, such as `POST`."""
    headers: dict[str, str] | None = None
    """The headers of the request."""
    timeout_ms: PositiveInt | None = None
    """How long to wait for the answer, in milliseconds."""


Execution = PythonExecution | NodeExecution | PhpExecution | CliExecution | HttpExecution


class ToolpackFile(Block, frozen=True):
    """One tool. The last five fields are for people; no program reads them."""

    TITLE: ClassVar[str] = "a toolpack"
    #: A reference may turn a schema into `true` or `false`, but an author writes a mapping.
    #: A number in quotes would be no version yet: it has two numbers at most.
    written_as: ClassVar = {
        "execution": "a mapping, such as `{kind: cli, cmd: [ls]}`",
        "id": "a name, such as `pkg.tool`",
        "input_schema": "a mapping",
        "output_schema": "a mapping",
        "version": "a version, such as `1.4.0`",
    }

    id: NonEmpty
    """Words in lower case and dots, such as `pkg.tool`; unique among all packs."""
    version: NonEmpty
    """A semantic version, such as `1.4.0`."""
    deterministic: bool
    """Whether equal input gives equal output."""
    timeout_ms: PositiveInt
    """How long a call may take, in milliseconds."""
    limits: Limits
    """How much the tool takes and gives."""
    input_schema: Schema
    """A JSON Schema of the input, or `{$ref: …}`."""
    output_schema: Schema
    """A JSON Schema of the output, or `{$ref: …}`."""
    execution: Execution
    """How the tool is run; `kind` says which of five ways."""
    caps: Caps | None = None
    """What the tool may do."""
    env: Env | None = None
    """The environment variables that the tool sees."""
    templating: Templating | None = None
    """How templates in the execution are filled."""
    name: Any = None
    """A title for people."""
    summary: Any = None
    """One sentence for people."""
    description: Any = None
    """A longer text for people."""
    metadata: Any = None
    """Anything else for people."""
    on_success: Any = None
    """What to do with the result, for people."""


#: Blocks whose unknown keys are errors: a misspelt restriction must not go unnoticed.
CLOSED_BLOCKS: tuple[type, ...] = (Caps, Filesystem, Env, Templating)
#: The mappings of the file, but for `execution`.
BLOCKS: dict[str, type[Block]] = {
    "limits": Limits,
    "caps": Caps,
    "env": Env,
    "templating": Templating,
}
#: The mapping `execution`, by its `kind`.
EXECUTIONS: dict[str, type[Block]] = {cls.__struct_config__.tag: cls for cls in get_args(Execution)}

# The pack that a program gets.


class _DigestSlot:
    """Where a pack keeps its digest: it has no `__dict__` to write into."""

    __slots__ = ("_digest",)
    _digest: str


@dataclass(frozen=True, eq=False, slots=True)
class Toolpack(_DigestSlot):
    """One tool, checked and immutable. Packs with equal content are equal, whatever their files.

    Blocks are mappings with the names of the file, as in `limits["maxInputBytes"]`. Schemas have
    their references resolved. Two packs that refer to one schema share it. What is only for people
    (`title`, `summary`, `description`, `metadata`) counts neither for equality nor for the digest.

    >>> pack = equipage.load("tools/count.tool.yaml", kind="toolpack").config
    >>> pack.id, pack.description, pack.limits["maxInputBytes"], pack.folder.name
    ('text.count', 'Counts the words of a text.', 65536, 'tools')
    """

    id: str
    """Words in lower case and dots, such as `pkg.tool`."""
    version: str
    """A semantic version."""
    deterministic: bool
    """Whether equal input gives equal output."""
    timeout_ms: int
    """How long a call may take, in milliseconds."""
    limits: Mapping[str, Any]
    """How much the tool takes and gives."""
    input_schema: Any
    """A JSON Schema of the input."""
    output_schema: Any
    """A JSON Schema of the output."""
    execution: Mapping[str, Any]
    """How the tool is run."""
    caps: Mapping[str, Any]
    """What the tool may do; may be empty."""
    env: Mapping[str, Any]
    """The environment variables that the tool sees; may be empty."""
    templating: Mapping[str, Any]
    """How templates are filled; may be empty."""
    source_path: pathlib.Path
    """The file of the pack."""
    name: str | None = None
    """A title for people."""
    summary: str | None = None
    """One sentence for people."""
    description: str | None = None
    """A longer text for people."""
    metadata: Any = None
    """Anything else for people."""

    @property
    def title(self) -> str:
        """What to call the tool: its `name`, or else its id."""
        return self.name or self.id

    @property
    def folder(self) -> pathlib.Path:
        """The folder that holds the pack: what it runs is looked up from there."""
        return self.source_path.parent

    def to_dict(self) -> dict[str, Any]:
        """The pack as plain data, with the names of the file, without path and empty blocks."""
        values = {written: getattr(self, name) for name, written in _FIELD_NAMES}
        return {
            name: unfreeze(value)
            for name, value in values.items()
            if value or name not in _OPTIONAL_BLOCKS
        }

    def without_defaults(self) -> dict[str, Any]:
        """As `to_dict`, without what a default would say anyway."""
        plain = self.to_dict()
        if "filesystem" in plain.get("caps", ()):
            plain["caps"]["filesystem"] = _drop_defaults(plain["caps"]["filesystem"], Filesystem)
        for name, cls in {**BLOCKS, "execution": EXECUTIONS[self.execution["kind"]]}.items():
            if name in plain:
                plain[name] = _drop_defaults(plain[name], cls)
        return {
            name: value
            for name, value in plain.items()
            if value != {} or name not in _OPTIONAL_BLOCKS
        }

    @property
    def digest(self) -> str:
        """sha256 of the content in canonical form, without defaults and without the path."""
        try:
            return self._digest
        except AttributeError:
            digest = hashlib.sha256(canonical_json(self.without_defaults())).hexdigest()
            object.__setattr__(self, "_digest", digest)
            return digest

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Toolpack) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Toolpack({self.id!r}, version={self.version!r}, kind={self.execution['kind']!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Toolpack, tuple(getattr(self, each.name) for each in fields(self))


_init = Toolpack.__init__


@wraps(_init)
def _init_once(self: Toolpack, *args: Any, **values: Any) -> None:
    """Fill a new pack; a second call must not change it."""
    if hasattr(self, "id"):
        raise TypeError("a toolpack is immutable; use `dataclasses.replace`")
    _init(self, *args, **values)


def _set_nothing(_self: Toolpack, _state: object) -> NoReturn:
    raise TypeError("a toolpack is immutable; use `dataclasses.replace`")


Toolpack.__init__ = _init_once  # type: ignore[method-assign]
# Not in the class, because early releases of Python 3.11 replace one that a class with slots has.
Toolpack.__setstate__ = _set_nothing  # type: ignore[attr-defined]

_OPTIONAL_BLOCKS = frozenset({"caps", "env", "templating"})
#: Fields of a pack that only people read.
_DESCRIPTIVE_FIELDS = ("name", "summary", "description", "metadata")
#: The attributes of a pack but for its path and what is for people, each with its name in the file.
_FIELD_NAMES = tuple(
    (name, written)
    for name, written in zip(
        ToolpackFile.__struct_fields__, ToolpackFile.__struct_encode_fields__, strict=True
    )
    if name in Toolpack.__annotations__ and name not in _DESCRIPTIVE_FIELDS
)


def _drop_defaults(block: dict[str, Any], cls: type[Block]) -> dict[str, Any]:
    """The entries of a block that differ from their defaults. Empty is as good as absent."""
    # Fields with a default come last, so names and defaults are paired from the end.
    names, values = reversed(cls.__struct_encode_fields__), reversed(cls.__struct_defaults__)
    defaults = dict(zip(names, values, strict=False))

    def is_default(name: str, value: Any) -> bool:
        default = defaults[name]
        return value == default or (default in (None, ()) and value in (None, [], {}))

    return {
        name: value
        for name, value in block.items()
        if name not in defaults or not is_default(name, value)
    }


def build_pack(value: dict[str, Any], session: Session) -> Toolpack:
    """The pack of a resolved value that fits the model."""
    caps, env, templating = (dict(value.get(name) or {}) for name in ("caps", "env", "templating"))
    if not caps.get("filesystem"):
        caps.pop("filesystem", None)
    if "set" in env:
        env["set"] = env["set"] or {}
    if "context" in templating:
        templating["context"] = templating["context"] or {}
    whole = {**value, "caps": caps, "env": env, "templating": templating}
    memo: dict[int, Any] = {}  # what the parts share stays shared
    parts = {name: freeze_plain(whole[written], memo) for name, written in _FIELD_NAMES}
    shown = {name: value.get(name) for name in _DESCRIPTIVE_FIELDS}
    kept: dict[str, Any] = {name: each for name, each in shown.items() if isinstance(each, str)}
    kept["metadata"] = freeze_plain(shown["metadata"], memo)
    return Toolpack(**parts, source_path=pathlib.Path(session.path), **kept)
