"""JSON as RFC 8259 has it, parsed by the standard library.

`load` only *notices* what is odd (a repeated key, a number that no float holds); a second pass says
where, so that an ordinary file pays nothing. `locate` finds places later, for all paths at once.
Both passes read tokens of our own, because no JSON library tells where a value is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Literal

from equipage.core import codes
from equipage.core.frozen import MAX_DEPTH
from equipage.core.path import Path
from equipage.core.text import lazy_regex
from equipage.syntax import (
    Irregularity,
    Parsed,
    Place,
    Range,
    SyntaxProblem,
    Written,
    bracket_depth,
    lone_surrogates,
    match_end,
)

_BLANKS = " \t\r\n"

#: What matters outside strings. A string or comment that is never closed takes the rest of the
#: line or text, so that no character is looked at twice.
_COMMENT_OR_TEXT = lazy_regex(
    r"""
      (?P<comment> //[^\n]* | /\*.*?\*/ )
    | (?P<comma> , )
    | (?P<end> [\]}] )
    | "(?: [^"\\\n]++ | \\. )*+ "?      # a string
    | /\*.* | /                         # a comment that is never closed, a lone slash
    | [^\s",/\]}]+                      # anything else
    """,
    re.DOTALL | re.VERBOSE,
)


def load(text: str) -> Parsed:
    """The value of `text`.

    The last of several equal keys wins. Integers keep any size up to Python's own limit and are
    text beyond it, `NaN` and `1e999` become floats that are not finite; each such thing is in
    `irregularities`.

    Raises `SyntaxProblem` if `text` is not JSON, nests too deep or holds half a surrogate pair.
    """
    _refuse_deep_nesting(text)
    noticing = _OddityHooks()
    try:
        value = json.loads(
            text,
            object_pairs_hook=noticing.mapping,
            parse_int=noticing.integer,
            parse_float=noticing.fraction,
            parse_constant=noticing.fraction,
        )
    except json.JSONDecodeError as error:
        raise SyntaxProblem([_syntax_error(error, text)]) from None
    halves = [*lone_surrogates(text), *_escaped_surrogates(text)]
    if halves:  # no file could hold such a string
        raise SyntaxProblem(sorted(halves, key=lambda each: each.range))
    return Parsed(value, tuple(_find_oddities(text)) if noticing.odd else ())


class _OddityHooks:
    """The hooks of one `load`: they build ordinary values and remember whether one was odd."""

    def __init__(self) -> None:
        self.odd = False

    def mapping(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        result = dict(pairs)
        self.odd = self.odd or len(result) != len(pairs)
        return result

    def integer(self, digits: str) -> object:
        try:
            return int(digits)
        except ValueError:  # Python converts only so many digits in reasonable time
            self.odd = True
            return digits

    def fraction(self, written: str) -> float:
        value = float(written)
        self.odd = self.odd or not isfinite(value)
        return value


def _find_oddities(text: str) -> Iterator[Irregularity]:
    """Every repeated key, and every number that is not finite or too long, in order."""
    path: list[str | int] = []  # of the value that was read last
    seen: list[dict[str, Range]] = []  # for each open bracket, where each key was seen first
    for kind, start, end in _tokens(text):
        if kind == "close":
            path.pop()
            seen.pop()
            continue
        if kind == "key":
            path[-1] = name = _string_value(text, start, end)
            first = seen[-1].setdefault(name, (start, end))
            if first != (start, end):
                also = (("first here", first),)
                yield Irregularity(
                    codes.DUPLICATE_KEY, (start, end), tuple(path), {"key": name}, also
                )
            continue
        # In a list every value moves the index on; in a mapping keys set the step.
        if path and isinstance(path[-1], int):
            path[-1] += 1
        if kind == "open":
            path.append("" if text[start] == "{" else -1)
            seen.append({})
        elif kind == "bare":
            yield from _check_number(text, (start, end), path)


def _check_number(text: str, place: Range, path: list[str | int]) -> Iterator[Irregularity]:
    written = text[slice(*place)]
    digits = written.lstrip("-")
    if digits in ("true", "false", "null"):
        return
    if not digits.isdigit():
        if not isfinite(float(written)):
            yield Irregularity(codes.NOT_FINITE, place, tuple(path), {"found": written})
        return
    try:
        int(written)
    except ValueError:
        yield Irregularity(codes.NUMBER_TOO_LONG, place, tuple(path), {"digits": len(digits)})


def locate(text: str, paths: Iterable[Path]) -> dict[Path, Place]:
    """The places of those `paths` that exist in `text`; the last of several equal keys counts."""
    # A text without findings is never searched for places.
    from equipage.syntax.nodes import PathTrie, Scalar, TreeBuilder, find_places

    wanted = list(paths)
    # Only what a wanted path enters is kept of a text that may be large.
    tree = TreeBuilder(PathTrie.from_paths(wanted))
    for kind, start, end in _tokens(text):
        if kind == "open":
            tree.open(start, is_mapping=text[start] == "{")
        elif kind == "close":
            tree.close(end)
        elif tree.is_keeping:
            tree.add(Scalar(start, end, _string_value(text, start, end) if kind == "key" else None))
    return find_places(tree.root, wanted)


def written(text: str) -> Iterator[Written]:
    """Each key, scalar and bracket in order, as far as `text` makes sense."""
    path: list[str | int] = []  # of the value that was read last
    for kind, start, end in _tokens(text):
        if kind == "close":
            yield Written(tuple(path[:-1]), (start, end), is_scalar=False)
            path.pop()
            continue
        if kind == "key":
            path[-1] = _string_value(text, start, end)
        elif path and isinstance(path[-1], int):
            path[-1] += 1
        yield Written(tuple(path), (start, end), kind == "key", kind != "open")
        if kind == "open":
            path.append("" if text[start] == "{" else -1)
            if len(path) > MAX_DEPTH:
                return


# --------------------------------------------------------------------------------------- tokens

TokenKind = Literal["open", "close", "key", "string", "bare"]

#: The possessive quantifiers (`*+`) never give back what they took: a string that is not closed
#: costs its length once. White space and colons match nothing here and are skipped.
_TOKEN = lazy_regex(
    r"""
      (?P<string> "[^"\\]*+(?:\\.[^"\\]*+)*+" )  # runs of characters, with escapes between them
    | (?P<open> [\[{] )
    | (?P<close> [\]}] )
    | (?P<comma> , )
    | (?P<bare> [^\s,:\[\]{}"]++ )               # a number, true, false or null
    """,
    re.VERBOSE | re.DOTALL,
)


def _tokens(text: str) -> Iterator[tuple[TokenKind, int, int]]:
    """Brackets, keys, strings and other scalars in order, as (kind, start, end), in linear time.

    A text that is not valid gives some sensible guess.
    """
    mappings: list[bool] = []  # for each open bracket, whether it is that of a mapping
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


def _string_value(text: str, start: int, end: int) -> str:
    """The string whose token, quotes included, is `text[start:end]`."""
    inside = text[start + 1 : end - 1]
    return inside if "\\" not in inside else str(json.loads(text[start:end], strict=False))


# ------------------------------------------------------- what is refused although it may be JSON

#: An escaped surrogate, alone or in a pair. Any other escape is matched too, so that the second
#: backslash of `\\ud800` starts no match.
_ESCAPE = lazy_regex(
    r"""
      (?P<pair> \\u[dD][89abAB]..\\u[dD][c-fC-F].. )
    | (?P<lone> \\u[dD][89a-fA-F].. )
    | \\.
    """,
    re.VERBOSE,
)


def _refuse_deep_nesting(text: str) -> None:
    """Raise `SyntaxProblem` at the bracket that opens one level too many.

    The parser recurses in C and would end a thread that has a small stack. An error before that
    bracket is left to the parser, which never gets so far.
    """
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    if _nesting_depth(text) <= MAX_DEPTH:
        return
    depth = 0
    for kind, start, end in _tokens(text):
        depth += {"open": 1, "close": -1}.get(kind, 0)
        if depth > MAX_DEPTH:
            if _is_valid_beginning(text[:start]):
                place, values = (start, end), {"limit": MAX_DEPTH}
                raise SyntaxProblem([Irregularity(codes.NESTING_TOO_DEEP, place, values=values)])
            return


def _nesting_depth(text: str) -> int:
    """How deep brackets outside strings nest; exact up to the first syntax error."""
    data = text.encode("utf-8", "surrogatepass").replace(rb"\\", b"").replace(rb"\"", b"")
    return bracket_depth(b"".join(data.split(b'"')[::2]))  # every second part is a string


def _is_valid_beginning(beginning: str) -> bool:
    """Whether the beginning of a text is valid JSON as far as it goes."""
    try:
        json.loads(beginning, parse_int=str)
    except json.JSONDecodeError as error:
        return error.pos >= len(beginning)
    return True


def _escaped_surrogates(text: str) -> Iterator[Irregularity]:
    """Each escaped half of a surrogate pair in a valid text: only strings hold a backslash."""
    for match in _ESCAPE.finditer(text) if "\\u" in text else ():
        if match["lone"]:
            yield Irregularity(codes.LONE_SURROGATE, match.span(), values={"found": match["lone"]})


# ------------------------------------------------------------------------ syntax errors in words

#: What is wrong, and what to write instead.
_Explanation = tuple[str, str | None]

_WORD = lazy_regex(r"[^\s,:;=\[\]{}\"'/#]+")
#: A comment as other languages have it: `/* … */`, or from `//`, an unclosed `/*` or `#` to the
#: end of the line.
_COMMENT = lazy_regex(r"/\*.*?\*/|(?:/[/*]|\#)[^\r\n]*", re.DOTALL)
_LINE = lazy_regex(r"[^\r\n]*")
_FOREIGN_LITERALS = {
    **dict.fromkeys(("True", "TRUE"), "true"),
    **dict.fromkeys(("False", "FALSE"), "false"),
    **dict.fromkeys(("None", "nil", "NULL", "Null", "undefined"), "null"),
}
_FOREIGN_SPACES = {
    "\ufeff": "a byte order mark",
    "\u00a0": "a no-break space",
    "\u200b": "a zero-width space",
    "\u2028": "a line separator",
    "\u3000": "an ideographic space",
}
_QUOTES = "'`\u2018\u2019\u201c\u201d"
_DECIMAL_HINT = "JSON has decimal numbers only, without leading zeros; quote anything else"

#: What the message of the parser starts with → our words.
_MESSAGES: dict[str, _Explanation] = {
    "Unterminated string": ("this string is never closed", 'close it with `"`'),
    "Invalid control character": ("this string contains a control character", None),
    "Invalid \\u": ("`\\u` needs four hexadecimal digits", "write four digits, as in `\\u00e9`"),
    "Invalid \\": ("this escape does not exist in JSON", "write `\\\\` for a backslash"),
    "Extra data": ("text follows the value", "a JSON file holds one value; remove the rest"),
    "Expecting ':'": ("a `:` is missing after the key", "write `:` between a key and its value"),
    "Expecting ','": ("a `,` is missing before this", "separate entries with `,`"),
    "Expecting property name": ("a key is expected here", "put the key in double quotes"),
    "Expecting value": ("a value is expected here", None),
}


def _syntax_error(error: json.JSONDecodeError, text: str) -> Irregularity:
    """The exception of the parser as an irregularity in our words, at the narrowest place."""
    offset = error.pos
    if not text.strip(_BLANKS):
        return _problem((0, 0), ("the file is empty", "an empty object is written `{}`"))
    if offset >= len(text.rstrip(_BLANKS)):
        return _unclosed_bracket_problem(text)
    comma = _trailing_comma(error, text)
    if comma is not None:
        words = "there is a `,` before the closing bracket", "remove the last `,`"
        return _problem((comma, comma + 1), words)
    if error.msg.startswith("Unterminated string"):
        return _problem((offset, match_end(_LINE, text, offset)), _explain_message(error.msg))
    if error.msg.startswith("Invalid"):
        start = offset - 1 if text[offset] == "u" else offset  # an escape begins at its backslash
        end = min(len(text), start + (2 if text[start] == "\\" else 1))
        return _problem((start, end), _explain_string_error(error.msg, text[offset]))
    end = max(match_end(_COMMENT, text, offset), match_end(_WORD, text, offset), offset + 1)
    return _problem(
        (offset, end), _explain_character(text, offset) or _explain_word(error.msg, text, offset)
    )


def _problem(
    place: Range, words: _Explanation, also: tuple[tuple[str, Range], ...] = ()
) -> Irregularity:
    values = {"problem": words[0], "hint": words[1]}
    return Irregularity(codes.JSON_SYNTAX, place, values=values, also=also)


def _explain_message(message: str) -> _Explanation:
    found = (words for start, words in _MESSAGES.items() if message.startswith(start))
    return next(found, (message, None))


def _unclosed_bracket_problem(text: str) -> Irregularity:
    """The text ends too early; say which bracket still has to be closed."""
    opened: list[int] = []
    for kind, start, _ in _tokens(text):
        if kind == "open":
            opened.append(start)
        elif kind == "close":
            opened.pop()
    end = len(text)
    if not opened:
        return _problem((end, end), ("the text ends before the value does", None))
    start = opened[-1]
    closing = "}" if text[start] == "{" else "]"
    words = f"the text ends before `{text[start]}` is closed", f"close it with `{closing}`"
    return _problem((end, end), words, (("opened here", (start, start + 1)),))


def _trailing_comma(error: json.JSONDecodeError, text: str) -> int | None:
    """Where the comma is, if the error is about one before a closing bracket.

    Newer versions of Python stop at the comma and say so, older ones at the bracket.
    """
    if text[error.pos] == ",":
        rest = text[error.pos + 1 :].lstrip(_BLANKS)
        return error.pos if "trailing comma" in error.msg and rest[:1] in ("]", "}") else None
    before = text[: error.pos].rstrip(_BLANKS)
    return len(before) - 1 if text[error.pos] in "]}" and before.endswith(",") else None


#: A string, which may lack its end, or a comma before a closing bracket.
_STRING_OR_COMMA = lazy_regex(
    r""" "[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z) | ,(?=[ \t\r\n]*+[\]}]) """, re.VERBOSE | re.DOTALL
)


def trailing_commas(text: str) -> list[int]:
    """Where the commas are that precede a closing bracket; strings do not count."""
    found = (match.start() for match in _STRING_OR_COMMA.finditer(text))
    return [start for start in found if text[start] == ","]


def _explain_string_error(message: str, character: str) -> _Explanation:
    if character in "\r\n":
        return "this string contains a line break", "write `\\n`, or close the string on its line"
    if character == "\t":
        return "this string contains a tab", "write `\\t`"
    return _explain_message(message)


def _explain_character(text: str, offset: int) -> _Explanation | None:
    """An explanation from the character at the error alone; None if it tells nothing."""
    character = text[offset]
    if _COMMENT.match(text, offset):
        return "JSON has no comments", "remove the comment"
    if character in _QUOTES:
        return "JSON strings use double quotes", 'write `"` instead'
    if character in _FOREIGN_SPACES:
        hint = "remove it; JSON knows space, tab and line breaks only"
        return f"{_FOREIGN_SPACES[character]} is not allowed here", hint
    if character == ",":
        return "there is nothing before this `,`", "remove it, or write what is missing"
    if character == "=":
        return "a key and its value are separated by `:`", "write `:` instead of `=`"
    if character == ";":
        return "entries are separated by `,`", "write `,` instead of `;`"
    return None


def _explain_word(message: str, text: str, offset: int) -> _Explanation:
    """An explanation from the word at the error and from what the parser expected."""
    word = text[offset : match_end(_WORD, text, offset)]
    if message.startswith("Expecting property name") and word:
        return f"the key `{word}` is not in double quotes", f'write `"{word}"`'
    if message.startswith("Expecting value") and word in _FOREIGN_LITERALS:
        return f"`{word}` is not a JSON value", f"write `{_FOREIGN_LITERALS[word]}`"
    if message.startswith("Expecting value") and word[:1].isalpha():
        return f"`{word}` is not in double quotes", f'write `"{word}"`, if it is meant as text'
    if word[:1] in ("+", "."):
        return f"`{word}` is not a number in JSON", "start a number with a digit or `-`"
    if message.startswith("Expecting ','") and word and text[offset - 1].isdigit():
        return "the number ends here", _DECIMAL_HINT
    return _explain_message(message)


def blank_comments(text: str, *, trailing_commas: bool = True) -> str:
    """Replace comments and trailing commas by blanks; everything else keeps its place."""
    blanks: list[tuple[int, int]] = []
    comma: tuple[int, int] | None = None  # the last token, if it was a comma
    for match in _COMMENT_OR_TEXT.finditer(text):
        if match.lastgroup == "comment":
            blanks.append(match.span())
            continue
        if match.lastgroup == "end" and comma is not None and trailing_commas:
            blanks.append(comma)
        comma = match.span() if match.lastgroup == "comma" else None
    position = 0
    parts: list[str] = []
    for start, end in sorted(blanks):
        parts += (text[position:start], re.sub(r"[^\r\n]", " ", text[start:end]))
        position = end
    return "".join(parts) + text[position:]
