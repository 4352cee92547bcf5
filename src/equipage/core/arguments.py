"""Arguments of callers, checked at the door.

An argument of a wrong type is reported by its name where the traceback ends at the caller's own
line. Values are not shown: one may be a secret.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from equipage.core.diagnostics import UsageError


def wrong(argument: str, value: object, expected: str) -> UsageError:
    """What to raise for an argument that is not what is expected."""
    found = "None" if value is None else type(value).__name__
    return UsageError(f"`{argument}`: expected {expected}, found {found}")


def text_given(argument: str, value: object, expected: str = "a str") -> str:
    """Text. Raises `UsageError`."""
    if not isinstance(value, str):
        raise wrong(argument, value, expected)
    return value


def kind_given(value: object) -> str | None:
    """The name of a kind, None to recognise it. Raises `UsageError`."""
    return None if value is None else text_given("kind", value, "the name of a kind as str")


def path_given(argument: str, value: object) -> str:
    """A path, whether or not anything is there. Raises `UsageError`."""
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    return text_given(argument, path, "a path as str or os.PathLike[str]")


def paths_given(argument: str, value: object) -> list[str]:
    """One path or several. Raises `UsageError`."""
    if isinstance(value, str | bytes | os.PathLike) or not isinstance(value, Iterable):
        return [path_given(argument, value)]
    return [path_given(f"{argument}[{number}]", each) for number, each in enumerate(value)]


def place_given(argument: str, value: object) -> str:
    """A path that a file could have. Raises `UsageError`."""
    path = path_given(argument, value)
    if not is_possible(path):
        raise UsageError(f"`{argument}`: no file can have the name {path!a}")
    return path


def is_possible(path: str) -> bool:
    """Whether the system could have a file of that name; it raises exceptions about others."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def variables_given(value: object) -> Mapping[str, str]:
    """Variables in place of those of the process. Raises `UsageError`."""
    if not isinstance(value, Mapping):
        raise wrong("env", value, "a mapping of names to values")
    for name, each in value.items():
        if not isinstance(name, str):
            raise wrong("env", name, "names as str")
        text_given(f"env[{name!r}]", each)
    return value


def number_given(argument: str, value: object) -> int:
    """A whole number from 0 on. Raises `UsageError`."""
    if not isinstance(value, int):
        raise wrong(argument, value, "a whole number")
    if value < 0:
        raise UsageError(f"`{argument}`: expected 0 or more, found {value}")
    return value
