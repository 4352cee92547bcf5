"""How far the names of a file reach: within the project or the plugin it belongs to."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from equipage.loading.outcome import Outcome

#: Where the folder of a project or plugin ends, and that of its agents, skills or settings begins.
_HOLDS = re.compile(
    r"/(?:\.[\w-]+/)?(?:agents?|skills?|commands?|chatmodes|prompts|rules)/|/(?:\.[\w-]+/)*[^/]+\Z",
    re.IGNORECASE,
)


def path_of(outcome: Outcome) -> str:
    """Where the file of a load lies, with `/`."""
    source = outcome.sources[0] if outcome.sources else None
    return (source.path or source.name).replace(os.sep, "/") if source is not None else ""


def reach_of(path: str) -> str:
    """The folder within which what a file defines is known: that of the project or plugin it belongs to."""
    match = _HOLDS.search(path)
    return path[: match.start()] if match else path
