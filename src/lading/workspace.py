"""Many files at once: which there are, of what kind, what their loads found, who read whom."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from lading.codes import CORE_CODES
from lading.diagnostics import Diagnostic, Fact, LoadError, UsageError
from lading.files import MAX_BYTES, FileProblem, Files, display_name, require_text
from lading.kinds.kind import Kind
from lading.kinds.registry import kind_named, recognise_content, recognise_path, recognise_text
from lading.loading import Outcome, Request, load_path, place_more
from lading.placing import deduplicated
from lading.session import Shared
from lading.source import Source
from lading.syntax.document import Format, load_value
from lading.syntax.engine import SyntaxProblem
from lading.walking import walk_files
from lading.wording import Redactor, help_of, message_of

_CODES = {code.name: code for code in CORE_CODES}
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


def recognise(path: str, request: Request) -> Kind:
    """The kind of a file the caller named. Raises `LoadError` if it cannot be read or nobody knows it."""
    name = _recognised(path, Files())
    if isinstance(name, Diagnostic):
        raise LoadError([name])
    if name is None:
        raise LoadError([_finding("unrecognised", display_name(path))])
    return kind_named(name)


def _recognised(path: str, files: Files) -> str | Diagnostic | None:
    """The name of the kind of a file: by its path, else by its content; or why it cannot be told."""
    by_path = recognise_path(os.path.abspath(path).replace(os.sep, "/"))
    if by_path is not None:
        return by_path
    extension = os.path.splitext(path)[1].lower()
    try:
        source = require_text(files.read(path, max_bytes=10 * MAX_BYTES))
    except FileProblem as problem:
        return _finding(problem.code, display_name(path), **problem.values)
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


def check_paths(paths: Sequence[str], request: Request, *, kind: str | None = None) -> Report:
    """Check what is at and below `paths`. Raises `UsageError` for an unknown kind."""
    wanted = kind_named(kind) if kind is not None else None
    outcomes: list[tuple[str, Outcome]] = []
    findings: list[Diagnostic] = []
    shared = Shared()
    for path, is_argument in _found(paths):
        chosen: Any = wanted.name if wanted else _recognised(path, Files())
        if isinstance(chosen, Diagnostic):
            if is_argument:
                findings.append(chosen)
        elif chosen is None:
            if is_argument:
                findings.append(_finding("unrecognised", display_name(path)))
        else:
            outcome = _checked(path, wanted or kind_named(chosen), request, shared)
            if isinstance(outcome, Diagnostic):
                findings.append(outcome)
            else:
                outcomes.append((display_name(path), outcome))
    together = set_findings([outcome for _, outcome in outcomes])
    found = [*findings, *(each for _, outcome in outcomes for each in outcome.diagnostics), *together]
    return Report(_file_reports(outcomes, findings, together), tuple(_same_once(found)))


def _found(paths: Sequence[str]) -> Iterable[tuple[str, bool]]:
    """Each file to look at once, and whether the caller named it."""
    seen: set[str] = set()
    for path in paths:
        found = ((each, False) for each in walk_files(path)) if os.path.isdir(path) else [(path, True)]
        for each, is_argument in found:
            real = os.path.realpath(each)
            if real not in seen:
                seen.add(real)
                yield each, is_argument


def set_findings(outcomes: Sequence[Outcome]) -> list[Diagnostic]:
    """What the set rules of the kinds find in loads that belong together."""
    by_kind: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_kind.setdefault(outcome.kind.name, []).append(outcome)
    found: list[Diagnostic] = []
    for group in by_kind.values():
        for rule in group[0].kind.set_rules:
            facts: dict[int, tuple[Outcome, list[Fact]]] = {}
            for outcome, each in rule(group):
                facts.setdefault(id(outcome), (outcome, []))[1].append(each)
            found += [each for outcome, those in facts.values() for each in place_more(outcome, those)]
    return found


def _checked(path: str, kind: Kind, request: Request, shared: Shared) -> Outcome | Diagnostic:
    try:
        return load_path(path, kind, request, shared=shared)
    except UsageError:
        raise
    except Exception as error:
        return _finding("internal-error", display_name(path), problem=f"{type(error).__name__}: {error}")


def _same_once(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Findings in a file that several loads read are told once: sources differ, their names and places do not."""
    seen: dict[tuple[object, ...], Diagnostic] = {}
    for each in diagnostics:
        place = (each.name, each.span.start, each.span.end) if each.span else (each.name,)
        seen.setdefault((each.code, each.severity, place, each.message), each)
    return deduplicated(seen.values())


def _file_reports(
    outcomes: Sequence[tuple[str, Outcome]], findings: Sequence[Diagnostic], together: Sequence[Diagnostic]
) -> tuple[FileReport, ...]:
    checked = {name for name, _ in outcomes}
    used: dict[str, list[str]] = {}
    for name, outcome in outcomes:
        for source in outcome.sources:
            if source.name != name:
                used.setdefault(source.name, []).append(name)
    clash = {each.name for each in together if each.severity == "error"}
    reports = [
        FileReport(
            name,
            outcome.kind.name,
            outcome.ok and name not in clash,
            digest_of(outcome),
            tuple(used.get(name, ())),
        )
        for name, outcome in outcomes
    ]
    bad = {each.name for _, outcome in outcomes for each in outcome.errors}
    reports += [
        FileReport(name, None, name not in bad, None, tuple(users))
        for name, users in used.items()
        if name not in checked
    ]
    reports += [FileReport(each.name or "", None, False) for each in findings if each.name not in checked]
    return tuple(sorted(reports, key=lambda each: each.path))


def digest_of(outcome: Outcome) -> str | None:
    """The digest of a load that came to something."""
    loaded = outcome.loaded()
    return None if loaded is None else loaded.digest


def _finding(code: str, file: str, **values: object) -> Diagnostic:
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
