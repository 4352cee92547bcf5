"""Run a tool in a process: input in, one line out, a deadline, and nothing left behind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from equipage_serve.children import DRAIN_SECONDS, EXIT_SECONDS, Child, Children
from equipage_serve.framing import decode_answer, unwrap_answer
from equipage_serve.outcome import Failure, sentence
from equipage_serve.supervisor import NOT_STARTED
from equipage_serve.tools import Settings, Tool, command_of, environment, hidden_texts, jail_of

#: Processes that are kept ready for all tools together.
MAX_WARM = 16
#: Seconds from the answer of a process to the start of the one that takes its place.
REFILL_AFTER = 0.0005


class Processes:
    """Runs the tools of the kinds python, node, php and cli."""

    def __init__(
        self, children: Children, parent: Mapping[str, str], settings: Settings, *, root: bool
    ) -> None:
        self.children, self.parent, self.root = children, parent, root
        self.warm = settings.warm  #: processes that are kept ready for one tool
        #: processes that imported their module and wait, the tool that was called last at the end
        self._ready: OrderedDict[str, list[Child]] = OrderedDict()
        self._wanted: dict[str, int] = {}  #: how many are kept ready for a tool
        self._making: Counter[str] = Counter()  #: how many of them are on their way
        self._warming: set[asyncio.Task[None]] = set()
        self._calls: Counter[str] = Counter()  #: calls under way, by the key of their tool
        self._leaving: set[str] = set()  #: tools that are gone once their last call has ended

    async def run(
        self,
        tool: Tool,
        names: Mapping[str, Any],
        line: bytes,
        heard: Callable[[str], None] | None = None,
    ) -> Any:
        """The value that a tool answers with. Raises `Failure`."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + tool.timeout_ms / 1000
        self._calls[tool.key] += 1
        try:
            child = await self._get_child(tool, names)
            child.heard = heard
            answered = False
            try:
                await self._exchange(tool, child, line, deadline)
                value = _read_value(tool, child, names)
                answered = _is_python_callable(tool)
                return value
            finally:
                if not tool.reused and self._can_be_warm(tool):
                    # After the answer is on its way: a fork beside the call would slow it down.
                    self._refill_later(tool, names)
                if answered and not tool.confinement.forks:
                    self._release(tool, child)
                else:
                    # Also when the call was cancelled: the process, and what it started, must be
                    # gone before we are.
                    await _run_to_completion(self._end(child, leaves=answered))
        finally:
            self._calls[tool.key] -= 1
            if tool.key in self._leaving:
                await self.forget(tool.key)

    def _release(self, tool: Tool, child: Child) -> None:
        """A process has answered: it serves the next call, or ends without being waited for."""
        ready = self._ready.get(tool.key)
        if tool.reused and ready is not None and len(ready) < self.warm and not child.has_ended:
            child.heard = None
            child.reset()
            ready.append(child)
            return
        self.children.end_soon(child, leaves=not tool.reused)

    async def _end(self, child: Child, *, leaves: bool) -> None:
        if leaves:  # it has answered, and does so by itself
            await asyncio.wait([child.status], timeout=EXIT_SECONDS)
        await self.children.end(child)

    # Processes, some of them made before they are needed.

    async def _get_child(self, tool: Tool, names: Mapping[str, Any]) -> Child:
        if not self._can_be_warm(tool):
            return await self._start(tool, names)
        known = tool.key in self._ready
        ready = self._ready.setdefault(tool.key, [])
        self._ready.move_to_end(tool.key)
        # Tools that are called once need nothing more; those that are called often need most.
        wanted = self._wanted.get(tool.key, 1)
        if known and not ready:
            wanted = min(self.warm, wanted * 2)
        self._wanted[tool.key] = wanted
        _drop_ended(ready)
        return ready.pop(0) if ready else await self._start(tool, names)

    def _can_be_warm(self, tool: Tool) -> bool:
        """Whether a process can be made before its call: it must not act before that."""
        return self.warm > 0 and _is_python_callable(tool) and tool.confinement.landlock

    async def _start(self, tool: Tool, names: Mapping[str, Any]) -> Child:
        await self.children.define(tool.key, lambda: jail_of(tool, root=self.root))
        # Calls share no folder that they may write to.
        home = tempfile.mkdtemp(dir=self.children.home)
        try:
            command = command_of(tool, names, home)
            variables = environment(tool, self.parent, home)
            cap = _output_cap(tool)
            return await self.children.spawn(tool.key, variables, command, home=home, cap=cap)
        except Failure:
            with contextlib.suppress(OSError):
                os.rmdir(home)
            raise

    def _refill_later(self, tool: Tool, names: Mapping[str, Any]) -> None:
        asyncio.get_running_loop().call_later(REFILL_AFTER, self._refill, tool, names)

    def _refill(self, tool: Tool, names: Mapping[str, Any]) -> None:
        task = asyncio.ensure_future(self._warm_up(tool, names))
        self._warming.add(task)
        task.add_done_callback(self._warming.discard)

    async def _warm_up(self, tool: Tool, names: Mapping[str, Any]) -> None:
        """Make processes ready for the next calls of a tool."""
        ready = self._ready.get(tool.key)
        if ready is None:
            return
        # A process that ended before it was used would do so again: one attempt for each call.
        _drop_ended(ready)
        try:
            for _ in range(2):
                # Calls that ended at once make theirs at once, too.
                if len(ready) + self._making[tool.key] >= self._wanted.get(tool.key, 1):
                    break
                self._making[tool.key] += 1
                try:
                    child = await self._start(tool, names)
                finally:
                    self._making[tool.key] -= 1
                if self._ready.get(tool.key) is not ready:
                    self.children.end_soon(child)  # the tool is gone
                    return
                ready.append(child)
        except Failure:
            return  # the next call reports it
        while sum(map(len, self._ready.values())) > MAX_WARM:
            key, old = self._ready.popitem(last=False)
            self._wanted.pop(key, None)
            for child in old:
                self.children.end_soon(child)

    async def forget(self, key: str) -> None:
        """A tool is gone: end what waits for it. Calls under way go on."""
        self._leaving.add(key)
        self._wanted.pop(key, None)
        for child in self._ready.pop(key, []):
            self.children.end_soon(child)
        if not self._calls[key]:
            del self._calls[key]
            await self.children.forget(key)

    def close(self) -> None:
        """Give up the processes that wait; what started them ends them."""
        for child in (each for ready in self._ready.values() for each in ready):
            child.close()
        self._ready.clear()

    def keep(self, key: str) -> None:
        """Keep a tool, even if it was about to be forgotten."""
        self._leaving.discard(key)

    # One exchange.

    async def _exchange(self, tool: Tool, child: Child, line: bytes, deadline: float) -> None:
        """Feed the input and wait for the end of the process. Raises `Failure` on the deadline."""
        child.feed(line, more=tool.reused)
        try:
            async with asyncio.timeout_at(deadline):
                if _is_python_callable(tool):
                    await _wait_for_first(child.answered, child.output_ended, child.status)
                else:
                    await _wait_for_first(child.status, child.output_ended)
                    while not child.has_ended and not child.has_overflowed:
                        await _wait_for_first(child.status)
        except TimeoutError:
            limit = f"{tool.timeout_ms} ms"
            raise Failure("TIMEOUT", f"the tool did not answer within {limit}") from None
        if not child.output and not child.has_ended:
            await asyncio.wait(
                [child.status], timeout=DRAIN_SECONDS
            )  # its exit status is on its way
        if not child.output_ended.done() and not (
            _is_python_callable(tool) and child.answered.done()
        ):
            child.drain_now()
            # Another process may hold the pipe; it has had its time.
            await asyncio.wait([child.output_ended], timeout=DRAIN_SECONDS)
        if child.has_overflowed:
            raise Failure(
                "INVALID_OUTPUT", f"the output is larger than {tool.max_output_bytes} bytes"
            )


