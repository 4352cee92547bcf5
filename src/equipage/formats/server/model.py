"""The configuration of a server: what an author may write, and the one form a program gets.

An author writes a `ServerFile`: either the simple form, with `tools`, `resources` and `prompts` at
the top, or the phased form, with `baseline` and `phases`. A program gets a `ServerConfig`, in which
the simple form has become a baseline without phases. Each class uses only classes above it.
"""

# There is no `from __future__ import annotations` here: msgspec would have to compile every
# annotation from its text when a model is first used.

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from equipage.formats.server.payloads import Generated

#: The largest whole number, of 64 bits. msgspec can state the lower bound only; rules check this.
MAX_UINT64 = 2**64 - 1
Unsigned = Annotated[int, msgspec.Meta(ge=0)]
OneCharacter = Annotated[str, msgspec.Meta(min_length=1, max_length=1)]


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A closed, immutable part of a configuration."""


# Delivery: how bytes reach the client.


class Normal(Part, frozen=True, tag_field="type", tag="normal"):
    """The server sends answers as they are."""


class SlowLoris(Part, frozen=True, tag_field="type", tag="slow_loris"):
    """The server sends answers a few bytes at a time."""

    byte_delay_ms: Unsigned = 100
    """The pause after each chunk, in milliseconds."""
    chunk_size: Unsigned = 1
    """How many bytes each chunk has."""


class UnboundedLine(Part, frozen=True, tag_field="type", tag="unbounded_line"):
    """The server pads answers and never ends their line."""

    target_bytes: Unsigned = 0
    """How long the line becomes; 0 adds no padding."""
    padding_char: OneCharacter = "A"
    """The character that fills the line."""


class NestedJson(Part, frozen=True, tag_field="type", tag="nested_json"):
    """The server wraps answers in nested objects."""

    depth: Unsigned = 10_000
    """How many objects are around the answer."""
    key: str = "a"
    """The only key of each object."""


class ResponseDelay(Part, frozen=True, tag_field="type", tag="response_delay"):
    """The server waits before each answer."""

    delay_ms: Unsigned = 5_000
    """How long it waits, in milliseconds."""


Delivery = Normal | SlowLoris | UnboundedLine | NestedJson | ResponseDelay

# Side effects: what else the server does.

#: When a side effect happens.
Moment = Literal["on_connect", "on_request", "on_subscribe", "on_unsubscribe", "continuous"]


class NotificationFlood(Part, frozen=True, tag_field="type", tag="notification_flood"):
    """The server sends many notifications."""

    SYNONYMS: ClassVar = {"rate_per_second": "rate_per_sec"}

    trigger: Moment = "on_request"
    """When the flood starts."""
    rate_per_sec: Unsigned = 1_000
    """How many notifications per second."""
    duration_sec: Unsigned = 10
    """How many seconds the flood lasts."""
    method: str = "notifications/message"
    """The method of the notifications."""
    params: Any = None
    """The parameters of the notifications, any JSON value."""


class BatchAmplify(Part, frozen=True, tag_field="type", tag="batch_amplify"):
    """The server sends one large batch of notifications."""

    SYNONYMS: ClassVar = {"count": "batch_size"}

    trigger: Moment = "on_request"
    """When the batch is sent."""
    batch_size: Unsigned = 10_000
    """How many notifications the batch has."""
    method: str = "notifications/message"
    """The method of the notifications."""


class PipeDeadlock(Part, frozen=True, tag_field="type", tag="pipe_deadlock"):
    """The server writes without reading until the pipe is full."""

    trigger: Moment = "on_request"
    """When it starts to write."""
    fill_bytes: Unsigned = 1_048_576
    """How many bytes it writes."""


class CloseConnection(Part, frozen=True, tag_field="type", tag="close_connection"):
    """The server closes the connection."""

    trigger: Moment = "on_request"
    """When it closes the connection."""
    graceful: bool = True
    """`false` breaks the connection off."""
    delay_ms: Unsigned = 0
    """How long it waits before, in milliseconds."""


class DuplicateRequestIds(Part, frozen=True, tag_field="type", tag="duplicate_request_ids"):
    """The server sends several requests with the same id."""

    trigger: Moment = "on_request"
    """When the requests are sent."""
    count: Unsigned = 3
    """How many requests."""
    id: Any = 1
    """The id they share, any JSON value."""
    method: str = "tools/call"
    """The method of the requests."""
    params: Any = None
    """The parameters of the requests, any JSON value."""


SideEffect = NotificationFlood | BatchAmplify | PipeDeadlock | CloseConnection | DuplicateRequestIds


# Extensions: faults that the format has no words for. They are equipage's own, and other servers
# ignore them.


class Silent(Part, frozen=True, tag_field="type", tag="silent"):
    """The server never answers."""


class InvalidUtf8(Part, frozen=True, tag_field="type", tag="invalid_utf8"):
    """The server sends bytes that are not UTF-8."""

    place: Literal["before", "inside"] = "before"
    """`before`: a line of its own before the answer; `inside`: as a member of the answer."""


class WrongId(Part, frozen=True, tag_field="type", tag="wrong_id"):
    """The server answers with an id that the client did not send."""

    id: Any = "nobody-asked"
    """The id of the answer, any JSON value."""


class Repeated(Part, frozen=True, tag_field="type", tag="repeated"):
    """The server sends each answer several times."""

    count: Unsigned = 2
    """How many times."""


class Truncated(Part, frozen=True, tag_field="type", tag="truncated"):
    """The server sends only the start of each answer, and ends the line there."""

    bytes: Unsigned = 20
    """How many bytes of the answer it sends."""


Extension = Silent | InvalidUtf8 | WrongId | Repeated | Truncated


class Behavior(Part, frozen=True, rename={"x_equipage": "x-equipage"}):
    """How the server delivers answers, and what else it does."""

    delivery: Delivery | None = None
    """How bytes reach the client; `normal` if absent."""
    side_effects: tuple[SideEffect, ...] = ()
    """What else the server does."""
    x_equipage: Extension | None = None
    """A fault that the format has no words for; only `equipage serve` knows it."""


# Content.

#: Text, or a payload that is made when it is sent.
ContentValue = str | Generated


class TextContent(Part, frozen=True, tag_field="type", tag="text"):
    """A content item with text."""

    text: ContentValue
    """The text, in which templates such as `${args.city}` are filled when it is sent; or a
    payload."""


class ImageContent(
    Part, frozen=True, tag_field="type", tag="image", rename={"mime_type": "mimeType"}
):
    """A content item with an image."""

    mime_type: str
    """The type of the image, such as `image/png`."""
    data: ContentValue | None = None
    """The image in base64, a `{$file: …}`, or a payload."""


class EmbeddedResource(Part, frozen=True, rename={"mime_type": "mimeType"}):
    """A resource as it is sent."""

    uri: str
    """The URI of the resource."""
    mime_type: str | None = None
    """The type of the content, such as `text/plain`."""
    text: str | None = None
    """The content, if it is text."""
    blob: str | None = None
    """The content in base64, if it is not text."""


class ResourceContent(Part, frozen=True, tag_field="type", tag="resource"):
    """A content item with a resource."""

    resource: EmbeddedResource
    """The resource it embeds."""


ContentItem = TextContent | ImageContent | ResourceContent


class Message(Part, frozen=True):
    """A message of a prompt."""

    role: Literal["user", "assistant"]
    """Who speaks."""
    content: ContentItem
    """A content item; plain text means an item of type `text`."""


# Dynamic answers: branches, sequences and handlers choose the content when a request comes.

#: What follows the last entry of a sequence: the first one, the last one again, or an error.
Exhausted = Literal["cycle", "last", "error"]
DEFAULT_TIMEOUT_MS = 30_000


class Condition(Part, frozen=True):
    """Operators on one field of a request. All that are written must hold."""

    contains: str | None = None
    """The text contains this."""
    prefix: str | None = None
    """The text starts with this."""
    suffix: str | None = None
    """The text ends with this."""
    regex: str | None = None
    """This regular expression matches some part of the text."""
    exists: bool | None = None
    """Whether the request has the field at all."""
    gt: int | float | None = None
    """The number is greater than this."""
    lt: int | float | None = None
    """The number is less than this."""
    any_of: tuple[str, ...] | None = None
    """One of these globs or `regex:` patterns matches."""


class HttpHandler(Part, frozen=True, tag_field="type", tag="http"):
    """A web service that makes the answer."""

    url: str
    """Where the request is sent, `http://` or `https://`."""
    timeout_ms: Unsigned = DEFAULT_TIMEOUT_MS
    """How long to wait, from 100 to 300000 milliseconds."""
    headers: dict[str, str] = msgspec.field(default_factory=dict)
    """The headers of the request."""


class CommandHandler(Part, frozen=True, tag_field="type", tag="command"):
    """A program that makes the answer. It is started without a shell."""

    cmd: tuple[str, ...]
    """The program and its arguments."""
    timeout_ms: Unsigned = DEFAULT_TIMEOUT_MS
    """How long to wait, from 100 to 300000 milliseconds."""
    env: dict[str, str] = msgspec.field(default_factory=dict)
    """Environment variables to set."""
    working_dir: str | None = None
    """The folder it runs in; a relative path starts at the file that names it."""


Handler = HttpHandler | CommandHandler


class SequenceEntry(Part, frozen=True):
    """One answer of a sequence."""

    content: tuple[ContentItem, ...] | None = None
    """The content items of this answer."""
    messages: tuple[Message, ...] | None = None
    """The messages of this answer, for a prompt."""
    contents: tuple[EmbeddedResource, ...] | None = None
    """The contents of this answer, for a resource."""


class MatchBranch(Part, frozen=True):
    """One branch of a `match`: taken `when` all conditions hold, or by `default`."""

    when: dict[str, str | tuple[str, ...] | Condition] | None = None
    """Field path → a glob, a `regex:` pattern, a list of these, or operators; all must hold."""
    default: Any = msgspec.UNSET
    """The branch taken if no other is; the key alone makes it so, whatever its value."""
    content: tuple[ContentItem, ...] | None = None
    """The content items of this branch."""
    sequence: tuple[SequenceEntry, ...] | None = None
    """The answers of this branch, in turn."""
    on_exhausted: Exhausted | None = None
    """What follows the last entry of the sequence."""
    handler: Handler | None = None
    """The program or service that makes the answer."""
    messages: tuple[Message, ...] | None = None
    """The messages of this branch, for a prompt."""
    contents: tuple[EmbeddedResource, ...] | None = None
    """The contents of this branch, for a resource."""

    @property
    def is_fallback(self) -> bool:
        return self.when is None


class ToolResponse(
    Part, frozen=True, rename={"is_error": "isError", "on_exhausted": "onExhausted"}
):
    """What a tool answers."""

    content: tuple[ContentItem, ...] = ()
    """The content items, if nothing below chooses others."""
    is_error: bool | None = None
    """Whether the answer reports an error."""
    match: tuple[MatchBranch, ...] | None = None
    """Branches in order; the first that fits answers."""
    sequence: tuple[SequenceEntry, ...] | None = None
    """One answer per call, in turn."""
    on_exhausted: Exhausted | None = None
    """What follows the last entry of the sequence."""
    handler: Handler | None = None
    """A program or service that makes the answer."""


class ResourceResponse(Part, frozen=True, rename={"on_exhausted": "onExhausted"}):
    """What a resource answers."""

    content: ContentValue = ""
    """The text of the resource, or a payload."""
    contents: tuple[EmbeddedResource, ...] | None = None
    """Whole contents, sent as they are."""
    match: tuple[MatchBranch, ...] | None = None
    """Branches in order; the first that fits answers."""
    sequence: tuple[SequenceEntry, ...] | None = None
    """One answer per request, in turn."""
    on_exhausted: Exhausted | None = None
    """What follows the last entry of the sequence."""
    handler: Handler | None = None
    """A program or service that makes the answer."""


class PromptResponse(Part, frozen=True, rename={"on_exhausted": "onExhausted"}):
    """What a prompt answers."""

    messages: tuple[Message, ...] = ()
    """The messages, if nothing below chooses others."""
    description: str | None = None
    """Sent to clients with the messages."""
    match: tuple[MatchBranch, ...] | None = None
    """Branches in order; the first that fits answers."""
    sequence: tuple[SequenceEntry, ...] | None = None
    """One answer per request, in turn."""
    on_exhausted: Exhausted | None = None
    """What follows the last entry of the sequence."""
    handler: Handler | None = None
    """A program or service that makes the answer."""


# Metadata: what a scenario says about itself.

Vector = Literal[
    "tool_injection", "resource_injection", "prompt_poisoning", "capability_mutation",
    "notification_abuse", "schema_manipulation", "description_hijack", "response_delay",
    "connection_abuse",
]  # fmt: skip
Primitive = Literal[
    "rug_pull", "sleeper", "slow_loris", "flood", "nested_json", "unbounded_line", "fuzzing",
    "id_collision", "time_bomb",
]  # fmt: skip


class AttackSurface(Part, frozen=True):
    """Which parts of MCP a scenario attacks, and how."""

    vectors: tuple[Vector, ...]
    """The ways in."""
    primitives: tuple[Primitive, ...]
    """The techniques it uses."""


class Entry(Part, frozen=True):
    """An entry of a public catalogue."""

    id: str
    """Its number in the catalogue."""
    name: str
    """Its title in the catalogue."""


class Technique(Part, frozen=True):
    """A technique of MITRE ATT&CK."""

    id: str
    """Its number, such as `T1557`."""
    name: str
    """Its title."""
    sub_technique: str | None = None
    """The number of a sub-technique, such as `T1557.001`."""


class MitreAttack(Part, frozen=True):
    """Where a scenario belongs in MITRE ATT&CK."""

    tactics: tuple[Entry, ...] = ()
    """The goals of the attack."""
    techniques: tuple[Technique, ...] = ()
    """The ways to reach them."""


class Reference(Part, frozen=True):
    """Something to read about a scenario."""

    url: str
    """Where it is."""
    title: str
    """What it is called."""


class Metadata(Part, frozen=True):
    """What a scenario says about itself, for people and catalogues."""

    id: str
    """Its identifier in a catalogue."""
    name: str
    """Its title."""
    description: str
    """What the scenario does."""
    severity: Literal["low", "medium", "high", "critical"]
    """How bad the attack it shows is."""
    mcp_attack_surface: AttackSurface
    """Which parts of MCP it attacks."""
    author: str | None = None
    """Who wrote it."""
    created: str | None = None
    """The date it was written, as YYYY-MM-DD."""
    updated: str | None = None
    """The date of its last change, as YYYY-MM-DD."""
    mitre_attack: MitreAttack | None = None
    """Its tactics and techniques in MITRE ATT&CK."""
    owasp_mcp: tuple[Entry, ...] = ()
    """Its entries in OWASP's list for MCP."""
    owasp_agentic: tuple[Entry, ...] = ()
    """Its entries in OWASP's list for agents."""
    tags: tuple[str, ...] = ()
    """Words to find it by."""
    detection_guidance: tuple[str, ...] = ()
    """How to notice such an attack."""
    references: tuple[Reference, ...] = ()
    """Where to read more."""


