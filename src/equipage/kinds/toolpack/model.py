"""What a toolpack file may say: the only statement of its shape.

Field names are those of the file, camelCase. `null` is allowed exactly where the type says so. Class names appear in
findings, in lower case.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta, Struct

from equipage.core.frozen import FrozenDict, frozen, thawed
from equipage.loading.result import canonical
from equipage.loading.session import Session

# Annotations are evaluated, not kept as text: msgspec would have to compile each of them when a model is first used.


NonEmpty = Annotated[str, Meta(min_length=1)]
PositiveInt = Annotated[int, Meta(gt=0)]
#: Any JSON Schema; what is in it is checked against its meta-schema.
Schema = dict[str, Any] | bool


class _Block(
    Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel", gc=False
):
    """A mapping of the file."""


class Limits(_Block, frozen=True):
    """How much a tool takes and gives, in bytes."""

    max_input_bytes: PositiveInt
    max_output_bytes: PositiveInt


class Filesystem(_Block, frozen=True):
    """The paths a tool reads and writes."""

    read: tuple[NonEmpty, ...] = ()
    write: tuple[NonEmpty, ...] = ()


class Caps(_Block, frozen=True):
    """What a tool is capable of."""

    network: tuple[Literal["http", "https"], ...] = ()
    filesystem: Filesystem | None = None
    subprocess: bool = False


class Env(_Block, frozen=True):
    """The variables a tool sees: those passed through, and those set."""

    passthrough: tuple[NonEmpty, ...] = ()
    set: dict[str, str] | None = None


class Templating(_Block, frozen=True):
    """How texts of the execution are filled in."""

    engine: Literal["jinja2"] = "jinja2"
    cache_key: NonEmpty = ""
    context: dict[str, Any] | None = None


class PythonExecution(_Block, frozen=True, tag_field="kind", tag="python"):
    """A callable, `module:callable`, or a script."""

    module: NonEmpty | None = None
    script: NonEmpty | None = None


class NodeExecution(_Block, frozen=True, tag_field="kind", tag="node"):
    """A script, given by one of three names."""

    script: str | None = None
    node: str | None = None
    module: str | None = None
    args: tuple[NonEmpty, ...] | None = None


class PhpExecution(_Block, frozen=True, tag_field="kind", tag="php"):
    """A script, given by one of two names."""

    php: str | None = None
    script: str | None = None
    php_binary: NonEmpty | None = None


class CliExecution(_Block, frozen=True, tag_field="kind", tag="cli"):
    """A command as a list of arguments; there is no shell."""

    cmd: Annotated[tuple[NonEmpty, ...], Meta(min_length=1)]


class HttpExecution(_Block, frozen=True, tag_field="kind", tag="http"):
    """A request to a service."""

    url: NonEmpty
    method: NonEmpty | None = None
    headers: dict[str, str] | None = None
    timeout_ms: PositiveInt | None = None


Execution = PythonExecution | NodeExecution | PhpExecution | CliExecution | HttpExecution


class ToolpackFile(_Block, frozen=True):
    """One tool. The last five fields are for people; nothing reads them."""

    TITLE: ClassVar[str] = "a toolpack"
    #: A schema may become `true` or `false` by a reference; it is written as a mapping.
    written_as: ClassVar = {"input_schema": "a mapping", "output_schema": "a mapping"}

    id: NonEmpty
    version: NonEmpty
    deterministic: bool
    timeout_ms: PositiveInt
    limits: Limits
    input_schema: Schema
    output_schema: Schema
    execution: Execution
    caps: Caps | None = None
    env: Env | None = None
    templating: Templating | None = None
    name: Any = None
    summary: Any = None
    description: Any = None
    metadata: Any = None
    on_success: Any = None


#: Blocks whose unknown keys are errors: a misspelt restriction must not go unnoticed.
CLOSED: tuple[type, ...] = (Caps, Filesystem, Env, Templating)
#: The mappings of the file by path, but for `execution`, which has one for each kind.
BLOCKS: tuple[tuple[tuple[str, ...], type], ...] = (
    ((), ToolpackFile),
    (("limits",), Limits),
    (("caps",), Caps),
    (("env",), Env),
    (("templating",), Templating),
)
EXECUTIONS: dict[str, type] = {
    "python": PythonExecution,
    "node": NodeExecution,
    "php": PhpExecution,
    "cli": CliExecution,
    "http": HttpExecution,
}


# --- pack --------------------------------------------------------------------------------------
# A toolpack as programs see it.

_EMPTY = FrozenDict()


class _LazyPath:
    """A field that is given as text and becomes a `Path` when it is first asked for, which few programs do."""

    def __get__(self, pack: Any, owner: type | None = None) -> Path:
        if pack is None:
            raise AttributeError("source_path")  # tells dataclasses that there is no default
        path = pack.__dict__["source_path"]
        if not isinstance(path, Path):
            path = pack.__dict__["source_path"] = Path(path)
        return path

    def __set__(self, pack: Any, path: str | Path) -> None:
        pack.__dict__["source_path"] = path


@dataclass(frozen=True, eq=False)
class Toolpack:
    """One tool, checked and immutable: equal to another if its content is, whatever file it came from.

    Blocks are mappings with the names of the file, as in `limits["maxInputBytes"]`. Schemas have their references
    resolved. Two packs that refer to the same schema share it.
    """

    id: str
    version: str
    deterministic: bool
    timeout_ms: int
    limits: Mapping[str, Any]
    input_schema: Any
    output_schema: Any
    execution: Mapping[str, Any]
    caps: Mapping[str, Any]
    env: Mapping[str, Any]
    templating: Mapping[str, Any]
    source_path: Path = _LazyPath()  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """The pack as plain data with the names of the file, without its path and without empty blocks."""
        return {
            name: thawed(value)
            for name, value in ((written, getattr(self, field)) for field, written in _WRITTEN)
            if value or name not in _OPTIONAL
        }

    def without_defaults(self) -> dict[str, Any]:
        """The same without what would hold anyway: a default that is written out changes nothing."""
        plain = self.to_dict()
        if "filesystem" in plain.get("caps", ()):
            plain["caps"]["filesystem"] = _stated(plain["caps"]["filesystem"], Filesystem)
        plain["execution"] = _stated(plain["execution"], EXECUTIONS[plain["execution"]["kind"]])
        for (name, *_), cls in BLOCKS[1:]:
            if name in plain:
                plain[name] = _stated(plain[name], cls)
        return {
            name: value for name, value in plain.items() if value != {} or name not in _OPTIONAL
        }

    @cached_property
    def digest(self) -> str:
        """sha256 of the content in canonical form, without defaults; the path is no part of it."""
        return hashlib.sha256(canonical(self.without_defaults())).hexdigest()

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Toolpack) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Toolpack({self.id!r}, version={self.version!r}, kind={self.execution['kind']!r})"


_OPTIONAL = frozenset({"caps", "env", "templating"})
_CAMEL = {"timeout_ms": "timeoutMs", "input_schema": "inputSchema", "output_schema": "outputSchema"}
#: Attribute and name in the file, without the path.
_WRITTEN = tuple((each.name, _CAMEL.get(each.name, each.name)) for each in fields(Toolpack))[:-1]


def _stated(block: dict[str, Any], cls: type) -> dict[str, Any]:
    """The entries of a block that are not as they would be without them."""
    defaults = _defaults(cls)
    return {
        name: value
        for name, value in block.items()
        if name not in defaults or not _is(value, defaults[name])
    }


def _is(value: Any, default: Any) -> bool:
    return value == default or (default in (None, ()) and value in (None, [], {}))


@cache
def _defaults(cls: type) -> dict[str, Any]:
    return {
        field.encode_name: field.default
        for field in msgspec.structs.fields(cls)
        if not field.required
    }


def make(value: dict[str, Any], session: Session) -> Toolpack:
    """The pack of a resolved value that fits the model."""
    memo: dict[int, Any] = {}
    return Toolpack(
        value["id"],
        value["version"],
        value["deterministic"],
        value["timeoutMs"],
        frozen(value["limits"], memo),
        frozen(value["inputSchema"], memo),
        frozen(value["outputSchema"], memo),
        frozen(value["execution"], memo),
        _block(value.get("caps"), "filesystem"),
        _block(value.get("env"), fill="set"),
        _block(value.get("templating"), fill="context"),
        session.path,  # type: ignore[arg-type]  # becomes a path when it is asked for
    )


def _block(
    value: dict[str, Any] | None, leave_out: str | None = None, *, fill: str | None = None
) -> Any:
    """An optional block: absent is empty; of a part that may be null, nothing or an empty mapping remains."""
    if not value:
        return _EMPTY
    if leave_out is not None and leave_out in value and not value[leave_out]:
        value = {name: each for name, each in value.items() if name != leave_out}
    if fill is not None and fill in value and value[fill] is None:
        value = {**value, fill: {}}
    return frozen(value)
