"""How commands declare their arguments: `command`, and the arguments that several share."""

from __future__ import annotations

import argparse

from equipage.cli.output import terminal_width

TYPE_CHECKING = False  # importing `typing` would cost a third of a start
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    # argparse keeps the names of these two types private.
    Commands = Any
    Container = Any

# argparse looks for translations of its words, which imports `locale` and searches folders. There
# are none, and the words of equipage are English.
setattr(argparse, "_", str)  # noqa: B010

# The first format of a command is its default.
FORMATS = ("text", "json")
#: The formats of a check, and what each is for; the page of the commands shows both.
REPORTS = {
    "full": "people: each finding with the line it is about, and its fix",
    "concise": "people and editors: one line for each finding",
    "json": "programs: one object with every file and finding",
    "jsonl": "scripts: one JSON object for each finding",
    "sarif": "code scanning",
    "github": "annotations of a GitHub workflow",
    "gitlab": "the Code Quality report of a GitLab merge request",
    "junit": "build servers that show test results",
    "markdown": "a comment on a pull request",
}
COLOURS = ("auto", "always", "never")
# shtab knows more shells; the tests run these.
SHELLS = ("bash", "zsh", "fish")

#: How the examples of a command begin; a text that begins so is printed as it is.
EXAMPLES = "examples:\n"

#: What adds each declared command and its arguments, by its name.
declared: dict[str, Callable[..., None]] = {}


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
        def add(commands: Commands, *, whole: bool = True) -> None:
            if not whole:
                # The help of the program shows this much, and an error about a wrong command.
                shown = commands._ChoicesPseudoAction(name, (), summary)
                commands._choices_actions.append(shown)
                commands._name_parser_map[name] = None
                return
            epilog = examples_of(examples) if examples else None
            command = commands.add_parser(
                name, help=summary, description=description, epilog=epilog
            )
            command.set_defaults(runs=runs or f"{name}:run")
            # `--color` is allowed before and after the command. SUPPRESS as the default keeps the
            # first one; SUPPRESS as the help shows the option once, in the help of the program.
            hidden = argparse.SUPPRESS
            command.add_argument("--color", choices=COLOURS, default=hidden, help=hidden)
            add_arguments(command)
            # All options in the usage line would fill half a screen; they are listed below it.
            words = (
                {"?": "[{}]", "*": "[{} ...]", "+": "{} [...]"}.get(str(each.nargs), "{}").format(
                    each.metavar
                )
                for each in command._actions
                if not each.option_strings
            )
            command.usage = " ".join((f"equipage {name} [options]", *words))

        declared[name] = add

    return declare


def examples_of(pairs: Sequence[tuple[str, str]]) -> str:
    """Command lines and what they do: in two columns, or one below the other if they are wide."""
    longest, room = max(len(line) for line, _ in pairs), terminal_width(80) - 2
    fits = all(longest + len(meaning) + 4 <= room for _, meaning in pairs)
    return EXAMPLES + "\n".join(
        f"  {line:<{longest}}  {meaning}" if fits else f"  {line}\n      {meaning}"
        for line, meaning in pairs
    )


def flag(command: Container, name: str, summary: str, *, short: str | None = None) -> None:
    names = (name,) if short is None else (short, name)
    command.add_argument(*names, action="store_true", help=summary)


def list_of(command: Container, name: str, value: str, summary: str) -> None:
    command.add_argument(name, metavar=value, action="append", default=[], help=summary)


def paths(command: Container) -> None:
    command.add_argument(
        "paths", nargs="*", metavar="PATH", default=["."], help="files and folders (default: .)"
    )


def file(command: Container) -> None:
    command.add_argument("file", metavar="FILE", help="the file to load")


def loading(command: argparse.ArgumentParser, *, layers: bool = True) -> None:
    """Options of commands that load files.

    Those of single kinds are in the help of commands about one file and of `check`, which merge
    `layers`, too. The others take them, but do not repeat them.
    """
    group = command.add_argument_group("loading")
    group.add_argument("--kind", metavar="KIND", help="treat files as KIND instead of detecting it")
    list_of(group, "--root", "DIR", "also allow references into DIR; repeatable")
    # A load of another kind ignores these.
    single = command.add_argument_group("options of single kinds") if layers else group
    _hideable(single, layers, "--library", "start $include paths at DIR (server)", metavar="DIR")
    summary = "read absolute paths outside the project (server)"
    _hideable(single, layers, "--allow-absolute", summary, action="store_true")
    summary = "allow no includes, files or environment variables (server)"
    _hideable(single, layers, "--embedded", summary, action="store_true")
    several: dict[str, Any] = {"action": "append", "default": []}
    summary = "also read files from DIR (blueprint); repeatable"
    _hideable(single, layers, "--include-root", summary, metavar="DIR", **several)
    summary = "the kind of agents that do not name one (blueprint)"
    _hideable(single, layers, "--default-agent-kind", summary, metavar="K")
    summary = "leave out your own user layer (profiles, settings)"
    _hideable(single, layers, "--local", summary, action="store_true")
    if layers:
        summary = "override a value of all layers (settings); repeatable"
        list_of(single, "--config", "KEY=VALUE", summary)
    else:
        command.set_defaults(config=[])  # `request_of` reads it for every command


def _hideable(group: Container, shown: bool, name: str, summary: str, **settings: Any) -> None:
    group.add_argument(name, help=summary if shown else argparse.SUPPRESS, **settings)


def formats(
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


def output(command: Container) -> None:
    command.add_argument(
        "-o", "--output", metavar="FILE", help="write to FILE instead of standard output"
    )


def show_env(command: Container) -> None:
    flag(command, "--show-env", "print the values of environment variables instead of ${NAME}")


def whole_number(written: str) -> int:
    # Python refuses to read very long numbers.
    if not (written.isascii() and written.isdecimal() and len(written) < 20):
        raise argparse.ArgumentTypeError(f"`{written}` is not a whole number")
    return int(written)
