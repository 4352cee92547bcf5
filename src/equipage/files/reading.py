"""The files of a load, each read once.

`Files.read` reads what the caller names, wherever it is. Every reference that a document makes goes
through `Files.refer` with the path policy of its kind, and is opened by `sandbox`. `MemoryFiles`
has the same interface over a mapping, for strings, revisions and tests.
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Iterable, Mapping
from typing import Any, Self

import msgspec

from equipage.core import codes
from equipage.core.source import Source
from equipage.files import (
    MAX_RECURSION,
    active_overlay,
    exists,
    is_disk_hidden,
    is_folder,
    is_link,
    is_possible_path,
    real_path,
    status_of,
    working_directory,
)
from equipage.files.sandbox import (
    MAX_BYTES,
    OPEN_FLAGS,
    FileProblem,
    FoldersWithoutRepository,
    PathPolicy,
    check_reference,
    escape_problem,
    is_below,
    open_following_link,
    open_inside,
    parents_of,
    problem_of_os_error,
    read_regular,
    refuse_irregular,
    refuse_repository,
    refuse_system,
    refuse_version_control,
)

#: Tells whether a file has changed without reading it: its inode, size and times.
Stamp = tuple[int, int, int, int]


class Referred(msgspec.Struct, frozen=True):
    """A source that a reference led to, and whether an absolute path to it deserves a warning."""

    source: Source
    outside: bool = False


class Seen(msgspec.Struct, frozen=True):
    """What a load looked at: paths, existing or not, and the stamps of the files that it read."""

    asked: tuple[str, ...] = ()
    read: dict[str, Stamp] = {}  #: by real path, as they were when they were read


def display_name(path: str, cwd: str | None = None) -> str:
    """A path as people are shown it: relative to the working directory if inside, with `/`."""
    base = (cwd if cwd is not None else working_directory()).rstrip(os.sep) + os.sep
    return os.path.abspath(path).removeprefix(base).replace(os.sep, "/")


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


#: Ends of paths that do not name a file.
_NO_NAMES = ("", ".", "..")


def _from(cwd: str, path: str) -> str:
    """As `os.path.join`, which takes longer where the path is absolute already."""
    is_absolute = path[:1] == "/" and os.sep == "/"
    return path if is_absolute else os.path.join(cwd, path)


class Files:
    """Disk access of one load: everything is read at most once and remembered by its real path."""

    __slots__ = (
        "_asked",
        "_folders",
        "_known",
        "_plain",
        "_reals",
        "_referred",
        "_renamed",
        "_sources",
        "_stamps",
        "_within",
        "cwd",
        "within",
    )

    def __init__(self, *, cwd: str | None = None) -> None:
        self.cwd = cwd if cwd is not None else working_directory()
        #: the folder of a walk and its project, if what is read came from one
        self.within: tuple[str, str] | None = None
        self._sources: dict[str, Source] = {}
        self._asked: dict[str, None] = {}
        # Loads that are made by `again` share these.
        self._known: dict[str, Source] = {}
        self._renamed: dict[tuple[str, str], Source] = {}  #: those with several names
        self._stamps: dict[str, Stamp] = {}
        self._referred: dict[tuple[Any, ...], Referred] = {}
        self._folders: dict[str, tuple[str, str]] = {}
        self._plain: FoldersWithoutRepository = set()
        self._reals: dict[str, tuple[tuple[int, int], str]] = {}
        self._within: dict[tuple[str, tuple[str, ...]], tuple[tuple[int, int], bool]] = {}

    def again(self) -> Self:
        """These files for another load: nothing is read twice, and `sources` starts empty."""
        # Not through `__init__`: that of a subclass takes other arguments.
        other = object.__new__(type(self))
        other.cwd, other._known, other._stamps = self.cwd, self._known, self._stamps
        other._referred, other._folders = self._referred, self._folders
        other._renamed, other._plain = self._renamed, self._plain
        other._reals, other._within = self._reals, self._within
        other._sources, other._asked = {}, {}
        other.within = None
        return other

    def sources(self) -> tuple[Source, ...]:
        """Everything this load read so far, in order."""
        return tuple(self._sources.values())

    def seen(self) -> Seen:
        """What this load depends on: a change of any of it may change the result."""
        read = {path: self._stamps[path] for path in self._sources if path in self._stamps}
        return Seen(tuple(self._asked), read)

    def note(self, source: Source) -> Source:
        """Count a source that another load read as one of this load."""
        if source.filename is not None:
            self._sources.setdefault(source.filename, source)
        return source

    def is_folder(self, path: str) -> bool:
        self._asked[path] = None
        return is_folder(path)

    def is_within(self, path: str, *folders: str) -> bool:
        """Whether a path is one of these folders or below one, once every link is followed."""
        if not is_possible_path(path):
            return False
        real = self._real_file(path)
        return any(is_below(real, self.real_folder(each)) for each in folders)

    def _real_file(self, path: str) -> str:
        """As `real_path`, with one look at the folder and one at the file in it."""
        folder, last = os.path.split(path)
        if last in _NO_NAMES or not os.path.isabs(path) or is_link(path):
            return real_path(path)
        return os.path.join(self.real_folder(folder), last)

    def is_read_within(self, real: str, folders: tuple[str, ...]) -> bool:
        """As `is_within`, for a file that was opened by its real path.

        A link would not have been opened, so the answer is that of its folder. A look at the folder
        is enough to know that it is still the one that was asked about for another file.
        """
        folder = os.path.dirname(real)
        status = None if is_disk_hidden() else status_of(folder)
        if status is None:
            return self.is_within(real, *folders)
        identity = status.st_dev, status.st_ino
        known = self._within.get((folder, folders))
        if known is None or known[0] != identity:
            known = self._within[folder, folders] = identity, self.is_within(real, *folders)
        return known[1]

    def real_folder(self, path: str) -> str:
        """As `real_path`, for a folder that every file of a run asks about.

        A look at the folder itself is enough to know that it is still the one it was.
        """
        status = None if is_disk_hidden() else status_of(path)
        if status is None:
            return real_path(path)
        identity = status.st_dev, status.st_ino
        known = self._reals.get(path)
        if known is None or known[0] != identity:
            known = self._reals[path] = identity, real_path(path)
        return known[1]

    def shown(self, path: str) -> str:
        """As `display_name`, looked up once for each folder."""
        return self._named(_from(self.cwd, path))[1]

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder at an absolute path."""
        self._asked[path] = None
        return exists(path) or path in self._known

    def peek(self, path: str) -> bytes | None:
        """The content of a file that is not a source of this load; None if it cannot be read."""
        self._asked[path] = None
        return peek(path)

    def beginning(self, path: str, size: int) -> bytes | None:
        """The first bytes of what `peek` gives."""
        if active_overlay() is not None:
            data = self.peek(path)
            return None if data is None else data[:size]
        return _peek(path, MAX_BYTES, size)

    def names_below(self, folder: str, *, most: int = 1000) -> list[str]:
        """Up to `most` paths of files below a folder, relative to it, to guess what was meant."""
        found: list[str] = []
        for here, folders, names in os.walk(folder):
            folders.sort()
            inner = os.path.relpath(here, folder).replace(os.sep, "/")
            found += [name if inner == "." else f"{inner}/{name}" for name in sorted(names)]
            if len(found) >= most:
                break
        return found[:most]

    def finds_program(self, name: str, search: str) -> bool:
        """Whether a program is in one of the folders of `search`, which is written like PATH."""
        if is_disk_hidden():
            return True  # the machine that will run it is not here
        import shutil  # slow to import, rarely needed

        return shutil.which(name, path=search) is not None

    def read(self, path: str, *, max_bytes: int = MAX_BYTES) -> Source:
        """The file that the *caller* names; what a person asks for is not confined.

        Raises `FileProblem`.
        """
        full = _from(self.cwd, path)
        self._asked[full] = None
        real, name = self._named(full)
        # A walk finds names, and a name can be replaced by a link before it is opened: what a walk
        # found is opened step by step inside its folder.
        if self.within is not None:
            descriptor, real = self._open_within(self.within, full, name)
            return self._take(descriptor, real, name, max_bytes)
        # Before it is opened, so that a file which many loads name is opened once.
        known = self._recall(real, name, max_bytes)
        if known is not None:
            return known
        try:
            descriptor, real = open_following_link(real, full)
        except (OSError, ValueError) as error:
            raise problem_of_os_error(error, name) from None
        return self._take(descriptor, real, name, max_bytes)

    def _open_within(self, within: tuple[str, str], full: str, name: str) -> tuple[int, str]:
        """Open a file that a walk found: nothing that was put in its place may lead elsewhere."""
        base, root = within
        start = base if base.endswith(os.sep) else base + os.sep
        way = full[len(start) :] if full.startswith(start) else os.path.relpath(full, base)
        way = way.replace(os.sep, "/")
        try:
            return open_inside(base, way, (root, base), self.real_folder, self._plain)
        except FileProblem as problem:
            if problem.code == codes.REFERENCE_ESCAPES:
                raise FileProblem(codes.LINK_OUTSIDE, file=name) from None
            raise FileProblem(problem.code, **{**problem.values, "file": name}) from None

    def _named(self, full: str) -> tuple[str, str]:
        """A path without links in its folder, and as people are shown it.

        Files often come from few folders, and each look at a folder costs several system calls.
        """
        folder, _, last = full.rpartition(os.sep)
        known = self._folders.get(folder) if os.altsep is None else None
        if known is not None and last not in _NO_NAMES:
            return known[0] + last, known[1] + last
        folder, last = os.path.split(full)
        if last in _NO_NAMES:
            return os.path.join(real_path(folder), last), display_name(full, self.cwd)
        real, shown = self._folders.get(folder) or self._named_folder(folder)
        return real + last, shown + last

    def _named_folder(self, folder: str) -> tuple[str, str]:
        """A folder without links, and as people are shown it, each with a slash at its end."""
        above, last = os.path.split(folder)
        is_plain = last not in _NO_NAMES and is_below(above, self.cwd)
        if is_plain and folder.count(os.sep) <= MAX_RECURSION and not is_link(folder):
            # One look instead of one for each step: thousands of skills have a folder each.
            real, shown = self._folders.get(above) or self._named_folder(above)
            real, shown = f"{real}{last}{os.sep}", f"{shown}{last}/"
        else:
            real = os.path.join(real_path(folder), "")
            shown = display_name(os.path.join(folder, "x"), self.cwd)[:-1]
        self._folders[folder] = real, shown
        return real, shown

    def refer(
        self,
        reference: str,
        bases: Iterable[str],
        roots: Iterable[str],
        policy: PathPolicy,
        home: Iterable[str] = (),
    ) -> Referred:
        """The file that a *document* names, looked for in `bases` in order, never outside `roots`.

        An absolute path may also lead into `home`, or wherever the policy allows. Raises
        `FileProblem`; if the file is in none of the bases, that of the first.
        """
        bases, roots = tuple(bases), tuple(roots)
        self._asked.update((os.path.join(self.cwd, base, reference), None) for base in bases)
        # The answer depends on all of these; a file that is included a thousand times is resolved
        # once.
        key = (reference, bases, roots, policy, tuple(home))
        known = self._referred.get(key)
        if known is None:
            known = self._refer(reference, bases, roots, policy, tuple(home))
            # Under the name that the file has for every load, and not for this one alone.
            if known.source.name == self._usual_name(known.source):
                self._referred[key] = known
        elif (own := self._sources.get(known.source.filename or "")) is not None:
            known = Referred(own, known.outside)  # this load knows it by another name
        self.note(known.source)
        return known

    def _usual_name(self, source: Source) -> str:
        return source.name if source.filename is None else self._shown(source.filename)

    def _shown(self, real: str) -> str:
        """The name of a file that no caller named."""
        return display_name(real, real_path(self.cwd))

    def _refer(
        self,
        reference: str,
        bases: tuple[str, ...],
        roots: tuple[str, ...],
        policy: PathPolicy,
        home: tuple[str, ...],
    ) -> Referred:
        check_reference(reference, policy)
        # Refused by its spelling where it can be: no question about the disk is asked for those.
        if os.path.isabs(reference):
            refuse_system(reference)
            return self._absolute(reference, roots, policy, home)
        first: FileProblem | None = None
        for base in bases:
            try:
                return Referred(self._inside(base, reference, roots, policy))
            except FileProblem as problem:
                # A file that is there and cannot be read does not give way to the next base.
                if problem.code not in (codes.FILE_MISSING, codes.FILE_IS_DIRECTORY):
                    raise
                first = first or problem
        assert first is not None
        raise first

    def _absolute(
        self, reference: str, roots: tuple[str, ...], policy: PathPolicy, home: tuple[str, ...]
    ) -> Referred:
        # Inside a root the way is walked as that of a relative reference is. By name first: nothing
        # outside is asked for, not even whether it exists, unless the policy allows to read it.
        reads = policy.absolute == "outside"
        spelt = posixpath.normpath(reference).replace("//", "/", 1)
        real = real_path(spelt) if reads else spelt
        allowed = (*roots, *home)
        for root in allowed:
            for way, base in ((spelt, root), (real, real_path(root))):
                if way.startswith(base.rstrip("/") + "/"):
                    inside = self._inside(root, os.path.relpath(way, base), allowed, policy)
                    return Referred(inside, outside=root not in roots)
        if not reads:
            raise FileProblem(codes.ABSOLUTE_UNREAD, reference=reference)
        # Elsewhere the file is read as if the caller had named it.
        refuse_version_control(real, reference)
        for folder in parents_of(real):
            refuse_repository(folder, reference)
        # The confinement of the walk does not hold for a place that the policy allows by name.
        within, self.within = self.within, None
        try:
            source = self.read(reference, max_bytes=policy.max_bytes)
        finally:
            self.within = within
        source.outside = True
        return Referred(source, outside=True)

    def _inside(
        self, base: str, reference: str, roots: tuple[str, ...], policy: PathPolicy
    ) -> Source:
        descriptor, real = open_inside(base, reference, roots, plain=self._plain)
        # What other loads call it makes no difference: a load says the same, whatever was before.
        known = self._sources.get(real)
        return self._take(
            descriptor, real, known.name if known else self._shown(real), policy.max_bytes
        )

    def _recall(self, real: str, name: str, max_bytes: int) -> Source | None:
        """A file that was read before, perhaps under another name, or where more is allowed."""
        own = self._sources.get(real)  # in one load, one file is one source
        known = self._known.get(real) if own is None else own
        if known is None:
            return None
        if own is None and known.name != name:
            other = self._renamed.get((real, name))
            if other is None:
                other = self._renamed[real, name] = decoded(name, known.data, real)
            known = other
        if len(known.data) > max_bytes:
            size = len(known.data)
            raise FileProblem(codes.FILE_TOO_LARGE, file=name, size=size, limit=max_bytes)
        return self.note(known)

    def _take(self, descriptor: int, real: str, name: str, max_bytes: int) -> Source:
        """The source of a checked descriptor, which is closed. Raises `FileProblem`."""
        try:
            known = self._recall(real, name, max_bytes)
            if known is not None:
                return known
            # Of the descriptor, so that the stamp belongs to the content that is read.
            status = os.fstat(descriptor)
            self._stamps[real] = _stamp(status)
            data = read_regular(descriptor, status, real, name, max_bytes)
        except OSError as error:
            raise problem_of_os_error(error, name) from None
        finally:
            os.close(descriptor)
        self._known[real] = decoded(name, data, real)
        return self.note(self._known[real])


