"""`$file` and `$agent_md` in blueprints: texts and agents from other files.

A mapping whose only key is `$file` means the text of that file. A mapping with `$agent_md` means
the agent of that file; the keys beside it are expanded first and then replace the agent's own, one
level deep. What a file brings is not expanded again, so nothing can refer to itself.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec
from msgspec import inspect as types

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Also, Fact, Shown
from equipage.core.path import Path
from equipage.core.source import Source
from equipage.core.text import edit_distance
from equipage.directives import Directive, Expansion, Node
from equipage.directives import expand as expand_tree
from equipage.files.reading import require_text
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.formats.blueprint import codes
from equipage.formats.blueprint.agent import agent_tree, read_header
from equipage.formats.blueprint.model import Blueprint
from equipage.loading.model import describe, type_info
from equipage.loading.session import Session
from equipage.loading.tree import HOLE, Origins, Tree, get, merge, remove
from equipage.syntax.document import Document

FILE = "$file"
AGENT_MD = "$agent_md"


class ReferenceContext(msgspec.Struct, frozen=True):
    """What the directives of one blueprint have in common."""

    bases: tuple[str, ...]  #: folders where references start
    roots: tuple[str, ...]  #: folders they may not leave
    shown: str  #: what messages call the bases
    kind: Tree  #: the kind of agents whose reference does not say it
    value: Any  #: the value being expanded
    whole: bool = True  #: whether it is a whole blueprint, so that its places have known types

    def read_source(self, node: Node, expansion: Expansion, *, as_text: bool) -> Source | None:
        """The file a node names; None, with a finding, if it cannot be read."""
        reference = node.reference
        policy = PathPolicy(max_bytes=expansion.session.limits.max_file_bytes)
        try:
            source = expansion.find_source(
                node, policy, bases=self.bases, roots=self.roots, embedded=codes.EMBEDDED_REFERENCE
            )
            if source is None:
                return None
            _require_file_name(reference)
            return require_text(source) if as_text else source
        except FileProblem as problem:
            shown = Shown(reference)
            values: dict[str, Any] = {**problem.values, "reference": shown, "base": self.shown}
            if problem.code != core_codes.NOT_UTF8:
                values["file"] = shown
            expansion.report(node, problem.code, **values)
            return None


def _require_file_name(reference: str) -> None:
    """A slash at the end asks for a folder. Raises `FileProblem`, as opening it would."""
    if reference.endswith(("/", "/.")):
        raise FileProblem(core_codes.FILE_MISSING, file=reference)


def expand_references(
    tree: Tree, session: Session, context: ReferenceContext
) -> tuple[Tree, list[Fact]]:
    """A stage: the tree with every reference replaced, and what was found."""
    # The first that matches a mapping expands it, so the order matters.
    return expand_tree(
        tree, session, AgentMd(context), TextFile(context), UnknownDirective(context)
    )


class TextFile(Directive):
    """`{$file: path}`: the text of a file."""

    key: ClassVar[str] = FILE

    context: ReferenceContext
    #: by the identity of their sources
    texts: dict[int, Document] = msgspec.field(default_factory=dict)

    def matches(self, mapping: dict[str, Any]) -> bool:
        return len(mapping) == 1 and isinstance(mapping.get(FILE), str)

    def expand(self, node: Node, expansion: Expansion) -> Tree:
        needed = required_structure(self.context.value, node.path) if self.context.whole else None
        if needed is not None:
            advice = (
                "did you mean `$agent_md`?" if is_agent_entry(node.path) else "write it in place"
            )
            hint, found = f"`$file` always brings text; {advice}", "the text of a file"
            expansion.report(node, core_codes.WRONG_TYPE, expected=needed, found=found, hint=hint)
            return node.hole()
        source = self.context.read_source(node, expansion, as_text=True)
        if source is None:
            return node.hole()
        document = self.texts.get(id(source))
        if document is None:
            window = (0, len(source.text))  # a byte order mark is part of a raw text
            document = self.texts[id(source)] = Document(source, "text", source.text, window=window)
        return node.replace_with(Tree.from_document(document), "read by `$file` here")


class AgentMd(Directive):
    """`{$agent_md: path, …}`: the agent of a file, with fields replaced."""

    key: ClassVar[str] = AGENT_MD

    context: ReferenceContext
    #: by the identity of their sources
    agents: dict[int, Tree] = msgspec.field(default_factory=dict)

    def matches(self, mapping: dict[str, Any]) -> bool:
        return isinstance(mapping.get(AGENT_MD), str)

    def expand(self, node: Node, expansion: Expansion) -> Tree:
        # Each value on its own: a `$file` alone beside the reference is a field of the agent.
        siblings = expansion.walk_values(remove(node.tree, (AGENT_MD,)), node.path)
        source = self.context.read_source(node, expansion, as_text=False)
        if source is None:
            return node.hole()
        if id(source) not in self.agents:
            self.agents[id(source)] = self._load_agent(source, node, expansion)
        agent = self.agents[id(source)]
        if agent.value is HOLE:
            return node.hole()
        # The kind was decided in the blueprint, or by default, which the reference could change.
        decided = self.context.kind.origins.here or node.origin
        below = {**agent.origins.below, "kind": Origins(decided, skip=1)}
        agent = Tree(agent.value, agent.origins.replace(below=below))
        brought = node.add_via(agent, "brought in by `$agent_md` here")
        if siblings.value:
            siblings = Tree(siblings.value, siblings.origins.replace(via=(), skip=0))
            brought = merge(brought, siblings, lambda path, *_: "replace" if path else "merge")
        return node.put_in_place(brought)

    def _load_agent(self, source: Source, node: Node, expansion: Expansion) -> Tree:
        """The agent of a file; its findings name the reference that was first to bring it in."""
        header, facts = read_header(source)
        agent = node.hole()
        if header is not None:
            expansion.session.adopt(header)
            agent, found = agent_tree(header, self.context.kind)
            facts += found
        also = Also("brought in by `$agent_md` here", origin=node.origin)
        expansion.facts += [
            msgspec.structs.replace(each, also=(*each.also, also)) for each in facts
        ]
        return agent


class UnknownDirective(Directive):
    """A mapping with a `$key` that is not a reference: a slip, or data."""

    key: ClassVar[str] = "$"

    context: ReferenceContext

    def matches(self, mapping: dict[str, Any]) -> bool:
        return any(str(key)[:1] == "$" for key in mapping)

    def expand(self, node: Node, expansion: Expansion) -> Tree:
        # Findings inside are reported even if the mapping itself becomes a hole.
        inside = expansion.walk_values(node.tree, node.path)
        slips = [
            codes.DIRECTIVE_SLIP.at(
                part="key",
                origin=node.tree.provenance((key,)).origin,
                key=Shown(key),
                nearest=meant,
            )
            for key in node.value
            if key not in (FILE, AGENT_MD) and (meant := _guess_directive(str(key))) is not None
        ]
        if is_free_form(self.context.value, node.path):
            _report_oddities(node, expansion)
            expansion.facts += slips
        elif self.context.whole and AGENT_MD in node.value and is_agent_entry(node.path):
            found = Shown(node.value[AGENT_MD], as_found=True)
            expansion.report(
                node, core_codes.WRONG_TYPE, at=(AGENT_MD,), expected="a path as text", found=found
            )
            return node.hole()
        elif self.context.whole and slips:
            expansion.facts += [msgspec.structs.replace(each, severity="error") for each in slips]
            return node.hole()
        return inside


def _report_oddities(node: Node, expansion: Expansion) -> None:
    """Warn about what looks like a reference among free-form data."""
    for key, value in node.value.items():
        if key in (FILE, AGENT_MD) and not isinstance(value, str):
            found = Shown(value, as_found=True)
            expansion.report(node, codes.REFERENCE_NOT_TEXT, at=(key,), directive=key, found=found)
        elif key == FILE:
            beside = Shown(tuple(each for each in node.value if each != FILE))
            expansion.report(node, codes.FILE_WITH_SIBLINGS, at=(key,), part="key", beside=beside)


def _guess_directive(key: str) -> str | None:
    """The directive that a key misspells. One letter is a slip; two are another word."""
    if not key.startswith("$"):
        return None
    folded = key[: len(AGENT_MD) + 2].lower().replace("-", "_")
    return next((each for each in (FILE, AGENT_MD) if edit_distance(folded, each) <= 1), None)


def is_agent_entry(path: Path) -> bool:
    """Whether a path is that of an agent or operator, where `$agent_md` must be a reference."""
    return len(path) == 2 and path[0] in ("agents", "operators")


# Places of a blueprint, and the types that the model has for them.

_STRUCTURES = (types.StructType, types.DictType, types.VarTupleType, types.BoolType, types.IntType)


def is_free_form(value: Any, path: Path) -> bool:
    """Whether a place of a blueprint takes anything: a literal, a spec, a hint.

    Elsewhere the model itself reports what is wrong.
    """
    return isinstance(_type_at(value, path), types.AnyType)


def required_structure(value: Any, path: Path) -> str | None:
    """What a place of a blueprint takes, in words, where it cannot take text; else None."""
    kind = _type_at(value, path)
    choices = kind.types if isinstance(kind, types.UnionType) else (kind,)
    if kind is None or not all(isinstance(each, _STRUCTURES) for each in choices):
        return None
    return describe(kind)


def _type_at(value: Any, path: Path) -> types.Type | None:
    """The type of the place at `path`, or of one above that takes anything; None if unknown."""
    kind: types.Type | None = _union_branch(type_info(Blueprint), value)
    for step in path:
        if kind is None or isinstance(kind, types.AnyType):
            return kind
        value = get(value, (step,))
        kind = _union_branch(_child_type(kind, step), value)
    return kind


def _child_type(kind: types.Type, step: str | int) -> types.Type | None:
    """The type one step below a type."""
    if isinstance(kind, types.StructType):
        return next((field.type for field in kind.fields if field.encode_name == step), None)
    if isinstance(kind, types.DictType):
        return kind.value_type
    return kind.item_type if isinstance(kind, types.VarTupleType) else None


def _union_branch(kind: types.Type | None, value: Any) -> types.Type | None:
    """The branch of a union that a value is meant for, by its tag."""
    if not isinstance(kind, types.UnionType):
        return kind
    rest = [each for each in kind.types if not isinstance(each, types.NoneType)]
    if len(rest) == 1:
        return rest[0]
    structs = [each for each in rest if isinstance(each, types.StructType)]
    tag = value.get(structs[0].tag_field) if structs and isinstance(value, dict) else None
    return next((each for each in structs if each.tag == tag), kind)
