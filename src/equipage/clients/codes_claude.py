"""The codes of what only Claude Code has: permissions, hooks, manifests, instructions.

Their words are in codes.toml.
"""

from __future__ import annotations

from equipage.core.diagnostics import Catalogue

_codes = Catalogue(__file__)

RULE_INVALID = _codes.error("permission-rule-invalid")
RULE_NEVER_MATCHES = _codes.error("permission-rule-never-matches")
RULE_SHADOWED = _codes.warning("permission-rule-shadowed")
RULE_LEAKY = _codes.warning("permission-rule-leaky")
MODE_IGNORED = _codes.warning("permission-mode-ignored")

HOOK_EVENT_UNKNOWN = _codes.error("hook-event-unknown")
HOOK_UNLOADABLE = _codes.error("hook-unloadable")
HOOK_NEVER_FIRES = _codes.error("hook-never-fires")
HOOK_TIMEOUT_LONG = _codes.warning("hook-timeout-long")
HOOK_FILE_MISSING = _codes.warning("hook-file-missing")
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

CODES = _codes.declared()
