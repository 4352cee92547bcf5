"""Conditions on requests, and `${…}` in the texts of answers.

Conditions are globs, regular expressions, operators, and fields by their path.

Patterns run in the linear engine that the loader checks them with, so no pattern can stop the
server. Templates are filled in one pass: a variable that the request does not have is empty text,
and so is a function that fails. Nothing that is filled in is looked at again.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import inf
from typing import Any

import msgspec

from equipage.core.text import lazy_regex
from equipage.formats.server.grammar import REGEX_PREFIX, regex_tester
from equipage.formats.server.model import Condition
from equipage_faults.wire import encode

#: The value of a path that leads nowhere.
MISSING: Any = object()

_STEP = lazy_regex(r"\[(-?[0-9]{1,9})\]|([^.\[]+)|\.")


def value_at(value: Any, path: str) -> Any:
    """The value at a path such as `a[0].b[-1]`, or `MISSING`."""
    for number, key in _STEP.findall(path):
        if number:
            index = int(number)
            inside = isinstance(value, list) and -len(value) <= index < len(value)
            value = value[index] if inside else MISSING
        elif key:
            value = value.get(key, MISSING) if isinstance(value, dict) else MISSING
        if value is MISSING:
            return MISSING
    return value


def equal_json(one: Any, other: Any) -> bool:
    """Equality of JSON values by type, too: 5, 5.0, "5" and true are four values."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(equal_json(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(equal_json, one, other))
    return type(one) is type(other) and bool(one == other)


# Patterns.


@lru_cache(maxsize=1024)
def _glob_tester(pattern: str) -> Callable[[str], bool]:
    return regex_tester(f"^{''.join(_glob_parts(pattern))}$")


_GLOB = lazy_regex(
    r"(?:(?<=/)|^)\*\*(?:/|$)|\*|\?|\[!?+.[^\]]*\]|.", 16
)  # 16: `.` is any character


def _glob_parts(pattern: str) -> list[str]:
    parts = []
    for found in _GLOB.findall(pattern):
        if found == "**/":
            parts.append(r"(?:[\s\S]*/)?")
        elif found in ("*", "**"):
            parts.append(r"[\s\S]*")
        elif found == "?":
            parts.append(r"[\s\S]")
        elif len(found) > 1:
            inner = found[1:-1].replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]")
            parts.append(f"[^{inner[1:]}]" if inner.startswith("!") else f"[{inner}]")
        else:
            # Not `re.escape`: the engine refuses escapes of characters that mean nothing.
            parts.append(rf"\{found}" if found in r"\^$.|?*+()[]{}/" else found)
    return parts


def matches_glob(pattern: str, text: str) -> bool:
    """Whether the whole text fits a glob."""
    return _glob_tester(pattern)(text)


def matches_regex(pattern: str, text: str) -> bool:
    """Whether a regular expression matches some part of a text."""
    return regex_tester(pattern)(text)


def _matches_pattern(written: str, text: str) -> bool:
    """A glob, or a regular expression after `regex:`."""
    if written.startswith(REGEX_PREFIX):
        return matches_regex(written.removeprefix(REGEX_PREFIX), text)
    return matches_glob(written, text)


# Conditions of branches: they see the value as text.

When = str | tuple[str, ...] | Condition


def condition_holds(condition: When, text: str | None) -> bool:
    """Whether a condition holds for a field; `text` is None if the request has no such field."""
    if isinstance(condition, Condition):
        return _operators_hold(condition, text)
    if text is None:
        return False
    patterns = (condition,) if isinstance(condition, str) else condition
    return any(_matches_pattern(each, text) for each in patterns)


def _operators_hold(condition: Condition, text: str | None) -> bool:
    if condition.exists is not None and condition.exists is not (text is not None):
        return False
    if text is None:
        return condition.exists is False and _only_exists(condition)
    return (
        _text_holds(condition, text)
        and (
            condition.any_of is None
            or any(_matches_pattern(each, text) for each in condition.any_of)
        )
        and (condition.gt is None or _is_between(text, condition.gt, inf))
        and (condition.lt is None or _is_between(text, -inf, condition.lt))
    )


def _only_exists(condition: Condition) -> bool:
    fields = Condition.__struct_fields__
    return all(getattr(condition, name) is None for name in fields if name != "exists")


def _text_holds(operators: Any, text: str) -> bool:
    """The operators on text that conditions and triggers share."""
    return (
        (operators.contains is None or operators.contains in text)
        and (operators.prefix is None or text.startswith(operators.prefix))
        and (operators.suffix is None or text.endswith(operators.suffix))
        and (operators.regex is None or matches_regex(operators.regex, text))
    )


