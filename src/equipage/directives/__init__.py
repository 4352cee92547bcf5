"""Directives: `$name` mappings, replaced by what they mean.

Each directive is a small class with a `key`, the `codes` of its findings, the `schema` of what an
author may write, and `expand`, which replaces one node. `Expansion` is the walk they all share: it
finds directives depth first, in source order, and collects what they report.

A directive that cannot be expanded leaves a hole and a finding; the walk goes on, so one run
reports every problem. Expanded parts remember the directive that brought them, so later findings
point at text a person can edit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Code, Fact, Part, Shown
from equipage.core.path import HOLE, ROOT, Path, get
from equipage.core.source import Source
from equipage.core.text import nearest
from equipage.directives import codes
from equipage.files.sandbox import PathPolicy
from equipage.loading.tree import Origin, Tree, Via, graft
from equipage.syntax.document import Document

if TYPE_CHECKING:
    from equipage.loading.session import Session


class Directive(msgspec.Struct):
    """One `$name`.

    The class says what it is called, what can be wrong with it and what an author may write. An
    instance belongs to one load and knows what the kind decides about it: folders, limits, places.
    """

    key: ClassVar[str]
    codes: ClassVar[tuple[Code, ...]] = ()

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON Schema of the directive, for editors."""
        return {"type": "object", "properties": {cls.key: {}}, "required": [cls.key]}

    def matches(self, mapping: dict[str, Any]) -> bool:
        """Whether a mapping is this directive."""
        return self.key in mapping

    def expand(self, node: Node, expansion: Expansion) -> Tree:
        """The tree that replaces a node; a hole, with a finding in `expansion`, if it fails."""
        raise NotImplementedError


class Node(msgspec.Struct, frozen=True):
    """A part of a tree that a directive replaces.

    `path` is its path in the whole tree, `at` the path from it to the reference: `("$include",)`,
    or empty where a text without a mapping around it is the reference.
    """

    tree: Tree
    path: Path
    at: Path = ROOT
    via: tuple[Via, ...] = ()  #: what brought it, outermost first

    @property
    def value(self) -> Any:
        return self.tree.value

    @property
    def reference(self) -> Any:
        return get(self.tree.value, self.at)

    @property
    def origin(self) -> Origin:
        """Where the reference is written."""
        return self.tree.origins.origin(self.at)

    def hole(self) -> Tree:
        return Tree(HOLE, self.tree.origins)

    def replace_with(self, content: Tree, how: str) -> Tree:
        """Put content in place of this node and record the directive that brought it."""
        return self.put_in_place(self.add_via(content, how))

    def add_via(self, content: Tree, how: str) -> Tree:
        """Record in content the directive that brought it, but not what brought this node."""
        inner, reference = content.origins, self.tree.origins.node(self.at) if self.at else None
        # A reference that an override changed stays part of the story.
        replaced = inner.replaced if reference is None else reference.replaced + inner.replaced
        via = (Via(how, self.origin), *inner.via)
        return Tree(content.value, inner.replace(via=via, replaced=replaced))

    def put_in_place(self, tree: Tree) -> Tree:
        """Put a tree in place of this node; what brought or preceded the node is kept."""
        here, origins = self.tree.origins, tree.origins.inherit_via(self.tree.origins)
        if here.replaced:
            origins = origins.replace(replaced=here.replaced + origins.replaced)
        return Tree(tree.value, origins)


