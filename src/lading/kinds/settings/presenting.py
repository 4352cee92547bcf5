"""What the commands show of settings: their layer, the changes that matter, and all layers together."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from lading.given import is_possible
from lading.kinds.kind import Elsewhere, Item, Sensitive
from lading.kinds.profile.hooks import Layer
from lading.layers import Places, find_places

if TYPE_CHECKING:
    from lading.loading import Outcome, Request

_LAYERS: tuple[tuple[re.Pattern[str], Layer], ...] = (
    (re.compile(r"/\.defect/config\.local\.toml\Z"), "project-local"),
    (re.compile(r"/\.defect/config\.toml\Z"), "project"),
    (re.compile(r"/defect/config\.toml\Z"), "user"),
)


def layer_by_path(path: str) -> Layer | None:
    """The layer of a file by where it lies."""
    shown = path.replace(os.sep, "/")
    return next((layer for pattern, layer in _LAYERS if pattern.search(shown)), None)


def layer(path: str, _env: Mapping[str, str]) -> str | None:
    return layer_by_path(path)


def elsewhere(env: Mapping[str, str]) -> Iterator[Elsewhere]:
    """The user's own settings."""
    user = find_places(env=env).user
    if user is not None:
        yield Elsewhere(user, "user")


def listing(_plain: Any, file: str) -> Iterator[Item]:
    """Layers of settings are merged, so none shadows another: each is named for its file."""
    yield Item("settings", file.rpartition("/")[2])


def stack(path: str, request: Request) -> Outcome | None:
    """All layers merged, if the file is one of them."""
    # The settings of all layers stand above the kinds; they are looked up when somebody asks, like a kind itself.
    settings: Any = importlib.import_module("lading.settings")
    real = os.path.realpath(path)
    cwd = "." if layer_by_path(real) == "user" else os.path.dirname(real)
    local = bool(request.options.get("local"))
    found = settings.find_settings(find_places(cwd, local=local, env=request.env), request.options.get("config", ()))
    files = [each.file for each in found.layers if each.file is not None]
    outcome: Outcome = found.outcome
    return outcome if any(os.path.realpath(each) == real for each in files) else None


def stacks(paths: Sequence[str], request: Request) -> Iterator[Outcome]:
    """The settings of each project that one of the files belongs to, merged.

    The user's layer and the machine's own `config.local.toml` take part only if they are among the files: what is
    found in a project must not depend on whose machine it is checked on. The user's layer without any project is
    merged alone.
    """
    settings: Any = importlib.import_module("lading.settings")
    paths = [path for path in paths if is_possible(path)]
    asked = {os.path.realpath(path) for path in paths}
    mine = find_places(local=bool(request.options.get("local")), env=request.env).user
    user = mine if mine is not None and os.path.realpath(os.path.join(mine, "config.toml")) in asked else None
    projects = {places.root: places for path in paths if (places := _project_of(path)) is not None}
    if user is not None and not projects:
        projects[None] = Places(user, user, None)
    for places in projects.values():
        machine = os.path.join(places.project or "", settings.LOCAL_CONFIG)
        without = frozenset[Layer]() if os.path.realpath(machine) in asked else frozenset[Layer]({"project-local"})
        merged = msgspec.structs.replace(places, user=user)
        yield settings.find_settings(merged, request.options.get("config", ()), without=without).outcome


def _project_of(path: str) -> Places | None:
    """The project whose layer a file is; None if it is none, as below a folder that is no root of a repository."""
    absolute = os.path.abspath(path)
    if layer_by_path(absolute) not in ("project", "project-local"):
        return None
    folder = os.path.dirname(absolute)
    places = find_places(os.path.dirname(folder), local=True)
    is_layer = places.project is not None and os.path.realpath(places.project) == os.path.realpath(folder)
    return places if is_layer else None


SENSITIVE = (
    Sensitive(
        "sandbox.mode", "permission", order=("deny-all", "read-only", "ask-writes", "open"), default="ask-writes"
    ),
    Sensitive("mcp.servers.*", "tool"),
    Sensitive("hooks.**", "permission"),
    Sensitive("providers.*.base_url", "permission"),
    Sensitive("providers.*.headers.**", "permission"),
    Sensitive("providers.*.auth_header", "permission"),
    Sensitive("providers.*.api_key_env", "permission"),
    Sensitive("http.proxy.**", "permission"),
    Sensitive("tools.fetch.enabled", "permission", order=(False, True), default=True),
    Sensitive("capabilities.web_search.mode", "permission", order=("disabled", "delegate"), default="disabled"),
    Sensitive("base_prompt.*", "prompt"),
    Sensitive("turn.system_prompt", "prompt"),
    Sensitive("prompt.**", "prompt"),
)
