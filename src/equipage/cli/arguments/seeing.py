"""Arguments of the commands that show a workspace as a whole: what it allows and what it costs."""

from __future__ import annotations

import argparse

from equipage.cli.arguments.declare import FORMATS, command, flag, formats, loading, output, paths


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
    paths(budget)
    budget.add_argument(
        "--client", metavar="NAME", help="only this client, such as claude, codex or copilot"
    )
    flag(budget, "--over", "only what is over a limit")
    flag(budget, "--parts", "list what takes up the room, the largest first")
    loading(budget, layers=False)
    formats(budget, FORMATS)
    output(budget)
