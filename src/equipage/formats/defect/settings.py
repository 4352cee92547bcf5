"""The kind `settings`: one `config.toml`, a layer among others, and all layers merged.

`layers` merges the layers and exports the `FORMAT` of the kind.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from equipage.core import codes as core_codes
from equipage.formats.defect import codes, hooks
from equipage.formats.defect.codes import SETTINGS_CODES
from equipage.formats.defect.discovery import find_layer_folders
from equipage.formats.defect.hooks import Layer
from equipage.formats.defect.mcp import SERVERS_PATH
from equipage.formats.defect.profile_model import limit_facts, sampling_facts
from equipage.formats.defect.settings_model import (
    BUILT_IN_MODELS,
    BUILT_IN_PROVIDERS,
    Settings,
    Turn,
)
from equipage.loading.tree import punch_holes
from equipage.plugin import (
    ROOT,
    Also,
    Fact,
    Format,
    Item,
    LayerFolder,
    Layering,
    Path,
    Presentation,
    Reading,
    Sensitive,
    Session,
    Shape,
    Shown,
    System,
    Together,
    Tree,
    get,
    mapping_or_empty,
    nearest,
    walk,
)

if TYPE_CHECKING:
    from equipage.plugin import Outcome

#: The modes of the sandbox, from the narrowest to the widest.
SANDBOXES = ("deny-all", "read-only", "ask-writes", "open")
DEFAULT_SANDBOX = "ask-writes"

# Layers.

_LAYERS: tuple[tuple[re.Pattern[str], Layer], ...] = (
    (re.compile(r"/\.defect/config\.local\.toml\Z"), "project-local"),
    (re.compile(r"/\.defect/config\.toml\Z"), "project"),
    (re.compile(r"/defect/config\.toml\Z"), "user"),
)


def layer_by_path(path: str, _env: Mapping[str, str] | None = None) -> Layer | None:
    """The layer of a file by its path."""
    shown = path.replace(os.sep, "/")
    return next((layer for pattern, layer in _LAYERS if pattern.search(shown)), None)


class SettingsOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Options of a load."""

    layer: Layer | None = None
    """The layer of the file; by default its path says."""


def _layer_of(tree: Tree, session: Session) -> Layer | None:
    """The layer of a file of settings: the caller's option, else the one its path says."""
    given: Layer | None = session.options.layer
    path = tree.provenance(ROOT).origin.document.source.filename
    return given if given is not None or path is None else layer_by_path(path)


def _user_folder(env: Mapping[str, str], system: System) -> Iterator[LayerFolder]:
    """The folder of the user's own settings."""
    user = find_layer_folders(env=env, system=system).user
    if user is not None:
        yield LayerFolder(user, "user")


# Stages.


