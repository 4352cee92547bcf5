"""Open texts, the load that each belongs to, and what a check keeps of every file.

`check` answers for one open text within milliseconds: only this text is loaded, together with what
is kept of the files around it. A `Survey` checks everything below the folders of the workspace; it
runs on a snapshot, so that another thread can do it, and what it finds is taken over unless a file
changed in the meantime. Both ways end in the report of a check, so that an editor shows what
`equipage check` prints.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import msgspec

from equipage.clients.plugins import MANIFESTS
from equipage.core.diagnostics import Diagnostic
from equipage.core.path import ROOT, Path
from equipage.files import is_folder, real_path, working_directory
from equipage.files.memory import Overlay, overlaid
from equipage.files.reading import Stamp, stamp_of
from equipage.files.sandbox import is_below
from equipage.files.walking import enters_all_folders
from equipage.loading.outcome import Outcome
from equipage.loading.result import Loaded
from equipage.loading.session import Request, Run
from equipage.loading.tree import Origins, Tree
from equipage.lsp.fields import Fields, fields_of
from equipage.lsp.protocol import Change, Encoding, Text, path_of, uri_of
from equipage.project.registry import agent_folders
from equipage.project.settings import OWN_FILE, SHARED_FILE, project_of
from equipage.record.baseline import baselines_of, drop_known, drop_known_add_stale
from equipage.syntax.document import Document
from equipage.workspace.check import ReportBuilder
from equipage.workspace.load import (
    Candidate,
    Checked,
    FileLoad,
    WantedOf,
    checked_of,
    load_candidate,
    run_of,
    with_folders,
)
from equipage.workspace.report import Report

#: A change of one of these may change what any file is, or how it is judged.
_DECISIVE = frozenset({OWN_FILE, SHARED_FILE, ".gitignore", *MANIFESTS})


class Entry(msgspec.Struct, frozen=True):
    """What is kept of one file, and the stamps of everything its load looked at."""

    checked: Checked | None
    stamps: dict[str, Stamp | None]

    def is_current(self, look: Callable[[str], Stamp | None]) -> bool:
        return all(look(path) == stamp for path, stamp in self.stamps.items())


class Opened:
    """A text that is open in the editor."""

    def __init__(self, uri: str, path: str, text: Text, version: int | None) -> None:
        self.uri = uri
        self.path = path  #: as the client names it
        self.real = real_path(path)
        self.text = text
        self.version = version
        self.load: FileLoad | None = None  #: of the text as it is now
        #: the last load whose text could be parsed, with the text of that time
        self.good: Outcome | None = None
        self.part: object = None  #: the last place of the text in another load, a `Context`

    def keep(self, load: FileLoad) -> None:
        self.load = load
        if load.outcome is not None and load.outcome.tree is not None:
            self.good = load.outcome


class Workspace:
    """Folders, open texts, and what is known of the files below the folders."""

    def __init__(
        self,
        folders: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        encoding: Encoding = "utf-16",
        options: Mapping[str, object] | None = None,
        roots: Sequence[str] = (),
    ) -> None:
        self.encoding: Encoding = encoding
        self.folders = list(dict.fromkeys(folders))
        self.env = dict(env or {})
        self.open: dict[str, Opened] = {}
        self.generation = 0  #: counts changes of any file
        self.surveyed = -1  #: the generation that the last survey saw
        self._entries: dict[str, Entry] = {}
        self._users: dict[str, set[str]] = {}  #: what loads looked at → the files loaded
        self._touched: dict[str, int] = {}  #: the last change of files that no survey has seen
        self._order: dict[str, int] = {}  #: the order in which a survey comes to files
        self._request = Request(
            env=self.env, options=dict(options or {}), shared=True, roots=tuple(roots)
        )

    # Texts.

    def did_open(self, uri: str, text: str, version: int | None = None) -> Opened | None:
        """Remember an open text; None if it is in no file."""
        path = path_of(uri)
        if path is None:
            return None
        opened = Opened(uri, path, Text(text, self.encoding), version)
        self.open[uri] = opened
        self.touch(opened.real, opened.path, came_or_went=True)
        return opened

    def did_change(
        self, uri: str, changes: Iterable[Change], version: int | None = None
    ) -> Opened | None:
        """Apply changes to an open text; None if it is not open."""
        opened = self.open.get(uri)
        if opened is None:
            return None
        text = opened.text
        for each in changes:
            if each.range is None:
                text = Text(each.text, self.encoding)
            else:
                text = text.replace(each.range.start, each.range.end, each.text)
        opened.text, opened.version = text, version
        self.touch(opened.real, opened.path)
        return opened

    def did_close(self, uri: str) -> None:
        opened = self.open.pop(uri, None)
        if opened is not None:
            self.touch(opened.real, opened.path, came_or_went=True)

    def touch(self, *paths: str, came_or_went: bool = False) -> None:
        """Forget what depended on files that changed."""
        self.generation += 1
        for path in paths:
            self._touched[path] = self.generation
            concerned = [path, *self._users.get(path, ())]
            # Such a file, or a link to one, decides for all others what and how they are checked.
            if any(os.path.basename(each) in _DECISIVE for each in concerned):
                self._forget(list(self._entries))
            self._forget(concerned)
        if came_or_went:
            for folder in {each for path in paths for each in _folders_above(path)}:
                self._forget(self._users.get(folder, ()))
            # What fixes a file may be anywhere.
            bad = [
                path
                for path, entry in self._entries.items()
                if entry.checked is not None and not entry.checked.ok
            ]
            self._forget(bad)

    def _forget(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._entries.pop(path, None)

    def opened_at(self, path: str) -> Opened | None:
        """The open text of a file, by its path with or without links."""
        return next((each for each in self.open.values() if path in (each.path, each.real)), None)

    def holds(self, path: str) -> bool:
        """Whether a file lies below a folder of the workspace, which surveys look at."""
        return any(map(path.startswith, self._starts()))

    def _starts(self) -> list[str]:
        """How the paths of all files in the workspace begin."""
        return [each.rstrip(os.sep) + os.sep for each in self.folders]

    def holds_real(self, path: str) -> bool:
        """Whether a file, by its path without links, lies below a folder of the workspace."""
        return any(is_below(path, real_path(each)) for each in self.folders)

    def uri(self, path: str) -> str:
        """The address of a file as the client writes it."""
        opened = self.opened_at(path)
        if opened is not None:
            return opened.uri
        for folder in self.folders:  # the client may have opened it through a link
            real = real_path(folder)
            if real != folder and path.startswith(real.rstrip(os.sep) + os.sep):
                return uri_of(folder.rstrip(os.sep) + path[len(real.rstrip(os.sep)) :])
        return uri_of(path)

    # Loads.

    @property
    def request(self) -> Request:
        with self.overlaid():
            return with_folders(self._request, self.folders)

    def overlaid(self) -> AbstractContextManager[None]:
        """In the body of a `with`, unsaved texts take the place of files."""
        return overlaid(Overlay(self._buffers(), over_disk=True))

    def _buffers(self) -> dict[str, bytes]:
        return {
            each.real.replace(os.sep, "/"): each.text.text.encode("utf-8", "surrogatepass")
            for each in self.open.values()
        }

    def load(self, path: str) -> FileLoad:
        """The load of a file as it is now, unsaved texts included."""
        opened = self.opened_at(path)
        # Its entry is gone once anything that the load looked at has changed.
        if opened is not None and opened.load is not None and opened.path in self._entries:
            return opened.load
        request = self.request
        with self.overlaid():
            return load_candidate(Candidate(path), request, run_of(request))

    def borrow(self, other: Workspace) -> None:
        """Know what another workspace knows of files that are not open."""
        own = {each.path for each in self.open.values()}
        for path, entry in other._entries.items():
            if path not in own:
                self._remember(path, entry)
        self._request = other._request

    def known(self) -> Iterator[Checked]:
        """What is kept of every file that is of a kind."""
        return (each.checked for each in self._entries.values() if each.checked is not None)

    def users_of(self, path: str) -> list[str]:
        """The files whose loads read a file."""
        return sorted(self._users.get(path, ()))

    # Checks.

    def check(self, opened: Opened) -> tuple[Diagnostic, ...]:
        """The findings in an open text, as a check of the whole workspace reports them."""
        request = self.request
        with self.overlaid():
            run = run_of(request)
            candidate = Candidate(opened.path)
            if self._is_left_out(opened.path, run):
                opened.load = None
                return ()
            self._entry(candidate, request, run)
            builder = ReportBuilder(request, run)
            report = builder.build_among(
                [candidate],
                self._around(opened),
                lambda several: [self._entry(each, request, run).checked for each in several],
                self._order,
            )
            found = findings_by_file(report).get(opened.real, ())
            around = self.folders if self.holds(opened.path) else [os.path.dirname(opened.path)]
            return drop_known(found, baselines_of(around, run) if found else ())

    def _is_left_out(self, path: str, run: Run) -> bool:
        """Whether a check of the project would not look at a file.

        What git ignores is checked while it is open: its author is looking at it.
        """
        return not self._is_entered(path, run) or project_of(path, run).leaves_out(path)

    def _is_entered(self, path: str, run: Run) -> bool:
        """Whether a walk comes to the folder of a file; nothing outside the workspace is walked."""
        starts = [each for each in self._starts() if path.startswith(each)]
        wanted = WantedOf(run)

        def enters(start: str) -> bool:
            *folders, _ = path[len(start) :].split(os.sep)
            return enters_all_folders(start.replace(os.sep, "/"), folders, agent_folders(), wanted)

        return not starts or any(map(enters, starts))

    def _entry(self, candidate: Candidate, request: Request, run: Run) -> Entry:
        """What is kept of a file; it is loaded if it is not known, or changed."""
        path = os.path.abspath(candidate.path)
        opened = self.opened_at(path)
        known = self._entries.get(path)
        if known is not None and (opened is None or opened.load is not None):
            return known
        entry, load = loaded_entry(candidate, request, run)
        if opened is not None:
            opened.keep(load)
        self._remember(path, entry)
        return entry

    def _remember(self, path: str, entry: Entry) -> None:
        self._entries[path] = entry
        self._link(path, entry)

    def _link(self, path: str, entry: Entry) -> None:
        """Remember whose load looked at what."""
        for each in entry.stamps:
            self._users.setdefault(each, set()).add(path)

    def _around(self, opened: Opened) -> list[Candidate]:
        """The files that matter for findings in an open text."""
        # Those that read it, those it refers to, and those that share a key with it.
        own = self._entries.get(opened.path)
        checked = None if own is None else own.checked
        around = {*self._users.get(opened.real, ()), *self._users.get(opened.path, ())}
        for path, entry in self._entries.items():
            other = entry.checked
            if other is not None and (other.layered or _concerns(checked, other)):
                around.add(path)  # a merge of layers may read any file
        return [Candidate(path) for path in sorted(around - {opened.path, opened.real})]

    # Surveys.

    def snapshot(self) -> Survey:
        """A check of everything, to be run by any thread."""
        folders = tuple(each for each in self.folders if is_folder(each))
        own = {each.path for each in self.open.values()}
        entries = {path: each for path, each in self._entries.items() if path not in own}
        return Survey(self.generation, self.request, folders, self._buffers(), entries)

    def take(self, survey: Survey) -> bool:
        """Take over what a survey found; False if files changed since, and it must run again."""
        # What was written while the survey ran makes its findings about those files old.
        since = survey.generation
        self._touched = {path: number for path, number in self._touched.items() if number > since}
        changed = set(self._touched)
        own = {each.path for each in self.open.values()}
        decisive = any(os.path.basename(path) in _DECISIVE for path in changed)
        if not decisive:
            for path, entry in survey.entries.items():
                if not changed.isdisjoint((path, *entry.stamps)):
                    continue
                if path in own:
                    # Its load is made when it is checked, which a client that pulls may never ask
                    # for. What it includes is known all the same.
                    self._link(path, entry)
                else:
                    self._remember(path, entry)
        gone = self._entries.keys() - survey.entries.keys() - own - changed
        if not changed:
            self._forget(gone)
            self.surveyed = survey.generation
            self._order = {path: number for number, path in enumerate(survey.entries)}
        return not changed


def _folders_above(path: str) -> Iterator[str]:
    while (folder := os.path.dirname(path)) != path:
        yield folder
        path = folder


def _concerns(checked: Checked | None, other: Checked) -> bool:
    """Whether another file matters for findings in a file."""
    if checked is None:
        return False
    shares_key = other.kind == checked.kind and other.key is not None and other.key == checked.key
    return shares_key or (checked.refers and other.offer is not None)


def loaded_entry(candidate: Candidate, request: Request, run: Run) -> tuple[Entry, FileLoad]:
    """The load of a file, and what is kept of it."""
    load = load_candidate(candidate, request, run)
    policy = project_of(candidate.path, run).settings.policy
    checked = checked_of(load, run, candidate, digests=False, policy=policy)
    stamps: dict[str, Stamp | None] = {}
    outcome = load.outcome
    if outcome is not None and outcome.session is not None:
        seen = outcome.session.files.seen()
        read = (each.filename for each in outcome.sources if each.filename is not None)
        stamps = {path: stamp_of(path) for path in (*seen.asked, *read)}
        stamps.update(seen.read)
    path = os.path.abspath(candidate.path)
    # Also a file that is not ours, so that it is not looked at again until it changes.
    stamps.setdefault(path, stamp_of(path))
    return Entry(checked, stamps), load


class Survey:
    """A check of all files of a workspace, on what was known and open when it was asked for."""

    def __init__(
        self,
        generation: int,
        request: Request,
        folders: tuple[str, ...],
        buffers: dict[str, bytes],
        entries: dict[str, Entry],
    ) -> None:
        self.generation = generation
        self.request = request
        self.folders = folders
        self.entries = entries
        self.report: Report | None = None
        self.problem: Exception | None = None  #: a bug that ended it
        self._buffers = buffers

    def run(self, is_cancelled: Callable[[], bool] = lambda: False) -> None:
        """Check everything; `report` stays None if it was cancelled."""
        with overlaid(Overlay(self._buffers, over_disk=True)):
            run = run_of(self.request)
            builder = ReportBuilder(self.request, run)
            try:
                report = builder.build(self.folders, lambda found: self._check(found, is_cancelled))
            except _Cancelled:
                self.report = None
                return
            known = baselines_of(self.folders, run)
            found = drop_known_add_stale(report.diagnostics, known, self.folders)
            self.report = msgspec.structs.replace(report, diagnostics=found)

    def _check(
        self, candidates: Sequence[Candidate], is_cancelled: Callable[[], bool]
    ) -> Iterator[Checked | None]:
        run, known, look = run_of(self.request), self.entries, _Look()
        self.entries = {}
        for each in candidates:
            if is_cancelled():
                # What was found so far is true, and saves the next survey the work.
                self.entries = {**known, **self.entries}
                raise _Cancelled
            path = os.path.abspath(each.path)
            entry = known.get(path)
            if entry is None or not entry.is_current(look):
                entry, _ = loaded_entry(each, self.request, run)
            self.entries[path] = entry
            yield entry.checked


class _Cancelled(Exception):
    pass


class _Look:
    """One look at the disk: the stamp of each path is taken once."""

    def __init__(self) -> None:
        self._stamps: dict[str, Stamp | None] = {}

    def __call__(self, path: str) -> Stamp | None:
        if path not in self._stamps:
            self._stamps[path] = stamp_of(path)
        return self._stamps[path]


def findings_by_file(report: Report) -> dict[str, tuple[Diagnostic, ...]]:
    """The findings of a report by the real path of the file each is in."""
    found: dict[str, list[Diagnostic]] = {}
    here = working_directory()
    for each in report.diagnostics:
        path = each.span.source.filename if each.span is not None else None
        if path is None and each.name is not None:
            path = real_path(os.path.join(here, each.name))
        if path is not None:
            found.setdefault(path, []).append(each)
    return {path: tuple(each) for path, each in found.items()}


# ------------------------------------------------------------------------------- the load of a text
# A file of a kind is its own load. A file that others include has a place in each of theirs; the
# first one counts. While a text is broken, the last load that was good answers.


class Context(msgspec.Struct, frozen=True):
    """An open text in the load that reads it."""

    outcome: Outcome
    document: Document  #: of the text, as it was when it could be parsed
    prefix: Path = ROOT  #: where the text is in the configuration

    @property
    def fields(self) -> Fields:
        return fields_of(self.outcome.kind.name)

    def authored_path(self, path: Path) -> Path:
        """A path of the text as the author of the whole configuration would write it."""
        tree = self.outcome.tree
        whole = (*self.prefix, *path)
        return whole if tree is None or not self.prefix else tree.path_as_written(whole)

    @property
    def value(self) -> Any:
        """The value that paths of `authored_path` lead into, as far as it is known."""
        if not self.prefix:
            return self.document.value
        return self.outcome.tree.value if self.outcome.tree is not None else None

    def loaded_or_none(self) -> Loaded[Any] | None:
        return self.outcome.loaded_or_none()

    def is_current(self, opened: Opened) -> bool:
        """Whether the places of the document are those of the text as it is now."""
        return self.document.source.text == opened.text.text


def context_of(workspace: Workspace, opened: Opened) -> Context | None:
    """Return the context of an open text; None if no load reads it."""
    load = workspace.load(opened.path)
    if opened.load is None:
        opened.keep(load)
    found = _own_context(load.outcome, opened) or _own_context(opened.good, opened)
    if found is not None:
        return found
    for path in workspace.users_of(opened.real):
        user = workspace.load(path).outcome
        part = (
            None
            if user is None or user.tree is None
            else _included_context(user, user.tree, opened.real)
        )
        if part is not None:
            opened.part = part
            return part
    known = opened.part
    return known if isinstance(known, Context) else None


def _own_context(outcome: Outcome | None, opened: Opened) -> Context | None:
    if outcome is None or not outcome.documents:
        return None
    document = next(
        (each for each in outcome.documents if each.source.filename == opened.real), None
    )
    return None if document is None else Context(outcome, document)


def _included_context(user: Outcome, tree: Tree, real: str) -> Context | None:
    """The place of a file in the configuration that includes it."""
    waiting: list[tuple[Path, Origins]] = [(ROOT, tree.origins)]
    while waiting:
        path, node = waiting.pop()
        here = node.here
        if here is not None and here.document.source.filename == real and not here.path:
            return Context(user, here.document, path)
        waiting += (((*path, step), child) for step, child in node.below.items())
    return None
