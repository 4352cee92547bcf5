"""What the commands show of a blueprint: its agents and operators, and the changes that matter."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.kinds.kind import Item, Sensitive


def listing(plain: Any, _file: str) -> Iterator[Item]:
    """The blueprint itself, then its agents and operators."""
    yield Item("blueprint", str(plain.get("id")), (plain.get("metadata") or {}).get("description"))
    for group, sort in (("agents", "agent"), ("operators", "operator")):
        for number, each in enumerate(plain.get(group) or ()):
            profile = each.get("profile") or {}
            yield Item(sort, str(each.get("name")), profile.get("description"), (group, number))


SENSITIVE = (
    Sensitive("agents.*.profile.tools", "permission"),
    Sensitive("operators.*.profile.tools", "permission"),
    Sensitive("runners.*.runner.tools", "permission"),
    Sensitive("**.system_prompt", "prompt"),
    Sensitive("agents.*.profile.description", "prompt"),
    Sensitive("subprocesses.*", "tool"),
    Sensitive("agents.*", "agent"),
    Sensitive("operators.*", "agent"),
)
