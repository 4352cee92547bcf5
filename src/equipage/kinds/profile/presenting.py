"""What the commands show of a profile: its name, its layer, and the changes that matter."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from equipage.kinds.kind import Elsewhere, Item, Portable, Sensitive
from equipage.kinds.profile.hooks import Layer
from equipage.kinds.profile.model import READ_ONLY
from equipage.layers import entry_in_layer, find_places

if TYPE_CHECKING:
    from equipage.loading import Outcome

_NAME = re.compile(r"(?:.*/)?(?:(?P<folder>[^/]+)/config\.toml|(?P<file>[^/]+)\.md)\Z")
_LAYERS: tuple[tuple[re.Pattern[str], Layer], ...] = (
    (re.compile(r"/\.defect/agents/(?:[^/]+\.md|[^/]+/config\.toml)\Z"), "project"),
    (re.compile(r"/defect/agents/(?:[^/]+\.md|[^/]+/config\.toml)\Z"), "user"),
)


def listing(plain: Any, file: str) -> Iterator[Item]:
    """One agent, named by its file or folder."""
    match = _NAME.match(file)
    name = (match["folder"] or match["file"]) if match is not None else file
    yield Item("agent", name, plain.get("description"))


def portable(outcome: Outcome) -> Portable | None:
    """What other tools would make of an agent."""
    from equipage.kinds.convention import portability  # all their tables, for one command

    return portability.portable(outcome)


def layer_by_path(path: str) -> Layer | None:
    """The layer of a profile by where it lies."""
    shown = path.replace(os.sep, "/")
    return next((name for pattern, name in _LAYERS if pattern.search(shown)), None)


def identity(path: str) -> str:
    """A profile is an entry of its `agents` folder: a link there is an agent of its own, whatever it leads to."""
    return entry_in_layer(path, depth=2 if path.endswith(".toml") else 1)


def layer(path: str, _env: Mapping[str, str]) -> str | None:
    return layer_by_path(path)


def above(folder: str) -> Iterator[Elsewhere]:
    """The agents of the project that a folder belongs to."""
    project = find_places(folder, env={}).project
    if project is not None:
        yield Elsewhere(os.path.join(project, "agents"), "project")


def elsewhere(env: Mapping[str, str]) -> Iterator[Elsewhere]:
    """The user's own agents."""
    user = find_places(env=env).user
    if user is not None:
        yield Elsewhere(os.path.join(user, "agents"), "user")


SENSITIVE = (
    Sensitive("tools.allow", "permission", default=READ_ONLY),
    Sensitive("hooks.**", "permission"),
    Sensitive("prompt.*", "prompt"),
    Sensitive("description", "prompt"),
)
