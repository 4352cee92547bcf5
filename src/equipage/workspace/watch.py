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
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

import msgspec

from equipage.clients.plugins import MANIFESTS
from equipage.core.diagnostics import Diagnostic, LoadError
from equipage.files import is_folder, real_path
from equipage.files.reading import Files, Seen, display_name
from equipage.files.recording import (
    Events,
    StampCache,
    Stamps,
    folders_to_watch,
    is_folder_stamp,
    known_stamps,
)
from equipage.files.sandbox import FileProblem
from equipage.loading.result import Loaded
from equipage.loading.session import Request, Run
from equipage.project.settings import SELECT_ALL, Selection, project_of, projects_of, settings_files
from equipage.workspace.check import ReportBuilder
from equipage.workspace.load import (
    CHUNK,
    Candidate,
    Checked,
    Checker,
    Progress,
    run_of,
    with_folders,
)
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
        load: Callable[[Files], Loaded[C]],
        *,
        on_problem: Callable[[LoadError], object] | None = None,
    ) -> None:
        self.current: Loaded[C] | None = None  #: the last good configuration
        self.problem: LoadError | None = None  #: what is wrong with the files as they are now
        self._path = os.path.abspath(path)
        self._load = load
        self._on_problem = on_problem or _log
        self._stop = threading.Event()
        self._events = Events(self._stop)
        self._known: Stamps | None = None

    def __iter__(self) -> Iterator[Loaded[C]]:
        return self

    def __next__(self) -> Loaded[C]:
        if self._stop.is_set():
            raise StopIteration
        loaded = self._reload(StampCache()) if self._known is None else None
        # Files may have changed since the load, or before the folders were listened to.
        was_reloaded = True
        while loaded is None:
            touched = self._events.wait(briefly=was_reloaded)
            if touched is None:
                self._events.close()
                raise StopIteration
            look = StampCache()
            known = self._known or {}
            # Two edits within one tick of the clock leave the same stamp, but not the same events.
            was_reloaded = bool(look.find_changed(known) or touched.intersection(known))
            loaded = self._reload(look) if was_reloaded else None
        return loaded

    def __enter__(self) -> Watch[C]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give out no more configurations."""
        self._stop.set()

    def _reload(self, look: StampCache) -> Loaded[C] | None:
        """Load again; the configuration, if it is good and another than the last."""
        files, before = Files(), self.current
        near = {each: look(each) for each in settings_files(self._path)}
        try:
            self.current = self._load(files)
            self.problem = None
        except LoadError as problem:
            self._report(problem)
        self._known = known_stamps(files.seen(), look.stamps) | near
        self._events.listen_to(folders_to_watch(self._known, [os.path.dirname(self._path)]))
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


# --- rechecking --------------------------------------------------------------------------------
# A check that goes on: after each change, only the files that it may concern are checked again.
#
# A file is checked again if something its load looked at changed, and on any change if it has
# errors: what fixes it may be anywhere. Rules about sets of files run again each time.


class WatchUpdate(msgspec.Struct, frozen=True):
    """The report after a change, and how it differs from the one before."""

    report: Report
    changed: tuple[str, ...] = ()
    """The names of the files that changed."""
    new: tuple[Diagnostic, ...] = ()
    gone: tuple[Diagnostic, ...] = ()


class _CheckedFile(msgspec.Struct, frozen=True):
    """A file that was checked, and the stamps of all its load looked at."""

    checked: Checked | None
    known: Stamps

    @property
    def is_bad(self) -> bool:
        return self.checked is not None and not self.checked.ok


def watch_check(
    paths: Sequence[str],
    request: Request,
    *,
    kind: str | None = None,
    selection: Selection = SELECT_ALL,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Iterator[WatchUpdate]:
    """Check what is at and below `paths`, now and after each change, until `stop` is set.

    Raises `UsageError` for an unknown kind, and if watchfiles is not installed.
    """
    events = Events(stop or threading.Event())
    going = _Recheck(paths, request, kind, selection)
    touched: frozenset[str] | None = frozenset()
    try:
        while touched is not None:
            turn = going.check_changes(touched, progress)
            progress = None
            if turn is not None:
                yield turn
            if going.busy:
                events.listen_to(going.folders())
            # The disk may have moved on in the meantime, before the folders were listened to.
            touched = events.wait(briefly=going.busy)
    finally:
        events.close()


class _Recheck:
    """The state of a watch between two looks at the disk."""

    def __init__(
        self, paths: Sequence[str], request: Request, kind: str | None, selection: Selection
    ) -> None:
        self.paths = paths
        self.request = with_folders(request, paths)
        self.kind = kind
        self.selection = selection
        self.busy = True  #: whether the last look led to anything
        self._report: Report | None = None
        self._entries: dict[Candidate, _CheckedFile] = {}
        self._entered: set[str] = set()
        self._settings: list[object] = []
        self._near: Stamps = {}
        self._changed: set[str] = set()
        self._contents: dict[str, str | None] = {}

    def check_changes(
        self, touched: frozenset[str], progress: Progress | None = None
    ) -> WatchUpdate | None:
        """Look at the disk and check what changed; None if the report is as it was."""
        look, run = StampCache(), run_of(self.request)
        self._entered = set()
        builder = ReportBuilder(self.request, run, self.kind, self.selection, self._entered.add)
        report = builder.build(
            self.paths, lambda candidates: self._check(candidates, look, touched, run), progress
        )
        before, self._report = self._report, report
        if before is None:
            return WatchUpdate(report)
        changed = self._names_with_new_content()
        new = _findings_not_in(report.diagnostics, before.diagnostics)
        gone = _findings_not_in(before.diagnostics, report.diagnostics)
        return WatchUpdate(report, changed, new, gone) if changed or new or gone else None

    def folders(self) -> set[str]:
        """The folders in which a change may change the report."""
        files = {path for entry in self._entries.values() for path in entry.known}
        files.update(self._near)
        bases = [
            os.path.abspath(path if is_folder(path) else os.path.dirname(path))
            for path in self.paths
        ]
        return folders_to_watch(files, bases) | {real_path(folder) for folder in self._entered}

    # --- one look

    def _check(
        self, candidates: Sequence[Candidate], look: StampCache, touched: frozenset[str], run: Run
    ) -> Iterator[Checked | None]:
        """The result of each file, checked again if it is stale."""
        self._changed = self._changed_paths(candidates, look)
        self._forget(candidates, run)
        todo = self._stale_candidates(candidates, look, touched)
        self.busy = bool(todo) or bool(self._changed)
        for each in todo:
            look(os.path.abspath(each.path))
        checker = Checker(self.request, self.kind, run, again=True)
        for start in range(0, len(todo), CHUNK):
            chunk = todo[start : start + CHUNK]
            for each, checked in zip(chunk, checker.check(chunk), strict=True):
                self._remember(each, checked, look)
        return (self._entries[each].checked for each in candidates)

    def _changed_paths(self, candidates: Sequence[Candidate], look: StampCache) -> set[str]:
        """The paths of files that are new or gone, and of settings that changed."""
        other = {os.path.abspath(each.path) for each in self._entries.keys() ^ set(candidates)}
        other |= look.find_changed(self._near)
        folders = self.request.folders
        files = (os.path.join(each, "file") if is_folder(each) else each for each in self.paths)
        self._near = {each: look(each) for file in files for each in settings_files(file, folders)}
        return other

    def _forget(self, candidates: Sequence[Candidate], run: Run) -> None:
        """Drop files that are gone, or all of them if the settings of a project changed."""
        for each in self._entries.keys() - set(candidates):
            del self._entries[each]
        for each in candidates:
            project_of(each.path, run)
        settings: list[object] = [(each.root, each.settings) for each in projects_of(run)]
        if settings != self._settings:
            self._settings = settings
            self._entries.clear()

    def _stale_candidates(
        self, candidates: Sequence[Candidate], look: StampCache, touched: frozenset[str]
    ) -> list[Candidate]:
        """The files that must be checked again.

        What was touched counts as changed: two edits within one tick of the clock leave the same
        stamp.
        """
        stale: set[Candidate] = set()
        for each in candidates:
            entry = self._entries.get(each)
            known = {} if entry is None else entry.known
            other = look.find_changed(known) | touched.intersection(known)
            if entry is None or other:
                stale.add(each)
            # A folder changes with the files in it, which are reported themselves.
            self._changed |= {
                path for path in other if (was := known[path]) is None or not is_folder_stamp(was)
            }
        if any(os.path.basename(path) in MANIFESTS for path in self._changed):
            return list(candidates)
        if self._changed:
            stale |= {each for each, entry in self._entries.items() if entry.is_bad}
        return [each for each in candidates if each in stale]

    def _remember(self, each: Candidate, checked: Checked | None, look: StampCache) -> None:
        seen = checked.seen if checked is not None and checked.seen is not None else Seen()
        seen = msgspec.structs.replace(seen, asked=(os.path.abspath(each.path), *seen.asked))
        self._entries[each] = _CheckedFile(checked, known_stamps(seen, look.stamps))

    # --- what to report

    def _names_with_new_content(self) -> tuple[str, ...]:
        """The names of the files whose content is new: one save often makes several events."""
        names: set[str] = set()
        for path in {real_path(path) for path in self._changed if not is_folder(path)}:
            content = _content_hash(path)
            if path not in self._contents or self._contents[path] != content:
                names.add(display_name(path, real_path(".")))
            self._contents[path] = content
        return tuple(sorted(names))


def _content_hash(path: str) -> str | None:
    """The hash of a file; None if it cannot be read."""
    try:
        return Files().read(path).sha256
    except FileProblem:
        return None


def _findings_not_in(
    these: Iterable[Diagnostic], those: Iterable[Diagnostic]
) -> tuple[Diagnostic, ...]:
    """The findings that are not among `those`. Their lines do not count: text above may grow."""
    left = Counter(map(_identity, those))
    found: list[Diagnostic] = []
    for each in these:
        if left[_identity(each)] > 0:
            left[_identity(each)] -= 1
        else:
            found.append(each)
    return tuple(found)


def _identity(each: Diagnostic) -> tuple[object, ...]:
    return each.code, each.severity, each.name, each.path, each.message
