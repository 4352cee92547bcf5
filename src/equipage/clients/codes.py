"""The codes of the files of other agent tools. Their words are in codes.toml."""

from __future__ import annotations

from equipage.core.codes import LAYER_UNREADABLE
from equipage.core.codes_kinds import (
    HEADER_CODES,
    RECOVERY_CODES,
    SUSPICION_CODES,
    VARIABLE_IGNORED,
)
from equipage.core.diagnostics import Catalogue

_codes = Catalogue(__file__)

NAME_FORM = _codes.warning("name-form")
NAME_DIFFERS = _codes.warning("name-differs")
TEXT_TOO_LONG = _codes.warning("text-too-long")
TEXT_MISSING = _codes.warning("text-missing")
RESTRICTION_EMPTY = _codes.warning("restriction-empty")
NUMBER_AS_TEXT = _codes.warning("number-as-text")
TEXT_CUT = _codes.warning("text-cut")
PLACE_NOT_READ = _codes.warning("place-not-read")
EXTENSION_NOT_READ = _codes.warning("extension-not-read")
PATTERN_QUOTED = _codes.warning("pattern-quoted")

UNKNOWN_REFERENCE = _codes.warning("unknown-reference")
NAME_TAKEN = _codes.warning("name-taken")

CODES = (*HEADER_CODES, *RECOVERY_CODES, *_codes.declared(), *SUSPICION_CODES)

#: About the skills, commands and agents of one project together.
LISTING_TOO_LONG = _codes.note("skill-listing-too-long")
COMMAND_HIDDEN = _codes.warning("command-hidden")
COPIES_DIFFER = _codes.note("copies-differ")
COPY_CODES = (LISTING_TOO_LONG, COMMAND_HIDDEN, COPIES_DIFFER)

SKILL_NAME_DIFFERS = _codes.error("skill-name-differs")
SKILL_TOOLS_GIVEN_TWICE = _codes.error("skill-tools-given-twice")
SKILL_INVALID_GLOB = _codes.error("skill-invalid-glob")
SKILL_DESCRIPTION_LONG = _codes.warning("skill-description-long")
SKILL_DESCRIPTION_EMPTY = _codes.warning("skill-description-empty")
SKILL_OVERLOOKED = _codes.warning("skill-overlooked")

SKILL_CODES = (
    *HEADER_CODES,
    *RECOVERY_CODES,
    *_codes.declared(),
    *SUSPICION_CODES,
    LAYER_UNREADABLE,
    VARIABLE_IGNORED,
)

#: What a file needs from elsewhere, in the kinds that have such rules.
PATH_MISSING = _codes.error("path-missing")
WORKFLOW_NOT_COMPILED = _codes.warning("workflow-not-compiled")
WORKFLOW_CODES = (WORKFLOW_NOT_COMPILED,)
TEXT_CODES = (PATH_MISSING,)
PERMISSION_UNDONE = _codes.warning("permission-undone")
PERMISSION_CODES = (PERMISSION_UNDONE,)
