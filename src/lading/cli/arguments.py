"""The arguments of the command. Kept apart and light: `lading --help` imports nothing else."""

from __future__ import annotations

import argparse
import difflib
import sys
from typing import NoReturn

from lading._version import __version__

FORMATS = ("text", "json", "sarif", "github")
COLOURS = ("auto", "always", "never")


class Parser(argparse.ArgumentParser):
    """An argument parser that guesses what was meant."""

    def error(self, message: str) -> NoReturn:
        known = [option for action in self._actions for option in action.option_strings]
        for word in sys.argv[1:]:
            flag = word.partition("=")[0]
            if flag.startswith("--") and flag not in known and flag in message:
                guess = difflib.get_close_matches(flag, known, 1)
                message += f"; did you mean {guess[0]}?" if guess else ""
        self.exit(2, f"{self.prog}: {message}\n{self.format_usage()}")


def parser() -> Parser:
    root = Parser(
        prog="lading",
        description="Load, compose, check and freeze the configuration of AI agents.",
        epilog="Exit codes: 0 clean, 1 errors found, 2 wrong usage or nothing to do, 3 a bug in lading.",
    )
    root.add_argument("--version", action="version", version=f"lading {__version__}")
    root.add_argument("--color", choices=COLOURS, default="auto", help="colour the output")
    commands = root.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    _check(commands)
    return root


def _check(commands: argparse._SubParsersAction[Parser]) -> None:
    check = commands.add_parser(
        "check", help="find and check everything", description="Find and check everything below PATH."
    )
    check.add_argument("paths", nargs="*", metavar="PATH", default=["."], help="files and folders (default: .)")
    _loading(check)
    check.add_argument("--output-format", choices=FORMATS, default="text", help="how to report (default: text)")
    check.add_argument(
        "--json", dest="output_format", action="store_const", const="json", help="the same as --output-format json"
    )
    fixing = check.add_mutually_exclusive_group()
    fixing.add_argument("--fix", action="store_true", help="apply the fixes of findings, then report what is left")
    fixing.add_argument("--diff", action="store_true", help="show what --fix would change; exit 1 if anything")
    check.add_argument("--unsafe-fixes", action="store_true", help="also those fixes that may change the meaning")
    check.add_argument(
        "--jobs", type=_count, default=0, metavar="N", help="check with N processes (default: as many as are worth it)"
    )
    check.add_argument("--quiet", action="store_true", help="show errors only")
    check.add_argument("--strict", action="store_true", help="fail on warnings, too")
    check.add_argument(
        "--color", choices=("auto", "always", "never"), default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )


def _count(written: str) -> int:
    if written == "auto":
        return 0
    number = int(written)
    if number < 0:
        raise ValueError
    return number


def _loading(command: argparse.ArgumentParser) -> None:
    """Options of every command that loads files."""
    command.add_argument("--kind", metavar="KIND", help="take files for this kind instead of recognising it")
    command.add_argument("--library", metavar="DIR", help="where $include paths start (server)")
    command.add_argument("--embedded", action="store_true", help="no includes, no files, no environment (server)")
    command.add_argument("--root", metavar="DIR", action="append", default=[], help="allow references into DIR, too")
