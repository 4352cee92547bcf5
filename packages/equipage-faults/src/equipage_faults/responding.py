"""From a request to the steps that answer it, well or badly."""

from __future__ import annotations

from equipage.formats.server.model import Silent, UnboundedLine
from equipage_faults import eras, wire
from equipage_faults.answers import Answer, Failure, HandlerCall
from equipage_faults.delivery import delay_of, deliver, frames_of
from equipage_faults.exchange import Exchange, Run
from equipage_faults.jobs import Join, Steps, Wait
from equipage_faults.replies import Replies
from equipage_faults.routes import AnswerChannel, Subscription, write
from equipage_faults.wire import Frame


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
            answer = eras.complete_result(answer, exchange.message.method, self._run.config.server)
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
        data = frame.data({eras.SUBSCRIPTION_KEY: message.id})
        self._run.trace(
            connection, "frame", origin="listen", method=frame.method, bytes=len(data) + 1
        )
        exchange.progress.begun = exchange.progress.completed = True
        exchange.progress.sent = len(data) + 1
        yield from write(channel, data)
