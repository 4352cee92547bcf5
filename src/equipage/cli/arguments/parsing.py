"""The parser of the arguments: argparse, with suggestions, examples and colours.

For a misspelt command, option or choice, the parser suggests the nearest known one. argparse it is
because a start with it costs 34 million instructions; click costs 130 million and rich 176 million.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, NoReturn

from equipage import __version__
from equipage.cli.arguments import COMMANDS
from equipage.cli.arguments.declare import COLOURS, EXAMPLES, Declaration, declarations
from equipage.cli.output import terminal_width, write, write_to_stderr


def build_parser(wanted: str | None = None, *, colour: bool = False) -> Parser:
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
        import_module(f"{__package__}.{COMMANDS[name]}")
        _add_command(commands, declarations[name])
    for each in commands.choices.values():
        each.colour = colour
    return root


def _add_command(commands: Any, declaration: Declaration) -> None:
    name = declaration.name
    command = commands.add_parser(
        name,
        help=declaration.summary,
        description=declaration.description,
        epilog=examples_of(declaration.examples) if declaration.examples else None,
    )
    declaration.declare(command)
    # All options in the usage line would fill half a screen; they are listed below it.
    words = (
        {"?": "[{}]", "*": "[{} ...]", "+": "{} [...]"}.get(str(each.nargs), "{}").format(
            each.metavar
        )
        for each in command._actions
        if not each.option_strings
    )
    command.usage = " ".join((f"equipage {name} [options]", *words))


def examples_of(pairs: Sequence[tuple[str, str]]) -> str:
    """Command lines and what they do: in two columns, or one below the other if they are wide."""
    longest, room = max(len(line) for line, _ in pairs), terminal_width(80) - 2
    fits = all(longest + len(meaning) + 4 <= room for _, meaning in pairs)
    return EXAMPLES + "\n".join(
        f"  {line:<{longest}}  {meaning}" if fits else f"  {line}\n      {meaning}"
        for line, meaning in pairs
    )


def help_of(command: str | None) -> str:
    """The help of a command, or that of the program."""
    return (
        command_parsers(build_parser(command))[command] if command else build_parser()
    ).format_help()


class _Formatter(argparse.HelpFormatter):
    """The formatter of argparse, as wide as the terminal; examples stay as they are written."""

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
            if command is not self and not any(map(_is_option, unknown)):
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
        """Write help and errors as the rest does: what argparse does on a full disk varies."""
        if file is not None and file is sys.stdout:
            write(file, colour_help(message) if self.colour else message)
        else:
            write_to_stderr(message)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        hint = _suggestion(str(value), known) or f"; choose from: {', '.join(known)}"
        if isinstance(action, argparse._SubParsersAction):
            # Without the action, argparse leaves out its prefix `argument COMMAND:`.
            raise argparse.ArgumentError(None, f"unknown command `{value}`{hint}")
        raise argparse.ArgumentError(action, f"`{value}` is not a valid choice{hint}")


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-"  # which is standard input, or output


def colour_help(text: str) -> str:
    """A help text with colours: headings, options and commands, and the lines of examples."""
    return "".join(map(_colour_line, text.splitlines(keepends=True)))


def _colour_line(line: str) -> str:
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
        from equipage.syntax.yaml.places import ENGINE

        parser._print_message(f"equipage {__version__} (YAML: {ENGINE})\n", sys.stdout)
        parser.exit(0)


def command_parsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command, in the order of the help."""
    # argparse has no public way to ask for them.
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}
