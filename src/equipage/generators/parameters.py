"""What a generator accepts: byte sizes, limits, JSON values, and one reader per sort of parameter.

A reader takes what the author wrote and gives back the value the generator keeps, or `REFUSED`,
with facts about it. It also carries the JSON Schema of what it accepts, for editors. Whether a
parameter is required and what its default is are said by the generator's own fields, nowhere else.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Protocol, TypeGuard

import msgspec

from equipage.core.diagnostics import Change, Code, Fact, Part, Remedy, Shown
from equipage.core.path import Path
from equipage.core.text import expression, nearest
from equipage.generators import codes

# ------------------------------------------------------------------------------------------- sizes

#: About how large a piece of a payload is. Large enough that Python's share of the work does not
#: matter.
BLOCK = 65_536
#: Digits, then perhaps blanks and a unit. Thirty digits are more than any limit, and Python refuses
#: to read very many.
_WRITTEN = expression(r"([0-9]{1,30})(?:[ \t]*(b|kb|mb|gb))?", re.IGNORECASE)
#: Units are binary: `1mb` is 1048576.
_FACTORS = {"": 1, "b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30}
_UNITS = ("KB", "MB", "GB", "TB", "PB", "EB")
#: Larger sizes are all shown alike: no disk holds them, and Python refuses to print long integers.
_BEYOND = 1024 * 2**60


def parse_size(written: str) -> int | None:
    """The number of bytes that `written` means, such as `512` or `1 mb`; None if not a size."""
    match = _WRITTEN.fullmatch(written)
    return int(match[1]) * _FACTORS[(match[2] or "").lower()] if match else None


def format_size(size: int) -> str:
    """The size in a unit that divides it, else with one decimal in the largest unit below it.

    Where a binary and a decimal unit both divide it, the smaller number reads better: 10**10 is
    `10GB`, not `9765625KB`.
    """
    if size >= _BEYOND:
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

_NUMBER = expression(r"\+?([0-9]{1,30})")
#: A limit is a 64-bit number in the format's first loader, which refuses larger ones too.
_LARGEST = 2**64 - 1


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
    return number if number is not None and number <= _LARGEST else None


def too_large(size: int, path: Path, limits: GeneratorLimits) -> Fact:
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
    def encoded(self) -> bytes:
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


def _without_infinities(value: object, path: Path, replaced: list[Path]) -> object:
    """The value with null for every NaN and infinity, whose paths are added to `replaced`."""
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise _KeyNotTextError
        return {
            key: _without_infinities(each, (*path, key), replaced) for key, each in value.items()
        }
    if isinstance(value, list | tuple):
        steps = enumerate(value)
        return [_without_infinities(each, (*path, number), replaced) for number, each in steps]
    if isinstance(value, float) and not math.isfinite(value):
        replaced.append(path)
        return None
    return value


# ----------------------------------------------------------------------------------------- readers

#: In place of a value that cannot be used; an error says why.
REFUSED: Final = object()

_TYPE, _RANGE = codes.GENERATOR_PARAMETER_TYPE, codes.GENERATOR_PARAMETER_RANGE

#: The value to keep, or `REFUSED`, and what was found about it.
Reading = tuple[object, tuple[Fact, ...]]


class Parameter(Protocol):
    """A sort of parameter."""

    @property
    def nullable(self) -> bool:
        """Whether null is a value here; elsewhere it means the parameter is absent."""

    @property
    def expected(self) -> str:
        """What it takes, in words."""

    @property
    def schema(self) -> dict[str, object]:
        """The JSON Schema of the values it accepts."""

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        """Read what the author wrote; `path` ends with the parameter's name."""


class Whole(msgspec.Struct, frozen=True):
    """A whole number from `minimum` to `maximum`, and within the limit named `limit`."""

    minimum: int = 0
    maximum: int | None = None
    limit: str | None = None
    none_is_odd: bool = False
    """Whether 0, though accepted, makes the whole generator pointless."""
    nullable: ClassVar[bool] = False

    @property
    def expected(self) -> str:
        if self.maximum is None:
            return f"a whole number, {self.minimum} or more"
        return f"a whole number from {self.minimum} to {self.maximum}"

    @property
    def schema(self) -> dict[str, object]:
        upper = {} if self.maximum is None else {"maximum": self.maximum}
        return {"type": "integer", "minimum": self.minimum, **upper}

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        if not _is_whole(value):
            return _refused(_TYPE, path, self.expected, Shown(value, as_found=True))
        if value < self.minimum or (self.maximum is not None and value > self.maximum):
            return _refused(_RANGE, path, self.expected, Shown(value))
        if self.limit is not None and value > (most := getattr(limits, self.limit)):
            name, variable = path[-1], VARIABLES[self.limit]
            over = codes.GENERATOR_OVER_LIMIT
            return REFUSED, (
                over.at(path, parameter=name, found=Shown(value), limit=most, variable=variable),
            )
        return int(value), _makes_nothing(path) if self.none_is_odd and value == 0 else ()


