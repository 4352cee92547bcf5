"""Contents in place of files: `Memory` alone, without any disk, or an `Overlay` over a system.

`check_files` asks a memory. An editor lays its unsaved texts over the disk.
"""

from __future__ import annotations

import errno
import hashlib
import os
import posixpath
import stat
from collections.abc import Mapping, Sequence

from equipage.core import codes
from equipage.files import MAX_BYTES, Entry, OpenedFile, Stamp, System, is_below
from equipage.files.sandbox import FileProblem, escape_problem, refuse_version_control

_FILE, _FOLDER = (
    os.stat_result((mode, 0, 0, 1, 0, 0, 0, 0, 0, 0))
    for mode in (stat.S_IFREG | 0o644, stat.S_IFDIR | 0o755)
)


class _MemoryEntry:
    """An entry of a folder in memory. There are no links."""

    __slots__ = ("_is_folder", "name", "path")

    def __init__(self, name: str, path: str, *, is_folder: bool) -> None:
        self.name, self.path, self._is_folder = name, path, is_folder

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return self._is_folder

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return not self._is_folder

    def is_symlink(self) -> bool:
        return False


class OpenedContent:
    """A file whose content is known."""

    def __init__(self, real: str, data: bytes) -> None:
        self.real, self._data = real, data

    def read(self, name: str, max_bytes: int) -> bytes:
        size = len(self._data)
        if size > max_bytes:
            raise FileProblem(codes.FILE_TOO_LARGE, file=name, size=size, limit=max_bytes)
        return self._data

    def close(self) -> None:
        """Nothing was opened."""


class Memory(System):
    """Files by absolute path, with `/`. The root is the working directory, and a repository."""

    def __init__(self, contents: Mapping[str, bytes], *, root: str = "/") -> None:
        self._contents = contents
        self._root = root
        #: folder → the names in it, and whether each is a folder
        self._folders: dict[str, dict[str, bool]] = {}
        for path in contents:
            self._add_folders(path)

    def _add_folders(self, path: str) -> None:
        folder, name = posixpath.split(path)
        is_folder = False
        while name:
            known = self._folders.get(folder)
            if known is not None:
                known.setdefault(name, is_folder)
                return
            self._folders[folder] = {name: is_folder}
            folder, name = posixpath.split(folder)
            is_folder = True

    @property
    def cwd(self) -> str:
        return self._root

    def _key(self, path: str) -> str:
        """A path as the keys of the mapping are written."""
        return posixpath.normpath(posixpath.join(self.cwd, path.replace(os.sep, "/")))

    def variables(self) -> Mapping[str, str]:
        return {}

    def status(self, path: str, *, follow_links: bool = True) -> os.stat_result | None:
        key = self._key(path)
        if key in self._contents:
            return _FILE
        is_folder = key in self._folders or key in (self._root, posixpath.join(self._root, ".git"))
        return _FOLDER if is_folder else None

    def entries(self, folder: str) -> Sequence[Entry]:
        names = self._folders.get(self._key(folder))
        if names is None and not self.is_folder(folder):
            number = errno.ENOTDIR if self.is_file(folder) else errno.ENOENT
            raise OSError(number, os.strerror(number), folder)
        start, names = folder.rstrip("/") + "/", names or {}
        return [_MemoryEntry(name, start + name, is_folder=names[name]) for name in sorted(names)]

    def real(self, path: str) -> str:
        return self._key(path)

    def peek(self, path: str, *, max_bytes: int = MAX_BYTES, size: int = -1) -> bytes | None:
        data = self._contents.get(self._key(path))
        if data is None or len(data) > max_bytes:
            return None
        return data if size < 0 else data[:size]

    def open_named(self, path: str, real: str) -> OpenedFile:
        data = self._contents.get(self._key(path))
        if data is None:
            number = errno.EISDIR if self.is_folder(path) else errno.ENOENT
            raise OSError(number, os.strerror(number), path)
        return OpenedContent(self._key(path), data)

    def open_inside(self, base: str, reference: str, roots: tuple[str, ...]) -> OpenedFile:
        real = self._key(posixpath.join(base, reference))
        if not any(is_below(real, self._key(each)) for each in roots):
            raise escape_problem(reference)
        if real not in self._contents:
            is_folder = self.is_folder(real)
            code = codes.FILE_IS_DIRECTORY if is_folder else codes.FILE_MISSING
            raise FileProblem(code, file=reference)
        return OpenedContent(real, self._contents[real])

    def stamp(self, path: str) -> Stamp | None:
        data = self._contents.get(self._key(path))
        if data is not None:
            return len(data), hash(data)
        return (0,) if self.is_folder(path) else None

    def sha256(self, path: str) -> str | None:
        data = self.peek(path)
        return None if data is None else hashlib.sha256(data).hexdigest()

    def finds_program(self, name: str, search: str) -> bool:
        return True  # the machine that will run it is not here


