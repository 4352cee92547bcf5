"""What reads the arguments: the parser, and the options that several commands share.

argparse, with suggestions and examples: for a misspelt command, option or choice, the
parser suggests the nearest known one. argparse it is because a start with it costs 34 million
instructions; click costs 130 million and rich 176 million.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NoReturn

from equipage import __version__
from equipage.cli.output import write, write_to_stderr

# argparse keeps the name of this type private.
Container = Any

# The first format of a command is its default.
FORMATS = ("text", "json")
COLOURS = ("auto", "always", "never")

#: How the examples of a command begin; a text that begins so is printed as it is.
EXAMPLES = "examples:\n"


class Parser(argparse.ArgumentParser):
    """The parser of one command. Its errors suggest what was meant."""

    def __init__(self, *args: Any, width: int, **settings: Any) -> None:
        self.width = width
        #: Whether `options.unknown` gets the arguments that are not declared.
        self.keeps_unknown = False
        # argparse asks for a formatter with every argument.
        formatter = partial(_Formatter, width=width)
        # Without abbreviations: one that works today may be ambiguous in the next release.
        settings = {"allow_abbrev": False, "formatter_class": formatter, **settings}
        super().__init__(*args, **settings)

    def describe(self, description: str, *examples: tuple[str, str]) -> None:
        """Say what the command does; an example is a command line and what it does."""
        self.description = description
        self.epilog = _format_examples(examples, self.width) if examples else None

    def error(self, message: str) -> NoReturn:
        from equipage.core.text import visible  # the message may quote any argument

        self.exit(2, f"{self.prog}: {visible(message)}\nrun `{self.prog} --help` for help\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write help and errors as the rest does: what argparse does on a full disk varies."""
        if file is not None and file is sys.stdout:
            write(file, message)
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


