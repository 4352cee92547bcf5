"""Packs to test with."""

from __future__ import annotations

from typing import Any

MINIMAL: dict[str, Any] = {
    "id": "tool.echo",
    "version": "1.0.0",
    "deterministic": True,
    "timeoutMs": 1000,
    "limits": {"maxInputBytes": 1024, "maxOutputBytes": 2048},
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "object"},
    "execution": {"kind": "python", "module": "pkg.mod:run"},
}

DROP = object()


def pack(**changes: Any) -> dict[str, Any]:
    """A valid pack with fields changed; `DROP` leaves one out."""
    return {name: value for name, value in {**MINIMAL, **changes}.items() if value is not DROP}
