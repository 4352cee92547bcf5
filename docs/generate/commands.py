"""The page of the commands, made from their arguments."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from equipage.cli import COMMANDS, build_parser
from equipage.cli.wings import installed_words
from equipage.render import REPORTS


def pages() -> Iterator[tuple[str, str]]:
    """The name and the text of the page."""
    lines = [
        "# Commands",
        "",
        "Findings and other results go to standard output, notes about the run to standard error.",
        "",
        "| exit code | meaning |",
        "|---|---|",
        "| 0 | clean; for `diff`: the same |",
        "| 1 | errors found, warnings too with `--strict`; for `diff`: different |",
        "| 2 | wrong usage, or nothing to do; for `diff`: could not be compared |",
        "| 3 | a bug in equipage |",
        "| 130 | interrupted; while Python itself still starts, it answers with a traceback |",
        "",
    ]
    for name, command in build_parser(*COMMANDS, *installed_words()).commands.items():
        lines += _command(name, command)
    yield "commands.md", "\n".join(lines)


def _command(name: str, command: argparse.ArgumentParser) -> list[str]:
    actions = [
        each for each in command._actions if each.help != argparse.SUPPRESS and each.dest != "help"
    ]
    words = [_word(each) for each in actions if not each.option_strings]
    usage = " ".join(
        ["equipage", name, *words, *(["[OPTIONS]"] if len(words) < len(actions) else [])]
    )
    rows = [f"| {_flags(each)} | {_cell(each.help or '')} |" for each in actions]
    return [
        f"## {name}",
        "",
        str(command.description),
        "",
        f"```text\n{usage}\n```",
        "",
        "| argument | meaning |",
        "|---|---|",
        *rows,
        "",
        *(_formats() if name == "check" else ()),
    ]


def _formats() -> list[str]:
    rows = [f"| `{name}` | {_cell(each.purpose)} |" for name, each in REPORTS.items()]
    return ["| format | for |", "|---|---|", *rows, ""]


def _word(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest)
    return {"*": f"[{name}…]", "+": f"{name}…", "?": f"[{name}]"}.get(str(action.nargs), name)


def _flags(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{action.metavar}`"
    value = "" if action.nargs == 0 else f" {action.metavar or _choices(action)}"
    return ", ".join(f"`{flag}{value}`" for flag in action.option_strings)


def _choices(action: argparse.Action) -> str:
    return " ∣ ".join(map(str, action.choices)) if action.choices else action.dest.upper()


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("$include", "`$include`")