# Capabilities: what the server announces when a client connects.


class ListCapability(Part, frozen=True, rename={"list_changed": "listChanged"}):
    """A list that the server announces."""

    list_changed: bool | None = None
    """Whether the server tells clients when the list changes."""


class ResourceCapability(Part, frozen=True, rename={"list_changed": "listChanged"}):
    """The resources that the server announces."""

    subscribe: bool | None = None
    """Whether clients can subscribe to a resource."""
    list_changed: bool | None = None
    """Whether the server tells clients when the list changes."""


class Capabilities(Part, frozen=True):
    """What the server announces when a client connects."""

    tools: ListCapability | None = None
    """Announces tools."""
    resources: ResourceCapability | None = None
    """Announces resources."""
    prompts: ListCapability | None = None
    """Announces prompts."""
    logging: dict[str, Any] | None = None
    """Announces log messages."""


# Items: tools, resources and prompts.


class ToolDefinition(Part, frozen=True, rename={"input_schema": "inputSchema"}):
    """A tool as clients see it."""

    written_as: ClassVar[dict[str, str]] = {
        "input_schema": "a JSON Schema, such as `{type: object}`"
    }

    name: str
    """Unique among the tools."""
    description: str
    """Shown to clients and models."""
    input_schema: Any
    """A JSON Schema of the arguments."""


