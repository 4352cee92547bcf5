"""The codes of directives: `$include`, `$file`, `$ref`. Their words are in codes.toml."""

from __future__ import annotations

from equipage.core.diagnostics import Catalogue

_file, _include, _ref = (Catalogue(__file__) for _ in range(3))

FILE_NOT_FOUND = _file.error("file-not-found")
IMAGE_EXTENSION = _file.error("image-extension")

INCLUDE_NOT_FOUND = _include.error("include-not-found")
INCLUDE_CYCLE = _include.error("include-cycle")
INCLUDE_DEPTH = _include.error("include-depth")
INCLUDE_DEEP = _include.warning("include-deep")
INCLUDE_EMPTY = _include.warning("include-empty")
ORPHAN_OVERRIDE = _include.warning("orphan-override")
DIRECTIVE_SIBLINGS = _include.warning("directive-siblings")
EMBEDDED_DIRECTIVE = _include.error("embedded-directive")

SCHEMA_NOT_MAPPING = _ref.error("schema-not-mapping")
SCHEMA_REF_VALUE = _ref.error("schema-ref-value")
SCHEMA_REF_MISSING = _ref.error("schema-ref-missing")
SCHEMA_REF_UNREADABLE = _ref.error("schema-ref-unreadable")
SCHEMA_REF_REMOTE = _ref.error("schema-ref-remote")
SCHEMA_REF_EMBEDDED = _ref.error("schema-ref-embedded")
SCHEMA_REF_NOTHING = _ref.error("schema-ref-nothing")
SCHEMA_REF_SPELLING = _ref.warning("schema-ref-spelling")
SCHEMA_REF_HIDES = _ref.warning("schema-ref-hides")
SCHEMA_REF_LOOP = _ref.error("schema-ref-loop")
SCHEMA_NAME_TWICE = _ref.warning("schema-name-twice")
SCHEMA_REF_DISPUTED = _ref.error("schema-ref-disputed")
SCHEMA_DRAFTS_MIXED = _ref.error("schema-drafts-mixed")
SCHEMA_TOO_LARGE = _ref.error("schema-too-large")

FILE_CODES = _file.declared()
INCLUDE_CODES = _include.declared()
REF_CODES = _ref.declared()
