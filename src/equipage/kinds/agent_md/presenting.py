"""What the commands show of an agent file: the agent, and the changes that matter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.kinds.kind import Item, Sensitive


def listing(plain: Any, _file: str) -> Iterator[Item]:
    """The agent."""
    profile = plain.get("profile") or {}
    yield Item("agent", str(plain.get("name")), profile.get("description"))


SENSITIVE = (
    Sensitive("profile.tools", "permission"),
    Sensitive("profile.system_prompt", "prompt"),
    Sensitive("profile.description", "prompt"),
)