class Tool(Part, frozen=True):
    """A tool."""

    TITLE: ClassVar[str] = "an entry of `tools`"
    #: An empty mapping would be no answer.
    written_as: ClassVar[dict[str, str]] = {
        "response": "an answer, such as `{content: [{type: text, text: done}]}`"
    }

    tool: ToolDefinition
    """The tool as clients see it."""
    response: ToolResponse
    """What it answers."""
    behavior: Behavior | None = None
    """How its answers are delivered."""


class ResourceDefinition(Part, frozen=True, rename={"mime_type": "mimeType"}):
    """A resource as clients see it."""

    uri: str
    """Unique among the resources; `*` in it makes a pattern."""
    name: str
    """Shown to clients."""
    description: str | None = None
    """Shown to clients."""
    mime_type: str | None = None
    """The type of the content, such as `text/plain`."""


class Resource(Part, frozen=True):
    """A resource."""

    TITLE: ClassVar[str] = "an entry of `resources`"

    resource: ResourceDefinition
    """The resource as clients see it."""
    response: ResourceResponse | None = None
    """What it answers; empty text if absent."""
    behavior: Behavior | None = None
    """How its answers are delivered."""


class PromptArgument(Part, frozen=True):
    """An argument of a prompt."""

    name: str
    """Templates refer to the argument by this name."""
    description: str | None = None
    """Shown to clients."""
    required: bool = False
    """Whether a client must give it."""


