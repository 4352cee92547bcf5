"""The sentences of the original loader, for programs that look for them in an exception's text.

A finding says in equipage's words what it found; `phrase` says which rule that breaks, such as
`timeoutMs must be a positive integer`. It needs only the code, the path and what the message
quotes.
"""

from __future__ import annotations

import re

from equipage.core import codes
from equipage.core.diagnostics import Diagnostic
from equipage.core.path import Path, PathSyntaxError, parse_path
from equipage.directives import codes as directive_codes
from equipage.kinds.toolpack.normalise import camel_path

_NOT_JSON = "templating.context must be JSON serialisable"
#: The rule for keys that are not text, by block.
_KEYS: dict[Path, str] = {
    ("env", "set"): "env.set keys must be non-empty strings",
    ("execution", "headers"): "headers must use non-empty string keys",
    ("templating", "context"): _NOT_JSON,
}
#: The rule for the shape of a field. In a sentence `{0}` is the field, `{1}` what is in brackets.
_SHAPES = (
    (r"", "Expected mapping at the top"),
    (r"(?:.*\.)?<<", "Failed to parse YAML"),
    (r"id", "Field 'id' in toolpack must be a non-empty string"),
    (r"deterministic|caps\.subprocess", "{0} must be a boolean"),
    (r"timeoutMs|execution\.timeoutMs", "{0} must be a positive integer"),
    (r"limits\.(.+)", "limits['{1}'] must be a positive integer"),
    (r"(caps|env|templating)", "field '{1}' must be a mapping"),
    (r"limits|execution|inputSchema|outputSchema", "{0} must be a mapping"),
    (r"caps\.filesystem|env\.set|execution\.headers|templating\.context", "{0} must be a mapping"),
    (r"caps\.network", "{0} must be a string or list"),
    (r"caps\.filesystem\.\w+|env\.passthrough", "{0} must be a list"),
    (r"env\.set\.(.+)", "env.set['{1}'] must be a string"),
    (r"templating\.engine", "templating.engine must be 'jinja2'"),
    (r"execution\.kind", "unsupported execution.kind"),
    (r"execution\.cmd", "cli execution requires 'cmd' list"),
    (r"execution\.args", "node execution args must be a list"),
    (r"execution\.headers\.(.+)", "header '{1}' must be a string"),
    (r".*", "{0} must be a non-empty string"),
)
#: Findings about a text that could not be parsed at all.
_SYNTAX = {
    codes.ALIAS_BOMB,
    codes.CONTROL_CHARACTER,
    codes.EXTRA_DOCUMENT,
    codes.JSON_SYNTAX,
    codes.NESTING_TOO_DEEP,
    codes.NOT_UTF8,
    codes.RECURSIVE_ALIAS,
    codes.UNDEFINED_ALIAS,
    codes.UNKNOWN_TAG,
    codes.YAML_SYNTAX,
}
#: Findings about a value that does not fit its field.
_MISFITS = {
    codes.INVALID_VALUE,
    codes.OUT_OF_RANGE,
    codes.PATTERN_MISMATCH,
    codes.WRONG_LENGTH,
    codes.WRONG_TYPE,
}


def phrase(each: Diagnostic) -> str | None:
    """The rule that a finding breaks, in the words of the original; None where it had none."""
    if each.code in _SYNTAX:
        return _syntax(each)
    if each.code.startswith("schema-") and not each.code.startswith(
        ("schema-ref", directive_codes.SCHEMA_NOT_MAPPING)
    ):
        return "schema failed validation"
    try:
        path = parse_path(each.path)
    except PathSyntaxError:
        return None
    if each.code == codes.NON_STRING_KEY:
        return _KEYS.get(path[:2])
    if each.code == codes.NOT_FINITE:
        return _NOT_JSON if path[:2] == ("templating", "context") else None
    if each.code == codes.MISSING_FIELD:
        return _missing(each, path)
    if each.code == codes.UNKNOWN_FIELD:
        return _unknown(path)
    return _shape(each, camel_path(path)) if each.code in _MISFITS else None


def _syntax(each: Diagnostic) -> str:
    name = each.name or ""
    if each.code == codes.UNKNOWN_TAG and each.path.startswith("templating.context"):
        return _NOT_JSON
    if name.endswith((".tool.yaml", ".tool.yml")):
        return "Failed to parse YAML"
    verb = "parse" if name.endswith((".yaml", ".yml")) else "load"
    return f"failed to {verb} schema {name}"


def _missing(each: Diagnostic, path: Path) -> str:
    match = re.search(r"`([^`]+)`", each.message)
    field = match[1] if match else ""
    if path == ("limits",):
        return f"limits missing required key '{field}'"
    if path != ("execution",):
        return f"missing required field '{field}'"
    named = {"cmd": "cli execution requires 'cmd' list", "url": "http execution requires 'url'"}
    return named.get(field, f"execution.{field} is required")


def _unknown(path: Path) -> str | None:
    if path[:2] == ("caps", "filesystem"):
        return f"caps.filesystem[{path[-1]}] is not supported"
    return f"{path[0]} contains unknown key '{path[-1]}'" if len(path) == 2 else None


def _shape(each: Diagnostic, path: Path) -> str:
    if path[:2] == ("caps", "network") and each.code == codes.INVALID_VALUE:
        # A message that quotes an empty protocol starts with two backticks.
        match = re.search(r"`([^`]+)`", each.message)
        if match and not each.message.startswith("``"):
            return f"caps.network has unsupported protocol '{match[1]}'"
    name = ".".join(map(str, path[:2])) + "".join(f"[{step}]" for step in path[2:])
    written = ".".join(map(str, path))
    matches = ((re.fullmatch(pattern, written), sentence) for pattern, sentence in _SHAPES)
    return next(
        sentence.format(name, *match.groups()) for match, sentence in matches if match is not None
    )
