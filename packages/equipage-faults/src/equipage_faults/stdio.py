"""The two pipes of a process. Threads read and write them, whatever they are connected to.

asyncio cannot watch a regular file, and would set a terminal that others use to non-blocking mode.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from equipage.core.text import LineSplitter
from equipage_faults.driver import Driver
from equipage_faults.jobs import Channel, Link
from equipage_faults.wire import INBOUND_LIMIT

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
