"""Packs to test with."""

from __future__ import annotations

import json
from pathlib import Path
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


def write(folder: Path, files: dict[str, Any]) -> Path:
    """Write files: mappings as JSON (which is YAML), texts as they are. The folder becomes a project."""
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(
                content if isinstance(content, str) else json.dumps(content), encoding="utf-8"
            )
    return folder
