"""Conditions on requests: globs, regular expressions, operators, and fields by their path.

Patterns run in the linear engine that the loader checks them with, so no pattern can stop the
server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from math import inf
from typing import Any

from equipage.core.text import lazy_regex
from equipage.formats.server.grammar import REGEX_PREFIX, regex_tester
from equipage.formats.server.model import Condition

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
