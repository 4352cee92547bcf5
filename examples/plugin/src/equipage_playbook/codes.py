"""The codes of what the checks find. Their words are in codes.toml."""

from __future__ import annotations

from equipage.plugin import Catalogue

_codes = Catalogue(__file__)

STEP_UNKNOWN = _codes.error("step-unknown")
STEP_NOT_BEFORE = _codes.error("step-not-before")

CODES = _codes.declared()
