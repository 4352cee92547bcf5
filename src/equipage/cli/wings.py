"""Commands that other distributions bring, by the entry point group `equipage.commands`.

What opens a socket or runs a program of a project is not part of this package. It comes with
distributions of its own, whose commands are looked up only for a word that is not one of ours.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import equipage
from equipage.cli.arguments import Parser

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from equipage.cli.output import Output

GROUP = "equipage.commands"


class CommandUnavailable(Exception):
    """A command that cannot be run, with what to do about it. Not a `UsageError`, whose module the
    help of the program does not import."""


class Command(NamedTuple):
    """What an entry point names. `run` returns the exit code."""

    summary: str
    declare: Callable[[Parser], None]
    run: Callable[[argparse.Namespace, Output], int]


class KnownWord(NamedTuple):
    """A command of a distribution that we publish, which may not be installed."""

    distribution: str
    summary: str

    @property
    def install_line(self) -> str:
        """From a clone, because none of these names belongs to us on a package index."""
        return f"pip install . ./packages/{self.distribution}"


KNOWN_COMMANDS = {
    "run": KnownWord("equipage-serve", "run one tool once (equipage-serve)"),
    "expect": KnownWord("equipage-faults", "judge a trace of a test server (equipage-faults)"),
}
#: What `equipage serve` calls; these are not typed.
SERVED = {
    "serve-packs": KnownWord("equipage-serve", "tools and skills"),
    "serve-server": KnownWord("equipage-faults", "server configurations"),
}
_KNOWN = {**KNOWN_COMMANDS, **SERVED}


def find_command(word: str) -> Command | None:
    """The command that an installed distribution brings. Raises `CommandUnavailable` if it is
    broken, or one of ours in another version."""
    for point in _entry_points():
        if point.name == word:
            return _load(point)
    return None


def require_command(word: str) -> Command:
    """The command of a word we know. Raises `CommandUnavailable` with the line that installs it."""
    found = find_command(word)
    if found is not None:
        return found
    what = f"`equipage {word}`" if word in KNOWN_COMMANDS else f"serving {SERVED[word].summary}"
    known = _KNOWN[word]
    raise CommandUnavailable(
        f"{what} needs {known.distribution}, which is not installed: "
        f"run `{known.install_line}` in a clone of equipage"
    )


def installed_words() -> list[str]:
    """The commands that people type, of everything that is installed."""
    return sorted({point.name for point in _entry_points()} - SERVED.keys())


def _entry_points() -> Iterator[EntryPoint]:
    from importlib.metadata import entry_points  # slow to import, and few commands need it

    yield from entry_points(group=GROUP)


def _load(point: EntryPoint) -> Command:
    known, found = _KNOWN.get(point.name), point.dist
    if known and found and found.version != equipage.__version__:
        raise CommandUnavailable(
            f"{known.distribution} is installed in version {found.version}, and equipage in "
            f"{equipage.__version__}: run `{known.install_line}` in a clone of equipage"
        )
    try:
        command = point.load()
    except Exception as error:
        from equipage.core.text import describe_exception

        raise CommandUnavailable(
            f"the command `{point.name}` of {point.value} cannot be loaded: "
            f"{describe_exception(error)}; install it again"
        ) from None
    assert isinstance(command, Command), point.value
    return command