def peek(path: str, *, max_bytes: int = MAX_BYTES) -> bytes | None:
    """The content of a file that the user did not name, such as settings; None if unreadable.

    Anything may be in its place: a pipe, a device, a file without end.
    """
    overlay = active_overlay()
    if overlay is not None and (overlay.exists(path) or not overlay.over_disk):
        return overlay.contents.get(overlay.path_of(path))
    return _peek(path, max_bytes)


def _peek(path: str, max_bytes: int, beginning: int | None = None) -> bytes | None:
    try:
        descriptor = os.open(path, OPEN_FLAGS)
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        if beginning is None:
            return read_regular(descriptor, status, path, path, max_bytes)
        refuse_irregular(status, path, path, max_bytes)
        return os.read(descriptor, beginning)
    except (OSError, FileProblem):
        return None
    finally:
        os.close(descriptor)


#: How much of a file is read at once to hash it.
_AT_ONCE = 1 << 20


def sha256_of(path: str) -> str | None:
    """The hash of a regular file of any size, such as a program; None if it is unreadable."""
    import hashlib

    try:
        descriptor = os.open(path, OPEN_FLAGS)
    except (OSError, ValueError):
        return None
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            return None
        found = hashlib.sha256()
        # Most files fit into one read; `hashlib.file_digest` clears a large buffer for each.
        at_once = min(info.st_size + 1, _AT_ONCE)
        while data := os.read(descriptor, at_once):
            found.update(data)
        return found.hexdigest()
    finally:
        os.close(descriptor)


