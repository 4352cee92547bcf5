"""The only room that asks the operating system, and its one door: a `System`.

A system answers questions about files and variables. It is passed in: a request has one, and every
load, walk and report asks that one alone. `disk` is the machine itself, `memory` holds contents in
place of files, `git` a revision of a repository, and `recording` remembers what another system was
asked. `reading` reads the files of a load, `sandbox` opens what a document refers to, `walking`
finds files, and `writing` is the only module that changes anything. Here are also the paths and
other arguments that callers give.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from equipage.core.diagnostics import UsageError

#: How deep recursive functions follow nested folders: deeper calls would exhaust the stack.
MAX_RECURSION = 100
#: The most that is read from one file, unless the kind says otherwise.
MAX_BYTES = 10 * 1024 * 1024
#: Tells whether what is at a path has changed without reading it: on a disk its inode, size, times.
Stamp = tuple[int, ...]


class Entry(Protocol):
    """What a folder holds under a name; an `os.DirEntry` is one."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...
    def is_dir(self, *, follow_symlinks: bool = True) -> bool: ...
    def is_file(self, *, follow_symlinks: bool = True) -> bool: ...
    def is_symlink(self) -> bool: ...


class OpenedFile(Protocol):
    """A file that was opened and not read yet, by the path that all links lead to."""

    real: str

    def read(self, name: str, max_bytes: int) -> bytes:
        """Its content. Raises `FileProblem`, in which the file has that name."""
        ...

    def close(self) -> None: ...


class System(Protocol):
    """Answers questions about files and variables. Each is about what is there now."""

    @property
    def holds_tracked_files_alone(self) -> bool:
        """Whether every file in it is one that git tracks, as in a revision."""
        return False

    @property
    def cwd(self) -> str:
        """The folder that relative paths start at. Raises `UsageError` if it was removed."""
        ...

    def variables(self) -> Mapping[str, str]:
        """The environment variables."""
        ...

    def status(self, path: str, *, follow_links: bool = True) -> os.stat_result | None:
        """What is at a path; None if there is nothing."""
        ...

    def entries(self, folder: str) -> Sequence[Entry]:
        """What a folder holds, sorted by name. Raises `OSError`."""
        ...

    def real(self, path: str) -> str:
        """The absolute path with every link followed."""
        ...

    def peek(self, path: str, *, max_bytes: int = MAX_BYTES, size: int = -1) -> bytes | None:
        """The content of a file that may not be read, or its beginning; None if it is unreadable.

        Anything may be in its place: a pipe, a device, a file without end.
        """
        ...

    def open_named(self, path: str, real: str) -> OpenedFile:
        """Open what the caller names. No folder of `real` is a link. Raises `OSError`."""
        ...

    def open_inside(self, base: str, reference: str, roots: tuple[str, ...]) -> OpenedFile:
        """Open what a document names from a base, and nothing outside the roots.

        Raises `FileProblem`.
        """
        ...

    def stamp(self, path: str) -> Stamp | None:
        """The stamp of what is at a path, and of a link; None if there is nothing."""
        ...

    def sha256(self, path: str) -> str | None:
        """The hash of a regular file of any size, such as a program; None if it is unreadable."""
        ...

    def finds_program(self, name: str, search: str) -> bool:
        """Whether a program is in one of the folders of `search`, which is written like PATH."""
        ...

    def fresh_copy(self) -> System:
        """This system without anything that it remembers of earlier answers."""
        return self

    def link_target(self, path: str) -> str:
        """Where a link leads, as it is written; empty of what is none."""
        return ""

    # What follows from these.

    def real_folder(self, path: str) -> str:
        """As `real`, for a folder that many files are in."""
        return self.real(path)

    def way_to(self, folder: str) -> tuple[str, ...]:
        """The real path of a folder; behind it, each link on the way there and its target."""
        return (self.real_folder(folder),)

    def exists(self, path: str) -> bool:
        """Whether there is anything at a path, links followed."""
        return self.status(path) is not None

    def is_file(self, path: str) -> bool:
        """Whether a path, links followed, is a regular file."""
        found = self.status(path)
        return found is not None and stat.S_ISREG(found.st_mode)

    def is_folder(self, path: str) -> bool:
        """Whether a path, links followed, is a folder."""
        found = self.status(path)
        return found is not None and stat.S_ISDIR(found.st_mode)

    def is_link(self, path: str) -> bool:
        """Whether a path is a symbolic link, broken or not."""
        found = self.status(path, follow_links=False)
        return found is not None and stat.S_ISLNK(found.st_mode)

    def is_executable(self, path: str) -> bool:
        """Whether a file may be run, links followed. Windows has no such mark: there each may."""
        found = self.status(path)
        return found is not None and (os.name == "nt" or bool(found.st_mode & 0o100))

    def others_may_write(self, folder: str, owner: int) -> bool:
        """Whether others than root and a user may change what a folder holds, as far as it says so.

        A group with the number of the folder's user is theirs alone; Windows has no such marks.
        """
        found = self.status(folder)
        if found is None or os.name == "nt":
            return False
        by_group = found.st_mode & stat.S_IWGRP and found.st_gid != found.st_uid
        return bool(found.st_mode & stat.S_IWOTH or by_group) or found.st_uid not in (0, owner)

    def is_inside(self, path: str, folder: str) -> bool:
        """Whether a path lies below a folder once every link in both is followed."""
        return self.real(path).startswith(self.real(folder).rstrip(os.sep) + os.sep)

    def repository_root(self, folder: str) -> str | None:
        """The nearest folder with `.git`, which is a file in worktrees: itself or a parent."""
        while not self.exists(os.path.join(folder, ".git")):
            parent = os.path.dirname(folder)
            if parent == folder:
                return None
            folder = parent
        return folder

    def submodules(self, root: str) -> Mapping[str, str]:
        """The commit of each submodule of the repository at a folder, by its path from there."""
        from equipage.files.index import DamagedIndex, read_tracked_files  # for few commands

        try:
            tracked = read_tracked_files(root, self)
        except DamagedIndex:  # a walk says so
            return {}
        return {} if tracked is None else tracked.submodules

    def submodules_below(self, folder: str) -> dict[str, str]:
        """The commit of each submodule that lies below a folder, by its path from there."""
        folder = self.real(folder)
        root = self.repository_root(folder) or folder
        paths = {os.path.join(root, name): each for name, each in self.submodules(root).items()}
        return {
            os.path.relpath(path, folder).replace(os.sep, "/"): commit
            for path, commit in paths.items()
            if is_below(path, folder)
        }

    def absolute(self, path: str) -> str:
        """A path from the root, links in it not followed."""
        return os.path.normpath(os.path.join(self.cwd, path))

    def name_of(self, path: str) -> str:
        """A path as people are shown it: relative to the working directory if inside, with `/`."""
        return display_name(path, self.cwd)


