"""The only module that writes to the disk: whole files, or nothing."""

from __future__ import annotations

import contextlib
import os
import secrets


class NotWritten(Exception):
    """A file was left as it is; the text says why."""


def write_new(path: str, data: bytes) -> None:
    """Write a file that does not exist yet, and the folders it stands in. Raises `NotWritten`."""
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "xb") as file:
            file.write(data)
    except FileExistsError:
        raise NotWritten("it exists already") from None
    except OSError as error:
        raise NotWritten(error.strerror or str(error)) from None


def write_whole(path: str, data: bytes) -> None:
    """Write a file, or replace it in one step: nobody ever sees half of it. Raises `NotWritten`."""
    folder, name = os.path.split(os.path.realpath(path))
    finished = os.path.join(folder, f".{name[:200]}.{secrets.token_hex(6)}")
    try:
        mode = os.stat(path).st_mode & 0o777 if os.path.exists(path) else None
        with open(finished, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(finished, mode)
        os.replace(finished, path if os.path.isdir(path) else os.path.realpath(path))
    except OSError as error:
        raise NotWritten(error.strerror or str(error)) from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(finished)
