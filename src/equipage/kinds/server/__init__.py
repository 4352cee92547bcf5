"""Kind `server`: configurations of MCP test servers, composed from a library of patterns."""

from __future__ import annotations

from equipage.kinds.server.kind import KIND

__all__ = ["KIND"]
