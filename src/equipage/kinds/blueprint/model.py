"""The typed blueprint: every field that its first version or the current one knows.

The wire form of flows changed under one version number. Where the two forms name an operator
differently (`le`, `lte`), each name is a class of its own. Where they name its field differently
(`not` with `operand` or `arg`), the class has both fields; a rule checks that exactly one is set.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from equipage.kinds.blueprint.agent_model import (
    DEFAULT_KIND,
    Agent,
    AgentKind,
    ContextPolicy,
    LintLevel,
    NamedRunner,
    Operator,
    OperatorKind,
    Part,
    SubprocessTemplate,
)

UInt32: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
#: msgspec knows no larger bound than 63 bits; a rule checks that the number fits into 64.
UInt64: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
JoinMode: TypeAlias = Literal["all", "any", "race", "all_settled"]


# Expressions: how a flow reads and compares values of its context.


class ExpressionPart(Part, frozen=True, tag_field="op"):
    """What all expressions have in common."""


class Binary(ExpressionPart, frozen=True):
    """What all operators with two sides have in common."""

    lhs: Expression  #: the left side
    rhs: Expression  #: the right side


class Path(ExpressionPart, frozen=True, tag="path"):
    """The value at a place in the context: `$`, `$.notes`, `$.files["a.md"]`."""

    at: str  #: the place: `$`, then `.key` or `["key"]` for each step


class Lit(ExpressionPart, frozen=True, tag="lit"):
    """A literal."""

    value: Any  #: the value itself


class Eq(Binary, frozen=True, tag="eq"):
    """Equal."""


class Ne(Binary, frozen=True, tag="ne"):
    """Not equal."""


class Lt(Binary, frozen=True, tag="lt"):
    """Less."""


class Le(Binary, frozen=True, tag="le"):
    """Less or equal in the older form; now `lte`."""


class Lte(Binary, frozen=True, tag="lte"):
    """Less or equal; `le` in the older form."""


class Gt(Binary, frozen=True, tag="gt"):
    """Greater."""


class Ge(Binary, frozen=True, tag="ge"):
    """Greater or equal in the older form; now `gte`."""


class Gte(Binary, frozen=True, tag="gte"):
    """Greater or equal; `ge` in the older form."""


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
    """Negation."""

    arg: Expression | UnsetType = UNSET  #: what is negated
    operand: Expression | UnsetType = UNSET  #: `arg` in the older form


class And(ExpressionPart, frozen=True, tag="and"):
    """True if all of its operands are; true if there are none."""

    args: tuple[Expression, ...] | UnsetType = UNSET  #: the operands
    operands: tuple[Expression, ...] | UnsetType = UNSET  #: `args` in the older form


class Or(ExpressionPart, frozen=True, tag="or"):
    """True if any of its operands is; false if there are none."""

    args: tuple[Expression, ...] | UnsetType = UNSET  #: the operands
    operands: tuple[Expression, ...] | UnsetType = UNSET  #: `args` in the older form


class Exists(ExpressionPart, frozen=True, tag="exists"):
    """Whether there is a value. Null counts as missing, but as a value in the older form."""

    arg: Expression | UnsetType = UNSET  #: the expression that may have a value
    at: str | UnsetType = UNSET  #: the place that may have a value, in the older form


class Len(ExpressionPart, frozen=True, tag="len"):
    """Length of a list, mapping or text."""

    arg: Expression | UnsetType = UNSET  #: what is measured
    of: Expression | UnsetType = UNSET  #: `arg` in the older form


class In(ExpressionPart, frozen=True, tag="in"):
    """Whether `haystack` holds `needle`."""

    needle: Expression  #: what is looked for
    haystack: Expression  #: where it is looked for


class CallExtern(ExpressionPart, frozen=True, tag="call_extern"):
    """What a function of the host returns."""

    ref: str  #: the name of the function
    args: tuple[Expression, ...]  #: its arguments


Expression: TypeAlias = (
    Path | Lit | Eq | Ne | Lt | Le | Lte | Gt | Ge | Gte | Add | Sub | Mul | Div | Mod
    | Not | And | Or | Exists | Len | In | CallExtern
)  # fmt: skip


# Nodes: what a flow does.


class NodePart(Part, frozen=True, tag_field="kind"):
    """What all nodes have in common."""


class Step(NodePart, frozen=True, tag="step"):
    """Run the agent `ref` on `in` and store its result at `out`."""

    ref: str  #: the name of the agent
    input: Expression = msgspec.field(name="in")  #: what the agent gets
    out: Expression  #: the path where its result goes


class Seq(NodePart, frozen=True, tag="seq"):
    """One after the other."""

    children: tuple[Node, ...]  #: what is done, in order


class Branch(NodePart, frozen=True, tag="branch"):
    """One of two ways."""

    cond: Expression  #: the condition, which is true or false
    then: Node  #: what is done if it is true
    otherwise: Node = msgspec.field(name="else")  #: what is done if it is false


class Loop(NodePart, frozen=True, tag="loop"):
    """Repeat `body` while `cond` holds, at most `max` times."""

    counter: Expression  #: the path of the number of the round, which starts at 0
    cond: Expression  #: the loop goes on while this is neither null nor false
    body: Node  #: what is done in each round
    max: UInt32  #: how many rounds there are at most


class Fanout(NodePart, frozen=True, tag="fanout"):
    """Run `body` once for each of `items`, each time with a context of its own."""

    items: Expression  #: the list
    bind: Expression  #: the path of the item in the context of its run
    body: Node  #: what is done for each item
    join: JoinMode  #: which of the runs must end, and how, before the flow goes on
    out: Expression  #: the path where the results go


class Try(NodePart, frozen=True, tag="try"):
    """Run `body`; if it fails, undo it and run `catch`."""

    always: ClassVar[frozenset[str]] = frozenset({"err_at"})

    body: Node  #: what is tried
    catch: Node  #: what is done if it fails
    err_at: Expression | None = None  #: the path where the message of the failure goes


class Assign(NodePart, frozen=True, tag="assign"):
    """Write a value into the context."""

    at: Expression  #: the path where it goes
    value: Expression  #: the value


Node: TypeAlias = Step | Seq | Branch | Loop | Fanout | Try | Assign


# The blueprint around the flow.


class CompilerHints(Part, frozen=True):
    """Hints that backends get as they are."""

    always: ClassVar[frozenset[str]] = frozenset({"per_agent", "globally"})

    per_agent: dict[str, Any] = msgspec.field(default_factory=dict)  #: by the name of the agent
    globally: Any = msgspec.field(default=None, name="global")  #: for all agents


class CompilerStrategy(Part, frozen=True):
    """How strictly programs compile the blueprint."""

    always: ClassVar[frozenset[str]] = frozenset({"strict_refs", "strict_kind", "strict_binding"})

    strict_refs: bool = True  #: refuse steps whose agent does not exist
    strict_kind: bool = True  #: refuse agents whose kind has no backend, instead of dropping them
    strict_binding: bool = False  #: refuse agents that do not get the runner they are bound to


class OriginPart(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind"):
    """Where a blueprint says it came from. The one mapping that accepts further keys."""


class Inline(OriginPart, frozen=True, tag="inline"):
    """Written by hand."""


class File(OriginPart, frozen=True, tag="file"):
    """Read from a file."""

    path: str  #: the path of the file


class Algo(OriginPart, frozen=True, tag="algo"):
    """Made by a program."""

    session_id: str  #: the session in which the program made it


BlueprintOrigin: TypeAlias = Inline | File | Algo


class BlueprintMetadata(Part, frozen=True):
    """What people and tools want to know about a blueprint."""

    always: ClassVar[frozenset[str]] = frozenset({"description", "origin", "tags"})

    description: str | None = None  #: a note for people
    origin: BlueprintOrigin = Inline()  #: where the blueprint says it came from
    tags: tuple[str, ...] = ()  #: labels to find it by
    version_label: str | None = None  #: the version of the blueprint; any text
    project_name_alias: str | None = None  #: a name of the project that workers are given
    default_run_ttl_secs: UInt64 | None = None  #: how many seconds a run may take
    #: whether conditions must ask for every word of every verdict
    strict_verdict_handling: bool | None = None
    #: level of findings, by kind of finding, `category:NAME` or `all`; the agent's own come first
    lints: dict[str, LintLevel] | None = None


class SpawnerHints(Part, frozen=True):
    """Capabilities that the flow asks for; programs skip those they do not know."""

    always: ClassVar[frozenset[str]] = frozenset({"layers"})

    layers: tuple[str, ...] = ()  #: the capabilities, such as `main_ai` or `senior_escalation`


class NamedContext(Part, frozen=True):
    """Context that agents and steps refer to by name."""

    name: str  #: unique among the contexts
    ctx: Any  #: the context itself, a mapping


class ProjectionPlacement(Part, frozen=True):
    """Where results are written as files."""

    root: str | None = None  #: `work_dir` or `project_root`
    dir_template: str | None = None  #: a folder below it, with `{task_id}` in its path


class Audit(Part, frozen=True):
    """An agent that looks at what steps did."""

    always: ClassVar[frozenset[str]] = frozenset({"mode"})

    agent: str  #: the name of the agent that looks
    steps: tuple[str, ...] | None = None  #: the steps; `*`, or no list at all, is every step
    mode: Literal["async", "sync"] = "async"  #: whether the flow waits for it


class Blueprint(Part, frozen=True, kw_only=True):
    """A flow, and the agents its steps run."""

    TITLE: ClassVar[str] = "a blueprint"

    always: ClassVar[frozenset[str]] = frozenset({
        "schema_version", "agents", "operators", "hints", "strategy", "metadata", "spawner_hints",
        "default_agent_kind",
    })  # fmt: skip

    schema_version: str = "0.1.0"  #: the version of the format
    id: str  #: the name of the blueprint, unique among those of a program
    flow: Node  #: what is done, in which order
    agents: tuple[Agent, ...] = ()  #: the agents that steps run
    operators: tuple[Operator, ...] = ()  #: who acts for agents of kind `operator`
    metas: tuple[NamedContext, ...] = ()  #: contexts by name, for `meta_ref` and `$step_meta`
    hints: CompilerHints = CompilerHints()  #: hints for backends
    strategy: CompilerStrategy = CompilerStrategy()  #: how strictly programs compile it
    metadata: BlueprintMetadata = BlueprintMetadata()  #: labels, and defaults of a run
    spawner_hints: SpawnerHints = SpawnerHints()  #: capabilities that the flow asks for
    #: the kind of agents from files whose reference does not say it
    default_agent_kind: AgentKind = DEFAULT_KIND
    default_operator_kind: OperatorKind | None = None  #: the kind of operators that do not say it
    default_init_ctx: Any = None  #: the context a run starts with, below that of the task
    default_agent_ctx: Any = None  #: the context of agents that have none of their own
    #: what agents see of the context if they do not say it themselves
    default_context_policy: ContextPolicy | None = None
    projection_placement: ProjectionPlacement | None = None  #: where results are written as files
    audits: tuple[Audit, ...] = ()  #: agents that look at what steps did
    #: what programs should do when a part is missing; none of them enforces it
    degradation_policy: Literal["warn", "fail"] | None = None
    runners: tuple[NamedRunner, ...] = ()  #: runners by name, for `runner_ref`
    default_runner: str | None = None  #: the name of the runner of agents that have none
    #: how strictly runs are checked, unless the launch says otherwise
    check_policy: Literal["silent", "warn", "strict"] | None = None
    #: folders for references; equipage does not read them, see `include_roots`
    blueprint_ref_includes: tuple[str, ...] = ()
    subprocesses: tuple[SubprocessTemplate, ...] = ()  #: commands by name, for runners