def decoded(name: str, data: bytes, path: str | None) -> Source:
    """A source of bytes; those that are not UTF-8 are kept with an empty text.

    A directive that needs text calls `require_text`; one that takes bytes does not.
    """
    try:
        return Source.of_bytes(name, data, path)
    except UnicodeDecodeError:
        return Source(name, data, "", path)


def require_text(source: Source) -> Source:
    """A source whose bytes are text. Raises `FileProblem` at the first byte that is not."""
    # Only bytes that could not be decoded have no text; decoding them again says where.
    if source.data and not source.text:
        try:
            source.data.decode("utf-8")
        except UnicodeDecodeError as error:
            byte, offset = f"0x{source.data[error.start]:02X}", error.start
            raise FileProblem(codes.NOT_UTF8, file=source.name, offset=offset, byte=byte) from None
    return source


def files_here() -> Files:
    """Access for one load: to the disk, to an overlay, or to both."""
    overlay = active_overlay()
    if overlay is None:
        return Files()
    if overlay.over_disk:
        return _OverlaidFiles()
    files = MemoryFiles({}, cwd=overlay.root)
    files.contents = overlay.contents
    return files


class _OverlaidFiles(Files):
    """The files on the disk with those of the active overlay in their place."""

    def read(self, path: str, *, max_bytes: int = MAX_BYTES) -> Source:
        real = os.path.realpath(os.path.join(self.cwd, path))
        if self._overlaid(real) is None:
            return super().read(path, max_bytes=max_bytes)
        return self._content(real, display_name(os.path.join(self.cwd, path), self.cwd), max_bytes)

    def _inside(
        self, base: str, reference: str, roots: tuple[str, ...], policy: PathPolicy
    ) -> Source:
        real = os.path.realpath(os.path.join(base, reference))
        if self._overlaid(real) is None:
            return super()._inside(base, reference, roots, policy)
        if not self.is_within(real, *roots):
            raise escape_problem(reference)
        refuse_version_control(real, reference)
        shown = display_name(real, os.path.realpath(self.cwd))
        return self._content(real, shown, policy.max_bytes)

    def _overlaid(self, real: str) -> bytes | None:
        overlay = active_overlay()
        return None if overlay is None else overlay.contents.get(real.replace(os.sep, "/"))

    def _content(self, real: str, name: str, max_bytes: int) -> Source:
        known, data = self._recall(real, name, max_bytes), self._overlaid(real) or b""
        if known is not None:
            return known
        if len(data) > max_bytes:
            raise FileProblem(codes.FILE_TOO_LARGE, file=name, size=len(data), limit=max_bytes)
        self._known[real] = decoded(name, data, real)
        return self.note(self._known[real])


