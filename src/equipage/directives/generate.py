"""`$generate`: a payload that is made when it is asked for.

Loading checks the parameters and the size, and makes no byte. What stands in the configuration is a `Generated`:
the parameters as they were written, with everything needed to make the payload. Equal parameters share one
generator.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import msgspec

from equipage.core.codes import Code
from equipage.core.diagnostics import Fact, Shown, fact
from equipage.core.frozen import frozen
from equipage.core.path import Path
from equipage.directives import find_directives
from equipage.generators import Buffered, Generator, GeneratorLimits, Streamed, build
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, Tree, graft

KEY = "$generate"
#: For a configuration that was checked before, in another process.
_NO_LIMITS = GeneratorLimits(2**64, 2**64, 2**64)


class Generated(msgspec.Struct, frozen=True, eq=False, dict=True, rename={"params": KEY}):
    """A payload to be made later. Equal to every other that makes the same bytes.

    `params` is what stands under `$generate`, defaults left out and sizes as numbers.
    """

    made_by_directive: ClassVar[str] = "a payload from `$generate`"

    params: Any

    @classmethod
    def by(cls, generator: Generator) -> Generated:
        made = cls(frozen(generator.to_dict()))
        made.__dict__["generator"] = generator
        return made

    @cached_property
    def generator(self) -> Generator:
        """What makes the bytes; built again after unpickling."""
        generator, facts = build(self.params, _NO_LIMITS, (), plugins=True)
        if generator is None:
            raise ValueError(f"no generator for {self.params!r}: {[each.code for each in facts]}")
        return generator

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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Generated) and self.generator == other.generator

    def __hash__(self) -> int:
        return hash(self.generator)


class GenerateSettings(msgspec.Struct, frozen=True):
    """What a kind decides about payloads."""

    limits: GeneratorLimits
    #: what may stand at a path: a payload, free-form data that is left as it is, or neither
    slot: Callable[[Path], str]


def plan_payloads(
    tree: Tree, session: Session, settings: GenerateSettings
) -> tuple[Tree, list[Fact]]:
    """The tree with every `$generate` checked, and replaced by a payload where one may stand."""
    planner = _Planner(settings)
    parts: dict[Path, Tree] = {}
    for path in find_directives(tree.value, KEY, session.documents):
        value = planner.expand(path, _at(tree.value, path))
        parts[path] = Tree(value, tree.at(path).origins)
    return graft(tree, parts), planner.facts


def _at(value: Any, path: Path) -> dict[str, Any]:
    for step in path:
        value = value[step]
    found: dict[str, Any] = value
    return found


def _has_hole(params: Any) -> bool:
    stack = [params]
    while stack:
        node = stack.pop()
        if node is HOLE:
            return True
        if isinstance(node, dict):
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return False


class _Planner:
    """The payloads of one load: equal ones are one."""

    def __init__(self, settings: GenerateSettings) -> None:
        self.settings = settings
        self.facts: list[Fact] = []
        self.known: dict[Generator, Generated] = {}

    def expand(self, path: Path, node: dict[str, Any]) -> Any:
        """What one `$generate` mapping becomes: a payload, itself where data may be anything, or a hole."""
        params = node[KEY]
        if _has_hole(params):
            return HOLE  # told where it was made
        generator, facts = build(params, self.settings.limits, (*path, KEY))
        self.facts += facts
        slot = self.settings.slot(path)
        if slot == "free":
            self.facts.append(fact("generate-in-data", (*path, KEY), part="key"))
            return HOLE if generator is None else node
        for name in node:
            if name != KEY:
                said: dict[str, Any] = {"directive": KEY, "key": Shown(name), "advice": "remove it"}
                self.facts.append(fact("directive-siblings", (*path, name), part="key", **said))
        if generator is None:
            return HOLE
        if slot == "text" and not generator.produces_text:
            self.facts.append(
                fact("generate-binary-text", (*path, KEY), part="key", type=generator.type)
            )
        if generator not in self.known:
            self.known[generator] = Generated.by(generator)
        return self.known[generator]


CODES: tuple[Code, ...] = (
    Code(
        "generate-in-data",
        "warning",
        "`$generate` makes no payload here: it stays as data",
        "A payload can stand where content is sent: the text or data of a content item, the content of a resource "
        "or a message. Inside a schema or other free data the mapping is kept as it is written.",
        "move it into the content of a response",
    ),
    Code(
        "generate-binary-text",
        "warning",
        "`{type}` makes bytes that are not valid UTF-8, in a place for text",
        "Text is sent as UTF-8. Bytes that are none are replaced when the payload is sent.",
        "choose another charset, or send it as the data of an image",
    ),
)
