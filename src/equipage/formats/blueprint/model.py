"""The typed blueprint: every field that its first version or the current one knows.

`always` names the fields of a class that are written even when they hold their default; all other
defaults are left out. Programs that read blueprints have always written them in this form.

The wire form of flows changed under one version number. Where the two forms name an operator
differently (`le`, `lte`), each name is a class of its own. Where they name its field differently
(`not` with `operand` or `arg`), the class has both fields; a rule checks that exactly one is set.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

AgentKind: TypeAlias = Literal["lua", "rust_fn", "agent_block", "subprocess", "operator"]
OperatorKind: TypeAlias = Literal["main_ai", "automate", "composite"]
LintLevel: TypeAlias = Literal["allow", "warn", "deny"]

#: The kind of an agent from a file if neither the reference nor the blueprint says it.
DEFAULT_KIND: AgentKind = "operator"
AGENT_KINDS: tuple[AgentKind, ...] = ("lua", "rust_fn", "agent_block", "subprocess", "operator")
LINT_LEVELS: tuple[LintLevel, ...] = ("allow", "warn", "deny")


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """What all parts of a blueprint have in common: unknown keys are errors."""

    always: ClassVar[tuple[str, ...]] = ()  #: fields written even when they hold their default


# Profiles and labels.


class AgentProfile(Part, frozen=True):
    """Who an agent is: its prompt, its model, its tools."""

    always = ("system_prompt", "model", "effort", "tools", "description", "extras", "version_hash")

    system_prompt: str = ""
    """The prompt, a template that is filled in when the agent runs; in an agent file, the text
    below the header."""
    model: str | None = None
    """The model, such as `sonnet`."""
    effort: str | None = None
    """How hard the model thinks, such as `low` or `high`."""
    tools: tuple[str, ...] = ()
    """The tools that the agent may use."""
    description: str | None = None
    """What the agent is for."""
    extras: Any = None
    """The keys of a header that are not fields, kept for other programs."""
    version_hash: str | None = None
    """The BLAKE3 hash of the prompt, computed for prompts from agent files."""
    worker_binding: str | None = None
    """The variant of the worker that runs the agent; a `runner` replaces it."""


class ContextPolicy(Part, frozen=True):
    """Which parts of the context an agent sees. It never sees what is excluded."""

    always = ("include", "exclude", "steps", "steps_exclude")

    include: tuple[str, ...] | None = None
    """The only fields it sees; without it, all of them."""
    exclude: tuple[str, ...] = ()
    """Fields it does not see, even if they are included."""
    steps: tuple[str, ...] | None = None
    """The only steps whose results it sees; without it, all of them."""
    steps_exclude: tuple[str, ...] = ()
    """Steps whose results it does not see."""


class AgentMeta(Part, frozen=True):
    """Labels and context of an agent or operator."""

    always = ("description", "version", "tags")

    description: str | None = None
    """A note for people."""
    version: str | None = None
    """A label for people; any text."""
    tags: tuple[str, ...] = ()
    """Labels to find it by."""
    ctx: Any = None
    """The context that the agent gets when it runs."""
    context_policy: ContextPolicy | None = None
    """What the agent sees of the context, instead of the blueprint's `default_context_policy`."""
    meta_ref: str | None = None
    """The name of a context in `metas`."""
    projection_name: str | None = None
    """Another name for the results of the agent's steps."""


# Runners and commands.


class Overrides(Part, frozen=True):
    """What an agent changes about the subprocess it runs in."""

    model: str | None = None
    """Instead of the model of the profile."""
    tools: tuple[str, ...] = ()
    """Instead of the tools of the profile."""
    cwd: str | None = None
    """Instead of the folder of the template."""


class WsOperator(Part, frozen=True, tag="ws_operator", tag_field="backend"):
    """A worker that is reached over a web socket."""

    variant: str
    """Which sort of worker is launched."""
    tools: tuple[str, ...] = ()
    """The tools it may use, in place of those of the profile."""


class WsClaudeCode(Part, frozen=True, tag="ws_claude_code", tag_field="backend"):
    """The older name of `ws_operator`."""

    variant: str
    """Which sort of worker is launched."""
    tools: tuple[str, ...] = ()
    """The tools it may use, in place of those of the profile."""


#: What an agent with a `worker_binding` runs on.
BOUND_BACKEND = "ws_claude_code"


class AgentBlockInProcess(Part, frozen=True, tag="agent_block_in_process", tag_field="backend"):
    """Runs inside the host."""

    tools: tuple[str, ...] = ()
    """The tools it may use, in place of those of the profile."""


class Subprocess(Part, frozen=True, tag="subprocess", tag_field="backend"):
    """Runs one of the blueprint's `subprocesses`."""

    template: str
    """The name of the subprocess."""
    overrides: Overrides = Overrides()
    """What differs from it."""


