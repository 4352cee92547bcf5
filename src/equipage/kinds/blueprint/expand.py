"""`$file` and `$agent_md`: texts and agents from other files, in place of the references to them.

A mapping whose only key is `$file` becomes the text of that file. A mapping with `$agent_md`
becomes the agent of that file; the keys beside it are expanded first and then replace those of the
agent, one level deep. What a file brings is not expanded again, so nothing can refer to itself.

A reference that cannot be followed leaves a hole and a finding; the walk goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import inspect as types

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Code, Fact, Part, Shown
from equipage.core.path import ROOT, Path
from equipage.core.source import Source
from equipage.core.text import distance
from equipage.files.reading import require_text
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.kinds.blueprint import codes
from equipage.kinds.blueprint.agent import agent_tree, read_header
from equipage.kinds.blueprint.model import Blueprint
from equipage.loading.model import describe, type_info
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, Origin, Origins, Strategy, Tree, Via, graft, merge, remove
from equipage.syntax.document import Document

# What the model says about the place of a reference.

_STRUCTURES = (types.StructType, types.DictType, types.VarTupleType, types.BoolType, types.IntType)


def is_free_form(value: Any, path: Path) -> bool:
    """Whether a blueprint takes any value at `path`, as in a literal, a spec or a hint.

    Elsewhere the model itself reports what is wrong.
    """
    return isinstance(_type_at(value, path), types.AnyType)


def needs_structure(value: Any, path: Path) -> str | None:
    """What a blueprint takes at `path`, in words, if that is never a text; else None."""
    kind = _type_at(value, path)
    choices = kind.types if isinstance(kind, types.UnionType) else (kind,)
    return (
        describe(kind)
        if kind is not None and all(isinstance(each, _STRUCTURES) for each in choices)
        else None
    )


def _type_at(value: Any, path: Path) -> types.Type | None:
    """The type that the model has for `path`; None if it has no such place.

    Below a place that takes any value, so does every other.
    """
    kind = _branch(type_info(Blueprint), value)
    for step in path:
        if isinstance(kind, types.AnyType):
            return kind
        inner = _below(kind, step)
        if inner is None:
            return None
        value = _child(value, step)
        kind = _branch(inner, value)
    return kind


def _below(kind: types.Type, step: str | int) -> types.Type | None:
    """The type of the values one step below a type; None if it has no such values."""
    if isinstance(kind, types.StructType):
        return next((field.type for field in kind.fields if field.encode_name == step), None)
    if isinstance(kind, types.DictType):
        return kind.value_type
    return kind.item_type if isinstance(kind, types.VarTupleType) else None


def _branch(kind: types.Type, value: Any) -> types.Type:
    """The member of a union that a value is meant for, by its tag."""
    if not isinstance(kind, types.UnionType):
        return kind
    rest = [each for each in kind.types if not isinstance(each, types.NoneType)]
    if len(rest) == 1:
        return rest[0]
    structs = [each for each in rest if isinstance(each, types.StructType)]
    tag = value.get(structs[0].tag_field) if structs and isinstance(value, dict) else None
    return next((each for each in structs if each.tag == tag), kind)


def _child(value: Any, step: str | int) -> Any:
    try:
        return value[step]
    except (KeyError, IndexError, TypeError):
        return None


FILE = "$file"
AGENT_MD = "$agent_md"


class Places(msgspec.Struct, frozen=True):
    """Where references may lead."""

    bases: tuple[str, ...]  #: folders in which a reference is looked up, one after the other
    roots: tuple[str, ...]  #: folders that a reference may not leave
    shown: str  #: the bases, in words


def expand(
    tree: Tree, session: Session, places: Places, kind: Tree, *, whole: bool = True
) -> tuple[Tree, list[Fact]]:
    """The tree with every reference replaced. `kind` is that of agents whose reference has none.

    Only for a `whole` blueprint does the model say what the places of the tree take.
    """
    expander = _Expander(session, places, kind, tree.value, whole=whole)
    return expander.expand(tree, ROOT), expander.facts


class _Expander:
    """Expands the references of one load. Each file is read once."""

    def __init__(
        self, session: Session, places: Places, kind: Tree, root: Any, *, whole: bool
    ) -> None:
        self.session = session
        self.places = places
        self.kind = kind
        self.root = root
        self.whole = whole
        self.policy = PathPolicy(max_bytes=session.limits.max_file_bytes)
        self.facts: list[Fact] = []
        self.texts: dict[int, Document] = {}
        self.agents: dict[int, Tree] = {}

    def expand(self, tree: Tree, where: Path) -> Tree:
        """The tree, which is at the path `where` of the blueprint, with its references replaced."""
        parts: dict[Path, Tree] = {}
        for path, form in _references(tree.value):
            node = tree.at(path)
            if form == FILE:
                parts[path] = self.text(node, where + path)
            elif form == AGENT_MD:
                parts[path] = self.agent(node, where + path)
            elif is_free_form(self.root, where + path):
                self.facts += _oddities(node)
            elif AGENT_MD in node.value and _is_entry(where + path):
                found = Shown(node.value[AGENT_MD], as_found=True)
                self.say(
                    node,
                    AGENT_MD,
                    core_codes.WRONG_TYPE,
                    {"expected": "a path as text", "found": found},
                )
                parts[path] = self.hole(node)
            elif self.whole and (slips := list(_slips(node))):
                self.facts += [msgspec.structs.replace(each, severity="error") for each in slips]
                parts[path] = self.hole(node)
        return graft(tree, parts)

    def text(self, node: Tree, where: Path) -> Tree:
        """The text that replaces a `$file` mapping."""
        if self.whole and (needed := needs_structure(self.root, where)) is not None:
            hint = "`$file` always brings text; write it in place"
            if _is_entry(where):
                hint = "`$file` always brings text; did you mean `$agent_md`?"
            self.say(
                node,
                FILE,
                core_codes.WRONG_TYPE,
                {"expected": needed, "found": "the text of a file", "hint": hint},
            )
            return self.hole(node)
        source = self.source(node, FILE)
        if source is None:
            return self.hole(node)
        document = self.texts.get(id(source))
        if document is None:
            window = (0, len(source.text))  # a byte order mark is part of a raw text
            document = self.texts[id(source)] = Document(source, "text", source.text, window=window)
        return Tree(
            document.value,
            Origins(Origin(document), (Via("read by `$file` here", _at(node, FILE)),)),
        )

    def agent(self, node: Tree, where: Path) -> Tree:
        """The agent that replaces an `$agent_md` mapping."""
        siblings = self.siblings(remove(node, (AGENT_MD,)), where)
        source = self.source(node, AGENT_MD)
        agent = None if source is None else self.agent_of(source, node)
        if agent is None or agent.value is HOLE:
            return self.hole(node)
        via = (Via("brought in by `$agent_md` here", _at(node, AGENT_MD)),)
        below = {**agent.origins.below, "kind": self.kind_origins(node)}
        brought = Tree(agent.value, agent.origins.changed(via=via, below=below))
        return merge(brought, siblings, _shallow) if siblings.value else brought

    def siblings(self, rest: Tree, where: Path) -> Tree:
        """The keys beside a reference, each expanded on its own: together they might look like a
        reference, if a single `$file` is beside it."""
        parts: dict[Path, Tree] = {
            (key,): self.expand(rest.at((key,)), (*where, key)) for key in rest.value
        }
        return graft(rest, parts)

    def agent_of(self, source: Source, node: Tree) -> Tree:
        """The agent of a file. Its findings are reported once, at the first reference to it."""
        known = self.agents.get(id(source))
        if known is not None:
            return known
        header, facts = read_header(source)
        agent = Tree(HOLE, Origins(_at(node, AGENT_MD)))
        if header is not None:
            self.session.adopt(header)
            agent, found = agent_tree(header, self.kind)
            facts += found
        also = Also("brought in by `$agent_md` here", origin=_at(node, AGENT_MD))
        self.facts += [msgspec.structs.replace(each, also=(*each.also, also)) for each in facts]
        self.agents[id(source)] = agent
        return agent

    def kind_origins(self, node: Tree) -> Origins:
        """Where the kind was decided; at the reference, which could say it, if nowhere else."""
        decided = self.kind.origins.here
        return Origins(_at(node, AGENT_MD) if decided is None else decided, skip=1)

    def source(self, node: Tree, key: str) -> Source | None:
        """The file that a reference names; None, with a finding, if it cannot be read."""
        reference = node.value[key]
        if self.session.embedded:
            self.say(
                node,
                key,
                codes.EMBEDDED_REFERENCE,
                {"directive": key, "reference": Shown(reference)},
            )
            return None
        bases, roots = self.places.bases, self.places.roots
        try:
            source = self.session.refer(reference, self.policy, bases=bases, roots=roots).source
            _require_file_name(reference)
            return require_text(source) if key == FILE else source
        except FileProblem as problem:
            named = {"file": Shown(reference)} if problem.code != core_codes.NOT_UTF8 else {}
            values = {
                **problem.values,
                **named,
                "reference": Shown(reference),
                "base": self.places.shown,
            }
            self.say(node, key, problem.code, values)
            return None

    def hole(self, node: Tree) -> Tree:
        return Tree(HOLE, node.origins)

    def say(self, node: Tree, key: str, code: Code, values: dict[str, object]) -> None:
        self.facts.append(Fact(code, values=values, origin=_at(node, key)))


def _references(value: Any) -> Iterator[tuple[Path, str | None]]:
    """The outermost references below a value in document order, each with its directive.

    A mapping with a key that only looks like a directive comes with None.
    """
    stack: list[tuple[Path, Any]] = [(ROOT, value)]
    while stack:
        path, node = stack.pop()
        if isinstance(node, dict):
            if isinstance(node.get(AGENT_MD), str):
                yield path, AGENT_MD
                continue
            if len(node) == 1 and isinstance(node.get(FILE), str):
                yield path, FILE
                continue
            if any(str(key)[:1] == "$" for key in node):
                yield path, None
            steps: Any = reversed(node.items())
        elif isinstance(node, list):
            steps = zip(range(len(node) - 1, -1, -1), reversed(node), strict=True)
        else:
            continue
        stack.extend(
            ((*path, step), child) for step, child in steps if isinstance(child, dict | list)
        )


def _require_file_name(reference: str) -> None:
    """A slash at the end names a folder. Raises `FileProblem`, as opening it would."""
    if reference.endswith(("/", "/.")):
        raise FileProblem(core_codes.FILE_MISSING, file=reference)


def _is_entry(path: Path) -> bool:
    """Whether a path is that of an agent or operator, where `$agent_md` is always a reference."""
    return len(path) == 2 and path[0] in ("agents", "operators")


def _oddities(node: Tree) -> Iterator[Fact]:
    """Keys that look like a reference in a free-form place, but are kept as they are."""
    for key, value in node.value.items():
        if key in (FILE, AGENT_MD) and not isinstance(value, str):
            found = Shown(value, as_found=True)
            yield _odd(node, key, codes.REFERENCE_NOT_TEXT, {"directive": key, "found": found})
        elif key == FILE:
            beside = tuple(each for each in node.value if each != FILE)
            yield _odd(node, key, codes.FILE_WITH_SIBLINGS, {"beside": Shown(beside)}, part="key")
    yield from _slips(node)


def _slips(node: Tree) -> Iterator[Fact]:
    """Keys that nearly spell a directive."""
    for key in node.value:
        if (
            str(key)[:1] == "$"
            and key not in (FILE, AGENT_MD)
            and (meant := _meant(key)) is not None
        ):
            yield _odd(
                node, key, codes.DIRECTIVE_SLIP, {"key": Shown(key), "nearest": meant}, part="key"
            )


def _odd(node: Tree, key: str, code: Code, values: dict[str, object], part: Part = "value") -> Fact:
    return Fact(code, values=values, part=part, origin=_at(node, key))


def _meant(key: str) -> str | None:
    """The directive that a key misspells by one letter; two make another word."""
    folded = key[: len(AGENT_MD) + 2].lower().replace("-", "_")
    return next((each for each in (FILE, AGENT_MD) if distance(folded, each) <= 1), None)


def _at(node: Tree, key: str) -> Origin:
    return node.story((key,)).origin


def _shallow(path: Path, _base: Any, _over: Any) -> Strategy:
    return "replace" if path else "merge"
