"""What must hold between settings once all layers are merged, and what each layer can be told alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.diagnostics import Also, Fact, Shown, fact
from equipage.kinds.profile import hook_checks
from equipage.kinds.profile.rules import limit_facts, sampling_facts
from equipage.kinds.settings.effective import BUILT_IN_MODELS, BUILT_IN_PROVIDERS
from equipage.kinds.settings.hook_layers import disabled_events_exist
from equipage.kinds.settings.model import Turn
from equipage.nearest import nearest
from equipage.path import Path
from equipage.session import Session
from equipage.tree import get

_DEFAULTS = Turn()
_RATIOS = ("compact_ratio", "compact_soft_ratio", "microcompact_ratio")
#: Which tier a switch turns off.
_SWITCHES = {"compact_soft_ratio": "background_compact_enabled", "microcompact_ratio": "microcompact_enabled"}


def hooks_can_run(config: Any, _session: Session) -> Iterator[Fact]:
    yield from hook_checks.check(config)
    yield from disabled_events_exist(config)


def numbers_are_plausible(config: Any, _session: Session) -> Iterator[Fact]:
    """Shares of the context window lie in (0, 1], sampling in what models take."""
    for key in _RATIOS:
        ratio = get(config, ("turn", key))
        if _is_number(ratio) and not 0 < ratio <= 1:
            yield fact("ratio-range", ("turn", key), key=key, found=Shown(ratio))
    yield from sampling_facts(get(config, ("turn", "sampling")), ("turn", "sampling"))


def models_are_named(config: Any, _session: Session) -> Iterator[Fact]:
    """An empty name counts: it keeps the model below it from being used, and no provider has one of this name."""
    providers = get(config, ("providers",))
    sections = providers if isinstance(providers, dict) else {}
    for path in (("default", "model"), *(("providers", name, "default_model") for name in sections)):
        model = get(config, path)
        if isinstance(model, str) and not model.strip():
            yield fact("text-empty", path, field=".".join(path))


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
    return fact(
        "ratio-order",
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
        yield fact("provider-without-section", path, provider=Shown(provider), nearest=nearest(provider, known))
        return
    section = providers.get(provider, {})
    if section is not None and not isinstance(section, dict):
        return
    has_model = get(config, ("default", "model")) is not None or get(section, ("default_model",)) is not None
    if not has_model and provider not in BUILT_IN_MODELS:
        yield fact("model-required", path, provider=Shown(provider))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
