"""The only module that touches the disk.

Every reference a document makes goes through `Files.refer` with the path policy of its kind. The way to the
target is walked component by component from the descriptor of an allowed root; links are followed only to
targets inside the roots, and the file is read from the very descriptor that was checked, so nothing can be
swapped in between. Only regular files are read, and their size is known before their content is.

`MemoryFiles` is the same thing over a mapping, for strings and tests.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Self

import msgspec

from lading.source import Source

#: The most that is read from one file, unless the kind says otherwise.
MAX_BYTES = 10 * 1024 * 1024
#: What tells a file from what it was before, without reading it: its inode, size and times.
Stamp = tuple[int, int, int, int]

_MAX_LINKS = 40
#: Opening must never wait, never become a program's that is started meanwhile, never take over a terminal.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)
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


class Referred(msgspec.Struct, frozen=True):
    """A source that a reference led to, and whether it lies outside the roots."""

    source: Source
    outside: bool = False


class Seen(msgspec.Struct, frozen=True):
    """What a load looked at: paths, existing or not, and the stamps of the files it read when it read them."""

    asked: tuple[str, ...] = ()
    read: dict[str, Stamp] = {}  #: by real path


def display_name(path: str, cwd: str | None = None) -> str:
    """A path as people are shown it: relative to the working directory if inside, with `/`."""
    base = (cwd if cwd is not None else os.getcwd()).rstrip(os.sep) + os.sep
    absolute = os.path.abspath(path)
    return absolute.removeprefix(base).replace(os.sep, "/")


def stamp_of(path: str) -> Stamp | None:
    """The stamp of what is at a path now; None if there is nothing."""
    try:
        return _stamp(os.stat(path))
    except (OSError, ValueError):
        return None


def _stamp(status: os.stat_result) -> Stamp:
    # A folder is the same folder, whatever comes and goes inside.
    if stat.S_ISDIR(status.st_mode):
        return status.st_ino, -1, 0, 0
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


class Files:
    """Disk access of one load: everything is read at most once and remembered by its real path."""

    __slots__ = ("_asked", "_folders", "_known", "_referred", "_sources", "_stamps", "cwd")

    def __init__(self, *, cwd: str | None = None) -> None:
        self.cwd = cwd if cwd is not None else os.getcwd()
        self._sources: dict[str, Source] = {}
        self._asked: dict[str, None] = {}
        # What loads share, once they are made by `again`.
        self._known: dict[str, Source] = {}
        self._stamps: dict[str, Stamp] = {}
        self._referred: dict[tuple[Any, ...], Referred] = {}
        self._folders: dict[str, tuple[str, str]] = {}

    def again(self) -> Self:
        """The same files for another load: nothing is read twice, and `sources` starts empty."""
        other = object.__new__(type(self))
        other.cwd, other._known, other._stamps = self.cwd, self._known, self._stamps
        other._referred, other._folders = self._referred, self._folders
        other._sources, other._asked = {}, {}
        return other

    def sources(self) -> tuple[Source, ...]:
        """Everything this load read so far, in order."""
        return tuple(self._sources.values())

    def seen(self) -> Seen:
        """What this load depends on: a change of any of it may change the result."""
        return Seen(tuple(self._asked), {path: self._stamps[path] for path in self._sources if path in self._stamps})

    def note(self, source: Source) -> Source:
        """Count a source that another load read as one of this load."""
        if source.path is not None:
            self._sources.setdefault(source.path, source)
        return source

    def is_folder(self, path: str) -> bool:
        self._asked[path] = None
        return os.path.isdir(path)

    def names_below(self, folder: str, *, most: int = 1000) -> list[str]:
        """Paths of files below a folder, relative to it, to guess which one was meant; at the most so many."""
        found: list[str] = []
        for here, folders, names in os.walk(folder):
            folders.sort()
            inner = os.path.relpath(here, folder).replace(os.sep, "/")
            found += [name if inner == "." else f"{inner}/{name}" for name in sorted(names)]
            if len(found) >= most:
                break
        return found[:most]

    def finds_program(self, name: str, search: str) -> bool:
        """Whether a program of that name is in one of the folders of `search`, which is written like PATH."""
        import shutil  # slow to import, rarely needed

        return shutil.which(name, path=search) is not None

    def read(self, path: str, *, max_bytes: int = MAX_BYTES) -> Source:
        """The file that the *caller* named; a person's own argument is not confined.

        Raises `FileProblem`.
        """
        full = os.path.join(self.cwd, path)
        self._asked[full] = None
        try:
            real, name = self._named(full)
        except ValueError as error:
            raise _problem(error, display_name(full, self.cwd)) from None
        known = self._known.get(real)
        if known is not None:
            return self.note(_small_enough(known, name, max_bytes))
        try:
            descriptor, real = _open_named(real, full)
        except (OSError, ValueError) as error:
            raise _problem(error, name) from None
        known = self._known.get(real)
        if known is not None:
            os.close(descriptor)
            return self.note(_small_enough(known, name, max_bytes))
        return self._take(descriptor, real, name, max_bytes)

    def _named(self, full: str) -> tuple[str, str]:
        """A path without links in its folder, and as people are shown it. Files often come from few folders, and each
        look at one costs several calls."""
        folder, last = os.path.split(full)
        if last in ("", ".", ".."):
            return os.path.join(os.path.realpath(folder), last), display_name(full, self.cwd)
        known = self._folders.get(folder)
        if known is None:
            shown = display_name(os.path.join(folder, "x"), self.cwd)[:-1]
            known = self._folders[folder] = os.path.join(os.path.realpath(folder), ""), shown
        return known[0] + last, known[1] + last

    def refer(self, reference: str, bases: Iterable[str], roots: Iterable[str], policy: PathPolicy) -> Referred:
        """The file that a *document* names, looked for in `bases` in order, never outside `roots`.

        Raises `FileProblem`; when the file is in none of the bases, that of the first.
        """
        bases, roots = tuple(bases), tuple(roots)
        self._asked.update((os.path.join(self.cwd, base, reference), None) for base in bases)
        key = (reference, bases, roots, policy)
        known = self._referred.get(key)
        if known is None:
            known = self._referred[key] = self._refer(reference, bases, roots, policy)
        self.note(known.source)
        return known

    def _refer(self, reference: str, bases: tuple[str, ...], roots: tuple[str, ...], policy: PathPolicy) -> Referred:
        check_reference(reference, policy)
        if os.path.isabs(reference):
            return self._absolute(reference, roots, policy)
        first: FileProblem | None = None
        for base in bases:
            try:
                return Referred(self._inside(base, reference, roots, policy))
            except FileProblem as problem:
                if problem.code not in ("file-missing", "file-is-directory"):
                    raise
                first = first or problem
        assert first is not None
        raise first

    def _absolute(self, reference: str, roots: tuple[str, ...], policy: PathPolicy) -> Referred:
        for root in roots:
            real = os.path.realpath(root)
            if os.path.realpath(reference).startswith(real.rstrip("/") + "/"):
                relative = os.path.relpath(os.path.realpath(reference), real)
                return Referred(self._inside(root, relative, roots, policy))
        return Referred(self.read(reference, max_bytes=policy.max_bytes), outside=True)

    def _inside(self, base: str, reference: str, roots: tuple[str, ...], policy: PathPolicy) -> Source:
        opened = _open_below if HAS_DESCRIPTORS else _open_checked
        descriptor, real = opened(base, reference, roots)
        known = self._known.get(real)
        if known is not None:
            os.close(descriptor)
            return self.note(known)
        return self._take(descriptor, real, display_name(real, os.path.realpath(self.cwd)), policy.max_bytes)

    def _take(self, descriptor: int, real: str, name: str, max_bytes: int) -> Source:
        """Read a checked descriptor to the end and close it."""
        try:
            status = os.fstat(descriptor)
            self._stamps[real] = _stamp(status)
            data = _read_regular(descriptor, status, name, max_bytes)
        except OSError as error:
            raise _problem(error, name) from None
        finally:
            os.close(descriptor)
        self._known[real] = decoded(name, data, real)
        return self.note(self._known[real])


def peek(path: str, *, max_bytes: int = MAX_BYTES) -> bytes | None:
    """The content of a file that nobody named, such as one of settings; None if it cannot be had.

    What lies in its place may be anything: a pipe, a device, a file without end.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError):
        return None
    try:
        return _read_regular(descriptor, os.fstat(descriptor), path, max_bytes)
    except (OSError, FileProblem):
        return None
    finally:
        os.close(descriptor)