class Overlay(Memory):
    """Texts in place of files of another system, by the paths that no link is a part of."""

    def __init__(self, contents: Mapping[str, bytes], under: System) -> None:
        super().__init__(contents)
        self.under = under
        self._keys: dict[str, str] = {}  #: of the paths that were asked for

    @property
    def cwd(self) -> str:
        return self.under.cwd

    def _key(self, path: str) -> str:
        """The key of the text that is in the place of a path, links followed; else the path's."""
        if path in self._keys:
            return self._keys[path]
        key = super()._key(path)
        if self._contents and key not in self._contents:
            folder, name = posixpath.split(key)
            is_link = self.under.is_link(key)
            real = self.under.real(key) if is_link else f"{self.under.real_folder(folder)}/{name}"
            key = real if real in self._contents else key
        return self._keys.setdefault(path, key)

    def _replaces(self, path: str) -> bool:
        return self._key(path) in self._contents

    def variables(self) -> Mapping[str, str]:
        return self.under.variables()

    def status(self, path: str, *, follow_links: bool = True) -> os.stat_result | None:
        if follow_links and self._replaces(path):
            return _FILE
        found = self.under.status(path, follow_links=follow_links)
        if found is None and self._key(path) in self._folders:
            return _FOLDER
        return _FILE if found is None and self._replaces(path) else found

    def entries(self, folder: str) -> Sequence[Entry]:
        own = self._folders.get(self._key(folder))
        if own is None:
            return self.under.entries(folder)
        found: dict[str, Entry] = {}
        if self.under.status(folder, follow_links=False) is not None:
            found = {entry.name: entry for entry in self.under.entries(folder)}
        start = folder.rstrip("/") + "/"
        for name, is_folder in own.items():
            if not (is_folder and name in found):
                found[name] = _MemoryEntry(name, start + name, is_folder=is_folder)
        return [found[name] for name in sorted(found)]

    def link_target(self, path: str) -> str:
        return self.under.link_target(path)

    def real(self, path: str) -> str:
        return self.under.real(path)

    def real_folder(self, path: str) -> str:
        return self.under.real_folder(path)

    def way_to(self, folder: str) -> tuple[str, ...]:
        return self.under.way_to(folder)

    def peek(self, path: str, *, max_bytes: int = MAX_BYTES, size: int = -1) -> bytes | None:
        if self._replaces(path):
            return super().peek(path, max_bytes=max_bytes, size=size)
        return self.under.peek(path, max_bytes=max_bytes, size=size)

    def open_named(self, path: str, real: str) -> OpenedFile:
        found = self.under.real(path)
        if self._replaces(found):
            return OpenedContent(found, self._contents[self._key(found)])
        return self.under.open_named(path, real)

    def open_inside(self, base: str, reference: str, roots: tuple[str, ...]) -> OpenedFile:
        real = self.under.real(os.path.join(base, reference))
        if not self._replaces(real):
            return self.under.open_inside(base, reference, roots)
        if not any(is_below(real, self.under.real(each)) for each in roots):
            raise escape_problem(reference)
        refuse_version_control(real, reference)
        try:  # the way there counts, too; the file itself may be unreadable or missing
            self.under.open_inside(base, reference, roots).close()
        except FileProblem as problem:
            if problem.code in (codes.REFERENCE_ESCAPES, codes.REFERENCE_PRIVATE):
                raise
        return OpenedContent(real, self._contents[self._key(real)])

    def stamp(self, path: str) -> Stamp | None:
        return super().stamp(path) if self._replaces(path) else self.under.stamp(path)

    def sha256(self, path: str) -> str | None:
        return super().sha256(path) if self._replaces(path) else self.under.sha256(path)

    def finds_program(self, name: str, search: str) -> bool:
        return self.under.finds_program(name, search)
