"""Many files at once: which there are, of what kind, what their loads found, who read whom."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Protocol

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Diagnostic, LoadError, UsageError
from equipage.files.reading import Files, display_name
from equipage.files.roots import PROJECT_FOLDER, repository_root
from equipage.files.walking import Claim, is_ignored, walk, walk_files
from equipage.files.walking import Found as Walked
from equipage.loading.findings import deduplicated, finding
from equipage.loading.kind import Kind
from equipage.loading.outcome import Outcome, place_alone
from equipage.loading.pipeline import load_path
from equipage.loading.recognise import Surroundings, folders_of_kinds, kind_named, surroundings_of
from equipage.loading.request import Request
from equipage.loading.session import Run
from equipage.loading.set_rules import findings_by_load, keep_once
from equipage.workspace.check import (
    CHUNK,
    Candidate,
    Checked,
    Checker,
    Guess,
    bug,
    identity_of,
    left_outside,
    recognised,
    recognised_by_name,
)
from equipage.workspace.project import EVERYTHING, Project, Projects, Selection
from equipage.workspace.project import KIND as SETTINGS_KIND

#: The kind of the files that hold settings, as reports name it.
SETTINGS = SETTINGS_KIND.name
NO_LAYERS = "--config is laid over the layers of settings, and there are none here"


class FileReport(msgspec.Struct, frozen=True):
    """One file of a check. `kind` None: it was only read by others."""

    path: str
    kind: str | None
    ok: bool
    digest: str | None = None
    used_by: tuple[str, ...] = ()


class Report(msgspec.Struct, frozen=True):
    """What a check found: every file, every finding in order."""

    files: tuple[FileReport, ...]
    diagnostics: tuple[Diagnostic, ...]

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


# ------------------------------------------------------------------------------------------------- loading


def recognise(path: str, projects: Projects | None = None, files: Files | None = None) -> Kind:
    """The kind of a file the caller named. Raises `LoadError` if it cannot be read or nobody knows it."""
    files = files or Files()
    name = recognised(path, files, (projects or Projects()).of(path), Surroundings().over(files))
    if isinstance(name, Diagnostic):
        raise LoadError([name])
    if name is None:
        raise LoadError([finding(codes.UNRECOGNISED, display_name(path))])
    return kind_named(name)


class Found(msgspec.Struct, frozen=True):
    """A file and what its load came to; or, if it came to nothing, why. Neither: nobody recognises the file."""

    path: str
    project: Project
    outcome: Outcome | None = None
    problem: Diagnostic | None = None
    guessed: bool = False  #: whether the kind is only a guess

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        if self.outcome is not None:
            return self.outcome.diagnostics
        return () if self.problem is None else (self.problem,)


class Place(Protocol):
    """Where the files of a workspace lie."""

    def is_folder(self, path: str) -> bool: ...

    def walk(self, folder: str, also: Claim, known: Claim) -> Iterator[Walked]:
        """Every candidate file below a folder, in a fixed order."""
        ...

    def files(self) -> Files:
        """Access for one load."""
        ...


class Disk:
    """The usual place."""

    def is_folder(self, path: str) -> bool:
        return os.path.isdir(path)

    def walk(self, folder: str, also: Claim, known: Claim) -> Iterator[Walked]:
        return (each for each in walk(folder, also, known=known) if each.problem is None)

    def files(self) -> Files:
        return Files()


#: Called with how many files are done and how many there are.
Progress = Callable[[int, int], None]


def load_one(
    path: str, request: Request, *, kind: str | None = None, files: Files | None = None
) -> Outcome:
    """Load a file the caller named. Raises `LoadError` if its kind cannot be told, `UsageError` if there is no
    such kind."""
    projects = Projects(files)
    wanted = kind_named(kind) if kind is not None else recognise(path, projects, files)
    return load_path(path, wanted, projects.of(path).applied(request), files=files)


def load_all(
    paths: Sequence[str],
    request: Request,
    *,
    kind: str | None = None,
    projects: Projects | None = None,
    progress: Progress | None = None,
    place: Place | None = None,
) -> Iterator[Found]:
    """Load what is at and below `paths`, one file after the other, in a fixed order.

    A file below a folder that nobody recognises is left out; one that the caller named is not. Raises
    `UsageError` for an unknown kind.
    """
    wanted = kind_named(kind) if kind is not None else None
    place = place or Disk()
    projects = projects or Projects(place.files())
    run = Run(place.files())
    candidates = list(_candidates(paths, projects, place))
    known: set[Hashable] = set()
    for number, candidate in enumerate(candidates):
        if progress is not None:
            progress(number, len(candidates))
        found = _load(candidate, wanted, request, projects.of(candidate.path), run, known)
        if found is not None and (
            found.outcome is not None or candidate.named or _is_worth_a_word(found.problem)
        ):
            yield found


def _load(
    candidate: Candidate,
    wanted: Kind | None,
    request: Request,
    project: Project,
    run: Run,
    known: set[Hashable],
) -> Found | None:
    """A file and its load; None if it is `known` by another path."""
    path = candidate.path
    try:
        chosen = (
            wanted.name
            if wanted
            else recognised(path, run.files.again(), project, surroundings_of(run))
        )
        if chosen is None or isinstance(chosen, Diagnostic):
            return Found(
                path, project, problem=chosen or finding(codes.UNRECOGNISED, display_name(path))
            )
        kind = wanted or kind_named(chosen)
        if candidate.outside and not kind.layering.discovered:
            return Found(path, project, problem=left_outside(path))
        same = identity_of(kind, path, run.files)
        if same in known:
            return None
        known.add(same)
        outcome = load_path(path, kind, project.applied(request), run)
        return Found(path, project, outcome, guessed=isinstance(chosen, Guess))
    except UsageError:
        raise
    except Exception as error:
        return Found(path, project, problem=bug(path, error))


def settled(found: Iterable[Found]) -> list[Found]:
    """The files without those whose kind was a guess and which another load reads as something else."""
    found = list(found)
    if not any(each.guessed for each in found):
        return found
    used = {
        source.path
        for each in found
        if each.outcome is not None
        for source in each.outcome.sources
        if source.path is not None and source.path != os.path.realpath(each.path)
    }
    return [each for each in found if not (each.guessed and os.path.realpath(each.path) in used)]


def _is_worth_a_word(problem: Diagnostic | None) -> bool:
    """Whether a problem is told of a file that nobody named."""
    return problem is not None and problem.code in (codes.INTERNAL_ERROR, codes.LINK_OUTSIDE)


def _candidates(paths: Sequence[str], projects: Projects, place: Place) -> Iterator[Candidate]:
    """Each path to look at once."""
    seen: set[str] = set()
    for path in paths:
        is_folder = place.is_folder(path)
        projects.of(os.path.join(path, "file") if is_folder else path)
        walked = place.walk(path, _wanted_by(projects), _known_to(projects))
        for each in walked if is_folder else [Walked(path)]:
            absolute = os.path.abspath(each.path)
            if absolute not in seen:
                seen.add(absolute)
                yield Candidate(each.path, named=not is_folder, outside=each.outside)


def _wanted_by(projects: Projects) -> Claim:
    """Whether the settings give a path a kind, whatever its name."""
    return lambda path: projects.of(path).kind_of(path) is not None


def _known_to(projects: Projects) -> Claim:
    """Whether a path alone tells what must be there, and nobody else tells what is there instead."""

    def is_known(path: str) -> bool:
        kind = recognised_by_name(path, projects.of(path))
        return kind is not None and not kind_named(kind).layering.discovered

    return is_known


# ------------------------------------------------------------------------------------------------ checking


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

    Without `digests`, the files of the report have none: they are made of all that a file holds, and take time.
    `jobs` processes do the work, as many as are worth it if it is 0; the report is the same, whatever the number.
    Raises `UsageError` for an unknown kind.
    """
    if kind is not None:
        kind_named(kind)
    projects = Projects()
    checker = Checker(request, kind, projects, digests=digests)
    return report_of(
        paths,
        request,
        projects,
        lambda candidates: _checked(candidates, checker, jobs),
        selection=selection,
        progress=progress,
        kind=kind,
    )


