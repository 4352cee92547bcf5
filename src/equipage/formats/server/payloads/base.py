"""What every generator promises, and the streams of bytes generators are made of.

A generator is a recipe: a frozen, hashable, picklable value made of its parameters, equal to every
other with the same parameters. It makes nothing before `stream`, `read` or `generate` is called,
and each call makes the same bytes again, in any thread and on any machine.
"""

from __future__ import annotations

import codecs
import struct
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import count, islice
from typing import Any, ClassVar, cast

import msgspec

from equipage.core.diagnostics import EquipageError
from equipage.formats.server.payloads.limits import BLOCK, format_size
from equipage.formats.server.payloads.parameters import CompactJson, Parameter

# Two generators have a parameter called `bytes`, which hides that type inside their classes.
Octets = bytes
Pieces = Iterator[bytes]

#: Payloads above this size are handed over in chunks.
STREAM_THRESHOLD = 1_048_576
#: What `read` makes at most when its caller names no limit.
READ_LIMIT = 104_857_600


class PayloadTooLarge(EquipageError, ValueError):
    """A payload does not fit into memory as large as the caller allowed."""

    def __init__(self, size: int, limit: int) -> None:
        self.size, self.limit = size, limit
        super().__init__(size, limit)

    def __str__(self) -> str:
        size, limit = format_size(self.size), format_size(self.limit)
        return f"Generated payload too large: {size} (limit: {limit})"


class Buffered(msgspec.Struct, frozen=True):
    """A payload that is small enough to be one piece."""

    data: bytes


class Streamed(msgspec.Struct, frozen=True):
    """A payload in chunks, to be used once, and its size at most."""

    chunks: Iterator[bytes]
    estimated_total: int


class Generator:
    """The base of all generators.

    A new sort derives from it and from `msgspec.Struct`, states its `type` and what it `accepts`,
    one reader for each of its fields, and implements `pieces`; see `Garbage` for a short one. This
    class itself is not a Struct, so that a field of type `Generator` takes any of them as it is.
    """

    __slots__ = ()

    type: ClassVar[str]  #: the name a configuration uses
    #: its parameters, in the order the manual lists them
    accepts: ClassVar[Mapping[str, Parameter]]
    sized_by: ClassVar[str]  #: the parameter to blame when the payload is too large
    produces_json: ClassVar[bool] = False  #: whether the bytes are JSON text

    @property
    def estimated_size(self) -> int:
        """The number of bytes, or a bound that is never exceeded; see `size_is_exact`.

        By default it is what the parameter `sized_by` says.
        """
        return int(getattr(self, self.sized_by))

    @property
    def size_is_exact(self) -> bool:
        return True

    @property
    def produces_text(self) -> bool:
        """Whether the bytes are valid UTF-8."""
        return True

    def pieces(self) -> Pieces:
        """The payload in pieces, made while they are read; none much larger than `BLOCK`."""
        raise NotImplementedError

    def stream(self, chunk: int = BLOCK) -> Pieces:
        """The payload in chunks of exactly `chunk` bytes, the last one perhaps shorter.

        At any time only a few chunks exist. A chunk may end inside a UTF-8 character.
        """
        if chunk < 1:
            raise ValueError(f"a chunk has at least one byte, not {chunk}")
        return split_into_chunks(self.pieces(), chunk)

    def read(self, limit: int | None = None) -> Octets:
        """The whole payload: what the chunks of `stream` add up to.

        Raises `PayloadTooLarge` when it has more than `limit` bytes, by default 100 MB, without
        making more than that.
        """
        allowed = READ_LIMIT if limit is None else limit
        if self.size_is_exact and self.estimated_size > allowed:
            raise PayloadTooLarge(self.estimated_size, allowed)
        data = bytearray()
        for piece in self.pieces():
            data += piece
            if len(data) > allowed:
                raise PayloadTooLarge(self.estimated_size, allowed)
        return bytes(data)

    def generate(self) -> Buffered | Streamed:
        """The payload as one piece up to 1 MiB, in chunks above."""
        if self.estimated_size > STREAM_THRESHOLD:
            return Streamed(self.stream(), self.estimated_size)
        return Buffered(self.read())

    def to_dict(self) -> dict[str, object]:
        """The shortest mapping that, under `$generate`, means this generator: without defaults."""
        written: dict[str, object] = {"type": self.type}
        for field in fields_of(self.__class__):
            value = getattr(self, field.name)
            if value != field.default:
                if isinstance(value, CompactJson):
                    value = value.value
                written[field.name] = list(value) if isinstance(value, tuple) else value
        return written


