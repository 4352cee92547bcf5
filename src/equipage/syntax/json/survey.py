"""What is odd about a text that parses, and where."""

from __future__ import annotations

from collections.abc import Iterator

from equipage.path import Path
from equipage.syntax.engine import Irregularity, Range
from equipage.syntax.json.events import events, string_at

_INFINITY = float("inf")


class _Frame:
    """An open collection: the step of its current child, and where each key was seen first."""

    __slots__ = ("is_mapping", "keys", "step")

    def __init__(self, *, is_mapping: bool) -> None:
        self.is_mapping = is_mapping
        self.step: str | int = "" if is_mapping else -1
        self.keys: dict[str, Range] = {}

    def advance(self) -> None:
        if isinstance(self.step, int):
            self.step += 1


def survey(text: str) -> Iterator[Irregularity]:
    """Every repeated key and every number that is not finite or too long, in order."""
    frames: list[_Frame] = []
    for kind, start, end in events(text):
        if kind == "close":
            frames.pop()
            continue
        if kind == "key":
            yield from _key(text, (start, end), frames)
            continue
        if frames:
            frames[-1].advance()
        if kind == "open":
            frames.append(_Frame(is_mapping=text[start] == "{"))
        elif kind == "bare":
            yield from _number(text, (start, end), frames)


def _path(frames: list[_Frame]) -> Path:
    return tuple(frame.step for frame in frames)


def _key(text: str, place: Range, frames: list[_Frame]) -> Iterator[Irregularity]:
    name = string_at(text, *place)
    frames[-1].step = name
    first = frames[-1].keys.setdefault(name, place)
    if first is not place:
        yield Irregularity("duplicate-key", place, _path(frames), {"key": name}, (("first here", first),))


def _number(text: str, place: Range, frames: list[_Frame]) -> Iterator[Irregularity]:
    written = text[slice(*place)]
    if written in ("true", "false", "null"):
        return
    if written.lstrip("-").isdigit():
        try:
            int(written)
        except ValueError:
            yield Irregularity("number-too-long", place, _path(frames), {"digits": len(written.lstrip("-"))})
    elif not -_INFINITY < float(written) < _INFINITY:
        yield Irregularity("not-finite", place, _path(frames), {"found": written})
