"""TOML 1.1 through rtoml, or the standard library's TOML 1.0 where rtoml is missing.

`load` gives plain values. Dates, times and numbers that are not finite are only *noticed* there; a second
pass says where they stand. `locate` finds places later, for all paths somebody asks about at once: no TOML
parser has them.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import msgspec

from equipage.core.path import ROOT, Path
from equipage.syntax import MAX_DEPTH, Irregularity, Parsed, Place, Range, SyntaxProblem
from equipage.syntax.limits import bracket_depth, lone_surrogates
from equipage.syntax.places import Want

# --- scan --------------------------------------------------------------------------------------
# The parts of a TOML text that matter for places, without recursion and in linear time.
#
# The text is taken to be valid; of a text that is not, the events are some sensible guess. Inline tables may
# span lines and end in a comma, as TOML 1.1 allows.

Kind = Literal["table", "element", "key", "list", "map", "close", "scalar"]

_MULTILINE = (
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*+(?:"{3,5}|\Z)'
    + "|"
    + r"'''(?:[^']|'{1,2}(?!'))*+(?:'{3,5}|\Z)"
)
_ONE_LINE = r'"(?:[^"\\\n]|\\[^\n])*+"?' + "|" + r"'[^'\n]*+'?"
_BLANK = re.compile(r"(?:[\s,]|\#[^\n]*)*+")
# rtoml lets the parts of an entry stand on lines of their own where an inline table spans lines.
_SPACE = r"(?:\s|\#[^\n]*)*+"
_PART = re.compile(rf"{_SPACE}({_ONE_LINE}|[^\s.=\[\]{{}},\"'\#]++)(?:{_SPACE}(\.))?", re.DOTALL)
_EQUALS = re.compile(rf"{_SPACE}=")
_SCALAR = re.compile(
    rf"{_MULTILINE}|{_ONE_LINE}|\d{{4}}-\d\d-\d\d[ ]\d\d:[^\s,\]}}\#]*+|[^\s,\]}}\#]++", re.DOTALL
)
_HEADER_END = re.compile(r"[ \t]*+\]{1,2}")

#: Strings and comments: where brackets and dots mean nothing.
OPAQUE = re.compile(rf"{_MULTILINE}|{_ONE_LINE}|\#[^\n]*", re.DOTALL)

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|(.))")
_ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


class Part(msgspec.Struct, frozen=True):
    """One part of a dotted key: its name and where it is written."""

    name: str
    range: Range


class Event(msgspec.Struct, frozen=True):
    """A piece of the text.

    `table` and `element` are headers, `[a]` and `[[a]]`; they and keys have parts. `list` and `map` are opening
    brackets inside values.
    """

    kind: Kind
    start: int
    end: int
    parts: tuple[Part, ...] = ()


def scan(text: str) -> Iterator[Event]:
    """What stands in `text`, in order."""
    opened: list[str] = []
    value_next = False
    offset = 0
    while True:
        offset = _skip(text, offset)
        if offset >= len(text):
            return
        character = text[offset]
        if character in "]}":
            event = Event("close", offset, offset + 1)
            if not opened:
                offset += 1
                continue
            opened.pop()
        elif value_next:
            event = _value(text, offset)
            if event.kind != "scalar":
                opened.append(character)
        else:
            event = _header(text, offset) if character == "[" and not opened else _key(text, offset)
        yield event
        offset = event.end
        if event.kind == "key":
            offset = _after_equals(text, offset)
            value_next = True
        else:
            value_next = bool(opened) and opened[-1] == "["


def _skip(text: str, offset: int) -> int:
    match = _BLANK.match(text, offset)
    return match.end() if match else offset


def _after_equals(text: str, offset: int) -> int:
    match = _EQUALS.match(text, offset)
    return match.end() if match else offset


def _value(text: str, offset: int) -> Event:
    if text[offset] in "[{":
        return Event("list" if text[offset] == "[" else "map", offset, offset + 1)
    match = _SCALAR.match(text, offset)
    return Event("scalar", offset, match.end() if match else offset + 1)


def _header(text: str, offset: int) -> Event:
    kind: Kind = "element" if text.startswith("[[", offset) else "table"
    parts = _parts(text, offset + (2 if kind == "element" else 1))
    end = parts[-1].range[1] if parts else offset + 1
    closing = _HEADER_END.match(text, end)
    return Event(kind, offset, closing.end() if closing else end, parts)


def _key(text: str, offset: int) -> Event:
    parts = _parts(text, offset)
    return Event("key", offset, parts[-1].range[1] if parts else offset + 1, parts)


def _parts(text: str, offset: int) -> tuple[Part, ...]:
    """The parts of the dotted key at `offset`, blanks around the dots left out.

    A key of more parts than a text may nest is read no further: it is refused before anybody needs the rest.
    """
    parts: list[Part] = []
    dot: str | None = "."
    while dot and len(parts) <= MAX_DEPTH and (match := _PART.match(text, offset)):
        parts.append(Part(_name(match[1]), match.span(1)))
        offset, dot = match.end(), match[2]
    return tuple(parts)


def _name(written: str) -> str:
    if written[0] == "'":
        return written[1:-1]
    if written[0] == '"':
        return _ESCAPE.sub(_unescape, written[1:-1])
    return written


def _unescape(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits is None:
        return _ESCAPED.get(match[4], match[4])
    code = int(digits, 16)
    return chr(code) if code <= 0x10FFFF else "\N{REPLACEMENT CHARACTER}"


# --- limits ------------------------------------------------------------------------------------
# Depth, bounded before the parser sees the text.
#
# rtoml counts brackets and the parts of one key, each up to 80, but not their sum: a short text can nest
# thousands of tables and end the interpreter.

#: How deep tables and lists may nest, the file itself included: what rtoml reads in any arrangement.
DEPTH = min(MAX_DEPTH, 80)
_BEGINNING = 65_536


def refuse_deep_nesting(text: str) -> None:
    """Raise `SyntaxProblem` at the bracket or the part of a key that opens one level too many."""
    # Of a large text, the beginning is often enough to tell.
    if all(_bound(part) <= DEPTH for part in (text[:_BEGINNING], text)):
        return
    for depth, place in _depths(text):
        if depth > DEPTH:
            raise SyntaxProblem([Irregularity("nesting-too-deep", place, values={"limit": DEPTH})])


def _bound(text: str) -> int:
    """No less than the depth of `text`, found without reading it closely.

    Every level takes a bracket or a dot. Where there are many of either, those in strings and comments are
    left out, and a level is at most a bracket and the longest key on it; headers can name a list at each part.
    """
    marks = 1 + text.count(".") + text.count("[") + text.count("{")
    if marks <= DEPTH:
        return marks
    bare = OPAQUE.sub("", text)
    parts = 1 + max(line.count(".") for line in bare.split("\n"))
    brackets = bracket_depth(bare.encode("utf-8", "surrogatepass"))
    return 1 + 2 * parts + brackets * (1 + parts)


def _depths(text: str) -> Iterator[tuple[int, Range]]:
    """The depth of each table and list, where it is opened or named."""
    lists: set[tuple[str, ...]] = set()
    table = pending = 1
    levels: list[int] = []
    for event in scan(text):
        if event.kind in ("table", "element"):
            for table, place in _header_depths(event, lists):  # the last is the table's own
                yield table, place
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


def _header_depths(event: Event, lists: set[tuple[str, ...]]) -> Iterator[tuple[int, Range]]:
    depth = 1
    names: tuple[str, ...] = ()
    for number, part in enumerate(event.parts, 1):
        names = (*names, part.name)
        if event.kind == "element" and number == len(event.parts):
            lists.add(names)
        depth += 2 if names in lists else 1
        yield depth, part.range


# --- locate ------------------------------------------------------------------------------------
# The places of many paths in one pass.
#
# Tables are not written in one piece, so this is what their places mean:
#
# - a table with a header: from the header to the end of its last entry
# - a table that is only named on the way, in a longer header or a dotted key: the first one that names it
# - a list of tables: the header of its first; each of its tables as any table with a header


class _Level:
    """An open bracket: what is wanted of it, and where it stands."""

    __slots__ = ("index", "is_list", "own_key", "start", "want")

    def __init__(
        self, want: Want | None, start: int, own_key: Range | None, *, is_list: bool
    ) -> None:
        self.want = want
        self.start = start
        self.own_key = own_key
        self.is_list = is_list
        self.index = -1


def locate(text: str, paths: Iterable[Path]) -> dict[Path, Place]:
    """The places of those `paths` that exist in `text`."""
    return _Locator(Want.of(paths)).run(text)


class _Locator:
    """One pass over the text. The current table is a level of its own, below the open brackets."""

    def __init__(self, root: Want) -> None:
        self.root = root
        self.found: dict[Path, Place] = {}
        self.elements: dict[Want, int] = {}  #: how many tables a list of tables has so far
        self.table = _Level(root, 0, None, is_list=False)
        self.table_end = 0
        self.levels: list[_Level] = []
        self.next: tuple[Want | None, Range | None] = (
            None,
            None,
        )  #: what the value after a key is wanted for

    def run(self, text: str) -> dict[Path, Place]:
        start, end = None, 0
        for event in scan(text):
            start, end = event.start if start is None else start, event.end
            if event.kind in ("table", "element"):
                self.header(event)
            elif event.kind == "key":
                self.key(event)
            else:
                self.value(event)
            self.table_end = event.end
        self.close_table()
        self.root.record(Place((start or 0, end)), self.found)
        return self.found

    def header(self, event: Event) -> None:
        self.close_table()
        whole = (event.start, event.end)
        want = self.walk(self.root, event.parts[:-1], whole)
        last = event.parts[-1:]
        child = want.below.get(last[0].name) if want is not None and last else None
        if child is not None and event.kind == "element":
            child = self.element(child, last[0], whole)
        if child is not None:
            child.reached = True
        self.table = _Level(child, event.start, last[0].range if last else None, is_list=False)

    def element(self, array: Want, part: Part, header: Range) -> Want | None:
        """The next table of a list; the list itself is placed by the first."""
        number = self.elements.get(array, 0)
        self.elements[array] = number + 1
        if not number:
            array.record(Place(header, part.range), self.found)
        return array.below.get(number)

    def close_table(self) -> None:
        if self.table.want is not None:
            self.table.want.record(
                Place((self.table.start, self.table_end), self.table.own_key), self.found
            )

    def key(self, event: Event) -> None:
        level = self.levels[-1] if self.levels else self.table
        want = self.walk(level.want, event.parts[:-1], (event.start, event.end))
        last = event.parts[-1] if event.parts else Part("", (event.start, event.end))
        self.next = (want.below.get(last.name) if want is not None else None), last.range

    def walk(self, want: Want | None, parts: tuple[Part, ...], whole: Range) -> Want | None:
        """Follow the parts of a dotted key that only lead somewhere; each names a table, perhaps the first time."""
        for part in parts:
            want = want.below.get(part.name) if want is not None else None
            if want is None:
                return None
            if want in self.elements:
                want = want.below.get(self.elements[want] - 1)
            elif not want.reached:
                want.reached = True
                want.record(Place(whole, part.range), self.found)
        return want

    def value(self, event: Event) -> None:
        if event.kind == "close":
            level = self.levels.pop()
            if level.want is not None:
                level.want.record(Place((level.start, event.end), level.own_key), self.found)
            return
        want, key = self.arrive()
        if event.kind != "scalar":
            self.levels.append(_Level(want, event.start, key, is_list=event.kind == "list"))
        elif want is not None:
            want.record(Place((event.start, event.end), key), self.found)

    def arrive(self) -> tuple[Want | None, Range | None]:
        """What the value that comes now is wanted for, and its key."""
        level = self.levels[-1] if self.levels else None
        if level is None or not level.is_list:
            return self.next
        level.index += 1
        return (level.want.below.get(level.index) if level.want is not None else None), None


def mentions(text: str, offset: int) -> tuple[Range, Range | None] | None:
    """Where the name that is given again at `offset` stands, there and the first time.

    None inside brackets: those have no second entry of a name far away.
    """
    table: Path = ()
    counts: dict[Path, int] = {}
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


# --- errors ------------------------------------------------------------------------------------
# Syntax errors in words: what is wrong, where exactly, and what to write instead.

_Words = tuple[str, str | None]

#: Both parsers say where in their text: rtoml `… at line 1 column 5`, tomllib `… (at line 1, column 5)`.
_POSITION = re.compile(r" \(?at (?:line (\d+),? column (\d+)|end of document)\)?$")
_WORD = re.compile(r"""[^\s=\[\]{},"'\#]+""")

