"""Lines of a client over standard input: where they end, and which are no messages."""

from __future__ import annotations

import array
import asyncio
import fcntl
import json
import os
import select
import signal
import socket
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest

from clock import HANGS
from lab import Later, needs

needs("mcp", "the extra `serve` is not installed")


wire = Later("equipage_serve.wire.lines")
lowlevel = Later("mcp.server.lowlevel")
#: The deepest nesting of a message.
MAX_NESTING = 256


@pytest.fixture(autouse=True, scope="module")
def _imported() -> None:
    """Before this process is copied, or each copy would import them."""
    assert wire.Pipes
    assert lowlevel.Server


def split(*pieces: bytes, longest: int = 5) -> list[bytes | None]:
    splitter = wire.LineSplitter(longest)
    found = [line for piece in pieces for line in splitter.feed(piece)]
    return [*found, *splitter.feed(b"")]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ((), []),
        ((b"a\nb\n",), [b"a", b"b"]),
        ((b"a\nb",), [b"a", b"b"]),
        ((b"a", b"b\nc", b"\n"), [b"ab", b"c"]),
        ((b"\n\n",), [b"", b""]),
        ((b"12345\n",), [b"12345"]),
        ((b"123456\na\n",), [None, b"a"]),
        ((b"123456", b"7\na\n"), [None, b"a"]),
        ((b"123", b"456", b"789", b"\na\n"), [None, b"a"]),
        ((b"123456", b"\n", b"123456", b"\n"), [None, None]),
        ((b"123456",), [None]),
        ((b"123456", b"x"), [None]),
        ((b"12345", b"\n"), [b"12345"]),
        ((b"a\n123456", b"\nb"), [b"a", None, b"b"]),
    ],
)
def test_lines(pieces: tuple[bytes, ...], expected: list[bytes | None]) -> None:
    assert split(*pieces) == expected


def test_what_is_skipped_is_not_kept() -> None:
    splitter = wire.LineSplitter(10)
    for _ in range(1000):
        list(splitter.feed(b"x" * 1000))
    assert len(splitter._rest) <= 1000
    assert wire.MAX_LINE == 4 * 1024 * 1024


def message(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


def nested(depth: int) -> bytes:
    # The object itself and its member are two levels.
    return message(method="x", params="?").replace(b'"?"', b"[" * depth + b"]" * depth)


PARSE, INVALID = -32700, -32600
NOT_JSON = (PARSE, "The line is not JSON", None)
NO_MESSAGE = "The object is not a message of JSON-RPC 2.0"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (None, (INVALID, "The line is longer than 4194304 bytes", None)),
        (b"", NOT_JSON),
        (b"{", NOT_JSON),
        (b"\xff", NOT_JSON),
        (b"[]", (INVALID, "A message is an object", None)),
        (b"5", (INVALID, "A message is an object", None)),
        (b"{}", (INVALID, NO_MESSAGE, None)),
        (b'{"id": 5}', (INVALID, NO_MESSAGE, 5)),
        (b'{"id": "a"}', (INVALID, NO_MESSAGE, "a")),
        (b'{"id": true}', (INVALID, NO_MESSAGE, None)),
        (b'{"id": 1.5}', (INVALID, NO_MESSAGE, None)),
        (b'{"id": [], "method": "x"}', (INVALID, NO_MESSAGE, None)),
        (b'{"jsonrpc": "1.0", "id": 7, "method": "x"}', (INVALID, NO_MESSAGE, 7)),
        (b'{"jsonrpc": "2.0", "id": 7}', (INVALID, NO_MESSAGE, 7)),
        (message(method="x"), None),
        (message(id=1, result={}), None),
        (message(id=1, error={}), None),
        (nested(MAX_NESTING - 1), None),
        (nested(MAX_NESTING), (INVALID, "The message is nested too deep", None)),
        # Many brackets beside each other are not deep.
        (message(method="x", params=[[] for _ in range(1000)]), None),
        (message(method="x", params=[{} for _ in range(1000)]), None),
        (b'{"a":' * 300, (INVALID, "The message is nested too deep", None)),
    ],
)
def test_what_is_no_message(line: bytes | None, problem: tuple[int, str, Any] | None) -> None:
    assert wire.problem_of(line) == problem


# A whole conversation, in a copy of this process whose input and output are pipes.


