"""The command `equipage`: arguments to a call, its result to output and an exit code.

Only this room prints.

Exit 0 no errors · 1 errors found · 2 wrong usage or nothing to do · 3 a bug in equipage ·
130 interrupted. Findings are data and go to standard output; notes about the run go to standard
error.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from equipage.cli.arguments import colour_in, command_in
from equipage.cli.arguments.parsing import build_parser, colour_help, help_of
from equipage.cli.output import (
    Output,
    Unwritable,
    flush,
    silence,
    wants_colour,
    write,
    write_to_stderr,
)
from equipage.core import interrupts

# Exit codes.
OK, FOUND, USAGE, BUG, INTERRUPTED = 0, 1, 2, 3, interrupts.INTERRUPTED_EXIT_CODE
#: Modules of commands that have something of their own to clean up: programs they started, private
#: files. For these an interrupt is an exception; every other command ends at once.
_MODULES_WITH_CLEANUP = frozenset({"lock", "lsp", "run", "serve"})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    thresholds = gc.get_threshold()
    # Hardly anything here makes cycles; looking for them often costs a tenth of a run.
    gc.set_threshold(100_000)
    try:
        try:
            code = _run(sys.argv[1:] if arguments is None else arguments)
        except SystemExit as leaving:  # argparse exits by itself: after help, and on wrong usage
            code = leaving.code if isinstance(leaving.code, int) else OK
        try:
            # Flush now: when Python flushes at exit, it can only complain about a closed pipe.
            flush(sys.stdout)
            write_to_stderr("")
        except BrokenPipeError:
            _leave_quietly()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _leave_quietly()
        return OK
    except Unwritable as error:
        silence(sys.stdout)  # the disk is full, for example; Python must not try again
        try:
            write_to_stderr(f"equipage: cannot write the output: {error}\n")
        except BrokenPipeError:
            _leave_quietly()
        return USAGE
    finally:
        gc.set_threshold(*thresholds)


def _leave_quietly() -> None:
    """The reader of our output is gone; keep Python from reporting it when it flushes at exit."""
    silence(sys.stdout)
    silence(sys.stderr)


def _run(arguments: Sequence[str]) -> int:
    options = _parse_options(arguments)
    if options is None:
        return USAGE
    if options.command == "help":
        text = help_of(options.about)
        colour = wants_colour(options.color, sys.stdout)
        write(sys.stdout, colour_help(text) if colour else text)
        return OK
    return _run_command(options)


def _run_command(options: Any) -> int:
    """Run the command that the options name."""
    # Imported this late, because help and usage errors need none of it.
    module, _, function = options.runs.partition(":")
    command = getattr(import_module(f"equipage.cli.{module}"), function)
    output = Output(colour=options.color, path=getattr(options, "output", None))
    from equipage.core.diagnostics import LoadError, UsageError

    if module in _MODULES_WITH_CLEANUP:
        interrupts.restore_keyboard_interrupt()
    try:
        code = command(options, output)
        output.finish()
    except UsageError as error:
        output.note(f"equipage: {error}")
        return USAGE
    except LoadError as error:
        output.write_findings(error.diagnostics)
        return FOUND
    except BrokenPipeError:
        _leave_quietly()
        return output.code  # what was found counts, even if the reader has seen enough
    except (KeyboardInterrupt, Unwritable):
        raise
    except Exception as error:
        return _report_failure(error, output)
    assert isinstance(code, int)
    return code


def _parse_options(arguments: Sequence[str]) -> Any:
    """The arguments as attributes; None if there is no command, and then the help is printed."""
    wanted = command_in(arguments)
    colour = wants_colour(colour_in(arguments), sys.stdout)
    options = build_parser(wanted, colour=colour).read(arguments)
    if options.command is not None:
        return options
    # The parser above may know one command only.
    build_parser(colour=colour).print_help()
    return None


def _report_failure(error: Exception, output: Output) -> int:
    """The exit code of a run that an exception ended.

    It is not a bug if the working directory was removed: then nearly every call may raise.
    """
    from equipage.core.diagnostics import UsageError
    from equipage.core.text import describe_exception
    from equipage.files import working_directory

    try:
        working_directory()
    except UsageError as gone:
        output.note(f"equipage: {gone}")
        return USAGE
    if os.environ.get("EQUIPAGE_TRACEBACK"):
        raise error
    # The message of the exception may contain a value of the environment, so it is not shown.
    output.note(
        f"equipage: a bug in equipage: {describe_exception(error)}",
        "Please report it with the output of EQUIPAGE_TRACEBACK=1, "
        "which may contain values of your environment.",
    )
    return BUG
