"""`equipage report`: a workspace as one page to look at."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from equipage.cli import FOUND, OK
from equipage.cli.arguments import Parser, add_loading_options, add_paths
from equipage.cli.output import Output
from equipage.cli.request import NOTHING_FOUND, paths_of, request_of
from equipage.core.diagnostics import UsageError
from equipage.files import display_name
from equipage.files.writing import NotWritten, write_or_replace
from equipage.render.page import render, survey_workspace

if TYPE_CHECKING:
    import argparse


def declare(parser: Parser) -> None:
    parser.describe(
        "Write one HTML page about the files below PATH: findings, what agents may do and why, "
        "what uses what, where each value comes from, what it costs of each client's context. The "
        "page needs no network and holds no secrets. Exit codes: 0 no errors, 1 errors found.",
        ("equipage report --html report.html", "everything below this folder"),
        ("equipage report agents --html agents.html", "one folder"),
    )
    add_paths(parser)
    parser.add_argument("--html", metavar="FILE", required=True, help="the page to write")
    add_loading_options(parser, layers=False)


def run(options: argparse.Namespace, output: Output) -> int:
    found = survey_workspace(paths_of(options), request_of(options), kind=options.kind)
    page = render(found, _title(options.paths), base=_base(options.paths))
    data = page.encode("utf-8", "backslashreplace")
    try:
        write_or_replace(options.html, data)
    except NotWritten as error:
        raise UsageError(f"cannot write {options.html}: {error}") from None
    if not found.report.files:
        output.note(NOTHING_FOUND)
    size = f" ({len(data) / 1_000_000:.1f} MB)" if len(data) >= 1_000_000 else ""
    output.note(f"equipage: wrote {options.html}{size}; open it in a browser")
    return FOUND if found.report.errors else OK


def _title(paths: list[str]) -> str:
    """The folder that the page is about, by its name."""
    first = os.path.basename(os.path.abspath(paths[0])) or "/"
    return first if len(paths) == 1 else f"{first} and {len(paths) - 1} more"


def _base(paths: list[str]) -> str:
    """The folder to shorten names by, so that the page does not tell where it is on the disk."""
    first = display_name(os.path.join(paths[0], "file"), os.getcwd())
    is_alone = len(paths) == 1 and os.path.isdir(paths[0]) and os.path.isabs(first)
    return os.path.dirname(first) if is_alone else ""
