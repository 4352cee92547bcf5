"""What callers give to the public functions, checked at the door.

A wrong argument is reported by its name. Its value is not shown: it may be a secret.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from equipage.core.diagnostics import UsageError
from equipage.files.disk import working_directory


def folder_argument(argument: str, value: object) -> str:
    """The absolute path of a folder that the caller names. Raises `UsageError`."""
    path = valid_path_argument(argument, value)
    if not os.path.isabs(path):  # only then does the working directory have to exist
        path = os.path.join(working_directory(), path)
    return os.path.normpath(path)


def folders_argument(argument: str, value: object) -> tuple[str, ...]:
    """The absolute paths of one folder or several. Raises `UsageError`.

    A single path is never read letter by letter: its first letter is often `/`, which would allow
    every file there is.
    """
    return tuple(folder_argument(argument, each) for each in paths_argument(argument, value))


def wrong_argument(argument: str, value: object, expected: str) -> UsageError:
    """The `UsageError` for an argument of the wrong type or value."""
    found = "None" if value is None else type(value).__name__
    return UsageError(f"`{argument}`: expected {expected}, found {found}")


def text_argument(argument: str, value: object, expected: str = "a str") -> str:
    """The argument, which must be text. Raises `UsageError`."""
    if not isinstance(value, str):
        raise wrong_argument(argument, value, expected)
    return value


def kind_argument(value: object) -> str | None:
    """The name of a kind, None to recognise it. Raises `UsageError`."""
    return (
        None if value is None else text_argument("kind", value, "the name of a kind or a `Format`")
    )


def path_argument(argument: str, value: object) -> str:
    """A path, whether or not anything is there. Raises `UsageError`."""
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    given = text_argument(argument, path, "a path as str or os.PathLike[str]")
    if not given:
        # Python takes it for the working directory, but it is rather a variable that is not set.
        raise UsageError(f"{argument} is empty; write '.' for the working directory")
    return given


def expand_home(path: str) -> str:
    """A path in which `~` is the home folder of the user."""
    return os.path.expanduser(path)


def paths_argument(argument: str, value: object) -> list[str]:
    """One path or several. Raises `UsageError`."""
    if isinstance(value, str | bytes | os.PathLike) or not isinstance(value, Iterable):
        return [path_argument(argument, value)]
    return [path_argument(f"{argument}[{number}]", each) for number, each in enumerate(value)]


def valid_path_argument(argument: str, value: object) -> str:
    """A path that a file could have. Raises `UsageError`."""
    path = path_argument(argument, value)
    if not is_possible_path(path):
        raise UsageError(f"`{argument}`: no file can have the name {path!a}")
    return path


def is_possible_path(path: str) -> bool:
    """Whether the system could have a file of that name; it raises exceptions about others."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def variables_argument(value: object) -> Mapping[str, str]:
    """Variables in place of those of the process. Raises `UsageError`."""
    if not isinstance(value, Mapping):
        raise wrong_argument("env", value, "a mapping of names to values")
    for name, each in value.items():
        if not isinstance(name, str):
            raise wrong_argument("env", name, "names as str")
        text_argument(f"env[{name!r}]", each)
    return value


def contents_argument(value: object) -> dict[str, bytes]:
    """Files in memory by their relative paths with `/`. Raises `UsageError`."""
    if not isinstance(value, Mapping):
        raise wrong_argument("files", value, "a mapping of paths to contents")
    contents: dict[str, bytes] = {}
    for path, content in value.items():
        name = os.fspath(path) if isinstance(path, os.PathLike) else path
        name = text_argument("files", name, "paths as str")
        steps = name.replace(os.sep, "/").split("/")
        if not is_possible_path(name) or not name or {"", ".", ".."}.intersection(steps):
            raise UsageError(f"`files`: expected paths from the root of a project, found {name!a}")
        data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        if not isinstance(data, bytes | bytearray | memoryview):
            raise wrong_argument(f"files[{name!r}]", content, "bytes or str")
        contents["/".join(steps)] = bytes(data)
    for name in contents:
        above = next((each for each in _parents(name) if each in contents), None)
        if above is not None:
            raise UsageError(f"`files`: {above!a} is a file, so it cannot hold {name!a}")
    return contents


def _parents(name: str) -> Iterator[str]:
    """The folders above a relative path with `/`."""
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name


def number_argument(argument: str, value: object) -> int:
    """A whole number from 0 on. Raises `UsageError`."""
    if not isinstance(value, int):
        raise wrong_argument(argument, value, "a whole number")
    if value < 0:
        raise UsageError(f"`{argument}`: expected 0 or more, found {value}")
    return value
