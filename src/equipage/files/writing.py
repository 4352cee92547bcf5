"""The only module that writes to the disk: whole files, or nothing.

A file is replaced in one step by a finished one beside it, so that no reader ever sees half of it
and a crash leaves the old one. Its mode stays. A file outside the given roots is never written,
however it was reached: a link inside a project may point anywhere. Devices and pipes are written
to, never replaced.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterable

from equipage.core.interrupts import DeferInterrupts
from equipage.core.source import Source
from equipage.files import is_below
from equipage.files.sandbox import real_path

#: Unfinished files older than this, in seconds, were left behind by runs that were killed.
_STALE_SECONDS = 3600


class NotWritten(Exception):
    """A file was left as it is; the text says why."""


def write_new(path: str, data: bytes, root: str) -> None:
    """Write a file below `root` that does not exist yet, and its folders. Raises `NotWritten`."""
    _require_inside(path, root)
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        _create_file(path, data)
    except FileExistsError:
        raise NotWritten("it exists already") from None
    except OSError as error:
        raise NotWritten(error.strerror or str(error)) from None


def _require_inside(path: str, root: str) -> None:
    if not is_below(real_path(path), real_path(root)):
        raise NotWritten("a link on the way there leads out of the project")


def write_or_replace(path: str, data: bytes) -> None:
    """Write a file, or replace it in one step; what is not a regular file is written into.

    Raises `NotWritten`, or `BrokenPipeError` if the reader of a pipe is gone.
    """
    try:
        # By its own name: without links, `/dev/stdout` is `pipe:[1]`, which cannot be opened.
        before = os.stat(path) if os.path.exists(path) else None
        stream = None if before is None else _standard_stream(before)
        if stream is not None:
            _write_all(stream, data)
        elif before is None or stat.S_ISREG(before.st_mode):
            _replace_file(real_path(path), data, before)
        else:
            _write_to_device(path, data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise NotWritten(error.strerror or str(error)) from None


def write_private(path: str, data: bytes) -> None:
    """Write a new file that only its owner can read, in place of an older one of that name.

    Raises `NotWritten`.
    """
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise NotWritten(error.strerror or str(error)) from None
    try:
        _write_all(descriptor, data)
    finally:
        os.close(descriptor)


def replace_if_unchanged(source: Source, text: str, roots: Iterable[str]) -> None:
    """Replace the file of `source`, if it still holds what was read. Raises `NotWritten`."""
    if source.filename is None:
        raise NotWritten("it was not read from a file")
    real = real_path(source.filename)
    if not any(is_below(real, real_path(root)) for root in roots):
        raise NotWritten("it lies outside the project")
    # Replacing needs a writable folder only; a file that is write-protected is meant to stay.
    if not os.access(real, os.W_OK):
        raise NotWritten("it is write-protected")
    try:
        _replace_file(real, text.encode("utf-8"), os.stat(real), unless_changed_from=source.data)
    except OSError as error:
        raise NotWritten(error.strerror or str(error)) from None


def _standard_stream(status: os.stat_result) -> int | None:
    """The descriptor of our standard output or error, if that is the file; None otherwise."""
    for descriptor in (1, 2):
        with contextlib.suppress(OSError):  # it may be closed
            if os.path.samestat(os.fstat(descriptor), status):
                return descriptor
    return None


def _write_to_device(path: str, data: bytes) -> None:
    """Write to a device or a pipe. Opening never waits: a pipe without a reader would block us."""
    names = ("O_NONBLOCK", "O_NOCTTY", "O_BINARY")  # no system has all of these
    try:
        descriptor = os.open(path, sum((getattr(os, name, 0) for name in names), os.O_WRONLY))
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise NotWritten("no program reads from it") from None
        raise
    try:
        # Once it is open, writing may wait for the reader.
        if hasattr(os, "set_blocking"):
            os.set_blocking(descriptor, True)
        _write_all(descriptor, data)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def _replace_file(
    path: str, data: bytes, like: os.stat_result | None, unless_changed_from: bytes | None = None
) -> None:
    """Put a finished file in the place of another."""
    finished = _temporary_path_beside(path)
    with DeferInterrupts():
        try:
            _write_finished_file(finished, data, like, path)
            if unless_changed_from is not None:
                _require_unchanged(path, unless_changed_from)
            if like is not None and like.st_nlink > 1:
                _overwrite_in_place(path, data)  # its other names must not keep the old text
                os.unlink(finished)
            else:
                os.replace(finished, path)
        except BaseException:  # an exception by an interrupt must not leave a copy, either
            with contextlib.suppress(FileNotFoundError):
                os.unlink(finished)
            raise
    _sync_folder(os.path.dirname(path))


def _overwrite_in_place(path: str, data: bytes) -> None:
    """Write into a file that has several names; the finished copy beside it outlives a crash."""
    with open(path, "r+b") as file:
        file.write(data)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def _require_unchanged(path: str, before: bytes) -> None:
    with open(path, "rb") as file:
        if file.read() != before:
            raise NotWritten("it was changed meanwhile")


def _create_file(path: str, data: bytes) -> None:
    """Put a finished file where none is."""
    finished = _temporary_path_beside(path)
    with DeferInterrupts():
        try:
            _write_finished_file(finished, data, None)
            try:
                os.link(finished, path)  # unlike renaming, it never replaces
            except FileExistsError:
                raise
            except OSError:  # not every file system has links
                if os.path.lexists(path):
                    raise FileExistsError(path) from None
                os.rename(finished, path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(finished)


def _temporary_path_beside(path: str) -> str:
    """An unused path in the same folder; also removes what killed runs left there long ago."""
    folder, name = os.path.split(path)
    start, end = f".{name[:180]}.", ".equipage-tmp"
    with contextlib.suppress(OSError):
        for each in os.listdir(folder or "."):
            left = os.path.join(folder, each)
            is_ours = each.startswith(start) and each.endswith(end)
            if is_ours and time.time() - os.lstat(left).st_mtime > _STALE_SECONDS:
                os.unlink(left)
    return os.path.join(folder, f"{start}{os.urandom(6).hex()}{end}")


def _copy_attributes(model: str, descriptor: int) -> None:
    """Give an open file the extended attributes of another, where a system has them."""
    if not hasattr(os, "listxattr"):
        return
    with contextlib.suppress(OSError):
        for name in os.listxattr(model):
            with contextlib.suppress(OSError):  # some only the administrator may set
                os.setxattr(descriptor, name, os.getxattr(model, name))


def _write_finished_file(
    path: str, data: bytes, like: os.stat_result | None, model: str = ""
) -> None:
    """A new file, complete on the disk; with the mode of another, and its owner if allowed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    # A copy is private until it has the mode of its model; a new file follows the umask.
    descriptor = os.open(path, flags, 0o666 if like is None else 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        if like is not None:
            _copy_attributes(model, descriptor)
            if hasattr(os, "fchown"):
                with contextlib.suppress(PermissionError):
                    os.fchown(descriptor, like.st_uid, like.st_gid)
            os.chmod(descriptor if os.chmod in os.supports_fd else path, stat.S_IMODE(like.st_mode))
        os.fsync(descriptor)


def _sync_folder(folder: str) -> None:
    """Flush a folder, so that the new name survives a crash. Not every system can open folders."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
