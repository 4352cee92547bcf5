"""One file of many: of what kind it is, its load, and what a workspace keeps of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.clients.unread import CODEX_RULE, LINK_TO_NOTHING
from equipage.core import codes
from equipage.core.diagnostics import Code, Diagnostic, UsageError
from equipage.core.source import Source
from equipage.core.text import describe_exception
from equipage.files import System, entries_of, is_below
from equipage.files.reading import Files
from equipage.files.recording import Record
from equipage.loading.format import Format, Offer
from equipage.loading.pipeline import Outcome, load_path, place_without_outcome
from equipage.loading.session import Request, Run
from equipage.project.recognise import Recognised, recognise, unrecognised_finding
from equipage.project.registry import format_named, is_convention, may_be
from equipage.project.settings import Policy, Project, project_of
from equipage.workspace.find import File

if TYPE_CHECKING:  # imported where they are needed
    from equipage.loading.findings import PendingIgnore

#: The reason for the end of a check, see `codes.CHECK_ENDED`.
NO_MEMORY = "it needs more memory than there is"


class FileLoad(msgspec.Struct, frozen=True):
    """A file and its load; or the finding that says why there is none. Neither: it is not ours."""

    path: str
    outcome: Outcome | None = None
    problem: Diagnostic | None = None
    yields: bool = False  #: whether another load that reads the file knows better what it is
    is_part: bool = False  #: whether that is because it may be a part of another file
    doubt: str | None = None  #: why the file was taken for its kind, if that is a guess
    unread: str | None = None  #: what a file is that belongs to a tool and is not read
    more: tuple[Diagnostic, ...] = ()  #: what was found in one all the same
    record: Record | None = None  #: what was looked at, if that is recorded

    @property
    def is_guess(self) -> bool:
        """Whether only what the file holds says of what kind it is."""
        return self.doubt is not None or (self.yields and not self.is_part)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        if self.outcome is not None:
            return self.outcome.diagnostics
        return () if self.problem is None else (self.problem, *self.more)


def divide_guesses(loads: Iterable[FileLoad]) -> tuple[list[Outcome], list[Outcome]]:
    """The outcomes of files whose place says of what kind they are, and those of guesses."""
    divided: tuple[list[Outcome], list[Outcome]] = ([], [])
    for each in loads:
        if each.outcome is not None:
            divided[each.is_guess].append(each.outcome)
    return divided


def load_file(file: File, run: Run, *, kind: str | Format | None = None) -> FileLoad:
    """The load of one file, as its project wants it.

    Raises `UsageError` for options that a kind refuses; anything else that goes wrong in a kind is
    a finding.
    """
    files = run.files.for_next_load()
    if files.record is not None:
        files.system.stamp(files.system.absolute(file.path))
    load = _Loading(file, run, files, kind).load()
    return msgspec.structs.replace(load, record=files.record) if files.record else load


class _Loading:
    """The load of one file under way."""

    def __init__(self, file: File, run: Run, files: Files, kind: str | Format | None) -> None:
        self.file, self.path = file, file.path
        self.run, self.files, self.system = run, files, files.system
        self.kind = kind

    def load(self) -> FileLoad:
        try:
            return self.recognise_and_load()
        except UsageError:
            raise
        except MemoryError:
            return self.refuse(codes.CHECK_ENDED, reason=NO_MEMORY)
        except Exception as error:
            return FileLoad(self.path, problem=bug(self.path, error, self.system))

    def recognise_and_load(self) -> FileLoad:
        file, path, run = self.file, self.path, self.run
        project, request = project_of(path, run), run.request
        if not file.named and not file.outside:
            self.files.within = _walked_in(path, project, run)
            if self.files.within is not None and not self.belongs_together(*self.files.within):
                # Since the walk, one of its folders has become a link to somewhere else.
                return self.refuse(codes.LINK_OUTSIDE)
            request = _request_in(project, run)
        elif file.named and request.reads_named:
            request = _request_for_named(run)
        wanted = None if self.kind is None else format_named(self.kind)
        if isinstance(self.kind, Format) and not file.named and not may_be(self.kind, path):
            return FileLoad(path)
        found = Recognised(None if wanted is None else wanted.name)
        if wanted is None:
            found = recognise(path, project, run, named=file.named, files=self.files)
        if found.kind is None:
            if file.outside and self.system.is_folder(path):
                return self.refuse(codes.LINK_OUTSIDE)
            if file.outside and found.unread is None and not self.system.exists(path):
                return FileLoad(path, unread=LINK_TO_NOTHING)
            more = tuple(self.look_into(path)) if found.unread == CODEX_RULE else ()
            return FileLoad(path, problem=found.problem, unread=found.unread, more=more)
        is_walked = not file.named and self.kind is None
        if file.outside and is_walked and (instead := self.no_file(found)) is not None:
            return instead
        wanted = wanted or format_named(found.kind)
        if file.outside and not wanted.layering.discovered:
            return self.refuse(codes.LINK_OUTSIDE)
        request = project.extend_request(request)
        outcome = load_path(path, wanted, request, run, self.files, may_be_layer=True)
        # Only where nothing was read, it matters what is there instead of a file.
        if not outcome.sources and is_walked and (instead := self.no_file(found)) is not None:
            return instead
        doubt = None if found.sure else found.why
        # A file below a folder may be a part of another one of a format of one's own.
        is_part = found.is_part or (isinstance(self.kind, Format) and not file.named)
        yields = found.by == "header" or is_part
        return FileLoad(path, outcome, yields=yields, is_part=is_part, doubt=doubt)

    def look_into(self, path: str) -> Iterator[Diagnostic]:
        """The rules of Codex in a file that match nothing."""
        from equipage.clients.codex.permissions import find_dead_rules  # few projects have any
        from equipage.loading.findings import MAX_FINDINGS_PER_CODE

        text = (self.files.peek(path) or b"").decode("utf-8", "replace")
        source = Source.of_text(self.system.name_of(path), text)
        facts = islice(find_dead_rules(source), MAX_FINDINGS_PER_CODE)
        yield from map(place_without_outcome, facts)

    def belongs_together(self, folder: str, root: str) -> bool:
        """Whether a folder is part of a project, or the project a part of the folder."""
        real = self.system.real_folder(folder)
        return is_below(real, root) or is_below(root, real)

    def no_file(self, found: Recognised) -> FileLoad | None:
        """What becomes of a path that a walk found, where no file is; None if there is one."""
        path, system = self.path, self.system
        if system.is_link(path) and not system.exists(path):
            return self.refuse(codes.LINK_BROKEN)
        if found.by == "path" and system.is_folder(path) and entries_of(path, system):
            return FileLoad(path)  # a folder of files has the name by chance
        return None

    def refuse(self, code: Code, **values: object) -> FileLoad:
        return FileLoad(self.path, problem=_finding(code, self.path, self.system, **values))


class _WalkedFolders(dict[str, tuple[str, str] | None]):
    """What a walk found the files of each folder in, see `_walked_in`."""


def _walked_in(path: str, project: Project, run: Run) -> tuple[str, str] | None:
    """The folder that a walk found a file in, and its project."""
    known = run.around.cache(_WalkedFolders)
    here = path[: max(path.rfind("/"), path.rfind(os.sep)) + 1]
    if here not in known:
        absolute = run.files.system.absolute(path)
        # Of nested folders that the caller named, the innermost is the one that was walked.
        around = [each for each in run.request.folders if is_below(absolute, each)]
        known[here] = (max(around, key=len), project.root) if around else None
    return known[here]


class _Requests(dict[str | None, Request]):
    """The requests of one run: by project, and at None for the files that the caller named."""


def _request_in(project: Project, run: Run) -> Request:
    """A request for the files of a project that a walk found.

    One for all of them: what follows from a request is worked out once for each.
    """
    known, request = run.cache(_Requests), run.request
    if project.root not in known:
        known[project.root] = msgspec.structs.replace(
            request,
            # Where a link leads a moment later must not change what may be read.
            project=request.project or project.root,
        )
    return known[project.root]


def _request_for_named(run: Run) -> Request:
    """A request for the files that the caller named, one for all of them."""
    known = run.cache(_Requests)
    if None not in known:
        known[None] = msgspec.structs.replace(run.request, confined=False)
    return known[None]


def bug(path: str, error: Exception, system: System) -> Diagnostic:
    """The finding that something in equipage failed on a file.

    The words of the exception stay out: they may hold a value of the environment.
    """
    return _finding(codes.INTERNAL_ERROR, path, system, problem=describe_exception(error))


def _finding(code: Code, path: str, system: System, **values: object) -> Diagnostic:
    from equipage.loading.findings import finding

    return finding(code, system.name_of(path), values)


def identity_of(load: FileLoad, outcome: Outcome) -> Hashable:
    """Equal for two paths of one file: the file that links lead to, or what the kind says."""
    system, kind = outcome.session.files.system, outcome.kind
    source = outcome.sources[0].filename if outcome.sources else None
    if kind.layering.identity is not None:
        return kind.name, kind.layering.identity(load.path, system)
    # A source was opened by following every link.
    return source if source is not None else system.real(load.path)


def drop_overruled_loads(
    loads: list[FileLoad], system: System, *, only_parts: bool
) -> list[FileLoad]:
    """The loads without those of files that another load reads as its own and knows better.

    A layer is none by itself. With `only_parts`, one that its header shows to be an agent stays: a
    tool may read that, too.
    """
    loads = [each for each in loads if each.outcome is None or not each.outcome.session.is_layer]
    weak = {each.path for each in loads if each.is_part or (each.yields and not only_parts)}
    if not weak:
        return loads
    # By the real path: a load reads through links, and names files by what they lead to.
    used = {
        source.filename
        for each in loads
        if each.outcome is not None
        for source in each.outcome.sources
        if source.filename is not None and source.filename != system.real(each.path)
    }
    return [each for each in loads if not (each.path in weak and system.real(each.path) in used)]


# What is kept of each file. Trees, documents and texts of files without findings are let go after a
# few dozen files, so that memory does not grow with what is fine.

#: How many files are looked at together: enough that a library they share is parsed rarely, few
#: enough that what they share stays small and that several processes are busy to the end.
CHUNK = 48


class Summary(msgspec.Struct, frozen=True):
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
    yields: bool = False  #: whether another load that reads the file knows better what it is
    doubt: str | None = None  #: why the file was taken for its kind, if that is a guess
    layered: bool = False  #: whether it may be merged with others, see `Layering.stacks`
    waiting: tuple[PendingIgnore, ...] = ()  #: comments about findings in several files


#: What becomes of a load: a value that pickles; None for a file that is not ours.
Summarise = Callable[[File, FileLoad, Run], Any]


def load_chunk(
    files: Iterable[File],
    request: Request,
    around: Run,
    summarise: Summarise,
    kind: str | Format | None,
) -> list[Any]:
    """What `summarise` makes of each file. The files share what they read and parse."""
    run = request.new_run(around)
    return [summarise(each, load_file(each, run, kind=kind), run) for each in files]


def summary_with_digest(file: File, load: FileLoad, run: Run) -> Summary | None:
    """As `summary_of`, with the digest of its meaning, which takes time to make."""
    summary = summary_of(file, load, run)
    loaded = None if load.outcome is None else load.outcome.loaded_or_none()
    if summary is None or summary.kind is None or loaded is None:
        return summary
    return msgspec.structs.replace(summary, digest=loaded.digest)


def summary_of(file: File, load: FileLoad, run: Run) -> Summary | None:
    """What a report needs of a load, with what the policy of its project forbids the file.

    None for a file that is not ours.
    """
    system, outcome = run.files.system, load.outcome
    if outcome is None:
        return _summary_of_problem(load, system, named=file.named)
    folder = [each for each in outcome.diagnostics if each.code == codes.FILE_IS_DIRECTORY]
    if folder and not file.named and is_convention(outcome.kind.name):
        # A folder may have any name, and no tool reads it as its file.
        note = msgspec.structs.replace(folder[0], severity="note")
        return Summary(load.path, system.name_of(load.path), None, ok=True, diagnostics=(note,))
    try:
        policy = project_of(load.path, run).settings.policy
        findings = (*outcome.diagnostics, *_policy_findings(outcome, policy))
        return _summary_of_outcome(load, outcome, findings, system)
    except MemoryError:
        problem = _finding(codes.CHECK_ENDED, load.path, system, reason=NO_MEMORY)
    except Exception as error:  # in a function of its kind
        problem = bug(load.path, error, system)
    return _summary_of_problem(FileLoad(load.path, problem=problem), system, named=True)


def _summary_of_outcome(
    load: FileLoad, outcome: Outcome, findings: tuple[Diagnostic, ...], system: System
) -> Summary:
    name, kind, together = system.name_of(load.path), outcome.kind, outcome.kind.together
    refers = together.refers if together.cross_rules else None
    return Summary(
        load.path,
        name,
        kind.name,
        diagnostics=findings,
        reads=tuple(each.name for each in outcome.sources[1:] if each.name != name),
        real=identity_of(load, outcome),
        ok=outcome.ok or load.doubt is not None,
        key=outcome.set_key() if together.set_rules else None,
        offer=outcome.offer(),
        refers=refers is not None and refers(outcome),
        yields=load.yields,
        doubt=load.doubt,
        layered=kind.layering.stacks is not None,
        waiting=outcome.waiting,
    )


def _policy_findings(outcome: Outcome, policy: Policy | None) -> Iterable[Diagnostic]:
    """What the policy of its project forbids a file."""
    if policy is None:
        return ()
    from equipage.workspace.policy import policy_findings  # few projects have a policy

    never: dict[str, tuple[str, ...]] = msgspec.structs.asdict(policy.never)
    return policy_findings(outcome, never, pins=policy.pins)


def summary_of_dead_process(file: File, reason: str, system: System) -> Summary:
    """What is kept of a file whose check ended the process that did it."""
    problem = _finding(codes.CHECK_ENDED, file.path, system, reason=reason)
    return Summary(file.path, system.name_of(file.path), None, ok=False, diagnostics=(problem,))


#: Why a walk leaves a file alone that may be of a kind.
NOT_CHECKED = (codes.POSSIBLE_KIND, codes.FIXTURE_SKIPPED, codes.NOT_READ)
#: Problems that are reported for files which only a walk met.
_WORTH_SAYING = (codes.NOT_UTF8, codes.LINK_BROKEN, codes.INTERNAL_ERROR, codes.CHECK_ENDED)


def _summary_of_problem(load: FileLoad, system: System, *, named: bool) -> Summary | None:
    """What is kept of a file that was not loaded.

    Of those that a walk meets, only some are worth a finding: one that the system refuses to read,
    a link out of the project or to nothing, and a text with bytes that are not, if the rest looks
    like ours.
    """
    problem = load.problem
    if named and problem is None:
        problem = unrecognised_finding(load.path, system)
    if problem is None:
        return None
    name = system.name_of(load.path)
    if problem.code in (codes.LINK_OUTSIDE, *NOT_CHECKED):
        yields = problem.code != codes.LINK_OUTSIDE  # a load that reads the file knows better
        found = (problem, *load.more)
        return Summary(load.path, name, None, ok=True, diagnostics=found, yields=yields)
    if named or problem.code in _WORTH_SAYING:
        return Summary(load.path, name, None, ok=False, diagnostics=(problem,))
    if problem.code == codes.FILE_UNREADABLE:
        # It may be a file of another program, so it does not fail the check.
        milder = msgspec.structs.replace(problem, severity="warning")
        return Summary(load.path, name, None, ok=True, diagnostics=(milder,))
    return None
