"""`equipage check`: find, check and fix; once, or with `--watch` whenever a file changes."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from equipage.cli import BUG, FOUND, OK, USAGE
from equipage.cli.output import Output, Progress
from equipage.cli.request import NOTHING_FOUND, no_such_code, request_of
from equipage.core import codes as core_codes
from equipage.core.diagnostics import Diagnostic, UsageError
from equipage.core.text import visible
from equipage.loading.projects import project_of_folder
from equipage.loading.registry import codes_for, codes_of
from equipage.loading.session import Request
from equipage.render import text
from equipage.workspace.project import Selection
from equipage.workspace.report import SETTINGS, Report, check_paths

if TYPE_CHECKING:  # the modules that fix and watch are imported when they are asked for
    from equipage.workspace.fixes import Refusal, Repair
    from equipage.workspace.watch import Turn

#: A fix may uncover another one; this ends fixes that uncover each other endlessly.
_MAX_PASSES = 10
#: How many changed files a status line names; it counts the others.
_NAMED = 3


def run(options: argparse.Namespace, output: Output) -> int:
    selection = Selection(_codes(options.select) or None, _codes(options.ignore))
    if options.watch:
        return _watch(options, output, selection)
    check = partial(_check, options, output, request_of(options), selection)
    fixed: int | None = None
    unwritten: dict[str, str] = {}
    if options.fix:
        unsafe = options.unsafe_fixes
        report, fixed, unwritten = fix_all(check, options.paths, output, unsafe=unsafe)
    else:
        report = check()
    hidden = report.hidden
    # Set before anything is printed: the reader may close the pipe.
    code = _exit_code(report, failed=bool(unwritten), strict=options.strict)
    if code == FOUND and not all(map(os.path.lexists, options.paths)):
        code = USAGE  # a path in the command is wrong: whatever else was found comes second
    output.code = code
    if options.diff:
        # The question is only whether there is something to fix, not whether there are errors.
        code = FOUND if _show_diff(report, output, unsafe=options.unsafe_fixes) else OK
    else:
        # People need no summary of nothing; programs expect a document in any case.
        if report.files or report.diagnostics or options.output_format != "text":
            _write(report, options, output, fixed)
        if options.quiet and options.strict and report.warnings and not report.errors:
            count = len(report.warnings)
            output.note(f"equipage: --strict fails on warnings that --quiet hides: {count}")
    if hidden:
        files = ", ".join(map(visible, hidden))
        output.note(f"equipage: cannot be loaded, though every error is ignored: {files}")
    # The settings of equipage itself are checked on the way; alone they are nothing to check.
    if all(each.kind == SETTINGS for each in report.files) and not report.errors:
        output.note(NOTHING_FOUND)
    return code


def _check(
    options: argparse.Namespace, output: Output, request: Request, selection: Selection
) -> Report:
    """Check as the command line asks; `--fix` does so more than once."""
    progress = Progress("checking", output.width)
    try:
        return check_paths(
            options.paths,
            request,
            kind=options.kind,
            selection=selection,
            progress=progress,
            jobs=options.jobs,
            digests=options.output_format == "json",  # no other format shows them
        )
    finally:
        progress.clear()


def _codes(written: list[str]) -> frozenset[str]:
    """The codes of a repeatable, comma-separated option. Raises `UsageError`."""
    codes = [code.strip() for each in written for code in each.split(",") if code.strip()]
    known = codes_for(codes) if codes else {}
    for code in codes:
        if code not in known:
            raise no_such_code(code, known)
    return frozenset(codes)


def _exit_code(report: Report, *, failed: bool, strict: bool) -> int:
    if any(each.code == core_codes.INTERNAL_ERROR for each in report.diagnostics):
        return BUG
    return FOUND if failed or report.errors or (strict and report.warnings) else OK


# The report in the format that was asked for.


def _write(report: Report, options: argparse.Namespace, output: Output, fixed: int | None) -> None:
    """Print the report. The modules of formats other than text are imported only here."""
    if options.output_format == "text":
        _write_text(report, options, output, fixed)
        return
    if options.quiet:
        report = Report(report.files, report.errors, report.hidden)
    if options.output_format == "json":
        from equipage.render import json

        output.data(json.render(report, fixed=fixed))
    elif options.output_format == "sarif":
        from equipage.render import sarif

        output.data(sarif.render(report, codes_of(each.kind for each in report.files)))
    else:
        from equipage.render import github

        for line in github.render(report, prefix=_inside_repository()):
            output.data(line)
    if options.statistics:
        output.note(*statistics(report).splitlines())


def _write_text(
    report: Report, options: argparse.Namespace, output: Output, fixed: int | None
) -> None:
    style = output.style()
    if options.statistics:
        output.data(statistics(report, quiet=options.quiet))
        output.data(text.summary(report, style, quiet=options.quiet))
        return
    for piece in text.render(report, style, quiet=options.quiet, fixed=fixed):
        output.data(piece)


def _inside_repository() -> str:
    """The path from the checkout of a GitHub workflow to the working directory."""
    here = os.path.realpath(os.getcwd())
    root = os.path.realpath(os.environ.get("GITHUB_WORKSPACE") or here)
    inside = here.startswith(root.rstrip(os.sep) + os.sep)
    return os.path.relpath(here, root).replace(os.sep, "/") if inside else ""


def statistics(report: Report, *, quiet: bool = False) -> str:
    """How often each code was found, the most frequent first."""
    shown = _shown(report.diagnostics, quiet=quiet)
    # By severity, too: kinds may disagree about a code.
    found = Counter((each.severity, each.code) for each in shown)
    fixable = Counter((each.severity, each.code) for each in shown if each.fix is not None)
    rows = sorted(found.items(), key=lambda row: (-row[1], row[0]))
    width = len(str(rows[0][1])) if rows else 1
    lines = []
    for (severity, code), count in rows:
        fixes = fixable[severity, code]
        note = f" ({fixes} with a fix)" if fixes else ""
        lines.append(f"{count:>{width}}  {severity:<7}  {code}{note}\n")
    return "".join(lines)


def _shown(diagnostics: Sequence[Diagnostic], *, quiet: bool) -> list[Diagnostic]:
    return [each for each in diagnostics if not quiet or each.severity == "error"]


# `--fix` applies the fixes of findings; `--diff` prints what it would change.


def fix_all(
    check: Callable[[], Report], paths: Sequence[str], output: Output, *, unsafe: bool = False
) -> tuple[Report, int, dict[str, str]]:
    """Fix until nothing fixable is left.

    Returns the report of the rest, how many findings are gone, and why files were not written.
    """
    from equipage.workspace.fixes import repair

    roots = roots_of(paths, os.getcwd())
    fixed = 0
    unwritten: dict[str, str] = {}
    report = check()
    for _ in range(_MAX_PASSES):
        repairs, refused = repair(report.diagnostics, unsafe=unsafe)
        # Only files inside the projects that were named are written, wherever links lead.
        written = [each for each in repairs if _rewritten(each, roots, unwritten)]
        if not written:
            _explain(refused, unwritten, output)
            break
        fixed += sum(len(each.fixed) for each in written)
        report = check()
    return report, fixed, unwritten


def roots_of(paths: Iterable[str], cwd: str) -> tuple[str, ...]:
    """The projects that contain the paths.

    A path through a link does not name the project that the link leads to: the link may have come
    with the files.
    """
    folders = (_folder_before_links(os.path.join(cwd, path), cwd) for path in paths)
    return tuple(dict.fromkeys(project_of_folder(folder, (folder,)) for folder in folders))


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


def _rewritten(each: Repair, roots: Sequence[str], unwritten: dict[str, str]) -> bool:
    """Write a repaired file. If that fails, record the reason in `unwritten`."""
    from equipage.files.writing import NotWritten, rewrite

    try:
        rewrite(each.source, each.text, roots)
    except NotWritten as problem:
        unwritten[each.source.name] = str(problem)
        return False
    return True


def _explain(refused: Sequence[Refusal], unwritten: dict[str, str], output: Output) -> None:
    from equipage.workspace.fixes import REASONS

    for name, why in unwritten.items():
        output.note(f"equipage: did not write {name}: {why}")
    for each in refused:
        output.note(f"equipage: not fixed: {each.finding}: {REASONS[each.reason]}")


def _show_diff(report: Report, output: Output, *, unsafe: bool = False) -> bool:
    """Print what fixing would change. True if anything would change, or a file is unreadable."""
    from equipage.workspace.fixes import diff, repair

    repairs, refused = repair(report.diagnostics, unsafe=unsafe)
    for each in repairs:
        output.data(diff(each))
    _explain(refused, {}, output)
    # An error without a place: the file could not be read, so it may need fixes as well.
    unseen = [each for each in report.errors if each.span is None]
    for error in unseen:
        output.note(f"equipage: {error}")
    return bool(repairs or unseen)


# `--watch` prints the report first, then what each change adds and takes away.


def _watch(options: argparse.Namespace, output: Output, selection: Selection) -> int:
    """Check until interrupted."""
    from equipage.workspace.watch import watch_check

    if options.output_format != "text" or options.fix or options.diff or options.statistics:
        raise UsageError(
            "--watch prints findings as text; it cannot be combined with another output format, "
            "--fix, --diff or --statistics"
        )
    progress = Progress("checking", output.width)
    request, kind = request_of(options), options.kind
    turns = watch_check(options.paths, request, kind=kind, selection=selection, progress=progress)
    # Turn 0 is the whole report; it ends only with the process.
    for number, turn in enumerate(turns):
        progress.clear()
        if number:
            pieces = _change(turn, output, quiet=options.quiet)
        else:
            pieces = text.render(turn.report, output.style(), quiet=options.quiet)
        for piece in pieces:
            output.data(piece)
        output.flush()
        if not number:
            output.note("equipage: watching; press Ctrl-C to stop")
    return OK


def _change(turn: Turn, output: Output, *, quiet: bool) -> Iterator[str]:
    """New findings in full, one line for each that is gone, and a summary."""
    style = output.style()
    new, gone = (_shown(each, quiet=quiet) for each in (turn.new, turn.gone))
    yield from (text.finding(each, style) + "\n" for each in new)
    yield from (f"{style.paint('help', 'gone')}: {each}\n" for each in gone)
    # No name: something around the checked files changed, such as a folder.
    names = ", ".join(map(visible, turn.changed[:_NAMED])) or "elsewhere"
    rest = len(turn.changed) - _NAMED
    more = f" and {rest} more" if rest > 0 else ""
    what = f"{len(new)} new, {len(gone)} gone" if new or gone else "nothing new"
    yield f"changed {names}{more}: {what}; {text.summary(turn.report, style, quiet=quiet)}"
