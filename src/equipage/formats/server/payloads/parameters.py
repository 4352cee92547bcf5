"""What a generator accepts: JSON values, and one reader per sort of parameter.

A reader takes what the author wrote and gives back the value the generator keeps, or `REFUSED`,
with facts about it. It also carries the JSON Schema of what it accepts, for editors. Whether a
parameter is required and what its default is are said by the generator's own fields, nowhere else.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, Protocol, TypeGuard

import msgspec

from equipage.core.diagnostics import Change, Code, Fact, Part, Remedy, Shown
from equipage.core.path import Path
from equipage.core.text import nearest
from equipage.formats.server.payloads import codes
from equipage.formats.server.payloads.limits import (
    VARIABLES,
    GeneratorLimits,
    parse_size,
    too_large_fact,
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
