"""A cache for results of deterministic tools. Equal calls at the same time share one run.

A key is a hash of all that a result depends on. Values are kept as JSON text, so that no caller can
change what another one gets.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any

from equipage_serve.framing import canonical_json


def key_of(tool_key: str, arguments: Any, rendered: str | None, principal: str) -> str:
    """The key of a call: the tool with its code, the whole input, and who asks."""
    parts = {"tool": tool_key, "payload": arguments, "cacheKey": rendered, "principal": principal}
    return hashlib.sha256(canonical_json(parts)).hexdigest()


#: What an entry takes beside its value: its key, two tuples, numbers.
ENTRY_OVERHEAD = 320


class Cache:
    """The last results, bounded by their bytes and their age."""

    def __init__(
        self, max_bytes: int, seconds: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self.max_bytes, self.seconds, self._now = max_bytes, seconds, now
        self._entries: OrderedDict[str, tuple[float, bytes]] = OrderedDict()
        self._bytes = 0
        self._leaders: dict[str, asyncio.Future[bytes]] = {}

    def get(self, key: str) -> bytes | None:
        """A result that is not too old."""
        found = self._entries.get(key)
        if found is None:
            return None
        if found[0] <= self._now():
            self._drop(key)
            return None
        self._entries.move_to_end(key)
        return found[1]

    def put(self, key: str, data: bytes) -> None:
        """Keep a result; the ones that were not asked for the longest give way."""
        self._drop(key)
        # Counted with what it takes to keep it: millions of small results are large, too.
        if len(data) + ENTRY_OVERHEAD > self.max_bytes:
            return
        self._entries[key] = self._now() + self.seconds, data
        self._bytes += len(data) + ENTRY_OVERHEAD
        while self._bytes > self.max_bytes:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: str) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= len(entry[1]) + ENTRY_OVERHEAD

    async def get_or_make(
        self, key: str, make: Callable[[], Awaitable[bytes]]
    ) -> tuple[bytes, bool]:
        """Return a result, and whether it was cached. Equal calls wait for the one that makes it.

        What `make` raises reaches every call that waited. If the call that makes the result is
        cancelled, the next one that waits makes it.
        """
        while True:
            known = self.get(key)
            if known is not None:
                return known, True
            leader = self._leaders.get(key)
            if leader is None:
                return await self._make_for_all(key, make), False
            try:
                return await asyncio.shield(leader), True
            except asyncio.CancelledError:
                if not leader.cancelled():
                    raise  # this call was cancelled, not the one that it waits for

    async def _make_for_all(self, key: str, make: Callable[[], Awaitable[bytes]]) -> bytes:
        leader = self._leaders[key] = asyncio.get_running_loop().create_future()
        try:
            data = await make()
        except asyncio.CancelledError:
            leader.cancel()
            raise
        except BaseException as error:
            leader.set_exception(error)
            leader.exception()  # there may be no one who waits
            raise
        else:
            self.put(key, data)
            leader.set_result(data)
            return data
        finally:
            del self._leaders[key]


def encode_result(data: Any) -> bytes:
    return json.dumps(data, separators=(",", ":")).encode()


def decode_result(data: bytes) -> Any:
    return json.loads(data)
