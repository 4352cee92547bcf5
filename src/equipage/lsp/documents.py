"""Open texts, and the workspace as it is with them in place of the files.

After each edit, the workspace is that of before, with what the edit may concern loaded anew:
`check` answers for one open text within milliseconds. A `Survey` looks at the disk, too, and at all
files; it runs on a snapshot, so that another thread can do it, and what it loaded is taken over.
Both ways end in the report of a check, so that an editor shows what `equipage check` prints, and
what it would print about an open file that git ignores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from equipage.core.diagnostics import Diagnostic
from equipage.core.path import ROOT, Path
from equipage.files import System, is_below
from equipage.files.memory import Overlay
from equipage.files.sandbox import real_path
from equipage.files.walking import is_worth_a_look
from equipage.loading.format import Format
from equipage.loading.pipeline import Outcome
from equipage.loading.result import Loaded
from equipage.loading.session import Request
from equipage.loading.tree import Origins, Tree
from equipage.lsp.fields import Fields, fields_of
from equipage.lsp.protocol import Encoding, Text, TextChange, path_of, uri_of
from equipage.project.registry import agent_folders
from equipage.project.settings import project_of
from equipage.record.baseline import baselines_of, drop_known, drop_known_add_stale
from equipage.syntax.document import Document
from equipage.workspace import Workspace
from equipage.workspace.find import File, Wanted
from equipage.workspace.load import FileLoad, Summary
from equipage.workspace.report import Report


class Opened:
    """A text that is open in the editor."""

    def __init__(self, uri: str, path: str, text: Text, version: int | None) -> None:
        self.uri = uri
        self.path = path  #: as the client names it
        self.real = real_path(path)
        self.text = text
        self.version = version
        #: the last load whose text could be parsed, with the text of that time
        self.good: Outcome | None = None
        self.part: object = None  #: the last place of the text in another load, a `Context`


class EditorWorkspace:
    """Folders, open texts, and what is known of the files below the folders."""

    def __init__(
        self,
        folders: Sequence[str] = (),
        *,
        env: Mapping[str, str] | None = None,
        encoding: Encoding = "utf-16",
        options: Mapping[str, object] | None = None,
        roots: Sequence[str] = (),
        kind: str | Format | None = None,
    ) -> None:
        self.encoding: Encoding = encoding
        self.folders = list(dict.fromkeys(folders))
        self.env = dict(env or {})
        self.kind = kind  #: of every file that may be of it; None to detect it
        self.open: dict[str, Opened] = {}
        self.generation = 0  #: counts changes of any file
        self.surveyed = -1  #: the generation that the last survey saw
        self._touched: dict[str, int] = {}  #: the last change of files that no survey has seen
        self._request = Request(
            env=self.env, options=dict(options or {}), shared=True, roots=tuple(roots)
        )
        self._latest: Workspace | None = None
        self._changed: set[str] = set()  #: paths that changed since then
        self._must_look = False  #: whether files came or went

    # Texts.

    def did_open(self, uri: str, text: str, version: int | None = None) -> Opened | None:
        """Remember an open text; None if it is in no file."""
        path = path_of(uri)
        if path is None:
            return None
        opened = Opened(uri, path, Text(text, self.encoding), version)
        self.open[uri] = opened
        self.touch(opened.real, opened.path)
        return opened

    def did_change(
        self, uri: str, changes: Iterable[TextChange], version: int | None = None
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
            self.touch(opened.real, opened.path)

    def touch(self, *paths: str, came_or_went: bool = False) -> None:
        """Note that files changed, or all of them if none is named."""
        self.generation += 1
        self._touched.update(dict.fromkeys(paths, self.generation))
        self._changed.update(paths)
        self._must_look |= came_or_went
        if not paths:
            self._latest = None

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

    def system(self) -> System:
        """The disk, with unsaved texts in place of files."""
        texts = {
            each.real.replace(os.sep, "/"): each.text.text.encode("utf-8", "surrogatepass")
            for each in self.open.values()
        }
        disk = self._request.system.fresh_copy()
        return Overlay(texts, disk) if texts else disk

    @property
    def now(self) -> Workspace:
        """The files below the folders as they are now, unsaved texts included."""
        if self._latest is None:
            system = self.system()
            folders = [each for each in self.folders if system.is_folder(each)]
            request = msgspec.structs.replace(self._request, system=system)
            self._latest = Workspace(
                folders, request, kind=self.kind, keeps=self._is_open, recording=True
            )
        elif self._changed:
            self._latest = self._latest.after(
                self._changed, system=self.system(), look=self._must_look
            )
        self._changed, self._must_look = set(), False
        return self._latest

    def _is_open(self, file: File) -> bool:
        return self.opened_at(file.path) is not None

    def load(self, path: str) -> FileLoad:
        """The load of a file as it is now, unsaved texts included."""
        load = self.now.load(File(path))
        opened = self.opened_at(path)
        if opened is not None and load.outcome is not None and load.outcome.tree is not None:
            opened.good = load.outcome
        return load

    def borrow(self, other: EditorWorkspace) -> None:
        """Know what another workspace with the same texts knows."""
        self._latest, self._request, self._changed = other.now, other._request, set()
        self.surveyed = other.surveyed

    def known_summaries(self) -> Iterator[Summary]:
        """What is kept of every file that is of a kind."""
        return self.now.known_summaries()

    def users_of(self, path: str) -> list[str]:
        """The files whose loads looked at a file; what may be a part of another comes last."""
        parts = {each.path for each in self.known_summaries() if each.yields}
        users = (each.path for each in self.now.readers_of(path))
        return sorted(users, key=lambda user: (user in parts, user))

    # Checks.

    def check(self, opened: Opened) -> tuple[Diagnostic, ...]:
        """The findings in an open text, as a check of the whole workspace reports them.

        Until the first survey has ended, the files that it has not loaded yet do not count.
        """
        now, file = self.now, File(opened.path)
        # What others say about a file counts also if no check looks at the file itself.
        own = [] if self._is_left_out(opened.path, now) else [file]
        report = now.report(about=[file], extra=own, only_known=self.surveyed < 0)
        self.load(opened.path)
        found = findings_by_file(report, now.system).get(opened.real, ())
        around = self.folders if self.holds(opened.path) else [os.path.dirname(opened.path)]
        return drop_known(found, baselines_of(around, now.run) if found else ())

    def _is_left_out(self, path: str, now: Workspace) -> bool:
        """Whether a check of the project would not look at a file.

        What git ignores is checked while it is open: its author is looking at it.
        """
        # Nothing outside the workspace is walked.
        starts = [each.replace(os.sep, "/") for each in self._starts() if path.startswith(each)]
        slashed, wanted = path.replace(os.sep, "/"), Wanted(now.run)
        if starts and not any(
            is_worth_a_look(slashed, each, agent_folders(), wanted) for each in starts
        ):
            return True
        return project_of(path, now.run).leaves_out(path)

    # Surveys.

    def snapshot(self) -> Survey:
        """A check of everything, to be run by any thread."""
        return Survey(self.generation, self.now)

    def take(self, survey: Survey) -> bool:
        """Take over what a survey found; False if files changed since, and it must run again."""
        since = survey.generation
        self._touched = {path: number for path, number in self._touched.items() if number > since}
        self._latest, self._changed = survey.workspace, set(self._touched)
        self._must_look = True  # a change may have been one of several, of which it was the first
        if not self._touched:
            self.surveyed = survey.generation
        return not self._touched


class Survey:
    """A check of all files of a workspace, as they were when it was asked for."""

    def __init__(self, generation: int, workspace: Workspace) -> None:
        self.generation = generation
        self.workspace = workspace
        self.report: Report | None = None
        self.problem: Exception | None = None  #: a bug that ended it

    def run(self, is_cancelled: Callable[[], bool] = lambda: False) -> None:
        """Check everything; `report` stays None if it was cancelled."""

        def stop_if_cancelled(_done: int, _all: int) -> None:
            if is_cancelled():
                raise _Cancelled

        self.workspace = workspace = self.workspace.after()
        workspace.progress = stop_if_cancelled
        try:
            report = workspace.report()
        except _Cancelled:
            return  # what was loaded so far is true, and saves the next survey the work
        finally:
            workspace.progress = None
        folders = workspace.paths
        known = baselines_of(folders, workspace.run)
        found = drop_known_add_stale(report.diagnostics, known, folders)
        self.report = msgspec.structs.replace(report, diagnostics=found)


class _Cancelled(Exception):
    pass


def findings_by_file(report: Report, system: System) -> dict[str, tuple[Diagnostic, ...]]:
    """The findings of a report by the real path of the file each is in."""
    found: dict[str, list[Diagnostic]] = {}
    for each in report.diagnostics:
        path = each.span.source.filename if each.span is not None else None
        if path is None and each.name is not None:
            path = system.real(system.absolute(each.name))
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
        return fields_of(self.outcome.kind)

    def authored_path(self, path: Path) -> Path:
        """A path of the text as the author of the whole configuration would write it."""
        tree = self.outcome.tree
        whole = (*self.prefix, *path)
        if tree is None or not self.prefix:
            return whole
        # Fields are those of the whole, also where the author wrote a part of it alone.
        moves = tuple(each for each in tree.moves if each[0])
        return msgspec.structs.replace(tree, moves=moves).path_as_written(whole)

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


def context_of(workspace: EditorWorkspace, opened: Opened) -> Context | None:
    """Return the context of an open text; None if no load reads it."""
    load = workspace.load(opened.path)
    own = [outcome for outcome in (load.outcome, opened.good) if outcome is not None]
    found = next((context for each in own if (context := _own_context(each, opened))), None)
    if found is not None and not found.prefix:
        return found
    for path in workspace.users_of(opened.real):
        if path in (opened.path, opened.real):
            continue
        user = workspace.load(path).outcome
        part = (
            None
            if user is None or user.tree is None
            else _included_context(user, user.tree, opened.real)
        )
        if part is not None:
            opened.part = part
            return part
    if found is not None:
        return found
    known = opened.part
    return known if isinstance(known, Context) else None


def _own_context(outcome: Outcome, opened: Opened) -> Context | None:
    if outcome.tree is not None and outcome.tree.is_part:
        return _included_context(outcome, outcome.tree, opened.real)
    document = next(
        (each for each in outcome.documents if each.source.filename == opened.real), None
    )
    return None if document is None else Context(outcome, document)


def _included_context(user: Outcome, tree: Tree, real: str) -> Context | None:
    """The place of a file in the configuration that includes it."""
    waiting: list[tuple[Path, Origins]] = [(ROOT, tree.origins)]
    while waiting:
        path, node = waiting.pop()
        here = None if tree.is_part and path == ROOT else node.here
        if here is not None and here.document.source.filename == real and not here.path:
            return Context(user, here.document, path)
        waiting += (((*path, step), child) for step, child in node.below.items())
    return None
