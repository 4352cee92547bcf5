"""Find out what changed on the disk: stamps of files, and events that say when to compare them.

Needs the package watchfiles.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from equipage.core.diagnostics import UsageError
from equipage.files import is_folder, real_path
from equipage.files.reading import Seen, Stamp, stamp_of

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

#: How long it must be quiet before changes are looked at, and how long a burst of them may last, in
#: milliseconds.
QUIET_MILLISECONDS, BURST_MILLISECONDS = 50, 300
#: How long to wait for events before checking whether the watch was closed.
_WAIT_MILLISECONDS = 5000

Stamps = dict[str, Stamp | None]
#: No file has this stamp: it is not known whether the file is still as it was read.
_UNKNOWN_STAMP: Stamp = (-1, -1, -1, -1)


class StampCache:
    """The stamps of paths, each taken from the disk once."""

    def __init__(self) -> None:
        self.stamps: Stamps = {}

    def __call__(self, path: str) -> Stamp | None:
        if path not in self.stamps:
            self.stamps[path] = stamp_of(path)
        return self.stamps[path]

    def find_changed(self, known: Stamps) -> set[str]:
        """The paths whose stamp differs from the known one."""
        return {path for path, stamp in known.items() if self(path) != stamp}


def known_stamps(seen: Seen, before: Mapping[str, Stamp | None]) -> Stamps:
    """The stamps of the files that a load saw, from the time when it saw them.

    A file that could not be read has no stamp of its own: it keeps the one from `before` the load.
    """
    known: Stamps = dict(seen.read)
    read = set(seen.read.values())
    for path in seen.asked:
        now = stamp_of(path)
        is_certain = now is None or is_folder_stamp(now) or now in read
        known[path] = now if is_certain else before.get(path, _UNKNOWN_STAMP)
    return known


def is_folder_stamp(stamp: Stamp) -> bool:
    return stamp[1] == -1


def folders_to_watch(paths: Iterable[str], bases: Iterable[str]) -> set[str]:
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
            exists = is_folder(here)
            if exists:
                folders.add(real_path(here))
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
        folders = set(filter(is_folder, folders))
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
                folders = set(filter(is_folder, folders))
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
