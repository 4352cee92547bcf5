"""The named items of a workspace, with their layers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from equipage.clients.file_grants import program_of
from equipage.files import is_folder, real_path
from equipage.files.reading import display_name
from equipage.files.walking import walk_files
from equipage.loading.format import Format, Item
from equipage.loading.result import Paths
from equipage.loading.session import Request
from equipage.project.registry import agent_folders, built_in_kinds, format_named
from equipage.workspace.load import FileLoad, load_all, settled

#: Findings that say that no program reads a file, although it is listed.
_OVERLOOKED = frozenset({"toolpack-overlooked", "extension-not-read"})


class Listed(msgspec.Struct, frozen=True):
    """One row of the list.

    A file that could not be loaded is a row without an item and with the number of its errors; a
    file that was not read has a warning instead.
    """

    file: str
    kind: str | None
    item: Item | None = None
    layer: str | None = None
    line: int | None = None
    program: str | None = None  #: what reads the file
    shadowed_by: str | None = None  #: the file whose item of the same name is used instead
    errors: int = 0
    warnings: int = 0


def list_all(paths: Sequence[str], request: Request, *, kind: str | None = None) -> list[Listed]:
    """The items of the files below `paths` and of the user's own files, sorted by file and place.

    For a folder inside a project, the items of the project's layer are listed, too.
    """
    return rows_of(
        (*load_all(paths, request, kind=kind), *_loads_of_other_layers(paths, request, kind)),
        request,
    )


def rows_of(found: Iterable[FileLoad], request: Request) -> list[Listed]:
    """The items of files that were loaded, sorted by file and place."""
    heights: dict[Listed, int] = {}
    for each in settled(found):
        layers = each.outcome.kind.layering.layers if each.outcome is not None else ()
        for row in _rows_of_load(each, request):
            # Equal rows are one: a file may be reached through several paths.
            heights[row] = layers.index(row.layer) if row.layer in layers else -1
    return sorted(_mark_shadowed(heights), key=lambda row: row.file)


def _loads_of_other_layers(
    paths: Sequence[str], request: Request, kind: str | None
) -> Iterator[FileLoad]:
    """The files of layers outside the paths: the user's own, and the project's."""
    folders = [real_path(path) for path in paths if is_folder(path)]
    below = tuple(os.path.join(folder, "") for folder in folders)
    for name in built_in_kinds() if kind is None else (kind,):
        chosen = format_named(name)
        above, elsewhere = chosen.layering.above, chosen.layering.elsewhere
        places = dict.fromkeys(
            place
            for folder in folders
            for place in (above(folder) if above is not None else ())
            # The paths themselves cover what is below them.
            if not f"{place.folder}{os.sep}".startswith(below)
        )
        if elsewhere is not None and not request.options.get("local"):
            places |= dict.fromkeys(elsewhere(request.env))
        for place in places:
            walked = walk_files(place.folder, agent_folders())
            files = [path for path in walked if _layer_of(chosen, path, request) == place.layer]
            yield from load_all(files, request, kind=name)


def _layer_of(kind: Format, path: str, request: Request) -> str | None:
    return kind.layering.layer_of(os.path.abspath(path), request.env)


def _rows_of_load(found: FileLoad, request: Request) -> Iterator[Listed]:
    name = display_name(found.path)
    outcome = found.outcome
    if outcome is None:
        # A file that was only left alone is not an error of the project.
        refused = found.problem is None or found.problem.severity == "error"
        yield Listed(name, None, errors=int(refused), warnings=int(not refused))
        return
    layer = _layer_of(outcome.kind, found.path, request)
    loaded = outcome.loaded_or_none()
    if loaded is None:
        yield Listed(name, outcome.kind.name, layer=layer, errors=len(outcome.errors))
        return
    shown = outcome.kind.presentation
    if shown.ignored is not None and shown.ignored(outcome):
        return
    items = list(shown.listing(loaded.to_dict(show_env=False), name))
    paths = Paths(loaded)
    # All at once: each document is searched a single time.
    places = paths.places(paths.steps(item.path) for item in items)
    for item in items:
        span = places[paths.steps(item.path)].span
        line = span.line if span is not None and span.source.name == name else None
        is_overlooked = any(each.code in _OVERLOOKED for each in loaded.warnings)
        program = None if is_overlooked else program_of(outcome.kind.name)
        warnings = len(loaded.warnings)
        yield Listed(name, outcome.kind.name, item, layer, line, program, warnings=warnings)


def _mark_shadowed(heights: Mapping[Listed, int]) -> Iterator[Listed]:
    """The rows; one that shares sort and name with a row of a higher layer names its file."""

    def key(row: Listed) -> tuple[object, ...]:
        return (row.kind, row.item.sort, row.item.name) if row.item is not None else (row,)

    # The highest row of each name; the first one of equal height, as the walk met it.
    best: dict[tuple[object, ...], Listed] = {}
    for row, height in heights.items():
        if height > heights[best.setdefault(key(row), row)]:
            best[key(row)] = row
    for row, height in heights.items():
        winner = best[key(row)]
        # Nothing shadows what is in no layer.
        if 0 <= height < heights[winner]:
            row = msgspec.structs.replace(row, shadowed_by=winner.file)
        yield row
