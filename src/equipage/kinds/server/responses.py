"""What a server answers: content, and the ways to choose it when a request comes."""

# Annotations are evaluated, not kept as text: msgspec would have to compile each of them when a model is first used.
from typing import Any, Literal

import msgspec

from equipage.directives.generate import Generated
from equipage.kinds.server.parts import Part, Unsigned

#: Text, or a payload that is made when it is sent.
ContentValue = str | Generated
#: What happens when a sequence has no further entry.
Exhausted = Literal["cycle", "last", "error"]
Role = Literal["user", "assistant"]

DEFAULT_TIMEOUT_MS = 30_000

# ---------------------------------------------------------------------------------------------------- content


class TextContent(Part, frozen=True, tag_field="type", tag="text"):
    text: ContentValue


class ImageContent(Part, frozen=True, tag_field="type", tag="image", rename={"mime_type": "mimeType"}):
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


class ToolResponse(Part, frozen=True, rename={"is_error": "isError", "on_exhausted": "onExhausted"}):
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
