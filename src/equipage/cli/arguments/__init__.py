"""The commands, and the parser that reads them: argparse, with suggestions, examples and colours.

A command is a row of `COMMANDS` and a declaration in the module that the row names. These modules
are light: `equipage --help` imports little else, and a command only the module that declares it.
argparse it is because a start with it costs 34 million instructions; click costs 130 million and
rich 176 million.

For a misspelt command, option or choice, the parser suggests the nearest known one.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from equipage import __version__
from equipage.cli.arguments.declare import COLOURS, EXAMPLES, REPORTS, declared
from equipage.cli.output import terminal_width, write

TYPE_CHECKING = False  # importing `typing` would cost a third of a start
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, NoReturn

__all__ = [
    "COMMANDS", "EXAMPLES", "REPORTS", "colour_in", "coloured", "command_in", "command_parsers",
    "help_of", "parser",
]  # fmt: skip

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


def parser(
    wanted: str | None = None, *, colour: bool = False, commands_whole: bool = True
) -> Parser:
    """The parser of every command, or of the `wanted` one alone, which is faster to build.

    `colour` says whether its help has colours. Unless they are `commands_whole`, commands have
    names and summaries, and no arguments: enough for help and for arguments without a command.
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
        declared[name](commands, whole=commands_whole)
    for each in commands.choices.values() if commands_whole else ():
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
    return (
        command_parsers(parser(command))[command] if command else parser(commands_whole=False)
    ).format_help()


# ------------------------------------------------------------------------------------ the parser


class _Formatter(argparse.HelpFormatter):
    """The formatter of argparse, without the imports it needs to measure the terminal."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=terminal_width(80) - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(EXAMPLES) else super()._fill_text(text, width, indent)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """`-o, --output FILE`, without repeating the value for each spelling."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, action.dest.upper())
        return f"{', '.join(action.option_strings)} {value}"


class Parser(argparse.ArgumentParser):
    """An argument parser that suggests what was meant."""

    def __init__(self, *args: Any, colour: bool = False, **settings: Any) -> None:
        self.colour = colour
        # Without abbreviations: one that works today may be ambiguous in the next release.
        settings = {"allow_abbrev": False, "formatter_class": _Formatter, **settings}
        super().__init__(*args, **settings)

    def error(self, message: str) -> NoReturn:
        from equipage.core.text import visible  # the message may quote any argument

        self.exit(2, f"{self.prog}: {visible(message)}\nrun `{self.prog} --help` for help\n")

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse the arguments; the error for an unknown option suggests a known one."""
        # `parse_args` would report unknown arguments without a suggestion.
        options, unknown = self.parse_known_args(arguments)
        if unknown:
            name = getattr(options, "command", None) or ""
            command = command_parsers(self).get(name, self)
            if command is not self and not any(word.startswith("-") for word in unknown):
                # argparse takes no second file or path after an option, unless asked to.
                own = arguments[list(arguments).index(name) + 1 :]
                again, unknown = command.parse_known_intermixed_args(own)
                vars(options).update(vars(again))
        if unknown:
            flags = [flag for action in command._actions for flag in action.option_strings]
            # Without the value of an option: it may be long, or secret.
            names = [word.partition("=")[0] for word in unknown]
            command.error(
                "unknown arguments: "
                + ", ".join(f"`{name}`{_suggestion(name, flags)}" for name in names)
            )
        return options

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help like all other data, so that a full disk is reported; argparse ignores it."""
        if file is not None and file is sys.stdout:
            write(file, coloured(message) if self.colour else message)
        else:
            super()._print_message(message, file)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        hint = _suggestion(str(value), known) or f"; choose from: {', '.join(known)}"
        if isinstance(action, argparse._SubParsersAction):
            # Without the action, argparse leaves out its prefix `argument COMMAND:`.
            raise argparse.ArgumentError(None, f"unknown command `{value}`{hint}")
        raise argparse.ArgumentError(action, f"`{value}` is not a valid choice{hint}")


def coloured(text: str) -> str:
    """A help text with colours: headings, options and commands, and the lines of examples."""
    return "".join(map(_coloured, text.splitlines(keepends=True)))


def _coloured(line: str) -> str:
    if line.startswith("usage: "):
        return f"\x1b[1musage:\x1b[0m {line.removeprefix('usage: ')}"
    if line[0] not in " \n" and line.rstrip("\n").endswith(":"):
        return f"\x1b[1m{line.rstrip(chr(10))}\x1b[0m\n"
    # An option, an argument or a command begins its line; what it means is two spaces away.
    indent = len(line) - len(line.lstrip(" "))
    if indent not in (2, 4):
        return line
    name, gap, meaning = line[indent:].rstrip("\n").partition("  ")
    return f"{line[:indent]}\x1b[36m{name}\x1b[0m{gap}{meaning}\n"


def _suggestion(word: str, known: Iterable[str]) -> str:
    from equipage.core.text import nearest

    found = nearest(word, known)
    return f"; did you mean `{found}`?" if found else ""


class Version(argparse.Action):
    """Print the version and the YAML parser in use, which only this option has to import."""

    def __call__(self, parser: argparse.ArgumentParser, *_rest: Any) -> None:
        from equipage.syntax.yaml.parser import ENGINE

        parser._print_message(f"equipage {__version__} (YAML: {ENGINE})\n", sys.stdout)
        parser.exit(0)


def command_parsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command, in the order of the help."""
    # argparse has no public way to ask for them.
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}
