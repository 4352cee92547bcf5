"""`garbage`: random bytes of a chosen sort."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from equipage.generators.base import Generator, Pieces
from equipage.generators.draws import code_points, picks
from equipage.generators.parameters import SEED, ByteSize, OneOf, Parameter
from equipage.generators.pieces import first_bytes, whole_characters

_LETTERS = b"abcdefghijklmnopqrstuvwxyz"

#: The charsets of one byte per draw, each with the bytes it draws from. The fifth, utf8, draws code points.
ALPHABETS: Mapping[str, bytes] = {
    "ascii": bytes(range(0x20, 0x7F)),
    "binary": bytes(range(256)),
    "numeric": b"0123456789",
    "alphanumeric": _LETTERS + _LETTERS.upper() + b"0123456789",
}

CHARSETS = ("ascii", "utf8", "binary", "numeric", "alphanumeric")


class Garbage(Generator, msgspec.Struct, frozen=True):
    """`bytes` random bytes, one draw each; a larger size with the same seed only adds to the end.

    With charset utf8 the draws are code points, and the output ends before the first one that does not fit.
    """

    type: ClassVar[str] = "garbage"
    accepts: ClassVar[Mapping[str, Parameter]] = {"bytes": ByteSize(), "charset": OneOf(CHARSETS), "seed": SEED}
    sized_by: ClassVar[str] = "bytes"

    bytes: int
    charset: str = "ascii"
    seed: int = 0

    @property
    def estimated_size(self) -> int:
        return self.bytes

    @property
    def size_is_exact(self) -> bool:
        return self.charset != "utf8"

    @property
    def produces_text(self) -> bool:
        return self.charset != "binary"

    def pieces(self) -> Pieces:
        if self.charset == "utf8":
            return whole_characters(code_points(self.seed, "garbage/utf8"), self.bytes)
        draws = picks(self.seed, f"garbage/{self.charset}", ALPHABETS[self.charset])
        return first_bytes(draws, self.bytes)
