"""`$ref`: a schema in another file, in another part of the same file, or in the same schema.

References are found by position: under `properties` the word is a name, under `const` or `enum` it is data. A file is
read, parsed, checked and resolved once, however many schemas and loads refer to it, and what it became is shared.
References start at the file that makes them, never leave the project, and never reach the network.

What can be written out is; a recursive schema keeps references to definitions inside itself. What is wrong in a file
is told in that file. A reference that cannot be followed leaves a hole and a finding.
"""

from __future__ import annotations

import msgspec

from equipage.diagnostics import Also, Fact, Shown
from equipage.directives.ref.codes import CODES
from equipage.directives.ref.inlining import finish, rooted
from equipage.directives.ref.known import Known
from equipage.directives.ref.linking import Linker, Place
from equipage.directives.ref.parts import Part, components, findings
from equipage.path import ROOT, Path
from equipage.sandbox import PathPolicy
from equipage.session import Session
from equipage.source import Source
from equipage.tree import HOLE, Tree, get, graft

__all__ = ["CODES", "RefSettings", "resolve"]


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
            through.setdefault(id(document), Also("referenced from here", origin=part.origin(link.where)))
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
    return Fact("schema-not-mapping", path, values)
