"""The baseline of a check: where it is, what it leaves out of a report, and how it is written."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import msgspec

from equipage.core.diagnostics import UsageError
from equipage.core.source import Source
from equipage.files import is_inside
from equipage.files.reading import Files, display_name
from equipage.files.sandbox import FileProblem
from equipage.files.writing import NotWritten, write_or_replace
from equipage.project.settings import Project
from equipage.record import baseline as baselines
from equipage.record.baseline import Baseline
from equipage.workspace.report import Report


class BaselineFile(msgspec.Struct, frozen=True):
    """The baseline that a check uses: where it is, and what it records, if it exists."""

    path: str
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
        done = baselines.apply(self.baseline, report.diagnostics, folder, covers)
        stale = baselines.stale_findings(self.source, self.baseline, done.stale)
        return msgspec.structs.replace(report, diagnostics=(*done.new, *stale), known=done.known)

    def record(self, report: Report, paths: Sequence[str]) -> str:
        """Write the findings of a report; returns what was done. Raises `UsageError`."""
        folder, covers = os.path.dirname(self.path), self._covers(paths)
        new = baselines.build_baseline(report.diagnostics, folder, covers, self.baseline)
        try:
            write_or_replace(self.path, baselines.write(new).encode())
        except NotWritten as error:
            raise UsageError(f"cannot write {self.path}: {error}") from None
        count = sum(each.count for each in new.findings)
        findings = "1 finding" if count == 1 else f"{count:,} findings"
        return f"recorded {findings} in {display_name(self.path)}"

    def _covers(self, paths: Sequence[str]) -> Callable[[str], bool]:
        """Whether a file, by its path from the folder of the baseline, is among those checked."""
        folder = os.path.realpath(os.path.dirname(self.path))
        checked = [os.path.realpath(path) for path in paths]

        def covers(file: str) -> bool:
            path = os.path.normpath(os.path.join(folder, file))
            return any(path == each or path.startswith(f"{each}{os.sep}") for each in checked)

        return covers


def read_baseline(project: Project, named: str | None, *, is_new: bool) -> BaselineFile:
    """The baseline that the caller `named`, else that of the project; one to be written `is_new`.

    Raises `UsageError` if it cannot be used.
    """
    path = named or project.baseline
    # Settings come with the checked files, and must not choose a file to read or to replace.
    if not named and not is_inside(path, project.root):
        raise UsageError(f"the baseline {path} is outside the project; name it with --baseline")
    if not os.path.exists(path):
        if is_new:
            return BaselineFile(path)
        shown = display_name(path)
        raise UsageError(f"there is no baseline {shown}; write it with --write-baseline")
    try:
        source = Files().read(path)
    except FileProblem as problem:
        raise UsageError(f"cannot read {path}: {problem.code.replace('-', ' ')}") from None
    return BaselineFile(path, source, baselines.read(source))
