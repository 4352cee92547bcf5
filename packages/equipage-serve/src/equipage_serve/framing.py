"""The lines that go to a tool and come from it.

Nothing here touches a process or a file.
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

from equipage.core.frozen import is_deeper_than
from equipage_serve.outcome import Failure

#: The deepest nesting of arguments and answers.
MAX_DEPTH = 64


def canonical_json(value: Any) -> bytes:
    """JSON in one form for equal values: sorted keys, no blanks, only ASCII. Raises `Failure`."""
    try:
        return json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
        ).encode()
    except (TypeError, ValueError, RecursionError):
        raise Failure("INVALID_INPUT", "the arguments are not JSON") from None


def input_line(arguments: Any) -> bytes:
    """What a tool reads: the arguments below `input`, on one line. Raises `Failure`."""
    return b'{"input":' + canonical_json(arguments) + b"}\n"


def is_too_deep(value: Any) -> bool:
    """Whether lists and mappings are nested deeper than allowed. Never recurses."""
    return is_deeper_than(value, MAX_DEPTH)


def decode_answer(data: bytes) -> Any:
    """The JSON value on the one line that a tool wrote. Raises `Failure`."""
    lines = [line for line in decode_text(data).split("\n") if line.strip()]
    if len(lines) > 1:
        _refuse("has more than one line")
    return parse_strict_json(lines[0])


def decode_text(data: bytes) -> str:
    """The text that a tool or a service gave. Raises `Failure`."""
    if data.startswith(b"\xef\xbb\xbf"):
        _refuse("starts with a byte order mark")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        _refuse("is not UTF-8")
    if not text.strip():
        _refuse("is empty")
    return text


def parse_strict_json(text: str) -> Any:
    """Parse strict JSON: no duplicate keys, no NaN or infinity, not too deep. Raises `Failure`."""
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique_mapping,
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
        )
        text.encode()  # a lone surrogate in an escape is found below
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        _refuse("contains half a character")
    except RecursionError:
        _refuse(f"is nested deeper than {MAX_DEPTH} levels")
    except ValueError:
        _refuse("is not JSON")
    if is_too_deep(value):
        _refuse(f"is nested deeper than {MAX_DEPTH} levels")
    return value


def _unique_mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        _refuse("has a key twice")
    return found


def _refuse_constant(name: str) -> NoReturn:
    _refuse(f"contains {name.lstrip('-')}, which is not JSON")


def _finite_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        _refuse("contains a number that is too large")
    return value


def _refuse(reason: str) -> NoReturn:
    raise Failure("INVALID_OUTPUT", f"the output of the tool {reason}")


def unwrap_answer(value: Any) -> Any:
    """The data in an answer: an envelope has `ok` and `data` and nothing else. Raises `Failure`.

    A tool reports an error as `{"error": …}` or with `ok` false.
    """
    if not isinstance(value, dict):
        return value
    if value.get("ok") is False or (value.get("error") and set(value) <= {"error", "ok", "data"}):
        raise Failure("INTERNAL_ERROR", f"the tool reports: {_error_text(value.get('error'))}")
    return value["data"] if value.keys() == {"ok", "data"} and value["ok"] is True else value


def _error_text(error: Any) -> str:
    if isinstance(error, dict):
        words = [str(error[key]) for key in ("code", "message") if error.get(key)]
        return ": ".join(words) or "an error without a message"
    return error if isinstance(error, str) and error else "an error without a message"
