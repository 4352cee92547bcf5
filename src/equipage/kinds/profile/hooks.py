"""Hooks: what runs when something happens. Profiles and settings write them the same way."""

# Annotations are evaluated, not kept as text: msgspec would have to compile each of them when a model is first used.
from typing import Annotated, Literal

import msgspec

from equipage.freeze import EMPTY

Layer = Literal["user", "project", "project-local", "command line"]
Safety = Literal["read_only", "mutating", "destructive", "network"]
Shell = Literal["sh", "bash", "pwsh", "cmd"]
Seconds = Annotated[int, msgspec.Meta(ge=0)]


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A table in which every key is known."""


class HookMatch(Table, frozen=True):
    """When a hook runs; all conditions must hold, and none means always."""

    tool: str | None = None
    tool_glob: str | None = None
    safety: tuple[Safety, ...] = ()


class BuiltinHandler(Table, frozen=True, tag_field="type", tag="builtin"):
    """A hook that comes with the agent."""

    name: str


class ShellProgram(Table, frozen=True):
    """A shell by its program."""

    program: str
    args: tuple[str, ...] = ()


class CommandHandler(Table, frozen=True, tag_field="type", tag="command"):
    """A program: its arguments, or a line for a shell."""

    argv: tuple[str, ...] | None = None
    argv_windows: tuple[str, ...] | None = None
    shell: Shell | ShellProgram | None = None
    command: str | None = None
    cwd: str | None = None
    env: dict[str, str] = EMPTY
    timeout_sec: Seconds | None = None


class JsonRender(Table, frozen=True, tag_field="type", tag="json"):
    """The event as JSON."""


class TemplateRender(Table, frozen=True, tag_field="type", tag="template"):
    """The event put into a template."""

    template: str


class PromptHandler(Table, frozen=True, tag_field="type", tag="prompt"):
    """A question to a model."""

    system: str
    render: JsonRender | TemplateRender
    model: str | None = None
    timeout_sec: Seconds | None = None


Handler = BuiltinHandler | CommandHandler | PromptHandler


class Hook(Table, frozen=True):
    """One hook. `source` is the layer that declared it; it cannot be written."""

    handler: Handler
    name: str | None = None
    match: HookMatch = HookMatch()
    source: Layer | None = None


class Hooks(Table, frozen=True):
    """The hooks of each event, in the order they run."""

    after_session_enter: tuple[Hook, ...] = ()
    after_turn_enter: tuple[Hook, ...] = ()
    before_ingest: tuple[Hook, ...] = ()
    after_ingest: tuple[Hook, ...] = ()
    before_compact: tuple[Hook, ...] = ()
    after_compact: tuple[Hook, ...] = ()
    before_generate: tuple[Hook, ...] = ()
    after_generate: tuple[Hook, ...] = ()
    before_permission: tuple[Hook, ...] = ()
    after_permission: tuple[Hook, ...] = ()
    before_tool_apply: tuple[Hook, ...] = ()
    after_tool_apply: tuple[Hook, ...] = ()
    after_tool_batch: tuple[Hook, ...] = ()
    before_turn_end: tuple[Hook, ...] = ()


EVENTS: tuple[str, ...] = Hooks.__struct_fields__
#: Events at which a tool is known; elsewhere a condition on the tool never holds.
TOOL_EVENTS = frozenset(
    {"before_permission", "after_permission", "before_tool_apply", "after_tool_apply", "after_tool_batch"}
)
#: The hooks that come with the agent.
BUILTINS = ("tracing-audit", "redact-secrets", "skill-manifest", "skill-triggers")
