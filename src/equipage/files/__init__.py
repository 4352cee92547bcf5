"""The only room that asks the operating system.

This module answers the plain questions of the rooms above: what is at a path, what a folder holds,
where the process runs, with which variables, and whether the arguments of a caller are what they
must be. `reading` reads the files of a load, `sandbox` opens what a document refers to, `walking`
finds files, `git` reads revisions, and `writing` is the only module that changes anything.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from equipage.core.diagnostics import UsageError

if TYPE_CHECKING:
    from equipage.files.memory import Overlay

#: The files that replace those of the disk; a context variable, so that threads do not share it.
OVERLAY: ContextVar[Overlay | None] = ContextVar("overlay", default=None)
#: Returns the current overlay, or None. Bound directly, because every question calls it.
active_overlay = OVERLAY.get


def is_disk_hidden() -> bool:
    """Whether an overlay replaces the disk completely, so that nothing is read from it."""
    overlay = active_overlay()
    return overlay is not None and not overlay.over_disk


#: How deep recursive functions follow nested folders: deeper calls would exhaust the stack.
MAX_RECURSION = 100
_ENTRY_NAME = attrgetter("name")
#: How often a path that keeps changing is looked at again.
_MAX_TRIES = 100


def exists(path: str, *, follow_links: bool = True) -> bool:
    """Whether there is anything at a path. A broken link exists only if links are not followed."""
    overlay = active_overlay()
    if overlay is not None and (overlay.exists(path) or not overlay.over_disk):
        return overlay.exists(path)
    return os.path.exists(path) if follow_links else os.path.lexists(path)


def is_file(path: str) -> bool:
    """Whether a path, links followed, is a regular file."""
    overlay = active_overlay()
    if overlay is not None and (overlay.is_file(path) or not overlay.over_disk):
        return overlay.is_file(path)
    return os.path.isfile(path)


def is_folder(path: str) -> bool:
    """Whether a path, links followed, is a folder."""
    overlay = active_overlay()
    if overlay is not None and (overlay.is_folder(path) or not overlay.over_disk):
        return overlay.is_folder(path)
    return os.path.isdir(path)


def is_link(path: str) -> bool:
    """Whether a path is a symbolic link, broken or not."""
    return not is_disk_hidden() and os.path.islink(path)


def status_of(path: str) -> os.stat_result | None:
    """What the disk says about a path, links followed; None if there is nothing."""
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def is_executable(path: str) -> bool:
    """Whether a file may be run, links followed. Windows has no such mark: there each one may."""
    found = status_of(path)
    return found is not None and (os.name == "nt" or bool(found.st_mode & 0o100))


def real_path(path: str) -> str:
    """The absolute path with every link followed."""
    overlay = active_overlay()
    if overlay is not None and not overlay.over_disk:
        return overlay.path_of(path)
    for _ in range(_MAX_TRIES):
        try:
            return os.path.realpath(path)
        except OSError as error:
            # It was a link a moment ago; look again.
            if error.errno not in (errno.EINVAL, errno.ENOENT):
                raise
        except ValueError:  # a zero byte: no file has such a name
            break
    return os.path.abspath(path)


def is_inside(path: str, folder: str) -> bool:
    """Whether a path lies below a folder once every link in both is followed."""
    return real_path(path).startswith(real_path(folder).rstrip(os.sep) + os.sep)


def entries_of(folder: str) -> list[os.DirEntry[str]]:
    """The entries of a folder, sorted by name. Raises `OSError`."""
    overlay = active_overlay()
    if overlay is None:
        with os.scandir(folder) as scan:
            return sorted(scan, key=_ENTRY_NAME)
    found: dict[str, Any] = {}
    if overlay.over_disk and (os.path.lexists(folder) or not overlay.is_folder(folder)):
        with os.scandir(folder) as scan:
            found = {entry.name: entry for entry in scan}
    elif not overlay.is_folder(folder):
        is_file = overlay.is_file(folder)
        number = errno.ENOTDIR if is_file else errno.ENOENT
        raise OSError(number, os.strerror(number), folder)
    found |= {entry.name: entry for entry in overlay.entries(folder)}
    return [found[name] for name in sorted(found)]


def leads_to_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder, or a link to one."""
    try:
        return entry.is_dir()
    except OSError:
        return False  # a loop of links


def repository_root(folder: str) -> str | None:
    """The nearest folder with an entry `.git`, which is a file in worktrees: itself or a parent."""
    while not exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def working_directory() -> str:
    """The folder that relative paths start at. Raises `UsageError` if it was removed."""
    overlay = active_overlay()
    if overlay is not None and not overlay.over_disk:
        return overlay.root
    try:
        return os.getcwd()
    except OSError as error:
        raise UsageError(
            f"there is no working directory: {error.strerror}; change to a folder that exists"
        ) from None


def process_variables() -> dict[str, str]:
    """The environment variables of this process.

    Their bytes are read as UTF-8 whatever the locale says: a file that loads here must also load
    under a bare `LC_ALL=C`.
    """
    if not os.supports_bytes_environ:
        return dict(os.environ)
    return {
        name.decode("utf-8", "surrogateescape"): value.decode("utf-8", "surrogateescape")
        for name, value in os.environb.items()
    }


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


# ----------------------------------------------------------------------------- arguments of callers
# A wrong argument is reported by its name. Its value is not shown: it may be a secret.


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
    return None if value is None else text_argument("kind", value, "the name of a kind as str")


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
