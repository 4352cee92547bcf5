"""The events of a text as YAML 1.2 reads it, at the places where they are written.

libyaml and PyYAML know YAML 1.1: they break lines at U+0085, U+2028 and U+2029, refuse some tabs
and U+007F, and take a `:` or `?` for an indicator wherever it begins a word inside brackets. They
are given a text of the same length in which blanks, or characters that the text has nowhere else,
replace these. What they make of it gets the author's characters back.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable
from itertools import islice
from typing import Any, TypeVar

from yaml.error import MarkedYAMLError
from yaml.parser import Parser as _Grammar
from yaml.reader import Reader, ReaderError
from yaml.scanner import Scanner, ScannerError

from equipage.core.text import lazy_regex
from equipage.syntax import match_end

T = TypeVar("T")

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


#: What the parsers read otherwise than YAML 1.2 says, or not at all.
_MISREAD = "\x7f\x85\u2028\u2029"
#: A `:` or `?` that begins a word inside brackets. Elsewhere it is part of the text around it.
_WORD_START = lazy_regex(r"""([\[{,][ \t\r\n]*|:[ \t\r\n]+|["']:)([:?])(?=[^ \t\r\n,\[\]{}])""")
#: A `?` that may be one. It is found as fast as plain text.
_QUESTION = lazy_regex(r"\?(?=[^ \t\r\n,\[\]{}])(?<=[\[{,: \t\r\n]\?)")
#: Private characters, and how an escape may write one.
_SUBSTITUTES = range(0xF0000, 0x110000)
_LARGE_ESCAPE = lazy_regex(r"\\U([0-9A-Fa-f]{8})")
#: The name of an anchor, of which the parsers know only some letters; and one they end too early.
#: With a `:` at its end, `&a: b` may be a key.
_NAME = lazy_regex(r"[^ \t\r\n,\[\]{}]{0,60}[^ \t\r\n,\[\]{}:]")
_CUT_NAME = lazy_regex(r"&[0-9A-Za-z_-]+[?:%@`]")
_MAX_NAMES = 20
#: What makes digits of other characters, or one number of two.
_DIGIT_ESCAPE = lazy_regex(r"\\(?:x3|u003|U0000003|[\r\n])")
#: Blanks with a tab, and what they precede: the end of a line, a comment, or a block, which only
#: spaces may indent.
_BLANKS = lazy_regex(
    r"(?P<blanks>[ \t]+)"
    r"(?:(?P<end>[#\r\n]|\Z)|(?P<block>[-?:][ \t\r\n]|[^#\r\n]*:(?:[ \t\r\n]|\Z)))?"
)
_BLANK_LINE = lazy_regex(r"(?<=[\r\n])[ \t]+(?=[#\r\n])")
_BEFORE_BLANKS = lazy_regex(r"(?:[ \t]*[-?:](?=[ \t]|\Z))+ *|[^\r\n]*: *")
#: The line of a `|`, and the blanks before the first character below it.
_LITERAL_START = lazy_regex(
    r"(?P<lead>[ -]*)(?P<key>[^\r\n]*?)\|[+-]?[ \t]*(?:#[^\r\n]*)?[\r\n]+(?P<indent> *)"
)
_BLOCK_LINE = lazy_regex(r"[|>][-+0-9]*[ \t]*(?:[#\r\n]|\Z)")
_BLOCK_START = lazy_regex(r"[|>][^\r\n]*[ \r\n]+")
#: How many characters may be read again because of something that was in the way, beside twice the
#: text, and which part of a text it costs to begin again.
_MAX_REREAD, _RESTART_SHARE = 4_000_000, 16


def read_events(text: str, read: Callable[[Callable[[], Any]], T]) -> T:
    """What `read` makes of the events of a text, which it gets one by one from a function.

    The parser itself gives those of nearly all texts; what it refuses is then read with care.
    """
    patterns = (_QUESTION, _CUT_NAME)
    is_misread = any(each in text for each in _MISREAD) or any(one.search(text) for one in patterns)
    try:
        return read((Events if is_misread else Parser)(text).get_event)
    except (MarkedYAMLError, ReaderError):
        return read(Events(text).get_event)


def reading_budget(text: str) -> list[int]:
    """How many characters may be read again."""
    return [_MAX_REREAD + 2 * len(text)]


class Events:
    """The events of a text, one by one, as a parser gives them."""

    def __init__(self, text: str, budget: list[int] | None = None) -> None:
        """Several parts of a text share a `budget`. Raises `ReaderError`."""
        self._text = self._read = text  # the author's, and what the parser gets
        self._originals: dict[str, str] = {}  # by what replaces them
        self._given, self._end = 0, 0  # how many events so far, and where the last one ends
        self._budget = reading_budget(text) if budget is None else budget
        self._doubt: tuple[int, MarkedYAMLError] | None = None  # a tab that may have been wrong
        for each in _MISREAD:
            if each in text:
                self._read = self._read.replace(each, self._substitute_for(each))
        #: The places of U+007F, which only quotes may hold, the next one last.
        self._deletes = [at for at, each in enumerate(text) if each == "\x7f"][::-1]
        if _QUESTION.search(text) is not None:
            self._replace_word_starts()
        for match in islice(_CUT_NAME.finditer(text), _MAX_NAMES):
            self._rename(match.start() + 1)
        self._next = Parser(self._read).get_event

    def get_event(self) -> Any:
        """The next event. Raises `MarkedYAMLError` and `ReaderError`."""
        event = self._read_event()
        self._given, self._end = self._given + 1, event.end_mark.index
        while self._deletes and self._deletes[-1] <= self._end:
            at = self._deletes.pop()
            is_quoted = getattr(event, "style", None) in ("'", '"')
            if not (is_quoted and event.start_mark.index < at < self._end):
                raise _refusal(self._text, at)
        for field in ("value", "anchor") if self._originals else ():
            if getattr(event, field, None):
                setattr(event, field, self._restore(getattr(event, field)))
        return event

    def _restore(self, text: str) -> str:
        for each, original in reversed(self._originals.items()):
            text = text.replace(each, original)
        return text

    def _read_event(self) -> Any:
        """The next event; what is in its way is replaced, and the text read again."""
        while True:
            try:
                return self._next()
            except ReaderError as error:
                # libyaml counts bytes, of another text.
                raise _refusal(self._text, self._text.index(chr(error.character))) from None
            except MarkedYAMLError as error:
                if not (self._repair(error) and self._begin_again()):
                    doubt = self._doubt
                    raise (error if doubt is None or doubt[0] < self._end else doubt[1]) from None

    def _begin_again(self) -> bool:
        """Whether the text that was repaired begins with the same events; they are skipped."""
        self._next = Parser(self._read).get_event
        event = None
        for _ in range(self._given):
            event = self._next()
        # To PyYAML, a text may end at a tab that it refuses afterwards.
        return event is None or bool(event.end_mark.index == self._end)

    def _repair(self, error: MarkedYAMLError) -> bool:
        """Replace what YAML 1.2 allows where the parser stopped; whether there is any."""
        before = self._read
        at = len(before) if error.problem_mark is None else error.problem_mark.index
        self._budget[0] -= at + len(before) // _RESTART_SHARE
        if before[at : at + 1] == "\t":
            self._replace_tab(at, error)
            self._doubt = at, error
        elif ":" in before[max(at - 1, 0) : at + 1]:
            self._replace_word_starts()
        elif error.context == "while scanning an anchor" and error.context_mark is not None:
            self._rename(error.context_mark.index + 1)
        return self._read != before and self._budget[0] >= 0

    def _replace_tab(self, at: int, error: MarkedYAMLError) -> None:
        text, blanks, by, rest = self._read, _BLANKS.match(self._read, at), "", at
        assert blanks is not None  # at least the tab
        is_block = error.context == "while scanning a block scalar"
        begin = error.context_mark.index if is_block and error.context_mark is not None else at
        line = max(text.rfind("\n", 0, begin), text.rfind("\r", 0, begin)) + 1
        if not is_block:
            is_apart = blanks["block"] is None and _BEFORE_BLANKS.fullmatch(text, line, at)
            if blanks["end"] is not None or is_apart:
                by = " " * len(blanks["blanks"])
                # Up to the next `|` or `>`, no blank line is part of a text.
                block = _BLOCK_LINE.search(text, at)
                rest = len(text) if block is None else block.start()
        elif _BLOCK_START.fullmatch(text, begin, at):
            start = _LITERAL_START.fullmatch(text, line, at)
            if start is not None:
                # Of `- |`, the list is what the text must be indented in.
                is_bare = not start["key"] and "-" in start["lead"]
                least = start["lead"].rindex("-") if is_bare else len(start["lead"])
                by = self._substitute_for("\t") if len(start["indent"]) > least else ""
        elif blanks["end"] is not None and blanks["end"] != "#":
            by = "#" + " " * (len(blanks["blanks"]) - 1)  # as a comment would, it ends the text
        done = at + len(by)
        blank = _BLANK_LINE.sub(lambda match: " " * len(match[0]), text[done : max(done, rest)])
        self._read = text[:at] + by + blank + text[done + len(blank) :]

    def _rename(self, at: int) -> None:
        """Replace the name of an anchor by digits that the text has nowhere."""
        name = self._read[at : match_end(_NAME, self._read, at)]
        digits = f"{len(self._originals):0{len(name)}}"
        is_free = digits not in self._text and _DIGIT_ESCAPE.search(self._text) is None
        if name and is_free and len(digits) == len(name) and len(self._originals) < _MAX_NAMES:
            self._originals[digits] = name
            pattern = rf"(?<=[&*]){re.escape(name)}(?=[ \t\r\n,\[\]{{}}]|\Z)"
            self._read = re.sub(pattern, digits, self._read)

    def _replace_word_starts(self) -> None:
        self._read = _WORD_START.sub(
            lambda match: match[1] + self._substitute_for(match[2]), self._read
        )

    def _substitute_for(self, character: str) -> str:
        """What replaces a character: one that the text has neither as it is nor as an escape."""
        for each, original in self._originals.items():
            if original == character:
                return each
        used = {*map(ord, self._text), *map(ord, "".join(self._originals))}
        used.update(int(each, 16) for each in _LARGE_ESCAPE.findall(self._text))
        number = next((each for each in _SUBSTITUTES if each not in used), None)
        if number is None:
            raise _refusal(self._text, self._text.index(character))
        self._originals[chr(number)] = character
        return chr(number)


def _refusal(text: str, at: int) -> ReaderError:
    return ReaderError("text", at, ord(text[at]), "unicode", "is not allowed")
