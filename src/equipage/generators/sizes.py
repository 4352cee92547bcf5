"""Byte sizes as people write and read them.

Written: digits, then perhaps blanks and `b`, `kb`, `mb` or `gb` in any case; units are binary, so `1mb`
is 1048576. Read back: the shortest exact form, `100MB` for 104857600 and `1GB` for 1000000000, else one decimal.
"""

from __future__ import annotations

import re

from equipage.expressions import expression

_WRITTEN = expression(r"([0-9]{1,30})(?:[ \t]*(b|kb|mb|gb))?", re.IGNORECASE)
_FACTORS = {"": 1, "b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30}

_UNITS = ("KB", "MB", "GB", "TB", "PB", "EB")

#: Sizes from here on are not told apart; nobody owns such a disk, and Python refuses to print very long integers.
_BEYOND = 1024 * 2**60


def parse_size(written: str) -> int | None:
    """The number of bytes that `written` stands for; None if it is not a byte size."""
    match = _WRITTEN.fullmatch(written)
    if match is None:
        return None
    return int(match[1]) * _FACTORS[(match[2] or "").lower()]


def format_size(size: int) -> str:
    """The size in a unit that divides it exactly, else with one decimal in the largest binary unit below it.

    Where a binary and a decimal unit both divide it, the smaller number reads better: 10**10 is `10GB`, not
    `9765625KB`.
    """
    if size >= _BEYOND:
        return "over 1024EB"
    exact = [_whole(size, base) for base in (1024, 1000)]
    numbers = [each for each in exact if each is not None]
    if numbers:
        number, unit = min(numbers, key=lambda each: each[0])
        return f"{number}{unit}"
    return f"{size}B" if size < 1024 else _rounded(size)


def _whole(size: int, base: int) -> tuple[int, str] | None:
    """The size as a whole number of the largest power of `base` that divides it."""
    for power in range(len(_UNITS), 0, -1):
        number, rest = divmod(size, base**power)
        if number and not rest:
            return number, _UNITS[power - 1]
    return None


def _rounded(size: int) -> str:
    power = (size.bit_length() - 1) // 10
    tenths = (size * 20 // 1024**power + 1) // 2  # integers: a float would lose digits of large sizes
    return f"{tenths // 10}.{tenths % 10}{_UNITS[power - 1]}"
