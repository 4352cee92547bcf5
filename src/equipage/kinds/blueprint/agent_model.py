"""Agents, operators, and what runs them: the same in a header file and inside a blueprint.

`always` names the fields of a class that are written even when they hold their default; all other
defaults are left out. Programs that read blueprints have always written them in this form.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

import msgspec

AgentKind: TypeAlias = Literal["lua", "rust_fn", "agent_block", "subprocess", "operator"]
OperatorKind: TypeAlias = Literal["main_ai", "automate", "composite"]
LintLevel: TypeAlias = Literal["allow", "warn", "deny"]

#: The kind of an agent from a file if neither the reference nor the blueprint says it.
DEFAULT_KIND: AgentKind = "operator"
AGENT_KINDS: tuple[AgentKind, ...] = ("lua", "rust_fn", "agent_block", "subprocess", "operator")
LINT_LEVELS: tuple[LintLevel, ...] = ("allow", "warn", "deny")


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """What all parts of a blueprint have in common: unknown keys are errors."""

    always: ClassVar[frozenset[str]] = frozenset()


# Profiles and labels.


class AgentProfile(Part, frozen=True):
    """Who an agent is: its prompt, its model, its tools."""

    always: ClassVar[frozenset[str]] = frozenset(
        {"system_prompt", "model", "effort", "tools", "description", "extras", "version_hash"}
    )

    #: the prompt, a template that is filled in when the agent runs; in an agent file, the text
    #: below the header
    system_prompt: str = ""
    model: str | None = None  #: the model, such as `sonnet`
    effort: str | None = None  #: how hard the model thinks, such as `low` or `high`
    tools: tuple[str, ...] = ()  #: the tools that the agent may use
    description: str | None = None  #: what the agent is for
    extras: Any = None  #: the keys of a header that are not fields, kept for other programs
    #: the BLAKE3 hash of the prompt, computed for prompts from agent files
    version_hash: str | None = None
    #: the variant of the worker that runs the agent; a `runner` replaces it
    worker_binding: str | None = None


class ContextPolicy(Part, frozen=True):
    """Which parts of the context an agent sees. It never sees what is excluded."""

    always: ClassVar[frozenset[str]] = frozenset({"include", "exclude", "steps", "steps_exclude"})

    include: tuple[str, ...] | None = None  #: the only fields it sees; without it, all of them
    exclude: tuple[str, ...] = ()  #: fields it does not see, even if they are included
    #: the only steps whose results it sees; without it, all of them
    steps: tuple[str, ...] | None = None
    steps_exclude: tuple[str, ...] = ()  #: steps whose results it does not see


class AgentMeta(Part, frozen=True):
    """Labels and context of an agent or operator."""

    always: ClassVar[frozenset[str]] = frozenset({"description", "version", "tags"})

    description: str | None = None  #: a note for people
    version: str | None = None  #: a label for people; any text
    tags: tuple[str, ...] = ()  #: labels to find it by
    ctx: Any = None  #: the context that the agent gets when it runs
    #: what the agent sees of the context, instead of the blueprint's `default_context_policy`
    context_policy: ContextPolicy | None = None
    meta_ref: str | None = None  #: the name of a context in `metas`
    projection_name: str | None = None  #: another name for the results of the agent's steps


# Runners and commands.


class Overrides(Part, frozen=True):
    """What an agent changes about the subprocess it runs in."""

    model: str | None = None  #: instead of the model of the profile
    tools: tuple[str, ...] = ()  #: instead of the tools of the profile
    cwd: str | None = None  #: instead of the folder of the template


class WsOperator(Part, frozen=True, tag="ws_operator", tag_field="backend"):
    """A worker that is reached over a web socket."""

    variant: str  #: which sort of worker is launched
    tools: tuple[str, ...] = ()  #: the tools it may use, in place of those of the profile


class WsClaudeCode(Part, frozen=True, tag="ws_claude_code", tag_field="backend"):
    """The older name of `ws_operator`."""

    variant: str  #: which sort of worker is launched
    tools: tuple[str, ...] = ()  #: the tools it may use, in place of those of the profile


class AgentBlockInProcess(Part, frozen=True, tag="agent_block_in_process", tag_field="backend"):
    """Runs inside the host."""

    tools: tuple[str, ...] = ()  #: the tools it may use, in place of those of the profile


class Subprocess(Part, frozen=True, tag="subprocess", tag_field="backend"):
    """Runs one of the blueprint's `subprocesses`."""

    template: str  #: the name of the subprocess
    overrides: Overrides = Overrides()  #: what differs from it


