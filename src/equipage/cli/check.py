"""`equipage check`: find, check and fix; once, or with `--watch` whenever a file changes."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

from equipage.cli import BUG, FOUND, OK, USAGE
from equipage.cli.arguments import (
    Parser,
    add_flag,
    add_format_option,
    add_list_option,
    add_loading_options,
    add_output_option,
    add_paths,
    refuse,
    whole_number,
)
from equipage.cli.output import Output, write_to_stderr
from equipage.cli.request import (
    NOTHING_FOUND,
    CheckInput,
    check_input_of,
    request_of,
    unknown_code_error,
)
from equipage.core import codes as core_codes
from equipage.core.diagnostics import Diagnostic, UsageError
from equipage.core.text import code_page_url, nearest, visible
from equipage.loading.session import Request
from equipage.project.registry import codes_for, codes_of, format_named
from equipage.project.settings import Selection, project_of
from equipage.render import REPORTS, text
from equipage.workspace import Workspace
from equipage.workspace.report import SETTINGS, FileReport, Report

if TYPE_CHECKING:  # the modules that fix and watch are imported when they are asked for
    from equipage.cli.fix import FixResult
    from equipage.record.baseline import BaselineFile
    from equipage.workspace.watch import WatchUpdate

#: Shorter runs show no progress: a bar that flashes by only disturbs.
PROGRESS_DELAY = 1.0
_REDRAW_SECONDS = 0.1
_BAR_WIDTH = 24
#: How many findings a terminal gets; more would scroll away.
_TERMINAL_LIMIT = 100
#: How many changed files a status line names; it counts the others.
_MAX_FILES_NAMED = 3


def declare(parser: Parser) -> None:
    parser.describe(
        "Find and check every agent configuration under PATH. Files that .gitignore or the "
        "settings exclude are left out, unless you name them.",
        ("equipage check", "check everything below this folder"),
        ("equipage check --fix", "apply safe fixes and report the rest"),
        ("equipage check -f concise | less", "one line for each finding"),
        ("equipage check -f sarif -o out.sarif", "a report for code scanning"),
        ("equipage check --write-baseline", "from now on, report only new findings"),
        ("equipage check --stdin-filename a.md -", "check standard input as a.md"),
    )
    add_paths(parser)
    choosing = parser.add_argument_group("choosing files")
    add_list_option(
        choosing, "--exclude", "GLOB", "leave out files and folders that match; repeatable"
    )
    add_flag(choosing, "--isolated", "ignore the settings of projects and what git ignores")
    add_flag(choosing, "--force-exclude", "leave out excluded files even if you name them")
    choosing.add_argument(
        "--files-from", metavar="FILE", help="also check the files that FILE lists, one per line"
    )
    choosing.add_argument(
        "--stdin-filename", metavar="NAME", help="check standard input as the text of NAME"
    )
    reporting = parser.add_argument_group("reporting")
    add_format_option(reporting, tuple(REPORTS))
    add_output_option(reporting)
    add_flag(reporting, "--quiet", "report errors only", short="-q")
    add_flag(reporting, "--verbose", "also name every file, with its kind", short="-v")
    add_flag(reporting, "--statistics", "count the findings of each code instead of printing them")
    reporting.add_argument(
        "--limit",
        type=whole_number,
        metavar="N",
        help="print at most N findings, 0 for all (default: 100 on a terminal, else all)",
    )
    deciding = parser.add_argument_group("what counts")
    add_list_option(deciding, "--select", "CODE", "report only these codes; separate with commas")
    add_list_option(deciding, "--ignore", "CODE", "leave out these codes; separate with commas")
    add_flag(deciding, "--strict", "exit 1 on warnings, too")
    deciding.add_argument(
        "--max-warnings",
        type=whole_number,
        metavar="N",
        help="exit 1 if there are more than N warnings",
    )
    add_flag(deciding, "--exit-zero", "exit 0 even if there are errors")
    deciding.add_argument(
        "--baseline", metavar="FILE", help="leave out the findings that FILE records"
    )
    add_flag(deciding, "--no-baseline", "report known findings, too")
    add_flag(deciding, "--write-baseline", "record all findings in the baseline, then report none")
    fixing = parser.add_argument_group("fixing")
    either = fixing.add_mutually_exclusive_group()
    add_flag(either, "--fix", "apply safe fixes, then report what is left")
    add_flag(either, "--diff", "print what --fix would change; exit 1 if it would change anything")
    add_flag(
        fixing,
        "--unsafe-fixes",
        "also apply fixes that may change what a file means or allows; review the result",
    )
    running = parser.add_argument_group("running")
    running.add_argument(
        "-j",
        "--jobs",
        type=_process_count,
        default=0,
        metavar="N",
        help="check with N processes (default: depends on the number of files)",
    )
    add_flag(running, "--watch", "check again whenever a file changes (needs watchfiles)")
    add_loading_options(parser)


def _process_count(written: str) -> int:
    if written == "auto":
        return 0  # the check decides
    if not written.isdecimal():
        refuse(f"`{written}` is not a number of processes")
    return int(written)


def run(options: argparse.Namespace, output: Output) -> int:
    _refuse_contradictions(options)
    request = request_of(options)
    has_rules = bool(request.rules) or _has_rules(options.kind)
    selection = Selection(
        _parse_codes(options.select, has_rules=has_rules) or None,
        _parse_codes(options.ignore, has_rules=has_rules),
        exclude=tuple(options.exclude),
        force_exclude=options.force_exclude,
    )
    files = check_input_of(options)
    if options.watch:
        return _watch(options, files, output, request, selection)
    check = partial(_check, options, files, output, request, selection)
    workspace, report = check()
    known = _find_baseline(options, workspace)
    fixed: FixResult | None = None
    if options.fix:
        from equipage.cli.fix import fix_all, fix_text, warn_of_risk

        fix = fix_all if files.text is None else fix_text
        fixed = fix(report, check, files, output, request.system, unsafe=options.unsafe_fixes)
        report = fixed.report
    if options.write_baseline:
        assert known is not None
        output.note(f"equipage: {known.record(report, files.paths)}")
        if fixed is not None:
            warn_of_risk(fixed, output)
        return OK
    if known is not None:
        # A check for single codes cannot know which entries are stale.
        partly = bool(options.select or options.ignore or options.kind)
        report = known.apply_to(report, files.paths, partly=partly)
    report = _add_code_links(report, output.site)
    # Set before anything is printed: the reader may close the pipe.
    code = _exit_code(report, options, failed=bool(fixed and fixed.unwritten))
    if code == FOUND and files.text is None and not all(map(os.path.lexists, files.paths)):
        code = USAGE  # a path in the command is wrong: whatever else was found comes second
    if report.unusable_settings:
        code = USAGE  # which files count, and how, is not known
    output.code = code
    if options.diff:
        from equipage.cli.fix import show_diff

        # The question is only whether there is something to fix, not whether there are errors.
        code = FOUND if show_diff(report, output, unsafe=options.unsafe_fixes) else OK
    # People need no summary of nothing; programs expect a document in any case.
    elif report.files or report.diagnostics or options.output_format not in _TEXT_FORMATS:
        _write(report, options, output, fixed)
    if fixed is not None:
        # After the list of what was fixed: on a terminal, a note before it is read as a heading.
        warn_of_risk(fixed, output)
    _write_notes(report, options, output)
    unread = sum(each.count for each in report.diagnostics if each.code == core_codes.NOT_READ)
    # The settings of equipage itself are checked on the way; alone they are nothing to check.
    is_nothing = all(each.kind == SETTINGS for each in report.files) and not report.errors
    if unread:
        those = "1 file of an agent tool" if unread == 1 else f"{unread:,} files of agent tools"
        nothing = "nothing was checked; " if is_nothing else ""
        output.note(f"equipage: {nothing}known, but not read: {those}")
    elif is_nothing:
        output.note(NOTHING_FOUND)
    return code


#: The formats that are for people; other formats are documents of their own.
_TEXT_FORMATS = ("full", "concise")


def _refuse_contradictions(options: argparse.Namespace) -> None:
    """Raise `UsageError` for options that cannot be meant together, before anything is done."""
    if options.write_baseline and (
        options.select or options.ignore or options.no_baseline or options.isolated
    ):
        raise UsageError(
            "--write-baseline records every finding; it cannot be combined with --select, "
            "--ignore, --isolated or --no-baseline"
        )
    is_text = options.stdin_filename is not None
    if options.fix and is_text and options.output_format not in _TEXT_FORMATS:
        raise UsageError(
            "--fix of standard input prints the fixed text, and findings as text to standard "
            "error; it cannot be combined with another output format"
        )
    if options.watch and (
        options.output_format != "full"
        or options.fix
        or options.diff
        or options.statistics
        or options.write_baseline
        or options.output
        or is_text
    ):
        raise UsageError(
            "--watch prints findings as text; it cannot be combined with another output format, "
            "--fix, --diff, --statistics, --write-baseline, --output or standard input"
        )


def _check(
    options: argparse.Namespace,
    files: CheckInput,
    output: Output,
    request: Request,
    selection: Selection,
    text: bytes | None = None,
) -> tuple[Workspace, Report]:
    """Check as the command line asks, or with a newer text; `--fix` does so more than once."""
    if files.text is not None:
        request = files.overlay(request, files.text if text is None else text)
    progress = _progress_on_terminal(output)
    workspace = Workspace(
        files.paths,
        request,
        kind=options.kind,
        selection=selection,
        progress=progress,
        jobs=options.jobs,
        digests=options.output_format == "json",  # no other format shows them
    )
    try:
        return workspace, workspace.report()
    finally:
        if progress is not None:
            progress.clear()


def _progress_on_terminal(output: Output) -> Progress | None:
    """A bar for people who watch; None without a terminal."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    return Progress("checking", output.width) if is_terminal else None