def fields_of(cls: type[Generator]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """The fields of a generator: their names and defaults, and whether they are required."""
    return _fields(cast(Any, cls))  # the base is not a Struct, but every generator is


# Kept, because it evaluates annotations, which takes longer than all the rest of making a
# generator.
_fields = cache(msgspec.structs.fields)


# ------------------------------------------------------------------------------------------ pieces


def repeat_in_blocks(unit: bytes, times: int) -> Pieces:
    """`unit * times`, without ever holding more of it than a block or one unit."""
    at_once = min(times, max(1, BLOCK // len(unit)))
    if at_once == 0:
        return
    block = unit * at_once
    for _ in range(times // at_once):
        yield block
    yield unit * (times % at_once)


def join_repeated(unit: bytes, times: int, separator: bytes) -> Pieces:
    """`times` units with separators between them."""
    if times:
        yield from repeat_in_blocks(unit + separator, times - 1)
        yield unit


def first_bytes(pieces: Pieces, limit: int) -> Pieces:
    """The first `limit` bytes of an endless stream."""
    while limit > 0:
        piece = next(pieces)[:limit]
        limit -= len(piece)
        yield piece


def whole_characters(pieces: Pieces, limit: int) -> Pieces:
    """An endless UTF-8 stream up to `limit` bytes, ending before a character that does not fit.

    Each piece must hold whole characters.
    """
    while limit > 0:
        piece = next(pieces)
        if len(piece) > limit:
            # Go back to the start of the character cut in two: continuation bytes are 0b10xxxxxx.
            while piece[limit] & 0xC0 == 0x80:
                limit -= 1
            yield piece[:limit]
            return
        limit -= len(piece)
        yield piece


def split_into_chunks(pieces: Pieces, size: int) -> Pieces:
    """The bytes of `pieces` in chunks of exactly `size`, the last perhaps shorter, none empty."""
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


# ------------------------------------------------------------------------------------ random draws
# Draws are the same on every machine, in every process and every version of Python. The source is
# SHAKE-128 in counter mode: block n of a stream is the first 4096 bytes of SHAKE-128(`equipage` NUL
# purpose NUL seed n), seed and n as 8 little-endian bytes. It is a published standard, it runs at
# the speed of C through `hashlib`, and any part of a stream depends on nothing but its seed,
# purpose and number.
#
# Draws below a bound are made by rejection, so every outcome is equally likely, and a longer output
# starts with every shorter one. Each purpose has its own stream: how often a generator draws for
# one thing does not shift what it draws for another.

_BLOCK_BYTES = 4_096
#: The one character that a charmap uses to say “none”.
_UNMAPPED = "\ufffe"


def draw_blocks(seed: int, purpose: str) -> Iterator[bytes]:
    """Endless random bytes, in blocks of equal size."""
    from hashlib import shake_128  # slow to import, and checking a configuration draws nothing

    key = b"equipage\0" + purpose.encode() + b"\0" + seed.to_bytes(8, "little")
    for number in count():
        yield shake_128(key + number.to_bytes(8, "little"), usedforsecurity=False).digest(
            _BLOCK_BYTES
        )


def draw_bytes(seed: int, purpose: str, alphabet: bytes) -> Iterator[bytes]:
    """Endless members of `alphabet` (up to 256), in blocks; one listed twice is twice as likely."""
    rounds, left_over = divmod(256, len(alphabet))
    table = alphabet * rounds + bytes(left_over)
    rejected = bytes(range(256 - left_over, 256))
    for block in draw_blocks(seed, purpose):
        yield block.translate(table, rejected)


def draw_characters(seed: int, purpose: str, alphabet: str) -> Iterator[str]:
    """Endless characters of `alphabet`, in blocks; one that occurs twice is twice as likely."""
    if len(alphabet) <= 256 and _UNMAPPED not in alphabet:
        for indexes in draw_bytes(seed, purpose, bytes(range(len(alphabet)))):
            yield codecs.charmap_decode(indexes, "strict", alphabet)[0]
    else:
        drawn = map(alphabet.__getitem__, draw_numbers(seed, purpose, len(alphabet)))
        while True:
            yield "".join(islice(drawn, _BLOCK_BYTES))


def draw_code_points(seed: int, purpose: str) -> Iterator[bytes]:
    """Endless characters from U+0020 on without surrogates, as UTF-8, in blocks of whole ones."""
    planes = draw_bytes(seed, f"{purpose}/plane", bytes(range(17)))
    highs, lows = draw_blocks(seed, f"{purpose}/high"), draw_blocks(seed, f"{purpose}/low")
    for plane, high, low in zip(planes, highs, lows, strict=True):
        words = bytearray(4 * len(plane))
        words[0::4], words[1::4], words[2::4] = low[: len(plane)], high[: len(plane)], plane
        # Surrogates are all that UTF-32 refuses here: ignoring them is the redraw. The characters
        # below U+0020 are single bytes in UTF-8 and part of no other character.
        yield words.decode("utf-32-le", "ignore").encode().translate(None, bytes(range(0x20)))


def draw_numbers(seed: int, purpose: str, below: int) -> Iterator[int]:
    """Endless integers from 0 up to, not including, `below`."""
    width, form = (1, "B") if below <= 2**8 else (2, "H") if below <= 2**16 else (8, "Q")
    words = struct.Struct(f"<{_BLOCK_BYTES // width}{form}")
    outcomes = 2 ** (8 * width)
    fair = outcomes - outcomes % below
    for block in draw_blocks(seed, purpose):
        yield from (word % below for word in words.unpack(block) if word < fair)
