"""What the commands show of a toolpack: the tool, and the changes that matter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.kinds.kind import Item, Sensitive


def listing(plain: Any, _file: str) -> Iterator[Item]:
    """The tool."""
    yield Item("tool", str(plain.get("id")), f"version {plain.get('version')}")


SENSITIVE = (
    Sensitive("caps.subprocess", "permission", order=(False, True), default=False),
    Sensitive("caps.network", "permission"),
    Sensitive("caps.filesystem.*", "permission"),
    Sensitive("env.passthrough", "permission"),
    Sensitive("env.set.*", "permission"),
    Sensitive("execution.**", "permission"),
    Sensitive("timeoutMs", "permission"),
    Sensitive("limits.*", "permission"),
)
