"""When side effects start and end: with a request, a connection, or for a whole phase."""

from __future__ import annotations

from equipage.formats.server.model import SideEffect
from equipage_faults.effects import Outcome, sends_messages, steps_of
from equipage_faults.exchange import Exchange, Run
from equipage_faults.jobs import Channel, Job, Steps
from equipage_faults.routes import AnswerChannel, Connection, Outlet

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
