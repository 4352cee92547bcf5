"""What a format does with the values of its files before they are checked together.

Each layer is composed alone: an include is expanded in the layer that has it. Then the layers are
merged, lowest first, as the format says for each path.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from equipage.core import codes
from equipage.core.diagnostics import Change, Fact, Remedy, Shown
from equipage.core.path import HOLE, Path, get, mapping_or_empty, matches_path, path_pattern, walk
from equipage.core.source import Source, Span
from equipage.files import config_home
from equipage.files.sandbox import FileProblem, PathPolicy
from equipage.loading.format import By, Format, Layer, Renamed
from equipage.loading.session import Session, syntax_of
from equipage.loading.tree import (
    Choice,
    EntryKey,
    Strategy,
    Tree,
    Via,
    child_with_via,
    merge,
    move,
    punch_holes,
    remove,
)
from equipage.syntax.document import Document

#: How the value of one file is composed.
Compose = Callable[[Tree], Tree]
_VARIABLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_POLICY = PathPolicy(parents="refuse")


def merge_layers(tree: Tree, session: Session, root: Source, compose: Compose) -> Tree:
    """The layers of a format, each composed, merged around the value of the file itself."""
    merged, own = None, tree
    strategy = _strategy(session.kind)
    changed: list[tuple[Path, Any]] = []

    def choose(path: Path, base: Any, over: Any) -> Strategy | EntryKey:
        differs = _sort_of(base) != _sort_of(over)
        if differs and base is not None and over is not None and base is not HOLE:
            changed.append((path, base))
        return strategy(path, base, over)

    for layer in layers_of(session.kind):
        part = tree if layer.at == "file" else _read_layer(layer, session, root)
        if part is not None:
            part = compose(part)
            if not isinstance(part.value, dict) and part.value is not HOLE:
                # Merged, it would be replaced without a word, or replace all that is below.
                origin = part.provenance(()).origin
                found = Shown(part.value, as_found=True)
                session.add([codes.WRONG_TYPE.at(origin=origin, expected="a mapping", found=found)])
                part = Tree(HOLE, part.origins)
            if merged is not None:
                below, merged = merged, merge(merged, part, choose)
                facts = [*_contradictions(below, changed, session.kind)]
                session.add(facts)
                # What was laid over another type may be a part of what was meant below.
                merged = punch_holes(merged, _parts_at(facts, merged, strategy))
                changed.clear()
            else:
                merged = part
            own = part if layer.at == "file" else own
    return own if merged is None else _move_to_place_of(merged, own)


def _sort_of(value: Any) -> str | None:
    """The type of a value that can hold others, as JSON Schemas name it."""
    return "object" if isinstance(value, dict) else "array" if isinstance(value, list) else None


def _contradictions(
    below: Tree, changed: Sequence[tuple[Path, Any]], kind: Format
) -> Iterator[Fact]:
    """Values of a type that the model does not have there, which a value of another type replaces.

    Once merged, they are gone without a word.
    """
    if not changed:
        return
    # Slow to import, and few layers disagree.
    from equipage.loading.model_classes import schema_of, types_at
    from equipage.schemas.checking import TYPE_WORDS

    schema = schema_of(kind)
    for path, value in changed:
        types = types_at(schema, path)
        sort = _sort_of(value)
        fits = sort in types if sort else types - {"array", "object", "null"}
        if types and not fits:
            expected = " or ".join(TYPE_WORDS.get(each, each) for each in sorted(types))
            found, origin = Shown(value, as_found=True), below.provenance(path).origin
            yield codes.WRONG_TYPE.at(path, origin=origin, expected=expected, found=found)


def _parts_at(facts: Sequence[Fact], merged: Tree, strategy: Choice) -> Iterator[Path]:
    """The paths of facts at which a value was meant to be merged with what is below."""
    for each in facts:
        value = get(merged.value, each.path)
        how = strategy(each.path, None, value)
        if isinstance(value, dict) if how == "merge" else isinstance(how, By):
            yield each.path


def _move_to_place_of(merged: Tree, own: Tree) -> Tree:
    """The merged value at the place of the file itself: what it lacks is missing there."""
    if not isinstance(merged.value, dict):
        return merged
    below = {key: child_with_via(merged, key).origins for key in merged.value}
    return Tree(merged.value, own.origins.replace(below=below), merged.moves)


def layers_of(kind: Format) -> tuple[Layer, ...]:
    """The layers of a format, the file itself among them, lowest first."""
    layers = tuple(Layer(each) if isinstance(each, str) else each for each in kind.layers)
    own = any(each.at == "file" for each in layers)
    return layers if own else (*layers, Layer("", "file"))


def is_layer(session: Session) -> bool:
    """Whether the file of a load is where the format has a layer, whatever its variables are."""
    path = session.path.replace(os.sep, "/")
    for layer in layers_of(session.kind):
        folder = None if layer.at == "beside" else _folder_of(layer, session)
        if layer.at == "file" or (folder is None and layer.at != "beside"):
            continue
        start = ".*/" if folder is None else re.escape(folder.replace(os.sep, "/") + "/")
        texts = map(re.escape, _VARIABLE.split(layer.name)[::2])
        if re.fullmatch(start + "[^/]+".join(texts), path):
            return True
    return False


def is_of_layer(fact: Fact, value: Any, kind: Format) -> bool:
    """Whether what a model says of a layer holds for the layer alone.

    What is missing in it, or wrong with a mapping or list as a whole, others may make good.
    """
    here = get(value, fact.path)
    if here is None and _strategy(kind)(fact.path, None, None) == "remove":
        return False
    if fact.code in (codes.UNKNOWN_FIELD, codes.WRONG_TYPE):
        return True
    return fact.code != codes.MISSING_FIELD and not isinstance(here, dict | list)


def _read_layer(layer: Layer, session: Session, root: Source) -> Tree | None:
    """The value of a layer as it is written, a hole if it cannot be had; None if there is none."""
    name = _file_name(layer, session.env)
    folder = None if name is None else _folder_of(layer, session)
    if name is None or folder is None or session.embedded:
        return None
    session.files.exists(os.path.join(folder, name))  # so that a watch sees it come
    start, unknown = Span(root, 0, 0), Tree.from_document(Document(root, "text", HOLE))
    try:
        source = session.refer(name, _POLICY, bases=(folder,), roots=(folder,)).source
    except FileProblem as problem:
        if problem.code is codes.FILE_MISSING:
            return None
        values = {**problem.values, "reference": layer.name, "file": layer.name}
        session.add([Fact(problem.code, values={**values, "base": "the folder"}, span=start)])
        return unknown
    if source is root:  # it is the file itself
        if layer.at == "beside":
            kind = session.kind.name
            session.add([codes.LAYER_LOADED.at(span=start, file=layer.name, kind=kind)])
        return None
    document, facts = session.parse(source, syntax_of(session.kind, source.name))
    session.add(facts)
    if document is None:
        return unknown
    if document.value is None:
        return None  # an empty layer says nothing
    return tree_of(document, (Via(f"layer {layer.name}"),))


def tree_of(document: Document, via: tuple[Via, ...] = ()) -> Tree:
    """The value of a document, with holes where its text has no meaning."""
    tree = Tree.from_document(document)
    holes = document.failed_paths()
    tree = punch_holes(tree, holes) if holes else tree
    return Tree(tree.value, tree.origins.replace(via=via)) if via else tree


def _file_name(layer: Layer, env: Mapping[str, str]) -> str | None:
    """The name of a layer with its variables replaced; None if one of them has no value."""
    names = _VARIABLE.findall(layer.name)
    if not all(env.get(name) for name in names):
        return None
    return _VARIABLE.sub(lambda match: env[match[1]], layer.name)


def _folder_of(layer: Layer, session: Session) -> str | None:
    """The folder that a layer is in; None if there is no such folder."""
    if layer.at == "beside":
        return session.base
    if layer.at == "project":
        return session.root
    return config_home(session.env)


# How values are merged.


def _strategy(kind: Format) -> Choice:
    words = [(path_pattern(pattern), word) for pattern, word in kind.merge.items()]
    if not words:
        return lambda _path, _base, _over: "merge"

    def choose(path: Path, _base: object, _over: object) -> Strategy | By:
        return next((word for pattern, word in words if matches_path(pattern, path)), "merge")

    return choose


# Keys that have another name now.


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    return path_pattern(pattern)


def rename_keys(tree: Tree, kind: Format) -> tuple[Tree, list[Fact]]:
    """The tree with the names that keys have now, and a warning for each old one."""
    facts: list[Fact] = []
    for path, _ in [*walk(tree.value)]:
        old = next((each for each in kind.renamed if matches_path(_expression(each), path)), None)
        # What is in a mapping that was renamed or removed is not there any more.
        if old is None or not path or path[-1] not in mapping_or_empty(get(tree.value, path[:-1])):
            continue
        wanted = kind.renamed[old]
        new = wanted if isinstance(wanted, Renamed) else Renamed(wanted)
        origin = tree.provenance(path).origin
        since = "" if new.since is None else f", since {new.since}"
        if new.to is None:
            remedy = Remedy(f"remove `{path[-1]}`", (Change(path, None, "key", origin=origin),))
            says: dict[str, Any] = {"key": Shown(path[-1]), "since": since, "advice": new.help}
            facts.append(codes.REMOVED_KEY.at(part="key", origin=origin, remedy=remedy, **says))
            tree = remove(tree, path)
            continue
        place = (*path[:-1], new.to)
        values: dict[str, Any] = {"key": Shown(path[-1]), "name": new.to}
        if get(tree.value, place, HOLE) is not HOLE:
            facts.append(codes.RENAMED_TWICE.at(part="key", origin=origin, **values))
            continue
        remedy = Remedy(f"rename to `{new.to}`", (Change(path, new.to, "key", origin=origin),))
        facts.append(
            codes.RENAMED_KEY.at(
                part="key", origin=origin, remedy=remedy, since=since, advice=new.help, **values
            )
        )
        tree = move(tree, path, place)
    return tree, facts


def place_in_layer(fact: Fact, tree: Tree) -> Fact:
    """A fact about one layer with the place of its path there: merged, it may be elsewhere."""
    if fact.origin is not None or fact.span is not None:
        return fact
    return msgspec.structs.replace(fact, origin=tree.provenance(fact.path).origin)