Runner: TypeAlias = WsOperator | WsClaudeCode | AgentBlockInProcess | Subprocess


class NamedRunner(Part, frozen=True):
    """A runner that agents refer to by name."""

    name: str
    """Unique among the runners."""
    runner: Runner
    """What runs the agent."""


class OutputStats(Part, frozen=True):
    """Where the output of a subprocess says what a run cost, as JSON Pointers."""

    usage_ptr: str | None = None
    """The tokens that were used."""
    model_ptr: str | None = None
    """The model that was used."""
    num_turns_ptr: str | None = None
    """The number of turns."""


class SubprocessOutput(Part, frozen=True):
    """How the output of a subprocess is read."""

    format: str | None = None
    """`json`."""
    result_ptr: str | None = None
    """A JSON Pointer to the result."""
    ok_from: str | None = None
    """How success is recognised: `exit_code`, or a JSON Pointer to a value that says it."""
    stats: OutputStats | None = None
    """Where the output says what the run cost."""


class SubprocessTemplate(Part, frozen=True):
    """A command that agents run in. Its texts may have placeholders such as `{prompt}`."""

    name: str
    """Unique among the subprocesses."""
    argv: tuple[str, ...]
    """The program and its arguments."""
    stdin: str | None = None
    """What the program reads from its standard input."""
    env: dict[str, str] = msgspec.field(default_factory=dict)
    """Environment variables for it."""
    cwd: str | None = None
    """The folder it runs in."""
    output: SubprocessOutput | None = None
    """How its output is read as a whole."""
    stream_mode: str | None = None
    """How its output is read as a stream: `ndjson_lines`, `sse_events` or `length_prefixed`."""


# Agents and operators.


class Verdict(Part, frozen=True):
    """The words an agent may end with, and where it writes them."""

    channel: Literal["body", "part"]
    """`body`: the verdict is the whole result; `part`: it is in `parts.verdict` of the result."""
    values: tuple[str, ...]
    """The words it may be."""


class Agent(Part, frozen=True):
    """One agent: a name that steps refer to, and what runs it."""

    always = ("spec", "profile", "meta")

    name: str
    """Unique among the agents; steps refer to it."""
    kind: AgentKind
    """The backend that runs it."""
    spec: Any = None
    """What that backend needs: `fn_id` or `source` for `lua`, `fn_id` for `rust_fn`, `program` for
    `subprocess`, `operator_ref` for `operator`."""
    profile: AgentProfile | None = None
    """Its prompt, model and tools."""
    meta: AgentMeta | None = None
    """Its labels and context."""
    runner: Runner | None = None
    """How it is run."""
    runner_ref: str | None = None
    """How it is run, by the name of one of the `runners`."""
    verdict: Verdict | None = None
    """The words it may end with."""
    lints: dict[str, LintLevel] | None = None
    """Level of findings about this agent, by kind of finding, `category:NAME` or `all`."""


class Operator(Part, frozen=True):
    """Who acts for agents of kind `operator`."""

    always = ("display_name", "kind", "spec", "profile", "meta")

    name: str
    """Unique among the operators; agents name it in `spec.operator_ref`."""
    display_name: str | None = None
    """A name for people."""
    kind: OperatorKind | None = None
    """Who acts, instead of `default_operator_kind`."""
    spec: Any = None
    """What the operator needs to know."""
    profile: AgentProfile | None = None
    """Its prompt, model and tools."""
    meta: AgentMeta | None = None
    """Its labels and context."""


UInt32: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
#: msgspec knows no larger bound than 63 bits; a rule checks that the number fits into 64.
UInt64: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
JoinMode: TypeAlias = Literal["all", "any", "race", "all_settled"]


# Expressions: how a flow reads and compares values of its context.


class ExpressionPart(Part, frozen=True, tag_field="op"):
    """What all expressions have in common."""


class Binary(ExpressionPart, frozen=True):
    """What all operators with two sides have in common."""

    lhs: Expression
    """The left side."""
    rhs: Expression
    """The right side."""


class Path(ExpressionPart, frozen=True, tag="path"):
    """The value at a place in the context: `$`, `$.notes`, `$.files["a.md"]`."""

    at: str
    """The place: `$`, then `.key` or `["key"]` for each step."""


class Lit(ExpressionPart, frozen=True, tag="lit"):
    """A literal."""

    value: Any
    """The value itself."""


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

    arg: Expression | UnsetType = UNSET
    """What is negated."""
    operand: Expression | UnsetType = UNSET
    """`arg` in the older form."""


