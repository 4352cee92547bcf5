"""The codes of a playbook. Their words are in codes.toml."""

from __future__ import annotations

from equipage.plugin import Catalogue

_codes = Catalogue(__file__)

STEP_TWICE = _codes.error("step-twice")
STEP_UNKNOWN = _codes.error("step-unknown")
STEP_NOT_BEFORE = _codes.error("step-not-before")
STEP_DOES_NOTHING = _codes.error("step-does-nothing")
STEP_DOES_BOTH = _codes.error("step-does-both")

CODES = _codes.declared()
