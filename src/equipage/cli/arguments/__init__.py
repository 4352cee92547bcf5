"""The commands, and what reads their arguments.

A command is a row of `COMMANDS` and a declaration in the module that the row names. These modules
are light: `equipage --help` imports little else, and a command only the module that declares it.

Usual arguments are read here, because the import of argparse and its parsers cost a tenth of a
start; all others by the parser in `parsing`. `read` knows the plain forms: options by their whole
names, each value in the next word or after `=`, and other words anywhere between them. For
everything else (help, a mistake, joined letters, `--`) it returns None, and argparse reads the
arguments instead and says what there is to say. So no word that people see comes from here, and a
declaration that uses more of argparse than `_Arguments` knows is only read more slowly. A test
compares both on each command.
"""

from __future__ import annotations

from importlib import import_module

from equipage.cli.arguments.declare import COLOURS, EXAMPLES, SUPPRESS, declared

TYPE_CHECKING = False  # importing `typing` would cost a third of a start
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["COMMANDS", "EXAMPLES", "colour_in", "command_in", "read"]

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


# ---------------------------------------------------------------------------------- usual arguments


def read(arguments: Sequence[str]) -> dict[str, Any] | None:
    """The values that `Parser.read` would give; None if argparse has to read the arguments."""
    program = _Arguments()
    program.add_argument("--color", choices=COLOURS, default="auto")
    words = list(arguments)
    values: dict[str, Any] = {"version": None, "color": "auto"}
    try:
        while words and words[0].startswith("-"):
            program.take_option(words, values)
        name = words.pop(0) if words else ""
        if name not in COMMANDS:
            return None
        import_module(f"{__name__}.{COMMANDS[name]}")
        command = _Arguments()
        declared[name].declare(command)  # type: ignore[arg-type]  # it takes the place of a parser
        return {**values, "command": name, **command.read(words)}
    except _Unusual:
        return None


class _Unusual(Exception):
    """Only argparse can say what the arguments mean, or what is wrong with them."""


class _Argument:
    """One argument: an option, or a word by its position."""

    __slots__ = ("action", "choices", "const", "default", "dest", "excludes", "nargs", "type")

    def __init__(
        self,
        dest: str,
        *,
        action: str = "store",
        nargs: str | None = None,
        const: Any = None,
        default: Any = None,
        type: Any = None,  # noqa: A002  # the names are those of argparse
        choices: Sequence[str] | None = None,
        excludes: list[_Argument] | None = None,
    ) -> None:
        self.dest, self.action, self.nargs, self.const = dest, action, nargs, const
        self.default = False if action == "store_true" else default
        self.type, self.choices = type, choices
        self.excludes = excludes  #: all of a group of which one may be used

    def value(self, written: str) -> Any:
        """What a word means. Raises `_Unusual`."""
        value: Any = written
        if self.type is not None:
            try:
                value = self.type(written)
            except Exception as error:  # argparse words what this says
                raise _Unusual from error
        if self.choices is not None and value not in self.choices:
            raise _Unusual
        return value


class _Arguments:
    """Takes the place of an argparse parser, and of its groups, where arguments are declared."""

    def __init__(self) -> None:
        self._options: dict[str, _Argument] = {}
        self._positions: list[_Argument] = []
        self._required: list[_Argument] = []
        self._defaults: dict[str, Any] = {}
        self._excludes: list[_Argument] | None = None

    def add_argument(
        self,
        *names: str,
        dest: str | None = None,
        required: bool = False,
        help: str = "",  # noqa: A002
        metavar: str = "",
        **settings: Any,
    ) -> None:
        long = next((each for each in names if each.startswith("--")), names[0])
        named = dest or long.removeprefix("--").replace("-", "_")
        try:
            argument = _Argument(named, excludes=self._excludes, **settings)
        except TypeError as error:
            raise _Unusual from error  # a setting that only argparse knows
        if not names[0].startswith("-"):
            self._positions.append(argument)
            return
        if argument.nargs is not None or argument.action not in _ACTIONS:
            raise _Unusual
        self._options.update(dict.fromkeys(names, argument))
        if required:
            self._required.append(argument)
        if self._excludes is not None:
            self._excludes.append(argument)

    def add_argument_group(self, *_title: str) -> _Arguments:
        return self

    def add_mutually_exclusive_group(self) -> _Arguments:
        group = _Arguments()
        group._options, group._positions = self._options, self._positions
        group._required, group._excludes = self._required, []
        return group

    def set_defaults(self, **values: Any) -> None:
        self._defaults.update(values)

    def read(self, words: list[str]) -> dict[str, Any]:
        """The values of all arguments. Raises `_Unusual`."""
        given: dict[str, Any] = {}
        seen: list[_Argument] = []
        positions: list[str] = []
        while words:
            if words[0].startswith("-") and words[0] != "-":
                seen.append(self.take_option(words, given))
            else:
                positions.append(words.pop(0))
        if any(each not in seen for each in self._required):
            raise _Unusual
        for each in seen:
            if each.excludes and any(other in seen for other in each.excludes if other is not each):
                raise _Unusual
        given.update(self._at_positions(positions))
        return {**self._unsaid(), **given}

    def take_option(self, words: list[str], values: dict[str, Any]) -> _Argument:
        """Take an option and its value off the words. Raises `_Unusual`."""
        word = words.pop(0)
        name, equals, written = word.partition("=")
        option = self._options.get(name)
        if option is None or (equals and not name.startswith("--")):
            raise _Unusual
        if option.action.startswith("store_"):
            if equals:
                raise _Unusual
            values[option.dest] = True if option.action == "store_true" else option.const
            return option
        if not equals:
            written = words.pop(0) if words else ""
        # To argparse, a word that begins like an option is one, with exceptions.
        if not written or (written.startswith("-") and written != "-"):
            raise _Unusual
        value = option.value(written)
        if option.action == "append":
            value = [*values.get(option.dest, option.default), value]
        values[option.dest] = value
        return option

    def _at_positions(self, words: list[str]) -> dict[str, Any]:
        """Words by position: one for each argument; the last may take none or several."""
        values: dict[str, Any] = {}
        for number, each in enumerate(self._positions):
            is_last = number == len(self._positions) - 1
            if each.nargs in ("*", "+") and is_last:
                if each.nargs == "+" and not words:
                    raise _Unusual
                if words or each.default is None:
                    values[each.dest] = [each.value(word) for word in words]
                words = []
            elif each.nargs in (None, "?") and (each.nargs is None or is_last):
                if words:
                    values[each.dest] = each.value(words[0])
                elif each.nargs is None:
                    raise _Unusual
                words = words[1:]
            else:
                raise _Unusual
        if words:
            raise _Unusual
        return values

    def _unsaid(self) -> dict[str, Any]:
        """The values of arguments that are not given."""
        values: dict[str, Any] = {}
        for each in (*self._positions, *self._options.values()):
            if each.default != SUPPRESS:
                is_text = isinstance(each.default, str) and each.type is not None
                values.setdefault(each.dest, each.type(each.default) if is_text else each.default)
        return {**values, **self._defaults}


_ACTIONS = frozenset({"store", "store_true", "store_const", "append"})
