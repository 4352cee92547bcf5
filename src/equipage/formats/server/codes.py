"""The codes of kind `server`. Their words are in codes.toml."""

from __future__ import annotations

from equipage.plugin import Catalogue

_codes = Catalogue(__file__)

MIXED_FORMS = _codes.error("mixed-forms")
NO_BASELINE = _codes.warning("no-baseline")
SUPERSEDED_DEFAULT = _codes.warning("superseded-default")
BOTH_SPELLINGS = _codes.error("both-spellings")
EMPTY_FIELD = _codes.error("empty-field")
LONG_NAME = _codes.warning("long-name")
LIMIT_EXCEEDED = _codes.error("limit-exceeded")
LIMIT_UNREADABLE = _codes.warning("limit-unreadable")
NOT_A_DATE = _codes.error("not-a-date")

DUPLICATE_ITEM = _codes.warning("duplicate-item")
SCHEMA_NOT_OBJECT = _codes.error("schema-not-object")
SCHEMA_WITHOUT_TYPE = _codes.warning("schema-without-type")
EMPTY_CONTENT = _codes.error("empty-content")
BINARY_AS_TEXT = _codes.warning("binary-as-text")

DUPLICATE_PHASE = _codes.error("duplicate-phase")
UNREACHABLE_PHASES = _codes.warning("unreachable-phases")
UNKNOWN_TARGET = _codes.error("unknown-target")
ADDED_TWICE = _codes.warning("added-twice")
RENAMED_BY_REPLACE = _codes.warning("renamed-by-replace")
TRIGGER_MISSING = _codes.error("trigger-missing")
COUNT_ZERO = _codes.error("count-zero")
TIMEOUT_WITHOUT_EVENT = _codes.error("timeout-without-event")
UNKNOWN_EVENT = _codes.error("unknown-event")
ODD_QUALIFIER = _codes.warning("odd-qualifier")
UNKNOWN_QUALIFIER = _codes.warning("unknown-qualifier")
INVALID_DURATION = _codes.error("invalid-duration")
LONG_DURATION = _codes.warning("long-duration")
ACTION_MISSING = _codes.error("action-missing")
ACTION_AMBIGUOUS = _codes.warning("action-ambiguous")

MATCHER_EMPTY = _codes.error("matcher-empty")
MATCHER_OPERATOR_TYPE = _codes.error("matcher-operator-type")
MATCHER_OPERATORS_COMBINED = _codes.warning("matcher-operators-combined")
MATCHER_OPERATOR_AS_FIELD = _codes.warning("matcher-operator-as-field")
REGEX_INVALID = _codes.error("regex-invalid")
GLOB_INVALID = _codes.error("glob-invalid")
CONDITION_EMPTY = _codes.error("condition-empty")
BRANCH_INCOMPLETE = _codes.error("branch-incomplete")
BRANCH_BOTH = _codes.warning("branch-both")
SECOND_DEFAULT = _codes.warning("second-default")
UNREACHABLE_BRANCH = _codes.warning("unreachable-branch")
EMPTY_SEQUENCE = _codes.warning("empty-sequence")

HANDLER_URL = _codes.error("handler-url")
HANDLER_TIMEOUT = _codes.error("handler-timeout")
HANDLER_NOT_ALLOWED = _codes.error("handler-not-allowed")
COMMAND_NOT_FOUND = _codes.warning("command-not-found")
TEMPLATE_UNCLOSED = _codes.error("template-unclosed")
TEMPLATE_FUNCTION = _codes.warning("template-function")
EFFECT_PARAMETER_TYPE = _codes.warning("effect-parameter-type")
NOT_POSITIVE = _codes.error("not-positive")
NOT_OF_THE_FORMAT = _codes.warning("not-of-the-format")

CODES = _codes.declared()