#: A seed is any unsigned 64-bit number.
SEED = Whole(maximum=2**64 - 1)


class ByteSize(msgspec.Struct, frozen=True):
    """A number of bytes within the payload limit, as a number or as words: 1048576, `1mb`."""

    nullable: ClassVar[bool] = False
    expected: ClassVar[str] = "a number of bytes"
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
            return _refused(_TYPE, path, self.expected, Shown(value, as_found=True))
        if size < 0:
            return _refused(_RANGE, path, f"{self.expected}, 0 or more", Shown(value))
        if size > limits.max_payload_bytes:
            return REFUSED, (too_large(size, path, limits),)
        return int(size), ()


class Text(msgspec.Struct, frozen=True):
    """Any string that UTF-8 can encode."""

    nullable: ClassVar[bool] = False
    expected: ClassVar[str] = "a string"
    schema: ClassVar[dict[str, object]] = {"type": "string"}

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        if not isinstance(value, str):
            return _refused(_TYPE, path, self.expected, Shown(value, as_found=True))
        try:
            value.encode()
        except UnicodeEncodeError:
            return _not_json(path, _SURROGATE)
        return value, ()


class AnyJson(msgspec.Struct, frozen=True):
    """Any JSON value, null included; NaN and infinities become null, with a warning."""

    nullable: ClassVar[bool] = True
    expected: ClassVar[str] = "any JSON value"
    schema: ClassVar[dict[str, object]] = {}

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        replaced: list[Path] = []
        try:
            plain = _without_infinities(value, path, replaced)
            text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
            text.encode()
        except tuple(each for each, _ in _REASONS) as problem:
            return _not_json(path, next(why for each, why in _REASONS if isinstance(problem, each)))
        null = codes.GENERATOR_VALUE_BECOMES_NULL
        return CompactJson(text), tuple(null.at(each, parameter=path[-1]) for each in replaced)


class OneOf(msgspec.Struct, frozen=True):
    """One of a few words."""

    words: tuple[str, ...]
    nullable: ClassVar[bool] = False

    @property
    def expected(self) -> str:
        return f"one of {', '.join(self.words)}"

    @property
    def schema(self) -> dict[str, object]:
        return {"enum": list(self.words)}

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        return self.word(value, path, path[-1])

    def word(self, value: object, path: Path, parameter: str | int) -> Reading:
        """One of the words, at a path that may be that of an entry of a list."""
        if not isinstance(value, str):
            return _refused(_TYPE, path, self.expected, Shown(value, as_found=True), parameter)
        if value in self.words:
            return value, ()
        meant = nearest(value, self.words)
        unknown = codes.GENERATOR_CHOICE_UNKNOWN.at(
            path,
            remedy=instead(path, meant),
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
    def expected(self) -> str:
        return f"a list of {', '.join(self.words)}"

    @property
    def schema(self) -> dict[str, object]:
        return {"type": "array", "items": {"enum": list(self.words)}}

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        if not isinstance(value, Sequence) or isinstance(value, str | bytes):
            return _refused(_TYPE, path, self.expected, Shown(value, as_found=True))
        if not value:
            return (), _makes_nothing(path)
        word = OneOf(self.words).word
        readings = [word(each, (*path, index), path[-1]) for index, each in enumerate(value)]
        kept = tuple(each for each, _ in readings)
        facts = tuple(each for _, found in readings for each in found)
        return (REFUSED if REFUSED in kept else kept), facts


def instead(path: Path, meant: str | None, part: Part = "value") -> Remedy | None:
    """Write the name that was probably meant. Not safe: it changes what is made."""
    if meant is None:
        return None
    return Remedy(f"write `{meant}` instead", (Change(path, meant, part),), safe=False)


def _is_whole(value: object) -> TypeGuard[int]:
    """Whether it is an integer; true and false are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def _refused(
    code: Code, path: Path, expected: str, found: Shown, parameter: str | int | None = None
) -> Reading:
    name = path[-1] if parameter is None else parameter
    return REFUSED, (code.at(path, parameter=name, expected=expected, found=found),)


def _not_json(path: Path, reason: str) -> Reading:
    return REFUSED, (codes.GENERATOR_VALUE_NOT_JSON.at(path, parameter=path[-1], reason=reason),)


def _makes_nothing(path: Path) -> tuple[Fact, ...]:
    return (codes.GENERATOR_MAKES_NOTHING.at(path, parameter=path[-1]),)
