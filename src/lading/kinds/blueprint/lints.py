"""What `lints` say about findings of the programs that run blueprints.

A level is looked for in the `lints` of the agent, then in those of the blueprint; the first of the two that says
anything about a finding decides. Inside one of them the kind of the finding counts before its category, and that
before `all`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lading.kinds.blueprint.parts import items, mapping
from lading.path import Path

_CATEGORY = "category:"


def level_of(kind: str, category: str, *layers: Any) -> str | None:
    """What the first of `layers` that knows a kind of finding says about it, None if none does."""
    for layer in layers:
        lints = mapping(layer)
        if kind in lints:
            return _level(lints[kind])
        for key, level in lints.items():
            if key.startswith(_CATEGORY) and key.removeprefix(_CATEGORY).casefold() == category:
                return _level(level)
        if "all" in lints:
            return _level(lints["all"])
    return None


def _level(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def lints_of_blueprint(config: Any) -> dict[str, Any]:
    """The levels that count for every agent which does not say otherwise."""
    return mapping(mapping(mapping(config).get("metadata")).get("lints"))


def all_lints(config: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every mapping of lints, and where it stands."""
    yield ("metadata", "lints"), lints_of_blueprint(config)
    for number, agent in items(mapping(config).get("agents")):
        yield ("agents", number, "lints"), mapping(mapping(agent).get("lints"))
