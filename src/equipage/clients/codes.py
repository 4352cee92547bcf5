"""The codes of the files of other agent tools. Their words are in codes.toml."""

from __future__ import annotations

from equipage.core.codes import (
    HEADER_CODES,
    LAYER_UNREADABLE,
    RECOVERY_CODES,
    SUSPICION_CODES,
    VARIABLE_IGNORED,
)
from equipage.core.diagnostics import Catalogue
from equipage.formats.defect.codes import NUMBER_AS_TEXT, STRICT_MCP_CODES, STRICT_SKILL_CODES

_codes = Catalogue(__file__)

NAME_FORM = _codes.warning("name-form")
NAME_DIFFERS = _codes.warning("name-differs")
TEXT_TOO_LONG = _codes.warning("text-too-long")
TEXT_MISSING = _codes.warning("text-missing")
RESTRICTION_EMPTY = _codes.warning("restriction-empty")
TEXT_CUT = _codes.warning("text-cut")
PLACE_NOT_READ = _codes.warning("place-not-read")
EXTENSION_NOT_READ = _codes.warning("extension-not-read")
PATTERN_QUOTED = _codes.warning("pattern-quoted")

UNKNOWN_REFERENCE = _codes.warning("unknown-reference")
NAME_TAKEN = _codes.warning("name-taken")

_FILE_CODES = (*_codes.declared(), NUMBER_AS_TEXT)
CODES = (*HEADER_CODES, *RECOVERY_CODES, *_FILE_CODES, *SUSPICION_CODES)

#: About the skills, commands and agents of one project together.
LISTING_TOO_LONG = _codes.note("skill-listing-too-long")
COMMAND_HIDDEN = _codes.warning("command-hidden")
COPIES_DIFFER = _codes.note("copies-differ")
COPY_CODES = (LISTING_TOO_LONG, COMMAND_HIDDEN, COPIES_DIFFER)

SKILL_CODES = (
    *HEADER_CODES,
    *RECOVERY_CODES,
    *_FILE_CODES,
    *COPY_CODES,
    *STRICT_SKILL_CODES,
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
#: A rule of any client whose rules we know; the other codes about rules are of Claude Code alone.
RULE_NEVER_MATCHES = _codes.error("permission-rule-never-matches")
PERMISSION_CODES = (PERMISSION_UNDONE, RULE_NEVER_MATCHES)

# What only Claude Code has: permissions, hooks, manifests, instructions.

RULE_INVALID = _codes.error("permission-rule-invalid")
RULE_SHADOWED = _codes.warning("permission-rule-shadowed")
RULE_LEAKY = _codes.warning("permission-rule-leaky")
MODE_IGNORED = _codes.warning("permission-mode-ignored")

PERSONAL_SETTINGS = _codes.warning("personal-settings-shared")
ARGUMENT_NOT_REPLACED = _codes.warning("argument-not-replaced")
HOOK_EVENT_UNKNOWN = _codes.error("hook-event-unknown")
HOOK_UNLOADABLE = _codes.error("hook-unloadable")
HOOK_NEVER_FIRES = _codes.error("hook-never-fires")
HOOK_TIMEOUT_LONG = _codes.warning("hook-timeout-long")
HOOK_FILE_MISSING = _codes.warning("hook-file-missing")
HOOK_NOT_EXECUTABLE = _codes.warning("hook-not-executable")
HOOK_PATH_UNQUOTED = _codes.warning("hook-path-unquoted")

MANIFEST_REFUSED = _codes.error("manifest-refused")
MANIFEST_PATH_MISSING = _codes.error("manifest-path-missing")
MANIFEST_PIN_LOST = _codes.warning("manifest-pin-lost")
MANIFEST_VERSION_DIFFERS = _codes.warning("manifest-version-differs")

IMPORT_MISSING = _codes.warning("import-missing")
IMPORT_CYCLE = _codes.warning("import-cycle")
IMPORT_TOO_DEEP = _codes.warning("import-too-deep")
IMPORT_OUTSIDE = _codes.warning("import-outside")
IMPORT_PUNCTUATION = _codes.warning("import-punctuation")
LINK_MISSING = _codes.warning("link-missing")
LINK_LEAVES = _codes.note("link-leaves")
FILE_TOO_LONG = _codes.warning("instructions-too-long")
FILE_HIDDEN = _codes.warning("instructions-hidden")
SKILL_NOT_READ = _codes.warning("skill-not-read")

CLAUDE_CODES = (RULE_NEVER_MATCHES, *_codes.declared(since=RULE_INVALID))

# Lists of MCP servers.

SERVERS_UNWRAPPED = _codes.warning("servers-unwrapped")
SERVERS_MISPLACED = _codes.warning("servers-misplaced")
SERVER_TYPE_UNKNOWN = _codes.error("server-type-unknown")
SERVER_TYPE_WRONG = _codes.error("server-type-wrong")
SERVER_TYPE_MISSING = _codes.warning("server-type-missing")
SERVER_UNREACHABLE = _codes.error("server-unreachable")
SERVER_ADDRESS_EMPTY = _codes.warning("server-address-empty")
SERVER_RESTRICTION_IGNORED = _codes.error("server-restriction-ignored")
SERVER_KEY_UNUSED = _codes.warning("server-key-unused")
SERVER_COMMAND_LINE = _codes.warning("server-command-line")
SERVER_FILE_MISSING = _codes.warning("server-file-missing")
SERVER_NOT_PINNED = _codes.note("server-not-pinned")
SERVER_NOT_ENCRYPTED = _codes.warning("server-not-encrypted")
INPUT_UNDEFINED = _codes.warning("input-undefined")
VARIABLE_NOT_EXPANDED = _codes.warning("variable-not-expanded")
SERVER_NAMES_COLLIDE = _codes.warning("server-names-collide")

MCP_CODES = (*_codes.declared(since=SERVERS_UNWRAPPED), *STRICT_MCP_CODES, *SUSPICION_CODES)
