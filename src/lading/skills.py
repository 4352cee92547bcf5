"""Skills of all layers: found, checked, and laid over each other, as the seed has it.

A skill is a folder below `skills` that holds a `SKILL.md`. One of the project replaces one of the user with the same
name as a whole. Anything else in the folder is left alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from lading.diagnostics import Diagnostic, LoadError
from lading.files import Files
from lading.kinds.skill.kind import STRICT
from lading.kinds.skill.model import Skill
from lading.layers import Places, StrPath, find_places
from lading.loading import Outcome, Request, load_path

SKILLS, FILE = "skills", "SKILL.md"
SkillLayer = Literal["user", "project"]


class FoundSkill(msgspec.Struct, frozen=True):
    """A skill as it was found, good or bad."""

    name: str  #: of its folder
    layer: SkillLayer
    file: str
    outcome: Outcome
    shadowed_by: str | None = None  #: the file that counts instead


class Skills(Mapping[str, Skill]):
    """The skills that count, by name, in order of their names."""

    def __init__(self, found: tuple[FoundSkill, ...], diagnostics: tuple[Diagnostic, ...]) -> None:
        winners = sorted((each for each in found if each.shadowed_by is None), key=lambda each: each.name)
        self._skills: dict[str, Skill] = {each.name: each.outcome.config for each in winners}
        self.found = found
        self.warnings = diagnostics

    def __getitem__(self, name: str) -> Skill:
        return self._skills[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._skills)

    def __len__(self) -> int:
        return len(self._skills)


def discover_skills(
    cwd: StrPath = ".",
    *,
    local: bool = False,
    xdg_config_home: StrPath | None = None,
    home: StrPath | None = None,
    env: Mapping[str, str] | None = None,
) -> Skills:
    """The skills that count in `cwd`: those of the user, and over them those of the project.

    Raises `LoadError` with every error of every skill.
    """
    found = find_skills(find_places(cwd, local=local, xdg_config_home=xdg_config_home, home=home, env=env))
    diagnostics = tuple(each for skill in found for each in skill.outcome.diagnostics)
    if any(each.severity == "error" for each in diagnostics):
        raise LoadError(diagnostics)
    return Skills(found, diagnostics)


def find_skills(places: Places) -> tuple[FoundSkill, ...]:
    """Every skill of every layer, checked, the user's first. Never raises on bad files."""
    project = list(_in_layer("project", places.project, places))
    theirs = {each.name: each.file for each in project}
    user = [
        msgspec.structs.replace(each, shadowed_by=theirs.get(each.name))
        for each in _in_layer("user", places.user, places)
    ]
    return (*user, *project)


def _in_layer(layer: SkillLayer, folder: str | None, places: Places) -> Iterator[FoundSkill]:
    if folder is None:
        return
    base = os.path.join(folder, SKILLS)
    try:
        names = sorted(os.listdir(base))
    except OSError:
        return  # a layer without skills
    request = Request(env={}, project=places.root if layer == "project" else folder)
    for name in names:
        file = os.path.join(base, name, FILE)
        if os.path.isfile(file):
            yield FoundSkill(name, layer, file, load_path(file, STRICT, request, Files()))
