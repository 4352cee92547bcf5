"""TOML 1.1 parsed by rtoml.

`load` gives plain values. Dates, times and numbers that are not finite are only *noticed* there; a
second pass says where they are. `locate` finds places later, for all paths at once.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from math import isfinite
from typing import Any

import rtoml

from equipage.core import codes
from equipage.core.diagnostics import Code
from equipage.core.path import ROOT, Path
from equipage.core.text import lazy_regex
from equipage.syntax import Irregularity, Parsed, Range, SyntaxProblem, lone_surrogates, match_end
from equipage.syntax.toml_places import (
    DEPTH,
    STRING_OR_COMMENT,
    find_newer_syntax,
    find_repeated_name,
    locate,
    refuse_deep_nesting,
    written,
)

__all__ = ["DEPTH", "load", "locate", "written"]

#: What a text needs to have a date, a time or a number that is not finite. Most have none of it.
_MAYBE_ODD = lazy_regex(r"inf|nan|[eE]\+?\d{3}|\d\d:\d\d|\d{4}-\d\d-\d\d")
#: What a text needs to have anything that only TOML 1.1 allows.
_MAYBE_NEWER = lazy_regex(r"\\[ex]|\{")


def load(text: str) -> Parsed:
    """The value of `text`.

    Dates and times are the text they are written as, line breaks inside strings are LF, `inf` and
    `nan` are floats; dates and those floats are in `irregularities`.

    Raises `SyntaxProblem` if `text` is not TOML (a repeated key is not) or nests too deep.
    """
    # First: the parser recurses, and a deep text would end the process.
    refuse_deep_nesting(text)
    if text.startswith("\ufeff"):
        # The one that a file may start with is gone by now, and rtoml would drop another.
        raise SyntaxProblem([_syntax_error("invalid unquoted key at line 1 column 1", text)])
    try:
        value: dict[str, Any] = rtoml.loads(text.replace("\r\n", "\n"))
    except rtoml.TomlParsingError as error:
        raise SyntaxProblem([_syntax_error(str(error), text)]) from None
    except UnicodeEncodeError:
        raise SyntaxProblem(lone_surrogates(text)) from None
    odd = _replace_dates_and_report(value, text) if _MAYBE_ODD.search(text) else ()
    return Parsed(value, (*odd, *find_newer_syntax(text)) if _MAYBE_NEWER.search(text) else odd)


def _replace_dates_and_report(value: dict[str, Any], text: str) -> tuple[Irregularity, ...]:
    """Replace dates by their text; return where dates and numbers that are not finite are."""
    odd = {path: (holder, code) for path, holder, code in _find_odd_values(value)}
    places = locate(text, odd)
    found: list[Irregularity] = []
    for path, (holder, code) in odd.items():
        place = places[path].value if path in places else (0, 0)
        written = text[slice(*place)] or str(holder[path[-1]])
        if code == codes.TOML_DATE:
            # A date of Python would be written in another way than its author did.
            holder[path[-1]] = written
        found.append(Irregularity(code, place, path, {"found": written}))
    return tuple(sorted(found, key=lambda each: each.range))


def _find_odd_values(value: dict[str, Any]) -> Iterator[tuple[Path, Any, Code]]:
    """Each date and each number that is not finite: its path, what holds it, and its code."""
    left: list[tuple[Path, Any]] = [(ROOT, value)]
    while left:
        path, holder = left.pop()
        for step, child in holder.items() if isinstance(holder, dict) else enumerate(holder):
            if isinstance(child, dict | list):
                left.append(((*path, step), child))
            elif isinstance(child, datetime.date | datetime.time):
                yield (*path, step), holder, codes.TOML_DATE
            elif isinstance(child, float) and not isfinite(child):
                yield (*path, step), holder, codes.NOT_FINITE


# ------------------------------------------------------------------------- syntax errors in words

#: What is wrong, and what to write instead.
_Explanation = tuple[str, str | None]

_POSITION = lazy_regex(r" at line (\d+) column (\d+)$")
_WORD = lazy_regex(r"""[^\s=\[\]{},"'\#]+""")
_SEVERAL_WORDS = lazy_regex(r"[\w.+-]+[ \t]+[\w.+-]")

_FOREIGN_LITERALS = {
    **dict.fromkeys(("null", "None", "nil"), "TOML has no null; leave the key out"),
    **dict.fromkeys(("True", "TRUE", "yes", "on"), "write `true`"),
    **dict.fromkeys(("False", "FALSE", "no", "off"), "write `false`"),
}
_QUOTES = "`\u2018\u2019\u201c\u201d"

