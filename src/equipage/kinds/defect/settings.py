"""Layered settings: the user's, the project's, this machine's, the command line's."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Fact, Shown
from equipage.core.path import ROOT, Path
from equipage.core.source import Source
from equipage.core.text import nearest
from equipage.files.roots import find_places
from equipage.kinds.defect import codes
from equipage.kinds.defect import hooks as hook_checks
from equipage.kinds.defect import profile_rules as servers
from equipage.kinds.defect import settings_layers as trust
from equipage.kinds.defect.codes import SETTINGS_CODES
from equipage.kinds.defect.hooks import Layer
from equipage.kinds.defect.profile import hide_source
from equipage.kinds.defect.profile_rules import limit_facts, sampling_facts
from equipage.kinds.defect.settings_layers import disabled_events_exist
from equipage.kinds.defect.settings_model import BUILT_IN_MODELS, BUILT_IN_PROVIDERS, Settings, Turn
from equipage.kinds.mcp.strict import servers_are_complete
from equipage.loading.kind import (
    Elsewhere,
    Item,
    Kind,
    Layering,
    Presentation,
    Reading,
    Sensitive,
    Together,
)
from equipage.loading.model import Shape
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, Tree, get, graft, walk

# --- presenting --------------------------------------------------------------------------------
# What the commands show of settings: their layer, and the changes that matter.

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
        "sandbox.mode",
        "permission",
        order=("deny-all", "read-only", "ask-writes", "open"),
        default="ask-writes",
    ),
    Sensitive("mcp.servers.*", "tool"),
    Sensitive("hooks.**", "permission"),
    Sensitive("providers.*.base_url", "permission"),
    Sensitive("providers.*.headers.**", "permission"),
    Sensitive("providers.*.auth_header", "permission"),
    Sensitive("providers.*.api_key_env", "permission"),
    Sensitive("http.proxy.**", "permission"),
    Sensitive("tools.fetch.enabled", "permission", order=(False, True), default=True),
    Sensitive(
        "capabilities.web_search.mode",
        "permission",
        order=("disabled", "delegate"),
        default="disabled",
    ),
    Sensitive("base_prompt.*", "prompt"),
    Sensitive("turn.system_prompt", "prompt"),
    Sensitive("prompt.**", "prompt"),
)


# --- rules -------------------------------------------------------------------------------------
# What must hold between settings once all layers are merged, and what each layer can be told alone.

_DEFAULTS = Turn()
_RATIOS = ("compact_ratio", "compact_soft_ratio", "microcompact_ratio")
#: Which tier a switch turns off.
_SWITCHES = {
    "compact_soft_ratio": "background_compact_enabled",
    "microcompact_ratio": "microcompact_enabled",
}


def hooks_can_run(config: Any, _session: Session) -> Iterator[Fact]:
    yield from hook_checks.check(config)
    yield from disabled_events_exist(config)


def numbers_are_plausible(config: Any, _session: Session) -> Iterator[Fact]:
    """Shares of the context window lie in (0, 1], sampling in what models take."""
    for key in _RATIOS:
        ratio = get(config, ("turn", key))
        if _is_number(ratio) and not 0 < ratio <= 1:
            yield codes.RATIO_RANGE.at(("turn", key), key=key, found=Shown(ratio))
    yield from sampling_facts(get(config, ("turn", "sampling")), ("turn", "sampling"))


def models_are_named(config: Any, _session: Session) -> Iterator[Fact]:
    """An empty name counts: it keeps the model below it from being used, and no provider has one of this name."""
    providers = get(config, ("providers",))
    sections = providers if isinstance(providers, dict) else {}
    for path in (
        ("default", "model"),
        *(("providers", name, "default_model") for name in sections),
    ):
        model = get(config, path)
        if isinstance(model, str) and not model.strip():
            yield codes.TEXT_EMPTY.at(path, field=".".join(path))


def request_limit_is_complete(config: Any, _session: Session) -> Iterator[Fact]:
    yield from limit_facts(get(config, ("turn",)), ("turn",))


def ratios_follow_each_other(config: Any, _session: Session) -> Iterator[Fact]:
    """Among the tiers that are on: soft below hard, micro not above soft, micro below hard."""
    turn = get(config, ("turn",), {})
    ratios = {key: _ratio(turn, key) for key in _RATIOS}
    hard, soft, micro = (ratios[key] for key in _RATIOS)
    if hard is not None and soft is not None and not soft < hard:
        yield _order(turn, "compact_soft_ratio", "below", "compact_ratio")
    if micro is not None and soft is not None and not micro <= soft:
        yield _order(turn, "microcompact_ratio", "not above", "compact_soft_ratio")
    elif micro is not None and hard is not None and not micro < hard:
        yield _order(turn, "microcompact_ratio", "below", "compact_ratio")


def _ratio(turn: Any, key: str) -> float | None:
    """A ratio that counts: its tier is on, and it is in range; else its own finding is enough."""
    switch = _SWITCHES.get(key)
    if not isinstance(turn, dict) or (switch is not None and turn.get(switch) is False):
        return None
    ratio = turn.get(key, getattr(_DEFAULTS, key))
    return ratio if _is_number(ratio) and 0 < ratio <= 1 else None


def _order(turn: dict[str, Any], low: str, relation: str, high: str) -> Fact:
    """Placed at a ratio somebody set; the other one, if it is set, is named too."""
    here, other = (low, high) if low in turn else (high, low)
    also = (Also("compared with this", ("turn", other)),) if other in turn else ()
    values = {each: turn.get(each, getattr(_DEFAULTS, each)) for each in (low, high)}
    return codes.RATIO_ORDER.at(
        ("turn", here),
        also=also,
        low=low,
        high=high,
        relation=relation,
        low_value=Shown(values[low]),
        high_value=Shown(values[high]),
    )


def provider_is_known(config: Any, _session: Session) -> Iterator[Fact]:
    """The provider in use is built in or described, and some model is known for it."""
    provider = get(config, ("default", "provider"), "defect")
    providers = get(config, ("providers",), {})
    if not isinstance(provider, str) or not isinstance(providers, dict):
        return
    path: Path = ("default", "provider")
    if provider not in BUILT_IN_PROVIDERS and provider not in providers:
        known = [*BUILT_IN_PROVIDERS, *providers]
        yield codes.PROVIDER_WITHOUT_SECTION.at(
            path, provider=Shown(provider), nearest=nearest(provider, known)
        )
        return
    section = providers.get(provider, {})
    if section is not None and not isinstance(section, dict):
        return
    has_model = (
        get(config, ("default", "model")) is not None
        or get(section, ("default_model",)) is not None
    )
    if not has_model and provider not in BUILT_IN_MODELS:
        yield codes.MODEL_REQUIRED.at(path, provider=Shown(provider))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


# --- settings.kind -----------------------------------------------------------------------------
# The kind `settings` as values: one file alone, and the merged stack.

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


class SettingsOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`layer` is what a file counts as; by default its path tells."""

    layer: Layer | None = None