class MemoryFiles(Files):
    """The interface of `Files` over a mapping of absolute paths to contents: no disk at all."""

    def __init__(self, contents: Mapping[str, str | bytes], *, cwd: str = "/") -> None:
        super().__init__(cwd=cwd)
        self.contents: Mapping[str, bytes] = {
            self._absolute_path(path): data.encode() if isinstance(data, str) else data
            for path, data in contents.items()
        }

    def again(self) -> Self:
        other = super().again()
        other.contents = self.contents
        return other

    def _absolute_path(self, *parts: str) -> str:
        return posixpath.normpath(posixpath.join(self.cwd, *parts))

    def read(self, path: str, *, max_bytes: int = MAX_BYTES) -> Source:
        return self._content(self._absolute_path(path), max_bytes)

    def is_folder(self, path: str) -> bool:
        overlay = active_overlay()
        if overlay is not None and overlay.contents is self.contents:
            return overlay.is_folder(path)
        prefix = self._absolute_path(path).rstrip("/") + "/"
        return any(each.startswith(prefix) for each in self.contents)

    def is_within(self, path: str, *folders: str) -> bool:
        real = self._absolute_path(path)
        return any(is_below(real, self._absolute_path(each)) for each in folders)

    def exists(self, path: str) -> bool:
        overlay = active_overlay()
        if overlay is not None and overlay.contents is self.contents:
            return overlay.exists(path)
        return path in self.contents or self.is_folder(path)

    def peek(self, path: str) -> bytes | None:
        return self.contents.get(path)

    def beginning(self, path: str, size: int) -> bytes | None:
        data = self.contents.get(path)
        return None if data is None else data[:size]

    def names_below(self, folder: str, *, most: int = 1000) -> list[str]:
        prefix = self._absolute_path(folder).rstrip("/") + "/"
        found = (each for each in self.contents if each.startswith(prefix))
        return sorted(each.removeprefix(prefix) for each in found)[:most]

    def _inside(
        self, base: str, reference: str, roots: tuple[str, ...], policy: PathPolicy
    ) -> Source:
        real = self._absolute_path(base, reference)
        if not self.is_within(real, *roots):
            raise escape_problem(reference)
        return self._content(real, policy.max_bytes, reference)

    def _absolute(
        self, reference: str, roots: tuple[str, ...], policy: PathPolicy, home: tuple[str, ...]
    ) -> Referred:
        if policy.absolute == "unread" and not self.is_within(reference, *roots, *home):
            raise FileProblem(codes.ABSOLUTE_UNREAD, reference=reference)
        source = self.read(reference, max_bytes=policy.max_bytes)
        return Referred(source, outside=not self.is_within(reference, *roots))

    def _content(self, real: str, max_bytes: int, shown: str | None = None) -> Source:
        name = display_name(real, self.cwd)
        known = self._recall(real, name, max_bytes)
        if known is not None:
            return known
        if real not in self.contents:
            code = codes.FILE_IS_DIRECTORY if self.is_folder(real) else codes.FILE_MISSING
            raise FileProblem(code, file=shown or name)
        data = self.contents[real]
        if len(data) > max_bytes:
            raise FileProblem(codes.FILE_TOO_LARGE, file=name, size=len(data), limit=max_bytes)
        self._known[real] = decoded(name, data, real)
        return self.note(self._known[real])
