"""YAML 1.2, core schema: which engine reads a text.

The simplest texts are read line by line, here; all others go to an iterative constructor over the
events of libyaml (`values`). Both build plain values only: `on`, `yes`, dates and `1_000` are text,
no tag constructs anything. What is odd about a text (a repeated key, a tag, a merge key) is only
*noticed* while it is loaded; a second pass says where (`places`), so that an ordinary file pays
nothing.

PyYAML is imported when a text needs it: that costs more than checking a small file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from math import isfinite
from typing import Any, Final

from equipage.core.path import Path
from equipage.core.text import lazy_regex
from equipage.syntax import ContainingScalar, Irregularity, Parsed, Place, Range, Written
from equipage.syntax.yaml.scalars import NUMBER_STARTS, SPECIALS, is_ambiguous, resolve_plain


def load(text: str, *, merge: bool = False, oddities: bool = True) -> Parsed:
    """The value of the first document of `text`. Raises `SyntaxProblem`.

    Keys are always strings, later duplicates win, unknown tags are dropped; each such thing is in
    `irregularities`, unless the caller wants no `oddities`. With `merge`, `<<` is applied. An empty
    text has the value None.
    """
    text = _replace_byte_order_mark(text)
    value = _take_peeked_value(text)
    if value is None:
        value = read_simple(text)
    if value is not None:
        return Parsed(value)
    _import_pyyaml()
    from equipage.syntax.yaml.values import parse

    return parse(text, merge=merge, oddities=oddities)


#: The last text that was peeked at, and its value; at most one.
_PEEKED: list[tuple[str, Any]] = []


def peek_value(text: str) -> Any:
    """The value of a text that the caller may load next, kept for that `load`.

    Raises `SyntaxProblem`. Peeking at or loading another text discards it.
    """
    value = read_simple(text)
    if value is None:
        return load(text, oddities=False).value
    _PEEKED[:] = [(text, value)]
    return value


def forget_peeked() -> None:
    """Discard the value of `peek_value`: the text will not be loaded."""
    _PEEKED.clear()


def _take_peeked_value(text: str) -> Any:
    """The value that `peek_value` kept for this very text; None if there is none."""
    if not _PEEKED:
        return None
    try:
        known, value = _PEEKED.pop()
    except IndexError:
        return None
    return value if known is text else None


def _import_pyyaml() -> None:
    """Import PyYAML whole or not at all.

    An import that Ctrl-C ends leaves modules behind which no later import completes: programs that
    go on after an interrupt could parse no YAML any more.
    """
    try:
        import yaml  # noqa: F401
    except BaseException:
        for name in [each for each in sys.modules if f"{each}.".startswith("yaml.")]:
            del sys.modules[name]
        raise


def _replace_byte_order_mark(text: str) -> str:
    """The text with a line break for a byte order mark, which the parser would not count."""
    return "\n" + text[1:] if text.startswith("\ufeff") else text


def locate(text: str, paths: Iterable[Path], *, merge: bool = False) -> dict[Path, Place]:
    """The places of those `paths` that exist in the first document of `text`."""
    wanted, text = list(paths), _replace_byte_order_mark(text)
    found = locate_simple(text, wanted)
    if found is not None:
        return found
    _import_pyyaml()
    from equipage.syntax.yaml import places

    return places.locate(text, wanted, merge=merge)


def scalars_at(text: str, ranges: list[Range]) -> list[ContainingScalar | bool | None]:
    """For each of the ascending `ranges`, the scalar that contains it.

    False if the range cuts through structure, None if it holds nothing of the document (a comment,
    white space). A text that does not parse is searched up to its error; a range with the error
    inside cuts through structure.
    """
    if not ranges:
        return []
    _import_pyyaml()
    from equipage.syntax.yaml import places

    return places.scalars_at(_replace_byte_order_mark(text), ranges)


def blank_broken_blocks(text: str, error: Irregularity) -> tuple[str, list[str]] | None:
    """As the function of this name in `places`."""
    from equipage.syntax.yaml import places

    return places.blank_broken_blocks(_replace_byte_order_mark(text), error)


def written(text: str) -> Iterator[Written]:
    """Each key, scalar and collection in order, as far as `text` makes sense."""
    _import_pyyaml()
    from equipage.syntax.yaml import places

    return places.written(_replace_byte_order_mark(text))


# The fast lane: texts that are read line by line.
#
# It exists because importing PyYAML, starting a parser and asking it for events is a fifth of a
# cold check of a small file, and most configuration is written in the simplest form: block mappings
# and lists of one-line values, indented with spaces. The files of a project also repeat the same
# lines, so each line is taken apart once and remembered.
#
# It gives up on everything else, and on everything it is not sure about: a key twice, an escape, an
# anchor, a tab, a value that goes on in the next line. PyYAML then decides, so the lane knows no
# errors and no oddities. Whatever it does read, it reads exactly as PyYAML would; a test with
# random texts holds the two together.

#: Deeper texts are left to the parser, which bounds nesting: each level of it needs a column.
_MAX_INDENT = 40
#: Longer lines are left to the parser, too: the expressions may look at each character twice.
_MAX_LINE = 4_000
_MAX_FLOW_DEPTH = 16
# The expressions say what ends a part; that a line holds nothing but printable characters is
# checked first. The possessive quantifiers (`*+`) keep them linear, as do atomic groups (`(?>…)`).
# Those are for groups that look around or may be taken in two ways: behind a possessive quantifier
# of such a group, Python before 3.11.5 goes on in the wrong place.

#: A name of letters, digits and `_$./-`, or one in quotes that may hold blanks. It starts with a
#: letter or `$`: what starts with a digit, a dot or a dash may be a number or a list item.
_WRITTEN_NAME = r"(?:[^\W\d]|\$)[\w$./-]{0,99}+"
_MAX_NAME = 100
_KEY = rf"{_WRITTEN_NAME}|\"[\w$./ -]{{1,99}}\"|'[\w$./ -]{{1,99}}'"
_NAME = lazy_regex(_WRITTEN_NAME)
#: A plain scalar. Its first character is not an indicator of YAML; a `:` inside is not followed by
#: a blank, a `#` does not follow one.
_PLAIN = r"(?:[\w$/.+~(<=^;\\]|[^\x00-\x7f]|-(?=[\w.]))(?>(?:[^:#]++|:(?=[^ ])|(?<! )#)*)"
_QUOTED = r"\"[^\"\\]*+\"|'[^']*+'"  # without escapes
_FLOW = r"[\[{].*[\]}]"
_QUOTES, _BRACKETS = frozenset("\"'"), frozenset("[{")
#: How a plain scalar in ASCII begins, but for those with a dash.
_PLAIN_STARTS = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$/.+~(<=^;\\"
)
#: `key: value`, `- value` or `- key: value`, with blanks and a comment around it.
_ENTRY = lazy_regex(
    rf"(?P<indent> {{0,{_MAX_INDENT}}})(?P<item>- )?"
    rf"(?:(?P<key>{_KEY}):(?= |$))?"
    rf" *(?:(?P<plain>{_PLAIN})|(?P<quoted>{_QUOTED})|(?P<flow>{_FLOW}))?"
    r"(?: *| +#.*|(?<= )#.*)"  # a plain value takes the blanks behind it, too
)
_FLOW_KEY = lazy_regex(rf"({_KEY}): +")
#: Between brackets a plain scalar has words and single runs of blanks, and ends at `,`, `]` or `}`.
_FLOW_WORD = r"[\w$/.+~*-]"
_FLOW_SCALAR = lazy_regex(
    rf"(?:(?P<quoted>{_QUOTED})"
    rf"|(?P<plain>(?:[\w$/.+~]|-(?=\w))(?>(?:{_FLOW_WORD}++| +(?={_FLOW_WORD}))*)))"
    r" *(?=[,\]}])"
)
#: A list of single words, none of which is a number: `[read, search]`.
_WORD = r"(?:[^\W\d]|[$/])[\w$/.+~*-]*+"
_FLOW_WORDS = lazy_regex(rf"\[ *{_WORD}(?>(?: *, *{_WORD})*) *\]")
_END_OF_TEXT = "\0"  #: ends a flow collection; no line holds it, so nothing looks behind the end
_NO_VALUE_YET: Final[Any] = object()  #: no value on this line: deeper lines hold it, or it is null
_COLLECTIONS: frozenset[type] = frozenset({list, dict})
#: Column, whether it is an item of a list, key, value, and what copies the value for its place.
_Entry = tuple[int, bool, str | None, Any, Callable[[Any], Any] | None]
#: A blank line or a comment.
_EMPTY_LINE: Final[_Entry] = (-1, False, None, None, None)
#: Lines that were taken apart before.
_KNOWN_LINES: dict[str, _Entry] = {}
_MAX_KNOWN_LINES = 10_000
_MAX_KEPT_LENGTH = 120
_MAX_UNREPEATED_LINES = 1_000


class _NotSimple(Exception):
    """Raised for a text that is not simple: the parser has to read it."""


def read_simple(text: str) -> Any:
    """The value of `text`: a mapping or a list. None if the parser should read it."""
    try:
        return _read_lines(text)
    except _NotSimple:
        return None


def locate_simple(text: str, paths: Iterable[Path]) -> dict[Path, Place] | None:
    """The places of those `paths` that exist. None if the parser should look."""
    try:
        located = _SimpleLocator(text)
        found = ((path, located.find_place(path)) for path in paths)
        return {path: place for path, place in found if place is not None}
    except _NotSimple:
        return None


def _read_lines(text: str, numbers: dict[tuple[int, str | int | None], int] | None = None) -> Any:
    """The value of `text`; `numbers` gets the line of each entry, by the id of its holder."""
    whole: dict[str, Any] = {}  # gets the value, as that of an empty key left of all columns
    current: Any = whole  # the collection that the last line belonged to
    in_list = False  # whether that is a list
    here = -2  # its column
    open_key: str | None = ""  # its key whose value may follow on deeper lines
    around: list[tuple[int, Any]] = []  # the collections that hold it, with their columns
    child: Any
    unknown = 0  # lines that were not seen before
    for number, line in enumerate(text.split("\n")):
        entry = _KNOWN_LINES.get(line)
        if entry is None:
            entry = _split_line(line)
            unknown += 1
            # A text that hardly repeats itself gains nothing from being remembered.
            if unknown < _MAX_UNREPEATED_LINES or unknown * 2 < number:
                _remember_line(line, entry)
        column, is_item, key, value, copy = entry
        if column == here and is_item is in_list:
            pass  # as in most lines, the next entry of the same collection
        elif column < 0:
            continue  # blank, or a comment
        elif open_key is not None and (column > here or (is_item and column == here)):
            # The line begins the value of the open key; a list may be as deep as its key.
            child = [] if is_item else {}
            current[open_key] = child
            around.append((here, current))
            here, current, in_list = column, child, is_item
        else:
            current = _collection_at(column, is_item, here, current, around)
            here, in_list = column, is_item
        open_key = None
        if copy is not None:
            value = copy(value)
        if is_item:
            if numbers is not None:
                numbers[id(current), len(current)] = number
            if key is None:
                current.append(value)
                continue
            child = {}
            current.append(child)
            around.append((here, current))
            here, current, in_list = column + 2, child, False
        if key in current:
            raise _NotSimple
        if value is _NO_VALUE_YET:
            value, open_key = None, key
        current[key] = value
        if numbers is not None:
            numbers[id(current), key] = number
    if not whole:
        raise _NotSimple
    return whole[""]


def _collection_at(
    column: int, is_item: bool, here: int, current: Any, around: list[tuple[int, Any]]
) -> Any:
    """The collection that a line further left goes on with; those inside of it end.

    Raises `_NotSimple` if there is none in this column.
    """
    while column < here:
        here, current = around.pop()
    if not is_item and current.__class__ is list and around[-1][0] == here:
        here, current = around.pop()  # the end of a list that is as deep as its key
    if column != here or is_item is not (current.__class__ is list):
        raise _NotSimple
    return current


def _copier(value: Any) -> Callable[[Any], Any] | None:
    """The function that copies the value of a remembered line each time it is used, or None."""
    if not isinstance(value, (list, dict)):
        return None
    parts: Iterable[Any] = value.values() if isinstance(value, dict) else value
    if any(each.__class__ in _COLLECTIONS for each in parts):
        return _deep_copy
    return dict.copy if isinstance(value, dict) else list.copy


def _deep_copy(value: Any) -> Any:
    """A copy of a collection and of all that are in it."""
    if value.__class__ is list:
        return [_deep_copy(each) if each.__class__ in _COLLECTIONS else each for each in value]
    return {
        key: _deep_copy(each) if each.__class__ in _COLLECTIONS else each
        for key, each in value.items()
    }


def _remember_line(line: str, entry: _Entry) -> None:
    if len(line) < _MAX_KEPT_LENGTH:
        if len(_KNOWN_LINES) >= _MAX_KNOWN_LINES:
            _KNOWN_LINES.clear()
        _KNOWN_LINES[line] = entry


def _split_line(line: str) -> _Entry:
    """Split a line into its entry. Raises `_NotSimple`."""
    # Tabs, controls, line breaks beyond ASCII, byte order marks and lone surrogates:
    if not line.isprintable():
        raise _NotSimple
    body = line.lstrip(" ")
    if not body or body[0] == "#":
        return _EMPTY_LINE
    if len(line) > _MAX_LINE:
        raise _NotSimple
    column = len(line) - len(body)
    usual = _split_simple_line(body, column) if column <= _MAX_INDENT else None
    return _split_any_line(line) if usual is None else usual


def _split_simple_line(body: str, column: int) -> _Entry | None:
    """Split a line that has no comment and no extra blanks; None if it may have some.

    It is taken apart by a few searches, because `_ENTRY` takes as long as a parser does. Of every
    line that this understands, both say the same.
    """
    is_item = body[0] == "-"
    if is_item:
        if body[1:2] != " ":
            return None
        body = body[2:]
    key: str | None
    key, colon, written = body.partition(": ")
    if colon or body[-1:] == ":":
        key = key if colon else body[:-1]
        is_plain = key.isidentifier() and key.isascii() and len(key) <= _MAX_NAME
        if (not is_plain and not _NAME.fullmatch(key)) or key in SPECIALS:
            return None
        if not written:
            return column, is_item, key, _NO_VALUE_YET, None
    elif is_item and body:
        key, written = None, body
    else:
        return None
    first = written[0]
    if first in _PLAIN_STARTS:
        if written[-1] in ": " or ": " in written or " #" in written:
            return None
        if first in NUMBER_STARTS:
            return column, is_item, key, _number_or_text(written), None
        return column, is_item, key, SPECIALS.get(written, written), None
    if first in _QUOTES:
        is_whole = len(written) > 1 and written.find(first, 1) == len(written) - 1
        if not is_whole or (first == '"' and "\\" in written):
            return None
        return column, is_item, key, written[1:-1], None
    if first in _BRACKETS and written[-1] in "]}":
        value = _flow_value(written)
        return column, is_item, key, value, _copier(value)
    return None


def _number_or_text(written: str) -> Any:
    """The value of a plain scalar that begins like a number. Raises `_NotSimple`."""
    if len(written) < 10 and written.isdecimal() and written.isascii() and written[0] != "0":
        return int(written)
    return _plain_value(written)


def _split_any_line(line: str) -> _Entry:
    """Split any simple line. Raises `_NotSimple`."""
    match = _ENTRY.fullmatch(line)
    if match is None:
        raise _NotSimple
    indent, item, key, plain, quoted, flow = match.groups()
    if plain is not None:
        value: Any = plain.rstrip(" ")
        # Most values are text, and text begins like no number.
        is_text = plain[0] not in NUMBER_STARTS
        value = SPECIALS.get(value, value) if is_text else _number_or_text(value)
    elif quoted is not None:
        value = quoted[1:-1]
    else:
        value = _NO_VALUE_YET if flow is None else _flow_value(flow)
    if key is not None:
        if key[0] in "\"'":
            key = key[1:-1]
        elif key in SPECIALS:
            raise _NotSimple  # `true` and `null` are not strings
    elif not item or value is _NO_VALUE_YET:
        raise _NotSimple
    return len(indent), item is not None, key, value, _copier(value)


def _key_name(written: str) -> str:
    """The name that a key means."""
    if written[0] in "\"'":
        return written[1:-1]
    if resolve_plain(written).__class__ is not str:
        raise _NotSimple  # `true` and `null` are not strings
    return written


def _plain_value(written: str) -> Any:
    try:
        value = resolve_plain(written)
    except ValueError:
        raise _NotSimple from None
    if is_ambiguous(written) or (isinstance(value, float) and not isfinite(value)):
        raise _NotSimple
    return value


def _flow_value(written: str) -> Any:
    """The value of a text that is one flow collection."""
    if _FLOW_WORDS.fullmatch(written):
        return [SPECIALS.get(each, each) for each in map(str.strip, written[1:-1].split(","))]
    if written.count("[") + written.count("{") > _MAX_FLOW_DEPTH:
        raise _NotSimple
    value, end = _read_flow(written + _END_OF_TEXT, 0)
    if end != len(written):
        raise _NotSimple
    return value


def _read_flow(text: str, at: int) -> tuple[Any, int]:
    """The flow collection or scalar that starts at `at`, and where the text goes on."""
    if text[at] == "[":
        return _read_flow_list(text, at)
    if text[at] == "{":
        return _read_flow_mapping(text, at)
    match = _FLOW_SCALAR.match(text, at)
    if match is None:
        raise _NotSimple
    quoted, plain = match.groups()
    return (quoted[1:-1] if plain is None else _plain_value(plain)), match.end()


def _read_flow_list(text: str, at: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    at = _skip_mark("[", text, at)
    while text[at] != "]":
        if items:
            at = _skip_mark(",", text, at)
        item, at = _read_flow(text, at)
        items.append(item)
    return items, _skip_mark("]", text, at)


def _read_flow_mapping(text: str, at: int) -> tuple[dict[str, Any], int]:
    mapping: dict[str, Any] = {}
    at = _skip_mark("{", text, at)
    while text[at] != "}":
        if mapping:
            at = _skip_mark(",", text, at)
        match = _FLOW_KEY.match(text, at)
        if match is None or _key_name(match[1]) in mapping:
            raise _NotSimple
        mapping[_key_name(match[1])], at = _read_flow(text, match.end())
    return mapping, _skip_mark("}", text, at)


def _skip_mark(mark: str, text: str, at: int) -> int:
    """Skip the `mark` that must be at `at` and the blanks after it; returns the new offset."""
    if text[at] != mark:
        raise _NotSimple
    at += 1
    while text[at] == " ":
        at += 1
    return at


class _SimpleLocator:
    """A text that was read with the line of every entry. What is inside a flow collection, and a
    value that is not written at all, are left to the parser."""

    def __init__(self, text: str) -> None:
        """Raises `_NotSimple`."""
        self.numbers: dict[tuple[int, str | int | None], int] = {}
        self.root = _read_lines(text, self.numbers)
        self.lines = text.split("\n")
        self.starts = [0, *accumulate(len(line) + 1 for line in self.lines)]

    def find_place(self, path: Path) -> Place | None:
        """The place of an entry, None if there is none. Raises `_NotSimple`."""
        value, number = self.root, None
        for step in path:
            if (id(value), step) not in self.numbers:
                if value.__class__ in _COLLECTIONS and not self._is_block(value):
                    raise _NotSimple  # a flow collection may have it
                return None
            number = self.numbers[id(value), step]
            value = value[step]
        key, written = (None, None) if number is None else self._line_ranges(number)
        if self._is_block(value):
            written = self._block_range(value)
        if written is None:
            raise _NotSimple
        return Place(written, key if path and isinstance(path[-1], str) else None)

    def _is_block(self, value: Any) -> bool:
        return value.__class__ in _COLLECTIONS and (id(value), _first_step(value)) in self.numbers

    def _block_range(self, value: Any) -> Range:
        """From the first key or dash of a block collection to the end of its last value."""
        first = self.numbers[id(value), _first_step(value)]
        line = self.lines[first]
        column = len(line) - len(line.lstrip(" "))
        if line[column] == "-" and value.__class__ is dict:
            column += 2  # a mapping that begins behind the dash of its item
        number = first
        while self._is_block(value):
            last = next(reversed(value)) if value.__class__ is dict else len(value) - 1
            number, value = self.numbers[id(value), last], value[last]
        _, written = self._line_ranges(number)
        if written is None:
            raise _NotSimple
        return self.starts[first] + column, written[1]

    def _line_ranges(self, number: int) -> tuple[Range | None, Range | None]:
        """Where the key and the value on a line are written."""
        match, start = _ENTRY.fullmatch(self.lines[number]), self.starts[number]
        assert match is not None  # it was read before
        spans = [match.span(name) for name in ("key", "plain", "quoted", "flow")]
        key, *values = [(start + low, start + high) if low >= 0 else None for low, high in spans]
        if values[0] is not None:
            values[0] = values[0][0], values[0][0] + len(match["plain"].rstrip(" "))
        return key, next((each for each in values if each is not None), None)


def _first_step(value: Any) -> str | int | None:
    """The key or index of the first entry of a collection; None for an empty mapping."""
    return next(iter(value), None) if value.__class__ is dict else 0
