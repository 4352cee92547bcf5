"""`lading check`: the main job."""

from __future__ import annotations

import argparse
import os

from lading.cli.main import FOUND, OK, USAGE
from lading.cli.output import Output
from lading.cli.request import request_of
from lading.workspace import Report, check_paths


def run(options: argparse.Namespace, output: Output) -> int:
    request = request_of(options)

    def check() -> Report:
        return check_paths(options.paths, request, kind=options.kind, jobs=options.jobs)

    fixed: int | None = None
    if options.fix:
        from lading.cli.fixing import fix_all

        report, fixed = fix_all(check, options.paths, output, unsafe=options.unsafe_fixes)
    else:
        report = check()
    if options.diff:
        from lading.cli.fixing import show_diff

        code = FOUND if show_diff(report, output, unsafe=options.unsafe_fixes) else OK
    else:
        _print(report, options, output, fixed)
        code = _exit_code(report, strict=options.strict)
    if not report.files and not report.errors:
        output.note("lading: found nothing to check; name a file, or a kind with --kind")
        return USAGE
    return code


def _print(report: Report, options: argparse.Namespace, output: Output, fixed: int | None) -> None:
    """The report in the format that was asked for; each is imported only then."""
    if options.output_format == "json":
        from lading.render import json

        output.data(json.render(report, fixed=fixed))
    elif options.output_format == "sarif":
        from lading.kinds.registry import codes_of
        from lading.render import sarif

        output.data(sarif.render(report, codes_of(each.kind for each in report.files)))
    elif options.output_format == "github":
        from lading.render import github

        for line in github.render(report, prefix=_inside_repository(), quiet=options.quiet):
            output.data(line)
    else:
        from lading.render import text

        style = text.Style(colour=output.colour, width=output.width)
        for piece in text.render(report, style, quiet=options.quiet, fixed=fixed):
            output.data(piece)


def _inside_repository() -> str:
    """The way from the checkout of a workflow to the working directory, empty outside of one."""
    checkout = os.environ.get("GITHUB_WORKSPACE", "")
    here = os.path.realpath(os.getcwd())
    root = os.path.realpath(checkout) if checkout else here
    inside = here.startswith(root.rstrip(os.sep) + os.sep)
    return os.path.relpath(here, root).replace(os.sep, "/") if inside else ""


def _exit_code(report: Report, *, strict: bool) -> int:
    if any(each.code == "internal-error" for each in report.diagnostics):
        return 3
    return FOUND if report.errors or (strict and report.warnings) else OK
