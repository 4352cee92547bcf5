"""`nested_json`: objects and arrays inside each other, for parsers that recurse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from equipage.generators.base import Generator, Pieces
from equipage.generators.compact import CompactJson, json_string
from equipage.generators.parameters import AnyJson, OneOf, Parameter, Text, Whole
from equipage.generators.pieces import repeated

STRUCTURES = ("object", "array", "mixed")


class NestedJson(Generator, msgspec.Struct, frozen=True):
    """`depth` levels around `inner`: objects with one `key`, arrays, or both in turn with an object outermost.

    Depth 3 of key `a` around "x" is `{"a":{"a":{"a":"x"}}}`. Written level by level, so depth costs no stack.
    """

    type: ClassVar[str] = "nested_json"
    accepts: ClassVar[Mapping[str, Parameter]] = {
        "depth": Whole(limit="max_nest_depth"),
        "structure": OneOf(STRUCTURES),
        "key": Text(),
        "inner": AnyJson(),
    }
    sized_by: ClassVar[str] = "depth"
    produces_json: ClassVar[bool] = True

    depth: int
    structure: str = "object"
    key: str = "a"
    inner: CompactJson = CompactJson("null")

    @property
    def estimated_size(self) -> int:
        openers = self._objects * len(self._object_opener) + (self.depth - self._objects)
        return openers + len(self.inner.encoded) + self.depth

    def pieces(self) -> Pieces:
        opener = self._object_opener
        if self.structure == "mixed":
            pairs, odd = divmod(self.depth, 2)
            yield from repeated(opener + b"[", pairs)
            yield opener * odd + self.inner.encoded + b"}" * odd
            yield from repeated(b"]}", pairs)
        else:
            opener, closer = (opener, b"}") if self.structure == "object" else (b"[", b"]")
            yield from repeated(opener, self.depth)
            yield self.inner.encoded
            yield from repeated(closer, self.depth)

    @property
    def _objects(self) -> int:
        """How many of the levels are objects."""
        return {"object": self.depth, "array": 0, "mixed": (self.depth + 1) // 2}[self.structure]

    @property
    def _object_opener(self) -> bytes:
        return b"{" + json_string(self.key) + b":"
