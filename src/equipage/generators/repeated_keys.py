"""`repeated_keys`: an object that gives the same key again and again, for parsers that disagree on which wins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from equipage.generators.base import Generator, Pieces
from equipage.generators.compact import CompactJson
from equipage.generators.parameters import AnyJson, Parameter, Whole
from equipage.generators.pieces import BLOCK, joined, repeated


class RepeatedKeys(Generator, msgspec.Struct, frozen=True):
    """`count` members with one and the same key, `k` written `key_length` times, and the same `value`."""

    type: ClassVar[str] = "repeated_keys"
    accepts: ClassVar[Mapping[str, Parameter]] = {
        "count": Whole(limit="max_batch_size", none_is_odd=True),
        "key_length": Whole(minimum=1),
        "value": AnyJson(),
    }
    sized_by: ClassVar[str] = "count"
    produces_json: ClassVar[bool] = True

    count: int
    key_length: int = 8
    value: CompactJson = CompactJson('"x"')

    @property
    def estimated_size(self) -> int:
        member = self.key_length + 3 + len(self.value.encoded)
        return 2 + self.count * member + max(0, self.count - 1)

    def pieces(self) -> Pieces:
        yield b"{"
        if self.key_length <= BLOCK:
            member = b'"' + b"k" * self.key_length + b'":' + self.value.encoded
            yield from joined(member, self.count, b",")
        else:
            yield from self._long_members()
        yield b"}"

    def _long_members(self) -> Pieces:
        """Members whose key alone fills more than a block: even one of them is never held whole."""
        for number in range(self.count):
            yield b',"' if number else b'"'
            yield from repeated(b"k", self.key_length)
            yield b'":' + self.value.encoded
