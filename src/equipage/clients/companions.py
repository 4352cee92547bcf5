"""The files that a file needs beside it.

Workflows need their compiled form, a configuration of OpenCode the files whose text it takes.
Nothing outside the project is looked at.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from equipage.clients import codes
from equipage.clients.catalogue import Convention
from equipage.core.diagnostics import Code, Fact, Shown
from equipage.core.path import Path
from equipage.core.text import lazy_regex
from equipage.loading.session import Session

Rule = Callable[[Convention, Any, Session], Iterator[Fact]]

# Agentic workflows: `name.md` is compiled to `name.lock.yml` beside it, which GitHub runs.

_LOCK_SUFFIX = ".lock.yml"


def workflow_is_compiled(_convention: Convention, config: Any, session: Session) -> Iterator[Fact]:
    """A workflow with `on` has its compiled form beside it; without `on`, others import it."""
    if not isinstance(config, dict) or config.get("on") is None:
        return
    folder, file = os.path.split(session.path)
    lock = file.removesuffix(".md") + _LOCK_SUFFIX
    if os.path.basename(folder) == "workflows" and not session.files.exists(f"{folder}/{lock}"):
        yield codes.WORKFLOW_NOT_COMPILED.at(("on",), part="key", lock=Shown(lock))


# Texts that a configuration of OpenCode takes from files.

_FILE_REFERENCE = lazy_regex(r"\{file:([^{}]+)\}")


def text_files_exist(_convention: Convention, config: Any, session: Session) -> Iterator[Fact]:
    """Each `{file:path}` names a file that exists: OpenCode does not start without it."""
    for place, text in _all_texts(config):
        for match in _FILE_REFERENCE.finditer(text):
            written = match[1].strip()
            path = None if written.startswith("~") else _path_in_project(written, session)
            if path is not None and not session.files.exists(path):
                yield codes.PATH_MISSING.at(place, file=Shown(written), field=str(place[-1]))


def _path_in_project(written: str, session: Session) -> str | None:
    """The path that is meant; None if it lies outside the project."""
    path = os.path.normpath(os.path.join(os.path.dirname(session.path), written))
    return path if session.files.is_within(path, session.root) else None


def _all_texts(value: Any) -> Iterator[tuple[Path, str]]:
    """Every text in a value, with its path."""
    waiting: list[tuple[Path, Any]] = [((), value)]
    while waiting:
        place, each = waiting.pop(0)
        if isinstance(each, str):
            yield place, each
        elif isinstance(each, dict):
            waiting += (((*place, key), inner) for key, inner in each.items())
        elif isinstance(each, list | tuple):
            waiting += (((*place, at), inner) for at, inner in enumerate(each))


#: Kind → its rule, and the codes that the rule gives.
RULES: dict[str, tuple[Rule, tuple[Code, ...]]] = {
    "agentic-workflow": (workflow_is_compiled, codes.WORKFLOW_CODES),
    "opencode-config": (text_files_exist, codes.TEXT_CODES),
}
