"""What the commands show of settings: their layer, and the changes that matter."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from equipage.kinds.kind import Elsewhere, Item, Sensitive
from equipage.kinds.profile.hooks import Layer
from equipage.layers import find_places

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
