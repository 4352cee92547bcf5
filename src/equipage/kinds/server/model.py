"""The configuration of a server: what an author may write, and the one form a program gets.

An author writes a `ServerFile`: either the simple form, with `tools`, `resources` and `prompts` at
the top, or the phased form, with `baseline` and `phases`. A program gets a `ServerConfig`, in which
the simple form has become a baseline without phases. Each class uses only classes above it.
"""

# There is no `from __future__ import annotations` here: msgspec would have to compile every
# annotation from its text when a model is first used.

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from equipage.directives.generate import Generated

#: The largest whole number, of 64 bits. msgspec can state the lower bound only; rules check this.
LARGEST = 2**64 - 1
Unsigned = Annotated[int, msgspec.Meta(ge=0)]
OneCharacter = Annotated[str, msgspec.Meta(min_length=1, max_length=1)]


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A closed, immutable part of a configuration."""


# Delivery: how bytes reach the client.


class Normal(Part, frozen=True, tag_field="type", tag="normal"):
    """The server sends answers as they are."""


class SlowLoris(Part, frozen=True, tag_field="type", tag="slow_loris"):
    """The server sends answers a few bytes at a time."""

    byte_delay_ms: Unsigned = 100  #: the pause after each chunk, in milliseconds
    chunk_size: Unsigned = 1  #: how many bytes each chunk has


class UnboundedLine(Part, frozen=True, tag_field="type", tag="unbounded_line"):
    """The server pads answers and never ends their line."""

    target_bytes: Unsigned = 0  #: how long the line becomes; 0 adds no padding
    padding_char: OneCharacter = "A"  #: the character that fills the line


class NestedJson(Part, frozen=True, tag_field="type", tag="nested_json"):
    """The server wraps answers in nested objects."""

    depth: Unsigned = 10_000  #: how many objects are around the answer
    key: str = "a"  #: the only key of each object


class ResponseDelay(Part, frozen=True, tag_field="type", tag="response_delay"):
    """The server waits before each answer."""

    delay_ms: Unsigned = 5_000  #: how long it waits, in milliseconds


Delivery = Normal | SlowLoris | UnboundedLine | NestedJson | ResponseDelay

# Side effects: what else the server does.

#: When a side effect happens.
Moment = Literal["on_connect", "on_request", "on_subscribe", "on_unsubscribe", "continuous"]


class NotificationFlood(Part, frozen=True, tag_field="type", tag="notification_flood"):
    """The server sends many notifications."""

    trigger: Moment = "on_request"  #: when the flood starts
    rate_per_sec: Unsigned = 1_000  #: how many notifications per second
    duration_sec: Unsigned = 10  #: how many seconds the flood lasts
    method: str = "notifications/message"  #: the method of the notifications
    params: Any = None  #: the parameters of the notifications, any JSON value


class BatchAmplify(Part, frozen=True, tag_field="type", tag="batch_amplify"):
    """The server sends one large batch of notifications."""

    SYNONYMS: ClassVar = {"count": "batch_size"}

    trigger: Moment = "on_request"  #: when the batch is sent
    batch_size: Unsigned = 10_000  #: how many notifications the batch has
    method: str = "notifications/message"  #: the method of the notifications


class PipeDeadlock(Part, frozen=True, tag_field="type", tag="pipe_deadlock"):
    """The server writes without reading until the pipe is full."""

    trigger: Moment = "on_request"  #: when it starts to write
    fill_bytes: Unsigned = 1_048_576  #: how many bytes it writes


class CloseConnection(Part, frozen=True, tag_field="type", tag="close_connection"):
    """The server closes the connection."""

    trigger: Moment = "on_request"  #: when it closes the connection
    graceful: bool = True  #: `false` breaks the connection off
    delay_ms: Unsigned = 0  #: how long it waits before, in milliseconds


class DuplicateRequestIds(Part, frozen=True, tag_field="type", tag="duplicate_request_ids"):
    """The server sends several requests with the same id."""

    trigger: Moment = "on_request"  #: when the requests are sent
    count: Unsigned = 3  #: how many requests
    id: Any = 1  #: the id they share, any JSON value
    method: str = "tools/call"  #: the method of the requests
    params: Any = None  #: the parameters of the requests, any JSON value


SideEffect = NotificationFlood | BatchAmplify | PipeDeadlock | CloseConnection | DuplicateRequestIds


# Extensions: faults that the format has no words for. They are equipage's own, and other servers
# ignore them.


class Silent(Part, frozen=True, tag_field="type", tag="silent"):
    """The server never answers."""


class InvalidUtf8(Part, frozen=True, tag_field="type", tag="invalid_utf8"):
    """The server sends bytes that are not UTF-8."""

    #: `before`: a line of its own before the answer; `inside`: as a member of the answer
    place: Literal["before", "inside"] = "before"


class WrongId(Part, frozen=True, tag_field="type", tag="wrong_id"):
    """The server answers with an id that the client did not send."""

    id: Any = "nobody-asked"  #: the id of the answer, any JSON value


class Repeated(Part, frozen=True, tag_field="type", tag="repeated"):
    """The server sends each answer several times."""

    count: Unsigned = 2  #: how many times


class Truncated(Part, frozen=True, tag_field="type", tag="truncated"):
    """The server sends only the start of each answer, and ends the line there."""

    bytes: Unsigned = 20  #: how many bytes of the answer it sends


Extension = Silent | InvalidUtf8 | WrongId | Repeated | Truncated


class Behavior(Part, frozen=True, rename={"x_equipage": "x-equipage"}):
    """How the server delivers answers, and what else it does."""

    delivery: Delivery | None = None  #: how bytes reach the client; `normal` if absent
    side_effects: tuple[SideEffect, ...] = ()  #: what else the server does
    #: a fault that the format has no words for; only `equipage serve` knows it
    x_equipage: Extension | None = None


# Content.

#: Text, or a payload that is made when it is sent.
ContentValue = str | Generated


class TextContent(Part, frozen=True, tag_field="type", tag="text"):
    """A content item with text."""

    #: the text, in which templates such as `${args.city}` are filled when it is sent; or a payload
    text: ContentValue


class ImageContent(
    Part, frozen=True, tag_field="type", tag="image", rename={"mime_type": "mimeType"}
):
    """A content item with an image."""

    mime_type: str  #: the type of the image, such as `image/png`
    data: ContentValue | None = None  #: the image in base64, a `{$file: …}`, or a payload


class EmbeddedResource(Part, frozen=True, rename={"mime_type": "mimeType"}):
    """A resource as it is sent."""

    uri: str  #: the URI of the resource
    mime_type: str | None = None  #: the type of the content, such as `text/plain`
    text: str | None = None  #: the content, if it is text
    blob: str | None = None  #: the content in base64, if it is not text


class ResourceContent(Part, frozen=True, tag_field="type", tag="resource"):
    """A content item with a resource."""

    resource: EmbeddedResource  #: the resource it embeds


ContentItem = TextContent | ImageContent | ResourceContent


class Message(Part, frozen=True):
    """A message of a prompt."""

    role: Literal["user", "assistant"]  #: who speaks
    content: ContentItem  #: a content item; plain text means an item of type `text`


# Dynamic answers: branches, sequences and handlers choose the content when a request comes.

#: What follows the last entry of a sequence: the first one, the last one again, or an error.
Exhausted = Literal["cycle", "last", "error"]
DEFAULT_TIMEOUT_MS = 30_000


class Condition(Part, frozen=True):
    """Operators on one field of a request. All that are written must hold."""

    contains: str | None = None  #: the text contains this
    prefix: str | None = None  #: the text starts with this
    suffix: str | None = None  #: the text ends with this
    regex: str | None = None  #: this regular expression matches some part of the text
    exists: bool | None = None  #: whether the request has the field at all
    gt: int | float | None = None  #: the number is greater than this
    lt: int | float | None = None  #: the number is less than this
    any_of: tuple[str, ...] | None = None  #: one of these globs or `regex:` patterns matches


class HttpHandler(Part, frozen=True, tag_field="type", tag="http"):
    """A web service that makes the answer."""

    url: str  #: where the request is sent, `http://` or `https://`
    timeout_ms: Unsigned = DEFAULT_TIMEOUT_MS  #: how long to wait, from 100 to 300000 milliseconds
    headers: dict[str, str] = msgspec.field(default_factory=dict)  #: the headers of the request


class CommandHandler(Part, frozen=True, tag_field="type", tag="command"):
    """A program that makes the answer. It is started without a shell."""

    cmd: tuple[str, ...]  #: the program and its arguments
    timeout_ms: Unsigned = DEFAULT_TIMEOUT_MS  #: how long to wait, from 100 to 300000 milliseconds
    env: dict[str, str] = msgspec.field(default_factory=dict)  #: environment variables to set
    #: the folder it runs in; a relative path starts at the file that names it
    working_dir: str | None = None


Handler = HttpHandler | CommandHandler


class SequenceEntry(Part, frozen=True):
    """One answer of a sequence."""

    content: tuple[ContentItem, ...] | None = None  #: the content items of this answer
    messages: tuple[Message, ...] | None = None  #: the messages of this answer, for a prompt
    #: the contents of this answer, for a resource
    contents: tuple[EmbeddedResource, ...] | None = None


class MatchBranch(Part, frozen=True):
    """One branch of a `match`: taken `when` all conditions hold, or by `default`."""

    #: field path → a glob, a `regex:` pattern, a list of these, or operators; all must hold
    when: dict[str, str | tuple[str, ...] | Condition] | None = None
    #: the branch taken if no other is; the key alone makes it so, whatever its value
    default: Any = msgspec.UNSET
    content: tuple[ContentItem, ...] | None = None  #: the content items of this branch
    sequence: tuple[SequenceEntry, ...] | None = None  #: the answers of this branch, in turn
    on_exhausted: Exhausted | None = None  #: what follows the last entry of the sequence
    handler: Handler | None = None  #: the program or service that makes the answer
    messages: tuple[Message, ...] | None = None  #: the messages of this branch, for a prompt
    #: the contents of this branch, for a resource
    contents: tuple[EmbeddedResource, ...] | None = None

    @property
    def is_fallback(self) -> bool:
        return self.when is None


class ToolResponse(
    Part, frozen=True, rename={"is_error": "isError", "on_exhausted": "onExhausted"}
):
    """What a tool answers."""

    content: tuple[ContentItem, ...] = ()  #: the content items, if nothing below chooses others
    is_error: bool | None = None  #: whether the answer reports an error
    match: tuple[MatchBranch, ...] | None = None  #: branches in order; the first that fits answers
    sequence: tuple[SequenceEntry, ...] | None = None  #: one answer per call, in turn
    on_exhausted: Exhausted | None = None  #: what follows the last entry of the sequence
    handler: Handler | None = None  #: a program or service that makes the answer


class ResourceResponse(Part, frozen=True, rename={"on_exhausted": "onExhausted"}):
    """What a resource answers."""

    content: ContentValue = ""  #: the text of the resource, or a payload
    contents: tuple[EmbeddedResource, ...] | None = None  #: whole contents, sent as they are
    match: tuple[MatchBranch, ...] | None = None  #: branches in order; the first that fits answers
    sequence: tuple[SequenceEntry, ...] | None = None  #: one answer per request, in turn
    on_exhausted: Exhausted | None = None  #: what follows the last entry of the sequence
    handler: Handler | None = None  #: a program or service that makes the answer


class PromptResponse(Part, frozen=True, rename={"on_exhausted": "onExhausted"}):
    """What a prompt answers."""

    messages: tuple[Message, ...] = ()  #: the messages, if nothing below chooses others
    description: str | None = None  #: sent to clients with the messages
    match: tuple[MatchBranch, ...] | None = None  #: branches in order; the first that fits answers
    sequence: tuple[SequenceEntry, ...] | None = None  #: one answer per request, in turn
    on_exhausted: Exhausted | None = None  #: what follows the last entry of the sequence
    handler: Handler | None = None  #: a program or service that makes the answer


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

    vectors: tuple[Vector, ...]  #: the ways in
    primitives: tuple[Primitive, ...]  #: the techniques it uses


class Entry(Part, frozen=True):
    """An entry of a public catalogue."""

    id: str  #: its number in the catalogue
    name: str  #: its title in the catalogue


class Technique(Part, frozen=True):
    """A technique of MITRE ATT&CK."""

    id: str  #: its number, such as `T1557`
    name: str  #: its title
    sub_technique: str | None = None  #: the number of a sub-technique, such as `T1557.001`


class MitreAttack(Part, frozen=True):
    """Where a scenario belongs in MITRE ATT&CK."""

    tactics: tuple[Entry, ...] = ()  #: the goals of the attack
    techniques: tuple[Technique, ...] = ()  #: the ways to reach them


class Reference(Part, frozen=True):
    """Something to read about a scenario."""

    url: str  #: where it is
    title: str  #: what it is called


class Metadata(Part, frozen=True):
    """What a scenario says about itself, for people and catalogues."""

    id: str  #: its identifier in a catalogue
    name: str  #: its title
    description: str  #: what the scenario does
    severity: Literal["low", "medium", "high", "critical"]  #: how bad the attack it shows is
    mcp_attack_surface: AttackSurface  #: which parts of MCP it attacks
    author: str | None = None  #: who wrote it
    created: str | None = None  #: the date it was written, as YYYY-MM-DD
    updated: str | None = None  #: the date of its last change, as YYYY-MM-DD
    mitre_attack: MitreAttack | None = None  #: its tactics and techniques in MITRE ATT&CK
    owasp_mcp: tuple[Entry, ...] = ()  #: its entries in OWASP's list for MCP
    owasp_agentic: tuple[Entry, ...] = ()  #: its entries in OWASP's list for agents
    tags: tuple[str, ...] = ()  #: words to find it by
    detection_guidance: tuple[str, ...] = ()  #: how to notice such an attack
    references: tuple[Reference, ...] = ()  #: where to read more


# Capabilities: what the server announces when a client connects.


class ListCapability(Part, frozen=True, rename={"list_changed": "listChanged"}):
    """A list that the server announces."""

    list_changed: bool | None = None  #: whether the server tells clients when the list changes


class ResourceCapability(Part, frozen=True, rename={"list_changed": "listChanged"}):
    """The resources that the server announces."""

    subscribe: bool | None = None  #: whether clients can subscribe to a resource
    list_changed: bool | None = None  #: whether the server tells clients when the list changes


class Capabilities(Part, frozen=True):
    """What the server announces when a client connects."""

    tools: ListCapability | None = None  #: announces tools
    resources: ResourceCapability | None = None  #: announces resources
    prompts: ListCapability | None = None  #: announces prompts
    logging: dict[str, Any] | None = None  #: announces log messages


# Items: tools, resources and prompts.


class ToolDefinition(Part, frozen=True, rename={"input_schema": "inputSchema"}):
    """A tool as clients see it."""

    name: str  #: unique among the tools
    description: str  #: shown to clients and models
    input_schema: Any  #: a JSON Schema of the arguments


class Tool(Part, frozen=True):
    """A tool."""

    TITLE: ClassVar[str] = "an entry of `tools`"

    tool: ToolDefinition  #: the tool as clients see it
    response: ToolResponse  #: what it answers
    behavior: Behavior | None = None  #: how its answers are delivered


class ResourceDefinition(Part, frozen=True, rename={"mime_type": "mimeType"}):
    """A resource as clients see it."""

    uri: str  #: unique among the resources; `*` in it makes a pattern
    name: str  #: shown to clients
    description: str | None = None  #: shown to clients
    mime_type: str | None = None  #: the type of the content, such as `text/plain`


class Resource(Part, frozen=True):
    """A resource."""

    TITLE: ClassVar[str] = "an entry of `resources`"

    resource: ResourceDefinition  #: the resource as clients see it
    response: ResourceResponse | None = None  #: what it answers; empty text if absent
    behavior: Behavior | None = None  #: how its answers are delivered


class PromptArgument(Part, frozen=True):
    """An argument of a prompt."""

    name: str  #: templates refer to the argument by this name
    description: str | None = None  #: shown to clients
    required: bool = False  #: whether a client must give it


class PromptDefinition(Part, frozen=True):
    """A prompt as clients see it."""

    name: str  #: unique among the prompts
    description: str | None = None  #: shown to clients
    arguments: tuple[PromptArgument, ...] = ()  #: what a client can fill in


class Prompt(Part, frozen=True):
    """A prompt."""

    TITLE: ClassVar[str] = "an entry of `prompts`"

    prompt: PromptDefinition  #: the prompt as clients see it
    response: PromptResponse  #: the messages it answers
    behavior: Behavior | None = None  #: how its answers are delivered


# Phases.


class Notification(Part, frozen=True):
    """A notification to the client."""

    method: str  #: the method of the notification
    params: Any = None  #: its parameters, any JSON value


class ServerRequest(Part, frozen=True):
    """A request to the client."""

    method: str  #: the method of the request
    id: Any = None  #: its id, any JSON value
    params: Any = None  #: its parameters, any JSON value


class EntryAction(Part, frozen=True):
    """What a phase does when it begins: one of the three."""

    send_notification: str | Notification | None = None  #: a method, alone or with parameters
    send_request: ServerRequest | None = None  #: a request to the client
    log: str | None = None  #: a line for the log


class Trigger(Part, frozen=True):
    """What ends a phase: an event, some time, or whichever comes first."""

    written_as: ClassVar[dict[str, str]] = dict.fromkeys(
        ("after", "timeout"), "a duration, such as `500ms`, `30s`, `5m` or `1h`"
    )

    on: str | None = None  #: an event, such as `tools/call`, or `tools/call:NAME` for one tool
    count: Unsigned = 1  #: how often the event must happen
    #: field path → the value that the event must have there, or operators
    match: dict[str, Any] = msgspec.field(default_factory=dict)
    after: str | None = None  #: the time since the phase began, such as `30s` or `5m`
    timeout: str | None = None  #: how long to wait for the event
    on_timeout: Literal["advance", "abort"] = "advance"  #: what to do when that time is over


class Phase(Part, frozen=True):
    """A state of the server: the baseline, and what this phase removes, replaces and adds."""

    name: str  #: unique among the phases
    advance: Trigger | None = None  #: what ends the phase; the last phase needs none
    on_enter: tuple[EntryAction, ...] = ()  #: what the server does when the phase begins
    #: name of a tool → the tool in its place
    replace_tools: dict[str, Tool] = msgspec.field(default_factory=dict)
    add_tools: tuple[Tool, ...] = ()  #: further tools
    remove_tools: tuple[str, ...] = ()  #: names of tools that disappear
    #: URI of a resource → the resource in its place
    replace_resources: dict[str, Resource] = msgspec.field(default_factory=dict)
    add_resources: tuple[Resource, ...] = ()  #: further resources
    remove_resources: tuple[str, ...] = ()  #: URIs of resources that disappear
    #: name of a prompt → the prompt in its place
    replace_prompts: dict[str, Prompt] = msgspec.field(default_factory=dict)
    add_prompts: tuple[Prompt, ...] = ()  #: further prompts
    remove_prompts: tuple[str, ...] = ()  #: names of prompts that disappear
    replace_capabilities: Capabilities | None = None  #: what the server announces from now on
    behavior: Behavior | None = None  #: how answers are delivered during this phase


# The whole configuration.

StateScope = Literal["per_connection", "global"]
UnknownMethods = Literal["ignore", "error", "drop"]


class ServerInfo(Part, frozen=True):
    """Who the server says it is."""

    name: str  #: shown to clients
    version: str = "0.0.0"  #: shown to clients; quote it, because a bare `1.0` is a number
    state_scope: StateScope = "per_connection"  #: whether connections share one phase


class Server(ServerInfo, frozen=True):
    """The `server` section as it is written."""

    #: what the server announces, unless `baseline.capabilities` is there
    capabilities: Capabilities | None = None


class Baseline(Part, frozen=True):
    """What the server offers before any phase changes it."""

    tools: tuple[Tool, ...] = ()  #: the tools it offers
    resources: tuple[Resource, ...] = ()  #: the resources it offers
    prompts: tuple[Prompt, ...] = ()  #: the prompts it offers
    capabilities: Capabilities | None = None  #: what the server announces
    behavior: Behavior | None = None  #: how answers are delivered


class Logging(Part, frozen=True):
    """What the server writes to its log."""

    level: Literal["debug", "info", "warn", "error"] = "info"  #: the least that it writes
    on_phase_change: bool = False  #: whether it writes changes of phase
    on_request: bool | None = None  #: whether it writes requests
    on_response: bool | None = None  #: whether it writes answers
    on_trigger_match: bool = False  #: whether it writes events that count for a trigger
    #: `stderr`, `stdout` or a file; a relative path starts at the file that names it
    output: str = "stderr"


class ServerFile(Part, frozen=True):
    """A configuration as it is written, in either form."""

    TITLE: ClassVar[str] = "a server file"

    server: Server  #: who the server says it is
    metadata: Metadata | None = None  #: what the scenario says about itself
    tools: tuple[Tool, ...] | None = None  #: simple form: the tools it offers
    resources: tuple[Resource, ...] | None = None  #: simple form: the resources it offers
    prompts: tuple[Prompt, ...] | None = None  #: simple form: the prompts it offers
    #: how answers are delivered, unless the baseline, a phase or an item has its own behaviour
    behavior: Behavior | None = None
    baseline: Baseline | None = None  #: phased form: what the server offers before any phase
    phases: tuple[Phase, ...] | None = None  #: phased form: the states it goes through, in order
    logging: Logging | None = None  #: what the server writes to its log
    #: how to treat an unknown method: answer with nothing, with an error, or not at all
    unknown_methods: UnknownMethods = "ignore"


class ServerConfig(Part, frozen=True):
    """A configuration as a program gets it."""

    server: ServerInfo  #: who the server says it is
    baseline: Baseline = Baseline()  #: what the server offers before any phase
    phases: tuple[Phase, ...] = ()  #: the states it goes through, in order
    logging: Logging = Logging()  #: what the server writes to its log
    unknown_methods: UnknownMethods = "ignore"  #: how to treat an unknown method
    metadata: Metadata | None = None  #: what the scenario says about itself
