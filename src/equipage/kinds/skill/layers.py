"""Where the skills of the `.defect` convention lie, and what counts as one there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from equipage.diagnostics import Fact
from equipage.kinds.kind import Elsewhere
from equipage.layers import entry_in_layer, find_places, unreadable

SKILLS, FILE = "skills", "SKILL.md"
_PLACE = re.compile(r"/(?P<layer>\.defect|defect)/skills/[^/]+/SKILL\.md\Z")


def layer_by_path(path: str) -> str | None:
    """The layer of a skill by where it lies; None for those of other tools."""
    match = _PLACE.search(path.replace(os.sep, "/"))
    return None if match is None else "project" if match["layer"].startswith(".") else "user"


def layer(path: str, _env: Mapping[str, str]) -> str | None:
    return layer_by_path(path)


def identity(path: str) -> str:
    """A skill is an entry of its `skills` folder: its name is that of the entry, whatever that leads to."""
    return entry_in_layer(path, depth=2)


def above(folder: str) -> Iterator[Elsewhere]:
    """The skills of the project that a folder belongs to."""
    project = find_places(folder, env={}).project
    if project is not None:
        yield Elsewhere(os.path.join(project, SKILLS), "project")


def elsewhere(env: Mapping[str, str]) -> Iterator[Elsewhere]:
    """The user's own skills."""
    user = find_places(env=env).user
    if user is not None:
        yield Elsewhere(os.path.join(user, SKILLS), "user")


def look_into(folder: str) -> tuple[list[tuple[str, str]], list[Fact]]:
    """The names and files of the skills in a folder, in order, and what the folder alone tells."""
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [unreadable(error)]
    files = [(name, os.path.join(folder, name, FILE)) for name in names]
    return [(name, file) for name, file in files if os.path.isfile(file)], []


def beside(folder: str) -> Iterator[tuple[str, Fact]]:
    """What a `skills` folder tells that none of its skills does."""
    if os.path.isdir(os.path.dirname(folder)):  # else the layer as a whole is no folder, which its agents tell
        yield from ((folder, fact) for fact in look_into(folder)[1])
