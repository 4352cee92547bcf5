"""How large a configuration may be.

The environment of the caller can change most limits, up to a hard cap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from equipage.core.diagnostics import Fact
from equipage.generators.parameters import GeneratorLimits, format_size, read_limit
from equipage.kinds.server import codes
from equipage.kinds.server.items import SORTS, at, base_items
from equipage.loading.kind import Limits
from equipage.loading.session import Session
from equipage.loading.tree import get

MEBIBYTE = 1024 * 1024
#: The most bytes that a `$file` may bring; no variable changes it.
MAX_DATA_BYTES = 10 * MEBIBYTE
#: How deep a configuration may nest once everything is included.
MAX_DEPTH = 64


class Limit(msgspec.Struct, frozen=True):
    """One limit that the environment can change."""

    variable: str  #: the environment variable that sets it
    default: int  #: what holds without the variable
    cap: int  #: the most that the variable can set
    in_bytes: bool = False  #: whether the variable may have a unit, as in `20mb`


#: By the name of the field of `ServerLimits`.
LIMITS: Mapping[str, Limit] = {
    "max_phases": Limit("THOUGHTJACK_MAX_PHASES", 100, 10_000),
    "max_tools": Limit("THOUGHTJACK_MAX_TOOLS", 1_000, 100_000),
    "max_resources": Limit("THOUGHTJACK_MAX_RESOURCES", 1_000, 100_000),
    "max_prompts": Limit("THOUGHTJACK_MAX_PROMPTS", 500, 50_000),
    "max_include_depth": Limit("THOUGHTJACK_MAX_INCLUDE_DEPTH", 10, 100),
    "max_file_bytes": Limit(
        "THOUGHTJACK_MAX_CONFIG_SIZE", 10 * MEBIBYTE, 100 * MEBIBYTE, in_bytes=True
    ),
}


class ServerLimits(Limits, frozen=True):
    """The limits of one load."""

    max_phases: int = LIMITS["max_phases"].default  #: the most phases
    max_tools: int = LIMITS["max_tools"].default  #: the most tools, those of all phases included
    max_resources: int = LIMITS["max_resources"].default  #: the most resources, likewise
    max_prompts: int = LIMITS["max_prompts"].default  #: the most prompts, likewise
    max_include_depth: int = LIMITS["max_include_depth"].default  #: how deep includes may nest
    generators: GeneratorLimits = GeneratorLimits()  #: how large payloads may become


def limits_of(env: Mapping[str, str]) -> tuple[ServerLimits, list[Fact]]:
    """The limits that `env` sets, and a warning for each variable that cannot be read.

    A warning names the variable but not its value: the environment may hold secrets.
    """
    facts: list[Fact] = []
    values: dict[str, int] = {}
    for name, limit in LIMITS.items():
        if limit.variable not in env:
            continue
        number = read_limit(env[limit.variable], in_bytes=limit.in_bytes)
        if number is not None:
            values[name] = min(number, limit.cap)
            continue
        default = format_size(limit.default) if limit.in_bytes else str(limit.default)
        facts.append(
            codes.LIMIT_UNREADABLE.at(part="nowhere", variable=limit.variable, default=default)
        )
    generators, found = GeneratorLimits.from_environment(env)
    facts += [msgspec.structs.replace(each, part="nowhere") for each in found]
    variable = LIMITS["max_file_bytes"].variable
    return ServerLimits(**values, file_bytes_variable=variable, generators=generators), facts


def counts_are_bounded(config: Any, session: Session) -> Iterator[Fact]:
    """There are not more phases and items than the limits of the load allow."""
    counts = {"phases": len(at(config, "phases[]"))}
    for sort in SORTS:
        added = at(config, f"phases[].add_{sort.plural}[]")
        counts[sort.plural] = len(base_items(config, sort)) + len(added)
    for entity, count in counts.items():
        limit, known = getattr(session.limits, f"max_{entity}"), LIMITS[f"max_{entity}"]
        if count <= limit:
            continue
        # The finding is placed at the list that holds most of them, as far as there is one.
        places = ((entity,), ("baseline", entity))
        path = next((each for each in places if get(config, each) is not None), ("phases",))
        variable = known.variable if count <= known.cap else None
        yield codes.LIMIT_EXCEEDED.at(
            path, entity=entity, count=count, limit=limit, variable=variable
        )
