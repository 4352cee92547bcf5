"""Skills of all layers: found, checked, and laid over each other, as the seed has it.

A skill is a folder below `skills` that holds a `SKILL.md`. One of the project replaces one of the user with the same
name as a whole. Anything else in the folder is left alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from equipage.core.diagnostics import Diagnostic, Fact, LoadError
from equipage.files.reading import display_name
from equipage.files.roots import Places, StrPath, find_places
from equipage.kinds import codes as shared_codes
from equipage.kinds.conventions.skill import SKILLS, STRICT, Skill, look_into
from equipage.loading.findings import deduplicated
from equipage.loading.outcome import Outcome, place_alone
from equipage.loading.pipeline import load_path
from equipage.loading.request import Request

SkillLayer = Literal["user", "project"]


class FoundSkill(msgspec.Struct, frozen=True):
    """A skill as it was found, good or bad."""

    name: str  #: of its folder
    layer: SkillLayer
    file: str
    outcome: Outcome
    shadowed_by: str | None = None  #: the file that counts instead


class SkillDiscovery(msgspec.Struct, frozen=True):
    """Every skill of every layer, the user's first, and every finding."""

    found: tuple[FoundSkill, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(each for each in self.diagnostics if each.severity == "error")


class Skills(Mapping[str, Skill]):
    """The skills that count, by name, in order of their names."""

    def __init__(self, discovery: SkillDiscovery) -> None:
        winners = sorted(
            (each for each in discovery.found if each.shadowed_by is None),
            key=lambda each: each.name,
        )
        self._skills: dict[str, Skill] = {each.name: each.outcome.config for each in winners}
        self.found = discovery.found
        self.warnings = discovery.diagnostics

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
    discovery = find_skills(
        find_places(cwd, local=local, xdg_config_home=xdg_config_home, home=home, env=env)
    )
    if discovery.errors:
        raise LoadError(discovery.diagnostics)
    return Skills(discovery)


def find_skills(places: Places) -> SkillDiscovery:
    """Every skill of every layer, checked. Never raises on bad files."""
    diagnostics = [
        place_alone(Fact(shared_codes.VARIABLE_IGNORED, values={"name": name}))
        for name in places.ignored
    ]
    user, of_user = _in_layer("user", places.user, places)
    project, of_project = _in_layer("project", places.project, places)
    theirs = {each.name: each.file for each in project}
    found = (
        *(msgspec.structs.replace(each, shadowed_by=theirs.get(each.name)) for each in user),
        *project,
    )
    diagnostics += [
        *of_user,
        *of_project,
        *(each for skill in found for each in skill.outcome.diagnostics),
    ]
    return SkillDiscovery(found, tuple(deduplicated(diagnostics)))


def _in_layer(
    layer: SkillLayer, folder: str | None, places: Places
) -> tuple[list[FoundSkill], list[Diagnostic]]:
    """The skills of one layer, by name, and what its folder alone tells."""
    if folder is None:
        return [], []
    base = os.path.join(folder, SKILLS)
    files, facts = look_into(base)
    request = Request(env={}, project=places.root if layer == "project" else folder)
    found = [
        FoundSkill(name, layer, file, load_path(file, STRICT, request)) for name, file in files
    ]
    return found, [place_alone(fact, display_name(base)) for fact in facts]
