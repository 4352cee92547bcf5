"""Puts the parts of a server together, and serves until the client or a signal ends it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable, Sequence

import msgspec

from equipage.core.diagnostics import EquipageError, LoadError
from equipage_serve.engine import Engine, Observer
from equipage_serve.platform import Platform
from equipage_serve.snapshot import Snapshot
from equipage_serve.tools import Settings
from equipage_serve.wire.catalogue import Catalogue, NameStyle, catalogue_of
from equipage_serve.wire.http import Address, open_listener, principal_of, serve_http, url_of
from equipage_serve.wire.lines import Pipes, serve_lines
from equipage_serve.wire.server import ServedCatalogue, build

Note = Callable[[str], None]
#: How long files must be quiet before they are looked at again, in milliseconds.
_QUIET_MS = 100


class Plan(msgspec.Struct, frozen=True):
    """How to serve."""

    settings: Settings
    platform: Platform
    address: Address | None = None  #: None serves standard input and output
    token: str | None = None
    names: NameStyle = "dotted"
    watched: tuple[str, ...] = ()  #: folders and files whose changes are served
    observer: Observer | None = None


def serve(catalogue: Catalogue, plan: Plan, again: Callable[[], Snapshot], note: Note) -> int:
    """Serve, and return the exit code: 0, or 128 and the number of a signal.

    `again` loads what is served anew; it raises what `take_snapshot` raises.
    """
    return asyncio.run(_serve(catalogue, plan, again, note))


async def _serve(
    catalogue: Catalogue, plan: Plan, again: Callable[[], Snapshot], note: Note
) -> int:
    loop, caught = asyncio.get_running_loop(), list[int]()
    # Before anything can print: what is in the way of the protocol goes to standard error.
    pipes = Pipes() if plan.address is None else None
    engine = Engine(catalogue.snapshot.tools, plan.settings, plan.platform, observer=plan.observer)
    private = plan.token is not None
    served = ServedCatalogue(catalogue, engine, watched=bool(plan.watched), private=private)
    serving = asyncio.ensure_future(_run_transport(served, plan, pipes, note))

    def stop(number: int) -> None:
        caught.append(number)
        serving.cancel()

    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        # Windows has no handlers on the loop; there, an interrupt is an exception.
        with contextlib.suppress(NotImplementedError, AttributeError):
            number = getattr(signal, name)
            loop.add_signal_handler(number, stop, number)
    watching = asyncio.ensure_future(_watch(served, plan, again, note)) if plan.watched else None
    if watching is not None:
        watching.add_done_callback(lambda task: _note_watch_end(task, note))
    try:
        # Not awaited itself: a cancellation by a signal is the usual end, not an error.
        await asyncio.wait([serving])
    finally:
        if watching is not None:
            watching.cancel()
            await asyncio.wait([watching], timeout=5)
        await engine.close()
    problem = None if serving.cancelled() else serving.exception()
    if caught:
        return 128 + caught[0]  # errors while stopping do not count
    if problem is not None:
        raise problem
    return 0


async def _run_transport(
    served: ServedCatalogue, plan: Plan, pipes: Pipes | None, note: Note
) -> None:
    if pipes is not None:
        try:
            await serve_lines(build(served), pipes)
        finally:
            pipes.close()
        return
    assert plan.address is not None
    listener = open_listener(plan.address)
    with listener:
        note(f"listening on {url_of(plan.address, listener)}")
        server = build(served, principal_of)
        await serve_http(server, plan.address, listener, plan.token)


# Changes on the disk.


async def _watch(
    served: ServedCatalogue, plan: Plan, again: Callable[[], Snapshot], note: Note
) -> None:
    """Load again when files change; what cannot be loaded leaves the old set in place."""
    async for _ in _watch_paths(plan.watched):
        try:
            snapshot = await asyncio.to_thread(again)
        except LoadError as error:
            note(f"not reloaded, {len(error.errors)} errors: {error.errors[0]}")
            continue
        except EquipageError as error:
            note(f"not reloaded: {error}")
            continue
        catalogue = catalogue_of(snapshot, plan.names)
        # Reasons that were printed before are not printed with every save.
        if catalogue.refused != served.catalogue.refused:
            for name, reasons in catalogue.refused.items():
                note(f"{name} is not served: {'; '.join(reasons)}")
        await served.replace(catalogue)


def _note_watch_end(watching: asyncio.Future[None], note: Note) -> None:
    """Say why changes are not noticed any more: the server goes on with what it has."""
    problem = None if watching.cancelled() else watching.exception()
    if problem is not None:
        why = str(problem) or type(problem).__name__
        note(f"not reloaded any more: {why}; start the server again to serve changes")


async def _watch_paths(paths: Sequence[str]) -> AsyncIterator[None]:
    from watchfiles import awatch

    async for _ in awatch(*paths, debounce=400, step=_QUIET_MS, recursive=True):
        yield None