Runner: TypeAlias = WsOperator | WsClaudeCode | AgentBlockInProcess | Subprocess


class NamedRunner(Part, frozen=True):
    """A runner that agents refer to by name."""

    name: str  #: unique among the runners
    runner: Runner  #: what runs the agent


class OutputStats(Part, frozen=True):
    """Where the output of a subprocess says what a run cost, as JSON Pointers."""

    usage_ptr: str | None = None  #: the tokens that were used
    model_ptr: str | None = None  #: the model that was used
    num_turns_ptr: str | None = None  #: the number of turns


class SubprocessOutput(Part, frozen=True):
    """How the output of a subprocess is read."""

    format: str | None = None  #: `json`
    result_ptr: str | None = None  #: a JSON Pointer to the result
    #: how success is recognised: `exit_code`, or a JSON Pointer to a value that says it
    ok_from: str | None = None
    stats: OutputStats | None = None  #: where the output says what the run cost


class SubprocessTemplate(Part, frozen=True):
    """A command that agents run in. Its texts may have placeholders such as `{prompt}`."""

    name: str  #: unique among the subprocesses
    argv: tuple[str, ...]  #: the program and its arguments
    stdin: str | None = None  #: what the program reads from its standard input
    env: dict[str, str] = msgspec.field(default_factory=dict)  #: environment variables for it
    cwd: str | None = None  #: the folder it runs in
    output: SubprocessOutput | None = None  #: how its output is read as a whole
    #: how its output is read as a stream: `ndjson_lines`, `sse_events` or `length_prefixed`
    stream_mode: str | None = None


# Agents and operators.


class Verdict(Part, frozen=True):
    """The words an agent may end with, and where it writes them."""

    #: `body`: the verdict is the whole result; `part`: it is in `parts.verdict` of the result
    channel: Literal["body", "part"]
    values: tuple[str, ...]  #: the words it may be


class Agent(Part, frozen=True):
    """One agent: a name that steps refer to, and what runs it."""

    always: ClassVar[frozenset[str]] = frozenset({"spec", "profile", "meta"})

    name: str  #: unique among the agents; steps refer to it
    kind: AgentKind  #: the backend that runs it
    #: what that backend needs: `fn_id` or `source` for `lua`, `fn_id` for `rust_fn`, `program` for
    #: `subprocess`, `operator_ref` for `operator`
    spec: Any = None
    profile: AgentProfile | None = None  #: its prompt, model and tools
    meta: AgentMeta | None = None  #: its labels and context
    runner: Runner | None = None  #: how it is run
    runner_ref: str | None = None  #: how it is run, by the name of one of the `runners`
    verdict: Verdict | None = None  #: the words it may end with
    #: level of findings about this agent, by kind of finding, `category:NAME` or `all`
    lints: dict[str, LintLevel] | None = None


class Operator(Part, frozen=True):
    """Who acts for agents of kind `operator`."""

    always: ClassVar[frozenset[str]] = frozenset(
        {"display_name", "kind", "spec", "profile", "meta"}
    )

    name: str  #: unique among the operators; agents name it in `spec.operator_ref`
    display_name: str | None = None  #: a name for people
    kind: OperatorKind | None = None  #: who acts, instead of `default_operator_kind`
    spec: Any = None  #: what the operator needs to know
    profile: AgentProfile | None = None  #: its prompt, model and tools
    meta: AgentMeta | None = None  #: its labels and context
