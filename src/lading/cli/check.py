"""`lading check`: the main job."""

from __future__ import annotations

import argparse

from lading.cli.main import FOUND, OK, USAGE
from lading.cli.output import Output
from lading.cli.request import request_of
from lading.workspace import Report, check_paths


def run(options: argparse.Namespace, output: Output) -> int:
    report = check_paths(options.paths, request_of(options), kind=options.kind)
    if options.output_format == "json":
        from lading.render import json

        output.data(json.render(report))
    else:
        from lading.render import text

        style = text.Style(colour=output.colour, width=output.width)
        for piece in text.render(report, style, quiet=options.quiet):
            output.data(piece)
    if not report.files:
        output.note("lading: found nothing to check; name a file, or a kind with --kind")
        return USAGE
    return _exit_code(report, strict=options.strict)


def _exit_code(report: Report, *, strict: bool) -> int:
    if any(each.code == "internal-error" for each in report.diagnostics):
        return 3
    return FOUND if report.errors or (strict and report.warnings) else OK
