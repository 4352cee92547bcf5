"""One line of the plainest YAML: `key: value`, `- value`, `- key: value`, with blanks and a comment around it.

A value is a scalar or a flow collection that ends on its line. Everything else raises `Doubt`, good YAML or not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from equipage.core.path import Path
from equipage.core.text import expression
from equipage.syntax import Place, Range
from equipage.syntax.places import Want
from equipage.syntax.yaml.scalars import INFINITY, resolve_plain

#: Beyond it, the parser watches over the depth of nesting. Each level of nesting needs a column.
_MAX_INDENT = 40
#: Longer lines are left to the parser, too: the expressions below may look at each character of one twice.
_MAX_LINE = 4_000

# These say what ends a part; that the line holds nothing but printable characters is looked at first.
_KEY = r"(?:[^\W\d]|\$)[\w$./-]{0,99}+|\"[\w$./ -]{1,99}\"|'[\w$./ -]{1,99}'"
_PLAIN = r"(?:[\w$/.+~(<=^;\\]|[^\x00-\x7f]|-(?=[\w.]))(?:[^:#]++|:(?=[^ ])|(?<! )#)*+"
_QUOTED = r"\"[^\"\\]*+\"|'[^']*+'"
_FLOW = r"[\[{].*[\]}]"

_NOTHING = expression(r" *(?:#.*)?")
_ENTRY = expression(
    rf"(?P<indent> {{0,{_MAX_INDENT}}})(?P<item>- )?"
    rf"(?:(?P<key>{_KEY}):(?= |$))?"
    rf" *(?:(?P<plain>{_PLAIN})|(?P<quoted>{_QUOTED})|(?P<flow>{_FLOW}))?"
    r"(?: *| +#.*|(?<= )#.*)"  # a plain value takes the blanks behind it, too
)
_FLOW_KEY = expression(rf"({_KEY}): +")
_FLOW_WORD = r"[\w$/.+~*-]"
_FLOW_SCALAR = expression(
    rf"(?:(?P<quoted>{_QUOTED})|(?P<plain>(?:[\w$/.+~]|-(?=\w))(?:{_FLOW_WORD}++| +(?={_FLOW_WORD}))*+)) *(?=[,\]}}])"
)
_MAX_FLOW_DEPTH = 16
_END = "\0"  #: no text has it, so that nothing is looked for behind the end

OPEN: Final[Any] = object()  #: no value on this line: it follows on deeper ones, or is null

#: Column, whether it is an item of a sequence, key, value.
Entry = tuple[int, bool, str | None, Any]


class Doubt(Exception):
    """The parser should look at this text."""


def taken_apart(line: str) -> Entry | None:
    """What a line says; None for one that says nothing. Raises `Doubt`."""
    if (
        not line.isprintable()
    ):  # tabs, controls, line breaks beyond ASCII, byte order marks, lone surrogates
        raise Doubt
    return None if _NOTHING.fullmatch(line) else _entry(line)


def ranges_of(line: str) -> tuple[Range | None, Range | None]:
    """Where the key and the value of a line stand in it, for a line that `taken_apart` knows."""
    match = _ENTRY.fullmatch(line)
    assert match is not None
    key = None if match["key"] is None else match.span("key")
    if match["plain"] is not None:
        return key, (match.start("plain"), match.start("plain") + len(match["plain"].rstrip(" ")))
    return key, next(
        (match.span(name) for name in ("quoted", "flow") if match[name] is not None), None
    )


def _entry(line: str) -> Entry:
    match = _ENTRY.fullmatch(line) if len(line) <= _MAX_LINE else None
    if match is None:
        raise Doubt
    indent, item, key, plain, quoted, flow = match.groups()
    if plain is not None:
        value = _scalar(plain.rstrip(" "))
    elif quoted is not None:
        value = quoted[1:-1]
    else:
        value = OPEN if flow is None else _collection(flow)
    if key is not None:
        key = _key(key)
    elif not item or value is OPEN:
        raise Doubt
    return len(indent), item is not None, key, value


def _key(written: str) -> str:
    if written[0] in "\"'":
        return written[1:-1]
    if resolve_plain(written).__class__ is not str:
        raise Doubt  # `true` and `null` are no strings
    return written


def _scalar(written: str) -> Any:
    try:
        value = resolve_plain(written)
    except ValueError:
        raise Doubt from None
    if isinstance(value, float) and not -INFINITY < value < INFINITY:
        raise Doubt
    return value


def _collection(written: str) -> Any:
    """The value of a text that is one flow collection."""
    if written.count("[") + written.count("{") > _MAX_FLOW_DEPTH:
        raise Doubt
    value, end = _flow(written + _END, 0)
    if end != len(written):
        raise Doubt
    return value


def _flow(text: str, at: int) -> tuple[Any, int]:
    """The flow collection or scalar that starts at `at`, and where the text goes on."""
    if text[at] == "[":
        return _flow_sequence(text, at)
    if text[at] == "{":
        return _flow_mapping(text, at)
    match = _FLOW_SCALAR.match(text, at)
    if match is None:
        raise Doubt
    quoted, plain = match.groups()
    return (quoted[1:-1] if plain is None else _scalar(plain)), match.end()


def _flow_sequence(text: str, at: int) -> tuple[list[Any], int]:
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
        if match is None or _key(match[1]) in mapping:
            raise Doubt
        mapping[_key(match[1])], at = _flow(text, match.end())
    return mapping, _after("}", text, at)


def _after(mark: str, text: str, at: int) -> int:
    """Where the text goes on after a `mark`, which must stand at `at`, and blanks."""
    if text[at] != mark:
        raise Doubt
    at += 1
    while text[at] == " ":
        at += 1
    return at


# --- plain -------------------------------------------------------------------------------------
# The plainest YAML, read line by line: what most configuration is made of, without a parser.
#
# Block mappings and sequences of one-line values, indented with spaces. `read` gives up on anything else, and on anything
# it is not sure about: a key twice, an escape, an anchor, a tab, a line that goes on. Then the parser decides, so that
# this module knows no errors and no oddities. Whatever it does read, it reads as the parser would; a test holds the two
# together.
#
# Starting a parser and asking it for events is most of the cost of a small file, and the files of a project repeat the
# same lines: each line is taken apart once and remembered.

_MAX_KEPT = 10_000
_WORTH_KEEPING = 120
_COLLECTIONS: frozenset[type] = frozenset({list, dict})
_KNOWN: dict[str, Entry | None] = {}


def read(text: str) -> Any:
    """The value of `text`: a mapping or a sequence. None if the parser should read it."""
    try:
        return _read(text)
    except Doubt:
        return None


def _read(text: str) -> Any:
    root: Any = None
    current: Any = None  #: the collection that the last line belonged to
    here = 0  #: its column
    open_key: str | None = None  #: its key whose value may follow on deeper lines
    around: list[tuple[int, Any]] = []
    child: Any
    for line in text.split("\n"):
        try:
            entry = _KNOWN[line]
        except KeyError:
            entry = _remembered(line)
        if entry is None:
            continue
        column, is_item, key, value = entry
        if open_key is not None and (column > here or (is_item and column == here)):
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
                here, current = around.pop()  # the end of a sequence that stands as deep as its key
            if column != here or is_item is not (current.__class__ is list):
                raise Doubt
        open_key = None
        if value.__class__ in _COLLECTIONS:
            value = _copy(value)
        if is_item:
            if key is None:
                current.append(value)
                continue
            child = {}
            current.append(child)
            around.append((here, current))
            here, current = column + 2, child
        if key in current:
            raise Doubt
        if value is OPEN:
            value, open_key = None, key
        current[key] = value
    return root


def _copy(value: Any) -> Any:
    """A collection of its own for every place it stands in, as the parser would make."""
    if value.__class__ is list:
        return [_copy(each) if each.__class__ in _COLLECTIONS else each for each in value]
    return {
        key: _copy(each) if each.__class__ in _COLLECTIONS else each for key, each in value.items()
    }


def entry_of(line: str) -> Entry | None:
    """What a line says, None if nothing. Raises `Doubt`."""
    return _KNOWN[line] if line in _KNOWN else _remembered(line)


def _remembered(line: str) -> Entry | None:
    entry = taken_apart(line)
    if len(line) < _WORTH_KEEPING:
        if len(_KNOWN) >= _MAX_KEPT:
            _KNOWN.clear()
        _KNOWN[line] = entry
    return entry


# --- plain_places ------------------------------------------------------------------------------
# Places in a plain text: what `plain.read` reads can be searched without the parser, too.
#
# Lines are followed as `read` follows them, and taken apart closely only where somebody wants to know. What stands
# inside a flow collection, and a value that is not written at all, are left to the parser.


def locate(text: str, paths: Iterable[Path]) -> dict[Path, Place] | None:
    """The places of those `paths` that exist. None if the parser should look."""
    if read(text) is None:
        return None
    search = _Search(Want.of(paths))
    try:
        search.run(text)
    except Doubt:
        return None
    return search.found


class _Open:
    """A collection that lines still add to: its column, what is wanted of it, and where it starts."""

    __slots__ = ("column", "count", "is_list", "key", "start", "want")

    def __init__(
        self, column: int, is_list: bool, want: Want | None, start: int, key: Range | None
    ) -> None:
        self.column = column
        self.is_list = is_list
        self.want = want
        self.start = start
        self.key = key
        self.count = 0

    def below(self, step: str | int) -> Want | None:
        return None if self.want is None else self.want.below.get(step)


class _Search:
    """One pass over a text that is known to be plain."""

    def __init__(self, wanted: Want) -> None:
        self.wanted = wanted
        self.found: dict[Path, Place] = {}
        self.open: list[_Open] = []
        self.previous = (0, "")  #: offset and text of the last line that said something

    def run(self, text: str) -> None:
        offset = 0
        holder: tuple[Want | None, Range | None] | None = (
            None  #: the key whose value may follow on deeper lines
        )
        for line in text.split("\n"):
            entry = entry_of(line)
            if entry is not None:
                column, is_item, key, value = entry
                self._go_to(column, is_item, offset, holder)
                if is_item:
                    self._item(offset, line, column, is_mapping=key is not None)
                holder = (
                    self._entry(offset, line, key, is_open=value is OPEN)
                    if key is not None
                    else None
                )
                self.previous = offset, line
            offset += len(line) + 1
        _must_not_be_wanted(holder)
        while self.open:
            self._close()

    def _go_to(
        self,
        column: int,
        is_item: bool,
        offset: int,
        holder: tuple[Want | None, Range | None] | None,
    ) -> None:
        """Make the collection that a line adds to the last of the open ones."""
        if not self.open:
            self.open.append(_Open(column, is_item, self.wanted, offset + column, None))
        elif holder is not None and (
            column > self.open[-1].column or (is_item and column == self.open[-1].column)
        ):
            self.open.append(_Open(column, is_item, holder[0], offset + column, holder[1]))
        else:
            _must_not_be_wanted(holder)
            while column < self.open[-1].column or (self.open[-1].is_list and not is_item):
                self._close()

    def _close(self) -> None:
        """The last open collection ends where the line before ends."""
        closed = self.open.pop()
        if closed.want is not None and closed.want.paths:
            offset, line = self.previous
            _, value = ranges_of(line)
            if value is None:
                raise Doubt  # it ends with a value that is not written
            closed.want.record(Place((closed.start, offset + value[1]), closed.key), self.found)

    def _item(self, offset: int, line: str, column: int, *, is_mapping: bool) -> None:
        """An item of a list: a value, or a mapping that starts on its line."""
        items = self.open[-1]
        want = items.below(items.count)
        items.count += 1
        if is_mapping:
            self.open.append(_Open(column + 2, False, want, offset + column + 2, None))
        elif want is not None:
            self._record(want, offset, line)

    def _entry(
        self, offset: int, line: str, key: str, *, is_open: bool
    ) -> tuple[Want | None, Range | None] | None:
        """An entry of a mapping; what is wanted of it and its key, if its value may follow."""
        want = self.open[-1].below(key)
        if is_open:
            return want, None if want is None else _moved(ranges_of(line)[0], offset)
        if want is not None:
            self._record(want, offset, line)
        return None

    def _record(self, want: Want, offset: int, line: str) -> None:
        key, value = ranges_of(line)
        if value is None or (want.below and line[value[0]] in "[{"):
            raise Doubt
        start, end = value
        want.record(Place((start + offset, end + offset), _moved(key, offset)), self.found)


def _moved(place: Range | None, offset: int) -> Range | None:
    return None if place is None else (place[0] + offset, place[1] + offset)


def _must_not_be_wanted(holder: tuple[Want | None, Range | None] | None) -> None:
    """A key without a value: where that would stand is a question for the parser."""
    if holder is not None and holder[0] is not None:
        raise Doubt
