"""The kind `profile`, and the agents of all layers.

`discover_profiles` returns a mapping of names to profiles, or raises every error. `find_profiles`
returns each profile with its layer, its findings and what shadows it, whatever is wrong with it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from equipage.core.frozen import EMPTY, FrozenDict
from equipage.files.roots import Places, StrPath, find_places
from equipage.kinds.defect import profile_rules as rules
from equipage.kinds.defect import profile_stages as stages
from equipage.kinds.defect.codes import PROFILE_CODES
from equipage.kinds.defect.hooks import Hook, Hooks
from equipage.kinds.defect.profile_model import (
    READ_ONLY,
    AgentProfile,
    ProfileOptions,
    RequestLimit,
    Sampling,
    Variant,
    request_limit,
)
from equipage.kinds.defect.profile_stages import AGENTS, variant_of
from equipage.kinds.headers import STRICT_YAML
from equipage.kinds.layering import Discovery, Found, Layered, LayerName, discover
from equipage.kinds.shared import hide_property
from equipage.loading.kind import Item, Kind, Layering, Presentation, Reading, Sensitive, Together
from equipage.loading.model import Shape

EXAMPLE = """\
---
description: Reviews a change and reports problems. Use it before a merge.
tools:
  allow: [read_file, search]
request_limit: 20
request_limit_mode: fixed
---
You review changes. Read the files that changed, and the tests beside them.

Report each problem with file and line, the worst first. Do not edit anything.
"""
_NAME = re.compile(r"(?:.*/)?(?:(?P<folder>[^/]+)/config\.toml|(?P<file>[^/]+)\.md)\Z")


def _listed(plain: Any, file: str) -> Iterator[Item]:
    """One agent, named by its file or folder."""
    match = _NAME.match(file)
    name = (match["folder"] or match["file"]) if match is not None else file
    yield Item("agent", name, plain.get("description"))


#: Agents of the `.defect` convention: `agents/<name>.md` and `agents/<name>/config.toml`.
KIND = Kind(
    name="profile",
    title="agent profile",
    model=AgentProfile,
    reading=Reading(
        options=ProfileOptions, formats={".md": "yaml", ".toml": "toml"}, read=stages.read
    ),
    strictness=STRICT_YAML,
    shape=Shape(unknown="error", null_is_absent=True),
    stages=(stages.keep_text, stages.fold_model, stages.bring_prompt, stages.prepare_hooks),
    rules=(
        rules.texts_are_not_empty,
        rules.request_limit_is_complete,
        rules.sampling_is_plausible,
        rules.allowed_tools_can_match,
        rules.hooks_can_run,
    ),
    codes=PROFILE_CODES,
    together=Together(
        set_rules=(rules.names_are_unique, rules.project_replaces_user, rules.names_differ),
        set_key=rules.set_key,
        cross_rules=(rules.servers_exist,),
        refers=rules.refers,
    ),
    layering=Layering(
        layers=("user", "project"),
        identity=stages.identity,
        discovered=True,
        layer=AGENTS.layer,
        beside=AGENTS.beside,
        above=AGENTS.above,
        elsewhere=AGENTS.elsewhere,
    ),
    presentation=Presentation(
        schema=partial(hide_property, "source"),
        example=EXAMPLE,
        example_path=".defect/agents/NAME.md",
        listing=_listed,
        sensitive=(
            Sensitive("tools.allow", "permission", default=READ_ONLY),
            Sensitive("hooks.**", "permission"),
            Sensitive("prompt.*", "prompt"),
            Sensitive("description", "prompt"),
        ),
    ),
)


class Profile(msgspec.Struct, frozen=True, gc=False):
    """One agent, ready to use: its profile with defaults filled in, and where it came from."""

    name: str
    layer: LayerName
    variant: Variant
    file: str  #: the profile's own file, absolute
    dir: str  #: its folder; for a single file, the `agents` folder
    description: str
    system_prompt_text: str
    model: str | None  #: None: the caller's
    tool_allow: tuple[str, ...]
    sampling: Sampling | None  #: None: the caller's
    inherit_project_prompt: bool
    request_limit: RequestLimit | None  #: None: left to the program
    hooks: Mapping[str, tuple[Hook, ...]]  #: only events that have hooks


class Profiles(Layered[Profile]):
    """The profiles that count, by name, in order of their names."""

    what = "profile"

    def __init__(self, discovery: Discovery) -> None:
        super().__init__(discovery, _profile)
        self.shadowed = tuple(_profile(each) for each in self.found if each.shadowed_by)


def discover_profiles(
    cwd: StrPath = ".",
    *,
    local: bool = False,
    xdg_config_home: StrPath | None = None,
    home: StrPath | None = None,
    env: Mapping[str, str] | None = None,
) -> Profiles:
    """The agents that can be called from `cwd`: the user's, and over them the project's.

    A profile of the project replaces the user's profile of that name as a whole. With `local`, the
    user's profiles are left out. `files.roots.find_places` says where the layers are.

    Raises `LoadError` with every error of every profile, shadowed ones included: a broken profile
    neither hides the errors of the others nor is left out.
    """
    places = find_places(cwd, local=local, xdg_config_home=xdg_config_home, home=home, env=env)
    return Profiles(find_profiles(places))


def find_profiles(places: Places) -> Discovery:
    """Every profile of every layer, checked. Never raises on bad files."""
    return discover(AGENTS, KIND, places)


def _profile(found: Found) -> Profile:
    config: AgentProfile = found.outcome.config
    return Profile(
        name=found.name,
        layer=found.layer,
        variant=variant_of(found.file),
        file=found.file,
        dir=os.path.dirname(found.file),
        description=config.description,
        system_prompt_text=config.prompt.text or "",
        model=config.model,
        tool_allow=config.tools.allow,
        sampling=config.sampling,
        inherit_project_prompt=config.inherit_project_prompt,
        request_limit=request_limit(config.request_limit, config.request_limit_mode),
        hooks=_hooks_by_event(config.hooks),
    )


def _hooks_by_event(hooks: Hooks) -> Mapping[str, tuple[Hook, ...]]:
    if hooks == Hooks():
        return EMPTY
    by_event = {event: getattr(hooks, event) for event in hooks.__struct_fields__}
    return FrozenDict({event: those for event, those in by_event.items() if those})
