"""`equipage lsp`: the language server, over standard input and output."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys

from equipage.cli.arguments import Parser, add_flag, add_loading_options
from equipage.cli.output import Output
from equipage.cli.request import request_of
from equipage.core.diagnostics import UsageError


def declare(parser: Parser) -> None:
    parser.describe(
        "Speak the Language Server Protocol over standard input and output. Editors start it; see "
        "the page on editors for their settings. Nothing is executed, and no socket is opened. "
        "Exit codes: 0 the client shut it down, 1 the client went away.",
        ("equipage lsp", "what an editor runs"),
    )
    add_flag(parser, "--stdio", "use standard input and output, which is the default")
    add_loading_options(parser, layers=False)


def run(options: argparse.Namespace, output: Output) -> int:
    """Serve until the client leaves. Nothing else may write to standard output meanwhile."""
    from equipage.lsp import serve

    request = request_of(options)
    if sys.stdin is None or sys.stdout is None:
        raise UsageError("the language server needs standard input and output")
    # A thread waits for input until the very end, and Python does not end cleanly while one has its
    # own stream: so it reads from another one.
    messages = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    # What anything else prints must not end up between messages.
    wire = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    if sys.stderr is not None:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with wire:
        return serve(
            messages,
            wire,
            env=request.env,
            site=output.site,
            options=request.options,
            roots=request.roots,
            kind=options.kind,
            is_alive=_is_alive,
            enter=_enter,
        )


def _enter(folder: str) -> None:
    with contextlib.suppress(OSError):  # a client may name a folder that is gone
        os.chdir(folder)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # another user's process, or not a process number
    return True
