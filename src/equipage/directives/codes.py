"""The codes of directives: `$include`, `$file`, `$generate`, `$ref`. Their words are in codes.toml."""

from __future__ import annotations

from equipage.core.diagnostics import Catalogue

_codes = Catalogue(__file__)

FILE_NOT_FOUND = _codes.error("file-not-found")

INCLUDE_NOT_FOUND = _codes.error("include-not-found")
INCLUDE_CYCLE = _codes.error("include-cycle")
INCLUDE_DEPTH = _codes.error("include-depth")
INCLUDE_DEEP = _codes.warning("include-deep")
INCLUDE_EMPTY = _codes.warning("include-empty")
ORPHAN_OVERRIDE = _codes.warning("orphan-override")
DIRECTIVE_SIBLINGS = _codes.warning("directive-siblings")
EMBEDDED_DIRECTIVE = _codes.error("embedded-directive")

GENERATE_IN_DATA = _codes.warning("generate-in-data")
GENERATE_BINARY_TEXT = _codes.warning("generate-binary-text")

SCHEMA_NOT_MAPPING = _codes.error("schema-not-mapping")
SCHEMA_REF_VALUE = _codes.error("schema-ref-value")
SCHEMA_REF_MISSING = _codes.error("schema-ref-missing")
SCHEMA_REF_UNREADABLE = _codes.error("schema-ref-unreadable")
SCHEMA_REF_REMOTE = _codes.error("schema-ref-remote")
SCHEMA_REF_EMBEDDED = _codes.error("schema-ref-embedded")
SCHEMA_REF_NOTHING = _codes.error("schema-ref-nothing")
SCHEMA_REF_SPELLING = _codes.warning("schema-ref-spelling")
SCHEMA_REF_LOOP = _codes.error("schema-ref-loop")
SCHEMA_NAME_TWICE = _codes.warning("schema-name-twice")
SCHEMA_REF_DISPUTED = _codes.error("schema-ref-disputed")
SCHEMA_TOO_LARGE = _codes.error("schema-too-large")

FILE_CODES = (FILE_NOT_FOUND,)
INCLUDE_CODES = (
    INCLUDE_NOT_FOUND,
    INCLUDE_CYCLE,
    INCLUDE_DEPTH,
    INCLUDE_DEEP,
    INCLUDE_EMPTY,
    ORPHAN_OVERRIDE,
    DIRECTIVE_SIBLINGS,
    EMBEDDED_DIRECTIVE,
)
GENERATE_CODES = (GENERATE_IN_DATA, GENERATE_BINARY_TEXT)
REF_CODES = (
    SCHEMA_NOT_MAPPING,
    SCHEMA_REF_VALUE,
    SCHEMA_REF_MISSING,
    SCHEMA_REF_UNREADABLE,
    SCHEMA_REF_REMOTE,
    SCHEMA_REF_EMBEDDED,
    SCHEMA_REF_NOTHING,
    SCHEMA_REF_SPELLING,
    SCHEMA_REF_LOOP,
    SCHEMA_NAME_TWICE,
    SCHEMA_REF_DISPUTED,
    SCHEMA_TOO_LARGE,
)