class Served:
    """A server over standard input and output that knows no tools."""

    def __init__(self, output: Any = None, more: Any = None) -> None:
        self.read = b""
        given, self.input = os.pipe()
        self.output, written = output or os.pipe()
        self.errors, noise = os.pipe()
        self.child = os.fork()
        if not self.child:
            try:
                for descriptor, target in ((given, 0), (written, 1), (noise, 2)):
                    os.dup2(descriptor, target)
                os.close(self.input)
                os.close(self.output)
                sys.stderr = os.fdopen(2, "w", closefd=False)
                asyncio.run(self._serve(more))
                os.write(2, b"ended")
            except BaseException as error:
                os.write(2, repr(error).encode())
            finally:
                os._exit(0)
        for descriptor in (given, written, noise):
            os.close(descriptor)

    async def _serve(self, more: Any) -> None:
        pipes = wire.Pipes()
        os.write(1, b"a print of some library")
        print("and ours", flush=True)
        await wire.serve_lines(lowlevel.Server("t"), pipes)
        pipes.close()
        if more is not None:
            more(pipes)

    def send(self, data: bytes) -> None:
        assert os.write(self.input, data) == len(data)

    def answer(self) -> Any:
        """The next line that the client gets."""
        while b"\n" not in self.read:
            assert select.select([self.output], [], [], 10)[0], self.read
            more = os.read(self.output, 1 << 16)
            assert more, self.read
            self.read += more
        line, _, self.read = self.read.partition(b"\n")
        return json.loads(line)

    def end(self) -> tuple[bytes, str]:
        """Close the input: what the client gets then, and what was printed."""
        os.close(self.input)
        said = []
        for descriptor in (self.output, self.errors):
            with os.fdopen(descriptor, "rb") as stream:
                said.append(stream.read())
        os.waitpid(self.child, 0)
        return self.read + said[0], said[1].decode()


HELLO = message(
    id=1,
    method="initialize",
    params={
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    },
)
PRINTED = "a print of some libraryand ours\nended"


def test_a_conversation() -> None:
    served = Served()
    served.send(HELLO + b"\n")
    hello = served.answer()
    assert (hello["jsonrpc"], hello["id"]) == ("2.0", 1)
    # Names as the protocol spells them, and nothing that was not set.
    assert hello["result"]["protocolVersion"] == "2025-06-18"
    assert hello["result"]["serverInfo"]["name"] == "t"
    assert None not in hello["result"].values()
    served.send(message(method="notifications/initialized") + b"\n\n  \n")
    for number in (2, "three"):
        served.send(message(id=number, method="ping") + b"\n")
        assert served.answer() == {"jsonrpc": "2.0", "id": number, "result": {}}
    for line, code, said in (
        (b"{", PARSE, "The line is not JSON"),
        (b"[]", INVALID, "A message is an object"),
        (message(method=5), INVALID, NO_MESSAGE),
        (message(id=9, method=["x"]), INVALID, NO_MESSAGE),
    ):
        served.send(line + b"\n")
        expected = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": said}}
        assert served.answer() == expected
    served.send(message(id=4, method="no/such/method", params={}) + b"\n")
    unknown = served.answer()
    assert (unknown["id"], unknown["error"]["code"]) == (4, -32601)
    assert None not in unknown["error"].values()
    # The end of the input ends the last line, too.
    served.send(b"{")
    rest, printed = served.end()
    assert json.loads(rest)["error"] == {"code": PARSE, "message": NOT_JSON[1]}
    assert printed == PRINTED


def test_a_client_that_leaves_ends_the_server() -> None:
    assert Served().end() == (b"", PRINTED)
    served = Served()
    os.close(served.output)
    served.output = os.open(os.devnull, os.O_RDONLY)
    served.send(HELLO + b"\n{\n" * 3)
    assert served.end() == (b"", PRINTED)


def test_the_last_message_need_not_end_its_line() -> None:
    served = Served()
    served.send(HELLO + b"\n")
    served.answer()
    served.send(message(id=2, method="ping"))
    rest, printed = served.end()
    assert rest == b"" or json.loads(rest)["id"] == 2  # the client does not wait for it
    assert printed == PRINTED


def reading_from(descriptor: int) -> Any:
    """The transport of a client, without what it does to this process."""
    pipes = object.__new__(wire.Pipes)
    pipes._input = descriptor
    return pipes


def test_a_client_that_closed_its_end_is_noticed_whatever_it_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        pipes = reading_from(ours.fileno())
        assert pipes._is_closed() is False
        theirs.send(b"x")
        assert pipes._is_closed() is False
        theirs.shutdown(socket.SHUT_WR)  # it may still read
        assert pipes._is_closed() is True
        monkeypatch.delattr(select, "poll")
        assert pipes._is_closed() is False  # where the system does not say so