class Progress:
    """A progress bar on standard error, which is a terminal; `clear` removes it."""

    def __init__(self, what: str, width: int) -> None:
        self.what = what
        self.width = width
        self._next = time.monotonic() + PROGRESS_DELAY
        self._drawn = False

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _REDRAW_SECONDS
        self._drawn = True
        filled = _BAR_WIDTH * done // max(1, total)
        bar = "#" * filled + "-" * (_BAR_WIDTH - filled)
        line = f"{self.what} [{bar}] {done}/{total}"[: self.width - 1]
        # Back to the start of the line; erase what is left of a longer one.
        write_to_stderr(f"\r{line}\x1b[K")

    def clear(self) -> None:
        if self._drawn:
            write_to_stderr("\r\x1b[K")


def _has_rules(kind: str | None) -> bool:
    """Whether files of a kind may have findings with codes that only its rules know."""
    return kind is not None and bool(format_named(kind).rules)


def _parse_codes(written: list[str], *, has_rules: bool) -> frozenset[str]:
    """The codes of a repeatable, comma-separated option. Raises `UsageError`."""
    codes = [code.strip() for each in written for code in each.split(",") if code.strip()]
    known = codes_for(codes) if codes else {}
    for code in codes:
        if code not in known and not (has_rules and nearest(code, known) is None):
            raise unknown_code_error(code, known)
    return frozenset(codes)


