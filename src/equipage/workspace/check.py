"""Checks of files, and the little that is kept of each.

A check looks at many files and keeps of each only what a report needs. Trees, documents and texts
of files without findings are let go after a few dozen files, so that memory does not grow with
what is fine.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Diagnostic
from equipage.files.reading import Seen, display_name
from equipage.loading.kind import Offer
from equipage.loading.outcome import Outcome
from equipage.loading.recognise import unrecognised
from equipage.loading.request import Request
from equipage.loading.session import Run
from equipage.workspace.loads import Candidate, FileLoad, bug, identity_of, load_candidate

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
    guessed: bool = False  #: its kind is a guess, see `Recognised`
    layered: bool = False  #: whether it may be merged with others, see `Layering.stacks`
    seen: Seen | None = None  #: what its load looked at, for a check that goes on


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
    ) -> None:
        self.request = request
        self.kind = kind
        self.run = run or Run()  #: of the whole check: it knows the projects
        self.again = again  #: keep what is needed to know when a file must be checked again
        self.digests = digests  #: whether to make digests, which takes time

    def check(self, candidates: Iterable[Candidate]) -> list[Checked | None]:
        """What is kept of each file; None for those that are not ours.

        Raises `UsageError` for options that a kind refuses.
        """
        run = Run()
        return [self._check(each, run) for each in candidates]

    def _check(self, candidate: Candidate, run: Run) -> Checked | None:
        load = load_candidate(candidate, self.request, run, kind=self.kind, projects=self.run)
        if load.outcome is None:
            return _without_load(load, named=candidate.named)
        try:
            return self._kept(load, load.outcome, run)
        except Exception as error:  # in a function of its kind
            return _without_load(FileLoad(load.path, problem=bug(load.path, error)), named=True)

    def _kept(self, load: FileLoad, outcome: Outcome, run: Run) -> Checked:
        name, kind, together = display_name(load.path), outcome.kind, outcome.kind.together
        loaded = outcome.loaded() if self.digests else None
        refers = together.refers if together.cross_rules else None
        return Checked(
            load.path,
            name,
            kind.name,
            ok=not outcome.blocked,
            diagnostics=outcome.diagnostics,
            digest=None if loaded is None else loaded.digest,
            reads=tuple(each.name for each in outcome.sources[1:] if each.name != name),
            real=identity_of(kind, load.path, run.files),
            key=together.key_of(outcome) if together.set_rules else None,
            offer=outcome.offer(),
            refers=refers is not None and refers(outcome),
            guessed=load.guessed,
            layered=kind.layering.stacks is not None,
            seen=outcome.session.files.seen() if self.again and outcome.session else None,
        )


def _without_load(load: FileLoad, *, named: bool) -> Checked | None:
    """What is kept of a file that was not loaded.

    Of those that a walk meets, only some are worth a finding: one that the system refuses to read,
    a link out of the project, and a text with bytes that are not, if the rest looks like ours.
    """
    problem, name = load.problem, display_name(load.path)
    if named and problem is None:
        problem = unrecognised(load.path)
    if problem is None:
        return None
    if problem.code == codes.LINK_OUTSIDE:
        return Checked(load.path, name, None, ok=True, diagnostics=(problem,))
    if named or problem.code in (codes.NOT_UTF8, codes.INTERNAL_ERROR):
        return Checked(load.path, name, None, ok=False, diagnostics=(problem,))
    if problem.code == codes.FILE_UNREADABLE:
        milder = msgspec.structs.replace(problem, severity="warning")
        return Checked(load.path, name, None, ok=True, diagnostics=(milder,))
    return None
