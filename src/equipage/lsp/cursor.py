"""Find the entry at a position of a text, and which part of it is being written.

A text that is being written often does not parse, so `cursor_at` reads it line by line and guesses.
`place_at` asks a parsed document, and is exact.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from equipage.core.path import ROOT, Path, walk
from equipage.core.text import split_lines
from equipage.syntax.document import Document, EntrySpans, Syntax

Part = Literal["key", "value", "text"]

_LINES_WITH_BREAKS = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_LINE = re.compile(r"(?P<indent>[ ]*)(?P<rest>[^\r\n]*)")
#: A key of a block and its colon: in quotes, a plain word, or one that starts with a dash.
_KEY = re.compile(
    r"""(?P<key>"(?:[^"\\]|\\.)*"|'[^']*'|[^\s#'"{\[\-][^:#]*?|-[^\s:#]+)[ ]*:(?=[ \t\r\n]|\Z)"""
)
#: How a block of text begins: `|`, `>`, with signs behind it.
_BLOCK = re.compile(r"[|>][-+0-9]*\s*(?:#.*)?\Z")
#: The line that opens a header, after a byte order mark; and the one that closes it.
_HEADER_START = re.compile(r"\A\ufeff?---[ \t]*\r?\n")
_HEADER_END = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
#: The head of a table, of which the closing brackets may not be written yet.
_TOML_TABLE = re.compile(r"\[(?P<array>\[)?(?P<name>[^\[\]]+)\]?\]?\s*(?:#.*)?\Z")
_TOML_STEP = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*(?:\.|\Z)""")


class Cursor(msgspec.Struct, frozen=True):
    """Where a position is. The part `text` is prose: the body of a file, or a block of text."""

    path: Path  #: of the entry; of the mapping around it, if its key is being written
    part: Part
    word: str = ""  #: what of the key or value is written before the position
    start: int = 0  #: the offset of the word
    end: int = 0  #: the offset behind all of the key or value
    keys: frozenset[str] = frozenset()  #: what the mapping around a key holds already
    in_brackets: bool = False
    quote: str = ""  #: the quote that the word is in


class Place(msgspec.Struct, frozen=True):
    """An entry of a document at a position."""

    path: Path
    located: EntrySpans
    is_key: bool


def window_of(text: str, name: str) -> tuple[int, int]:
    """The part of a text that holds data: a header, or all of it."""
    if not name.endswith((".md", ".mdc")):
        return 0, len(text)
    fence = _HEADER_START.match(text)
    if fence is None:
        return 0, 0
    close = _HEADER_END.search(text, fence.end())
    return fence.end(), len(text) if close is None else close.start()


def syntax_of(name: str) -> Syntax:
    """The format of the data in a file, by its name."""
    if name.endswith((".json", ".jsonc")):
        return "json"
    return "toml" if name.endswith(".toml") else "yaml"


def cursor_at(text: str, offset: int, name: str) -> Cursor:
    """What is being written at an offset of a text, whether or not the text parses."""
    start, end = window_of(text, name)
    if not start <= offset <= end:
        return _cursor_in_text(text, offset)
    inner, syntax = text[start:end], syntax_of(name)
    if syntax == "json":
        found = _cursor_in_brackets(inner, 0, offset - start, ROOT)
    elif syntax == "toml":
        found = _cursor_in_toml(inner, offset - start)
    else:
        found = _cursor_in_yaml(inner, offset - start)
    return msgspec.structs.replace(found, start=found.start + start, end=found.end + start)


def _cursor_in_text(text: str, offset: int) -> Cursor:
    word = re.search(r"\S*\Z", text[:offset])
    begin = offset if word is None else word.start()
    return Cursor(ROOT, "text", text[begin:offset], begin, offset)


# Brackets: JSON, and what YAML and TOML write in the same way.

#: Strings may lack their end, and a comment may be of any language: the text is half written.
_TOKEN = re.compile(
    r"""(?P<string>"(?:[^"\\\r\n]|\\.)*(?P<closed>")?|'[^'\r\n]*(?P<closed1>')?)"""
    r"""|(?P<comment>//[^\r\n]*|\#[^\r\n]*|/\*.*?(?:\*/|\Z))"""
    r"""|(?P<mark>[\[\]{},:=])|(?P<blank>\s+)|(?P<plain>[^\[\]{},:=\s"'][^\[\]{},:=\r\n"']*)""",
    re.DOTALL,
)


