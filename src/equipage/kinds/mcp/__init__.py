"""MCP servers: `.mcp.json` and its relatives, strict beside the seed's own folder, tolerant elsewhere."""

from __future__ import annotations

from equipage.kinds.mcp.kind import KIND, STRICT

__all__ = ["KIND", "STRICT"]
