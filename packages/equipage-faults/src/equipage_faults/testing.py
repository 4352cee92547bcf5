"""Misbehaving servers in the tests of a client: a plugin that pytest finds by itself.

A test names a server configuration, relative to its own file, and gets a server with its trace:

    def test_my_client_gives_up(misbehaving_server):
        server = misbehaving_server("slow.yaml")
        my_client(server.command)                  # over stdio: the client starts the process
        server.expect({"cancels": {"method": "tools/call", "within": "5s"}})
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

Record = dict[str, Any]

#: How long a server may take to start, and to end after a signal, in seconds.
_PATIENCE = 10.0


class MisbehavingServer:
    """A server configuration, served by processes of its own."""

    def __init__(self, file: Path, folder: Path, options: tuple[str, ...]) -> None:
        self.file = file
        self._folder = folder
        self._trace = folder / "trace.jsonl"
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self._url: str | None = None

    @property
    def command(self) -> list[str]:
        """The command that serves it over stdio. Clients start it themselves."""
        python = [sys.executable, "-m", "equipage", "serve", str(self.file)]
        # Tests judge what a client sent, so the trace has the messages.
        return [*python, "--trace", str(self._trace), "--trace-bodies", "full", *self._options]

    @property
    def url(self) -> str:
        """The address of the server over HTTP; it is started when this is first asked for."""
        if self._url is None:
            self._url = self._start()
        return self._url

    def _start(self) -> str:
        notes = self._folder / "stderr.txt"
        with notes.open("wb") as stream:
            self._process = subprocess.Popen(
                [*self.command, "--transport", "http"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stream,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline and self._process.poll() is None:
            found = re.search(r"listening on (\S+)", notes.read_text())
            if found is not None:
                return found[1]
            time.sleep(0.02)
        raise AssertionError(f"the server did not start: {notes.read_text()}")

    @property
    def trace(self) -> list[Record]:
        """What has happened so far, one record for each event."""
        if not self._trace.exists():
            return []
        lines = self._trace.read_bytes().split(b"\n")
        return [json.loads(line) for line in lines[:-1]]  # the last one may be half written

    def wait_for(self, event: str, timeout: float = 5.0, **fields: Any) -> Record:
        """The first record of an event with these fields. Fails if it does not come in time."""
        deadline = time.monotonic() + timeout
        while True:
            for record in self.trace:
                if record["e"] == event and fields.items() <= record.items():
                    return record
            if time.monotonic() > deadline:
                pytest.fail(f"no record of {event} with {fields} within {timeout} s")
            time.sleep(0.02)

    def expect(self, *expectations: Mapping[str, Any]) -> None:
        """Fail with every expectation that the client did not meet."""
        # pytest loads this module wherever the package is installed, so it imports little.
        import msgspec

        from equipage_faults.trace import Expectation, judge

        wanted = msgspec.convert(list(expectations), tuple[Expectation, ...])
        unmet = [str(each) for each in judge(wanted, self.trace) if not each.is_met]
        if unmet:
            pytest.fail("\n".join(unmet))

    def close(self) -> None:
        """End the server, if it was started here."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None


@pytest.fixture
def misbehaving_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., MisbehavingServer]]:
    """Makes servers: `misbehaving_server("slow.yaml", "--seed", "1")`."""
    made: list[MisbehavingServer] = []

    def make(file: str | Path, *options: str) -> MisbehavingServer:
        path = Path(request.path.parent, file)
        made.append(MisbehavingServer(path, tmp_path_factory.mktemp("server"), options))
        return made[-1]

    yield make
    for server in made:
        server.close()
