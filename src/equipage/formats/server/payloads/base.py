"""What every generator promises, and the streams of bytes generators are made of.

A generator is a recipe: a frozen, hashable, picklable value made of its parameters, equal to every
other with the same parameters. It makes nothing before `stream`, `read` or `generate` is called,
and each call makes the same bytes again, in any thread and on any machine.
"""

from __future__ import annotations

import codecs
import json
import math
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import count, islice
from typing import Any, ClassVar, Final, Protocol, TypeGuard, cast

import msgspec

from equipage.core.diagnostics import EquipageError, Part
from equipage.core.text import lazy_regex
from equipage.formats.server import codes
from equipage.plugin import Change, Code, Fact, Path, Remedy, Shown, nearest

# Two generators have a parameter called `bytes`, which hides that type inside their classes.
Octets = bytes
Pieces = Iterator[bytes]

#: Payloads above this size are handed over in chunks.
STREAM_THRESHOLD = 1_048_576
#: What `read` makes at most when its caller names no limit.
READ_LIMIT = 104_857_600

# ------------------------------------------------------------------------------------------- sizes

#: About how large a piece of a payload is. Large enough that Python's share of the work does not
#: matter.
BLOCK = 65_536
#: Digits, then perhaps blanks and a unit. Thirty digits are more than any limit, and Python refuses
#: to read very many.
_WRITTEN_SIZE = lazy_regex(r"([0-9]{1,30})(?:[ \t]*(b|kb|mb|gb))?", re.IGNORECASE)
#: Units are binary: `1mb` is 1048576.
_FACTORS = {"": 1, "b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30}
_UNITS = ("KB", "MB", "GB", "TB", "PB", "EB")
#: Larger sizes are all shown alike: no disk holds them, and Python refuses to print long integers.
_MAX_SHOWN_SIZE = 1024 * 2**60


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


def parse_size(written: str) -> int | None:
    """The number of bytes that `written` means, such as `512` or `1 mb`; None if not a size."""
    match = _WRITTEN_SIZE.fullmatch(written)
    return int(match[1]) * _FACTORS[(match[2] or "").lower()] if match else None


def format_size(size: int) -> str:
    """The size in a unit that divides it, else with one decimal in the largest unit below it.

    Where a binary and a decimal unit both divide it, the smaller number reads better: 10**10 is
    `10GB`, not `9765625KB`.
    """
    if size >= _MAX_SHOWN_SIZE:
        return "over 1024EB"
    exact = [
        (size // base**power, unit)
        for base in (1024, 1000)
        for power, unit in enumerate(_UNITS, 1)
        if size and size % base**power == 0
    ]
    if exact:
        number, unit = min(exact)
        return f"{number}{unit}"
    if size < 1024:
        return f"{size}B"
    power = (size.bit_length() - 1) // 10
    # Rounded with integers: a float would lose digits of large sizes.
    tenths = (size * 20 // 1024**power + 1) // 2
    return f"{tenths // 10}.{tenths % 10}{_UNITS[power - 1]}"


# ------------------------------------------------------------------------------------------ limits
# Exactly the limit is allowed. Limits come from the environment of the process that loads, never
# from the configuration, and have no cap.

#: The variable that sets each limit.
VARIABLES: Mapping[str, str] = {
    "max_payload_bytes": "THOUGHTJACK_MAX_PAYLOAD_BYTES",
    "max_nest_depth": "THOUGHTJACK_MAX_NEST_DEPTH",
    "max_batch_size": "THOUGHTJACK_MAX_BATCH_SIZE",
}

_NUMBER = lazy_regex(r"\+?([0-9]{1,30})")
#: A limit is a 64-bit number in the format's first loader, which refuses larger ones too.
_MAX_LIMIT = 2**64 - 1


class GeneratorLimits(msgspec.Struct, frozen=True):
    """The limits of payloads that are made."""

    max_payload_bytes: int = 104_857_600
    """The largest payload, in bytes."""
    max_nest_depth: int = 100_000
    """The deepest nesting of a payload."""
    max_batch_size: int = 100_000
    """The most items of one batch."""

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> tuple[GeneratorLimits, tuple[Fact, ...]]:
        """The limits that `env` sets, defaults elsewhere.

        A variable that cannot be read leaves the default and a warning, which names the variable
        and not its value: that may be anything.
        """
        defaults = cls()
        limits: dict[str, int] = {}
        facts: list[Fact] = []
        for name, variable in VARIABLES.items():
            if variable not in env:
                continue
            number = read_limit(env[variable], in_bytes=name == "max_payload_bytes")
            if number is None:
                default = getattr(defaults, name)
                unreadable = codes.GENERATOR_LIMIT_UNREADABLE
                facts.append(unreadable.at(variable=variable, default=default))
            else:
                limits[name] = number
        return cls(**limits), tuple(facts)


def read_limit(written: str, *, in_bytes: bool) -> int | None:
    """A whole number, perhaps after a `+`, or a size with a unit; None if it is neither."""
    match = _NUMBER.fullmatch(written)
    number = int(match[1]) if match else parse_size(written) if in_bytes else None
    return number if number is not None and number <= _MAX_LIMIT else None


def too_large_fact(size: int, path: Path, limits: GeneratorLimits) -> Fact:
    """A payload over the limit."""
    return codes.GENERATOR_TOO_LARGE.at(
        path,
        size=Shown(format_size(size)),
        bytes=Shown(size),
        limit=format_size(limits.max_payload_bytes),
        variable=VARIABLES["max_payload_bytes"],
    )


# ------------------------------------------------------------------------------------- JSON values


class CompactJson(msgspec.Struct, frozen=True):
    """A JSON value as compact text: no blanks, members in the author's order, nothing escaped.

    Text is immutable and hashable, and unlike Python's values it tells `1`, `1.0` and `true` apart.
    """

    text: str

    @property
    def value(self) -> object:
        """The value as plain data, made anew each time."""
        return json.loads(self.text)

    @property
    def utf8(self) -> bytes:
        return self.text.encode()


class _KeyNotTextError(Exception):
    """A mapping has a key that is not text; JSON would silently write it as text."""


_SURROGATE = "it contains half of a surrogate pair"
#: Why a value has no JSON text, by the exception that writing it raises.
_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (_KeyNotTextError, "it has a key that is not a string"),
    (RecursionError, "it is nested too deeply"),
    (UnicodeEncodeError, _SURROGATE),
    (TypeError, "it contains something JSON has no form for"),
    # All that is left: Python refuses to write integers of very many digits.
    (ValueError, "it contains a number with too many digits"),
)


def _replace_infinities(value: object, path: Path, replaced: list[Path]) -> object:
    """The value with null for every NaN and infinity, whose paths are added to `replaced`."""
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise _KeyNotTextError
        return {
            key: _replace_infinities(each, (*path, key), replaced) for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        steps = enumerate(value)
        return [_replace_infinities(each, (*path, number), replaced) for number, each in steps]
    if isinstance(value, float) and not math.isfinite(value):
        replaced.append(path)
        return None
    return value


# ----------------------------------------------------------------------------------------- readers

#: In place of a value that cannot be used; an error says why.
REFUSED: Final = object()

_TYPE_CODE, _RANGE_CODE = codes.GENERATOR_PARAMETER_TYPE, codes.GENERATOR_PARAMETER_RANGE

#: The value to keep, or `REFUSED`, and what was found about it.
Reading = tuple[object, tuple[Fact, ...]]


class Parameter(Protocol):
    """A sort of parameter."""

    @property
    def nullable(self) -> bool:
        """Whether null is a value here; elsewhere it means the parameter is absent."""

    @property
    def description(self) -> str:
        """What it takes, in words."""

    @property
    def schema(self) -> dict[str, object]:
        """The JSON Schema of the values it accepts."""

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        """Read what the author wrote; `path` ends with the parameter's name."""


class WholeNumber(msgspec.Struct, frozen=True):
    """A whole number from `minimum` to `maximum`, and within the limit named `limit`."""

    minimum: int = 0
    maximum: int | None = None
    limit: str | None = None
    none_is_odd: bool = False
    """Whether 0, though accepted, makes the whole generator pointless."""
    nullable: ClassVar[bool] = False

    @property
    def description(self) -> str:
        if self.maximum is None:
            return f"a whole number, {self.minimum} or more"
        return f"a whole number from {self.minimum} to {self.maximum}"

    @property
    def schema(self) -> dict[str, object]:
        upper = {} if self.maximum is None else {"maximum": self.maximum}
        return {"type": "integer", "minimum": self.minimum, **upper}

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        if not _is_whole(value):
            return _refuse(_TYPE_CODE, path, self.description, Shown(value, as_found=True))
        if value < self.minimum or (self.maximum is not None and value > self.maximum):
            return _refuse(_RANGE_CODE, path, self.description, Shown(value))
        if self.limit is not None and value > (most := getattr(limits, self.limit)):
            name, variable = path[-1], VARIABLES[self.limit]
            over = codes.GENERATOR_OVER_LIMIT
            return REFUSED, (
                over.at(path, parameter=name, found=Shown(value), limit=most, variable=variable),
            )
        return int(value), _makes_nothing(path) if self.none_is_odd and value == 0 else ()


#: A seed is any unsigned 64-bit number.
SEED = WholeNumber(maximum=2**64 - 1)


class ByteSize(msgspec.Struct, frozen=True):
    """A number of bytes within the payload limit, as a number or as words: 1048576, `1mb`."""

    nullable: ClassVar[bool] = False
    description: ClassVar[str] = "a number of bytes"
    schema: ClassVar[dict[str, object]] = {
        "anyOf": [
            {"type": "integer", "minimum": 0},
            {"type": "string", "pattern": "^[0-9]+([ \\t]*[kKmMgG]?[bB])?$"},
        ]
    }

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        size = parse_size(value) if isinstance(value, str) else value
        if size is None:
            unreadable = codes.GENERATOR_SIZE_UNREADABLE
            return REFUSED, (unreadable.at(path, parameter=path[-1], found=Shown(value)),)
        if not _is_whole(size):
            return _refuse(_TYPE_CODE, path, self.description, Shown(value, as_found=True))
        if size < 0:
            return _refuse(_RANGE_CODE, path, f"{self.description}, 0 or more", Shown(value))
        if size > limits.max_payload_bytes:
            return REFUSED, (too_large_fact(size, path, limits),)
        return int(size), ()


class Text(msgspec.Struct, frozen=True):
    """Any string that UTF-8 can encode."""

    nullable: ClassVar[bool] = False
    description: ClassVar[str] = "a string"
    schema: ClassVar[dict[str, object]] = {"type": "string"}

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        if not isinstance(value, str):
            return _refuse(_TYPE_CODE, path, self.description, Shown(value, as_found=True))
        try:
            value.encode()
        except UnicodeEncodeError:
            return _refuse_not_json(path, _SURROGATE)
        return value, ()


class AnyJson(msgspec.Struct, frozen=True):
    """Any JSON value, null included; NaN and infinities become null, with a warning."""

    nullable: ClassVar[bool] = True
    description: ClassVar[str] = "any JSON value"
    schema: ClassVar[dict[str, object]] = {}

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        replaced: list[Path] = []
        try:
            plain = _replace_infinities(value, path, replaced)
            text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            text.encode()
        except tuple(each for each, _ in _REASONS) as problem:
            return _refuse_not_json(
                path, next(why for each, why in _REASONS if isinstance(problem, each))
            )
        null = codes.GENERATOR_VALUE_BECOMES_NULL
        return CompactJson(text), tuple(null.at(each, parameter=path[-1]) for each in replaced)


class OneOf(msgspec.Struct, frozen=True):
    """One of a few words."""

    words: tuple[str, ...]
    nullable: ClassVar[bool] = False

    @property
    def description(self) -> str:
        return f"one of {', '.join(self.words)}"

    @property
    def schema(self) -> dict[str, object]:
        return {"enum": list(self.words)}

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        return self.read_word(value, path, path[-1])

    def read_word(self, value: object, path: Path, parameter: str | int) -> Reading:
        """One of the words, at a path that may be that of an entry of a list."""
        if not isinstance(value, str):
            return _refuse(
                _TYPE_CODE, path, self.description, Shown(value, as_found=True), parameter
            )
        if value in self.words:
            return value, ()
        meant = nearest(value, self.words)
        unknown = codes.GENERATOR_CHOICE_UNKNOWN.at(
            path,
            remedy=replacement_remedy(path, meant),
            parameter=parameter,
            found=Shown(value),
            allowed=", ".join(self.words),
            nearest=meant,
        )
        return REFUSED, (unknown,)


class SomeOf(msgspec.Struct, frozen=True):
    """A list of words, in any order and number."""

    words: tuple[str, ...]
    nullable: ClassVar[bool] = False

    @property
    def description(self) -> str:
        return f"a list of {', '.join(self.words)}"

    @property
    def schema(self) -> dict[str, object]:
        return {"type": "array", "items": {"enum": list(self.words)}}

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        if not isinstance(value, Sequence) or isinstance(value, str | bytes):
            return _refuse(_TYPE_CODE, path, self.description, Shown(value, as_found=True))
        if not value:
            return (), _makes_nothing(path)
        word = OneOf(self.words).read_word
        readings = [word(each, (*path, index), path[-1]) for index, each in enumerate(value)]
        kept = tuple(each for each, _ in readings)
        facts = tuple(each for _, found in readings for each in found)
        return (REFUSED if REFUSED in kept else kept), facts


def replacement_remedy(path: Path, meant: str | None, part: Part = "value") -> Remedy | None:
    """The remedy that writes the name probably meant. Not safe: it changes the payload."""
    if meant is None:
        return None
    return Remedy(f"write `{meant}` instead", (Change(path, meant, part),), safe=False)


def _is_whole(value: object) -> TypeGuard[int]:
    """Whether it is an integer; true and false are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _refuse(
    code: Code, path: Path, expected: str, found: Shown, parameter: str | int | None = None
) -> Reading:
    name = path[-1] if parameter is None else parameter
    return REFUSED, (code.at(path, parameter=name, expected=expected, found=found),)


def _refuse_not_json(path: Path, reason: str) -> Reading:
    return REFUSED, (codes.GENERATOR_VALUE_NOT_JSON.at(path, parameter=path[-1], reason=reason),)


def _makes_nothing(path: Path) -> tuple[Fact, ...]:
    return (codes.GENERATOR_MAKES_NOTHING.at(path, parameter=path[-1]),)
