"""`equipage check --fix` and `--diff`: apply the fixes of findings, or print what they change."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from equipage.cli.output import Output
from equipage.cli.request import CheckInput
from equipage.core.diagnostics import Diagnostic, UsageError
from equipage.core.source import Source
from equipage.core.text import visible_at_line_start
from equipage.files import System
from equipage.files.writing import NotWritten, replace_if_unchanged
from equipage.loading.project_root import project_of_folder
from equipage.render.text import Style
from equipage.syntax.suspicious import mask_secrets
from equipage.workspace import Workspace
from equipage.workspace.fixes import REASONS, Refusal, Repair, diff, repair
from equipage.workspace.report import Report

#: A fix may uncover another one; this ends fixes that uncover each other endlessly.
_MAX_PASSES = 10
#: The colour of the lines of a diff, by how they begin; the longest beginnings first.
_COLOURS = {"+++": "bold", "---": "bold", "@@": "place", "+": "help", "-": "error"}
_RISK = (
    "equipage: unsafe fixes may change what a file means or allows; review them before you commit"
)


class FixResult(msgspec.Struct, frozen=True):
    """What fixing came to."""

    report: Report  #: what is left
    findings: tuple[Diagnostic, ...]  #: what is gone, in the order it was fixed
    unwritten: dict[str, str]  #: why files were not written
    text: str | None = None  #: the text after fixing, if it came from standard input


#: Checks again: everything, or a newer text in place of that of standard input.
Check = Callable[..., tuple[Workspace, Report]]


def fix_all(
    report: Report,
    check: Check,
    files: CheckInput,
    output: Output,
    system: System,
    *,
    unsafe: bool = False,
) -> FixResult:
    """Fix files until nothing fixable is left."""
    roots = roots_of(files.paths, system)
    fixed: list[Diagnostic] = []
    unwritten: dict[str, str] = {}
    for _ in range(_MAX_PASSES):
        repairs, refused = repair(report.diagnostics, unsafe=unsafe)
        # Settings with errors may exclude any file, so nothing but them is fixed.
        if unusable := report.unusable_settings:
            repairs = tuple(each for each in repairs if each.source.name in unusable)
        # Only files inside the projects that were named are written, wherever links lead.
        written = [each for each in repairs if _try_rewrite(each, roots, unwritten)]
        if not written:
            _note_unfixed(refused, unwritten, output)
            break
        fixed += (each for one in written for each in one.fixed)
        _, report = check()
    return FixResult(report, tuple(fixed), unwritten)


def fix_text(
    report: Report,
    check: Check,
    files: CheckInput,
    output: Output,
    system: System,
    *,
    unsafe: bool = False,
) -> FixResult:
    """Fix the text of standard input until nothing fixable is left; no file is written.

    Raises `UsageError` if it is not text: then there is nothing that could be printed.
    """
    assert files.text is not None
    try:
        text = files.text.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("standard input is not UTF-8, so nothing is fixed") from None
    path, fixed = system.real(files.paths[0]), list[Diagnostic]()
    for _ in range(_MAX_PASSES):
        repairs, refused = repair(report.diagnostics, unsafe=unsafe)
        own = next((each for each in repairs if each.source.filename == path), None)
        if own is None:
            _note_unfixed(refused, {}, output)
            break
        text = own.text
        fixed += own.fixed
        _, report = check(text.encode("utf-8"))
    return FixResult(report, tuple(fixed), {}, text)


def warn_of_risk(fixed: FixResult, output: Output) -> None:
    """Ask for a review if an unsafe fix was applied."""
    if any(each.fix is not None and not each.fix.safe for each in fixed.findings):
        output.note(_RISK)


def describe_fixes(fixed: Sequence[Diagnostic], style: Style) -> Iterator[str]:
    """Yield the fixes by file, each sort once with its count, then the total."""
    by_file: dict[str, Counter[tuple[str, str]]] = {}
    for each in fixed:
        assert each.fix is not None
        change = (each.code, each.fix.message)
        by_file.setdefault(each.name or "", Counter())[change] += 1
    for name, found in by_file.items():
        yield f"{style.paint('bold', visible_at_line_start(name))}\n"
        for (code, message), count in found.items():
            times = f" (×{count})" if count > 1 else ""
            yield f"  {style.paint('help', 'fixed')} {code}: {message}{times}\n"
    if fixed:
        yield "\n"
    yield f"{len(fixed):,} finding{'' if len(fixed) == 1 else 's'} fixed\n"


def roots_of(paths: Iterable[str], system: System) -> tuple[str, ...]:
    """The projects that contain the paths.

    A path through a link does not name the project that the link leads to: the link may have come
    with the files.
    """
    cwd = system.cwd
    folders = (_folder_before_links(os.path.join(cwd, path), cwd) for path in paths)
    return tuple(dict.fromkeys(project_of_folder(folder, system, (folder,)) for folder in folders))


def _folder_before_links(path: str, cwd: str) -> str:
    """The last folder on the way to a path before a link. Outside `cwd`, only the end counts."""
    path = os.path.normpath(path)
    is_here = path.startswith(cwd.rstrip(os.sep) + os.sep)
    folder = cwd if is_here or path == cwd else os.path.dirname(path)
    for part in os.path.relpath(path, folder).split(os.sep):
        step = os.path.join(folder, part)
        if os.path.islink(step) or not os.path.isdir(step):
            break
        folder = os.path.normpath(step)
    return folder


def _try_rewrite(each: Repair, roots: Sequence[str], unwritten: dict[str, str]) -> bool:
    """Write a repaired file. If that fails, record the reason in `unwritten`."""
    try:
        replace_if_unchanged(each.source, each.text, roots)
    except NotWritten as problem:
        unwritten[each.source.name] = str(problem)
        return False
    return True


def _note_unfixed(refused: Sequence[Refusal], unwritten: dict[str, str], output: Output) -> None:
    for name, why in unwritten.items():
        output.note(f"equipage: did not write {name}: {why}")
    for each in refused:
        output.note(f"equipage: not fixed: {each.finding}: {REASONS[each.reason]}")


def show_diff(report: Report, output: Output, *, unsafe: bool = False) -> bool:
    """Print what fixing would change. True if anything would change, or a file is unreadable."""
    repairs, refused = repair(report.diagnostics, unsafe=unsafe)
    style = output.style()
    for each in repairs:
        # A diff often ends up in a log. One that shows no secret can be applied as it is.
        before = Source.of_text(each.source.name, mask_secrets(each.source.text))
        hiding = msgspec.structs.replace(each, source=before, text=mask_secrets(each.text))
        for line in re.findall(r"[^\n]*\n", diff(hiding)):
            role = next((role for start, role in _COLOURS.items() if line.startswith(start)), None)
            output.write_data(style.paint(role, line.rstrip("\n")) + "\n" if role else line)
    _note_unfixed(refused, {}, output)
    # An error without a place: the file could not be read, so it may need fixes as well.
    unseen = [each for each in report.errors if each.span is None]
    for error in unseen:
        output.note(f"equipage: {error}")
    return bool(repairs or unseen)
