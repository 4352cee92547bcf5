"""Parts to schemas: references replaced by what they name, recursive ones kept.

A finished part is frozen and shared by everyone who refers to it. What is recursive is named under the definitions of
the root schema, by its content: the same on every machine, and whatever refers to it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from equipage.core.diagnostics import Also, Fact, Shown
from equipage.core.frozen import FrozenDict, frozen
from equipage.core.path import ROOT, Path, pointer
from equipage.directives import codes
from equipage.directives.ref.links import NO_SCOPES, Link, Part, loop_in
from equipage.loading.tree import HOLE, Origin, Origins, Tree, Via
from equipage.schemas import codes as schema_codes
from equipage.schemas.structure import Draft, written_draft

#: How many nodes references may add to a schema, and how deep it may become when it is written out.
MAX_NODES = 100_000
MAX_DEPTH = 256

REF = "$ref"
_NAMES = ("$anchor", "$dynamicAnchor", "$recursiveAnchor")
#: Parts that refer to each other in a larger ring than this are told apart by the words of their references.
_MAX_RING = 500


class _Mark:
    """What happens at a place in a part: links are replaced, a name is dropped; or something below."""

    __slots__ = ("below", "drop", "links")

    def __init__(self) -> None:
        self.links: list[Link] = []
        self.drop = False
        self.below: dict[str | int, _Mark] = {}

    def at(self, path: Path) -> _Mark:
        mark = self
        for step in path:
            mark = mark.below.setdefault(step, _Mark())
        return mark


def finish(component: list[Part]) -> None:
    """Resolve the parts of a component; all they lead to is finished."""
    first = component[0]
    if len(component) > 1 or any(target is first for target in first.targets()):
        _name(component)
        loop = loop_in(component)
        if loop:
            first.facts += (_loop_fact(loop),)
    _settle(component)
    for part in component:
        part.tree = _resolved(part)


def _settle(component: list[Part]) -> None:
    """What is known about a component as a whole: whether it is clean, its documents, recursive parts, sizes."""
    members = {id(part) for part in component}
    outer = [target for part in component for target in part.targets() if id(target) not in members]
    cyclic = {name: part for target in outer for name, part in target.cyclic.items()}
    cyclic |= {part.name: part for part in component if part.recursive}
    for part in component:
        _measure(part)
    _settle_scopes(component, outer)
    clean = not any(part.facts for part in component) and all(each.clean for each in outer)
    documents = dict.fromkeys(
        [
            *(part.document for part in component),
            *(document for each in outer for document in each.documents),
        ]
    )
    for part in component:
        part.clean, part.documents, part.cyclic = clean, tuple(documents), cyclic


def _settle_scopes(component: list[Part], outer: list[Part]) -> None:
    """Which names a component leaves to run time. One that several schemas have cannot be written out: where it leads
    depends on the way a validator came."""
    scopes = [each.dynamic for each in (*component, *outer) if each.dynamic is not NO_SCOPES]
    if not scopes:
        return
    together = scopes[0]
    for each in scopes[1:]:
        together = together.with_those_of(each)
    told = {name for each in outer for name, _ in each.dynamic.disputed()}
    component[0].facts += tuple(
        Fact(codes.SCHEMA_REF_DISPUTED, values={"name": Shown(name)}, origin=origin)
        for name, origin in together.disputed()
        if name not in told
    )
    for part in component:
        part.dynamic = together


def _measure(part: Part) -> None:
    """How large and deep a part is when written out; one that is too large is left out, with a finding.

    What references add is bounded; the plain size of a text is not punished. A root is measured by its references
    alone, since nobody else contains it.
    """
    if any(target.tree is not None and target.tree.value is HOLE for target in part.targets()):
        part.tree = Tree(HOLE, Origins(part.origin()))  # told where it began
        return
    size, height = _extent(part.value) if part.is_target else (0, 0)
    added = 0
    for target, depth in [
        (link.target, len(link.path)) for link in part.links if link.target is not None
    ]:
        if not target.recursive:
            added += target.size
            height = max(height, depth + 2 + target.height)
    too_much = None
    if added > MAX_NODES:
        too_much = Fact(codes.SCHEMA_TOO_LARGE, values={"limit": MAX_NODES}, origin=part.origin())
    elif height > MAX_DEPTH:
        too_much = Fact(
            schema_codes.SCHEMA_TOO_DEEP, values={"limit": MAX_DEPTH}, origin=part.origin()
        )
    if too_much is not None:
        part.facts += (too_much,)
        part.tree = Tree(HOLE, Origins(part.origin()))
        size = added = height = 0
    part.size, part.height = size + added, height


def _extent(value: Any) -> tuple[int, int]:
    """The number of nodes and the depth of plain data. Aliases count each time: that is how it is written out."""
    size, height = 1, 0
    level = [value]
    while level:
        inner: list[Any] = []
        for node in level:
            values = (
                node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
            )
            size += len(values)
            inner += [each for each in values if isinstance(each, dict | list)]
        height += 1
        level = inner
    return size, height


# ------------------------------------------------------------------------------------------------ recursion


def _name(component: list[Part]) -> None:
    """Give the recursive parts of a component names that depend on nothing but content."""
    import hashlib  # slow to import, rarely needed

    known = {
        id(part): hashlib.sha256(_bytes(_own_content(part, ring=len(component)))).digest()
        for part in component
    }
    # A part is what it says and what its references lead to, however these are spelt and whatever the files are
    # called: each round looks one reference further, until no more parts are told apart.
    different = 0
    while different < len(set(known.values())) and len(component) <= _MAX_RING:
        different = len(set(known.values()))
        known = {
            id(part): hashlib.sha256(
                b"".join(known.get(id(each), b"") for each in (part, *part.targets()))
            ).digest()
            for part in component
        }
    for part in component:
        part.recursive = True
        part.name = f"{_word(part)}-{known[id(part)].hex()[:8]}"


def _own_content(part: Part, *, ring: int) -> Any:
    """What a part says itself, with what its references out of the component lead to in place of their words."""
    if ring > _MAX_RING:
        return [
            pointer(part.path[len(part.base) :]),
            part.value,
            [_content(each) for each in part.targets()],
        ]
    marks = _Mark()
    for link in part.links:
        marks.at(link.path).links.append(link)
    return _without_words(part.value, marks)


def _without_words(value: Any, mark: _Mark) -> Any:
    if not mark.links and not mark.below:
        return value
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    for link in mark.links:
        copy[link.word] = ["" if link.target is None else _content(link.target)]
    for step, inner in mark.below.items():
        copy[step] = _without_words(value[step], inner)
    return copy


def _bytes(value: Any) -> bytes:
    """Content in one fixed form. Values JSON does not have were reported when they were read."""
    return json.dumps(value, sort_keys=True, default=str).encode()


def _content(target: Part) -> Any:
    """What a finished target says; None inside the component itself, or where nothing could be had."""
    return None if target.tree is None or target.tree.value is HOLE else target.tree.value


def _word(part: Part) -> str:
    """A word for a part: the last name of its path. That of its file would say where it came from."""
    names = [step for step in part.path[len(part.base) :] if isinstance(step, str)]
    return re.sub(r"[^A-Za-z0-9_]+", "_", names[-1] if names else "").strip("_") or "schema"


def _loop_fact(loop: list[tuple[Part, Link]]) -> Fact:
    chain = " → ".join([part.label() for part, _ in loop] + [loop[0][0].label()])
    part, link = loop[-1]
    also = tuple(Also("through here", origin=each.origin(way.where)) for each, way in loop[:-1])
    return Fact(
        codes.SCHEMA_REF_LOOP, values={"chain": chain}, origin=part.origin(link.where), also=also
    )


# ------------------------------------------------------------------------------------------------- building


def _resolved(part: Part) -> Tree:
    """The part with its references replaced, frozen."""
    if part.tree is not None:
        return part.tree  # left out, since it is too large
    if not isinstance(part.value, dict | bool):
        return Tree(HOLE, Origins(part.origin()))  # no schema, and told as such
    if not part.links and not part.renamed:
        return Tree(frozen(part.value), Origins(part.origin()))
    marks = _Mark()
    for path in part.renamed:
        marks.at(path).drop = True
    for link in part.links:
        marks.at(link.path).links.append(link)
    tree = _built(part, ROOT, part.value, marks)
    origins = (
        tree.origins if tree.origins.here is not None else tree.origins.changed(here=part.origin())
    )
    return Tree(frozen(tree.value), origins)


def _built(part: Part, path: Path, value: Any, mark: _Mark) -> Tree:
    """A value with what is marked in it replaced; only what leads there is copied."""
    if mark.links and mark.links[-1].alone:
        return _in_place_of(part, mark.links[-1])
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    below: dict[str | int, Origins] = {}
    for step, inner in mark.below.items():
        child = _built(part, (*path, step), value[step], inner)
        copy[step], below[step] = child.value, child.origins
    if mark.drop and isinstance(copy, dict):
        _drop_names(copy, part)
    for link in mark.links:
        _put_beside(part, link, copy, below)
    return Tree(copy, Origins(below=below))


def _drop_names(schema: dict[str, Any], part: Part) -> None:
    """Names of schemas mean nothing once they are inlined, and an address would shift references inside them.

    What stays where it was written keeps its names.
    """
    if part.is_target:
        for name in _NAMES:
            schema.pop(name, None)
    if (part.is_target or part.cyclic) and isinstance(schema.get(part.draft.address), str):
        del schema[part.draft.address]
    if "$schema" in schema and written_draft(schema, part.draft)[0] != part.draft:
        del schema["$schema"]


def _in_place_of(part: Part, link: Link) -> Tree:
    """What stands for a reference: the target itself, or a reference that stays inside the schema."""
    target = link.target
    at = part.origin(link.where)
    if target is None or (target.tree is not None and target.tree.value is HOLE):
        return Tree(HOLE, Origins(at))
    if target.recursive:
        return Tree(
            FrozenDict({REF: f"#/{part.draft.definitions}/{target.name}"}),
            Origins(part.origin(link.path)),
        )
    assert target.tree is not None
    return _via(target.tree, at)


def _put_beside(
    part: Part, link: Link, schema: dict[str, Any], below: dict[str | int, Origins]
) -> None:
    """Keywords beside a reference count as well: the target becomes one more schema of `allOf`."""
    del schema[link.word]
    target = _in_place_of(part, link)
    existing = schema.get("allOf")
    listed = list(existing) if isinstance(existing, list) else []
    known = below.get("allOf", Origins())
    schema["allOf"] = [*listed, target.value]
    below["allOf"] = known.changed(
        here=known.here or part.origin((*link.path, "allOf") if listed else link.where),
        below={**known.below, len(listed): target.origins},
    )


# ---------------------------------------------------------------------------------------------------- roots


def rooted(part: Part, default: Draft) -> Tree:
    """A finished part as a schema of its own: with its names, and with the recursive parts it needs.

    It says which draft it is of where that is not the default.
    """
    chosen = _effective(part)
    if chosen.rooted is None:
        chosen.rooted = _as_root(chosen, default)
    return (
        chosen.rooted if chosen is part else _via(chosen.rooted, part.origin(part.links[0].where))
    )


def via_reference(part: Part, at: Origin) -> Tree:
    """A finished part that is not recursive, as what the reference at `at` stands for."""
    assert part.tree is not None
    return _via(part.tree, at)


def brought(part: Part, origin: Origin, default: Draft) -> Tree:
    """A finished part as the root schema that the reference at `origin` stands for."""
    return _via(rooted(part, default), origin.child((REF,)))


def _via(tree: Tree, at: Origin) -> Tree:
    """A tree that remembers the reference which led to it."""
    return Tree(
        tree.value, tree.origins.changed(via=(Via("referenced from here", at), *tree.origins.via))
    )


def _effective(part: Part) -> Part:
    """The part that a reference as a whole schema leads to in the end."""
    seen: set[int] = set()
    while (
        part.links and part.links[0].path == ROOT and part.links[0].alone and id(part) not in seen
    ):
        seen.add(id(part))
        target = part.links[0].target
        if target is None:
            break
        part = target
    return part


def _as_root(part: Part, default: Draft) -> Tree:
    assert part.tree is not None
    value = part.tree.value
    if not isinstance(value, dict):
        return part.tree
    words = ("$schema", part.draft.address, *_NAMES)
    names = {name: part.value[name] for name in words if name in part.value and name not in value}
    # A reference that hides what is beside it may hide the draft, too; what it leads to may name another.
    hidden = written_draft(part.value, default)[0] is not part.draft
    if not names and not part.cyclic and not hidden:
        return part.tree
    if hidden:
        names = {**names, "$schema": part.draft.named}
        value = {name: each for name, each in value.items() if name != "$schema"}
    schema = {**names, **value}
    below = dict(part.tree.origins.below)
    if part.cyclic:
        keyword = part.draft.definitions
        written = schema.get(keyword)
        inner = dict(written) if isinstance(written, dict) else {}
        named = below.get(keyword, Origins())
        origins = dict(named.below)
        for name, each in part.cyclic.items():
            assert each.tree is not None
            inner[name], origins[name] = each.tree.value, each.tree.origins
        schema[keyword] = FrozenDict(inner)
        below[keyword] = named.changed(below=origins)
    return Tree(FrozenDict(schema), part.tree.origins.changed(below=below))
