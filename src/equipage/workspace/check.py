"""One file of a check: which kind it is, what loading it finds, and the little that is kept of that.

A check looks at many files and keeps of each only what a report needs. Trees, documents and texts of files
without findings are let go after a few dozen files, so that memory does not grow with what is fine.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Diagnostic, UsageError, raised
from equipage.core.source import Source
from equipage.files.reading import Files, Seen, display_name, require_text
from equipage.files.sandbox import MAX_BYTES, FileProblem
from equipage.loading.findings import finding
from equipage.loading.kind import Kind, Offer
from equipage.loading.outcome import Outcome
from equipage.loading.pipeline import load_path
from equipage.loading.recognise import (
    Surroundings,
    kind_named,
    kind_of_header,
    recognise_content,
    recognise_path,
    recognise_text,
    surroundings_of,
)
from equipage.loading.request import Request
from equipage.loading.session import Run
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import Format, load_value
from equipage.workspace.project import Project, Projects

_FORMATS: dict[str, Format] = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}

#: How many files are looked at together: enough that a library they share is parsed rarely, few enough that what
#: is kept for sharing stays small, and that several processes are busy to the end.
CHUNK = 48


class Candidate(msgspec.Struct, frozen=True):
    """A file to look at. One that the caller named must be of some kind; one that a walk found need not."""

    path: str
    named: bool = False
    outside: bool = False  #: whether it is a link that leads out of the project


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
    key: Hashable = (
        None  #: what it shares with the files of its kind that it must be seen together with
    )
    offer: Offer | None = None  #: how others may refer to it
    refers: bool = False  #: whether it refers to others
    guessed: bool = False  #: its kind is a guess, see `Guess`
    layered: bool = False  #: whether it may be merged with others, see `Layering.stacks`
    seen: Seen | None = None  #: what its load looked at, where somebody wants to check it again


class Guess(str):
    """The kind of a file in a place that says nothing. Another load that reads the file knows better."""

    __slots__ = ()


class Checker:
    """Checks files, a chunk at a time. The files of a chunk share what they read and parse."""

    def __init__(
        self,
        request: Request,
        kind: str | None,
        projects: Projects | None = None,
        *,
        again: bool = False,
        digests: bool = True,
    ) -> None:
        self.again = again  #: keep what is needed to know when a file must be checked again
        self.digests = (
            digests  #: whether somebody wants to know the digests, which take time to make
        )
        self.request = request
        self.kind = kind
        self.projects = projects or Projects()

    def check(self, candidates: Iterable[Candidate]) -> list[Checked | None]:
        """What is kept of each file; None for those that are nobody's business.

        Raises `UsageError` for options that a kind refuses.
        """
        run = Run(Files())
        return [self._check(each, run) for each in candidates]

    def _check(self, candidate: Candidate, run: Run) -> Checked | None:
        path = candidate.path
        try:
            project = self.projects.of(path)
            chosen = self.kind
            if chosen is None:
                surroundings = surroundings_of(run)
                found = recognised(
                    path, run.files.again(), project, surroundings, named=candidate.named
                )
                if found is None or isinstance(found, Diagnostic):
                    return _unloaded(path, found, named=candidate.named)
                chosen = found
            if candidate.outside and not kind_named(chosen).layering.discovered:
                return Checked(
                    path, display_name(path), None, ok=True, diagnostics=(left_outside(path),)
                )
            outcome = load_path(path, kind_named(chosen), project.applied(self.request), run)
            kept = _kept(
                path, outcome, run.files, guessed=isinstance(chosen, Guess), digest=self.digests
            )
            if self.again and outcome.session is not None:
                return msgspec.structs.replace(kept, seen=outcome.session.files.seen())
            return kept
        except UsageError:
            raise
        except Exception as error:
            return _failed(path, bug(path, error))


def bug(path: str, error: Exception) -> Diagnostic:
    """The finding that something in equipage failed on a file. The words of the exception stay out: they may hold a
    value of the environment."""
    return finding(codes.INTERNAL_ERROR, display_name(path), {"problem": raised(error)})


def left_outside(path: str) -> Diagnostic:
    """The finding that a link out of the project was not followed."""
    return finding(codes.LINK_OUTSIDE, display_name(path))


def _failed(path: str, why: Diagnostic) -> Checked:
    return Checked(path, display_name(path), None, ok=False, diagnostics=(why,))


def _unloaded(path: str, problem: Diagnostic | None, *, named: bool) -> Checked | None:
    """A file that nobody recognises, or whose content nobody can look at. Of those a walk meets, a refusal is worth a
    word, and a text with bytes that are none, if the rest of it looks like ours; what is too large would not have been
    recognised."""
    if named or (problem is not None and problem.code == codes.NOT_UTF8):
        return _failed(path, problem or finding(codes.UNRECOGNISED, display_name(path)))
    if problem is not None and problem.code == codes.FILE_UNREADABLE:
        milder = msgspec.structs.replace(problem, severity="warning")
        return Checked(path, display_name(path), None, ok=True, diagnostics=(milder,))
    return None


def identity_of(kind: Kind, path: str, files: Files) -> Hashable:
    """Equal for two paths of one file: the file that links lead to, or what the kind says."""
    if kind.reading.variant is not None:
        kind = kind.reading.variant(os.path.abspath(path).replace(os.sep, "/"), files)
    identity = kind.layering.identity
    try:
        return os.path.realpath(path) if identity is None else (kind.name, identity(path))
    except ValueError:  # a name that no file can have
        return path


def _kept(path: str, outcome: Outcome, files: Files, *, guessed: bool, digest: bool) -> Checked:
    name = display_name(path)
    loaded = outcome.loaded() if digest else None
    together = outcome.kind.together
    return Checked(
        path,
        name,
        outcome.kind.name,
        not outcome.blocked,
        outcome.diagnostics,
        None if loaded is None else loaded.digest,
        tuple(source.name for source in outcome.sources[1:] if source.name != name),
        identity_of(outcome.kind, path, files),
        together.key_of(outcome) if together.set_rules else None,
        outcome.offer(),
        bool(together.cross_rules) and together.refers is not None and together.refers(outcome),
        guessed,
        outcome.kind.layering.stacks is not None,
    )


# -------------------------------------------------------------------------------------------- recognition


def recognised(
    path: str, files: Files, project: Project, surroundings: Surroundings, *, named: bool = True
) -> str | Diagnostic | None:
    """The name of the kind of a file: by the settings, its path, the plugin it belongs to, its content; or why it
    cannot be told.

    Whether a file that nobody could recognise exists matters only if somebody named it.
    """
    absolute = os.path.normpath(os.path.join(files.cwd, path))
    slashed = absolute.replace(os.sep, "/")
    conventions = project.settings.conventions
    known = recognised_by_name(absolute, project)
    if known is not None:
        return known
    extension = os.path.splitext(path)[1].lower()
    header = extension == ".md" and conventions
    if header and (component := surroundings.component(slashed)) is not None:
        return component
    if not header and extension not in _FORMATS and not named:
        return None
    try:
        source = files.read(path, max_bytes=10 * MAX_BYTES)
        problem = _no_text(source)
    except FileProblem as refused:
        return finding(refused.code, display_name(path), refused.values)
    text = source.text if problem is None else source.data.decode("utf-8", "replace")
    kind = kind_of_header(slashed, text) if header else None
    if not header and extension in _FORMATS:
        kind = _recognised_by_content(text, _FORMATS[extension])
    if problem is not None:
        return (
            finding(problem.code, display_name(path), problem.values)
            if named or kind is not None
            else None
        )
    return Guess(kind) if header and kind is not None else kind


def recognised_by_name(absolute: str, project: Project) -> str | None:
    """The name of the kind of a file, as far as the settings and its path alone tell."""
    slashed = absolute.replace(os.sep, "/")
    return project.kind_of(absolute) or recognise_path(
        slashed, conventions=project.settings.conventions
    )


def _no_text(source: Source) -> FileProblem | None:
    try:
        require_text(source)
    except FileProblem as problem:
        return problem
    return None


def _recognised_by_content(text: str, format: Format) -> str | None:  # noqa: A002
    """A cheap look at the text decides whether parsing is worth it; a text that does not parse is taken for
    what it looks like, so that its error is told."""
    looks_like = recognise_text(text)
    if looks_like is None:
        return None
    try:
        value = load_value(format, text.removeprefix("\ufeff"))
    except SyntaxProblem:
        return looks_like
    return recognise_content(value)
