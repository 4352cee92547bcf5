"""A check that goes on: after each change, only the files that it may concern are checked again.

A file is checked again if something its load looked at changed, and on any change if it has errors: what mends it
may be anywhere. What belongs to sets of files is looked at anew each time.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from equipage.checking import CHUNK, Candidate, Checked, Checker
from equipage.diagnostics import Diagnostic
from equipage.files import Files, Seen, display_name
from equipage.loading import Request
from equipage.project import EVERYTHING, Project, Projects, Selection, settings_files
from equipage.sandbox import FileProblem
from equipage.surroundings import MANIFESTS
from equipage.watching import Events, Look, Stamps, folders_around, is_known_file, known_stamps
from equipage.workspace import Progress, Report, report_of


class Turn(msgspec.Struct, frozen=True):
    """What a change came to: the whole report, and what is other than in the one before."""

    report: Report
    changed: tuple[str, ...] = ()  #: the names of the files that changed
    new: tuple[Diagnostic, ...] = ()
    gone: tuple[Diagnostic, ...] = ()


class _Entry(msgspec.Struct, frozen=True):
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
    selection: Selection = EVERYTHING,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Iterator[Turn]:
    """Check what is at and below `paths`, now and after each change, until `stop` is set.

    Raises `UsageError` for an unknown kind, and if the extra `equipage[watch]` is missing.
    """
    events = Events(stop or threading.Event())
    going = _Recheck(paths, request, kind, selection)
    touched: frozenset[str] | None = frozenset()
    try:
        while touched is not None:
            turn = going.turn(touched, progress)
            progress = None
            if turn is not None:
                yield turn
            if going.busy:
                events.attend(going.folders())
            # The disk may have moved on in the meantime, before the folders were listened to.
            touched = events.wait(briefly=going.busy)
    finally:
        events.close()


class _Recheck:
    """What is remembered between two looks at the disk."""

    def __init__(self, paths: Sequence[str], request: Request, kind: str | None, selection: Selection) -> None:
        self.paths = paths
        self.request = request
        self.kind = kind
        self.selection = selection
        self.busy = True  #: whether the last look led to anything
        self._report: Report | None = None
        self._entries: dict[Candidate, _Entry] = {}
        self._entered: set[str] = set()
        self._settings: list[object] = []
        self._near: Stamps = {}
        self._changed: set[str] = set()
        self._contents: dict[str, str | None] = {}

    def turn(self, touched: frozenset[str], progress: Progress | None = None) -> Turn | None:
        """Look at the disk and check what is not as it was; None if there is nothing to tell."""
        look, projects = Look(), Projects()
        self._entered = set()
        report = report_of(
            self.paths,
            self.request,
            projects,
            lambda candidates: self._check(candidates, look, touched, projects),
            selection=self.selection,
            progress=progress,
            kind=self.kind,
            entered=self._entered.add,
        )
        before, self._report = self._report, report
        if before is None:
            return Turn(report)
        changed = self._really_changed()
        new, gone = _beyond(report.diagnostics, before.diagnostics), _beyond(before.diagnostics, report.diagnostics)
        return Turn(report, changed, new, gone) if changed or new or gone else None

    def folders(self) -> set[str]:
        """Where something must happen for the report to change."""
        files = {path for entry in self._entries.values() for path in entry.known}
        files.update(self._near)
        bases = [os.path.abspath(path if os.path.isdir(path) else os.path.dirname(path)) for path in self.paths]
        return folders_around(files, bases) | {os.path.realpath(folder) for folder in self._entered}

    # ------------------------------------------------------------------------------------------ one look

    def _check(
        self, candidates: Sequence[Candidate], look: Look, touched: frozenset[str], projects: Projects
    ) -> Iterator[Checked | None]:
        """What is kept of each file, checked again where it must be."""
        self._changed = self._come_and_gone(candidates, look)
        self._forget(candidates, projects)
        todo = self._stale(candidates, look, touched)
        self.busy = bool(todo) or bool(self._changed)
        for each in todo:
            look(os.path.abspath(each.path))
        checker = Checker(self.request, self.kind, projects, again=True)
        for start in range(0, len(todo), CHUNK):
            chunk = todo[start : start + CHUNK]
            for each, checked in zip(chunk, checker.check(chunk), strict=True):
                self._remember(each, checked, look)
        return (self._entries[each].checked for each in candidates)

    def _come_and_gone(self, candidates: Sequence[Candidate], look: Look) -> set[str]:
        """The paths of files that were not there before or are no more, and of settings that changed."""
        other = {os.path.abspath(each.path) for each in self._entries.keys() ^ set(candidates)}
        other |= look.changed(self._near)
        self._near = {each: look(each) for each in self._settings_files()}
        return other

    def _settings_files(self) -> Iterator[str]:
        for path in self.paths:
            yield from settings_files(os.path.join(path, "file") if os.path.isdir(path) else path, os.getcwd())

    def _forget(self, candidates: Sequence[Candidate], projects: Projects) -> None:
        """Drop files that are no more; and all of them where the settings of a project changed."""
        for each in self._entries.keys() - set(candidates):
            del self._entries[each]
        settings: list[object] = [(project.root, project.settings) for project in _projects(candidates, projects)]
        if settings != self._settings:
            self._settings = settings
            self._entries.clear()

    def _stale(self, candidates: Sequence[Candidate], look: Look, touched: frozenset[str]) -> list[Candidate]:
        """The files that must be checked. Two edits within one tick of the clock leave the same stamp, so that
        what was touched counts as well."""
        stale: set[Candidate] = set()
        for each in candidates:
            entry = self._entries.get(each)
            known = {} if entry is None else entry.known
            other = look.changed(known) | touched.intersection(known)
            if entry is None or other:
                stale.add(each)
            self._changed |= {path for path in other if is_known_file(known[path])}
        if any(os.path.basename(path) in MANIFESTS for path in self._changed):
            return list(candidates)
        if self._changed:
            stale |= {each for each, entry in self._entries.items() if entry.is_bad}
        return [each for each in candidates if each in stale]

    def _remember(self, each: Candidate, checked: Checked | None, look: Look) -> None:
        seen = checked.seen if checked is not None and checked.seen is not None else Seen()
        seen = msgspec.structs.replace(seen, asked=(os.path.abspath(each.path), *seen.asked))
        self._entries[each] = _Entry(checked, known_stamps(seen, look.stamps))

    # --------------------------------------------------------------------------------------- what to tell

    def _really_changed(self) -> tuple[str, ...]:
        """The names of the files whose content is new. Saving a file often makes several events in a row."""
        names: set[str] = set()
        for path in {os.path.realpath(path) for path in self._changed if not os.path.isdir(path)}:
            content = _content(path)
            if path not in self._contents or self._contents[path] != content:
                names.add(display_name(path, os.path.realpath(os.getcwd())))
            self._contents[path] = content
        return tuple(sorted(names))


def _projects(candidates: Sequence[Candidate], projects: Projects) -> tuple[Project, ...]:
    for each in candidates:
        projects.of(each.path)
    return projects.all()


def _content(path: str) -> str | None:
    """What tells the content of a file from others; None if it cannot be had."""
    try:
        return Files().read(path).sha256
    except FileProblem:
        return None


def _beyond(these: Iterable[Diagnostic], those: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The findings that are not among `those`, wherever in their file they stand: text above them may have grown."""
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
