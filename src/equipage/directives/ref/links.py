"""From a `$ref` to what it names: the file, the document, the part of it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Change, Code, Fact, Remedy, Shown
from equipage.core.path import ROOT, Path, format_path, pointer
from equipage.core.source import Source
from equipage.core.text import nearest
from equipage.directives import codes
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.loading.session import Session
from equipage.loading.tree import Origin, Tree, get
from equipage.schemas import codes as schema_codes
from equipage.schemas.checking import check_patterns, check_shape
from equipage.schemas.structure import (
    IN_PLACE,
    Draft,
    anchors,
    children,
    draft_3_children,
    draft_named,
    enclosing,
    has_scheme,
    point,
    resources,
    subschemas,
    written_draft,
)
from equipage.syntax.document import Document, Format

# --- parts -------------------------------------------------------------------------------------
# Schemas and how they refer to each other: a graph whose nodes are parts of documents.
#
# A part that can reach itself is *recursive*: it can never be written out in full, so references to it stay references.
# All other parts can, whatever they are referred from, which is what makes it safe to share them.


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

    def __init__(
        self, document: Document, base: Path, path: Path, value: Any, draft: Draft
    ) -> None:
        self.document = document
        self.base = base
        self.path = path
        self.value = value
        self.draft = draft
        self.is_target = False  #: whether anything refers to it
        self.links: tuple[Link, ...] = ()
        self.renamed: tuple[
            Path, ...
        ] = ()  #: schemas inside that have a name of their own, dropped when inlined
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
    return [
        link
        for link in part.links
        if link.in_place and link.target is not None and id(link.target) in members
    ]


REF = "$ref"
_YAML = (".yaml", ".yml")
#: References that a validator looks up while it runs, and the draft that knows them.
_KNOWS = {"$dynamicRef": "2020-12", "$recursiveRef": "2019-09"}
_RUN_TIME_REFS = frozenset(_KNOWS)
_NAMES = frozenset({"$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema"})


class Place(msgspec.Struct, frozen=True):
    """What a reference names: a value in a document, and where fragments in it start from."""

    document: Document
    base: Path
    path: Path

    @property
    def value(self) -> Any:
        return get(self.document.value, self.path)


class KnownReferences:
    """What the references of a run came to: its later loads need not work it out again."""

    def __init__(self) -> None:
        self.parts: dict[Any, Part] = {}
        #: what is looked up in whole documents, once each: long lists of references must not make
        #: that expensive
        self.index: dict[Any, Any] = {}
        self.unparsed: dict[int, list[Fact]] = {}  #: why a source has no value
        self.targets: dict[tuple[str, str, str, str], Part] = {}  #: see `Known`


class Linker:
    """The references of one load. Parts are kept for the other loads of its run."""

    def __init__(self, session: Session, home: Source, policy: PathPolicy, default: str) -> None:
        self.session = session
        self.home = home  #: the root document of the load
        self.policy = policy
        self.default = draft_named(default)
        self.known = session.run.cache(KnownReferences)
        self.parts = self.known.parts
        self.index = self.known.index
        self.guesses = _MAX_GUESSES
        self.facts: list[Fact] = []  #: about texts read on the way

    # ------------------------------------------------------------------------------------------------ parts

    def part(self, place: Place, draft: Draft) -> Part:
        """The part at a place; made once, filled in when `visit` is called."""
        base = self.session.base if place.document.source is self.home else None
        key = (id(place.document), place.base, place.path, draft.name, self.session.root, base)
        known = self.parts.get(key)
        if known is None:
            known = self.parts[key] = Part(
                place.document, place.base, place.path, place.value, draft
            )
        return known

    def visit(self, part: Part) -> None:
        """Check a part against its meta-schema and find its references."""
        found = check_shape(part.value, part.draft, references=False)
        facts: list[Fact] = []
        links: list[Link] = []
        renamed: list[Path] = []
        # One walk over every schema in the part; the text it came from was not too deep for it.
        stack: list[tuple[Path, Any, bool]] = [(ROOT, part.value, True)]
        while stack:
            path, schema, in_place = stack.pop()
            if schema.__class__ is not dict:
                continue
            if "pattern" in schema or "patternProperties" in schema:
                found += check_patterns(schema, path)
            if not _NAMES.isdisjoint(schema):
                renamed.append(path)
            if not _RUN_TIME_REFS.isdisjoint(schema):
                links += self._run_time_links(part, path, schema, in_place, facts)
            if REF in schema:
                alone = part.draft.ref_stands_alone or len(schema) == 1
                links.append(
                    Link(path, self._target(part, path, schema[REF], facts), alone, in_place)
                )
                if alone:
                    found += _hidden(schema, path) if len(schema) > 1 else ()
                    continue
            inner = [
                (path + steps, child, in_place and steps[0] in IN_PLACE)
                for steps, child in children(schema)
            ]
            stack += inner[::-1]
            if part.draft.validator is None:
                stack += [
                    (path + steps, child, in_place) for steps, child in draft_3_children(schema)
                ]
        part.links, part.renamed = tuple(links), tuple(renamed)
        if renamed:
            found += [
                each
                for each in written_draft(part.value, part.draft)[1]
                if each.code == schema_codes.SCHEMA_DIALECT
            ]
            facts += self._named(part)
        part.facts = (*(_placed(each, part) for each in found), *facts)

    def _named(self, part: Part) -> list[Fact]:
        """What is wrong with the names that schemas of a part have; those that count at run time are kept."""
        facts: list[Fact] = []
        given: set[tuple[str, int, Path]] = set()
        first: dict[tuple[Path | None, str], Origin] = {}
        for path in part.renamed:
            schema = get(part.value, path)
            scope = self._resource(
                Place(part.document, part.base, part.path + path), part.draft
            ).path
            for word, name in _names_in(schema, part.draft):
                origin = part.origin((*path, word))
                known = first.setdefault(
                    (None if word == part.draft.address else scope, name), origin
                )
                if known.path[:-1] != origin.path[:-1]:
                    also = (Also("first here", origin=known),)
                    facts.append(
                        Fact(
                            codes.SCHEMA_NAME_TWICE,
                            values={"name": Shown(name)},
                            origin=origin,
                            also=also,
                        )
                    )
            if isinstance(schema.get("$dynamicAnchor"), str):
                given.add((schema["$dynamicAnchor"], id(part.document), scope))
            if schema.get("$recursiveAnchor") is True:
                given.add(("", id(part.document), scope))
        if given:
            part.dynamic = Scopes(frozenset(given)).with_those_of(part.dynamic)
        return facts

    def _run_time_links(
        self, part: Part, path: Path, schema: dict[str, Any], in_place: bool, facts: list[Fact]
    ) -> Iterator[Link]:
        """References that a validator looks up at run time. Here everything becomes one schema, so they lead where
        they would without others to choose from. One that leads nowhere stays: nothing is looked up before it counts.
        """
        for word, draft in _KNOWS.items():
            reference, origin = schema.get(word), part.origin((*path, word))
            if not isinstance(reference, str):
                continue  # the meta-schema tells
            if not reference.startswith("#"):
                facts.append(_fact(codes.SCHEMA_REF_REMOTE, origin, reference=Shown(reference)))
            elif draft == part.draft.name:
                found = self.locate(
                    Place(part.document, part.base, part.path + path), reference, [], part.draft
                )
                if found is not None:
                    if _chosen_at_run_time(found.value, reference[1:]):
                        part.dynamic = part.dynamic.with_those_of(
                            Scopes(asked={reference[1:]: origin})
                        )
                    yield Link(
                        path, self._referred(found, part.draft), len(schema) == 1, in_place, word
                    )

    def _target(self, part: Part, path: Path, reference: Any, facts: list[Fact]) -> Part | None:
        found = self.locate(
            Place(part.document, part.base, part.path + path), reference, facts, part.draft
        )
        return None if found is None else self._referred(found, part.draft)

    def _referred(self, place: Place, draft: Draft) -> Part:
        target = self.part(place, draft)
        target.is_target = True
        return target

    # ----------------------------------------------------------------------------------------------- drafts

    def draft(self, place: Place) -> Draft:
        """The draft of a schema: what it says, or what the schema says that it is only a reference to."""
        seen: set[tuple[int, Path]] = set()
        while (here := (id(place.document), place.path)) not in seen:
            seen.add(here)
            schema = place.value
            if not isinstance(schema, dict) or "$schema" in schema or set(schema) != {REF}:
                draft, facts = written_draft(schema, self.default)
                facts = [
                    each for each in facts if each.code != schema_codes.SCHEMA_DIALECT
                ]  # `visit` tells of every part
                origin = Origin(place.document, place.path)
                self.facts += [
                    msgspec.structs.replace(each, origin=origin.child(each.path)) for each in facts
                ]
                return draft
            found = self.locate(place, schema[REF], [], self.default)
            if found is None:
                break
            place = found
        return self.default

    # ----------------------------------------------------------------------------------------------- places

    def locate(
        self, holder: Place, reference: Any, facts: list[Fact], draft: Draft
    ) -> Place | None:
        """What a `$ref` in the schema at `holder` names; None, with a finding, if nothing."""
        origin = Origin(holder.document, (*holder.path, REF))
        if not isinstance(reference, str) or not reference:
            facts.append(
                _fact(codes.SCHEMA_REF_VALUE, origin, found=Shown(reference, as_found=True))
            )
            return None
        file, _, fragment = reference.partition("#")
        inner = self._inside(holder, file, draft) if file else self._resource(holder, draft)
        if inner is None:
            inner = self._file(holder, file, reference, origin, facts)
        return (
            None
            if inner is None
            else self._part_of(inner, reference, fragment, origin, facts, draft)
        )

    def _inside(self, holder: Place, file: str, draft: Draft) -> Place | None:
        """The schema in the same document whose own address this is."""
        if not has_scheme(file) and not self._has_ids(holder.document, draft):
            return None
        path = self._indexed(resources, holder.document, holder.base, draft).get(file)
        return None if path is None else Place(holder.document, holder.base, holder.base + path)

    def _resource(self, holder: Place, draft: Draft) -> Place:
        """Where a fragment on its own starts: at the embedded schema around it, if that has an address."""
        if not self._has_ids(holder.document, draft):
            return Place(holder.document, holder.base, holder.base)
        root = get(holder.document.value, holder.base)
        inner = enclosing(root, holder.path[len(holder.base) :], draft.address)
        return Place(holder.document, holder.base, holder.base + inner)

    def _has_ids(self, document: Document, draft: Draft) -> bool:
        """Whether a schema in a document can have an address: its text says so, or has an escape that could."""
        key = ("ids", id(document), draft.address)
        known: bool | None = self.index.get(key)
        if known is None:
            text = document.source.text
            known = self.index[key] = draft.address in text or "\\" in text
        return known

    def _indexed(
        self,
        make: Callable[[Any, str], dict[str, Path]],
        document: Document,
        start: Path,
        draft: Draft,
    ) -> dict[str, Path]:
        key = (make, id(document), start, draft.address)
        known: dict[str, Path] | None = self.index.get(key)
        if known is None:
            known = self.index[key] = make(get(document.value, start), draft.address)
        return known

    def _file(
        self, holder: Place, file: str, reference: str, origin: Origin, facts: list[Fact]
    ) -> Place | None:
        if has_scheme(file):
            facts.append(_fact(codes.SCHEMA_REF_REMOTE, origin, reference=Shown(reference)))
            return None
        if self.session.embedded:
            facts.append(_fact(codes.SCHEMA_REF_EMBEDDED, origin, reference=Shown(reference)))
            return None
        folder = self._folder(holder.document.source)
        try:
            roots = (self.session.root, *self.session.roots)
            source = self.session.refer(file, self.policy, bases=(folder,), roots=roots).source
        except FileProblem as problem:
            facts.append(_file_fact(problem, reference, origin))
            return None
        document, found = self.session.parse(source, _format(file))
        if document is None:
            also = (Also("referenced from here", origin=origin),)
            facts += [
                msgspec.structs.replace(each, also=each.also + also)
                for each in self._unparsed(source, found)
            ]
            return None
        self.facts += found
        return Place(document, ROOT, ROOT)

    def _unparsed(self, source: Source, found: list[Fact]) -> list[Fact]:
        """Why a text has no value: told to each part that needs it, though it is parsed once."""
        return self.known.unparsed.setdefault(id(source), found)

    def _folder(self, source: Source) -> str:
        """Where references in a document start: its folder. A pack behind a link is where the link is."""
        if source.path is None or source is self.home:
            return self.session.base
        return os.path.dirname(source.path)

    def _part_of(
        self,
        whole: Place,
        reference: str,
        fragment: str,
        origin: Origin,
        facts: list[Fact],
        draft: Draft,
    ) -> Place | None:
        """The part of a document that a fragment names. An embedded schema is asked first, then the whole."""
        for start in dict.fromkeys((whole.path, whole.base)):
            root = get(whole.document.value, start)
            found = point(
                root, fragment, partial(self._indexed, anchors, whole.document, start, draft)
            )
            if found is not None:
                if found.instead is not None:
                    facts.append(_spelling(reference, found.instead, origin))
                return Place(whole.document, whole.base, start + found.path)
        guess = self._guess(fragment, get(whole.document.value, whole.base))
        name, hint = whole.document.source.name, None
        if whole.base:
            name = f"the schema at `{format_path(whole.base)}` of {name}"
            if point(whole.document.value, fragment, dict) is not None:
                hint = "what follows `#` starts at the schema, not at the file"
        values = {"reference": Shown(reference), "file": name, "nearest": guess, "hint": hint}
        facts.append(Fact(codes.SCHEMA_REF_NOTHING, values=values, origin=origin))
        return None

    def _guess(self, fragment: str, root: Any) -> str | None:
        """The pointer somebody may have meant; a text with nothing but mistakes gets only so many guesses."""
        self.guesses -= 1
        guess = nearest(fragment, _pointers(root)[:_MAX_CANDIDATES]) if self.guesses > 0 else None
        return guess and guess.replace("%", "%25")


_MAX_GUESSES = 20
_MAX_CANDIDATES = 500
_PROBLEMS = {
    core_codes.FILE_IS_DIRECTORY: "it is a directory",
    core_codes.FILE_NOT_REGULAR: "it is not a regular file",
    core_codes.FILE_TOO_LARGE: "it is too large",
    core_codes.FILE_LINK_LOOP: "it leads through too many links",
    core_codes.FILE_UNREADABLE: "the system refuses",
}


def _file_fact(problem: FileProblem, reference: str, origin: Origin) -> Fact:
    base, shown = f"the folder of {origin.document.source.name}", Shown(reference)
    if problem.code == core_codes.FILE_MISSING:
        return _fact(codes.SCHEMA_REF_MISSING, origin, reference=shown, base=base)
    if problem.code.startswith("reference-"):
        return _fact(problem.code, origin, reference=shown, base=base)
    return _fact(
        codes.SCHEMA_REF_UNREADABLE,
        origin,
        reference=shown,
        problem=_PROBLEMS.get(problem.code, "refused"),
    )


def _fact(code: Code, origin: Origin, **values: object) -> Fact:
    return Fact(code, values=values, origin=origin)


def _spelling(reference: str, instead: str, origin: Origin) -> Fact:
    spelled = reference.partition("#")[0] + instead
    remedy = Remedy(f"write `{spelled}`", (Change(ROOT, spelled, origin=origin),))
    values: dict[str, object] = {"reference": Shown(reference), "instead": Shown(spelled)}
    return Fact(codes.SCHEMA_REF_SPELLING, values=values, origin=origin, remedy=remedy)


def _hidden(schema: dict[str, Any], path: Path) -> Iterator[Fact]:
    """What is wrong beside a reference that hides it: nobody follows it, but it has to be a schema all the same."""
    beside = {name: value for name, value in schema.items() if name != REF}
    for each in subschemas(beside):
        yield from check_patterns(each.value, path + each.path)
        reference = each.value.get(REF, "#")
        if not isinstance(reference, str) or not reference:
            found = Shown(reference, as_found=True)
            yield Fact(codes.SCHEMA_REF_VALUE, (*path, *each.path, REF), {"found": found})


def _names_in(schema: dict[str, Any], draft: Draft) -> Iterator[tuple[str, str]]:
    """The names a schema has, by keyword."""
    for word in (draft.address, "$anchor", "$dynamicAnchor"):
        name = schema.get(word)
        if isinstance(name, str):
            yield word, name.removesuffix("#") if word == draft.address else name


def _chosen_at_run_time(target: Any, name: str) -> bool:
    """Whether a validator would look for other schemas of the same name before it takes the target."""
    return isinstance(target, dict) and (
        target.get("$dynamicAnchor") == name if name else target.get("$recursiveAnchor") is True
    )


def _placed(each: Fact, part: Part) -> Fact:
    """A fact about a schema on its own, as one about a place in a document."""
    remedy = each.remedy
    if remedy is not None:
        changes = tuple(
            msgspec.structs.replace(change, origin=part.origin(change.path))
            for change in remedy.changes
        )
        remedy = msgspec.structs.replace(remedy, changes=changes)
    return msgspec.structs.replace(each, origin=part.origin(each.path), remedy=remedy)


def _format(file: str) -> Format:
    """The format of a schema by its exact extension; everything but YAML is JSON."""
    return "yaml" if file.endswith(_YAML) else "json"


def _pointers(root: Any) -> list[str]:
    """The pointers somebody may have meant: to the named schemas of a document."""
    if not isinstance(root, dict):
        return []
    return [
        pointer(steps)
        for steps, _ in children(root)
        if steps[0] in ("$defs", "definitions", "properties")
    ]