_SEVERAL_WORDS = re.compile(r"[\w.+-]+[ \t]+[\w.+-]")

_INSTEAD = {
    "null": "TOML has no null; leave the key out",
    "None": "TOML has no null; leave the key out",
    "nil": "TOML has no null; leave the key out",
    "True": "write `true`",
    "TRUE": "write `true`",
    "yes": "write `true`",
    "on": "write `true`",
    "False": "write `false`",
    "FALSE": "write `false`",
    "no": "write `false`",
    "off": "write `false`",
}
_QUOTES = "`\u2018\u2019\u201c\u201d"
_QUOTE_IT = "put text in quotes"
_QUOTE_THEM = "put text in quotes, and a `,` between the entries of a list"

#: What a parser's message starts with → what a person is told.
_MESSAGES: tuple[tuple[str, str, str | None], ...] = (
    (
        "duplicate key",
        "this name is already taken",
        "a key or table may be given once; remove one of the two",
    ),
    (
        "cannot overwrite",
        "this name is already taken",
        "a key or table may be given once; remove one of the two",
    ),
    (
        "cannot declare",
        "this name is already taken",
        "a key or table may be given once; remove one of the two",
    ),
    ("cannot extend value", "this name already has a value that nothing can be added to", None),
    ("cannot mutate", "this name already has a value that nothing can be added to", None),
    ("string values must be quoted", "this is not a value", _QUOTE_IT),
    ("invalid value, expected unicode", "this escape stands for no character", None),
    ("invalid value", "this is not a value", _QUOTE_IT),
    ("unclosed array table", "this header is not closed", "close it with `]]`"),
    (
        "unclosed table",
        "this header is not closed",
        "close it with `]`; quote a name that contains blanks",
    ),
    ("unclosed array", "this list is never closed", "close it with `]`"),
    ("unclosed inline table", "this table is never closed", "close it with `}`"),
    ("key with no value", "a `=` is missing after the key", "write `key = value`"),
    ("expected '=' after a key", "a `=` is missing after the key", "write `key = value`"),
    (
        "unexpected key or value",
        "the line should have ended before this",
        "put each entry on a line of its own",
    ),
    (
        "expected newline or end",
        "the line should have ended before this",
        "put each entry on a line of its own",
    ),
    ("missing comma", "a `,` is missing before this", "separate entries with `,`"),
    ("extra comma", "nothing stands before this `,`", "remove it, or write what is missing"),
    ("extra `=`", "there is one `=` too many", "write `key = value`"),
    (
        "unquoted keys cannot be empty",
        "a part of the key is missing",
        'an empty key is written `""`',
    ),
    (
        "invalid unquoted key",
        "this key needs quotes",
        "unquoted keys have letters, digits, `-` and `_` only",
    ),
    (
        "keys cannot be multi-line",
        "a key cannot have three quotes",
        "put the key in single or double quotes",
    ),
    (
        "missing escaped value",
        "this escape does not exist in TOML",
        "write `\\\\` for a backslash, or use single quotes",
    ),
    (
        "unescaped '\\'",
        "this escape does not exist in TOML",
        "write `\\\\` for a backslash, or use single quotes",
    ),
    (
        "too few unicode",
        "this escape needs more digits",
        "`\\x` takes two, `\\u` four, `\\U` eight digits",
    ),
    (
        "unexpected leading zero",
        "a number cannot start with a zero",
        "remove the zero, or quote the text",
    ),
    ("invalid float", "this is not a value", _QUOTE_IT),
    ("invalid boolean", "this is not a value", _QUOTE_IT),
    ("invalid mantissa", "a number cannot start with a dot", "write a digit before the dot"),
    ("invalid fraction", "a digit is missing after the dot", None),
    ("carriage return", "a lone carriage return is no line break", "end lines with LF or CRLF"),
    ("missing table open", "this bracket closes nothing", "remove it"),
    ("missing inline table opening", "this bracket closes nothing", "remove it"),
    ("invalid comment", "a control character stands in a comment", "remove it"),
    ("invalid literal string, expected `'`", "a value is expected here", None),
    (
        "invalid literal string",
        "a control character stands in a string",
        "use double quotes and an escape",
    ),
    (
        "invalid basic string",
        "a control character stands in a string",
        "write it as an escape, as in `\\u0001`",
    ),
)


