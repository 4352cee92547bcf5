"""The baseline: findings that are known, so that a check reports only new ones.

```json
{"version": 1, "findings": [
 {"file": "a.md", "code": "unknown-field", "path": "alowed_tools", "content": "5f0c…"}
]}
```

A finding is known by its file, its code, the path of its value and a hash of the text it is about.
Lines do not count, so text above may come and go. Where an entry of a list moved, its content finds
it again. An entry that matches nothing any more is reported, so that a baseline only shrinks.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Diagnostic, UsageError
from equipage.core.frozen import convert
from equipage.core.source import Source, Span
from equipage.core.text import visible_json
from equipage.files import System, is_below
from equipage.files.reading import read_file
from equipage.files.sandbox import FileProblem, real_path
from equipage.files.writing import NotWritten, write_or_replace
from equipage.loading.findings import finding
from equipage.loading.session import Run
from equipage.project.settings import Project, project_of
from equipage.syntax.document import parse
from equipage.workspace.report import Report

VERSION = 1
#: Findings that no baseline can hold: a bug, and what is wrong with the baseline itself.
_NEVER_RECORDED = frozenset({codes.INTERNAL_ERROR, codes.BASELINE_STALE})


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """Findings that are known; `count` of them are equal in all four fields."""

    file: str  #: from the folder of the baseline, with `/`
    code: str
    path: str
    content: str
    count: int = 1


class Baseline(msgspec.Struct, frozen=True):
    version: int
    findings: tuple[Entry, ...]


class BaselineResult(msgspec.Struct, frozen=True):
    """What is new, how many findings are known, and the numbers of the entries that are stale."""

    new: tuple[Diagnostic, ...]
    known: int
    stale: tuple[int, ...]


def read(source: Source) -> Baseline:
    """The baseline in a file. Raises `UsageError`."""
    try:
        value = msgspec.json.decode(source.data)
        version = value.get("version") if isinstance(value, dict) else None
        if version != VERSION:
            raise UsageError(
                f"{source.name} is not a baseline of version {VERSION}; "
                "write a new one with `equipage check --write-baseline`"
            )
        baseline: Baseline = convert(value, Baseline)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise UsageError(f"{source.name} is not a baseline: {error}") from None
    return baseline


def apply(
    baseline: Baseline,
    diagnostics: Iterable[Diagnostic],
    folder: str,
    covers: Callable[[str], bool],
) -> BaselineResult:
    """Leave out the findings that a baseline in `folder` records.

    `covers` says whether a file was checked, by its path from `folder`: an entry about another one
    may still match and is not stale.
    """
    found, folder = list(diagnostics), real_path(folder)
    keys = [None if each.code in _NEVER_RECORDED else _entry(each, folder) for each in found]
    left = Counter[int]({number: each.count for number, each in enumerate(baseline.findings)})
    known: set[int] = set()
    # By everything first; then without the path, for entries of lists that moved.
    for identity in (_full_identity, _identity_without_path):
        entries: dict[object, list[int]] = {}
        for number, entry in enumerate(baseline.findings):
            if identity(entry) is not None:
                entries.setdefault(identity(entry), []).append(number)
        for number, key in enumerate(keys):
            if key is None or number in known or identity(key) is None:
                continue
            match = next((n for n in entries.get(identity(key), ()) if left[n] > 0), None)
            if match is not None:
                left[match] -= 1
                known.add(number)
    new = tuple(each for number, each in enumerate(found) if number not in known)
    stale = (n for n, each in enumerate(baseline.findings) if left[n] > 0 and covers(each.file))
    return BaselineResult(new, len(known), tuple(stale))


def build_baseline(
    diagnostics: Iterable[Diagnostic],
    folder: str,
    covers: Callable[[str], bool],
    before: Baseline | None = None,
) -> Baseline:
    """A baseline of all findings, and of what `before` records about files that were left out."""
    folder = real_path(folder)
    entries = (_entry(each, folder) for each in diagnostics if each.code not in _NEVER_RECORDED)
    counts = Counter(entries)
    kept = () if before is None else (each for each in before.findings if not covers(each.file))
    for each in kept:
        counts[msgspec.structs.replace(each, count=1)] += each.count
    return Baseline(
        VERSION,
        tuple(
            msgspec.structs.replace(each, count=counts[each])
            for each in sorted(counts, key=lambda each: (each.file, each.code, each.path))
        ),
    )


def write(baseline: Baseline) -> str:
    """One finding on each line, so that changes of the file are easy to review and to merge."""
    rows = ",\n".join(
        f" {json.dumps(msgspec.to_builtins(each), ensure_ascii=False)}"
        for each in baseline.findings
    )
    body = f"\n{rows}\n" if rows else ""
    return visible_json(f'{{"version": {baseline.version}, "findings": [{body}]}}\n')


def stale_findings(
    source: Source, baseline: Baseline, numbers: Sequence[int]
) -> tuple[Diagnostic, ...]:
    """A note for each stale entry, at its place in the file of the baseline."""
    paths = [("findings", number) for number in numbers]
    document, _ = parse(source, "json")
    places = {} if document is None else document.locate(paths)
    made = []
    for number, path in zip(numbers, paths, strict=True):
        entry = baseline.findings[number]
        values = {"code": entry.code, "file": entry.file, "path": entry.path or None}
        each = finding(codes.BASELINE_STALE, source.name, values)
        span = places[path].value if path in places else None
        if span is not None:
            span = Span(span.source, span.start, span.start + 1)
        made.append(msgspec.structs.replace(each, span=span, path=f"findings[{number}]"))
    return tuple(made)


def _entry(each: Diagnostic, folder: str) -> Entry:
    # The path of a source has no links in it.
    path = each.span.source.filename if each.span is not None else None
    file = os.path.relpath(path or real_path(each.name or "."), folder).replace(os.sep, "/")
    text = " ".join(each.span.text().split()) if each.span is not None else ""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16] if text else ""
    return Entry(file, each.code, each.path, digest)


def _full_identity(entry: Entry) -> tuple[str, ...]:
    return entry.file, entry.code, entry.path, entry.content


def _identity_without_path(entry: Entry) -> tuple[str, ...] | None:
    return (entry.file, entry.code, entry.content) if entry.content and "[" in entry.path else None


class BaselineFile(msgspec.Struct, frozen=True):
    """The baseline that a check uses: where it is, and what it records, if it exists."""

    path: str
    shown: str  #: the path as people are shown it
    source: Source | None = None
    baseline: Baseline | None = None

    def apply_to(self, report: Report, paths: Sequence[str], *, partly: bool) -> Report:
        """Return the report without known findings, and with a finding for each stale entry.

        Entries are not stale if the files were checked only `partly`, for some codes.
        """
        assert self.source is not None
        assert self.baseline is not None
        covers = (lambda _file: False) if partly else self._covers(paths)
        folder = os.path.dirname(self.path)
        done = apply(self.baseline, report.diagnostics, folder, covers)
        stale = stale_findings(self.source, self.baseline, done.stale)
        return msgspec.structs.replace(report, diagnostics=(*done.new, *stale), known=done.known)

    def record(self, report: Report, paths: Sequence[str]) -> str:
        """Write the findings of a report; returns what was done. Raises `UsageError`."""
        folder, covers = os.path.dirname(self.path), self._covers(paths)
        new = build_baseline(report.diagnostics, folder, covers, self.baseline)
        try:
            write_or_replace(self.path, write(new).encode())
        except NotWritten as error:
            raise UsageError(f"cannot write {self.path}: {error}") from None
        count = sum(each.count for each in new.findings)
        findings = "1 finding" if count == 1 else f"{count:,} findings"
        return f"recorded {findings} in {self.shown}"

    def _covers(self, paths: Sequence[str]) -> Callable[[str], bool]:
        """Whether a file, by its path from the folder of the baseline, is among those checked."""
        folder = real_path(os.path.dirname(self.path))
        checked = [real_path(path) for path in paths]

        def covers(file: str) -> bool:
            path = os.path.normpath(os.path.join(folder, file))
            return any(path == each or path.startswith(f"{each}{os.sep}") for each in checked)

        return covers


def read_baseline(
    project: Project, named: str | None, system: System, *, is_new: bool
) -> BaselineFile:
    """The baseline that the caller `named`, else that of the project; one to be written `is_new`.

    Raises `UsageError` if it cannot be used.
    """
    path = named or project.baseline
    # Settings come with the checked files, and must not choose a file to read or to replace.
    if not named and not system.is_inside(path, project.root):
        raise UsageError(f"the baseline {path} is outside the project; name it with --baseline")
    shown = system.name_of(path)
    if not system.exists(path):
        if is_new:
            return BaselineFile(path, shown)
        raise UsageError(f"there is no baseline {shown}; write it with --write-baseline")
    try:
        source = read_file(path, system)
    except FileProblem as problem:
        raise UsageError(f"cannot read {path}: {problem.code.replace('-', ' ')}") from None
    return BaselineFile(path, shown, source, read(source))


class FolderBaseline(msgspec.Struct, frozen=True):
    """A baseline that was read, and the folder whose files it may speak of."""

    folder: str
    source: Source
    baseline: Baseline


def baselines_of(folders: Iterable[str], run: Run) -> list[FolderBaseline]:
    """The baselines of the projects that folders are in, each once."""
    found: dict[str, FolderBaseline] = {}
    for folder in folders:
        project = project_of(os.path.join(folder, "file"), run)
        path = project.baseline
        system = run.files.system
        if path in found or not system.exists(path) or not system.is_inside(path, project.root):
            continue
        try:
            source = read_file(path, system)
            found[path] = FolderBaseline(os.path.dirname(path), source, read(source))
        except (FileProblem, UsageError):
            continue  # `check` says what is wrong with it
    return list(found.values())


def drop_known(
    findings: Sequence[Diagnostic], known: Iterable[FolderBaseline]
) -> tuple[Diagnostic, ...]:
    """The findings that no baseline records."""
    left = tuple(findings)
    for each in known if left else ():
        left = apply(each.baseline, left, each.folder, lambda _file: False).new
    return left


def drop_known_add_stale(
    findings: Sequence[Diagnostic], known: Iterable[FolderBaseline], folders: Iterable[str]
) -> tuple[Diagnostic, ...]:
    """The findings of a survey without the known ones, and with the entries that are stale."""
    checked, left = [real_path(each) for each in folders], tuple(findings)
    for each in known:
        base = real_path(each.folder)

        def covers(file: str, base: str = base) -> bool:
            path = os.path.normpath(os.path.join(base, file))
            return any(is_below(path, folder) for folder in checked)

        done = apply(each.baseline, left, each.folder, covers)
        left = (*done.new, *stale_findings(each.source, each.baseline, done.stale))
    return left