@dataclass(slots=True)
class Expansion:
    """One walk over the directives of a tree: what they may read and what they found."""

    session: Session
    directives: tuple[Directive, ...]
    #: the texts that the tree came from: a directive they do not mention is not searched for
    documents: tuple[Document, ...] = ()
    #: the files being expanded, outermost first, each with what brought it
    chain: Mapping[Source, tuple[Via, ...]] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)

    def nest(self, chain: Mapping[Source, tuple[Via, ...]]) -> Expansion:
        """An expansion inside this one, for a part that is reached through the files of `chain`."""
        return Expansion(self.session, self.directives, self.documents, chain, self.facts)

    def walk(self, tree: Tree, where: Path = ROOT) -> Tree:
        """The tree with its directives replaced; `where` is its path in the whole tree."""
        parts: dict[Path, Tree] = {}
        # Only the outermost directives are found here: each expands what is inside it.
        for path in self.find(tree):
            part = tree.subtree(path)
            directive = next(each for each in self.directives if each.matches(part.value))
            node = Node(part, where + path, (directive.key,), tree.provenance(path).via)
            parts[path] = directive.expand(node, self)
        return graft(tree, parts)

    def walk_values(self, tree: Tree, where: Path) -> Tree:
        """A mapping with the directives in each of its values replaced, though not itself."""
        parts: dict[Path, Tree] = {}
        for key, value in tree.value.items():
            part = self.walk(tree.subtree((key,)), (*where, key))
            # Values without directives stay shared with the tree.
            if part.value is not value:
                parts[key,] = part
        return graft(tree, parts)

    def find(self, tree: Tree) -> list[Path]:
        """The paths of the outermost directives in a tree, in source order."""
        documents = self.documents
        tests = [
            each.matches
            for each in self.directives
            if not documents or any(document.may_mention(each.key) for document in documents)
        ]
        if len(tests) <= 1:  # the usual case, without a call in between for every mapping
            return find(tree.value, tests[0]) if tests else []
        return find(tree.value, lambda mapping: any(test(mapping) for test in tests))

    def find_source(
        self,
        node: Node,
        policy: PathPolicy,
        *,
        bases: tuple[str, ...],
        roots: tuple[str, ...],
        embedded: Code = codes.EMBEDDED_DIRECTIVE,
    ) -> Source | None:
        """The file a node names; None, with a finding, if its reference cannot name one.

        Raises `FileProblem` if the file does not exist or may not be read.
        """
        reference = node.reference
        if self.session.embedded:
            name, shown = node.at[0] if node.at else "a path", Shown(reference)
            self.report(node, embedded, directive=name, found=shown, reference=shown)
            return None
        if not isinstance(reference, str):
            if reference is not HOLE:  # what left the hole has been reported
                found = Shown(reference, as_found=True)
                self.report(node, core_codes.WRONG_TYPE, expected="a path as text", found=found)
            return None
        referred = self.session.refer(reference, policy, bases=bases, roots=roots)
        if referred.outside:
            self.report(node, core_codes.ABSOLUTE_PATH, reference=Shown(reference))
        return referred.source

    def report(
        self,
        node: Node,
        code: Code,
        *,
        at: Path | None = None,
        part: Part = "value",
        **values: object,
    ) -> None:
        """Add a finding about a part of a node, by default the reference, in the file it is in."""
        origin = node.tree.provenance(node.at if at is None else at).origin
        also = related_places(node.via)
        self.facts.append(Fact(code, values=values, part=part, origin=origin, also=also))

    def report_siblings(self, node: Node, *known: str, advice: str = "remove it") -> None:
        """Warn about keys beside a directive: they are lost with the mapping that it replaces."""
        own = (*node.at, *known)
        for name in [each for each in node.value if each not in own]:
            guess = nearest(name, known)
            meant = advice if guess is None else f"did you mean `{guess}`?"
            values = {"directive": node.at[0], "key": Shown(name), "advice": meant}
            self.report(node, codes.DIRECTIVE_SIBLINGS, at=(name,), part="key", **values)


def expand(
    tree: Tree, session: Session, *directives: Directive, documents: Iterable[Document] = ()
) -> tuple[Tree, list[Fact]]:
    """A stage: the tree with these directives replaced in one walk, and what they found."""
    expansion = Expansion(session, directives, tuple(documents))
    return expansion.walk(tree), expansion.facts


def lacks_library(library: str | None, shelf: tuple[str, ...], session: Session) -> bool:
    """Whether there is no library, not even a link to one that may not be followed."""
    return library is not None and not shelf and not session.files.system.is_link(library)


def related_places(via: tuple[Via, ...]) -> tuple[Also, ...]:
    """The directives that brought a part, as related places of a finding, innermost first."""
    return tuple(Also(each.how, origin=each.at) for each in reversed(via) if each.at is not None)


def find(value: Any, test: Callable[[dict[str, Any]], bool]) -> list[Path]:
    """The paths of the outermost mappings that pass a test, in document order."""
    found: list[Path] = []
    stack: list[tuple[Path, Any]] = [(ROOT, value)]
    while stack:
        path, node = stack.pop()
        if isinstance(node, list):
            stack += [((*path, at), node[at]) for at in range(len(node) - 1, -1, -1)]
        elif isinstance(node, dict) and test(node):
            found.append(path)
        elif isinstance(node, dict):
            stack += [((*path, key), child) for key, child in reversed(node.items())]
    return found
