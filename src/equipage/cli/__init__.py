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
from typing import Any, NamedTuple

from equipage.cli.arguments import ProgramParser
from equipage.cli.output import Output, Unwritable, flush, silence, terminal_width, write_to_stderr
from equipage.cli.wings import KNOWN_COMMANDS, CommandUnavailable, find_command, require_command
from equipage.core import interrupts

# Exit codes.
OK, FOUND, USAGE, BUG, INTERRUPTED = 0, 1, 2, 3, interrupts.INTERRUPTED_EXIT_CODE


class Command(NamedTuple):
    """A command: the module of this room that has it, and what the help of the program says.

    The functions `declare` and `run` of the module add the arguments and do the work. A second
    command of a module has its own: `declare_explain` and `run_explain`.
    """

    module: str
    summary: str
    #: Whether it has something of its own to clean up: programs it started, private files. Then an
    #: interrupt is an exception; every other command ends at once.
    cleans_up: bool = False

    def import_function(self, verb: str, name: str) -> Any:
        """What declares or runs the command of this name."""
        module = import_module(f"equipage.cli.{self.module}")
        return getattr(module, verb if name == self.module else f"{verb}_{name}")


#: Every command of this package, in the order of the help; others bring more (`cli.wings`).
COMMANDS = {
    "check": Command("check", "check agent configuration"),
    "show": Command("show", "print a configuration after loading"),
    "explain": Command("show", "show where a value comes from"),
    "list": Command("list", "list agents, tools and servers"),
    "schema": Command("kinds", "write a JSON Schema for editors"),
    "reach": Command("reach", "show what agents may do, and why"),
    "budget": Command("budget", "measure what a workspace costs of a client's context"),
    "report": Command("report", "write a page to look at"),
    "diff": Command("diff", "compare the meaning of two configurations"),
    "lock": Command("lock", "record what a workspace is made of", cleans_up=True),
    "verify": Command("lock", "compare a workspace with its lock", cleans_up=True),
    "serve": Command("serve", "serve tools and skills, or run a test server", cleans_up=True),
    "lsp": Command("lsp", "the language server for editors and agents", cleans_up=True),
    "new": Command("init", "create a first file"),
    "init": Command("init", "set a project up"),
    "kinds": Command("kinds", "list what is read, and where it lives"),
    "rule": Command("rule", "explain a finding and how to fix it"),
    "completion": Command("help", "print a completion script for your shell"),
    "help": Command("help", "show the help of a command"),
}


def build_parser(*names: str) -> ProgramParser:
    """The parser of the commands of these names.

    Without a name it knows all commands, but not their arguments: it imports none of them.
    """
    declares: dict[str, tuple[str, Any]] = {}
    for name in names:
        if name in COMMANDS:
            own = COMMANDS[name]
            declares[name] = own.summary, own.import_function("declare", name)
        else:
            wing = require_command(name)
            declares[name] = wing.summary, wing.declare
    if not names:
        declares = {name: (each.summary, None) for name, each in COMMANDS.items()}
        declares |= {name: (each.summary, None) for name, each in KNOWN_COMMANDS.items()}
    parser = ProgramParser(width=terminal_width(80) - 2)
    for name, (summary, declare) in declares.items():
        parser.add_command(name, summary, declare)
    return parser


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
    try:
        options = _parse_options(arguments)
        return USAGE if options is None else _run_command(options)
    except CommandUnavailable as error:
        write_to_stderr(f"equipage: {error}\n")
        return USAGE


def _parse_options(arguments: Sequence[str]) -> Any:
    """The arguments as attributes; None if there is no command, and then the help is printed."""
    word = _first_word(arguments)
    names = [word] if word is not None and _is_command(word) else []
    options = build_parser(*names).read(arguments)
    if options.command is not None:
        return options
    # The parser above may know one command only.
    build_parser().print_help()
    return None


def _first_word(arguments: Sequence[str]) -> str | None:
    """The first argument that is not an option: the command, if there is one of this name."""
    words = iter(arguments)
    for word in words:
        if word == "--color":
            next(words, None)  # skip its value
        elif not word.startswith("-"):
            return word
    return None


def _is_command(word: str) -> bool:
    return word in COMMANDS or word in KNOWN_COMMANDS or find_command(word) is not None


def _run_command(options: Any) -> int:
    """Run the command that the options name."""
    command = COMMANDS.get(options.command)
    if command is not None:
        run = command.import_function("run", options.command)
    else:
        run = require_command(options.command).run
    output = Output(colour=options.color, path=getattr(options, "output", None))
    # Imported this late, because the help of the program needs none of it.
    from equipage.core.diagnostics import LoadError, UsageError

    if command is None or command.cleans_up:
        interrupts.restore_keyboard_interrupt()
    # Behind everything that is installed: a folder must not replace a module of ours.
    sys.path += getattr(options, "python_path", ())
    try:
        code = run(options, output)
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
    except (KeyboardInterrupt, Unwritable, CommandUnavailable):
        raise
    except Exception as error:
        return _report_failure(error, output)
    assert isinstance(code, int)
    return code


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
