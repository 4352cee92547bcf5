"""What a load looked at, and what changed of it since; events of the system that say when to ask.

Listening to events needs the package watchfiles.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from equipage.core.diagnostics import UsageError
from equipage.files import MAX_BYTES, Entry, OpenedFile, Stamp, System, leads_to_folder

if TYPE_CHECKING:  # not for a load that listens to nothing
    import threading

    from watchfiles._rust_notify import RustNotify

#: How long it must be quiet before changes are looked at, and how long a burst of them may last, in
#: milliseconds.
QUIET_MILLISECONDS, BURST_MILLISECONDS = 50, 300
#: How long to wait for events before checking whether the watch was closed.
_WAIT_MILLISECONDS = 5000


class Record:
    """What was looked at: paths with their stamps, taken before the look, and listed folders."""

    __slots__ = ("folders", "paths", "ways")

    def __init__(self) -> None:
        self.paths: dict[str, Stamp | None] = {}
        #: of the folders of the paths, those that links lead to: moved there, a file is the same
        self.ways: dict[str, tuple[str, ...]] = {}
        self.folders: dict[str, int | None] = {}  #: a hash of what each held; None: unreadable

    def is_current(self, changes: Changes) -> bool:
        """Whether a new look would see what was seen.

        Two threads may share what is recorded of folders, so only copies of it are iterated.
        """
        if not self.paths.keys().isdisjoint(changes.paths):
            return False
        if self.folders:
            listed = {*self.folders} if changes.look else self.folders.keys() & changes.near
            if any(changes.listing(each) != self.folders[each] for each in listed):
                return False
        return not changes.look or all(
            changes.stamp(path) == stamp and changes.way_of(path) == self._way_of(path)
            for path, stamp in [*self.paths.items()]
        )

    def _way_of(self, path: str) -> tuple[str, ...]:
        folder = os.path.dirname(path)
        return self.ways.get(folder, (folder,))


class Changes:
    """What may have changed in a system: paths that did, and whether to look at all others.

    For many records: each path is asked about once.
    """

    def __init__(self, paths: Iterable[str], system: System, *, look: bool = True) -> None:
        self.paths = frozenset(paths)
        self.near = self.paths.union(map(os.path.dirname, self.paths))
        self.look = look  #: whether stamps are compared
        self._system = system
        self._stamps: dict[str, Stamp | None] = {}
        self._listings: dict[str, int | None] = {}
        self._ways: dict[str, tuple[str, ...]] = {}

    def stamp(self, path: str) -> Stamp | None:
        if path not in self._stamps:
            self._stamps[path] = self._system.stamp(path)
        return self._stamps[path]

    def way_of(self, path: str) -> tuple[str, ...]:
        folder = os.path.dirname(path)
        if folder not in self._ways:
            self._ways[folder] = self._system.way_to(folder)
        return self._ways[folder]

    def listing(self, folder: str) -> int | None:
        if folder not in self._listings:
            self._listings[folder] = _hash_entries(folder, self._system)
        return self._listings[folder]


def _hash_entries(folder: str, system: System) -> int | None:
    try:
        return _hash_of(system.entries(folder))
    except OSError:
        return None


def _hash_of(entries: Iterable[Entry]) -> int:
    return hash(tuple((each.name, leads_to_folder(each), each.is_symlink()) for each in entries))


class Recording(System):
    """Another system, and a record of what it was asked.

    `earlier` is what the loads before saw whose results this one may share. What they looked at
    counts as it was then: the file may have changed since.
    """

    def __init__(self, of: System, earlier: Record | None = None) -> None:
        self.of = of
        self.record = Record()
        self._earlier = earlier or Record()

    def note(self, path: str) -> str:
        """Record a path, before it is looked at."""
        if not os.path.isabs(path):
            path = self.absolute(path)
        record, earlier = self.record, self._earlier
        if path not in record.paths:
            folder = os.path.dirname(path)
            if folder not in earlier.ways:
                earlier.ways[folder] = self.of.way_to(folder)
            if path not in earlier.paths:
                earlier.paths[path] = self.of.stamp(path)
            if (way := earlier.ways[folder]) != (folder,):
                record.ways[folder] = way
            record.paths[path] = earlier.paths[path]
        return path

    @property
    def holds_tracked_files_alone(self) -> bool:
        return self.of.holds_tracked_files_alone

    @property
    def cwd(self) -> str:
        return self.of.cwd

    def variables(self) -> Mapping[str, str]:
        return self.of.variables()

    def status(self, path: str, *, follow_links: bool = True) -> os.stat_result | None:
        self.note(path)
        return self.of.status(path, follow_links=follow_links)

    def entries(self, folder: str) -> Sequence[Entry]:
        absolute = self.absolute(folder)
        self.record.folders.setdefault(absolute, None)
        entries = self.of.entries(folder)
        if self.record.folders[absolute] is None:
            self.record.folders[absolute] = _hash_of(entries)
        return entries

    def link_target(self, path: str) -> str:
        self.note(path)
        return self.of.link_target(path)

    def real(self, path: str) -> str:
        self.note(path)
        return self.of.real(path)

    def real_folder(self, path: str) -> str:
        self.note(path)
        return self.of.real_folder(path)

    def peek(self, path: str, *, max_bytes: int = MAX_BYTES, size: int = -1) -> bytes | None:
        self.note(path)
        return self.of.peek(path, max_bytes=max_bytes, size=size)

    def open_named(self, path: str, real: str) -> OpenedFile:
        self.note(path)
        return self._note_opened(self.of.open_named(path, real))

    def open_inside(self, base: str, reference: str, roots: tuple[str, ...]) -> OpenedFile:
        self.note(os.path.join(base, reference))
        return self._note_opened(self.of.open_inside(base, reference, roots))

    def _note_opened(self, opened: OpenedFile) -> OpenedFile:
        self.note(opened.real)
        return opened

    def stamp(self, path: str) -> Stamp | None:
        return self.record.paths[self.note(path)]

    def sha256(self, path: str) -> str | None:
        self.note(path)
        return self.of.sha256(path)

    def finds_program(self, name: str, search: str) -> bool:
        for folder in search.split(os.pathsep):
            self.note(os.path.join(folder, name))
        return self.of.finds_program(name, search)


def folders_to_watch(paths: Iterable[str], bases: Iterable[str], system: System) -> set[str]:
    """The folders to listen to for changes of `paths`.

    These are their own folders and those above, up to one of the bases; for a folder that does not
    exist yet, the nearest one that does.
    """
    tops = tuple(base.rstrip(os.sep) + os.sep for base in bases)
    folders: set[str] = set()
    done: set[str] = set()
    for folder in {os.path.dirname(path) for path in paths}:
        here = folder
        while here not in done:
            done.add(here)
            exists = system.is_folder(here)
            if exists:
                folders.add(system.real(here))
            if os.path.dirname(here) == here or (exists and not here.startswith(tops)):
                break
            here = os.path.dirname(here)
    return folders


class Events:
    """Waits for events in a set of folders. Raises `UsageError` if it cannot."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._folders: set[str] = set()
        self._notify: RustNotify | None = None
        self._make = _import_watcher()

    def listen_to(self, folders: set[str]) -> None:
        """Listen to these folders from now on. Earlier changes show only on the disk."""
        folders = set(filter(os.path.isdir, folders))
        if folders == self._folders and self._notify is not None:
            return
        self.close()
        by_polling = bool(os.environ.get("WATCHFILES_FORCE_POLLING"))
        while self._notify is None:
            try:
                self._notify = self._make(
                    sorted(folders), False, by_polling, QUIET_MILLISECONDS, False, True
                )
            except FileNotFoundError:  # one went away just now
                folders = set(filter(os.path.isdir, folders))
            except OSError as error:
                raise UsageError(f"cannot watch {len(folders)} folders: {error}") from None
        self._folders = folders

    def wait(self, *, briefly: bool = False) -> frozenset[str] | None:
        """The paths at which something happened, once it is quiet again; None after `stop`.

        `briefly` also returns when nothing happens: to look at the disk, but not during a write.
        """
        assert self._notify is not None, "call `listen_to` before `wait`"
        while True:
            events = self._notify.watch(
                BURST_MILLISECONDS,
                QUIET_MILLISECONDS,
                QUIET_MILLISECONDS if briefly else _WAIT_MILLISECONDS,
                self._stop,
            )
            if events == "signal":
                raise KeyboardInterrupt
            if events == "stop":
                return None
            if not isinstance(events, str):
                touched = frozenset(path for _, path in events)
                if touched & self._folders:
                    # A watched folder was moved or replaced: the system no longer reports what
                    # happens in it, also if a folder of that name is there again.
                    self.close()
                    self.listen_to(self._folders)
                return touched
            if briefly:
                return frozenset()

    def close(self) -> None:
        if self._notify is not None:
            self._notify.close()
            self._notify = None


def _import_watcher() -> type[RustNotify]:
    try:
        from watchfiles._rust_notify import RustNotify
    except ImportError:
        raise UsageError("watching needs watchfiles: run `pip install watchfiles`") from None
    return RustNotify
