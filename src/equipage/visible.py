"""Text as it may be printed: nothing in it acts on a terminal, or is there unseen."""

from __future__ import annotations

import json
import re

from equipage.expressions import expression

#: C0 and C1 controls, and the characters that reorder or hide text.
UNSAFE = expression(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible_first(name: str) -> str:
    """The name of a file where it begins a line: one that a build service would take for a command gets a `./`."""
    text = visible(name)
    return f"./{text}" if text.lstrip().startswith(("::", "##")) else text


def visible_json(text: str) -> str:
    """A JSON text in which what cannot be seen is escaped, which changes nothing; its lines stay."""
    return UNSAFE.sub(lambda match: "\n" if match.group() == "\n" else json.dumps(match.group())[1:-1], text)


def visible(text: str) -> str:
    """Text that is safe to print: control and invisible characters become escapes."""
    return UNSAFE.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return _ESCAPES.get(match.group()) or (f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}")
