"""Halves of surrogate pairs: no file can hold them, and no library around us takes them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from equipage.syntax.engine import Irregularity

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def lone_surrogates(text: str) -> Iterator[Irregularity]:
    """Each half that stands in a text, which then was no file but a string of a program."""
    if not text.isascii():
        for match in _SURROGATE.finditer(text):
            yield Irregularity("lone-surrogate", match.span(), values={"found": f"\\u{ord(match[0]):04x}"})
