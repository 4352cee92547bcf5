"""Many files at once: which there are, of what kind, what their loads found, who read whom."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from lading.codes import CORE_CODES
from lading.diagnostics import Diagnostic, Fact, LoadError, UsageError
from lading.files import MAX_BYTES, FileProblem, Files, display_name, require_text
from lading.kinds.kind import Kind
from lading.kinds.places import kind_of_header
from lading.kinds.registry import kind_named, recognise_content, recognise_path, recognise_text
from lading.loading import Outcome, Request, load_path, place_more
from lading.placing import deduplicated
from lading.project import EVERYTHING, Project, Projects, Selection
from lading.project import KIND as SETTINGS_KIND
from lading.references import unmet_wants
from lading.session import Shared
from lading.source import Source
from lading.surroundings import Surroundings, surroundings_of
from lading.syntax.document import Format, load_value
from lading.syntax.engine import SyntaxProblem
from lading.walking import walk_files
from lading.wording import Redactor, help_of, message_of

_CODES = {code.name: code for code in CORE_CODES}
#: The kind of the files that hold settings, as reports name it.
SETTINGS = SETTINGS_KIND.name
_FORMATS: dict[str, Format] = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}


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


# -------------------------------------------------------------------------------------------- recognition


def recognise(path: str, projects: Projects | None = None, files: Files | None = None) -> Kind:
    """The kind of a file the caller named. Raises `LoadError` if it cannot be read or nobody knows it."""
    files = files or Files()
    name = _recognised(path, files, (projects or Projects()).of(path), Surroundings(files))
    if isinstance(name, Diagnostic):
        raise LoadError([name])
    if name is None:
        raise LoadError([_finding("unrecognised", display_name(path))])
    return kind_named(name)


class Guess(str):
    """The kind of a file in a place that says nothing. Another load that reads the file knows better."""

    __slots__ = ()


def _recognised(path: str, files: Files, project: Project, surroundings: Surroundings) -> str | Diagnostic | None:
    """The name of the kind of a file: by the settings, its path, the plugin it belongs to, its content; or why it
    cannot be told."""
    absolute = os.path.normpath(os.path.join(files.cwd, path))
    conventions = project.settings.conventions
    slashed = absolute.replace(os.sep, "/")
    known = project.kind_of(absolute) or recognise_path(slashed, conventions=conventions)
    if known is not None:
        return known
    extension = os.path.splitext(path)[1].lower()
    if extension == ".md" and not conventions:
        return None
    if extension == ".md" and (component := surroundings.component(slashed)) is not None:
        return component
    try:
        source = require_text(files.read(path, max_bytes=10 * MAX_BYTES))
    except FileProblem as problem:
        return _finding(problem.code, display_name(path), **problem.values)
    if extension == ".md":
        guess = kind_of_header(slashed, source.text)
        return None if guess is None else Guess(guess)
    if extension not in _FORMATS:
        return None
    return _recognised_by_content(source, _FORMATS[extension])


def _recognised_by_content(source: Source, format: Format) -> str | None:  # noqa: A002
    """A cheap look at the text decides whether parsing is worth it; a text that does not parse is taken for
    what it looks like, so that its error is told."""
    looks_like = recognise_text(source.text)
    if looks_like is None:
        return None
    try:
        value = load_value(format, source.text.removeprefix("\ufeff"))
    except SyntaxProblem:
        return looks_like
    return recognise_content(value)


# ------------------------------------------------------------------------------------------------ checking


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

    def walk(self, folder: str, also: Callable[[str], bool]) -> Iterator[str]:
        """Every candidate file below a folder, in a fixed order."""
        ...

    def files(self) -> Files:
        """Access for one load."""
        ...


class Disk:
    """The usual place."""

    def is_folder(self, path: str) -> bool:
        return os.path.isdir(path)

    def walk(self, folder: str, also: Callable[[str], bool]) -> Iterator[str]:
        return walk_files(folder, also)

    def files(self) -> Files:
        return Files()


#: Called with how many files are done and how many there are.
Progress = Callable[[int, int], None]


def load_one(path: str, request: Request, *, kind: str | None = None, files: Files | None = None) -> Outcome:
    """Load a file the caller named. Raises `LoadError` if its kind cannot be told, `UsageError` if there is no
    such kind."""
    projects = Projects(files)
    wanted = kind_named(kind) if kind is not None else recognise(path, projects, files)
    return load_path(path, wanted, projects.of(path).applied(request), files)


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
    projects = projects or Projects()
    place = place or Disk()
    shared = Shared(place.files())
    candidates = list(_candidates(paths, projects, place))
    for number, (path, is_argument) in enumerate(candidates):
        if progress is not None:
            progress(number, len(candidates))
        found = _load(path, wanted, request, projects.of(path), shared)
        if found.outcome is not None or is_argument or _is_bug(found.problem):
            yield found


def _load(path: str, wanted: Kind | None, request: Request, project: Project, shared: Shared) -> Found:
    chosen: Any = wanted.name if wanted else _recognised(path, shared.files.again(), project, surroundings_of(shared))
    if isinstance(chosen, Diagnostic):
        return Found(path, project, problem=chosen)
    if chosen is None:
        return Found(path, project, problem=_finding("unrecognised", display_name(path)))
    try:
        kind = wanted or kind_named(chosen)
        outcome = load_path(path, kind, project.applied(request), shared=shared)
        return Found(path, project, outcome, guessed=isinstance(chosen, Guess))
    except UsageError:
        raise
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
        return Found(path, project, problem=_finding("internal-error", display_name(path), problem=problem))


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


def _is_bug(problem: Diagnostic | None) -> bool:
    return problem is not None and problem.code == "internal-error"


def _candidates(paths: Sequence[str], projects: Projects, place: Place) -> Iterator[tuple[str, bool]]:
    """Each file to look at once, and whether the caller named it."""
    seen: set[str] = set()
    for path in paths:
        is_folder = place.is_folder(path)
        projects.of(os.path.join(path, "file") if is_folder else path)
        walked = place.walk(path, lambda each: projects.of(each).kind_of(each) is not None)
        for each in walked if is_folder else [path]:
            real = os.path.realpath(each)
            if real not in seen:
                seen.add(real)
                yield each, not is_folder


def check_paths(
    paths: Sequence[str],
    request: Request,
    *,
    kind: str | None = None,
    selection: Selection = EVERYTHING,
    progress: Progress | None = None,
) -> Report:
    """Check what is at and below `paths`, and the settings of the projects it belongs to.

    Raises `UsageError` for an unknown kind.
    """
    projects = Projects()
    found = settled(load_all(paths, request, kind=kind, projects=projects, progress=progress))
    together: dict[int, list[Diagnostic]] = {}
    for outcome, each in _set_findings([each.outcome for each in found if each.outcome is not None]):
        together.setdefault(id(outcome), []).append(each)
    told = [
        (each, each.project.judged((*each.diagnostics, *together.get(id(each.outcome), ())), selection))
        for each in found
    ]
    settings = [
        (project, judged)
        for project in projects.all()
        if (judged := [each for each in project.diagnostics if selection.takes(each.code)])
    ]
    diagnostics = [each for _, judged in (*settings, *told) for each in judged]
    reports = [*_file_reports(told), *(_settings_report(project, judged) for project, judged in settings)]
    return Report(tuple(sorted(reports, key=lambda each: each.path)), tuple(same_once(diagnostics)))


def set_findings(outcomes: Sequence[Outcome]) -> list[Diagnostic]:
    """What the rules about several files find in loads that belong together."""
    return [each for _, each in _set_findings(outcomes)]


def _set_findings(outcomes: Sequence[Outcome]) -> Iterator[tuple[Outcome, Diagnostic]]:
    """The same, each with the load it is about."""
    by_kind: dict[int, list[Outcome]] = {}
    for outcome in outcomes:
        by_kind.setdefault(id(outcome.kind), []).append(outcome)
    for group in by_kind.values():
        kind = group[0].kind
        facts: dict[int, tuple[Outcome, list[Fact]]] = {}
        for outcome, each in itertools.chain.from_iterable(rule(group) for rule in kind.set_rules):
            facts.setdefault(id(outcome), (outcome, []))[1].append(each)
        for outcome, those in facts.values():
            yield from ((outcome, each) for each in place_more(outcome, those))
    wants = [(outcome, want) for outcome in outcomes for want in outcome.kind.wants(outcome)]
    if wants:
        offers = (offer for outcome in outcomes for offer in outcome.kind.offers(outcome))
        for outcome, unmet in unmet_wants(wants, offers):
            yield from ((outcome, each) for each in place_more(outcome, [unmet]))


def same_once(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Findings in a file that several loads read are told once: sources differ, their names and places do not."""
    seen: dict[tuple[object, ...], Diagnostic] = {}
    for each in diagnostics:
        place = (each.name, each.span.start, each.span.end) if each.span else (each.name,)
        seen.setdefault((each.code, each.severity, place, each.message), each)
    return deduplicated(seen.values())


