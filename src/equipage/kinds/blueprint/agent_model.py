"""What an agent is: the same in a header file and written out in a blueprint.

`always` names the fields of a class that are written even when they hold their default; all other defaults are
left out. That is the form which programs that read blueprints have always been given.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeAlias

import msgspec

AgentKind: TypeAlias = Literal["lua", "rust_fn", "agent_block", "subprocess", "operator"]
LintLevel: TypeAlias = Literal["allow", "warn", "deny"]

#: What decides when nobody says which kind an agent is of.
DEFAULT_KIND: AgentKind = "operator"
AGENT_KINDS: tuple[AgentKind, ...] = ("lua", "rust_fn", "agent_block", "subprocess", "operator")
LINT_LEVELS: tuple[LintLevel, ...] = ("allow", "warn", "deny")


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """What all parts of a blueprint have in common."""

    always: ClassVar[frozenset[str]] = frozenset()


class AgentProfile(Part, frozen=True):
    """Who an agent is: its prompt, its model, its tools."""

    always: ClassVar[frozenset[str]] = frozenset(
        {"system_prompt", "model", "effort", "tools", "description", "extras", "version_hash"}
    )

    system_prompt: str = ""
    model: str | None = None
    effort: str | None = None
    tools: tuple[str, ...] = ()
    description: str | None = None
    extras: Any = None  #: what a header holds beside the keys above
    version_hash: str | None = None  #: BLAKE3 of the prompt, when it came from a header file
    worker_binding: str | None = None


class ContextPolicy(Part, frozen=True):
    """Which parts of the context an agent is shown. What is excluded is never shown."""

    always: ClassVar[frozenset[str]] = frozenset({"include", "exclude", "steps", "steps_exclude"})

    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    steps: tuple[str, ...] | None = None
    steps_exclude: tuple[str, ...] = ()


class AgentMeta(Part, frozen=True):
    """Labels and context of an agent or operator."""

    always: ClassVar[frozenset[str]] = frozenset({"description", "version", "tags"})

    description: str | None = None
    version: str | None = None
    tags: tuple[str, ...] = ()
    ctx: Any = None
    context_policy: ContextPolicy | None = None
    meta_ref: str | None = None
    projection_name: str | None = None


class Overrides(Part, frozen=True):
    """What an agent changes about the subprocess it runs in."""

    model: str | None = None
    tools: tuple[str, ...] = ()
    cwd: str | None = None


class WsOperator(Part, frozen=True, tag="ws_operator", tag_field="backend"):
    """A worker reached over a socket."""

    variant: str
    tools: tuple[str, ...] = ()


class WsClaudeCode(Part, frozen=True, tag="ws_claude_code", tag_field="backend"):
    """The older name of `ws_operator`."""

    variant: str
    tools: tuple[str, ...] = ()


class AgentBlockInProcess(Part, frozen=True, tag="agent_block_in_process", tag_field="backend"):
    """Runs inside the host."""

    tools: tuple[str, ...] = ()


class Subprocess(Part, frozen=True, tag="subprocess", tag_field="backend"):
    """Runs one of the blueprint's `subprocesses`."""

    template: str
    overrides: Overrides = Overrides()


Runner: TypeAlias = WsOperator | WsClaudeCode | AgentBlockInProcess | Subprocess


class Verdict(Part, frozen=True):
    """The words an agent may end with, and where it says them."""

    channel: Literal["body", "part"]
    values: tuple[str, ...]


class Agent(Part, frozen=True):
    """One agent: a name that steps refer to, and what runs it."""

    always: ClassVar[frozenset[str]] = frozenset({"spec", "profile", "meta"})

    name: str
    kind: AgentKind
    spec: Any = None  #: read by the backend of the kind
    profile: AgentProfile | None = None
    meta: AgentMeta | None = None
    runner: Runner | None = None
    runner_ref: str | None = None
    verdict: Verdict | None = None
    lints: dict[str, LintLevel] | None = None
