"""`equipage run` and the tools and skills of `equipage serve`.

Executing is another trust level than checking: the kinds that may run are named, and a lock must
match or the user says that there is none. What runs is imported only here.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import json
import os
import secrets
import sys
import tempfile
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.cli import FOUND, OK, USAGE
from equipage.cli.arguments import (
    Container,
    Parser,
    add_choice,
    add_flag,
    add_list_option,
    add_loading_options,
    add_number,
    add_paths,
)
from equipage.cli.lock import read_lock
from equipage.cli.output import Output
from equipage.cli.request import read_named, request_of
from equipage.cli.wings import Command
from equipage.core.diagnostics import UsageError
from equipage.core.text import visible
from equipage.files.sandbox import FileProblem

if TYPE_CHECKING:
    import argparse

    from equipage_serve.snapshot import Snapshot
    from equipage_serve.tools import Settings, Tool
    from equipage_serve.wire.catalogue import Catalogue

#: The variable that may hold the token for clients over HTTP.
TOKEN_VARIABLE = "EQUIPAGE_SERVE_TOKEN"


# One tool once.


def _declare_run(parser: Parser) -> None:
    parser.describe(
        "Run TOOL and print what it returns, as JSON. TOOL is a file, or an id among the packs "
        "under PATH. Exit codes: 0 done, 1 the tool failed, 2 wrong usage or not trusted.",
        ("equipage run count.tool.yaml --input @in.json", "one call, arguments in a file"),
    )
    parser.add_argument("tool", metavar="TOOL", help="a *.tool.yaml file, or the id of a tool")
    add_paths(parser)
    parser.add_argument(
        "--input",
        default="{}",
        metavar="JSON",
        help="the arguments: JSON, @FILE, or - for standard input (default: {})",
    )
    group = parser.add_argument_group("trust options")
    _add_trust_options(group)
    add_list_option(group, "--lock", "LOCK", "run only what LOCK has; repeatable")
    add_loading_options(parser, layers=False)


def _add_trust_options(group: Container) -> None:
    """What must be said before anything is executed."""
    add_list_option(
        group, "--allow", "KIND", "execution kinds that may run: python,node,php,cli,http"
    )
    summary = "strict: refuse tools whose limits cannot be enforced here (default)"
    add_choice(group, "--isolation", ("strict", "best", "none"), summary)
    summary = "where paths of packs start: pack, the folder of each (default), or project, its root"
    choices = ("pack", "project")
    group.add_argument("--paths", dest="start", choices=choices, default="pack", help=summary)
    add_flag(group, "--unlocked", "run tools without a lock, after a question")
    add_flag(group, "--yes", "with --unlocked: do not ask")
    add_flag(group, "--allow-private", "let http tools reach this machine and its network")


def _run_tool(options: argparse.Namespace, output: Output) -> int:
    """`equipage run TOOL`: call one tool, print what it returns."""
    arguments = _read_arguments(options.input)
    # A tool is named by its file, or by its id among those that the other paths hold.
    is_file = os.path.isfile(options.tool)
    snapshot, settings = _load_tools([options.tool] if is_file else options.paths, options)
    by_id = {each.pack.id: each for each in snapshot.tools}
    wanted = next(iter((*by_id, *snapshot.refused)), options.tool) if is_file else options.tool
    if wanted in snapshot.refused:
        raise UsageError(f"cannot run {wanted}: {'; '.join(snapshot.refused[wanted])}")
    if wanted not in by_id:
        from equipage.core.text import nearest

        guess = nearest(wanted, by_id)
        hint = f"did you mean `{guess}`?" if guess else "run `equipage list` to see the tools"
        raise UsageError(f"there is no tool `{wanted}`; {hint}")
    # Before anything of it runs, and only for the tool that is called.
    _require_trust(snapshot, {wanted}, options, output)
    _note_missing([by_id[wanted]], output)
    from equipage_serve.runtime import Runtime

    with Runtime.from_tools([by_id[wanted]], settings) as runtime:
        result = runtime.call(wanted, arguments)
    if not result.ok:
        output.note(f"equipage: {result.text}")
        return FOUND
    output.write_json(result.data)
    return OK


def _read_arguments(written: str) -> Any:
    """The arguments: JSON, `-` for standard input, or `@FILE`. Raises `UsageError`."""
    text = written
    if written == "-":
        text = sys.stdin.read()
    elif written.startswith("@"):
        try:
            text = read_named(written[1:]).decode()
        except (FileProblem, UnicodeDecodeError):
            raise UsageError(f"--input: cannot read {written[1:]}") from None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError('--input: expected JSON, such as \'{"text": "one two"}\'') from None


# Tools and skills over MCP.


def _declare_serve(parser: Parser) -> None:
    group = parser.add_argument_group("options for tools and skills")
    _add_trust_options(group)
    add_flag(group, "--dry-run", "print what would be served, and what would be enforced")
    add_flag(group, "--watch", "serve changed files once they are valid (needs watchfiles)")
    summary = "plain: replace the dots in names of tools, which some clients do not accept"
    add_choice(group, "--names", ("dotted", "plain"), summary)
    add_number(group, "--concurrency", "calls at once (default: 2 per processor)")
    add_flag(
        group, "--reuse", "let deterministic Python tools serve several calls with one process"
    )
    add_flag(group, "--oversize", "serve skills that are larger than clients must accept")
    group.add_argument("--log", metavar="FILE", help="append one line of JSON per call to FILE")
    group.add_argument(
        "--token-file", metavar="FILE", help="write the token for http clients to FILE"
    )
    add_flag(group, "--no-token", "accept http clients without a token")
    add_list_option(
        group, "--host-name", "NAME", "a name that http clients may address; repeatable"
    )


def _serve_tools(options: argparse.Namespace, output: Output) -> int:
    """Serve toolpacks and skills until the client or a signal ends it."""
    snapshot, settings = _load_tools(options.files, options)
    from equipage_serve.platform import this_platform
    from equipage_serve.trust import plan
    from equipage_serve.wire.catalogue import catalogue_of

    catalogue = catalogue_of(snapshot, options.names)
    if options.dry_run:
        # What a pack says must not look like what is said about it.
        lines = (visible(line) for line in plan(snapshot, catalogue.refused))
        output.write_data("".join(f"{line}\n" for line in lines))
        return OK
    for name, reasons in catalogue.refused.items():
        output.note(f"equipage: {name} is not served: {'; '.join(reasons)}")
    if not catalogue.entries and not catalogue.skills:
        output.note("equipage: there is nothing to serve")
        return USAGE
    if options.watch and importlib.util.find_spec("watchfiles") is None:
        raise UsageError("--watch needs watchfiles: run `pip install watchfiles`")
    ids = {each.tool.pack.id for each in catalogue.entries.values()}
    _require_trust(snapshot, ids, options, output)
    _note_missing([each.tool for each in catalogue.entries.values()], output)
    if this_platform().root:
        output.note("equipage: running as root: nothing limits the number of processes")
    return _serve(catalogue, settings, options, output)


def _serve(
    catalogue: Catalogue, settings: Settings, options: argparse.Namespace, output: Output
) -> int:
    from equipage_serve.log import CallLog
    from equipage_serve.platform import this_platform
    from equipage_serve.wire.http import Address
    from equipage_serve.wire.run import Plan, serve

    address = token = log = None
    if options.transport == "http":
        address = Address(options.host, options.port, tuple(options.host_name))
        # Without names, the server could not tell its own clients from a web page.
        if not address.is_loopback and not options.host_name:
            raise UsageError(f"--host {options.host} needs --host-name: how clients address it")
        token = _make_token(options, output)
    try:
        log = CallLog(options.log) if options.log else None
    except OSError as error:
        raise UsageError(f"cannot write {options.log}: {error.strerror}") from None
    watched = tuple(os.path.abspath(path) for path in options.files) if options.watch else ()
    how = Plan(settings, this_platform(), address, token, options.names, watched, observer=log)

    # A reload must pass the same gate: a lock covers what was there, not what came since.
    def reload() -> Snapshot:
        snapshot, _ = _load_tools(options.files, options)
        _require_trust(snapshot, {each.pack.id for each in snapshot.tools}, options, output)
        return snapshot

    try:
        return serve(catalogue, how, reload, lambda line: output.note(f"equipage: {line}"))
    except OSError as error:
        raise UsageError(f"cannot listen on {options.host}: {error.strerror}") from None


def _make_token(options: argparse.Namespace, output: Output) -> str | None:
    """The token that clients must show. It is never printed and no argument holds it."""
    if options.no_token:
        output.note("equipage: no token: every program on this machine can call the tools")
        return None
    given = os.environ.get(TOKEN_VARIABLE)
    if given:
        return given
    from equipage.files.writing import NotWritten, write_private

    folder = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    path = options.token_file or os.path.join(folder, f"equipage-{os.getpid()}.token")
    token = secrets.token_urlsafe(32)
    try:
        write_private(path, token.encode() + b"\n")
    except NotWritten as error:
        raise UsageError(f"cannot write {path}: {error}") from None
    if not options.token_file:
        # A file that the user named may be read again later; ours is of no use after the run.
        atexit.register(_remove_file, path)
    output.note(f"equipage: the token is in {path}")
    return token


def _remove_file(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


# What both need.


def _load_tools(paths: list[str], options: argparse.Namespace) -> tuple[Snapshot, Settings]:
    """Load tools and skills at the paths as the options allow. Raises `LoadError`, `UsageError`."""
    from equipage_serve.platform import this_platform
    from equipage_serve.snapshot import take_snapshot
    from equipage_serve.tools import KINDS, Settings

    written = [each.strip() for word in options.allow for each in word.split(",")]
    # The first one is enough to see what is wrong with the command.
    for unknown in (each for each in written if each and each not in KINDS):
        raise UsageError(f"--allow {unknown}: unknown kind; known: {', '.join(KINDS)}")
    for missing in (each for each in paths if not os.path.exists(each)):
        raise UsageError(f"there is no file or folder {missing}")
    settings = Settings(
        allow=frozenset(filter(None, written)),
        isolation=options.isolation,
        paths=options.start,
        private_addresses=options.allow_private,
        reuse=getattr(options, "reuse", False),
    )
    if getattr(options, "concurrency", None):
        settings = msgspec.structs.replace(settings, concurrency=options.concurrency)
    request = request_of(options)
    oversize = getattr(options, "oversize", False)
    return take_snapshot(paths, request, settings, this_platform(), oversize=oversize), settings


def _note_missing(tools: Iterable[Tool], output: Output) -> None:
    from equipage_serve.trust import missing_variables

    for tool in tools:
        for name in missing_variables(tool):
            output.note(f"equipage: {tool.pack.id}: the variable {name} is not set")


def _require_trust(
    snapshot: Snapshot, ids: set[str], options: argparse.Namespace, output: Output
) -> None:
    """Tools run if locks cover them, or if the user wants to run them without. Skills are data."""
    if not ids:
        return
    if options.lock:
        from equipage_serve.trust import differences

        locks = [read_lock(path) for path in options.lock]
        found = differences(snapshot, locks)
        for name in sorted(found.keys() & ids):
            raise UsageError(f"{name} is not what was locked: {found[name]}")
        return
    if not options.unlocked:
        raise UsageError(
            "tools run only if a lock covers them: name it with --lock, "
            "or use --unlocked to run them without"
        )
    if not options.yes:
        _ask_for_trust(snapshot, ids, output)


def _ask_for_trust(snapshot: Snapshot, ids: set[str], output: Output) -> None:
    """Let a person decide. Raises `UsageError` without a person, or without a yes."""
    if not (sys.stdin is not None and sys.stdin.isatty()):
        raise UsageError("--unlocked needs --yes where no one can be asked")
    from equipage_serve.trust import plan

    # The plan shows what would run, and nothing that is only served as data.
    wanted = tuple(each for each in snapshot.tools if each.pack.id in ids)
    output.note(*plan(msgspec.structs.replace(snapshot, tools=wanted, skills=()), {}))
    output.note("equipage: run these tools without a lock? [y/N]")
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was run")


SERVE = Command("serve tools and skills", _declare_serve, _serve_tools)
RUN = Command("run one tool once", _declare_run, _run_tool)
