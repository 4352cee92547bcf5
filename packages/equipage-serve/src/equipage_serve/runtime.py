"""Toolpacks for programs: call tools with the guarantees of the server, without MCP.

A `Runtime` has an event loop of its own in a thread, so that it can be used from any thread and any
event loop.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from equipage.core.diagnostics import EquipageError, UsageError
from equipage.files import folders_argument
from equipage.formats.toolpack.model import Toolpack
from equipage_serve.confinement import LEVELS, Level, Unservable
from equipage_serve.engine import Engine
from equipage_serve.outcome import Result
from equipage_serve.platform import Platform, this_platform
from equipage_serve.tools import KINDS, STARTS, Settings, Tool, prepare

T = TypeVar("T")


class NotServed(EquipageError):
    """Some packs cannot be run; `reasons` has the reasons by id."""

    def __init__(self, reasons: Mapping[str, Sequence[str]]) -> None:
        self.reasons = {name: tuple(each) for name, each in reasons.items()}
        lines = (f"{name}: {'; '.join(each)}" for name, each in self.reasons.items())
        super().__init__("\n".join(lines))


def prepare_all(
    packs: Iterable[Toolpack],
    settings: Settings,
    platform: Platform,
    roots: Mapping[str, Sequence[str]] | Sequence[str] = (),
) -> tuple[list[Tool], dict[str, tuple[str, ...]]]:
    """The packs that can be called, and for each other one the reasons why not.

    `roots` are folders that modules may come from, for all packs or by id.
    """
    tools, refused = [], {}
    for pack in packs:
        own = roots.get(pack.id, ()) if isinstance(roots, Mapping) else roots
        try:
            tools.append(prepare(pack, settings, platform, own))
        except Unservable as error:
            refused[pack.id] = error.reasons
    return tools, refused


class Runtime:
    """Calls toolpacks. Use it in a `with` statement, or `close` it: then no process is left.

    `allow` names the execution kinds that may run; by default there are none. `roots` are folders
    that modules may come from, besides that of each pack. Raises `NotServed` if a pack cannot be
    run as it demands. More options are the fields of `Settings`.
    """

    def __init__(
        self,
        packs: Iterable[Toolpack],
        *,
        allow: Iterable[str] = (),
        isolation: Level = "strict",
        roots: Iterable[str | os.PathLike[str]] = (),
        env: Mapping[str, str] | None = None,
        **limits: Any,
    ) -> None:
        # One kind may be given as text, which is a sequence of letters otherwise.
        kinds = frozenset([allow] if isinstance(allow, str) else allow)
        for unknown in sorted(kinds - set(KINDS)):
            raise UsageError(f"`allow`: there is no kind `{unknown}`; known: {', '.join(KINDS)}")
        if isolation not in LEVELS:
            raise UsageError(f"`isolation`: expected one of {', '.join(LEVELS)}")
        if limits.get("paths", STARTS[0]) not in STARTS:
            raise UsageError(f"`paths`: expected one of {', '.join(STARTS)}")
        try:
            settings = Settings(allow=kinds, isolation=isolation, **limits)
        except TypeError as error:
            raise UsageError(str(error)) from None
        platform = this_platform()
        tools, refused = prepare_all(packs, settings, platform, folders_argument("roots", roots))
        if refused:
            raise NotServed(refused)
        self._start(tools, settings, env)

    @classmethod
    def from_tools(cls, tools: Iterable[Tool], settings: Settings) -> Self:
        """A runtime of tools that are prepared."""
        runtime = cls.__new__(cls)
        runtime._start(tools, settings, None)
        return runtime

    def _start(
        self, tools: Iterable[Tool], settings: Settings, env: Mapping[str, str] | None
    ) -> None:
        self._closed = False
        self._loop = asyncio.new_event_loop()
        # A daemon: a program that forgets to close the runtime can still end.
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="equipage-runtime", daemon=True
        )
        self._thread.start()
        self._engine = self._wait(_make_engine(tools, settings, this_platform(), env))

    def call(self, tool_id: str, arguments: Mapping[str, Any] | None = None) -> Result:
        """The result of one call. What goes wrong is in the result, not an exception."""
        return self._wait(self._engine.call(tool_id, _plain(arguments)))

    async def call_async(self, tool_id: str, arguments: Mapping[str, Any] | None = None) -> Result:
        """As `call`, for coroutines. A task that is cancelled ends the process of its call."""
        return await asyncio.wrap_future(
            self._submit(self._engine.call(tool_id, _plain(arguments)))
        )

    def close(self) -> None:
        """End every process. Calls under way fail."""
        if self._closed:
            return
        # The processes end on the loop that watches them; only then may it stop.
        self._wait(self._engine.close())
        self._closed = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _submit(self, work: Coroutine[Any, Any, T]) -> Any:
        if self._closed:
            # Python warns about a coroutine that was made and never awaited.
            work.close()
            raise UsageError("the runtime is closed")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        future = self._submit(work)
        try:
            result: T = future.result()
        # Ctrl-C, too, ends the call and its process, and not only the wait for it.
        except BaseException:
            future.cancel()
            raise
        return result

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await asyncio.to_thread(self.close)


async def _make_engine(
    tools: Iterable[Tool], settings: Settings, platform: Platform, env: Mapping[str, str] | None
) -> Engine:
    """An engine is made on the loop that it belongs to."""
    return Engine(tools, settings, platform, env)


def _plain(arguments: Mapping[str, Any] | None) -> Any:
    return dict(arguments) if isinstance(arguments, Mapping) else arguments
