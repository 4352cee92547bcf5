"""Random draws that are the same on every machine, in every process and every version of Python.

The source is SHAKE-128 in counter mode: block n of a stream is the first 4096 bytes of
SHAKE-128(`equipage` NUL purpose NUL seed n), seed and n as 8 little-endian bytes. It is a published standard, it
runs at the speed of C through `hashlib`, and any part of a stream depends on nothing but its seed, purpose and
number. Draws below a bound are made by rejection, so every outcome is equally likely, and a longer output starts
with every shorter one.

Each purpose has its own stream: how often a generator draws for one thing does not shift what it draws for another.
"""

from __future__ import annotations

import codecs
import struct
from collections.abc import Iterator
from itertools import count, islice

_BLOCK = 4_096

#: The one character that a charmap uses to say “none”.
_UNMAPPED = "\ufffe"


def blocks(seed: int, purpose: str) -> Iterator[bytes]:
    """Endless random bytes, in blocks of equal size."""
    from hashlib import shake_128  # slow to import, and checking a configuration draws nothing

    key = b"equipage\0" + purpose.encode() + b"\0" + seed.to_bytes(8, "little")
    for number in count():
        yield shake_128(key + number.to_bytes(8, "little"), usedforsecurity=False).digest(_BLOCK)


def picks(seed: int, purpose: str, alphabet: bytes) -> Iterator[bytes]:
    """Endless members of `alphabet`, at most 256, in blocks; a member that occurs twice is twice as likely."""
    rounds, left_over = divmod(256, len(alphabet))
    table = alphabet * rounds + bytes(left_over)
    unfair = bytes(range(256 - left_over, 256))
    for block in blocks(seed, purpose):
        yield block.translate(table, unfair)


def characters(seed: int, purpose: str, alphabet: str) -> Iterator[str]:
    """Endless characters of `alphabet`, in blocks of text; one that occurs twice is twice as likely."""
    if len(alphabet) <= 256 and _UNMAPPED not in alphabet:
        for indexes in picks(seed, purpose, bytes(range(len(alphabet)))):
            yield codecs.charmap_decode(indexes, "strict", alphabet)[0]
    else:
        drawn = map(alphabet.__getitem__, numbers(seed, purpose, len(alphabet)))
        while True:
            yield "".join(islice(drawn, _BLOCK))


def code_points(seed: int, purpose: str) -> Iterator[bytes]:
    """Endless characters from U+0020 to U+10FFFF without surrogates, as UTF-8, in blocks of whole characters."""
    planes = picks(seed, f"{purpose}/plane", bytes(range(17)))
    highs, lows = blocks(seed, f"{purpose}/high"), blocks(seed, f"{purpose}/low")
    for plane, high, low in zip(planes, highs, lows, strict=True):
        words = bytearray(4 * len(plane))
        words[0::4], words[1::4], words[2::4] = low[: len(plane)], high[: len(plane)], plane
        # Surrogates are all that UTF-32 refuses here: ignoring them is the redraw. The characters below U+0020
        # are single bytes in UTF-8 and part of no other character.
        yield words.decode("utf-32-le", "ignore").encode().translate(None, bytes(range(0x20)))


def numbers(seed: int, purpose: str, below: int) -> Iterator[int]:
    """Endless integers from 0 up to, not including, `below`."""
    width, form = (1, "B") if below <= 2**8 else (2, "H") if below <= 2**16 else (8, "Q")
    words = struct.Struct(f"<{_BLOCK // width}{form}")
    outcomes = 2 ** (8 * width)
    fair = outcomes - outcomes % below
    for block in blocks(seed, purpose):
        yield from (word % below for word in words.unpack(block) if word < fair)
