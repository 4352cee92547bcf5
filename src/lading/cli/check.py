"""`lading check`: the main job."""

from __future__ import annotations

import argparse
from collections import Counter

from lading.cli.main import BUG, FOUND, OK, USAGE
from lading.cli.output import Output
from lading.cli.progress import Progress
from lading.cli.request import request_of
from lading.diagnostics import UsageError
from lading.project import Selection
from lading.workspace import SETTINGS, Report, check_paths


def run(options: argparse.Namespace, output: Output) -> int:
    selection = Selection(_codes(options.select) or None, _codes(options.ignore))
    progress = Progress("checking", output.width)
    try:
        report = check_paths(
            options.paths, request_of(options), kind=options.kind, selection=selection, progress=progress
        )
    finally:
        progress.clear()
    if report.files or options.output_format != "text":
        _write(report, options, output)
    hidden = _hidden(report)
    if hidden:
        output.note(f"lading: errors that are not shown keep a configuration from existing: {', '.join(hidden)}")
    if all(each.kind == SETTINGS for each in report.files):
        output.note("lading: found nothing to check; name a file, or a kind with --kind")
        return FOUND if report.errors else USAGE
    return _exit_code(report, strict=options.strict)


def _write(report: Report, options: argparse.Namespace, output: Output) -> None:
    if options.output_format == "json":
        from lading.render import json

        output.data(json.render(report))
        if options.statistics:
            output.note(statistics(report, quiet=options.quiet).rstrip("\n"))
        return
    from lading.render import text

    if options.statistics:
        output.data(statistics(report, quiet=options.quiet))
        output.data(text.summary(report, output.style(), quiet=options.quiet))
        return
    for piece in text.render(report, output.style(), quiet=options.quiet):
        output.data(piece)


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
    from lading.kinds.registry import all_codes
    from lading.nearest import nearest

    known = all_codes()
    for code in codes:
        if code not in known:
            guess = nearest(code, known)
            hint = f"; did you mean `{guess}`?" if guess else "; `lading rule` lists them"
            raise UsageError(f"there is no code `{code}`{hint}")
    return frozenset(codes)


def _hidden(report: Report) -> list[str]:
    """The files that do not load although no error is reported for them: somebody ignores its code."""
    told = {each.name for each in report.errors} | {
        label.span.source.name for each in report.errors for label in each.related if label.span is not None
    }
    return [each.path for each in report.files if each.kind is not None and not each.ok and each.path not in told]


def _exit_code(report: Report, *, strict: bool) -> int:
    if any(each.code == "internal-error" for each in report.diagnostics):
        return BUG
    failed = report.errors or _hidden(report)
    return FOUND if failed or (strict and report.warnings) else OK
