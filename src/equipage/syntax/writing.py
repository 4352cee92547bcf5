"""Scalars as text: how a value is written so that the file around it stays valid.

The quotes that the author used are kept if they can hold the new value. The result never spans
lines, so it fits wherever a scalar was, in a block or between brackets.
"""

from __future__ import annotations

import json
import re

from equipage.syntax.yaml.scalars import resolve_plain

Scalar = str | int | float | bool

#: Text that no YAML parser takes for anything else, between brackets or outside them.
_PLAIN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$./@+-]*(?: [A-Za-z0-9_$./@+-]+)*")
#: What parsers of YAML 1.1 take for true or false.
_WORDS_OF_1_1 = frozenset({"y", "n", "yes", "no", "on", "off"})
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
#: Characters that a file may not hold as they are, or that no reader would see there.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def encode(format: str, value: Scalar, written: str, *, is_key: bool) -> str:  # noqa: A002
    """`value` in the syntax of `format`, in the style of what was `written` in its place."""
    if not isinstance(value, str):
        return json.dumps(value)
    if format == "text":
        return value
    is_printable = not _UNPRINTABLE.search(value)
    if format == "yaml":
        if written.startswith("'") and is_printable:
            return "'" + value.replace("'", "''") + "'"
        if not written.startswith('"') and _stays_plain(value):
            return value
    if format == "toml":
        if is_key and written[:1] not in ("'", '"') and _BARE_KEY.fullmatch(value):
            return value
        if written.startswith("'") and "'" not in value and is_printable:
            return f"'{value}'"
    # Double quotes, in a form that JSON, YAML and TOML all read alike.
    quoted = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)


def _stays_plain(value: str) -> bool:
    return (
        _PLAIN.fullmatch(value) is not None
        and resolve_plain(value) == value
        and value.lower() not in _WORDS_OF_1_1
    )