def layer_of(source: Source, session: Session) -> Layer | None:
    """The layer a file of settings belongs to: as the caller says, else as its path tells."""
    given: Layer | None = session.options.layer
    if given is not None or source.path is None:
        return given
    return layer_by_path(source.path)


def prepare_hooks(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Known events only, each hook with its layer."""
    if not isinstance(tree.value, dict) or "hooks" not in tree.value:
        return tree, []
    source = tree.story(ROOT).origin.document.source
    return hook_checks.prepare(tree, layer_of(source, session), may_disable=True)


def say_what_the_project_decides(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """For one file alone: what it decides over the defaults."""
    source = tree.story(ROOT).origin.document.source
    return tree, list(trust.facts(layer_of(source, session), tree, None, session.root))


def leave_out_the_infinite(tree: Tree, session: Session) -> tuple[Tree, list[Fact]]:
    """Holes for numbers that are not finite, which the parser has told."""
    return (without_infinities(tree) if session.noted(core_codes.NOT_FINITE) else tree), []


def without_infinities(tree: Tree) -> Tree:
    odd = [
        path
        for path, value in walk(tree.value)
        if isinstance(value, float) and not math.isfinite(value)
    ]
    return graft(tree, {path: Tree(HOLE, tree.at(path).origins) for path in odd})


#: One `config.toml`, whatever its layer: its shape, and what can be said without the other layers. What it comes to
#: together with them is added in `equipage.kinds.defect.settings_stack`, above the kinds.
KIND = Kind(
    name="settings",
    title="settings",
    model=Settings,
    reading=Reading(options=SettingsOptions, formats={".toml": "toml"}),
    shape=Shape(unknown="error"),
    stages=(leave_out_the_infinite, prepare_hooks, say_what_the_project_decides),
    rules=(hooks_can_run, numbers_are_plausible, models_are_named),
    together=Together(offers=servers.defined),
    codes=SETTINGS_CODES,
    presentation=Presentation(
        schema=hide_source,
        example=EXAMPLE,
        example_path=".defect/config.toml",
        listing=listing,
        sensitive=SENSITIVE,
    ),
    layering=Layering(layer=layer, elsewhere=elsewhere),
)

#: A layer among others: what it decides is told when it is laid over those below it.
LAYER = msgspec.structs.replace(KIND, stages=(prepare_hooks,))

#: All layers merged: what must hold between keys that may come from different files.
STACK = msgspec.structs.replace(
    KIND,
    stages=(),
    rules=(
        request_limit_is_complete,
        ratios_follow_each_other,
        provider_is_known,
        servers_are_complete,
    ),
)


__all__ = ["KIND"]
