"""A check: which files are looked at, what was found in each, and the report on all of them.

`check_paths` is what `equipage check` does. Others that check, the language server and a watch,
use its `ReportBuilder` with their own ways to check a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Diagnostic, Label
from equipage.files import exists, is_folder, real_path, repository_root
from equipage.files.reading import display_name
from equipage.loading.project_root import remember_walked_folder
from equipage.loading.session import Request, Run
from equipage.project.recognise import FIXTURES, folders_of_kinds
from equipage.project.registry import agent_folders, format_named, is_convention
from equipage.project.settings import (
    SELECT_ALL,
    Project,
    Selection,
    excluded_by,
    project_of,
    projects_of,
)
from equipage.workspace.load import (
    CHUNK,
    Candidate,
    Checked,
    Checker,
    Keep,
    Progress,
    WantedOf,
    run_of,
    with_folders,
)
from equipage.workspace.report import SETTINGS, FileReport, Report

if TYPE_CHECKING:  # imported where they are needed
    from equipage.files.walking import EnteredFolder, WalkResult
    from equipage.workspace.parallel import Checks

#: Findings that are reported once for each sort of file and project.
_GROUPED = frozenset({codes.POSSIBLE_KIND.name, codes.NOT_READ.name, codes.LINK_BROKEN.name})
#: Fewer candidates than this are checked as fast by one process.
WORTH_IT = 2_000


def check_paths(
    paths: Sequence[str],
    request: Request,
    *,
    kind: str | None = None,
    selection: Selection = SELECT_ALL,
    progress: Progress | None = None,
    jobs: int = 1,
    digests: bool = True,
    keep: Keep | None = None,
) -> Report:
    """Check what is at and below `paths`, and the settings of the projects it belongs to.

    Without `digests`, the files of the report have none: making them takes time. `jobs` processes
    do the work, as many as are worth it if it is 0; the report is the same, whatever the number.
    With one process, `keep` is given every load, those of files around `paths` included.
    Raises `UsageError` for an unknown kind.
    """
    if kind is not None:
        format_named(kind)
    request = msgspec.structs.replace(
        with_folders(request, paths), unasked=selection.unrequested_codes
    )
    builder = ReportBuilder(request, run_of(request), kind, selection)
    checker = Checker(request, kind, builder.run, digests=digests, keep=keep)

    def check(found: Sequence[Candidate]) -> Iterator[Any]:
        return by_chunks(found, checker, jobs)

    return builder.build(paths, check, progress, context=kind is None)


#: The folder that files in memory are in: it has no name that people are shown.
_MEMORY = "/project"


def check_contents(
    contents: Mapping[str, bytes], request: Request, *, kind: str | None = None
) -> Report:
    """Check files in memory as a check of a folder would, without the disk.

    Raises `UsageError` for an unknown kind.
    """
    from equipage.files.memory import Overlay, overlaid

    files = {f"{_MEMORY}/{path}": data for path, data in contents.items()}
    with overlaid(Overlay(files, root=_MEMORY)):
        return check_paths([_MEMORY], request, kind=kind)


def by_chunks(candidates: Sequence[Candidate], checker: Checks, jobs: int) -> Iterator[Any]:
    """What is kept of each candidate, in order, by `jobs` processes; 0: as many as are worth it."""
    chunks = [candidates[start : start + CHUNK] for start in range(0, len(candidates), CHUNK)]
    wanted = jobs or (_processors() if len(candidates) >= WORTH_IT else 1)
    if wanted > 1 and chunks:
        # Importing it takes longer than checking a small file.
        from equipage.workspace.parallel import by_processes, can_share

        if can_share():
            yield from by_processes(chunks, checker, min(wanted, len(chunks)))
            return
    for chunk in chunks:
        yield from checker.check(chunk)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ReportBuilder:
    """Gathers what is known of all files. Each file counts once, each finding is reported once."""

    def __init__(
        self,
        request: Request,
        run: Run,
        kind: str | None = None,
        selection: Selection = SELECT_ALL,
        entered: Callable[[str], object] | None = None,
    ) -> None:
        self.request = request
        self.run = run
        self.kind = kind  #: the only kind that files may be of
        self.selection = selection
        self.entered = entered  #: called with each folder that the walk looks into
        self.checked: dict[str, Checked] = {}
        self.identities: set[Hashable] = set()
        self.used: dict[str, list[str]] = {}  #: file → files that read it
        self.findings: dict[Hashable, Diagnostic] = {}
        self.failed: set[str] = set()  #: files with errors, reported or not
        #: notes about files that were not checked, by project, code and message
        self.grouped: dict[tuple[str, str, str], list[tuple[Checked, Diagnostic]]] = {}
        self.reported: set[str] = set()  #: files with errors that are reported
        #: folders for files of one kind, by kind and real path; and those the walk looked into
        self.folders: dict[tuple[str, str], str] = {}
        self.entered_folders: set[str] = set()
        #: files that may be merged with others, and what was found in each alone
        self.layers: dict[str, tuple[Diagnostic, ...]] = {}
        #: files around those that are checked: others may refer to them, but only findings in
        #: `asked` are reported
        self.context: set[str] = set()
        self.asked: set[str] = set()
        self.order: dict[str, int] = {}  #: the order of a walk over everything, if there is one
        self.projects: tuple[Project, ...] | None = None
        self.left_out: list[str] = []  #: files that the caller named and that are excluded
        self._excludes = excluded_by(selection.exclude, run.files.cwd)

    def build(
        self,
        paths: Sequence[str],
        check: Callable[[Sequence[Candidate]], Iterable[Checked | None]],
        progress: Progress | None = None,
        *,
        context: bool = False,
    ) -> Report:
        """The report on what is at and below `paths`, with `check` for each file.

        With `context`, references are resolved against the whole project of each path, so that the
        report says about a file what a check of the whole project says.
        """
        paths = list(dict.fromkeys(paths))
        candidates = list(self._candidates(paths))
        # What was asked for comes first: only if it has to do with others, these are looked for.
        waiting = self._gather(candidates, check, progress)
        if context and (waiting or self._concern_others()):
            self.projects = projects_of(self.run)
            around = list(self._around(paths, candidates))
            if around:
                waiting += self._gather_context(candidates, around, check, progress)
        return self._finish(waiting)

    def build_among(
        self,
        candidates: Sequence[Candidate],
        around: Sequence[Candidate],
        check: Callable[[Sequence[Candidate]], Iterable[Checked | None]],
        order: Mapping[str, int],
    ) -> Report:
        """The report on some files, for callers that know which others are around them.

        `order` is that of a walk, by absolute path.
        """
        # A file that is new has no place in the last walk, so it comes last.
        self.order = {os.path.abspath(each.path): len(order) for each in candidates} | dict(order)
        waiting = self._gather(candidates, check, None)
        for each in candidates:
            project_of(each.path, self.run)
        self.projects = projects_of(self.run)
        waiting += self._gather_context(candidates, around, check, None)
        return self._finish(waiting)

    def _gather_context(
        self,
        candidates: Sequence[Candidate],
        around: Sequence[Candidate],
        check: Callable[[Sequence[Candidate]], Iterable[Checked | None]],
        progress: Progress | None,
    ) -> list[Checked]:
        """Gather what is around the files that were asked for; see `context`."""
        self.asked = {display_name(each.path) for each in candidates}
        self.context = {display_name(each.path) for each in around}
        return self._gather(around, check, progress)

    def _finish(self, waiting: Iterable[Checked]) -> Report:
        """What is left once every file was looked at."""
        for checked in waiting:  # another load that read the file knew better
            if checked.name not in self.used:
                self.add(checked)
        self._add_grouped()
        if self._concerns_several():
            from equipage.workspace.cross_file import (
                check_folders,
                check_layers,
                check_offers,
                check_sets,
            )

            # What concerns several files comes after all of them, in this order.
            check_folders(self)
            check_sets(self)
            check_offers(self)
            check_layers(self)
        return self._report()

    def _gather(
        self,
        candidates: Sequence[Candidate],
        check: Callable[[Sequence[Candidate]], Iterable[Checked | None]],
        progress: Progress | None,
    ) -> list[Checked]:
        """Check files and add them; those are given back that another load may know better."""
        waiting: list[Checked] = []
        for number, checked in enumerate(check(candidates)):
            if progress is not None:
                progress(number, len(candidates))
            if checked is not None and (checked.guessed or _is_unrecognised(checked)):
                waiting.append(checked)
            elif checked is not None:
                self.add(checked)
        return waiting

    # The files to look at.

    def _concern_others(self) -> bool:
        """Whether other files may matter for findings in those that were checked."""
        return any(each.refers or each.key is not None for each in self.checked.values())

    def _concerns_several(self) -> bool:
        """Whether anything is left to find that one file alone does not say."""
        waiting = any(each.waiting for each in self.checked.values())
        waiting |= any(each.offer and any(each.offer.weight) for each in self.checked.values())
        configured = bool(self.request.options.get("config"))  # for layers, which there must be
        return bool(self.folders or self.layers or waiting or configured or self._concern_others())

    def _around(self, paths: Sequence[str], candidates: Sequence[Candidate]) -> Iterator[Candidate]:
        """The other files of the projects that the paths are in; they give `order`."""
        from equipage.files.walking import walk

        folders = {os.path.abspath(path) for path in paths if is_folder(path)}
        tops = tuple(os.path.join(folder, "") for folder in folders)
        # The usual check, of whole projects: every file in them was a candidate.
        if all(os.path.join(each.root, "").startswith(tops) for each in projects_of(self.run)):
            return
        known = {os.path.abspath(each.path) for each in candidates}
        roots = {project_of(path, self.run).root for path in known | {f"{f}/x" for f in folders}}
        wanted = WantedOf(self.run)
        for root in sorted(roots):
            if os.path.join(root, "").startswith(tops):
                continue  # it was walked already
            alone = self.request.isolated
            for found in walk(root, agent_folders(), wanted, all_files=alone):
                path = os.path.abspath(found.path)
                self.order.setdefault(path, len(self.order))
                # What a load read is a part of that file, and was looked at with it.
                is_part = display_name(path) in self.used
                if found.problem is None and path not in known and not (is_part or found.outside):
                    yield Candidate(found.path)

    def _candidates(self, paths: list[str]) -> Iterator[Candidate]:
        """Each file to look at, those the caller named first."""
        folders = [path for path in paths if is_folder(path)]
        for path in paths:
            if path not in folders:
                project_of(path, self.run)
                if self.selection.force_exclude and self._is_left_out(path):
                    self.left_out.append(display_name(path))
                else:
                    yield Candidate(path, named=True)
        for folder in folders:
            yield from self._walk(folder)

    def _walk(self, folder: str) -> Iterator[Candidate]:
        """Each file to look at below a folder; folders that cannot be read are findings."""
        from equipage.files.walking import is_ignored, walk
        from equipage.loading.layers import PROJECT_FOLDER

        run = self.run
        project_of(os.path.join(folder, "file"), run)
        wanted, alone = WantedOf(run), self.request.isolated
        start = os.path.abspath(folder)
        for found in walk(folder, agent_folders(), wanted, self._enter, all_files=alone):
            if found.is_index:
                self._add_damaged_index(found)
            elif found.problem is None:
                if not self._is_left_out(found.path, start):
                    yield Candidate(found.path, outside=found.outside)
            elif os.path.abspath(found.path) not in self.entered_folders:
                # Of a folder for files of one kind, `several.check_folders` says it.
                self._add_unreadable(found.path, found.problem, named=found.path == folder)
        # The walk does not come to a layer that is a file, or a link elsewhere.
        layer = os.path.join(start, PROJECT_FOLDER)
        is_layer = repository_root(start) == start and exists(layer, follow_links=False)
        if is_layer and not is_ignored(layer):
            self._note_folders(layer + "/")

    def _is_left_out(self, path: str, start: str | None = None) -> bool:
        """Whether the settings or the caller exclude a file; see `Project.leaves_out`."""
        if not self.selection.exclude and not project_of(path, self.run).leaves_out_any:
            return False
        path = os.path.abspath(path)
        return self._excludes(path) or project_of(path, self.run).leaves_out(path, start)

    def _enter(self, entered: EnteredFolder) -> None:
        if self.entered is not None:
            self.entered(entered.folder)
        remember_walked_folder(self.run, entered.folder, entered.names, is_plain=entered.is_plain)
        self._note_folders(entered.folder)

    def _note_folders(self, entered: str) -> None:
        """Remember the folders for files of one kind that a folder is or holds."""
        for kind, folder in folders_of_kinds(entered):
            self.folders.setdefault((kind, real_path(folder)), folder)
            if entered.startswith(folder):
                self.entered_folders.add(folder)

    def _add_damaged_index(self, found: WalkResult) -> None:
        from equipage.loading.findings import finding

        name = display_name(os.path.join(found.path, ".git", "index"))
        note = finding(codes.INDEX_DAMAGED, name, {"reason": found.problem})
        self.add_findings(os.path.join(found.path, "file"), name, [note])

    def _add_unreadable(self, folder: str, problem: str, *, named: bool) -> None:
        from equipage.loading.findings import finding

        name = display_name(folder)
        values = {"folder": name, "reason": problem}
        severity = "error" if named else codes.FOLDER_UNREADABLE.severity
        found = finding(codes.FOLDER_UNREADABLE, name, values, severity=severity)
        self.add_findings(os.path.join(folder, "file"), name, [found])

    # What was found in single files.

    def add(self, checked: Checked) -> None:
        """Count a file, unless it is known by this name or another."""
        if checked.name in self.checked or checked.real in self.identities:
            return
        if checked.real is not None:
            self.identities.add(checked.real)
        for name in checked.reads:
            self.used.setdefault(name, []).append(checked.name)
        is_grouped = any(each.code in _GROUPED for each in checked.diagnostics)
        if is_grouped:
            self._group(checked)
        if is_grouped and checked.diagnostics[0].code == codes.NOT_READ:
            return
        if checked.diagnostics or checked.reads:
            self.checked[checked.name] = msgspec.structs.replace(checked, diagnostics=(), reads=())
        else:
            self.checked[checked.name] = checked
        if checked.layered:
            self.layers[checked.name] = checked.diagnostics
        elif not is_grouped and checked.diagnostics:
            self.add_findings(checked.path, checked.name, checked.diagnostics)

    def _group(self, checked: Checked) -> None:
        """Remember a finding about a file that was not checked: one for each sort and project."""
        for each in checked.diagnostics:
            key = project_of(checked.path, self.run).root, each.code, each.message
            self.grouped.setdefault(key, []).append((checked, each))

    def _add_grouped(self) -> None:
        for group in self.grouped.values():
            (checked, each), more = group[0], len(group) - 1
            if more:
                files = "file" if more == 1 else "files"
                message = f"{each.message}; {more:,} more such {files}"
                each = msgspec.structs.replace(each, message=message, count=len(group))
            self.add_findings(checked.path, checked.name, [each])

    def add_findings(self, path: str, name: str, diagnostics: Iterable[Diagnostic]) -> None:
        """Report findings of a file, as its project judges them."""
        # A file of a guessed kind gives warnings at most; see `_of_guess`.
        checked = self.checked.get(name)
        if checked is not None and checked.unsure is not None:
            diagnostics = (_of_guess(each, checked) for each in diagnostics)
        diagnostics = list(diagnostics)
        if not diagnostics:
            return
        if checked is not None and self._is_fixture(path, checked):
            diagnostics = [_of_fixture(each) for each in diagnostics]
        if name in self.context:
            diagnostics = [each for each in diagnostics if each.name in self.asked]
        judged = project_of(path, self.run).select_findings(diagnostics, self.selection)
        if _fails(diagnostics):
            self.failed.add(name)
        if _fails(judged):
            self.reported.add(name)
        for each in judged:
            self.findings.setdefault(each.identity(), each)

    def _is_fixture(self, path: str, checked: Checked) -> bool:
        """Whether a file of another tool, or a guess, is material of a test, and was not asked for
        itself."""
        is_ours = checked.kind is not None and not is_convention(checked.kind)
        if checked.kind is None or (is_ours and checked.unsure is None):
            return False
        path = os.path.abspath(path)
        above = [each for each in self.run.folders if path.startswith(each.rstrip(os.sep) + os.sep)]
        inside = path.removeprefix(max(above, key=len, default=os.path.dirname(path)))
        return FIXTURES.search(inside.replace(os.sep, "/")) is not None

    # The report.

    def _report(self) -> Report:
        files = list(self._files())
        findings: dict[Hashable, Diagnostic] = {}
        for project in projects_of(self.run) if self.projects is None else self.projects:
            judged = [each for each in project.diagnostics if self.selection.takes(each.code)]
            if judged:  # settings count as a file only if there is something to say about them
                files.append(FileReport(project.file or project.root, SETTINGS, not _fails(judged)))
                for each in judged:
                    findings.setdefault(each.identity(), each)
        diagnostics = list({**findings, **self.findings}.values())
        if diagnostics:
            from equipage.loading.findings import merge_duplicates

            diagnostics = merge_duplicates(diagnostics)
        # Files with errors of which none is reported, because settings or a baseline ignore them.
        hidden = sorted(({*self.checked} - self.context) & self.failed - self.reported)
        return Report(
            tuple(sorted(files, key=lambda each: each.path)),
            tuple(diagnostics),
            tuple(hidden),
            left_out=tuple(self.left_out),
        )

    def _files(self) -> Iterator[FileReport]:
        failed = self.failed | self.reported
        for name, each in self.checked.items():
            if name in self.context:
                continue
            ok = each.ok and name not in failed
            yield FileReport(name, each.kind, ok, each.digest, tuple(self.used.get(name, ())))
        bad = {each.name for each in self.findings.values() if each.severity == "error"}
        for name, users in self.used.items():
            if name not in self.checked and (
                name in self.asked or not self.context.issuperset(users)
            ):
                yield FileReport(name, None, name not in bad, None, tuple(users))


def _is_unrecognised(checked: Checked) -> bool:
    """Whether the caller named a file of no kind; another file may read it as a part of itself."""
    return any(each.code == codes.UNRECOGNISED for each in checked.diagnostics)


def _of_guess(each: Diagnostic, checked: Checked) -> Diagnostic:
    """A finding in a file that is of its kind by a guess: never an error, and it says why."""
    if each.severity != "error" or each.code == codes.INTERNAL_ERROR:
        return each
    why = Label(None, f"checked as kind `{checked.kind}` because {checked.unsure}")
    return msgspec.structs.replace(each, severity="warning", related=(*each.related, why))


def _of_fixture(each: Diagnostic) -> Diagnostic:
    """A finding in the material of a test, which may be wrong on purpose."""
    return msgspec.structs.replace(each, severity="note") if each.severity == "warning" else each


def _fails(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(each.severity == "error" for each in diagnostics)
