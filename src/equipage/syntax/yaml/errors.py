"""Syntax errors: libyaml's own words, exact places, and as many of a file as can be told apart soundly."""

from __future__ import annotations

import re
from collections.abc import Iterator

from yaml.error import MarkedYAMLError
from yaml.events import (
    MappingEndEvent,
    MappingStartEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.reader import ReaderError

from equipage.syntax import MAX_DEPTH, Irregularity, Range
from equipage.syntax.yaml.values import ENGINE, Parser

#: How many syntax errors of one file are reported.
MAX_SYNTAX_ERRORS = 20

_TOP_LEVEL_KEY = re.compile(
    r"""^(?:[A-Za-z_$][^\s#:]*|"[^"\n]*"|'[^'\n]*')[ \t]*:(?=[ \t\r\n]|$)""", re.MULTILINE
)


def syntax_errors(text: str, first: Exception) -> Iterator[Irregularity]:
    """The first syntax error, then those of later top-level blocks, each parsed on its own.

    Blocks after the broken one are independent of it, because a top-level key at column 0 that stands
    behind the error cannot belong to an open quote or bracket: those had ended the error's own search.
    """
    error = _describe(first, text, 0)
    yield error
    count, offset = 1, max(error.range[0], 0)
    while count < MAX_SYNTAX_ERRORS:
        starts = [
            match.start() for match in _TOP_LEVEL_KEY.finditer(text, _next_line(text, offset))
        ]
        for start, end in zip(starts, [*starts[1:], len(text)], strict=False):
            problem = _block_error(text[start:end], start)
            if problem is not None:
                yield problem
                count, offset = count + 1, problem.range[0]
                break
        else:
            return


def _next_line(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end + 1


def _block_error(block: str, start: int) -> Irregularity | None:
    parser = Parser(block)
    depth = 0
    try:
        while True:
            event = parser.get_event()
            kind = event.__class__
            if kind is MappingStartEvent or kind is SequenceStartEvent:
                depth += 1
                if depth > MAX_DEPTH:
                    return None
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                depth -= 1
            elif kind is StreamEndEvent:
                return None
    except (MarkedYAMLError, ReaderError) as error:
        return _describe(error, block, start)


def _describe(error: Exception, text: str, shift: int) -> Irregularity:
    """A parser's exception as an irregularity: libyaml's own words, our place."""
    if isinstance(error, ReaderError):
        offset = shift + reader_offset(error, text)
        character = error.character if isinstance(error.character, int) else ord(error.character)
        return Irregularity(
            "control-character", (offset, offset + 1), values={"character": f"U+{character:04X}"}
        )
    assert isinstance(error, MarkedYAMLError)
    mark = error.problem_mark or error.context_mark
    offset = mark.index if mark is not None else len(text)
    also: tuple[tuple[str, Range], ...] = ()
    if error.context and error.context_mark is not None and error.context_mark.index != offset:
        start = error.context_mark.index + shift
        also = ((error.context, (start, start + 1)),)
    problem = str(error.problem or error)
    values: dict[str, object] = {"problem": problem, "hint": _hint(problem, text, offset)}
    return Irregularity(
        "yaml-syntax",
        (offset + shift, min(offset + 1, len(text)) + shift),
        values=values,
        also=also,
    )


def reader_offset(error: ReaderError, text: str) -> int:
    """Where the reader stopped, in code points; libyaml counts bytes there."""
    position = int(error.position)
    return (
        len(text.encode()[:position].decode(errors="ignore")) if ENGINE == "libyaml" else position
    )


_HINTS = (
    (
        "mapping values are not allowed",
        "quote the text if it contains `: `, or put the key on a line of its own",
    ),
    ("cannot start any token", "quote a value that starts with this character"),
    (
        "could not find expected ':'",
        "a key needs a `:`; text over several lines needs quotes or `|`",
    ),
    ("did not find expected ',' or ']'", "close the list with `]`"),
    ("did not find expected ',' or '}'", "close the mapping with `}`"),
    (
        "did not find expected key",
        "check the indentation of this line against the line its block began on",
    ),
    ("did not find expected '-' indicator", "check the indentation of this list item"),
    ("found unexpected end of stream", "a quote was opened and never closed"),
    (
        "found unknown escape character",
        "in double quotes write `\\\\` for a backslash, or use single quotes",
    ),
    ("block sequence entries are not allowed", "put the list on a line of its own below the key"),
    (
        "did not find expected <document start>",
        "the document ended before this line; indent it, or remove it",
    ),
)


def _hint(problem: str, text: str, offset: int) -> str | None:
    if "cannot start any token" in problem and text[offset : offset + 1] == "\t":
        return "indent with spaces; YAML does not allow tabs"
    return next((hint for part, hint in _HINTS if part in problem), None)
