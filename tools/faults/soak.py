"""Ten minutes of connections and floods against one server, and what that does to its memory.

    make soak            (SECONDS=60 for a shorter one)

A thousand connections one after the other, a hundred at once with the 101st refused, a flood at the
cap that never ends: the resident memory in the last tenth of the time must stay below 1.1 times
that of the second tenth.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

CONFIG = """\
server: {name: soak}
tools:
  - tool: {name: greet, description: Says hello, inputSchema: {type: object}}
    response: {content: [{type: text, text: "Hello, $${args.name}"}]}
  - tool: {name: flood, description: Sends notifications, inputSchema: {type: object}}
    response: {content: [{type: text, text: done}]}
    behavior:
      side_effects: [{type: notification_flood, rate_per_sec: 10000, duration_sec: 60}]
  - tool: {name: big, description: Sends a payload, inputSchema: {type: object}}
    response:
      content: [{type: text, text: {$generate: {type: garbage, bytes: 1mb, seed: 1}}}]
"""


class Client:
    """One raw connection."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.received = 0  # bytes of bodies

    async def __aenter__(self) -> Client:
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()

    async def call(self, name: str) -> int:
        """Call a tool; the number of bytes of the answer's body."""
        params = {"name": name, "arguments": {"name": "Ada"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        body = json.dumps(message).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: {self.host}\r\nContent-Length: {len(body)}\r\n"
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\r\n"
        )
        self.writer.write(head.encode() + body)
        await self.writer.drain()
        answer = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        if " 200 " not in answer.split("\r\n")[0]:
            raise ConnectionError(answer.split("\r\n")[0])
        found = re.search(r"Content-Length: (\d+)", answer)
        if found is not None:
            return len(await self.reader.readexactly(int(found[1])))
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            self.received += len(await self.reader.readexactly(size + 2)) - 2
        await self.reader.readexactly(2)
        return self.received


class Soak:
    def __init__(self, host: str, port: int, ends: float) -> None:
        self.host, self.port, self.ends = host, port, ends
        self.succession = self.refused = self.at_once = 0
        self.floods: list[Client] = []

    @property
    def is_on(self) -> bool:
        return time.monotonic() < self.ends

    async def one_after_the_other(self) -> None:
        while self.is_on:
            if await self._ask("greet"):
                self.succession += 1
            await asyncio.sleep(0.005)

    async def _ask(self, tool: str) -> int:
        """The size of an answer; 0 if the connection is refused."""
        try:
            async with Client(self.host, self.port) as client:
                return await client.call(tool)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.refused += 1
            return 0

    async def flood(self) -> None:
        """A flood at the cap, again and again."""
        while self.is_on:
            await asyncio.sleep(0.1)
            client = Client(self.host, self.port)
            self.floods.append(client)
            with suppress(ConnectionError, asyncio.IncompleteReadError):  # others were faster
                async with client:
                    await client.call("flood")

    async def many_at_once(self) -> None:
        """A hundred connections with the two above; the next one is refused."""
        while self.is_on:
            held = [Client(self.host, self.port) for _ in range(98)]
            await asyncio.gather(*(each.__aenter__() for each in held))
            await asyncio.gather(
                *(each.call("big" if n % 10 == 0 else "greet") for n, each in enumerate(held)),
                return_exceptions=True,
            )
            self.at_once += 1
            await asyncio.gather(*(self._ask("greet") for _ in range(3)))
            for each in held:
                await each.__aexit__()
            await asyncio.sleep(2)


def resident(pid: int) -> int:
    """The resident memory of a process, in kB."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", text)[1])


async def watch(pid: int, seconds: float) -> list[int]:
    sizes = []
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        sizes.append(resident(pid))
        await asyncio.sleep(min(1.0, seconds / 100))
    return sizes


async def run(host: str, port: int, pid: int, seconds: float) -> int:
    soak = Soak(host, port, time.monotonic() + seconds)
    work = [soak.one_after_the_other(), soak.flood(), soak.many_at_once()]
    tasks = [asyncio.create_task(each) for each in work]
    sizes = await watch(pid, seconds)
    for each in tasks:
        each.cancel()
    problems = await asyncio.gather(*tasks, return_exceptions=True)
    tenth = len(sizes) // 10
    second = sum(sizes[tenth : 2 * tenth]) / tenth
    last = sum(sizes[-tenth:]) / tenth
    flooded = sum(each.received for each in soak.floods)
    print(
        f"{soak.succession} connections in succession, {soak.at_once} times a hundred at once, "
        f"{soak.refused} refused, {flooded / 1e6:.0f} MB of floods"
    )
    print(f"resident memory: {second / 1024:.1f} MiB in the second tenth, {last / 1024:.1f} last")
    failed = [each for each in problems if isinstance(each, Exception)]
    for each in failed:
        print(f"a client failed: {each!r}")
    enough = soak.refused and (soak.succession >= 1000 or seconds < 60)
    return 0 if last <= 1.1 * second and enough and not failed else 1


def main() -> int:
    seconds = float(os.environ.get("SECONDS", "600"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "soak.yaml"
        file.write_text(CONFIG)
        words = ["serve", str(file), "--transport", "http", "--max-run-bytes", "100gb"]
        server = subprocess.Popen(
            [sys.executable, "-m", "equipage", *words], stderr=subprocess.PIPE, text=True
        )
        assert server.stderr is not None
        try:
            url = next(
                found
                for line in server.stderr
                if (found := re.search(r"http://(.+):(\d+)/mcp", line))
            )
            code = asyncio.run(run(url[1], int(url[2]), server.pid, seconds))
            began = time.monotonic()
            server.terminate()
            ended = server.wait(timeout=20)
            took = time.monotonic() - began
            print(f"ended with {ended} after {took:.1f} s")
            return code if ended == 143 and took < 5 else 1
        finally:
            server.kill()
            server.wait()
            server.stderr.close()


if __name__ == "__main__":
    sys.exit(main())
