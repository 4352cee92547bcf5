"""From a `$ref` to the part of a document that it names.

Schemas that refer to each other are a graph. Its nodes are `Part`s: values in documents, as one
draft reads them; its edges are `Link`s. `Linker` makes both: `visit` checks a part and finds its
references, `locate` says what one of them names.

A part that can reach itself is *recursive*: it can never be written out in full, so references to
it stay references. Every other part can, wherever it is referred from, so parts can be shared.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Change, Fact, Remedy, Shown
from equipage.core.path import ROOT, Path, format_path, get, pointer
from equipage.core.source import Source
from equipage.core.text import nearest
from equipage.directives import codes
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.loading.tree import Origin, Tree
from equipage.schemas import (
    OLD_CONSTRAINTS,
    SAME_VALUE_KEYWORDS,
    Draft,
    children,
    draft_3_children,
    draft_named,
    enclosing_resource,
    find_anchors,
    find_resources,
    has_scheme,
    resolve_fragment,
    subschemas,
    written_draft,
)
from equipage.schemas.checking import check_patterns, check_shape
from equipage.syntax.document import Document

if TYPE_CHECKING:
    from equipage.loading.session import Session

REF = "$ref"
#: References that a validator looks up while it runs, and the draft that knows them.
_RUN_TIME_REFS = {"$dynamicRef": "2020-12", "$recursiveRef": "2019-09"}
#: Keywords that name a schema, or say how it is read.
_NAMING_KEYWORDS = frozenset(
    {"$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema"}
)
#: A schema full of mistakes gets only so many guesses, each among so many candidates.
_MAX_GUESSES = 20
_MAX_CANDIDATES = 500
#: Every part knows the names of all it leads to; a text with nothing but names must stay cheap.
_MAX_SCOPES = 200

# --------------------------------------------------------------------------------------- the graph


class Scopes(msgspec.Struct, frozen=True):
    """Names that are looked up at run time: the schemas that have them, and references to them.

    `given` are names with the schema that has them: a document and the path of an embedded schema.
    """

    given: frozenset[tuple[str, int, Path]] = frozenset()
    asked: dict[str, Origin] = {}

    def union(self, other: Scopes) -> Scopes:
        if self is other or len(self.given) + len(self.asked) > _MAX_SCOPES:
            return self
        return Scopes(self.given | other.given, {**other.asked, **self.asked})

    def find_disputed(self) -> list[tuple[str, Origin]]:
        """The names that several schemas have and a reference asks for, with that reference."""
        count = Counter(name for name, *_ in self.given)
        return [(name, origin) for name, origin in self.asked.items() if count[name] > 1]


NO_SCOPES = Scopes()


class Place(msgspec.Struct, frozen=True):
    """What a reference names: a value in a document, and where fragments in it start from."""

    document: Document
    base: Path
    path: Path

    @property
    def value(self) -> Any:
        return get(self.document.value, self.path)

    def child(self, path: Path) -> Place:
        return Place(self.document, self.base, self.path + path)

    def origin(self, path: Path = ROOT) -> Origin:
        return Origin(self.document, self.path + path)


class Link(msgspec.Struct, frozen=True):
    """A reference in a part."""

    path: Path
    target: Part | None  #: None: it leads nowhere, which has been reported
    alone: bool  #: the target replaces the whole mapping; otherwise keywords beside `$ref` count
    in_place: bool  #: the target judges the same value as the part itself
    word: str = REF  #: the keyword that makes the reference

    @property
    def where(self) -> Path:
        """The path of the reference itself, in its part."""
        return (*self.path, self.word)

    def replaces_its_part(self) -> bool:
        return self.path == ROOT and self.alone


class Part(msgspec.Struct, eq=False):
    """A schema in a document, as one draft reads it."""

    place: Place
    value: Any
    draft: Draft
    is_target: bool = False  #: whether anything refers to it
    # `Linker.visit` fills in these:
    links: tuple[Link, ...] = ()
    named: tuple[Path, ...] = ()  #: schemas inside with names of their own, dropped when inlined
    facts: tuple[Fact, ...] = ()  #: about this part alone
    dynamic: Scopes = NO_SCOPES  #: what could decide at run time where a reference leads
    order: int = 0  #: for finding components; 0 means not visited yet
    low: int = 0
    # `ref.resolve` fills in these, for all parts of a component together:
    tree: Tree | None = None
    rooted: Tree | None = None
    recursive: bool = False
    name: str = ""
    size: int = 0
    height: int = 0
    clean: bool = True  #: whether nothing was found in this part and in all it leads to
    documents: tuple[Document, ...] = ()
    cyclic: dict[str, Part] = {}

    def origin(self, path: Path = ROOT) -> Origin:
        return self.place.origin(path)

    def targets(self) -> Iterator[Part]:
        return (link.target for link in self.links if link.target is not None)

    def label(self) -> str:
        """The part as messages show it in a chain."""
        where, name = pointer(self.place.path), self.place.document.source.name
        return f"{name}#{where}" if where else name


class KnownReferences:
    """The resolved references of a run, kept for its later loads."""

    def __init__(self) -> None:
        self.parts: dict[Any, Part] = {}
        #: what is looked up in whole documents, once each: long lists of references must not make
        #: that expensive
        self.index: dict[Any, Any] = {}
        self.unparsed: dict[int, list[Fact]] = {}  #: why a source has no value
        #: what schemas refer to that are nothing but a reference, by root, folder and reference
        self.targets: dict[tuple[str, str, str], Part] = {}


class Linker:
    """The references of one load. Parts are kept for the other loads of its run."""

    def __init__(self, session: Session, home: Source, policy: PathPolicy, default: str) -> None:
        self.session = session
        self.home = home  #: the root document of the load
        self.policy = policy
        self.default = draft_named(default)
        self.known = session.run.cache(KnownReferences)
        self.guesses = _MAX_GUESSES
        self.facts: list[Fact] = []  #: about texts read on the way

    # --------------------------------------------------------------------------------------- parts

    def part(self, place: Place, draft: Draft) -> Part:
        """The part at a place; made once, filled in when `visit` is called."""
        # References in the root document start at the folder of the load, which may be reached
        # through a link: two loads of one text are then two parts.
        base = self.session.base if place.document.source is self.home else None
        roots = (self.session.root, *self.session.roots)
        key = (id(place.document), place.base, place.path, draft.name, roots, base)
        known = self.known.parts.get(key)
        if known is None:
            known = self.known.parts[key] = Part(place, place.value, draft)
        return known

    def visit(self, part: Part) -> None:
        """Check a part against its meta-schema and find its references."""
        found = check_shape(part.value, part.draft, references=False)  # with paths in the part
        facts: list[Fact] = []  # with origins
        links: list[Link] = []
        named: list[Path] = []
        # One walk over every schema in the part; the text it came from was not too deep for it.
        stack: list[tuple[Path, Any, bool]] = [(ROOT, part.value, True)]
        while stack:
            path, schema, in_place = stack.pop()
            if schema.__class__ is not dict:
                continue
            if "pattern" in schema or "patternProperties" in schema:
                found += check_patterns(schema, path)
            if not _NAMING_KEYWORDS.isdisjoint(schema):
                named.append(path)
            if not _RUN_TIME_REFS.keys().isdisjoint(schema):
                links += self._run_time_links(part, path, schema, in_place, facts)
            if REF in schema:
                place = self.locate(part.place.child(path), schema[REF], facts, part.draft)
                alone = part.draft.ref_hides_siblings or len(schema) == 1
                links.append(Link(path, self._target(place, part.draft), alone, in_place))
                if alone:
                    found += _check_hidden_keywords(schema, path, part.draft)
                    continue
            inner = [
                (path + steps, child, in_place and steps[0] in SAME_VALUE_KEYWORDS)
                for steps, child in children(schema)
            ]
            stack += reversed(inner)
            if part.draft.validator is None:
                older = draft_3_children(schema)
                stack += [(path + steps, child, in_place) for steps, child in older]
        part.links, part.named = tuple(links), tuple(named)
        if named:
            found += written_draft(part.value, part.draft)[1]
            facts += self._check_names(part)
        part.facts = (*(_place_fact(each, part) for each in found), *facts)

    def _target(self, place: Place | None, draft: Draft) -> Part | None:
        if place is None:
            return None
        target = self.part(place, _draft_at(place, draft))
        target.is_target = True
        return target

    def _check_names(self, part: Part) -> Iterator[Fact]:
        """What is wrong with the names of schemas in a part; notes those that count at run time."""
        given: set[tuple[str, int, Path]] = set()
        first: dict[tuple[Path | None, str], Origin] = {}
        document = part.place.document
        for path in part.named:
            schema = get(part.value, path)
            scope = self._find_enclosing(part.place.child(path), part.draft).path
            for word in (part.draft.address, "$anchor", "$dynamicAnchor"):
                name = schema.get(word)
                if not isinstance(name, str):
                    continue
                # An address is unique in the document, an anchor in the schema around it.
                is_address = word == part.draft.address
                name = name.removesuffix("#") if is_address else name
                origin = part.origin((*path, word))
                known = first.setdefault((None if is_address else scope, name), origin)
                if known.path[:-1] != origin.path[:-1]:
                    also = (Also("first here", origin=known),)
                    yield codes.SCHEMA_NAME_TWICE.at(origin=origin, also=also, name=Shown(name))
            if isinstance(schema.get("$dynamicAnchor"), str):
                given.add((schema["$dynamicAnchor"], id(document), scope))
            if schema.get("$recursiveAnchor") is True:
                given.add(("", id(document), scope))
        if given:
            part.dynamic = Scopes(frozenset(given)).union(part.dynamic)

    def _run_time_links(
        self, part: Part, path: Path, schema: dict[str, Any], in_place: bool, facts: list[Fact]
    ) -> Iterator[Link]:
        """References that a validator looks up at run time.

        Here everything becomes one schema, so they lead where they would without others to choose
        from. One that leads nowhere stays: nothing looks it up before it counts.
        """
        for word, draft in _RUN_TIME_REFS.items():
            reference, origin = schema.get(word), part.origin((*path, word))
            if not isinstance(reference, str):
                continue  # the meta-schema reports it
            if not reference.startswith("#"):
                facts.append(codes.SCHEMA_REF_REMOTE.at(origin=origin, reference=Shown(reference)))
                continue
            place = None
            if draft == part.draft.name:
                place = self.locate(part.place.child(path), reference, [], part.draft)
            if place is not None:
                if _is_chosen_at_run_time(place.value, reference[1:]):
                    asked = Scopes(asked={reference[1:]: origin})
                    part.dynamic = part.dynamic.union(asked)
                target = self._target(place, part.draft)
                yield Link(path, target, len(schema) == 1, in_place, word)

    def draft(self, place: Place) -> Draft:
        """The draft of a schema: what it says, or what the schema says that it only refers to."""
        seen: set[tuple[int, Path]] = set()
        while (here := (id(place.document), place.path)) not in seen:
            seen.add(here)
            schema = place.value
            if not isinstance(schema, dict) or set(schema) != {REF}:
                return _draft_at(place, self.default)
            found = self.locate(place, schema[REF], [], self.default)
            if found is None:
                break
            place = found
        return self.default

    # -------------------------------------------------------------------------------------- places

    def locate(
        self, holder: Place, reference: Any, facts: list[Fact], draft: Draft
    ) -> Place | None:
        """What a `$ref` in the schema at `holder` names; None, with a finding, if nothing.

        The part before `#` is a file, or the address of a schema in the same document; without it,
        the fragment starts at the schema around the reference that has an address of its own.
        """
        origin = holder.origin((REF,))
        if not isinstance(reference, str) or not reference:
            shown = Shown(reference, as_found=True)
            facts.append(codes.SCHEMA_REF_VALUE.at(origin=origin, found=shown))
            return None
        file, _, fragment = reference.partition("#")
        whole = (
            self._find_embedded(holder, file, draft)
            if file
            else self._find_enclosing(holder, draft)
        )
        if whole is None:
            whole = self._load_file(file, reference, origin, facts)
        if whole is None:
            return None
        # An embedded schema is asked first, then the whole document.
        for start in dict.fromkeys((whole.path, whole.base)):
            root = get(whole.document.value, start)
            names = partial(self._index_names, find_anchors, whole.document, start, draft)
            found = resolve_fragment(root, fragment, names)
            if found is not None:
                path, instead = found
                if instead is not None:
                    facts.append(_spelling_fact(file + instead, reference, origin))
                return Place(whole.document, whole.base, start + path)
        facts.append(self._missing_target_fact(whole, reference, fragment, origin))
        return None

    def _find_embedded(self, holder: Place, file: str, draft: Draft) -> Place | None:
        """The schema in the same document whose own address this is."""
        if not has_scheme(file) and not self._has_ids(holder.document, draft):
            return None
        path = self._index_names(find_resources, holder.document, holder.base, draft).get(file)
        return None if path is None else Place(holder.document, holder.base, holder.base + path)

    def _find_enclosing(self, holder: Place, draft: Draft) -> Place:
        """The schema that a fragment without a file starts at: the innermost with an address."""
        inner = ROOT
        if self._has_ids(holder.document, draft):
            root = get(holder.document.value, holder.base)
            inner = enclosing_resource(root, holder.path[len(holder.base) :], draft.address)
        return Place(holder.document, holder.base, holder.base + inner)

    def _has_ids(self, document: Document, draft: Draft) -> bool:
        """Whether a schema in a document can have an address: its text, or an escape in it."""
        key, index = ("ids", id(document), draft.address), self.known.index
        if key not in index:
            text = document.source.text
            index[key] = draft.address in text or "\\" in text
        return bool(index[key])

    def _index_names(
        self,
        make: Callable[[Any, str], dict[str, Path]],
        document: Document,
        start: Path,
        draft: Draft,
    ) -> dict[str, Path]:
        """The names that `make` finds in a schema of a document, looked up once."""
        key, index = (make, id(document), start, draft.address), self.known.index
        if key not in index:
            index[key] = make(get(document.value, start), draft.address)
        found: dict[str, Path] = index[key]
        return found

    def _load_file(
        self, file: str, reference: str, origin: Origin, facts: list[Fact]
    ) -> Place | None:
        """The whole document of a file; None, with a finding, if it cannot be read or parsed."""
        session, holder, shown = self.session, origin.document.source, Shown(reference)
        if has_scheme(file):
            facts.append(codes.SCHEMA_REF_REMOTE.at(origin=origin, reference=shown))
            return None
        if session.embedded:
            facts.append(codes.SCHEMA_REF_EMBEDDED.at(origin=origin, reference=shown))
            return None
        # References start at the folder of their file. A pack behind a link is where the link is.
        folder = session.base
        if holder.filename is not None and holder is not self.home:
            folder = os.path.dirname(holder.filename)
        roots = (session.root, *session.roots)
        try:
            source = session.refer(file, self.policy, bases=(folder,), roots=roots).source
        except FileProblem as problem:
            facts.append(_file_fact(problem, reference, origin))
            return None
        # The exact extension decides; everything but YAML is JSON.
        is_yaml = file.endswith((".yaml", ".yml"))
        document, found = session.parse(source, "yaml" if is_yaml else "json")
        also = Also("referenced from here", origin=origin)
        if document is None:
            # The text is parsed once, but each part that needs it says why it has no value.
            reasons = self.known.unparsed.setdefault(id(source), found)
            facts += [msgspec.structs.replace(each, also=(*each.also, also)) for each in reasons]
            return None
        self.facts += (
            msgspec.structs.replace(each, also=(*each.also, also))
            if each.code == core_codes.JSON_SYNTAX  # a comma too many, but the value is known
            else each
            for each in found
        )
        return Place(document, ROOT, ROOT)

    def _missing_target_fact(
        self, whole: Place, reference: str, fragment: str, origin: Origin
    ) -> Fact:
        root = get(whole.document.value, whole.base)
        self.guesses -= 1
        guess = None
        if self.guesses > 0 and isinstance(root, dict):
            groups = ("$defs", "definitions", "properties")
            named = [pointer(steps) for steps, _ in children(root) if steps[0] in groups]
            guess = nearest(fragment, named[:_MAX_CANDIDATES])
        file, hint = whole.document.source.name, None
        if whole.base:
            file = f"the schema at `{format_path(whole.base)}` of {file}"
            if resolve_fragment(whole.document.value, fragment, dict) is not None:
                hint = "what follows `#` starts at the schema, not at the file"
        return codes.SCHEMA_REF_NOTHING.at(
            origin=origin,
            reference=Shown(reference),
            file=file,
            nearest=guess and guess.replace("%", "%25"),
            hint=hint,
        )


# ------------------------------------------------------------------------------------------- facts

_FILE_PROBLEMS = {
    core_codes.FILE_IS_DIRECTORY: "it is a directory",
    core_codes.FILE_NOT_REGULAR: "it is not a regular file",
    core_codes.FILE_TOO_LARGE: "it is too large",
    core_codes.FILE_LINK_LOOP: "it leads through too many links",
    core_codes.FILE_UNREADABLE: "the system refuses",
}


def _file_fact(problem: FileProblem, reference: str, origin: Origin) -> Fact:
    base, shown = f"the folder of {origin.document.source.name}", Shown(reference)
    if problem.code == core_codes.FILE_MISSING:
        return codes.SCHEMA_REF_MISSING.at(origin=origin, reference=shown, base=base)
    if problem.code.startswith("reference-"):
        values: dict[str, Any] = {**problem.values, "reference": shown, "base": base}
        return problem.code.at(origin=origin, **values)
    why = _FILE_PROBLEMS.get(problem.code, "refused")
    return codes.SCHEMA_REF_UNREADABLE.at(origin=origin, reference=shown, problem=why)


def _draft_at(place: Place, draft: Draft) -> Draft:
    """The draft of a place: what the schemas around it say, the innermost last; else `draft`."""
    schema = get(place.document.value, place.base)
    for step in (*place.path[len(place.base) :], None):
        draft = written_draft(schema, draft)[0]
        schema = get(schema, (step,)) if step is not None else None
    return draft


def _spelling_fact(spelled: str, reference: str, origin: Origin) -> Fact:
    remedy = Remedy(f"write `{spelled}`", (Change(ROOT, spelled, origin=origin),))
    return codes.SCHEMA_REF_SPELLING.at(
        origin=origin, remedy=remedy, reference=Shown(reference), instead=Shown(spelled)
    )


def _check_hidden_keywords(schema: dict[str, Any], path: Path, draft: Draft) -> Iterator[Fact]:
    """Problems of keywords that a `$ref` hides: they have no effect, but must be valid."""
    beside = {name: value for name, value in schema.items() if name != REF}
    lost = [each for each in beside if each in OLD_CONSTRAINTS]
    if lost:
        place = (*path, lost[0])
        yield codes.SCHEMA_REF_HIDES.at(place, part="key", names=Shown(lost), draft=draft.name)
    for inner, each in subschemas(beside) if beside else ():
        yield from check_patterns(each, path + inner)
        reference = each.get(REF, "#")
        if not isinstance(reference, str) or not reference:
            found = Shown(reference, as_found=True)
            yield codes.SCHEMA_REF_VALUE.at((*path, *inner, REF), found=found)


def _is_chosen_at_run_time(target: Any, name: str) -> bool:
    """Whether a validator would look for other schemas of that name before it takes the target."""
    return isinstance(target, dict) and (
        target.get("$dynamicAnchor") == name if name else target.get("$recursiveAnchor") is True
    )


def _place_fact(each: Fact, part: Part) -> Fact:
    """Turn a fact with a path in a part into one with an origin in its document."""
    remedy = each.remedy
    if remedy is not None:
        changes = tuple(
            msgspec.structs.replace(change, origin=part.origin(change.path))
            for change in remedy.changes
        )
        remedy = msgspec.structs.replace(remedy, changes=changes)
    return msgspec.structs.replace(each, origin=part.origin(each.path), remedy=remedy)