class _Frame(msgspec.Struct):
    """An open collection: the last key, or the index."""

    is_map: bool
    step: str | int = ""
    has_key: bool = False
    keys: list[str] = []


class _Word(msgspec.Struct, frozen=True):
    """What is being written: the fields of a `Cursor` that do not depend on what is around it."""

    word: str
    start: int
    end: int
    quote: str = ""


def _cursor_in_brackets(text: str, begin: int, offset: int, base: Path) -> Cursor:
    """Read brackets from `begin` on."""
    frames: list[_Frame] = []
    found: tuple[list[_Frame], _Word] | None = None
    for token in _TOKEN.finditer(text, begin):
        word = _word_at(token, offset) if found is None else None
        if word is not None:
            # The lists of keys are shared: those behind the cursor are still to come.
            found = [msgspec.structs.replace(each) for each in frames], word
        if token["mark"] is not None:
            _read_mark(token["mark"], frames)
        elif token["string"] is not None or token["plain"] is not None:
            _read_word(token.group(), frames)
        if token["mark"] in ("]", "}") and not frames:
            break
    around, word = found or (frames, _Word("", offset, offset))
    return _cursor_in_frames(around, word, text, base)


def _word_at(token: re.Match[str], offset: int) -> _Word | None:
    """The word that is written at an offset, empty if the token is behind it; else None."""
    start, end = token.span()
    if token["string"] is None and token["plain"] is None:
        return _Word("", offset, offset) if start >= offset else None
    if not start < offset <= end:
        return None
    written = token.group()
    quote = written[0] if token["string"] is not None else ""
    is_closed = bool(quote) and len(written) > 1 and written[-1] == quote
    if is_closed and offset == end:
        return None  # behind its closing quote the cursor has left the string
    inside = start + len(quote)
    return _Word(token.string[inside:offset], inside, end - is_closed, quote)


def _read_mark(mark: str, frames: list[_Frame]) -> None:
    """Open or close a collection, or go on to its next entry or to the value of its key."""
    if mark in "[{":
        frames.append(_Frame(mark == "{", "" if mark == "{" else 0, keys=[]))
    elif not frames:
        return
    elif mark in "]}":
        frames.pop()
    elif mark == ",":
        top = frames[-1]
        top.step, top.has_key = "" if top.is_map else int(top.step) + 1, False
    else:
        frames[-1].has_key = frames[-1].is_map


def _read_word(written: str, frames: list[_Frame]) -> None:
    """Take a word for the next key where a mapping waits for one."""
    if frames and frames[-1].is_map and not frames[-1].has_key:
        key = written.strip().strip("\"'")
        frames[-1].step = key
        frames[-1].keys.append(key)


def _cursor_in_frames(frames: list[_Frame], at: _Word, text: str, base: Path) -> Cursor:
    """The cursor at a word, inside of the collections that are open before it."""
    word, start, end = at.word, at.start, at.end
    if not frames:
        return Cursor(base, "value", word, start, end, quote=at.quote, in_brackets=True)
    *outer, top = frames
    path = (*base, *(each.step for each in outer))
    if top.is_map and not top.has_key:
        # The key under the cursor is not one that the mapping has already.
        own = {word.strip(), text[start:end].strip()}
        keys = frozenset(each for each in top.keys if each not in own or not own - {""})
        return Cursor(path, "key", word, start, end, keys, in_brackets=True, quote=at.quote)
    return Cursor(
        (*path, top.step),
        "value",
        word.lstrip(),
        end - len(text[start:end].lstrip()),
        end,
        in_brackets=True,
        quote=at.quote,
    )


# YAML, line by line.


class _Level(msgspec.Struct):
    """An open mapping or list of a block."""

    column: int
    step: str | int
    is_list: bool


