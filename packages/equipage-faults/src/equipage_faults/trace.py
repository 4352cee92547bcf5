"""The trace, and what a client should have done, checked against it.

A trace is one JSON line for everything that happened, in order: with a virtual clock and a seed,
the same bytes of a client give the same trace. A file of expectations is a YAML list; each entry
has one key that says what to look for:

    - sees: {method: tools/list, max: 2}
    - never: {method: tools/call, target: rm}
    - order: [initialize, tools/list]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from equipage.core.diagnostics import UsageError
from equipage.core.frozen import convert
from equipage.core.text import visible
from equipage.files.disk import Disk
from equipage.formats.server.grammar import DURATION_GRAMMAR, parse_duration
from equipage.syntax import SyntaxProblem
from equipage.syntax.yaml import load
from equipage_faults.matching import equal_json, value_at
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


#: The most bytes of a trace that is read again.
_LONGEST_TRACE = 1 << 30
#: What some records must say besides their number and time.
_REQUIRED_FIELD = {"recv": "method", "gone": "by", "violation": "what"}


class Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A closed, immutable part of an expectation."""


class Sees(Part, frozen=True):
    """Requests and notifications of the client."""

    method: str
    target: str | None = None  #: the name or URI of the item
    phase: str | None = None  #: the phase they came in
    args: dict[str, Any] | None = None  #: arguments they must have, among others
    min: int = 1
    max: int | None = None
    within: str | None = None  #: since the start


class Answers(Part, frozen=True):
    """An answer to a request of the server."""

    id: Any
    within: str | None = None  #: since the request was sent
    code: int | None = None  #: of the error


class Cancels(Part, frozen=True):
    """A request that the client gives up."""

    method: str
    within: str | None = None  #: since the client sent the request


class Closes(Part, frozen=True):
    """The client ends the connection."""

    within: str
    after: str  #: the method that came before


class Retries(Part, frozen=True):
    """How often the client asks again."""

    method: str
    max: int


class Reopens(Part, frozen=True):
    """The client connects again after the server closed the connection."""

    within: str


class Expectation(Part, frozen=True):
    """One entry of the list: one of these keys."""

    sees: Sees | None = None
    never: Sees | None = None
    order: tuple[str, ...] | None = None
    answers: Answers | None = None
    cancels: Cancels | None = None
    closes: Closes | None = None
    retries: Retries | None = None
    reopens: Reopens | None = None
    violations: int | None = None

    @property
    def key(self) -> str:
        return next(name for name in self.__struct_fields__ if getattr(self, name) is not None)


class Verdict(msgspec.Struct, frozen=True):
    """Whether an expectation was met, and by which record."""

    expectation: Expectation
    is_met: bool
    found: str  #: what was found instead
    record: int | None = None  #: the number of the record that decided

    def __str__(self) -> str:
        wanted = encode_line(msgspec.to_builtins(self.expectation)).decode().strip()
        place = f" (record {self.record})" if self.record is not None else ""
        if self.is_met:
            return f"met: {visible(wanted)}{place}"
        return f"not met: {visible(wanted)}: {visible(self.found)}{place}"


def read_expectations(path: str) -> tuple[Expectation, ...]:
    """The expectations in a file. Raises `UsageError`."""
    data = Disk().peek(path)
    if data is None:
        raise UsageError(f"cannot read {path}")
    try:
        value = load(data.decode("utf-8")).value
        found = convert(value, tuple[Expectation, ...])
    except (UnicodeDecodeError, SyntaxProblem):
        raise UsageError(f"{path} is not YAML in UTF-8") from None
    except msgspec.ValidationError as problem:
        raise UsageError(f"{path} is not a list of expectations: {problem}") from None
    for number, each in enumerate(found):
        _require_one_key(each, f"{path}, entry {number + 1}")
    return tuple(found)


def read_trace(path: str) -> list[Record]:
    """The records of a trace that an earlier run wrote. Raises `UsageError`."""
    data = Disk().peek(path, max_bytes=_LONGEST_TRACE)
    if data is None:
        raise UsageError(f"cannot read {path}")
    records: list[Record] = []
    for number, text in enumerate(data.splitlines(), 1):
        try:
            record = msgspec.json.decode(text, type=Record)
            # A trace may have been cut, edited, or be another file altogether.
            needed = (
                "n" if record.get("kind") == "response" else _REQUIRED_FIELD.get(record["e"], "n")
            )
            fits = record["n"] >= 0 and record["t"] >= 0 and needed in record
        except (msgspec.MsgspecError, RecursionError, KeyError, TypeError, UnicodeDecodeError):
            fits = False
        if not fits:
            raise UsageError(f"{path}, line {number} is not a record of a trace")
        records.append(record)
    return records


def require_bodies(path: str, records: Sequence[Record]) -> None:
    """Raises `UsageError` if a trace does not have the arguments that expectations ask for."""
    for each in _messages(records):
        if "body" not in each or value_at(each["body"], "params.arguments") == REDACTED:
            raise UsageError(
                f"{path} has no arguments, which an expectation asks for; "
                "write it with `--trace-bodies full`"
            )


def _require_one_key(each: Expectation, where: str) -> None:
    given = [name for name in each.__struct_fields__ if getattr(each, name) is not None]
    if len(given) != 1:
        known = ", ".join(each.__struct_fields__)
        raise UsageError(f"{where} must have exactly one of these keys: {known}")
    written = getattr(getattr(each, given[0]), "within", None)
    if written is not None and parse_duration(written) is None:
        raise UsageError(f"{where}: `within: {written}` is not {DURATION_GRAMMAR}")


