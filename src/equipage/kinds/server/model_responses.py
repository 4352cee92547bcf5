"""What the items of a server answer, and how the server delivers the answers."""

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
