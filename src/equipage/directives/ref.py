"""`$ref`: a schema in another file, in another part of the same file, or in the same schema.

References are found by position: under `properties` the word is a name, under `const` or `enum` it
is data. A file is read, parsed, checked and resolved once, however many schemas and loads refer to
it, and the result is shared. References start at the file that makes them, never leave the project,
and never reach the network.

What can be written out is; a recursive schema keeps references to definitions inside itself.
Findings about a file are reported in that file. A reference that cannot be followed leaves a hole
and a finding.

`ref_graph` builds the graph of references; here it is turned into schemas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from equipage.core.diagnostics import Also, Code, Fact, Shown
from equipage.core.frozen import FrozenDict, WeightCache, freeze_plain
from equipage.core.path import HOLE, ROOT, Path, get, pointer
from equipage.directives import Directive, Expansion, Node, codes
from equipage.directives.ref_graph import NO_SCOPES, REF, KnownReferences, Link, Linker, Part, Place
from equipage.files.sandbox import PathPolicy
from equipage.loading.tree import Origin, Origins, Tree, Via, graft
from equipage.schemas import Draft, draft_named, written_draft
from equipage.schemas import codes as schema_codes
from equipage.schemas.codes import CODES as SCHEMA_CODES
from equipage.syntax.document import Document

if TYPE_CHECKING:
    from equipage.loading.session import Session

#: How many nodes references may add to what the texts hold, and how deep a schema may become.
MAX_NODES = 100_000
MAX_DEPTH = 256

_ANCHOR_KEYWORDS = ("$anchor", "$dynamicAnchor", "$recursiveAnchor")
#: In a larger ring of parts, the words of references tell parts apart, not what they lead to.
_MAX_COMPARED_PARTS = 500


class Ref(Directive):
    """The references of one load. A kind decides what they may read and the draft by default."""

    key: ClassVar[str] = REF
    codes: ClassVar[tuple[Code, ...]] = (*SCHEMA_CODES, *codes.REF_CODES)

    policy: PathPolicy = PathPolicy(absolute="refuse", parents="inside")
    default_draft: str = "2020-12"
    linker: Linker | None = None  #: made for the first schema that earlier loads do not know

    def resolve(
        self, tree: Tree, session: Session, paths: Iterable[Path]
    ) -> tuple[Tree, list[Fact]]:
        """A stage: the tree with the schemas at `paths` checked and their references replaced."""
        expansion = Expansion(
            session, (self,), chain={tree.provenance(ROOT).origin.document.source: ()}
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
        resolve(part, linker.visit)
        for each in part.documents:
            linker.facts += session.parse(each.source, each.syntax)[1]
        facts = [*linker.facts, *_facts_of(part)]
        return make_root(part, linker.default), facts, tuple(part.documents)

    def expand(self, node: Node, expansion: Expansion) -> Tree:
        """A whole schema, checked, with its references replaced."""
        if not isinstance(node.value, dict):
            expansion.facts.append(_not_mapping_fact(node))
            return node.hole()
        session = expansion.session
        known = self._recall(node, session)
        if known is not None:
            return known
        if self.linker is None:
            home = next(iter(expansion.chain))
            self.linker = Linker(session, home, self.policy, self.default_draft)
        # Fragments of an inline schema start at the schema, not at the file that holds it.
        place = Place(node.origin.document, node.origin.path, node.origin.path)
        part = self.linker.part(place, self.linker.draft(place))
        resolve(part, self.linker.visit)
        # Parts may come from earlier loads: their files, and oddities of their texts, are this
        # load's, too.
        for document in part.documents:
            session.files.note(document.source)
            self.linker.facts += session.parse(document.source, document.syntax)[1]
        expansion.facts += _facts_of(part)
        if part.clean and not self.linker.facts:
            _remember(part, session)
        return make_root(part, self.linker.default)

    def _recall(self, node: Node, session: Session) -> Tree | None:
        """The schema of a node that is nothing but a reference which an earlier load resolved.

        Packs of one project refer to the same few schemas in the same words.
        """
        reference = node.value[REF] if node.value.keys() == {REF} else None
        if not isinstance(reference, str):
            return None
        targets = session.run.cache(KnownReferences).targets
        target = targets.get((session.root, session.base, reference))
        if target is None:
            return None
        for document in target.documents:
            session.files.note(document.source)
            session.adopt(document)
        tree = make_root(target, draft_named(self.default_draft))
        session.run.cache(WeightCache).remember(tree.value)
        return add_reference_via(tree, node.origin.child((REF,)))


def _remember(part: Part, session: Session) -> None:
    """Keep the target of a root that is nothing but a reference, for others in the same folder."""
    if part.value.keys() != {REF} or part.value[REF].startswith("#"):
        return
    target = part.links[0].target
    # What is chosen at run time depends on the other schemas of the root.
    if target is not None and target.tree is not None and target.dynamic == NO_SCOPES:
        key = session.root, session.base, part.value[REF]
        session.run.cache(KnownReferences).targets[key] = target
        session.run.cache(WeightCache).remember(target.tree.value)


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
    for each in collect_findings(part):
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


def resolve(root: Part, visit: Callable[[Part], None]) -> None:
    """Finish a part and all it leads to; `visit` fills in the links of a part."""
    if root.tree is None:
        for component in components(root, visit):
            _finish_component(component)


# --------------------------------------------------------------------------------------- the graph


def components(root: Part, visit: Callable[[Part], None]) -> Iterator[list[Part]]:
    """The strongly connected components that `root` reaches, targets before what refers to them.

    This is Tarjan's algorithm: `order` numbers the parts as they are met, `low` is the smallest
    number that a part reaches, and a part that reaches no smaller one than its own closes a
    component. It is iterative, because a chain of references may be longer than the interpreter's
    stack. Parts finished by an earlier walk are left alone.
    """
    counter = 0
    stack: list[Part] = []
    open_parts: set[Part] = set()
    work: list[tuple[Part, Iterator[Part]]] = []

    def enter(part: Part) -> None:
        nonlocal counter
        counter += 1
        visit(part)
        part.order = part.low = counter
        stack.append(part)
        open_parts.add(part)
        work.append((part, part.targets()))

    enter(root)
    while work:
        part, targets = work[-1]
        target = next(targets, None)
        # Go down to targets that are new; take the numbers of those still open.
        if target is not None:
            if target.tree is None and target.order == 0:
                enter(target)
            elif target in open_parts:
                part.low = min(part.low, target.order)
            continue
        # All targets are done: hand the number up, and close the component if it is the own one.
        work.pop()
        if work:
            work[-1][0].low = min(work[-1][0].low, part.low)
        if part.low == part.order:
            component = [stack.pop()]
            while component[-1] is not part:
                component.append(stack.pop())
            open_parts.difference_update(component)
            yield component


def _find_loop(component: list[Part]) -> list[tuple[Part, Link]]:
    """A way from a part back to itself that never looks at another value, as links in order.

    Such a schema has no meaning: a validator that followed the links would never end. The search is
    depth first over the links `in_place`, with the current way in `trail`.
    """
    members = set(component)
    finished: set[Part] = set()

    def links_of(part: Part) -> Iterator[tuple[Part, Link]]:
        for link in part.links:
            if link.in_place and link.target in members:
                yield link.target, link

    for start in reversed(component):
        trail: list[tuple[Part, Link]] = []
        on_trail = {start: 0}
        work = [(start, links_of(start))]
        while work and start not in finished:
            part, links = work[-1]
            target, link = next(links, (None, None))
            if target is None or link is None:
                work.pop()
                finished.add(part)
                on_trail.pop(part, None)
                if trail:
                    trail.pop()
            elif target in on_trail:
                return [*trail, (part, link)][on_trail[target] :]
            elif target not in finished:
                trail.append((part, link))
                on_trail[target] = len(trail)
                work.append((target, links_of(target)))
    return []


def collect_findings(root: Part) -> list[Fact]:
    """The facts of a part and of all parts it leads to, each part once."""
    seen: dict[Part, None] = {root: None}
    stack = [root]
    while stack:
        for target in stack.pop().targets():
            if not target.clean and target not in seen:
                seen[target] = None
                stack.append(target)
    return [fact for part in seen for fact in part.facts]


# --------------------------------------------------------------------------- finishing a component


def _finish_component(component: list[Part]) -> None:
    """Resolve the parts of a component; everything they lead to is finished."""
    first = component[0]
    if len(component) > 1 or first in first.targets():
        _name_recursive_parts(component)
        loop = _find_loop(component)
        if loop:
            first.facts += (_loop_fact(loop),)
    members = set(component)
    if mixed := tuple(_mixed_drafts(component, members)):
        first.facts += mixed
        for part in component:
            part.tree = _hole(part)
    outer = [target for part in component for target in part.targets() if target not in members]
    for part in component:
        _measure(part)
    _combine_scopes(component, outer)
    # A part of another draft brings its own definitions.
    own = [target for target in outer if target.draft is first.draft]
    cyclic = {name: part for target in own for name, part in target.cyclic.items()}
    cyclic |= {part.name: part for part in component if part.recursive}
    clean = not any(part.facts for part in component) and all(each.clean for each in outer)
    documents = dict.fromkeys(part.place.document for part in component)
    documents |= dict.fromkeys(document for each in outer for document in each.documents)
    for part in component:
        part.clean, part.documents, part.cyclic = clean, tuple(documents), cyclic
    for part in component:
        part.tree = _resolve_part(part)


def _loop_fact(loop: list[tuple[Part, Link]]) -> Fact:
    chain = " → ".join(part.label() for part, _ in [*loop, loop[0]])
    part, link = loop[-1]
    also = [Also("through here", origin=each.origin(way.where)) for each, way in loop[:-1]]
    return codes.SCHEMA_REF_LOOP.at(origin=part.origin(link.where), also=also, chain=chain)


def _mixed_drafts(component: list[Part], members: set[Part]) -> Iterator[Fact]:
    """Recursion through several drafts: no definition could serve all of them."""
    for part in component:
        for link in part.links:
            if link.target in members and link.target.draft is not part.draft:
                yield codes.SCHEMA_DRAFTS_MIXED.at(
                    origin=part.origin(link.where),
                    own=part.draft.name,
                    other=link.target.draft.name,
                )


def _combine_scopes(component: list[Part], outer: list[Part]) -> None:
    """Combine the scopes of a component and report disputed names.

    A name that several schemas have cannot be resolved here: its target depends on the path that a
    validator took.
    """
    scopes = [each.dynamic for each in (*component, *outer) if each.dynamic is not NO_SCOPES]
    if not scopes:
        return
    together = scopes[0]
    for each in scopes[1:]:
        together = together.union(each)
    reported = {name for each in outer for name, _ in each.dynamic.find_disputed()}
    component[0].facts += tuple(
        codes.SCHEMA_REF_DISPUTED.at(origin=origin, name=Shown(name))
        for name, origin in together.find_disputed()
        if name not in reported
    )
    for part in component:
        part.dynamic = together


def _measure(part: Part) -> None:
    """How large and deep a part is when written out; one that is too large becomes a hole.

    Only what references multiply is bounded, not the plain size of texts. A root is measured by
    its references alone, because nothing else contains it.
    """
    if any(target.tree is not None and target.tree.value is HOLE for target in part.targets()):
        part.tree = _hole(part)  # reported where it began
        return
    replaced = any(link.replaces_its_part() for link in part.links)
    size, height = _extent(part.value) if part.is_target and not replaced else (0, 0)
    added = 0
    for link in part.links:
        target = link.target
        if target is not None and (not target.recursive or target.draft is not part.draft):
            added += target.size
            # Beside other keywords, a target moves into `allOf` and a list.
            height = max(height, len(link.path) + (0 if link.alone else 2) + target.height)
    if added > MAX_NODES and added > (limit := MAX_NODES + _count_written_characters(part)):
        too_much = codes.SCHEMA_TOO_LARGE.at(origin=part.origin(), limit=limit)
    elif height > MAX_DEPTH:
        too_much = schema_codes.SCHEMA_TOO_DEEP.at(origin=part.origin(), limit=MAX_DEPTH)
    else:
        part.size, part.height = size + added, height
        return
    part.facts += (too_much,)
    part.tree = _hole(part)


def _count_written_characters(part: Part) -> int:
    """The number of characters in the texts of a part: an upper bound for their nodes."""
    documents = {document for target in part.targets() for document in target.documents}
    return sum(len(each.source.text) for each in documents | {part.place.document})


def _hole(part: Part) -> Tree:
    return Tree(HOLE, Origins(part.origin()))


def _extent(value: Any) -> tuple[int, int]:
    """The number of nodes and the depth of plain data, counting aliases each time they occur."""
    size, height = 1, 0
    level = [value]
    while level:
        inner: list[Any] = []
        for node in level:
            values = node.values() if isinstance(node, dict) else node
            if isinstance(node, dict | list):
                size += len(values)
                inner += [each for each in values if isinstance(each, dict | list)]
        height += 1
        level = inner
    return size, height


# --------------------------------------------------------------------------------- names by content


class _Mark(msgspec.Struct):
    """What to do at a place in a part: replace links, drop names; `below` has the places in it."""

    links: list[Link] = []
    drop: bool = False
    below: dict[str | int, _Mark] = {}

    @classmethod
    def from_part(cls, part: Part) -> _Mark:
        """The links and names of a part, as a tree over its paths."""
        root = cls()
        for path in part.named:
            root.get_or_add(path).drop = True
        for link in part.links:
            root.get_or_add(link.path).links.append(link)
        return root

    def get_or_add(self, path: Path) -> _Mark:
        mark = self
        for step in path:
            mark = mark.below.setdefault(step, _Mark())
        return mark


def _name_recursive_parts(component: list[Part]) -> None:
    """Give the recursive parts of a component names that depend on nothing but content."""
    import hashlib  # slow to import, rarely needed

    def digest(value: bytes) -> bytes:
        return hashlib.sha256(value).digest()

    small = len(component) <= _MAX_COMPARED_PARTS
    known = {
        part: digest(json.dumps(_own_content(part, small), sort_keys=True, default=str).encode())
        for part in component
    }
    # A part is what it says and what its references lead to, however these are spelt and whatever
    # the files are called. Each round looks one reference further, until no more parts differ.
    different = 0
    while small and different < len(set(known.values())):
        different = len(set(known.values()))
        known = {
            part: digest(b"".join(known.get(each, b"") for each in (part, *part.targets())))
            for part in component
        }
    for part in component:
        part.recursive = True
        # The last name of its path; the name of its file would say where it came from.
        place = part.place
        names = [step for step in place.path[len(place.base) :] if isinstance(step, str)]
        word = re.sub(r"[^A-Za-z0-9_]+", "_", names[-1] if names else "").strip("_")
        part.name = f"{word or 'schema'}-{known[part].hex()[:8]}"


def _own_content(part: Part, small: bool) -> Any:
    """The content of a part, with targets outside its component in place of references."""
    if small:
        return _inline_content(part.value, _Mark.from_part(part))
    words = pointer(part.place.path[len(part.place.base) :])
    return [words, part.value, [_target_content(each) for each in part.targets()]]


def _inline_content(value: Any, mark: _Mark) -> Any:
    if not mark.links and not mark.below:
        return value
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    for link in mark.links:
        copy[link.word] = ["" if link.target is None else _target_content(link.target)]
    for step, inner in mark.below.items():
        copy[step] = _inline_content(value[step], inner)
    return copy


def _target_content(target: Part) -> Any:
    """The value of a finished target; None inside the component itself, or for a hole."""
    return None if target.tree is None or target.tree.value is HOLE else target.tree.value


# ----------------------------------------------------------------------------------------- building


def _resolve_part(part: Part) -> Tree:
    """The part with its references replaced, frozen."""
    if part.tree is not None:
        return part.tree  # a hole
    if not isinstance(part.value, dict | bool):
        return _hole(part)  # not a schema, which was reported
    if not part.links and not part.named:
        return Tree(freeze_plain(part.value), Origins(part.origin()))
    tree = _build_tree(part, part.value, _Mark.from_part(part))
    here = tree.origins.here or part.origin()
    return Tree(freeze_plain(tree.value), tree.origins.replace(here=here))


def _build_tree(part: Part, value: Any, mark: _Mark) -> Tree:
    """A value with what is marked in it replaced; only what leads there is copied."""
    # Of several references in one mapping, `$ref` comes last; alone, it replaces the mapping.
    if mark.links and mark.links[-1].alone:
        return _replacement_tree(part, mark.links[-1])
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    below: dict[str | int, Origins] = {}
    for step, inner in mark.below.items():
        child = _build_tree(part, value[step], inner)
        copy[step], below[step] = child.value, child.origins
    if mark.drop and isinstance(copy, dict):
        _drop_names(copy, part)
    for link in mark.links:
        _add_to_all_of(part, link, copy, below)
    return Tree(copy, Origins(below=below))


def _drop_names(schema: dict[str, Any], part: Part) -> None:
    """Drop the names that mean nothing once a schema is inlined.

    An address would shift references inside it. What stays where it was written keeps its names,
    and what names another draft has an address: without one, some validators overlook the draft.
    """
    if part.is_target:
        for name in _ANCHOR_KEYWORDS:
            schema.pop(name, None)
    draft = written_draft(schema, part.draft)[0]
    if draft is not part.draft and not part.cyclic:
        if not isinstance(schema.get(draft.address), str):
            named = {draft.address: _content_address(schema), **schema}
            schema.clear()
            schema.update(named)
    elif (part.is_target or part.cyclic) and isinstance(schema.get(part.draft.address), str):
        del schema[part.draft.address]


def _content_address(content: object) -> str:
    """An address for an embedded schema that has none: the same for the same content."""
    import hashlib  # slow to import, rarely needed

    text = json.dumps(content, sort_keys=True, default=str)
    return f"urn:equipage:{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _replacement_tree(part: Part, link: Link) -> Tree:
    """The tree that replaces a reference: the target, or a reference inside the schema."""
    target, at = link.target, part.origin(link.where)
    if target is None or (target.tree is not None and target.tree.value is HOLE):
        return Tree(HOLE, Origins(at))
    if target.draft is not part.draft:
        return add_reference_via(_embed_other_draft(target, part.draft), at)
    if target.recursive:
        reference = {REF: f"#/{part.draft.definitions}/{target.name}"}
        return Tree(FrozenDict(reference), Origins(part.origin(link.path)))
    return add_reference_via(target.tree, at)


def _embed_other_draft(target: Part, draft: Draft) -> Tree:
    """A finished part for a schema of another draft: with a draft and an address of its own.

    Validators read such an embedded schema as its own draft says, and its references from there.
    """
    while target.links and target.links[0].replaces_its_part() and not target.recursive:
        assert target.links[0].target is not None
        target = target.links[0].target
    assert target.tree is not None
    if target.draft is draft and not target.cyclic:
        return target.tree
    root = _build_root(target, target.draft)
    if not isinstance(root.value, dict):
        return root
    address, named = target.draft.address, target.draft.schema_uri
    inner = {name: each for name, each in root.value.items() if name not in (address, "$schema")}
    name = _content_address([named, inner])
    return Tree(freeze_plain({address: name, "$schema": named, **inner}), root.origins)


def _add_to_all_of(
    part: Part, link: Link, schema: dict[str, Any], below: dict[str | int, Origins]
) -> None:
    """Add the target to `allOf`, because the keywords beside a reference count as well."""
    del schema[link.word]
    target = _replacement_tree(part, link)
    existing = schema.get("allOf")
    listed = list(existing) if isinstance(existing, list) else []
    known = below.get("allOf", Origins())
    schema["allOf"] = [*listed, target.value]
    below["allOf"] = known.replace(
        here=known.here or part.origin((*link.path, "allOf") if listed else link.where),
        below={**known.below, len(listed): target.origins},
    )


def add_reference_via(tree: Tree | None, at: Origin) -> Tree:
    """A finished tree that remembers the reference at `at`, which led to it."""
    assert tree is not None
    via = (Via("referenced from here", at), *tree.origins.via)
    return Tree(tree.value, tree.origins.replace(via=via))


# -------------------------------------------------------------------------------------------- roots


def make_root(part: Part, default: Draft) -> Tree:
    """A finished part as a schema of its own: with its names, and the recursive parts it needs.

    It says which draft it is of where that is not the default.
    """
    chosen = part
    seen: set[Part] = set()
    # A schema that is only a reference is what the reference leads to in the end.
    while chosen not in seen and chosen.links and chosen.links[0].replaces_its_part():
        seen.add(chosen)
        chosen = chosen.links[0].target or chosen
    if chosen.rooted is None:
        chosen.rooted = _build_root(chosen, default)
    if chosen is part:
        return chosen.rooted
    return add_reference_via(chosen.rooted, part.origin(part.links[0].where))


def _build_root(part: Part, default: Draft) -> Tree:
    assert part.tree is not None
    value = part.tree.value
    if not isinstance(value, dict):
        return part.tree
    words = ("$schema", part.draft.address, *_ANCHOR_KEYWORDS)
    names = {name: part.value[name] for name in words if name in part.value and name not in value}
    # A reference that hides what is beside it may hide the draft; its target may name another.
    hidden = written_draft(part.value, default)[0] is not part.draft
    if not names and not part.cyclic and not hidden:
        return part.tree
    if hidden:
        names["$schema"] = part.draft.schema_uri
        value = {name: each for name, each in value.items() if name != "$schema"}
    schema = {**names, **value}
    below = dict(part.tree.origins.below)
    if part.cyclic:
        keyword = part.draft.definitions
        written = schema.get(keyword)
        inner = dict(written) if isinstance(written, dict) else {}
        known = below.get(keyword, Origins())
        origins = dict(known.below)
        for name, each in part.cyclic.items():
            assert each.tree is not None
            inner[name], origins[name] = each.tree.value, each.tree.origins
        schema[keyword] = FrozenDict(inner)
        below[keyword] = known.replace(below=origins)
    return Tree(FrozenDict(schema), part.tree.origins.replace(below=below))
