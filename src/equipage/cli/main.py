"""Arguments to calls, results to output and an exit code.

Exit 0 clean · 1 errors found · 2 wrong usage or nothing to do · 3 a bug in equipage · 130 interrupted.
Findings are data and go to standard output; notes about the run go to standard error.
"""

from __future__ import annotations

import gc
import os
import sys

from equipage.cli.arguments import command_in, parser
from equipage.cli.output import Output, Unwritable, flush

TYPE_CHECKING = False  # `typing` itself is not imported: it costs a third of a start
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

OK, FOUND, USAGE, BUG, INTERRUPTED = 0, 1, 2, 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    thresholds = gc.get_threshold()
    gc.set_threshold(
        100_000
    )  # hardly anything here makes cycles; looking for them often costs a tenth of a run
    try:
        code = _run_or_exit(sys.argv[1:] if arguments is None else arguments)
        return _flushed(code)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _leave_quietly()
        return OK
    except Unwritable as error:
        return _unwritable(error)
    finally:
        gc.set_threshold(*thresholds)


def _flushed(code: int) -> int:
    """The exit code once everything is written. Here, and not when Python ends: there, a closed pipe could only be
    complained about."""
    try:
        flush(sys.stdout)
    except BrokenPipeError:
        _leave_quietly()
    return code


def _run_or_exit(arguments: Sequence[str]) -> int:
    """The exit code, also where argparse wants to leave by itself: for help, and for wrong usage."""
    try:
        return _run(arguments)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else OK


def _leave_quietly() -> None:
    """Whoever read our output is gone. Python would complain once more when it flushes at exit."""
    _silence(sys.stdout)
    _silence(sys.stderr)


def _unwritable(error: Unwritable) -> int:
    """The disk is full, for one. What was not written stays so: Python need not try again."""
    _silence(sys.stdout)
    if sys.stderr is not None:
        sys.stderr.write(f"equipage: cannot write the output: {error}\n")
    return USAGE


def _silence(stream: TextIO | None) -> None:
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _run(arguments: Sequence[str]) -> int:
    options = parser(command_in(arguments)).read(arguments)
    if options.command is None:
        parser().print_help()
        return USAGE
    from importlib import import_module

    _import_msgspec()
    command = import_module(f"equipage.cli.{options.command}")
    output = Output(colour=options.color)
    from equipage.core.diagnostics import LoadError, UsageError

    try:
        code = command.run(options, output)
    except UsageError as error:
        output.note(f"equipage: {error}")
        return USAGE
    except LoadError as error:
        output.findings(error.diagnostics)
        return FOUND
    except BrokenPipeError:
        _leave_quietly()
        return output.code
    except (KeyboardInterrupt, Unwritable):
        raise
    except Exception as error:
        return _failed(error, output)
    assert isinstance(code, int)
    return code


def _failed(error: Exception, output: Output) -> int:
    """The exit code of a run that ended by an exception. Where the working directory was removed, nearly every call may
    raise one, and none of them is a bug."""
    from equipage.core.diagnostics import UsageError
    from equipage.files import working_directory

    try:
        working_directory()
    except UsageError as gone:
        output.note(f"equipage: {gone}")
        return USAGE
    output.note(*_bug(error))
    return BUG


def _import_msgspec() -> None:
    """Import msgspec without `typing_extensions`: it takes from there, where that is installed, what `typing` has had
    since Python 3.11, and the import costs as much as two starts of Python."""
    if "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]  # the documented way to refuse an import
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]


def _bug(error: Exception) -> tuple[str, str]:
    """What to report. The words of the exception stay out: they may hold a value of the environment."""
    if os.environ.get("EQUIPAGE_TRACEBACK"):
        raise error
    from equipage.core.diagnostics import raised

    return (
        f"equipage: a bug in equipage: {raised(error)}",
        "Please report it, with what EQUIPAGE_TRACEBACK=1 adds; mind that it may show values of your environment.",
    )
