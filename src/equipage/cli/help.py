"""`equipage help` and `completion`: the arguments of all commands, for people and for shells.

`completion` gives the argument parser to shtab. No other command requires it, and without it the
command says how to install it.
"""

from __future__ import annotations

import argparse

from equipage.cli import COMMANDS, OK, build_parser
from equipage.cli.arguments import Parser
from equipage.cli.output import Output
from equipage.cli.wings import KNOWN_COMMANDS, installed_words
from equipage.core.diagnostics import UsageError
from equipage.project.registry import all_codes, built_in_kinds

# shtab knows more shells; the tests run these.
_SHELLS = ("bash", "zsh", "fish")
_NO_SHTAB = "completion needs shtab: run `pip install 'shtab>=1.9.2'` where equipage is installed"
#: The placeholders of arguments that are paths; the shell itself completes those.
_PATH_METAVARS = frozenset({"FILE", "PATH", "DIR", "LOCK", "A", "B"})


def declare(parser: Parser) -> None:
    parser.describe(
        "Show the options and examples of COMMAND; without it, all commands.",
        ("equipage help check", "the options of `check`"),
    )
    parser.add_argument(
        "about",
        nargs="?",
        choices=[*COMMANDS, *KNOWN_COMMANDS],
        metavar="COMMAND",
        help="a command",
    )


def run(options: argparse.Namespace, output: Output) -> int:
    name = options.about
    parser = build_parser(name).commands[name] if name else build_parser()
    output.write_data(parser.format_help())
    return OK


def declare_completion(parser: Parser) -> None:
    parser.describe(
        "Print a completion script (needs shtab).",
        ('eval "$(equipage completion bash)"', "for bash, in ~/.bashrc"),
        ("equipage completion zsh > ~/.zfunc/_equipage", "for zsh"),
    )
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help="bash, zsh or fish")


def run_completion(options: argparse.Namespace, output: Output) -> int:
    """`equipage completion`: a script for a shell, made from the argument parser by shtab."""
    try:
        import shtab
    except ImportError:
        raise UsageError(_NO_SHTAB) from None
    # This parser parses nothing, so it can get choices that are only suggestions.
    root = build_parser(*COMMANDS, *installed_words())
    words = {"KIND": built_in_kinds(), "CODE": sorted(all_codes())}
    for command in root.commands.values():
        for action in command._actions:
            if action.metavar in words:
                action.choices = words[str(action.metavar)]
            elif action.metavar in _PATH_METAVARS:
                # shtab reads this attribute, which argparse does not know.
                completes = shtab.DIR if action.metavar == "DIR" else shtab.FILE
                action.complete = completes  # type: ignore[attr-defined]
    output.write_data(shtab.complete(root, options.shell))
    return OK