class And(ExpressionPart, frozen=True, tag="and"):
    """True if all of its operands are; true if there are none."""

    args: tuple[Expression, ...] | UnsetType = UNSET
    """The operands."""
    operands: tuple[Expression, ...] | UnsetType = UNSET
    """`args` in the older form."""


class Or(ExpressionPart, frozen=True, tag="or"):
    """True if any of its operands is; false if there are none."""

    args: tuple[Expression, ...] | UnsetType = UNSET
    """The operands."""
    operands: tuple[Expression, ...] | UnsetType = UNSET
    """`args` in the older form."""


class Exists(ExpressionPart, frozen=True, tag="exists"):
    """Whether there is a value. Null counts as missing, but as a value in the older form."""

    arg: Expression | UnsetType = UNSET
    """The expression that may have a value."""
    at: str | UnsetType = UNSET
    """The place that may have a value, in the older form."""


class Len(ExpressionPart, frozen=True, tag="len"):
    """Length of a list, mapping or text."""

    arg: Expression | UnsetType = UNSET
    """What is measured."""
    of: Expression | UnsetType = UNSET
    """`arg` in the older form."""


class In(ExpressionPart, frozen=True, tag="in"):
    """Whether `haystack` holds `needle`."""

    needle: Expression
    """What is looked for."""
    haystack: Expression
    """Where it is looked for."""


class CallExtern(ExpressionPart, frozen=True, tag="call_extern"):
    """What a function of the host returns."""

    ref: str
    """The name of the function."""
    args: tuple[Expression, ...]
    """Its arguments."""


Expression: TypeAlias = (
    Path | Lit | Eq | Ne | Lt | Le | Lte | Gt | Ge | Gte | Add | Sub | Mul | Div | Mod
    | Not | And | Or | Exists | Len | In | CallExtern
)  # fmt: skip


# Nodes: what a flow does.


class NodePart(Part, frozen=True, tag_field="kind"):
    """What all nodes have in common."""


class Step(NodePart, frozen=True, tag="step"):
    """Run the agent `ref` on `in` and store its result at `out`."""

    ref: str
    """The name of the agent."""
    input: Expression = msgspec.field(name="in")
    """What the agent gets."""
    out: Expression
    """The path where its result goes."""


class Seq(NodePart, frozen=True, tag="seq"):
    """One after the other."""

    children: tuple[Node, ...]
    """What is done, in order."""


class Branch(NodePart, frozen=True, tag="branch"):
    """One of two ways."""

    cond: Expression
    """The condition, which is true or false."""
    then: Node
    """What is done if it is true."""
    otherwise: Node = msgspec.field(name="else")
    """What is done if it is false."""


class Loop(NodePart, frozen=True, tag="loop"):
    """Repeat `body` while `cond` holds, at most `max` times."""

    counter: Expression
    """The path of the number of the round, which starts at 0."""
    cond: Expression
    """The loop goes on while this is neither null nor false."""
    body: Node
    """What is done in each round."""
    max: UInt32
    """How many rounds there are at most."""


class Fanout(NodePart, frozen=True, tag="fanout"):
    """Run `body` once for each of `items`, each time with a context of its own."""

    items: Expression
    """The list."""
    bind: Expression
    """The path of the item in the context of its run."""
    body: Node
    """What is done for each item."""
    join: JoinMode
    """Which of the runs must end, and how, before the flow goes on."""
    out: Expression
    """The path where the results go."""


class Try(NodePart, frozen=True, tag="try"):
    """Run `body`; if it fails, undo it and run `catch`."""

    always = ("err_at",)

    body: Node
    """What is tried."""
    catch: Node
    """What is done if it fails."""
    err_at: Expression | None = None
    """The path where the message of the failure goes."""


class Assign(NodePart, frozen=True, tag="assign"):
    """Write a value into the context."""

    at: Expression
    """The path where it goes."""
    value: Expression
    """The value."""


Node: TypeAlias = Step | Seq | Branch | Loop | Fanout | Try | Assign


# The blueprint around the flow.


class CompilerHints(Part, frozen=True):
    """Hints that backends get as they are."""

    always = ("per_agent", "globally")

    per_agent: dict[str, Any] = msgspec.field(default_factory=dict)
    """By the name of the agent."""
    globally: Any = msgspec.field(default=None, name="global")
    """For all agents."""


class CompilerStrategy(Part, frozen=True):
    """How strictly programs compile the blueprint."""

    always = ("strict_refs", "strict_kind", "strict_binding")

    strict_refs: bool = True
    """Refuse steps whose agent does not exist."""
    strict_kind: bool = True
    """Refuse agents whose kind has no backend, instead of dropping them."""
    strict_binding: bool = False
    """Refuse agents that do not get the runner they are bound to."""


