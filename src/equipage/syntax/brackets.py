"""How deep brackets nest, at the speed of bytes."""

from __future__ import annotations

from itertools import accumulate

_NOT_A_BRACKET = bytes(set(range(256)) - set(b"[]{}"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def bracket_depth(data: bytes) -> int:
    """The largest number of brackets open at once; strings and comments must have been taken out."""
    return max(accumulate(map(_STEP.__getitem__, data.translate(None, _NOT_A_BRACKET))), default=0)
