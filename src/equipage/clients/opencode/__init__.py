"""What OpenCode makes of its files: permissions that do not hold, files that give texts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from equipage.clients import codes
from equipage.clients.catalogue import Convention, OwnRules
from equipage.clients.opencode.permissions import permissions_have_an_effect
from equipage.core.diagnostics import Fact, Shown
from equipage.core.path import walk
from equipage.core.text import lazy_regex
from equipage.loading.session import Session

# Texts that a configuration of OpenCode takes from files.

_FILE_REFERENCE = lazy_regex(r"\{file:([^{}]+)\}")


def _path_in_project(written: str, session: Session) -> str | None:
    """The path that is meant; None if it lies outside the project."""
    path = os.path.normpath(os.path.join(os.path.dirname(session.path), written))
    return path if session.files.is_within(path, session.root) else None


def text_files_exist(_convention: Convention, config: Any, session: Session) -> Iterator[Fact]:
    """Each `{file:path}` names a file that exists: OpenCode does not start without it."""
    for place, text in walk(config):
        for match in _FILE_REFERENCE.finditer(text) if isinstance(text, str) else ():
            written = match[1].strip()
            path = None if written.startswith("~") else _path_in_project(written, session)
            if path is not None and not session.files.exists(path):
                yield codes.PATH_MISSING.at(place, file=Shown(written), field=str(place[-1]))


#: Kind → its rules.
RULES = {
    "opencode-agent": OwnRules((permissions_have_an_effect,), codes.PERMISSION_CODES),
    "opencode-config": OwnRules(
        (text_files_exist, permissions_have_an_effect), (*codes.TEXT_CODES, *codes.PERMISSION_CODES)
    ),
}
