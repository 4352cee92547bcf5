"""`ansi_escape`: terminal control sequences, for logs and consoles that print what they receive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import cycle, islice, repeat
from typing import ClassVar

import msgspec

from equipage.generators.base import Generator, Pieces
from equipage.generators.draws import numbers
from equipage.generators.parameters import SEED, Parameter, SomeOf, Text, Whole
from equipage.generators.pieces import BLOCK

SEQUENCES = ("cursor_move", "color", "title", "hyperlink", "clear")

#: Sequences whose length depends on what is drawn.
_DRAWN = frozenset({"cursor_move", "color"})


class AnsiEscape(Generator, msgspec.Struct, frozen=True):
    """`count` control sequences, taken from `sequences` in turn; titles and links carry `payload`."""

    type: ClassVar[str] = "ansi_escape"
    accepts: ClassVar[Mapping[str, Parameter]] = {
        "sequences": SomeOf(SEQUENCES),
        "count": Whole(limit="max_batch_size", none_is_odd=True),
        "payload": Text(),
        "seed": SEED,
    }
    sized_by: ClassVar[str] = "count"

    sequences: tuple[str, ...] = SEQUENCES
    count: int = 100
    payload: str = "payload"
    seed: int = 0

    @property
    def estimated_size(self) -> int:
        if not self.sequences:
            return 0
        longest = self._longest()
        rounds, rest = divmod(self.count, len(self.sequences))
        sizes = [longest[name] for name in self.sequences]
        return rounds * sum(sizes) + sum(sizes[:rest])

    @property
    def size_is_exact(self) -> bool:
        return _DRAWN.isdisjoint(self.sequences[: self.count])

    def pieces(self) -> Pieces:
        sources = self._sources()
        names = islice(cycle(self.sequences), self.count)
        items = map(next, map(sources.__getitem__, names))
        at_once = max(1, BLOCK // max(self._longest().values()))
        while piece := b"".join(islice(items, at_once)):
            yield piece

    def _sources(self) -> dict[str, Iterator[bytes]]:
        """For each sequence an endless supply of it. A position draws its row, then its column."""
        positions = numbers(self.seed, "ansi_escape/position", 1000)
        colors = numbers(self.seed, "ansi_escape/color", 256)
        payload = self.payload.encode()
        return {
            "cursor_move": map(b"\x1b[%d;%dH".__mod__, zip(positions, positions, strict=True)),
            "color": map(b"\x1b[38;5;%dm".__mod__, colors),
            "title": repeat(b"\x1b]0;" + payload + b"\x07"),
            "hyperlink": repeat(b"\x1b]8;;" + payload + b"\x1b\\Click Here\x1b]8;;\x1b\\"),
            "clear": repeat(b"\x1b[2J\x1b[H"),
        }

    def _longest(self) -> dict[str, int]:
        """The format's own estimate for each sequence: exact, or a little above the longest draw."""
        payload = len(self.payload.encode())
        return {"cursor_move": 12, "color": 13, "title": 5 + payload, "hyperlink": 24 + payload, "clear": 7}
