"""`equipage check --fix` and `--diff`: apply the fixes of findings, or show what they would change."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from equipage.cli.output import Output
from equipage.fixes import REASONS, Refusal, Repair, diff, repair
from equipage.session import project_of_folder
from equipage.workspace import Report
from equipage.writing import NotWritten, rewrite

#: A fix may uncover another one. Fixes that uncover each other for ever must end, too.
_MAX_PASSES = 10


def fix_all(
    check: Callable[[], Report], paths: Sequence[str], output: Output, *, unsafe: bool = False
) -> tuple[Report, int]:
    """Fix what can be fixed until nothing is left; the report of the rest, and how many findings are gone."""
    roots = roots_of(paths, os.getcwd())
    fixed = 0
    unwritten: dict[str, str] = {}
    report = check()
    for _ in range(_MAX_PASSES):
        repairs, refused = repair(report.diagnostics, unsafe=unsafe)
        written = [each for each in repairs if _write(each, roots, unwritten)]
        if not written:
            _explain(refused, unwritten, output)
            break
        fixed += sum(len(each.mended) for each in written)
        report = check()
    return report, fixed


def roots_of(paths: Iterable[str], cwd: str) -> tuple[str, ...]:
    """The projects that the caller's own arguments lie in. The last step of an argument is not followed: naming
    a link does not name the place it leads to."""
    places = (os.path.join(cwd, path) for path in paths)
    folders = (each if os.path.isdir(each) else os.path.dirname(each) for each in places)
    return tuple(dict.fromkeys(project_of_folder(folder, cwd) for folder in folders))


def _write(each: Repair, roots: Sequence[str], unwritten: dict[str, str]) -> bool:
    try:
        rewrite(each.source, each.text, roots)
    except NotWritten as problem:
        unwritten[each.source.name] = str(problem)
        return False
    return True


def _explain(refused: Sequence[Refusal], unwritten: dict[str, str], output: Output) -> None:
    for name, why in unwritten.items():
        output.note(f"equipage: did not write {name}: {why}")
    for each in refused:
        output.note(f"equipage: not fixed: {each.finding}: {REASONS[each.reason]}")


def show_diff(report: Report, output: Output, *, unsafe: bool = False) -> bool:
    """Print what fixing would change; whether that is anything, or a file could not be looked at."""
    repairs, refused = repair(report.diagnostics, unsafe=unsafe)
    for each in repairs:
        output.data(diff(each))
    _explain(refused, {}, output)
    unseen = [each for each in report.errors if each.span is None]
    for error in unseen:
        output.note(f"equipage: {error}")
    return bool(repairs or unseen)
