"""A folder in a project that holds what was worked out before: `.equipage_cache`.

It can be deleted at any time, and nothing in it is believed without proof. The folder and its files
must belong to the user and be writable by no other, and none may be a link. Every file is signed
with a key that is bound to this folder on this machine: to the inode of a file in it and to the
moment it was made. An archive or a repository cannot choose these, so a cache that came with a
project, or that was copied, is not used.

Everything happens relative to the descriptor of the folder: nothing that is put in its place later
can lead elsewhere. A file appears in one step; what cannot be written is left out.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from functools import cache

from equipage.core.text import expression
from equipage.files import CACHE_FOLDER
from equipage.files.sandbox import FLAGS, FileProblem, read_regular

NAME = CACHE_FOLDER
_NOTE = b"*\n"
#: https://bford.info/cachedir: programs that make backups leave such a folder out.
_TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of equipage.\n"
_KEY = "key"
_KEY_BYTES = _MAC_BYTES = 32
#: How many files there may be, and how many bytes: one by one, and together.
MOST_FILES = 24
MOST_BYTES = 128 * 1024 * 1024
MOST_TOGETHER = 256 * 1024 * 1024
#: Seconds after which an unfinished file belongs to no run that still goes on.
_LONG_AGO = 3600

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = FLAGS | _NOFOLLOW | getattr(os, "O_DIRECTORY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | getattr(os, "O_CLOEXEC", 0)
_OURS = expression(r"[0-9a-f]{32}")
_UNFINISHED = expression(r"[0-9a-f]{32}\.tmp")


class Kept:
    """The folder of a project, open. Its files have names of 32 hexadecimal digits."""

    def __init__(self, descriptor: int, key: bytes) -> None:
        self._folder = descriptor
        self.key = key  #: for digests of what must not be written down

    def close(self) -> None:
        os.close(self._folder)

    def now(self) -> int | None:
        """The time by the clock that stamps files, in nanoseconds; None if it cannot be had."""
        try:
            os.utime(self._folder)
            return os.fstat(self._folder).st_ctime_ns
        except OSError:  # a file system that is read only
            return None

    def name_of(self, data: bytes) -> str:
        """The name of the file for what `data` describes."""
        return self.digest(data).hex()[:32]

    def digest(self, data: bytes) -> bytes:
        """A digest that only who has the key can compare with that of a guess."""
        from blake3 import blake3

        return blake3(data, key=self.key).digest()

    def read(self, name: str) -> memoryview | None:
        """What a file holds, if it was written here; whatever is wrong with it, None."""
        signed = _read(self._folder, name, MOST_BYTES + _MAC_BYTES)
        if signed is None or len(signed) < _MAC_BYTES:
            return None
        mac, data = signed[:_MAC_BYTES], memoryview(signed)[_MAC_BYTES:]
        # Of digests: how far two of them agree says nothing about what they were made from.
        return data if self.digest(mac) == self.digest(self._mac(name, data)) else None

    def write(self, name: str, data: bytes) -> bool:
        """Put a file in the place of the one of that name; whether that was possible."""
        if len(data) > MOST_BYTES:
            return False
        self._tidy(len(data))
        unfinished = f"{os.urandom(16).hex()}.tmp"
        try:
            _write_new(self._folder, unfinished, self._mac(name, data) + data)
            folder = self._folder
            os.rename(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
        except OSError:  # a full disk, a quota, a file system that is read only
            with contextlib.suppress(OSError):
                os.unlink(unfinished, dir_fd=self._folder)
            return False
        return True

    def _mac(self, name: str, data: bytes | memoryview) -> bytes:
        from blake3 import blake3

        return blake3(name.encode() + b"\0", key=self.key).update(data).digest()

    def _tidy(self, coming: int) -> None:
        """Remove the oldest files, so that there is room for one more of that size."""
        found: list[tuple[float, int, str]] = []
        with contextlib.suppress(OSError):
            for name in os.listdir(self._folder):
                status = os.lstat(name, dir_fd=self._folder)
                is_left = time.time() - status.st_mtime > _LONG_AGO
                if _OURS.fullmatch(name):
                    found.append((status.st_mtime, status.st_size, name))
                elif _UNFINISHED.fullmatch(name) and is_left:
                    os.unlink(name, dir_fd=self._folder)
            found.sort()
            total = coming + sum(size for _, size, _ in found)
            while found and (len(found) >= MOST_FILES or total > MOST_TOGETHER):
                _, size, name = found.pop(0)
                os.unlink(name, dir_fd=self._folder)
                total -= size


def open_kept(root: str, *, make: bool = True) -> Kept | None:
    """The folder below the root of a project; None if it cannot be used, for whatever reason.

    With `make`, it is made if it is missing, unless the project belongs to another user.
    """
    if not hasattr(os, "geteuid") or not _NOFOLLOW:
        return None  # Windows has other rules about who may write where
    folder = None
    try:
        folder = _open_folder(root, make=make)
        key = _key_in(folder) or _new_key(folder)
    except OSError:
        key = None
    if key is None:
        if folder is not None:
            os.close(folder)
        return None
    assert folder is not None
    return Kept(folder, key)


def _open_folder(root: str, *, make: bool) -> int:
    """A descriptor of the folder. Raises `OSError`."""
    above = os.open(root, _FOLDER)
    try:
        _require_own(above, stat.S_IWOTH)
        if make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(NAME, 0o700, dir_fd=above)
        folder = os.open(NAME, _FOLDER, dir_fd=above)
    finally:
        os.close(above)
    try:
        _require_own(folder, stat.S_IWGRP | stat.S_IWOTH)
        for name, text in ((".gitignore", _NOTE), ("CACHEDIR.TAG", _TAG)):
            with contextlib.suppress(FileExistsError):
                _write_new(folder, name, text)
    except OSError:
        os.close(folder)
        raise
    return folder


def _require_own(descriptor: int, refused: int) -> None:
    """Raise `OSError` unless something belongs to the user, and its mode has none of these bits."""
    status = os.fstat(descriptor)
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & refused:
        raise PermissionError


def _key_in(folder: int) -> bytes | None:
    """The key, made from the random bytes in a file and from where and when it was written."""
    try:
        descriptor = os.open(_KEY, FLAGS | _NOFOLLOW, dir_fd=folder)
    except OSError:
        return None
    try:
        _require_own(descriptor, 0o077)
        status = os.fstat(descriptor)
        written = read_regular(descriptor, status, _KEY, _KEY, _KEY_BYTES)
    except (OSError, FileProblem):
        return None
    finally:
        os.close(descriptor)
    if len(written) != _KEY_BYTES or status.st_nlink != 1:
        return None
    from blake3 import blake3

    place = f"{status.st_ino} {status.st_ctime_ns} {sys.byteorder}"
    return blake3(place.encode(), key=written).digest()


def _new_key(folder: int) -> bytes | None:
    """Write a new key, in place of whatever is there. Raises `OSError`."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_KEY, dir_fd=folder)
    with contextlib.suppress(FileExistsError):  # another run was faster
        _write_new(folder, _KEY, os.urandom(_KEY_BYTES))
    return _key_in(folder)


