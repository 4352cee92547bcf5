"""Shipping a workspace with its lock: to an OCI registry and back, or as an archive of that layout.

`artifact` packs and unpacks, in memory and without the disk; `registry` speaks HTTP. Only the
command line uses this room, and nothing that checks or loads does.
"""

from __future__ import annotations

from equipage.core.diagnostics import UsageError


class ShipError(UsageError):
    """Something was not packed, pushed or pulled; the text says why. Nothing was written."""