class PromptDefinition(Part, frozen=True):
    """A prompt as clients see it."""

    name: str
    """Unique among the prompts."""
    description: str | None = None
    """Shown to clients."""
    arguments: tuple[PromptArgument, ...] = ()
    """What a client can fill in."""


class Prompt(Part, frozen=True):
    """A prompt."""

    TITLE: ClassVar[str] = "an entry of `prompts`"
    written_as: ClassVar[dict[str, str]] = {
        "response": "an answer, such as `{messages: [{role: user, content: hello}]}`"
    }

    prompt: PromptDefinition
    """The prompt as clients see it."""
    response: PromptResponse
    """The messages it answers."""
    behavior: Behavior | None = None
    """How its answers are delivered."""


# Phases.


class Notification(Part, frozen=True):
    """A notification to the client."""

    method: str
    """The method of the notification."""
    params: Any = None
    """Its parameters, any JSON value."""


class ServerRequest(Part, frozen=True):
    """A request to the client."""

    method: str
    """The method of the request."""
    id: Any = None
    """Its id, any JSON value."""
    params: Any = None
    """Its parameters, any JSON value."""


class EntryAction(Part, frozen=True):
    """What a phase does when it begins: one of the three."""

    send_notification: str | Notification | None = None
    """A method, alone or with parameters."""
    send_request: ServerRequest | None = None
    """A request to the client."""
    log: str | None = None
    """A line for the log."""


