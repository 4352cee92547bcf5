"""The language server: how long a change takes until its findings are there, and what it keeps.

    python bench/editing.py

Fails if a bound is missed, by the clock: 25 ms at 200 lines and 100 ms at 2,000 (95th percentile),
ready within one second, and no more memory after 10,000 edits than a few megabytes of caches. The
processor time is printed beside it, which says whether other work on the machine was in the way.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TOOL = """\
  - tool: {{name: t{n}, description: d, inputSchema: {{type: object}}}}
    response:
      content:
        - type: text
          text: hello {n}
"""
EDITS, MANY = 60, 10_000
_TICK = os.sysconf("SC_CLK_TCK")


class Server:
    """A server over streams."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "equipage", "lsp"]
        self.process = subprocess.Popen(command, stdin=-1, stdout=-1, cwd=folder)
        root = {"rootUri": folder.as_uri(), "capabilities": {}}
        self.tell("initialize", root, id=1)
        self.until(lambda each: each.get("id") == 1)
        self.tell("initialized", {})

    def tell(self, method: str, params: Any, **more: Any) -> None:
        data = json.dumps({"jsonrpc": "2.0", "method": method, "params": params, **more}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def until(self, fits: Any) -> dict[str, Any]:
        assert self.process.stdout is not None
        while True:
            length = int(self.process.stdout.readline().split(b":")[1])
            self.process.stdout.readline()
            message: dict[str, Any] = json.loads(self.process.stdout.read(length))
            if fits(message):
                return message

    def used(self) -> float:
        """Processor time so far, in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICK

    def memory(self) -> float:
        """Resident memory, in megabytes."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6


def change(uri: str, version: int) -> dict[str, Any]:
    start, end = {"line": 1, "character": 3}, {"line": 1, "character": 4}
    edit = {"range": {"start": start, "end": end}, "text": str(version % 10)}
    return {"textDocument": {"uri": uri, "version": version}, "contentChanges": [edit]}


def measure(lines: int, most: float, *, many: bool) -> bool:
    tools = "".join(TOOL.format(n=n) for n in range(lines // 5))
    text = f"server: {{name: demo, version: '1'}}\nx: 1\ntools:\n{tools}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / ".git").mkdir()
        (folder / "main.yaml").write_text(text)
        begin = time.perf_counter()
        server = Server(folder)
        ready, start = time.perf_counter() - begin, server.used()
        uri = (folder / "main.yaml").as_uri()
        item = {"uri": uri, "text": text, "version": 1, "languageId": "yaml"}
        server.tell("textDocument/didOpen", {"textDocument": item})
        server.until(lambda each: "publishDiagnostics" in each.get("method", ""))
        time.sleep(2)  # the survey
        walls: list[float] = []
        before = server.used()
        for version in range(2, EDITS + 2):
            begin = time.perf_counter()
            server.tell("textDocument/didChange", change(uri, version))
            server.until(lambda each, n=version: each.get("params", {}).get("version") == n)
            walls.append((time.perf_counter() - begin) * 1000)
        cost = (server.used() - before) / EDITS * 1000
        p95 = sorted(walls)[int(EDITS * 0.95)]
        print(
            f"{lines:>5} lines: {cost:.1f} ms of processor time a change, p95 {p95:.1f} ms by the "
            f"clock (bound {most:g}); ready after {ready:.2f} s by the clock, {start:.2f} s used"
        )
        grown = 0.0
        if many:
            first = server.memory()
            for version in range(1000, MANY + 1000):
                server.tell("textDocument/didChange", change(uri, version))
            hover = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 1}}
            server.tell("textDocument/hover", hover, id=2)
            server.until(lambda each: each.get("id") == 2)
            grown = server.memory() - first
            print(f"{MANY:,} edits: {first:.0f} MB before, {grown:+.1f} MB after")
        server.process.kill()
        server.process.wait()
    return p95 <= most and ready <= 1 and grown < 16


def main() -> int:
    fine = [measure(200, 25, many=True), measure(2_000, 100, many=False)]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
