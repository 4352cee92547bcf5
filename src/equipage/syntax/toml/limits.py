"""Depth, bounded before the parser sees the text.

rtoml counts brackets and the parts of one key, each up to 80, but not their sum: a short text can nest
thousands of tables and end the interpreter.
"""

from __future__ import annotations

from collections.abc import Iterator

from equipage.syntax.brackets import bracket_depth
from equipage.syntax.engine import MAX_DEPTH, Irregularity, Range, SyntaxProblem
from equipage.syntax.toml.scan import OPAQUE, Event, scan

#: How deep tables and lists may nest, the file itself included: what rtoml reads in any arrangement.
DEPTH = min(MAX_DEPTH, 80)
_BEGINNING = 65_536


def refuse_deep_nesting(text: str) -> None:
    """Raise `SyntaxProblem` at the bracket or the part of a key that opens one level too many."""
    # Of a large text, the beginning is often enough to tell.
    if all(_bound(part) <= DEPTH for part in (text[:_BEGINNING], text)):
        return
    for depth, place in _depths(text):
        if depth > DEPTH:
            raise SyntaxProblem([Irregularity("nesting-too-deep", place, values={"limit": DEPTH})])


def _bound(text: str) -> int:
    """No less than the depth of `text`, found without reading it closely.

    Every level takes a bracket or a dot. Where there are many of either, those in strings and comments are
    left out, and a level is at most a bracket and the longest key on it; headers can name a list at each part.
    """
    marks = 1 + text.count(".") + text.count("[") + text.count("{")
    if marks <= DEPTH:
        return marks
    bare = OPAQUE.sub("", text)
    parts = 1 + max(line.count(".") for line in bare.split("\n"))
    brackets = bracket_depth(bare.encode("utf-8", "surrogatepass"))
    return 1 + 2 * parts + brackets * (1 + parts)


def _depths(text: str) -> Iterator[tuple[int, Range]]:
    """The depth of each table and list, where it is opened or named."""
    lists: set[tuple[str, ...]] = set()
    table = pending = 1
    levels: list[int] = []
    for event in scan(text):
        if event.kind in ("table", "element"):
            for table, place in _header_depths(event, lists):  # the last is the table's own
                yield table, place
        elif event.kind == "key":
            pending = levels[-1] if levels else table
            for part in event.parts[:-1]:
                pending += 1
                yield pending, part.range
        elif event.kind == "close":
            levels.pop()
            pending = levels[-1] if levels else table
        elif event.kind != "scalar":
            pending += 1
            levels.append(pending)
            yield pending, (event.start, event.end)


def _header_depths(event: Event, lists: set[tuple[str, ...]]) -> Iterator[tuple[int, Range]]:
    depth = 1
    names: tuple[str, ...] = ()
    for number, part in enumerate(event.parts, 1):
        names = (*names, part.name)
        if event.kind == "element" and number == len(event.parts):
            lists.add(names)
        depth += 2 if names in lists else 1
        yield depth, part.range
