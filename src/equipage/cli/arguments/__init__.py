"""The commands, and what reads their arguments.

A command is a row of `COMMANDS` and a declaration in the module that the row names. These modules
are light: `equipage --help` imports little else, and a command only the module that declares it.
"""

from __future__ import annotations

from collections.abc import Sequence

from equipage.cli.arguments.declare import COLOURS, EXAMPLES

__all__ = ["COMMANDS", "EXAMPLES", "colour_in", "command_in"]

#: The module of this package that declares each command, in the order of the help.
COMMANDS = {
    "check": "checking",
    "show": "looking",
    "explain": "looking",
    "list": "looking",
    "schema": "looking",
    "reach": "seeing",
    "budget": "seeing",
    "report": "seeing",
    "diff": "looking",
    "lock": "locking",
    "verify": "locking",
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
