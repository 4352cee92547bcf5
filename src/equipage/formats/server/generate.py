"""`$generate`: a payload that is made when it is asked for.

Loading checks the parameters and the size, and makes no byte. The configuration then holds a
`Generated`: the parameters as they were written, with everything needed to make the payload. Equal
parameters share one generator.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, ClassVar

import msgspec

from equipage.core.frozen import freeze_plain
from equipage.formats.server import codes
from equipage.formats.server import payloads as generators
from equipage.formats.server.payloads import build
from equipage.formats.server.payloads.base import (
    BLOCK,
    Buffered,
    Generator,
    GeneratorLimits,
    Streamed,
)
from equipage.plugin import HOLE, Code, Directive, Expansion, Node, Path, Tree, walk

KEY = "$generate"
#: For a configuration that was checked before, in another process.
_NO_LIMITS = GeneratorLimits(2**64, 2**64, 2**64)


class Generated(msgspec.Struct, frozen=True, eq=False, rename={"params": KEY}):
    """A payload to be made later. Equal to every other that makes the same bytes.

    >>> text = loaded.config.baseline.tools[1].response.content[0].text
    >>> text.type, text.estimated_size, text.read()
    ('nested_json', 22, b'{"a":{"a":{"a":null}}}')
    >>> sum(map(len, text.stream(chunk=4)))
    22
    """

    made_by_directive: ClassVar[str] = "a payload from `$generate`"

    params: Any
    """The mapping under `$generate`, without defaults and with sizes as numbers."""

    @classmethod
    def from_generator(cls, generator: Generator) -> Generated:
        return cls(freeze_plain(generator.to_dict()))

    @property
    def generator(self) -> Generator:
        """What makes the bytes."""
        return _build_generator(json.dumps(self.params))

    @property
    def type(self) -> str:
        return self.generator.type

    @property
    def estimated_size(self) -> int:
        """The number of bytes, or a bound that is never exceeded."""
        return self.generator.estimated_size

    @property
    def produces_json(self) -> bool:
        return self.generator.produces_json

    def generate(self) -> Buffered | Streamed:
        """The payload: in one piece if it is small, in chunks if it is large."""
        return self.generator.generate()

    def stream(self, chunk: int = BLOCK) -> Iterator[bytes]:
        """The payload in chunks of `chunk` bytes, the last one perhaps shorter.

        Each call makes the same bytes again. At any time only a few chunks exist.
        """
        return self.generator.stream(chunk)

    def read(self, limit: int | None = None) -> bytes:
        """The whole payload.

        Raises `PayloadTooLarge` when it has more than `limit` bytes, by default 100 MB, without
        making more than that.
        """
        return self.generator.read(limit)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Generated) and self.generator == other.generator

    def __hash__(self) -> int:
        return hash(self.generator)


@lru_cache(1024)
def _build_generator(params: str) -> Generator:
    """The generator of parameters that were checked before, written as JSON.

    A payload keeps nothing but its parameters: anything else could be changed.
    """
    generator, facts = build(json.loads(params), _NO_LIMITS, ())
    if generator is None:
        raise ValueError(f"no generator for {params}: {[each.code for each in facts]}")
    return generator


class Generate(Directive):
    """What a kind decides about payloads, and the payloads of one load: equal ones are one."""

    key: ClassVar[str] = KEY
    codes: ClassVar[tuple[Code, ...]] = codes.GENERATE_CODES

    limits: GeneratorLimits
    slot: Callable[[Path], str]
    """What a path is for: `text`, other payloads, or `free` data, where the mapping stays as it
    is."""
    known: dict[Generator, Generated] = msgspec.field(default_factory=dict)

    @classmethod
    def schema(cls) -> dict[str, Any]:
        return generators.schema()

    def expand(self, node: Node, expansion: Expansion) -> Tree:
        if any(value is HOLE for _, value in walk(node.reference)):
            return node.hole()
        at, facts = node.path + node.at, expansion.facts
        generator, found = build(node.reference, self.limits, at)
        facts += found
        slot = self.slot(node.path)
        if slot == "free":
            facts.append(codes.GENERATE_IN_DATA.at(at, part="key"))
            return node.hole() if generator is None else node.tree
        expansion.report_siblings(node)
        if generator is None:
            return node.hole()
        if slot == "text" and not generator.produces_text:
            facts.append(codes.GENERATE_BINARY_TEXT.at(at, part="key", type=generator.type))
        if generator not in self.known:
            self.known[generator] = Generated.from_generator(generator)
        return Tree(self.known[generator], node.tree.origins)
