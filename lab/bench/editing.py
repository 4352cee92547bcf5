"""The language server: how long a change takes until its findings are there, and what it keeps.

    python lab/bench/editing.py

Fails if a bound is missed, by the clock: 25 ms at 200 lines and 100 ms at 2,000 (95th percentile),
ready within one second, a few megabytes of caches after 10,000 edits, and no more after 20,000.
The processor time is printed beside it, which says whether other work on the machine was in the
way.

Beside it, in the same run and on the same text, other language servers that are there:
yaml-language-server with our schema (`make test-lsp` installs it), and agnix-lsp. Both wait for a
moment before they look at a change; their processor time says what the look costs.
"""

from __future__ import annotations

import json
import os
import shutil
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


OURS = [sys.executable, "-m", "equipage", "lsp"]
HERE = Path(__file__).resolve().parents[2]
INSTALLED = HERE / ".clients" / "editing" / "node_modules" / ".bin" / "yaml-language-server"


class Server:
    """A server over streams."""

    def __init__(self, folder: Path, command: list[str] = OURS) -> None:
        self.process = subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-3, cwd=folder)
        root = {"processId": os.getpid(), "rootUri": folder.as_uri(), "capabilities": {}}
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
            while self.process.stdout.readline().strip():
                pass  # other headers
            message: dict[str, Any] = json.loads(self.process.stdout.read(length))
            if "method" in message and "id" in message:  # it asks us; nothing is a fine answer
                self.answer(message["id"])
            if fits(message):
                return message

    def answer(self, number: object) -> None:
        data = json.dumps({"jsonrpc": "2.0", "id": number, "result": None}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

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


def text_of(lines: int) -> str:
    """A server with a key too many, so that there is always something to report."""
    tools = "".join(TOOL.format(n=n) for n in range(lines // 5))
    return f"server: {{name: demo, version: '1'}}\nx: 1\ntools:\n{tools}"


def opened(server: Server, folder: Path, text: str) -> str:
    """Open the file and wait for the first findings in it."""
    uri = (folder / "main.yaml").as_uri()
    item = {"uri": uri, "text": text, "version": 1, "languageId": "yaml"}
    server.tell("textDocument/didOpen", {"textDocument": item})
    server.until(lambda each: "publishDiagnostics" in each.get("method", ""))
    return uri


def edited(server: Server, uri: str, edits: int) -> tuple[float, float, int]:
    """The 95th percentile of change → findings and the processor time of one, in milliseconds."""
    walls: list[float] = []
    before, found = server.used(), 0
    for version in range(2, edits + 2):
        begin = time.perf_counter()
        server.tell("textDocument/didChange", change(uri, version))
        told = server.until(
            lambda each, n=version: (
                "publishDiagnostics" in each.get("method", "")
                and each["params"].get("version", n) == n
            )
        )
        found = len(told["params"]["diagnostics"])
        walls.append((time.perf_counter() - begin) * 1000)
    return sorted(walls)[int(edits * 0.95)], (server.used() - before) / edits * 1000, found


def peer(name: str, command: list[str], lines: int, schema: str | None) -> None:
    """What another server takes for the same text; with our schema, if it takes one."""
    text = text_of(lines)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "main.yaml").write_text(text)
        server = Server(folder, command)
        if schema is not None:
            (folder / "server.schema.json").write_text(schema)
            known = {(folder / "server.schema.json").as_uri(): "main.yaml"}
            settings = {"yaml": {"schemas": known, "validate": True}}
            server.tell("workspace/didChangeConfiguration", {"settings": settings})
        uri = opened(server, folder, text)
        time.sleep(1)
        p95, cost, found = edited(server, uri, EDITS // 3)
        print(
            f"{lines:>5} lines: {name}: {cost:.1f} ms of processor time a change, p95 {p95:.1f} ms "
            f"by the clock, {found} findings"
        )
        server.process.kill()
        server.process.wait()


def peers(lines: int) -> None:
    """Every other server that is there."""
    yaml = shutil.which("yaml-language-server") or (str(INSTALLED) if INSTALLED.exists() else None)
    if yaml is not None:
        made = [sys.executable, "-m", "equipage", "schema", "server"]
        schema = subprocess.run(made, capture_output=True, text=True, check=True).stdout
        peer("yaml-language-server with our schema", [yaml, "--stdio"], lines, schema)
    agnix = shutil.which("agnix-lsp")
    if agnix is not None:
        peer("agnix-lsp", [agnix], lines, None)
    for name, found in (("yaml-language-server", yaml), ("agnix-lsp", agnix)):
        if found is None:
            print(f"{lines:>5} lines: {name} is not installed")


def _after(server: Server, uri: str, start: int) -> float:
    """The memory after many edits that come too fast to be checked one by one."""
    for version in range(start, start + MANY):
        server.tell("textDocument/didChange", change(uri, version))
    hover = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 1}}
    server.tell("textDocument/hover", hover, id=start)
    server.until(lambda each: each.get("id") == start)
    return server.memory()


def measure(lines: int, most: float, *, many: bool) -> bool:
    """Whether the bounds of time hold, and the memory stays as it is."""
    text = text_of(lines)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / ".git").mkdir()
        (folder / "main.yaml").write_text(text)
        begin = time.perf_counter()
        server = Server(folder)
        ready, start = time.perf_counter() - begin, server.used()
        uri = opened(server, folder, text)
        time.sleep(2)  # the survey
        p95, cost, found = edited(server, uri, EDITS)
        print(
            f"{lines:>5} lines: equipage: {cost:.1f} ms of processor time a change, p95 {p95:.1f} "
            f"ms by the clock (bound {most:g}), {found} findings; ready after {ready:.2f} s by the "
            f"clock, {start:.2f} s used"
        )
        kept = grown = 0.0
        if many:
            first = server.memory()
            sizes = [_after(server, uri, MANY * number) for number in (1, 2)]
            kept, grown = sizes[0] - first, sizes[1] - sizes[0]
            print(
                f"{MANY:,} edits: {first:.0f} MB before, {sizes[0]:.1f} MB after; {MANY:,} more: "
                f"{grown:+.1f} MB"
            )
        server.process.kill()
        server.process.wait()
    return p95 <= most and ready <= 1 and kept < 16 and grown < 2


def main() -> int:
    fine = []
    for lines, most in ((200, 25), (2_000, 100)):
        fine.append(measure(lines, most, many=lines == 200))
        peers(lines)
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