def syntax_error(message: str, text: str) -> Irregularity:
    """The parser's message as an irregularity in our words, at the narrowest place."""
    said, offset = _position(message, text)
    place = (offset, _word_end(text, offset))
    if "recursion" in said:
        return Irregularity("nesting-too-deep", place, values={"limit": DEPTH})
    if said.startswith("integer number overflowed"):
        return Irregularity("number-too-long", place, values={"digits": place[1] - place[0]})
    if said.startswith("floating-point number overflowed"):
        return Irregularity("not-finite", place, values={"found": text[slice(*place)]})
    unclosed = _unclosed_string(text, offset)
    if unclosed is not None:
        return _problem(unclosed, ("this string is never closed", _closing_hint(text, unclosed)))
    if said.startswith(("duplicate key", "cannot extend value")):
        again, first = mentions(text, offset) or (place, None)
        return _problem(again, _words(said), (("first here", first),) if first is not None else ())
    if said.startswith("string values must be quoted") and _SEVERAL_WORDS.match(text, offset):
        return _problem(place, ("this is more than one value", _QUOTE_THEM))
    return _problem(place, _at(text, place) or _words(said))


def _problem(place: Range, words: _Words, also: tuple[tuple[str, Range], ...] = ()) -> Irregularity:
    problem, hint = words
    return Irregularity("toml-syntax", place, values={"problem": problem, "hint": hint}, also=also)


