"""`expand` for programs that hold a blueprint as a value: it replaces references, nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, get_args

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Fact, LoadError, Shown, UsageError
from equipage.core.frozen import MAX_ADDED, outweighs
from equipage.core.source import Source
from equipage.files import folder_given, folders_given
from equipage.files.reading import display_name
from equipage.kinds.blueprint import KIND
from equipage.kinds.blueprint.agent_model import DEFAULT_KIND, AgentKind
from equipage.kinds.blueprint.expand import Places
from equipage.kinds.blueprint.expand import expand as expand_tree
from equipage.loading.findings import Placer
from equipage.loading.request import Request
from equipage.loading.session import Run, Session
from equipage.loading.tree import Origins, Tree
from equipage.syntax import MAX_DEPTH
from equipage.syntax.document import Document

__all__ = ["expand"]


def expand(
    value: Any,
    base: str | os.PathLike[str],
    default_kind: AgentKind = DEFAULT_KIND,
    *,
    include_roots: Iterable[str | os.PathLike[str]] = (),
) -> Any:
    """A value with its `$file` and `$agent_md` references replaced by texts and agents.

    Paths start at the folder `base`, then at `include_roots`, and may not leave them. Agents from
    files are of the kind `default_kind` unless a `kind` beside the reference says otherwise. The
    value is not changed, and need not be a whole blueprint. Parts without references are shared
    with the result, not copied; tuples count as lists.

    Raises `LoadError` with every error found, and `UsageError` for an unknown kind.
    """
    if default_kind not in get_args(AgentKind):
        raise UsageError(
            f"there is no agent kind `{default_kind}` (known: {', '.join(get_args(AgentKind))})"
        )
    folder = folder_given("base", base)
    bases = (folder, *folders_given("include_roots", include_roots))
    session = Session(KIND, Request(env={}, project=folder), Run(), folder, base=folder)
    refused = _refused(value)
    if refused is None:
        value = _listed(value, {})
        refused = _grew_too_large(value)
    if refused is not None:
        raise LoadError(Placer(None, (), file="<value>").place([refused]))
    places = Places(bases, bases, ", ".join(map(display_name, bases)))
    kind = Tree(default_kind, Origins())
    tree, facts = expand_tree(Tree.of(_document(value, "")), session, places, kind, whole=False)
    if facts:
        # Only findings show the value as text; writing it costs more than all the rest.
        text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
        tree, facts = expand_tree(
            Tree.of(_document(value, text)), session, places, kind, whole=False
        )
    diagnostics = Placer(tree, session.documents).place(facts)
    if any(each.severity == "error" for each in diagnostics):
        raise LoadError(diagnostics)
    return tree.value


def _document(value: Any, text: str) -> Document:
    """A value as a document, so that findings have a place in it."""
    return Document(Source.of_text("<value>", text), "json", value)


def _refused(value: Any) -> Fact | None:
    """Why a value cannot be expanded: it contains itself, or has keys that no file can have."""
    if _is_too_deep(value):
        return Fact(core_codes.NESTING_TOO_DEEP, values={"limit": MAX_DEPTH})
    odd = _odd_key(value)
    return None if odd is None else Fact(core_codes.NON_STRING_KEY, values={"key": Shown(str(odd))})


def _grew_too_large(value: Any) -> Fact | None:
    """Why a value cannot be expanded: parts that it uses often are walked each time."""
    allowed = MAX_ADDED + sum(1 + len(each) for each in _containers(value))
    return (
        Fact(core_codes.COMPOSED_TOO_LARGE, values={"limit": MAX_ADDED})
        if outweighs(value, allowed)
        else None
    )


def _is_too_deep(value: Any) -> bool:
    """Whether a value is nested deeper than a file may be, as one that contains itself is."""
    level: dict[int, Any] = {0: value}
    for _ in range(MAX_DEPTH + 1):
        children = (child for node in level.values() for child in _children(node))
        level = {id(child): child for child in children if isinstance(child, dict | list | tuple)}
        if not level:
            return False
    return True


def _children(node: Any) -> Iterable[Any]:
    if isinstance(node, dict):
        return node.values()
    return node if isinstance(node, list | tuple) else ()


def _containers(value: Any) -> list[Any]:
    """Every mapping and list of a value, each once."""
    seen: dict[int, Any] = {}
    left = [value]
    while left:
        node = left.pop()
        if isinstance(node, dict | list | tuple) and id(node) not in seen:
            seen[id(node)] = node
            left.extend(_children(node))
    return list(seen.values())


def _odd_key(value: Any) -> Any:
    """A key that cannot be written as text, such as a tuple; None if all can."""
    keys = (key for each in _containers(value) if isinstance(each, dict) for key in each)
    return next((key for key in keys if not isinstance(key, str | int | float | None)), None)


def _listed(value: Any, known: dict[int, Any]) -> Any:
    """The value with lists for tuples; parts without tuples stay the same objects."""
    if not isinstance(value, dict | list | tuple):
        return value
    if id(value) not in known:
        children = [_listed(child, known) for child in _children(value)]
        if isinstance(value, tuple) or any(
            new is not old for new, old in zip(children, _children(value), strict=True)
        ):
            known[id(value)] = (
                dict(zip(value, children, strict=True)) if isinstance(value, dict) else children
            )
        else:
            known[id(value)] = value
    return known[id(value)]
