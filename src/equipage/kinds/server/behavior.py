"""How a server behaves beyond its answers: the way it delivers them, and what else it does."""

# Annotations are evaluated, not kept as text: msgspec would have to compile each of them when a model is first used.
from typing import Annotated, Any, ClassVar, Literal

import msgspec

from equipage.kinds.server.parts import Part, Unsigned

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