def _exit_code(report: Report, options: argparse.Namespace, *, failed: bool) -> int:
    if any(each.code == core_codes.INTERNAL_ERROR for each in report.diagnostics):
        return BUG
    if options.exit_zero:
        return OK
    warnings = len(report.warnings)
    most = 0 if options.strict else options.max_warnings
    too_many = most is not None and warnings > most
    return FOUND if failed or report.errors or too_many else OK


def _find_baseline(options: argparse.Namespace, workspace: Workspace) -> BaselineFile | None:
    """The baseline of the command line, else that of the project; None if there is none to use."""
    if options.no_baseline or (options.isolated and not options.baseline):
        return None
    first, system = next(iter(workspace.paths), "."), workspace.system
    folder = first if system.is_folder(first) else os.path.dirname(first) or "."
    project = project_of(os.path.join(folder, "file"), workspace.run)
    is_named = options.baseline or project.settings.baseline or options.write_baseline
    if not is_named and not system.exists(project.baseline):
        return None
    from equipage.record.baseline import read_baseline

    return read_baseline(project, options.baseline, system, is_new=options.write_baseline)


# The report in the format that was asked for.


def _add_code_links(report: Report, site: str | None) -> Report:
    """The report with a link for each code, if the pages of codes are published anywhere."""
    if site is None:
        return report
    linked = (
        msgspec.structs.replace(each, url=code_page_url(site, each.code))
        for each in report.diagnostics
    )
    return msgspec.structs.replace(report, diagnostics=tuple(linked))


