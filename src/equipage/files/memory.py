"""Contents in place of files: alone, without any disk, or over the files on the disk.

    with overlaid(Overlay({"/project/a.yaml": b"…"})):
        ...  # this room answers from the mapping

While an overlay is active, every question that this room answers is answered from it first: what is
at a path, what a folder holds, what a file contains. `check_files` uses one without a disk; an
editor lays its unsaved buffers over the disk. The active overlay belongs to the context of the
caller (`contextvars`), so that threads and tasks do not see each other's.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from equipage.files import OVERLAY


class Entry:
    """An entry of a folder in memory; answers what `os.DirEntry` does. There are no links."""

    __slots__ = ("_is_folder", "name", "path")

    def __init__(self, name: str, path: str, *, is_folder: bool) -> None:
        self.name, self.path, self._is_folder = name, path, is_folder

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return self._is_folder

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return not self._is_folder

    def is_symlink(self) -> bool:
        return False


class Overlay:
    """Files by absolute path, with `/`. `over_disk`: paths that are not among them are looked up
    on the disk. `root` is the working directory of an overlay without a disk, and a repository.
    """

    def __init__(
        self, contents: Mapping[str, bytes], *, over_disk: bool = False, root: str = "/"
    ) -> None:
        self.contents = contents
        self.over_disk = over_disk
        self.root = root
        #: folder → the names in it, and whether each is a folder
        self._folders: dict[str, dict[str, bool]] = {} if over_disk else {root: {}}
        for path in contents:
            self._add(path)

    def _add(self, path: str) -> None:
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

    def path_of(self, path: str) -> str:
        """A path as the keys of the mapping are written."""
        return posixpath.normpath(posixpath.join(self.root, path))

    def is_file(self, path: str) -> bool:
        return self.path_of(path) in self.contents

    def is_folder(self, path: str) -> bool:
        return self.path_of(path) in self._folders

    def exists(self, path: str) -> bool:
        whole = self.path_of(path)
        if whole in self.contents or whole in self._folders:
            return True
        return not self.over_disk and whole == posixpath.join(self.root, ".git")

    def entries(self, folder: str) -> list[Entry]:
        """The entries of a folder, sorted by name; none if the overlay has no such folder."""
        names = self._folders.get(self.path_of(folder), {})
        start = folder.rstrip("/") + "/"
        return [Entry(name, start + name, is_folder=names[name]) for name in sorted(names)]


@contextmanager
def overlaid(overlay: Overlay) -> Iterator[None]:
    """Answer from an overlay in the body of the `with` statement."""
    token = OVERLAY.set(overlay)
    try:
        yield
    finally:
        OVERLAY.reset(token)
