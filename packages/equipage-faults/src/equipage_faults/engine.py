"""The server without I/O: messages and the time go in, items for channels come out.

One request, in this order: take a snapshot of the phase · count the event · see whether it ends
the phase · start side effects · make the answer from the snapshot · deliver it · start what belongs
to a new connection · change the phase. Timers before a request fire before it; at the same
millisecond the request comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from equipage.formats.server.model import EntryAction, ServerConfig
from equipage_faults import wire
from equipage_faults.effects import SideEffects, subscribed_uris
from equipage_faults.exchange import Exchange, Options, Run
from equipage_faults.jobs import Channel, Link, Steps
from equipage_faults.phases import State, View, target_of, views_of
from equipage_faults.responding import Responder
from equipage_faults.routes import AnswerChannel, Connection, Outlet, Subscription, write
from equipage_faults.trace import Trace
from equipage_faults.wire import Era, Frame, Message


class Engine:
    """A server that runs one configuration."""

    def __init__(
        self,
        config: ServerConfig,
        trace: Trace,
        options: Options | None = None,
        log: Callable[[str, str], None] = lambda _level, _text: None,
    ) -> None:
        self._run = Run(config, trace, options or Options(), log)
        self.config, self.options, self.caps = config, self._run.options, self._run.caps
        self.jobs, self.random, self.trace = self._run.jobs, self._run.random, self._run.trace
        self._responder, self._sides = Responder(self._run), SideEffects(self._run)
        self.jobs.failed = lambda _job, problem: self.log("error", f"{type(problem).__name__}")
        self.views = views_of(config)
        self.connections: dict[str, Connection] = {}
        self.stopped: str | None = None  #: why the run ends, once it does
        self.log = log
        self._numbers = 0
        self._requests = 0
        scope = self.options.scope or config.server.state_scope
        self._shared = self._new_state() if scope == "global" else None

    # ------------------------------------------------------------------------------- connections

    @property
    def now(self) -> int:
        return self.jobs.now

    def connect(self) -> Connection:
        """A new connection, with a state of its own unless all share one."""
        self._numbers += 1
        connection = Connection(f"c{self._numbers}", self._shared or self._new_state())
        self.connections[connection.name] = connection
        return connection

    def _new_state(self) -> State:
        return State(self.views, self.jobs.now, self.caps.events)

    def forget(self, connection: Connection, by: str) -> None:
        """The connection is over; everything that works for it ends."""
        if self.connections.pop(connection.name, None) is None:
            return
        # Counted before the jobs end: with them, answers under way would be gone.
        unanswered = len(connection.exchanges) + len(connection.queue)
        connection.queue.clear()  # or the end of one answer begins the next
        self.jobs.cancel_group(connection)
        self.trace(connection, "gone", by=by, unanswered=unanswered or None)

    def drop_channel(self, connection: Connection, channel: Channel) -> None:
        """Close a channel whose reader is gone, and cancel the answer on its way."""
        channel.close()
        exchange = connection.exchanges.get(channel)
        if exchange is not None:
            if channel.link.closed is None:
                # In the newer revision this is how a client cancels a request.
                cancels = exchange.message.id if exchange.era == "26" else None
                self.trace(connection, "lost", method=exchange.message.method, cancels=cancels)
            self.jobs.cancel([*exchange.effects, exchange.job])
        if channel in connection.streams:
            connection.streams.remove(channel)
        for each in [each for each in connection.subscriptions if each.channel is channel]:
            self._unsubscribe(connection, each)

    # -------------------------------------------------------------------------------------- time

    def advance(self, now: int, *, events_first: bool = False) -> None:
        """Run what is due until `now`. With `events_first`, a timer that is due right now waits,
        because a message that comes at the same time counts before it."""
        while self.stopped is None:
            timer, state = self._next_timer()
            job = self.jobs.next_due
            if job is not None and job <= now and (timer is None or job <= timer):
                self.jobs.advance(job)
            # At one time jobs go first, then timers, and those after a message that comes then.
            elif timer is not None and state and timer < now + (not events_first):
                self.jobs.now = max(self.jobs.now, timer)
                self._fire_timer(state)
            else:
                break
        self.jobs.now = max(self.jobs.now, now)

    @property
    def next_due(self) -> int | None:
        """When something happens by itself."""
        timer, _ = self._next_timer()
        return min((due for due in (timer, self.jobs.next_due) if due is not None), default=None)

    def _states(self) -> Iterable[State]:
        if self._shared is not None:
            return [self._shared]
        return [each.state for each in self.connections.values()]

    def _next_timer(self) -> tuple[int | None, State | None]:
        found = [(state.timer[0], state) for state in self._states() if state.timer]
        return min(found, key=lambda each: each[0], default=(None, None))

    def _fire_timer(self, state: State) -> None:
        timer = state.timer
        assert timer is not None
        trigger = state.view.advance
        if timer[1] == "timeout" and trigger is not None and trigger.on_timeout == "abort":
            self.trace(self._owner(state), "abort", phase=state.view.name)
            self.log("error", f"phase {state.view.name}: the event did not come in time")
            self.stopped = "abort"
            return
        state.pending = timer[1]
        # Answers under way are finished from the phase they began in.
        state.waits_for = {
            each
            for connection in self._connections_in(state)
            for each in connection.exchanges.values()
        }
        if not state.waits_for:
            self._change_phase(state)

    def _connections_in(self, state: State) -> list[Connection]:
        return [each for each in self.connections.values() if each.state is state]

    def _owner(self, state: State) -> Connection | None:
        members = self._connections_in(state)
        return members[0] if members and self._shared is None else None

    # ---------------------------------------------------------------------------------- messages

    def receive(self, connection: Connection, data: bytes, channel: Channel) -> None:
        """Bytes of one message on a pipe; requests are answered one after the other."""
        try:
            message = wire.parse(data)
        except wire.Malformed as problem:
            self.record_violation(connection, str(problem), size=len(data))
            return
        self.accept(connection, message)
        if message.sort != "request":
            return
        # A client that floods loses requests: memory must not grow with what it sends.
        if len(connection.queue) >= self.caps.queue:
            self.trace(connection, "capped", what="queue")
            return
        connection.queue.append((message, channel))
        self._next_request(connection)

    def record_violation(self, connection: Connection | None, what: str, **fields: Any) -> None:
        """Something that a client must not do."""
        self.trace(connection, "violation", what=what, **fields)

    def accept(self, connection: Connection, message: Message) -> None:
        """Trace a message, and handle it if it is a response or a notification."""
        connection.used = self.now
        self.trace(
            connection,
            "recv",
            kind=message.sort,
            method=message.method or None,
            id=message.id,
            target=target_of(message.method, message.params),
            phase=connection.state.view.name,
            bytes=message.size,
            cancels=message.params.get("requestId") if message.sort == "notification" else None,
            body=self._run.records.body(message.body),
        )
        for each in message.oddities:
            self.record_violation(connection, each)
        if message.sort == "response":
            self._trace_answer(connection, message)
        elif message.sort == "notification":
            self._handle_notification(connection, message)
        if self.config.logging.on_request and message.sort == "request":
            self.log("info", f"request {message.method}")

    def _trace_answer(self, connection: Connection, message: Message) -> None:
        # By the bytes of the id: `1` and `1.0` are equal in Python, and two ids in JSON-RPC.
        sent = connection.asked.get(message.raw_id)
        error = message.body.get("error")
        code = error.get("code") if isinstance(error, dict) else None
        self.trace(
            connection,
            "answer",
            id=message.id,
            ok="result" in message.body,
            code=code,
            ms=None if sent is None else self.now - sent,
        )

    def _handle_notification(self, connection: Connection, message: Message) -> None:
        if message.method == "notifications/initialized":
            self._enter_first_phase(connection)
            if connection.state.count("initialized", None, message.params):
                self._change_phase(connection.state)
        elif message.method == "notifications/cancelled":
            self._cancel_request(connection, message.params.get("requestId"))

    def _cancel_request(self, connection: Connection, number: object) -> None:
        """An answer that has not begun is dropped; one that has is finished."""
        raw = wire.encode(number)
        kept = [each for each in connection.queue if each[0].raw_id != raw]
        connection.queue.clear()
        connection.queue.extend(kept)
        for each in list(connection.exchanges.values()):
            if each.message.raw_id == raw and not each.progress.begun:
                self.jobs.cancel([each.job])
        for each in [each for each in connection.subscriptions if each.raw_id == raw]:
            self._unsubscribe(connection, each)

    def _next_request(self, connection: Connection) -> None:
        # A loop and not a recursion: a thousand requests may wait.
        while connection.queue and not connection.exchanges and self.stopped is None:
            message, channel = connection.queue.popleft()
            if not channel.link.closing and channel.link.closed is None:
                self.begin(connection, message, channel)

    # ---------------------------------------------------------------------------------- requests

    def _era_of(self, message: Message) -> Era:
        if self.options.era in ("25", "26"):
            return "25" if self.options.era == "25" else "26"
        return "26" if wire.VERSION_KEY in wire.meta_of(message.params) else "25"

    def begin(
        self, connection: Connection, message: Message, channel: Channel, era: Era | None = None
    ) -> Exchange:
        """Take up a request: count it, start its side effects, and answer it."""
        if era is None:
            era = self._era_of(message)
        if connection.era is None:
            self._trace_opening(connection, message, era)
        if era == "25" and connection.welcomed:
            self._enter_first_phase(connection)
        exchange = Exchange(connection, message, channel, era, self.now)
        connection.exchanges[channel] = exchange
        channel.link.begin()
        # Counted before it is answered, and answered from the phase it came in; see the module.
        exchange.fired = self._count_event(exchange)
        exchange.item = exchange.view.item(message.method, message.params)
        exchange.opens = not connection.opened and (era == "26" or message.method == "initialize")
        self._sides.start_for_request(exchange)
        if channel.link.closed is not None:  # an effect broke the connection off
            self._finish_exchange(exchange)
            return exchange
        job = self.jobs.start(self._responder.respond(exchange), connection)
        exchange.job = job
        if job.done:
            self._finish_exchange(exchange)
        else:
            job.ends.append(lambda: self._finish_exchange(exchange))
        return exchange

    def _trace_opening(self, connection: Connection, message: Message, era: Era) -> None:
        connection.era = era
        meta = wire.meta_of(message.params)
        client = meta.get(wire.CLIENT_KEY) if era == "26" else message.params.get("clientInfo")
        self.trace(connection, "open", era=era, client=client)
        if era == "25" and message.method not in ("initialize", "server/discover", "ping"):
            self.record_violation(connection, "before initialize")

    def _count_event(self, exchange: Exchange) -> bool:
        """Count the event of a request; returns whether it ends the phase."""
        connection, message = exchange.connection, exchange.message
        state, params = connection.state, message.params
        fired = False
        if exchange.era == "26" and not connection.opened and len(connection.exchanges) == 1:
            # The newer revision has no handshake: the first request takes its place.
            fired = state.count("initialize", None, params)
            fired = state.count("initialized", None, params) or fired
        target = target_of(message.method, params)
        fired = state.count(message.method, target, params) or fired
        for uri in subscribed_uris(exchange):
            fired = state.count("resources/subscribe", uri, params) or fired
        if fired and self.config.logging.on_trigger_match:
            self.log("info", f"{message.method} ends phase {state.view.name}")
        return fired

    def _finish_exchange(self, exchange: Exchange) -> None:
        """End an exchange whose answer is sent or given up, then change the phase and go on."""
        connection, state = exchange.connection, exchange.connection.state
        del connection.exchanges[exchange.channel]
        alive = exchange.channel.link.closed is None and connection.name in self.connections
        if alive and exchange.progress.completed and exchange.code is None and exchange.opens:
            self._open_connection(exchange)
        exchange.channel.link.finish()
        if exchange.fired:
            self._change_phase(state)
        elif state.waits_for:
            state.waits_for.discard(exchange)
            if not state.waits_for:
                self._change_phase(state)
        if exchange.channel.link.closed is not None and connection.pipe is not None:
            self.jobs.cancel_group(connection)
        self._next_request(connection)

    def _open_connection(self, exchange: Exchange) -> None:
        """Start the effects of `on_connect` and the continuous ones."""
        connection = exchange.connection
        if connection.opened:
            return
        connection.opened = connection.welcomed = True
        for effect in exchange.view.behavior.side_effects:
            if effect.trigger == "on_connect":
                self._sides.start(connection, effect, exchange.channel, None)
        self._sides.update_continuous(connection, exchange.channel)
        if exchange.era == "26":
            self._enter_first_phase(connection)

    # ------------------------------------------------------------------------------ subscriptions

    def _unsubscribe(self, connection: Connection, found: Subscription) -> None:
        connection.subscriptions.remove(found)
        for uri in found.wants.get("resourceSubscriptions") or ():
            if connection.state.count("resources/unsubscribe", uri, {}):
                self._change_phase(connection.state)

    def end_subscriptions(self) -> None:
        """The graceful end of every stream is the result of its request."""
        for connection in self.connections.values():
            for each in connection.subscriptions:
                result = wire.complete_result({}, "subscriptions/listen", self.config.server)
                (data,) = wire.response(each.raw_id, "result", result)
                self.jobs.start(_write_last_frame(each.channel, data), connection)
            connection.subscriptions.clear()

    # ------------------------------------------------------------------------------------- phases

    def _change_phase(self, state: State) -> None:
        """Apply the pending transition, with everything that belongs to it."""
        owner, old = self._owner(state), state.view
        change = state.advance(self.now)
        if change is None:
            if not state.stuck and old.advance is not None:
                state.stuck = True
                self.trace(owner, "no_next", phase=old.name)
            return
        self.trace(
            owner,
            "phase",
            **{"from": change.old.name, "to": change.new.name},
            by=change.cause,
            count=change.count or None,
        )
        if self.config.logging.on_phase_change:
            self.log("info", f"phase {change.new.name}")
        state.greeted = True
        for connection in self._connections_in(state):
            if connection.opened:
                channel = connection.pipe or Channel(Link())
                self._sides.update_continuous(connection, channel)
            self._enter(connection, change.new)

    def _enter_first_phase(self, connection: Connection) -> None:
        """The entry actions of the first phase, once the client can listen."""
        state = connection.state
        if not state.greeted:
            state.greeted = True
            self._enter(connection, state.view)

    def _enter(self, connection: Connection, view: View) -> None:
        if view.phase.on_enter:
            self.jobs.start(self._entry_actions(connection, view.phase.on_enter), connection)

    def _entry_actions(self, connection: Connection, actions: Iterable[EntryAction]) -> Steps:
        """Send the frames of entry actions in order, without a delivery."""
        outlet = Outlet(connection, Link(), None, self.caps.queue)
        for action in actions:
            frame = self._action_frame(connection, action)
            if frame is not None:
                sort = "request" if frame.raw_id is not None else "notification"
                self.trace(
                    connection,
                    "frame",
                    origin="on_enter",
                    kind=sort,
                    method=frame.method,
                    bytes=len(frame.data()) + 1,
                )
                if connection.era == "26" and frame.raw_id is not None:
                    self.trace(connection, "violates", what="request in 2026-07-28")
                yield from outlet.write(frame)
                if outlet.lost:
                    self.trace(connection, "unroutable", messages=outlet.lost)
                    outlet.lost = 0
            if action.log is not None:
                self.trace(connection, "log", text=action.log)
                self.log("info", action.log)

    def _action_frame(self, connection: Connection, action: EntryAction) -> Frame | None:
        notification, request = action.send_notification, action.send_request
        if isinstance(notification, str):
            return Frame(notification)
        if notification is not None:
            return Frame(notification.method, notification.params)
        if request is None:
            return None
        number = request.id
        if number is None:
            self._requests += 1
            number = f"srv-{self._requests}"
        raw = wire.encode(number)
        connection.asked[raw] = self.now
        return Frame(request.method, request.params, raw)

    # ------------------------------------------------------------------------------------ the end

    def halt(self) -> None:
        """A signal: waits and drips end now, whole frames go out."""
        for connection in self.connections.values():
            connection.queue.clear()  # or the end of one answer begins the next
        self.jobs.halt()
        self.end_subscriptions()


def _write_last_frame(channel: Channel, data: bytes) -> Steps:
    yield from write(channel, data)
    if isinstance(channel, AnswerChannel):
        channel.end()
