"""The trace: one JSON line for everything that happened, in order.

With a virtual clock and a seed, the same bytes of a client give the same trace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from equipage_faults.wire import encode

Record = dict[str, Any]
#: What `redacted` writes instead of a value, and the members whose values it leaves out.
REDACTED = "…"
_REDACTED_MEMBERS = frozenset({"arguments", "uri", "text", "data", "blob"})


class Trace:
    """Numbers the records of a run and hands them to a sink."""

    def __init__(self, sink: Callable[[Record], None], bodies: str = "none") -> None:
        self.counters: Counter[str] = Counter()  #: records by what they say
        self._sink = sink
        self._bodies = bodies
        self._number = 0

    def __call__(self, now: int, connection: str | None, event: str, **fields: Any) -> None:
        self._number += 1
        self.counters[event] += 1
        record: Record = {"n": self._number, "t": now}
        if connection is not None:
            record["conn"] = connection
        given = {name: value for name, value in fields.items() if value is not None}
        self._sink({**record, "e": event, **given})

    def body(self, message: dict[str, Any]) -> Any:
        """The message, if the trace records bodies; else None."""
        return None if self._bodies == "none" else message


def limit_body(record: Record, bodies: str) -> Record:
    """A record with as much of the message as `bodies` allows."""
    if "body" not in record or bodies == "full":
        return record
    rest = {key: value for key, value in record.items() if key != "body"}
    return rest if bodies == "none" else {**rest, "body": _redact(record["body"])}


def _redact(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: REDACTED if key in _REDACTED_MEMBERS else _redact(each)
            for key, each in value.items()
        }
    return [_redact(each) for each in value] if isinstance(value, list) else value


def encode_line(record: Record) -> bytes:
    return encode(record) + b"\n"
