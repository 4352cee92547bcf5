"""Many files: which there are, of what kind each is, its load, and what a check keeps of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Code, Diagnostic, UsageError
from equipage.core.text import describe_exception
from equipage.files import entries_of, exists, is_executable, is_folder, is_link, real_path
from equipage.files.reading import Files, Seen, display_name, files_here
from equipage.files.sandbox import is_below
from equipage.loading.format import Format, Offer
from equipage.loading.outcome import Outcome
from equipage.loading.pipeline import load_path
from equipage.loading.session import Request, Run
from equipage.project.recognise import (
    ALL_NAMES,
    IrrelevantFolders,
    Recognised,
    is_surely_unrecognised,
    names_with_place,
    recognise,
    recognise_name,
    unrecognised_finding,
)
from equipage.project.registry import agent_folders, codes_for_kind, format_named, is_convention
from equipage.project.settings import Policy, Project, project_in, project_of

if TYPE_CHECKING:  # these are imported where they are needed
    from equipage.files.walking import Names, WalkResult, WantedFiles
    from equipage.loading.findings import PendingIgnore

#: The reason for the end of a check, see `codes.CHECK_ENDED`.
NO_MEMORY = "it needs more memory than there is"
#: Called with how many files are done and how many there are.
Progress = Callable[[int, int], None]


def with_folders(request: Request, paths: Iterable[str]) -> Request:
    """A request that knows which folders the caller named, and opens nothing beyond its roots."""
    folders = tuple(os.path.abspath(path) for path in paths if is_folder(path))
    return msgspec.structs.replace(request, folders=folders, confined=True)


def run_of(request: Request) -> Run:
    """A new run for loads that are asked for in this way."""
    return Run(files_here(), request.folders, isolated=request.isolated, known_codes=codes_for_kind)


class Candidate(msgspec.Struct, frozen=True):
    """A file to look at. One that the caller named must be of some kind; others need not."""

    path: str
    named: bool = False
    outside: bool = False  #: whether it is a link that leads out of the project


class FileLoad(msgspec.Struct, frozen=True):
    """A file and its load; or the finding that says why there is none. Neither: it is not ours."""

    path: str
    outcome: Outcome | None = None
    problem: Diagnostic | None = None
    guessed: bool = False  #: whether another load that reads the file knows better what it is
    unsure: str | None = None  #: why the file was taken for its kind, if that is a guess
    unread: str | None = None  #: what a file is that belongs to a tool and is not read

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        if self.outcome is not None:
            return self.outcome.diagnostics
        return () if self.problem is None else (self.problem,)


class Place(Protocol):
    """Where the files of a workspace are: the disk, or a revision of a repository."""

    def is_folder(self, path: str) -> bool: ...

    def walk(
        self, folder: str, agents: Collection[str], wanted: WantedFiles
    ) -> Iterator[WalkResult]:
        """Every candidate file below a folder, in a fixed order."""
        ...

    def files(self) -> Files: ...

    def may_run(self, path: str) -> bool:
        """Whether a file may be run as a program."""
        ...


class Disk:
    """The usual place."""

    def is_folder(self, path: str) -> bool:
        return is_folder(path)

    def walk(
        self, folder: str, agents: Collection[str], wanted: WantedFiles
    ) -> Iterator[WalkResult]:
        from equipage.files.walking import walk

        return (each for each in walk(folder, agents, wanted) if each.problem is None)

    def files(self) -> Files:
        return files_here()

    def may_run(self, path: str) -> bool:
        return is_executable(path)


def load_all(
    paths: Sequence[str],
    request: Request,
    *,
    kind: str | None = None,
    progress: Progress | None = None,
    place: Place | None = None,
    run: Run | None = None,
) -> Iterator[FileLoad]:
    """Load what is at and below `paths`, one file after the other, in a fixed order.

    A file below a folder that is not recognised is left out; one that the caller named is not.
    A caller who gives a `run` can ask it for the projects afterwards, hears of files that a tool
    reads and equipage does not, and of each path by which a tool finds one. Raises `UsageError`
    for an unknown kind.
    """
    if kind is not None:
        format_named(kind)
    place = place or Disk()
    request = with_folders(request, paths)
    every_path = run is not None
    said = (*_ALWAYS_SAID, codes.NOT_READ, codes.LINK_BROKEN) if every_path else _ALWAYS_SAID
    run = run or Run(
        place.files(), request.folders, isolated=request.isolated, known_codes=codes_for_kind
    )
    candidates = list(candidates_of(paths, run, place))
    seen: set[Hashable] = set()
    for number, candidate in enumerate(candidates):
        if progress is not None:
            progress(number, len(candidates))
        found = load_candidate(candidate, request, run, kind=kind)
        if found.outcome is not None:
            same = identity_of(found.outcome.kind, found.path, run.files)
            if every_path or same not in seen:
                seen.add(same)
                yield found
        elif candidate.named:
            # A caller that names a file must hear what became of it.
            problem = found.problem or unrecognised_finding(found.path)
            yield msgspec.structs.replace(found, problem=problem)
        elif found.problem and found.problem.code in said:
            yield found


#: Reasons for a file not to be loaded that are given for unnamed files, too.
_ALWAYS_SAID = (codes.INTERNAL_ERROR, codes.CHECK_ENDED, codes.LINK_OUTSIDE)


def candidates_of(paths: Sequence[str], run: Run, place: Place) -> Iterator[Candidate]:
    """Each path to look at once."""
    seen: set[str] = set()
    for path in paths:
        from_walk = place.is_folder(path)
        if from_walk:
            walked = place.walk(path, agent_folders(), WantedOf(run))
            start = os.path.abspath(path)
            found = [
                (each.path, each.outside)
                for each in walked
                if not project_of(each.path, run).leaves_out(os.path.abspath(each.path), start)
            ]
        else:
            found = [(path, False)]
        for each, outside in found:
            absolute = os.path.abspath(each)
            if absolute not in seen:
                seen.add(absolute)
                yield Candidate(each, named=not from_walk, outside=outside)


class WantedOf:
    """What the projects of a run and the tables of kinds want a look at, whatever its extension."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._silent = run.cache(IrrelevantFolders)

    def names_in(self, folder: str) -> Names:
        if project_in(folder.rstrip("/") or "/", self._run).claims_any:
            return ALL_NAMES
        return names_with_place(folder, self._silent)

    def is_known(self, path: str) -> bool:
        """Whether a path says what must be there, and no discovery reports what is instead."""
        found = recognise_name(path, project_of(path, self._run), self._run)
        kind = None if found is None else found.kind
        return kind is not None and not format_named(kind).layering.discovered

    def is_claimed(self, path: str) -> bool:
        """Whether the settings of its project give a file a kind, or a note names it.

        The note says that it belongs to a tool and is not read.
        """
        from equipage.clients.tables.unread import (
            unread_sort,  # not for files that the caller names
        )

        project = project_of(path, self._run)
        if project.kind_of(path) is not None:
            return True
        return project.conventions and unread_sort(path.replace(os.sep, "/")) is not None

    def is_place(self, folder: str) -> bool:
        """Whether a file in a folder is an agent, a command or a rule; or the folder is a skill."""
        by_path = any(self.is_known(f"{folder}/any{each}") for each in (".md", ".toml"))
        return by_path or self._run.files.exists(f"{folder}/SKILL.md")


