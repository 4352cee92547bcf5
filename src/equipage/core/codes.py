"""The codes of reading, variables, texts, shapes and of equipage itself.

Their words are in codes.toml.
"""

from __future__ import annotations

from equipage.core.diagnostics import Catalogue

_codes = Catalogue(__file__)

FILE_MISSING = _codes.error("file-missing")
FILE_UNREADABLE = _codes.error("file-unreadable")
FOLDER_UNREADABLE = _codes.warning("folder-unreadable")
FILE_IS_DIRECTORY = _codes.error("file-is-directory")
FILE_NOT_REGULAR = _codes.error("file-not-regular")
LAYER_UNREADABLE = _codes.error("layer-unreadable")
LINK_OUTSIDE = _codes.warning("link-outside")
LINK_BROKEN = _codes.error("link-broken")
INDEX_DAMAGED = _codes.note("index-damaged")
FILE_LINK_LOOP = _codes.error("file-link-loop")
FILE_TOO_LARGE = _codes.error("file-too-large")
NOT_UTF8 = _codes.error("not-utf8")
REFERENCE_EMPTY = _codes.error("reference-empty")
REFERENCE_NUL = _codes.error("reference-nul")
REFERENCE_ABSOLUTE = _codes.error("reference-absolute")
REFERENCE_PARENT = _codes.error("reference-parent")
REFERENCE_ESCAPES = _codes.error("reference-escapes")
REFERENCE_PRIVATE = _codes.error("reference-private")
ABSOLUTE_PATH = _codes.warning("absolute-path")
ABSOLUTE_UNREAD = _codes.warning("absolute-unread")

ENV_MISSING = _codes.warning("env-missing")
ENV_NAMELESS = _codes.warning("env-nameless")
ENV_REQUIRED = _codes.error("env-required")
ENV_UNCLOSED = _codes.error("env-unclosed")
ENV_AMBIGUOUS_COLON = _codes.warning("env-ambiguous-colon")
ENV_CHANGES_STRUCTURE = _codes.warning("env-changes-structure")

YAML_SYNTAX = _codes.error("yaml-syntax")
JSON_SYNTAX = _codes.error("json-syntax")
TOML_SYNTAX = _codes.error("toml-syntax")
LONE_SURROGATE = _codes.error("lone-surrogate")
TOML_DATE = _codes.error("toml-date")
TOML_TOO_NEW = _codes.error("toml-too-new")
CONTROL_CHARACTER = _codes.error("control-character")
NESTING_TOO_DEEP = _codes.error("nesting-too-deep")
INVISIBLE_CHARACTER = _codes.warning("invisible-character")
COMPOSED_TOO_LARGE = _codes.error("composed-too-large")
ALIAS_BOMB = _codes.error("alias-bomb")
RECURSIVE_ALIAS = _codes.error("recursive-alias")
UNDEFINED_ALIAS = _codes.error("undefined-alias")
DUPLICATE_KEY = _codes.warning("duplicate-key")
EXTRA_DOCUMENT = _codes.warning("extra-document")
UNKNOWN_TAG = _codes.warning("unknown-tag")
MERGE_KEY = _codes.warning("merge-key")
NON_STRING_KEY = _codes.error("non-string-key")
NOT_FINITE = _codes.error("not-finite")
NUMBER_TOO_LONG = _codes.error("number-too-long")
AMBIGUOUS_NUMBER = _codes.warning("ambiguous-number")
DOCUMENT_EMPTY = _codes.error("document-empty")

MISSING_LEVEL = _codes.error("missing-level")
MISSING_FIELD = _codes.error("missing-field")
FOREIGN_FIELD = _codes.warning("foreign-field")
MISPLACED_FIELD = _codes.warning("misplaced-field")
IGNORED_FIELD = _codes.note("ignored-field")
UNKNOWN_FIELD = _codes.warning("unknown-field")
WRONG_TYPE = _codes.error("wrong-type")
INVALID_VALUE = _codes.error("invalid-value")
OUT_OF_RANGE = _codes.error("out-of-range")
WRONG_LENGTH = _codes.error("wrong-length")
PATTERN_MISMATCH = _codes.error("pattern-mismatch")
MODEL_REFUSED = _codes.error("model-refused")
RENAMED_KEY = _codes.warning("renamed-key")
RENAMED_TWICE = _codes.error("renamed-twice")
REMOVED_KEY = _codes.warning("removed-key")
LAYER_LOADED = _codes.warning("layer-loaded")
RULE_FAILED = _codes.error("rule-failed")

UNRECOGNISED = _codes.error("unrecognised")
NOT_READ = _codes.note("not-read")
POSSIBLE_KIND = _codes.note("possible-kind")
FIXTURE_SKIPPED = _codes.note("fixture-skipped")
UNUSED_IGNORE = _codes.warning("unused-ignore")
UNKNOWN_CODE = _codes.warning("unknown-code")
UNKNOWN_KIND = _codes.error("unknown-kind")
ROOT_OUTSIDE = _codes.error("root-outside")
ROOT_MISSING = _codes.warning("root-missing")
SCHEMA_UNREAD = _codes.error("schema-unread")
SETTINGS_TWICE = _codes.warning("settings-twice")
BASELINE_STALE = _codes.note("baseline-stale")
POLICY_FORBIDS = _codes.error("policy-forbids")
POLICY_NOT_PINNED = _codes.error("policy-not-pinned")
REACH_WIDENED = _codes.error("reach-widened")
REACH_UNKNOWN = _codes.error("reach-unknown")
CHECK_ENDED = _codes.error("check-ended")
INTERNAL_ERROR = _codes.error("internal-error")

CORE_CODES = _codes.declared()

#: Errors of reading, parsing and types prevent loading: with one of them there is no configuration.
BLOCKING: frozenset[str] = frozenset(code.name for code in CORE_CODES if code.severity == "error")

# What several formats share: headers, patterns, variables, suspicious text.

HEADER_MISSING = _codes.error("header-missing")
HEADER_NOT_FIRST = _codes.error("header-not-first")
HEADER_FENCE_NOT_ALONE = _codes.error("header-fence-not-alone")
HEADER_NEVER_CLOSED = _codes.error("header-never-closed")
HEADER_CLOSED_BY_INDENTED_FENCE = _codes.warning("header-closed-by-indented-fence")

HEADER_CODES = _codes.declared(since=HEADER_MISSING)

HEADER_DROPPED = _codes.error("header-dropped")
HEADER_ENDS_EARLY = _codes.error("header-ends-early")
HEADER_TEXT_LOST = _codes.warning("header-text-lost")
HEADER_NOT_YAML = _codes.warning("header-not-yaml")
HEADER_WITHOUT_FIELDS = _codes.warning("header-without-fields")
FILE_PASSED_OVER = _codes.warning("file-passed-over")
FILE_TAKEN = _codes.warning("file-taken-for-agent")

RECOVERY_CODES = _codes.declared(since=HEADER_DROPPED)

INVALID_GLOB = _codes.error("invalid-glob")
VARIABLE_IGNORED = _codes.warning("variable-ignored")

MIXED_SCRIPTS = _codes.warning("mixed-scripts")
SECRET_IN_FILE = _codes.warning("secret-in-file")

SUSPICION_CODES = (MIXED_SCRIPTS, SECRET_IN_FILE)
