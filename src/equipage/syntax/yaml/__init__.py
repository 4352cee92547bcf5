"""YAML 1.2, core schema: which engine reads a text.

The simplest texts are read line by line (`simple`); all others go to an iterative constructor over
the events of libyaml (`values`). Both build plain values only. What is odd about a text (a repeated
key, a tag, a merge key) is only *noticed* while it is loaded; a second pass says where (`places`),
so that an ordinary file pays nothing.

PyYAML is imported when a text needs it: that costs more than checking a small file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from equipage.core.path import Path
from equipage.syntax import ContainingScalar, Irregularity, Parsed, Place, Range, Written
from equipage.syntax.yaml.simple import locate_simple, read_simple


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
