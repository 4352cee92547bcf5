"""What the files of a workspace offer by name, from which layer, and what shadows what."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from equipage.files.reading import display_name
from equipage.files.walking import walk_files
from equipage.loading.kind import Item, Kind
from equipage.loading.recognise import kind_named, names
from equipage.loading.request import Request
from equipage.workspace.loads import FileLoad, load_all, settled


class Listed(msgspec.Struct, frozen=True):
    """One row of the list. A file that could not be loaded is a row without an item, with its errors counted; one that
    was not read, with a warning."""

    file: str
    kind: str | None
    item: Item | None = None
    layer: str | None = None
    line: int | None = None
    shadowed_by: str | None = None  #: the file whose item of the same name counts instead
    errors: int = 0
    warnings: int = 0


def list_all(paths: Sequence[str], request: Request, *, kind: str | None = None) -> list[Listed]:
    """Everything that the files below `paths`, and those of the user, offer; sorted by file and place.

    In a folder inside a project, what the layer of the project offers counts as well.
    """
    rows: list[Listed] = []
    layered: dict[str, Kind] = {}
    for found in settled((*load_all(paths, request, kind=kind), *_elsewhere(paths, request, kind))):
        if found.outcome is not None:
            layered[found.outcome.kind.name] = found.outcome.kind
        rows += _rows(found, request)
    unique = dict.fromkeys(rows)
    return _shadowed(unique, layered)


def _elsewhere(paths: Sequence[str], request: Request, kind: str | None) -> Iterator[FileLoad]:
    """What the layers hold that the paths do not cover: the user's own, and the project's."""
    folders = [os.path.realpath(path) for path in paths if os.path.isdir(path)]
    for name in names() if kind is None else (kind,):
        chosen = kind_named(name)
        layering = chosen.layering
        above = (
            dict.fromkeys(place for folder in folders for place in layering.above(folder))
            if layering.above is not None
            else {}
        )
        places = [place for place in above if not _covered(place.folder, folders)]
        if layering.elsewhere is not None and not request.options.get("local"):
            places += layering.elsewhere(request.env)
        for place in places:
            files = [
                path
                for path in walk_files(place.folder)
                if _layer(chosen, path, request) == place.layer
            ]
            yield from load_all(files, request, kind=name)


def _covered(folder: str, folders: Sequence[str]) -> bool:
    """Whether a folder is one of some others, or below it."""
    return any(f"{folder}{os.sep}".startswith(os.path.join(each, "")) for each in folders)


def _layer(kind: Kind, path: str, request: Request) -> str | None:
    return kind.layering.layer_of(os.path.abspath(path), request.env)


def _rows(found: FileLoad, request: Request) -> Iterator[Listed]:
    name = display_name(found.path)
    outcome = found.outcome
    if outcome is None:
        refused = found.problem is None or found.problem.severity == "error"
        yield Listed(name, None, errors=int(refused), warnings=int(not refused))
        return
    layer = _layer(outcome.kind, found.path, request)
    loaded = outcome.loaded()
    if loaded is None:
        yield Listed(name, outcome.kind.name, layer=layer, errors=len(outcome.errors))
        return
    shown = outcome.kind.presentation
    if shown.ignored is not None and shown.ignored(outcome):
        return
    items = list(shown.listing(loaded.to_dict(show_env=False), name))
    places = loaded.places(loaded.steps(item.path) for item in items)
    for item in items:
        placed = places[loaded.steps(item.path)]
        line = (
            placed.span.line
            if placed.span is not None and placed.span.source.name == name
            else None
        )
        yield Listed(name, outcome.kind.name, item, layer, line, warnings=len(loaded.warnings))


def _shadowed(rows: Iterable[Listed], kinds: dict[str, Kind]) -> list[Listed]:
    """The rows, each with the one of the same sort and name in a higher layer that counts instead."""
    rows = list(rows)
    best: dict[tuple[str, str, str], Listed] = {}
    for row in rows:
        key = _name(row)
        if key is not None and (key not in best or _height(row, kinds) > _height(best[key], kinds)):
            best[key] = row
    result: list[Listed] = []
    for row in rows:
        key = _name(row)
        winner = best.get(key) if key is not None else None
        if winner is not None and 0 <= _height(row, kinds) < _height(
            winner, kinds
        ):  # what is in no layer just is
            row = msgspec.structs.replace(row, shadowed_by=winner.file)
        result.append(row)
    return sorted(result, key=lambda row: row.file)


def _name(row: Listed) -> tuple[str, str, str] | None:
    return (
        (row.kind, row.item.sort, row.item.name)
        if row.kind is not None and row.item is not None
        else None
    )


def _height(row: Listed, kinds: dict[str, Kind]) -> int:
    layers = kinds[row.kind].layering.layers if row.kind in kinds else ()
    return layers.index(row.layer) if row.layer in layers else -1
