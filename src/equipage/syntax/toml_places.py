"""Where things are in a TOML text: a scanner of our own, because no TOML parser has places.

Nothing here recurses, and the time is linear. A text is taken to be valid; of one that is not, the
scanner makes some sensible guess. Inline tables may span lines and end in a comma, as TOML 1.1
allows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from equipage.core import codes
from equipage.core.frozen import MAX_DEPTH
from equipage.core.path import Path
from equipage.core.text import lazy_regex
from equipage.syntax import (
    Irregularity,
    Place,
    Range,
    SyntaxProblem,
    Written,
    bracket_depth,
    match_end,
)
from equipage.syntax.nodes import WANT_NOTHING, PathTrie

# ---------------------------------------------------------------------------------------- scanning

EventKind = Literal["table", "element", "key", "list", "map", "close", "scalar"]

#: Strings end at their quotes. One that is never closed ends with the text, or with its line if it
#: has single quotes. Up to two quotes before the closing three belong to a multi-line string.
#: They are spelt out: a look ahead inside `(…)*+` goes wrong before Python 3.11.5.
_MULTILINE = (
    r'"""(?:[^"\\]|\\.|"[^"\\]|"\\.|""[^"\\]|""\\.)*+(?:"{3,5}|"{0,2}\Z)'
    r"|'''(?:[^']|'[^']|''[^'])*+(?:'{3,5}|'{0,2}\Z)"
)
_ONE_LINE = r"""\"(?:[^"\\\n]|\\[^\n])*+"?|'[^'\n]*+'?"""
#: Strings and comments: where brackets and dots mean nothing.
STRING_OR_COMMENT = lazy_regex(rf"{_MULTILINE}|{_ONE_LINE}|\#[^\n]*", re.DOTALL)

_BLANK = lazy_regex(r"(?:[\s,]|\#[^\n]*)*+")
#: rtoml lets the parts of an entry be on lines of their own if an inline table spans lines.
_SPACE = r"(?:\s|\#[^\n]*)*+"
#: A part of a dotted key, and the dot behind it.
_PART = lazy_regex(rf"{_SPACE}({_ONE_LINE}|[^\s.=\[\]{{}},\"'\#]++)(?:{_SPACE}(\.))?", re.DOTALL)
_EQUALS = lazy_regex(rf"{_SPACE}=")
#: A string, a date and a time with one blank between them, or anything else up to a delimiter.
_SCALAR = lazy_regex(
    rf"{_MULTILINE}|{_ONE_LINE}|\d{{4}}-\d\d-\d\d[ ]\d\d:[^\s,\]}}\#]*+|[^\s,\]}}\#]++", re.DOTALL
)
_HEADER_END = lazy_regex(r"[ \t]*+\]{1,2}")

_ESCAPE = lazy_regex(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|(.))")
_ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


class KeyPart(msgspec.Struct, frozen=True):
    """One part of a dotted key: its name and where it is written."""

    name: str
    range: Range


class Event(msgspec.Struct, frozen=True):
    """A piece of the text.

    `table` and `element` are headers, `[a]` and `[[a]]`; they and keys have parts. `list` and `map`
    are opening brackets inside values.
    """

    kind: EventKind
    start: int
    end: int
    parts: tuple[KeyPart, ...] = ()


def scan(text: str) -> Iterator[Event]:
    """The pieces of `text` in order."""
    opened: list[str] = []
    value_next = False
    offset = match_end(_BLANK, text, 0)
    while offset < len(text):
        character = text[offset]
        if character in "]}" and not opened:
            offset = match_end(_BLANK, text, offset + 1)
            continue
        if character in "]}":
            event = Event("close", offset, offset + 1)
            opened.pop()
        elif value_next:
            event = _read_value(text, offset)
            if event.kind != "scalar":
                opened.append(character)
        elif character == "[" and not opened:
            event = _read_header(text, offset)
        else:
            parts = _read_key_parts(text, offset)
            event = Event("key", offset, parts[-1].range[1] if parts else offset + 1, parts)
        yield event
        offset = event.end
        if event.kind == "key":
            offset = match_end(_EQUALS, text, offset)
        value_next = event.kind == "key" or (bool(opened) and opened[-1] == "[")
        offset = match_end(_BLANK, text, offset)


def _read_value(text: str, offset: int) -> Event:
    if text[offset] in "[{":
        return Event("list" if text[offset] == "[" else "map", offset, offset + 1)
    return Event("scalar", offset, max(match_end(_SCALAR, text, offset), offset + 1))


def _read_header(text: str, offset: int) -> Event:
    kind: EventKind = "element" if text.startswith("[[", offset) else "table"
    parts = _read_key_parts(text, offset + (2 if kind == "element" else 1))
    end = parts[-1].range[1] if parts else offset + 1
    return Event(kind, offset, match_end(_HEADER_END, text, end), parts)


def _read_key_parts(text: str, offset: int) -> tuple[KeyPart, ...]:
    """The parts of the dotted key at `offset`.

    A key with more parts than a text may nest is read no further: it is refused in any case.
    """
    parts: list[KeyPart] = []
    dot: str | None = "."
    while dot and len(parts) <= MAX_DEPTH and (match := _PART.match(text, offset)):
        name = match[1]
        if name[0] in "\"'":
            name = name[1:-1] if name[0] == "'" else _ESCAPE.sub(_unescape, name[1:-1])
        parts.append(KeyPart(name, match.span(1)))
        offset, dot = match.end(), match[2]
    return tuple(parts)


def _unescape(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits is None:
        return _ESCAPED.get(match[4], match[4])
    code = int(digits, 16)
    return chr(code) if code <= 0x10FFFF else "\N{REPLACEMENT CHARACTER}"


# ---------------------------------------------------------------------------------------- TOML 1.1

_ESCAPED_CHARACTER = lazy_regex(r"\\(?:(?P<new>e|x[0-9A-Fa-f]{2})|.)", re.DOTALL)
#: What may be between two entries: a comment means nothing, the others do.
_BETWEEN = lazy_regex(r"\#[^\n]*|(?P<comma>,)|(?P<line>\n)")


def find_newer_syntax(text: str) -> Iterator[Irregularity]:
    """What TOML 1.1 allows and 1.0 does not: two escapes, line breaks and last commas in tables."""
    opened: list[Event] = []
    long: set[int] = set()  # inline tables over several lines, by where they begin
    end = 0
    for event in scan(text):
        if opened and opened[-1].kind == "map":
            table = opened[-1]
            for mark in _BETWEEN.finditer(text, end, event.start):
                if mark["line"] and table.start not in long:
                    long.add(table.start)
                    hint = "write it on one line, or as a table with a header"
                    yield _newer_syntax_problem(
                        table.start, table.end, "an inline table over several lines", hint
                    )
                elif mark["comma"] and event.kind == "close":
                    yield _newer_syntax_problem(
                        *mark.span(), "a comma at the end of an inline table", "remove it"
                    )
        if event.kind == "close":
            opened.pop()
        elif event.kind in ("list", "map"):
            opened.append(event)
        written = [part.range for part in event.parts] or [(event.start, event.end)]
        for start, stop in written:
            quoted = stop if text[start] == '"' else start
            for match in _ESCAPED_CHARACTER.finditer(text, start, quoted):
                if match["new"]:
                    hint = f"write `\\u{ord(_ESCAPE.sub(_unescape, match[0])):04X}`"
                    yield _newer_syntax_problem(*match.span(), f"the escape `{match[0]}`", hint)
        end = event.end


def _newer_syntax_problem(start: int, end: int, what: str, hint: str) -> Irregularity:
    return Irregularity(codes.TOML_TOO_NEW, (start, end), values={"what": what, "hint": hint})


# ------------------------------------------------------------------------------------------- depth

#: How deep tables and lists may nest, the file itself included: what rtoml reads in any
#: arrangement. rtoml counts brackets and the parts of one key, each up to 80, but not their sum: a
#: short text can nest thousands of tables and end the interpreter.
DEPTH = min(MAX_DEPTH, 80)


def refuse_deep_nesting(text: str) -> None:
    """Raise `SyntaxProblem` at the bracket or the part of a key that opens one level too many."""
    if _depth_bound(text) <= DEPTH:
        return
    for depth, place in _depths(text):
        if depth > DEPTH:
            values = {"limit": DEPTH}
            raise SyntaxProblem([Irregularity(codes.NESTING_TOO_DEEP, place, values=values)])


def _depth_bound(text: str) -> int:
    """An upper bound for the depth of `text`, found without scanning it.

    Every level takes a bracket or a dot. If there are many of either, those in strings and comments
    are left out, and a level is at most a bracket and the longest key on it; headers can name a
    list at each part.
    """
    marks = 1 + text.count(".") + text.count("[") + text.count("{")
    if marks <= DEPTH:
        return marks
    bare = STRING_OR_COMMENT.sub("", text)
    parts = 1 + max(line.count(".") for line in bare.split("\n"))
    brackets = bracket_depth(bare.encode("utf-8", "surrogatepass"))
    return 1 + 2 * parts + brackets * (1 + parts)


def _depths(text: str) -> Iterator[tuple[int, Range]]:
    """The depth of each table and list, where it is opened or named."""
    lists: set[tuple[str, ...]] = set()  # the names of lists of tables
    table = pending = 1  # the depth of the current table, and of the value that comes next
    levels: list[int] = []
    for event in scan(text):
        if event.kind in ("table", "element"):
            table = 1
            names: tuple[str, ...] = ()
            for number, part in enumerate(event.parts, 1):
                names = (*names, part.name)
                if event.kind == "element" and number == len(event.parts):
                    lists.add(names)
                table += 2 if names in lists else 1
                yield table, part.range
        elif event.kind == "key":
            pending = levels[-1] if levels else table
            for part in event.parts[:-1]:
                pending += 1
                yield pending, part.range
        elif event.kind == "close":
            levels.pop()
            pending = levels[-1] if levels else table
        elif event.kind != "scalar":
            pending += 1
            levels.append(pending)
            yield pending, (event.start, event.end)


# ------------------------------------------------------------------------------------------ places


def locate(text: str, paths: Iterable[Path]) -> dict[Path, Place]:
    """The places of those `paths` that exist in `text`.

    Tables are not written in one piece, so this is what their places mean:

    - a table with a header: from the header to the end of its last entry
    - a table that is only named on the way, in a longer header or a dotted key: the first header or
      key that names it
    - a list of tables: the header of its first; each of its tables as any table with a header
    """
    return _Locator(PathTrie.from_paths(paths)).run(text)


class _Level(msgspec.Struct):
    """A table or an open bracket: what is wanted of it, and where it is written."""

    wanted: PathTrie
    start: int = 0
    key: Range | None = None
    is_list: bool = False
    count: int = 0  #: how many entries of a list were seen


class _Locator:
    """One pass over the text. The current table is a level of its own, below the open brackets."""

    def __init__(self, root: PathTrie) -> None:
        self.root = root
        self.found: dict[Path, Place] = {}
        self.placed: set[PathTrie] = set()  #: tables that a header or key has named
        self.counts: dict[PathTrie, int] = {}  #: how many tables a list of tables has so far
        self.table = _Level(root)
        self.levels: list[_Level] = []
        #: what is wanted of the value after a key, and where the key is
        self.next: tuple[PathTrie, Range | None] = (WANT_NOTHING, None)

    def run(self, text: str) -> dict[Path, Place]:
        start, end = None, 0
        for event in scan(text):
            start = event.start if start is None else start
            if event.kind in ("table", "element"):
                self.close(self.table, end)
                self.enter_header(event)
            elif event.kind == "key":
                holder = self.levels[-1] if self.levels else self.table
                wanted, last = self.walk_key(holder.wanted, event)
                self.next = wanted.child(last.name), last.range
            elif event.kind == "close":
                self.close(self.levels.pop(), event.end)
            else:
                self.add_value(event)
            end = event.end
        self.close(self.table, end)
        self.close(_Level(self.root, start or 0), end)
        return self.found

    def record(self, wanted: PathTrie, place: Range, key: Range | None) -> None:
        if wanted.path is not None:
            self.found[wanted.path] = Place(place, key)

    def close(self, level: _Level, end: int) -> None:
        self.record(level.wanted, (level.start, end), level.key)

    def enter_header(self, event: Event) -> None:
        """The table of a header becomes the current one."""
        holder, last = self.walk_key(self.root, event)
        wanted = holder.child(last.name)
        if event.kind == "element":
            number = self.counts.get(wanted, 0)
            self.counts[wanted] = number + 1
            if not number:
                self.record(wanted, (event.start, event.end), last.range)
            wanted = wanted.child(number)
        self.placed.add(wanted)
        self.table = _Level(wanted, event.start, last.range)

    def walk_key(self, wanted: PathTrie, event: Event) -> tuple[PathTrie, KeyPart]:
        """Follow a dotted key up to its last part; every part before that names a table."""
        whole = (event.start, event.end)
        *way, last = event.parts or (KeyPart("", whole),)
        for part in way:
            wanted = wanted.child(part.name)
            if wanted in self.counts:  # a list of tables: its last one is meant
                wanted = wanted.child(self.counts[wanted] - 1)
            elif wanted not in self.placed:
                self.placed.add(wanted)
                self.record(wanted, whole, part.range)
        return wanted, last

    def add_value(self, event: Event) -> None:
        wanted, key = self.next
        if self.levels and self.levels[-1].is_list:
            holder = self.levels[-1]
            wanted, key = holder.wanted.child(holder.count), None
            holder.count += 1
        if event.kind == "scalar":
            self.record(wanted, (event.start, event.end), key)
        else:
            self.levels.append(_Level(wanted, event.start, key, is_list=event.kind == "list"))


def written(text: str) -> Iterator[Written]:
    """Each part of a key, scalar and bracket in order, as far as `text` makes sense."""
    counts: dict[Path, int] = {}  # how many tables each list of tables has so far
    table: Path = ()
    value: Path = ()  # of the value that comes next, outside of lists
    opened: list[tuple[Path, bool]] = []  # the path of each open bracket, and whether it is a list
    sizes: list[int] = []  # how many entries each of them has so far
    for event in scan(text):
        place, is_header = (event.start, event.end), event.kind in ("table", "element")
        if event.parts:
            path = () if is_header else opened[-1][0] if opened else table
            for part in event.parts:
                path = (*path, part.name)
                yield Written(path, part.range, is_key=True)
                if is_header and part is not event.parts[-1] and path in counts:
                    path = (*path, counts[path])
            if event.kind == "element":
                counts[path] = counts.get(path, -1) + 1
                path = (*path, counts[path])
            table, value = (path, value) if is_header else (table, path)
            continue
        if event.kind == "close":
            yield Written(opened.pop()[0], place, is_scalar=False)
            sizes.pop()
            continue
        if opened and opened[-1][1]:
            value = (*opened[-1][0], sizes[-1])
            sizes[-1] += 1
        yield Written(value, place, is_scalar=event.kind == "scalar")
        if event.kind in ("list", "map"):
            opened.append((value, event.kind == "list"))
            sizes.append(0)
            if len(opened) > MAX_DEPTH:
                return


def find_repeated_name(text: str, offset: int) -> tuple[Range, Range | None] | None:
    """Where the name that is repeated at `offset` is written, there and the first time.

    None inside brackets, where both are close together.
    """
    table: Path = ()
    counts: dict[Path, int] = {}  # how many tables each list of tables has so far
    depth = 0
    for event in scan(text):
        depth += {"list": 1, "map": 1, "close": -1}.get(event.kind, 0)
        if not event.parts or depth:
            continue
        path: Path = table if event.kind == "key" else ()
        for part in event.parts:
            path = (*path, part.name)
            if part.range[0] == offset:
                place = locate(text[: event.start], [path]).get(path)
                return part.range, place.key if place is not None else None
            if path in counts and part is not event.parts[-1]:
                path = (*path, counts[path] - 1)
        if event.kind == "element":
            counts[path] = counts.get(path, 0) + 1
            path = (*path, counts[path] - 1)
        table = table if event.kind == "key" else path
    return None