def _is_between(text: str, low: float, high: float) -> bool:
    try:
        return low < float(text) < high
    except ValueError:
        return False


# Conditions of triggers: they see the JSON value.


def event_fits(match: Mapping[str, Any], params: Mapping[str, Any]) -> bool:
    """Whether every field of a trigger's `match` has the value it asks for.

    `args` means the arguments of a call, unless the parameters have a member of that name.
    """
    arguments = {"args": params["arguments"]} if "arguments" in params else {}
    root = {**arguments, **params}
    return all(_value_fits(wanted, value_at(root, path)) for path, wanted in match.items())


def _value_fits(wanted: Any, value: Any) -> bool:
    if value is MISSING:
        return False
    if not _is_operators(wanted):
        return equal_json(wanted, value)
    rest = dict(wanted)
    members = rest.pop("any_of", None)
    if members is not None and not any(equal_json(each, value) for each in members):
        return False
    return not rest or (isinstance(value, str) and _text_holds(Condition(**rest), value))


_OPERATORS = frozenset({"any_of", "contains", "prefix", "suffix", "regex"})


def _is_operators(wanted: Any) -> bool:
    return isinstance(wanted, Mapping) and bool(wanted) and wanted.keys() <= _OPERATORS


#: `$${` is a literal `${`; everything else that is not a closed template stays as it is.
_TEMPLATE = lazy_regex(r"\$\$\{|\$\{([^}]+)\}")
_CALL = lazy_regex(r"\s*fn\.(\w+)\s*(?:\((.*)\))?\s*", re.DOTALL)

NAMESPACES = ("args", "tool", "resource", "prompt", "phase", "request", "connection", "env", "fn")


class Context(msgspec.Struct, frozen=True):
    """What templates and conditions of one request can refer to."""

    variables: Mapping[str, Any]  #: by namespace: `args`, `tool`, `phase` …
    env: Callable[[str], str | None]  #: a variable of the environment, if it is allowed
    uuid: Callable[[], str]
    clock: Callable[[], tuple[datetime, int]]  #: when the server started, and the time since
    literal: frozenset[str] = frozenset()  #: texts that come from files, which are not templates

    def fill(self, text: str) -> str:
        """The text with every template filled."""
        if "${" not in text or text in self.literal:
            return text
        return _TEMPLATE.sub(lambda found: "${" if found[1] is None else self.text(found[1]), text)

    def text(self, name: str) -> str:
        """A variable or the value of a function as text; empty if there is none."""
        return _text_of(self.value(name))

    def value(self, name: str) -> Any:
        name = name.strip()
        root, _, rest = name.partition(".")
        if root == "fn":
            return self._call(name)
        if root == "env":
            found = self.env(rest)
            return MISSING if found is None else found
        # A null among the arguments is filled in as `null`; conditions ask `exists`.
        return value_at(self.variables, name)

    def exists(self, name: str) -> bool:
        """Whether a request has a field; null counts as missing."""
        return self.value(name) not in (MISSING, None)

    def _call(self, written: str) -> Any:
        call = _CALL.fullmatch(written)
        if call is None or call[1] not in _FUNCTIONS:
            return ""
        try:
            return _FUNCTIONS[call[1]](self, *[self._argument(each) for each in _split(call[2])])
        except (TypeError, ValueError, OverflowError):  # too few arguments, or a bad number
            return ""

    def _argument(self, written: str) -> Any:
        """A variable if it starts like one, else the text itself, without quotes."""
        written = written.strip()
        if written.partition(".")[0].partition("[")[0] in NAMESPACES:
            return self.value(written)
        if len(written) > 1 and written[0] == written[-1] and written[0] in "\"'":
            return written[1:-1]
        return written


def _split(arguments: str | None) -> list[str]:
    return arguments.split(",") if arguments and arguments.strip() else []


def _text_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is MISSING else encode(value).decode()


def _default(_context: Context, value: Any, otherwise: Any) -> Any:
    return otherwise if value in (MISSING, None, "") else value


def _timestamp(context: Context) -> str:
    start, milliseconds = context.clock()
    moment = start + timedelta(milliseconds=milliseconds)
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "upper": lambda _, value: _text_of(value).upper(),
    "lower": lambda _, value: _text_of(value).lower(),
    "base64": lambda _, value: base64.b64encode(_text_of(value).encode()).decode(),
    "json": lambda _, value: encode(None if value is MISSING else value).decode(),
    "len": lambda _, value: len(_text_of(value)),
    "truncate": lambda _, value, size: _text_of(value)[: max(0, int(size))],
    "default": _default,
    "timestamp": _timestamp,
    "uuid": lambda context: context.uuid(),
}
