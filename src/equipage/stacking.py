"""The kind `settings` as it is registered: a file, and the layers it is merged with.

Merging stands above the kinds, since it runs whole loads; so does what the kind tells with its help.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import msgspec

from equipage.given import is_possible
from equipage.kinds.profile.hooks import Layer
from equipage.kinds.settings.kind import KIND as ALONE
from equipage.kinds.settings.presenting import layer_by_path
from equipage.layers import Places, find_places
from equipage.loading import Outcome, Request
from equipage.settings import LOCAL_CONFIG, find_settings


def stack(path: str, request: Request) -> Outcome | None:
    """All layers merged, if the file is one of them."""
    real = os.path.realpath(path)
    cwd = "." if layer_by_path(real) == "user" else os.path.dirname(real)
    local = bool(request.options.get("local"))
    found = find_settings(find_places(cwd, local=local, env=request.env), _overrides(request))
    files = [each.file for each in found.layers if each.file is not None]
    return found.outcome if any(os.path.realpath(each) == real for each in files) else None


def stacks(paths: Sequence[str], request: Request) -> Iterator[Outcome]:
    """The settings of each project that one of the files belongs to, merged.

    The user's layer and the machine's own `config.local.toml` take part only if they are among the files: what is
    found in a project must not depend on whose machine it is checked on. The user's layer without any project is
    merged alone.
    """
    paths = [path for path in paths if is_possible(path)]
    asked = {os.path.realpath(path) for path in paths}
    mine = find_places(local=bool(request.options.get("local")), env=request.env).user
    user = mine if mine is not None and os.path.realpath(os.path.join(mine, "config.toml")) in asked else None
    projects = {places.root: places for path in paths if (places := _project_of(path)) is not None}
    if user is not None and not projects:
        projects[None] = Places(user, user, None)
    for places in projects.values():
        machine = os.path.join(places.project or "", LOCAL_CONFIG)
        without = frozenset[Layer]() if os.path.realpath(machine) in asked else frozenset[Layer]({"project-local"})
        merged = msgspec.structs.replace(places, user=user)
        yield find_settings(merged, _overrides(request), without=without).outcome


def _overrides(request: Request) -> list[str]:
    given = request.options.get("config", ())
    return list(given) if isinstance(given, list | tuple) else []


def _project_of(path: str) -> Places | None:
    """The project whose layer a file is; None if it is none, as below a folder that is no root of a repository."""
    absolute = os.path.abspath(path)
    if layer_by_path(absolute) not in ("project", "project-local"):
        return None
    folder = os.path.dirname(absolute)
    places = find_places(os.path.dirname(folder), local=True)
    is_layer = places.project is not None and os.path.realpath(places.project) == os.path.realpath(folder)
    return places if is_layer else None


KIND = msgspec.structs.replace(ALONE, stack=stack, stacks=stacks)