class Trigger(Part, frozen=True):
    """What ends a phase: an event, some time, or whichever comes first."""

    written_as: ClassVar[dict[str, str]] = dict.fromkeys(
        ("after", "timeout"), "a duration, such as `500ms`, `30s`, `5m` or `1h`"
    )

    on: str | None = None
    """An event, such as `tools/call`, or `tools/call:NAME` for one tool."""
    count: Unsigned = 1
    """How often the event must happen."""
    match: dict[str, Any] = msgspec.field(default_factory=dict)
    """Field path → the value that the event must have there, or operators."""
    after: str | None = None
    """The time since the phase began, such as `30s` or `5m`."""
    timeout: str | None = None
    """How long to wait for the event."""
    on_timeout: Literal["advance", "abort"] = "advance"
    """What to do when that time is over."""


class Phase(Part, frozen=True):
    """A state of the server: the baseline, and what this phase removes, replaces and adds."""

    name: str
    """Unique among the phases."""
    advance: Trigger | None = None
    """What ends the phase; the last phase needs none."""
    on_enter: tuple[EntryAction, ...] = ()
    """What the server does when the phase begins."""
    replace_tools: dict[str, Tool] = msgspec.field(default_factory=dict)
    """Name of a tool → the tool in its place."""
    add_tools: tuple[Tool, ...] = ()
    """Further tools."""
    remove_tools: tuple[str, ...] = ()
    """Names of tools that disappear."""
    replace_resources: dict[str, Resource] = msgspec.field(default_factory=dict)
    """URI of a resource → the resource in its place."""
    add_resources: tuple[Resource, ...] = ()
    """Further resources."""
    remove_resources: tuple[str, ...] = ()
    """URIs of resources that disappear."""
    replace_prompts: dict[str, Prompt] = msgspec.field(default_factory=dict)
    """Name of a prompt → the prompt in its place."""
    add_prompts: tuple[Prompt, ...] = ()
    """Further prompts."""
    remove_prompts: tuple[str, ...] = ()
    """Names of prompts that disappear."""
    replace_capabilities: Capabilities | None = None
    """What the server announces from now on."""
    behavior: Behavior | None = None
    """How answers are delivered during this phase."""


