"""Codes that several kinds share, about headers, patterns, variables and suspicious text.

Their words are in codes.toml.
"""

from __future__ import annotations

from equipage.core.diagnostics import Catalogue

_codes = Catalogue(__file__)

HEADER_MISSING = _codes.error("header-missing")
HEADER_NOT_FIRST = _codes.error("header-not-first")
HEADER_FENCE_NOT_ALONE = _codes.error("header-fence-not-alone")
HEADER_NEVER_CLOSED = _codes.error("header-never-closed")
HEADER_CLOSED_BY_INDENTED_FENCE = _codes.warning("header-closed-by-indented-fence")

HEADER_DROPPED = _codes.error("header-dropped")
HEADER_ENDS_EARLY = _codes.error("header-ends-early")
HEADER_TEXT_LOST = _codes.warning("header-text-lost")
HEADER_NOT_YAML = _codes.warning("header-not-yaml")
HEADER_WITHOUT_FIELDS = _codes.warning("header-without-fields")
FILE_PASSED_OVER = _codes.warning("file-passed-over")
FILE_TAKEN = _codes.warning("file-taken-for-agent")

INVALID_GLOB = _codes.error("invalid-glob")
VARIABLE_IGNORED = _codes.warning("variable-ignored")

MIXED_SCRIPTS = _codes.warning("mixed-scripts")
SECRET_IN_FILE = _codes.warning("secret-in-file")

HEADER_CODES = (
    HEADER_MISSING,
    HEADER_NOT_FIRST,
    HEADER_FENCE_NOT_ALONE,
    HEADER_NEVER_CLOSED,
    HEADER_CLOSED_BY_INDENTED_FENCE,
)
RECOVERY_CODES = (
    HEADER_DROPPED,
    HEADER_ENDS_EARLY,
    HEADER_TEXT_LOST,
    HEADER_NOT_YAML,
    HEADER_WITHOUT_FIELDS,
    FILE_PASSED_OVER,
    FILE_TAKEN,
)
SUSPICION_CODES = (MIXED_SCRIPTS, SECRET_IN_FILE)
