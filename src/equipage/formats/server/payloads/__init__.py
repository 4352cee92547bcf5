"""Payload generators: what a `$generate` node means.

`build` turns the mapping under `$generate` into a frozen `Generator`, whose size is known and whose
bytes are made only when they are read; or it reports everything that is wrong with the mapping. A
configuration then holds a `Generated`: the parameters as they were written, with everything needed
to make the payload.

The six types of the format are in `types`. A program adds its own with `register`. A
configuration chooses among these and never names code to import.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, ClassVar

import msgspec

from equipage.core.frozen import freeze_plain
from equipage.formats.server import codes
from equipage.formats.server.payloads.base import (
    BLOCK,
    REFUSED,
    Buffered,
    Generator,
    GeneratorLimits,
    Streamed,
    fields_of,
    replacement_remedy,
    too_large_fact,
)
from equipage.plugin import (
    HOLE,
    Code,
    Directive,
    Expansion,
    Fact,
    Node,
    Path,
    Shown,
    Tree,
    nearest,
    walk,
)

_registered: dict[str, type[Generator]] = {}

#: Names that other descriptions of the format use for a parameter, too far from it to be guessed.
_OTHER_NAMES = {"size": "bytes", "categories": "category"}

Facts = tuple[Fact, ...]


def generator_types() -> dict[str, type[Generator]]:
    """The registered generators by type, those of the format first."""
    # Most configurations have no payload: the six types are imported with the first one.
    if "nested_json" not in _registered:
        from equipage.formats.server.payloads.types import TYPES

        for cls in TYPES:
            _registered.setdefault(cls.type, cls)
    return _registered


def register(cls: type[Generator]) -> type[Generator]:
    """Make a generator known under its `type`; usable as a decorator.

    Raises `ValueError` if the type is taken by another class.
    """
    if generator_types().setdefault(cls.type, cls) is not cls:
        raise ValueError(f"generator type {cls.type!r} is already registered")
    return cls


def build(params: object, limits: GeneratorLimits, path: Path) -> tuple[Generator | None, Facts]:
    """The generator that `params`, the value of `$generate` at `path`, describes, and findings.

    Every problem of the node is reported, each at its parameter; with any error there is no
    generator. Limits on count and depth come before the limit on size, and the size is computed
    from the parameters: nothing is made.
    """
    if not isinstance(params, Mapping):
        return None, (codes.GENERATOR_NOT_A_MAPPING.at(path, found=Shown(params, as_found=True)),)
    found = _class_of(params, path)
    if isinstance(found, Fact):
        return None, (found,)
    values, facts = _read_parameters(found, params, limits, path)
    facts += tuple(_report_unknown_keys(found, params, path))
    if values is None:
        return None, facts
    generator = found(**values)
    if generator.estimated_size > limits.max_payload_bytes:
        # The parameter that makes it so large, if the author wrote it; a default has no place.
        blamed = (*path, found.sized_by) if found.sized_by in params else path
        return None, (*facts, too_large_fact(generator.estimated_size, blamed, limits))
    return generator, facts


def _class_of(params: Mapping[str, object], path: Path) -> type[Generator] | Fact:
    """The generator that `type` names, or what is wrong with it."""
    name, at = params.get("type"), (*path, "type")
    allowed = ", ".join(generator_types())
    if name is None:
        return codes.GENERATOR_TYPE_MISSING.at(path, allowed=allowed)
    if not isinstance(name, str):
        return codes.GENERATOR_PARAMETER_TYPE.at(
            at, parameter="type", expected=f"one of {allowed}", found=Shown(name, as_found=True)
        )
    cls = generator_types().get(name)
    if cls is not None:
        return cls
    meant = nearest(name, generator_types())
    return codes.GENERATOR_TYPE_UNKNOWN.at(
        at, remedy=replacement_remedy(at, meant), found=Shown(name), allowed=allowed, nearest=meant
    )


def _read_parameters(
    cls: type[Generator], params: Mapping[str, object], limits: GeneratorLimits, path: Path
) -> tuple[dict[str, object] | None, Facts]:
    """The values of the generator's fields; None if one is missing or refused.

    Absent ones keep their default.
    """
    values: dict[str, object] = {}
    facts: list[Fact] = []
    missing = False
    for field in fields_of(cls):
        name, parameter = field.name, cls.accepts[field.name]
        # `null` means the default, unless it is a value of the parameter itself.
        if params.get(name) is not None or (name in params and parameter.nullable):
            values[name], found = parameter.read(params[name], (*path, name), limits)
            facts += found
        elif field.required:
            missing = True
            at, expected = (*path, name) if name in params else path, parameter.description
            code = codes.GENERATOR_PARAMETER_MISSING
            facts.append(code.at(at, type=cls.type, parameter=name, expected=expected))
    return None if missing or REFUSED in values.values() else values, tuple(facts)


def _report_unknown_keys(
    cls: type[Generator], params: Mapping[str, object], path: Path
) -> Iterator[Fact]:
    """A warning for each key that is not a parameter, with the unused parameter it may mean."""
    unused = [name for name in cls.accepts if name not in params]
    for key in params:
        if key == "type" or key in cls.accepts:
            continue
        other = _OTHER_NAMES.get(key)
        meant = other if other in unused else nearest(key, unused)
        yield codes.GENERATOR_PARAMETER_UNKNOWN.at(
            (*path, key),
            part="key",
            remedy=replacement_remedy((*path, key), meant, "key"),
            parameter=Shown(key),
            type=cls.type,
            nearest=meant,
        )


def schema() -> dict[str, object]:
    """The JSON Schema of what `$generate` takes, for editors: one alternative per registered type.

    Limits are left out: they belong to the machine, not to the format.
    """
    alternatives = [_type_schema(cls) for cls in generator_types().values()]
    return {"type": "object", "required": ["type"], "oneOf": alternatives}


def _type_schema(cls: type[Generator]) -> dict[str, object]:
    about = " ".join((cls.__doc__ or cls.type).split("\n\n")[0].split())
    properties: dict[str, object] = {"type": {"const": cls.type, "description": about}}
    required = ["type"]
    for field in fields_of(cls):
        parameter = cls.accepts[field.name]
        taken = parameter.schema
        if field.required:
            required.append(field.name)
        elif not parameter.nullable:
            taken = {"anyOf": [parameter.schema, {"type": "null"}]}
        properties[field.name] = {"description": parameter.description, **taken}
    return {"title": cls.type, "properties": properties, "required": required}


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
        return schema()

    def expand(self, node: Node, expansion: Expansion) -> Tree:
        if any(value is HOLE for _, value in walk(node.reference)):
            return node.hole()
        at, facts = node.path + node.at, expansion.facts
        generator, found = build(node.reference, self.limits, at)
        facts += found
        if self.slot(node.path) == "free":
            facts.append(codes.GENERATE_IN_DATA.at(at, part="key"))
            return node.hole() if generator is None else node.tree
        expansion.report_siblings(node)
        if generator is None:
            return node.hole()
        if not generator.produces_text:
            facts.append(codes.GENERATE_BINARY_TEXT.at(at, part="key", type=generator.type))
        if generator not in self.known:
            self.known[generator] = Generated.from_generator(generator)
        return Tree(self.known[generator], node.tree.origins)
