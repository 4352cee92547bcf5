"""Blueprints: expand the `$file` and `$agent_md` references of a value."""

from equipage.kinds.blueprint import expand

__all__ = ["expand"]
