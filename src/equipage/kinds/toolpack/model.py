"""What a toolpack file may say: the only statement of its shape.

Field names are those of the file, camelCase. `null` is allowed exactly where the type says so. Class names appear in
findings, in lower case.
"""

# Annotations are evaluated, not kept as text: msgspec would have to compile each of them when a model is first used.
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct

NonEmpty = Annotated[str, Meta(min_length=1)]
PositiveInt = Annotated[int, Meta(gt=0)]
#: Any JSON Schema; what is in it is checked against its meta-schema.
Schema = dict[str, Any] | bool


class _Block(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel", gc=False):
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