def test_calls_under_way_are_waited_for_until_they_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("equipage_serve.wire.lines.MAX_UNDER_WAY", 3)
    monkeypatch.setattr("equipage_serve.wire.lines._POLL_SECONDS", 0.001)
    ours, theirs = socket.socketpair()
    pipes = reading_from(ours.fileno())

    async def tried() -> list[bool]:
        calls = [asyncio.create_task(asyncio.sleep(60)) for _ in range(2)]
        async with asyncio.timeout(HANGS):
            few = await pipes.wait_until_calm()
            calls.append(asyncio.create_task(asyncio.sleep(0.01)))
            fewer = await pipes.wait_until_calm()
            assert calls[-1].done()
            calls.append(asyncio.create_task(asyncio.sleep(60)))
            theirs.close()
            return [few, fewer, await pipes.wait_until_calm()]

    with ours, theirs:
        assert asyncio.run(tried()) == [True, True, False]


def test_answers_that_wait_are_counted_with_what_it_takes_to_keep_them() -> None:
    class Reading:
        """A client that reads."""

        def __init__(self) -> None:
            self.read: list[bytes] = []

        async def write(self, line: bytes) -> None:
            self.read.append(line)

    half = wire.MAX_REFUSALS // 2 - wire._ENTRY_OVERHEAD

    async def tried() -> list[bytes]:
        client = Reading()
        refusals = wire._Refusals(client)
        writing = asyncio.create_task(refusals.write())
        for _ in range(2):
            refusals.put(bytes(half))
            refusals.put(bytes(half))
            assert not refusals.is_full
            refusals.put(b"")
            assert refusals.is_full
            await refusals.wait_sent()
        writing.cancel()
        return client.read

    assert [len(line) for line in asyncio.run(tried())] == [half, half, 0] * 2


def test_a_client_that_does_not_read_gets_its_answers_later() -> None:
    served = Served()
    served.send(HELLO + b"\n")
    served.answer()
    bad, count = b"{\n", 1500
    for _ in range(count // 100):
        served.send(bad * 100)
    time.sleep(0.05)
    for _ in range(count):
        assert served.answer()["error"]["code"] == PARSE
    served.send(message(id=2, method="ping") + b"\n")
    assert served.answer()["id"] == 2
    assert served.end() == (b"", PRINTED)


def test_a_client_that_never_reads_does_not_keep_the_server_from_ending() -> None:
    served = Served()
    fcntl.fcntl(served.output, fcntl.F_SETPIPE_SZ, 4096)
    served.send(HELLO + b"\n")
    for number in range(200):
        served.send(message(id=number, method="ping") + b"\n")
    until = time.monotonic() + HANGS
    while waiting_in(served.output) < 4000 and time.monotonic() < until:
        time.sleep(0.001)
    os.close(served.input)
    assert ended_within(served)
    assert printed_by(served) == PRINTED


def asking_without_end(served: Served, least: int) -> int:
    """Send requests and read no answer, until the server has not read on for a second."""
    os.set_blocking(served.input, False)
    sent, last = 0, time.monotonic()
    while sent < least or (time.monotonic() < last + 1 and sent < 10 * least):
        try:
            line = message(id=sent, method="tools/list") + b"\n"
            sent += os.write(served.input, line) == len(line)  # one is written whole, or not at all
            last = time.monotonic()
        except BlockingIOError:
            time.sleep(0.001)
    os.set_blocking(served.input, True)
    return sent


@pytest.fixture
def few_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("equipage_serve.wire.lines.MAX_UNDER_WAY", 50)


@pytest.mark.usefixtures("few_calls")
def test_a_client_that_asks_and_never_reads_is_not_read_until_it_does() -> None:
    served = Served()
    served.send(HELLO + b"\n")
    served.answer()
    sent = asking_without_end(served, least=1000)
    # What both pipes hold, a chunk, and the calls that may be under way.
    line = len(message(id=1000, method="tools/list")) + 1
    assert sent < 4 * (1 << 16) // line + 100
    assert sorted(served.answer()["id"] for _ in range(sent)) == list(range(sent))
    served.send(message(id="last", method="ping") + b"\n")
    assert served.answer()["id"] == "last"
    assert served.end() == (b"", PRINTED)


@pytest.mark.usefixtures("few_calls")
def test_a_client_that_asks_and_never_reads_can_close_its_end() -> None:
    served = Served()
    served.send(HELLO + b"\n")
    asking_without_end(served, least=1000)
    os.close(served.input)
    assert ended_within(served)
    assert printed_by(served) == PRINTED


def ended_within(served: Served, seconds: float = HANGS) -> bool:
    """Whether the server ends by itself in that time, which is long for a busy machine."""
    ended, until = 0, time.monotonic() + seconds
    while not ended and time.monotonic() < until:
        ended, _ = os.waitpid(served.child, os.WNOHANG)
        time.sleep(0.001)
    if not ended:
        os.kill(served.child, signal.SIGKILL)
        os.waitpid(served.child, 0)
    return bool(ended)


def printed_by(served: Served) -> str:
    os.close(served.output)
    with os.fdopen(served.errors, "rb") as errors:
        return errors.read().decode()


def test_a_client_that_sends_nonsense_and_never_reads_is_left() -> None:
    """It keeps its pipes open: the server ends by itself, with an error that says why."""
    served = Served()
    os.set_blocking(served.input, False)
    sent, until = 0, time.monotonic() + HANGS
    try:
        while sent < 100 * wire.MAX_REFUSALS and time.monotonic() < until:
            try:
                sent += os.write(served.input, b"{\n" * 1000)
            except BlockingIOError:
                time.sleep(0.001)
    except BrokenPipeError:
        pass
    assert ended_within(served)
    os.close(served.input)
    assert sent < wire.MAX_REFUSALS
    why = "the client sends lines that are not messages, and reads no answers"
    assert printed_by(served).endswith(f"UsageError({why!r})")


def test_answers_to_nonsense_do_not_keep_the_server_from_ending() -> None:
    """More than fits into the pipe, of a client that closes its end and reads nothing."""
    served = Served()
    fcntl.fcntl(served.output, fcntl.F_SETPIPE_SZ, 4096)
    served.send(b"{\n" * 1000)
    os.close(served.input)
    assert ended_within(served)
    assert printed_by(served) == PRINTED


def test_the_last_answers_to_nonsense_arrive() -> None:
    served = Served()
    fcntl.fcntl(served.output, fcntl.F_SETPIPE_SZ, 4096)
    served.send(b"{\n" * 1000)
    rest, printed = served.end()
    assert [json.loads(line)["error"]["code"] for line in rest.splitlines()] == [PARSE] * 1000
    assert printed == PRINTED


def waiting_in(descriptor: int) -> int:
    """How many bytes of a pipe nobody has read."""
    count = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.FIONREAD, count)
    return count[0]


