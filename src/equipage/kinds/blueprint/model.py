"""The typed blueprint: every field that the seed's version or today's knows."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from equipage.kinds.blueprint.agent_model import (
    DEFAULT_KIND,
    Agent,
    AgentKind,
    AgentMeta,
    AgentProfile,
    ContextPolicy,
    LintLevel,
    Part,
    Runner,
)

# --- flow --------------------------------------------------------------------------------------
# The flow of a blueprint: nodes that run agents, and the expressions between them.
#
# Two wire forms are in use under one version number. Where they name an operator differently (`le`, `lte`), each
# is a class of its own. Where they only name its field differently (`not` with `operand` or `arg`), the class has
# both fields, exactly one of which is set; a rule says so when it is not.

UInt32: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
JoinMode: TypeAlias = Literal["all", "any", "race", "all_settled"]


class ExpressionPart(Part, frozen=True, tag_field="op"):
    """What all expressions have in common."""


class Binary(ExpressionPart, frozen=True):
    """What all operators with two sides have in common."""

    lhs: Expression
    rhs: Expression


class Path(ExpressionPart, frozen=True, tag="path"):
    """A place in the context: `$`, `$.notes`, `$.files["a.md"]`."""

    at: str


class Lit(ExpressionPart, frozen=True, tag="lit"):
    """A value as it stands."""

    value: Any


class Eq(Binary, frozen=True, tag="eq"):
    """Equal."""


class Ne(Binary, frozen=True, tag="ne"):
    """Not equal."""


class Lt(Binary, frozen=True, tag="lt"):
    """Less."""


class Le(Binary, frozen=True, tag="le"):
    """Less or equal; now `lte`."""


class Lte(Binary, frozen=True, tag="lte"):
    """Less or equal; once `le`."""


class Gt(Binary, frozen=True, tag="gt"):
    """Greater."""


class Ge(Binary, frozen=True, tag="ge"):
    """Greater or equal; now `gte`."""


class Gte(Binary, frozen=True, tag="gte"):
    """Greater or equal; once `ge`."""


class Add(Binary, frozen=True, tag="add"):
    """Sum."""


class Sub(Binary, frozen=True, tag="sub"):
    """Difference."""


class Mul(Binary, frozen=True, tag="mul"):
    """Product."""


class Div(Binary, frozen=True, tag="div"):
    """Quotient."""


class Mod(Binary, frozen=True, tag="mod"):
    """Remainder."""


class Not(ExpressionPart, frozen=True, tag="not"):
    """Negation, of `arg` or, once, `operand`."""

    arg: Expression | UnsetType = UNSET
    operand: Expression | UnsetType = UNSET


class And(ExpressionPart, frozen=True, tag="and"):
    """True if all `args` (once `operands`) are."""

    args: tuple[Expression, ...] | UnsetType = UNSET
    operands: tuple[Expression, ...] | UnsetType = UNSET


class Or(ExpressionPart, frozen=True, tag="or"):
    """True if any of the `args` (once `operands`) is."""

    args: tuple[Expression, ...] | UnsetType = UNSET
    operands: tuple[Expression, ...] | UnsetType = UNSET


class Exists(ExpressionPart, frozen=True, tag="exists"):
    """Whether `arg` is there (null counts as missing) or, once, the path `at` is (null counts as there)."""

    arg: Expression | UnsetType = UNSET
    at: str | UnsetType = UNSET


class Len(ExpressionPart, frozen=True, tag="len"):
    """Length of `arg` or, once, `of`."""

    arg: Expression | UnsetType = UNSET
    of: Expression | UnsetType = UNSET


class In(ExpressionPart, frozen=True, tag="in"):
    """Whether `haystack` holds `needle`."""

    needle: Expression
    haystack: Expression


class CallExtern(ExpressionPart, frozen=True, tag="call_extern"):
    """What a function of the host returns."""

    ref: str
    args: tuple[Expression, ...]


Expression: TypeAlias = (
    Path | Lit | Eq | Ne | Lt | Le | Lte | Gt | Ge | Gte | Add | Sub | Mul | Div | Mod
    | Not | And | Or | Exists | Len | In | CallExtern
)  # fmt: skip


class NodePart(Part, frozen=True, tag_field="kind"):
    """What all nodes have in common."""


class Step(NodePart, frozen=True, tag="step"):
    """Run the agent `ref` on `in` and store its result at `out`."""

    ref: str
    input: Expression = msgspec.field(name="in")
    out: Expression


class Seq(NodePart, frozen=True, tag="seq"):
    """One after the other."""

    children: tuple[Node, ...]


class Branch(NodePart, frozen=True, tag="branch"):
    """One of two ways."""

    cond: Expression
    then: Node
    otherwise: Node = msgspec.field(name="else")


class Loop(NodePart, frozen=True, tag="loop"):
    """Repeat `body` while `cond` holds, at most `max` times."""

    counter: Expression
    cond: Expression
    body: Node
    max: UInt32


class Fanout(NodePart, frozen=True, tag="fanout"):
    """Run `body` once for each of `items`, each with a context of its own."""

    items: Expression
    bind: Expression
    body: Node
    join: JoinMode
    out: Expression


class Try(NodePart, frozen=True, tag="try"):
    """Run `body`; if it fails, undo it and run `catch`."""

    always: ClassVar[frozenset[str]] = frozenset({"err_at"})

    body: Node
    catch: Node
    err_at: Expression | None = None


class Assign(NodePart, frozen=True, tag="assign"):
    """Write a value into the context."""

    at: Expression
    value: Expression


Node: TypeAlias = Step | Seq | Branch | Loop | Fanout | Try | Assign


OperatorKind: TypeAlias = Literal["main_ai", "automate", "composite"]
UInt64: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]


class Operator(Part, frozen=True):
    """Who stands behind agents of kind `operator`."""

    always: ClassVar[frozenset[str]] = frozenset(
        {"display_name", "kind", "spec", "profile", "meta"}
    )

    name: str
    display_name: str | None = None
    kind: OperatorKind | None = None
    spec: Any = None
    profile: AgentProfile | None = None
    meta: AgentMeta | None = None


class CompilerHints(Part, frozen=True):
    """Hints for backends, handed on untouched."""

    always: ClassVar[frozenset[str]] = frozenset({"per_agent", "globally"})

    per_agent: dict[str, Any] = msgspec.field(default_factory=dict)
    globally: Any = msgspec.field(default=None, name="global")


class CompilerStrategy(Part, frozen=True):
    """How strictly the blueprint is compiled."""

    always: ClassVar[frozenset[str]] = frozenset({"strict_refs", "strict_kind", "strict_binding"})

    strict_refs: bool = True
    strict_kind: bool = True
    strict_binding: bool = False


class OriginPart(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind"):
    """Where a blueprint says it came from. The one mapping whose further keys are let pass."""


class Inline(OriginPart, frozen=True, tag="inline"):
    """Written by hand."""


class File(OriginPart, frozen=True, tag="file"):
    """Read from a file."""

    path: str


class Algo(OriginPart, frozen=True, tag="algo"):
    """Made by a program."""

    session_id: str


BlueprintOrigin: TypeAlias = Inline | File | Algo


class BlueprintMetadata(Part, frozen=True):
    """What people and tools want to know about a blueprint."""

    always: ClassVar[frozenset[str]] = frozenset({"description", "origin", "tags"})

    description: str | None = None
    origin: BlueprintOrigin = Inline()
    tags: tuple[str, ...] = ()
    version_label: str | None = None
    project_name_alias: str | None = None
    default_run_ttl_secs: UInt64 | None = None
    strict_verdict_handling: bool | None = None
    lints: dict[str, LintLevel] | None = None


class SpawnerHints(Part, frozen=True):
    """Capabilities the flow would like to have."""

    always: ClassVar[frozenset[str]] = frozenset({"layers"})

    layers: tuple[str, ...] = ()


class NamedContext(Part, frozen=True):
    """Context that agents and steps refer to by name."""

    name: str
    ctx: Any


class ProjectionPlacement(Part, frozen=True):
    """Where results are put as files."""

    root: str | None = None
    dir_template: str | None = None


class Audit(Part, frozen=True):
    """An agent that looks at what steps did."""

    always: ClassVar[frozenset[str]] = frozenset({"mode"})

    agent: str
    steps: tuple[str, ...] | None = None
    mode: Literal["async", "sync"] = "async"


class NamedRunner(Part, frozen=True):
    """A runner that agents refer to by name."""

    name: str
    runner: Runner


class OutputStats(Part, frozen=True):
    """Where the output of a subprocess says what it cost."""

    usage_ptr: str | None = None
    model_ptr: str | None = None
    num_turns_ptr: str | None = None


class SubprocessOutput(Part, frozen=True):
    """How the output of a subprocess is read."""

    format: str | None = None
    result_ptr: str | None = None
    ok_from: str | None = None
    stats: OutputStats | None = None


class SubprocessTemplate(Part, frozen=True):
    """A command that agents run in."""

    name: str
    argv: tuple[str, ...]
    stdin: str | None = None
    env: dict[str, str] = msgspec.field(default_factory=dict)
    cwd: str | None = None
    output: SubprocessOutput | None = None
    stream_mode: str | None = None


class Blueprint(Part, frozen=True, kw_only=True):
    """A flow, and the agents its steps run."""

    TITLE: ClassVar[str] = "a blueprint"

    always: ClassVar[frozenset[str]] = frozenset(
        {
            "schema_version",
            "agents",
            "operators",
            "hints",
            "strategy",
            "metadata",
            "spawner_hints",
            "default_agent_kind",
        }
    )

    schema_version: str = "0.1.0"
    id: str
    flow: Node
    agents: tuple[Agent, ...] = ()
    operators: tuple[Operator, ...] = ()
    metas: tuple[NamedContext, ...] = ()
    hints: CompilerHints = CompilerHints()
    strategy: CompilerStrategy = CompilerStrategy()
    metadata: BlueprintMetadata = BlueprintMetadata()
    spawner_hints: SpawnerHints = SpawnerHints()
    default_agent_kind: AgentKind = DEFAULT_KIND
    default_operator_kind: OperatorKind | None = None
    default_init_ctx: Any = None
    default_agent_ctx: Any = None
    default_context_policy: ContextPolicy | None = None
    projection_placement: ProjectionPlacement | None = None
    audits: tuple[Audit, ...] = ()
    degradation_policy: Literal["warn", "fail"] | None = None
    runners: tuple[NamedRunner, ...] = ()
    default_runner: str | None = None
    check_policy: Literal["silent", "warn", "strict"] | None = None
    blueprint_ref_includes: tuple[str, ...] = ()
    subprocesses: tuple[SubprocessTemplate, ...] = ()
