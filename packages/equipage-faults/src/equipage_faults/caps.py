"""What a run may cost at most, whatever the configuration says."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from equipage.core.diagnostics import UsageError
from equipage.core.frozen import plain_data
from equipage.core.path import get
from equipage.core.text import visible
from equipage.directives import find
from equipage.formats.server.model import (
    BatchAmplify,
    Behavior,
    CloseConnection,
    DuplicateRequestIds,
    NestedJson,
    NotificationFlood,
    PipeDeadlock,
    Repeated,
    ResponseDelay,
    ServerConfig,
    SlowLoris,
    UnboundedLine,
)
from equipage.formats.server.payloads import KEY, Generated
from equipage.formats.server.payloads.base import format_size
from equipage_faults.answers import canned_answers
from equipage_faults.phases import views_of
from equipage_faults.wire import encode_pieces, is_streamed

MEBIBYTE = 1024 * 1024
#: The most bytes that one byte of a payload becomes in a JSON string, as in `\u0000`.
_MOST_BYTES_ESCAPED = 6
#: Room for what is around an answer.
_ENVELOPE_BYTES = 1024


class Caps(msgspec.Struct, frozen=True):
    """The caps of a run. What goes beyond one is clamped, and the trace says so."""

    delay_ms: int = 600_000  #: any wait, and one delivery as a whole
    frame_bytes: int = 100 * MEBIBYTE  #: one frame to the client
    run_bytes: int = 1024 * MEBIBYTE  #: everything sent by one run
    depth: int = 100_000  #: of nested_json
    key_bytes: int = 1_024  #: of the key of nested_json
    batch: int = 100_000  #: notifications in one batch
    rate: int = 10_000  #: notifications per second of a flood
    flood_ms: int = 60_000  #: how long a flood lasts
    fill_bytes: int = 16 * MEBIBYTE  #: of pipe_deadlock
    duplicates: int = 10_000  #: requests with one id, and copies of one answer
    effects: int = 64  #: side effects at once, for one connection
    queue: int = 1_000  #: requests and notifications that wait, for one connection
    events: int = 10_000  #: names of events that are counted
    connections: int = 100  #: TCP connections at once
    streams: int = 16  #: event streams without an answer at once
    sessions: int = 256  #: sessions at once
    handlers: int = 4  #: handlers at once


def room_for_payloads(config: ServerConfig) -> int:
    """The most bytes that the payloads of a configuration take on the wire, all together."""
    plain = plain_data(config)
    places = find(plain, lambda mapping: KEY in mapping)
    sizes = (Generated(get(plain, (*path, KEY))).estimated_size for path in places)
    return _MOST_BYTES_ESCAPED * sum(sizes)


def require_room(config: ServerConfig, caps: Caps) -> None:
    """Raise `UsageError` if an answer with payloads does not fit: it would arrive cut."""
    room, most = room_for_payloads(config), min(caps.frame_bytes, caps.run_bytes)
    # Measuring makes the payloads: only where the caps were set lower than what always fits.
    if not room or most >= Caps().frame_bytes + room:
        return
    for view in views_of(config):
        for name, answer in canned_answers(view):
            if is_streamed(answer) and _is_larger(answer, most - _ENVELOPE_BYTES):
                raise UsageError(
                    f"the payloads that `{visible(name)}` answers with do not fit into "
                    f"{format_size(most)}; raise --max-frame-bytes and "
                    "--max-run-bytes, or leave them out"
                )


def _is_larger(answer: object, size: int) -> bool:
    return any((size := size - len(piece)) < 0 for piece in encode_pieces(answer))


def cap_warnings(config: ServerConfig, caps: Caps) -> Iterator[str]:
    """A line for each part of a configuration that goes beyond a cap."""
    behaviors: dict[int, Behavior] = {}
    for view in views_of(config):
        for each in (view.behavior, *(item.behavior for item in view.items)):
            if each is not None:
                behaviors[id(each)] = each
    lines = (line for each in behaviors.values() for line in _behavior_cap_warnings(each, caps))
    yield from dict.fromkeys(lines)


def _behavior_cap_warnings(behavior: Behavior, caps: Caps) -> Iterator[str]:
    for part in (behavior.delivery, behavior.x_equipage, *behavior.side_effects):
        if part is None:
            continue
        kind = part.__struct_config__.tag
        for field, cap in _CAP_BY_PARAMETER.get(type(part), {}).items():
            value, limit = getattr(part, field), getattr(caps, cap)
            limit = limit // 1000 if field == "duration_sec" else limit
            if value > limit:
                yield f"{kind}: {field} {value} is above the cap; {limit} is used"


#: The parameters that have a cap, and its field in `Caps`.
_CAP_BY_PARAMETER: dict[type, dict[str, str]] = {
    SlowLoris: {"byte_delay_ms": "delay_ms"},
    UnboundedLine: {"target_bytes": "frame_bytes"},
    NestedJson: {"depth": "depth"},
    ResponseDelay: {"delay_ms": "delay_ms"},
    NotificationFlood: {"rate_per_sec": "rate", "duration_sec": "flood_ms"},
    BatchAmplify: {"batch_size": "batch"},
    PipeDeadlock: {"fill_bytes": "fill_bytes"},
    CloseConnection: {"delay_ms": "delay_ms"},
    DuplicateRequestIds: {"count": "duplicates"},
    Repeated: {"count": "duplicates"},
}
