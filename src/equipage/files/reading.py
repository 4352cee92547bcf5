"""The files of a load, each read once.

`Files.read` reads what the caller names, wherever it is. Every reference that a document makes goes
through `Files.refer` with the path policy of its kind, and is opened by the system inside of the
allowed folders alone.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable
from typing import Any

import msgspec

from equipage.core import codes
from equipage.core.source import Source
from equipage.files import (
    MAX_BYTES,
    MAX_RECURSION,
    OpenedFile,
    System,
    display_name,
    entries_of,
    is_below,
    is_possible_path,
    leads_to_folder,
    parents_of,
)
from equipage.files.recording import Record, Recording
from equipage.files.sandbox import (
    REPOSITORY_ENTRIES,
    FileProblem,
    PathPolicy,
    check_reference,
    problem_of_os_error,
    refuse_system,
    refuse_version_control,
)


class Referred(msgspec.Struct, frozen=True):
    """A source that a reference led to, and whether an absolute path to it deserves a warning."""

    source: Source
    outside: bool = False


#: Ends of paths that do not name a file.
_NO_NAMES = ("", ".", "..")


class Files:
    """What one load reads of a system: everything at most once, remembered by its real path."""

    def __init__(self, system: System) -> None:
        self.system = system
        #: the system again, if it records what this load looks at
        self.recording = system if isinstance(system, Recording) else None
        self.cwd = system.cwd
        #: the folder of a walk and its project, if what is read came from one
        self.within: tuple[str, str] | None = None
        self._sources: dict[str, Source] = {}
        # Loads that are made by `for_next_load` share these.
        self._known: dict[str, Source] = {}
        self._renamed: dict[tuple[str, str], Source] = {}  #: those with several names
        #: the first look of any of them at each path
        self._looks = None if self.recording is None else Record()
        self._referred: dict[tuple[Any, ...], Referred] = {}
        self._folders: dict[str, tuple[str, str]] = {}
        self._shown: dict[str, str] = {}  #: folders without links → as people are shown them
        self._within: dict[tuple[str, tuple[str, ...]], bool] = {}

    def for_next_load(self) -> Files:
        """These files for another load: nothing is read twice, and `sources` starts empty."""
        other = object.__new__(Files)
        other.__dict__.update(self.__dict__)
        other.within, other._sources = None, {}
        if self.recording is not None:
            other.system = other.recording = Recording(self.recording.of, self._looks)
        return other

    @property
    def record(self) -> Record | None:
        """What this load looked at, if that is recorded."""
        return None if self.recording is None else self.recording.record

    def sources(self) -> tuple[Source, ...]:
        """Everything this load read so far, in order."""
        return tuple(self._sources.values())

    def note(self, source: Source) -> Source:
        """Count a source that another load read as one of this load."""
        if source.filename is not None:
            self._sources.setdefault(source.filename, source)
            if self.recording is not None:
                self.recording.note(source.filename)
        return source

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder at an absolute path."""
        return self.system.exists(path) or path in self._known

    def is_folder(self, path: str) -> bool:
        return self.system.is_folder(path)

    def peek(self, path: str) -> bytes | None:
        """The content of a file that is not a source of this load; None if it cannot be read."""
        return self.system.peek(path)

    def is_within(self, path: str, *folders: str) -> bool:
        """Whether a path is one of these folders or below one, once every link is followed."""
        if not is_possible_path(path):
            return False
        real = self._real_file(path)
        return any(is_below(real, self.system.real_folder(each)) for each in folders)

    def _real_file(self, path: str) -> str:
        """As `System.real`, with one look at the folder and one at the file in it."""
        folder, last = os.path.split(path)
        if last in _NO_NAMES or not os.path.isabs(path) or self.system.is_link(path):
            return self.system.real(path)
        return os.path.join(self.system.real_folder(folder), last)

    def is_read_within(self, real: str, folders: tuple[str, ...]) -> bool:
        """As `is_within`, for a file that was opened by its real path.

        A link would not have been opened, so the answer is that of its folder, as it is now.
        """
        folder = self.system.real_folder(os.path.dirname(real))
        known = self._within.get((folder, folders))
        if known is None:
            inside = (is_below(folder, self.system.real_folder(each)) for each in folders)
            known = self._within[folder, folders] = any(inside)
        return known

    def name_of(self, path: str) -> str:
        """As `display_name`, looked up once for each folder."""
        return self._real_and_name(os.path.join(self.cwd, path))[1]

    def names_below(self, folder: str, *, most: int = 1000) -> list[str]:
        """Up to `most` paths of files below a folder, relative to it, to guess what was meant."""
        found: list[str] = []
        waiting = [""]
        while waiting and len(found) < most:
            here = waiting.pop()
            entries = entries_of(os.path.join(folder, here), self.system)
            folders = {each.name for each in entries if leads_to_folder(each)}
            found += [here + each.name for each in entries if each.name not in folders]
            inner = [e.name for e in entries if e.name in folders and not e.is_symlink()]
            waiting += [f"{here}{name}/" for name in reversed(inner)]
        return found[:most]

    def read(self, path: str, *, max_bytes: int = MAX_BYTES) -> Source:
        """The file that the *caller* names; what a person asks for is not confined.

        Raises `FileProblem`.
        """
        full = os.path.join(self.cwd, path)
        real, name = self._real_and_name(full)
        # A walk finds names, and a name can be replaced by a link before it is opened: what a walk
        # found is opened step by step inside its folder.
        if self.within is not None:
            return self._take(self._open_within(self.within, full, name), name, max_bytes)
        # Before it is opened, so that a file which many loads name is opened once.
        known = self._recall(real, name, max_bytes)
        if known is not None:
            return known
        try:
            opened = self.system.open_named(full, real)
        except (OSError, ValueError) as error:
            raise problem_of_os_error(error, name) from None
        return self._take(opened, name, max_bytes)

    def _open_within(self, within: tuple[str, str], full: str, name: str) -> OpenedFile:
        """Open a file that a walk found: nothing that was put in its place may lead elsewhere."""
        base, root = within
        start = base if base.endswith(os.sep) else base + os.sep
        way = full[len(start) :] if full.startswith(start) else os.path.relpath(full, base)
        way = way.replace(os.sep, "/")
        try:
            return self.system.open_inside(base, way, (root, base))
        except FileProblem as problem:
            if problem.code == codes.REFERENCE_ESCAPES:
                raise FileProblem(codes.LINK_OUTSIDE, file=name) from None
            raise FileProblem(problem.code, **{**problem.values, "file": name}) from None

    def _real_and_name(self, full: str) -> tuple[str, str]:
        """A path without links in its folder, and as people are shown it.

        Files often come from few folders, and each look at a folder costs several system calls.
        """
        folder, _, last = full.rpartition(os.sep)
        known = self._folders.get(folder) if os.altsep is None else None
        if known is not None and last not in _NO_NAMES:
            return known[0] + last, known[1] + last
        folder, last = os.path.split(full)
        if last in _NO_NAMES:
            return os.path.join(self.system.real(folder), last), display_name(full, self.cwd)
        real, shown = self._folders.get(folder) or self._folder_and_name(folder)
        return real + last, shown + last

    def _folder_and_name(self, folder: str) -> tuple[str, str]:
        """A folder without links, and as people are shown it, each with a slash at its end."""
        above, last = os.path.split(folder)
        is_plain = last not in _NO_NAMES and is_below(above, self.cwd)
        shallow = folder.count(os.sep) <= MAX_RECURSION
        if is_plain and shallow and not self.system.is_link(folder):
            # One look instead of one for each step: thousands of skills have a folder each.
            real, shown = self._folders.get(above) or self._folder_and_name(above)
            real, shown = f"{real}{last}{os.sep}", f"{shown}{last}/"
        else:
            real = os.path.join(self.system.real(folder), "")
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
        # The answer depends on all of these; a file that is included a thousand times is resolved
        # once.
        key = (reference, bases, roots, policy, tuple(home))
        known = self._referred.get(key)
        # Nothing is asked about an absolute path that may be refused.
        if self.recording is not None and (known or not os.path.isabs(reference)):
            for base in bases:
                self.recording.note(os.path.join(base, reference))
        if known is None:
            known = self._refer(*key)
            # Under the name that the file has for every load, and not for this one alone.
            if known.source.name == self._usual_name(known.source):
                self._referred[key] = known
        else:
            own = self._sources.get(known.source.filename or "")
            if own is not None:
                known = Referred(own, known.outside)  # this load knows it by another name
            self.note(known.source)
        if policy.text:
            require_text(known.source)
        return known

    def _usual_name(self, source: Source) -> str:
        return source.name if source.filename is None else self._usual_name_of(source.filename)

    def _usual_name_of(self, real: str) -> str:
        """The name of a file that no caller named."""
        folder, _, last = real.rpartition(os.sep)
        if folder not in self._shown:
            name = display_name(os.path.join(folder, "x"), self.system.real_folder(self.cwd))
            self._shown[folder] = name[:-1]
        return self._shown[folder] + last

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
                return Referred(self._open_reference(base, reference, roots, policy))
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
        real = self.system.real(spelt) if reads else spelt
        allowed = (*roots, *home)
        for root in allowed:
            for way, base in ((spelt, root), (real, self.system.real(root))):
                if way.startswith(base.rstrip("/") + "/"):
                    inside = self._open_reference(root, os.path.relpath(way, base), allowed, policy)
                    return Referred(inside, outside=root not in roots)
        if not reads:
            raise FileProblem(codes.ABSOLUTE_UNREAD, reference=reference)
        # Elsewhere the file is read as if the caller had named it.
        refuse_version_control(real, reference)
        if any(map(self._is_repository, parents_of(real))):
            raise FileProblem(codes.REFERENCE_PRIVATE, reference=reference)
        # The confinement of the walk does not hold for a place that the policy allows by name.
        within, self.within = self.within, None
        try:
            source = self.read(reference, max_bytes=policy.max_bytes)
        finally:
            self.within = within
        source.outside = True
        return Referred(source, outside=True)

    def _is_repository(self, folder: str) -> bool:
        """Whether git keeps its own files in a folder."""
        parts = (os.path.join(folder, name) for name in REPOSITORY_ENTRIES)
        return all(self.system.status(each, follow_links=False) is not None for each in parts)

    def _open_reference(
        self, base: str, reference: str, roots: tuple[str, ...], policy: PathPolicy
    ) -> Source:
        opened = self.system.open_inside(base, reference, roots)
        # What other loads call it makes no difference: a load says the same, whatever was before.
        known = self._sources.get(opened.real)
        name = known.name if known else self._usual_name_of(opened.real)
        return self._take(opened, name, policy.max_bytes)

    def _recall(self, real: str, name: str, max_bytes: int) -> Source | None:
        """A file that was read before, perhaps under another name, or where more is allowed."""
        own = self._sources.get(real)  # in one load, one file is one source
        known = self._known.get(real) if own is None else own
        if known is None:
            return None
        if own is None and known.name != name:
            other = self._renamed.get((real, name))
            if other is None:
                other = self._renamed[real, name] = Source.of_bytes(name, known.data, real)
            known = other
        if len(known.data) > max_bytes:
            size = len(known.data)
            raise FileProblem(codes.FILE_TOO_LARGE, file=name, size=size, limit=max_bytes)
        return self.note(known)

    def _take(self, opened: OpenedFile, name: str, max_bytes: int) -> Source:
        """The source of a file that was opened, which is closed. Raises `FileProblem`."""
        real = opened.real
        try:
            known = self._recall(real, name, max_bytes)
            if known is not None:
                return known
            data = opened.read(name, max_bytes)
        finally:
            opened.close()
        self._known[real] = Source.of_bytes(name, data, real)
        return self.note(self._known[real])


def read_file(path: str, system: System, *, max_bytes: int = MAX_BYTES) -> Source:
    """A file that the caller names, for those who read no other. Raises `FileProblem`."""
    return Files(system).read(path, max_bytes=max_bytes)


def require_text(source: Source) -> Source:
    """A source whose bytes are text. Raises `FileProblem` at the first byte that is not."""
    # Only bytes that could not be decoded have no text; decoding them again says where.
    if not source.text and source.data:
        try:
            source.data.decode("utf-8")
        except UnicodeDecodeError as error:
            byte, offset = f"0x{source.data[error.start]:02X}", error.start
            raise FileProblem(codes.NOT_UTF8, file=source.name, offset=offset, byte=byte) from None
    return source