def load_candidate(
    candidate: Candidate,
    request: Request,
    run: Run,
    *,
    kind: str | None = None,
    projects: Run | None = None,
) -> FileLoad:
    """The load of one file. `projects` is the run that knows the projects, by default `run`.

    Raises `UsageError` for options that a kind refuses; anything else that goes wrong in a kind is
    a finding.
    """
    path = candidate.path
    try:
        project = project_of(path, projects or run)
        from_walk = kind is None and not candidate.named and not candidate.outside
        if from_walk and _is_none(path, project, request, run, projects or run):
            return FileLoad(path)
        # Files of its own: what one load looked at is known, while contents are shared.
        files = run.files.again()
        if not candidate.named and not candidate.outside:
            files.within = _walked_in(path, project, request, projects or run)
            if files.within is not None and not _belong_together(*files.within, files):
                # Since the walk, one of its folders has become a link to somewhere else.
                return FileLoad(path, problem=_left(path))
            request = _request_in(project, request, run)
        if kind is None:
            found = recognise(path, project, projects or run, named=candidate.named, files=files)
        else:
            found = Recognised(kind)
        if found.kind is None:
            is_left = candidate.outside and is_folder(path)
            if is_left:
                return FileLoad(path, problem=_left(path))
            return FileLoad(path, problem=found.problem, unread=found.unread)
        is_walked = not candidate.named and kind is None
        if candidate.outside and is_walked and (instead := _no_file(path, found)) is not None:
            return instead
        wanted = format_named(found.kind)
        if candidate.outside and not wanted.layering.discovered:
            return FileLoad(path, problem=_left(path))
        outcome = load_path(path, wanted, project.extend_request(request), run, files)
        # Only where nothing was read, it matters what is there instead of a file.
        if not outcome.sources and is_walked and (instead := _no_file(path, found)) is not None:
            return instead
        unsure = None if found.sure else found.why
        return FileLoad(path, outcome, guessed=found.is_guess_by_header, unsure=unsure)
    except UsageError:
        raise
    except MemoryError:
        return FileLoad(path, problem=_finding(codes.CHECK_ENDED, path, reason=NO_MEMORY))
    except Exception as error:
        return FileLoad(path, problem=bug(path, error))


