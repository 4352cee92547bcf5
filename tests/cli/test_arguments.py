"""Options may stand anywhere after the command, also between a file and what is asked of it."""

from __future__ import annotations

import argparse

import pytest

from equipage.cli import COMMANDS, build_parser


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("check --strict a --ignore x b --ignore y", {"paths": ["a", "b"], "ignore": ["x", "y"]}),
        ("check --output-format=text --root=a --root=b", {"root": ["a", "b"], "paths": ["."]}),
        ("show a.yaml tools[0] --annotate", {"file": "a.yaml", "path": "tools[0]"}),
        ("show a.yaml --annotate tools[0]", {"file": "a.yaml", "path": "tools[0]"}),
        ("diff --json HEAD a", {"a": "HEAD", "b": "a", "output_format": "json"}),
        ("--color never check", {"color": "never", "paths": ["."]}),
        ("--color=never check --color always", {"color": "always", "paths": ["."]}),
        ("check -f json -q -", {"paths": ["-"], "output_format": "json", "quiet": True}),
    ],
)
def test_options_stand_anywhere(line: str, values: dict[str, object]) -> None:
    found = vars(build_parser(*COMMANDS).read(line.split()))
    assert {name: found[name] for name in values} == values


def test_the_help_of_serve_names_every_option_it_takes() -> None:
    """But for `--color`, which the help of the program has."""
    serve = build_parser(*COMMANDS).commands["serve"]
    hidden = [each for each in serve._actions if each.help == argparse.SUPPRESS]
    assert [each.option_strings for each in hidden] == [["--color"]]
    assert {"--library", "--embedded", "--allow-absolute"} <= set(serve._option_string_actions)
