"""The commands and their arguments; `parser` reads them.

A command is a row of `COMMANDS` and a declaration in the module that the row names. These modules
are light: `equipage --help` imports little else, and a command only the module that declares it.
"""

from __future__ import annotations

from importlib import import_module

from equipage.cli.arguments.declare import COLOURS, REPORTS, declared
from equipage.cli.parser import Parser, Version, command_parsers

TYPE_CHECKING = False  # importing `typing` would cost a third of a start
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["COMMANDS", "REPORTS", "colour_in", "command_in", "help_of", "parser"]

#: The module of this package that declares each command, in the order of the help.
COMMANDS = {
    "check": "checking",
    "show": "looking",
    "explain": "looking",
    "list": "looking",
    "schema": "looking",
    "graph": "seeing",
    "reach": "seeing",
    "budget": "seeing",
    "report": "seeing",
    "diff": "looking",
    "lock": "locking",
    "verify": "locking",
    "pack": "shipping",
    "push": "shipping",
    "pull": "shipping",
    "serve": "serving",
    "run": "serving",
    "expect": "serving",
    "lsp": "editing",
    "new": "starting",
    "init": "starting",
    "kinds": "checking",
    "rule": "checking",
    "completion": "starting",
    "help": "starting",
}


def parser(wanted: str | None = None, *, colour: bool = False) -> Parser:
    """The parser of every command, or of the `wanted` one alone, which is faster to build.

    `colour` says whether its help has colours.
    """
    root = Parser(
        prog="equipage",
        colour=colour,
        description="Load, compose, check and freeze the configuration of AI agents.",
        epilog="Run `equipage help COMMAND` for the options and examples of a command. Exit codes: "
        "0 no errors, 1 errors found, 2 wrong usage or nothing to do, 3 a bug in equipage.",
    )
    root.add_argument(
        "-V",
        "--version",
        action=Version,
        nargs=0,
        help="print the version and the YAML parser in use",
    )
    root.add_argument(
        "--color", choices=COLOURS, default="auto", help="color the output (default: auto)"
    )
    commands = root.add_subparsers(
        dest="command", metavar="COMMAND", parser_class=Parser, prog="equipage"
    )
    for name in COMMANDS if wanted is None else (wanted,):
        import_module(f"{__name__}.{COMMANDS[name]}")
        declared[name](commands)
    for each in commands.choices.values():
        each.colour = colour
    return root


def command_in(arguments: Sequence[str]) -> str | None:
    """The command in the arguments; None if the first word is not a command."""
    words = iter(arguments)
    for word in words:
        if word == "--color":
            next(words, None)  # skip its value
        elif not word.startswith("-"):
            return word if word in COMMANDS else None
    return None


def colour_in(arguments: Sequence[str]) -> str:
    """The colour that the arguments ask for; the help is printed before they are parsed."""
    words = list(arguments)
    for number, word in enumerate(words):
        name, _, value = word.partition("=")
        if name == "--color":
            found = value or next(iter(words[number + 1 :]), "")
            return found if found in COLOURS else "auto"
    return "auto"


def help_of(command: str | None) -> str:
    """The help of a command, or that of the program."""
    return (command_parsers(parser(command))[command] if command else parser()).format_help()
