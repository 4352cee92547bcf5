"""JSON as RFC 8259 has it, through the standard library.

`load` only *notices* what is odd (a key twice, a number no float holds); a second pass says where, so that an
ordinary file pays nothing. `locate` finds places later, for all paths somebody asks about at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Literal

from equipage.core.path import Path
from equipage.syntax import MAX_DEPTH, Irregularity, Parsed, Place, Range, SyntaxProblem
from equipage.syntax.limits import bracket_depth, lone_surrogates
from equipage.syntax.places import Want

# --- events ------------------------------------------------------------------------------------
# The tokens of a JSON text that matter for places, without recursion and in linear time.
#
# The text is taken to be valid; of a text that is not, the events are some sensible guess.

Kind = Literal["open", "close", "key", "string", "bare"]

_TOKEN = re.compile(
    r"""
      (?P<string> "[^"\\]*+(?:\\.[^"\\]*+)*+" )
    | (?P<open> [\[{] )
    | (?P<close> [\]}] )
    | (?P<comma> , )
    | (?P<bare> [^\s,:\[\]{}"]++ )
    """,
    re.VERBOSE | re.DOTALL,
)


def events(text: str) -> Iterator[tuple[Kind, int, int]]:
    """What stands in `text`, in order, as (kind, start, end): brackets, keys, strings and other scalars."""
    mappings: list[bool] = []  # for each open bracket, whether it is a mapping's
    key_next = False
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        start, end = match.span()
        if kind == "string":
            yield ("key" if key_next else "string"), start, end
            key_next = False
        elif kind == "bare":
            yield "bare", start, end
        elif kind == "comma":
            key_next = bool(mappings) and mappings[-1]
        elif kind == "open":
            key_next = text[start] == "{"
            mappings.append(key_next)
            yield "open", start, end
        else:
            key_next = False
            if mappings:
                mappings.pop()
                yield "close", start, end


def string_at(text: str, start: int, end: int) -> str:
    """The string whose token, quotes included, is `text[start:end]`."""
    inside = text[start + 1 : end - 1]
    return inside if "\\" not in inside else str(json.loads(text[start:end], strict=False))


# --- errors ------------------------------------------------------------------------------------
# Syntax errors in words: what is wrong, where exactly, and what to write instead.

_Words = tuple[str, str | None]

_WORD = re.compile(r"[^\s,:;=\[\]{}\"'/#]+")
_COMMENT = re.compile(r"/\*.*?\*/|(?:/[/*]|\#)[^\r\n]*", re.DOTALL)
_LINE = re.compile(r"[^\r\n]*")
_NAMES = {
    "True": "true",
    "False": "false",
    "TRUE": "true",
    "FALSE": "false",
    "None": "null",
    "nil": "null",
    "NULL": "null",
    "Null": "null",
    "undefined": "null",
}
_SPACES = {
    "\ufeff": "a byte order mark",
    "\u00a0": "a no-break space",
    "\u200b": "a zero-width space",
    "\u2028": "a line separator",
    "\u3000": "an ideographic space",
}
_QUOTES = "'`\u2018\u2019\u201c\u201d"

#: What the parser says → what a person is told.
_MESSAGES: tuple[tuple[str, _Words], ...] = (
    ("Unterminated string", ("this string is never closed", 'close it with `"`')),
    ("Invalid control character", ("a control character stands inside a string", None)),
    (
        "Invalid \\u",
        (
            "`\\u` needs four hexadecimal digits",
            "write the code point with four digits, as in `\\u00e9`",
        ),
    ),
    ("Invalid \\", ("this escape does not exist in JSON", "write `\\\\` for a backslash")),
    (
        "Extra data",
        ("something follows the end of the value", "a JSON file holds one value; remove the rest"),
    ),
    ("Expecting ':'", ("a `:` is missing after the key", "write `:` between a key and its value")),
    ("Expecting ','", ("a `,` is missing before this", "separate entries with `,`")),
    (
        "Expecting property name",
        ("a key in double quotes is expected here", "put the key in double quotes"),
    ),
    ("Expecting value", ("a value is expected here", None)),
)


def syntax_error(error: json.JSONDecodeError, text: str) -> Irregularity:
    """The parser's exception as an irregularity in our words, at the narrowest place."""
    if not text.strip(" \t\r\n"):
        return _problem((0, 0), ("the file is empty", "an empty object is written `{}`"))
    offset = error.pos
    if offset >= len(text.rstrip(" \t\r\n")):
        return _unclosed(text)
    comma = _trailing_comma(error, text)
    if comma is not None:
        return _problem(
            (comma, comma + 1), ("a `,` stands before the closing bracket", "remove the last `,`")
        )
    if error.msg.startswith("Unterminated string"):
        line = _LINE.match(text, offset)
        return _problem(line.span() if line else (offset, offset), _words(error.msg))
    if error.msg.startswith("Invalid"):
        start = offset - 1 if text[offset] == "u" else offset
        return _problem((start, _escape_end(text, start)), _in_string(error.msg, text[offset]))
    return _problem(
        (offset, _word_end(text, offset)), _at(text, offset) or _word(error.msg, text, offset)
    )


def _problem(place: Range, words: _Words, also: tuple[tuple[str, Range], ...] = ()) -> Irregularity:
    problem, hint = words
    return Irregularity("json-syntax", place, values={"problem": problem, "hint": hint}, also=also)


def _words(message: str) -> _Words:
    return next((words for start, words in _MESSAGES if message.startswith(start)), (message, None))


def _unclosed(text: str) -> Irregularity:
    """The text ends too early; say which bracket still waits to be closed."""
    opened: list[int] = []
    for kind, start, _ in events(text):
        if kind == "open":
            opened.append(start)
        elif kind == "close":
            opened.pop()
    end = len(text)
    if not opened:
        return _problem((end, end), ("the text ends before the value does", None))
    start = opened[-1]
    closing = "}" if text[start] == "{" else "]"
    words = (f"the text ends before `{text[start]}` is closed", f"close it with `{closing}`")
    return _problem((end, end), words, (("opened here", (start, start + 1)),))


def _trailing_comma(error: json.JSONDecodeError, text: str) -> int | None:
    """Where the comma stands, if one before a closing bracket is what the error is about."""
    if text[error.pos] == ",":
        rest = text[error.pos + 1 :].lstrip(" \t\r\n")
        return error.pos if "trailing comma" in error.msg and rest[:1] in ("]", "}") else None
    before = text[: error.pos].rstrip(" \t\r\n")
    return len(before) - 1 if text[error.pos] in "]}" and before.endswith(",") else None


def _in_string(message: str, character: str) -> _Words:
    if character in "\r\n":
        return "a line break stands inside a string", "write `\\n`, or close the string on its line"
    if character == "\t":
        return "a tab stands inside a string", "write `\\t`"
    return _words(message)


def _at(text: str, offset: int) -> _Words | None:
    """What the character at the error gives away, whatever the parser was looking for."""
    character = text[offset]
    if _COMMENT.match(text, offset):
        return "JSON has no comments", "remove the comment"
    if character in _QUOTES:
        return "strings stand in double quotes", 'write `"` instead'
    if character in _SPACES:
        return (
            f"{_SPACES[character]} stands here",
            "remove it; JSON knows space, tab and line breaks only",
        )
    if character == ",":
        return "nothing stands before this `,`", "remove it, or write what is missing"
    if character == "=":
        return "a key and its value are separated by `:`", "write `:` instead of `=`"
    if character == ";":
        return "entries are separated by `,`", "write `,` instead of `;`"
    return None


def _word(message: str, text: str, offset: int) -> _Words:
    """What the word at the error gives away, given what the parser was looking for."""
    match = _WORD.match(text, offset)
    word = match[0] if match else ""
    if message.startswith("Expecting property name") and word:
        return f"the key `{word}` is not in double quotes", f'write `"{word}"`'
    if message.startswith("Expecting value") and word in _NAMES:
        return f"`{word}` is not a JSON value", f"write `{_NAMES[word]}`"
    if message.startswith("Expecting value") and word[:1].isalpha():
        return f"`{word}` is not in double quotes", f'write `"{word}"`, if it is meant as text'
    if word[:1] in ("+", "."):
        return f"`{word}` is not a number in JSON", "start a number with a digit or `-`"
    if message.startswith("Expecting ','") and word and text[offset - 1].isdigit():
        return (
            "the number ends here",
            "JSON has decimal numbers only, without leading zeros; quote anything else",
        )
    return _words(message)


def _word_end(text: str, offset: int) -> int:
    match = _COMMENT.match(text, offset) or _WORD.match(text, offset)
    return match.end() if match else offset + 1


def _escape_end(text: str, offset: int) -> int:
    return min(len(text), offset + (2 if text[offset] == "\\" else 1))


# --- limits ------------------------------------------------------------------------------------
# What is refused before or after the parser: depth it could not survive, text nobody could write out.

_BEGINNING = 65_536
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    r"""
      (?P<pair> \\u[dD][89abAB]..\\u[dD][c-fC-F].. )
    | (?P<lone> \\u[dD][89a-fA-F].. )
    | \\.
    """,
    re.VERBOSE,
)


def refuse_deep_nesting(text: str) -> None:
    """Raise `SyntaxProblem` at the bracket that opens one level too many.

    The parser recurses in C and would end a thread that has a small stack. An error before that bracket is
    left to the parser, which never gets so far.
    """
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    # Of a large text, the beginning is often enough to tell.
    if all(_depth(part) <= MAX_DEPTH for part in (text[:_BEGINNING], text)):
        return
    depth = 0
    for kind, start, end in events(text):
        depth += {"open": 1, "close": -1}.get(kind, 0)
        if depth > MAX_DEPTH and _is_sound(text[:start]):
            raise SyntaxProblem(
                [Irregularity("nesting-too-deep", (start, end), values={"limit": MAX_DEPTH})]
            )
        if depth > MAX_DEPTH:
            return


def _depth(text: str) -> int:
    """How deep brackets outside strings nest, up to the first syntax error exactly."""
    data = text.encode("utf-8", "surrogatepass").replace(rb"\\", b"").replace(rb"\"", b"")
    return bracket_depth(b"".join(data.split(b'"')[::2]))


def _is_sound(beginning: str) -> bool:
    """Whether nothing is wrong with the beginning of a text but that it ends."""
    try:
        json.loads(beginning, parse_int=str)
    except json.JSONDecodeError as error:
        return error.pos >= len(beginning)
    return True


def refuse_lone_surrogates(text: str) -> None:
    """Raise `SyntaxProblem` with every half of a surrogate pair: no file could hold such a string."""
    problems = [*lone_surrogates(text), *_escaped_surrogates(text)]
    if problems:
        raise SyntaxProblem(sorted(problems, key=lambda each: each.range))


def _escaped_surrogates(text: str) -> Iterator[Irregularity]:
    if not _SURROGATE_ESCAPE.search(text):
        return
    for kind, start, end in events(text):
        if kind in ("key", "string"):
            for match in _ESCAPE.finditer(text, start, end):
                if match["lone"]:
                    yield Irregularity(
                        "lone-surrogate", match.span(), values={"found": match["lone"]}
                    )


# --- locate ------------------------------------------------------------------------------------
# The places of many paths in one pass.


class _Level:
    """An open collection on the way to something wanted."""

    __slots__ = ("child", "index", "is_mapping", "key_range", "own_key", "start", "want")

    def __init__(self, want: Want, start: int, own_key: Range | None, *, is_mapping: bool) -> None:
        self.want = want
        self.start = start
        self.own_key = own_key  #: where the collection's own key stands
        self.is_mapping = is_mapping
        self.index = -1
        self.key_range: Range | None = None
        self.child: Want | None = None  #: what is wanted of the next value

    def key(self, name: str, place: Range, found: dict[Path, Place]) -> None:
        self.key_range = place
        self.child = self.want.below.get(name)
        if self.child is not None:
            self.child.forget(found)
            self.want.reach(name)

    def arrive(self) -> Want | None:
        if self.is_mapping:
            return self.child
        self.index += 1
        return self.want.reach(self.index)


def locate(text: str, paths: Iterable[Path]) -> dict[Path, Place]:
    """The places of those `paths` that exist in `text`; the last of several equal keys counts."""
    found: dict[Path, Place] = {}
    root = Want.of(paths)
    levels: list[_Level | None] = []  # None stands for a collection nobody wants
    for kind, start, end in events(text):
        level = levels[-1] if levels else None
        if kind == "key":
            if level is not None:
                level.key(string_at(text, start, end), (start, end), found)
            continue
        if kind == "close":
            levels.pop()
            if level is not None:
                level.want.record(Place((level.start, end), level.own_key), found)
            continue
        want = root if not levels else level.arrive() if level is not None else None
        own_key = level.key_range if level is not None else None
        if kind == "open":
            is_mapping = text[start] == "{"
            levels.append(
                None if want is None else _Level(want, start, own_key, is_mapping=is_mapping)
            )
        elif want is not None:
            want.record(Place((start, end), own_key), found)
    return found


# --- survey ------------------------------------------------------------------------------------
# What is odd about a text that parses, and where.

_INFINITY = float("inf")


class _Frame:
    """An open collection: the step of its current child, and where each key was seen first."""

    __slots__ = ("is_mapping", "keys", "step")

    def __init__(self, *, is_mapping: bool) -> None:
        self.is_mapping = is_mapping
        self.step: str | int = "" if is_mapping else -1
        self.keys: dict[str, Range] = {}

    def advance(self) -> None:
        if isinstance(self.step, int):
            self.step += 1


def survey(text: str) -> Iterator[Irregularity]:
    """Every repeated key and every number that is not finite or too long, in order."""
    frames: list[_Frame] = []
    for kind, start, end in events(text):
        if kind == "close":
            frames.pop()
            continue
        if kind == "key":
            yield from _key(text, (start, end), frames)
            continue
        if frames:
            frames[-1].advance()
        if kind == "open":
            frames.append(_Frame(is_mapping=text[start] == "{"))
        elif kind == "bare":
            yield from _number(text, (start, end), frames)


def _path(frames: list[_Frame]) -> Path:
    return tuple(frame.step for frame in frames)


def _key(text: str, place: Range, frames: list[_Frame]) -> Iterator[Irregularity]:
    name = string_at(text, *place)
    frames[-1].step = name
    first = frames[-1].keys.setdefault(name, place)
    if first is not place:
        yield Irregularity(
            "duplicate-key", place, _path(frames), {"key": name}, (("first here", first),)
        )


def _number(text: str, place: Range, frames: list[_Frame]) -> Iterator[Irregularity]:
    written = text[slice(*place)]
    if written in ("true", "false", "null"):
        return
    if written.lstrip("-").isdigit():
        try:
            int(written)
        except ValueError:
            yield Irregularity(
                "number-too-long", place, _path(frames), {"digits": len(written.lstrip("-"))}
            )
    elif not -_INFINITY < float(written) < _INFINITY:
        yield Irregularity("not-finite", place, _path(frames), {"found": written})


__all__ = ["load", "locate"]

_JSON_INFINITY = float("inf")


class _Noticing:
    """The hooks of one `load`: they build ordinary values and remember whether one was odd."""

    def __init__(self) -> None:
        self.odd = False

    def mapping(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        result = dict(pairs)
        if len(result) != len(pairs):
            self.odd = True
        return result

    def integer(self, digits: str) -> object:
        try:
            return int(digits)
        except ValueError:  # Python converts only so many digits in reasonable time
            self.odd = True
            return digits

    def fraction(self, written: str) -> float:
        value = float(written)
        if not -_JSON_INFINITY < value < _JSON_INFINITY:
            self.odd = True
        return value

    def constant(self, name: str) -> float:
        self.odd = True
        return float(name)


def load(text: str) -> Parsed:
    """The value of `text`.

    The last of several equal keys wins, integers keep any size up to Python's own limit and are text beyond
    it, `NaN` and `1e999` become floats that are not finite; each such thing is in `irregularities`.

    Raises `SyntaxProblem` where `text` is not JSON, nests too deeply or holds half a surrogate pair.
    """
    refuse_deep_nesting(text)
    noticing = _Noticing()
    try:
        value = json.loads(
            text,
            object_pairs_hook=noticing.mapping,
            parse_int=noticing.integer,
            parse_float=noticing.fraction,
            parse_constant=noticing.constant,
        )
    except json.JSONDecodeError as error:
        raise SyntaxProblem([syntax_error(error, text)]) from None
    refuse_lone_surrogates(text)
    return Parsed(value, tuple(survey(text)) if noticing.odd else ())
