"""A run of a server configuration: what the command line decides, from the start to the exit."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import queue
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from typing import IO, Any, get_args

import msgspec

from equipage.core.diagnostics import UsageError
from equipage.core.path import walk
from equipage.core.text import visible
from equipage.directives.file import File
from equipage.formats.server.grammar import DURATION_GRAMMAR, parse_duration
from equipage.formats.server.model import Delivery, ServerConfig
from equipage.formats.server.payloads.base import read_limit
from equipage.loading.result import Loaded
from equipage_faults import trace
from equipage_faults.caps import Caps, cap_warnings, require_room
from equipage_faults.driver import Driver, Pipes, Transport
from equipage_faults.engine import Engine
from equipage_faults.exchange import EPOCH, Options
from equipage_faults.handlers import make_asker
from equipage_faults.wire import BANNER

Note = Callable[[str], None]

#: What the log says when a run meets a cap, by the word of the trace.
_CAPPED = {
    "frame": "an answer was cut: it is larger than --max-frame-bytes, or took --max-delay",
    "run": "the run ends: it sent more than --max-run-bytes",
    "queue": "a request is lost: its client sent more than wait for an answer",
    "connections": "a client is refused: there are too many connections",
}

_LEVELS = ("debug", "info", "warn", "error")
#: When to look for garbage, as Python does by default.
_GC_THRESHOLDS = (700, 10, 10)
#: Expectations are judged by so many records; a longer run is not a test of a client.
_MAX_RECORDS = 100_000
#: The most characters of one line of the log.
_MAX_LOG_LINE = 200


class Settings(msgspec.Struct, frozen=True):
    """How to run a server; every field is an option of `equipage serve`."""

    transport: str = "stdio"
    host: str = "127.0.0.1"
    port: int = 0
    era: str = "auto"
    scope: str | None = None
    delivery: Delivery | None = None
    seed: int | None = None
    virtual: bool = False
    trace: str | None = None
    bodies: str = "none"
    expect: str | None = None
    seconds: float | None = None
    env: tuple[str, ...] = ()
    handler_hosts: tuple[str, ...] = ()
    caps: Caps = Caps()
    descriptors: tuple[int, int] = (0, 1)  #: to read from and to write to, for stdio


def serve(
    config: ServerConfig,
    digest: str,
    settings: Settings,
    note: Note,
    *,
    literal: Iterable[str] = (),
    environment: Mapping[str, str] | None = None,
) -> int:
    """Serve a configuration until the client, a signal or the configuration ends it.

    Returns the exit code: 0 ended, 1 aborted or an expectation was not met, 130 and 143 by signal.
    Raises `UsageError` if it cannot start, and what a bug of ours raised.
    """
    outside = dict(os.environ if environment is None else environment)
    # One stream cannot carry two languages; a client would call the log a violation.
    if config.logging.output == "stdout" and settings.transport == "stdio":
        raise UsageError("`logging.output: stdout` would mix with the messages on standard output")
    require_room(config, settings.caps)
    wanted = trace.read_expectations(settings.expect) if settings.expect is not None else None
    # The command looks for garbage rarely, because it ends soon; a server does not.
    gc.set_threshold(*_GC_THRESHOLDS)
    tell = _NoteWriter(note)
    try:
        with ExitStack() as files:
            bodies = wanted is not None and trace.needs_bodies(wanted)
            run = _Run(config, digest, settings, tell, frozenset(literal), outside, files, bodies)
            code = asyncio.run(run.run(files))
        if wanted is not None:
            verdicts = trace.judge(wanted, run.records)
            for each in verdicts:
                tell(str(each))
            if not all(each.is_met for each in verdicts):
                code = code or 1
    finally:
        all_written = tell.close()
    if not all_written:
        os._exit(code)  # Python would wait until standard error is read
    return code


# What the command line says, and the configuration needs.


def milliseconds(option: str, written: str) -> int:
    """A duration of the command line. Raises `UsageError`."""
    found = parse_duration(written)
    if found is None:
        raise UsageError(f"{option} {written}: expected {DURATION_GRAMMAR}")
    return found


def caps_of(delay: str | None, frame: str | None, run: str | None, *, room: int = 0) -> Caps:
    """The caps, with those that the command line changes; the others leave `room` for payloads.

    Raises `UsageError`.
    """
    usual = Caps()
    given = {"frame_bytes": usual.frame_bytes + room}
    if delay is not None:
        given["delay_ms"] = milliseconds("--max-delay", delay)
    for name, written in (("frame", frame), ("run", run)):
        size = read_limit(written, in_bytes=True) if written is not None else None
        if written is not None and size is None:
            raise UsageError(f"--max-{name}-bytes {written}: expected a size, such as 20mb")
        if size is not None:
            given[f"{name}_bytes"] = size
    return Caps(**{"run_bytes": max(usual.run_bytes, given["frame_bytes"]), **given})


def delivery_named(name: str | None) -> Delivery | None:
    """The delivery of that name, with its defaults. Raises `UsageError`."""
    if name is None:
        return None
    known = {each.__struct_config__.tag: each for each in get_args(Delivery)}
    if name not in known:
        raise UsageError(f"--behavior {name}: expected one of {', '.join(map(str, known))}")
    # Every delivery has defaults, so that a name on the command line is enough.
    found: Delivery = known[name]()
    return found


def literal_texts(loaded: Loaded[Any]) -> Iterator[str]:
    """The texts that come from files: no template in them is filled."""
    for path, value in walk(loaded.to_dict()):
        if isinstance(value, str) and "${" in value:
            through = loaded.explain(path).through
            if any(each.how == File.how for each in through):
                yield value


class _NoteWriter:
    """Writes notes in a thread of its own: a full standard error must not stop the server."""

    def __init__(self, note: Note) -> None:
        self._lines: queue.Queue[str | None] = queue.Queue(1_000)
        self._note = note
        self._thread = threading.Thread(target=self._write_notes, daemon=True)
        self._thread.start()

    def __call__(self, line: str) -> None:
        with suppress(queue.Full):
            self._lines.put_nowait(line)

    def _write_notes(self) -> None:
        while (line := self._lines.get()) is not None:
            self._note(line)

    def close(self) -> bool:
        """Write what is left; False if nothing takes it."""
        with suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(1.0)
        return not self._thread.is_alive()


class _Run:
    def __init__(
        self,
        config: ServerConfig,
        digest: str,
        settings: Settings,
        note: Note,
        literal: frozenset[str],
        environment: Mapping[str, str],
        files: ExitStack,
        needs_bodies: bool,
    ) -> None:
        self.config = config
        self.settings = settings
        self.records: list[trace.Record] = []
        self._digest = digest
        self._note = note
        self._environment = environment
        self._file = _open_for_writing(settings.trace, files)
        self._log_file = self._open_log(files)
        self._methods: Counter[str] = Counter()
        self._phases: list[str] = []
        self._noted: set[str] = set()
        # Chosen here and written to the trace, so that a run without a seed can be repeated.
        seed = random.SystemRandom().getrandbits(32) if settings.seed is None else settings.seed
        self._seed = seed
        self._options = Options(
            era=settings.era,
            scope=settings.scope,
            delivery=settings.delivery,
            seed=seed,
            env={name: environment[name] for name in settings.env if name in environment},
            caps=settings.caps,
            literal=literal,
            epoch=EPOCH if settings.virtual else datetime.now(UTC),
        )
        # Expectations may ask for arguments, which the trace need not show.
        bodies = "full" if needs_bodies else settings.bodies
        self._trace = trace.Trace(self._record, bodies)

    def _open_log(self, files: ExitStack) -> IO[bytes] | None:
        output = self.config.logging.output
        return None if output in ("stderr", "stdout") else _open_for_writing(output, files)

    async def run(self, files: ExitStack) -> int:
        engine = Engine(self.config, self._trace, self._options, self._log)
        hosts = frozenset(self.settings.handler_hosts)
        driver = Driver(
            engine,
            virtual=self.settings.virtual,
            ask=make_asker(self._environment, hosts),
            run_bytes=self.settings.caps.run_bytes,
        )
        files.callback(driver.listen_for_signals())
        # A client that leaves is not news; asyncio would write a line about each of its bytes.
        logging.getLogger("asyncio").setLevel(logging.CRITICAL)
        asyncio.get_running_loop().set_exception_handler(
            lambda _loop, problem: _end_with_bug(driver, problem)
        )
        self._announce_start(engine)
        try:
            transport = await self._transport(driver)
            driver.transport = transport
            if self.settings.seconds is not None:
                loop = asyncio.get_running_loop()
                loop.call_later(self.settings.seconds, driver.end, "completed", 0)
            transport.start()
            driver.dispatch(lambda: None)  # the first phase may end by itself
            reason, code = await driver.ended
            engine.jobs.cancel(engine.jobs.alive)
            self._announce_stop(engine, reason)
        except Exception:
            # A trace without an end looks like a run that goes on.
            self._trace(engine.now, None, "stop", reason="error")
            raise
        finally:
            if driver.transport is not None:
                await driver.transport.close()
        return code

    async def _transport(self, driver: Driver) -> Transport:
        if self.settings.transport == "stdio":
            return Pipes(driver, *self.settings.descriptors)
        from equipage_faults.http import Listener

        listener = Listener(driver, self.settings.host, self.settings.port)
        await listener.open()
        self._note(f"listening on {listener.url}")
        return listener

    def _announce_start(self, engine: Engine) -> None:
        settings = self.settings
        self._note(f"{self.config.server.name}: {BANNER}; for tests of your own client only")
        for line in cap_warnings(self.config, settings.caps):
            self._note(line)
            self._trace(0, None, "capped", what=line)
        for line in _unreachable_effects(engine):
            self._note(line)
        self._trace(
            0,
            None,
            "start",
            digest=self._digest,
            era=settings.era,
            transport=settings.transport,
            seed=self._seed,
            clock="virtual" if settings.virtual else "real",
        )

    def _announce_stop(self, engine: Engine, reason: str) -> None:
        counters = dict(sorted(self._trace.counters.items()))
        self._trace(engine.now, None, "stop", reason=reason, counters=counters)
        phases = f"; phases: {', '.join(self._phases)}" if self._phases else ""
        asked = ", ".join(f"{name} {count}" for name, count in sorted(self._methods.items()))
        self._note(f"{BANNER}: {reason}; requests: {asked or 'none'}{phases}")

    def _record(self, record: trace.Record) -> None:
        if self.settings.expect is not None and len(self.records) < _MAX_RECORDS:
            self.records.append(record)
        if record["e"] == "capped" and record["what"] in _CAPPED:
            self._note_once(_CAPPED[record["what"]])
        elif record["e"] == "recv" and record["kind"] == "request":
            # A client may invent methods without end.
            known = len(self._methods) < 50 or record["method"] in self._methods
            self._methods[record["method"] if known else "others"] += 1
        elif record["e"] == "phase":
            self._phases.append(record["to"])
        if self._file is not None:
            self._file.write(trace.encode_line(trace.limit_body(record, self.settings.bodies)))

    def _note_once(self, line: str) -> None:
        if line not in self._noted:
            self._noted.add(line)
            self._note(line)

    def _log(self, level: str, text: str) -> None:
        """A line of the log: no control characters but tabs, and not too long."""
        if _LEVELS.index(level) < _LEVELS.index(self.config.logging.level):
            return
        shown = "".join(
            each if each == "\t" or each.isprintable() else "\ufffd"
            for each in text[:_MAX_LOG_LINE]
        )
        if self._log_file is not None:
            self._log_file.write(f"{level}: {shown}\n".encode())
        else:
            self._note(f"{level}: {shown}")


def _end_with_bug(driver: Driver, problem: Mapping[str, Any]) -> None:
    """End the run with an unexpected exception, which the command reports."""
    if not driver.ended.done():
        driver.ended.set_exception(problem.get("exception") or RuntimeError(problem["message"]))


def _open_for_writing(path: str | None, files: ExitStack) -> IO[bytes] | None:
    """A file for lines that other programs may read while the server runs."""
    if path is None:
        return None
    try:
        return files.enter_context(open(path, "wb", buffering=0))
    except OSError as problem:
        raise UsageError(f"cannot write {visible(path)}: {problem.strerror}") from None


def _unreachable_effects(engine: Engine) -> Iterable[str]:
    """Side effects of items that can never happen: an item has no connection of its own."""
    seen = set()
    for view in engine.views:
        for item in view.items:
            for effect in item.behavior.side_effects if item.behavior else ():
                line = f"{effect.__struct_config__.tag}: {effect.trigger} never fires for one item"
                if effect.trigger in ("on_connect", "continuous") and line not in seen:
                    seen.add(line)
                    yield line
