"""`equipage serve`: run what was loaded. The kind of the file decides what runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from msgspec import structs

from equipage.cli import FOUND, OK, USAGE
from equipage.cli.arguments import (
    Container,
    Parser,
    add_choice,
    add_common_options,
    add_flag,
    add_list_option,
    add_number,
    add_server_options,
)
from equipage.cli.lock import read_lock
from equipage.cli.output import Output
from equipage.cli.request import loaded_of, request_of
from equipage.cli.run import add_tool_options, serve_tools
from equipage.core.diagnostics import UsageError
from equipage.loading.outcome import Outcome
from equipage.project.settings import load_in_project

if TYPE_CHECKING:
    import argparse

    from equipage.loading.result import Loaded
    from equipage.serve.faults.run import Settings

#: Kinds that are served as tools and skills.
_TOOL_KINDS = ("toolpack", "skill")
#: Addresses that only this machine reaches.
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


def declare(parser: Parser) -> None:
    parser.describe(
        "Serve PATH over MCP. Toolpacks become tools, folders with a SKILL.md become skills; a "
        "server configuration becomes a test server that misbehaves as it says, for tests of your "
        "own client. Exit codes: 0 ended, 1 the configuration has errors, ended the run or an "
        "expectation was not met, 2 wrong usage or not trusted, 130 and 143 by signal.",
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
    add_common_options(parser)
    add_tool_options(parser.add_argument_group("options for tools and skills"))
    group = parser.add_argument_group("options for server configurations")
    add_server_options(parser, group)
    _add_fault_options(group)


def _add_fault_options(group: Container) -> None:
    """Options that only a run of a server configuration knows."""
    summary = "the protocol: 25 has a handshake (2025-11-25 and before), 26 none (2026-07-28)"
    add_choice(group, "--era", ("auto", "25", "26"), summary)
    group.add_argument(
        "--state-scope",
        choices=("per_connection", "global"),
        help="share one phase among clients, or not, whatever the file says",
    )
    group.add_argument("--behavior", metavar="DELIVERY", help="deliver every answer this way")
    add_number(group, "--seed", "make everything random repeatable")
    summary = "virtual: never wait, and finish everything before the next message"
    add_choice(group, "--clock", ("real", "virtual"), summary)
    group.add_argument("--trace", metavar="FILE", help="write what happens to FILE, as JSON lines")
    summary = "how much of the client's messages the trace has (default: none)"
    add_choice(group, "--trace-bodies", ("none", "redacted", "full"), summary)
    group.add_argument(
        "--expect", metavar="FILE", help="exit 1 unless the client did what FILE says"
    )
    group.add_argument(
        "--for",
        dest="lasts",
        metavar="DURATION",
        help="end after this time, such as 30s (default: 1h for http)",
    )
    add_list_option(group, "--env", "NAME", "let templates see this variable; repeatable")
    add_flag(group, "--allow-handlers", "let the file run programs and call web services")
    add_list_option(group, "--handler-host", "HOST", "allow web services on HOST; repeatable")
    group.add_argument("--max-delay", metavar="DURATION", help="the longest wait (default: 10m)")
    summary = "the most bytes of one message (default: 100mb, and room for the file's payloads)"
    group.add_argument("--max-frame-bytes", metavar="SIZE", help=summary)
    summary = "the most bytes of the whole run (default: 1gb, or one message)"
    group.add_argument("--max-run-bytes", metavar="SIZE", help=summary)


def run(options: argparse.Namespace, output: Output) -> int:
    """Serve the files that the command line names. What runs is imported only here."""
    if options.kind in _TOOL_KINDS or any(_is_for_tools(file) for file in options.files):
        require_loopback(options)
        return serve_tools(options, output)
    request = request_of(options)
    own = {"allow_handlers": options.allow_handlers}
    request = structs.replace(request, options={**request.options, **own})
    outcomes = [load_in_project(file, request, kind=options.kind) for file in options.files]
    kinds = {each.kind.name for each in outcomes}
    if kinds == {"server"}:
        return _serve_faults(outcomes, options, output)
    output.note(f"equipage: cannot serve {', '.join(sorted(kinds))}")
    return USAGE


def _is_for_tools(path: str) -> bool:
    """Whether a path is a folder, or a file that holds a tool or a skill by its name."""
    name = os.path.basename(path)
    return os.path.isdir(path) or name.endswith(".tool.yaml") or name == "SKILL.md"


def require_loopback(options: argparse.Namespace) -> None:
    """Raises `UsageError` for an address that others can reach, unless a flag allows it."""
    if options.host not in _LOOPBACK and not options.i_own_the_client:
        raise UsageError(
            f"--host {options.host} can be reached from other machines; "
            "add --i-own-the-client if that is what you want"
        )


# Server configurations: a test server that misbehaves.


def _serve_faults(outcomes: list[Outcome], options: argparse.Namespace, output: Output) -> int:
    from equipage.formats.server.model import ServerConfig
    from equipage.serve.faults.caps import room_for_payloads
    from equipage.serve.faults.run import literal_texts, serve

    if len(outcomes) > 1:
        raise UsageError("only one server configuration can be served at once")
    require_loopback(options)
    options.file = options.files[0]
    loaded = loaded_of(outcomes[0], options, output)
    config = cast(ServerConfig, loaded.config)
    for path in options.lock:
        _require_locked(loaded, path)
    return serve(
        config,
        loaded.digest,
        _settings(options, room_for_payloads(config)),
        lambda line: output.note(f"equipage: {line}"),
        literal=literal_texts(loaded),
    )


def declare_expect(parser: Parser) -> None:
    parser.describe(
        "Judge what a client did by the TRACE that `equipage serve --trace` wrote, as `--expect` "
        "does when a run ends. Exit codes: 0 every expectation is met, 1 one is not, 2 wrong "
        "usage.",
        ("equipage expect trace.jsonl expect.yaml", "after the run, in CI for example"),
    )
    parser.add_argument("trace", metavar="TRACE", help="the trace, as JSON lines")
    parser.add_argument("file", metavar="FILE", help="the expectations, a YAML list")


def run_expect(options: argparse.Namespace, output: Output) -> int:
    """Judge a trace that an earlier run wrote."""
    from equipage.serve.faults import expect as expectations

    wanted = expectations.read(options.file)
    records = expectations.read_trace(options.trace)
    if expectations.needs_bodies(wanted):
        expectations.require_bodies(options.trace, records)
    verdicts = expectations.judge(wanted, records)
    output.write_data("".join(f"{each}\n" for each in verdicts))
    return OK if all(each.is_met for each in verdicts) else FOUND


def _require_locked(loaded: Loaded[object], path: str) -> None:
    """Raises `UsageError` if a configuration is not what its lock says."""
    locked = [each for each in read_lock(path).items.values() if each.digest == loaded.digest]
    if not any(each.kind == loaded.kind for each in locked):
        raise UsageError(f"{path} locks no such configuration, or it changed since")


def _settings(options: argparse.Namespace, room: int) -> Settings:
    from equipage.serve.faults.run import Settings, caps_of, delivery_named, milliseconds

    lasts = options.lasts
    if lasts is None and options.transport == "http":
        lasts = "1h"
    return Settings(
        transport=options.transport,
        host=options.host,
        port=options.port,
        era=options.era,
        scope=options.state_scope,
        delivery=delivery_named(options.behavior),
        seed=options.seed,
        virtual=options.clock == "virtual",
        trace=options.trace,
        bodies=options.trace_bodies,
        expect=options.expect,
        seconds=None if lasts is None else milliseconds("--for", lasts) / 1000,
        env=tuple(options.env),
        handler_hosts=tuple(options.handler_host),
        caps=caps_of(options.max_delay, options.max_frame_bytes, options.max_run_bytes, room=room),
    )
