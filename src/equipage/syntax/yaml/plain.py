"""The plainest YAML, read line by line: what most configuration is made of, without a parser.

Block mappings and sequences of one-line values, indented with spaces. `read` gives up on anything else, and on anything
it is not sure about: a key twice, an escape, an anchor, a tab, a line that goes on. Then the parser decides, so that
this module knows no errors and no oddities. Whatever it does read, it reads as the parser would; a test holds the two
together.

Starting a parser and asking it for events is most of the cost of a small file, and the files of a project repeat the
same lines: each line is taken apart once and remembered.
"""

from __future__ import annotations

from typing import Any

from equipage.syntax.yaml.lines import OPEN, Doubt, Entry, taken_apart

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
    return {key: _copy(each) if each.__class__ in _COLLECTIONS else each for key, each in value.items()}


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
