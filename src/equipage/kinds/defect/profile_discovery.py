"""Agent profiles of all layers: found, checked, and laid over each other.

`discover_profiles` gives what a program wants: a mapping of names to profiles, or every error. `find_profiles`
gives what a tool wants: each profile with its layer, its findings and what shadows it, whatever is wrong with it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from equipage.core.diagnostics import Diagnostic, Fact, LoadError
from equipage.core.frozen import EMPTY, FrozenDict
from equipage.core.source import Source
from equipage.files.reading import display_name
from equipage.files.roots import Places, StrPath, find_places
from equipage.kinds import codes as shared_codes
from equipage.kinds.defect.hooks import Hook, Hooks
from equipage.kinds.defect.profile import KIND
from equipage.kinds.defect.profile_model import (
    AgentProfile,
    RequestLimit,
    Sampling,
    Variant,
    request_limit,
)
from equipage.kinds.defect.profile_stages import AGENTS, look_into
from equipage.loading.findings import deduplicated
from equipage.loading.outcome import Outcome, place_alone
from equipage.loading.pipeline import load_path
from equipage.loading.request import Request
from equipage.loading.result import Loaded
from equipage.loading.session import Run
from equipage.loading.set_rules import set_findings

ProfileLayer = Literal["user", "project"]

_NO_HOOKS = Hooks()


class Profile(msgspec.Struct, frozen=True, gc=False):
    """One agent, ready to use: what its profile says, with defaults filled in, and where it came from."""

    name: str
    layer: ProfileLayer
    variant: Variant
    file: str  #: the profile's own file, absolute
    dir: str  #: its folder; for a single file, the `agents` folder
    description: str
    system_prompt_text: str
    model: str | None  #: None: that of the caller
    tool_allow: tuple[str, ...]
    sampling: Sampling | None  #: None: that of the caller
    inherit_project_prompt: bool
    request_limit: RequestLimit | None  #: None: left to the program
    hooks: Mapping[str, tuple[Hook, ...]]  #: only events that have hooks


class FoundProfile(msgspec.Struct, frozen=True):
    """A profile as it was found, good or bad."""

    name: str
    layer: ProfileLayer
    variant: Variant
    file: str
    outcome: Outcome
    shadowed_by: str | None = None  #: the file that counts instead

    @property
    def profile(self) -> Profile | None:
        """The profile, if it loads."""
        config = self.outcome.config
        return None if config is None else _profile(self, config)


class Discovery(msgspec.Struct, frozen=True):
    """Every profile of every layer, in order of layer and name, and every finding."""

    places: Places
    found: tuple[FoundProfile, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(each for each in self.diagnostics if each.severity == "error")

    def sources(self) -> tuple[Source, ...]:
        """Every file that was read."""
        return tuple(source for each in self.found for source in each.outcome.sources)


class Profiles(Mapping[str, Profile]):
    """The profiles that count, by name, in order of their names."""

    def __init__(self, discovery: Discovery) -> None:
        winners = sorted(
            (each for each in discovery.found if each.shadowed_by is None),
            key=lambda each: each.name,
        )
        self._found = {each.name: each for each in winners}
        self._profiles = {each.name: each.profile for each in winners}
        self.warnings = discovery.diagnostics
        self.shadowed = tuple(
            each.profile for each in discovery.found if each.shadowed_by and each.profile
        )
        self.sources = discovery.sources()

    def __getitem__(self, name: str) -> Profile:
        profile = self._profiles.get(name)
        if profile is None:
            raise KeyError(
                f"there is no profile {name!r} (known: {', '.join(self._profiles) or 'none'})"
            )
        return profile

    def __iter__(self) -> Iterator[str]:
        return iter(self._profiles)

    def __len__(self) -> int:
        return len(self._profiles)

    def __repr__(self) -> str:
        return f"Profiles({', '.join(self._profiles)})"

    def loaded(self, name: str) -> Loaded[AgentProfile]:
        """The load behind a profile, to `explain` and `locate` its values."""
        loaded = self._found[name].outcome.loaded()
        assert loaded is not None
        return loaded


def discover_profiles(
    cwd: StrPath = ".",
    *,
    local: bool = False,
    xdg_config_home: StrPath | None = None,
    home: StrPath | None = None,
    env: Mapping[str, str] | None = None,
) -> Profiles:
    """The agents that can be called from `cwd`: those of the user, and over them those of the project.

    A profile of the project replaces one of the user with the same name as a whole. With `local`, the user's are
    left out. `layers.find_places` says where they are looked for.

    Raises `LoadError` with every error of every profile, shadowed ones included: one broken profile is no reason
    to be silent about the others, and none to go on without it.
    """
    places = find_places(cwd, local=local, xdg_config_home=xdg_config_home, home=home, env=env)
    discovery = find_profiles(places)
    if discovery.errors:
        raise LoadError(discovery.diagnostics)
    return Profiles(discovery)


def find_profiles(places: Places) -> Discovery:
    """Every profile below the folders of the layers, checked. Never raises on bad files."""
    found: list[FoundProfile] = []
    diagnostics: list[Diagnostic] = [
        place_alone(Fact(shared_codes.VARIABLE_IGNORED, values={"name": name}))
        for name in places.ignored
    ]
    folders: list[tuple[ProfileLayer, str | None]] = [
        ("user", places.user),
        ("project", places.project),
    ]
    for layer, folder in folders:
        if folder is not None:
            layer_found, layer_findings = _scan(os.path.join(folder, AGENTS), layer, places)
            found += layer_found
            diagnostics += layer_findings
    found = list(_shadowed(found))
    diagnostics += (each for item in found for each in item.outcome.diagnostics)
    diagnostics += set_findings([each.outcome for each in found])
    return Discovery(places, tuple(found), tuple(deduplicated(diagnostics)))


def _scan(
    folder: str, layer: ProfileLayer, places: Places
) -> tuple[list[FoundProfile], list[Diagnostic]]:
    """The profiles of one layer, by name, and what its folder alone tells."""
    run = Run()
    request = Request(
        env={}, options={"layer": layer}, project=places.root if layer == "project" else folder
    )
    agents = look_into(folder, places.root if layer == "project" else None)
    found: list[FoundProfile] = []
    for each in agents.entries:
        outcome = load_path(each.file, KIND, request, run)
        found.append(FoundProfile(each.name, layer, each.variant, each.file, outcome))
    return found, [place_alone(fact, display_name(path)) for path, fact in agents.facts]


# ----------------------------------------------------------------------------------------------- together


def _shadowed(found: Iterable[FoundProfile]) -> Iterator[FoundProfile]:
    """The same profiles, those of the user marked that the project replaces."""
    found = list(found)
    of_project = {each.name: each.file for each in found if each.layer == "project"}
    for each in found:
        winner = of_project.get(each.name) if each.layer == "user" else None
        yield each if winner is None else msgspec.structs.replace(each, shadowed_by=winner)


def _profile(found: FoundProfile, config: AgentProfile) -> Profile:
    folder = os.path.dirname(found.file)
    return Profile(
        name=found.name,
        layer=found.layer,
        variant=found.variant,
        file=found.file,
        dir=folder,
        description=config.description,
        system_prompt_text=config.prompt.text or "",
        model=config.model,
        tool_allow=config.tools.allow,
        sampling=config.sampling,
        inherit_project_prompt=config.inherit_project_prompt,
        request_limit=request_limit(config.request_limit, config.request_limit_mode),
        hooks=hooks_by_event(config.hooks),
    )


def hooks_by_event(hooks: Any) -> Mapping[str, tuple[Hook, ...]]:
    """The events that have hooks, with their hooks."""
    if hooks == _NO_HOOKS:
        return EMPTY
    return FrozenDict(
        {event: getattr(hooks, event) for event in hooks.__struct_fields__ if getattr(hooks, event)}
    )
