"""One file of a check: which kind it is, what loading it finds, and the little that is kept of that.

A check looks at many files and keeps of each only what a report needs. Trees, documents and texts of files
without findings are let go at once, so that memory does not grow with what is fine.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

import msgspec

from lading.codes import CORE_CODES
from lading.diagnostics import Diagnostic, Severity, UsageError
from lading.files import MAX_BYTES, FileProblem, Files, display_name, require_text
from lading.kinds.registry import kind_named, recognise_content, recognise_path, recognise_text
from lading.loading import Outcome, Request, load_path
from lading.source import Source
from lading.syntax.document import Format, load_value
from lading.syntax.engine import SyntaxProblem
from lading.wording import Redactor, help_of, message_of

_CODES = {code.name: code for code in CORE_CODES}
_FORMATS: dict[str, Format] = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}


#: Fewer candidates than this are checked before other processes would have started.
WORTH_IT = 256
#: How many candidates a process gets at once: few enough to keep all busy to the end, enough to make sending cheap.
CHUNK = 48


class Candidate(msgspec.Struct, frozen=True):
    """A file to look at. One that the caller named must be of some kind; one that a walk found need not."""

    path: str
    named: bool = False


class Checked(msgspec.Struct, frozen=True):
    """What is kept of one file."""

    name: str
    kind: str | None
    ok: bool
    diagnostics: tuple[Diagnostic, ...] = ()
    digest: str | None = None
    reads: tuple[str, ...] = ()  #: the names of the other files its load read
    real: str | None = None  #: the file itself, whatever links led to it


def check_files(
    candidates: Iterable[Candidate], request: Request, kind: str | None, *, jobs: int = 1
) -> Iterator[Checked]:
    """Check each candidate, by `jobs` processes; 0 means one for each processor if there are many files.

    Results come in the order of the candidates, whatever the number.
    """
    remaining = iter(candidates)
    first = list(islice(remaining, WORTH_IT)) if jobs == 0 else []
    everything = chain(first, remaining)
    wanted = jobs or (_processors() if len(first) == WORTH_IT else 1)
    if wanted == 1:
        return check_chunk(everything, request, kind)
    from lading.parallel import by_processes  # costs more than checking a small file

    return by_processes(_chunks(everything), request, kind, wanted)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _chunks(candidates: Iterator[Candidate]) -> Iterator[list[Candidate]]:
    while chunk := list(islice(candidates, CHUNK)):
        yield chunk


def check_chunk(candidates: Iterable[Candidate], request: Request, kind: str | None) -> Iterator[Checked]:
    checked = (check_file(each, request, kind) for each in candidates)
    return (each for each in checked if each is not None)


def check_file(candidate: Candidate, request: Request, kind: str | None) -> Checked | None:
    """Check one file; None if it is nobody's business. Raises `UsageError` for options the kind refuses."""
    path, files = candidate.path, Files()
    chosen = kind if kind is not None else recognised(path, files, named=candidate.named)
    if chosen is None and not candidate.named:
        return None
    if isinstance(chosen, Diagnostic):
        return _unreadable(chosen, named=candidate.named)
    name = display_name(path)
    if chosen is None:
        return _failed(name, finding("unrecognised", name))
    try:
        return _kept(name, path, load_path(path, kind_named(chosen), request, files))
    except UsageError:
        raise
    except Exception as error:
        return _failed(name, finding("internal-error", name, {"problem": f"{type(error).__name__}: {error}"}))


def _failed(name: str, why: Diagnostic) -> Checked:
    return Checked(name, None, ok=False, diagnostics=(why,))


def _unreadable(problem: Diagnostic, *, named: bool) -> Checked | None:
    """A file whose content nobody can look at. Of those a walk meets, only a refusal is worth a word: a file that
    is too large or no text would not have been recognised."""
    name = problem.name or ""
    if named:
        return _failed(name, problem)
    if problem.code == "file-unreadable":
        return Checked(name, None, ok=True, diagnostics=(msgspec.structs.replace(problem, severity="warning"),))
    return None


def _kept(name: str, path: str, outcome: Outcome) -> Checked:
    loaded = outcome.loaded()
    return Checked(
        name,
        outcome.kind.name,
        outcome.ok,
        outcome.diagnostics,
        None if loaded is None else loaded.digest,
        tuple(source.name for source in outcome.sources if source.name != name),
        os.path.realpath(path),
    )


# -------------------------------------------------------------------------------------------- recognition


def recognised(path: str, files: Files, *, named: bool = True) -> str | Diagnostic | None:
    """The name of the kind of a file: by its path, else by its content; or why it cannot be told.

    Whether a file that nobody could recognise exists matters only if somebody named it.
    """
    by_path = recognise_path(os.path.abspath(path).replace(os.sep, "/"))
    if by_path is not None:
        return by_path
    extension = os.path.splitext(path)[1].lower()
    if extension not in _FORMATS and not named:
        return None
    try:
        source = require_text(files.read(path, max_bytes=10 * MAX_BYTES))
    except FileProblem as problem:
        return finding(problem.code, display_name(path), problem.values)
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


def finding(
    code: str, file: str, values: Mapping[str, object] | None = None, *, severity: Severity | None = None
) -> Diagnostic:
    """A finding about a whole file."""
    known = _CODES[code]
    values = values or {}
    redactor = Redactor()
    return Diagnostic(
        code,
        severity or known.severity,
        message_of(known, values, redactor),
        help=help_of(known, values, redactor),
        file=file,
    )