def prepare_hooks(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Remove unknown events, and stamp each hook with its layer."""
    return hooks.prepare(tree, _layer_of(tree, session), may_disable=True)


def drop_infinite_numbers(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Put holes where numbers are not finite; parsing has reported them."""
    return (
        replace_infinities_with_holes(tree) if session.has_oddity(core_codes.NOT_FINITE) else tree
    ), []


def replace_infinities_with_holes(tree: Tree) -> Tree:
    infinite = (
        path
        for path, value in walk(tree.value)
        if isinstance(value, float) and not math.isfinite(value)
    )
    return punch_holes(tree, infinite)


# Rules for each layer alone.

_RATIOS = ("compact_ratio", "compact_soft_ratio", "microcompact_ratio")


def hooks_can_run(config: Any, _session: Session) -> Iterator[Fact]:
    yield from hooks.check(config)
    yield from hooks.disabled_events_exist(config)


def numbers_are_plausible(config: Any, _session: Session) -> Iterator[Fact]:
    """Shares of the context window are in (0, 1], and sampling parameters in what models accept."""
    for key in _RATIOS:
        ratio = get(config, ("turn", key))
        if _is_number(ratio) and not 0 < ratio <= 1:
            yield codes.RATIO_RANGE.at(("turn", key), key=key, found=Shown(ratio))
    yield from sampling_facts(config, ("turn", "sampling"))


def models_are_named(config: Any, _session: Session) -> Iterator[Fact]:
    """The name of a model is not empty: it would hide the layer below, and no model has it."""
    names = mapping_or_empty(get(config, ("providers",)))
    paths = (("default", "model"), *(("providers", name, "default_model") for name in names))
    for path in paths:
        model = get(config, path)
        if isinstance(model, str) and not model.strip():
            yield codes.TEXT_EMPTY.at(path, what=f"`{'.'.join(path)}`")


# Rules for all layers merged: what must hold between keys that may come from different files.

_DEFAULT_TURN = Turn()
#: The switch that turns a tier of compaction off.
_SWITCHES = {
    "compact_soft_ratio": "background_compact_enabled",
    "microcompact_ratio": "microcompact_enabled",
}


def request_limit_is_complete(config: Any, _session: Session) -> Iterator[Fact]:
    return limit_facts(get(config, ("turn",)), ("turn",))


def ratios_are_ordered(config: Any, _session: Session) -> Iterator[Fact]:
    """Among the tiers that are on: soft below hard, micro not above soft, micro below hard."""
    turn = get(config, ("turn",), {})
    hard, soft, micro = (_effective_ratio(turn, key) for key in _RATIOS)
    if hard is not None and soft is not None and not soft < hard:
        yield _ratio_order_fact(turn, "compact_soft_ratio", "below", "compact_ratio")
    # One finding about the lowest tier is enough.
    if micro is not None and soft is not None and not micro <= soft:
        yield _ratio_order_fact(turn, "microcompact_ratio", "not above", "compact_soft_ratio")
    elif micro is not None and hard is not None and not micro < hard:
        yield _ratio_order_fact(turn, "microcompact_ratio", "below", "compact_ratio")


def _effective_ratio(turn: Any, key: str) -> float | None:
    """The ratio of a tier; None if the tier is off, or the ratio out of range and reported."""
    switch = _SWITCHES.get(key)
    if not isinstance(turn, dict) or (switch is not None and turn.get(switch) is False):
        return None
    ratio = turn.get(key, getattr(_DEFAULT_TURN, key))
    return ratio if _is_number(ratio) and 0 < ratio <= 1 else None


def _ratio_order_fact(turn: dict[str, Any], low: str, relation: str, high: str) -> Fact:
    """The finding at a ratio that the author set; the other one is named too if it is set."""
    here, other = (low, high) if low in turn else (high, low)
    low_value, high_value = (
        Shown(turn.get(key, getattr(_DEFAULT_TURN, key))) for key in (low, high)
    )
    return codes.RATIO_ORDER.at(
        ("turn", here),
        also=(Also("compared with this", ("turn", other)),) if other in turn else (),
        low=low,
        high=high,
        relation=relation,
        low_value=low_value,
        high_value=high_value,
    )


def provider_is_known(config: Any, _session: Session) -> Iterator[Fact]:
    """The provider in use is built in or has a section, and some model is known for it."""
    provider = get(config, ("default", "provider"), "defect")
    providers = get(config, ("providers",), {})
    if not isinstance(provider, str) or not isinstance(providers, dict):
        return
    path: Path = ("default", "provider")
    if provider not in BUILT_IN_PROVIDERS and provider not in providers:
        guess = nearest(provider, [*BUILT_IN_PROVIDERS, *providers])
        yield codes.PROVIDER_WITHOUT_SECTION.at(path, provider=Shown(provider), nearest=guess)
        return
    # A section that is not a table has a finding of its own.
    section = providers.get(provider, {})
    if section is not None and not isinstance(section, dict):
        return
    named = (get(config, ("default", "model")), get(section, ("default_model",)))
    if all(model is None for model in named) and provider not in BUILT_IN_MODELS:
        yield codes.MODEL_REQUIRED.at(path, provider=Shown(provider))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# The kind.

EXAMPLE = """\
[default]
provider = "anthropic"

[turn]
request_limit = 40
request_limit_mode = "adaptive"

[sandbox]
mode = "ask-writes"

[[hooks.before_tool_apply]]
name = "keep secrets in"
match = { tool = "bash" }
handler = { type = "builtin", name = "redact-secrets" }
"""


# fmt: off
#: Where requests go, with which secrets, and what runs at events.
_PERMISSIONS = (
    "hooks.**", "providers.*.base_url", "providers.*.headers.**", "providers.*.auth_header",
    "providers.*.api_key_env", "http.proxy.**",
)
# fmt: on
_PROMPTS = ("base_prompt.*", "turn.system_prompt", "prompt.**")


def _server_names(outcome: Outcome) -> Iterator[str]:
    """The MCP servers that a file of settings defines."""
    if outcome.tree is not None:
        yield from mapping_or_empty(get(outcome.tree.value, SERVERS_PATH))


def _list_settings(_plain: Any, file: str) -> Iterator[Item]:
    """Layers of settings merge, so none shadows another: each has the name of its file."""
    yield Item("settings", file.rpartition("/")[2])


#: One `config.toml`, whatever its layer, without the other layers.
SINGLE_FILE_FORMAT = Format(
    name="settings",
    title="settings",
    model=Settings,
    reading=Reading(options=SettingsOptions, syntaxes={".toml": "toml"}, variables=False),
    shape=Shape(unknown="error"),
    stages=(drop_infinite_numbers, prepare_hooks),
    checks=(hooks_can_run, numbers_are_plausible, models_are_named),
    codes=SETTINGS_CODES,
    together=Together(offers=_server_names),
    layering=Layering(layer=layer_by_path, elsewhere=_user_folder),
    presentation=Presentation(
        hidden="source",
        example=EXAMPLE,
        example_path=".defect/config.toml",
        listing=_list_settings,
        sensitive=(
            Sensitive("sandbox.mode", "permission", order=SANDBOXES, default=DEFAULT_SANDBOX),
            Sensitive("tools.fetch.enabled", "permission", order=(False, True), default=True),
            Sensitive(
                "capabilities.web_search.mode",
                "permission",
                order=("disabled", "delegate"),
                default="disabled",
            ),
            Sensitive("mcp.servers.*", "tool"),
            *(Sensitive(pattern, "permission") for pattern in _PERMISSIONS),
            *(Sensitive(pattern, "prompt") for pattern in _PROMPTS),
        ),
    ),
)

#: A layer among others: the merge leaves out numbers that are not finite.
LAYER_STAGES = (prepare_hooks,)
LAYER_FORMAT = replace(SINGLE_FILE_FORMAT, stages=LAYER_STAGES)

#: All layers merged.
MERGED_FORMAT = replace(
    SINGLE_FILE_FORMAT,
    stages=(),
    checks=(request_limit_is_complete, ratios_are_ordered, provider_is_known),
)
