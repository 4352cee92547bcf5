"""Arguments of the commands that show configurations without judging them."""

from __future__ import annotations

import argparse

from equipage.cli.arguments.declare import (
    FORMATS,
    add_file,
    add_flag,
    add_format_option,
    add_loading_options,
    add_output_option,
    add_paths,
    add_show_env,
    command,
)


@command(
    "show",
    "print a configuration after loading",
    "Load, compose and check FILE, then print the resulting configuration.",
    runs="show:run",
    examples=(
        ("equipage show server.yaml", "the configuration after includes and variables"),
        ("equipage show server.yaml tools[0]", "one value of it"),
        ("equipage show server.yaml --annotate", "where each value comes from"),
        ("equipage show server.yaml --defaults", "also what no file sets"),
    ),
)
def _show(show: argparse.ArgumentParser) -> None:
    add_file(show)
    show.add_argument(
        "path", nargs="?", metavar="PATH", help="print only this value, such as tools[0].tool.name"
    )
    add_loading_options(show)
    add_format_option(show, ("yaml", "json"))
    add_output_option(show)
    add_flag(show, "--annotate", "add the file and line that each value comes from")
    add_flag(show, "--defaults", "add the fields that no file sets, with their defaults")
    add_show_env(show)


@command(
    "explain",
    "show where a value comes from",
    "Show which file sets the value at PATH, what it replaced, and how it got there.",
    runs="show:run_explain",
    examples=(
        ("equipage explain server.yaml tools[0]", "which files set this value"),
        ("equipage explain .claude/agents/a.md tools", "what the agent may use, and why"),
    ),
)
def _explain(explain: argparse.ArgumentParser) -> None:
    add_file(explain)
    explain.add_argument("path", metavar="PATH", help="a value, such as tools[0].tool.name")
    add_loading_options(explain)
    add_format_option(explain, FORMATS)
    add_output_option(explain)
    add_show_env(explain)


@command(
    "list",
    "list agents, tools and servers",
    "List the agents, tools and servers under PATH, with the program that loads each, its layer "
    "and what shadows it.",
    runs="list:run",
    examples=(
        ("equipage list", "everything below this folder, and your own agents"),
        ("equipage list --json", "as data for other programs"),
    ),
)
def _list(listing: argparse.ArgumentParser) -> None:
    add_paths(listing)
    add_loading_options(listing, layers=False)
    add_format_option(listing, FORMATS)
    add_output_option(listing)


@command(
    "schema",
    "write a JSON Schema for editors",
    "Write the JSON Schema of KIND, for editors and other programs.",
    runs="schema:run",
    examples=(
        ("equipage schema claude-agent -o agent.schema.json", "write it to a file"),
        ("equipage kinds", "every KIND there is"),
    ),
)
def _schema(schema: argparse.ArgumentParser) -> None:
    schema.add_argument("kind", metavar="KIND", help="a kind of configuration")
    add_output_option(schema)


@command(
    "diff",
    "compare the meaning of two configurations",
    "Compare what A and B mean. Each is a file, a folder or a git revision (HEAD~1, "
    "main:server.yaml). With one revision, compare it with the files here. Permissions come "
    "first, the widest change at the top. Exit codes: 0 same, 1 different, 2 cannot be compared.",
    examples=(
        ("equipage diff HEAD", "what your changes mean"),
        ("equipage diff main --fail-on widened", "fail only on wider permissions"),
        (
            "equipage diff main -f markdown",
            "a comment for a pull request; empty if nothing widened",
        ),
        ("equipage diff old.yaml new.yaml", "two files"),
        ("equipage diff v1:server.yaml server.yaml", "a file at a revision"),
    ),
)
def _diff(diff: argparse.ArgumentParser) -> None:
    diff.add_argument("a", metavar="A", help="a file, a folder or a revision")
    diff.add_argument(
        "b", nargs="?", metavar="B", help="what to compare it with (default: the files here)"
    )
    diff.add_argument(
        "--fail-on",
        choices=("any", "widened"),
        default="any",
        help="exit 1 on any difference, or only if a permission is widened (default: any)",
    )
    diff.add_argument(
        "--author",
        metavar="NAME",
        help="who made the change; with --fail-on widened, those whom the policy of A lets widen "
        "pass",
    )
    add_loading_options(diff, layers=False)
    add_format_option(
        diff, (*FORMATS, "markdown"), note="; markdown is a comment on what became wider"
    )
    add_output_option(diff)
    add_show_env(diff)