def _open_named(real: str, full: str) -> tuple[int, str]:
    """A descriptor of a file whose folder has no links, and its real path. Its own name may still be a link."""
    if _NOFOLLOW and not full.endswith(("/", "/.", "/..")):
        try:
            return os.open(real, _FLAGS | _NOFOLLOW), real
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.EMLINK):
                raise
    real = os.path.realpath(full)
    return os.open(real, _FLAGS), real


def _small_enough(source: Source, name: str, max_bytes: int) -> Source:
    """A source read before, perhaps by somebody who allows more. Raises `FileProblem`."""
    if len(source.data) > max_bytes:
        raise FileProblem("file-too-large", file=name, size=len(source.data), limit=max_bytes)
    return source


def decoded(name: str, data: bytes, path: str | None) -> Source:
    """A source of bytes that must be UTF-8 text; binary content is kept as bytes with an empty text.

    A directive that wants text asks `require_text`; one that wants bytes does not care.
    """
    try:
        return Source.of_bytes(name, data, path)
    except UnicodeDecodeError:
        return Source(name, data, "", path)


def require_text(source: Source) -> Source:
    """The same source, if its bytes are text. Raises `FileProblem` with the offset of the first bad byte."""
    if source.data and not source.text:
        try:
            source.data.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = f"0x{source.data[error.start]:02X}"
            raise FileProblem("not-utf8", file=source.name, offset=error.start, byte=byte) from None
    return source


