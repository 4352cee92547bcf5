"""The arguments of the command. Kept apart and light: `equipage --help` imports nothing else.

Whoever mistypes a command, a flag or a choice is told what was probably meant.
"""

from __future__ import annotations

import argparse
import sys

from equipage._version import __version__
from equipage.cli.output import terminal_width, write

TYPE_CHECKING = False  # `typing` itself is not imported: it costs a third of a start
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, NoReturn

    Commands = Any  # argparse's own name for it is private

FORMATS = ("text", "json")
REPORTS = (*FORMATS, "sarif", "github")
COLOURS = ("auto", "always", "never")
SHELLS = ("bash", "zsh", "fish")


class _Formatter(argparse.HelpFormatter):
    """The usual one, without the modules it would import to learn the width of a terminal."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=terminal_width(80) - 2)


class Parser(argparse.ArgumentParser):
    """An argument parser that guesses what was meant."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        # An abbreviation that works today is taken by another flag tomorrow.
        super().__init__(
            *args, **{"allow_abbrev": False, "formatter_class": _Formatter, **settings}
        )

    def error(self, message: str) -> NoReturn:
        from equipage.core.text import visible  # an argument may hold anything

        self.exit(2, f"{self.prog}: {visible(message)}\nsee: {self.prog} --help\n")

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Like `parse_args`, with a guess for every flag nobody knows."""
        options, unknown = self.parse_known_args(arguments)
        if unknown:
            command = command_parsers(self).get(getattr(options, "command", None) or "", self)
            flags = [flag for action in command._actions for flag in action.option_strings]
            names = [word.partition("=")[0] for word in unknown]
            command.error(
                f"unknown arguments: {' '.join(name + _guess(name, flags) for name in names)}"
            )
        return options

    def _print_message(self, message: str, file: Any = None) -> None:
        """Help goes where all data goes. Left alone, argparse would not tell that nobody could write it."""
        if file is None or file is not sys.stdout:
            super()._print_message(message, file)
            return
        write(file, message)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        is_command = isinstance(action, argparse._SubParsersAction)
        what = "command" if is_command else "choice"
        hint = _guess(str(value), known) or f" (there is: {', '.join(known)})"
        raise argparse.ArgumentError(
            None if is_command else action, f"there is no {what} {value!r}{hint}"
        )


def _guess(word: str, known: Iterable[str]) -> str:
    from equipage.core.text import nearest

    guess = nearest(word, known)
    return f"; did you mean {guess}?" if guess else ""


class _Version(argparse.Action):
    """Says which parser is at work, which needs an import that nothing else here does."""

    def __call__(self, parser: argparse.ArgumentParser, *_rest: Any) -> None:
        from equipage.syntax.yaml.parser import ENGINE

        parser._print_message(f"equipage {__version__} (YAML: {ENGINE})\n", sys.stdout)
        parser.exit(0)


def command_parsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parser of each command, in the order of the help."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def parser(wanted: str | None = None) -> Parser:
    """The arguments of every command, or of the `wanted` one alone."""
    root = Parser(
        prog="equipage",
        description="Load, compose, check and freeze the configuration of AI agents.",
        epilog="Exit codes: 0 clean, 1 errors found, 2 wrong usage or nothing to do, 3 a bug in equipage.",
    )
    root.add_argument(
        "--version", action=_Version, nargs=0, help="show the version and the YAML parser in use"
    )
    root.add_argument(
        "--color", choices=COLOURS, default="auto", help="colour the output (default: auto)"
    )
    commands = root.add_subparsers(
        dest="command", metavar="COMMAND", parser_class=Parser, prog="equipage"
    )
    for name, add in _commands().items():
        if wanted is None or name == wanted:
            add(commands)
    return root


def command_in(arguments: Sequence[str]) -> str | None:
    """The command that arguments are for, None if the first word is none."""
    words = iter(arguments)
    for word in words:
        if word == "--color":
            next(words, None)  # what follows is its value
        elif not word.startswith("-"):
            return word if word in _commands() else None
    return None


def _commands() -> dict[str, Callable[[Commands], None]]:
    """What adds the arguments of each command, in the order of the help."""
    functions = (
        _check,
        _show,
        _explain,
        _list,
        _schema,
        _graph,
        _diff,
        _lock,
        _verify,
        _new,
        _rule,
        _completion,
    )
    return {function.__name__.removeprefix("_"): function for function in functions}


# --------------------------------------------------------------------------------------------- the commands


def _check(commands: Commands) -> None:
    check = _command(
        commands, "check", "find and check everything", "Find and check everything below PATH."
    )
    check.add_argument(
        "paths", nargs="*", metavar="PATH", default=["."], help="files and folders (default: .)"
    )
    _loading(check)
    _format(check, REPORTS)
    fixing = check.add_mutually_exclusive_group()
    fixing.add_argument(
        "--fix", action="store_true", help="apply the fixes of findings, then report what is left"
    )
    fixing.add_argument(
        "--diff", action="store_true", help="show what --fix would change; exit 1 if anything"
    )
    check.add_argument(
        "--unsafe-fixes", action="store_true", help="also those fixes that may change the meaning"
    )
    check.add_argument(
        "--jobs",
        type=_count,
        default=0,
        metavar="N",
        help="check with N processes (default: as many as are worth it)",
    )
    check.add_argument("--quiet", action="store_true", help="show errors only")
    check.add_argument("--strict", action="store_true", help="fail on warnings, too")
    _codes(check, "--select", "report these codes only")
    _codes(check, "--ignore", "do not report these codes")
    check.add_argument(
        "--watch",
        action="store_true",
        help="go on checking whenever a file changes (equipage[watch])",
    )
    check.add_argument(
        "--statistics", action="store_true", help="count findings by code instead of showing them"
    )


def _count(written: str) -> int:
    if written == "auto":
        return 0
    if not written.isdecimal():
        raise argparse.ArgumentTypeError(f"{written!r} is not a number of processes")
    return int(written)


def _show(commands: Commands) -> None:
    show = _command(
        commands,
        "show",
        "the resolved configuration",
        "Show the configuration of FILE: composed, checked, complete.",
    )
    _file(show)
    show.add_argument(
        "path", nargs="?", metavar="PATH", help="show this part only, such as tools[0].tool.name"
    )
    _loading(show)
    _format(show, ("yaml", "json"))
    show.add_argument("--annotate", action="store_true", help="say where each value came from")
    _show_env(show)


def _explain(commands: Commands) -> None:
    explain = _command(
        commands,
        "explain",
        "the whole story of one value",
        "Tell who set the value at PATH, what it replaced, and through what it came.",
    )
    _file(explain)
    explain.add_argument("path", metavar="PATH", help="a value, such as tools[0].tool.name")
    _loading(explain)
    _format(explain, FORMATS)
    _show_env(explain)


def _list(commands: Commands) -> None:
    listing = _command(
        commands,
        "list",
        "what there is: agents, tools, servers",
        "List what the files below PATH offer, with its layer and what it is shadowed by.",
    )
    listing.add_argument(
        "paths", nargs="*", metavar="PATH", default=["."], help="files and folders (default: .)"
    )
    listing.add_argument(
        "--portable",
        action="store_true",
        help="which tools would read each agent as it is, and what stands in the way",
    )
    _loading(listing, layers=False)
    _format(listing, FORMATS)


def _schema(commands: Commands) -> None:
    schema = _command(
        commands,
        "schema",
        "JSON Schema for editors",
        "Write the JSON Schema of KIND, for editors and other tools.",
    )
    schema.add_argument("kind", metavar="KIND", help="a kind of configuration")
    _output(schema)


def _graph(commands: Commands) -> None:
    graph = _command(
        commands,
        "graph",
        "what includes what",
        "Draw which file brings which, from FILE or everything below it.",
    )
    graph.add_argument("paths", nargs="+", metavar="FILE", help="files and folders")
    _loading(graph, layers=False)
    _format(graph, ("mermaid", "dot", "svg"), alias=False)
    _output(graph)


def _diff(commands: Commands) -> None:
    diff = _command(
        commands,
        "diff",
        "semantic difference of two loads",
        "Compare what A and B mean: files, folders, or revisions (HEAD~1, main:server.yaml). What widens a "
        "permission comes first. Exit 0: the same, 1: different, 2: could not be compared.",
    )
    diff.add_argument("a", metavar="A", help="a file, a folder or a revision")
    diff.add_argument("b", metavar="B", help="what to compare it with")
    _loading(diff, layers=False)
    _format(diff, FORMATS)
    _show_env(diff)


def _lock(commands: Commands) -> None:
    lock = _command(
        commands,
        "lock",
        "write down what was loaded, for `verify`",
        "Write what was loaded: every source with its hash, every variable by name, and the digest "
        "of the resolved configuration.",
    )
    _file(lock)
    _loading(lock)
    _output(lock)


def _verify(commands: Commands) -> None:
    verify = _command(
        commands,
        "verify",
        "compare a configuration with its lock",
        "Say which sources changed since a lock was written. Exit 0: the configuration still means "
        "the same, 1: its digest changed.",
    )
    _file(verify)
    verify.add_argument("--lock", metavar="LOCK", required=True, help="the lock to compare with")
    _loading(verify)
    _output(verify)


def _new(commands: Commands) -> None:
    new = _command(
        commands, "new", "a good first file", "Write a commented first file that checks clean."
    )
    new.add_argument("kind", metavar="KIND", help="a kind of configuration")
    new.add_argument("name", metavar="NAME", help="what to call it")
    new.add_argument(
        "--stdout", action="store_true", help="write to standard output instead of a file"
    )


def _rule(commands: Commands) -> None:
    rule = _command(
        commands,
        "rule",
        "what a finding means and how to mend it",
        "Tell what CODE means and how to mend it; without CODE, list them all.",
    )
    rule.add_argument(
        "code", nargs="?", metavar="CODE", help="the code of a finding, such as unknown-field"
    )
    _format(rule, FORMATS)


def _completion(commands: Commands) -> None:
    completion = _command(
        commands,
        "completion",
        "completion for your shell",
        'Write a completion script; for bash: eval "$(equipage completion bash)".',
    )
    completion.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")


# ------------------------------------------------------------------------------------------- shared options


def _command(
    commands: Commands, name: str, summary: str, description: str
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=description
    )
    command.add_argument(
        "--color", choices=COLOURS, default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )
    return command


def _file(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", metavar="FILE", help="the file to load")


def _loading(command: argparse.ArgumentParser, *, layers: bool = True) -> None:
    """Options of every command that loads files; and of those that merge `layers`."""
    group = command.add_argument_group("how to load")
    group.add_argument(
        "--kind", metavar="KIND", help="take files for this kind instead of recognising it"
    )
    group.add_argument(
        "--root", metavar="DIR", action="append", default=[], help="allow references into DIR, too"
    )
    group.add_argument("--library", metavar="DIR", help="where $include paths start (server)")
    group.add_argument(
        "--embedded", action="store_true", help="no includes, no files, no environment (server)"
    )
    group.add_argument(
        "--include-root",
        metavar="DIR",
        action="append",
        help="a further folder for files (blueprint)",
    )
    group.add_argument(
        "--default-agent-kind",
        metavar="K",
        help="the kind of agents that do not say it (blueprint)",
    )
    group.add_argument(
        "--local", action="store_true", help="leave the user's own layer out (profiles, settings)"
    )
    if not layers:
        command.set_defaults(config=None)
        return
    group.add_argument(
        "--config",
        metavar="KEY=VALUE",
        action="append",
        help="a value over all layers (settings); repeatable",
    )


def _format(
    command: argparse.ArgumentParser, formats: Sequence[str], *, alias: bool = True
) -> None:
    command.add_argument(
        "--output-format",
        choices=formats,
        default=formats[0],
        help=f"how to write it (default: {formats[0]})",
    )
    if alias:
        command.add_argument(
            "--json",
            dest="output_format",
            action="store_const",
            const="json",
            help="the same as --output-format json",
        )


def _output(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "-o", "--output", metavar="FILE", help="write to FILE instead of standard output"
    )


def _show_env(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--show-env",
        action="store_true",
        help="show values from the environment, which are ${NAME} otherwise",
    )


def _codes(command: argparse.ArgumentParser, flag: str, summary: str) -> None:
    command.add_argument(
        flag,
        metavar="CODE",
        action="append",
        default=[],
        help=f"{summary}; repeatable, or with commas",
    )
