"""`equipage check --watch`: the report first, then only what each change adds and takes away."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from equipage.cli.main import OK
from equipage.cli.output import Output
from equipage.cli.progress import Progress
from equipage.cli.request import request_of
from equipage.diagnostics import Diagnostic, UsageError
from equipage.project import Selection
from equipage.rechecking import Turn, watch_check
from equipage.render import text
from equipage.visible import visible

#: How many files a status line names before it only counts.
_NAMED = 3


def run_watch(options: argparse.Namespace, output: Output, selection: Selection) -> int:
    """Check until interrupted."""
    if options.output_format != "text" or options.fix or options.diff or options.statistics:
        raise UsageError("--watch writes findings as text; it goes with no other output, and with no --fix")
    progress = Progress("checking", output.width)
    turns = watch_check(options.paths, request_of(options), kind=options.kind, selection=selection, progress=progress)
    for number, turn in enumerate(turns):
        progress.clear()
        pieces = _change(turn, output, quiet=options.quiet) if number else _first(turn, output, quiet=options.quiet)
        for piece in pieces:
            output.data(piece)
        output.flush()
        if not number:
            output.note("equipage: watching; press Ctrl-C to stop")
    return OK


def _first(turn: Turn, output: Output, *, quiet: bool) -> Iterator[str]:
    return text.render(turn.report, output.style(), quiet=quiet)


def _change(turn: Turn, output: Output, *, quiet: bool) -> Iterator[str]:
    """New findings in full, those that are gone in a line each, and one line about it all."""
    style = output.style()
    new, gone = (_shown(each, quiet=quiet) for each in (turn.new, turn.gone))
    yield from (text.finding(each, style) + "\n" for each in new)
    yield from (f"{style.paint('help', 'gone')}: {each}\n" for each in gone)
    what = f"{len(new)} new, {len(gone)} gone" if new or gone else "nothing new"
    yield f"{_named(turn.changed)}: {what}; {text.summary(turn.report, style, quiet=quiet)}"


def _shown(diagnostics: tuple[Diagnostic, ...], *, quiet: bool) -> list[Diagnostic]:
    return [each for each in diagnostics if not quiet or each.severity == "error"]


def _named(changed: tuple[str, ...]) -> str:
    """The files that changed; where none of them is known, something around them did."""
    rest = len(changed) - _NAMED
    names = ", ".join(map(visible, changed[:_NAMED])) or "elsewhere"
    return f"changed {names}" + (f" and {rest} more" if rest > 0 else "")
