"""Kind `agent_md`: one agent in a Markdown file, its settings in the header, its prompt in the body."""

from __future__ import annotations

from equipage.kinds.agent_md.kind import KIND

__all__ = ["KIND"]
