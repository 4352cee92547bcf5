"""Durations as authors write them: `30s`, `5m`, `100ms`, `1h`.

duration = blank* "+"? digits blank* unit blank*
unit     = "ms" | "s" | "m" | "h"
"""

from __future__ import annotations

from equipage.expressions import expression
from equipage.kinds.server.parts import LARGEST

GRAMMAR = "a whole number and a unit: `500ms`, `30s`, `5m` or `1h`"
DAY_MS = 24 * 60 * 60 * 1000

_DURATION = expression(r"\s*\+?(?P<number>[0-9]{1,30})\s*(?P<unit>ms|s|m|h)\s*")
_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


def parse_duration(written: str) -> int | None:
    """The duration in milliseconds; None if it is not one."""
    match = _DURATION.fullmatch(written)
    if match is None or int(match["number"]) > LARGEST:
        return None
    return int(match["number"]) * _MILLISECONDS[match["unit"]]
