"""The codes of kind `toolpack`. Their words are in codes.toml."""

from __future__ import annotations

from equipage.plugin import Catalogue

_codes = Catalogue(__file__)

SNAKE_CASE_KEY = _codes.error("snake-case-key")
SNAKE_CASE_BOTH = _codes.error("snake-case-both")
ID_FORM = _codes.error("id-form")
ID_COLON = _codes.warning("id-colon")
VERSION_FORM = _codes.error("version-form")
VERSION_NOT_SEMVER = _codes.warning("version-not-semver")
VERSION_NOT_PYTHON = _codes.error("version-not-python")
ENV_NAME = _codes.error("env-name")
ENV_NAME_EMPTY = _codes.error("env-name-empty")
ENV_SET_AND_PASSED = _codes.warning("env-set-and-passed")
HEADER_NAME_EMPTY = _codes.error("header-name-empty")
HEADER_NAME = _codes.warning("header-name")
HEADER_LINE_BREAK = _codes.warning("header-line-break")
EXECUTION_ENTRY = _codes.error("execution-entry")
EXECUTION_MODULE = _codes.error("execution-module")
EXECUTION_MODULE_NAME = _codes.warning("execution-module-name")
EXECUTION_URL = _codes.warning("execution-url")
OLD_DIALECT = _codes.warning("old-dialect")
DUPLICATE_ID = _codes.error("duplicate-id")
TOOLPACK_OVERLOOKED = _codes.warning("toolpack-overlooked")
SIMILAR_ID = _codes.warning("similar-id")

CODES = _codes.declared()