class _YamlLines:
    """Reads lines and knows the path of the last one."""

    def __init__(self) -> None:
        self.levels: list[_Level] = []
        self.keys: dict[Path, list[str]] = {}
        self.block: int | None = None  #: the column that the text of a block is right of

    @property
    def path(self) -> Path:
        return tuple(each.step for each in self.levels)

    def read(self, line: str) -> tuple[int, str, str | None]:
        """Take a line; the column and rest behind its dashes, and its key if it has one."""
        column, rest = self.open_lists(line)
        match = _KEY.match(rest)
        if match is None:
            return column, rest, None
        key = _strip_quotes(match["key"])
        self.close(column, list_too=True)
        self.keys.setdefault(self.path[: self._depth(column)], []).append(key)
        if self.levels and self.levels[-1].column == column and not self.levels[-1].is_list:
            self.levels[-1].step = key
        else:
            self.levels.append(_Level(column, key, is_list=False))
        value = rest[match.end() :].strip()
        # A tag or an anchor may be between the colon and the sign of a block.
        if _BLOCK.fullmatch(re.sub(r"^[!&]\S+\s+", "", value)):
            self.block = column
        return column, rest, key

    def open_lists(self, line: str) -> tuple[int, str]:
        """Open the lists that the dashes of a line are entries of."""
        match = _LINE.match(line)
        assert match is not None
        column, rest = len(match["indent"]), match["rest"]
        while rest.startswith("- ") or rest == "-":
            self.close(column, list_too=False)
            top = self.levels[-1] if self.levels else None
            if top is not None and top.is_list and top.column == column:
                top.step = int(top.step) + 1
            else:
                self.levels.append(_Level(column, 0, is_list=True))
            inner = rest[1:].lstrip(" ")
            column, rest = column + len(rest) - len(inner), inner
        return column, rest

    def close(self, column: int, *, list_too: bool) -> None:
        """Close what is right of a column; a list that begins there ends before a key."""
        while self.levels and (
            self.levels[-1].column > column
            or (list_too and self.levels[-1].is_list and self.levels[-1].column == column)
        ):
            self.levels.pop()

    def _depth(self, column: int) -> int:
        """How many levels are around a key in a column."""
        own = self.levels and self.levels[-1].column == column and not self.levels[-1].is_list
        return len(self.levels) - (1 if own else 0)

    def skips(self, line: str) -> bool:
        """Whether a line says nothing: it is blank, a comment, or text of a block."""
        match = _LINE.match(line)
        assert match is not None
        if not match["rest"].strip():
            return True
        if self.block is not None:
            if len(match["indent"]) > self.block:
                return True
            self.block = None
        return match["rest"].startswith(("#", "---", "%"))


def _cursor_in_yaml(text: str, offset: int) -> Cursor:
    begin = text.rfind("\n", 0, offset) + 1
    reader = _YamlLines()
    for line in split_lines(text[:begin]):
        if not reader.skips(line):
            reader.read(line)
    before = text[begin:offset]
    stop = re.compile(r"\r|\n|\Z").search(text, offset)
    assert stop is not None
    match = _LINE.match(before)
    assert match is not None
    if (
        reader.block is not None
        and (len(match["indent"]) > reader.block or not before.strip())
        and before.strip(" ") != ""
    ):
        return _cursor_in_text(text, offset)
    column, rest = reader.open_lists(before)
    key = _KEY.match(rest)
    if key is not None:
        reader.read(before)
        return _cursor_in_value(text, begin + column + key.end(), offset, stop.start(), reader.path)
    if rest[:1] in ("[", "{"):
        return _cursor_in_brackets(text, begin + column, offset, reader.path)
    reader.close(column, list_too=True)
    if reader.levels and reader.levels[-1].column == column and not reader.levels[-1].is_list:
        reader.levels.pop()
    path = reader.path
    # A line without a key may also go on with brackets that an earlier line opened.
    opened = _open_bracket(text[:begin])
    if opened is not None:
        return _cursor_in_brackets(text, opened[0], offset, opened[1])
    word = rest.lstrip("\"'")
    start = offset - len(word)
    keys = frozenset(reader.keys.get(path, ())) | frozenset(_later_keys(text[stop.end() :], column))
    tail = re.compile(r"[\w$.-]*").match(text, offset)
    end = offset if tail is None else min(tail.end(), stop.start())
    quote = rest[: len(rest) - len(word)]
    return Cursor(path, "key", word, start, end, keys, quote=quote)


def _later_keys(text: str, column: int) -> Iterator[str]:
    """The keys of a mapping below the line of one of its keys."""
    for line in split_lines(text):
        match = _LINE.match(line)
        assert match is not None
        if not match["rest"].strip() or len(match["indent"]) > column:
            continue
        key = _KEY.match(match["rest"]) if len(match["indent"]) == column else None
        if key is None:
            return
        yield _strip_quotes(key["key"])


