"""Hooks of several layers: appended, told apart, and disabled."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from equipage.diagnostics import Also, Fact, Shown, fact
from equipage.kinds.profile.hook_checks import DISABLE, HOOKS
from equipage.kinds.profile.hooks import EVENTS, Hook
from equipage.nearest import nearest
from equipage.path import Path
from equipage.plain import plain_data
from equipage.syntax.document import Document
from equipage.tree import Tree, get, remove, select

PROJECT_LAYERS = frozenset({"project", "project-local"})


def settle(tree: Tree, layer_of: Callable[[Document], str | None]) -> tuple[Tree, list[Fact]]:
    """The merged tree with each hook once, and without those that any layer disables.

    Two hooks are the same if their conditions and handlers are; the first stays. `disable` is gone afterwards.
    """
    facts: list[Fact] = []
    done: set[str] = set()
    disabled = get(tree.value, (*HOOKS, DISABLE))
    for event in EVENTS:
        entries = get(tree.value, (*HOOKS, event))
        if isinstance(entries, list):
            tree = _once(tree, (*HOOKS, event), entries)
    for number, entry in enumerate(disabled if isinstance(disabled, list) else ()):
        before, what = tree, f"{get(entry, ('event',))} {_identity(entry)}"
        tree, found = _disable(tree, entry, number, layer_of)
        if tree is not before:
            done.add(what)
        if what not in done or tree is not before:  # what another layer disabled already is as this one wants it
            facts += found
    return (remove(tree, (*HOOKS, DISABLE)) if disabled is not None else tree), facts


def _once(tree: Tree, path: Path, entries: list[Any]) -> Tree:
    seen: set[str] = set()
    kept: list[int] = []
    for number, entry in enumerate(entries):
        identity = _identity(entry)
        if identity not in seen:
            kept.append(number)
        seen.add(identity)
    return tree if len(kept) == len(entries) else select(tree, path, kept)


def _disable(
    tree: Tree, entry: Any, number: int, layer_of: Callable[[Document], str | None]
) -> tuple[Tree, list[Fact]]:
    event = entry.get("event") if isinstance(entry, dict) else None
    if event not in EVENTS:
        return tree, []  # said when the layer was checked alone
    path: Path = (*HOOKS, str(event))
    entries = get(tree.value, path, [])
    wanted = _identity(entry)
    hit = [each for each, hook in enumerate(entries if isinstance(entries, list) else ()) if _identity(hook) == wanted]
    origin = tree.story((*HOOKS, DISABLE, number)).origin
    values: dict[str, object] = {"event": event}
    if not hit:
        return tree, [Fact("hook-disable-idle", values=values, origin=origin)]
    facts: list[Fact] = []
    for each in hit:
        of_user = isinstance(entries[each], dict) and entries[each].get("source") == "user"
        layer = layer_of(origin.document)
        if of_user and layer in PROJECT_LAYERS:
            also = (Also("the hook", origin=tree.story((*path, each)).origin),)
            severity: Any = "note" if layer == "project-local" else None
            facts.append(Fact("project-disables-hook", values=values, origin=origin, also=also, severity=severity))
    return select(tree, path, [each for each in range(len(entries)) if each not in hit]), facts


def _identity(entry: Any) -> str:
    """What makes two hooks the same: the conditions and the handler a program gets, whatever was left to defaults."""
    parts = {key: entry[key] for key in ("match", "handler") if key in entry} if isinstance(entry, dict) else entry
    try:
        same = plain_data(msgspec.convert(parts, Hook))
    except msgspec.ValidationError:  # something is wrong with it, which is told elsewhere
        same = parts
    return json.dumps(same, sort_keys=True, default=repr)


def disabled_events_exist(config: Any) -> Iterator[Fact]:
    """Every `disable` names a known event."""
    entries = get(config, (*HOOKS, DISABLE))
    for number, entry in enumerate(entries if isinstance(entries, list) else ()):
        event = entry.get("event") if isinstance(entry, dict) else None
        if isinstance(event, str) and event not in EVENTS:
            path = (*HOOKS, DISABLE, number, "event")
            yield fact("unknown-hook-event", path, event=Shown(event), nearest=nearest(event, EVENTS))
