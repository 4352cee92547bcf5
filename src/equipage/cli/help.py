"""`equipage help` and `completion`: what the arguments of the commands are, for people and shells.

`completion` gives the argument parser to shtab. No other command requires it, and without it the
command says how to install it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from equipage.cli import OK
from equipage.cli.arguments.parsing import build_parser, command_parsers
from equipage.cli.output import Output
from equipage.core.diagnostics import UsageError
from equipage.project.registry import all_codes, built_in_kinds

if TYPE_CHECKING:
    import argparse

_NO_SHTAB = "completion needs shtab: run `pip install 'shtab>=1.9.2'` where equipage is installed"
#: The placeholders of arguments that are paths; the shell itself completes those.
_PATH_METAVARS = frozenset({"FILE", "PATH", "DIR", "LOCK", "A", "B"})


def run_completion(options: argparse.Namespace, output: Output) -> int:
    """`equipage completion`: a script for a shell, made from the argument parser by shtab."""
    try:
        import shtab
    except ImportError:
        raise UsageError(_NO_SHTAB) from None
    # This parser parses nothing, so it can get choices that are only suggestions.
    root = build_parser()
    words = {"KIND": built_in_kinds(), "CODE": sorted(all_codes())}
    for command in command_parsers(root).values():
        for action in command._actions:
            if action.metavar in words:
                action.choices = words[str(action.metavar)]
            elif action.metavar in _PATH_METAVARS:
                # shtab reads this attribute, which argparse does not know.
                completes = shtab.DIR if action.metavar == "DIR" else shtab.FILE
                action.complete = completes  # type: ignore[attr-defined]
    output.write_data(shtab.complete(root, options.shell))
    return OK
