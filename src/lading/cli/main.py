"""Arguments to calls, results to output and an exit code.

Exit 0 clean · 1 errors found · 2 wrong usage or nothing to do · 3 a bug in lading · 130 interrupted.
Findings are data and go to standard output; notes about the run go to standard error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from lading.cli.arguments import parser
from lading.cli.output import Output

OK, FOUND, USAGE, BUG, INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    try:
        return _run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output is gone. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK


def _run(arguments: Sequence[str]) -> int:
    options = parser().parse_args(arguments)
    if options.command is None:
        parser().print_help()
        return USAGE
    from importlib import import_module

    command = import_module(f"lading.cli.{options.command}")
    output = Output(colour=options.color)
    from lading.diagnostics import UsageError

    try:
        code = command.run(options, output)
    except UsageError as error:
        output.note(f"lading: {error}")
        return USAGE
    assert isinstance(code, int)
    return code
