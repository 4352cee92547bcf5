"""What Gemini CLI needs beyond the fields of its files: extensions name files that exist."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from equipage.clients import codes
from equipage.clients.catalogue import Convention, OwnRules
from equipage.clients.plugins import check_path_exists, paths_in
from equipage.core.diagnostics import Fact
from equipage.loading.session import Session


def extension_is_accepted(_convention: Convention, config: Any, session: Session) -> Iterator[Fact]:
    """The context files of an extension exist; Gemini CLI refuses it otherwise."""
    named = config.get("contextFileName") if isinstance(config, dict) else None
    root = os.path.dirname(session.path)
    for place, written in paths_in(named, ("contextFileName",)):
        yield from check_path_exists(
            place, "contextFileName", written, root, session, is_folder=False
        )


#: Kind → its rules.
RULES = {"gemini-extension": OwnRules((extension_is_accepted,), codes.CLAUDE_CODES)}
