"""The configuration of a server: what an author may write, and the one form a program gets.

`ServerFile` is the author's: the simple form with `tools`, `resources` and `prompts` at the top, or the phased
form with `baseline` and `phases`. `ServerConfig` is the program's: the simple form is a baseline without phases.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from equipage.directives.generate import Generated

# --- parts -------------------------------------------------------------------------------------
# What every part of a server configuration has in common.

#: Whole numbers are unsigned and have 64 bits; msgspec can state the lower bound only, a rule checks the upper.
LARGEST = 2**64 - 1
Unsigned = Annotated[int, msgspec.Meta(ge=0)]


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A closed, immutable part of a configuration."""


# --- behavior ----------------------------------------------------------------------------------
# How a server behaves beyond its answers: the way it delivers them, and what else it does.

# Annotations are evaluated, not kept as text: msgspec would have to compile each of them when a model is first used.


#: When a side effect happens.
Moment = Literal["on_connect", "on_request", "on_subscribe", "on_unsubscribe", "continuous"]
OneCharacter = Annotated[str, msgspec.Meta(min_length=1, max_length=1)]

# --------------------------------------------------------------------------------------------------- delivery


class Normal(Part, frozen=True, tag_field="type", tag="normal"):
    """Answers are sent as they are."""


class SlowLoris(Part, frozen=True, tag_field="type", tag="slow_loris"):
    """Answers trickle, a few bytes at a time."""

    byte_delay_ms: Unsigned = 100
    chunk_size: Unsigned = 1


class UnboundedLine(Part, frozen=True, tag_field="type", tag="unbounded_line"):
    """Answers are padded and their line never ends."""

    target_bytes: Unsigned = 0
    padding_char: OneCharacter = "A"


class NestedJson(Part, frozen=True, tag_field="type", tag="nested_json"):
    """Answers are wrapped in nested objects."""

    depth: Unsigned = 10_000
    key: str = "a"


class ResponseDelay(Part, frozen=True, tag_field="type", tag="response_delay"):
    """Answers wait."""

    delay_ms: Unsigned = 5_000


Delivery = Normal | SlowLoris | UnboundedLine | NestedJson | ResponseDelay

# ----------------------------------------------------------------------------------------------- side effects


class NotificationFlood(Part, frozen=True, tag_field="type", tag="notification_flood"):
    trigger: Moment = "on_request"
    rate_per_sec: Unsigned = 1_000
    duration_sec: Unsigned = 10
    method: str = "notifications/message"
    params: Any = None


class BatchAmplify(Part, frozen=True, tag_field="type", tag="batch_amplify"):
    SYNONYMS: ClassVar = {"count": "batch_size"}

    trigger: Moment = "on_request"
    batch_size: Unsigned = 10_000
    method: str = "notifications/message"


class PipeDeadlock(Part, frozen=True, tag_field="type", tag="pipe_deadlock"):
    trigger: Moment = "on_request"
    fill_bytes: Unsigned = 1_048_576


class CloseConnection(Part, frozen=True, tag_field="type", tag="close_connection"):
    trigger: Moment = "on_request"
    graceful: bool = True
    delay_ms: Unsigned = 0


class DuplicateRequestIds(Part, frozen=True, tag_field="type", tag="duplicate_request_ids"):
    trigger: Moment = "on_request"
    count: Unsigned = 3
    id: Any = 1
    method: str = "tools/call"
    params: Any = None


SideEffect = NotificationFlood | BatchAmplify | PipeDeadlock | CloseConnection | DuplicateRequestIds


class Behavior(Part, frozen=True):
    delivery: Delivery | None = None  #: absent: normal
    side_effects: tuple[SideEffect, ...] = ()


# --- metadata ----------------------------------------------------------------------------------
# What a scenario says about itself.

# Annotations are evaluated, not kept as text: msgspec would have to compile each of them when a model is first used.


Severity = Literal["low", "medium", "high", "critical"]
Vector = Literal[
    "tool_injection",
    "resource_injection",
    "prompt_poisoning",
    "capability_mutation",
    "notification_abuse",
    "schema_manipulation",
    "description_hijack",
    "response_delay",
    "connection_abuse",
]
Primitive = Literal[
    "rug_pull",
    "sleeper",
    "slow_loris",
    "flood",
    "nested_json",
    "unbounded_line",
    "fuzzing",
    "id_collision",
    "time_bomb",
]


class AttackSurface(Part, frozen=True):
    vectors: tuple[Vector, ...]
    primitives: tuple[Primitive, ...]


class Entry(Part, frozen=True):
    """An entry of a public catalogue."""

    id: str
    name: str


class Technique(Part, frozen=True):
    id: str
    name: str
    sub_technique: str | None = None


class MitreAttack(Part, frozen=True):
    tactics: tuple[Entry, ...] = ()
    techniques: tuple[Technique, ...] = ()


class Reference(Part, frozen=True):
    url: str
    title: str