#: What is kept of each file to look at, in order.
Checking = Callable[[Sequence[Candidate]], Iterable[Checked | None]]


def report_of(
    paths: Sequence[str],
    request: Request,
    projects: Projects,
    check: Checking,
    *,
    selection: Selection = EVERYTHING,
    progress: Progress | None = None,
    kind: str | None = None,
    entered: Callable[[str], object] | None = None,
) -> Report:
    """The report on what is at and below `paths`, with `check` for each file. `entered` is told of each folder."""
    gathered = _Gathered(projects, selection)
    candidates = list(_to_check(paths, projects, gathered, entered))
    guessed: list[Checked] = []
    for number, checked in enumerate(check(candidates)):
        if progress is not None:
            progress(number, len(candidates))
        if checked is not None and checked.guessed:
            guessed.append(checked)
        elif checked is not None:
            gathered.add(checked)
    for checked in guessed:  # another load that read the file knew better
        if checked.name not in gathered.used:
            gathered.add(checked)
    gathered.look_beside(kind)
    gathered.look_together(request)
    gathered.look_at_layers(request)
    return gathered.report()


#: Fewer candidates than this are checked before other processes would have started.
WORTH_IT = 256


def _checked(
    candidates: Sequence[Candidate], checker: Checker, jobs: int
) -> Iterator[Checked | None]:
    """What is kept of each candidate, in order."""
    chunks = (candidates[start : start + CHUNK] for start in range(0, len(candidates), CHUNK))
    wanted = jobs or (_processors() if len(candidates) >= WORTH_IT else 1)
    if wanted == 1:
        return (each for chunk in chunks for each in checker.check(chunk))
    from equipage.workspace.parallel import (
        by_processes,  # costs more to import than a small file to check
    )

    return by_processes(chunks, checker, wanted)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _to_check(
    paths: Sequence[str],
    projects: Projects,
    gathered: _Gathered,
    entered: Callable[[str], object] | None,
) -> Iterator[Candidate]:
    """Each file to look at, those the caller named first; and what keeps the walk from others."""
    folders = [path for path in dict.fromkeys(paths) if os.path.isdir(path)]
    for path in dict.fromkeys(paths):
        if path not in folders:
            projects.of(path)
            yield Candidate(path, named=True)
    for folder in folders:
        projects.of(os.path.join(folder, "file"))
        for found in walk(
            folder, _wanted_by(projects), gathered.entering(entered), _known_to(projects)
        ):
            if found.outside:
                gathered.outside.add(os.path.realpath(found.path))
            if found.problem is None:
                yield Candidate(found.path, outside=found.outside)
            elif (
                os.path.abspath(found.path) not in gathered.entered
            ):  # of those, more is said later
                gathered.unreadable(found.path, found.problem, named=found.path == folder)
        layer = os.path.join(os.path.abspath(folder), PROJECT_FOLDER)
        if repository_root(os.path.dirname(layer)) == os.path.dirname(layer) and not is_ignored(
            layer
        ):
            gathered.entering(None)(
                layer + "/"
            )  # the walk does not come to a file in its place, or a link elsewhere


