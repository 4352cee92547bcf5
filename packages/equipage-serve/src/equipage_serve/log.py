"""A log of calls: one line of JSON each, with hashes in place of what was given and returned."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import re
import uuid
from collections.abc import Mapping
from typing import Any

from equipage_serve.framing import canonical_json
from equipage_serve.outcome import Failure, Result
from equipage_serve.tools import Tool

_SECRET = re.compile(r"authorization|api_?key|password|token|secret|cookie", re.IGNORECASE)


class CallLog:
    """Appends to a file that only its owner can read."""

    def __init__(self, path: str) -> None:
        """Raises `OSError`."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._descriptor = os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)

    def __call__(self, tool_id: str, tool: Tool | None, arguments: Any, result: Result) -> None:
        """Add one call. A log that cannot be written does not stop the calls."""
        record = mask_secrets(record_of(tool_id, tool, arguments, result))
        line = json.dumps(record, sort_keys=True).encode() + b"\n"
        try:
            os.write(self._descriptor, line)
        except OSError:
            return

    def close(self) -> None:
        os.close(self._descriptor)


def record_of(tool_id: str, tool: Tool | None, arguments: Any, result: Result) -> dict[str, Any]:
    """What is logged of a call."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
    return {
        "ts": now.replace("+00:00", "Z"),
        "id": str(uuid.uuid4()),
        "tool": tool_id,
        "version": None if tool is None else tool.pack.version,
        "kind": None if tool is None else tool.kind,
        "payloadDigest": _digest(arguments),
        "resultDigest": _digest(result.data) if result.ok else None,
        "status": "ok" if result.ok else "error",
        "code": result.code,
        "message": result.message,
        "execution": result.stats.to_dict(),
    }


def _digest(value: Any) -> str | None:
    try:
        return hashlib.sha256(canonical_json(value)).hexdigest()
    except Failure:
        return None  # not JSON; the code says so


def mask_secrets(value: Any) -> Any:
    """Mask the values of keys that name a secret, at any depth."""
    if isinstance(value, Mapping):
        return {
            key: "***" if _SECRET.search(str(key)) else mask_secrets(each)
            for key, each in value.items()
        }
    return [mask_secrets(each) for each in value] if isinstance(value, list) else value
