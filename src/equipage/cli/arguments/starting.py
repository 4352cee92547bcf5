"""Arguments of the commands that help people start."""

from __future__ import annotations

import argparse

from equipage.cli.arguments import COMMANDS
from equipage.cli.arguments.declare import SHELLS, add_flag, command


@command(
    "new",
    "create a first file",
    "Create a commented example of KIND that passes `equipage check`.",
    runs="init:run_new",
    examples=(
        ("equipage new claude-agent reviewer", "write .claude/agents/reviewer.md"),
        ("equipage new server shop --stdout", "print it instead"),
    ),
)
def _new(new: argparse.ArgumentParser) -> None:
    new.add_argument("kind", metavar="KIND", help="a kind of configuration")
    new.add_argument("name", metavar="NAME", help="the name of what it configures")
    add_flag(new, "--stdout", "write to standard output instead of a file")


@command(
    "init",
    "set a project up",
    "Write settings for equipage, for pre-commit, for CI and for your editor, to suit what is "
    "found below this folder. On a terminal it asks before it writes each file; elsewhere it "
    "writes those that do not exist. It never changes a file that exists.",
    examples=(
        ("equipage init", "set up the project in this folder"),
        ("equipage init --dry-run", "print what it would write"),
    ),
)
def _init(init: argparse.ArgumentParser) -> None:
    add_flag(init, "--dry-run", "print the files instead of writing them")
    add_flag(init, "--yes", "do not ask", short="-y")


@command(
    "completion",
    "print a completion script for your shell",
    "Print a completion script (needs shtab).",
    runs="help:run_completion",
    examples=(
        ('eval "$(equipage completion bash)"', "for bash, in ~/.bashrc"),
        ("equipage completion zsh > ~/.zfunc/_equipage", "for zsh"),
    ),
)
def _completion(completion: argparse.ArgumentParser) -> None:
    completion.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")


@command(
    "help",
    "show the help of a command",
    "Show the options and examples of COMMAND; without it, all commands.",
    examples=(("equipage help check", "the options of `check`"),),
)
def _help(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "about", nargs="?", choices=[*COMMANDS], metavar="COMMAND", help="a command"
    )
