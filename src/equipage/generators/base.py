"""What every generator promises.

A generator is a recipe: a frozen, hashable, picklable value made of its parameters, equal to every other with the
same parameters. Nothing is made before `stream`, `read` or `generate` is called, and each call makes the same
bytes again, in any thread and on any machine.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any, ClassVar, Final, Protocol, TypeGuard, cast

import msgspec

from equipage.core.diagnostics import Change, EquipageError, Fact, Part, Remedy, Shown
from equipage.core.path import Path
from equipage.core.text import expression, nearest
from equipage.generators import codes

# --- compact -----------------------------------------------------------------------------------
# JSON values inside generator parameters, kept as the text that will be sent.


class NotJsonError(ValueError):
    """The value has no JSON text; the message says why."""


class CompactJson(msgspec.Struct, frozen=True):
    """A JSON value as compact text: no blanks, members in the author's order, characters unescaped.

    Text is immutable and hashable, and unlike Python's values it tells `1`, `1.0` and `true` apart.
    """

    text: str

    @property
    def value(self) -> object:
        """The value as plain data, made anew each time."""
        return json.loads(self.text)

    @property
    def encoded(self) -> bytes:
        return self.text.encode()


def json_string(text: str) -> bytes:
    """The string as JSON, characters unescaped."""
    return json.dumps(text, ensure_ascii=False).encode()


def compact(value: object, path: Path) -> tuple[CompactJson, tuple[Path, ...]]:
    """The JSON text of the plain value at `path`, and the paths at which null stands for a NaN or an infinity.

    JSON cannot say these numbers; the format puts null in their place. Raises `NotJsonError` where there is no
    text at all.
    """
    replaced: list[Path] = []
    try:
        text = json.dumps(
            _plain(value, path, replaced),
            ensure_ascii=False,
            separators=(",", ":"),
            allow_nan=False,
        )
        text.encode()
    except NotJsonError:
        raise
    except RecursionError:
        raise NotJsonError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise NotJsonError("it contains half of a surrogate pair") from None
    except TypeError:
        raise NotJsonError("it contains something JSON has no form for") from None
    except ValueError:  # all that is left: Python refuses to write integers of very many digits
        raise NotJsonError("it contains a number with too many digits") from None
    return CompactJson(text), tuple(replaced)


def _plain(value: object, path: Path, replaced: list[Path]) -> object:
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise NotJsonError(
                "it has a key that is not a string"
            )  # JSON would silently write it as one
        return {key: _plain(each, (*path, key), replaced) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, (*path, index), replaced) for index, each in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        replaced.append(path)
        return None
    return value


# --- sizes -------------------------------------------------------------------------------------
# Byte sizes as people write and read them.
#
# Written: digits, then perhaps blanks and `b`, `kb`, `mb` or `gb` in any case; units are binary, so `1mb`
# is 1048576. Read back: the shortest exact form, `100MB` for 104857600 and `1GB` for 1000000000, else one decimal.

_WRITTEN = expression(r"([0-9]{1,30})(?:[ \t]*(b|kb|mb|gb))?", re.IGNORECASE)
_FACTORS = {"": 1, "b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30}

_UNITS = ("KB", "MB", "GB", "TB", "PB", "EB")

#: Sizes from here on are not told apart; nobody owns such a disk, and Python refuses to print very long integers.
_BEYOND = 1024 * 2**60


def parse_size(written: str) -> int | None:
    """The number of bytes that `written` stands for; None if it is not a byte size."""
    match = _WRITTEN.fullmatch(written)
    if match is None:
        return None
    return int(match[1]) * _FACTORS[(match[2] or "").lower()]


def format_size(size: int) -> str:
    """The size in a unit that divides it exactly, else with one decimal in the largest binary unit below it.

    Where a binary and a decimal unit both divide it, the smaller number reads better: 10**10 is `10GB`, not
    `9765625KB`.
    """
    if size >= _BEYOND:
        return "over 1024EB"
    exact = [_whole(size, base) for base in (1024, 1000)]
    numbers = [each for each in exact if each is not None]
    if numbers:
        number, unit = min(numbers, key=lambda each: each[0])
        return f"{number}{unit}"
    return f"{size}B" if size < 1024 else _rounded(size)


def _whole(size: int, base: int) -> tuple[int, str] | None:
    """The size as a whole number of the largest power of `base` that divides it."""
    for power in range(len(_UNITS), 0, -1):
        number, rest = divmod(size, base**power)
        if number and not rest:
            return number, _UNITS[power - 1]
    return None


def _rounded(size: int) -> str:
    power = (size.bit_length() - 1) // 10
    tenths = (
        size * 20 // 1024**power + 1
    ) // 2  # integers: a float would lose digits of large sizes
    return f"{tenths // 10}.{tenths % 10}{_UNITS[power - 1]}"


# --- limits ------------------------------------------------------------------------------------
# How much a generator may make.
#
# The limits are compared when a configuration is loaded, strictly: exactly the limit is allowed. They come from the
# environment of the one who loads, never from the configuration, and have no cap.

#: The variable that sets each limit.
VARIABLES: Mapping[str, str] = {
    "max_payload_bytes": "THOUGHTJACK_MAX_PAYLOAD_BYTES",
    "max_nest_depth": "THOUGHTJACK_MAX_NEST_DEPTH",
    "max_batch_size": "THOUGHTJACK_MAX_BATCH_SIZE",
}

_NUMBER = expression(r"\+?([0-9]{1,30})")

#: A limit is a 64-bit number in the format's first loader; larger ones are refused there too.
_LARGEST = 2**64 - 1


class GeneratorLimits(msgspec.Struct, frozen=True):
    """The largest payload in bytes, the deepest nesting, the most items of one batch."""

    max_payload_bytes: int = 104_857_600
    max_nest_depth: int = 100_000
    max_batch_size: int = 100_000

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> tuple[GeneratorLimits, tuple[Fact, ...]]:
        """The limits that `env` sets, defaults elsewhere.

        A variable that cannot be read leaves the default and a warning. The warning names the variable and not
        its value, which may be anything.
        """
        limits = cls()
        facts: list[Fact] = []
        for name, variable in VARIABLES.items():
            if variable not in env:
                continue
            number = read_limit(env[variable], in_bytes=name == "max_payload_bytes")
            if number is None:
                default = getattr(limits, name)
                facts.append(
                    codes.GENERATOR_LIMIT_UNREADABLE.at(variable=variable, default=default)
                )
            else:
                limits = msgspec.structs.replace(limits, **{name: number})
        return limits, tuple(facts)


def read_limit(written: str, *, in_bytes: bool) -> int | None:
    """A whole number, perhaps after a `+`, or a size with a unit; None if it is neither."""
    match = _NUMBER.fullmatch(written)
    number = int(match[1]) if match else parse_size(written) if in_bytes else None
    return number if number is not None and number <= _LARGEST else None


# --- parameters --------------------------------------------------------------------------------
# What a generator accepts: one reader per sort of parameter.
#
# A reader takes the value somebody wrote and gives back the value the generator keeps, with facts about it, or
# `REFUSED` when it cannot be used. It also carries the JSON Schema of what it accepts, for editors. Whether a
# parameter is required and what its default is stand in the generator's own fields, nowhere else.


class Refused(Enum):
    """The type of `REFUSED`: no value, and an error says why."""

    REFUSED = "refused"


REFUSED: Final = Refused.REFUSED

Reading = tuple[object, tuple[Fact, ...]]


class Parameter(Protocol):
    """A sort of parameter."""

    @property
    def nullable(self) -> bool:
        """Whether null is a value here; elsewhere it means the parameter is absent."""
        ...

    @property
    def expected(self) -> str:
        """What it takes, in words."""
        ...

    @property
    def schema(self) -> dict[str, object]:
        """The JSON Schema of the values it accepts."""
        ...

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        """The value to keep, or `REFUSED`; `path` ends with the parameter's name."""
        ...


