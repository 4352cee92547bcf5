"""The codes of payload generators. Their words are in codes.toml."""

from __future__ import annotations

from equipage.plugin import Catalogue

_codes = Catalogue(__file__)

GENERATOR_NOT_A_MAPPING = _codes.error("generator-not-a-mapping")
GENERATOR_TYPE_MISSING = _codes.error("generator-type-missing")
GENERATOR_TYPE_UNKNOWN = _codes.error("generator-type-unknown")
GENERATOR_PARAMETER_MISSING = _codes.error("generator-parameter-missing")
GENERATOR_PARAMETER_UNKNOWN = _codes.warning("generator-parameter-unknown")
GENERATOR_PARAMETER_TYPE = _codes.error("generator-parameter-type")
GENERATOR_PARAMETER_RANGE = _codes.error("generator-parameter-range")
GENERATOR_SIZE_UNREADABLE = _codes.error("generator-size-unreadable")
GENERATOR_CHOICE_UNKNOWN = _codes.error("generator-choice-unknown")
GENERATOR_VALUE_NOT_JSON = _codes.error("generator-value-not-json")
GENERATOR_VALUE_BECOMES_NULL = _codes.warning("generator-value-becomes-null")
GENERATOR_MAKES_NOTHING = _codes.warning("generator-makes-nothing")
GENERATOR_OVER_LIMIT = _codes.error("generator-over-limit")
GENERATOR_TOO_LARGE = _codes.error("generator-too-large")
GENERATOR_LIMIT_UNREADABLE = _codes.warning("generator-limit-unreadable")

CODES = _codes.declared()
