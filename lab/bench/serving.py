"""What a call of a tool costs over MCP, beside FastMCP, which calls it in its own process.

    python lab/bench/serving.py

One client speaks to every server in turn: the older revision of the protocol, one line per message.
Every call has other arguments, so that nothing comes from a cache.
"""

from __future__ import annotations

import itertools
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness import Row

CALLS = 200
#: Seconds between calls of a client that thinks: the server gets the next process ready meanwhile.
PAUSE = 0.01
WORK = "one call of a Python tool over stdio, one after another: the median"
AGAINST = "FastMCP, in the process of the server"
PACK = """\
id: {name}
version: 1.0.0
description: Counts words.
deterministic: {deterministic}
timeoutMs: 5000
limits: {{maxInputBytes: 65536, maxOutputBytes: 1024}}
inputSchema: {{type: object, required: [text], properties: {{text: {{type: string}}}}}}
outputSchema: {{type: object, required: [words], properties: {{words: {{type: integer}}}}}}
{more}
"""
TOOLS = {
    "py.once": ("false", "execution: {kind: python, module: 'words:count'}"),
    "py.again": ("true", "execution: {kind: python, module: 'words:count'}"),
    "py.script": ("false", "execution: {kind: python, script: script.py}"),
    "node.script": ("false", "execution: {kind: node, script: count.js}"),
    "php.script": ("false", "execution: {kind: php, script: count.php}"),
    "cli.sh": (
        "false",
        "caps: {subprocess: true}\nexecution: {kind: cli, cmd: [sh, -c, 'echo {\\\"words\\\":3}']}",
    ),
}
FILES = {
    "words.py": "def count(payload):\n    return {'words': len(payload['text'].split())}\n",
    "script.py": (
        "import json, sys\ntext = json.loads(sys.stdin.readline())['input']['text']\n"
        "print(json.dumps({'words': len(text.split())}))\n"
    ),
    "count.js": (
        "let s = ''; process.stdin.on('data', d => s += d).on('end', () => console.log("
        "JSON.stringify({words: JSON.parse(s).input.text.split(' ').length})))\n"
    ),
    "count.php": (
        "<?php $i = json_decode(fgets(STDIN), true);"
        "echo json_encode(['words' => count(explode(' ', $i['input']['text']))]);\n"
    ),
}
PEER = """\
from fastmcp import FastMCP

server = FastMCP("words")


@server.tool
def count(text: str) -> dict[str, int]:
    return {"words": len(text.split())}


server.run(transport="stdio", show_banner=False)
"""


class Server:
    """A server as a process, and its only client."""

    def __init__(self, command: list[str], tool: str) -> None:
        self.tool = tool
        self._numbers = itertools.count(1)
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        client = {"name": "bench", "version": "1"}
        opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        self.wait(self.send("initialize", opening))
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, params: dict[str, Any]) -> int:
        number = next(self._numbers)
        self.write({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        return number

    def wait(self, number: int | None) -> dict[str, Any]:
        """The answer to a request; without a number, the next answer."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if "id" in message and number in (None, message["id"]):
                return message
        raise RuntimeError("the server ended")

    def start(self, tool: str | None = None) -> int:
        arguments = {"text": f"a b {next(self._numbers)}"}
        return self.send("tools/call", {"name": tool or self.tool, "arguments": arguments})

    def median(self, tool: str | None = None, calls: int = CALLS, pause: float = 0) -> float:
        """Seconds of one call among calls one after another, perhaps with a pause before each."""
        times = []
        for _ in range(calls):
            time.sleep(pause)
            started = time.perf_counter()
            answer = self.wait(self.start(tool))
            times.append(time.perf_counter() - started)
            assert answer["result"]["structuredContent"] == {"words": 3}, answer
        return statistics.median(times)

    def rate(self, calls: int = 400, ahead: int = 16) -> float:
        """Calls per second, with some always under way."""
        started, waiting = time.perf_counter(), 0
        for _ in range(calls):
            self.start()
            waiting += 1
            if waiting == ahead:
                self.wait(None)
                waiting -= 1
        for _ in range(waiting):
            self.wait(None)
        return calls / (time.perf_counter() - started)

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(20)


def rows(folder: Path) -> list[Row]:
    """The comparison with a bound. The servers start when they are first measured."""
    made: dict[str, Server] = {}

    def median(name: str, pause: float = 0) -> float:
        if name not in made:
            made[name] = servers(folder)[name]()
        return made[name].median(pause=pause)

    return [
        Row(
            f"{WORK}; confined processes that serve several calls",
            AGAINST,
            2,
            "at most",
            lambda: median("again"),
            lambda: median("peer"),
            counts=True,
            elsewhere=True,
        ),
        Row(
            f"{WORK}, {PAUSE * 1000:.0f} ms apart; a confined process for each call",
            AGAINST,
            2,
            "at most",
            lambda: median("once", PAUSE),
            lambda: median("peer", PAUSE),
            counts=True,
            elsewhere=True,
        ),
    ]


def servers(folder: Path) -> dict[str, Any]:
    """What starts each server, by name."""
    for name, (deterministic, more) in TOOLS.items():
        text = PACK.format(name=name, deterministic=deterministic, more=more)
        (folder / f"{name}.tool.yaml").write_text(text)
    for name, text in {**FILES, "peer.py": PEER}.items():
        (folder / name).write_text(text)
    ours = [sys.executable, "-m", "equipage", "serve", str(folder), "--unlocked", "--yes"]
    ours += ["--allow", "python,node,php,cli", "--isolation", "best"]
    return {
        "again": lambda: Server([*ours, "--reuse"], "py.again"),
        "once": lambda: Server(ours, "py.once"),
        "peer": lambda: Server([sys.executable, str(folder / "peer.py")], "count"),
    }


def lines(folder: Path) -> Iterator[str]:
    """A table of medians and rates, as text."""
    made = {name: start() for name, start in servers(folder).items()}
    labels = {
        "peer": "FastMCP, in the process of the server",
        "again": "equipage --reuse, a confined process for several calls",
        "once": "equipage, a confined process for each call",
    }
    best = dict.fromkeys(made, float("inf"))
    for _ in range(5):
        for name, server in made.items():
            best[name] = min(best[name], server.median())
    apart = {name: min(made[name].median(pause=PAUSE) for _ in range(3)) for name in labels}
    for name, label in labels.items():
        singly = f"{best[name] * 1000:7.2f} ms {apart[name] * 1000:7.2f} ms"
        yield f"{label:<56} {singly}  {made[name].rate():6.0f} calls/s"
    for tool in ("py.script", "cli.sh", "php.script", "node.script"):
        program = {"php.script": "php", "node.script": "node"}.get(tool)
        if program is None or shutil.which(program):
            median = min(made["once"].median(tool, 20) for _ in range(3))
            yield f"equipage, {tool:<46} {median * 1000:7.2f} ms"
    for server in made.values():
        server.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for line in lines(Path(folder)):
            print(line, flush=True)


if __name__ == "__main__":
    main()
