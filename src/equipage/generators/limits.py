"""How much a generator may make.

The limits are compared when a configuration is loaded, strictly: exactly the limit is allowed. They come from the
environment of the one who loads, never from the configuration, and have no cap.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from equipage.diagnostics import Fact, fact
from equipage.expressions import expression
from equipage.generators.sizes import parse_size

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
            number = _read_limit(env[variable], in_bytes=name == "max_payload_bytes")
            if number is None:
                default = getattr(limits, name)
                facts.append(fact("generator-limit-unreadable", variable=variable, default=default))
            else:
                limits = msgspec.structs.replace(limits, **{name: number})
        return limits, tuple(facts)


def _read_limit(written: str, *, in_bytes: bool) -> int | None:
    match = _NUMBER.fullmatch(written)
    number = int(match[1]) if match else parse_size(written) if in_bytes else None
    return number if number is not None and number <= _LARGEST else None
