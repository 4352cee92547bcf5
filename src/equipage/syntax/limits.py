"""Halves of surrogate pairs: no file can hold them, and no library around us takes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

from equipage.syntax import Irregularity

# --- brackets ----------------------------------------------------------------------------------
# How deep brackets nest, at the speed of bytes.

_NOT_A_BRACKET = bytes(set(range(256)) - set(b"[]{}"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def bracket_depth(data: bytes) -> int:
    """The largest number of brackets open at once; strings and comments must have been taken out."""
    return max(accumulate(map(_STEP.__getitem__, data.translate(None, _NOT_A_BRACKET))), default=0)


_SURROGATE = re.compile(r"[\ud800-\udfff]")


def lone_surrogates(text: str) -> Iterator[Irregularity]:
    """Each half that stands in a text, which then was no file but a string of a program."""
    if not text.isascii():
        for match in _SURROGATE.finditer(text):
            yield Irregularity(
                "lone-surrogate", match.span(), values={"found": f"\\u{ord(match[0]):04x}"}
            )
