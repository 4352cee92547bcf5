"""The parser underneath, libyaml through PyYAML: its events, and its errors as irregularities.

Where PyYAML was built without libyaml, its own parser takes over: the same grammar, slower. Only
mark *indexes* are used: libyaml's line numbers also count U+0085 and U+2028 as line breaks.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from typing import Any

from yaml.error import MarkedYAMLError
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.parser import Parser as _Grammar
from yaml.reader import Reader, ReaderError
from yaml.scanner import Scanner, ScannerError

from equipage.core import codes
from equipage.core.text import lazy_regex
from equipage.syntax import MAX_DEPTH, Irregularity, Range
from equipage.syntax.yaml.simple import NumberTooLong, resolve_plain, resolve_tagged

#: An escape in double quotes, and the number of its character if it gives one.
_ESCAPE = lazy_regex(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|.)", re.DOTALL)


class _PythonParser(Reader, Scanner, _Grammar):
    """Reader, scanner and parser in one object, as PyYAML composes them."""

    def __init__(self, stream: str) -> None:
        Reader.__init__(self, stream)
        Scanner.__init__(self)
        _Grammar.__init__(self)

    def scan_flow_scalar_non_spaces(self, double: bool, start_mark: Any) -> list[str]:
        """A part of a quoted scalar. Refuses what is not a character, as libyaml does."""
        begin = self.get_mark()
        try:
            chunks: list[str] = super().scan_flow_scalar_non_spaces(double, start_mark)
            "".join(chunks).encode()
        except (ValueError, OverflowError):
            for escape in _ESCAPE.finditer(self.buffer, begin.index):
                number = int(escape[1] or escape[2] or escape[3] or "0", 16)
                if number > sys.maxunicode or 0xD800 <= number <= 0xDFFF:
                    begin.index = escape.start() + 2
                    break
            problem = "found invalid Unicode character escape code"
            raise ScannerError(
                "while parsing a quoted scalar", start_mark, problem, begin
            ) from None
        return chunks


#: Makes a parser of a text; events come from its `get_event`.
Parser: Any
try:
    Parser = importlib.import_module("yaml.cyaml").CParser
    ENGINE = "libyaml"
except ImportError:
    Parser, ENGINE = _PythonParser, "PyYAML"

#: The events that open and close a collection.
STARTS = frozenset({MappingStartEvent, SequenceStartEvent})
ENDS = frozenset({MappingEndEvent, SequenceEndEvent})

#: Anchors and tags in front of a node, with the blanks behind them. Of `&an:chor x` the name is
#: `an`, and the text that follows it is the node.
_PROPERTIES = lazy_regex(r"(?:&[0-9A-Za-z_-]+\s*|![^\s,\[\]{}]*\s+)+")


def content_range(event: Any, text: str) -> Range:
    """Where a node is written, without its anchor and tag and without trailing line breaks."""
    start, end = event.start_mark.index, event.end_mark.index
    kind = event.__class__
    if kind is AliasEvent:
        return start, end
    if getattr(event, "tag", None) is not None or getattr(event, "anchor", None) is not None:
        match = _PROPERTIES.match(text, start)
        start = match.end() if match else start
    if kind is ScalarEvent and event.style in ("|", ">"):
        end = start + len(text[start:end].rstrip())
    return start, max(start, end)


def scalar_value(event: Any) -> object:
    """The plain value of a scalar; a number too long to convert stays text."""
    bare, quoted = event.implicit
    try:
        if bare and event.tag is None:
            return resolve_plain(event.value)
        if not quoted and event.tag not in (None, "!"):
            return resolve_tagged(event.tag, event.value)
    except NumberTooLong:
        pass
    return event.value


# ---------------------------------------------------------------------------------- syntax errors

#: How many syntax errors of one file are reported.
_MAX_SYNTAX_ERRORS = 20

#: A key in the first column, bare or in quotes, with its colon.
_TOP_LEVEL_KEY = lazy_regex(
    r"""^(?:[A-Za-z_$][^\s#:]*|"[^"\n]*"|'[^'\n]*')[ \t]*:(?=[ \t\r\n]|$)""", re.MULTILINE
)

#: A part of libyaml's message → what to do about it.
_HINTS = {
    "mapping values are not allowed": "quote text that holds `: `, or put the key on its own line",
    "cannot start any token": "quote a value that starts with this character",
    "could not find expected ':'": "a key needs a `:`; text of several lines needs quotes or `|`",
    "did not find expected ',' or ']'": "close the list with `]`",
    "did not find expected ',' or '}'": "close the mapping with `}`",
    "did not find expected key": "indent this line like the line that its block began on",
    "did not find expected '-' indicator": "check the indentation of this list item",
    "found unexpected end of stream": "a quote was opened and never closed",
    "found unknown escape character": "write `\\\\` for a backslash, or use single quotes",
    "block sequence entries are not allowed": "put the list on a line of its own below the key",
    "did not find expected <document start>": "the document ended above; indent or remove this",
}


def syntax_errors(text: str, first: Exception) -> Iterator[Irregularity]:
    """The first syntax error, then those of later top-level blocks, each parsed on its own.

    Blocks after the broken one are independent of it: a top-level key behind the error cannot
    belong to an open quote or bracket, because the parser looked for their end up to the error.
    """
    error = _describe_error(first, text, 0)
    yield error
    count, offset = 1, max(error.range[0], 0)
    while count < _MAX_SYNTAX_ERRORS:
        line_end = text.find("\n", offset)
        next_line = len(text) if line_end < 0 else line_end + 1
        starts = [match.start() for match in _TOP_LEVEL_KEY.finditer(text, next_line)]
        for start, end in zip(starts, [*starts[1:], len(text)], strict=False):
            problem = _block_error(text[start:end], start)
            if problem is not None:
                yield problem
                count, offset = count + 1, problem.range[0]
                break  # what follows the error may divide into other blocks than before
        else:
            return


def _block_error(block: str, start: int) -> Irregularity | None:
    """The syntax error of one top-level block. A block that nests too deep is not searched."""
    depth = 0
    try:
        get_event = Parser(block).get_event  # PyYAML's own parser looks at all characters first
        while depth <= MAX_DEPTH:
            kind = get_event().__class__
            if kind in STARTS:
                depth += 1
            elif kind in ENDS:
                depth -= 1
            elif kind is StreamEndEvent:
                return None
    except (MarkedYAMLError, ReaderError) as error:
        return _describe_error(error, block, start)
    return None


def _describe_error(error: Exception, text: str, shift: int) -> Irregularity:
    """An exception of the parser as an irregularity, with libyaml's own message."""
    offset = error_offset(error, text)
    place = (offset + shift, min(offset + 1, len(text)) + shift)
    if isinstance(error, ReaderError):
        character = error.character if isinstance(error.character, int) else ord(error.character)
        values: dict[str, object] = {"character": f"U+{character:04X}"}
        return Irregularity(codes.CONTROL_CHARACTER, place, values=values)
    assert isinstance(error, MarkedYAMLError)
    also: tuple[tuple[str, Range], ...] = ()
    if error.context and error.context_mark is not None and error.context_mark.index != offset:
        start = error.context_mark.index + shift
        also = ((error.context, (start, start + 1)),)
    problem = str(error.problem or error)
    hint = next((hint for part, hint in _HINTS.items() if part in problem), None)
    if "cannot start any token" in problem and text[offset : offset + 1] == "\t":
        hint = "indent with spaces; YAML does not allow tabs"
    values = {"problem": problem, "hint": hint}
    return Irregularity(codes.YAML_SYNTAX, place, values=values, also=also)


def error_offset(error: Exception, text: str) -> int:
    """Where the parser stopped, in code points."""
    if isinstance(error, ReaderError):
        position = int(error.position)
        if ENGINE == "libyaml":  # it counts bytes there
            position = len(text.encode()[:position].decode(errors="ignore"))
        return position
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    return len(text) if mark is None else int(mark.index)