class Metadata(Part, frozen=True):
    id: str
    name: str
    description: str
    severity: Severity
    mcp_attack_surface: AttackSurface
    author: str | None = None
    created: str | None = None  #: YYYY-MM-DD
    updated: str | None = None
    mitre_attack: MitreAttack | None = None
    owasp_mcp: tuple[Entry, ...] = ()
    owasp_agentic: tuple[Entry, ...] = ()
    tags: tuple[str, ...] = ()
    detection_guidance: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()


# --- responses ---------------------------------------------------------------------------------
# What a server answers: content, and the ways to choose it when a request comes.

# Annotations are evaluated, not kept as text: msgspec would have to compile each of them when a model is first used.


#: Text, or a payload that is made when it is sent.
ContentValue = str | Generated
#: What happens when a sequence has no further entry.
Exhausted = Literal["cycle", "last", "error"]
Role = Literal["user", "assistant"]

DEFAULT_TIMEOUT_MS = 30_000

# ---------------------------------------------------------------------------------------------------- content


class TextContent(Part, frozen=True, tag_field="type", tag="text"):
    text: ContentValue


class ImageContent(
    Part, frozen=True, tag_field="type", tag="image", rename={"mime_type": "mimeType"}
):
    mime_type: str
    data: ContentValue | None = None


class EmbeddedResource(Part, frozen=True, rename={"mime_type": "mimeType"}):
    uri: str
    mime_type: str | None = None
    text: str | None = None
    blob: str | None = None  #: base64


class ResourceContent(Part, frozen=True, tag_field="type", tag="resource"):
    resource: EmbeddedResource


ContentItem = TextContent | ImageContent | ResourceContent


class Message(Part, frozen=True):
    """A message of a prompt. Text may be written in place of a content item."""

    role: Role
    content: ContentItem


# --------------------------------------------------------------------------------------------- dynamic answers


class Condition(Part, frozen=True):
    """Operators on one field of a request; all that are given must hold."""

    contains: str | None = None
    prefix: str | None = None
    suffix: str | None = None
    regex: str | None = None
    exists: bool | None = None
    gt: int | float | None = None
    lt: int | float | None = None
    any_of: tuple[str, ...] | None = None


class HttpHandler(Part, frozen=True, tag_field="type", tag="http"):
    url: str
    timeout_ms: Unsigned = DEFAULT_TIMEOUT_MS
    headers: dict[str, str] = msgspec.field(default_factory=dict)


class CommandHandler(Part, frozen=True, tag_field="type", tag="command"):
    """A program that is started without a shell. A relative `working_dir` starts at the file that names it."""

    cmd: tuple[str, ...]
    timeout_ms: Unsigned = DEFAULT_TIMEOUT_MS
    env: dict[str, str] = msgspec.field(default_factory=dict)
    working_dir: str | None = None


Handler = HttpHandler | CommandHandler


class SequenceEntry(Part, frozen=True):
    """One answer of a sequence."""

    content: tuple[ContentItem, ...] | None = None
    messages: tuple[Message, ...] | None = None
    contents: tuple[EmbeddedResource, ...] | None = None


class MatchBranch(Part, frozen=True):
    """One branch of a `match`: taken `when` all conditions hold, or by `default`."""

    #: field path → glob, `regex:` pattern, list of these, or operators
    when: dict[str, str | tuple[str, ...] | Condition] | None = None
    default: Any = msgspec.UNSET  #: that the key is there makes it the fallback, whatever its value
    content: tuple[ContentItem, ...] | None = None
    sequence: tuple[SequenceEntry, ...] | None = None
    on_exhausted: Exhausted | None = None
    handler: Handler | None = None
    messages: tuple[Message, ...] | None = None
    contents: tuple[EmbeddedResource, ...] | None = None

    @property
    def is_fallback(self) -> bool:
        return self.when is None


class ToolResponse(
    Part, frozen=True, rename={"is_error": "isError", "on_exhausted": "onExhausted"}
):
    content: tuple[ContentItem, ...] = ()
    is_error: bool | None = None
    match: tuple[MatchBranch, ...] | None = None
    sequence: tuple[SequenceEntry, ...] | None = None
    on_exhausted: Exhausted | None = None
    handler: Handler | None = None


class ResourceResponse(Part, frozen=True, rename={"on_exhausted": "onExhausted"}):
    content: ContentValue = ""
    contents: tuple[EmbeddedResource, ...] | None = None
    match: tuple[MatchBranch, ...] | None = None
    sequence: tuple[SequenceEntry, ...] | None = None
    on_exhausted: Exhausted | None = None
    handler: Handler | None = None


class PromptResponse(Part, frozen=True, rename={"on_exhausted": "onExhausted"}):
    messages: tuple[Message, ...] = ()
    description: str | None = None
    match: tuple[MatchBranch, ...] | None = None
    sequence: tuple[SequenceEntry, ...] | None = None
    on_exhausted: Exhausted | None = None
    handler: Handler | None = None


# Annotations are evaluated, not kept as text: msgspec would have to compile each of them when a model is first used.


StateScope = Literal["per_connection", "global"]
UnknownMethods = Literal["ignore", "error", "drop"]
LogLevel = Literal["debug", "info", "warn", "error"]
OnTimeout = Literal["advance", "abort"]

