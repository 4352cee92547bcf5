"""The codes of lists of MCP servers. Their words are in codes.toml."""

from __future__ import annotations

from equipage.core.codes_kinds import SUSPICION_CODES
from equipage.core.diagnostics import Catalogue

_codes = Catalogue(__file__)

SERVERS_UNWRAPPED = _codes.warning("servers-unwrapped")
SERVERS_MISPLACED = _codes.warning("servers-misplaced")
SERVER_TYPE_UNKNOWN = _codes.error("server-type-unknown")
SERVER_TYPE_WRONG = _codes.error("server-type-wrong")
SERVER_TYPE_MISSING = _codes.warning("server-type-missing")
SERVER_UNREACHABLE = _codes.error("server-unreachable")
SERVER_ADDRESS_EMPTY = _codes.warning("server-address-empty")
SERVER_RESTRICTION_IGNORED = _codes.error("server-restriction-ignored")
SERVER_KEY_UNUSED = _codes.warning("server-key-unused")
SERVER_NOT_PINNED = _codes.note("server-not-pinned")
SERVER_NOT_ENCRYPTED = _codes.warning("server-not-encrypted")
INPUT_UNDEFINED = _codes.warning("input-undefined")
VARIABLE_NOT_EXPANDED = _codes.warning("variable-not-expanded")
SERVER_NAMES_COLLIDE = _codes.warning("server-names-collide")

# The strict reading, which settings and `.mcp.json` share.
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

STRICT_CODES = tuple(code for code in _codes.declared() if code.startswith("mcp-"))
CODES = (*_codes.declared(), *SUSPICION_CODES)
