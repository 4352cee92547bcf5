"""What the server does beside answering: floods, batches, blocked pipes, closed connections.

A side effect starts and ends with a request, with a connection, or lasts for a whole phase.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from equipage.formats.server.model import (
    BatchAmplify,
    CloseConnection,
    DuplicateRequestIds,
    NotificationFlood,
    PipeDeadlock,
    SideEffect,
)
from equipage.formats.server.payloads.base import join_repeated
from equipage_faults import wire
from equipage_faults.caps import Caps
from equipage_faults.exchange import Exchange, Run
from equipage_faults.jobs import Channel, Drain, Hold, Job, Release, Send, Steps, Wait
from equipage_faults.routes import AnswerChannel, Connection, Outlet

#: How many bytes a flood that has fallen behind writes at once.
_MAX_BURST_BYTES = 65_536
_FILL_CHUNK = 4_096


class Outcome:
    """What an effect did, for the trace."""

    def __init__(self) -> None:
        self.messages = 0
        self.bytes = 0
        self.end = "cancelled"  #: unless the effect says otherwise


def steps_of(
    effect: SideEffect, outlet: Outlet, now: Callable[[], int], caps: Caps, done: Outcome
) -> Steps:
    """The steps of a side effect. It is `cancelled` unless it gets to its end."""
    if isinstance(effect, NotificationFlood):
        yield from _flood(effect, outlet, now, caps, done)
    elif isinstance(effect, BatchAmplify):
        yield from _batch(effect, outlet, caps, done)
    elif isinstance(effect, DuplicateRequestIds):
        yield from _duplicates(effect, outlet, caps, done)
    elif isinstance(effect, PipeDeadlock):
        yield from _fill_pipe(effect, outlet, caps, done)
    else:
        yield from _close(effect, outlet, now, caps)
    if done.end == "cancelled":
        done.end = "done"


def sends_messages(effect: SideEffect) -> bool:
    return isinstance(effect, NotificationFlood | BatchAmplify | DuplicateRequestIds)


def _flood(
    effect: NotificationFlood, outlet: Outlet, now: Callable[[], int], caps: Caps, done: Outcome
) -> Steps:
    """Frame k is due at k / rate. What is due since the start is written at once."""
    rate = min(max(effect.rate_per_sec, 1), caps.rate)
    lasts = min(effect.duration_sec * 1000, caps.flood_ms)
    frame = wire.Frame(effect.method, effect.params)
    size = len(frame.data()) + 1
    total, start = rate * lasts // 1000, now()
    # The last frames are due before the end, but less than a millisecond.
    while done.messages < total and now() - start <= lasts:
        due = min(total, (now() - start) * rate // 1000 + 1)
        while done.messages < due:
            times = min(due - done.messages, max(1, _MAX_BURST_BYTES // size))
            done.messages += times
            done.bytes += times * size
            yield from outlet.write(frame, times)
        if done.messages < total:
            yield Wait(start + -(-done.messages * 1000 // rate))


def _batch(effect: BatchAmplify, outlet: Outlet, caps: Caps, done: Outcome) -> Steps:
    size = min(effect.batch_size, caps.batch)
    frame = wire.Frame(effect.method).data()

    def pieces() -> Iterator[bytes]:
        yield b"["
        yield from join_repeated(frame, size, b",")
        yield b"]"

    done.messages = size
    done.bytes = size * (len(frame) + 1) + 2
    yield from outlet.write_batch(pieces())


def _duplicates(effect: DuplicateRequestIds, outlet: Outlet, caps: Caps, done: Outcome) -> Steps:
    frame = wire.Frame(effect.method, effect.params, wire.encode(effect.id))
    for _ in range(min(effect.count, caps.duplicates)):
        done.messages += 1
        done.bytes += len(frame.data()) + 1
        yield from outlet.write(frame)


def _fill_pipe(effect: PipeDeadlock, outlet: Outlet, caps: Caps, done: Outcome) -> Steps:
    """Write without a line feed and without reading, until the client has taken everything."""
    channel = outlet.pipe()
    if channel is None:
        done.end = "skipped"
        return
    yield Hold(channel)
    outlet.link.reading = False
    try:
        left = min(effect.fill_bytes, caps.fill_bytes)
        while left > 0:
            size = min(left, _FILL_CHUNK)
            left -= size
            done.bytes += size
            yield Send(channel, b"X" * size)
        yield Drain(channel)
    finally:
        outlet.link.reading = True
    yield Release(channel)


def _close(effect: CloseConnection, outlet: Outlet, now: Callable[[], int], caps: Caps) -> Steps:
    yield Wait(now() + min(effect.delay_ms, caps.delay_ms))
    outlet.link.close(graceful=effect.graceful)


_TRIGGER_BY_METHOD = {
    "resources/subscribe": "on_subscribe",
    "resources/unsubscribe": "on_unsubscribe",
}


def subscribed_uris(exchange: Exchange) -> list[str]:
    """The resources that a `subscriptions/listen` of the newer revision asks about."""
    message = exchange.message
    if exchange.era != "26" or message.method != "subscriptions/listen":
        return []
    wanted = message.params.get("notifications")
    found = wanted.get("resourceSubscriptions") if isinstance(wanted, dict) else None
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


class SideEffects:
    """The side effects of a run."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def start_for_request(self, exchange: Exchange) -> None:
        """Start the side effects of a request, whether or not it will be answered."""
        moments = {"on_request", _TRIGGER_BY_METHOD.get(exchange.message.method)}
        if subscribed_uris(exchange):
            moments.add("on_subscribe")
        for effect in exchange.behavior(self._run.options).side_effects:
            if effect.trigger in moments:
                job = self.start(exchange.connection, effect, exchange.channel, exchange)
                if job is not None:
                    exchange.effects.append(job)

    def start(
        self,
        connection: Connection,
        effect: SideEffect,
        channel: Channel,
        exchange: Exchange | None,
    ) -> Job | None:
        """Start a side effect; None if it cannot run here."""
        own = channel if exchange is not None else None
        outlet = Outlet(connection, channel.link, own, self._run.caps.queue)
        done = Outcome()
        deaf = isinstance(own, AnswerChannel) and sends_messages(effect) and not own.takes_events
        connection.effects = [each for each in connection.effects if not each.done]
        if deaf or len(connection.effects) >= self._run.caps.effects:
            done.end = "skipped" if deaf else "capped"
            self._trace_effect(connection, effect, done, self._run.now)
            return None
        job = self._run.jobs.start(self._steps(connection, effect, outlet, done), connection)
        connection.effects.append(job)
        return job

    def _steps(
        self, connection: Connection, effect: SideEffect, outlet: Outlet, done: Outcome
    ) -> Steps:
        began = self._run.now
        try:
            yield from steps_of(effect, outlet, lambda: self._run.now, self._run.caps, done)
        except Exception:
            done.end = "failed"
            raise
        finally:
            if outlet.lost:
                self._run.trace(connection, "unroutable", messages=outlet.lost)
            self._trace_effect(connection, effect, done, began)

    def _trace_effect(
        self, connection: Connection, effect: SideEffect, done: Outcome, began: int
    ) -> None:
        kind = effect.__struct_config__.tag
        if sends_messages(effect) and connection.era == "26" and done.messages:
            self._run.trace(connection, "violates", what=f"{kind} in 2026-07-28")
        self._run.trace(
            connection,
            "effect",
            type=kind,
            trigger=effect.trigger,
            messages=done.messages or None,
            bytes=done.bytes or None,
            ms=self._run.now - began,
            end=done.end,
        )

    def update_continuous(self, connection: Connection, channel: Channel) -> None:
        """Continuous effects: end those that the phase lacks, start those that it adds."""
        wanted = {
            str(effect): effect
            for effect in connection.state.view.behavior.side_effects
            if effect.trigger == "continuous"
        }
        for key in connection.continuous.keys() - wanted.keys():
            self._run.jobs.cancel([connection.continuous.pop(key)])
        for key, effect in wanted.items():
            if key not in connection.continuous:
                job = self.start(connection, effect, channel, None)
                if job is not None:
                    connection.continuous[key] = job
