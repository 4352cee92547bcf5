"""How large payloads may be: byte sizes as people write them, and the limits of the environment.

The limits are needed for every server, so this module does not import the parameter readers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from equipage.core.diagnostics import Fact, Shown
from equipage.core.path import Path
from equipage.core.text import lazy_regex
from equipage.formats.server.payloads import codes

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
