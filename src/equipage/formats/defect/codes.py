"""The codes of profiles, settings, hooks, skills and servers. Their words are in codes.toml."""

from __future__ import annotations

from equipage.core.codes import HEADER_CODES, INVALID_GLOB, LAYER_UNREADABLE, VARIABLE_IGNORED
from equipage.plugin import Catalogue

_codes = Catalogue(__file__)

TEXT_EMPTY = _codes.warning("text-empty")
REQUEST_LIMIT_MISSING = _codes.error("request-limit-missing")
REQUEST_LIMIT_IGNORED = _codes.warning("request-limit-ignored")
REQUEST_LIMIT_ZERO = _codes.warning("request-limit-zero")
SAMPLING_RANGE = _codes.warning("sampling-range")

UNKNOWN_HOOK_EVENT = _codes.error("unknown-hook-event")
HOOK_DISABLE_IN_PROFILE = _codes.error("hook-disable-in-profile")
HOOK_NEVER_MATCHES = _codes.warning("hook-never-matches")
UNKNOWN_BUILTIN_HOOK = _codes.warning("unknown-builtin-hook")
HOOK_ARGV_EMPTY = _codes.error("hook-argv-empty")
HOOK_COMMAND_INCOMPLETE = _codes.error("hook-command-incomplete")
HOOK_SHELL_WITHOUT_COMMAND = _codes.error("hook-shell-without-command")
HOOK_COMMAND_MIXED = _codes.error("hook-command-mixed")

#: The codes above are those of profiles and of settings.
_SHARED_CODES = (*_codes.declared(), INVALID_GLOB, VARIABLE_IGNORED)

TEXT_NOT_QUOTED = _codes.warning("text-not-quoted")
MODEL_GIVEN_TWICE = _codes.error("model-given-twice")
PROMPT_GIVEN_TWICE = _codes.error("prompt-given-twice")
PROMPT_IN_SINGLE_FILE = _codes.error("prompt-in-single-file")
PROMPT_MISSING = _codes.error("prompt-missing")
PROMPT_FILE_MISSING = _codes.error("prompt-file-missing")
PROMPT_FILE_REFUSED = _codes.error("prompt-file-refused")
PROMPT_FILE_UNUSABLE = _codes.error("prompt-file-unusable")
UNKNOWN_TOOL = _codes.warning("unknown-tool")
UNKNOWN_SERVER = _codes.warning("unknown-server")

DUPLICATE_PROFILE = _codes.error("duplicate-profile")
PROFILE_SHADOWS = _codes.note("profile-shadows")
PROFILE_LOOSENS = _codes.warning("profile-loosens")
PROFILE_NAMES_ALIKE = _codes.warning("profile-names-alike")
PROFILE_OVERLOOKED = _codes.warning("profile-overlooked")
PROFILE_LINK_OUTSIDE = _codes.warning("profile-link-outside")

_OTHER_CODES = (INVALID_GLOB, LAYER_UNREADABLE, VARIABLE_IGNORED)
PROFILE_CODES = (*HEADER_CODES, *_codes.declared(), *_OTHER_CODES)

PROJECT_DISABLES_HOOK = _codes.warning("project-disables-hook")

PROVIDER_WITHOUT_SECTION = _codes.error("provider-without-section")
MODEL_REQUIRED = _codes.error("model-required")
RATIO_RANGE = _codes.error("ratio-range")
RATIO_ORDER = _codes.error("ratio-order")
HOOK_DISABLE_IDLE = _codes.warning("hook-disable-idle")

OVERRIDE_MALFORMED = _codes.error("override-malformed")
OVERRIDE_KEY_EMPTY = _codes.error("override-key-empty")
OVERRIDE_NOT_TEXT = _codes.error("override-not-text")
OVERRIDE_TAKEN_AS_TEXT = _codes.warning("override-taken-as-text")
OVERRIDE_HOOKS = _codes.warning("override-hooks")

_SETTINGS_DECLARED = _codes.declared(since=PROJECT_DISABLES_HOOK)

# Servers, in settings and in `.mcp.json`.
MCP_SERVER_UNDEFINED = _codes.error("mcp-server-undefined")
MCP_JSON_SERVER_LISTED = _codes.error("mcp-json-server-listed")
MCP_SERVER_SHADOWED = _codes.warning("mcp-server-shadowed")
MCP_UNKNOWN_TRANSPORT = _codes.error("mcp-unknown-transport")
MCP_NEEDS_COMMAND_OR_URL = _codes.error("mcp-needs-command-or-url")
MCP_MAIN_KEY_MISSING = _codes.error("mcp-main-key-missing")
MCP_KEY_NOT_ALLOWED = _codes.error("mcp-key-not-allowed")
MCP_KEY_IGNORED = _codes.warning("mcp-key-ignored")
MCP_SERVER_INCOMPLETE = _codes.error("mcp-server-incomplete")
MCP_KEY_MISPLACED = _codes.error("mcp-key-misplaced")

STRICT_MCP_CODES = _codes.declared(since=MCP_SERVER_UNDEFINED)
SETTINGS_CODES = (*_SHARED_CODES, *_SETTINGS_DECLARED, *STRICT_MCP_CODES)

NUMBER_AS_TEXT = _codes.warning("number-as-text")
SKILL_NAME_DIFFERS = _codes.error("skill-name-differs")
SKILL_TOOLS_GIVEN_TWICE = _codes.error("skill-tools-given-twice")
SKILL_INVALID_GLOB = _codes.error("skill-invalid-glob")
SKILL_DESCRIPTION_LONG = _codes.warning("skill-description-long")
SKILL_DESCRIPTION_EMPTY = _codes.warning("skill-description-empty")
SKILL_OVERLOOKED = _codes.warning("skill-overlooked")

STRICT_SKILL_CODES = _codes.declared(since=SKILL_NAME_DIFFERS)
