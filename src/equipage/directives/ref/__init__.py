"""`$ref`: a schema in another file, in another part of the same file, or in the same schema.

References are found by position: under `properties` the word is a name, under `const` or `enum` it is data. A file is
read, parsed, checked and resolved once, however many schemas and loads refer to it, and what it became is shared.
References start at the file that makes them, never leave the project, and never reach the network.

What can be written out is; a recursive schema keeps references to definitions inside itself. What is wrong in a file
is told in that file. A reference that cannot be followed leaves a hole and a finding.
"""

from __future__ import annotations

from typing import Any

import msgspec

from equipage.core.diagnostics import Also, Fact, Shown
from equipage.core.frozen import frozen
from equipage.core.path import ROOT, Path
from equipage.core.source import Source
from equipage.directives import codes
from equipage.directives.ref.inline import (
    MAX_DEPTH,
    MAX_NODES,
    brought,
    finish,
    rooted,
    via_reference,
)
from equipage.directives.ref.links import (
    NO_SCOPES,
    KnownReferences,
    Linker,
    Part,
    Place,
    components,
    findings,
)
from equipage.files.sandbox import PathPolicy
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, Origin, Origins, Tree, get, graft
from equipage.schemas.checking import is_valid
from equipage.schemas.patterns import judge, patterns_of
from equipage.schemas.structure import Draft, children, draft_named, written_draft

# --- ref.codes ---------------------------------------------------------------------------------
# What can be wrong with a reference between schemas.


# --- known -------------------------------------------------------------------------------------
# The common case: a schema whose references were all resolved by an earlier load.
#
# Packs of one project refer to the same few schemas in the same words. When everything about such a reference was well,
# what it became is kept under those words; a schema that holds no others is put together without building a graph.
# Anything out of the ordinary is left to the full way, which gives the same result and tells what is wrong.

REF = "$ref"
#: Keywords that change what references mean, or may be wrong in ways of their own.
_UNUSUAL = frozenset(
    {"$id", "id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"}
)


_ANY = ""


class Known:
    """What references became, for loads that share."""

    def __init__(self, session: Session, default_draft: str) -> None:
        self.session = session
        self.default_draft = default_draft
        self.targets = session.run.cache(KnownReferences).targets

    def target(self, reference: Any, draft: str) -> Part | None:
        if reference.__class__ is not str:
            return None
        return self.targets.get((self.session.root, self.session.base, draft, reference))

    def remember(self, part: Part) -> None:
        """Keep the targets of a root about which nothing was found, wherever references start from its folder."""
        for link in part.links:
            target = link.target
            reference = _at(part.value, link.where)
            # What is chosen at run time depends on the other schemas of the root.
            if target is None or target.tree is None or target.dynamic is not NO_SCOPES:
                continue
            if not reference.startswith("#"):
                # A schema that is only a reference takes its draft from the target.
                draft = _ANY if len(part.value) == 1 and link.path == ROOT else part.draft.name
                self.targets[self.session.root, self.session.base, draft, reference] = target

    def schema(self, schema: dict[str, Any], origin: Origin) -> Tree | None:
        """The resolved schema, if an earlier load has done all the work."""
        if REF in schema and len(schema) == 1:
            return self.whole(schema, origin)
        if not self.targets:
            return None
        draft, odd = written_draft(schema, draft_named(self.default_draft))
        return None if odd or draft.validator is None else self.put_together(schema, draft, origin)

    def whole(self, schema: dict[str, Any], origin: Origin) -> Tree | None:
        """The schema, if it is nothing but a reference that is known."""
        target = self.target(schema[REF], _ANY)
        if target is None:
            return None
        self._note(target)
        return brought(target, origin, draft_named(self.default_draft))

    def put_together(self, schema: dict[str, Any], draft: Draft, origin: Origin) -> Tree | None:
        """The schema with its references replaced, if all of them are known and nothing is unusual."""
        parts = self._references(schema, draft)
        if parts is None or not is_valid(schema, draft):
            return None
        if sum(target.size for target in parts.values()) > MAX_NODES or any(
            len(path) + 2 + target.height > MAX_DEPTH for path, target in parts.items()
        ):
            return None
        value, origins = frozen(schema), Origins(origin)
        for path, target in parts.items():
            self._note(target)
            tree = via_reference(target, origin.child((*path, REF)))
            _put(value, path, tree.value)
            origins = origins.put(path, tree.origins)
        return Tree(value, origins)

    def _references(self, schema: dict[str, Any], draft: Draft) -> dict[Path, Part] | None:
        """The targets of the references in a schema by their paths; None if one is unknown or anything unusual."""
        found: dict[Path, Part] = {}
        stack: list[tuple[Path, Any]] = [(ROOT, schema)]
        while stack:
            path, node = stack.pop()
            if node.__class__ is not dict:
                continue
            if not _UNUSUAL.isdisjoint(node) or ("$schema" in node and path):
                return None
            if REF in node:
                target = self.target(node[REF], draft.name) if len(node) == 1 else None
                if target is None or target.recursive or target.cyclic:
                    return None
                found[path] = target
                continue
            if "pattern" in node or "patternProperties" in node:
                for _, pattern in patterns_of(node):
                    if judge(pattern) != "fine":
                        return None
            stack += [(path + steps, child) for steps, child in children(node)][::-1]
        return found

    def _note(self, part: Part) -> None:
        """Count the documents a part was made of as those of this load."""
        for document in part.documents:
            self.session.files.note(document.source)
            self.session.adopt(document)


