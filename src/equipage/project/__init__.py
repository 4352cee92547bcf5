"""What a file belongs to: its project, and the plugins around it.

References of a file may not leave its project. A plugin says what the Markdown files in it are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from equipage.core.path import get
from equipage.core.text import lazy_regex
from equipage.files import is_link, real_path
from equipage.files.reading import Files, files_here, require_text
from equipage.files.sandbox import FileProblem
from equipage.loading.session import Run
from equipage.project.signs import NOTE_FILES
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import load_value

_PROJECT_MARKS = (".git", "equipage.toml")
#: However `tool.equipage` is written in TOML, one of these is in the text: `tool.equipage` with
#: quotes and blanks, `[tool]`, `tool = {`. It spares most projects a parse of their settings.
_MAY_HAVE_SETTINGS = lazy_regex(r"""tool["']?\s*(?:\.\s*["']?equipage|[\]=])""")


_PYPROJECT = "pyproject.toml"  #: also marks a project, if it has `[tool.equipage]`
#: Names that this module looks for in folders, in lower case: some systems ignore case.
_RELEVANT_NAMES = frozenset(
    {
        *_PROJECT_MARKS,
        _PYPROJECT,
        ".claude-plugin",
        ".cursor-plugin",
        "skill.md",
        "agents",
        "qwen-extension.json",
        "gemini-extension.json",
    }
)


class _WalkedFolders:
    """What walks of this run saw in folders, by path, so that the system is not asked again."""

    def __init__(self) -> None:
        self.names: dict[str, frozenset[str]] = {}  #: folder → the relevant names in it
        self.plain: set[str] = set()  #: folders that are not links


def remember_walked_folder(
    run: Run, folder: str, names: Iterable[str] | None, *, is_plain: bool
) -> None:
    """Remember what a walk saw: the names in an absolute folder, and that it is not a link.

    The names are in lower case.
    """
    walked, folder = run.cache(_WalkedFolders), folder.rstrip("/") or "/"
    if is_plain:
        walked.plain.add(folder)
    if names is None:
        return
    seen = walked.names[folder] = _RELEVANT_NAMES.intersection(names)
    if is_plain and (not seen or _has_no_project_mark(seen)):  # the usual folder
        roots = run.cache(_ProjectRoots)
        root = roots.by_mark.get(folder.rpartition("/")[0])
        if root is not None:
            roots.by_folder[folder] = roots.by_mark[folder] = root


def _has_no_project_mark(names: frozenset[str]) -> bool:
    """Whether nothing in a folder marks a project."""
    return _PYPROJECT not in names and names.isdisjoint(_PROJECT_MARKS)


def _folder_has(run: Run, folder: str, name: str) -> bool:
    """Whether there is anything of that name in a folder."""
    seen = run.cache(_WalkedFolders).names.get(folder)
    if seen is not None and name.partition("/")[0].lower() not in seen:
        return False
    return run.files.exists(f"{folder}/{name}")


class _ProjectRoots:
    """The project roots of one run."""

    def __init__(self) -> None:
        self.by_folder: dict[str, str] = {}
        self.by_mark: dict[str, str] = {}  #: only those that something in a folder marks
        self.real: dict[str, str] = {}  #: folder → the folder without links
        self.marked: dict[str, str | None] = {}  #: folder without links → the nearest project above


def project_root_in(run: Run, path: str) -> str:
    """The project root of an absolute path; each folder is looked up once in a run."""
    return root_of_folder(run, os.path.dirname(path))


def root_of_folder(run: Run, folder: str) -> str:
    """The project root of the files in an absolute folder; see `project_root_in`."""
    known = run.cache(_ProjectRoots)
    root = known.by_folder.get(folder)
    if root is None:
        real = _real_folder(known, folder, run)
        marked = _nearest_marked(known, real, run)
        root = marked or project_of_folder(real, run.folders, run.files)
        known.by_folder[folder] = root
        if marked is not None:
            known.by_mark[folder] = root
    return root


def _real_folder(known: _ProjectRoots, folder: str, run: Run) -> str:
    """A folder without links. Each folder on the way is looked at once in a run."""
    unknown: list[str] = []
    here, plain = folder, run.cache(_WalkedFolders).plain
    while here not in known.real:
        above, name = os.path.split(here)
        if name in ("", ".", "..") or (here not in plain and is_link(here)):
            known.real[here] = _real(here)
        else:
            unknown.append(here)
            here = above
    for each in reversed(unknown):
        known.real[each] = os.path.join(known.real[os.path.dirname(each)], os.path.basename(each))
    return known.real[folder]


def _nearest_marked(known: _ProjectRoots, folder: str, run: Run) -> str | None:
    unknown: list[str] = []
    seen = run.cache(_WalkedFolders).names
    while folder not in known.marked:
        above = os.path.dirname(folder)
        is_bare = folder in seen and _has_no_project_mark(seen[folder])
        if not is_bare and is_project_root(folder, run.files):
            known.marked[folder] = folder
        elif above == folder:
            known.marked[folder] = None
        else:
            unknown.append(folder)
            folder = above
    for each in unknown:
        known.marked[each] = known.marked[folder]
    return known.marked[folder]


def is_project_root(folder: str, files: Files) -> bool:
    """Whether a folder is the root of a project by what it holds."""
    marked = any(files.exists(os.path.join(folder, mark)) for mark in _PROJECT_MARKS)
    return marked or has_equipage_table(folder, files)


def project_root(path: str, named: Iterable[str] = (), files: Files | None = None) -> str:
    """The folder that references of a file may not leave, see `project_of_folder`."""
    return project_of_folder(os.path.dirname(_real(path)), named, files)


def project_of_folder(folder: str, named: Iterable[str] = (), files: Files | None = None) -> str:
    """The project that a folder belongs to.

    It is the nearest parent with `.git`, `equipage.toml` or a `pyproject.toml` that has
    `[tool.equipage]`; else the innermost folder that the caller `named` and that contains it; else
    the folder itself. The working directory does not matter: a verdict must not depend on it.
    """
    files = files or files_here()
    current = folder = _real(folder)
    while True:
        if is_project_root(current, files):
            return current
        parent = os.path.dirname(current)
        if parent == current:
            break
        current = parent
    inside = (
        each
        for each in map(_real, named)
        if f"{folder}{os.sep}".startswith(each.rstrip(os.sep) + os.sep)
    )
    return max(inside, key=len, default=folder)


def _real(path: str) -> str:
    """A path without links; unchanged if no file can have that name, which reading it reports."""
    try:
        return real_path(path)
    except ValueError:
        return path


def has_equipage_table(folder: str, files: Files) -> bool:
    """Whether a folder has a `pyproject.toml` with settings of ours.

    One that cannot be parsed counts if it looks like it, so that its error is reported.
    """
    data = files.peek(os.path.join(folder, _PYPROJECT))
    if data is None or b"equipage" not in data:
        return False
    if not _MAY_HAVE_SETTINGS.search(data.decode("utf-8", "replace")):
        return False
    try:
        value = load_value("toml", data.decode("utf-8").removeprefix("\ufeff"))
    except (SyntaxProblem, UnicodeDecodeError):
        return b"[tool.equipage" in data
    return get(value, ("tool", "equipage")) is not None


# Plugins: folders with `.claude-plugin/plugin.json`, or listed by a `marketplace.json` above them.
# A manifest that cannot be read says nothing here; checking it reports what is wrong.

#: Files of these names say what the files around them are.
MANIFESTS = ("plugin.json", "marketplace.json")
_COMPONENTS = {"agents": "claude-agent", "commands": "claude-command"}
#: Extensions of other tools have agents in a folder of that name, too. A folder that is a plugin of
#: Claude Code as well is read as one.
_EXTENSIONS = {
    "qwen-extension.json": "qwen-agent",
    "gemini-extension.json": "gemini-agent",
    ".cursor-plugin/plugin.json": "cursor-agent",
}


class _Plugins:
    """The plugins that the manifests of one folder describe, and where their parts lie.

    A marketplace may list tens of thousands of plugins, so a path is looked up by the folders it is
    in. Of several entries about one place the first counts.
    """

    def __init__(self) -> None:
        self.count = 0
        #: a folder whose files are components, or a path that a manifest lists → the number of the
        #: entry and the kind
        self.folders: dict[str, tuple[int, str]] = {}
        self.listed: dict[str, tuple[int, str]] = {}

    def add(self, root: str, manifest: object) -> None:
        """Add the plugin in the folder `root`. Parts that cannot be read are left out."""
        fields: dict[str, Any] = manifest if isinstance(manifest, dict) else {}
        for component, kind in _COMPONENTS.items():
            self.count += 1
            self.folders.setdefault(f"{root}/{component}", (self.count, kind))
            for each in _manifest_paths(root, fields.get(component)):
                self.listed.setdefault(each, (self.count, kind))

    def kind_of(self, path: str) -> str | None:
        """The kind of a Markdown file that is a part of one of the plugins."""
        found = [self.listed[path]] if path in self.listed else []
        is_note = NOTE_FILES.search(path) is not None
        folder = path.rpartition("/")[0]
        while folder:
            if folder in self.folders:
                found.append(self.folders[folder])
            # The folder of the plugin itself says nothing about the notes in it.
            if folder in self.listed and not is_note:
                found.append(self.listed[folder])
            folder = folder.rpartition("/")[0]
        return min(found)[1] if found else None


class _PluginsByFolder(dict[str, tuple[_Plugins, ...]]):
    """The plugins of one run by folder, those of the folders above it included."""


def kind_of_plugin_part(path: str, run: Run) -> str | None:
    """The kind of a Markdown file that is a part of a plugin, the nearest first."""
    kinds = (each.kind_of(path) for each in _plugins_around(path, run))
    return next((kind for kind in kinds if kind is not None), None)


def is_in_plugin(path: str, run: Run) -> bool:
    """Whether any manifest around a file may name it."""
    return bool(_plugins_around(path, run))


def _plugins_around(path: str, run: Run) -> tuple[_Plugins, ...]:
    by_folder = run.cache(_PluginsByFolder)
    folder = path.rpartition("/")[0]
    unknown: list[str] = []
    while folder not in by_folder:
        unknown.append(folder)
        if not folder or _folder_has(run, folder, ".git"):
            break
        folder = folder.rpartition("/")[0]
    known = by_folder.get(folder, ())
    for each in reversed(unknown):
        own = _plugins_in(each, run)
        known = by_folder[each] = known if own is None else (own, *known)
    return known


def _plugins_in(folder: str, run: Run) -> _Plugins | None:
    plugins, files = _Plugins(), run.files
    if not _folder_has(run, folder, ".claude-plugin"):
        # Only a folder with agents is asked for the manifest of another tool.
        other = _EXTENSIONS if _folder_has(run, folder, "agents") else {}
        kinds = (kind for name, kind in other.items() if _folder_has(run, folder, name))
        if (kind := next(kinds, None)) is None:
            return None
        plugins.folders[f"{folder}/agents"] = (0, kind)
        return plugins
    manifest, market = (f"{folder}/.claude-plugin/{name}" for name in MANIFESTS)
    if files.exists(manifest):
        plugins.add(folder, _read_json(manifest, files))
    if files.exists(market):
        content = _read_json(market, files)
        entries = content.get("plugins") if isinstance(content, dict) else None
        for entry in entries if isinstance(entries, list) else ():
            source = entry.get("source") if isinstance(entry, dict) else None
            plugins.add(_join_path(folder, source if isinstance(source, str) else ""), entry)
    return plugins


def _read_json(path: str, files: Files) -> Any:
    try:
        text = require_text(files.again().read(path)).text
        return load_value("json", text.removeprefix("\ufeff"))
    except (FileProblem, SyntaxProblem):
        return None


def _manifest_paths(root: str, written: object) -> Iterator[str]:
    """The paths a manifest names: text, a list, or commands by name with their `source`."""
    if isinstance(written, dict):
        written = [each.get("source") for each in written.values() if isinstance(each, dict)]
    for each in written if isinstance(written, list) else [written]:
        if isinstance(each, str):
            yield _join_path(root, each.replace("\\", "/"))


def _join_path(root: str, path: str) -> str:
    return "/".join([root, *(part for part in path.split("/") if part not in ("", "."))])


# Skills: whatever lies below one, but the skill itself, is its material.


class _SkillFolders(dict[str, bool]):
    """Whether a folder lies in a skill, by folder, in one run."""


def is_below_skill(path: str, run: Run) -> bool:
    """Whether a file is material of a skill.

    A skill that is a whole project or plugin is also the root of its other parts.
    """
    known, folder = run.cache(_SkillFolders), path.rpartition("/")[0]
    if folder in known:
        return known[folder] and not path.endswith("/SKILL.md")
    root = project_root_in(run, path)
    unknown: list[str] = []
    while folder not in known:
        if not folder or folder == root or _folder_has(run, folder, ".claude-plugin"):
            known[folder] = False
        elif _folder_has(run, folder, "SKILL.md"):
            known[folder] = True
        else:
            unknown.append(folder)
            folder = folder.rpartition("/")[0]
    for each in unknown:
        known[each] = known[folder]
    return known[folder] and not path.endswith("/SKILL.md")