# ----------------------------------------------------------------------------------------------- capabilities


class ListCapability(Part, frozen=True, rename={"list_changed": "listChanged"}):
    list_changed: bool | None = None


class ResourceCapability(Part, frozen=True, rename={"list_changed": "listChanged"}):
    subscribe: bool | None = None
    list_changed: bool | None = None


class Capabilities(Part, frozen=True):
    tools: ListCapability | None = None
    resources: ResourceCapability | None = None
    prompts: ListCapability | None = None
    logging: dict[str, Any] | None = None


# ------------------------------------------------------------------------------------------------------ items


class ToolDefinition(Part, frozen=True, rename={"input_schema": "inputSchema"}):
    name: str
    description: str
    input_schema: Any  #: a JSON Schema


class Tool(Part, frozen=True):
    tool: ToolDefinition
    response: ToolResponse
    behavior: Behavior | None = None


class ResourceDefinition(Part, frozen=True, rename={"mime_type": "mimeType"}):
    uri: str
    name: str
    description: str | None = None
    mime_type: str | None = None


class Resource(Part, frozen=True):
    resource: ResourceDefinition
    response: ResourceResponse | None = None
    behavior: Behavior | None = None


class PromptArgument(Part, frozen=True):
    name: str
    description: str | None = None
    required: bool = False


class PromptDefinition(Part, frozen=True):
    name: str
    description: str | None = None
    arguments: tuple[PromptArgument, ...] = ()


class Prompt(Part, frozen=True):
    prompt: PromptDefinition
    response: PromptResponse
    behavior: Behavior | None = None


# ----------------------------------------------------------------------------------------------------- phases


class Notification(Part, frozen=True):
    method: str
    params: Any = None


class ServerRequest(Part, frozen=True):
    method: str
    id: Any = None
    params: Any = None


class EntryAction(Part, frozen=True):
    """Something a phase does when it is entered: one of the three."""

    send_notification: str | Notification | None = None
    send_request: ServerRequest | None = None
    log: str | None = None


class Trigger(Part, frozen=True):
    """What ends a phase: an event, some time, or whichever comes first."""

    on: str | None = None  #: see `events`
    count: Unsigned = 1
    #: field path → value, or operators
    match: dict[str, Any] = msgspec.field(default_factory=dict)
    after: str | None = None  #: see `durations`
    timeout: str | None = None
    on_timeout: OnTimeout = "advance"


class Phase(Part, frozen=True):
    """A state of the server: the baseline with what this phase removes, replaces and adds."""

    name: str
    advance: Trigger | None = None
    on_enter: tuple[EntryAction, ...] = ()
    replace_tools: dict[str, Tool] = msgspec.field(default_factory=dict)
    add_tools: tuple[Tool, ...] = ()
    remove_tools: tuple[str, ...] = ()
    replace_resources: dict[str, Resource] = msgspec.field(default_factory=dict)
    add_resources: tuple[Resource, ...] = ()
    remove_resources: tuple[str, ...] = ()
    replace_prompts: dict[str, Prompt] = msgspec.field(default_factory=dict)
    add_prompts: tuple[Prompt, ...] = ()
    remove_prompts: tuple[str, ...] = ()
    replace_capabilities: Capabilities | None = None
    behavior: Behavior | None = None


# ------------------------------------------------------------------------------------------------------- root


class Server(Part, frozen=True):
    """The `server` section as it is written."""

    name: str
    version: str = "0.0.0"
    state_scope: StateScope = "per_connection"
    capabilities: Capabilities | None = None  #: the default of the baseline's


class ServerInfo(Part, frozen=True):
    """Who the server says it is."""

    name: str
    version: str = "0.0.0"
    state_scope: StateScope = "per_connection"


class Baseline(Part, frozen=True):
    """What the server offers before any phase changes it."""

    tools: tuple[Tool, ...] = ()
    resources: tuple[Resource, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    capabilities: Capabilities | None = None
    behavior: Behavior | None = None


class Logging(Part, frozen=True):
    level: LogLevel = "info"
    on_phase_change: bool = False
    on_request: bool | None = None
    on_response: bool | None = None
    on_trigger_match: bool = False
    output: str = (
        "stderr"  #: `stderr`, `stdout`, or a file; a relative one starts at the file that names it
    )


class ServerFile(Part, frozen=True):
    """A configuration as it is written, in either form."""

    TITLE: ClassVar[str] = "a server file"

    server: Server
    metadata: Metadata | None = None
    tools: tuple[Tool, ...] | None = None
    resources: tuple[Resource, ...] | None = None
    prompts: tuple[Prompt, ...] | None = None
    behavior: Behavior | None = None
    baseline: Baseline | None = None
    phases: tuple[Phase, ...] | None = None
    logging: Logging | None = None
    unknown_methods: UnknownMethods = "ignore"


class ServerConfig(Part, frozen=True):
    """A configuration as a program gets it."""

    server: ServerInfo
    baseline: Baseline = Baseline()
    phases: tuple[Phase, ...] = ()
    logging: Logging = Logging()
    unknown_methods: UnknownMethods = "ignore"
    metadata: Metadata | None = None
