"""`equipage completion`: scripts for bash, zsh and fish, made from the argument parser itself."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator

import msgspec

from equipage.cli.arguments import command_parsers, parser
from equipage.cli.main import OK
from equipage.cli.output import Output
from equipage.loading.recognise import all_codes, names

#: What the shell completes by itself for arguments of that name.
_PATHS = frozenset({"FILE", "PATH", "DIR", "LOCK", "A", "B"})


class Argument(msgspec.Struct, frozen=True):
    """An option (with flags) or a positional argument of a command."""

    flags: tuple[str, ...]
    help: str
    takes_value: bool
    words: tuple[str, ...] = ()  #: what may be written
    is_path: bool = False
    repeats: bool = False


class Command(msgspec.Struct, frozen=True):
    name: str
    help: str
    options: tuple[Argument, ...]
    positionals: tuple[Argument, ...]


def run(options: argparse.Namespace, output: Output) -> int:
    root = parser()
    summaries = {name: _summary(root, name) for name in command_parsers(root)}
    commands = [
        _command(name, each, summaries[name]) for name, each in command_parsers(root).items()
    ]
    output.data("\n".join(WRITERS[options.shell](commands, _command("", root, ""))) + "\n")
    return OK


def _summary(root: argparse.ArgumentParser, name: str) -> str:
    for action in root._actions:
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                if choice.dest == name:
                    return choice.help or ""
    return ""


def _command(name: str, command: argparse.ArgumentParser, summary: str) -> Command:
    actions = [
        action for action in command._actions if not isinstance(action, argparse._SubParsersAction)
    ]
    options = tuple(_argument(action) for action in actions if action.option_strings)
    return Command(
        name,
        summary,
        options,
        tuple(_argument(action) for action in actions if not action.option_strings),
    )


def _argument(action: argparse.Action) -> Argument:
    name = action.metavar if isinstance(action.metavar, str) else ""
    words: tuple[str, ...] = tuple(map(str, action.choices)) if action.choices else ()
    if name == "KIND":
        words = names()
    elif name == "CODE":
        words = tuple(sorted(all_codes()))
    summary = "" if action.help in (None, argparse.SUPPRESS) else str(action.help)
    repeats = action.nargs in ("*", "+") or isinstance(action, argparse._AppendAction)
    return Argument(
        tuple(action.option_strings), summary, action.nargs != 0, words, name in _PATHS, repeats
    )


# --------------------------------------------------------------------------------------------------- bash


def _bash(commands: list[Command], root: Command) -> Iterator[str]:
    yield "# bash completion for equipage"
    yield "_equipage() {"
    yield '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" command="" each'
    yield '  for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do'
    yield f'    case "$each" in {"|".join(each.name for each in commands)}) command="$each"; break ;; esac'
    yield "  done"
    yield '  case "$command:$before" in'
    for command in (root, *commands):
        for option in command.options:
            patterns = "|".join(f"{command.name}:{flag}" for flag in option.flags)
            if option.takes_value and option.words:
                yield f"    {patterns}) COMPREPLY=($(compgen -W '{' '.join(option.words)}' -- \"$word\")); return ;;"
            elif option.takes_value:
                yield f'    {patterns}) COMPREPLY=($(compgen -f -- "$word")); return ;;'
    yield "  esac"
    yield '  case "$command" in'
    known = " ".join([*(each.name for each in commands), _flags(root)])
    yield f"    '') COMPREPLY=($(compgen -W '{known}' -- \"$word\")) ;;"
    for command in commands:
        words = " ".join(word for each in command.positionals for word in each.words)
        files = (
            ' $([[ "$word" == -* ]] || compgen -f -- "$word")'
            if any(e.is_path for e in command.positionals)
            else ""
        )
        yield (
            f"    {command.name}) COMPREPLY=($(compgen -W '{words}' -- \"$word\"){files} "
            f'$([[ "$word" == -* ]] && compgen -W \'{_flags(command)}\' -- "$word")) ;;'
        )
    yield "  esac"
    yield "}"
    yield "complete -o filenames -F _equipage equipage"


def _flags(command: Command) -> str:
    return " ".join(flag for option in command.options for flag in option.flags)


# ---------------------------------------------------------------------------------------------------- zsh


def _zsh(commands: list[Command], root: Command) -> Iterator[str]:
    yield "#compdef equipage"
    yield "_equipage() {"
    yield "  local -a commands"
    yield "  local line state"
    yield f"  commands=({' '.join(_quoted(f'{each.name}:{each.help}') for each in commands)})"
    yield f"  _arguments -C {' '.join(_zsh_option(each) for each in root.options)} '1: :->command' '*:: :->rest'"
    yield '  case "$state" in'
    yield "    command) _describe -t commands 'equipage command' commands ;;"
    yield "    rest)"
    yield '      case "$line[1]" in'
    for command in commands:
        parts = [*map(_zsh_option, command.options), *_zsh_positionals(command)]
        yield f"        {command.name}) _arguments {' '.join(parts)} ;;"
    yield "      esac ;;"
    yield "  esac"
    yield "}"
    yield 'if [ "$funcstack[1]" = "_equipage" ]; then _equipage "$@"; else compdef _equipage equipage; fi'


def _zsh_option(option: Argument) -> str:
    value = f":value:{_zsh_values(option)}" if option.takes_value else ""
    star = "*" if option.repeats else ""
    note = re.sub(r"[\[\]:]", " ", option.help)
    return " ".join(_quoted(f"{star}{flag}[{note}]{value}") for flag in option.flags)


def _zsh_positionals(command: Command) -> Iterator[str]:
    for number, each in enumerate(command.positionals, 1):
        yield _quoted(f"{'*' if each.repeats else number}::argument:{_zsh_values(each)}")


def _zsh_values(each: Argument) -> str:
    return f"({' '.join(each.words)})" if each.words else "_files" if each.is_path else " "


# --------------------------------------------------------------------------------------------------- fish


def _fish(commands: list[Command], root: Command) -> Iterator[str]:
    yield "# fish completion for equipage"
    yield "complete -c equipage -f"
    yield from _fish_options(root, "")
    for command in commands:
        yield f"complete -c equipage -n __fish_use_subcommand -a {command.name} -d {_quoted(command.help)}"
        condition = f"-n '__fish_seen_subcommand_from {command.name}' "
        yield from _fish_options(command, condition)
        for each in command.positionals:
            if each.words:
                yield f"complete -c equipage {condition}-a {_quoted(' '.join(each.words))}"
            elif each.is_path:
                yield f"complete -c equipage {condition}-F"


def _fish_options(command: Command, condition: str) -> Iterator[str]:
    for option in command.options:
        names_ = " ".join(
            f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags
        )
        value = (
            f" -x -a {_quoted(' '.join(option.words))}"
            if option.words
            else " -r"
            if option.takes_value
            else ""
        )
        yield f"complete -c equipage {condition}{names_}{value} -d {_quoted(option.help)}"


def _quoted(text: str) -> str:
    """A word for any of the three shells: none of them reads anything inside single quotes but their end."""
    return "'" + text.replace("\\", "").replace("'", "’") + "'"


WRITERS: dict[str, Callable[[list[Command], Command], Iterator[str]]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
