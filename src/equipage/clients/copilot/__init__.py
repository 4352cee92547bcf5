"""What GitHub Copilot needs beyond the fields of its files: workflows have a compiled form."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from equipage.clients import codes
from equipage.clients.catalogue import Convention, OwnRules
from equipage.core.diagnostics import Fact, Shown
from equipage.loading.session import Session

#: `name.md` is compiled to `name.lock.yml` beside it, which GitHub runs.
_LOCK_SUFFIX = ".lock.yml"


def workflow_is_compiled(_convention: Convention, config: Any, session: Session) -> Iterator[Fact]:
    """A workflow with `on` has its compiled form beside it; without `on`, others import it."""
    if not isinstance(config, dict) or config.get("on") is None:
        return
    folder, file = os.path.split(session.path)
    lock = file.removesuffix(".md") + _LOCK_SUFFIX
    if os.path.basename(folder) == "workflows" and not session.files.exists(f"{folder}/{lock}"):
        yield codes.WORKFLOW_NOT_COMPILED.at(("on",), part="key", lock=Shown(lock))


#: Kind → its rules.
RULES = {"agentic-workflow": OwnRules((workflow_is_compiled,), codes.WORKFLOW_CODES)}
