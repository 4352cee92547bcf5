"""Schemas and how they refer to each other: a graph whose nodes are parts of documents.

A part that can reach itself is *recursive*: it can never be written out in full, so references to it stay references.
All other parts can, whatever they are referred from, which is what makes it safe to share them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from equipage.diagnostics import Fact
from equipage.path import ROOT, Path, pointer
from equipage.schemas import Draft
from equipage.syntax.document import Document
from equipage.tree import Origin, Tree


class Scopes(msgspec.Struct, frozen=True):
    """Names that are looked up at run time: who has them, and which references ask for them.

    `given` are names with the schema they are given in: a document and the path of an embedded schema.
    """

    given: frozenset[tuple[str, int, Path]] = frozenset()
    asked: dict[str, Origin] = {}

    def with_those_of(self, other: Scopes) -> Scopes:
        if self is other or len(self.given) + len(self.asked) > MAX_SCOPES:
            return self
        return Scopes(self.given | other.given, {**other.asked, **self.asked})

    def disputed(self) -> list[tuple[str, Origin]]:
        """The names that several schemas have and a reference asks for, with that reference."""
        count = Counter(name for name, *_ in self.given)
        return [(name, origin) for name, origin in self.asked.items() if count[name] > 1]


#: Every part knows the names of all it leads to; a text with nothing but names must not make that expensive.
MAX_SCOPES = 200
NO_SCOPES = Scopes()


class Link(msgspec.Struct, frozen=True):
    """A reference in a part. `target` None: it leads nowhere, and that has been told.

    `alone`: the whole mapping stands for the target; otherwise the keywords beside `$ref` count as well.
    `in_place`: the target judges the same value as the part itself.
    """

    path: Path
    target: Part | None
    alone: bool
    in_place: bool
    word: str = "$ref"  #: the keyword that makes the reference

    @property
    def where(self) -> Path:
        """The path of the reference itself, in its part."""
        return (*self.path, self.word)


class Part:
    """A schema in a document, as one draft reads it: `base` is where fragments in it start from."""

    __slots__ = (
        "base",
        "clean",
        "cyclic",
        "document",
        "documents",
        "draft",
        "dynamic",
        "facts",
        "height",
        "is_target",
        "links",
        "low",
        "name",
        "order",
        "path",
        "recursive",
        "renamed",
        "rooted",
        "size",
        "tree",
        "value",
    )

    def __init__(self, document: Document, base: Path, path: Path, value: Any, draft: Draft) -> None:
        self.document = document
        self.base = base
        self.path = path
        self.value = value
        self.draft = draft
        self.is_target = False  #: whether anything refers to it
        self.links: tuple[Link, ...] = ()
        self.renamed: tuple[Path, ...] = ()  #: schemas inside that have a name of their own, dropped when inlined
        self.facts: tuple[Fact, ...] = ()  #: about this part alone
        self.dynamic = NO_SCOPES  #: what could decide at run time where a reference leads
        self.order = self.low = 0  #: for finding components; 0 means not visited yet
        # Known once the component of the part is finished:
        self.tree: Tree | None = None
        self.rooted: Tree | None = None
        self.recursive = False
        self.name = ""
        self.size = self.height = 0
        self.clean = True  #: whether nothing was found in this part and in all it leads to
        self.documents: tuple[Document, ...] = ()
        self.cyclic: dict[str, Part] = {}

    def origin(self, path: Path = ROOT) -> Origin:
        return Origin(self.document, self.path + path)

    def targets(self) -> Iterator[Part]:
        return (link.target for link in self.links if link.target is not None)

    def label(self) -> str:
        """The part as people are shown it in a chain."""
        where = pointer(self.path)
        return f"{self.document.source.name}#{where}" if where else self.document.source.name


def findings(root: Part) -> list[Fact]:
    """What was found in a part and in all it leads to, each part once."""
    if root.clean:
        return []
    seen: dict[int, Part] = {id(root): root}
    stack = [root]
    while stack:
        for target in stack.pop().targets():
            if not target.clean and id(target) not in seen:
                seen[id(target)] = target
                stack.append(target)
    return [fact for part in seen.values() for fact in part.facts]


def components(root: Part, visit: Callable[[Part], None]) -> Iterator[list[Part]]:
    """The strongly connected components that `root` reaches, targets before those who refer to them.

    `visit` fills in the links of a part when it is first met. Parts finished by an earlier walk are left alone.
    Iterative: a chain of references may be longer than the interpreter's stack.
    """
    counter = 0
    stack: list[Part] = []
    open_parts: set[int] = set()
    work: list[tuple[Part, Iterator[Part]]] = []

    def enter(part: Part) -> None:
        nonlocal counter
        counter += 1
        visit(part)
        part.order = part.low = counter
        stack.append(part)
        open_parts.add(id(part))
        work.append((part, part.targets()))

    enter(root)
    while work:
        part, targets = work[-1]
        target = next(targets, None)
        if target is not None:
            if target.tree is None and target.order == 0:
                enter(target)
            elif id(target) in open_parts:
                part.low = min(part.low, target.order)
            continue
        work.pop()
        if work:
            work[-1][0].low = min(work[-1][0].low, part.low)
        if part.low == part.order:
            component = [stack.pop()]
            while component[-1] is not part:
                component.append(stack.pop())
            open_parts.difference_update(map(id, component))
            yield component


def loop_in(component: list[Part]) -> list[tuple[Part, Link]]:
    """A way from a part back to itself that never looks at another value: such a schema has no meaning.

    Empty if there is none; else the links of the loop in order.
    """
    members = {id(part) for part in component}
    finished: set[int] = set()
    for start in reversed(component):
        trail: list[tuple[Part, Link]] = []
        on_trail: dict[int, int] = {id(start): 0}
        work = [(start, iter(_in_place(start, members)))]
        while work and id(start) not in finished:
            part, links = work[-1]
            link = next(links, None)
            if link is None:
                work.pop()
                finished.add(id(part))
                on_trail.pop(id(part), None)
                if trail:
                    trail.pop()
                continue
            target = link.target
            assert target is not None
            if id(target) in on_trail:
                return [*trail, (part, link)][on_trail[id(target)] :]
            if id(target) not in finished:
                trail.append((part, link))
                on_trail[id(target)] = len(trail)
                work.append((target, iter(_in_place(target, members))))
    return []


def _in_place(part: Part, members: set[int]) -> list[Link]:
    return [link for link in part.links if link.in_place and link.target is not None and id(link.target) in members]
