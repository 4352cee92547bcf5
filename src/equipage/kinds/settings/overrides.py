"""`KEY=VALUE` from the command line as a layer of settings.

The value is what TOML makes of it; where TOML makes nothing of it, it is text. Dots in the key lead into tables;
a part that holds a dot itself stands in quotes. Later settings win.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from equipage.diagnostics import Fact, Shown
from equipage.path import Path
from equipage.source import Source, Span
from equipage.syntax import toml
from equipage.syntax.document import Document
from equipage.syntax.engine import SyntaxProblem

NAME = "--config"
_PART = re.compile(r'"(?P<quoted>(?:[^"\\]|\\.)*)"|\'(?P<literal>[^\']*)\'|(?P<bare>[^.]*)')
#: Text that looks as if it was meant as something else, and what to write then.
_SUSPECTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\[.*\]", re.DOTALL), 'put quotes around each text: `["a", "b"]`'),
    (re.compile(r"\{.*\}", re.DOTALL), 'write a table as `{ key = "value" }`'),
    (re.compile(r"(?i:true|yes|on)"), "write `true`"),
    (re.compile(r"(?i:false|no|off)"), "write `false`"),
    (re.compile(r"(?i:null|none|nil)"), "a setting cannot be unset; leave it out"),
)


class Overrides(msgspec.Struct, frozen=True):
    """The layer of the command line, and how each part of it was written."""

    document: Document
    written: tuple[tuple[Path, str], ...]

    def text_for(self, path: Path) -> str | None:
        """The setting a path came from; the last one wins."""
        found = None
        for key, text in self.written:
            if key == path[: len(key)] or path == key[: len(path)]:
                found = text
        return found


def read_overrides(settings: Iterable[str]) -> tuple[Overrides, list[Fact]]:
    """All settings of a command line as one document, and what is wrong with them."""
    given = list(settings)
    source = Source.of_text(NAME, "\n".join(given))
    value: dict[str, Any] = {}
    facts: list[Fact] = []
    written: list[tuple[Path, str]] = []
    for setting in given:
        found = _setting(setting, source, facts) if _is_text(setting, source, facts) else None
        if found is None:
            continue
        path, parsed = found
        if path[0] == "hooks":
            facts.append(_fact("override-hooks", source, path, key=Shown(".".join(map(str, path)))))
            continue
        _set(value, path, parsed)
        written.append((path, setting))
    return Overrides(Document(source, "text", value), tuple(written)), facts


def _setting(setting: str, source: Source, facts: list[Fact]) -> tuple[tuple[str, ...], Any] | None:
    key, equals, text = setting.partition("=")
    path = _key(key.strip())
    if not equals or not key.strip() or path is None:
        facts.append(_fact("override-malformed", source, found=Shown(setting)))
        return None
    if not all(path):
        facts.append(_fact("override-key-empty", source, key=Shown(key.strip())))
        return None
    return path, _value(text.strip(), path, source, facts)


def _is_text(setting: str, source: Source, facts: list[Fact]) -> bool:
    """Whether a setting can be written down at all: an argument may hold bytes that are no characters."""
    try:
        setting.encode()
    except UnicodeEncodeError:
        readable = setting.encode(errors="backslashreplace").decode()
        facts.append(_fact("override-not-text", source, found=Shown(readable)))
        return False
    return True


def _key(key: str) -> tuple[str, ...] | None:
    """The parts of a dotted key, some of which may be empty; None if it is none."""
    parts: list[str] = []
    position = 0
    while True:
        match = _PART.match(key, position)
        assert match is not None
        part = _part(match)
        if part is None or (match.end() < len(key) and key[match.end()] != "."):
            return None
        parts.append(part)
        if match.end() == len(key):
            return tuple(parts)
        position = match.end() + 1


def _part(match: re.Match[str]) -> str | None:
    """A part of a key as TOML reads it; None if it has an escape that means nothing."""
    if match["quoted"] is None:
        return match["literal"] or match["bare"] or ""
    try:
        key: Any = toml.load(f"x = {match.group()}").value
    except SyntaxProblem:
        return None
    return str(key["x"])


def _value(text: str, path: Path, source: Source, facts: list[Fact]) -> Any:
    try:
        parsed = toml.load(f"x = {text}")
    except SyntaxProblem:
        return _as_text(text, path, source, facts)
    value = parsed.value
    # A line break could smuggle in assignments of other keys; then it is no single value.
    if not isinstance(value, dict) or set(value) != {"x"}:
        return _as_text(text, path, source, facts)
    facts += [_fact(each.code, source, path, found=Shown(text)) for each in parsed.irregularities]
    return value["x"]


def _as_text(text: str, path: Path, source: Source, facts: list[Fact]) -> str:
    hint = next((hint for pattern, hint in _SUSPECTS if pattern.fullmatch(text)), None)
    if hint is not None:
        key = ".".join(map(str, path))
        facts.append(_fact("override-taken-as-text", source, path, key=Shown(key), found=Shown(text), hint=hint))
    return text


def _set(value: dict[str, Any], path: Path, new: Any) -> None:
    """Put a value into nested tables; whatever is in the way gives way."""
    for step in path[:-1]:
        inner = value.get(str(step))
        if not isinstance(inner, dict):
            inner = value[str(step)] = {}
        value = inner
    value[str(path[-1])] = new


def _fact(code: str, source: Source, path: Path = (), **values: object) -> Fact:
    return Fact(code, path, values, span=Span(source, 0, 0))