def _is_none(path: str, project: Project, request: Request, run: Run, projects: Run) -> bool:
    """Whether a file that a walk found is surely not ours, as nearly all are."""
    within = _walked_in(path, project, request, projects)
    if within is not None:
        known = run.cache(_Together)
        if within not in known:
            known[within] = _belong_together(*within, run.files)
        if not known[within]:
            return False
    return is_surely_unrecognised(path, project, projects)


class _WalkedFolders(dict[str, tuple[str, str] | None]):
    """What a walk found the files of each folder in, see `_walked`."""


class _Together(dict[tuple[str, str], bool]):
    """Which folders belong to which projects, as long as the files of a chunk are looked at."""


def _left(path: str) -> Diagnostic:
    """The finding about a link that leads out of the project."""
    return _finding(codes.LINK_OUTSIDE, path)


def _no_file(path: str, found: Recognised) -> FileLoad | None:
    """What becomes of a path that a walk found, where no file is; None if there is one."""
    if is_link(path) and not exists(path):
        return FileLoad(path, problem=_finding(codes.LINK_BROKEN, path))
    if found.by == "path" and is_folder(path) and entries_of(path):
        return FileLoad(path)  # a folder of files has the name by chance
    return None


class _Requests(dict[tuple[int, str], Request]):
    """The requests of one run, by the one they were made from and the project."""


def _request_in(project: Project, request: Request, run: Run) -> Request:
    """A request for the files of a project that a walk found.

    One for all of them: what follows from a request is worked out once for each.
    """
    known, key = run.cache(_Requests), (id(request), project.root)
    if key not in known:
        known[key] = msgspec.structs.replace(
            request,
            # Where a link leads a moment later must not change what may be read.
            project=request.project or project.root,
            unasked=request.unasked - project.requested_codes,
        )
    return known[key]


def ended(candidate: Candidate, reason: str) -> Checked:
    """What is kept of a file whose check ended the process that did it."""
    problem = _finding(codes.CHECK_ENDED, candidate.path, reason=reason)
    name = display_name(candidate.path)
    return Checked(candidate.path, name, None, ok=False, diagnostics=(problem,))


def _walked_in(
    path: str, project: Project, request: Request, projects: Run
) -> tuple[str, str] | None:
    """As `_walked`, worked out once for each folder of a run."""
    walked = projects.cache(_WalkedFolders)
    folder = path[: max(path.rfind("/"), path.rfind(os.sep)) + 1]
    if folder not in walked:
        walked[folder] = _walked(path, project.root, request.folders)
    return walked[folder]


def _walked(path: str, root: str, folders: Iterable[str]) -> tuple[str, str] | None:
    """The folder that a walk found a file in, and its project."""
    # Of nested folders that the caller named, the innermost is the one that was walked.
    around = [each for each in folders if is_below(os.path.abspath(path), each)]
    return (max(around, key=len), root) if around else None


def _belong_together(folder: str, root: str, files: Files) -> bool:
    """Whether a folder is part of a project, or the project a part of the folder."""
    real = files.real_folder(folder)
    return is_below(real, root) or is_below(root, real)


