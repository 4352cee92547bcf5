"""The typed blueprint: every field that the seed's version or today's knows."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import msgspec

from equipage.kinds.agent_md.model import (
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
from equipage.kinds.blueprint.flow import Node

OperatorKind: TypeAlias = Literal["main_ai", "automate", "composite"]
UInt64: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]


class Operator(Part, frozen=True):
    """Who stands behind agents of kind `operator`."""

    always: ClassVar[frozenset[str]] = frozenset({"display_name", "kind", "spec", "profile", "meta"})

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
