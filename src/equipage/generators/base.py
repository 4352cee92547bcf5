"""What every generator promises.

A generator is a recipe: a frozen, hashable, picklable value made of its parameters, equal to every other with the
same parameters. Nothing is made before `stream`, `read` or `generate` is called, and each call makes the same
bytes again, in any thread and on any machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, cast

import msgspec

from equipage.diagnostics import EquipageError
from equipage.generators.compact import CompactJson
from equipage.generators.parameters import Parameter
from equipage.generators.pieces import BLOCK, in_chunks
from equipage.generators.sizes import format_size

# Two generators have a parameter called `bytes`, which hides the type of that name inside their classes.
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
        return f"Generated payload too large: {format_size(self.size)} (limit: {format_size(self.limit)})"


class Buffered(msgspec.Struct, frozen=True):
    """A payload that is small enough to be one piece."""

    data: bytes


class Streamed(msgspec.Struct, frozen=True):
    """A payload in chunks, to be used once, and its size at most."""

    chunks: Iterator[bytes]
    estimated_total: int


class Generator:
    """The base of all generators.

    A new sort derives from it and from `msgspec.Struct`, states its `type` and what it `accepts`, one reader for
    each of its fields, and implements `estimated_size` and `pieces`; see `garbage` for a short one. This class is
    no Struct itself, so that a field of type `Generator` takes any of them as it is.
    """

    __slots__ = ()

    type: ClassVar[str]  #: the name a configuration uses
    accepts: ClassVar[Mapping[str, Parameter]]  #: its parameters, in the order the manual lists them
    sized_by: ClassVar[str]  #: the parameter to blame when the payload is too large
    produces_json: ClassVar[bool] = False  #: whether the bytes are JSON text

    @property
    def estimated_size(self) -> int:
        """The number of bytes, or a bound that is never exceeded; see `size_is_exact`."""
        raise NotImplementedError

    @property
    def size_is_exact(self) -> bool:
        return True

    @property
    def produces_text(self) -> bool:
        """Whether the bytes are valid UTF-8."""
        return True

    def pieces(self) -> Pieces:
        """The payload in pieces of any size, made while they are read; none much larger than 64 KiB."""
        raise NotImplementedError

    def stream(self, chunk: int = BLOCK) -> Pieces:
        """The payload in chunks of exactly `chunk` bytes, the last one perhaps shorter.

        At any time only a few chunks exist. A chunk may end inside a UTF-8 character.
        """
        if chunk < 1:
            raise ValueError(f"a chunk has at least one byte, not {chunk}")
        return in_chunks(self.pieces(), chunk)

    def read(self, limit: int | None = None) -> Octets:
        """The whole payload: what the chunks of `stream` add up to.

        Raises `PayloadTooLarge` when it has more than `limit` bytes, by default 100 MB, without making more than
        that.
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
        """The shortest mapping that, under `$generate`, means this generator: defaults are left out."""
        written: dict[str, object] = {"type": self.type}
        for field in fields_of(self.__class__):
            value = getattr(self, field.name)
            if value != field.default:
                written[field.name] = _as_written(value)
        return written


def fields_of(cls: type[Generator]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """The fields of a generator: their names and defaults, and whether they are required."""
    return _fields(cast(Any, cls))  # the base is no Struct, but every generator is


# Kept, because it evaluates annotations, which takes longer than all the rest of making a generator.
_fields = cache(msgspec.structs.fields)


def _as_written(value: object) -> object:
    if isinstance(value, CompactJson):
        return value.value
    return list(value) if isinstance(value, tuple) else value