def display_name(path: str, cwd: str) -> str:
    """A path as people are shown it: relative to `cwd` if it is inside, with `/`."""
    absolute = os.path.normpath(os.path.join(cwd, path))
    return absolute.removeprefix(cwd.rstrip(os.sep) + os.sep).replace(os.sep, "/")


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies below it, by name alone."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def parents_of(path: str) -> Iterator[str]:
    """The folders that a path lies in, the nearest first."""
    while (folder := os.path.dirname(path)) != path:
        yield folder
        path = folder


def entries_of(folder: str, system: System) -> Sequence[Entry]:
    """What a folder holds, sorted by name; nothing if it cannot be listed."""
    try:
        return system.entries(folder)
    except (OSError, ValueError):  # a name that no folder can have is a ValueError
        return []


def leads_to_folder(entry: Entry) -> bool:
    """Whether an entry is a folder, or a link to one."""
    try:
        return entry.is_dir()
    except OSError:
        return False  # a loop of links


def is_possible_path(path: str) -> bool:
    """Whether the system could have a file of that name; it raises exceptions about others."""
    try:
        return b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        return False


def working_directory() -> str:
    """The folder that relative paths start at. Raises `UsageError` if it was removed."""
    try:
        return os.getcwd()
    except OSError as error:
        raise UsageError(
            f"there is no working directory: {error.strerror}; change to a folder that exists"
        ) from None


def config_home(env: Mapping[str, str], ignored: list[str] | None = None) -> str | None:
    """The folder of the user's configuration: `$XDG_CONFIG_HOME`, else `.config` in `$HOME`.

    `ignored` collects the names of variables that are not used: those without an absolute path.
    """
    ignored = [] if ignored is None else ignored
    home = absolute_variable("XDG_CONFIG_HOME", env, ignored)
    if home is not None:
        return home
    home = absolute_variable("HOME", env, ignored)
    return None if home is None else os.path.join(home, ".config")


def absolute_variable(name: str, env: Mapping[str, str], ignored: list[str]) -> str | None:
    """The value of a variable that holds an absolute path which is text."""
    value = text_argument(f"env[{name!r}]", env.get(name, ""))
    # Bytes that are not text come as lone surrogates; a NUL ends a name for the system.
    is_text = not any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in value)
    if os.path.isabs(value) and is_text:
        return value
    if value:
        ignored.append(name)
    return None


# What callers give to the public functions, checked at the door. A wrong argument is reported by
# its name. Its value is not shown: it may be a secret.


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
        above = next((each for each in parents_of(name) if each in contents), None)
        if above is not None:
            raise UsageError(f"`files`: {above!a} is a file, so it cannot hold {name!a}")
    return contents


def number_argument(argument: str, value: object) -> int:
    """A whole number from 0 on. Raises `UsageError`."""
    if not isinstance(value, int):
        raise wrong_argument(argument, value, "a whole number")
    if value < 0:
        raise UsageError(f"`{argument}`: expected 0 or more, found {value}")
    return value
