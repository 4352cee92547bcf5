"""Blueprints for programs that hold them as values: `expand` replaces references, and nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, get_args

from lading.diagnostics import Fact, LoadError, UsageError
from lading.files import Files, display_name
from lading.kinds.agent_md.model import DEFAULT_KIND, AgentKind
from lading.kinds.blueprint.expand import Places
from lading.kinds.blueprint.expand import expand as expand_tree
from lading.kinds.blueprint.kind import KIND
from lading.kinds.kind import Limits
from lading.placing import Placer
from lading.session import Session
from lading.source import Source
from lading.syntax.document import Document
from lading.syntax.engine import MAX_DEPTH
from lading.tree import Origins, Tree

__all__ = ["expand"]


def expand(
    value: Any,
    base: str | os.PathLike[str],
    default_kind: AgentKind = DEFAULT_KIND,
    *,
    include_roots: Iterable[str | os.PathLike[str]] = (),
) -> Any:
    """A value with its `$file` and `$agent_md` references replaced by what they stand for.

    Paths start at the folder `base`, then at `include_roots`, and may not leave them. Agents from files are of
    the kind `default_kind` unless a `kind` beside the reference says otherwise. The value given is not changed,
    and need not be a whole blueprint.

    Raises `LoadError` with every error found, and `UsageError` for an unknown kind.
    """
    if default_kind not in get_args(AgentKind):
        raise UsageError(f"there is no agent kind `{default_kind}` (known: {', '.join(get_args(AgentKind))})")
    folder = os.path.abspath(base)
    bases = (folder, *(os.path.abspath(root) for root in include_roots))
    session = Session(KIND, KIND.options(), Files(), env={}, limits=Limits(), root=folder, base=folder)
    if _is_too_deep(value):
        too_deep = Fact("nesting-too-deep", values={"limit": MAX_DEPTH})
        raise LoadError(Placer(None, (), session.codes, file="<value>").place([too_deep]))
    document = _document(value)
    places = Places(bases, bases, ", ".join(map(display_name, bases)))
    tree, facts = expand_tree(Tree.of(document), session, places, Tree(default_kind, Origins()))
    diagnostics = Placer(tree, session.documents, session.codes).place(facts)
    if any(each.severity == "error" for each in diagnostics):
        raise LoadError(diagnostics)
    return tree.value


def _document(value: Any) -> Document:
    """A value as a document, so that findings can show where they stand in it."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
    return Document(Source.of_text("<value>", text), "json", value)


def _is_too_deep(value: Any) -> bool:
    """Whether a value nests deeper than any file may; one that contains itself does."""
    level: dict[int, Any] = {0: value}
    for _ in range(MAX_DEPTH + 1):
        children = (child for node in level.values() for child in _children(node))
        level = {id(child): child for child in children if isinstance(child, dict | list)}
        if not level:
            return False
    return True


def _children(node: Any) -> Iterable[Any]:
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list) else ()
