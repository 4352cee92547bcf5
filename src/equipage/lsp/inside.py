"""Names inside one configuration: the tools of a server, the agents and runners of a blueprint.

They are defined and used in one load, in the file itself or in files that it includes. Each use has
a place, or none if it is written in a way that no plain text could replace: with a variable, with
escapes, over several lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from equipage.core.diagnostics import Part
from equipage.core.path import Path, get
from equipage.core.source import Span
from equipage.formats.blueprint.rules import names_in
from equipage.formats.blueprint.rules_agents import NAMED_LISTS, references
from equipage.formats.server import grammar
from equipage.formats.server.grammar import (
    ITEM_KINDS,
    ItemKind,
    base_items,
    find_places,
    phase_items,
)
from equipage.loading.outcome import Outcome
from equipage.loading.tree import Origin, Tree
from equipage.syntax.document import Document, EntrySpans


class InnerName(msgspec.Struct, frozen=True):
    """A name where a configuration has it. The path is that of the resolved value."""

    sort: str  #: what has the name: “tool of the server”
    name: str
    path: Path
    part: Part = "value"
    is_definition: bool = False


def inner_names(outcome: Outcome) -> list[InnerName]:
    """Every name that a configuration defines and uses itself."""
    tree = outcome.tree
    if tree is None or outcome.kind.name not in _NAME_FINDERS:
        return []
    return list(_NAME_FINDERS[outcome.kind.name](tree.value))


def spans_of(names: Sequence[InnerName], tree: Tree) -> list[Span | None]:
    """The place of each name, without quotes; None if it is not written there as it is."""
    origins = [_origin(each, tree) for each in names]
    wanted: dict[int, tuple[Document, list[Path]]] = {}
    for origin in origins:
        wanted.setdefault(id(origin.document), (origin.document, []))[1].append(origin.path)
    # One pass for each document: finding a place takes as long as parsing.
    places = {number: document.locate(paths) for number, (document, paths) in wanted.items()}
    return [
        _span(each, places[id(origin.document)].get(origin.path))
        for each, origin in zip(names, origins, strict=True)
    ]


def _origin(each: InnerName, tree: Tree) -> Origin:
    origin = tree.provenance(each.path).origin
    if each.part == "key" and each.path and not origin.path:
        # The value is a whole other file; its key is where the file was brought in.
        origin = tree.provenance(each.path[:-1]).origin.child(each.path[-1:])
    return origin


def _span(each: InnerName, located: EntrySpans | None) -> Span | None:
    span = None if located is None else located.key if each.part == "key" else located.value
    if span is None or span.source.filename is None:
        return None
    # The name may be the end of a longer text: `tools/call:NAME`.
    pattern = rf"""["']?(?:[\w/]+:)?(?P<name>{re.escape(each.name)})["']?"""
    match = re.fullmatch(pattern, span.text())
    if match is None:
        return None
    return Span(span.source, span.start + match.start("name"), span.start + match.end("name"))


def _names_in_server(config: Any) -> Iterator[InnerName]:
    for sort in ITEM_KINDS:
        title = f"{sort.name} of the server"
        added = [place for place in phase_items(config, sort) if isinstance(place[0][-1], int)]
        for path, item in (*base_items(config, sort), *added):
            name = sort.identify(item)
            if name is not None:
                yield InnerName(title, name, (*path, *sort.identity_path), is_definition=True)
        yield from _uses_in_phases(config, sort, title)


def _uses_in_phases(config: Any, sort: ItemKind, title: str) -> Iterator[InnerName]:
    """Where phases name an item: to replace it, to remove it, to wait for a call of it."""
    for path, item in find_places(config, f"phases[].replace_{sort.plural}{{}}"):
        yield InnerName(title, str(path[-1]), path, "key")
        name = sort.identify(item)
        if name is not None:
            yield InnerName(title, name, (*path, *sort.identity_path))
    for path, name in find_places(config, f"phases[].remove_{sort.plural}[]"):
        if isinstance(name, str):
            yield InnerName(title, name, path)
    for path, written in find_places(config, "phases[].advance.on"):
        event = grammar.parse_event(written) if isinstance(written, str) else None
        if event is not None and event.is_about(sort.plural):
            yield InnerName(title, str(event.qualifier), path)


def _names_in_blueprint(config: Any) -> Iterator[InnerName]:
    for key, what in NAMED_LISTS.items():
        for name, path in names_in(config, key).first.items():
            sort = f"{what} of the blueprint"
            yield InnerName(sort, name, (*path, "name"), is_definition=True)
    for key, path, part in references(config):
        used = path[-1] if part == "key" else get(config, path)
        if isinstance(used, str):
            yield InnerName(f"{NAMED_LISTS[key]} of the blueprint", used, path, part)


_NAME_FINDERS = {"server": _names_in_server, "blueprint": _names_in_blueprint}

#: Where a name belongs, by the last keys of its place: the sort of what has the name.
_SORT_BY_KEY = {
    **{f"remove_{sort.plural}": f"{sort.name} of the server" for sort in ITEM_KINDS},
    **{f"replace_{sort.plural}": f"{sort.name} of the server" for sort in ITEM_KINDS},
    "ref": "agent of the blueprint",
    "agent": "agent of the blueprint",
    "per_agent": "agent of the blueprint",
    "operator_ref": "operator of the blueprint",
    "runner_ref": "runner of the blueprint",
    "default_runner": "runner of the blueprint",
    "meta_ref": "meta of the blueprint",
    "template": "subprocess of the blueprint",
}


def names_for(outcome: Outcome, path: Path) -> dict[str, str]:
    """The names that fit a place of a configuration, each with what it is; events among them."""
    steps = [step for step in path if isinstance(step, str)]
    if outcome.kind.name not in _NAME_FINDERS or not steps:
        return {}
    defined = [each for each in inner_names(outcome) if each.is_definition]
    if outcome.kind.name == "server" and steps[-2:] == ["advance", "on"]:
        events = dict.fromkeys(grammar.EVENTS, "an event")
        for sort in ITEM_KINDS:
            for base in (each for each in grammar.EVENTS if each.startswith(sort.plural)):
                names = (each.name for each in defined if each.sort == f"{sort.name} of the server")
                if grammar.EVENTS[base]:
                    events |= {f"{base}:{name}": f"of one {sort.name}" for name in names}
        return events
    wanted = _SORT_BY_KEY.get(steps[-1])
    return {each.name: each.sort for each in defined if each.sort == wanted}
