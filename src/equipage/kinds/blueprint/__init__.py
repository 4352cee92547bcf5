"""Kind `blueprint`: a flow of agents, composed with `$file` and `$agent_md`."""

from __future__ import annotations

from equipage.kinds.blueprint.kind import KIND

__all__ = ["KIND"]
