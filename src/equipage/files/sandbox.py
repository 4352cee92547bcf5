"""Opening what a document names, and nothing outside the allowed folders.

The way to the target is walked component by component from the descriptor of an allowed root; links are followed only
to targets inside the roots, and the file is read from the very descriptor that was checked, so nothing can be swapped
in between. Only regular files are read, and their size is known before their content is.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from typing import Literal

import msgspec

#: The most that is read from one file, unless the kind says otherwise.
MAX_BYTES = 10 * 1024 * 1024

_MAX_LINKS = 40
#: Opening must never wait, never become a program's that is started meanwhile, never take over a terminal.
FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
#: Without `dir_fd` (Windows), components are resolved by name and compared with the roots: a weaker check,
#: because the file could be swapped between checking and reading.
HAS_DESCRIPTORS = os.open in os.supports_dir_fd and bool(_NOFOLLOW)


class FileProblem(Exception):
    """A file cannot be had: a code and the values its sentence uses."""

    def __init__(self, code: str, **values: object) -> None:
        self.code, self.values = code, values
        super().__init__(code, values)


class PathPolicy(msgspec.Struct, frozen=True):
    """Which references a kind's directive may make. Data, so that the table in the docs is the code."""

    #: what to do with an absolute path: refuse it, or read it (`outside`: with a warning if it leaves the roots)
    absolute: Literal["refuse", "outside"] = "refuse"
    #: what to do with a `..` component
    parents: Literal["refuse", "inside"] = "refuse"
    max_bytes: int = MAX_BYTES


def check_reference(reference: str, policy: PathPolicy) -> None:
    """What can be said about a reference without looking at the disk. Raises `FileProblem`."""
    if not reference:
        raise FileProblem("reference-empty")
    if "\0" in reference:
        raise FileProblem("reference-nul", reference=reference)
    if not reference.isascii() and any("\ud800" <= each <= "\udfff" for each in reference):
        raise FileProblem("lone-surrogate", reference=reference)
    absolute = os.path.isabs(reference) or _looks_absolute_elsewhere(reference)
    if absolute and (policy.absolute == "refuse" or not os.path.isabs(reference)):
        raise FileProblem("reference-absolute", reference=reference)
    if policy.parents == "refuse" and ".." in reference.replace("\\", "/").split("/"):
        raise FileProblem("reference-parent", reference=reference)


def _looks_absolute_elsewhere(reference: str) -> bool:
    """A Windows drive or share: refused everywhere, so that a file means the same on every system."""
    drive = (
        len(reference) > 2
        and reference[0].isalpha()
        and reference[1] == ":"
        and reference[2] in "\\/"
    )
    return drive or reference.startswith("\\\\")


def open_named(real: str, full: str) -> tuple[int, str]:
    """A descriptor of a file whose folder has no links, and its real path. Its own name may still be a link."""
    if _NOFOLLOW and not full.endswith(("/", "/.", "/..")):
        try:
            return os.open(real, FLAGS | _NOFOLLOW), real
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.EMLINK):
                raise
    real = os.path.realpath(full)
    return os.open(real, FLAGS), real


def open_inside(base: str, reference: str, roots: tuple[str, ...]) -> tuple[int, str]:
    """A descriptor of the file that a reference leads to from a base, and its real path. Raises `FileProblem`."""
    return (_open_below if HAS_DESCRIPTORS else _open_checked)(base, reference, roots)


