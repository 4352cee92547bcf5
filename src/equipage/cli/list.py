"""`equipage list`: the agents, tools and servers there are."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from typing import Any

from equipage.cli import FOUND, OK
from equipage.cli.arguments import (
    FORMATS,
    Parser,
    add_format_option,
    add_loading_options,
    add_output_option,
    add_paths,
)
from equipage.cli.output import Output
from equipage.cli.request import NOTHING_FOUND, kind_flags, workspace_of
from equipage.core.text import split_lines
from equipage.files import is_below
from equipage.render.text import table
from equipage.workspace.graph import Listed, list_all

_HEAD = ("KIND", "NAME", "FILE", "LOADED BY", "LAYER", "SHADOWED BY", "DESCRIPTION")
#: How many files with errors a note names; it counts the others.
_MAX_FILES_NAMED = 5


def declare(parser: Parser) -> None:
    parser.describe(
        "List the agents, tools and servers under PATH, with the program that loads each, its "
        "layer and what shadows it.",
        ("equipage list", "everything below this folder, and your own agents"),
        ("equipage list --json", "as data for other programs"),
    )
    add_paths(parser)
    add_loading_options(parser, layers=False)
    add_format_option(parser, FORMATS)
    add_output_option(parser)


def run(options: argparse.Namespace, output: Output) -> int:
    rows = list_all(workspace_of(options))
    if options.output_format == "json":
        output.write_json({"version": 1, "items": [_row_to_dict(row) for row in rows]})
    elif rows:
        output.write_data(table(_HEAD, [_columns(row) for row in rows], output.style()))
    if not rows:
        output.note(NOTHING_FOUND)
        return OK
    # A file has a row for each item, so its name comes up more than once.
    bad = list(dict.fromkeys(row.file for row in rows if row.errors))
    if bad:
        # Named one by one: some are in the user's layer, which a check of the project leaves out.
        names = " ".join(bad[:_MAX_FILES_NAMED])
        more = f" (and {len(bad) - _MAX_FILES_NAMED} more)" if len(bad) > _MAX_FILES_NAMED else ""
        what = "1 file has" if len(bad) == 1 else f"{len(bad)} files have"
        output.note(
            f"equipage: {what} errors; run `equipage check {names}{kind_flags(options)}`{more}"
        )
    return FOUND if any(row.errors and _is_asked_about(row, options.paths) for row in rows) else OK


def _is_asked_about(row: Listed, paths: Sequence[str]) -> bool:
    """Whether a file counts for the exit code: the user layer counts only below the paths."""
    file = os.path.abspath(row.file)
    return row.layer != "user" or any(is_below(file, os.path.abspath(path)) for path in paths)


def _columns(row: Listed) -> tuple[str, ...]:
    kind, layer, shadow = row.kind or "?", row.layer or "", row.shadowed_by or ""
    item = row.item
    if item is None:
        errors = "(1 error)" if row.errors == 1 else f"({row.errors} errors)"
        trouble = errors if row.errors else "(not read: a link out of the project)"
        return kind, "", row.file, "unknown" if row.unknown else "", layer, shadow, trouble
    # The line is worth showing only for an item inside a file, not for the file as a whole.
    place = f"{row.file}:{row.line}" if row.line is not None and item.path else row.file
    lines = (line.strip() for line in split_lines(item.description or ""))
    first = next((line for line in lines if line), "")
    # What is shadowed, no program gets to see.
    program = "" if shadow else "unknown" if row.unknown else row.program or ""
    return kind, item.name, place, program, layer, shadow, first


def _row_to_dict(row: Listed) -> dict[str, Any]:
    item = row.item
    return {
        "file": row.file,
        "line": row.line,
        "kind": row.kind,
        "program": row.program,
        "loaded": row.program is not None and row.shadowed_by is None,
        "unknown": row.unknown or None,
        "sort": item.sort if item is not None else None,
        "name": item.name if item is not None else None,
        "description": item.description if item is not None else None,
        "layer": row.layer,
        "shadowed_by": row.shadowed_by,
        "ok": not row.errors,
        "errors": row.errors,
        "warnings": row.warnings,
    }
