"""What a call comes to: a `Result` with a value, or with a code and one sentence.

The sentence never contains a value of the input or of the environment: it may be logged, shown and
passed on to a model.
"""

from __future__ import annotations

from collections.abc import Iterable
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


def sentence(text: str, secrets: Iterable[str] = ()) -> str:
    """Text of a tool as it may be shown: short, without control characters and secret values."""
    # The longest first: one value may be part of another.
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "***")
    text = visible(" ".join(text.split()))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
