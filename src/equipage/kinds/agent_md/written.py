"""A loaded agent as plain data, the way the programs that read blueprints write it."""

from __future__ import annotations

from typing import Any

from equipage.plain import plain_data


def written(config: Any) -> Any:
    """Fields of the first version with their defaults, later ones only where they are set."""
    return plain_data(config, spelled_out=True)
