"""`batch_notifications`: one JSON-RPC batch of many equal notifications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from equipage.generators.base import Generator, Pieces
from equipage.generators.compact import CompactJson, json_string
from equipage.generators.parameters import AnyJson, Parameter, Text, Whole
from equipage.generators.pieces import joined


class BatchNotifications(Generator, msgspec.Struct, frozen=True):
    """An array of `count` notifications of `method`, without ids.

    `params` None leaves the member out; a JSON null is sent as null.
    """

    type: ClassVar[str] = "batch_notifications"
    accepts: ClassVar[Mapping[str, Parameter]] = {
        "count": Whole(limit="max_batch_size", none_is_odd=True),
        "method": Text(),
        "params": AnyJson(),
    }
    sized_by: ClassVar[str] = "count"
    produces_json: ClassVar[bool] = True

    count: int
    method: str = "notifications/message"
    params: CompactJson | None = None

    @property
    def estimated_size(self) -> int:
        return 2 + self.count * len(self._item) + max(0, self.count - 1)

    def pieces(self) -> Pieces:
        yield b"["
        yield from joined(self._item, self.count, b",")
        yield b"]"

    @property
    def _item(self) -> bytes:
        params = b"" if self.params is None else b',"params":' + self.params.encoded
        return b'{"jsonrpc":"2.0","method":' + json_string(self.method) + params + b"}"
