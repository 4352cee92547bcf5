"""Syntax errors in words: what is wrong, where exactly, and what to write instead."""

from __future__ import annotations

import re

from equipage.syntax.engine import Irregularity, Range
from equipage.syntax.toml.limits import DEPTH
from equipage.syntax.toml.locate import mentions
from equipage.syntax.toml.scan import OPAQUE

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
    ("duplicate key", "this name is already taken", "a key or table may be given once; remove one of the two"),
    ("cannot overwrite", "this name is already taken", "a key or table may be given once; remove one of the two"),
    ("cannot declare", "this name is already taken", "a key or table may be given once; remove one of the two"),
    ("cannot extend value", "this name already has a value that nothing can be added to", None),
    ("cannot mutate", "this name already has a value that nothing can be added to", None),
    ("string values must be quoted", "this is not a value", _QUOTE_IT),
    ("invalid value, expected unicode", "this escape stands for no character", None),
    ("invalid value", "this is not a value", _QUOTE_IT),
    ("unclosed array table", "this header is not closed", "close it with `]]`"),
    ("unclosed table", "this header is not closed", "close it with `]`; quote a name that contains blanks"),
    ("unclosed array", "this list is never closed", "close it with `]`"),
    ("unclosed inline table", "this table is never closed", "close it with `}`"),
    ("key with no value", "a `=` is missing after the key", "write `key = value`"),
    ("expected '=' after a key", "a `=` is missing after the key", "write `key = value`"),
    ("unexpected key or value", "the line should have ended before this", "put each entry on a line of its own"),
    ("expected newline or end", "the line should have ended before this", "put each entry on a line of its own"),
    ("missing comma", "a `,` is missing before this", "separate entries with `,`"),
    ("extra comma", "nothing stands before this `,`", "remove it, or write what is missing"),
    ("extra `=`", "there is one `=` too many", "write `key = value`"),
    ("unquoted keys cannot be empty", "a part of the key is missing", 'an empty key is written `""`'),
    ("invalid unquoted key", "this key needs quotes", "unquoted keys have letters, digits, `-` and `_` only"),
    ("keys cannot be multi-line", "a key cannot have three quotes", "put the key in single or double quotes"),
    (
        "missing escaped value",
        "this escape does not exist in TOML",
        "write `\\\\` for a backslash, or use single quotes",
    ),
    ("unescaped '\\'", "this escape does not exist in TOML", "write `\\\\` for a backslash, or use single quotes"),
    ("too few unicode", "this escape needs more digits", "`\\x` takes two, `\\u` four, `\\U` eight digits"),
    ("unexpected leading zero", "a number cannot start with a zero", "remove the zero, or quote the text"),
    ("invalid float", "this is not a value", _QUOTE_IT),
    ("invalid boolean", "this is not a value", _QUOTE_IT),
    ("invalid mantissa", "a number cannot start with a dot", "write a digit before the dot"),
    ("invalid fraction", "a digit is missing after the dot", None),
    ("carriage return", "a lone carriage return is no line break", "end lines with LF or CRLF"),
    ("missing table open", "this bracket closes nothing", "remove it"),
    ("missing inline table opening", "this bracket closes nothing", "remove it"),
    ("invalid comment", "a control character stands in a comment", "remove it"),
    ("invalid literal string, expected `'`", "a value is expected here", None),
    ("invalid literal string", "a control character stands in a string", "use double quotes and an escape"),
    ("invalid basic string", "a control character stands in a string", "write it as an escape, as in `\\u0001`"),
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
