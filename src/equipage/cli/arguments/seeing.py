"""Arguments of the commands that show a workspace as a whole: what it allows and what it costs."""

from __future__ import annotations

import argparse

from equipage.cli.arguments.declare import (
    FORMATS,
    add_flag,
    add_format_option,
    add_loading_options,
    add_output_option,
    add_paths,
    command,
)


@command(
    "reach",
    "show what agents may do, and why",
    "Show what the agents below PATH may do: files, commands, network, MCP servers. With AGENT, "
    "or with --why, each answer comes with the file, line and field that decide it.",
    examples=(
        ("equipage reach", "every agent below this folder"),
        ("equipage reach reviewer", "one agent, with the places that say so"),
        ('equipage reach reviewer --why "write files"', "why it may write files, or may not"),
        ("equipage reach --why Bash", "which agents may use a tool, and why"),
    ),
)
def _reach(reach: argparse.ArgumentParser) -> None:
    reach.add_argument(
        "words",
        nargs="*",
        metavar="AGENT|PATH",
        help="the name of an agent, then files and folders (default: .)",
    )
    reach.add_argument(
        "--why",
        metavar="WHAT",
        help="only this: read, write, run, network, or a tool, a server, a skill",
    )
    add_loading_options(reach, layers=False)
    add_format_option(reach, FORMATS)
    add_output_option(reach)


@command(
    "budget",
    "measure what a workspace costs of a client's context",
    "Measure the lists of skills and agents, their descriptions and the instructions below PATH "
    "against what each client reads. Exit codes: 0 everything fits, 1 a client leaves "
    "something out.",
    examples=(
        ("equipage budget", "every client that reads something here"),
        ("equipage budget --client codex --parts", "one client, and what takes up the room"),
        ("equipage budget --over", "only what a client cuts or leaves out"),
    ),
)
def _budget(budget: argparse.ArgumentParser) -> None:
    add_paths(budget)
    budget.add_argument(
        "--client", metavar="NAME", help="only this client, such as claude, codex or copilot"
    )
    add_flag(budget, "--over", "only what is over a limit")
    add_flag(budget, "--parts", "list what takes up the room, the largest first")
    add_loading_options(budget, layers=False)
    add_format_option(budget, FORMATS)
    add_output_option(budget)


@command(
    "report",
    "write a page to look at",
    "Write one HTML page about the files below PATH: findings, what agents may do and why, what "
    "uses what, where each value comes from, what it costs of each client's context. The page "
    "needs no network and holds no secrets. Exit codes: 0 no errors, 1 errors found.",
    examples=(
        ("equipage report --html report.html", "everything below this folder"),
        ("equipage report agents --html agents.html", "one folder"),
    ),
)
def _report(report: argparse.ArgumentParser) -> None:
    add_paths(report)
    report.add_argument("--html", metavar="FILE", required=True, help="the page to write")
    add_loading_options(report, layers=False)
