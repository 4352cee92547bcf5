"""Side effects whose parameters do not fit. A server runs on with the default, so these are warnings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from equipage.diagnostics import Fact, Shown, fact
from equipage.kinds.server.parts import LARGEST
from equipage.path import Path
from equipage.tree import HOLE, Tree, put, remove

#: What each side effect takes, in words; `any value` takes anything.
PARAMETERS: Mapping[str, Mapping[str, str]] = {
    "notification_flood": {
        "rate_per_sec": "a whole number",
        "duration_sec": "a whole number",
        "method": "text",
        "params": "any value",
    },
    "batch_amplify": {"batch_size": "a whole number", "method": "text"},
    "pipe_deadlock": {"fill_bytes": "a whole number"},
    "close_connection": {"graceful": "`true` or `false`", "delay_ms": "a whole number"},
    "duplicate_request_ids": {
        "count": "a whole number",
        "id": "any value",
        "method": "text",
        "params": "any value",
    },
}


def _fits(value: Any, expected: str) -> bool:
    if value is HOLE or value is None or expected == "any value":
        return True
    if expected == "a whole number":
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST
    return isinstance(value, str if expected == "text" else bool)


def _misfits(effect: dict[str, Any]) -> list[str]:
    name = effect.get("type")
    parameters = PARAMETERS.get(name, {}) if isinstance(name, str) else {}
    return [name for name, expected in parameters.items() if name in effect and not _fits(effect[name], expected)]


def side_effect_needs_settling(effect: Any) -> bool:
    if not isinstance(effect, dict):
        return False
    return ("trigger" in effect and effect["trigger"] is None) or bool(_misfits(effect))


def settle_side_effect(part: Tree, path: Path, facts: list[Fact]) -> Tree:
    """The side effect without what does not fit."""
    effect = part.value
    for name in _misfits(effect):
        expected = PARAMETERS[effect["type"]][name]
        found = Shown(effect[name], as_found=True)
        said: dict[str, Any] = {"parameter": name, "type": effect["type"], "expected": expected, "found": found}
        facts.append(fact("effect-parameter-type", (*path, name), **said))
        part = remove(part, (name,))
    if effect.get("trigger", HOLE) is None:
        facts.append(fact("wrong-type", (*path, "trigger"), expected="a word", found=Shown(None, as_found=True)))
        part = put(part, ("trigger",), HOLE)
    return part