def _cursor_in_value(text: str, begin: int, offset: int, stop: int, path: Path) -> Cursor:
    """The value behind a colon."""
    blanks = len(text[begin:offset]) - len(text[begin:offset].lstrip(" "))
    start = begin + blanks
    if text[start : start + 1] in ("[", "{") and start < offset:
        return _cursor_in_brackets(text, start, offset, path)
    quote = (
        text[start : start + 1] if text[start : start + 1] in ("'", '"') and start < offset else ""
    )
    start += len(quote)
    whole = text[start:stop]
    length = (
        whole.find(quote) if quote and quote in whole else len(whole.partition(" #")[0].rstrip())
    )
    end = max(offset, start + length)
    return Cursor(path, "value", text[start:offset], start, end, quote=quote)


def _open_bracket(text: str) -> tuple[int, Path] | None:
    """Where brackets begin that are still open at the end of a text, and their path."""
    lines = _LINES_WITH_BREAKS.findall(text)
    last = next((line for line in reversed(lines) if line.strip()), "").split(" #")[0].rstrip()
    # Where the last line ends in anything else, nothing is open, or nothing is to be added.
    if not last.endswith(("[", "{", ",")):
        return None
    reader, position = _YamlLines(), 0
    for line in lines:
        if not reader.skips(line.rstrip("\r\n")):
            column, rest, key = reader.read(line.rstrip("\r\n"))
            match = _KEY.match(rest) if key is not None else None
            value = column + (0 if match is None else match.end())
            start = position + value + len(line[value:]) - len(line[value:].lstrip(" "))
            if text[start : start + 1] in ("[", "{") and _is_open(text[start:]):
                return start, reader.path
        position += len(line)
    return None


def _is_open(text: str) -> bool:
    depth = 0
    for token in _TOKEN.finditer(text):
        if token["mark"]:
            depth += (token["mark"] in "[{") - (token["mark"] in "]}")
            if depth == 0:
                return False
    return depth > 0


def _strip_quotes(written: str) -> str:
    return written[1:-1] if written[:1] in ("'", '"') and len(written) > 1 else written


# TOML.


def _cursor_in_toml(text: str, offset: int) -> Cursor:
    begin = text.rfind("\n", 0, offset) + 1
    base: Path = ROOT
    arrays: dict[Path, int] = {}
    keys: dict[Path, list[str]] = {}
    for line in split_lines(text[:begin]):
        table = _TOML_TABLE.match(line.strip())
        if table is not None:
            base = _toml_path(table["name"])
            if table["array"]:
                arrays[base] = arrays.get(base, -1) + 1
                base = (*base, arrays[base])
            continue
        key = line.partition("=")
        if key[1] and not line.strip().startswith("#"):
            keys.setdefault(base, []).append(key[0].strip().strip("\"'"))
    before = text[begin:offset]
    if "=" in before:
        name, _, written = before.partition("=")
        path = (*base, *_toml_path(name.strip()))
        start = offset - len(written.lstrip())
        if text[start : start + 1] in ("[", "{"):
            return _cursor_in_brackets(text, start, offset, path)
        stop = re.compile(r"\r|\n|\Z").search(text, offset)
        assert stop is not None
        return _cursor_in_value(text, start, offset, stop.start(), path)
    word = before.strip()
    if word.startswith("["):
        word = word.lstrip("[ ")
        return Cursor(ROOT, "key", word, offset - len(word), offset, in_brackets=True)
    return Cursor(base, "key", word, offset - len(word), offset, frozenset(keys.get(base, ())))


def _toml_path(name: str) -> Path:
    return tuple(
        next(part for part in (match[1], match[2], match[3]) if part is not None)
        for match in _TOML_STEP.finditer(name)
    )


# Documents that were parsed.


def place_at(document: Document, offset: int) -> Place | None:
    """The innermost entry at an offset of the author's text."""
    best: Place | None = None
    paths = [path for path, _ in walk(document.value)]
    for path, located in document.locate(paths).items():
        spans = [(located.value, False), *([(located.key, True)] if located.key else [])]
        for span, is_key in spans:
            if not span.start <= offset <= span.end or not path:
                continue
            if best is None or len(path) >= len(best.path):
                best = Place(path, located, is_key)
    return best
