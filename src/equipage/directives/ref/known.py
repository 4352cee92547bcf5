"""The common case: a schema whose references were all resolved by an earlier load.

Packs of one project refer to the same few schemas in the same words. When everything about such a reference was well,
what it became is kept under those words; a schema that holds no others is put together without building a graph.
Anything out of the ordinary is left to the full way, which gives the same result and tells what is wrong.
"""

from __future__ import annotations

from typing import Any

from equipage.directives.ref.inlining import MAX_DEPTH, MAX_NODES, brought, via_reference
from equipage.directives.ref.parts import NO_SCOPES, Part
from equipage.freeze import frozen
from equipage.path import ROOT, Path
from equipage.schemas import Draft, children, draft_named, is_valid, written_draft
from equipage.schemas.patterns import judge, patterns_of
from equipage.session import Session
from equipage.tree import Origin, Origins, Tree

REF = "$ref"
#: Keywords that change what references mean, or may be wrong in ways of their own.
_UNUSUAL = frozenset({"$id", "id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"})


_ANY = ""


class Known:
    """What references became, for loads that share."""

    def __init__(self, session: Session, default_draft: str) -> None:
        self.session = session
        self.default_draft = default_draft
        self.targets: dict[tuple[str, str, str, str], Part] = session.shared.kept.setdefault("$ref known", {})

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
