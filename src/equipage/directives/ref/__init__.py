"""`$ref`: a schema in another file, in another part of the same file, or in the same schema.

References are found by position: under `properties` the word is a name, under `const` or `enum` it
is data. A file is read, parsed, checked and resolved once, however many schemas and loads refer to
it, and the result is shared. References start at the file that makes them, never leave the project,
and never reach the network.

What can be written out is; a recursive schema keeps references to definitions inside itself.
Findings about a file are reported in that file. A reference that cannot be followed leaves a hole
and a finding.

`links` builds the graph of references, `inline` turns it into schemas. This module ties them
together, with a shorter way for schemas whose references earlier loads have resolved.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import msgspec

from equipage.core.diagnostics import Also, Code, Fact, Shown
from equipage.core.frozen import WeightCache, freeze_plain
from equipage.core.path import ROOT, Path
from equipage.directives import Directive, Expansion, Node, codes
from equipage.directives.ref import inline
from equipage.directives.ref_graph import NO_SCOPES, REF, KnownReferences, Linker, Part, Place
from equipage.files.sandbox import PathPolicy
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, Origin, Origins, Tree, get, graft
from equipage.schemas.checking import is_valid
from equipage.schemas.patterns import judge
from equipage.schemas.structure import Draft, children, draft_named, patterns_of, written_draft
from equipage.syntax.document import Document

#: The draft of a schema that is nothing but a reference: the target decides.
_ANY_DRAFT = ""
#: Keywords that change what references mean, or may be wrong in ways of their own.
_UNUSUAL_KEYWORDS = frozenset(
    {"$id", "id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"}
)


class Ref(Directive):
    """The references of one load. A kind decides what they may read and the draft by default."""

    key: ClassVar[str] = REF
    codes: ClassVar[tuple[Code, ...]] = codes.REF_CODES

    policy: PathPolicy = PathPolicy(absolute="refuse", parents="inside")
    default_draft: str = "2020-12"
    linker: Linker | None = None  #: made for the first schema that earlier loads do not know

    def resolve(
        self, tree: Tree, session: Session, paths: Iterable[Path]
    ) -> tuple[Tree, list[Fact]]:
        """A stage: the tree with the schemas at `paths` checked and their references replaced."""
        expansion = Expansion(
            session, self, chain={tree.provenance(ROOT).origin.document.source: ()}
        )
        parts = {
            path: self.expand(Node(tree.subtree(path), path), expansion)
            for path in paths
            if get(tree.value, path, HOLE) is not HOLE
        }
        if self.linker is not None:
            expansion.facts[:0] = self.linker.facts
        return graft(tree, parts), expansion.facts

    def resolve_document(
        self, document: Document, session: Session
    ) -> tuple[Tree, list[Fact], tuple[Document, ...]]:
        """A document that is one schema: checked, with its references replaced.

        With it come the findings, and the documents that it is made of.
        """
        if not isinstance(document.value, dict | bool):
            origin = Origin(document, ROOT)
            found = Shown(document.value, as_found=True)
            fact = codes.SCHEMA_NOT_MAPPING.at(origin=origin, found=found, hint=None)
            return Tree.from_document(document), [fact], (document,)
        if isinstance(document.value, bool):
            return Tree.from_document(document), [], (document,)
        # References start at the file that makes them, which is not the one that is loaded.
        home = session.documents[0].source
        linker = Linker(session, home, self.policy, self.default_draft)
        place = Place(document, ROOT, ROOT)
        part = linker.part(place, linker.draft(place))
        inline.resolve(part, linker.visit)
        for each in part.documents:
            linker.facts += session.parse(each.source, each.format)[1]
        facts = [*linker.facts, *_facts_of(part)]
        return inline.make_root(part, linker.default), facts, tuple(part.documents)

    def expand(self, node: Node, expansion: Expansion) -> Tree:
        """A whole schema, checked, with its references replaced."""
        if not isinstance(node.value, dict):
            expansion.facts.append(_not_mapping_fact(node))
            return node.hole()
        session = expansion.session
        known = KnownSchemas(session, draft_named(self.default_draft))
        quick = known.resolve_schema(node.value, node.origin)
        if quick is not None:
            return quick
        if self.linker is None:
            home = next(iter(expansion.chain))
            self.linker = Linker(session, home, self.policy, self.default_draft)
        # Fragments of an inline schema start at the schema, not at the file that holds it.
        place = Place(node.origin.document, node.origin.path, node.origin.path)
        part = self.linker.part(place, self.linker.draft(place))
        inline.resolve(part, self.linker.visit)
        # Parts may come from earlier loads: their files, and oddities of their texts, are this
        # load's, too.
        for document in part.documents:
            session.files.note(document.source)
            self.linker.facts += session.parse(document.source, document.format)[1]
        expansion.facts += _facts_of(part)
        if part.clean and not self.linker.facts:
            known.remember(part)
        return inline.make_root(part, self.linker.default)


def _not_mapping_fact(node: Node) -> Fact:
    hint = None
    if isinstance(node.value, str):
        hint = f"to name a file, write `{{$ref: {node.value}}}`" if "." in node.value else None
    elif node.value is True:
        hint = "write `{}` for a schema that accepts everything"
    found = Shown(node.value, as_found=True)
    return codes.SCHEMA_NOT_MAPPING.at(node.path, found=found, hint=hint)


def _facts_of(part: Part) -> list[Fact]:
    """What was found in a schema and in all it refers to, each with the reference that leads there.

    A part of a document can be reached in several ways; its findings are reported once.
    """
    if part.clean:
        return []
    own = part.place.document
    through: dict[int, Also] = {}  # document → the reference that leads to it
    for link in part.links:
        for document in link.target.documents if link.target is not None else ():
            also = Also("referenced from here", origin=part.origin(link.where))
            through.setdefault(id(document), also)
    facts: dict[object, Fact] = {}
    for each in inline.collect_findings(part):
        place: tuple[object, ...] = ()
        if each.origin is not None:
            place = id(each.origin.document), each.origin.path
        elif each.span is not None:
            place = id(each.span.source), each.span.start
        way = None
        if each.origin is not None and each.origin.document is not own:
            way = through.get(id(each.origin.document))
        known = each if way is None else msgspec.structs.replace(each, also=(*each.also, way))
        facts.setdefault((each.code, each.part, *place), known)
    return list(facts.values())


# -------------------------------------------------------------------------------- the shorter way


class KnownSchemas:
    """The references that earlier loads of the run resolved.

    Packs of one project refer to the same few schemas in the same words. When nothing was wrong
    with such a reference, its target is kept under those words, and a schema that holds no others
    is put together without a graph. Anything unusual is left to the full way, which gives the same
    result and reports what is wrong.
    """

    def __init__(self, session: Session, default: Draft) -> None:
        self.session = session
        self.default = default
        self.targets = session.run.cache(KnownReferences).targets

    def remember(self, part: Part) -> None:
        """Keep the targets of a root without findings, for references from the same folder."""
        for link in part.links:
            target, reference = link.target, get(part.value, link.where)
            # What is chosen at run time depends on the other schemas of the root.
            if target is None or target.tree is None or target.dynamic is not NO_SCOPES:
                continue
            alone = len(part.value) == 1 and link.path == ROOT
            if not reference.startswith("#") and (alone or target.draft is part.draft):
                draft = _ANY_DRAFT if alone else part.draft.name
                self.targets[self.session.root, self.session.base, draft, reference] = target
                self.session.run.cache(WeightCache).remember(target.tree.value)

    def resolve_schema(self, schema: dict[str, Any], origin: Origin) -> Tree | None:
        """The resolved schema, if an earlier load has done all the work."""
        if REF in schema and len(schema) == 1:
            target = self._known_target(schema[REF], _ANY_DRAFT)
            if target is None:
                return None
            self._adopt_documents(target)
            tree = inline.make_root(target, self.default)
            self.session.run.cache(WeightCache).remember(tree.value)
            return inline.add_reference_via(tree, origin.child((REF,)))
        if not self.targets:
            return None
        draft, odd = written_draft(schema, self.default)
        return (
            None if odd or draft.validator is None else self._compose_schema(schema, draft, origin)
        )

    def _known_target(self, reference: Any, draft: str) -> Part | None:
        if reference.__class__ is not str:
            return None
        return self.targets.get((self.session.root, self.session.base, draft, reference))

    def _adopt_documents(self, part: Part) -> None:
        """Add the documents of a part to those of this load."""
        for document in part.documents:
            self.session.files.note(document.source)
            self.session.adopt(document)

    def _compose_schema(self, schema: dict[str, Any], draft: Draft, origin: Origin) -> Tree | None:
        """The schema with its references replaced, if all are known and nothing is unusual."""
        parts = self._known_targets(schema, draft)
        if parts is None or not is_valid(schema, draft):
            return None
        if sum(target.size for target in parts.values()) > inline.MAX_NODES or any(
            len(path) + 2 + target.height > inline.MAX_DEPTH for path, target in parts.items()
        ):
            return None
        value, origins = freeze_plain(schema), Origins(origin)
        for path, target in parts.items():
            self._adopt_documents(target)
            tree = inline.add_reference_via(target.tree, origin.child((*path, REF)))
            # The value was frozen just now, and nothing else has it yet.
            holder: Any = get(value, path[:-1])
            setter: Any = dict.__setitem__ if isinstance(holder, dict) else list.__setitem__
            setter(holder, path[-1], tree.value)
            origins = origins.put(path, tree.origins)
        return Tree(value, origins)

    def _known_targets(self, schema: dict[str, Any], draft: Draft) -> dict[Path, Part] | None:
        """The targets of the references in a schema by their paths.

        None if one is unknown or anything is unusual.
        """
        found: dict[Path, Part] = {}
        stack: list[tuple[Path, Any]] = [(ROOT, schema)]
        while stack:
            path, node = stack.pop()
            if node.__class__ is not dict:
                continue
            if not _UNUSUAL_KEYWORDS.isdisjoint(node) or ("$schema" in node and path):
                return None
            if REF in node:
                target = self._known_target(node[REF], draft.name) if len(node) == 1 else None
                if target is None or target.recursive or target.cyclic:
                    return None
                found[path] = target
                continue
            if any(judge(pattern) != "fine" for _, pattern in patterns_of(node)):
                return None
            stack += [(path + steps, child) for steps, child in children(node)][::-1]
        return found