def bug(path: str, error: Exception) -> Diagnostic:
    """The finding that something in equipage failed on a file.

    The words of the exception stay out: they may hold a value of the environment.
    """
    return _finding(codes.INTERNAL_ERROR, path, problem=describe_exception(error))


def _finding(code: Code, path: str, **values: object) -> Diagnostic:
    from equipage.loading.findings import finding

    return finding(code, display_name(path), values)


def identity_of_load(path: str, outcome: Outcome, files: Files) -> Hashable:
    """As `identity_of`, for a file that was loaded."""
    source = outcome.sources[0].filename if outcome.sources else None
    if outcome.kind.layering.identity is None and source is not None:
        return source  # it was opened by following every link
    return identity_of(outcome.kind, path, files)


def identity_of(kind: Format, path: str, files: Files) -> Hashable:
    """Equal for two paths of one file: the file that links lead to, or what the kind says."""
    if kind.reading.variant is not None:
        kind = kind.reading.variant(os.path.abspath(path).replace(os.sep, "/"), files)
    identity = kind.layering.identity
    try:
        return real_path(path) if identity is None else (kind.name, identity(path))
    except ValueError:  # a name that no file can have
        return path


def settled(found: Iterable[FileLoad]) -> list[FileLoad]:
    """The files without those whose kind was a guess and which another load reads as its own."""
    found = list(found)
    if not any(each.guessed for each in found):
        return found
    # By the real path: a load reads through links, and names files by what they lead to.
    used = {
        source.filename
        for each in found
        if each.outcome is not None
        for source in each.outcome.sources
        if source.filename is not None and source.filename != real_path(each.path)
    }
    return [each for each in found if not (each.guessed and real_path(each.path) in used)]


# What a check keeps of each file. Trees, documents and texts of files without findings are let go
# after a few dozen files, so that memory does not grow with what is fine.

#: How many files are looked at together: enough that a library they share is parsed rarely, few
#: enough that what they share stays small and that several processes are busy to the end.
CHUNK = 48


class Checked(msgspec.Struct, frozen=True):
    """What is kept of one file."""

    path: str  #: as the caller or the walk named it
    name: str  #: as people are shown it
    kind: str | None
    ok: bool
    diagnostics: tuple[Diagnostic, ...] = ()
    digest: str | None = None
    reads: tuple[str, ...] = ()  #: the names of the other files its load read
    real: Hashable = None  #: the file itself, whatever links led to it, see `identity_of`
    key: Hashable = None  #: what it shares with those that set rules see together with it
    offer: Offer | None = None  #: how others may refer to it
    refers: bool = False  #: whether it refers to others
    guessed: bool = False  #: whether another load that reads the file knows better what it is
    unsure: str | None = None  #: why the file was taken for its kind, if that is a guess
    layered: bool = False  #: whether it may be merged with others, see `Layering.stacks`
    waiting: tuple[PendingIgnore, ...] = ()  #: comments about findings in several files
    seen: Seen | None = None  #: what its load looked at, for a check that goes on


#: Takes each load of a check, for those who want more of it than a report keeps.
Keep = Callable[[Candidate, FileLoad], None]


class Checker:
    """Checks files, a chunk at a time. The files of a chunk share what they read and parse."""

    def __init__(
        self,
        request: Request,
        kind: str | None,
        run: Run | None = None,
        *,
        again: bool = False,
        digests: bool = True,
        keep: Keep | None = None,
    ) -> None:
        self.request = request
        self.kind = kind
        self.run = run or Run(
            folders=request.folders, isolated=request.isolated, known_codes=codes_for_kind
        )
        self.again = again  #: keep what is needed to know when a file must be checked again
        self.digests = digests  #: whether to make digests, which takes time
        self.keep = keep  #: is given every load

    def check(self, candidates: Iterable[Candidate]) -> list[Checked | None]:
        """What is kept of each file; None for those that are not ours.

        Raises `UsageError` for options that a kind refuses.
        """
        run = run_of(self.request)
        return [self._check(each, run) for each in candidates]

    def _check(self, candidate: Candidate, run: Run) -> Checked | None:
        load = load_candidate(candidate, self.request, run, kind=self.kind, projects=self.run)
        if self.keep is not None:
            self.keep(candidate, load)
        if load.outcome is None:
            return _without_load(load, named=candidate.named)
        policy = project_of(load.path, self.run).settings.policy
        return checked_of(
            load, run, candidate, again=self.again, digests=self.digests, policy=policy
        )


