"""What the commands show of settings: their layer, the changes that matter, and all layers together."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lading.kinds.kind import Elsewhere, Item, Sensitive
from lading.kinds.profile.hooks import Layer
from lading.layers import find_places

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
    overrides: Any = request.options.get("config", ())
    found = settings.find_settings(
        find_places(cwd, local=bool(request.options.get("local")), env=request.env), overrides
    )
    files = [each.file for each in found.layers if each.file is not None]
    outcome: Outcome = found.outcome
    return outcome if any(os.path.realpath(each) == real for each in files) else None


SENSITIVE = (
    Sensitive(
        "sandbox.mode", "permission", order=("deny-all", "read-only", "ask-writes", "open"), default="ask-writes"
    ),
    Sensitive("mcp.servers.*", "tool"),
    Sensitive("hooks.**", "permission"),
    Sensitive("providers.*.base_url", "permission"),
    Sensitive("providers.*.api_key_env", "permission"),
    Sensitive("http.proxy.**", "permission"),
    Sensitive("tools.fetch.enabled", "permission", order=(False, True), default=True),
    Sensitive("capabilities.web_search.mode", "permission", order=("disabled", "delegate"), default="disabled"),
    Sensitive("base_prompt.*", "prompt"),
    Sensitive("turn.system_prompt", "prompt"),
    Sensitive("project_prompt.**", "prompt"),
)
