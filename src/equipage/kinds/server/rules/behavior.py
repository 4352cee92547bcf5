"""Behaviour: what its numbers may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from equipage.diagnostics import Fact, Shown, fact
from equipage.kinds.server.items import behaviors, side_effects
from equipage.kinds.server.parts import LARGEST
from equipage.session import Session
from equipage.tree import mapping


def deliveries_fit_64_bits(config: Any, _session: Session) -> Iterator[Fact]:
    for path, behavior in behaviors(config):
        for name, value in mapping(behavior.get("delivery")).items():
            if isinstance(value, int) and value > LARGEST:
                expected = f"a whole number from 0 to {LARGEST}"
                yield fact("out-of-range", (*path, "delivery", name), found=Shown(value), expected=expected)


def side_effects_do_something(config: Any, _session: Session) -> Iterator[Fact]:
    for path, effect in side_effects(config):
        effect = mapping(effect)
        size = effect.get("batch_size")
        if effect.get("type") == "batch_amplify" and size == 0 and not isinstance(size, bool):
            yield fact("not-positive", (*path, "batch_size"), field="batch_size")
        if effect.get("type") in ("notification_flood", "batch_amplify") and effect.get("method") == "":
            yield fact("empty-field", (*path, "method"), field="method")


RULES = (deliveries_fit_64_bits, side_effects_do_something)
