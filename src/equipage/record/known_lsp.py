"""Findings that a baseline records. Like a check, the editor does not show them.

The baseline of a folder is that of its project, by its settings or its usual name. One that cannot
be read, or lies outside its project, leaves out nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import msgspec

from equipage.core.diagnostics import Diagnostic, UsageError
from equipage.core.source import Source
from equipage.files import exists, is_inside, real_path
from equipage.files.reading import files_here
from equipage.files.sandbox import FileProblem, is_below
from equipage.loading.session import Run
from equipage.project.settings import project_of
from equipage.record import baseline as baselines


class FolderBaseline(msgspec.Struct, frozen=True):
    """A baseline that was read, and the folder whose files it may speak of."""

    folder: str
    source: Source
    baseline: baselines.Baseline


def baselines_of(folders: Iterable[str], run: Run) -> list[FolderBaseline]:
    """The baselines of the projects that folders are in, each once."""
    found: dict[str, FolderBaseline] = {}
    for folder in folders:
        project = project_of(os.path.join(folder, "file"), run)
        path = project.baseline
        if path in found or not exists(path) or not is_inside(path, project.root):
            continue
        try:
            source = files_here().read(path)
            found[path] = FolderBaseline(os.path.dirname(path), source, baselines.read(source))
        except (FileProblem, UsageError):
            continue  # `check` says what is wrong with it
    return list(found.values())


def drop_known(
    findings: Sequence[Diagnostic], known: Iterable[FolderBaseline]
) -> tuple[Diagnostic, ...]:
    """The findings that no baseline records."""
    left = tuple(findings)
    for each in known if left else ():
        left = baselines.apply(each.baseline, left, each.folder, lambda _file: False).new
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

        done = baselines.apply(each.baseline, left, each.folder, covers)
        left = (*done.new, *baselines.stale_findings(each.source, each.baseline, done.stale))
    return left
