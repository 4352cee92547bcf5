"""The engine in the world: a clock, the questions of handlers, signals and the end.

With the real clock, things happen when they are due. With the virtual clock nothing ever waits:
between two messages of the client everything under way is finished, and the time is that of the
last deadline. The transcript then depends on the client's bytes alone, not on when they came.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from equipage_faults.engine import Engine
from equipage_faults.jobs import Job

#: How long frames that have begun may take to go out after a signal, in seconds.
GRACE_SECONDS = 1.5


class Transport(Protocol):
    """Carries bytes between the engine and a client."""

    def flush(self) -> None:
        """Send what waits in the channels."""

    @property
    def is_drained(self) -> bool:
        """Whether everything handed over has left the process."""

    def start(self) -> None:
        """Let clients in."""

    async def close(self) -> None:
        """Let every client go."""


class Driver:
    """Runs an engine until something ends it."""

    def __init__(
        self, engine: Engine, *, virtual: bool, ask: Callable[[Any], Any], run_bytes: int
    ) -> None:
        self.engine = engine
        self.virtual = virtual
        self.transport: Transport | None = None
        self.ended: asyncio.Future[tuple[str, int]] = asyncio.get_running_loop().create_future()
        self._ask = ask
        self._run_bytes = run_bytes
        self._loop = asyncio.get_running_loop()
        self._start = self._loop.time()
        self._alarm: asyncio.TimerHandle | None = None
        self._open_questions = 0
        self._waiting_questions: list[tuple[Job, Any]] = []
        self._halting = False

    def dispatch(self, call: Callable[[], None]) -> None:
        """Give the engine an event now, by `call`, and run what follows from it."""
        if self.ended.done():
            return
        if not self.virtual:
            self.engine.advance(self._now, events_first=True)
        call()
        self._run_due()

    @property
    def is_quiet(self) -> bool:
        """Whether the next message may come: always, or when all is done on a virtual clock."""
        if self._halting:
            return False
        if not self.virtual:
            return True
        jobs = self.engine.jobs
        return jobs.next_due is None and not jobs.are_blocked and not self._open_questions

    @property
    def _now(self) -> int:
        return int((self._loop.time() - self._start) * 1000)

    def _run_due(self) -> None:
        """Run what is due, hand over what is to be sent, and set the alarm."""
        engine = self.engine
        if self.virtual:
            engine.advance(engine.now)
            while engine.stopped is None and not engine.jobs.are_blocked:
                due = engine.jobs.next_due
                if due is None:
                    break
                engine.advance(due)
                self._flush()
        else:
            engine.advance(self._now)
        self._flush()
        self._ask_handlers()
        if engine.stopped is not None:
            self.end(engine.stopped, 1)
        elif engine.jobs.sent > self._run_bytes:
            engine.trace(None, "capped", what="run")
            self.end("capped", 1)
        self._set_alarm()

    def _flush(self) -> None:
        if self.transport is not None:
            self.transport.flush()

    def _set_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        due = self.engine.next_due
        if due is not None and not self.virtual and not self.ended.done():
            self._alarm = self._loop.call_at(
                self._start + due / 1000, lambda: self.dispatch(lambda: None)
            )

    # Questions: a handler runs in a thread of its own, a few at once.

    def _ask_handlers(self) -> None:
        jobs = self.engine.jobs
        self._waiting_questions += jobs.asked
        jobs.asked.clear()
        while self._waiting_questions and self._open_questions < self.engine.caps.handlers:
            job, question = self._waiting_questions.pop(0)
            self._open_questions += 1
            threading.Thread(target=self._ask_handler, args=(job, question), daemon=True).start()

    def _ask_handler(self, job: Job, question: Any) -> None:
        reply = self._ask(question)
        with suppress(RuntimeError):  # a handler may answer when the loop is closed
            self._loop.call_soon_threadsafe(self._pass_reply, job, reply)

    def _pass_reply(self, job: Job, reply: Any) -> None:
        self._open_questions -= 1
        self.dispatch(lambda: self.engine.jobs.answer(job, reply))

    # The end.

    def end(self, reason: str, code: int) -> None:
        """End the run, at once."""
        if not self.ended.done():
            self.ended.set_result((reason, code))

    def listen_for_signals(self) -> Callable[[], None]:
        """Let signals end the run; returns a function that restores the handlers from before.

        Not by `add_signal_handler`: that one loses signals while the threads of a busy transport
        fill the pipe that wakes the loop, and complains on standard error, which may be full.
        """
        numbers = (signal.SIGTERM, signal.SIGINT)
        before = [(each, signal.getsignal(each)) for each in numbers]
        for each in numbers:
            signal.signal(each, self._forward_signal)

        def restore() -> None:
            for number, handler in before:
                signal.signal(number, handler)

        return restore

    def _forward_signal(self, number: int, _frame: object) -> None:
        self._loop.call_soon_threadsafe(self._handle_signal, signal.Signals(number))

    def _handle_signal(self, number: signal.Signals) -> None:
        """The first signal lets whole frames go out; the second one does not wait."""
        reason = "terminated" if number == signal.SIGTERM else "interrupted"
        if self._halting:
            self.end(reason, 128 + number)
            return
        self._halting = True
        self.engine.halt()
        self._flush()
        self.end_when_drained(reason, 128 + number)

    def end_when_drained(self, reason: str, code: int, deadline: float | None = None) -> None:
        """End the run as soon as the client has taken what was sent, or does not take it."""
        if deadline is None:
            deadline = self._loop.time() + GRACE_SECONDS
        drained = self.transport is None or self.transport.is_drained
        if drained or self._loop.time() >= deadline:
            self.end(reason, code)
        else:
            self._loop.call_later(0.005, self.end_when_drained, reason, code, deadline)
