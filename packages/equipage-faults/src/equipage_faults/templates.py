"""`${…}` in the texts of answers: variables and functions, filled in one pass.

A variable that the request does not have is empty text, and so is a function that fails. Nothing
that is filled in is looked at again.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from equipage.core.text import lazy_regex
from equipage_faults.matching import MISSING, value_at
from equipage_faults.wire import encode

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
