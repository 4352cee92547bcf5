"""Arguments of the command that editors start."""

from __future__ import annotations

import argparse

from equipage.cli.arguments.declare import add_flag, add_loading_options, command


@command(
    "lsp",
    "the language server for editors and agents",
    "Speak the Language Server Protocol over standard input and output. Editors start it; see the "
    "page on editors for their settings. Nothing is executed, and no socket is opened. Exit codes: "
    "0 the client shut it down, 1 the client went away.",
    examples=(("equipage lsp", "what an editor runs"),),
)
def _lsp(lsp: argparse.ArgumentParser) -> None:
    add_flag(lsp, "--stdio", "use standard input and output, which is the default")
    add_loading_options(lsp, layers=False)
