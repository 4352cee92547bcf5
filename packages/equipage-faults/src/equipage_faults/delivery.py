"""How the bytes of an answer reach the client.

A delivery takes the pieces of one frame and makes them into steps. Extensions come before it: they
change which frames there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from equipage.formats.server.model import (
    Delivery,
    Extension,
    InvalidUtf8,
    NestedJson,
    Repeated,
    ResponseDelay,
    Silent,
    SlowLoris,
    Truncated,
    UnboundedLine,
    WrongId,
)
from equipage.formats.server.payloads.base import repeat_in_blocks, split_into_chunks
from equipage_faults.caps import Caps
from equipage_faults.jobs import Channel, Hold, Release, Send, Steps, Wait
from equipage_faults.wire import Pieces, encode

Clock = Callable[[], int]

#: Bytes that occur in no UTF-8 text.
NOT_UTF8 = b"\xff\xfe"


def frames_of(
    extension: Extension | None, make: Callable[[bytes | None], Pieces], caps: Caps
) -> list[Pieces]:
    """The frames of an answer. `make` gives its pieces, with another id if there is one."""
    if isinstance(extension, Silent):
        return []
    if isinstance(extension, WrongId):
        return [make(encode(extension.id))]
    if isinstance(extension, Repeated):
        return [make(None) for _ in range(min(extension.count, caps.duplicates))]
    if isinstance(extension, Truncated):
        return [_truncate(make(None), extension.bytes)]
    if isinstance(extension, InvalidUtf8):
        if extension.place == "before":
            return [iter([NOT_UTF8]), make(None)]
        return [_add_invalid_member(make(None))]
    return [make(None)]


def _truncate(pieces: Pieces, size: int) -> Pieces:
    for piece in pieces:
        if len(piece) >= size:
            yield piece[:size]
            return
        size -= len(piece)
        yield piece


def _add_invalid_member(pieces: Pieces) -> Pieces:
    """An object with one more member, whose text is not UTF-8."""
    held = b""
    for piece in pieces:
        if held:
            yield held
        held = piece
    yield held[:-1] + b',"x":"' + NOT_UTF8 + b'"}'


class Progress:
    """How far a delivery got, for the trace."""

    def __init__(self) -> None:
        self.begun = False
        self.sent = 0
        self.completed = False
        self.capped = False


def deliver(
    frame: Pieces,
    delivery: Delivery | None,
    channel: Channel,
    now: Clock,
    caps: Caps,
    done: Progress,
) -> Steps:
    """The steps that bring one frame to the client. The channel is held for all of it."""
    yield Hold(channel)
    start = now()
    for number, piece in enumerate(_wire_bytes(frame, delivery, channel, caps, done)):
        if isinstance(delivery, SlowLoris) and number and delivery.byte_delay_ms:
            due = min(number * delivery.byte_delay_ms, caps.delay_ms + 1)
            yield Wait(start + due)
            if due > caps.delay_ms:
                done.capped = True
                break
        done.begun = True
        done.sent += len(piece)
        yield Send(channel, piece)
    yield Release(channel)


def delay_of(delivery: Delivery | None, caps: Caps) -> int:
    """How long the server waits before it answers."""
    return min(delivery.delay_ms, caps.delay_ms) if isinstance(delivery, ResponseDelay) else 0


def _wire_bytes(
    frame: Pieces, delivery: Delivery | None, channel: Channel, caps: Caps, done: Progress
) -> Iterator[bytes]:
    before, after = channel.framing
    body: Iterable[bytes] = frame
    if isinstance(delivery, NestedJson):
        body = _wrap_in_objects(frame, delivery, caps)
    if isinstance(delivery, UnboundedLine):
        body, after = _pad_frame(frame, delivery, caps), b""
    whole = coalesce(chain([before], _limit_frame(body, caps.frame_bytes, done), [after]))
    if isinstance(delivery, SlowLoris):
        return split_into_chunks(whole, max(1, delivery.chunk_size))
    return whole


def coalesce(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Small pieces put together, so that a small frame is one write."""
    buffer = bytearray()
    for piece in pieces:
        buffer += piece
        if len(buffer) >= 65_536:
            yield bytes(buffer)
            buffer.clear()
    if buffer:
        yield bytes(buffer)


def _limit_frame(pieces: Iterable[bytes], limit: int, done: Progress) -> Iterator[bytes]:
    """The pieces up to the cap of one frame."""
    for piece in pieces:
        if len(piece) > limit:
            done.capped = True
            yield piece[:limit]
            return
        limit -= len(piece)
        yield piece


def _wrap_in_objects(frame: Pieces, delivery: NestedJson, caps: Caps) -> Iterator[bytes]:
    depth = min(delivery.depth, caps.depth)
    # Cut to whole characters.
    key = delivery.key.encode("utf-8", "replace")[: caps.key_bytes].decode("utf-8", "ignore")
    yield from repeat_in_blocks(b"{" + encode(key) + b":", depth)
    yield from frame
    yield from repeat_in_blocks(b"}", depth)


def _pad_frame(frame: Pieces, delivery: UnboundedLine, caps: Caps) -> Iterator[bytes]:
    """The frame and padding up to the target size in total; the last character may be cut."""
    left = min(delivery.target_bytes, caps.frame_bytes)
    for piece in frame:
        left -= len(piece)
        yield piece
    unit = delivery.padding_char.encode("utf-8", "replace")
    if left > 0:
        yield from repeat_in_blocks(unit, left // len(unit))
        yield unit[: left % len(unit)]
