"""The engine in the world: a clock, the questions of handlers, pipes, signals and the end.

With the real clock, things happen when they are due. With the virtual clock nothing ever waits:
between two messages of the client everything under way is finished, and the time is that of the
last deadline. The transcript then depends on the client's bytes alone, not on when they came.

Threads read and write the two pipes of a process, whatever they are connected to: asyncio cannot
watch a regular file, and would set a terminal that others use to non-blocking mode.
"""

from __future__ import annotations

import asyncio
import os
import queue
import signal
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from equipage.core.text import LineSplitter
from equipage_faults.engine import Engine
from equipage_faults.jobs import Channel, Job, Link
from equipage_faults.wire import INBOUND_LIMIT

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


_CHUNK = 65_536
#: Requests that wait may have so many bytes in all before the server stops reading.
_QUEUED_BYTES = 2 * INBOUND_LIMIT


class Pipes:
    """Serves one client on two descriptors."""

    def __init__(self, driver: Driver, reads: int, writes: int) -> None:
        self._driver = driver
        self._engine = driver.engine
        self._reads, self._writes = reads, writes
        self._loop = asyncio.get_running_loop()
        self._link = Link()
        self._channel = Channel(self._link)
        self.connection = self._engine.connect()
        self.connection.pipe = self._channel
        self._splitter = LineSplitter(INBOUND_LIMIT)
        self._lines: deque[bytes | None] = deque()  # not taken up yet; None is one too long
        self._ended = False  # the client has closed its end
        self._may_read = threading.Event()
        self._outgoing: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._unwritten = 0
        self._is_called = False
        self._is_over = False

    def start(self) -> None:
        for work in (self._read, self._write):
            threading.Thread(target=work, daemon=True).start()
        self._may_read.set()

    async def close(self) -> None:
        """End the threads, if they do not wait for the client."""
        self._is_over = True
        self._may_read.set()
        self._outgoing.put(b"")

    # In threads: nothing here touches the engine.

    def _read(self) -> None:
        while True:
            self._may_read.wait()
            self._may_read.clear()
            if self._is_over:
                return
            try:
                data = os.read(self._reads, _CHUNK)
            except OSError:
                data = b""
            self._call_in_loop(self._receive_bytes, data)
            if not data:
                return

    def _write(self) -> None:
        while True:
            data = memoryview(self._outgoing.get())
            if self._is_over:
                return
            size = len(data)
            try:
                while data:
                    data = data[os.write(self._writes, data) :]
            except OSError:
                self._call_in_loop(self._handle_broken_pipe)
                return
            self._call_in_loop(self._confirm_written, size)

    def _call_in_loop(self, call: Callable[..., None], *given: Any) -> None:
        with suppress(RuntimeError):  # a client may write or read long after the loop was closed
            self._loop.call_soon_threadsafe(call, *given)

    # In the loop.

    def _receive_bytes(self, data: bytes) -> None:
        self._lines += self._splitter.feed(data)
        self._ended = not data
        self._take_lines()

    def _confirm_written(self, size: int) -> None:
        self._unwritten -= size
        self._driver.dispatch(lambda: self._engine.jobs.acknowledge_written(self._channel, size))
        self._take_lines()

    def _handle_broken_pipe(self) -> None:
        """The client is gone: nothing can be sent any more."""
        self._channel.close()
        self._unwritten = 0
        self._engine.forget(self.connection, "client")
        self._driver.end("completed", 0)

    def _take_lines(self) -> None:
        """Take up lines as long as there is room, then read on or end."""
        self._is_called = False
        while self._lines and self._has_room:
            self._driver.dispatch(partial(self._receive, self._lines.popleft()))
        if self._driver.ended.done() or not self._has_room:
            return
        if not self._ended:
            self._may_read.set()
        elif self.is_drained and not self.connection.queue and not self.connection.exchanges:
            self._engine.forget(self.connection, "client")
            self._driver.end("completed", 0)

    def _receive(self, line: bytes | None) -> None:
        if line is None:
            self._engine.record_violation(self.connection, "oversized")
        elif line.strip():
            self._engine.receive(self.connection, line.strip(), self._channel)

    @property
    def _has_room(self) -> bool:
        """Whether the server takes up another message now."""
        waiting = self.connection.queue
        return (
            self._driver.is_quiet
            and self._link.reading
            and self._link.closed is None
            and len(waiting) < self._engine.caps.queue
            and sum(message.size for message, _ in waiting) < _QUEUED_BYTES
        )

    # For the driver.

    def flush(self) -> None:
        while self._channel.outbox:
            data = self._channel.outbox.popleft()
            assert isinstance(data, bytes)
            self._unwritten += len(data)
            self._outgoing.put(data)
        if self._link.closed is not None and self._channel.is_open:
            # Nothing more goes out, but what was sent before the end arrives.
            self._channel.close()
            self._engine.forget(self.connection, "server")
            self._driver.end_when_drained("completed", 0)
        if not self._is_called:  # there may be room for the next line now
            self._is_called = True
            self._loop.call_soon(self._take_lines)

    @property
    def is_drained(self) -> bool:
        return not self._unwritten
