"""YAML 1.2, core schema.

`fast` reads the plainest texts line by line; all others go to an iterative constructor over the
events of libyaml (`values`). Both build plain values only. What is odd about a text (a repeated
key, a tag, a merge key) is only *noticed* while it is loaded; a second pass says where (`places`),
so that an ordinary file pays nothing.

PyYAML is imported when a text needs it: that costs more than checking a small file.
"""

from __future__ import annotations

from collections.abc import Iterable

from equipage.core.path import Path
from equipage.syntax import Parsed, Place, Range, Touched
from equipage.syntax.yaml import fast


def load(text: str, *, merge: bool = False) -> Parsed:
    """The value of the first document of `text`. Raises `SyntaxProblem`.

    Keys are always strings, later duplicates win, unknown tags are dropped; each such thing is in
    `irregularities`. With `merge`, `<<` is applied. An empty text has the value None.
    """
    text = _without_mark(text)
    value = fast.read(text)
    if value is not None:
        return Parsed(value)
    from equipage.syntax.yaml.values import parse

    return parse(text, merge=merge)


def _without_mark(text: str) -> str:
    """The text with a line break for a byte order mark, which the parser would not count."""
    return "\n" + text[1:] if text.startswith("\ufeff") else text


def locate(text: str, paths: Iterable[Path], *, merge: bool = False) -> dict[Path, Place]:
    """The places of those `paths` that exist in the first document of `text`."""
    wanted, text = list(paths), _without_mark(text)
    found = fast.locate(text, wanted)
    if found is not None:
        return found
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
    from equipage.syntax.yaml import places

    return places.scalars_at(_without_mark(text), ranges)
