"""Many files at once: which there are, of what kind, what their loads found, who read whom."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from lading.checking import Candidate, Checked, check_files, finding, recognised
from lading.diagnostics import Diagnostic, LoadError
from lading.files import Files, display_name
from lading.kinds.kind import Kind
from lading.kinds.registry import kind_named
from lading.loading import Request
from lading.placing import deduplicated
from lading.walking import Found, walk


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


def recognise(path: str, request: Request) -> Kind:
    """The kind of a file the caller named. Raises `LoadError` if it cannot be read or nobody knows it."""
    name = recognised(path, Files())
    if isinstance(name, Diagnostic):
        raise LoadError([name])
    if name is None:
        raise LoadError([finding("unrecognised", display_name(path))])
    return kind_named(name)


def check_paths(paths: Sequence[str], request: Request, *, kind: str | None = None, jobs: int = 1) -> Report:
    """Check what is at and below `paths`, by `jobs` processes; 0 means as many as are worth it.

    The report is the same, whatever the number. Raises `UsageError` for an unknown kind.
    """
    if kind is not None:
        kind_named(kind)
    gathered = _Gathered()
    candidates = _candidates(paths, gathered)
    for checked in check_files(candidates, request, kind, jobs=jobs):
        gathered.add(checked)
    return gathered.report()


def _candidates(paths: Sequence[str], gathered: _Gathered) -> Iterator[Candidate]:
    """Each file to look at, those the caller named first; and what keeps the walk from others."""
    folders = [path for path in dict.fromkeys(paths) if os.path.isdir(path)]
    for path in dict.fromkeys(paths):
        if path not in folders:
            yield Candidate(path, named=True)
    for folder in folders:
        for found in walk(folder):
            if found.problem is None:
                yield Candidate(found.path)
            else:
                gathered.unreadable(found, named=found.path == folder)


class _Gathered:
    """What is known so far of all files. Each file counts once, each finding is told once."""

    def __init__(self) -> None:
        self.checked: dict[str, Checked] = {}
        self.reals: set[str] = set()
        self.used: dict[str, list[str]] = {}
        self.findings: dict[tuple[object, ...], Diagnostic] = {}

    def add(self, checked: Checked) -> None:
        if checked.name in self.checked or checked.real in self.reals:
            return
        if checked.real is not None:
            self.reals.add(checked.real)
        for name in checked.reads:
            self.used.setdefault(name, []).append(checked.name)
        self.tell(checked.diagnostics)
        self.checked[checked.name] = msgspec.structs.replace(checked, diagnostics=(), reads=())

    def unreadable(self, found: Found, *, named: bool) -> None:
        name = display_name(found.path)
        values = {"folder": name, "reason": found.problem}
        self.tell([finding("folder-unreadable", name, values, severity="error" if named else None)])

    def tell(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Findings in a file that several loads read are told once: sources differ, their names and places do not."""
        for each in diagnostics:
            place = (each.name, each.span.start, each.span.end) if each.span else (each.name,)
            self.findings.setdefault((each.code, each.severity, place, each.message), each)

    def report(self) -> Report:
        diagnostics = tuple(deduplicated(self.findings.values()))
        return Report(tuple(sorted(self._files(diagnostics), key=lambda each: each.path)), diagnostics)

    def _files(self, diagnostics: Iterable[Diagnostic]) -> Iterator[FileReport]:
        for name, each in self.checked.items():
            yield FileReport(name, each.kind, each.ok, each.digest, tuple(self.used.get(name, ())))
        bad = {each.name for each in diagnostics if each.severity == "error"}
        for name, users in self.used.items():
            if name not in self.checked:
                yield FileReport(name, None, name not in bad, None, tuple(users))
