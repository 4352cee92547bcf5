"""The server's side of the supervisor: start processes, talk to them, end them. Linux and macOS.

All of it runs on one event loop. A `Child` has pipes of its own. Its output is read as it arrives,
so a process never waits for its reader, and only as much is kept as the call may return.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from equipage_serve.outcome import Failure
from equipage_serve.platform import PACKAGE_FOLDER
from equipage_serve.supervisor import GRACE_SECONDS, removal

#: How much of standard error is kept.
STDERR_KEPT = 2048
#: How long output is awaited after the process ended: another process may hold the pipe.
DRAIN_SECONDS = 0.1
#: How long a process that has answered may take to end by itself.
EXIT_SECONDS = 0.1
_CHUNK = 1 << 16
_MAX_LINES_PER_CHUNK = 16  #: of one chunk; a flood of lines is not news
_LENGTH = struct.Struct(">I")
_UNSUPPORTED = "tools can run on Linux and macOS only"
_SUPERVISOR_ENDED = "the process that starts tools ended"


class Child:
    """A process of a tool, with pipes for its input, output and standard error."""

    def __init__(
        self, number: int, loop: asyncio.AbstractEventLoop, pipes: Sequence[int], cap: int
    ) -> None:
        self.number, self._loop = number, loop
        self._input, self._output, self._errors = pipes
        self.status: asyncio.Future[int] = loop.create_future()
        self.output = bytearray()
        self.errors = bytearray()
        self.output_ended = loop.create_future()
        self.answered = loop.create_future()  #: a whole line is there
        self._stays = False
        self.heard: Callable[[str], None] | None = None  #: gets each line of standard error
        self._line = bytearray()
        self._cap = cap  #: bytes of output that are collected; one more proves that there were more
        self._pending: memoryview | None = None
        self._open = {self._input, self._output, self._errors}
        # Always read, or a process that writes much would wait for us.
        loop.add_reader(self._errors, self._read_errors)
        loop.add_reader(self._output, self._read_output)

    @property
    def has_ended(self) -> bool:
        return self.status.done()

    @property
    def has_overflowed(self) -> bool:
        return len(self.output) > self._cap

    def reset(self) -> None:
        """Get ready for another exchange with the same process."""
        self.answered = self._loop.create_future()
        self.output.clear()
        self.errors.clear()

    def feed(self, data: bytes, *, more: bool = False) -> None:
        """Write the whole input, then end it unless there is `more` to come later.

        A process need not read it.
        """
        self._stays = more
        self._pending = memoryview(data)
        self._write()

    def _write(self) -> None:
        try:
            while self._pending:
                self._pending = self._pending[os.write(self._input, self._pending) :]
        except BlockingIOError:
            self._loop.add_writer(self._input, self._write)
            return
        except OSError:
            pass  # the process does not read it
        self._pending = None
        self._loop.remove_writer(self._input)
        if not self._stays:
            self._close(self._input)

    def _read_output(self) -> None:
        try:
            data = os.read(self._output, _CHUNK)
        except BlockingIOError:
            return
        room = self._cap + 1 - len(self.output)
        self.output += data[: max(0, room)]
        # A process that serves several calls answers with a line and stays.
        if b"\n" in data and not self.answered.done():
            self.answered.set_result(None)
        # More than is allowed: closing the pipe ends a process that writes without end.
        if not data or self.has_overflowed:
            self._loop.remove_reader(self._output)
            self._close(self._output)
            if not self.output_ended.done():
                self.output_ended.set_result(None)

    def _read_errors(self) -> None:
        try:
            data = os.read(self._errors, _CHUNK)
        except BlockingIOError:
            return
        self.errors += data[: max(0, STDERR_KEPT - len(self.errors))]
        if self.heard is not None:
            # Progress comes in lines, pipes give pieces.
            *lines, rest = (bytes(self._line) + data).split(b"\n")
            self._line = bytearray(rest[-STDERR_KEPT:])
            for line in lines[-_MAX_LINES_PER_CHUNK:]:
                self.heard(line.decode("utf-8", "backslashreplace"))
        if not data:
            self._loop.remove_reader(self._errors)
            self._close(self._errors)

    def _close(self, descriptor: int) -> None:
        if descriptor in self._open:
            self._open.discard(descriptor)
            os.close(descriptor)

    def drain_now(self) -> None:
        """Take what is in the pipes already."""
        for descriptor, read in (
            (self._output, self._read_output),
            (self._errors, self._read_errors),
        ):
            # Bounded, because a process can write as fast as we read.
            for _ in range(64):
                if descriptor not in self._open or not _is_readable(descriptor):
                    break
                read()

    def close(self) -> None:
        """Give up the pipes."""
        if self._input in self._open:
            self._loop.remove_writer(self._input)
        for descriptor in (self._output, self._errors):
            if descriptor in self._open:
                self._loop.remove_reader(descriptor)
        for descriptor in tuple(self._open):
            self._close(descriptor)
        if not self.output_ended.done():
            self.output_ended.set_result(None)


def _is_readable(descriptor: int) -> bool:
    import select

    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


def _private_file(value: Mapping[str, Any]) -> int:
    """A file without a name, for the process alone: the supervisor passes it on unread."""
    data = json.dumps(value).encode()
    if sys.platform == "linux":
        descriptor = os.memfd_create("start")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


class Children:
    """Starts and ends processes through one supervisor, which it starts when it is needed."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._socket: socket.socket | None = None
        #: supervisors with their folders; more than one if one was killed
        self._started: list[tuple[subprocess.Popen[bytes], str]] = []
        self._children: dict[int, Child] = {}
        self._defined: dict[str, asyncio.Future[None]] = {}
        self._numbers = itertools.count(1)
        self._received = bytearray()
        self._sending = asyncio.Lock()
        self._is_closed = False
        self.home = ""  #: the folder of the folders that processes have for themselves

    def _start(self) -> socket.socket:
        if not hasattr(os, "fork"):
            raise Failure("UNSUPPORTED", _UNSUPPORTED)
        if self._is_closed:
            raise Failure(
                "UNAVAILABLE", _SUPERVISOR_ENDED
            )  # for a call that was about to start a process
        self._loop = asyncio.get_running_loop()
        self.home = os.path.realpath(tempfile.mkdtemp(prefix="equipage-"))
        ours, theirs = socket.socketpair()
        # `-I` hides everything but the package and the standard library.
        code = (
            "import sys; sys.path.insert(0, sys.argv.pop(1)); "
            "from equipage_serve.supervisor import main; del sys.path[0]; main()"
        )
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-I", "-X", "utf8", "-c", code, PACKAGE_FOLDER, self.home],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env=_base_environment(),
                cwd=self.home,
                start_new_session=True,
            )
        self._started.append((process, self.home))
        ours.setblocking(False)
        self._socket = ours
        self._loop.add_reader(ours, self._receive)
        return ours

    async def ensure_started(self) -> None:
        """Start the supervisor unless it runs. Raises `Failure`."""
        async with self._sending:
            if self._socket is None:
                self._start()

    async def define(self, key: str, jail: Callable[[], Mapping[str, Any]]) -> None:
        """Make a jail known by a name, once. Raises `Failure` if it cannot be had."""
        await self.ensure_started()
        known = self._defined.get(key)
        if known is None:
            known = self._defined[key] = asyncio.get_running_loop().create_future()
            message = {"op": "define", "key": key, "jail": jail()}
            # A message is sent whole, even if the call that needs it is cancelled meanwhile.
            await asyncio.shield(asyncio.ensure_future(self._send(message, ())))
        if not known.done() or known.exception() is not None:
            await asyncio.shield(known)

    async def forget(self, key: str) -> None:
        """Give up a jail; processes in it go on."""
        if self._defined.pop(key, None) is not None and self._socket is not None:
            await self._send({"op": "forget", "key": key}, ())

    async def spawn(
        self,
        key: str,
        environment: Mapping[str, str],
        argv: Sequence[str] = (),
        *,
        home: str,
        cap: int,
    ) -> Child:
        """Start a process in a jail that was defined. Raises `Failure`.

        It may write to its `home`, which is removed when it has ended. Its output is collected from
        the start, up to `cap` bytes: it may write before it reads.
        """
        # A start that was sent cannot be taken back: a caller that is cancelled meanwhile leaves
        # the process to be ended, not to be forgotten.
        task = asyncio.ensure_future(self._spawn(key, environment, argv, home, cap))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(self._end_unwanted)
            raise

    def _end_unwanted(self, task: asyncio.Task[Child]) -> None:
        if not task.cancelled() and task.exception() is None:
            self.end_soon(task.result())

    async def _spawn(
        self, key: str, environment: Mapping[str, str], argv: Sequence[str], home: str, cap: int
    ) -> Child:
        pipes = [os.pipe() for _ in range(3)]
        (its_input, our_end), *outputs = pipes
        theirs = [its_input, *(writer for _, writer in outputs)]
        theirs.append(_private_file({"env": {**environment}, "argv": [*argv]}))
        ours = [our_end, *(reader for reader, _ in outputs)]
        for descriptor in ours:
            os.set_blocking(descriptor, False)
        loop = asyncio.get_running_loop()
        child = Child(next(self._numbers), loop, ours, cap)
        steps = removal(home)
        child.status.add_done_callback(lambda _: _go_on(loop, steps))
        self._children[child.number] = child
        message = {"op": "spawn", "id": child.number, "key": key, "home": home}
        try:
            await self._send(message, theirs)
        except BaseException:
            self._children.pop(child.number, None)
            child.close()
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)
        return child

    async def end(self, child: Child, *, grace: float = GRACE_SECONDS) -> None:
        """End a process and all that it started; returns when they are gone. Never raises."""
        if not child.has_ended and self._socket is not None:
            await self._send({"op": "kill", "id": child.number, "grace": grace}, ())
            await asyncio.wait([child.status], timeout=grace + 5)
        child.close()

    def end_soon(self, child: Child, *, leaves: bool = False) -> None:
        """End a process without waiting for it; one that `leaves` by itself has a moment for it."""
        child.close()
        if child.has_ended:
            return
        if leaves:
            asyncio.get_running_loop().call_later(EXIT_SECONDS, self.end_soon, child)
        elif self._socket is not None:
            task = asyncio.ensure_future(
                self._send({"op": "kill", "id": child.number, "grace": 0}, ())
            )
            _background.add(task)
            task.add_done_callback(_background.discard)

    async def close(self) -> None:
        """End every process and the supervisor."""
        self._is_closed = True
        self._fail_everything(_SUPERVISOR_ENDED)
        while self._started:
            process, home = self._started.pop()
            # It ends its children first; they cannot refuse.
            for _ in range(600):
                if process.poll() is not None:
                    break
                await asyncio.sleep(0.01)
            else:
                process.kill()
                process.wait()
            for _ in removal(home):
                continue

    # Messages.

    async def _send(self, message: Mapping[str, Any], descriptors: Sequence[int]) -> None:
        data = json.dumps(message).encode()
        view = memoryview(_LENGTH.pack(len(data)) + data)
        async with self._sending:
            control = self._socket or self._start()
            loop = asyncio.get_running_loop()
            while view:
                try:
                    sent = socket.send_fds(control, [view], [*descriptors])
                except BlockingIOError:
                    await wait_writable(loop, control)
                    continue
                except OSError:
                    self._fail_everything(_SUPERVISOR_ENDED)
                    raise Failure("UNAVAILABLE", _SUPERVISOR_ENDED) from None
                view, descriptors = view[sent:], ()

    def _receive(self) -> None:
        assert self._socket is not None
        try:
            data = self._socket.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._fail_everything(_SUPERVISOR_ENDED)
            return
        self._received += data
        while len(self._received) >= _LENGTH.size:
            # A message may come in pieces, and several at once.
            end = _LENGTH.size + _LENGTH.unpack_from(self._received)[0]
            if len(self._received) < end:
                break
            message = json.loads(self._received[_LENGTH.size : end])
            del self._received[:end]
            self._handle(message)

    def _handle(self, message: dict[str, Any]) -> None:
        problem = message.get("failed")
        if "defined" in message:
            future = self._defined.get(message["defined"])
            if future is not None and not future.done():
                if problem is None:
                    future.set_result(None)
                else:
                    text = f"the tool cannot be confined: {problem}"
                    future.set_exception(Failure("UNSUPPORTED", text))
            return
        child = self._children.pop(message["id"], None)
        if child is not None and not child.status.done():
            if problem is None:
                child.status.set_result(message["status"])
            else:
                child.errors += str(problem).encode()
                child.status.set_result(125)

    def _fail_everything(self, reason: str) -> None:
        """Fail everything that waits: the supervisor is gone, and with it every process."""
        if self._socket is not None:
            assert self._loop is not None
            self._loop.remove_reader(self._socket)
            self._socket.close()
            self._socket = None
        self._received.clear()
        for future in self._defined.values():
            if not future.done():
                future.set_exception(Failure("UNAVAILABLE", reason))
                future.exception()  # it may be that no one waits for it
        self._defined.clear()
        for child in self._children.values():
            if not child.status.done():
                child.status.set_result(-9)
        self._children.clear()


_background: set[asyncio.Future[None]] = set()


def _go_on(loop: asyncio.AbstractEventLoop, steps: Iterator[None]) -> None:
    """Take some steps, and let others have their turn: a tool may leave any number of files."""
    if sum(1 for _ in itertools.islice(steps, 20)) == 20:
        loop.call_soon(_go_on, loop, steps)


async def wait_writable(loop: asyncio.AbstractEventLoop, control: socket.socket | int) -> None:
    """Wait until something can be written."""
    ready = loop.create_future()
    loop.add_writer(control, mark_done, ready)
    try:
        await ready
    finally:
        loop.remove_writer(control)


def mark_done(future: asyncio.Future[None]) -> None:
    """Mark a future as done, unless it is."""
    if not future.done():
        future.set_result(None)


def _base_environment() -> dict[str, str]:
    """The variables that a process needs to run; none of them is secret from a tool."""
    return {"PATH": os.defpath, "LC_CTYPE": "C.UTF-8"}