class _Gathered:
    """What is known so far of all files. Each file counts once, each finding is told once."""

    def __init__(self, projects: Projects, selection: Selection) -> None:
        self.projects = projects
        self.selection = selection
        self.checked: dict[str, Checked] = {}
        self.reals: set[Hashable] = set()
        self.used: dict[str, list[str]] = {}
        self.findings: dict[tuple[object, ...], Diagnostic] = {}
        self.failed: set[str] = set()
        self.folders: dict[
            tuple[str, str], str
        ] = {}  #: those for files of one kind, by kind and real path
        self.entered: set[str] = set()  #: which of them the walk looked into
        self.alone: dict[
            str, tuple[Diagnostic, ...]
        ] = {}  #: what was found in a layer without the others
        self.outside: set[str] = (
            set()
        )  #: files outside the project that links in it lead to, by real path

    def add(self, checked: Checked) -> None:
        if checked.name in self.checked or checked.real in self.reals:
            return
        if checked.real is not None:
            self.reals.add(checked.real)
        for name in checked.reads:
            self.used.setdefault(name, []).append(checked.name)
        self.checked[checked.name] = msgspec.structs.replace(checked, diagnostics=(), reads=())
        if checked.layered:
            self.alone[checked.name] = checked.diagnostics
        else:
            self.tell(checked.path, checked.name, checked.diagnostics)

    def tell(self, path: str, name: str, diagnostics: Iterable[Diagnostic]) -> None:
        """Report findings of a file, as its project judges them."""
        judged = self.projects.of(path).judged(diagnostics, self.selection)
        if _fails(judged):
            self.failed.add(name)
        keep_once(judged, self.findings)

    def unreadable(self, folder: str, problem: str, *, named: bool) -> None:
        name = display_name(folder)
        values = {"folder": name, "reason": problem}
        told = finding(codes.FOLDER_UNREADABLE, name, values, severity="error" if named else None)
        self.tell(os.path.join(folder, "file"), name, [told])

    def entering(self, entered: Callable[[str], object] | None) -> Callable[[str], object]:
        """What to do with each folder that is looked into: remember those that are for files of one kind."""

        def enter(folder: str) -> None:
            if entered is not None:
                entered(folder)
            for kind, each in folders_of_kinds(folder):
                self.folders.setdefault((kind, os.path.realpath(each)), each)
                if folder.startswith(each):
                    self.entered.add(each)

        return enter

    def look_beside(self, wanted: str | None) -> None:
        """What folders for files of one kind tell that no file does."""
        for (name, _), folder in self.folders.items():
            if name != (wanted or name) or (folder not in self.entered and is_ignored(folder)):
                continue
            beside = kind_named(name).layering.beside
            for path, fact in beside(folder) if beside is not None else ():
                if path == folder or not is_ignored(path):
                    shown = display_name(path)
                    self.tell(path, shown, [place_alone(fact, shown)])

    def look_together(self, request: Request) -> None:
        """Load those files again that share a key with others of their kind, for the rules about sets of files."""
        groups: dict[tuple[str | None, Hashable], list[Checked]] = {}
        for each in self.checked.values():
            if each.key is not None:
                groups.setdefault((each.kind, each.key), []).append(each)
        together = {each.name for group in groups.values() if len(group) > 1 for each in group}
        together |= {each.name for each in self.checked.values() if each.refers}
        run = Run(Files())
        others: list[Outcome] = []
        for key, outcome in self._elsewhere(
            request, {kind for kind, _ in groups if kind is not None}, run
        ):
            if key in groups:
                others.append(outcome)
                together |= {each.name for each in groups[key]}
        loads: dict[int, tuple[Checked, Outcome]] = {}
        for each in self.checked.values():
            if each.name in together and each.kind is not None:
                applied = self.projects.of(each.path).applied(request)
                outcome = load_path(each.path, kind_named(each.kind), applied, run)
                loads[id(outcome)] = each, outcome
        offers = [each.offer for each in self.checked.values() if each.offer is not None]
        for outcome, found in findings_by_load(
            [*others, *(outcome for _, outcome in loads.values())], offers
        ):
            if id(outcome) in loads:  # what the user has elsewhere is not what was asked about
                about, _ = loads[id(outcome)]
                self.tell(about.path, about.name, [found])

    def look_at_layers(self, request: Request) -> None:
        """Merge the layers among the files, and tell what they come to together.

        That holds all there is to say about each of them, with the layers below in sight. A file that is part of no
        merge is told about as it is. Raises `UsageError` for values to be laid over layers where there are none.
        """
        kinds = {kind for name in self.alone if (kind := self.checked[name].kind) is not None}
        merged = [
            outcome
            for kind in sorted(kinds)
            if not request.embedded
            for outcome in self._stacks(kind, request)
        ]
        if request.options.get("config") and not merged:
            raise UsageError(NO_LAYERS)
        together = {
            os.path.realpath(source.name) for outcome in merged for source in outcome.sources
        }
        for name, found in self.alone.items():
            if self.checked[name].real not in together:
                self.tell(self.checked[name].path, name, found)
        for outcome in merged:
            self._tell_of_layers(outcome)

    def _stacks(self, kind: str, request: Request) -> list[Outcome]:
        paths = [self.checked[name].path for name in self.alone if self.checked[name].kind == kind]
        make = kind_named(kind).layering.stacks
        try:
            return [] if make is None else list(make(paths, request))
        except Exception as error:
            self.tell(paths[0], display_name(paths[0]), [bug(paths[0], error)])
            return []

    def _tell_of_layers(self, outcome: Outcome) -> None:
        by_file = {each.real: each for each in self.checked.values() if each.real is not None}
        reals = {source.name: os.path.realpath(source.name) for source in outcome.sources}
        layers = [
            by_file[real].name
            for real in reals.values()
            if real in by_file and by_file[real].layered
        ]
        for name, real in reals.items():
            if real not in by_file:
                self.used.setdefault(name, []).extend(layers)
        first = self.checked[
            next(iter((*layers, *self.alone)))
        ]  # a value of the command line lies in no file
        for each in outcome.diagnostics:
            about = by_file.get(reals.get(each.name or "", ""), first)
            self.tell(about.path, about.name, [each])

    def _elsewhere(
        self, request: Request, kinds: set[str], run: Run
    ) -> Iterator[tuple[tuple[str | None, Hashable], Outcome]]:
        """What the user's own layers hold of these kinds: a project may shadow it."""
        for kind in map(kind_named, sorted(kinds)):
            elsewhere = None if request.options.get("local") else kind.layering.elsewhere
            for place in elsewhere(request.env) if elsewhere is not None else ():
                for path in walk_files(place.folder):
                    layer = kind.layering.layer_of(os.path.abspath(path), request.env)
                    if (
                        layer == place.layer
                        and identity_of(kind, path, run.files) not in self.reals
                    ):
                        outcome = load_path(path, kind, request, run)
                        yield (kind.name, kind.together.key_of(outcome)), outcome

    def report(self) -> Report:
        settings: dict[tuple[object, ...], Diagnostic] = {}
        files = list(self._files())
        for project in self.projects.all():
            judged = [
                _from_inside(each, project)
                for each in project.diagnostics
                if self.selection.takes(each.code)
            ]
            if judged:  # settings count as a file only where there is something to say about them
                files.append(FileReport(project.file or project.root, SETTINGS, not _fails(judged)))
                keep_once(judged, settings)
        diagnostics = deduplicated({**settings, **self.findings}.values())
        if self.outside:
            diagnostics = [
                each.without_text_of(lambda source: source.path in self.outside)
                for each in diagnostics
            ]
        return Report(tuple(sorted(files, key=lambda each: each.path)), tuple(diagnostics))

    def _files(self) -> Iterator[FileReport]:
        for name, each in self.checked.items():
            ok = each.ok and name not in self.failed
            yield FileReport(name, each.kind, ok, each.digest, tuple(self.used.get(name, ())))
        bad = {each.name for each in self.findings.values() if each.severity == "error"}
        for name, users in self.used.items():
            if name not in self.checked:
                yield FileReport(name, None, name not in bad, None, tuple(users))


def _from_inside(each: Diagnostic, project: Project) -> Diagnostic:
    """A finding about settings, which may be a link: it shows nothing of a text outside the project."""
    inside = os.path.join(os.path.realpath(project.root), "")
    return each.without_text_of(
        lambda source: source.path is not None and not source.path.startswith(inside)
    )


def _fails(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(each.severity == "error" for each in diagnostics)