def test_the_pipe_is_left_as_it_was_found() -> None:
    """While we serve, it does not block; after that, others may use it as before."""

    def more(pipes: Any) -> None:
        os.write(2, str(os.get_blocking(pipes._output)).encode())

    assert Served(more=more).end() == (b"", PRINTED.replace("ended", "Trueended"))
    ours, theirs = socket.socketpair()
    served = Served(output=(ours.detach(), theirs.detach()))
    served.send(b"{\n")
    assert served.answer()["error"]["code"] == PARSE
    assert served.end() == (b"", PRINTED)


def test_input_and_output_may_be_files(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(HELLO + b"\n{\n")
    child = os.fork()
    if not child:
        try:
            os.dup2(os.open(tmp_path / "in", os.O_RDONLY), 0)
            for name, target in (("out", 1), ("err", 2)):
                os.dup2(os.open(tmp_path / name, os.O_WRONLY | os.O_CREAT, 0o600), target)
            sys.stderr = os.fdopen(2, "w", closefd=False)
            pipes = wire.Pipes()
            assert os.get_blocking(pipes._output)
            asyncio.run(wire.serve_lines(lowlevel.Server("t"), pipes))
            os.write(2, b"ended")
        except BaseException as error:
            os.write(2, repr(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert (tmp_path / "err").read_text() == "ended"
    said = [json.loads(line) for line in (tmp_path / "out").read_bytes().splitlines()]
    assert {"jsonrpc": "2.0", "id": None, "error": {"code": PARSE, "message": NOT_JSON[1]}} in said
    assert (tmp_path / "out").read_bytes().endswith(b"}\n")


def test_depth_is_that_of_brackets() -> None:
    """What is counted decides; texts with brackets count, too, and closing ones take away."""
    assert wire.MAX_NESTING == MAX_NESTING
    pair = b"[]" * MAX_NESTING
    assert wire.problem_of(
        message(method="x", params="?").replace(b'"?"', b"[" + pair[:-1] + b"]")
    ) == (NOT_JSON)
    # Exactly as deep as may be, with more brackets beside it, and texts with any letters.
    for beside in (b"[],[[]],", b"[],[[],[]],{},", b'"XXXX",[],' + b'"X",' * 9):
        for depth, fits in ((MAX_NESTING - 2, True), (MAX_NESTING - 1, False)):
            inner = b"[" + beside + b"[" * depth + b"]" * depth + b',[],"X"]'
            found = wire.problem_of(message(method="x", params="?").replace(b'"?"', inner))
            assert found == (None if fits else (INVALID, "The message is nested too deep", None))
    wide = b"[" + b",".join([b"[[]]"] * MAX_NESTING) + b"]"
    assert wire.problem_of(message(method="x", params="?").replace(b'"?"', wide)) is None
    assert wire.problem_of(message(method="x", params="X" * 1000)) is None
