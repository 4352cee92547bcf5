"""The server without I/O: messages and the time go in, items for channels come out.

One request, in this order: take a snapshot of the phase · count the event · see whether it ends
the phase · start side effects · make the answer from the snapshot · deliver it · start what belongs
to a new connection · change the phase. Timers before a request fire before it; at the same
millisecond the request comes first.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Generator, Iterable, Mapping
from datetime import UTC, datetime
from random import Random
from typing import Any

import msgspec

from equipage.kinds.server.model import (
    Behavior,
    Delivery,
    EntryAction,
    ServerConfig,
    SideEffect,
    Silent,
    UnboundedLine,
)
from equipage.serve.faults import answers, eras, wire
from equipage.serve.faults.answers import Answer, Exhausted, Failure, FromHandler
from equipage.serve.faults.caps import Caps
from equipage.serve.faults.delivery import Progress, delay_of, deliver, frames_of
from equipage.serve.faults.effects import Outcome, sends_messages, steps_of
from equipage.serve.faults.eras import Era
from equipage.serve.faults.jobs import Ask, Channel, Jobs, Join, Link, Step, Steps, Wait
from equipage.serve.faults.phases import State
from equipage.serve.faults.routes import AnswerChannel, Connection, Outlet, Subscription, write
from equipage.serve.faults.templates import Context
from equipage.serve.faults.trace import Trace
from equipage.serve.faults.views import TARGETS, Item, View, identity, views_of
from equipage.serve.faults.wire import Frame, Message

#: The start of a virtual clock.
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_EMPTY_ANSWERS = frozenset({"ping", "logging/setLevel"})
_MOMENTS = {"resources/subscribe": "on_subscribe", "resources/unsubscribe": "on_unsubscribe"}


class Options(msgspec.Struct, frozen=True):
    """What the caller decides about a run."""

    era: str = "auto"  #: `25`, `26` or `auto`
    scope: str | None = None  #: instead of the configuration's `state_scope`
    delivery: Delivery | None = None  #: instead of every delivery of the configuration
    seed: int = 0
    env: Mapping[str, str] = msgspec.field(default_factory=dict)  #: what templates may see
    caps: Caps = Caps()
    literal: frozenset[str] = frozenset()  #: texts that are no templates
    epoch: datetime = EPOCH


class Exchange:
    """One request and everything that belongs to its answer."""

    def __init__(
        self, connection: Connection, message: Message, channel: Channel, era: Era, now: int
    ) -> None:
        self.connection = connection
        self.message = message
        self.channel = channel
        self.era = era
        self.view: View = connection.state.view
        self.item: Item | None = None
        self.began = now
        self.fired = False  #: whether it ends the phase
        self.opens = False  #: whether its answer opens the connection
        self.progress = Progress()
        self.effects: list[Any] = []
        self.job: Any = None
        self.code: int | None = None  #: of the error it is answered with
        self.status = 200  #: of the HTTP answer


class Engine:
    """A server that runs one configuration."""

    def __init__(
        self,
        config: ServerConfig,
        trace: Trace,
        options: Options | None = None,
        log: Callable[[str, str], None] = lambda _level, _text: None,
    ) -> None:
        self.config = config
        self.options = options or Options()
        self.caps = self.options.caps
        self.jobs = Jobs()
        self.jobs.failed = lambda _job, problem: self.log("error", f"{type(problem).__name__}")
        self.views = views_of(config)
        self.connections: dict[str, Connection] = {}
        self.stopped: str | None = None  #: why the run ends, once it does
        self.log = log
        self.random = Random(self.options.seed)
        self._trace = trace
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
        connection.used = self.now
        self.connections[connection.name] = connection
        return connection

    def _new_state(self) -> State:
        return State(self.views, self.jobs.now, self.caps.events)

    def trace(self, connection: Connection | None, event: str, **fields: Any) -> None:
        self._trace(self.now, connection.name if connection else None, event, **fields)

    def forget(self, connection: Connection, by: str) -> None:
        """The connection is over; everything that works for it ends."""
        if self.connections.pop(connection.name, None) is None:
            return
        unanswered = len(connection.exchanges) + len(connection.queue)
        self.jobs.cancel_group(connection)
        connection.queue.clear()
        self.trace(connection, "gone", by=by, unanswered=unanswered or None)

    def lose(self, connection: Connection, channel: Channel) -> None:
        """The reader of a channel is gone, and with it the answer on its way."""
        channel.close()
        exchange = connection.exchanges.get(channel)
        if exchange is not None:
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
            elif timer is not None and state and timer < now + (not events_first):
                self.jobs.now = max(self.jobs.now, timer)
                self._timer_fires(state)
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

    def _timer_fires(self, state: State) -> None:
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
            for connection in self._members(state)
            for each in connection.exchanges.values()
            if each.job is not None and not each.job.done
        }
        if not state.waits_for:
            self._change_phase(state)

    def _members(self, state: State) -> list[Connection]:
        return [each for each in self.connections.values() if each.state is state]

    def _owner(self, state: State) -> Connection | None:
        members = self._members(state)
        return members[0] if members and self._shared is None else None

    # ---------------------------------------------------------------------------------- messages

    def receive(self, connection: Connection, data: bytes, channel: Channel) -> None:
        """Bytes of one message on a pipe; requests are answered one after the other."""
        try:
            message = wire.parse(data)
        except wire.Malformed as problem:
            self.violation(connection, str(problem), size=len(data))
            return
        self.accept(connection, message)
        if message.sort != "request":
            return
        if len(connection.queue) >= self.caps.queue:
            self.trace(connection, "capped", what="queue")
            return
        connection.queue.append((message, channel))
        self._next_request(connection)

    def violation(self, connection: Connection | None, what: str, **fields: Any) -> None:
        """Something that a client must not do."""
        self.trace(connection, "violation", what=what, **fields)

    def accept(self, connection: Connection, message: Message) -> None:
        """Note a message, and do what one without an answer asks for."""
        connection.used = self.now
        target = message.params.get(TARGETS.get(message.method, ""))
        self.trace(
            connection,
            "recv",
            kind=message.sort,
            method=message.method or None,
            id=message.id,
            target=target if isinstance(target, str) else None,
            phase=connection.state.view.name,
            bytes=message.size,
            cancels=message.params.get("requestId") if message.sort == "notification" else None,
            body=self._trace.body(message.body),
        )
        for each in message.oddities:
            self.violation(connection, each)
        if message.sort == "response":
            self._answered(connection, message)
        elif message.sort == "notification":
            self._notified(connection, message)
        if self.config.logging.on_request and message.sort == "request":
            self.log("info", f"request {message.method}")

    def _answered(self, connection: Connection, message: Message) -> None:
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

    def _notified(self, connection: Connection, message: Message) -> None:
        if message.method == "notifications/initialized":
            self._greet(connection)
            if connection.state.count("initialized", None, message.params):
                self._change_phase(connection.state)
        elif message.method == "notifications/cancelled":
            self._cancelled(connection, message.params.get("requestId"))

    def _cancelled(self, connection: Connection, number: object) -> None:
        """An answer that has not begun is dropped; one that has is finished."""
        raw = wire.encode(number)
        kept = [each for each in connection.queue if each[0].raw_id != raw]
        if len(kept) < len(connection.queue):
            connection.queue.clear()
            connection.queue.extend(kept)
        for each in list(connection.exchanges.values()):
            if each.message.raw_id == raw and not each.progress.begun and each.job is not None:
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

    def era_of(self, message: Message) -> Era:
        if self.options.era in ("25", "26"):
            return "25" if self.options.era == "25" else "26"
        return "26" if eras.VERSION_KEY in eras.meta_of(message.params) else "25"

    def begin(self, connection: Connection, message: Message, channel: Channel) -> Exchange:
        """Take up a request: count it, start its side effects, and answer it."""
        era = self.era_of(message)
        if connection.era is None:
            self._opening(connection, message, era)
        if era == "25" and connection.welcomed:
            self._greet(connection)
        exchange = Exchange(connection, message, channel, era, self.now)
        connection.exchanges[channel] = exchange
        channel.link.begin()
        exchange.fired = self._count(exchange)
        exchange.item = exchange.view.item(message.method, message.params)
        exchange.opens = not connection.opened and (era == "26" or message.method == "initialize")
        self._start_request_effects(exchange)
        steps = self._respond(exchange)
        if channel.link.closed is not None:  # an effect broke the connection off
            steps.close()
            self._finished(exchange)
            return exchange
        job = self.jobs.start(self._watched(exchange, steps), connection)
        exchange.job = job
        if job.done:
            self._finished(exchange)
        else:
            job.ends.append(lambda: self._finished(exchange))
        return exchange

    def _opening(self, connection: Connection, message: Message, era: Era) -> None:
        connection.era = era
        meta = eras.meta_of(message.params)
        client = meta.get(eras.CLIENT_KEY) if era == "26" else message.params.get("clientInfo")
        self.trace(connection, "open", era=era, client=client)
        if era == "25" and message.method not in ("initialize", "server/discover", "ping"):
            self.violation(connection, "before initialize")

    def _count(self, exchange: Exchange) -> bool:
        """Count the event of a request; whether it ends the phase."""
        connection, message = exchange.connection, exchange.message
        state, params = connection.state, message.params
        fired = False
        if exchange.era == "26" and not connection.opened and len(connection.exchanges) == 1:
            # The newer revision has no handshake: the first request stands for it.
            fired = state.count("initialize", None, params)
            fired = state.count("initialized", None, params) or fired
        target = params.get(TARGETS.get(message.method, ""))
        fired = state.count(message.method, target, params) or fired
        if exchange.era == "26" and message.method == "subscriptions/listen":
            for uri in _uris(params):
                fired = state.count("resources/subscribe", uri, params) or fired
        if fired and self.config.logging.on_trigger_match:
            self.log("info", f"{message.method} ends phase {state.view.name}")
        return fired

    def _watched(self, exchange: Exchange, steps: Steps) -> Steps:
        """The steps of an answer, and a record of how far they got."""
        progress = exchange.progress
        try:
            yield from steps
        finally:
            if not isinstance(exchange.channel, AnswerChannel) or progress.begun:
                self._sent(exchange)

    def _sent(self, exchange: Exchange) -> None:
        progress, delivery = exchange.progress, self._behavior(exchange).delivery
        if progress.capped:
            self.trace(exchange.connection, "capped", what="frame")
        if not progress.begun and progress.completed:
            return  # it was never meant to be answered
        self.trace(
            exchange.connection,
            "send",
            id=exchange.message.id,
            ok=exchange.code is None,
            code=exchange.code,
            delivery=delivery.__struct_config__.tag if delivery is not None else "normal",
            bytes=progress.sent,
            ms=self.now - exchange.began,
            completed=progress.completed,
        )
        if self.config.logging.on_response:
            self.log("info", f"answered {exchange.message.method}")

    def _behavior(self, exchange: Exchange) -> Behavior:
        behavior = exchange.view.behavior_of(exchange.item)
        if self.options.delivery is not None:
            return msgspec.structs.replace(behavior, delivery=self.options.delivery)
        return behavior

    def _finished(self, exchange: Exchange) -> None:
        """The answer is out, or never will be: open the connection, change the phase, go on."""
        connection, state = exchange.connection, exchange.connection.state
        connection.exchanges.pop(exchange.channel, None)
        alive = exchange.channel.link.closed is None and connection.name in self.connections
        if alive and exchange.progress.completed and exchange.code is None and exchange.opens:
            self._opened(exchange)
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

    def _opened(self, exchange: Exchange) -> None:
        """The moment of `on_connect`; continuous effects begin now."""
        connection = exchange.connection
        if connection.opened:
            return
        connection.opened = connection.welcomed = True
        for effect in exchange.view.behavior.side_effects:
            if effect.trigger == "on_connect":
                self._start_effect(connection, effect, exchange.channel, None)
        self._continue(connection, exchange.channel)
        if exchange.era == "26":
            self._greet(connection)

    # ------------------------------------------------------------------------------------ answers

    def _respond(self, exchange: Exchange) -> Steps:
        """The steps of one answer."""
        channel, message = exchange.channel, exchange.message
        behavior = self._behavior(exchange)
        if exchange.era == "26" and message.method == "subscriptions/listen":
            yield from self._listen(exchange)
            return
        answer, is_dropped = self._answer(exchange)
        if isinstance(answer, FromHandler):
            answer = yield from self._ask(exchange, answer)
        delay = delay_of(behavior.delivery, self.caps)
        if delay:
            yield Wait(exchange.began + delay)
        if isinstance(channel, AnswerChannel):
            # The result ends the stream, so the effects of the request come before it.
            yield Join(tuple(each for each in exchange.effects if each is not None))
        extension = behavior.x_equipage
        if is_dropped or isinstance(extension, Silent):
            yield from self._hold_open(exchange)
            return
        frames = frames_of(
            extension, lambda raw_id: self._frame(exchange, answer, raw_id), self.caps
        )
        yield from self._start_answer(exchange, answer, len(frames))
        for frame in frames:
            yield from deliver(
                frame, behavior.delivery, channel, lambda: self.now, self.caps, exchange.progress
            )
        exchange.progress.completed = not exchange.progress.capped
        if isinstance(channel, AnswerChannel):
            if isinstance(behavior.delivery, UnboundedLine):
                yield from self._hold_open(exchange)
            channel.end()

    def _hold_open(self, exchange: Exchange) -> Steps:
        """Say nothing more. Over HTTP the answer stays open, to the cap."""
        exchange.progress.completed = True
        if isinstance(exchange.channel, AnswerChannel):
            exchange.channel.begin(200, None)
            yield Wait(self.now + self.caps.delay_ms)
            exchange.channel.end()

    def _frames(self, exchange: Exchange, answer: Answer) -> list[wire.Pieces]:
        extension = self._behavior(exchange).x_equipage
        return frames_of(extension, lambda raw: self._frame(exchange, answer, raw), self.caps)

    def _frame(self, exchange: Exchange, answer: Answer, raw_id: bytes | None) -> wire.Pieces:
        number = exchange.message.raw_id if raw_id is None else raw_id
        if isinstance(answer, Failure):
            return wire.response(number, "error", answer.body)
        if exchange.era == "26":
            answer = eras.completed(answer, exchange.message.method, self.config.server)
        return wire.response(number, "result", answer)

    def _start_answer(self, exchange: Exchange, answer: Answer, frames: int) -> Steps:
        """Decide how an HTTP answer looks, and send its head."""
        channel, connection = exchange.channel, exchange.connection
        if isinstance(answer, Failure):
            exchange.code = answer.code
        if not isinstance(channel, AnswerChannel):
            return
        while connection.backlog and channel.takes_events:
            yield from write(channel, connection.backlog.popleft().data())
        if frames > 1 and channel.takes_events:
            channel.begin_events()
        delivery = self._behavior(exchange).delivery
        plain = delivery is None or delivery.__struct_config__.tag in ("normal", "response_delay")
        length = None
        if plain and frames == 1 and not wire.is_streamed(answer):
            pieces = self._frame(exchange, answer, None)
            extension = self._behavior(exchange).x_equipage
            (frame,) = frames_of(
                extension, lambda raw: self._frame(exchange, answer, raw), self.caps
            )
            pieces.close()  # type: ignore[attr-defined]  # it is a generator
            length = sum(map(len, frame))
        channel.begin(exchange.status, length)

    def _ask(self, exchange: Exchange, wanted: FromHandler) -> Generator[Step, Any, Answer]:
        """Let a handler make the answer; the value is the answer."""
        reply = yield Ask(wanted)
        if isinstance(reply, str):  # what went wrong
            return self._failed(exchange, reply)
        error = reply.get("error")
        if error is not None:
            shown = error if isinstance(error, dict) else {"message": str(error)}
            code = shown.get("code")
            code = code if isinstance(code, int) else wire.INTERNAL_ERROR
            return Failure(code, str(shown.get("message", "")), shown.get("data"))
        return wanted.finish(reply)

    def _failed(self, exchange: Exchange, reason: str) -> Failure:
        # -32000 to -32019 are closed in the newer revision.
        return Failure(-32000 if exchange.era == "25" else wire.INTERNAL_ERROR, reason)

    def _answer(self, exchange: Exchange) -> tuple[Answer, bool]:
        """The answer to a request, and whether it is dropped instead."""
        message, view, era = exchange.message, exchange.view, exchange.era
        method, params = message.method, message.params
        refused = self._refused(exchange)
        if refused is not None:
            return refused, False
        if method == "initialize" and self.options.era != "26":
            offered = answers.capabilities(view)
            return eras.handshake(params.get("protocolVersion"), self.config.server, offered), False
        if method == "server/discover" and era == "26":
            versions = eras.supported(self.options.era)
            return {
                "supportedVersions": versions,
                "capabilities": answers.capabilities(view),
            }, False
        if method in answers.LISTS:
            return answers.LISTS[method](view), False
        if method in TARGETS and not (era == "26" and method in eras.GONE):
            return self._item_answer(exchange), False
        if method in _EMPTY_ANSWERS and era == "25":
            return {}, False
        return self._unknown(exchange)

    def _refused(self, exchange: Exchange) -> Failure | None:
        """The error of a request for a revision that the server does not speak."""
        params, era = exchange.message.params, exchange.era
        requested = eras.meta_of(params).get(eras.VERSION_KEY)
        if era == "26" and exchange.message.method == "initialize":
            requested = params.get("protocolVersion")
        elif era != "26" or requested in (None, eras.MODERN):
            return None
        exchange.status = 400
        data = {"supported": eras.supported(self.options.era), "requested": requested}
        return Failure(eras.VERSION_REFUSED, "this revision is not supported", data)

    def _unknown(self, exchange: Exchange) -> tuple[Answer, bool]:
        policy, method = self.config.unknown_methods, exchange.message.method
        # Clients ask this before anything else, and hang on an odd answer; it has no policy.
        if policy == "error" or method == "server/discover":
            exchange.status = 404 if exchange.era == "26" else 200
            return Failure(wire.UNKNOWN_METHOD, f"unknown method: {method}"), False
        return None, policy == "drop"

    def _item_answer(self, exchange: Exchange) -> Answer:
        message, item = exchange.message, exchange.item
        method, params, key = message.method, message.params, TARGETS[message.method]
        target = params.get(key)
        if not isinstance(target, str):
            return answers.unnamed(method, key)
        if method in _MOMENTS:
            return {}
        if item is None:
            code = -32002 if key == "uri" and exchange.era == "25" else wire.INVALID_PARAMS
            return Failure(code, f"unknown {'resource' if key == 'uri' else key}: {target}")
        calls = exchange.connection.state.calls
        counted = (method, identity(item))
        calls[counted] += 1
        context = self._context(exchange, item, calls[counted])
        try:
            return answers.answer_of(
                item, calls[counted], context, self._question(exchange, context)
            )
        except Exhausted:
            return self._failed(exchange, "the sequence of answers is exhausted")

    def _context(self, exchange: Exchange, item: Item, calls: int) -> Context:
        message, view = exchange.message, exchange.view
        variables = {
            **answers.variables_of(item, calls, message.params),
            "phase": {"name": view.name, "index": view.index},
            "request": {"id": message.raw_id.decode(), "method": message.method},
            "connection": {"id": exchange.connection.name},
        }
        return Context(
            variables,
            lambda name: self._variable(exchange.connection, name),
            lambda: str(uuid.UUID(int=self.random.getrandbits(128), version=4)),
            lambda: (self.options.epoch, self.now),
            self.options.literal,
        )

    def _variable(self, connection: Connection, name: str) -> str | None:
        if name not in self.options.env:
            self.trace(connection, "env_refused", name=name)
        return self.options.env.get(name)

    def _question(self, exchange: Exchange, context: Context) -> dict[str, Any]:
        """What a handler is asked."""
        sort = next(name for name in ("tool", "resource", "prompt") if name in context.variables)
        own = context.variables[sort]
        return {
            sort: own["uri" if sort == "resource" else "name"],
            "arguments": context.variables["args"],
            "context": {
                "phase": exchange.view.name,
                "phase_index": exchange.view.index,
                f"{sort}_call_count": own["call_count"],
                "connection_id": exchange.connection.name,
                "request_id": exchange.message.id,
            },
        }

    # ------------------------------------------------------------------------------ subscriptions

    def _listen(self, exchange: Exchange) -> Steps:
        """A stream of notifications: acknowledged at once, ended by the client or with the run."""
        connection, message, channel = exchange.connection, exchange.message, exchange.channel
        wanted = message.params.get("notifications")
        wants = {
            key: value
            for key, value in (wanted if isinstance(wanted, dict) else {}).items()
            if value is True or isinstance(value, list)
        }
        found = Subscription(message.raw_id, message.id, channel, wants)
        connection.subscriptions.append(found)
        frame = Frame("notifications/subscriptions/acknowledged", {"notifications": wants})
        data = frame.data({eras.SUBSCRIPTION_KEY: message.id})
        self.trace(connection, "frame", origin="listen", method=frame.method, bytes=len(data) + 1)
        exchange.progress.begun = exchange.progress.completed = True
        exchange.progress.sent = len(data) + 1
        yield from write(channel, data)

    def _unsubscribe(self, connection: Connection, found: Subscription) -> None:
        connection.subscriptions.remove(found)
        for uri in found.wants.get("resourceSubscriptions") or ():
            if connection.state.count("resources/unsubscribe", uri, {}):
                self._change_phase(connection.state)

    def end_subscriptions(self) -> None:
        """The graceful end of every stream is the result of its request."""
        for connection in self.connections.values():
            for each in connection.subscriptions:
                result = eras.completed({}, "subscriptions/listen", self.config.server)
                (data,) = wire.response(each.raw_id, "result", result)
                self.jobs.start(_last(each.channel, data), connection)
            connection.subscriptions.clear()

    # ------------------------------------------------------------------------------- side effects

    def _start_request_effects(self, exchange: Exchange) -> None:
        """Side effects of a request start when it is taken up, answered or not."""
        moments = {"on_request", _MOMENTS.get(exchange.message.method, "on_request")}
        if exchange.era == "26" and _uris(exchange.message.params):
            moments.add("on_subscribe")
        for effect in self._behavior(exchange).side_effects:
            if effect.trigger in moments:
                job = self._start_effect(exchange.connection, effect, exchange.channel, exchange)
                exchange.effects.append(job)

    def _start_effect(
        self,
        connection: Connection,
        effect: SideEffect,
        channel: Channel,
        exchange: Exchange | None,
    ) -> Any:
        """Start a side effect; None if it cannot run here."""
        own = channel if exchange is not None else None
        outlet = Outlet(connection, channel.link, own, self.caps.queue)
        done = Outcome()
        deaf = isinstance(own, AnswerChannel) and sends_messages(effect) and not own.takes_events
        connection.effects = [each for each in connection.effects if not each.done]
        if deaf or len(connection.effects) >= self.caps.effects:
            done.end = "skipped" if deaf else "capped"
            self._effect_over(connection, effect, done, self.now)
            return None
        job = self.jobs.start(self._effect(connection, effect, outlet, done), connection)
        connection.effects.append(job)
        return job

    def _effect(
        self, connection: Connection, effect: SideEffect, outlet: Outlet, done: Outcome
    ) -> Steps:
        began = self.now
        try:
            yield from steps_of(effect, outlet, lambda: self.now, self.caps, done)
        except Exception:
            done.end = "failed"
            raise
        finally:
            if outlet.lost:
                self.trace(connection, "unroutable", messages=outlet.lost)
            self._effect_over(connection, effect, done, began)

    def _effect_over(
        self, connection: Connection, effect: SideEffect, done: Outcome, began: int
    ) -> None:
        kind = effect.__struct_config__.tag
        if sends_messages(effect) and connection.era == "26" and done.messages:
            self.trace(connection, "violates", what=f"{kind} in 2026-07-28")
        self.trace(
            connection,
            "effect",
            type=kind,
            trigger=effect.trigger,
            messages=done.messages or None,
            bytes=done.bytes or None,
            ms=self.now - began,
            end=done.end,
        )

    def _continue(self, connection: Connection, channel: Channel) -> None:
        """Continuous effects: end those that the phase lacks, start those that it adds."""
        wanted = {
            str(effect): effect
            for effect in connection.state.view.behavior.side_effects
            if effect.trigger == "continuous"
        }
        for key in connection.continuous.keys() - wanted.keys():
            self.jobs.cancel([connection.continuous.pop(key)])
        for key, effect in wanted.items():
            if key not in connection.continuous:
                job = self._start_effect(connection, effect, channel, None)
                if job is not None:
                    connection.continuous[key] = job

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
        for connection in self._members(state):
            if connection.opened:
                channel = connection.pipe or Channel(Link())
                self._continue(connection, channel)
            self._enter(connection, change.new)

    def _greet(self, connection: Connection) -> None:
        """The entry actions of the first phase, once the client can listen."""
        state = connection.state
        if not state.greeted:
            state.greeted = True
            self._enter(connection, state.view)

    def _enter(self, connection: Connection, view: View) -> None:
        if view.phase is not None and view.phase.on_enter:
            actions = view.phase.on_enter
            self.jobs.start(self._entry_actions(connection, actions), connection)

    def _entry_actions(self, connection: Connection, actions: Iterable[EntryAction]) -> Steps:
        """In order, and without a delivery."""
        channel = connection.pipe
        link = channel.link if channel is not None else Link()
        outlet = Outlet(connection, link, None, self.caps.queue)
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
        self.jobs.halt()
        for connection in self.connections.values():
            connection.queue.clear()
        self.end_subscriptions()


def _uris(params: Mapping[str, Any]) -> list[str]:
    """The resources that a `subscriptions/listen` asks about."""
    wanted = params.get("notifications")
    found = wanted.get("resourceSubscriptions") if isinstance(wanted, dict) else None
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _last(channel: Channel, data: bytes) -> Steps:
    yield from write(channel, data)
    if isinstance(channel, AnswerChannel):
        channel.end()
