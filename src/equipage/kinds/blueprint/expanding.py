"""Blueprints for programs that hold them as values: `expand` replaces references, nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from operator import is_not
from typing import Any, get_args

from equipage.core import codes as core_codes
from equipage.core.diagnostics import Fact, LoadError, Shown, UsageError
from equipage.core.frozen import MAX_ADDED, outweighs
from equipage.core.source import Source
from equipage.files import folder_given, folders_given
from equipage.files.reading import display_name
from equipage.kinds.blueprint import KIND
from equipage.kinds.blueprint.agent_model import DEFAULT_KIND, AgentKind
from equipage.kinds.blueprint.expand import Context
from equipage.kinds.blueprint.expand import expand as expand_tree
from equipage.loading.findings import Placer
from equipage.loading.request import Request
from equipage.loading.session import Run, Session
from equipage.loading.tree import Origins, Tree, is_deeper, levels
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
    """A value with its `$file` and `$agent_md` references replaced by what they mean.

    Paths start at the folder `base`, then at `include_roots`, and may not leave them. Agents from
    files are of the kind `default_kind` unless a `kind` beside the reference says otherwise. The
    value given is not changed, and need not be a whole blueprint. Parts without references are
    shared with the result, not copied; tuples count as lists.

    Raises `LoadError` with every error found, and `UsageError` for an unknown kind.
    """
    if default_kind not in get_args(AgentKind):
        known = ", ".join(get_args(AgentKind))
        raise UsageError(f"there is no agent kind `{default_kind}` (known: {known})")
    folder = folder_given("base", base)
    bases = (folder, *folders_given("include_roots", include_roots))
    session = Session(KIND, Request(env={}, project=folder), Run(), folder, base=folder)
    if is_deeper(value, MAX_DEPTH):  # also if it contains itself
        _refuse(core_codes.NESTING_TOO_DEEP.at(limit=MAX_DEPTH))
    value = _with_lists(value, {})
    _check(value)
    kind, shown = Tree(default_kind, Origins()), ", ".join(map(display_name, bases))
    context = Context(bases, bases, shown, kind, value, whole=False)
    tree, facts = expand_tree(_tree(value, ""), session, context)
    if facts:  # only findings need the value as a text, which costs more than all the rest
        text = json.dumps(value, indent=2, ensure_ascii=False, default=str)
        tree, facts = expand_tree(_tree(value, text), session, context)
    diagnostics = Placer(tree, session.documents).place(facts)
    if any(each.severity == "error" for each in diagnostics):
        raise LoadError(diagnostics)
    return tree.value


def _tree(value: Any, text: str) -> Tree:
    """A value as if it came from a document with this text, so that findings have a place in it."""
    return Tree.of(Document(Source.of_text("<value>", text), "json", value))


def _refuse(fact: Fact) -> None:
    raise LoadError(Placer(None, (), file="<value>").place([fact]))


def _check(value: Any) -> None:
    """Raise `LoadError` for a value that cannot be written as a document, or is too large."""
    containers = {id(node): node for level in levels(value) for node in level}.values()
    keys = (key for node in containers if isinstance(node, dict) for key in node)
    odd = [key for key in keys if not isinstance(key, str | int | float | None)]
    if odd:
        _refuse(core_codes.NON_STRING_KEY.at(key=Shown(str(odd[0]))))
    # Parts that are shared, as aliases make them, are walked wherever they occur.
    if outweighs(value, MAX_ADDED + sum(1 + len(node) for node in containers)):
        _refuse(core_codes.COMPOSED_TOO_LARGE.at(limit=MAX_ADDED))


def _with_lists(value: Any, known: dict[int, Any]) -> Any:
    """The value with lists for tuples; a part without tuples below it stays the same object."""
    if not isinstance(value, dict | list | tuple):
        return value
    if id(value) not in known:
        old = list(value.values() if isinstance(value, dict) else value)
        new = [_with_lists(child, known) for child in old]
        changed = isinstance(value, tuple) or any(map(is_not, new, old))
        copy = dict(zip(value, new, strict=True)) if isinstance(value, dict) else new
        known[id(value)] = copy if changed else value
    return known[id(value)]
