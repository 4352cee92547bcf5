"""How large a configuration may be. Limits come from the environment of whoever loads, up to a hard cap."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from equipage.core.diagnostics import Fact
from equipage.core.path import Path
from equipage.generators.parameters import GeneratorLimits, format_size, parse_size
from equipage.kinds.server import codes
from equipage.kinds.server.items import SORTS, Sort, added_items, base_items, listing
from equipage.kinds.server.model import LARGEST
from equipage.loading.kind import Limits
from equipage.loading.session import Session
from equipage.loading.tree import mapping

MEBIBYTE = 1024 * 1024
#: The most a `$file` may hold; no variable changes it.
MAX_DATA_BYTES = 10 * MEBIBYTE
#: How deep a configuration may nest once everything is included.
MAX_DEPTH = 64


class Limit(msgspec.Struct, frozen=True):
    """One limit: its variable, the value without it, and the most it can be set to."""

    variable: str
    default: int
    cap: int
    in_bytes: bool = False


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

    max_phases: int = LIMITS["max_phases"].default
    max_tools: int = LIMITS["max_tools"].default
    max_resources: int = LIMITS["max_resources"].default
    max_prompts: int = LIMITS["max_prompts"].default
    max_include_depth: int = LIMITS["max_include_depth"].default
    generators: GeneratorLimits = GeneratorLimits()


def limits_of(env: Mapping[str, str]) -> tuple[ServerLimits, list[Fact]]:
    """The limits that `env` sets, and a warning for each variable that cannot be read.

    A warning names the variable and not its value: the environment may hold anything.
    """
    facts: list[Fact] = []
    values: dict[str, int] = {}
    for name, limit in LIMITS.items():
        if limit.variable not in env:
            continue
        number = _read(env[limit.variable], in_bytes=limit.in_bytes)
        if number is None:
            default = format_size(limit.default) if limit.in_bytes else str(limit.default)
            said: dict[str, object] = {"variable": limit.variable, "default": default}
            facts.append(Fact(codes.LIMIT_UNREADABLE, values=said, part="nowhere"))
        else:
            values[name] = min(number, limit.cap)
    generators, found = GeneratorLimits.from_environment(env)
    facts += [msgspec.structs.replace(each, part="nowhere") for each in found]
    variable = LIMITS["max_file_bytes"].variable
    return ServerLimits(**values, file_bytes_variable=variable, generators=generators), facts


def _read(written: str, *, in_bytes: bool) -> int | None:
    """A non-negative number, perhaps with a `+`, or a size with a unit; None if it is neither or too large."""
    if re.fullmatch(r"\+?[0-9]{1,20}", written):
        number = int(written)
    else:
        size = parse_size(written) if in_bytes else None
        if size is None:
            return None
        number = size
    return number if number <= LARGEST else None


# --- limits ------------------------------------------------------------------------------------
# How many phases and items there may be.


def counts_are_bounded(config: Any, session: Session) -> Iterator[Fact]:
    counts: dict[str, tuple[int, Path]] = {
        "phases": (len(listing(mapping(config).get("phases"))), ("phases",))
    }
    for sort in SORTS:
        count = sum(1 for _ in base_items(config, sort)) + sum(1 for _ in added_items(config, sort))
        counts[sort.plural] = count, _place(config, sort)
    for entity, (count, path) in counts.items():
        limit = getattr(session.limits, f"max_{entity}")
        if count > limit:
            known = LIMITS[f"max_{entity}"]
            variable = known.variable if count <= known.cap else None
            yield codes.LIMIT_EXCEEDED.at(
                path, entity=entity, count=count, limit=limit, variable=variable
            )


def _place(config: Any, sort: Sort) -> Path:
    """The list that holds most of a sort, as far as one can be named."""
    if mapping(config).get(sort.plural) is not None:
        return (sort.plural,)
    baseline = mapping(mapping(config).get("baseline"))
    return ("baseline", sort.plural) if sort.plural in baseline else ("phases",)


RULES = (counts_are_bounded,)