def checked_of(
    load: FileLoad,
    run: Run,
    candidate: Candidate,
    *,
    again: bool = False,
    digests: bool = True,
    policy: Policy | None = None,
) -> Checked | None:
    """What a check keeps of a load; None for a file that is not ours. Options as in `Checker`.

    `policy` is that of the project of the file.
    """
    if load.outcome is None:
        return _without_load(load, named=candidate.named)
    folder = [each for each in load.outcome.diagnostics if each.code == codes.FILE_IS_DIRECTORY]
    if folder and not candidate.named and is_convention(load.outcome.kind.name):
        # A folder may have any name, and no tool reads it as its file.
        note = msgspec.structs.replace(folder[0], severity="note")
        return Checked(load.path, display_name(load.path), None, ok=True, diagnostics=(note,))
    try:
        kept = _kept(load, load.outcome, run, again=again, digests=digests)
        return kept if policy is None else _by_policy(kept, load.outcome, policy)
    except MemoryError:
        problem = _finding(codes.CHECK_ENDED, load.path, reason=NO_MEMORY)
        return _without_load(FileLoad(load.path, problem=problem), named=True)
    except Exception as error:  # in a function of its kind
        return _without_load(FileLoad(load.path, problem=bug(load.path, error)), named=True)


def _kept(load: FileLoad, outcome: Outcome, run: Run, *, again: bool, digests: bool) -> Checked:
    name, kind, together = run.files.shown(load.path), outcome.kind, outcome.kind.together
    loaded = outcome.loaded_or_none() if digests else None
    refers = together.refers if together.cross_rules else None
    return Checked(
        load.path,
        name,
        kind.name,
        ok=outcome.ok or load.unsure is not None,
        diagnostics=outcome.diagnostics,
        digest=None if loaded is None else loaded.digest,
        reads=tuple(each.name for each in outcome.sources[1:] if each.name != name),
        real=identity_of_load(load.path, outcome, run.files),
        key=together.key_of(outcome) if together.set_rules else None,
        offer=outcome.offer(),
        refers=refers is not None and refers(outcome),
        guessed=load.guessed,
        unsure=load.unsure,
        layered=kind.layering.stacks is not None,
        waiting=outcome.waiting,
        seen=outcome.session.files.seen() if again and outcome.session else None,
    )


def _by_policy(kept: Checked, outcome: Outcome, policy: Policy) -> Checked:
    """What is kept of a file, with what the policy of its project forbids."""
    from equipage.workspace.policy import policy_findings  # few projects have a policy

    never: dict[str, tuple[str, ...]] = msgspec.structs.asdict(policy.never)
    found = (*kept.diagnostics, *policy_findings(outcome, never, pins=policy.pins))
    return msgspec.structs.replace(kept, diagnostics=found)


#: Problems that are reported for files which only a walk met.
_WORTH_SAYING = (codes.NOT_UTF8, codes.LINK_BROKEN, codes.INTERNAL_ERROR, codes.CHECK_ENDED)


def _without_load(load: FileLoad, *, named: bool) -> Checked | None:
    """What is kept of a file that was not loaded.

    Of those that a walk meets, only some are worth a finding: one that the system refuses to read,
    a link out of the project or to nothing, and a text with bytes that are not, if the rest looks
    like ours.
    """
    problem = load.problem
    if named and problem is None:
        problem = unrecognised_finding(load.path)
    if problem is None:
        return None
    name = display_name(load.path)
    if problem.code in (codes.LINK_OUTSIDE, codes.POSSIBLE_KIND, codes.NOT_READ):
        guessed = problem.code != codes.LINK_OUTSIDE  # a load that reads the file knows better
        return Checked(load.path, name, None, ok=True, diagnostics=(problem,), guessed=guessed)
    if named or problem.code in _WORTH_SAYING:
        return Checked(load.path, name, None, ok=False, diagnostics=(problem,))
    if problem.code == codes.FILE_UNREADABLE:
        # It may be a file of another program, so it does not fail the check.
        milder = msgspec.structs.replace(problem, severity="warning")
        return Checked(load.path, name, None, ok=True, diagnostics=(milder,))
    return None