#: What a message of rtoml starts with → our words. The first that fits counts.
_MESSAGES: dict[tuple[str, ...], _Explanation] = {
    ("duplicate key",): (
        "this name is already taken",
        "a key or table may be given once; remove one of the two",
    ),
    ("cannot extend value",): ("this name already has a value", None),
    ("invalid value, expected unicode",): ("this escape does not name a character", None),
    ("string values must be quoted", "invalid value", "invalid float", "invalid boolean"): (
        "this is not a value",
        "put text in quotes",
    ),
    ("unclosed array table",): ("this header is not closed", "close it with `]]`"),
    ("unclosed table",): (
        "this header is not closed",
        "close it with `]`; quote names with blanks",
    ),
    ("unclosed array",): ("this list is never closed", "close it with `]`"),
    ("unclosed inline table",): ("this table is never closed", "close it with `}`"),
    ("key with no value",): ("a `=` is missing after the key", "write `key = value`"),
    ("unexpected key or value",): (
        "the line should have ended before this",
        "put each entry on a line of its own",
    ),
    ("missing comma",): ("a `,` is missing before this", "separate entries with `,`"),
    ("extra comma",): ("there is nothing before this `,`", "remove it, or write what is missing"),
    ("extra `=`",): ("there is one `=` too many", "write `key = value`"),
    ("unquoted keys",): ("a part of the key is missing", 'an empty key is written `""`'),
    ("invalid unquoted",): ("this key needs quotes", "bare keys have letters, digits, `-` and `_`"),
    ("keys cannot be",): ("a key cannot have three quotes", "put it in single or double quotes"),
    ("missing escaped value",): (
        "this escape does not exist in TOML",
        "write `\\\\` for a backslash, or use single quotes",
    ),
    ("too few unicode",): (
        "this escape needs more digits",
        "`\\x` takes 2, `\\u` 4, `\\U` 8 digits",
    ),
    ("unexpected leading",): ("a number cannot start with a zero", "remove it, or quote the text"),
    ("invalid mantissa",): ("a number cannot start with a dot", "write a digit before the dot"),
    ("invalid fraction",): ("a digit is missing after the dot", None),
    ("carriage return",): ("a lone carriage return does not end a line", "use LF or CRLF"),
    ("missing table", "missing inline table"): ("this bracket closes nothing", "remove it"),
    ("invalid comment",): ("this comment contains a control character", "remove it"),
    ("invalid literal string, expected `'`",): ("a value is expected here", None),
    ("invalid literal",): (
        "this string contains a control character",
        "use double quotes and an escape",
    ),
    ("invalid basic",): (
        "this string contains a control character",
        "write it as an escape, as in `\\u0001`",
    ),
}


def _syntax_error(message: str, text: str) -> Irregularity:
    """The message of the parser as an irregularity in our words, at the narrowest place."""
    said, offset = _position(message, text)
    place = (offset, max(match_end(_WORD, text, offset), min(offset + 1, len(text))))
    if "recursion" in said:
        return Irregularity(codes.NESTING_TOO_DEEP, place, values={"limit": DEPTH})
    if said.startswith("integer number overflowed"):
        return Irregularity(codes.NUMBER_TOO_LONG, place, values={"digits": place[1] - place[0]})
    if said.startswith("floating-point number overflowed"):
        return Irregularity(codes.NOT_FINITE, place, values={"found": text[slice(*place)]})
    # The parser stops where the text after a string makes no sense, far behind the quote.
    unclosed = _unclosed_string(text, offset)
    if unclosed is not None:
        quote, place = unclosed
        hint = f"close it with `{quote}`"
        if len(quote) == 1:
            hint += " on the same line; text over several lines takes three quotes"
        return _problem(place, ("this string is never closed", hint))
    if said.startswith(("duplicate key", "cannot extend value")):
        again, first = find_repeated_name(text, offset) or (place, None)
        return _problem(
            again, _explain_message(said), (("first here", first),) if first is not None else ()
        )
    if said.startswith("string values must be quoted") and _SEVERAL_WORDS.match(text, offset):
        hint = "put text in quotes, and a `,` between the entries of a list"
        return _problem(place, ("this is more than one value", hint))
    return _problem(place, _explain_text(text, place) or _explain_message(said))


def _problem(
    place: Range, words: _Explanation, also: tuple[tuple[str, Range], ...] = ()
) -> Irregularity:
    values = {"problem": words[0], "hint": words[1]}
    return Irregularity(codes.TOML_SYNTAX, place, values=values, also=also)


def _position(message: str, text: str) -> tuple[str, int]:
    """The message without its position, and the position as an offset of `text`."""
    match = _POSITION.search(message)
    if match is None:
        return message, 0
    said, start = message[: match.start()], 0
    for _ in range(int(match[1]) - 1):
        start = text.find("\n", start) + 1
    offset = min(start + int(match[2]) - 1, len(text))
    return said, offset - said.startswith("carriage return")  # rtoml points behind a lone one


def _unclosed_string(text: str, until: int) -> tuple[str, Range] | None:
    """The first string that is never closed, if it starts before the error: its quote, its place.

    Whatever follows is its fault.
    """
    for match in STRING_OR_COMMENT.finditer(text):
        start, written = match.start(), match[0]
        if start > until:
            return None
        quotes = (each for each in ('"""', "'''", '"', "'") if written.startswith(each))
        quote = next(quotes, "")  # none for a comment
        if quote and (len(written) < 2 * len(quote) or not written.endswith(quote)):
            end = text.find("\n", start)
            return quote, (start, end if end >= 0 else len(text))
    return None


def _explain_text(text: str, place: Range) -> _Explanation | None:
    """An explanation from the text at the error alone; None if it tells nothing."""
    word = text[slice(*place)]
    before = text[: place[0]].rstrip(" \t")
    if word in _FOREIGN_LITERALS:
        return f"`{word}` is not a value in TOML", _FOREIGN_LITERALS[word]
    if word[:1] in ("", "\r", "\n", "}", "]", ",", "#") and before.endswith("="):
        return "a value is missing after `=`", None
    if word.startswith("//") or before.endswith("//"):
        return "this is not a comment in TOML", "start comments with `#`"
    if word and word[0] in _QUOTES:
        return "TOML strings use straight quotes", "write `\"` or `'` instead"
    if word.startswith(":") or before.endswith(":"):
        return "a key and its value are separated by `=`", "write `=` instead of `:`"
    if word.startswith("\ufeff"):
        return "a byte order mark is not allowed here", "remove it"
    return None


def _explain_message(said: str) -> _Explanation:
    found = (words for starts, words in _MESSAGES.items() if said.lower().startswith(starts))
    return next(found, (said.replace(", expected nothing", ""), None))
