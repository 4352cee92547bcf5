"""The order of one call, from the name to the result. One engine belongs to one event loop.

known name → gate → size → input schema → cache → code unchanged → templates → run → output schema.
A stage that fails ends the call with a coded result; nothing of a failed call is kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any

from equipage.files.disk import Disk
from equipage_serve.cache import Cache, decode_result, encode_result, key_of
from equipage_serve.children import Children
from equipage_serve.execution.process import Processes
from equipage_serve.framing import MAX_DEPTH, canonical_json, input_line, is_too_deep
from equipage_serve.outcome import LONGEST, Failure, Result, Stats
from equipage_serve.platform import Platform
from equipage_serve.tools import Settings, Tool, names_for_templates

#: Hears of every call: the id, the tool if there is one, the arguments and the result.
Observer = Callable[[str, Tool | None, Any, Result], None]
_CODE_CHANGED = "the code of the tool changed since it was loaded; load it again"


class Gate:
    """Lets a number of calls run at once and a number of others wait."""

    def __init__(self, running: int, waiting: int) -> None:
        self._free = asyncio.Semaphore(running)
        self._places = running + waiting

    @contextlib.asynccontextmanager
    async def __call__(self) -> AsyncIterator[None]:
        """Wait for a turn. Raises `Failure` if too many wait already."""
        # Refused at once instead of queued without end: the client can wait better than we can.
        if self._places <= 0:
            raise Failure("RATE_LIMIT", "too many calls are waiting; try again later")
        self._places -= 1
        try:
            async with self._free:
                yield
        finally:
            self._places += 1


class Engine:
    """Calls tools. What runs it decides when to close it: then every process is gone."""

    def __init__(
        self,
        tools: Iterable[Tool],
        settings: Settings,
        platform: Platform,
        env: Mapping[str, str] | None = None,
        observer: Observer | None = None,
    ) -> None:
        self.tools: Mapping[str, Tool] = {each.pack.id: each for each in tools}
        self.settings, self._observer = settings, observer
        self._disk = Disk()
        self._env = dict(self._disk.variables() if env is None else env)
        self._gate = Gate(settings.concurrency, settings.queue)
        self._cache = Cache(settings.cache_bytes, settings.cache_seconds)
        self._children = Children()
        self._processes = Processes(self._children, self._env, settings, root=platform.root)
        self._stamps: dict[str, dict[str, object]] = {}

    async def call(
        self,
        tool_id: str,
        arguments: Any = None,
        *,
        tool: Tool | None = None,
        principal: str = "",
        heard: Callable[[str], None] | None = None,
    ) -> Result:
        """The result of one call. Never raises for what a tool or its caller does wrong.

        `tool` is one that the caller looked up before. `principal` says who asks: one never gets
        what was kept for another. `heard` gets the lines that the tool writes to standard error.
        """
        tool = tool or self.tools.get(tool_id)
        result = await self._result(tool_id, tool, arguments, principal, heard)
        if self._observer is not None:
            self._observer(tool_id, tool, arguments, result)
        return result

    async def _result(
        self,
        tool_id: str,
        tool: Tool | None,
        arguments: Any,
        principal: str,
        heard: Callable[[str], None] | None,
    ) -> Result:
        start = time.perf_counter()
        counts = _Counts(tool)
        if tool is None:
            text = f"there is no tool `{tool_id[:100]}`"
            return Result(False, counts.stats(start), code="NOT_FOUND", message=text)
        try:
            async with self._gate():
                data = await self._check_and_run(tool, arguments, principal, counts, heard)
        except Failure as failure:
            message = failure.message[:LONGEST]
            stats = counts.stats(start, failed=True)
            return Result(False, stats, code=failure.code, message=message)
        return Result(True, counts.stats(start), data=data)

    async def _check_and_run(
        self,
        tool: Tool,
        arguments: Any,
        principal: str,
        counts: _Counts,
        heard: Callable[[str], None] | None,
    ) -> Any:
        arguments = {} if arguments is None else arguments
        # The cheap questions first: each bound protects the step after it.
        if not isinstance(arguments, dict):
            raise Failure("INVALID_INPUT", "the arguments must be a mapping")
        if is_too_deep(arguments):
            raise Failure(
                "INVALID_INPUT", f"the arguments are nested deeper than {MAX_DEPTH} levels"
            )
        counts.input_bytes = len(canonical_json(arguments))
        if counts.input_bytes > tool.max_input_bytes:
            raise Failure(
                "INVALID_INPUT",
                f"the arguments have {counts.input_bytes} bytes, more than {tool.max_input_bytes}",
            )
        problem = tool.accepts.problem(arguments)
        if problem is not None:
            raise Failure(
                "INVALID_INPUT", f"the arguments do not fit the input schema at {problem}"
            )
        # Only arguments that passed the schema reach a template or a process.
        names = names_for_templates(tool, arguments, self._env)

        async def run() -> bytes:
            return encode_result(await self._run(tool, names, arguments, counts, heard))

        # Only a pack that says so is cached; `principal` is part of the key, so no client gets what
        # was computed for another.
        if not tool.pack.deterministic:
            return decode_result(await run())
        rendered = tool.cache_key(names) if tool.cache_key is not None else None
        key = key_of(tool.key, arguments, rendered, principal)
        data, counts.cache_hit = await self._cache.get_or_make(key, run)
        counts.output_bytes = counts.output_bytes or len(data)
        return decode_result(data)

    async def _run(
        self,
        tool: Tool,
        names: Mapping[str, Any],
        arguments: Any,
        counts: _Counts,
        heard: Callable[[str], None] | None,
    ) -> Any:
        """Run the tool and check its output."""
        self._require_same_code(tool)
        line = input_line(arguments)
        if tool.kind == "http":
            # Imported only by those who have such a tool.
            from equipage_serve.execution.http import Requests

            allowed = self.settings.private_addresses
            data = await Requests(self._env, private_addresses=allowed).run(tool, names, line)
        else:
            data = await self._processes.run(tool, names, line, heard)
        # The size counts as a client would receive it, not as the tool happened to write it.
        size = len(json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode())
        if size > tool.max_output_bytes:
            limit = tool.max_output_bytes
            raise Failure("INVALID_OUTPUT", f"the output is larger than {limit} bytes")
        problem = tool.gives.problem(data)
        if problem is not None:
            raise Failure(
                "INVALID_OUTPUT", f"the output does not fit the output schema at {problem}"
            )
        counts.output_bytes = size
        return data

    def _require_same_code(self, tool: Tool) -> None:
        """Compare the files of the code with what was hashed. Raises `Failure`."""
        # A stamp that did not change means the same content, so an unchanged tool costs one `stat`
        # per file and call; the hash decides about the others.
        known = self._stamps.get(tool.key)
        files = {each.path: each.sha256 for each in tool.code.files}
        if tool.code.program is not None:
            files[tool.code.program.path] = tool.code.program.sha256
        now: dict[str, object] = {path: self._disk.stamp(path) for path in files}
        if known == now:
            return
        for path, sha256 in files.items():
            changed = known is None or known.get(path) != now[path]
            if changed and self._disk.sha256(path) != sha256:
                raise Failure("UNAVAILABLE", _CODE_CHANGED)
        self._stamps[tool.key] = now

    async def replace(self, tools: Iterable[Tool]) -> None:
        """Offer other tools from now on. Calls under way go on with those they started with."""
        old = {each.key for each in self.tools.values()}
        self.tools = {each.pack.id: each for each in tools}
        new = {each.key for each in self.tools.values()}
        # Keep first, then forget: a process that both sets use must not be ended in between.
        for key in new:
            self._processes.keep(key)
        for key in old - new:
            self._stamps.pop(key, None)
            await self._processes.forget(key)

    async def close(self) -> None:
        """End every process. Calls under way fail."""
        self._processes.close()
        await self._children.close()


class _Counts:
    """What is known of a call so far."""

    def __init__(self, tool: Tool | None) -> None:
        self.isolation = "" if tool is None else tool.confinement.summary
        self.input_bytes = self.output_bytes = 0
        self.cache_hit = False

    def stats(self, start: float, *, failed: bool = False) -> Stats:
        return Stats(
            (time.perf_counter() - start) * 1000,
            self.input_bytes,
            0 if failed else self.output_bytes,
            self.cache_hit and not failed,
            self.isolation,
        )
