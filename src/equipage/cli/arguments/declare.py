"""How commands declare their arguments: `command`, and the arguments that several share."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

# argparse keeps the name of this type private.
Container = Any

# The first format of a command is its default.
FORMATS = ("text", "json")
COLOURS = ("auto", "always", "never")
# shtab knows more shells; the tests run these.
SHELLS = ("bash", "zsh", "fish")

#: How the examples of a command begin; a text that begins so is printed as it is.
EXAMPLES = "examples:\n"

#: Each command that was declared, by its name.
declarations: dict[str, Declaration] = {}


class Declaration:
    """A command: what it is called and said to do, what runs it, and what adds its arguments."""

    __slots__ = ("_add_arguments", "_runs", "description", "examples", "name", "summary")

    def __init__(
        self,
        name: str,
        summary: str,
        description: str,
        runs: str,
        examples: Sequence[tuple[str, str]],
        add_arguments: Callable[[argparse.ArgumentParser], None],
    ) -> None:
        self.name, self.summary, self.description = name, summary, description
        self.examples = examples
        self._runs, self._add_arguments = runs, add_arguments

    def declare(self, command: argparse.ArgumentParser) -> None:
        """Add the arguments."""
        command.set_defaults(runs=self._runs)
        # `--color` is allowed before and after the command. SUPPRESS as the default keeps the
        # first one; SUPPRESS as the help shows the option once, in the help of the program.
        hidden = argparse.SUPPRESS
        command.add_argument("--color", choices=COLOURS, default=hidden, help=hidden)
        self._add_arguments(command)


def command(
    name: str,
    summary: str,
    description: str,
    *,
    runs: str | None = None,
    examples: Sequence[tuple[str, str]] = (),
) -> Callable[[Callable[[argparse.ArgumentParser], None]], None]:
    """Declare a command by the function that adds its arguments.

    `runs` names the module and the function that run it, `examples` are command lines and what
    each does.
    """

    def declare(add_arguments: Callable[[argparse.ArgumentParser], None]) -> None:
        declarations[name] = Declaration(
            name, summary, description, runs or f"{name}:run", examples, add_arguments
        )

    return declare


def add_flag(command: Container, name: str, summary: str, *, short: str | None = None) -> None:
    names = (name,) if short is None else (short, name)
    command.add_argument(*names, action="store_true", help=summary)


def add_list_option(command: Container, name: str, value: str, summary: str) -> None:
    command.add_argument(name, metavar=value, action="append", default=[], help=summary)


def add_paths(command: Container) -> None:
    command.add_argument(
        "paths", nargs="*", metavar="PATH", default=["."], help="files and folders (default: .)"
    )


def add_file(command: Container) -> None:
    command.add_argument("file", metavar="FILE", help="the file to load")


def add_loading_options(command: argparse.ArgumentParser, *, layers: bool = True) -> None:
    """Options of commands that load files.

    Those of single kinds are in the help of commands about one file and of `check`, which merge
    `layers`, too. The others take them, but do not repeat them.
    """
    group = command.add_argument_group("loading")
    group.add_argument("--kind", metavar="KIND", help="treat files as KIND instead of detecting it")
    add_list_option(group, "--root", "DIR", "also allow references into DIR; repeatable")
    # A load of another kind ignores these.
    single = command.add_argument_group("options of single kinds") if layers else group
    _add_hideable_option(
        single, layers, "--library", "start $include paths at DIR (server)", metavar="DIR"
    )
    summary = "read absolute paths outside the project (server)"
    _add_hideable_option(single, layers, "--allow-absolute", summary, action="store_true")
    summary = "allow no includes, files or environment variables (server)"
    _add_hideable_option(single, layers, "--embedded", summary, action="store_true")
    several: dict[str, Any] = {"action": "append", "default": []}
    summary = "also read files from DIR (blueprint); repeatable"
    _add_hideable_option(single, layers, "--include-root", summary, metavar="DIR", **several)
    summary = "the kind of agents that do not name one (blueprint)"
    _add_hideable_option(single, layers, "--default-agent-kind", summary, metavar="K")
    summary = "leave out your own user layer (profiles, settings)"
    _add_hideable_option(single, layers, "--local", summary, action="store_true")
    if layers:
        summary = "override a value of all layers (settings); repeatable"
        add_list_option(single, "--config", "KEY=VALUE", summary)
    else:
        command.set_defaults(config=[])  # `request_of` reads it for every command


def _add_hideable_option(
    group: Container, shown: bool, name: str, summary: str, **settings: Any
) -> None:
    group.add_argument(name, help=summary if shown else argparse.SUPPRESS, **settings)


def add_format_option(
    command: Container, names: Sequence[str], *, alias: bool = True, note: str = ""
) -> None:
    command.add_argument(
        "-f",
        "--output-format",
        choices=names,
        metavar="FORMAT",
        type=lambda name: "full" if name == "text" and "full" in names else name,
        default=names[0],
        help=f"{', '.join(names[:-1])} or {names[-1]} (default: {names[0]}){note}",
    )
    if alias:
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
