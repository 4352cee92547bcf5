"""Byte streams in pieces, none of them much larger than a block."""

from __future__ import annotations

from collections.abc import Iterator

#: About how large a piece is. Large enough that Python's share of the work does not matter.
BLOCK = 65_536


def repeated(unit: bytes, times: int) -> Iterator[bytes]:
    """`unit * times`, without ever holding more of it than a block or one unit."""
    at_once = min(times, max(1, BLOCK // len(unit)))
    if at_once == 0:
        return
    block = unit * at_once
    for _ in range(times // at_once):
        yield block
    yield unit * (times % at_once)


def joined(unit: bytes, times: int, separator: bytes) -> Iterator[bytes]:
    """`times` units with separators between them."""
    if times:
        yield from repeated(unit + separator, times - 1)
        yield unit


def first_bytes(pieces: Iterator[bytes], limit: int) -> Iterator[bytes]:
    """The first `limit` bytes of an endless stream."""
    while limit > 0:
        piece = next(pieces)[:limit]
        limit -= len(piece)
        yield piece


def whole_characters(pieces: Iterator[bytes], limit: int) -> Iterator[bytes]:
    """An endless UTF-8 stream up to `limit` bytes, ending before the first character that would not fit.

    Each piece must hold whole characters.
    """
    while limit > 0:
        piece = next(pieces)
        if len(piece) > limit:
            yield piece[: _boundary(piece, limit)]
            return
        limit -= len(piece)
        yield piece


def _boundary(text: bytes, offset: int) -> int:
    """The start of the character that the byte at `offset` belongs to."""
    while text[offset] & 0xC0 == 0x80:
        offset -= 1
    return offset


def in_chunks(pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    """The same bytes in chunks of exactly `size`, the last one perhaps shorter, none of them empty."""
    pending = bytearray()
    for piece in pieces:
        pending += piece
        whole = len(pending) - len(pending) % size
        if whole:
            with memoryview(pending) as view:
                for start in range(0, whole, size):
                    yield bytes(view[start : start + size])
            del pending[:whole]
    if pending:
        yield bytes(pending)
