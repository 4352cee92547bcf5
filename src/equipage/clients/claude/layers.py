"""The settings of Claude Code in all layers, merged as it merges them.

Low to high: the user's, the project's, its local ones, those of the organisation. Mappings are
merged by key, lists are joined, and of any other value the highest counts. A layer that Claude Code
drops says nothing. The user's and the organisation's are read only where the caller says they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from equipage.core.diagnostics import UsageError
from equipage.core.frozen import convert, freeze
from equipage.core.path import Path
from equipage.loading.format import Format
from equipage.loading.pipeline import Outcome, load_path
from equipage.loading.session import Request
from equipage.loading.tree import Strategy, Tree, Via, merge

_NAMES = {"settings.json": "project", "settings.local.json": "local"}
_MANAGED = "managed-settings.json"


def layer_of(path: str, _env: Mapping[str, str]) -> str | None:
    """The layer of a file by its path; that of the user looks like that of a project."""
    folder, name = os.path.split(path)
    if name == _MANAGED:
        return "managed"
    return _NAMES.get(name) if os.path.basename(folder) == ".claude" else None


def _files_of_layers(path: str, request: Request) -> Iterator[tuple[str, str]]:
    """The layers that may be merged with a file, lowest first, each with its file."""
    system = request.system
    home, managed = (str(request.options.get(name) or "") for name in ("home", "managed"))
    for option, value in (("--home", home), ("--managed", managed)):
        if value and not system.exists(value):
            raise UsageError(f"{option} {value}: no such file or folder")
    folder = os.path.dirname(system.absolute(path))
    if home:
        yield "user", os.path.join(system.absolute(home), ".claude", "settings.json")
    yield from ((layer, os.path.join(folder, name)) for name, layer in _NAMES.items())
    if managed:
        file = system.absolute(managed)
        yield "managed", os.path.join(file, _MANAGED) if system.is_folder(file) else file


def merge_layers_of_file(kind: Format, path: str, request: Request) -> Outcome | None:
    """A file of settings merged with its layers; None where it is in none."""
    from equipage.clients.reading import reading_of  # few ask what a file grants

    if layer_of(request.system.absolute(path), {}) is None:
        return None
    run = request.new_run()
    files = {file: layer for layer, file in _files_of_layers(path, request)}
    layering = replace(kind.layering, layer=lambda file, _env: files.get(file))
    merged: Tree | None = None
    own: Outcome | None = None
    parts: list[Outcome] = []
    for file, layer in files.items():
        if not request.system.exists(file):
            continue
        outcome = load_path(file, kind, request, run)
        own = outcome if file == request.system.absolute(path) else own
        reading = reading_of(outcome)
        if reading.unknown:
            return outcome  # whose errors say why no value is known
        if outcome.tree is None or reading.is_dropped:
            continue
        origins = outcome.tree.origins.replace(via=(Via(f"{layer} layer"),))
        part = Tree(outcome.tree.value, origins, outcome.tree.moves)
        merged = part if merged is None else merge(merged, part, _strategy)
        parts.append(outcome)
    if own is None or not own.ok or merged is None:
        return own
    return replace(
        own,
        kind=replace(kind, layering=layering),
        config=freeze(convert(merged.value, kind.model)),
        tree=merged,
        documents=tuple(each for part in parts for each in part.documents),
        sources=tuple(each for part in parts for each in part.sources),
    )


def _strategy(_path: Path, base: Any, over: Any) -> Strategy:
    return "append" if isinstance(base, list) and isinstance(over, list) else "merge"


#: Option → the layer that takes part only where it is named.
UNSEEN = {"home": "your own settings", "managed": "managed settings"}