def needs_bodies(expectations: Sequence[Expectation]) -> bool:
    """Whether the messages themselves decide something."""
    asked = [part for each in expectations for part in (each.sees, each.never)]
    return any(part is not None and part.args is not None for part in asked)


def judge(expectations: Sequence[Expectation], records: Sequence[Record]) -> list[Verdict]:
    """Every expectation with its verdict, in order."""
    return [
        Verdict(each, *_JUDGES[each.key](getattr(each, each.key), records)) for each in expectations
    ]


# One function for each key.

#: Whether it was met, what was found, and the number of the record that decided.
Finding = tuple[bool, str, int | None]


def _limit_ms(written: str | None) -> int:
    return 2**63 if written is None else parse_duration(written) or 0


def _messages(records: Sequence[Record]) -> list[Record]:
    return [each for each in records if each["e"] == "recv" and each.get("kind") != "response"]


def _matching(wanted: Sees, records: Sequence[Record]) -> Iterator[Record]:
    for each in _messages(records):
        fits = each["method"] == wanted.method and each["t"] <= _limit_ms(wanted.within)
        for name in ("target", "phase"):
            value = getattr(wanted, name)
            fits = fits and (value is None or each.get(name) == value)
        if fits and wanted.args is not None:
            # Whatever the client sent: its parameters may be a list.
            given = value_at(each.get("body"), "params.arguments")
            fits = not wanted.args or isinstance(given, dict)
            fits = fits and all(
                key in given and equal_json(given[key], value) for key, value in wanted.args.items()
            )
        if fits:
            yield each


def _sees(wanted: Sees, records: Sequence[Record]) -> Finding:
    found = list(_matching(wanted, records))
    too_many = wanted.max is not None and len(found) > wanted.max
    met = len(found) >= wanted.min and not too_many
    # The first one too many decides, or the last one that was seen.
    decisive = found[wanted.max or 0] if too_many else found[-1] if found else None
    return met, f"seen {_times(len(found))}", decisive["n"] if decisive else None


def _never(wanted: Sees, records: Sequence[Record]) -> Finding:
    found = next(_matching(wanted, records), None)
    return found is None, "seen", found["n"] if found else None


def _order(order: Sequence[str], records: Sequence[Record]) -> Finding:
    left = list(order)
    last = None
    for record in _messages(records):
        # An entry names a method, or a method and its target: `tools/call:rm`.
        names = {record["method"], f"{record['method']}:{record.get('target')}"}
        if left and left[0] in names:
            left.pop(0)
            last = record["n"]
    return not left, f"{left[0]} did not follow" if left else "", last


def _answers(wanted: Answers, records: Sequence[Record]) -> Finding:
    for record in records:
        if record["e"] == "answer" and equal_json(record.get("id"), wanted.id):
            in_time = record.get("ms", 0) <= _limit_ms(wanted.within)
            right = wanted.code is None or record.get("code") == wanted.code
            said = f"answered after {record.get('ms')} ms with code {record.get('code')}"
            return in_time and right, said, record["n"]
    return False, "no answer", None


def _cancels(wanted: Cancels, records: Sequence[Record]) -> Finding:
    asked: list[Record] = [
        record for record in _messages(records) if record["method"] == wanted.method
    ]
    # A notification, or a stream that the client closed.
    for record in (each for each in records if "cancels" in each):
        for request in asked:
            if equal_json(request.get("id"), record["cancels"]):
                late = record["t"] - request["t"]
                return late <= _limit_ms(wanted.within), f"after {late} ms", record["n"]
    return False, "not cancelled", None


def _closes(wanted: Closes, records: Sequence[Record]) -> Finding:
    # The last time counts: a client may ask several times before it gives up.
    before = [record for record in _messages(records) if record["method"] == wanted.after]
    if not before:
        return False, f"{wanted.after} was never seen", None
    for record in records:
        if record["e"] == "gone" and record["by"] == "client" and record["n"] > before[-1]["n"]:
            late = record["t"] - before[-1]["t"]
            return late <= _limit_ms(wanted.within), f"after {late} ms", record["n"]
    return False, "the client did not close the connection", None


def _retries(wanted: Retries, records: Sequence[Record]) -> Finding:
    found = [record for record in _messages(records) if record["method"] == wanted.method]
    again = max(0, len(found) - 1)
    place = found[-1]["n"] if found else None
    return again <= wanted.max, f"asked again {_times(again)}", place


def _reopens(wanted: Reopens, records: Sequence[Record]) -> Finding:
    # A client that left by itself has no reason to come back.
    closed = next((r for r in records if r["e"] == "gone" and r["by"] == "server"), None)
    if closed is None:
        return False, "the server never closed the connection", None
    for record in records:
        if record["e"] == "open" and record["n"] > closed["n"]:
            late = record["t"] - closed["t"]
            met = late <= _limit_ms(wanted.within)
            return met, f"after {late} ms", record["n"]
    return False, "the client did not connect again", closed["n"]


def _violations(count: int, records: Sequence[Record]) -> Finding:
    found = [record for record in records if record["e"] == "violation"]
    said = ", ".join(str(record["what"]) for record in found[:5]) or "none"
    place = found[-1]["n"] if found else None
    return len(found) == count, f"{len(found)}: {said}", place


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


_JUDGES: dict[str, Callable[[Any, Sequence[Record]], Finding]] = {
    "sees": _sees,
    "never": _never,
    "order": _order,
    "answers": _answers,
    "cancels": _cancels,
    "closes": _closes,
    "retries": _retries,
    "reopens": _reopens,
    "violations": _violations,
}
