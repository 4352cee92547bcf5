"""What a generator accepts: one reader per sort of parameter.

A reader takes the value somebody wrote and gives back the value the generator keeps, with facts about it, or
`REFUSED` when it cannot be used. It also carries the JSON Schema of what it accepts, for editors. Whether a
parameter is required and what its default is stand in the generator's own fields, nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final, Protocol, TypeGuard

import msgspec

from equipage.diagnostics import Change, Fact, Part, Remedy, Shown, fact
from equipage.generators.compact import NotJsonError, compact
from equipage.generators.limits import VARIABLES, GeneratorLimits
from equipage.generators.sizes import format_size, parse_size
from equipage.nearest import nearest
from equipage.path import Path


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
        bounds = {"minimum": self.minimum} | ({"maximum": self.maximum} if self.maximum is not None else {})
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
        return {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": pattern}]}

    def read(self, value: object, path: Path, limits: GeneratorLimits) -> Reading:
        if isinstance(value, str):
            size = parse_size(value)
            if size is None:
                return REFUSED, (fact("generator-size-unreadable", path, parameter=path[-1], found=Shown(value)),)
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
        return text, tuple(fact("generator-value-becomes-null", each, parameter=path[-1]) for each in replaced)


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
        readings = [_word(each, self.words, (*path, index), path[-1]) for index, each in enumerate(value)]
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
    return fact(
        "generator-too-large",
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
    unknown = fact(
        "generator-choice-unknown",
        path,
        remedy=instead(path, meant),
        parameter=parameter,
        found=Shown(value),
        allowed=", ".join(words),
        nearest=meant,
    )
    return REFUSED, (unknown,)


def _wrong_type(path: Path, expected: str, value: object, parameter: str | int | None = None) -> Reading:
    found = Shown(value, as_found=True)
    name = path[-1] if parameter is None else parameter
    return REFUSED, (fact("generator-parameter-type", path, parameter=name, expected=expected, found=found),)


def _out_of_range(path: Path, expected: str, value: object) -> Reading:
    found = Shown(value)
    return REFUSED, (fact("generator-parameter-range", path, parameter=path[-1], expected=expected, found=found),)


def _over_limit(path: Path, value: int, limit: str, limits: GeneratorLimits) -> Reading:
    over = fact(
        "generator-over-limit",
        path,
        parameter=path[-1],
        found=Shown(value),
        limit=getattr(limits, limit),
        variable=VARIABLES[limit],
    )
    return REFUSED, (over,)


def _not_json(path: Path, reason: str) -> Reading:
    return REFUSED, (fact("generator-value-not-json", path, parameter=path[-1], reason=reason),)


def _makes_nothing(path: Path) -> tuple[Fact, ...]:
    return (fact("generator-makes-nothing", path, parameter=path[-1]),)
