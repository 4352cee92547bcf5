"""The codes of JSON Schemas inside configurations. Their words are in codes.toml."""

from __future__ import annotations

from equipage.core.diagnostics import Catalogue

_codes = Catalogue(__file__)

SCHEMA_TYPE_UNKNOWN = _codes.error("schema-type-unknown")
SCHEMA_KEYWORD_TYPE = _codes.error("schema-keyword-type")
SCHEMA_KEYWORD_VALUE = _codes.error("schema-keyword-value")
SCHEMA_NOT_SCHEMA = _codes.error("schema-not-schema")
SCHEMA_PATTERN = _codes.error("schema-pattern")
SCHEMA_PATTERN_DIALECT = _codes.warning("schema-pattern-dialect")
SCHEMA_PATTERN_SLOW = _codes.warning("schema-pattern-slow")
SCHEMA_DIALECT = _codes.error("schema-dialect")
SCHEMA_DIALECT_UNKNOWN = _codes.warning("schema-dialect-unknown")
SCHEMA_TOO_DEEP = _codes.error("schema-too-deep")

CODES = _codes.declared()

# Of files that a schema describes.
SCHEMA_MISMATCH = _codes.error("schema-mismatch")
SCHEMA_UNUSABLE = _codes.error("schema-unusable")
SCHEMA_COSTLY = _codes.error("schema-costly")
SCHEMA_NONE = _codes.error("schema-none")

MATCHING_CODES = _codes.declared(SCHEMA_MISMATCH)
