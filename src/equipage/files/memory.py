"""How much memory a process may take."""

from __future__ import annotations

import os


def limit_memory(more: int | None) -> None:
    """Let this process add at most `more` bytes to the memory it has.

    An allocation beyond that fails. Only Linux counts what a process has; see `can_limit_memory`.
    """
    if more is None:
        return
    import resource

    with open("/proc/self/status", encoding="utf-8", errors="replace") as lines:
        has = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = has + more
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard < 0 else min(wanted, hard), hard))


def can_limit_memory() -> bool:
    """Whether `limit_memory` works on this system."""
    return os.path.exists("/proc/self/status")
