"""`equipage budget`: what a workspace costs of each client's context."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from equipage.cli import FOUND, OK
from equipage.cli.arguments import (
    FORMATS,
    Parser,
    add_flag,
    add_format_option,
    add_loading_options,
    add_output_option,
    add_paths,
)
from equipage.cli.output import Output
from equipage.cli.request import NOTHING_FOUND, workspace_of
from equipage.clients.reading import reading_of
from equipage.core.diagnostics import UsageError
from equipage.core.text import visible
from equipage.effect.budget import Measure, budget_of
from equipage.render.text import Style, table

_HEAD = ("CLIENT", "FOLDER", "WHAT", "USED", "LIMIT", "SHARE", "BEYOND THE LIMIT")
#: How many parts of a measure are listed.
_MAX_PARTS_LISTED = 5


def declare(parser: Parser) -> None:
    parser.describe(
        "Measure the lists of skills and agents, their descriptions and the instructions below "
        "PATH against what each client reads. Exit codes: 0 everything fits, 1 a client leaves "
        "something out.",
        ("equipage budget", "every client that reads something here"),
        ("equipage budget --client codex --parts", "one client, and what takes up the room"),
        ("equipage budget --over", "only what a client cuts or leaves out"),
    )
    add_paths(parser)
    parser.add_argument(
        "--client", metavar="NAME", help="only this client, such as claude, codex or copilot"
    )
    add_flag(parser, "--over", "only what is over a limit")
    add_flag(parser, "--parts", "list what takes up the room, the largest first")
    add_loading_options(parser, layers=False)
    add_format_option(parser, FORMATS)
    add_output_option(parser)


def run(options: argparse.Namespace, output: Output) -> int:
    workspace = workspace_of(options)
    found = workspace.loads()
    measures = _select_measures(budget_of(found), options)
    if options.output_format == "json":
        output.write_json({"version": 1, "measures": [to_dict(each) for each in measures]})
    elif measures:
        output.write_data(table(_HEAD, [_columns(each) for each in measures], output.style()))
        shown = measures if options.parts else [each for each in measures if each.is_over]
        output.write_data("".join(f"{line}\n" for line in _details(shown, output.style())))
    if not found:
        output.note(NOTHING_FOUND)
    elif not measures:
        what = "is over a limit" if options.over else "takes up a client's context"
        output.note(f"equipage: nothing here {what}")
    broken = sum(each.outcome is not None and not reading_of(each.outcome).counts for each in found)
    if broken:
        files = "1 file with errors is" if broken == 1 else f"{broken} files with errors are"
        output.note(
            f"equipage: {files} not counted; run `equipage check {' '.join(options.paths)}`"
        )
    return FOUND if any(each.is_over for each in measures) else OK


def _select_measures(measures: Sequence[Measure], options: argparse.Namespace) -> list[Measure]:
    """The measures that the command line asks for. Raises `UsageError` for an unknown client."""
    clients = sorted({each.client for each in measures})
    wanted = None if options.client is None else options.client.lower()
    if wanted is not None and clients and not any(wanted in each.lower() for each in clients):
        raise UsageError(f"no client `{options.client}` reads anything here: {', '.join(clients)}")
    return [
        each
        for each in measures
        if (wanted is None or wanted in each.client.lower()) and (not options.over or each.is_over)
    ]


def _columns(each: Measure) -> tuple[str, ...]:
    unit = each.unit.removesuffix("s") if each.used == 1 else each.unit
    used, limit, share, beyond = f"{each.used:,} {unit}", "", "", ""
    if each.limit is not None and each.share is not None:
        limit, share = f"{each.limit.size:,}", f"{each.share:.0%}"
        beyond = each.limit.beyond if each.is_over else ""
    return each.client, each.folder, each.what, used, limit, share, beyond


def _details(measures: Sequence[Measure], style: Style) -> Iterator[str]:
    """What takes up the room, the largest first."""
    for each in measures:
        yield ""
        head = f"{each.client}, {each.what} in {visible(each.folder)}"
        yield style.paint("warning" if each.is_over else "bold", head)
        if each.limit is not None:
            yield f"  limit: {each.limit.size:,} {each.unit} ({_basis(each)})"
        for part in each.parts[:_MAX_PARTS_LISTED]:
            mark = "  over" if part.over else ""
            yield f"  {part.size:>7,}  {visible(part.name)}  {visible(part.file)}{mark}"
        if len(each.parts) > _MAX_PARTS_LISTED:
            rest = sum(part.size for part in each.parts[_MAX_PARTS_LISTED:])
            yield f"  {rest:>7,}  in {len(each.parts) - _MAX_PARTS_LISTED} more"


def _basis(each: Measure) -> str:
    assert each.limit is not None
    words = {
        "measured": f"measured with {each.limit.source}",
        "documented": f"documented by {each.limit.source}",
        "recommended": f"recommended by the {each.limit.source}",
        "settings": f"set in {visible(each.limit.source)}",
    }
    return words[each.limit.basis]


def to_dict(each: Measure) -> dict[str, Any]:
    """A measure as plain data, with what follows from it."""
    share = None if each.share is None else round(each.share, 4)
    return {
        **msgspec.to_builtins(each),
        "tokens": each.tokens,
        "share": share,
        "over": each.is_over,
    }