def check_reference(reference: str, policy: PathPolicy) -> None:
    """What can be said about a reference without looking at the disk. Raises `FileProblem`."""
    if not reference:
        raise FileProblem("reference-empty")
    if "\0" in reference:
        raise FileProblem("reference-nul", reference=reference)
    absolute = os.path.isabs(reference) or _looks_absolute_elsewhere(reference)
    if absolute and (policy.absolute == "refuse" or not os.path.isabs(reference)):
        raise FileProblem("reference-absolute", reference=reference)
    if policy.parents == "refuse" and ".." in reference.replace("\\", "/").split("/"):
        raise FileProblem("reference-parent", reference=reference)


def _looks_absolute_elsewhere(reference: str) -> bool:
    """A Windows drive or share: refused everywhere, so that a file means the same on every system."""
    drive = len(reference) > 2 and reference[0].isalpha() and reference[1] == ":" and reference[2] in "\\/"
    return drive or reference.startswith("\\\\")


def _read_regular(descriptor: int, status: os.stat_result, name: str, max_bytes: int) -> bytes:
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


def _problem(error: Exception, name: str) -> FileProblem:
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


class _Walk:
    """The way from a root to a target: the open directories from the root down and what is still to be walked."""

    def __init__(self, roots: tuple[str, ...], reference: str) -> None:
        self.roots = [os.path.realpath(root) for root in roots]
        self.reference = reference
        self.stack: list[tuple[int, str]] = []
        self.links = 0

    def start(self, real: str) -> None:
        """Begin at the root that contains `real`, and walk down to it."""
        self.close()
        root = next((each for each in self.roots if real == each or real.startswith(each.rstrip("/") + "/")), None)
        if root is None:
            raise FileProblem("reference-escapes", reference=self.reference)
        self.stack.append((os.open(root, _FLAGS | _DIRECTORY), root))

    def close(self) -> None:
        for descriptor, _ in self.stack:
            os.close(descriptor)
        self.stack.clear()

    def up(self) -> None:
        if len(self.stack) == 1:
            above = posixpath.dirname(self.stack[0][1])
            self.start(above)  # raises unless another root contains it
            self.down(posixpath.relpath(above, self.stack[0][1]).split("/"))
            return
        os.close(self.stack.pop()[0])

    def down(self, parts: list[str]) -> int | None:
        """Walk `parts`; the descriptor of the last one if it is no directory, else None."""
        pending = list(reversed(parts))
        while pending:
            part = pending.pop()
            if part in ("", "."):
                continue
            if part == "..":
                self.up()
                continue
            parent, where = self.stack[-1]
            try:
                descriptor = os.open(part, _FLAGS | _NOFOLLOW, dir_fd=parent)
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
    walk = _Walk(roots, reference)
    try:
        real = os.path.realpath(base)
        walk.start(real)
        walk.down(posixpath.relpath(real, walk.stack[0][1]).split("/"))
        descriptor = walk.down(reference.split("/"))
        if descriptor is None:
            raise FileProblem("file-is-directory", file=reference)
        _, path = walk.stack.pop()
        return descriptor, path
    except OSError as error:
        raise _problem(error, reference) from None
    finally:
        walk.close()


