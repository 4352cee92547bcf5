"""The report on a check: every file, the files that read it, every finding once."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Diagnostic, Label, UsageError
from equipage.files import is_folder, real_path, repository_root
from equipage.files.reading import display_name
from equipage.loading.outcome import Outcome, place_alone
from equipage.loading.pipeline import load_path
from equipage.loading.recognise import folders_of_kinds
from equipage.loading.registry import agent_folders, kind_named
from equipage.loading.session import Request, Run
from equipage.workspace.loads import (
    CHUNK,
    Candidate,
    Checked,
    Checker,
    Progress,
    bug,
    has_kind_by_settings,
    is_known_by_name,
    with_folders,
)
from equipage.workspace.project import EVERYTHING, Selection, project_of, projects_of
from equipage.workspace.project import KIND as SETTINGS_KIND

if TYPE_CHECKING:  # walking is imported where a folder is walked
    from equipage.files.walking import Found

#: The kind of the files that hold settings, as reports name it.
SETTINGS = SETTINGS_KIND.name
NO_LAYERS = "--config applies to layered settings, and there are none here"
#: Notes that are reported once for each sort of file and project.
_GROUPED = frozenset({codes.POSSIBLE_KIND.name, codes.NOT_READ.name})
#: Fewer candidates than this are checked before other processes would have started.
WORTH_IT = 256


class FileReport(msgspec.Struct, frozen=True):
    """One file of a check. `kind` None: it was only read by others."""

    path: str
    kind: str | None
    ok: bool  #: whether it loads, also where its errors are ignored
    digest: str | None = None
    used_by: tuple[str, ...] = ()


class Report(msgspec.Struct, frozen=True):
    """What a check found: every file, every finding in order."""

    files: tuple[FileReport, ...]
    diagnostics: tuple[Diagnostic, ...]
    #: files that cannot be loaded, though no error of theirs is among the findings
    hidden: tuple[str, ...] = ()

    def _of(self, severity: str) -> tuple[Diagnostic, ...]:
        return tuple(each for each in self.diagnostics if each.severity == severity)

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return self._of("error")

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return self._of("warning")

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        return self._of("note")

    @property
    def ok(self) -> bool:
        return not self.errors


def check_paths(
    paths: Sequence[str],
    request: Request,
    *,
    kind: str | None = None,
    selection: Selection = EVERYTHING,
    progress: Progress | None = None,
    jobs: int = 1,
    digests: bool = True,
) -> Report:
    """Check what is at and below `paths`, and the settings of the projects it belongs to.

    Without `digests`, the files of the report have none: making them takes time. `jobs` processes
    do the work, as many as are worth it if it is 0; the report is the same, whatever the number.
    Raises `UsageError` for an unknown kind.
    """
    if kind is not None:
        kind_named(kind)
    request = with_folders(request, paths)
    builder = ReportBuilder(
        request, Run(folders=request.folders, isolated=request.isolated), kind, selection
    )
    checker = Checker(request, kind, builder.run, digests=digests)
    return builder.build(paths, lambda found: _checked(found, checker, jobs), progress)


def _checked(
    candidates: Sequence[Candidate], checker: Checker, jobs: int
) -> Iterator[Checked | None]:
    """What is kept of each candidate, in order."""
    chunks = (candidates[start : start + CHUNK] for start in range(0, len(candidates), CHUNK))
    wanted = jobs or (_processors() if len(candidates) >= WORTH_IT else 1)
    if wanted == 1:
        return (each for chunk in chunks for each in checker.check(chunk))
    # Importing it takes longer than checking a small file.
    from equipage.workspace.parallel import by_processes, can_share

    if not can_share():
        return (each for chunk in chunks for each in checker.check(chunk))
    return by_processes(chunks, checker, wanted)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class ReportBuilder:
    """Gathers what is known of all files. Each file counts once, each finding is reported once."""

    def __init__(
        self,
        request: Request,
        run: Run,
        kind: str | None = None,
        selection: Selection = EVERYTHING,
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

    def build(
        self,
        paths: Sequence[str],
        check: Callable[[Sequence[Candidate]], Iterable[Checked | None]],
        progress: Progress | None = None,
    ) -> Report:
        """The report on what is at and below `paths`, with `check` for each file."""
        candidates = list(self._candidates(list(dict.fromkeys(paths))))
        guessed: list[Checked] = []
        for number, checked in enumerate(check(candidates)):
            if progress is not None:
                progress(number, len(candidates))
            if checked is not None and checked.guessed:
                guessed.append(checked)
            elif checked is not None:
                self.add(checked)
        for checked in guessed:  # another load that read the file knew better
            if checked.name not in self.used:
                self.add(checked)
        self._add_grouped()
        self.check_folders()
        self.check_sets()
        self.check_layers()
        return self._report()

    # The files to look at.

    def _candidates(self, paths: list[str]) -> Iterator[Candidate]:
        """Each file to look at, those the caller named first."""
        folders = [path for path in paths if is_folder(path)]
        for path in paths:
            if path not in folders:
                project_of(path, self.run)
                yield Candidate(path, named=True)
        for folder in folders:
            yield from self._walk(folder)

    def _walk(self, folder: str) -> Iterator[Candidate]:
        """Each file to look at below a folder; folders that cannot be read are findings."""
        from equipage.files.roots import PROJECT_FOLDER
        from equipage.files.walking import is_ignored, walk

        run = self.run
        project_of(os.path.join(folder, "file"), run)
        claimed, known = has_kind_by_settings(run), is_known_by_name(run)
        alone = self.request.isolated
        for found in walk(folder, agent_folders(), claimed, self._enter, known, all_files=alone):
            if found.is_index:
                self._add_damaged_index(found)
            elif found.problem is None:
                yield Candidate(found.path, outside=found.outside)
            elif os.path.abspath(found.path) not in self.entered_folders:  # see `check_folders`
                self._add_unreadable(found.path, found.problem, named=found.path == folder)
        # The walk does not come to a layer that is a file, or a link elsewhere.
        here = os.path.abspath(folder)
        layer = os.path.join(here, PROJECT_FOLDER)
        if repository_root(here) == here and not is_ignored(layer):
            self._note_folders(layer + "/")

    def _enter(self, folder: str) -> None:
        if self.entered is not None:
            self.entered(folder)
        self._note_folders(folder)

    def _note_folders(self, entered: str) -> None:
        """Remember the folders for files of one kind that a folder is or holds."""
        for kind, folder in folders_of_kinds(entered):
            self.folders.setdefault((kind, real_path(folder)), folder)
            if entered.startswith(folder):
                self.entered_folders.add(folder)

    def _add_damaged_index(self, found: Found) -> None:
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
        self.checked[checked.name] = msgspec.structs.replace(checked, diagnostics=(), reads=())
        if checked.layered:
            self.layers[checked.name] = checked.diagnostics
        elif not is_grouped:
            self.add_findings(checked.path, checked.name, checked.diagnostics)

    def _group(self, checked: Checked) -> None:
        """Remember a note about a file that was not checked: one for each sort and project."""
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
        checked = self.checked.get(name)
        if checked is not None and checked.unsure is not None:
            diagnostics = (_of_guess(each, checked) for each in diagnostics)
        diagnostics = list(diagnostics)
        judged = project_of(path, self.run).judged(diagnostics, self.selection)
        if _fails(diagnostics):
            self.failed.add(name)
        if _fails(judged):
            self.reported.add(name)
        for each in judged:
            self.findings.setdefault(each.identity(), each)

    # What was found in several files together, and in folders.

    def check_folders(self) -> None:
        """Report what is wrong with folders for files of one kind, as opposed to the files."""
        for (name, _), folder in self.folders.items():
            beside = kind_named(name).layering.beside if name == (self.kind or name) else None
            if beside is None or (folder not in self.entered_folders and _is_ignored(folder)):
                continue
            for path, fact in beside(folder):
                if path == folder or not _is_ignored(path):
                    shown = display_name(path)
                    self.add_findings(path, shown, [place_alone(fact, shown)])

    def check_sets(self) -> None:
        """Load those files again that share a key with others of their kind, or refer to others.

        A single file kept too little for the rules about sets of files. The user's own layer takes
        part only where its files are among those checked: findings in a project must not depend on
        the machine it is checked on.
        """
        groups: dict[tuple[str | None, Hashable], list[Checked]] = {}
        for each in self.checked.values():
            if each.key is not None:
                groups.setdefault((each.kind, each.key), []).append(each)
        together = {each.name for group in groups.values() if len(group) > 1 for each in group}
        together |= {each.name for each in self.checked.values() if each.refers}
        run, outcomes = (
            Run(folders=self.request.folders, isolated=self.request.isolated),
            list[Outcome](),
        )
        about: dict[int, Checked] = {}
        for each in self.checked.values():
            if each.name in together and each.kind is not None:
                request = project_of(each.path, self.run).applied(self.request)
                outcomes.append(load_path(each.path, kind_named(each.kind), request, run))
                about[id(outcomes[-1])] = each
        waiting = [(each, one) for each in self.checked.values() for one in each.waiting]
        silent: set[int] = set()
        if about:
            from equipage.loading.outcome import findings_by_load

            offers = [each.offer for each in self.checked.values() if each.offer is not None]
            for outcome, found in findings_by_load(outcomes, offers):
                checked = about[id(outcome)]
                hits = {n for n, (_, one) in enumerate(waiting) if one.silences(found)}
                silent |= hits
                if not hits:
                    self.add_findings(checked.path, checked.name, [found])
        for number, (checked, one) in enumerate(waiting):
            if number not in silent:
                self.add_findings(checked.path, checked.name, [one.unused])

    def check_layers(self) -> None:
        """Merge the layers among the files, and report what is wrong with the result.

        Such a report covers each of the layers. A file that is part of no merge is reported as it
        is. Raises `UsageError` for `--config` where there are no layers.
        """
        kinds = {kind for name in self.layers if (kind := self.checked[name].kind) is not None}
        merged: list[Outcome] = []
        if not self.request.embedded:
            merged = [outcome for kind in sorted(kinds) for outcome in self._merges(kind)]
        if self.request.options.get("config") and not merged:
            raise UsageError(NO_LAYERS)
        together = {real_path(source.name) for outcome in merged for source in outcome.sources}
        for name, found in self.layers.items():
            if self.checked[name].real not in together:
                self.add_findings(self.checked[name].path, name, found)
        for outcome in merged:
            self._add_merge(outcome)

    def _merges(self, kind: str) -> list[Outcome]:
        paths = [self.checked[name].path for name in self.layers if self.checked[name].kind == kind]
        stacks = kind_named(kind).layering.stacks
        try:
            return [] if stacks is None else list(stacks(paths, self.request))
        except Exception as error:
            self.add_findings(paths[0], display_name(paths[0]), [bug(paths[0], error)])
            return []

    def _add_merge(self, outcome: Outcome) -> None:
        """Report each finding of a merge in the layer it is about."""
        by_file = {each.real: each for each in self.checked.values() if each.real is not None}
        reals = {source.name: real_path(source.name) for source in outcome.sources}
        known = [by_file[real] for real in reals.values() if real in by_file]
        layers = [each.name for each in known if each.layered]
        for name, real in reals.items():
            if real not in by_file:
                self.used.setdefault(name, []).extend(layers)
        # A value of the command line is in no file: the first layer takes it.
        first = self.checked[next(iter((*layers, *self.layers)))]
        for each in outcome.diagnostics:
            about = by_file.get(reals.get(each.name or "", ""), first)
            self.add_findings(about.path, about.name, [each])

    # The report.

    def _report(self) -> Report:
        files = list(self._files())
        findings: dict[Hashable, Diagnostic] = {}
        for project in projects_of(self.run):
            judged = [each for each in project.diagnostics if self.selection.takes(each.code)]
            if judged:  # settings count as a file only if there is something to say about them
                files.append(FileReport(project.file or project.root, SETTINGS, not _fails(judged)))
                for each in judged:
                    findings.setdefault(each.identity(), each)
        diagnostics = list({**findings, **self.findings}.values())
        if diagnostics:
            from equipage.loading.findings import deduplicated

            diagnostics = deduplicated(diagnostics)
        hidden = sorted({*self.checked} & self.failed - self.reported)
        ordered = sorted(files, key=lambda each: each.path)
        return Report(tuple(ordered), tuple(diagnostics), tuple(hidden))

    def _files(self) -> Iterator[FileReport]:
        for name, each in self.checked.items():
            ok = each.ok and name not in self.failed | self.reported
            yield FileReport(name, each.kind, ok, each.digest, tuple(self.used.get(name, ())))
        bad = {each.name for each in self.findings.values() if each.severity == "error"}
        for name, users in self.used.items():
            if name not in self.checked:
                yield FileReport(name, None, name not in bad, None, tuple(users))


def _of_guess(each: Diagnostic, checked: Checked) -> Diagnostic:
    """A finding in a file that is of its kind by a guess: never an error, and it says why."""
    if each.severity != "error" or each.code == codes.INTERNAL_ERROR:
        return each
    why = Label(None, f"checked as kind `{checked.kind}` because {checked.unsure}")
    return msgspec.structs.replace(each, severity="warning", related=(*each.related, why))


def _is_ignored(path: str) -> bool:
    from equipage.files.walking import is_ignored

    return is_ignored(path)


def _fails(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(each.severity == "error" for each in diagnostics)