def _file_reports(told: Sequence[tuple[Found, list[Diagnostic]]]) -> list[FileReport]:
    outcomes = [(display_name(each.path), each.outcome, judged) for each, judged in told if each.outcome is not None]
    checked = {name for name, _, _ in outcomes}
    used: dict[str, list[str]] = {}
    for name, outcome, _ in outcomes:
        for source in outcome.sources:
            if source.name != name:
                used.setdefault(source.name, []).append(name)
    reports = [
        FileReport(
            name,
            outcome.kind.name,
            not outcome.blocked and not _fails(judged),
            digest_of(outcome),
            _users(used, name),
        )
        for name, outcome, judged in outcomes
    ]
    bad = {each.name for _, judged in told for each in judged if each.severity == "error"}
    reports += [
        FileReport(name, None, name not in bad, None, _users(used, name)) for name in used if name not in checked
    ]
    lost = (display_name(each.path) for each, _ in told if each.outcome is None)
    return reports + [FileReport(name, None, False) for name in lost if name not in checked]


def _users(used: Mapping[str, list[str]], name: str) -> tuple[str, ...]:
    return tuple(used.get(name, ()))


def _fails(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(each.severity == "error" for each in diagnostics)


def _settings_report(project: Project, diagnostics: Iterable[Diagnostic]) -> FileReport:
    """Settings count as a file only where there is something to say about them."""
    return FileReport(project.file or project.root, SETTINGS, not _fails(diagnostics))


def digest_of(outcome: Outcome) -> str | None:
    """The digest of a load that came to something."""
    loaded = outcome.loaded()
    return None if loaded is None else loaded.digest


def _finding(code: str, file: str, /, **values: object) -> Diagnostic:
    """A finding about a whole file."""
    known = _CODES[code]
    redactor = Redactor()
    return Diagnostic(
        code,
        known.severity,
        message_of(known, values, redactor),
        help=help_of(known, values, redactor),
        file=file,
    )