def _write(
    report: Report, options: argparse.Namespace, output: Output, fixed: FixResult | None
) -> None:
    """Print the report. The modules of formats for programs are imported only here."""
    if options.output_format in _TEXT_FORMATS:
        _write_text(report, options, output, fixed)
        return
    if options.quiet:
        report = msgspec.structs.replace(report, diagnostics=report.errors)
    for piece in render_document(report, options.output_format, fixed):
        output.write_data(piece)
    if options.statistics:
        output.note(*statistics(report).splitlines())


def render_document(report: Report, name: str, fixed: FixResult | None = None) -> Iterable[str]:
    """The report as a document for programs."""
    if name == "json":
        from equipage.render import json

        return [json.render(report, fixed=None if fixed is None else len(fixed.findings))]
    if name == "sarif":
        from equipage.render import sarif

        return [sarif.render(report, codes_of(each.kind for each in report.files))]
    if name == "gitlab":
        from equipage.render import ci

        return [ci.render_gitlab(report, prefix=_path_in_checkout("CI_PROJECT_DIR"))]
    if name == "github":
        from equipage.render import ci

        return ci.render_github(report, prefix=_path_in_checkout("GITHUB_WORKSPACE"))
    # What needs nothing but the report is called as the table of formats says.
    row = REPORTS[name]
    module = import_module(f"equipage.render.{row.module}")
    render: Callable[[Report], Iterable[str]] = getattr(module, row.function)
    return render(report)


def _write_text(
    report: Report, options: argparse.Namespace, output: Output, fixed: FixResult | None
) -> None:
    style, quiet = output.style(), options.quiet
    if fixed is not None and fixed.text is not None:
        # The fixed text is the data of the command, and findings are notes about it.
        output.write_data(fixed.text)
        output.write_rendered_notes(text.render(report, output.style_of_notes(), quiet=quiet))
        return
    if fixed is not None:
        from equipage.cli.fix import describe_fixes

        for piece in describe_fixes(fixed.findings, style):
            output.write_data(piece)
    if options.statistics:
        output.write_data(statistics(report, quiet=quiet))
        output.write_data(text.summary(report, style, quiet=quiet))
        return
    limit = options.limit
    if limit is None:
        limit = _TERMINAL_LIMIT if output.is_terminal else 0
    concise = options.output_format == "concise"
    for piece in text.render(report, style, quiet=quiet, concise=concise, limit=limit):
        output.write_data(piece)


def _role(file: FileReport) -> str:
    """The role of a file in the check: its kind, a part of another file, or not checked."""
    if file.kind is None:
        return f"read by {file.used_by[0]}" if file.used_by else "not checked"
    return file.kind


def _write_notes(report: Report, options: argparse.Namespace, output: Output) -> None:
    """Say what the report itself does not: what was left out, and why the command fails."""
    if options.verbose:
        output.note(*(f"equipage: {each.path}: {_role(each)}" for each in report.files))
    if report.left_out:
        output.note(f"equipage: excluded, so not checked: {', '.join(report.left_out)}")
    warnings = len(report.warnings)
    if options.max_warnings is not None and warnings > options.max_warnings:
        most = options.max_warnings
        output.note(f"equipage: too many warnings: {warnings:,} (--max-warnings {most})")
    if options.quiet and options.strict and warnings and not report.errors:
        output.note(f"equipage: --strict fails on warnings that --quiet hides: {warnings}")
    for path in report.unusable_settings:
        output.note(f"equipage: {path} has errors, so its settings are not in effect")
    if report.hidden:
        files = ", ".join(map(visible, report.hidden))
        output.note(f"equipage: cannot be loaded, though every error is ignored: {files}")


