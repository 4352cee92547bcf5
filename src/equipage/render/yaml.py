"""Plain values as YAML that people like to read, and that reads back as the same values.

Text is written plain where possible, as a literal block if it has several lines, and in double
quotes with escapes where anything else could be misread. Any scalar can have a comment.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from equipage.core.path import ROOT, Path
from equipage.core.text import visible
from equipage.syntax.yaml.simple import resolve_plain

_INDENT = "  "
#: libyaml does not read a key without `?` that is longer than this.
_LONGEST_KEY = 1000
#: Text without quotes. It starts with a harmless character; a colon must not be followed by a
#: space, nor a hash preceded by one. Narrower than YAML allows, so that readers need not know YAML.
_PLAIN = re.compile(
    r"""[\w$/\\^(](?:[\w .,;'"$&/\\^()\[\]{}+*@=~<>?!|%`\x80-\U0010ffff-]|:(?=\S)|(?<! )\#)*"""
)
#: What YAML text may contain unescaped, line feeds aside. Left out on purpose: characters that
#: hide or reorder text.
_PRINTABLE = re.compile(
    "[\x20-\x7e\u00a0-\u00ac\u00ae-\u061b\u061d-\u200a\u2010-\u2027\u202f-\u205f\u2065\u2070-\ud7ff"
    "\ue000-\ufdcf\ufdf0-\ufefe\uff00-\ufff8\ufffc\ufffd\U00010000-\U0010ffff]*"
)
_UNPRINTABLE = re.compile(f"#(?=#(?:vso)?\\[)|[^{_PRINTABLE.pattern[1:-2]}]")
#: What build services take for a command, anywhere in a line or at its start: it gets an escape.
_BUILD_COMMAND = re.compile(r"##(?:vso)?\[|^[ \t]*::", re.MULTILINE)
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\0": "\\0"}


#: Gives text the colour of a role; without colours, the text as it is.
Paint = Callable[[str, str], str]


def dump(
    value: Any, comments: Mapping[Path, str] | None = None, paint: Paint = lambda _role, text: text
) -> str:
    """A plain value as a YAML document. `comments` are written behind the values at their paths."""
    return "\n".join(_Writer(comments or {}, paint).node(value, ROOT, "")) + "\n"


class _Writer:
    def __init__(self, comments: Mapping[Path, str], paint: Paint) -> None:
        self.comments, self.paint = comments, paint

    def node(self, value: Any, path: Path, indent: str) -> Iterator[str]:
        """The lines of a value. The first is not indented: the caller writes what precedes it."""
        if isinstance(value, dict) and value:
            yield from self.mapping(value, path, indent)
        elif isinstance(value, list | tuple) and value:
            yield from self.sequence(value, path, indent)
        elif isinstance(value, str) and _is_block(value):
            yield from self.block(value, path, indent)
        else:
            yield scalar(value) + self.comment(path)

    def mapping(self, value: Mapping[Any, Any], path: Path, indent: str) -> Iterator[str]:
        before = ""
        for key, child in value.items():
            here = (*path, key)
            name = scalar(str(key), is_key=True)
            # `? key` on one line, `: value` on the next.
            if len(name) > _LONGEST_KEY:
                yield f"{before}? {self.paint('place', name)}"
                before, name = indent, ""
            name = self.paint("place", name)
            lines = self.node(child, here, indent + _INDENT)
            if isinstance(child, dict | list | tuple) and child:
                yield f"{before}{name}:"
                yield f"{indent}{_INDENT}{next(lines)}"
            else:
                yield f"{before}{name}: {next(lines)}"
            yield from lines
            before = indent

    def sequence(self, value: Any, path: Path, indent: str) -> Iterator[str]:
        before = ""
        for number, child in enumerate(value):
            lines = self.node(child, (*path, number), indent + _INDENT)
            yield f"{before}- {next(lines)}"
            yield from lines
            before = indent

    def block(self, value: str, path: Path, indent: str) -> Iterator[str]:
        """A literal block; its lines are indented below their key or dash."""
        body = value.rstrip("\n")
        ends = len(value) - len(body)
        # `-` drops the final line feed, `+` keeps all of them; without either there is exactly one.
        chomping = "-" if not ends else "" if ends == 1 else "+"
        # The parser guesses the indentation from the first line unless an indicator names it.
        indicator = "2" if body.startswith((" ", "\n")) else ""
        yield f"|{indicator}{chomping}{self.comment(path)}"
        # At the top there is no key or dash, but the lines of a block are indented all the same.
        inner = indent or _INDENT
        yield from (f"{inner}{line}" if line else "" for line in body.split("\n"))
        yield from [""] * (ends - 1)

    def comment(self, path: Path) -> str:
        text = self.comments.get(path)
        return f"  {self.paint('help', f'# {visible(text)}')}" if text else ""


def scalar(value: Any, *, is_key: bool = False) -> str:
    """A scalar, or an empty collection, on one line."""
    if isinstance(value, str):
        return value if _is_plain(value, is_key=is_key) else quote(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        if math.isnan(value):
            return ".nan"
        return json.dumps(value) if math.isfinite(value) else ".inf" if value > 0 else "-.inf"
    if isinstance(value, dict):
        return "{}"
    return "[]" if isinstance(value, list | tuple) else str(value)


def quote(text: str) -> str:
    """Text in double quotes, with an escape for everything that could be misread."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_UNPRINTABLE.sub(_escape, escaped)}"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    number = ord(character)
    if character in _ESCAPES:
        return _ESCAPES[character]
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _is_plain(text: str, *, is_key: bool) -> bool:
    """Whether text without quotes is read back as that text."""
    if not _PLAIN.fullmatch(text) or not _PRINTABLE.fullmatch(text) or text.endswith(" "):
        return False
    if "##" in text and _BUILD_COMMAND.search(text):
        return False
    # `true` and `12` would become other types; a colon in a key would be read as its end.
    return isinstance(resolve_plain(text), str) and not (is_key and ":" in text)


def _is_block(text: str) -> bool:
    """Whether text is best read as a literal block, and is read back as that text."""
    if "\n" not in text.rstrip("\n") or len(text) > 1_000_000 or _BUILD_COMMAND.search(text):
        return False
    lines = text.split("\n")
    return not any(map(str.isspace, lines)) and all(map(_PRINTABLE.fullmatch, lines))