def _position(message: str, text: str) -> tuple[str, int]:
    """The message without its position, and the position as an offset of `text`."""
    match = _POSITION.search(message)
    if match is None:
        return message, 0
    if match[1] is None:
        return message[: match.start()], len(text)
    start = 0
    for _ in range(int(match[1]) - 1):
        start = text.find("\n", start) + 1
    offset = min(start + int(match[2]) - 1, len(text))
    # rtoml points behind a lone carriage return
    return message[: match.start()], offset - 1 if message.startswith("carriage return") else offset


def _word_end(text: str, offset: int) -> int:
    match = _WORD.match(text, offset)
    return match.end() if match else min(offset + 1, len(text))


def _unclosed_string(text: str, until: int) -> Range | None:
    """The first string that is never closed, if it starts before the error: whatever follows is its fault."""
    for match in OPAQUE.finditer(text):
        if match.start() > until:
            return None
        quote = _quote(text, match.start())
        if quote and (len(match[0]) < 2 * len(quote) or not match[0].endswith(quote)):
            end = text.find("\n", match.start())
            return match.start(), end if end >= 0 else len(text)
    return None


def _quote(text: str, start: int) -> str:
    return next((quote for quote in ('"""', "'''", '"', "'") if text.startswith(quote, start)), "")


def _closing_hint(text: str, place: Range) -> str:
    quote = _quote(text, place[0])
    if len(quote) == 3:
        return f"close it with `{quote}`"
    return f"close it with `{quote}` on the same line; text over several lines takes three quotes"


