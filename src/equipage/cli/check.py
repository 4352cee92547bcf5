"""`equipage check`: the main job."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable

from equipage.cli.main import BUG, FOUND, OK, USAGE
from equipage.cli.output import Output
from equipage.cli.progress import Progress
from equipage.cli.request import request_of
from equipage.diagnostics import UsageError
from equipage.project import Selection
from equipage.workspace import SETTINGS, Report, check_paths


def run(options: argparse.Namespace, output: Output) -> int:
    if options.watch:
        from equipage.cli.watching import run_watch

        return run_watch(options, output, selection_of(options))
    check = _checking(options, output)
    fixed: int | None = None
    if options.fix:
        from equipage.cli.fixing import fix_all

        report, fixed = fix_all(check, options.paths, output, unsafe=options.unsafe_fixes)
    else:
        report = check()
    output.code = _exit_code(report, strict=options.strict)
    if options.diff:
        from equipage.cli.fixing import show_diff

        code = FOUND if show_diff(report, output, unsafe=options.unsafe_fixes) else OK
    else:
        if report.files or report.diagnostics or options.output_format != "text":
            _write(report, options, output, fixed)
        code = output.code
        if options.quiet and options.strict and report.warnings and not report.errors:
            output.note(f"equipage: --strict fails on warnings that --quiet leaves out: {len(report.warnings)}")
    hidden = _hidden(report)
    if hidden:
        output.note(f"equipage: errors that are not shown keep a configuration from existing: {', '.join(hidden)}")
    if all(each.kind == SETTINGS for each in report.files) and not report.errors:
        output.note("equipage: found nothing to check; name a file, or a kind with --kind")
        return USAGE
    return code


def _checking(options: argparse.Namespace, output: Output) -> Callable[[], Report]:
    """A check as the command line asks for it, to be made once or more."""
    selection = selection_of(options)
    request = request_of(options)

    def check() -> Report:
        progress = Progress("checking", output.width)
        try:
            return check_paths(
                options.paths,
                request,
                kind=options.kind,
                selection=selection,
                progress=progress,
                jobs=options.jobs,
                digests=options.output_format == "json",
            )
        finally:
            progress.clear()

    return check


def selection_of(options: argparse.Namespace) -> Selection:
    """The codes the command line wants to see. Raises `UsageError`."""
    return Selection(_codes(options.select) or None, _codes(options.ignore))


def _write(report: Report, options: argparse.Namespace, output: Output, fixed: int | None) -> None:
    """The report in the format that was asked for; each is imported only then."""
    if options.output_format == "text":
        _write_text(report, options, output, fixed)
        return
    if options.quiet:
        report = Report(report.files, report.errors)
    if options.output_format == "json":
        from equipage.render import json

        output.data(json.render(report, fixed=fixed))
    elif options.output_format == "sarif":
        from equipage.kinds.registry import codes_of
        from equipage.render import sarif

        output.data(sarif.render(report, codes_of(each.kind for each in report.files)))
    else:
        from equipage.render import github

        for line in github.render(report, prefix=_inside_repository()):
            output.data(line)
    if options.statistics:
        output.note(*statistics(report).splitlines())


def _write_text(report: Report, options: argparse.Namespace, output: Output, fixed: int | None) -> None:
    from equipage.render import text

    if options.statistics:
        output.data(statistics(report, quiet=options.quiet))
        output.data(text.summary(report, output.style(), quiet=options.quiet))
        return
    for piece in text.render(report, output.style(), quiet=options.quiet, fixed=fixed):
        output.data(piece)


def _inside_repository() -> str:
    """The way from the checkout of a workflow to the working directory, empty outside of one."""
    checkout = os.environ.get("GITHUB_WORKSPACE", "")
    here = os.path.realpath(os.getcwd())
    root = os.path.realpath(checkout) if checkout else here
    inside = here.startswith(root.rstrip(os.sep) + os.sep)
    return os.path.relpath(here, root).replace(os.sep, "/") if inside else ""


def statistics(report: Report, *, quiet: bool = False) -> str:
    """How often each code was found, the most frequent first."""
    found = Counter((each.severity, each.code) for each in report.diagnostics if not quiet or each.severity == "error")
    fixable = Counter(each.code for each in report.diagnostics if each.fix is not None)
    rows = sorted(found.items(), key=lambda row: (-row[1], row[0]))
    width = len(str(rows[0][1])) if rows else 1
    return "".join(
        f"{count:>{width}}  {severity:<7}  {code}{f' ({fixable[code]} with a fix)' if fixable[code] else ''}\n"
        for (severity, code), count in rows
    )


def _codes(given: list[str]) -> frozenset[str]:
    """The codes of a repeatable, comma-separated option. Raises `UsageError`."""
    codes = [code.strip() for each in given for code in each.split(",") if code.strip()]
    if not codes:
        return frozenset()
    from equipage.kinds.registry import codes_for
    from equipage.nearest import nearest

    known = codes_for(codes)
    for code in codes:
        if code not in known:
            guess = nearest(code, known)
            hint = f"; did you mean `{guess}`?" if guess else "; `equipage rule` lists them"
            raise UsageError(f"there is no code `{code}`{hint}")
    return frozenset(codes)


def _hidden(report: Report) -> list[str]:
    """The files that do not load although no error is reported for them: somebody ignores its code."""
    told = {each.name for each in report.errors} | {
        label.span.source.name for each in report.errors for label in each.related if label.span is not None
    }
    silent = [each.path for each in report.files if each.kind is not None and not each.ok and each.path not in told]
    # What is wrong with a file that has several names is told under one of them.
    files = {os.path.realpath(name) for name in told if name} if silent else set()
    return [path for path in silent if os.path.realpath(path) not in files]


def _exit_code(report: Report, *, strict: bool) -> int:
    if any(each.code == "internal-error" for each in report.diagnostics):
        return BUG
    failed = report.errors or _hidden(report)
    return FOUND if failed or (strict and report.warnings) else OK