def _read(folder: int, name: str, most: int) -> bytes | None:
    try:
        descriptor = os.open(name, FLAGS | _NOFOLLOW, dir_fd=folder)
    except OSError:
        return None
    try:
        _require_own(descriptor, stat.S_IWGRP | stat.S_IWOTH)
        data = read_regular(descriptor, os.fstat(descriptor), name, name, most)
        with contextlib.suppress(OSError):
            os.utime(descriptor)  # what is used stays
        return data
    except (OSError, FileProblem):
        return None
    finally:
        os.close(descriptor)


def _write_new(folder: int, name: str, data: bytes) -> None:
    """Write a file that does not exist. Raises `OSError`, and leaves nothing."""
    descriptor = os.open(name, _NEW, 0o600, dir_fd=folder)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(descriptor, left) :]
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=folder)
        raise
    finally:
        os.close(descriptor)


@cache
def installed() -> str:
    """What is installed: the code of equipage itself, Python, and every package by its version."""
    own = os.path.dirname(os.path.dirname(__file__))
    files: list[str] = []
    folders = [own]
    while folders:
        with os.scandir(folders.pop()) as scan:
            for entry in scan:
                if entry.is_dir():
                    folders += [] if entry.name == "__pycache__" else [entry.path]
                else:
                    status = entry.stat()
                    files.append(f"{entry.path} {status.st_size} {status.st_mtime_ns}")
    packages: set[str] = set()
    for folder in sys.path:
        with contextlib.suppress(OSError):
            packages.update(each for each in os.listdir(folder or ".") if _PACKAGE.search(each))
    return "\n".join((sys.version, *sorted(files), *sorted(packages)))


#: How installers record a package and its version.
_PACKAGE = expression(r"\.(dist-info|egg-info|egg-link)\Z|\A__editable__")
