"""MCP over standard input and output: one message per line.

The reader is our own: it bounds the length of a line, answers lines that are not messages, and goes
on with the next one. While we serve, descriptor 1 leads to standard error, so that nothing but the
protocol is ever written to the client.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import stat
import sys
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage

from equipage.core.diagnostics import UsageError
from equipage.core.text import LineSplitter
from equipage.syntax import bracket_depth
from equipage_serve.children import mark_done, wait_writable

#: The longest line, in bytes.
MAX_LINE = 4 * 1024 * 1024
#: The deepest nesting of a message.
MAX_NESTING = 256
#: How many bytes of answers to lines that are not messages wait for a client that does not read.
MAX_REFUSALS = 4 * 1024 * 1024
#: How many calls may be under way, or wait for a client that does not read what they answer. With
#: more than that, nothing more is read.
MAX_UNDER_WAY = 2_000
#: How often the number of calls is checked again, in seconds.
_POLL_SECONDS = 0.05
#: The bytes that a waiting answer takes beside its text.
_ENTRY_OVERHEAD = 128
#: How long the last of them may take after the client closed its end, in seconds.
_DRAIN_SECONDS = 2.0
_CHUNK = 1 << 16
_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600


def problem_of(line: bytes | None) -> tuple[int, str, Any] | None:
    """Why a line is not a message, as code, text and id; None if it looks like one."""
    if line is None:
        return _INVALID_REQUEST, f"The line is longer than {MAX_LINE} bytes", None
    # The parser below would recurse. Brackets inside texts count, too, which is on the safe side.
    if bracket_depth(line) > MAX_NESTING:
        return _INVALID_REQUEST, "The message is nested too deep", None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):  # bytes that are not UTF-8 are a ValueError, too
        return _PARSE_ERROR, "The line is not JSON", None
    if not isinstance(value, dict):
        return _INVALID_REQUEST, "A message is an object", None
    number = value.get("id")
    number = number if isinstance(number, str | int) and not isinstance(number, bool) else None
    if value.get("jsonrpc") != "2.0" or not ({"method", "result", "error"} & value.keys()):
        return _INVALID_REQUEST, "The object is not a message of JSON-RPC 2.0", number
    return None


class Pipes:
    """Standard input and output of this process as the transport of one client."""

    def __init__(self) -> None:
        self._input, self._output = 0, os.dup(1)
        # Prints of anything in this process must not reach the client, now or at exit.
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        # A pipe that is full must not stop the server; a file or a terminal never is for long.
        mode = os.fstat(self._output).st_mode
        if sys.platform != "win32" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            os.set_blocking(self._output, False)
        self._writing = asyncio.Lock()

    async def chunks(self) -> AsyncIterator[bytes]:
        """What the client sends, until it closes its end."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                # Waiting on the loop instead of in a thread: a read that blocks in a thread cannot
                # be cancelled.
                await _wait_readable(loop, self._input)
                data = os.read(self._input, _CHUNK)
            except (PermissionError, NotImplementedError):  # a file has no events
                data = await loop.run_in_executor(None, os.read, self._input, _CHUNK)
            if not data:
                return
            yield data

    async def wait_until_calm(self) -> bool:
        """Wait until few calls are under way; false if the client closed its end meanwhile."""
        while len(asyncio.all_tasks()) > MAX_UNDER_WAY:
            if self._is_closed():
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return True

    def _is_closed(self) -> bool:
        """Whether the client closed its end, whatever it sent before; where the system says so."""
        if not hasattr(select, "poll"):
            return False
        poll = select.poll()
        poll.register(self._input, getattr(select, "POLLRDHUP", 0))
        return bool(poll.poll(0))

    async def write(self, data: bytes) -> None:
        """Write one line. A client that does not read makes only its own answers wait."""
        async with self._writing:
            loop, view = asyncio.get_running_loop(), memoryview(data)
            while view:
                try:
                    view = view[os.write(self._output, view) :]
                except BlockingIOError:
                    await wait_writable(loop, self._output)

    def close(self) -> None:
        """Leave the pipe as it was found: others may use it after us."""
        if sys.platform != "win32":
            os.set_blocking(self._output, True)


async def _wait_readable(loop: asyncio.AbstractEventLoop, descriptor: int) -> None:
    ready = loop.create_future()
    loop.add_reader(descriptor, mark_done, ready)
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)


class _Refusals:
    """Answers to lines that are not messages. They wait beside the reader: one that waits for a
    client that never reads would not notice that the client closed its end."""

    def __init__(self, pipes: Pipes) -> None:
        self._pipes = pipes
        self._lines: deque[bytes] = deque()
        self._size = 0
        self._more, self._sent = asyncio.Event(), asyncio.Event()

    @property
    def is_full(self) -> bool:
        return self._size > MAX_REFUSALS

    def put(self, line: bytes) -> None:
        self._lines.append(line)
        self._size += len(line) + _ENTRY_OVERHEAD
        self._sent.clear()
        self._more.set()

    async def write(self) -> None:
        """Write whatever comes; to a client that is gone, nothing."""
        while True:
            await self._more.wait()
            self._more.clear()
            while self._lines:
                with contextlib.suppress(OSError):
                    await self._pipes.write(self._lines[0])
                self._size -= len(self._lines.popleft()) + _ENTRY_OVERHEAD
            self._sent.set()

    async def wait_sent(self) -> None:
        """Wait a moment until every answer is written."""
        if self._lines:
            with anyio.move_on_after(_DRAIN_SECONDS):
                await self._sent.wait()


async def serve_lines(server: Server[Any], pipes: Pipes) -> None:
    """Serve one client until it closes its end. Calls under way are then cancelled.

    Raises `UsageError` if it sends lines that are not messages, and does not read what we say.
    """
    to_server, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    answers, to_client = anyio.create_memory_object_stream[SessionMessage](0)
    refusals = _Refusals(pipes)

    async def read() -> None:
        splitter = LineSplitter(MAX_LINE)
        async with to_server:
            async for data in pipes.chunks():
                for line in splitter.feed(data):
                    await _forward_line(line, refusals, to_server)
                    if refusals.is_full:
                        group.cancel_scope.cancel()
                        return
                if not await pipes.wait_until_calm():
                    return
            for line in splitter.feed(b""):
                await _forward_line(line, refusals, to_server)
            await refusals.wait_sent()

    async def write() -> None:
        async with to_client:
            async for each in to_client:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    await pipes.write(text.encode() + b"\n")
                except OSError:
                    return  # the client is gone

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(write)
        group.start_soon(refusals.write)
        # It returns when the client closes its end; the scope then ends the reader and the writer.
        await server.run(received, answers, server.create_initialization_options())
        group.cancel_scope.cancel()
    if refusals.is_full:
        raise UsageError("the client sends lines that are not messages, and reads no answers")


async def _forward_line(line: bytes | None, refusals: _Refusals, to_server: Any) -> None:
    """Pass a message on, or answer that it is none."""
    if line is not None and not line.strip():
        return
    problem = problem_of(line)
    if problem is None:
        assert line is not None
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            problem = _INVALID_REQUEST, "The object is not a message of JSON-RPC 2.0", None
        else:
            with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
                await to_server.send(SessionMessage(message))
            return
    code, text, number = problem
    answer = {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}
    refusals.put(json.dumps(answer).encode() + b"\n")
    await asyncio.sleep(0)  # a client that reads gets it before the next line is looked at
