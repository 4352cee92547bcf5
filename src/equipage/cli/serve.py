"""`equipage serve`: run what was loaded. The kind of the file decides what runs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from msgspec import structs

from equipage.cli import FOUND, OK, USAGE
from equipage.cli.output import Output
from equipage.cli.request import loaded_of, request_of
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


def run(options: argparse.Namespace, output: Output) -> int:
    """Serve the files that the command line names. What runs is imported only here."""
    if options.kind in _TOOL_KINDS or any(_is_for_tools(file) for file in options.files):
        from equipage.cli.run import serve

        require_loopback(options)
        return serve(options, output)
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
    from equipage.serve.faults.run import literal_texts, serve

    if len(outcomes) > 1:
        raise UsageError("only one server configuration can be served at once")
    require_loopback(options)
    options.file = options.files[0]
    loaded = loaded_of(outcomes[0], options, output)
    for path in options.lock:
        _require_locked(loaded, path)
    return serve(
        cast(ServerConfig, loaded.config),
        loaded.digest,
        _settings(options),
        lambda line: output.note(f"equipage: {line}"),
        literal=literal_texts(loaded),
    )


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
    from equipage.cli.lock import read_lock

    locked = [each for each in read_lock(path).items.values() if each.digest == loaded.digest]
    if not any(each.kind == loaded.kind for each in locked):
        raise UsageError(f"{path} locks no such configuration, or it changed since")


def _settings(options: argparse.Namespace) -> Settings:
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
        caps=caps_of(options.max_delay, options.max_frame_bytes, options.max_run_bytes),
    )
