"""One session of the official Python client: connect, list, call, list again. Prints JSON.

python client.py MODE stdio COMMAND…      python client.py MODE http URL
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

#: The client's own limit for one request, in seconds.
LIMIT = 4.0


async def session(mode: str, target: Any, steps: dict[str, Any]) -> None:
    async with Client(target, mode=mode, read_timeout_seconds=LIMIT) as client:
        steps["connect"] = "ok"
        await step(steps, "list", client.list_tools(cache_mode="bypass"))
        for name in ("call", "call again"):
            wanted = client.call_tool("greet", {"name": "Ada"}, read_timeout_seconds=LIMIT)
            await step(steps, name, wanted)
        await step(steps, "list again", client.list_tools(cache_mode="bypass"))


async def step(steps: dict[str, Any], name: str, wanted: Any) -> None:
    began = time.monotonic()
    try:
        result = await asyncio.wait_for(wanted, LIMIT + 3)
        content = getattr(result, "content", None)
        said = content[0].text if content else "ok"
    except TimeoutError:
        said = "hangs"
    except Exception as problem:  # whatever a client raises is a result here
        said = f"error: {type(problem).__name__}: {str(problem)[:80]}"
    steps[name] = said
    steps[f"{name} s"] = round(time.monotonic() - began, 1)


async def main() -> None:
    mode, transport, *words = sys.argv[1:]
    target: Any = words[0]
    if transport == "stdio":
        target = stdio_client(StdioServerParameters(command=words[0], args=words[1:]))
    steps: dict[str, Any] = {"connect": "hangs"}
    try:
        await asyncio.wait_for(session(mode, target, steps), 40)
    except BaseException as problem:  # a group of errors, a cancelled task: the end of the session
        steps["end"] = f"{type(problem).__name__}"
    print(json.dumps(steps), flush=True)


asyncio.run(main())