class OriginPart(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind"):
    """Where a blueprint says it came from. The one mapping that accepts further keys."""


class Inline(OriginPart, frozen=True, tag="inline"):
    """Written by hand."""


class File(OriginPart, frozen=True, tag="file"):
    """Read from a file."""

    path: str
    """The path of the file."""


class Algo(OriginPart, frozen=True, tag="algo"):
    """Made by a program."""

    session_id: str
    """The session in which the program made it."""


BlueprintOrigin: TypeAlias = Inline | File | Algo


class BlueprintMetadata(Part, frozen=True):
    """What people and tools want to know about a blueprint."""

    always = ("description", "origin", "tags")

    description: str | None = None
    """A note for people."""
    origin: BlueprintOrigin = Inline()
    """Where the blueprint says it came from."""
    tags: tuple[str, ...] = ()
    """Labels to find it by."""
    version_label: str | None = None
    """The version of the blueprint; any text."""
    project_name_alias: str | None = None
    """A name of the project that workers are given."""
    default_run_ttl_secs: UInt64 | None = None
    """How many seconds a run may take."""
    strict_verdict_handling: bool | None = None
    """Whether conditions must ask for every word of every verdict."""
    lints: dict[str, LintLevel] | None = None
    """Level of findings, by kind of finding, `category:NAME` or `all`; the agent's own come
    first."""


class SpawnerHints(Part, frozen=True):
    """Capabilities that the flow asks for; programs skip those they do not know."""

    always = ("layers",)

    layers: tuple[str, ...] = ()
    """The capabilities, such as `main_ai` or `senior_escalation`."""


class NamedContext(Part, frozen=True):
    """Context that agents and steps refer to by name."""

    name: str
    """Unique among the contexts."""
    ctx: Any
    """The context itself, a mapping."""


class ProjectionPlacement(Part, frozen=True):
    """Where results are written as files."""

    root: str | None = None
    """`work_dir` or `project_root`."""
    dir_template: str | None = None
    """A folder below it, with `{task_id}` in its path."""


class Audit(Part, frozen=True):
    """An agent that looks at what steps did."""

    always = ("mode",)

    agent: str
    """The name of the agent that looks."""
    steps: tuple[str, ...] | None = None
    """The steps; `*`, or no list at all, is every step."""
    mode: Literal["async", "sync"] = "async"
    """Whether the flow waits for it."""


class Blueprint(Part, frozen=True, kw_only=True):
    """A flow, and the agents its steps run."""

    TITLE: ClassVar[str] = "a blueprint"

    always = (
        "schema_version", "agents", "operators", "hints", "strategy", "metadata", "spawner_hints",
        "default_agent_kind",
    )  # fmt: skip

    schema_version: str = "0.1.0"
    """The version of the format."""
    id: str
    """The name of the blueprint, unique among those of a program."""
    flow: Node
    """What is done, in which order."""
    agents: tuple[Agent, ...] = ()
    """The agents that steps run."""
    operators: tuple[Operator, ...] = ()
    """Who acts for agents of kind `operator`."""
    metas: tuple[NamedContext, ...] = ()
    """Contexts by name, for `meta_ref` and `$step_meta`."""
    hints: CompilerHints = CompilerHints()
    """Hints for backends."""
    strategy: CompilerStrategy = CompilerStrategy()
    """How strictly programs compile it."""
    metadata: BlueprintMetadata = BlueprintMetadata()
    """Labels, and defaults of a run."""
    spawner_hints: SpawnerHints = SpawnerHints()
    """Capabilities that the flow asks for."""
    default_agent_kind: AgentKind = DEFAULT_KIND
    """The kind of agents from files whose reference does not say it."""
    default_operator_kind: OperatorKind | None = None
    """The kind of operators that do not say it."""
    default_init_ctx: Any = None
    """The context a run starts with, below that of the task."""
    default_agent_ctx: Any = None
    """The context of agents that have none of their own."""
    default_context_policy: ContextPolicy | None = None
    """What agents see of the context if they do not say it themselves."""
    projection_placement: ProjectionPlacement | None = None
    """Where results are written as files."""
    audits: tuple[Audit, ...] = ()
    """Agents that look at what steps did."""
    degradation_policy: Literal["warn", "fail"] | None = None
    """What programs should do when a part is missing; none of them enforces it."""
    runners: tuple[NamedRunner, ...] = ()
    """Runners by name, for `runner_ref`."""
    default_runner: str | None = None
    """The name of the runner of agents that have none."""
    check_policy: Literal["silent", "warn", "strict"] | None = None
    """How strictly runs are checked, unless the launch says otherwise."""
    blueprint_ref_includes: tuple[str, ...] = ()
    """Folders for references; equipage does not read them, see `include_roots`."""
    subprocesses: tuple[SubprocessTemplate, ...] = ()
    """Commands by name, for runners."""
