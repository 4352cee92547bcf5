"""Syntax errors in words: what is wrong, where exactly, and what to write instead."""

from __future__ import annotations

import json
import re

from equipage.syntax.engine import Irregularity, Range
from equipage.syntax.json.events import events

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
    ("Invalid \\u", ("`\\u` needs four hexadecimal digits", "write the code point with four digits, as in `\\u00e9`")),
    ("Invalid \\", ("this escape does not exist in JSON", "write `\\\\` for a backslash")),
    ("Extra data", ("something follows the end of the value", "a JSON file holds one value; remove the rest")),
    ("Expecting ':'", ("a `:` is missing after the key", "write `:` between a key and its value")),
    ("Expecting ','", ("a `,` is missing before this", "separate entries with `,`")),
    ("Expecting property name", ("a key in double quotes is expected here", "put the key in double quotes")),
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
        return _problem((comma, comma + 1), ("a `,` stands before the closing bracket", "remove the last `,`"))
    if error.msg.startswith("Unterminated string"):
        line = _LINE.match(text, offset)
        return _problem(line.span() if line else (offset, offset), _words(error.msg))
    if error.msg.startswith("Invalid"):
        start = offset - 1 if text[offset] == "u" else offset
        return _problem((start, _escape_end(text, start)), _in_string(error.msg, text[offset]))
    return _problem((offset, _word_end(text, offset)), _at(text, offset) or _word(error.msg, text, offset))


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
        return f"{_SPACES[character]} stands here", "remove it; JSON knows space, tab and line breaks only"
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
        return "the number ends here", "JSON has decimal numbers only, without leading zeros; quote anything else"
    return _words(message)


def _word_end(text: str, offset: int) -> int:
    match = _COMMENT.match(text, offset) or _WORD.match(text, offset)
    return match.end() if match else offset + 1


def _escape_end(text: str, offset: int) -> int:
    return min(len(text), offset + (2 if text[offset] == "\\" else 1))
