"""The codes of files that a schema of the project describes. Their words are in codes.toml."""

from __future__ import annotations

from equipage.core.diagnostics import Catalogue

_codes = Catalogue(__file__)

SCHEMA_MISMATCH = _codes.error("schema-mismatch")
SCHEMA_UNUSABLE = _codes.error("schema-unusable")
SCHEMA_COSTLY = _codes.error("schema-costly")
SCHEMA_NONE = _codes.error("schema-none")

CODES = _codes.declared()
