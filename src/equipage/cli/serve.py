"""`equipage serve`: the path says what is served; another distribution serves it."""

from __future__ import annotations

import argparse
import os

from equipage.cli import USAGE
from equipage.cli.arguments import (
    Parser,
    add_choice,
    add_common_options,
    add_flag,
    add_list_option,
    add_number,
)
from equipage.cli.output import Output
from equipage.cli.request import request_of
from equipage.cli.wings import SERVED, find_command, require_command
from equipage.core.diagnostics import LoadError, UsageError
from equipage.project.settings import kind_in_project

#: Kinds that are served as tools and skills.
_TOOL_KINDS = {"toolpack", "skill"}
#: Addresses that only this machine reaches.
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def declare(parser: Parser) -> None:
    parser.describe(
        "Serve PATH over MCP. Toolpacks become tools, folders with a SKILL.md become skills "
        "(equipage-serve); a server configuration becomes a test server that misbehaves as it "
        "says, for tests of your own client (equipage-faults). Exit codes: 0 ended, 1 the "
        "configuration has errors, ended the run or an expectation was not met, 2 wrong usage, "
        "not trusted or not installed, 130 and 143 by signal.",
        ("equipage serve server.yaml", "a test server over standard input and output"),
        ("equipage serve server.yaml --transport http", "over HTTP, for clients on this machine"),
    )
    parser.add_argument("files", nargs="+", metavar="PATH", help="files and folders to serve")
    summary = "how clients connect (default: stdio)"
    add_choice(parser, "--transport", ("stdio", "http"), summary)
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="listen here (default: 127.0.0.1)"
    )
    summary = "listen on this port (default: any free one, which is printed)"
    add_number(parser, "--port", summary, default=0)
    add_flag(parser, "--i-own-the-client", "allow a --host that other machines can reach")
    add_list_option(parser, "--lock", "LOCK", "serve only what LOCK has; repeatable")
    add_common_options(parser)
    parser.set_defaults(unknown=[], library=None, allow_absolute=False, embedded=False)
    parser.set_defaults(include_root=[], default_agent_kind=None, local=False, config=[])
    for word in SERVED:
        command = find_command(word)
        if command is None:
            # Its options are not known; `run` says what is missing.
            parser.keeps_unknown = True
        else:
            command.declare(parser)


def run(options: argparse.Namespace, output: Output) -> int:
    """Let the distribution that serves files of this kind do it."""
    try:
        word = _served_as(options, output)
    except LoadError:
        # Without the options of what is missing, a value may have been taken for a path.
        if options.unknown:
            raise UsageError(_describe_unknown(options)) from None
        raise
    if word is None:
        return USAGE
    command = require_command(word)
    if options.unknown:
        raise UsageError(_describe_unknown(options))
    _require_loopback(options)
    return command.run(options, output)


def _served_as(options: argparse.Namespace, output: Output) -> str | None:
    """The entry point that serves the files; None if nothing does, which is said."""
    if any(_is_for_tools(file) for file in options.files):
        return "serve-packs"
    request = request_of(options)
    kinds = {options.kind or kind_in_project(file, request) for file in options.files}
    if kinds <= _TOOL_KINDS:
        return "serve-packs"
    if kinds == {"server"}:
        return "serve-server"
    output.note(f"equipage: cannot serve {', '.join(sorted(kinds))}")
    return None


def _is_for_tools(path: str) -> bool:
    """Whether a path is a folder, or a file that holds a tool or a skill by its name."""
    name = os.path.basename(path)
    return os.path.isdir(path) or name.endswith(".tool.yaml") or name == "SKILL.md"


def _describe_unknown(options: argparse.Namespace) -> str:
    absent = [known for word, known in SERVED.items() if find_command(word) is None]
    names = ", ".join(f"`{each.partition('=')[0]}`" for each in options.unknown)
    lines = " or ".join(f"`{each.install_line}` for {each.summary}" for each in absent)
    return f"unknown arguments: {names}; install what knows them: {lines}"


def _require_loopback(options: argparse.Namespace) -> None:
    """Raises `UsageError` for an address that others can reach, unless a flag allows it."""
    if options.host not in _LOOPBACK and not options.i_own_the_client:
        raise UsageError(
            f"--host {options.host} can be reached from other machines; "
            "add --i-own-the-client if that is what you want"
        )
