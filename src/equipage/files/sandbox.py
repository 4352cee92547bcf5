"""Opening what a document refers to, and nothing outside the allowed folders.

The way to the target is walked component by component from the descriptor of an allowed root. Links
are followed only to targets inside the roots, and the file is read from the very descriptor that
was checked, so nothing can be swapped in between. Only regular files are read, and their size is
known before their content is.

The walk is our own because the obvious way, to compare `realpath` with the roots and then open the
file, leaves a gap between the two. Linux has one call for all of it, `openat2`, but Python cannot
make it, and other systems lack it.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat
import time
from collections.abc import Callable
from functools import cache
from typing import Literal

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Code
from equipage.files import MAX_BYTES, is_below, parents_of

_MAX_LINKS = 40
#: Opening must never wait, never pass the file on to a program that is started meanwhile, and never
#: take over a terminal.
OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
#: What opening a link with `O_NOFOLLOW` ends in; FreeBSD says EMLINK.
_LINK_ERRORS = (errno.ELOOP, errno.EMLINK)
#: How often a link may be swapped between a look at it and its use before reading it is refused,
#: and how often a path that keeps changing is looked at again.
_MAX_TRIES, _MAX_LOOKS = 8, 100
#: Without `dir_fd` (Windows), paths are resolved by name and compared with the roots: a weaker
#: check, because the file could be swapped between checking and reading.
HAS_DESCRIPTORS = os.open in os.supports_dir_fd and bool(_NOFOLLOW)
#: Virtual file systems: the environment of processes, the files they have open, devices.
_SYSTEM_FOLDERS = ("/proc", "/sys", "/dev")
_SYSTEM_PREFIXES = tuple(f"{each}/" for each in _SYSTEM_FOLDERS)
#: A file system of its own, for ordinary files.
_SHARED_MEMORY = "/dev/shm/"
#: What version control keeps about a project: addresses with passwords, the text of old files.
_VERSION_CONTROL_FOLDERS = frozenset({".git", ".hg", ".svn", ".jj", ".bzr", "_darcs"})
#: What git looks for itself: a folder that has these is a repository, whatever its name. A file
#: `.git` may lead to one, and a bare one has no `.git` at all.
REPOSITORY_ENTRIES = ("HEAD", "objects", "refs")


class FileProblem(Exception):
    """A file cannot be read: a code and the values that its message uses."""

    def __init__(self, code: Code, **values: object) -> None:
        self.code, self.values = code, values
        super().__init__(code, values)


class PathPolicy(msgspec.Struct, frozen=True):
    """Which references a directive may make. Data, so that the table in the docs is the code."""

    absolute: Literal["refuse", "outside", "unread"] = "refuse"
    """What to do with an absolute path: refuse it, or warn if it leaves the roots, and then read it
    (`outside`) or not (`unread`)."""
    parents: Literal["refuse", "inside"] = "refuse"
    """What to do with a `..` component."""
    max_bytes: int = MAX_BYTES
    text: bool = False
    """Whether the file must be text."""


def check_reference(reference: str, policy: PathPolicy) -> None:
    """Refuse what is wrong with a reference whatever is on the disk. Raises `FileProblem`."""
    if not reference:
        raise FileProblem(codes.REFERENCE_EMPTY)
    if "\0" in reference:
        raise FileProblem(codes.REFERENCE_NUL, reference=reference)
    if not reference.isascii() and any("\ud800" <= each <= "\udfff" for each in reference):
        raise FileProblem(codes.LONE_SURROGATE, reference=reference)
    # A Windows drive or share is refused everywhere: a file means the same on every system.
    drive = reference[:1].isalpha() and reference[1:2] == ":" and reference[2:3] in ("\\", "/")
    is_foreign = drive or reference.startswith("\\\\")
    is_absolute = os.path.isabs(reference)
    if (is_foreign and not is_absolute) or (is_absolute and policy.absolute == "refuse"):
        raise FileProblem(codes.REFERENCE_ABSOLUTE, reference=reference)
    refuse_version_control(reference.replace("\\", "/"), reference)
    if policy.parents == "refuse" and ".." in reference.replace("\\", "/").split("/"):
        raise FileProblem(codes.REFERENCE_PARENT, reference=reference)


def escape_problem(reference: str, *, linked: bool | None = None) -> FileProblem:
    """The problem that a reference leaves the roots; by a link, unless it is its own `..`."""
    linked = ".." not in reference.split("/") if linked is None else linked
    advice = "put a copy of the file in place of the link" if linked else "move the file inside"
    return FileProblem(codes.REFERENCE_ESCAPES, reference=reference, advice=advice)


def refuse_version_control(path: str, reference: str) -> None:
    """Refuse a path through a folder of version control, however it is spelt, on every system.

    Raises `FileProblem`. What only a look at the disk tells is left to `refuse_repository`.
    """
    # Some file systems do not tell upper from lower case, or drop dots and blanks at the end.
    names = [part.rstrip(". ").lower() for part in path.split("/")]
    if not _VERSION_CONTROL_FOLDERS.isdisjoint(names):
        raise FileProblem(codes.REFERENCE_PRIVATE, reference=reference)


def refuse_repository(folder: int | str, reference: str) -> None:
    """Refuse to read what is in a folder that git keeps its own files in. Raises `FileProblem`."""
    for name in REPOSITORY_ENTRIES:
        try:
            if isinstance(folder, int):
                os.stat(name, dir_fd=folder, follow_symlinks=False)
            else:
                os.lstat(os.path.join(folder, name))
        except (OSError, ValueError):
            return
    raise FileProblem(codes.REFERENCE_PRIVATE, reference=reference)


def refuse_system(path: str) -> None:
    """Refuse an absolute path into `/proc`, `/sys` or `/dev`. Raises `FileProblem`."""
    way = os.path.normpath(path).replace("//", "/", 1) + "/"
    if _is_system_file(way, None):
        raise FileProblem(codes.FILE_NOT_REGULAR, file=path)


def real_path(path: str) -> str:
    """The absolute path with every link followed."""
    for _ in range(_MAX_LOOKS):
        try:
            return os.path.realpath(path)
        except OSError:
            continue  # it was a link a moment ago, or could be read: look again
        except ValueError:  # a zero byte: no file has such a name
            break
    return os.path.abspath(path)


def links_on_way(path: str) -> tuple[str, ...]:
    """Each link that is followed on the way to an absolute path, and its target, one by one."""
    found: list[str] = []
    here, pending = "/", path.split("/")[::-1]
    while pending and len(found) < 2 * _MAX_LINKS:
        here = os.path.normpath(os.path.join(here, pending.pop()))  # `here` has no links
        try:
            target = os.readlink(here)
        except (OSError, ValueError):  # not a link, or there is nothing
            continue
        found += here, target
        pending += target.split("/")[::-1]
        here = "/" if target.startswith("/") else os.path.dirname(here)
    return tuple(found)


def open_following_link(real: str, full: str) -> tuple[int, str]:
    """A descriptor of a file whose folder has no links, and its real path: it may be a link."""
    if not _NOFOLLOW or full.endswith(("/", "/.", "/..")):
        real = real_path(full)
        return os.open(real, OPEN_FLAGS), real
    for _ in range(_MAX_TRIES):
        try:
            return os.open(real, OPEN_FLAGS | _NOFOLLOW), real
        except OSError as error:
            if error.errno not in _LINK_ERRORS:
                raise
        # What the link leads to is opened by its own name: if it is swapped in between, the next
        # try finds a link again, and never the text of one file under the name of another.
        real = real_path(full)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


class Descriptor:
    """A file that is open: its descriptor, its real path, and its status if that was asked for."""

    __slots__ = ("_descriptor", "_status", "real")

    def __init__(self, descriptor: int, real: str, status: os.stat_result | None = None) -> None:
        self._descriptor, self.real, self._status = descriptor, real, status

    def read(self, name: str, max_bytes: int) -> bytes:
        try:
            status = self._status or os.fstat(self._descriptor)
            return read_regular(self._descriptor, status, self.real, name, max_bytes)
        except OSError as error:
            raise problem_of_os_error(error, name) from None

    def close(self) -> None:
        os.close(self._descriptor)


#: Folders that held no repository when they were checked: device, inode, times.
FoldersWithoutRepository = set[tuple[int, int, int, int]]
#: A folder that changed in the last two seconds, in nanoseconds, may change again unseen.
_RECENT_NANOSECONDS = 2_000_000_000


def open_inside(
    base: str,
    reference: str,
    roots: tuple[str, ...],
    real_path: Callable[[str], str] = real_path,
    plain: FoldersWithoutRepository | None = None,
) -> Descriptor:
    """The file that a reference leads to from a base, open.

    Nothing outside the roots is opened. What is in `plain` is not looked at again; folders
    that turn out to hold no repository are added to it. Raises `FileProblem`.
    """
    if not HAS_DESCRIPTORS:
        return _open_after_check(base, reference, roots)
    walk = _Walk(reference, plain)
    try:
        real = real_path(base)
        walk.roots = [real if root == base else real_path(root) for root in roots]
        # The base first, which may itself be below a root, then the reference from there.
        walk.start_at_root(real)
        if real != walk.stack[0][1]:
            walk.descend(posixpath.relpath(real, walk.stack[0][1]).split("/"))
        status = walk.descend(reference.split("/"))
        if status is None:
            raise FileProblem(codes.FILE_IS_DIRECTORY, file=reference)
        return Descriptor(*walk.stack.pop(), status)  # the caller closes this one
    except (OSError, ValueError) as error:  # a name that no file can have is a ValueError
        raise problem_of_os_error(error, reference) from None
    finally:
        walk.close()


class _Walk:
    """The way from a root to a target.

    `stack` holds the open folders from the root down, each with its path. `pending` in the methods
    is what is still to be walked, the next part last.
    """

    def __init__(self, reference: str, plain: FoldersWithoutRepository | None = None) -> None:
        self.roots: list[str] = []  #: without links
        self.reference = reference
        self.plain = plain
        self.stack: list[tuple[int, str]] = []
        self.links = 0

    def start_at_root(self, real: str) -> None:
        """Begin at the root that contains `real`."""
        self.close()
        root = self.find_root(real)
        if root is None:
            raise escape_problem(self.reference, linked=self.links > 0)
        self.stack.append((os.open(root, OPEN_FLAGS | _DIRECTORY), root))

    def find_root(self, real: str) -> str | None:
        """The root that contains a path without links."""
        for root in self.roots:
            if is_below(real, root):
                return root
        return None

    def close(self) -> None:
        for descriptor, _ in self.stack:
            os.close(descriptor)
        self.stack.clear()

    def descend(self, parts: list[str]) -> os.stat_result | None:
        """Walk `parts`; the status of the last one if it is not a folder, else None."""
        pending = parts[::-1]
        while pending:
            part = pending.pop()
            if part in ("", "."):
                continue
            if part == "..":
                self.ascend(pending)
                continue
            if part.rstrip(". ").lower() in _VERSION_CONTROL_FOLDERS:  # also behind a link
                raise FileProblem(codes.REFERENCE_PRIVATE, reference=self.reference)
            parent, where = self.stack[-1]
            try:
                descriptor = os.open(part, OPEN_FLAGS | _NOFOLLOW, dir_fd=parent)
            except OSError as error:
                if error.errno not in _LINK_ERRORS:
                    raise
                self.follow_link(part, pending)
                continue
            # On the stack at once, so that `close` finds it whatever happens next.
            self.stack.append((descriptor, f"{where.rstrip('/')}/{part}"))
            status = os.fstat(descriptor)
            if not stat.S_ISDIR(status.st_mode):
                if not {"", "."}.issuperset(pending):
                    raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
                return status
            self.refuse_repository_once(descriptor, status)
        return None

    def refuse_repository_once(self, folder: int, status: os.stat_result) -> None:
        """As `refuse_repository`, but skip folders that were checked and have not changed since."""
        changed = status.st_mtime_ns, status.st_ctime_ns
        identity = (status.st_dev, status.st_ino, *changed)
        if self.plain is not None and identity in self.plain:
            return
        refuse_repository(folder, self.reference)
        if self.plain is not None and max(changed) < time.time_ns() - _RECENT_NANOSECONDS:
            self.plain.add(identity)

    def ascend(self, pending: list[str]) -> None:
        """One step up.

        If that leaves the root, the way goes on by name alone until it is inside another one:
        nothing outside is opened, and whether it exists makes no difference.
        """
        if len(self.stack) > 1:
            os.close(self.stack.pop()[0])
            return
        left = self.stack[0][1]
        here = posixpath.dirname(left)
        while pending and self.find_root(here) is None:
            here = posixpath.normpath(posixpath.join(here, pending.pop()))
        if here == left != "/":  # it would reveal the name of the folder above
            raise escape_problem(self.reference, linked=self.links > 0)
        self.start_at_root(here)  # raises unless a root contains it
        self.descend(posixpath.relpath(here, self.stack[0][1]).split("/"))

    def follow_link(self, part: str, pending: list[str]) -> None:
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
        if target.startswith("/"):
            self.start_at_root(posixpath.normpath(target))
            target = posixpath.relpath(posixpath.normpath(target), self.stack[0][1])
        pending.extend(reversed(target.split("/")))


def _open_after_check(base: str, reference: str, roots: tuple[str, ...]) -> Descriptor:
    """The weaker check for systems without descriptors of folders."""
    real = real_path(os.path.join(base, reference))
    # Windows does not tell upper from lower case.
    folders = (os.path.normcase(real_path(root)).rstrip(os.sep) + os.sep for root in roots)
    if not os.path.normcase(real).startswith(tuple(folders)):
        raise escape_problem(reference)
    refuse_version_control(real.replace(os.sep, "/"), reference)
    for folder in parents_of(real):
        refuse_repository(folder, reference)
    if os.path.isdir(real):
        raise FileProblem(codes.FILE_IS_DIRECTORY, file=reference)
    try:
        return Descriptor(os.open(real, OPEN_FLAGS), real)
    except OSError as error:
        raise problem_of_os_error(error, reference) from None


def read_regular(
    descriptor: int, status: os.stat_result, real: str, name: str, max_bytes: int
) -> bytes:
    """The content of an open file. Raises `FileProblem` unless it is regular and small enough."""
    refuse_irregular(status, real, name, max_bytes)
    # One byte more than the file claims reveals one that grew, or that the system makes up.
    data = os.read(descriptor, status.st_size + 1)
    if len(data) == status.st_size > 0:
        return data  # the usual file, after a single call
    while len(data) <= status.st_size:
        more = os.read(descriptor, status.st_size + 1 - len(data))
        if not more:
            return data
        data += more
    reason = "it holds more bytes than its size says"
    raise FileProblem(codes.FILE_UNREADABLE, file=name, reason=reason)


def refuse_irregular(status: os.stat_result, real: str, name: str, max_bytes: int) -> None:
    """Raise `FileProblem` unless an open file is regular and small enough."""
    if stat.S_ISDIR(status.st_mode):
        raise FileProblem(codes.FILE_IS_DIRECTORY, file=name)
    if not stat.S_ISREG(status.st_mode) or _is_system_file(real, status):
        raise FileProblem(codes.FILE_NOT_REGULAR, file=name)
    if status.st_size > max_bytes:
        raise FileProblem(codes.FILE_TOO_LARGE, file=name, size=status.st_size, limit=max_bytes)


def _is_system_file(real: str, status: os.stat_result | None) -> bool:
    """Whether a file is in `/proc`, `/sys` or `/dev`, or on one of their file systems."""
    if real.startswith(_SYSTEM_PREFIXES):
        return not real.startswith(_SHARED_MEMORY)
    return (
        status is not None and status.st_dev in _system_devices()
    )  # the same file systems, mounted elsewhere


@cache
def _system_devices() -> frozenset[int]:
    """The file systems of `/proc`, `/sys` and `/dev`, unless they are part of the usual one."""
    found = {os.stat(each).st_dev for each in _SYSTEM_FOLDERS if os.path.isdir(each)}
    return frozenset(found - {os.stat("/").st_dev})


def problem_of_os_error(error: Exception, name: str) -> FileProblem:
    """The `FileProblem` for an error of the operating system."""
    number = getattr(error, "errno", None)
    if number in (errno.ENOENT, errno.ENOTDIR):
        return FileProblem(codes.FILE_MISSING, file=name)
    if number == errno.EISDIR:
        return FileProblem(codes.FILE_IS_DIRECTORY, file=name)
    if number == errno.ELOOP:
        return FileProblem(codes.FILE_LINK_LOOP, file=name)
    if number in (errno.ENXIO, errno.ENODEV):
        return FileProblem(codes.FILE_NOT_REGULAR, file=name)
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return FileProblem(codes.FILE_UNREADABLE, file=name, reason=reason)