class Whole(msgspec.Struct, frozen=True):
    """A whole number from `minimum` to `maximum`, and within the limit named `limit`."""

    minimum: int = 0
    maximum: int | None = None
    limit: str | None = None
    none_is_odd: bool = False  #: whether 0, though accepted, makes the whole generator pointless
    nullable: bool = False

    @property
    def expected(self) -> str:
        if self.maximum is None:
            return f"a whole number, {self.minimum} or more"
        return f"a whole number from {self.minimum} to {self.maximum}"

    @property
    def schema(self) -> dict[str, object]:
        bounds = {"minimum": self.minimum} | (
            {"maximum": self.maximum} if self.maximum is not None else {}
        )
        return {"type": "integer", **bounds}

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        if not is_whole(value):
            return _wrong_type(path, self.expected, value)
        if value < self.minimum or (self.maximum is not None and value > self.maximum):
            return _out_of_range(path, self.expected, value)
        if self.limit is not None and value > getattr(limits, self.limit):
            return _over_limit(path, value, self.limit, limits)
        return int(value), _makes_nothing(path) if self.none_is_odd and value == 0 else ()


class ByteSize(msgspec.Struct, frozen=True):
    """A number of bytes within the payload limit, as a number or as words: 1048576, `1mb`."""

    nullable: bool = False

    @property
    def expected(self) -> str:
        return "a number of bytes"

    @property
    def schema(self) -> dict[str, object]:
        pattern = "^[0-9]+([ \\t]*[kKmMgG]?[bB])?$"
        return {
            "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": pattern}]
        }

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        if isinstance(value, str):
            size = parse_size(value)
            if size is None:
                return REFUSED, (
                    codes.GENERATOR_SIZE_UNREADABLE.at(
                        path, parameter=path[-1], found=Shown(value)
                    ),
                )
        elif is_whole(value):
            size = int(value)
        else:
            return _wrong_type(path, self.expected, value)
        if size < 0:
            return _out_of_range(path, f"{self.expected}, 0 or more", value)
        if size > limits.max_payload_bytes:
            return REFUSED, (too_large(size, path, limits),)
        return size, ()


