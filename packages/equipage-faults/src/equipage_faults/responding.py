"""From a request to the steps that answer it, well or badly."""

from __future__ import annotations

import uuid
from collections.abc import Generator
from typing import Any

from equipage.formats.server.model import Silent, UnboundedLine
from equipage_faults import answers, wire
from equipage_faults.answers import Answer, Failure, HandlerCall, SequenceExhausted
from equipage_faults.delivery import delay_of, deliver, frames_of
from equipage_faults.exchange import Exchange, Run
from equipage_faults.jobs import Ask, Join, Step, Steps, Wait
from equipage_faults.matching import Context
from equipage_faults.phases import TARGETS, Item, identity, target_of
from equipage_faults.routes import AnswerChannel, Connection, Subscription, write
from equipage_faults.wire import Frame

_EMPTY_ANSWERS = frozenset({"ping", "logging/setLevel"})
SUBSCRIBING = frozenset({"resources/subscribe", "resources/unsubscribe"})


class Replies:
    """Answers requests from the snapshot that their exchange holds."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def answer(self, exchange: Exchange) -> tuple[Answer, bool]:
        """The answer to a request, and whether it is dropped instead."""
        message, view, era = exchange.message, exchange.view, exchange.era
        method, params = message.method, message.params
        refused = self._revision_failure(exchange)
        if refused is not None:
            return refused, False
        if method == "initialize" and era == "25":
            asked, offered = params.get("protocolVersion"), answers.capabilities(view)
            return wire.handshake(asked, self._run.config.server, offered), False
        if method == "server/discover" and era == "26":
            versions, offered = (
                wire.supported_versions(self._run.options.era),
                answers.capabilities(view),
            )
            return {"supportedVersions": versions, "capabilities": offered}, False
        if method in answers.LISTS:
            return answers.LISTS[method](view), False
        if method in TARGETS and not (era == "26" and method in wire.REMOVED_METHODS):
            return self._item_answer(exchange), False
        if method in _EMPTY_ANSWERS and era == "25":
            return {}, False
        return self._answer_unknown_method(exchange)

    def _revision_failure(self, exchange: Exchange) -> Failure | None:
        """The error of a request that the newer revision does not allow."""
        message = exchange.message
        meta = wire.meta_of(message.params)
        requested, missing = meta.get(wire.VERSION_KEY), wire.missing_meta(meta)
        if exchange.era == "25" or (requested == wire.MODERN and missing is None):
            return None
        exchange.status = 400
        if message.method == "initialize" and requested is None:
            requested = message.params.get("protocolVersion")
        elif missing is not None:
            self._run.trace(exchange.connection, "violation", what="metadata", missing=missing)
            return Failure(wire.INVALID_PARAMS, f"`_meta` needs `{missing}`")
        data = {"supported": wire.supported_versions(self._run.options.era), "requested": requested}
        return Failure(wire.VERSION_REFUSED, "this revision is not supported", data)

    def _answer_unknown_method(self, exchange: Exchange) -> tuple[Answer, bool]:
        policy, method = self._run.config.unknown_methods, exchange.message.method
        # Clients ask this before anything else, and hang on an odd answer; it has no policy.
        if policy == "error" or method == "server/discover":
            exchange.status = 404 if exchange.era == "26" else 200
            return Failure(wire.UNKNOWN_METHOD, f"unknown method: {method}"), False
        return None, policy == "drop"

    def _item_answer(self, exchange: Exchange) -> Answer:
        message, item = exchange.message, exchange.item
        method, params, key = message.method, message.params, TARGETS[message.method]
        target = target_of(method, params)
        if target is None:
            return Failure(wire.INVALID_PARAMS, f"`{method}` needs `{key}`")
        if method in SUBSCRIBING:
            return {}
        if item is None:
            code = -32002 if key == "uri" and exchange.era == "25" else wire.INVALID_PARAMS
            return Failure(code, f"unknown {'resource' if key == 'uri' else key}: {target}")
        calls = exchange.connection.state.calls
        counted = (method, identity(item))
        calls[counted] += 1
        context = self._context(exchange, item, calls[counted])
        question = self._question(exchange, context)
        try:
            return answers.answer_of(item, calls[counted], context, question)
        except SequenceExhausted:
            return self.server_failure(exchange, "the sequence of answers is exhausted")

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
            lambda: str(uuid.UUID(int=self._run.random.getrandbits(128), version=4)),
            lambda: (self._run.options.epoch, self._run.now),
            self._run.options.literal,
        )

    def _variable(self, connection: Connection, name: str) -> str | None:
        if name not in self._run.options.env:
            self._run.trace(connection, "env_refused", name=name)
        return self._run.options.env.get(name)

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

    def server_failure(self, exchange: Exchange, reason: str) -> Failure:
        # -32000 to -32019 are closed in the newer revision.
        return Failure(-32000 if exchange.era == "25" else wire.INTERNAL_ERROR, reason)

    def ask(self, exchange: Exchange, wanted: HandlerCall) -> Generator[Step, Any, Answer]:
        """Let a handler make the answer; the value is the answer."""
        reply = yield Ask(wanted)
        if isinstance(reply, str):  # what went wrong
            return self.server_failure(exchange, reply)
        error = reply.get("error")
        if error is not None:
            shown = error if isinstance(error, dict) else {"message": str(error)}
            code = shown.get("code")
            code = code if isinstance(code, int) else wire.INTERNAL_ERROR
            return Failure(code, str(shown.get("message", "")), shown.get("data"))
        return wanted.finish(reply)


class Responder:
    """Answers requests, over time."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._replies = Replies(run)

    def respond(self, exchange: Exchange) -> Steps:
        """The steps of an answer, and a record of how far they got."""
        progress = exchange.progress
        try:
            yield from self._respond(exchange)
        finally:
            # An HTTP answer that never began sent no bytes, of which there would be a record.
            if not isinstance(exchange.channel, AnswerChannel) or progress.begun:
                self._trace_sent(exchange)

    def _trace_sent(self, exchange: Exchange) -> None:
        progress, delivery = exchange.progress, exchange.behavior(self._run.options).delivery
        if progress.capped:
            self._run.trace(exchange.connection, "capped", what="frame")
        if not progress.begun and progress.completed:
            return  # it was never meant to be answered
        self._run.trace(
            exchange.connection,
            "send",
            id=exchange.message.id,
            ok=exchange.code is None,
            code=exchange.code,
            delivery=delivery.__struct_config__.tag if delivery is not None else "normal",
            bytes=progress.sent,
            ms=self._run.now - exchange.began,
            completed=progress.completed,
        )
        if self._run.config.logging.on_response:
            self._run.log("info", f"answered {exchange.message.method}")

    def _respond(self, exchange: Exchange) -> Steps:
        channel, message = exchange.channel, exchange.message
        behavior = exchange.behavior(self._run.options)
        if exchange.era == "26" and message.method == "subscriptions/listen":
            yield from self._listen(exchange)
            return
        answer, is_dropped = self._replies.answer(exchange)
        if isinstance(answer, HandlerCall):
            # A program or a web service answers, which takes time of its own.
            answer = yield from self._replies.ask(exchange, answer)
        delay = delay_of(behavior.delivery, self._run.caps)
        if delay:
            yield Wait(exchange.began + delay)
        if isinstance(channel, AnswerChannel):
            # The result ends the stream, so the effects of the request come before it.
            yield Join(tuple(exchange.effects))
        if is_dropped or isinstance(behavior.x_equipage, Silent):
            yield from self._hold_open(exchange)
            return
        frames = self._frames(exchange, answer)
        yield from self._start_answer(exchange, answer, len(frames))
        for frame in frames:
            yield from deliver(
                frame,
                behavior.delivery,
                channel,
                lambda: self._run.now,
                self._run.caps,
                exchange.progress,
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
            yield Wait(self._run.now + self._run.caps.delay_ms)
            exchange.channel.end()

    def _frames(self, exchange: Exchange, answer: Answer) -> list[wire.Pieces]:
        extension = exchange.behavior(self._run.options).x_equipage
        return frames_of(extension, lambda raw: self._frame(exchange, answer, raw), self._run.caps)

    def _frame(self, exchange: Exchange, answer: Answer, raw_id: bytes | None) -> wire.Pieces:
        number = exchange.message.raw_id if raw_id is None else raw_id
        if isinstance(answer, Failure):
            return wire.response(number, "error", answer.body)
        if exchange.era == "26":
            answer = wire.complete_result(answer, exchange.message.method, self._run.config.server)
        return wire.response(number, "result", answer)

    def _start_answer(self, exchange: Exchange, answer: Answer, frames: int) -> Steps:
        """Decide how an HTTP answer looks, and send its head."""
        channel, connection = exchange.channel, exchange.connection
        if isinstance(answer, Failure):
            exchange.code = answer.code
        if not isinstance(channel, AnswerChannel):
            return
        # What found no way before goes out first, in the order it was meant to be seen.
        while connection.backlog and channel.takes_events:
            yield from write(channel, connection.backlog.popleft().data())
        if frames > 1 and channel.takes_events:
            channel.begin_events()
        delivery = exchange.behavior(self._run.options).delivery
        # Only an answer that goes out as it is has a length that can be announced.
        plain = delivery is None or delivery.__struct_config__.tag in ("normal", "response_delay")
        length = None
        if plain and frames == 1 and not wire.is_streamed(answer):
            (frame,) = self._frames(exchange, answer)
            length = sum(map(len, frame))
        channel.begin(exchange.status, length)

    def _listen(self, exchange: Exchange) -> Steps:
        """A stream of notifications: acknowledged at once, ended by the client or with the run."""
        connection, message, channel = exchange.connection, exchange.message, exchange.channel
        wanted = message.params.get("notifications")
        wants = {
            key: value if value is True else [each for each in value if isinstance(each, str)]
            for key, value in (wanted if isinstance(wanted, dict) else {}).items()
            if value is True or isinstance(value, list)
        }
        found = Subscription(message.raw_id, message.id, channel, wants)
        connection.subscriptions.append(found)
        frame = Frame("notifications/subscriptions/acknowledged", {"notifications": wants})
        data = frame.data({wire.SUBSCRIPTION_KEY: message.id})
        self._run.trace(
            connection, "frame", origin="listen", method=frame.method, bytes=len(data) + 1
        )
        exchange.progress.begun = exchange.progress.completed = True
        exchange.progress.sent = len(data) + 1
        yield from write(channel, data)
