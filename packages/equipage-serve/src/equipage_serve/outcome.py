"""What a call comes to: a `Result` with a value, or with a code and one sentence.

The sentence never contains a value of the input or of the environment: it may be logged, shown and
passed on to a model. What a tool makes of a value, such as a sum, cannot be recognised.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from equipage.core.text import visible

Code = Literal[
    "INVALID_INPUT",
    "INVALID_OUTPUT",
    "NOT_FOUND",
    "TIMEOUT",
    "UNAUTHORIZED",
    "INTERNAL_ERROR",
    "UNSUPPORTED",
    "RATE_LIMIT",
    "UNAVAILABLE",
    "PERMISSION_DENIED",
]
#: The codes after which the same call may succeed later.
RETRYABLE: frozenset[Code] = frozenset({"TIMEOUT", "RATE_LIMIT", "UNAVAILABLE", "INTERNAL_ERROR"})
#: The longest text of a failure, in characters.
LONGEST = 500


class Failure(Exception):
    """A call cannot go on: a code and a sentence about it."""

    def __init__(self, code: Code, message: str) -> None:
        self.code: Code = code
        self.message = message
        super().__init__(f"{code}: {message}")


class Stats(msgspec.Struct, frozen=True):
    """What a call took. A call that failed has no output."""

    duration_ms: float
    input_bytes: int
    output_bytes: int = 0
    cache_hit: bool = False
    #: how the tool was confined, as in `landlock, seccomp`
    isolation: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The statistics with the names that go on the wire."""
        return {
            "durationMs": round(self.duration_ms, 3),
            "inputBytes": self.input_bytes,
            "outputBytes": self.output_bytes,
            "cacheHit": self.cache_hit,
            "isolation": self.isolation,
        }


class Result(msgspec.Struct, frozen=True):
    """The outcome of one call. `data` is the value of a tool that succeeded."""

    ok: bool
    stats: Stats
    data: Any = None
    code: Code | None = None
    message: str = ""

    @property
    def text(self) -> str:
        """A failure as one line, the code first; empty for a success."""
        return "" if self.code is None else f"{self.code}: {self.message}"

    @property
    def retryable(self) -> bool:
        return self.code in RETRYABLE


def sentence(text: str, hidden: Sequence[str] = ()) -> str:
    """Text of a tool as it may be shown: short, without control characters, and without what it
    repeats of hidden texts.
    """
    # Twice as much as is shown: what is hidden becomes shorter.
    text = visible(_mask(" ".join(text.split())[: 2 * LONGEST], hidden))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


#: So many characters of a longer text are a piece of it, and so many of any text no accident.
_PIECE, _NO_ACCIDENT = 8, 4


def _mask(text: str, hidden: Sequence[str]) -> str:
    """A text with `***` for hidden ones and pieces of them, whatever the case of their letters."""
    # Also as Python and JSON quote them.
    quoted = (each for each in hidden if not each.isalnum())
    written = {*hidden, *(form[1:-1] for each in quoted for form in (repr(each), json.dumps(each)))}
    forms = {" ".join(each.lower().split()) for each in written} - {""}
    lower = text.lower()
    lower = lower if len(lower) == len(text) else text
    marked = bytearray(len(text))
    whole = "\n".join(each for each in forms if len(each) >= _PIECE)
    pieces = [lower[at : at + _PIECE] for at in range(len(lower) - _PIECE + 1)]
    shared = {each for each in set(pieces) if each in whole}
    for at, each in enumerate(pieces):
        if each in shared:
            marked[at : at + _PIECE] = b"x" * _PIECE
    for each in forms:
        if len(each) < _PIECE and each in lower:
            pattern = (
                re.escape(each) if len(each) >= _NO_ACCIDENT else rf"(?<!\w){re.escape(each)}(?!\w)"
            )
            for match in re.finditer(pattern, lower):
                marked[match.start() : match.end()] = b"x" * len(each)
    parts = itertools.groupby(zip(text, marked, strict=True), key=lambda pair: pair[1])
    return "".join("***" if mark else "".join(c for c, _ in part) for mark, part in parts)
