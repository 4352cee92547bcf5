"""`KEY=VALUE` from the command line as a layer of settings.

The value is TOML; what is not TOML is text. Dots in the key lead into tables, and quotes around a
part of the key keep the dots in it. Later settings win.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from equipage.core.diagnostics import Code, Fact, Shown
from equipage.core.path import Path
from equipage.core.source import Source, Span
from equipage.kinds.defect import codes
from equipage.syntax import SyntaxProblem, toml
from equipage.syntax.document import Document

#: A part of a dotted key: in double quotes with escapes, in single quotes without, or bare.
_PART = re.compile(r'"(?P<quoted>(?:[^"\\]|\\.)*)"|\'(?P<literal>[^\']*)\'|(?P<bare>[^.]*)')
#: Text that was probably meant as something else, and what to write for that.
_SUSPECTS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\[.*\]", re.DOTALL), 'put quotes around each text: `["a", "b"]`'),
    (re.compile(r"\[.*", re.DOTALL), 'close the list: `["a", "b"]`'),
    (re.compile(r"\{.*", re.DOTALL), 'write a table as `{ key = "value" }`'),
    (re.compile(r"'.*", re.DOTALL), 'close the quotes; text with a `\'` in it takes `"…"`'),
    (re.compile(r'".*', re.DOTALL), 'close the quotes; inside `"…"`, write `\\"` for a quote'),
    (re.compile(r"(?i:true|yes|on)"), "write `true`"),
    (re.compile(r"(?i:false|no|off)"), "write `false`"),
    (re.compile(r"(?i:null|none|nil)"), "a setting cannot be unset; leave it out"),
)


class Overrides(msgspec.Struct, frozen=True):
    """The layer of the command line, and how each part of it was written."""

    document: Document
    written: tuple[tuple[Path, str], ...]

    def text_for(self, path: Path) -> str | None:
        """The setting that the value at `path` came from; the last one wins."""
        found = None
        for key, text in self.written:
            if key == path[: len(key)] or path == key[: len(path)]:
                found = text
        return found


def read_overrides(settings: Iterable[str]) -> tuple[Overrides, list[Fact]]:
    """All settings of a command line as one document, and what is wrong with them."""
    given = list(settings)
    reader = _Reader(Source.of_text("--config", "\n".join(given)))
    for setting in given:
        reader.read(setting)
    document = Document(reader.source, "text", reader.value)
    return Overrides(document, tuple(reader.written)), reader.facts


class _Reader:
    """Reads one setting after the other into one table."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.value: dict[str, Any] = {}
        self.written: list[tuple[Path, str]] = []
        self.facts: list[Fact] = []

    def report(self, code: Code, path: Path = (), **values: object) -> None:
        self.facts.append(Fact(code, path, values, span=Span(self.source, 0, 0)))

    def read(self, setting: str) -> None:
        try:
            setting.encode()
        except UnicodeEncodeError:  # an argument may hold bytes that are not UTF-8
            readable = setting.encode(errors="backslashreplace").decode()
            self.report(codes.OVERRIDE_NOT_TEXT, found=Shown(readable))
            return
        key, equals, text = setting.partition("=")
        key = key.strip()
        path = _key(key)
        if not equals or not key or path is None:
            self.report(codes.OVERRIDE_MALFORMED, found=Shown(setting))
        elif not all(path):
            self.report(codes.OVERRIDE_KEY_EMPTY, key=Shown(key))
        else:
            # Parsed even if it is not used: a mistake in the value is worth reporting.
            value = self.parse(text.strip(), path)
            if path[0] == "hooks":
                self.report(codes.OVERRIDE_HOOKS, path, key=Shown(".".join(path)))
                return
            self.set(path, value)
            self.written.append((path, setting))

    def parse(self, text: str, path: tuple[str, ...]) -> Any:
        """The value that a text is in TOML, else the text itself."""
        try:
            parsed = toml.load(f"x = {text}")
        except SyntaxProblem:
            parsed = None
        # A line break could smuggle in assignments to other keys; then it is not a single value.
        if parsed is not None and isinstance(parsed.value, dict) and set(parsed.value) == {"x"}:
            for each in parsed.irregularities:
                self.report(each.code, path, **{**each.values, "found": Shown(text)})
            return parsed.value["x"]
        hint = next((hint for pattern, hint in _SUSPECTS if pattern.fullmatch(text)), None)
        if hint is not None:
            key = Shown(".".join(path))
            self.report(codes.OVERRIDE_TAKEN_AS_TEXT, path, key=key, found=Shown(text), hint=hint)
        return text

    def set(self, path: tuple[str, ...], value: Any) -> None:
        """Put a value into nested tables, replacing whatever is in the way."""
        table = self.value
        for step in path[:-1]:
            if not isinstance(table.get(step), dict):
                table[step] = {}
            table = table[step]
        table[path[-1]] = value


def _key(key: str) -> tuple[str, ...] | None:
    """The parts of a dotted key, some of them perhaps empty; None if it is malformed."""
    parts: list[str] = []
    position = 0
    # Part, dot, part, dot …: a key that ends with a dot has an empty last part.
    while True:
        match = _PART.match(key, position)
        assert match is not None  # a bare part may be empty
        part = match["literal"] or match["bare"] or ""
        if match["quoted"] is not None:
            try:
                quoted: Any = toml.load(f"x = {match.group()}").value
            except SyntaxProblem:
                return None  # an escape that TOML does not know
            part = str(quoted["x"])
        parts.append(part)
        if match.end() == len(key):
            return tuple(parts)
        if key[match.end()] != ".":
            return None
        position = match.end() + 1