# The whole configuration.

StateScope = Literal["per_connection", "global"]
UnknownMethods = Literal["ignore", "error", "drop"]


class ServerInfo(Part, frozen=True):
    """Who the server says it is."""

    name: str
    """Shown to clients."""
    version: str = "0.0.0"
    """Shown to clients; quote it, because a bare `1.0` is a number."""
    state_scope: StateScope = "per_connection"
    """Whether connections share one phase."""


class Server(ServerInfo, frozen=True):
    """The `server` section as it is written."""

    capabilities: Capabilities | None = None
    """What the server announces, unless `baseline.capabilities` is there."""


class Baseline(Part, frozen=True):
    """What the server offers before any phase changes it."""

    tools: tuple[Tool, ...] = ()
    """The tools it offers."""
    resources: tuple[Resource, ...] = ()
    """The resources it offers."""
    prompts: tuple[Prompt, ...] = ()
    """The prompts it offers."""
    capabilities: Capabilities | None = None
    """What the server announces."""
    behavior: Behavior | None = None
    """How answers are delivered."""


class Logging(Part, frozen=True):
    """What the server writes to its log."""

    level: Literal["debug", "info", "warn", "error"] = "info"
    """The least that it writes."""
    on_phase_change: bool = False
    """Whether it writes changes of phase."""
    on_request: bool | None = None
    """Whether it writes requests."""
    on_response: bool | None = None
    """Whether it writes answers."""
    on_trigger_match: bool = False
    """Whether it writes events that count for a trigger."""
    output: str = "stderr"
    """`stderr`, `stdout` or a file; a relative path starts at the file that names it."""


class ServerFile(Part, frozen=True):
    """A configuration as it is written, in either form."""

    TITLE: ClassVar[str] = "a server file"

    server: Server
    """Who the server says it is."""
    metadata: Metadata | None = None
    """What the scenario says about itself."""
    tools: tuple[Tool, ...] | None = None
    """Simple form: the tools it offers."""
    resources: tuple[Resource, ...] | None = None
    """Simple form: the resources it offers."""
    prompts: tuple[Prompt, ...] | None = None
    """Simple form: the prompts it offers."""
    behavior: Behavior | None = None
    """How answers are delivered, unless the baseline, a phase or an item has its own behaviour."""
    baseline: Baseline | None = None
    """Phased form: what the server offers before any phase."""
    phases: tuple[Phase, ...] | None = None
    """Phased form: the states it goes through, in order."""
    logging: Logging | None = None
    """What the server writes to its log."""
    unknown_methods: UnknownMethods = "ignore"
    """How to treat an unknown method: answer with nothing, with an error, or not at all."""


class ServerConfig(Part, frozen=True):
    """A configuration as a program gets it."""

    server: ServerInfo
    """Who the server says it is."""
    baseline: Baseline = Baseline()
    """What the server offers before any phase."""
    phases: tuple[Phase, ...] = ()
    """The states it goes through, in order."""
    logging: Logging = Logging()
    """What the server writes to its log."""
    unknown_methods: UnknownMethods = "ignore"
    """How to treat an unknown method."""
    metadata: Metadata | None = None
    """What the scenario says about itself."""
