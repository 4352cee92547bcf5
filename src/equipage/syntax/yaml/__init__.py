"""YAML 1.2, core schema.

The simplest texts are read here, line by line; all others go to an iterative constructor over the
events of libyaml (`values`). Both build plain values only. What is odd about a text (a repeated
key, a tag, a merge key) is only *noticed* while it is loaded; a second pass says where (`places`),
so that an ordinary file pays nothing.

PyYAML is imported when a text needs it: that costs more than checking a small file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import accumulate
from math import isfinite
from typing import Any, Final

from equipage.core.path import Path
from equipage.core.text import expression
from equipage.syntax import Parsed, Place, Range, Touched
from equipage.syntax.yaml.scalars import NUMBER_STARTS, SPECIALS, resolve_plain


def load(text: str, *, merge: bool = False, oddities: bool = True) -> Parsed:
    """The value of the first document of `text`. Raises `SyntaxProblem`.

    Keys are always strings, later duplicates win, unknown tags are dropped; each such thing is in
    `irregularities`, unless the caller wants no `oddities`. With `merge`, `<<` is applied. An empty
    text has the value None.
    """
    text = _without_mark(text)
    value = _taken(text)
    if value is None:
        value = read_simple(text)
    if value is not None:
        return Parsed(value)
    _import_pyyaml()
    from equipage.syntax.yaml.values import parse

    return parse(text, merge=merge, oddities=oddities)


#: The last text that was looked at, and its value; at most one.
_LOOKED_AT: list[tuple[str, Any]] = []


def look_at(text: str) -> Any:
    """The value of a text whose load follows if the value is what the caller hopes for.

    Raises `SyntaxProblem`. `load` then takes the value over, unless another text came between.
    """
    value = read_simple(text)
    if value is None:
        return load(text, oddities=False).value
    _LOOKED_AT[:] = [(text, value)]
    return value


def forget() -> None:
    """Let go of the text that was looked at: it is not loaded."""
    _LOOKED_AT.clear()


def _taken(text: str) -> Any:
    """The value of a text that was just looked at. Another thread may have taken it."""
    try:
        known, value = _LOOKED_AT.pop()
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


def _without_mark(text: str) -> str:
    """The text with a line break for a byte order mark, which the parser would not count."""
    return "\n" + text[1:] if text.startswith("\ufeff") else text


def locate(text: str, paths: Iterable[Path], *, merge: bool = False) -> dict[Path, Place]:
    """The places of those `paths` that exist in the first document of `text`."""
    wanted, text = list(paths), _without_mark(text)
    found = locate_simple(text, wanted)
    if found is not None:
        return found
    _import_pyyaml()
    from equipage.syntax.yaml import places

    return places.locate(text, wanted, merge=merge)


def scalars_at(text: str, ranges: list[Range]) -> list[Touched | bool | None]:
    """For each of the ascending `ranges`, the scalar that contains it.

    False if the range cuts through structure, None if it holds nothing of the document (a comment,
    white space). A text that does not parse is searched up to its error; a range with the error
    inside cuts through structure.
    """
    if not ranges:
        return []
    _import_pyyaml()
    from equipage.syntax.yaml import places

    return places.scalars_at(_without_mark(text), ranges)


# ----------------------------------------------------------------------------------- the fast lane
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
# checked first. The possessive quantifiers (`*+`) keep them linear.

#: A name of letters, digits and `_$./-`, or one in quotes that may hold blanks. It starts with a
#: letter or `$`: what starts with a digit, a dot or a dash may be a number or a list item.
_KEY = r"(?:[^\W\d]|\$)[\w$./-]{0,99}+|\"[\w$./ -]{1,99}\"|'[\w$./ -]{1,99}'"
#: A plain scalar. Its first character is not an indicator of YAML; a `:` inside is not followed by
#: a blank, a `#` does not follow one.
_PLAIN = r"(?:[\w$/.+~(<=^;\\]|[^\x00-\x7f]|-(?=[\w.]))(?:[^:#]++|:(?=[^ ])|(?<! )#)*+"
_QUOTED = r"\"[^\"\\]*+\"|'[^']*+'"  # without escapes
_FLOW = r"[\[{].*[\]}]"

#: `key: value`, `- value` or `- key: value`, with blanks and a comment around it.
_ENTRY = expression(
    rf"(?P<indent> {{0,{_MAX_INDENT}}})(?P<item>- )?"
    rf"(?:(?P<key>{_KEY}):(?= |$))?"
    rf" *(?:(?P<plain>{_PLAIN})|(?P<quoted>{_QUOTED})|(?P<flow>{_FLOW}))?"
    r"(?: *| +#.*|(?<= )#.*)"  # a plain value takes the blanks behind it, too
)
_FLOW_KEY = expression(rf"({_KEY}): +")
#: Between brackets a plain scalar has words and single runs of blanks, and ends at `,`, `]` or `}`.
_FLOW_WORD = r"[\w$/.+~*-]"
_FLOW_SCALAR = expression(
    rf"(?:(?P<quoted>{_QUOTED})"
    rf"|(?P<plain>(?:[\w$/.+~]|-(?=\w))(?:{_FLOW_WORD}++| +(?={_FLOW_WORD}))*+)) *(?=[,\]}}])"
)
#: A list of single words, none of which is a number: `[read, search]`.
_WORD = r"(?:[^\W\d]|[$/])[\w$/.+~*-]*+"
_FLOW_WORDS = expression(rf"\[ *{_WORD}(?: *, *{_WORD})*+ *\]")
_END = "\0"  #: ends a flow collection; no line holds it, so nothing looks behind the end

_OPEN: Final[Any] = object()  #: no value on this line: it follows on deeper ones, or is null
_COLLECTIONS: frozenset[type] = frozenset({list, dict})

#: Column, whether it is an item of a list, key, value.
_Entry = tuple[int, bool, str | None, Any]
#: A line that says nothing.
_SILENT: Final[_Entry] = (-1, False, None, None)
#: Lines that were taken apart before.
_KNOWN: dict[str, _Entry] = {}
_MAX_KNOWN = 10_000
_WORTH_KEEPING = 120
_WORTH_A_TRY = 1_000


class _Doubt(Exception):
    """The parser should look at this text."""


def read_simple(text: str) -> Any:
    """The value of `text`: a mapping or a list. None if the parser should read it."""
    try:
        return _read(text)
    except _Doubt:
        return None


def locate_simple(text: str, paths: Iterable[Path]) -> dict[Path, Place] | None:
    """The places of those `paths` that exist. None if the parser should look."""
    try:
        located = _Located(text)
        found = ((path, located.place(path)) for path in paths)
        return {path: place for path, place in found if place is not None}
    except _Doubt:
        return None


def _read(text: str, numbers: dict[tuple[int, str | int | None], int] | None = None) -> Any:
    """The value of `text`; `numbers` gets the line of each entry, by the id of its holder."""
    root: Any = None
    current: Any = None  # the collection that the last line belonged to
    here = 0  # its column
    open_key: str | None = None  # its key whose value may follow on deeper lines
    around: list[tuple[int, Any]] = []  # the collections that hold it, with their columns
    child: Any
    unknown = 0  # lines that were not seen before
    for number, line in enumerate(text.split("\n")):
        entry = _KNOWN.get(line)
        if entry is None:
            entry = _taken_apart(line)
            unknown += 1
            # A text that hardly repeats itself gains nothing from being remembered.
            if unknown < _WORTH_A_TRY or unknown * 2 < number:
                _remember(line, entry)
        column, is_item, key, value = entry
        if column < 0:
            continue  # blank, or a comment
        if open_key is not None and (column > here or (is_item and column == here)):
            # The line begins the value of the open key; a list may be as deep as its key.
            child = [] if is_item else {}
            current[open_key] = child
            around.append((here, current))
            here, current = column, child
        elif root is None:
            root = current = [] if is_item else {}
            here = column
        else:
            while column < here and around:
                here, current = around.pop()
            if not is_item and current.__class__ is list and around and around[-1][0] == here:
                here, current = around.pop()  # the end of a list that is as deep as its key
            if column != here or is_item is not (current.__class__ is list):
                raise _Doubt
        open_key = None
        if value.__class__ in _COLLECTIONS:
            value = _copy(value)
        if is_item:
            if numbers is not None:
                numbers[id(current), len(current)] = number
            if key is None:
                current.append(value)
                continue
            child = {}
            current.append(child)
            around.append((here, current))
            here, current = column + 2, child
        if key in current:
            raise _Doubt
        if value is _OPEN:
            value, open_key = None, key
        current[key] = value
        if numbers is not None:
            numbers[id(current), key] = number
    if root is None:
        raise _Doubt
    return root


def _copy(value: Any) -> Any:
    """A collection of its own for every place that a remembered line is used in."""
    if value.__class__ is list:
        return [_copy(each) if each.__class__ in _COLLECTIONS else each for each in value]
    return {
        key: _copy(each) if each.__class__ in _COLLECTIONS else each for key, each in value.items()
    }


def _remember(line: str, entry: _Entry) -> None:
    if len(line) < _WORTH_KEEPING:
        if len(_KNOWN) >= _MAX_KNOWN:
            _KNOWN.clear()
        _KNOWN[line] = entry


def _taken_apart(line: str) -> _Entry:
    """What a line says. Raises `_Doubt`."""
    # Tabs, controls, line breaks beyond ASCII, byte order marks and lone surrogates:
    if not line.isprintable():
        raise _Doubt
    body = line.lstrip(" ")
    if not body or body[0] == "#":
        return _SILENT
    match = _ENTRY.fullmatch(line) if len(line) <= _MAX_LINE else None
    if match is None:
        raise _Doubt
    indent, item, key, plain, quoted, flow = match.groups()
    if plain is not None:
        value: Any = plain.rstrip(" ")
        # Most values are text, and text begins like no number.
        if plain[0] not in NUMBER_STARTS:
            value = SPECIALS.get(value, value)
        elif len(value) < 10 and value.isdecimal() and value.isascii():
            value = int(value)
        else:
            value = _scalar(value)
    elif quoted is not None:
        value = quoted[1:-1]
    else:
        value = _OPEN if flow is None else _collection(flow)
    if key is not None:
        if key[0] in "\"'":
            key = key[1:-1]
        elif key in SPECIALS:
            raise _Doubt  # `true` and `null` are not strings
    elif not item or value is _OPEN:
        raise _Doubt
    return len(indent), item is not None, key, value


def _name(written: str) -> str:
    """The name that a key means."""
    if written[0] in "\"'":
        return written[1:-1]
    if resolve_plain(written).__class__ is not str:
        raise _Doubt  # `true` and `null` are not strings
    return written


def _scalar(written: str) -> Any:
    try:
        value = resolve_plain(written)
    except ValueError:
        raise _Doubt from None
    if isinstance(value, float) and not isfinite(value):
        raise _Doubt
    return value


# ------------------------------------------------------------------- flow collections on one line


def _collection(written: str) -> Any:
    """The value of a text that is one flow collection."""
    if _FLOW_WORDS.fullmatch(written):
        return [SPECIALS.get(each, each) for each in map(str.strip, written[1:-1].split(","))]
    if written.count("[") + written.count("{") > _MAX_FLOW_DEPTH:
        raise _Doubt
    value, end = _flow(written + _END, 0)
    if end != len(written):
        raise _Doubt
    return value


def _flow(text: str, at: int) -> tuple[Any, int]:
    """The flow collection or scalar that starts at `at`, and where the text goes on."""
    if text[at] == "[":
        return _flow_list(text, at)
    if text[at] == "{":
        return _flow_mapping(text, at)
    match = _FLOW_SCALAR.match(text, at)
    if match is None:
        raise _Doubt
    quoted, plain = match.groups()
    return (quoted[1:-1] if plain is None else _scalar(plain)), match.end()


def _flow_list(text: str, at: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    at = _after("[", text, at)
    while text[at] != "]":
        if items:
            at = _after(",", text, at)
        item, at = _flow(text, at)
        items.append(item)
    return items, _after("]", text, at)


def _flow_mapping(text: str, at: int) -> tuple[dict[str, Any], int]:
    mapping: dict[str, Any] = {}
    at = _after("{", text, at)
    while text[at] != "}":
        if mapping:
            at = _after(",", text, at)
        match = _FLOW_KEY.match(text, at)
        if match is None or _name(match[1]) in mapping:
            raise _Doubt
        mapping[_name(match[1])], at = _flow(text, match.end())
    return mapping, _after("}", text, at)


def _after(mark: str, text: str, at: int) -> int:
    """Where the text goes on after a `mark`, which must be at `at`, and blanks."""
    if text[at] != mark:
        raise _Doubt
    at += 1
    while text[at] == " ":
        at += 1
    return at


# ----------------------------------------------------------------------------------------- places


class _Located:
    """A text that was read with the line of every entry. What is inside a flow collection, and a
    value that is not written at all, are left to the parser."""

    def __init__(self, text: str) -> None:
        """Raises `_Doubt`."""
        self.numbers: dict[tuple[int, str | int | None], int] = {}
        self.root = _read(text, self.numbers)
        self.lines = text.split("\n")
        self.starts = [0, *accumulate(len(line) + 1 for line in self.lines)]

    def place(self, path: Path) -> Place | None:
        """The place of an entry, None if there is none. Raises `_Doubt`."""
        value, number = self.root, None
        for step in path:
            if (id(value), step) not in self.numbers:
                if value.__class__ in _COLLECTIONS and not self._is_block(value):
                    raise _Doubt  # a flow collection may have it
                return None
            number = self.numbers[id(value), step]
            value = value[step]
        key, written = (None, None) if number is None else self._ranges(number)
        if self._is_block(value):
            written = self._block_range(value)
        if written is None:
            raise _Doubt
        return Place(written, key if path and isinstance(path[-1], str) else None)

    def _is_block(self, value: Any) -> bool:
        return value.__class__ in _COLLECTIONS and (id(value), _first(value)) in self.numbers

    def _block_range(self, value: Any) -> Range:
        """From the first key or dash of a block collection to the end of its last value."""
        first = self.numbers[id(value), _first(value)]
        line = self.lines[first]
        column = len(line) - len(line.lstrip(" "))
        if line[column] == "-" and value.__class__ is dict:
            column += 2  # a mapping that begins behind the dash of its item
        number = first
        while self._is_block(value):
            last = next(reversed(value)) if value.__class__ is dict else len(value) - 1
            number, value = self.numbers[id(value), last], value[last]
        _, written = self._ranges(number)
        if written is None:
            raise _Doubt
        return self.starts[first] + column, written[1]

    def _ranges(self, number: int) -> tuple[Range | None, Range | None]:
        """Where the key and the value on a line are written."""
        match, start = _ENTRY.fullmatch(self.lines[number]), self.starts[number]
        assert match is not None  # it was read before
        spans = [match.span(name) for name in ("key", "plain", "quoted", "flow")]
        key, *values = [(start + low, start + high) if low >= 0 else None for low, high in spans]
        if values[0] is not None:
            values[0] = values[0][0], values[0][0] + len(match["plain"].rstrip(" "))
        return key, next((each for each in values if each is not None), None)


def _first(value: Any) -> str | int | None:
    """The key or index of the first entry of a collection; None for an empty mapping."""
    return next(iter(value), None) if value.__class__ is dict else 0