def _at(text: str, place: Range) -> _Words | None:
    """What stands at the error gives it away, whatever the parser was looking for."""
    word = text[slice(*place)]
    before = text[: place[0]].rstrip(" \t")
    if word in _INSTEAD:
        return f"`{word}` is not a value in TOML", _INSTEAD[word]
    if word[:1] in ("", "\r", "\n", "}", "]", ",", "#") and before.endswith("="):
        return "a value is missing after `=`", None
    if word.startswith("//") or before.endswith("//"):
        return "this is not a comment in TOML", "start comments with `#`"
    if word and word[0] in _QUOTES:
        return "strings stand in straight quotes", "write `\"` or `'` instead"
    if word.startswith(":") or before.endswith(":"):
        return "a key and its value are separated by `=`", "write `=` instead of `:`"
    if word.startswith("\ufeff"):
        return "a byte order mark stands here", "remove it"
    return None


def _words(said: str) -> _Words:
    for start, problem, hint in _MESSAGES:
        if said.lower().startswith(start):
            return problem, hint
    return said.replace(", expected nothing", ""), None


try:
    import rtoml

    PARSER = "rtoml"
    _parse: Callable[[str], dict[str, Any]] = rtoml.loads
    _Error: type[Exception] = rtoml.TomlParsingError