class _Walk:
    """The way from a root to a target: the open directories from the root down and what is still to be walked."""

    def __init__(self, reference: str) -> None:
        self.roots: list[str] = []  #: without links
        self.reference = reference
        self.stack: list[tuple[int, str]] = []
        self.links = 0

    def start(self, real: str) -> None:
        """Begin at the root that contains `real`, and walk down to it."""
        self.close()
        root = self.root_of(real)
        if root is None:
            raise FileProblem("reference-escapes", reference=self.reference)
        self.stack.append((os.open(root, FLAGS | _DIRECTORY), root))

    def root_of(self, real: str) -> str | None:
        """The root that contains a path without links."""
        return next(
            (
                each
                for each in self.roots
                if real == each or real.startswith(each.rstrip("/") + "/")
            ),
            None,
        )

    def close(self) -> None:
        for descriptor, _ in self.stack:
            os.close(descriptor)
        self.stack.clear()

    def up(self, pending: list[str]) -> None:
        """One step up. Where that leaves the root, the way goes on by name alone until it is inside another one:
        nothing outside is opened, and whether it exists makes no difference."""
        if len(self.stack) > 1:
            os.close(self.stack.pop()[0])
            return
        left = self.stack[0][1]
        here = posixpath.dirname(left)
        while pending and self.root_of(here) is None:
            here = posixpath.normpath(posixpath.join(here, pending.pop()))
        if here == left != "/":  # it would tell what the folder above is called
            raise FileProblem("reference-escapes", reference=self.reference)
        self.start(here)  # raises unless a root contains it
        self.down(posixpath.relpath(here, self.stack[0][1]).split("/"))

    def down(self, parts: list[str]) -> int | None:
        """Walk `parts`; the descriptor of the last one if it is no directory, else None."""
        pending = list(reversed(parts))
        while pending:
            part = pending.pop()
            if part in ("", "."):
                continue
            if part == "..":
                self.up(pending)
                continue
            parent, where = self.stack[-1]
            try:
                descriptor = os.open(part, FLAGS | _NOFOLLOW, dir_fd=parent)
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.EMLINK):
                    raise
                self.follow(part, pending)
                continue
            if stat.S_ISDIR(os.fstat(descriptor).st_mode):
                self.stack.append((descriptor, f"{where.rstrip('/')}/{part}"))
            elif any(each not in ("", ".") for each in pending):
                os.close(descriptor)
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            else:
                self.stack.append((descriptor, f"{where.rstrip('/')}/{part}"))
                return descriptor
        return None

    def follow(self, part: str, pending: list[str]) -> None:
        """Put the target of a link in front of what is still to be walked."""
        self.links += 1
        if self.links > _MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        parent, _ = self.stack[-1]
        try:
            target = os.readlink(part, dir_fd=parent)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            pending.append(part)  # it was a link a moment ago; look again
            return
        steps = target.split("/")
        if target.startswith("/"):
            self.start(posixpath.normpath(target))
            steps = posixpath.relpath(posixpath.normpath(target), self.stack[0][1]).split("/")
        pending.extend(reversed(steps))


def _open_below(base: str, reference: str, roots: tuple[str, ...]) -> tuple[int, str]:
    """A descriptor of the target and its real path. Raises `FileProblem`, never opens anything outside."""
    walk = _Walk(reference)
    try:
        real = os.path.realpath(base)
        walk.roots = [os.path.realpath(root) for root in roots]
        walk.start(real)
        walk.down(posixpath.relpath(real, walk.stack[0][1]).split("/"))
        descriptor = walk.down(reference.split("/"))
        if descriptor is None:
            raise FileProblem("file-is-directory", file=reference)
        _, path = walk.stack.pop()
        return descriptor, path
    except (OSError, ValueError) as error:  # a name that no file can have is a ValueError
        raise refusal(error, reference) from None
    finally:
        walk.close()


def _open_checked(base: str, reference: str, roots: tuple[str, ...]) -> tuple[int, str]:
    """The weaker check for systems without descriptors of directories."""
    real = os.path.realpath(os.path.join(base, reference))
    inside = any(
        os.path.normcase(real).startswith(
            os.path.normcase(os.path.realpath(root)).rstrip(os.sep) + os.sep
        )
        for root in roots
    )
    if not inside:
        raise FileProblem("reference-escapes", reference=reference)
    if os.path.isdir(real):
        raise FileProblem("file-is-directory", file=reference)
    try:
        return os.open(real, FLAGS), real
    except OSError as error:
        raise refusal(error, reference) from None


def read_regular(descriptor: int, status: os.stat_result, name: str, max_bytes: int) -> bytes:
    if stat.S_ISDIR(status.st_mode):
        raise FileProblem("file-is-directory", file=name)
    if not stat.S_ISREG(status.st_mode):
        raise FileProblem("file-not-regular", file=name)
    if status.st_size > max_bytes:
        raise FileProblem("file-too-large", file=name, size=status.st_size, limit=max_bytes)
    # One byte more than allowed tells a file that grew, or a special one that says it is empty.
    data = os.read(descriptor, status.st_size + 1)
    if len(data) == status.st_size > 0:
        return data
    while True:
        if len(data) > max_bytes:
            raise FileProblem("file-too-large", file=name, size=len(data), limit=max_bytes)
        more = os.read(descriptor, 65536)
        if not more:
            return data
        data += more


def refusal(error: Exception, name: str) -> FileProblem:
    """An operating system's refusal in our words."""
    number = getattr(error, "errno", None)
    if number in (errno.ENOENT, errno.ENOTDIR):
        return FileProblem("file-missing", file=name)
    if number == errno.EISDIR:
        return FileProblem("file-is-directory", file=name)
    if number == errno.ELOOP:
        return FileProblem("file-link-loop", file=name)
    if number in (errno.ENXIO, errno.ENODEV):
        return FileProblem("file-not-regular", file=name)
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return FileProblem("file-unreadable", file=name, reason=reason)
