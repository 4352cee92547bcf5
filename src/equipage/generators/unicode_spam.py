"""`unicode_spam`: characters that cannot be seen, look like others or turn text around."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

import msgspec

from equipage.generators.base import Generator, Pieces
from equipage.generators.draws import characters, picks
from equipage.generators.parameters import SEED, ByteSize, OneOf, Parameter, Text
from equipage.generators.pieces import whole_characters

_TABLES = {
    "zero_width": "\u200b\u200c\u200d\ufeff\u2060",
    "homoglyph": "\u0430\u0435\u043e\u0440\u0441\u0445",
    "combining": "\u0300\u0301\u0302\u0303\u0304\u0305\u030a\u030b\u0327\u0328",
    "rtl": "\u200f\u202b\u202e\u2067",
    "emoji": "\U0001f525\U0001f4a9\U0001f680\u2764\U0001f600",
}

#: The characters of each category, in the order they are drawn from.
TABLES: Mapping[str, str] = _TABLES | {"mixed": "".join(_TABLES.values())}

#: Three in ten characters come from the carrier, if there is one.
_TAKEN = b"\x00" * 7 + b"\xff" * 3


class UnicodeSpam(Generator, msgspec.Struct, frozen=True):
    """At most `bytes` bytes of UTF-8: characters of the category, mixed with those of `carrier`.

    The output ends before the first character that does not fit. An empty carrier is none.
    """

    type: ClassVar[str] = "unicode_spam"
    accepts: ClassVar[Mapping[str, Parameter]] = {
        "bytes": ByteSize(),
        "category": OneOf(tuple(TABLES)),
        "carrier": Text(),
        "seed": SEED,
    }
    sized_by: ClassVar[str] = "bytes"

    bytes: int
    category: str = "zero_width"
    carrier: str = ""
    seed: int = 0

    @property
    def estimated_size(self) -> int:
        return self.bytes

    @property
    def size_is_exact(self) -> bool:
        return False

    def pieces(self) -> Pieces:
        texts = self._mixed() if self.carrier else self._spam()
        return whole_characters(map(str.encode, texts), self.bytes)

    def _spam(self) -> Iterator[str]:
        return characters(self.seed, f"unicode_spam/{self.category}", TABLES[self.category])

    def _mixed(self) -> Iterator[str]:
        """Draws a character of the category, one of the carrier, and which of them to take."""
        carried = characters(self.seed, "unicode_spam/carrier", self.carrier)
        taken = picks(self.seed, "unicode_spam/taken", _TAKEN)
        return map(_woven, self._spam(), carried, taken)


def _woven(spam: str, carried: str, taken: bytes) -> str:
    """Of each pair the first character where `taken` is 0x00, the second where it is 0xFF; as many as all have.

    All pairs at once: in UTF-32 the choice is a few operations on long integers, several times faster than a loop.
    """
    count = min(len(spam), len(carried), len(taken))
    mask = bytearray(4 * count)
    for offset in range(4):
        mask[offset::4] = taken[:count]
    first = int.from_bytes(spam[:count].encode("utf-32-le"), "little")
    second = int.from_bytes(carried[:count].encode("utf-32-le"), "little")
    chosen = first ^ ((first ^ second) & int.from_bytes(mask, "little"))
    return chosen.to_bytes(4 * count, "little").decode("utf-32-le")