except ImportError:  # no wheel for this machine: slower, and only TOML 1.0
    PARSER = "tomllib"
    _parse = tomllib.loads
    _Error = tomllib.TOMLDecodeError

__all__ = ["DEPTH", "PARSER", "load", "locate"]

_INFINITY = float("inf")
_MAYBE_ODD = re.compile(r"inf|nan|[eE]\+?\d{3}|\d\d:\d\d|\d{4}-\d\d-\d\d")


def load(text: str) -> Parsed:
    """The value of `text`.

    Dates and times are the text they are written as, line breaks inside strings are LF, `inf` and `nan` are
    floats; dates and those floats are in `irregularities`.

    Raises `SyntaxProblem` where `text` is not TOML (a key given twice is not) or nests too deeply.
    """
    refuse_deep_nesting(text)
    if text.startswith(
        "\ufeff"
    ):  # the one that may be there is gone by now, and rtoml would drop another
        raise SyntaxProblem([syntax_error("invalid unquoted key at line 1 column 1", text)])
    try:
        value = _parse(text.replace("\r\n", "\n"))
    except _Error as error:
        raise SyntaxProblem([syntax_error(str(error), text)]) from None
    except UnicodeEncodeError:
        raise SyntaxProblem(lone_surrogates(text)) from None
    except ValueError:  # tomllib leaves it to `int` how many digits a number may have
        raise SyntaxProblem(_long_numbers(text)) from None
    return Parsed(value, _settle(value, text) if _MAYBE_ODD.search(text) else ())


def _settle(value: dict[str, Any], text: str) -> tuple[Irregularity, ...]:
    """Replace dates by their text; say where they and the numbers that are not finite stand."""
    odd = {path: (holder, code) for path, holder, code in _odd(value)}
    places = locate(text, odd)
    found: list[Irregularity] = []
    for path, (holder, code) in odd.items():
        place = places[path].value if path in places else (0, 0)
        written = text[slice(*place)] or str(holder[path[-1]])
        if code == "toml-date":
            holder[path[-1]] = written
        found.append(Irregularity(code, place, path, {"found": written}))
    return tuple(sorted(found, key=lambda each: each.range))


def _odd(value: dict[str, Any]) -> Iterator[tuple[Path, Any, str]]:
    """Each date and each number that is not finite: its path, what holds it, and its code."""
    left: list[tuple[Path, Any]] = [(ROOT, value)]
    while left:
        path, holder = left.pop()
        for step, child in holder.items() if isinstance(holder, dict) else enumerate(holder):
            if isinstance(child, dict | list):
                left.append(((*path, step), child))
            elif isinstance(child, datetime.date | datetime.time):
                yield (*path, step), holder, "toml-date"
            elif isinstance(child, float) and not -_INFINITY < child < _INFINITY:
                yield (*path, step), holder, "not-finite"


def _long_numbers(text: str) -> Iterator[Irregularity]:
    for event in scan(text):
        digits = text[event.start : event.end].replace("_", "").lstrip("+-")
        if event.kind == "scalar" and digits.isdigit() and len(digits) > 640:
            yield Irregularity(
                "number-too-long", (event.start, event.end), values={"digits": len(digits)}
            )