def _path_in_checkout(variable: str) -> str:
    """The path from the checkout of a build, which a variable names, to the working directory."""
    here = os.path.realpath(os.getcwd())
    root = os.path.realpath(os.environ.get(variable) or here)
    inside = here.startswith(root.rstrip(os.sep) + os.sep)
    return os.path.relpath(here, root).replace(os.sep, "/") if inside else ""


def statistics(report: Report, *, quiet: bool = False) -> str:
    """How often each code was found, the most frequent first, and how many can be fixed."""
    shown = _findings_to_show(report.diagnostics, quiet=quiet)
    # By severity, too: kinds may disagree about a code.
    rows = Counter((each.severity, each.code) for each in shown)
    safe, unsafe = (
        Counter(
            (each.severity, each.code)
            for each in shown
            if each.fix is not None and each.fix.safe is wanted
        )
        for wanted in (True, False)
    )
    width = max((len(str(count)) for count in rows.values()), default=1)
    lines = []
    for row, count in sorted(rows.items(), key=lambda each: (-each[1], each[0])):
        notes = [f"{safe[row]} fixable"] if safe[row] else []
        notes += [f"{unsafe[row]} with --unsafe-fixes"] if unsafe[row] else []
        note = f" ({', '.join(notes)})" if notes else ""
        lines.append(f"{count:>{width}}  {row[0]:<7}  {row[1]}{note}\n")
    return "".join(lines)


def _findings_to_show(diagnostics: Sequence[Diagnostic], *, quiet: bool) -> list[Diagnostic]:
    return [each for each in diagnostics if not quiet or each.severity == "error"]


# `--watch` prints the report first, then what each change adds and takes away.


def _watch(
    options: argparse.Namespace,
    files: CheckInput,
    output: Output,
    request: Request,
    selection: Selection,
) -> int:
    """Check until interrupted."""
    from equipage.workspace.watch import watch_check

    progress = _progress_on_terminal(output)
    workspace = Workspace(
        files.paths,
        request,
        kind=options.kind,
        selection=selection,
        recording=True,
        progress=progress,
    )
    turns = watch_check(workspace)
    # Turn 0 is the whole report; it ends only with the process.
    for number, turn in enumerate(turns):
        if progress is not None:
            progress.clear()
        if number:
            pieces = _describe_turn(turn, output, quiet=options.quiet)
        else:
            pieces = text.render(turn.report, output.style(), quiet=options.quiet)
        for piece in pieces:
            output.write_data(piece)
        output.flush()
        if not number:
            output.note("equipage: watching; press Ctrl-C to stop")
    return OK


def _describe_turn(turn: WatchUpdate, output: Output, *, quiet: bool) -> Iterator[str]:
    """New findings in full, one line for each that is gone, and a summary."""
    style = output.style()
    new, gone = (_findings_to_show(each, quiet=quiet) for each in (turn.new, turn.gone))
    yield from (text.render_finding(each, style) + "\n" for each in new)
    yield from (f"{style.paint('help', 'gone')}: {each}\n" for each in gone)
    # No name: something around the checked files changed, such as a folder.
    names = ", ".join(map(visible, turn.changed[:_MAX_FILES_NAMED])) or "elsewhere"
    rest = len(turn.changed) - _MAX_FILES_NAMED
    more = f" and {rest} more" if rest > 0 else ""
    what = f"{len(new)} new, {len(gone)} gone" if new or gone else "nothing new"
    yield f"changed {names}{more}: {what}; {text.summary(turn.report, style, quiet=quiet)}"
