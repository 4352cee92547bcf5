"""The only room that asks the operating system, and its one door: a `System`.

A system answers questions about files and variables. It is passed in: a request has one, and every
load, walk and report asks that one alone. `disk` is the machine itself, `memory` holds contents in
place of files, `git` a revision of a repository, and `recording` remembers what another system was
asked. `reading` reads the files of a load, `sandbox` opens what a document refers to, `walking`
finds files, and `writing` is the only module that changes anything.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

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
        """The stamp of what is at a path, links followed; None if there is nothing."""
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

    # What follows from these.

    def real_folder(self, path: str) -> str:
        """As `real`, for a folder that many files are in."""
        return self.real(path)

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