def _open_checked(base: str, reference: str, roots: tuple[str, ...]) -> tuple[int, str]:
    """The weaker check for systems without descriptors of directories."""
    real = os.path.realpath(os.path.join(base, reference))
    inside = any(
        os.path.normcase(real).startswith(os.path.normcase(os.path.realpath(root)).rstrip(os.sep) + os.sep)
        for root in roots
    )
    if not inside:
        raise FileProblem("reference-escapes", reference=reference)
    if os.path.isdir(real):
        raise FileProblem("file-is-directory", file=reference)
    try:
        return os.open(real, _FLAGS), real
    except OSError as error:
        raise _problem(error, reference) from None


class MemoryFiles(Files):
    """The same interface over a mapping of absolute paths to contents: no disk at all."""

    def __init__(self, contents: Mapping[str, str | bytes], *, cwd: str = "/") -> None:
        super().__init__(cwd=cwd)
        self.contents: Mapping[str, bytes] = {
            posixpath.normpath(posixpath.join(cwd, path)): data.encode() if isinstance(data, str) else data
            for path, data in contents.items()
        }
        self.opened: list[str] = []

    def again(self) -> Self:
        other = super().again()
        other.contents, other.opened = self.contents, self.opened
        return other

    def read(self, path: str, *, max_bytes: int = MAX_BYTES) -> Source:
        real = posixpath.normpath(posixpath.join(self.cwd, path))
        return self._content(real, display_name(real, self.cwd), max_bytes)

    def is_folder(self, path: str) -> bool:
        prefix = posixpath.normpath(posixpath.join(self.cwd, path)).rstrip("/") + "/"
        return any(each.startswith(prefix) for each in self.contents)

    def names_below(self, folder: str, *, most: int = 1000) -> list[str]:
        prefix = posixpath.normpath(posixpath.join(self.cwd, folder)).rstrip("/") + "/"
        return sorted(each.removeprefix(prefix) for each in self.contents if each.startswith(prefix))[:most]

    def _inside(self, base: str, reference: str, roots: tuple[str, ...], policy: PathPolicy) -> Source:
        real = posixpath.normpath(posixpath.join(self.cwd, base, reference))
        within = (posixpath.normpath(posixpath.join(self.cwd, root)) for root in roots)
        if not any(real == root or real.startswith(root.rstrip("/") + "/") for root in within):
            raise FileProblem("reference-escapes", reference=reference)
        return self._content(real, display_name(real, self.cwd), policy.max_bytes, reference)

    def _absolute(self, reference: str, roots: tuple[str, ...], policy: PathPolicy) -> Referred:
        inside = any(reference.startswith(root.rstrip("/") + "/") for root in roots)
        return Referred(self.read(reference, max_bytes=policy.max_bytes), outside=not inside)

    def _content(self, real: str, name: str, max_bytes: int, shown: str | None = None) -> Source:
        if real in self._known:
            return self.note(self._known[real])
        if real not in self.contents:
            folder = any(path.startswith(real + "/") for path in self.contents)
            raise FileProblem("file-is-directory" if folder else "file-missing", file=shown or name)
        data = self.contents[real]
        if len(data) > max_bytes:
            raise FileProblem("file-too-large", file=name, size=len(data), limit=max_bytes)
        self.opened.append(real)
        self._known[real] = decoded(name, data, real)
        return self.note(self._known[real])
