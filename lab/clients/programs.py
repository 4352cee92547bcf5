"""The clients: installed once at the versions of `pins.toml`, run offline in a home of their own.

A program that cannot be installed, ends by itself without an answer or takes too long raises
`NoAnswer`. That fails the whole run: a question without an answer is not agreement.
"""

from __future__ import annotations

import http.server
import json
import os
import queue
import subprocess
import tempfile
import threading
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

HERE = Path(__file__).resolve().parent
PINS = HERE / "pins.toml"

#: How many questions are asked at a time; a client mostly waits for its own start.
AT_ONCE = 8

#: Seconds that one question may take, on a machine with other work.
PATIENCE = 600

#: What keeps the clients from the network and from the files of the person who runs this.
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "IS_SANDBOX": "1",
    "NO_COLOR": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "http_proxy": "http://127.0.0.1:9",
    "https_proxy": "http://127.0.0.1:9",
}


class NoAnswer(Exception):
    """A client did not answer; the run has failed."""


@dataclass(frozen=True)
class Answer:
    status: int
    out: str
    err: str


@dataclass(frozen=True)
class Client:
    """An installed client; of our environment it gets `PATH` and nothing else."""

    name: str
    title: str
    version: str
    program: Path

    def ask(self, folder: Path, *arguments: str, home: Path | None = None) -> Answer:
        """Run it to its end in `folder`, with an empty home unless one is given."""
        # OpenCode ends before a pipe has taken a long answer, so answers go to files.
        with (
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            try:
                done = subprocess.run(
                    [self.program, *arguments],
                    cwd=folder,
                    env=self._environment(home or Path(scratch)),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    timeout=PATIENCE,
                    check=False,
                )
            except subprocess.TimeoutExpired as late:
                question = " ".join(arguments)
                raise NoAnswer(f"{self.title}: {question}: no answer in {PATIENCE} s") from late
            return Answer(done.returncode, _text(out), _text(err))

    def first_line(self, folder: Path, *arguments: str, **more: str) -> str:
        """The first line that the client writes; it is stopped there, before it asks a model."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            process = subprocess.Popen(
                [self.program, *arguments],
                cwd=folder,
                env=self._environment(Path(scratch)) | more,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            late = threading.Timer(PATIENCE, process.kill)
            late.start()
            try:
                assert process.stdout is not None
                line = process.stdout.readline()
            finally:
                late.cancel()
                process.kill()
                process.wait()
                process.stdout.close()
        if not line:
            raise NoAnswer(f"{self.title}: {' '.join(arguments)}: no line in {PATIENCE} s")
        return line

    def request(self, folder: Path, *arguments: str, **more: str) -> str:
        """What the client sends to a model first; a server of ours takes it and says no more.

        `{address}` in a value of the further environment is the address of that server.
        """
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch, _Model() as model:
            address = f"http://127.0.0.1:{model.server_port}"
            more = {key: value.format(address=address) for key, value in more.items()}
            process = subprocess.Popen(
                [self.program, *arguments],
                cwd=folder,
                env=self._environment(Path(scratch)) | more | {"no_proxy": "127.0.0.1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                return model.requests.get(timeout=PATIENCE)
            except queue.Empty as late:
                question = " ".join(arguments)
                raise NoAnswer(f"{self.title}: {question}: no request in {PATIENCE} s") from late
            finally:
                process.kill()
                process.wait()

    def _environment(self, home: Path) -> dict[str, str]:
        places = {
            "HOME": home,
            "CODEX_HOME": home / ".codex",
            "XDG_CACHE_HOME": home / "cache",
            "XDG_CONFIG_HOME": home / "config",
            "XDG_DATA_HOME": home / "data",
        }
        (home / ".codex").mkdir(exist_ok=True)
        path = {"PATH": os.environ.get("PATH", os.defpath)}
        return path | QUIET | {key: str(value) for key, value in places.items()}


class _Model(http.server.ThreadingHTTPServer):
    """Takes the place of a model, and keeps the requests that would reach it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Requests)
        self.requests: queue.Queue[str] = queue.Queue()

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.shutdown()
        self.server_close()


class _Requests(http.server.BaseHTTPRequestHandler):
    server: _Model

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.put(body.decode("utf-8", "replace"))
        self.send_error(400)

    def log_message(self, *_arguments: object) -> None:
        """Nothing is logged."""


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode("utf-8", "replace")


def pinned() -> dict[str, dict[str, object]]:
    return tomllib.loads(PINS.read_text(encoding="utf-8"))


def install(name: str, folder: Path) -> Client:
    """The client `name` below `folder`, installed with npm unless that version is there."""
    pin = pinned()[name]
    package, _, version = str(pin["package"]).rpartition("@")
    home = folder / name
    if _version(home, package) != version:
        home.mkdir(parents=True, exist_ok=True)
        (home / "package.json").write_text('{"private": true}\n')
        npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", f"{package}@{version}"]
        subprocess.run(npm, cwd=home, check=True)
    for program in pin["program"]:  # type: ignore[attr-defined]
        if (home / program).exists():
            return Client(name, str(pin["title"]), version, home / program)
    raise NoAnswer(f"{pin['title']}: {package}@{version} brought none of its programs")


def _version(home: Path, package: str) -> str | None:
    try:
        manifest = json.loads((home / "node_modules" / package / "package.json").read_text())
    except FileNotFoundError:
        return None
    return str(manifest["version"])