def _read_value(tool: Tool, child: Child, names: Mapping[str, Any]) -> Any:
    """The value that a process gave. Raises `Failure`, whose message hides values."""
    if _is_python_callable(tool) and child.output:
        return _parse_answer(bytes(child.output), tool, names)
    status = child.status.result() if child.has_ended else 0
    if status:
        raise Failure("INTERNAL_ERROR", _describe_end(tool, child, status, names))
    if _is_python_callable(tool):
        raise Failure("INTERNAL_ERROR", "the tool ended without an answer")
    try:
        return unwrap_answer(decode_answer(bytes(child.output)))
    except Failure as failure:
        message = sentence(failure.message, hidden_texts(tool, names))
        raise Failure(failure.code, message) from None


def _describe_end(tool: Tool, child: Child, status: int, names: Mapping[str, Any]) -> str:
    """How a process ended, and what it said about that."""
    written = child.errors.decode("utf-8", "backslashreplace")
    said = written.removeprefix("equipage: ") if status == NOT_STARTED else written
    errors = sentence(said, hidden_texts(tool, names))
    if said != written:
        return f"the tool {errors}"
    how = f"exit {status}" if status > 0 else f"signal {-status}"
    return f"the tool ended with {how}" + (f": {errors}" if errors else "")


def _drop_ended(ready: list[Child]) -> None:
    for child in ready:
        if child.has_ended:
            child.close()
    ready[:] = [each for each in ready if not each.has_ended]


def _is_python_callable(tool: Tool) -> bool:
    return tool.kind == "python" and bool(tool.pack.execution.get("module"))


def _output_cap(tool: Tool) -> int:
    """How much output is read. The answer of a callable has some more around its value."""
    return tool.max_output_bytes + (64 if _is_python_callable(tool) else 0)


def _parse_answer(data: bytes, tool: Tool, names: Mapping[str, Any]) -> Any:
    """The value in the line of a worker. Raises `Failure`."""
    answer = decode_answer(data)
    if "result" in answer:
        if not isinstance(answer["result"], dict):
            raise Failure("INVALID_OUTPUT", "the tool must return a mapping")
        return answer["result"]
    hidden = hidden_texts(tool, names)
    if "unfit" in answer:
        text = sentence(answer["unfit"], hidden)
        raise Failure("INVALID_OUTPUT", f"the value is not JSON: {text}")
    if "raised" in answer:
        name, text = (sentence(answer[key], hidden) for key in ("raised", "text"))
        raise Failure("INTERNAL_ERROR", f"the tool raised {name}" + (text and f": {text}"))
    raise Failure("INTERNAL_ERROR", "the tool ended without an answer")


async def _wait_for_first(*futures: asyncio.Future[Any]) -> None:
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


async def _run_to_completion(work: Any) -> None:
    """Finish some work even if this task is cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                break
            cancelled = True
    if cancelled:
        raise asyncio.CancelledError
