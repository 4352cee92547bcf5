"""The codes of kinds `blueprint` and `agent_md`. Their words are in codes.toml."""

from __future__ import annotations

from equipage.plugin import Catalogue

_codes = Catalogue(__file__)

FRONTMATTER_MISSING = _codes.error("frontmatter-missing")
FENCE_NOT_ALONE = _codes.warning("fence-not-alone")
HEADER_VALUE_DROPPED = _codes.warning("header-value-dropped")
HEADER_NO_EFFECT = _codes.warning("header-no-effect")
HEADER_SLIP = _codes.warning("header-slip")
HEADER_LINTS = _codes.warning("header-lints")
TOOL_SPLIT = _codes.warning("tool-split")
#: The codes declared so far are those of agent files; the rest is for blueprints.
AGENT_MD_CODES = _codes.declared()

UNSUPPORTED_EXTENSION = _codes.error("unsupported-extension")
EMBEDDED_REFERENCE = _codes.error("embedded-reference")
FILE_WITH_SIBLINGS = _codes.warning("file-with-siblings")
REFERENCE_NOT_TEXT = _codes.warning("reference-not-text")
DIRECTIVE_SLIP = _codes.warning("directive-slip")
INCLUDES_NOT_FOLLOWED = _codes.note("includes-not-followed")

OPERAND_TWICE = _codes.error("operand-twice")
MIXED_WIRE_FORMS = _codes.warning("mixed-wire-forms")
MALFORMED_PATH = _codes.warning("malformed-path")
TARGET_NOT_PATH = _codes.warning("target-not-path")

UNKNOWN_AGENT = _codes.warning("unknown-agent")
DUPLICATE_AGENT = _codes.warning("duplicate-agent")
DUPLICATE_NAME = _codes.warning("duplicate-name")
UNUSED_AGENT = _codes.warning("unused-agent")
UNKNOWN_OPERATOR = _codes.warning("unknown-operator")
UNKNOWN_NAME = _codes.warning("unknown-name")

NOT_SEMVER = _codes.error("not-semver")
UNKNOWN_SCHEMA_VERSION = _codes.warning("unknown-schema-version")
SPEC_INCOMPLETE = _codes.warning("spec-incomplete")
STALE_HASH = _codes.warning("stale-hash")
WITHDRAWN_LAYER = _codes.warning("withdrawn-layer")
PLACEMENT = _codes.warning("placement")

VERDICT_CHANNEL = _codes.warning("verdict-channel")
VERDICT_UNKNOWN_VALUE = _codes.warning("verdict-unknown-value")
VERDICT_UNHANDLED = _codes.warning("verdict-unhandled")
VERDICT_NEVER_READ = _codes.warning("verdict-never-read")
PROJECTION_NAME_CLASH = _codes.warning("projection-name-clash")

SUBPROCESS_WITHOUT_COMMAND = _codes.warning("subprocess-without-command")
SUBPROCESS_PLACEHOLDER = _codes.warning("subprocess-placeholder")
STREAM_MODE = _codes.warning("stream-mode")
OUTPUT_AND_STREAM = _codes.warning("output-and-stream")
SUBPROCESS_OUTPUT = _codes.warning("subprocess-output")
SCRIPT_WITH_MCP_TOOLS = _codes.warning("script-with-mcp-tools")

STRICT_BINDING_UNUSED = _codes.warning("strict-binding-unused")
UNKNOWN_LINT = _codes.warning("unknown-lint")
LINT_WITHOUT_EFFECT = _codes.warning("lint-without-effect")
UNUSED_OPERATOR = _codes.warning("unused-operator")
UNKNOWN_STEP = _codes.warning("unknown-step")
EMPTY_NAME = _codes.warning("empty-name")

CODES = _codes.declared()
