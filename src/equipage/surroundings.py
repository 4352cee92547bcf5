"""What stands around a file: the plugins of the folders above it, which say what it is.

A plugin is a folder with `.claude-plugin/plugin.json`, or one that a `marketplace.json` above it lists. Manifests
are read once. One that cannot be read says nothing here; checking it tells what is wrong.
"""

from __future__ import annotations

import os
from typing import Any

from equipage.files import Files, require_text
from equipage.kinds.places import Plugin, component_of, plugin_of
from equipage.sandbox import FileProblem
from equipage.session import Shared
from equipage.syntax.document import load_value
from equipage.syntax.engine import SyntaxProblem

#: Files of these names say what the files around them are.
MANIFESTS = ("plugin.json", "marketplace.json")
_MANIFEST = "/.claude-plugin/plugin.json"
_MARKETPLACE = "/.claude-plugin/marketplace.json"


class Surroundings:
    """The plugins of the folders above the files of one run."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._plugins: dict[str, tuple[Plugin, ...]] = {}

    def component(self, path: str) -> str | None:
        """The kind of a Markdown file that is a part of a plugin, by its absolute path with `/`."""
        return next((kind for each in self.plugins(path) if (kind := component_of(path, each)) is not None), None)

    def plugins(self, path: str) -> tuple[Plugin, ...]:
        """The plugins a file may belong to, the nearest first."""
        folder = path.rpartition("/")[0]
        unknown: list[str] = []
        while folder not in self._plugins:
            unknown.append(folder)
            if not folder or os.path.exists(f"{folder}/.git"):
                break
            folder = folder.rpartition("/")[0]
        known = self._plugins.get(folder, ())
        for each in reversed(unknown):
            known = self._plugins[each] = (*self._here(each), *known)
        return known

    def _here(self, folder: str) -> list[Plugin]:
        found: list[Plugin] = []
        if os.path.exists(folder + _MANIFEST):
            found.append(plugin_of(folder, self._manifest(folder + _MANIFEST)))
        if os.path.exists(folder + _MARKETPLACE):
            market = self._manifest(folder + _MARKETPLACE)
            entries = market.get("plugins") if isinstance(market, dict) else None
            found += [_listed(folder, each) for each in (entries if isinstance(entries, list) else ())]
        return found

    def _manifest(self, path: str) -> Any:
        try:
            return load_value("json", require_text(self._files.again().read(path)).text.removeprefix("\ufeff"))
        except (FileProblem, SyntaxProblem):
            return None


def _listed(folder: str, entry: Any) -> Plugin:
    """A plugin that a marketplace lists, with the components its entry names."""
    source = entry.get("source") if isinstance(entry, dict) else None
    steps = [step for step in source.split("/") if step not in ("", ".")] if isinstance(source, str) else []
    return plugin_of("/".join([folder, *steps]), entry)


def surroundings_of(shared: Shared) -> Surroundings:
    """The surroundings of a run, remembered with what its loads share."""
    known = shared.kept.get("surroundings")
    if not isinstance(known, Surroundings):
        known = shared.kept["surroundings"] = Surroundings(shared.files)
    return known