class Text(msgspec.Struct, frozen=True):
    """Any string that UTF-8 can encode."""

    nullable: bool = False

    @property
    def expected(self) -> str:
        return "a string"

    @property
    def schema(self) -> dict[str, object]:
        return {"type": "string"}

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        if not isinstance(value, str):
            return _wrong_type(path, self.expected, value)
        try:
            value.encode()
        except UnicodeEncodeError:
            return _not_json(path, "it contains half of a surrogate pair")
        return value, ()


class AnyJson(msgspec.Struct, frozen=True):
    """Any JSON value, null included; NaN and infinities become null, with a warning."""

    nullable: bool = True

    @property
    def expected(self) -> str:
        return "any JSON value"

    @property
    def schema(self) -> dict[str, object]:
        return {}

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        try:
            text, replaced = compact(value, path)
        except NotJsonError as problem:
            return _not_json(path, str(problem))
        return text, tuple(
            codes.GENERATOR_VALUE_BECOMES_NULL.at(each, parameter=path[-1]) for each in replaced
        )


class OneOf(msgspec.Struct, frozen=True):
    """One of a few words."""

    words: tuple[str, ...]
    nullable: bool = False

    @property
    def expected(self) -> str:
        return f"one of {', '.join(self.words)}"

    @property
    def schema(self) -> dict[str, object]:
        return {"enum": list(self.words)}

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        return _word(value, self.words, path, path[-1])


class SomeOf(msgspec.Struct, frozen=True):
    """A list of words, in any order and number."""

    words: tuple[str, ...]
    nullable: bool = False

    @property
    def expected(self) -> str:
        return f"a list of {', '.join(self.words)}"

    @property
    def schema(self) -> dict[str, object]:
        return {"type": "array", "items": {"enum": list(self.words)}}

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        if not isinstance(value, Sequence) or isinstance(value, str | bytes):
            return _wrong_type(path, self.expected, value)
        if not value:
            return (), _makes_nothing(path)
        readings = [
            _word(each, self.words, (*path, index), path[-1]) for index, each in enumerate(value)
        ]
        facts = tuple(each for _, found in readings for each in found)
        kept = tuple(word for word, _ in readings)
        return (REFUSED if REFUSED in kept else kept), facts


#: A seed is any unsigned 64-bit number.
SEED = Whole(maximum=2**64 - 1)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether it is an integer; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def too_large(size: int, path: Path, limits: GeneratorLimits) -> Fact:
    """A payload over the limit."""
    return codes.GENERATOR_TOO_LARGE.at(
        path,
        size=Shown(format_size(size)),
        bytes=Shown(size),
        limit=format_size(limits.max_payload_bytes),
        variable=VARIABLES["max_payload_bytes"],
    )


def instead(path: Path, meant: str | None, part: Part = "value") -> Remedy | None:
    """Write the name that was probably meant. Not safe: it changes what is made."""
    if meant is None:
        return None
    return Remedy(f"write `{meant}` instead", (Change(path, meant, part),), safe=False)


def _word(value: object, words: tuple[str, ...], path: Path, parameter: str | int) -> Reading:
    if not isinstance(value, str):
        return _wrong_type(path, f"one of {', '.join(words)}", value, parameter)
    if value in words:
        return value, ()
    meant = nearest(value, words)
    unknown = codes.GENERATOR_CHOICE_UNKNOWN.at(
        path,
        remedy=instead(path, meant),
        parameter=parameter,
        found=Shown(value),
        allowed=", ".join(words),
        nearest=meant,
    )
    return REFUSED, (unknown,)


def _wrong_type(
    path: Path, expected: str, value: object, parameter: str | int | None = None
) -> Reading:
    found = Shown(value, as_found=True)
    name = path[-1] if parameter is None else parameter
    return REFUSED, (
        codes.GENERATOR_PARAMETER_TYPE.at(path, parameter=name, expected=expected, found=found),
    )


def _out_of_range(path: Path, expected: str, value: object) -> Reading:
    found = Shown(value)
    return REFUSED, (
        codes.GENERATOR_PARAMETER_RANGE.at(
            path, parameter=path[-1], expected=expected, found=found
        ),
    )


def _over_limit(path: Path, value: int, limit: str, limits: GeneratorLimits) -> Reading:
    over = codes.GENERATOR_OVER_LIMIT.at(
        path,
        parameter=path[-1],
        found=Shown(value),
        limit=getattr(limits, limit),
        variable=VARIABLES[limit],
    )
    return REFUSED, (over,)


def _not_json(path: Path, reason: str) -> Reading:
    return REFUSED, (codes.GENERATOR_VALUE_NOT_JSON.at(path, parameter=path[-1], reason=reason),)


def _makes_nothing(path: Path) -> tuple[Fact, ...]:
    return (codes.GENERATOR_MAKES_NOTHING.at(path, parameter=path[-1]),)


# --- pieces ------------------------------------------------------------------------------------
# Byte streams in pieces, none of them much larger than a block.

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
    accepts: ClassVar[
        Mapping[str, Parameter]
    ]  #: its parameters, in the order the manual lists them
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
