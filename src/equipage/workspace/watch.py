"""Watch configurations: load or check them again after each change on the disk.

Events of the system only wake a watch; the disk shows what changed. A load knows every path it
looked for, found or not, and the stamp of every file it read, and a watch compares both with what
is there now. So it notices a missing file that appears, a renamed folder, a link that leads
elsewhere, and changes whose event was lost.

Needs the package watchfiles.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

import msgspec

from equipage.core.diagnostics import Diagnostic, LoadError
from equipage.files import System, display_name
from equipage.files.recording import Changes, Events, Record, Recording, folders_to_watch
from equipage.loading.result import Loaded
from equipage.workspace import Workspace
from equipage.workspace.report import Report

C = TypeVar("C")

# --- one configuration


class Watch(Generic[C]):
    """The good configurations of one file, a new one whenever it or a file it reads changes.

    >>> with equipage.watch("server.yaml", kind="server") as configurations:
    ...     next(configurations).digest == configurations.current.digest
    True

    Iterating waits for the next configuration that is good and other than the last; `on_problem`
    gets a broken one, which is never given out. `current` and `problem` may be read from any
    thread. `close` ends the iteration, also from another thread.
    """

    def __init__(
        self,
        path: str,
        load: Callable[[System], Loaded[C]],
        system: System,
        *,
        on_problem: Callable[[LoadError], object] | None = None,
    ) -> None:
        self.current: Loaded[C] | None = None  #: the last good configuration
        self.problem: LoadError | None = None  #: what is wrong with the files as they are now
        self._path = system.absolute(path)
        self._load, self._system = load, system
        self._on_problem = on_problem or _log
        self._stop = threading.Event()
        self._events = Events(self._stop)
        self._record: Record | None = None

    def __iter__(self) -> Iterator[Loaded[C]]:
        return self

    def __next__(self) -> Loaded[C]:
        if self._stop.is_set():
            raise StopIteration
        loaded = self._reload() if self._record is None else None
        # Files may have changed since the load, or before the folders were listened to.
        was_reloaded = True
        while loaded is None:
            touched = self._events.wait(briefly=was_reloaded)
            if touched is None:
                self._events.close()
                raise StopIteration
            # Two edits within one tick of the clock leave the same stamp, but not the same events.
            changes = Changes(touched, self._system.fresh_copy())
            record = self._record or Record()
            was_reloaded = not record.is_current(changes)
            loaded = self._reload() if was_reloaded else None
        return loaded

    def __enter__(self) -> Watch[C]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give out no more configurations."""
        self._stop.set()

    def _reload(self) -> Loaded[C] | None:
        """Load again; the configuration, if it is good and another than the last."""
        system, before = Recording(self._system.fresh_copy()), self.current
        try:
            self.current = self._load(system)
            self.problem = None
        except LoadError as problem:
            self._report(problem)
        self._record = system.record
        folders = folders_to_watch(self._record.paths, [os.path.dirname(self._path)], system.of)
        self._events.listen_to(folders)
        now = self.current
        if self.problem is not None or now is None:
            return None
        return now if before is None or now.config != before.config else None

    def _report(self, problem: LoadError) -> None:
        """Report a problem once, however often it is found again."""
        known, self.problem = self.problem, problem
        before = None if known is None else [*map(str, known.diagnostics)]
        if before != [*map(str, problem.diagnostics)]:
            self._on_problem(problem)


def _log(problem: LoadError) -> None:
    import logging

    logging.getLogger("equipage").error("%s", problem)


# --- many files --------------------------------------------------------------------------------


class WatchUpdate(msgspec.Struct, frozen=True):
    """The report after a change, and how it differs from the one before."""

    report: Report
    changed: tuple[str, ...] = ()
    """The names of the files that changed."""
    new: tuple[Diagnostic, ...] = ()
    gone: tuple[Diagnostic, ...] = ()


def watch_check(workspace: Workspace, stop: threading.Event | None = None) -> Iterator[WatchUpdate]:
    """The report on a workspace, now and after each change, until `stop` is set.

    Raises `UsageError` if watchfiles is not installed.
    """
    events = Events(stop or threading.Event())
    report = workspace.report()
    contents: dict[str, str | None] = {}  #: hashes of files that changed
    try:
        yield WatchUpdate(report)
        events.listen_to(_folders_of(workspace))
        # The disk may have moved on in the meantime, before the folders were listened to.
        is_busy = True
        while (touched := events.wait(briefly=is_busy)) is not None:
            before = workspace
            workspace = before.after(touched, system=before.system.fresh_copy())
            is_busy = not workspace.shares_all_of(before)
            if not is_busy:
                continue
            known, report = report, workspace.report()
            events.listen_to(_folders_of(workspace))
            looked = workspace.changed_since(before, touched)
            changed = _names_with_new_content(looked, contents, workspace.system)
            new = _findings_not_in(report.diagnostics, known.diagnostics)
            gone = _findings_not_in(known.diagnostics, report.diagnostics)
            if changed or new or gone:
                yield WatchUpdate(report, changed, new, gone)
    finally:
        events.close()


def _folders_of(workspace: Workspace) -> set[str]:
    """The folders in which a change may change the report."""
    system, record = workspace.system, workspace.run.files.record
    bases = [
        system.absolute(path if system.is_folder(path) else os.path.dirname(path))
        for path in workspace.paths
    ]
    listed = set() if record is None else set(map(system.real, record.folders))
    return folders_to_watch(workspace.stamps(), bases, system) | listed


def _names_with_new_content(
    changed: Iterable[str], contents: dict[str, str | None], system: System
) -> tuple[str, ...]:
    """The names of the files whose content is new: one save often makes several events."""
    names: set[str] = set()
    for path in {system.real(path) for path in changed if not system.is_folder(path)}:
        content = system.sha256(path)
        if path not in contents or contents[path] != content:
            names.add(display_name(path, system.real(system.cwd)))
        contents[path] = content
    return tuple(sorted(names))


def _findings_not_in(
    these: Iterable[Diagnostic], those: Iterable[Diagnostic]
) -> tuple[Diagnostic, ...]:
    """The findings that are not among `those`. Their lines do not count: text above may grow."""
    left = Counter(map(_identity_without_line, those))
    found: list[Diagnostic] = []
    for each in these:
        if left[_identity_without_line(each)] > 0:
            left[_identity_without_line(each)] -= 1
        else:
            found.append(each)
    return tuple(found)


def _identity_without_line(each: Diagnostic) -> tuple[object, ...]:
    return each.code, each.severity, each.name, each.path, each.message