class ProgramParser(Parser):
    """The parser of the program, which hands the arguments of a command to that of the command."""

    def __init__(self, *, width: int) -> None:
        super().__init__(
            prog="equipage",
            width=width,
            description="Load, compose, check and freeze the configuration of AI agents.",
            epilog="Run `equipage help COMMAND` for the options and examples of a command. "
            "Exit codes: 0 no errors, 1 errors found, 2 wrong usage or nothing to do, "
            "3 a bug in equipage.",
        )
        self.add_argument(
            "-V",
            "--version",
            action=Version,
            nargs=0,
            help="print the version and the YAML parser in use",
        )
        add_choice(self, "--color", COLOURS, "color the output (default: auto)")
        self._subparsers_action = self.add_subparsers(
            dest="command", metavar="COMMAND", parser_class=Parser, prog="equipage"
        )

    @property
    def commands(self) -> dict[str, Parser]:
        """The parser of each command, in the order of the help."""
        return self._subparsers_action.choices

    def add_command(
        self, name: str, summary: str, declare: Callable[[Parser], None] | None = None
    ) -> None:
        """Add a command; without `declare`, which adds its arguments, only its name is known."""
        command = self._subparsers_action.add_parser(name, help=summary, width=self.width)
        if declare is None:
            return
        # `--color` is allowed before and after the command. SUPPRESS as the default keeps the
        # first one; SUPPRESS as the help shows the option once, in the help of the program.
        hidden = argparse.SUPPRESS
        command.add_argument("--color", choices=COLOURS, default=hidden, help=hidden)
        declare(command)
        # All options in the usage line would fill half a screen; they are listed below it.
        words = (
            {"?": "[{}]", "*": "[{} ...]", "+": "{} [...]"}.get(str(each.nargs), "{}").format(
                each.metavar
            )
            for each in command._actions
            if not each.option_strings
        )
        command.usage = " ".join((f"equipage {name} [options]", *words))

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parse the arguments; the error for an unknown option suggests a known one."""
        # `parse_args` would report unknown arguments without a suggestion.
        options, unknown = self.parse_known_args(arguments)
        name = getattr(options, "command", None) or ""
        command = self.commands.get(name, self)
        if unknown and command is not self and not any(map(_is_option, unknown)):
            # argparse takes no second file or path after an option, unless asked to.
            own = arguments[list(arguments).index(name) + 1 :]
            again, unknown = command.parse_known_intermixed_args(own)
            vars(options).update(vars(again))
        if unknown and command.keeps_unknown:
            options.unknown = unknown
        elif unknown:
            flags = [flag for action in command._actions for flag in action.option_strings]
            # Without the value of an option: it may be long, or secret.
            names = [word.partition("=")[0] for word in unknown]
            command.error(
                "unknown arguments: "
                + ", ".join(f"`{name}`{_suggestion(name, flags)}" for name in names)
            )
        return options


class _Formatter(argparse.HelpFormatter):
    """The formatter of argparse; examples stay as they are written."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith(EXAMPLES) else super()._fill_text(text, width, indent)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """`-o, --output FILE`, without repeating the value for each spelling."""
        if not action.option_strings or action.nargs == 0:
            return super()._format_action_invocation(action)
        value = self._format_args(action, action.dest.upper())
        return f"{', '.join(action.option_strings)} {value}"


def _format_examples(pairs: Sequence[tuple[str, str]], room: int) -> str:
    """Command lines and what they do: in two columns, or one below the other if they are wide."""
    longest = max(len(line) for line, _ in pairs)
    fits = all(longest + len(meaning) + 4 <= room for _, meaning in pairs)
    return EXAMPLES + "\n".join(
        f"  {line:<{longest}}  {meaning}" if fits else f"  {line}\n      {meaning}"
        for line, meaning in pairs
    )


def _is_option(word: str) -> bool:
    return word.startswith("-") and word != "-"  # which is standard input, or output


def _suggestion(word: str, known: Iterable[str]) -> str:
    from equipage.core.text import nearest

    found = nearest(word, known)
    return f"; did you mean `{found}`?" if found else ""


class Version(argparse.Action):
    """Print the version and the YAML parser in use, which only this option has to import."""

    def __call__(self, parser: argparse.ArgumentParser, *_rest: Any) -> None:
        from equipage.syntax.yaml.events import ENGINE

        parser._print_message(f"equipage {__version__} (YAML: {ENGINE})\n", sys.stdout)
        parser.exit(0)


# Arguments that several commands share, and their values.


def add_flag(command: Container, name: str, summary: str, *, short: str | None = None) -> None:
    names = (name,) if short is None else (short, name)
    command.add_argument(*names, action="store_true", help=summary)


def add_choice(command: Container, name: str, choices: Sequence[str], summary: str) -> None:
    """An option that takes one of some words; the first one is the default."""
    command.add_argument(name, choices=choices, default=choices[0], help=summary)


def add_number(command: Container, name: str, summary: str, default: int | None = None) -> None:
    command.add_argument(name, type=whole_number, metavar="N", default=default, help=summary)


def add_list_option(command: Container, name: str, value: str, summary: str) -> None:
    command.add_argument(name, metavar=value, action="append", default=[], help=summary)


#: The paths of a command that names none; a person may name this folder, too.
HERE = ["."]


def add_paths(command: Container) -> None:
    command.add_argument(
        "paths", nargs="*", metavar="PATH", default=HERE, help="files and folders (default: .)"
    )


def add_file(command: Container) -> None:
    command.add_argument("file", metavar="FILE", help="the file to load")


_FLAG = {"action": "store_true"}
_SEVERAL_FOLDERS = {"metavar": "DIR", "action": "append", "default": []}
_Options = tuple[tuple[str, dict[str, Any], str], ...]
# A load of another kind ignores these.
_SERVER_OPTIONS: _Options = (
    ("--library", {"metavar": "DIR"}, "start $include paths at DIR (server)"),
    ("--allow-absolute", _FLAG, "read absolute paths outside the project (server)"),
    ("--embedded", _FLAG, "allow no includes, files or environment variables (server)"),
)
_OTHER_OPTIONS: _Options = (
    ("--include-root", _SEVERAL_FOLDERS, "also read files from DIR (blueprint); repeatable"),
    (
        "--default-agent-kind",
        {"metavar": "K"},
        "the kind of agents that do not name one (blueprint)",
    ),
    ("--local", _FLAG, "leave out your own user layer (profiles, settings)"),
)


def add_loading_options(command: Parser, *, layers: bool = True) -> None:
    """Options of commands that load files.

    Those of single kinds are in the help of commands about one file and of `check`, which merge
    `layers`, too. The others take them, but do not repeat them.
    """
    group = add_common_options(command)
    single = command.add_argument_group("options of single kinds") if layers else group
    for name, settings, summary in (*_SERVER_OPTIONS, *_OTHER_OPTIONS):
        single.add_argument(name, help=summary if layers else argparse.SUPPRESS, **settings)
    if layers:
        single.add_argument("--home", metavar="DIR", help="merge the settings of a user (layers)")
        single.add_argument("--managed", metavar="FILE", help="merge managed settings (layers)")
        summary = "override a value of all layers (settings); repeatable"
        add_list_option(single, "--config", "KEY=VALUE", summary)
    else:
        command.set_defaults(config=[])  # `request_of` reads it for every command


def add_common_options(command: Parser) -> Container:
    """Options of loading that every kind knows, in a group of their own."""
    group = command.add_argument_group("loading")
    group.add_argument(
        "--kind",
        metavar="KIND",
        help="treat files as KIND, or as the format module:NAME, instead of detecting it",
    )
    add_python_path(group)
    add_list_option(group, "--rules", "NAME", "also apply the rules of a package; repeatable")
    add_list_option(group, "--root", "DIR", "also allow references into DIR; repeatable")
    return group


def add_python_path(command: Container) -> None:
    summary = "look for the module of a format in DIR, too; repeatable"
    add_list_option(command, "--python-path", "DIR", summary)


def add_server_options(command: Parser, group: Container) -> None:
    """Those for a command that loads no other kind with options of its own."""
    for name, settings, summary in _SERVER_OPTIONS:
        group.add_argument(name, help=summary.removesuffix(" (server)"), **settings)
    command.set_defaults(include_root=[], default_agent_kind=None, local=False, config=[])


def add_format_option(command: Container, names: Sequence[str], *, note: str = "") -> None:
    command.add_argument(
        "-f",
        "--output-format",
        choices=names,
        metavar="FORMAT",
        type=lambda name: "full" if name == "text" and "full" in names else name,
        default=names[0],
        help=f"{', '.join(names[:-1])} or {names[-1]} (default: {names[0]}){note}",
    )
    command.add_argument(
        "--json",
        dest="output_format",
        action="store_const",
        const="json",
        help="short for --output-format json",
    )


def add_output_option(command: Container) -> None:
    command.add_argument(
        "-o", "--output", metavar="FILE", help="write to FILE instead of standard output"
    )


def add_show_env(command: Container) -> None:
    add_flag(command, "--show-env", "print the values of environment variables instead of ${NAME}")


def whole_number(written: str) -> int:
    # Python refuses to read very long numbers.
    if not (written.isascii() and written.isdecimal() and len(written) < 20):
        refuse(f"`{written}` is not a whole number")
    return int(written)


def refuse(reason: str) -> NoReturn:
    """Refuse the value of an argument, in the way that argparse knows."""
    raise argparse.ArgumentTypeError(reason)
