"""Plugins: folders with `.claude-plugin/plugin.json`, or listed by a `marketplace.json` above them.

A manifest that cannot be read says nothing here; checking it reports what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from equipage.files.reading import Files, require_text
from equipage.files.sandbox import FileProblem
from equipage.loading.projects import root_in
from equipage.loading.session import Run
from equipage.loading.signs import NOTES
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import load_value

#: Files of these names say what the files around them are.
MANIFESTS = ("plugin.json", "marketplace.json")
_COMPONENTS = {"agents": "claude-agent", "commands": "claude-command"}


class Plugin(msgspec.Struct, frozen=True):
    """A folder that is a plugin, and the paths its manifest lists: absolute, with `/`."""

    root: str
    listed: dict[str, list[str]]  #: by component

    def kind_of(self, path: str) -> str | None:
        """What a Markdown file is to the plugin."""
        for component, kind in _COMPONENTS.items():
            if path.startswith(f"{self.root}/{component}/") or any(
                # The folder of the plugin itself says nothing about the notes in it.
                path == each or (path.startswith(f"{each}/") and not NOTES.search(path))
                for each in self.listed[component]
            ):
                return kind
        return None


class _Plugins(dict[str, tuple[Plugin, ...]]):
    """The plugins of one run by folder, those of the folders above it included."""


def part_of_plugin(path: str, run: Run) -> str | None:
    """The kind of a Markdown file that is a part of a plugin, the nearest first."""
    kinds = (each.kind_of(path) for each in _plugins_around(path, run))
    return next((kind for kind in kinds if kind is not None), None)


def _plugins_around(path: str, run: Run) -> tuple[Plugin, ...]:
    by_folder = run.cache(_Plugins)
    folder = path.rpartition("/")[0]
    unknown: list[str] = []
    while folder not in by_folder:
        unknown.append(folder)
        if not folder or run.files.exists(f"{folder}/.git"):
            break
        folder = folder.rpartition("/")[0]
    known = by_folder.get(folder, ())
    for each in reversed(unknown):
        known = by_folder[each] = (*_plugins_in(each, run.files), *known)
    return known


def _plugins_in(folder: str, files: Files) -> Iterator[Plugin]:
    manifest, market = (f"{folder}/.claude-plugin/{name}" for name in MANIFESTS)
    if files.exists(manifest):
        yield _plugin(folder, _read(manifest, files))
    if files.exists(market):
        content = _read(market, files)
        entries = content.get("plugins") if isinstance(content, dict) else None
        for entry in entries if isinstance(entries, list) else ():
            source = entry.get("source") if isinstance(entry, dict) else None
            yield _plugin(_joined(folder, source if isinstance(source, str) else ""), entry)


def _read(path: str, files: Files) -> Any:
    try:
        text = require_text(files.again().read(path)).text
        return load_value("json", text.removeprefix("\ufeff"))
    except (FileProblem, SyntaxProblem):
        return None


def _plugin(root: str, manifest: object) -> Plugin:
    """A plugin as its manifest describes it. What cannot be read is left out."""
    fields: dict[str, Any] = manifest if isinstance(manifest, dict) else {}
    return Plugin(root, {each: list(_paths(root, fields.get(each))) for each in _COMPONENTS})


def _paths(root: str, written: object) -> Iterator[str]:
    """The paths a manifest names: text, a list, or commands by name with their `source`."""
    if isinstance(written, dict):
        written = [each.get("source") for each in written.values() if isinstance(each, dict)]
    for each in written if isinstance(written, list) else [written]:
        if isinstance(each, str):
            yield _joined(root, each.replace("\\", "/"))


def _joined(root: str, path: str) -> str:
    return "/".join([root, *(part for part in path.split("/") if part not in ("", "."))])


# Skills: whatever lies below one, but the skill itself, is its material.


class _Skills(dict[str, bool]):
    """Whether a folder lies in a skill, by folder, in one run."""


def is_below_skill(path: str, run: Run) -> bool:
    """Whether a file is material of a skill.

    A skill that is a whole project or plugin is also the root of its other parts.
    """
    known, files = run.cache(_Skills), run.files
    folder = path.rpartition("/")[0]
    root = root_in(run, path)
    unknown: list[str] = []
    while folder not in known:
        if not folder or folder == root or files.exists(f"{folder}/.claude-plugin"):
            known[folder] = False
        elif files.exists(f"{folder}/SKILL.md"):
            known[folder] = True
        else:
            unknown.append(folder)
            folder = folder.rpartition("/")[0]
    for each in unknown:
        known[each] = known[folder]
    return known[folder] and not path.endswith("/SKILL.md")
