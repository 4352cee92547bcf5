"""The sentences of the loader this kind comes from, for programs that look for them in an exception's text.

A finding says what it found in equipage's own words; this says which rule that breaks, as `timeoutMs must be a positive
integer`. It is made from the code and the path alone.
"""

from __future__ import annotations

import re
from functools import cache

from equipage.core.diagnostics import Diagnostic
from equipage.core.path import Path, PathSyntaxError, parse_path
from equipage.kinds.toolpack.spelling import camel_path

#: What each field must be.
_NOUNS = (
    (r"id|version", "a non-empty string"),
    (r"deterministic|caps\.subprocess", "a boolean"),
    (
        r"timeoutMs|execution\.timeoutMs|limits\.(maxInputBytes|maxOutputBytes)",
        "a positive integer",
    ),
    (r"caps\.network", "a string or list"),
    (r"caps\.filesystem\.\w+|env\.passthrough|execution\.args", "a list"),
    (r"env\.set\..+|execution\.headers\..+", "a string"),
    (
        r"limits|caps|env|templating|env\.set|execution|caps\.filesystem|templating\.context",
        "a mapping",
    ),
    (r"execution\.headers|inputSchema|outputSchema", "a mapping"),
)
#: Parts of texts that were not YAML or JSON at all.
_SYNTAX = frozenset(
    {
        "yaml-syntax",
        "json-syntax",
        "control-character",
        "not-utf8",
        "recursive-alias",
        "undefined-alias",
    }
)
_SYNTAX |= {"undefined-alias", "alias-bomb", "nesting-too-deep", "extra-document", "unknown-tag"}
_SHAPE = frozenset(
    {"wrong-type", "out-of-range", "wrong-length", "pattern-mismatch", "invalid-value"}
)


def phrase(each: Diagnostic) -> str | None:
    """The rule a finding breaks, in the words of the original; None where it had none."""
    if each.code in _SYNTAX:
        return _syntax(each)
    if each.code.startswith("schema-") and not each.code.startswith(
        ("schema-ref", "schema-not-mapping")
    ):
        return "schema failed validation"
    try:
        path = parse_path(each.path)
    except PathSyntaxError:
        return None
    if each.code == "non-string-key":
        return _keys(path)
    if each.code == "not-finite" and path[:2] == ("templating", "context"):
        return "templating.context must be JSON serialisable"
    if each.code == "missing-field":
        return _missing(each, path)
    if each.code == "unknown-field":
        return _unknown(path)
    return _shape(each, camel_path(path)) if each.code in _SHAPE else None


def _syntax(each: Diagnostic) -> str | None:
    name = each.name or ""
    if each.code == "unknown-tag" and each.path.startswith("templating.context"):
        return "templating.context must be JSON serialisable"
    if name.endswith((".tool.yaml", ".tool.yml")):
        return "Failed to parse YAML"
    verb = "parse" if name.endswith((".yaml", ".yml")) else "load"
    return f"failed to {verb} schema {name}"


def _keys(path: Path) -> str | None:
    if path[:2] == ("env", "set"):
        return "env.set keys must be non-empty strings"
    if path[:2] == ("execution", "headers"):
        return "headers must use non-empty string keys"
    return (
        "templating.context must be JSON serialisable"
        if path[:2] == ("templating", "context")
        else None
    )


def _missing(each: Diagnostic, path: Path) -> str | None:
    match = re.search(r"`([^`]+)`", each.message)
    field = match[1] if match else ""
    if path == ("limits",):
        return f"limits missing required key '{field}'"
    if path == ("execution",):
        return _NEEDED.get(field, f"execution.{field} is required")
    return f"missing required field '{field}'"


_NEEDED = {
    "cmd": "cli execution requires 'cmd' list",
    "url": "http execution requires 'url'",
    "kind": "execution.kind is required",
}


def _unknown(path: Path) -> str | None:
    if path[:2] == ("caps", "filesystem"):
        return f"caps.filesystem[{path[-1]}] is not supported"
    return f"{path[0]} contains unknown key '{path[-1]}'" if len(path) == 2 else None


def _shape(each: Diagnostic, path: Path) -> str | None:
    if path == ():
        return "Expected mapping at the top"
    if path[-1] == "<<":
        return "Failed to parse YAML"
    if path[:2] == ("caps", "network") and each.code == "invalid-value":
        match = re.search(r"`([^`]+)`", each.message)
        if match and not each.message.startswith("``"):
            return f"caps.network has unsupported protocol '{match[1]}'"
    if path == ("execution", "cmd"):
        return "cli execution requires 'cmd' list"
    if path == ("templating", "engine"):
        return "templating.engine must be 'jinja2'"
    if path == ("execution", "kind"):
        return "unsupported execution.kind"
    return f"{_subject(path)} must be {_noun(path)}"


def _subject(path: Path) -> str:
    """A place as the original names it: blocks as fields, entries in brackets."""
    head, *rest = path
    if not rest:
        named = {"id": "Field 'id' in toolpack", "caps": "field 'caps'", "env": "field 'env'"}
        return named.get(str(head), "field 'templating'" if head == "templating" else str(head))
    if head == "limits":
        return f"limits['{rest[0]}']"
    if path[:2] == ("execution", "headers") and len(path) == 3:
        return f"header '{path[2]}'"
    if path == ("execution", "args"):
        return "node execution args"
    if path[:2] == ("env", "set") and len(path) == 3:
        return f"env.set['{path[2]}']"
    return f"{head}.{rest[0]}" + "".join(f"[{step}]" for step in rest[1:])


@cache
def _nouns() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern), noun) for pattern, noun in _NOUNS)


def _noun(path: Path) -> str:
    written = ".".join(map(str, path))
    for pattern, noun in _nouns():
        if pattern.fullmatch(written):
            return noun
    return "a non-empty string"
