"""Arguments are read twice: quickly if they are usual, by argparse if not. Both mean the same."""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

import pytest

from equipage.cli.arguments import COMMANDS, read
from equipage.cli.arguments.declare import SUPPRESS
from equipage.cli.arguments.parsing import command_parsers, parser

PARSER = parser()
PARSERS = command_parsers(PARSER)
#: Words that are the value of something, or look like it.
WORDS = (
    "a.yaml",
    "b",
    "-",
    "",
    "--",
    "-1",
    "3",
    "json",
    "text",
    "auto",
    "x=y",
    "a b",
    "-q",
    "./-x",
)


def by_argparse(arguments: list[str]) -> dict[str, Any] | None:
    """The values; None if argparse prints help or an error."""
    command = next((each for each in arguments if each in COMMANDS), None)
    with redirect_stderr(StringIO()), redirect_stdout(StringIO()):
        try:
            return vars(parser(command).read(arguments))
        except SystemExit:
            return None


@pytest.mark.parametrize(
    "line",
    [
        "check",
        "check a.yaml",
        "check a b c",
        "check --strict a --ignore x b --ignore y",
        "check -f json -o out.json -q .",
        "check --output-format=text --root=a --root=b",
        "check --json -v",
        "check --stdin-filename a.md -",
        "--color never check",
        "--color=never check --color always",
        "check -j auto --limit 0 --max-warnings 12",
        "show a.yaml tools[0].tool.name --annotate",
        "show a.yaml --annotate tools[0].tool.name",
        "explain a.yaml tools",
        "diff HEAD --json",
        "diff --json HEAD a",
        "lock",
        "lock --programs -o a.lock",
        "serve a b --allow python --allow node",
        "report --html a.html",
        "completion zsh",
        "help",
        "help check",
        "kinds",
    ],
)
def test_usual_arguments_need_no_argparse(line: str) -> None:
    arguments = line.split()
    values = read(arguments)
    assert values is not None
    assert values == by_argparse(arguments)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "-h",
        "--version",
        "check -h",
        "check --help",
        "chekc",
        "check --strct",
        "check --str",
        "check -qv",
        "check -fjson",
        "check -f=json",
        "check -f nonsense",
        "check --json=yes",
        "check --limit -1",
        "check --limit many",
        "check --root",
        "check --root --strict",
        "check --fix --diff",
        "check -- a",
        "--color check",
        "--color green check",
        "show",
        "explain a.yaml",
        "explain a b c",
        "report",
        "serve",
        "completion cmd",
        "help nonsense",
    ],
)
def test_what_is_unusual_is_left_to_argparse(line: str) -> None:
    """It prints the help, or says what is wrong."""
    assert read(line.split()) is None


def lists(seed: int) -> Iterator[list[str]]:
    """Random arguments of each command, many of them wrong."""
    chance = random.Random(seed)
    for name, command in PARSERS.items():
        flags = [flag for action in command._actions for flag in action.option_strings]
        for _ in range(40):
            words = [name]
            for _ in range(chance.randrange(6)):
                if chance.random() < 0.5:
                    words.append(chance.choice(WORDS))
                    continue
                flag = chance.choice(flags)
                form = chance.random()
                if form < 0.2:
                    words.append(f"{flag}={chance.choice(WORDS)}")
                elif form < 0.6:
                    words += [flag, chance.choice(WORDS)]
                else:
                    words.append(flag)
            if chance.random() < 0.1:
                words.insert(0, chance.choice(["--color=never", "--color", "-V", "always"]))
            yield words


@pytest.mark.parametrize("seed", range(5))
def test_both_give_the_same(seed: int) -> None:
    compared = 0
    for arguments in lists(seed):
        values = read(arguments)
        if values is not None:
            compared += 1
            assert values == by_argparse(arguments), arguments
    assert compared > 100  # otherwise this compares nothing


def test_every_command_can_be_read_quickly() -> None:
    """No command is declared with something that only argparse knows."""
    for name, command in PARSERS.items():
        words = [name]
        for action in command._actions:
            if action.required and action.option_strings:
                words += [action.option_strings[0], "x"]
            elif not action.option_strings and action.nargs in (None, "+"):
                words.append(next(iter(action.choices)) if action.choices else "x")
        values = read(words)
        assert values is not None, words
        assert values == by_argparse(words)


def test_suppressed_means_the_same() -> None:
    assert argparse.SUPPRESS == SUPPRESS
