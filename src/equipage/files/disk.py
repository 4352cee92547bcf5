"""The machine itself: its files, and the variables of this process."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from functools import cached_property
from operator import attrgetter

import msgspec

from equipage.files import (
    MAX_BYTES,
    Entry,
    Stamp,
    System,
    entries_of,
    leads_to_folder,
    working_directory,
)
from equipage.files.sandbox import (
    OPEN_FLAGS,
    Descriptor,
    FileProblem,
    FoldersWithoutRepository,
    links_on_way,
    open_following_link,
    open_inside,
    read_regular,
    real_path,
    refuse_irregular,
)

_ENTRY_NAME = attrgetter("name")
#: How much of a file is read at once to hash it.
_HASHED_AT_ONCE = 1 << 20


class Disk(System):
    """The usual system."""

    def __init__(self) -> None:
        self._real_folders: dict[str, tuple[tuple[int, int], str]] = {}
        self._plain_folders: FoldersWithoutRepository = set()

    @cached_property
    def cwd(self) -> str:
        return working_directory()

    def variables(self) -> Mapping[str, str]:
        return process_variables()

    def status(self, path: str, *, follow_links: bool = True) -> os.stat_result | None:
        try:
            return os.stat(path, follow_symlinks=follow_links)
        except (OSError, ValueError):  # a name that no file can have is a ValueError
            return None

    def link_target(self, path: str) -> str:
        try:
            return os.readlink(path)
        except (OSError, ValueError):
            return ""

    def entries(self, folder: str) -> list[os.DirEntry[str]]:
        with os.scandir(folder) as scan:
            return sorted(scan, key=_ENTRY_NAME)

    def real(self, path: str) -> str:
        return real_path(path)

    def real_folder(self, path: str) -> str:
        # A look at the folder itself is enough to know that it is still the one it was.
        status = self.status(path)
        if status is None:
            return real_path(path)
        identity = status.st_dev, status.st_ino
        known = self._real_folders.get(path)
        if known is None or known[0] != identity:
            known = self._real_folders[path] = identity, real_path(path)
        return known[1]

    def peek(self, path: str, *, max_bytes: int = MAX_BYTES, size: int = -1) -> bytes | None:
        try:
            descriptor = os.open(path, OPEN_FLAGS)
        except (OSError, ValueError):
            return None
        try:
            status = os.fstat(descriptor)
            if size < 0:
                return read_regular(descriptor, status, path, path, max_bytes)
            refuse_irregular(status, path, path, max_bytes)
            return os.read(descriptor, size)
        except (OSError, FileProblem):
            return None
        finally:
            os.close(descriptor)

    def open_named(self, path: str, real: str) -> Descriptor:
        return Descriptor(*open_following_link(real, path))

    def open_inside(self, base: str, reference: str, roots: tuple[str, ...]) -> Descriptor:
        return open_inside(base, reference, roots, self.real_folder, self._plain_folders)

    def way_to(self, folder: str) -> tuple[str, ...]:
        real = self.real_folder(folder)
        return (real,) if real == folder else (real, *links_on_way(folder))

    def stamp(self, path: str) -> Stamp | None:
        found = self.status(path, follow_links=False)
        way: Stamp = ()
        if found is not None and stat.S_ISLNK(found.st_mode):
            # Two links to one file are not alike: the way of one of them may leave the project.
            way = (hash(links_on_way(path)),)
            found = self.status(path)
            if found is None:  # to nothing, or without end
                return way
        if found is None:
            return None
        # A folder is the same folder, whatever comes and goes inside; who may write there counts.
        if stat.S_ISDIR(found.st_mode):
            return found.st_ino, found.st_mode, found.st_uid, found.st_gid, *way
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns, *way

    def sha256(self, path: str) -> str | None:
        import hashlib  # large, and most loads hash nothing

        try:
            descriptor = os.open(path, OPEN_FLAGS)
        except (OSError, ValueError):
            return None
        try:
            info = os.fstat(descriptor)
            refuse_irregular(info, path, path, sys.maxsize)
            found = hashlib.sha256()
            # Most files fit into one read; `hashlib.file_digest` clears a large buffer for each.
            size = min(info.st_size + 1, _HASHED_AT_ONCE)
            while data := os.read(descriptor, size):
                found.update(data)
            return found.hexdigest()
        except (OSError, FileProblem):
            return None
        finally:
            os.close(descriptor)

    def finds_program(self, name: str, search: str) -> bool:
        import shutil  # slow to import, rarely needed

        return shutil.which(name, path=search) is not None

    def fresh_copy(self) -> Disk:
        return Disk()

    # Asked about every file, so without a detour.

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def is_file(self, path: str) -> bool:
        return os.path.isfile(path)

    def is_folder(self, path: str) -> bool:
        return os.path.isdir(path)

    def is_link(self, path: str) -> bool:
        return os.path.islink(path)


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


# Every file of a folder with its hash: for locks, which must name each byte that changed.

#: Names of files and folders that are skipped: people do not write them.
EXCLUDED_NAMES = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".DS_Store"}
)
#: The most files that one folder may have, and the deepest that they may lie.
MAX_FILES, MAX_DEPTH = 20_000, 64


class TooManyFiles(Exception):
    """A folder has more files than a lock takes."""


class HashedFile(msgspec.Struct, frozen=True):
    """One file of a folder. A link is never followed: its hash is that of its target's name."""

    name: str  #: from the folder, with `/`
    sha256: str
    is_link: bool = False


def hash_files_below(
    folder: str, system: System, known: Mapping[str, str] | None = None
) -> Iterator[HashedFile]:
    """Every file of a folder at any depth, in the order of names. Raises `TooManyFiles`.

    `known` has the hashes of files that were read already, by their names from the folder.
    """
    count, known = 0, known or {}
    waiting = [""]
    while waiting:
        here = waiting.pop()
        folders = []
        for entry in entries_of(os.path.join(folder, here), system):
            name = here + entry.name
            if entry.name in EXCLUDED_NAMES or entry.name.endswith(".pyc"):
                continue
            if not entry.is_symlink() and leads_to_folder(entry):
                if name.count("/") < MAX_DEPTH:
                    folders.append(f"{name}/")
                continue
            count += 1
            if count > MAX_FILES:
                raise TooManyFiles(f"{folder} has more than {MAX_FILES:,} files")
            if entry.is_symlink():
                yield HashedFile(name, _hash_target(entry), is_link=True)
            elif (digest := known.get(name) or system.sha256(entry.path)) is not None:
                yield HashedFile(name, digest)
        waiting += reversed(folders)


def _hash_target(link: Entry) -> str:
    import hashlib

    try:
        target = os.readlink(link.path)
    except OSError:
        target = ""  # it was a link a moment ago, or in a folder that could be read
    return hashlib.sha256(os.fsencode(target)).hexdigest()
