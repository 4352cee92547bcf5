"""`equipage serve` of a server configuration, and `equipage expect`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, cast

from msgspec import structs

from equipage.cli import FOUND, OK
from equipage.cli.arguments import (
    Container,
    Parser,
    add_choice,
    add_flag,
    add_list_option,
    add_number,
    add_server_options,
)
from equipage.cli.lock import read_lock
from equipage.cli.output import Output
from equipage.cli.request import loaded_of, request_of
from equipage.cli.wings import Command
from equipage.core.diagnostics import UsageError
from equipage.project.settings import load_in_project

if TYPE_CHECKING:
    from equipage.loading.result import Loaded
    from equipage_faults.run import Settings


def _declare_serve(parser: Parser) -> None:
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


def _serve(options: argparse.Namespace, output: Output) -> int:
    """Run a server that misbehaves as its file says. What runs is imported only here."""
    from equipage.formats.server.model import ServerConfig
    from equipage_faults.caps import room_for_payloads
    from equipage_faults.run import literal_texts, serve

    if len(options.files) > 1:
        raise UsageError("only one server configuration can be served at once")
    (options.file,) = options.files
    request = request_of(options)
    own = {"allow_handlers": options.allow_handlers}
    request = structs.replace(request, options={**request.options, **own})
    outcome = load_in_project(options.file, request, kind=options.kind)
    loaded = loaded_of(outcome, options, output)
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


def _declare_expect(parser: Parser) -> None:
    parser.describe(
        "Judge what a client did by the TRACE that `equipage serve --trace` wrote, as `--expect` "
        "does when a run ends. Exit codes: 0 every expectation is met, 1 one is not, 2 wrong "
        "usage.",
        ("equipage expect trace.jsonl expect.yaml", "after the run, in CI for example"),
    )
    parser.add_argument("trace", metavar="TRACE", help="the trace, as JSON lines")
    parser.add_argument("file", metavar="FILE", help="the expectations, a YAML list")


def _expect(options: argparse.Namespace, output: Output) -> int:
    """Judge a trace that an earlier run wrote."""
    from equipage_faults import trace

    wanted = trace.read_expectations(options.file)
    records = trace.read_trace(options.trace)
    if trace.needs_bodies(wanted):
        trace.require_bodies(options.trace, records)
    verdicts = trace.judge(wanted, records)
    output.write_data("".join(f"{each}\n" for each in verdicts))
    return OK if all(each.is_met for each in verdicts) else FOUND


def _require_locked(loaded: Loaded[object], path: str) -> None:
    """Raises `UsageError` if a configuration is not what its lock says."""
    locked = [each for each in read_lock(path).items.values() if each.digest == loaded.digest]
    if not any(each.kind == loaded.kind for each in locked):
        raise UsageError(f"{path} locks no such configuration, or it changed since")


def _settings(options: argparse.Namespace, room: int) -> Settings:
    from equipage_faults.run import Settings, caps_of, delivery_named, milliseconds

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


SERVE = Command("run a test server that misbehaves", _declare_serve, _serve)
EXPECT = Command("judge a stored trace of a test server", _declare_expect, _expect)