def _put(value: Any, path: Path, new: Any) -> None:
    """Put a part into a value that was frozen just now, before anybody else has it."""
    *parents, last = path
    holder = _at(value, tuple(parents))
    setter: Any = dict.__setitem__ if isinstance(holder, dict) else list.__setitem__
    setter(holder, last, new)


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


__all__ = ["RefSettings", "resolve"]


class RefSettings(msgspec.Struct, frozen=True):
    """What a kind decides about schemas: where they stand, what they read, the draft of those that name none."""

    paths: tuple[Path, ...]
    policy: PathPolicy = PathPolicy(absolute="refuse", parents="inside")
    default_draft: str = "2020-12"


def resolve(tree: Tree, session: Session, settings: RefSettings) -> tuple[Tree, list[Fact]]:
    """The tree with the schemas at the paths of `settings` checked and their references replaced."""
    known = Known(session, settings.default_draft)
    linker: Linker | None = None
    parts: dict[Path, Tree] = {}
    facts: list[Fact] = []
    for path in settings.paths:
        schema = get(tree.value, path, HOLE)
        if schema is HOLE:
            continue
        if not isinstance(schema, dict):
            facts.append(_not_mapping(schema, path))
            parts[path] = Tree(HOLE, tree.origins.at(path))
            continue
        origin = tree.story(path).origin
        quick = known.schema(schema, origin)
        if quick is not None:
            parts[path] = quick
            continue
        linker = linker or Linker(session, _home(tree), settings.policy, settings.default_draft)
        part = _finished(Place(origin.document, origin.path, origin.path), linker)
        facts += _told(part, session, linker)
        parts[path] = rooted(part, linker.default)
        if part.clean and not linker.facts:
            known.remember(part)
    return graft(tree, parts), [*linker.facts, *facts] if linker is not None else facts


def _home(tree: Tree) -> Source:
    """The text the load began with."""
    return tree.story(ROOT).origin.document.source


def _finished(place: Place, linker: Linker) -> Part:
    """The part at a place, resolved with all it refers to."""
    part = linker.part(place, linker.draft(place))
    if part.tree is None:
        for component in components(part, linker.visit):
            finish(component)
    return part


def _note(part: Part, session: Session, linker: Linker) -> None:
    """Count the documents a part was made of as those of this load, and tell what was odd about their texts."""
    for document in part.documents:
        session.files.note(document.source)
        linker.facts += session.parse(document.source, document.format)[1]


def _told(part: Part, session: Session, linker: Linker) -> list[Fact]:
    """What was found in a schema and in all it refers to, each with the reference that leads there."""
    _note(part, session, linker)
    if part.clean:
        return []
    through: dict[int, Also] = {}
    for link in part.links:
        for document in link.target.documents if link.target is not None else ():
            through.setdefault(
                id(document), Also("referenced from here", origin=part.origin(link.where))
            )
    return [_with_way(each, part, through) for each in _once(findings(part))]


def _once(facts: list[Fact]) -> list[Fact]:
    """A part of a document can be reached in several ways; what is found in it is told once."""
    seen: dict[object, Fact] = {}
    for each in facts:
        seen.setdefault((each.code, each.part, *_where(each)), each)
    return list(seen.values())


def _where(each: Fact) -> tuple[object, ...]:
    if each.origin is not None:
        return id(each.origin.document), each.origin.path
    return (id(each.span.source), each.span.start) if each.span is not None else ()


def _with_way(each: Fact, part: Part, through: dict[int, Also]) -> Fact:
    if each.origin is None or each.origin.document is part.document:
        return each
    way = through.get(id(each.origin.document))
    return each if way is None else msgspec.structs.replace(each, also=(*each.also, way))


def _not_mapping(schema: object, path: Path) -> Fact:
    hint = None
    if isinstance(schema, str):
        hint = f"to name a file, write `{{$ref: {schema}}}`" if "." in schema else None
    elif schema is True:
        hint = "write `{}` for a schema that accepts everything"
    values: dict[str, object] = {"found": Shown(schema, as_found=True), "hint": hint}
    return Fact(codes.SCHEMA_NOT_MAPPING, path, values)
