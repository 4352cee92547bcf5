"""Plugins and extensions: what is part of one, and the files that their manifests bring.

A plugin says what the Markdown files in it are. It puts programs on the path and brings settings;
its manifest names more files. What cannot be read says nothing here: a check reports it.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from equipage.clients import codes
from equipage.clients.catalogue import Convention
from equipage.clients.unread import EDITOR
from equipage.core.diagnostics import Fact, Shown
from equipage.core.path import Path, get, mapping_or_empty
from equipage.core.text import lazy_regex
from equipage.files import is_below
from equipage.files.reading import Files
from equipage.files.walking import SKIPPED_FOLDERS
from equipage.loading.project_root import folder_has, root_of_folder
from equipage.loading.session import Run, Session
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import load_value
from equipage.syntax.json import blank_comments

#: The kinds of parts of which only the table of what they allow is known: no load is of them.
PLUGIN_SETTINGS, MONITORS, EDITOR_SETTINGS = (
    "claude-plugin-settings",
    "claude-monitors",
    "vscode-settings",
)
_KINDS_WITHOUT_LOAD = frozenset({PLUGIN_SETTINGS, MONITORS, EDITOR_SETTINGS})
#: More files than this are not looked for in one folder.
_MAX_FILES = 100_000

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


#: What this module looks for in folders, in lower case: some systems ignore case.
NAMES_IN_FOLDERS = frozenset(
    {".claude-plugin", "skill.md", "agents"} | {each.partition("/")[0] for each in _EXTENSIONS}
)


class Plugins(msgspec.Struct):
    """The plugins that the manifests of one folder describe, and where their parts lie.

    A marketplace may list tens of thousands of plugins, so a path is looked up by the folders it is
    in. Of several entries about one place the first counts.
    """

    count: int = 0
    #: a folder whose files are components, or a path that a manifest lists → the number of the
    #: entry and the kind
    folders: dict[str, tuple[int, str]] = {}
    listed: dict[str, tuple[int, str]] = {}
    hooks: set[str] = set()  #: files of hooks that a manifest names

    def add(self, root: str, manifest: object) -> None:
        """Add the plugin in the folder `root`. Parts that cannot be read are left out."""
        fields: dict[str, Any] = manifest if isinstance(manifest, dict) else {}
        for component, kind in _COMPONENTS.items():
            self.count += 1
            self.folders.setdefault(f"{root}/{component}", (self.count, kind))
            for each in _manifest_paths(root, fields.get(component)):
                self.listed.setdefault(each, (self.count, kind))
        self.hooks.update(_manifest_paths(root, fields.get("hooks")))

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


class _PluginsByFolder(dict[str, tuple[Plugins, ...]]):
    """The plugins of one run by folder, those of the folders above it included."""


def kind_of_plugin_part(path: str, plugins: Iterable[Plugins]) -> str | None:
    """The kind of a Markdown file that is a part of one of the plugins around it."""
    kinds = (each.kind_of(path) for each in plugins)
    return next((kind for kind in kinds if kind is not None), None)


def plugins_around(path: str, run: Run) -> tuple[Plugins, ...]:
    """The plugins whose manifests may name a file, the nearest first."""
    by_folder = run.around.cache(_PluginsByFolder)
    folder = path.rpartition("/")[0]
    unknown: list[str] = []
    while folder not in by_folder:
        unknown.append(folder)
        if not folder or folder_has(run, folder, ".git"):
            break
        folder = folder.rpartition("/")[0]
    known = by_folder.get(folder, ())
    for each in reversed(unknown):
        own = _plugins_in(each, run)
        known = by_folder[each] = known if own is None else (own, *known)
    return known


def _plugins_in(folder: str, run: Run) -> Plugins | None:
    plugins, files = Plugins(), run.around.files
    if not folder_has(run, folder, ".claude-plugin"):
        # Only a folder with agents is asked for the manifest of another tool.
        other = _EXTENSIONS if folder_has(run, folder, "agents") else {}
        kinds = (kind for name, kind in other.items() if folder_has(run, folder, name))
        if (kind := next(kinds, None)) is None:
            return None
        plugins.folders[f"{folder}/agents"] = (0, kind)
        return plugins
    manifest, market = (f"{folder}/.claude-plugin/{name}" for name in MANIFESTS)
    if files.exists(manifest):
        plugins.add(folder, parse_json(files.peek(manifest)))
    if files.exists(market):
        for root, entry in listed_plugins(folder, parse_json(files.peek(market))):
            plugins.add(root.replace(os.sep, "/"), entry)
    return plugins


def listed_plugins(folder: str, market: object) -> Iterator[tuple[str, dict[str, Any]]]:
    """The plugins that the marketplace of a folder lists and that lie in it: folder and entry.

    An entry says as much as a manifest, and may be in its place.
    """
    entries = get(market, ("plugins",))
    for entry in entries if isinstance(entries, list) else ():
        source = get(entry, ("source",))
        if isinstance(source, str):
            root = folder_of_source(folder, market, source)
            if is_below(root, folder):
                yield root, entry


def folder_of_source(folder: str, market: object, source: str) -> str:
    """The folder of a plugin as a marketplace names it: `pluginRoot` moves bare names alone."""
    start = get(market, ("metadata", "pluginRoot")) if is_bare(source) else None
    return os.path.normpath(os.path.join(folder, start if isinstance(start, str) else "", source))


def is_bare(source: str) -> bool:
    """Whether a source is a name and no path. A point alone is the marketplace itself."""
    return "/" not in source and source != "."


def _manifest_paths(root: str, written: object) -> Iterator[str]:
    """The paths a manifest names: text, a list, or commands by name with their `source`."""
    if isinstance(written, dict):
        written = [each.get("source") for each in written.values() if isinstance(each, dict)]
    for each in written if isinstance(written, list) else [written]:
        if isinstance(each, str):
            yield _join_path(root, each.replace("\\", "/"))


def _join_path(root: str, path: str) -> str:
    return "/".join([root, *(part for part in path.split("/") if part not in ("", "."))])


class _SkillFolders(dict[str, bool]):
    """Whether a folder lies in a skill, by folder, in one run."""


def is_below_skill(path: str, run: Run) -> bool:
    """Whether a file is material of a skill.

    A skill that is a whole project or plugin is also the root of its other parts.
    """
    known, folder = run.around.cache(_SkillFolders), path.rpartition("/")[0]
    if folder in known:
        return known[folder] and not path.endswith("/SKILL.md")
    root = root_of_folder(run, folder or "/")
    unknown: list[str] = []
    while folder not in known:
        if not folder or folder == root or folder_has(run, folder, ".claude-plugin"):
            known[folder] = False
        elif folder_has(run, folder, "SKILL.md"):
            known[folder] = True
        else:
            unknown.append(folder)
            folder = folder.rpartition("/")[0]
    for each in unknown:
        known[each] = known[folder]
    return known[folder] and not path.endswith("/SKILL.md")


#: Notes that people keep beside agents and commands.
NOTE_FILES = lazy_regex(
    r"(?:README|CHANGELOG|CONTRIBUTING|LICEN[CS]E|CLAUDE|AGENTS|GEMINI|INDEX|TODO)[^/]*\.md\Z",
    re.IGNORECASE,
)


class Part(msgspec.Struct, frozen=True):
    """A file, and what it is to the one beside it."""

    path: str
    what: str
    kind: str = ""  #: the kind it is read as; empty if only its bytes count
    runs: bool = False  #: whether it is run by its name, so that its mark as a program counts
    acts: bool = True  #: whether it may change what an agent can do, and not only how it writes

    @property
    def has_only_table(self) -> bool:
        """Whether only a table says what it allows."""
        return self.kind in _KINDS_WITHOUT_LOAD


class _Place(msgspec.Struct, frozen=True):
    """Where parts are, from the root of what they belong to; `*` is any text, also with `/`."""

    glob: str
    what: str
    kind: str = ""
    runs: bool = False
    acts: bool = True


#: kind of a manifest → places that count without being named
_PLACES: dict[str, tuple[_Place, ...]] = {
    "claude-plugin": (
        _Place("bin/*", "program that a plugin puts on the path", runs=True),
        _Place("settings.json", "settings of a plugin", PLUGIN_SETTINGS),
        _Place("output-styles/*", "output style of a plugin", acts=False),
        _Place("themes/*", "theme of a plugin", acts=False),
    ),
    "cursor-plugin": (_Place("mcp.json", "list of servers of a plugin", "mcp"),),
    "gemini-extension": (
        _Place("policies/*.toml", "policy of an extension", "gemini-policy"),
        _Place("commands/*.toml", "command of an extension", "gemini-command"),
    ),
}
#: What else counts of a plugin in a folder that no walk enters, such as `node_modules`.
_PLACES_NOT_WALKED = (
    _Place("hooks/hooks.json", "list of hooks of a plugin", "claude-hooks"),
    _Place(".mcp.json", "list of servers of a plugin", "mcp"),
    _Place(".lsp.json", "list of servers of a plugin", "claude-lsp"),
    _Place("agents/*.md", "agent of a plugin", "claude-agent"),
    _Place("commands/*.md", "command of a plugin", "claude-command"),
    _Place("skills/*/SKILL.md", "skill of a plugin", "skill"),
)
#: kind of a manifest → field that names files or folders → the same about what it names
_NAMED_PLACES: dict[str, dict[str, _Place]] = {
    "claude-plugin": {
        "hooks": _Place("", "list of hooks of a plugin", "claude-hooks"),
        "mcpServers": _Place("", "list of servers of a plugin", "mcp"),
        "lspServers": _Place("", "list of servers of a plugin", "claude-lsp"),
        "monitors": _Place("", "list of monitors of a plugin", MONITORS),
        "outputStyles": _Place("", "output style of a plugin", acts=False),
        "themes": _Place("", "theme of a plugin", acts=False),
    },
    "codex-plugin": {
        "hooks": _Place("", "list of hooks of a plugin", "codex-hooks"),
        "mcpServers": _Place("", "list of servers of a plugin", "mcp"),
        "apps": _Place("", "list of apps of a plugin"),
    },
    "cursor-plugin": {
        "hooks": _Place("", "list of hooks of a plugin", "cursor-hooks"),
        "mcpServers": _Place("", "list of servers of a plugin", "mcp"),
    },
    "gemini-settings": {"policyPaths": _Place("", "policy that settings name", "gemini-policy")},
    "cursor-environment": {"build/dockerfile": _Place("", "image that agents run in")},
}
#: Manifests that lie in a folder of the root that they describe.
_MANIFESTS_IN_SUBFOLDER = frozenset(
    {"claude-plugin", "codex-plugin", "cursor-plugin", "gemini-settings"}
)
_MARKETPLACE = "claude-marketplace"
#: The kinds of files that may have parts.
OWNERS = frozenset({*_PLACES, *_NAMED_PLACES, _MARKETPLACE})


def all_parts(
    owners: Iterable[tuple[str, str]], roots: Iterable[str], files: Files
) -> Iterator[Part]:
    """The parts of files, each given by kind and absolute path, and of the folders of projects."""
    for kind, file in owners:
        yield from _parts_of(kind, file, files)
    for root in sorted(roots):
        path = os.path.join(root, ".vscode", "settings.json")
        if files.exists(path):
            yield Part(path, EDITOR, EDITOR_SETTINGS)


def _parts_of(kind: str, file: str, files: Files) -> Iterator[Part]:
    """The parts of one file; a link among them is left to others."""
    if kind not in OWNERS:
        return
    value = mapping_or_empty(parse_json(files.peek(file)))
    folder = os.path.dirname(file)
    if kind != _MARKETPLACE:
        root = os.path.dirname(folder) if kind in _MANIFESTS_IN_SUBFOLDER else folder
        yield from _parts_below(kind, root, value, files)
        return
    for place, entry in listed_plugins(os.path.dirname(folder), value):
        yield from _parts_below("claude-plugin", place, entry, files)


def _parts_below(kind: str, root: str, manifest: Mapping[str, Any], files: Files) -> Iterator[Part]:
    is_walked = kind != "claude-plugin" or SKIPPED_FOLDERS.isdisjoint(root.split(os.sep))
    for place in (*_PLACES.get(kind, ()), *(() if is_walked else _PLACES_NOT_WALKED)):
        head, slash, pattern = place.glob.partition("/")
        path = os.path.join(root, head)
        names = files.names_below(path, most=_MAX_FILES) if slash else [head]
        for name in fnmatch.filter(names, pattern) if slash else names:
            found = os.path.join(path, name) if slash else path
            if slash or (files.exists(found) and not files.is_folder(found)):
                yield _part(found, place)
    for field, place in _NAMED_PLACES.get(kind, {}).items():
        written = get(manifest, tuple(field.split("/")))
        for each in written if isinstance(written, list) else [written]:
            named = _path_inside(root, each) if isinstance(each, str) else None
            if named is None or not files.exists(named):
                continue
            if files.is_folder(named):
                below = files.names_below(named, most=_MAX_FILES)
                yield from (_part(os.path.join(named, name), place) for name in below)
            else:
                yield _part(named, place)


def _part(path: str, place: _Place) -> Part:
    # A bundle of servers is an archive, and a list of them a text.
    is_text = path.endswith((".json", ".jsonc", ".toml", ".md"))
    return Part(path, place.what, place.kind if is_text else "", place.runs, place.acts)


def _path_inside(root: str, written: str) -> str | None:
    """The path that a manifest names; None if it leads out of the plugin."""
    path = os.path.normpath(os.path.join(root, written.replace("\\", "/")))
    return path if is_below(path, root) and "\0" not in path else None


def parse_json(data: bytes | None) -> Any:
    """The value of a JSON text, which may have comments; None if it cannot be parsed."""
    try:
        text = (data or b"").decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    for write in (str, blank_comments):  # few have any
        with contextlib.suppress(SyntaxProblem):
            return load_value("json", write(text))
    return None


def paths_in(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """The paths that a field names: text, a list, or commands by name with their `source`."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        yield from (((*path, at), each) for at, each in enumerate(value) if isinstance(each, str))
    elif isinstance(value, dict) and path[-1] == "commands":
        for name, each in value.items():
            if isinstance(each, dict) and isinstance(each.get("source"), str):
                yield (*path, name, "source"), each["source"]


def check_path_exists(
    place: Path, field: str, written: str, root: str, session: Session, *, is_folder: bool
) -> Iterator[Fact]:
    file = os.path.normpath(os.path.join(root, written))
    if not session.files.is_within(file, session.root):
        return  # nothing outside the project is looked at
    reason = None
    if not session.files.exists(file):
        reason = "does not exist"
    elif is_folder and not session.files.is_folder(file):
        reason = "is a file; name the folder that holds it"
    if reason is not None:
        yield codes.MANIFEST_PATH_MISSING.at(place, field=field, file=Shown(written), reason=reason)


def extension_is_accepted(_convention: Convention, config: Any, session: Session) -> Iterator[Fact]:
    """The context files of an extension exist; Gemini CLI refuses it otherwise."""
    named = config.get("contextFileName") if isinstance(config, dict) else None
    root = os.path.dirname(session.path)
    for place, written in paths_in(named, field := ("contextFileName",)):
        file = written.replace("${/}", "/")
        if file.startswith(("/", "${extensionPath}", "${workspacePath}")):
            reason = "is an absolute path: Gemini CLI refuses it"
            yield codes.MANIFEST_PATH_MISSING.at(
                place, field=field[0], file=Shown(written), reason=reason
            )
        else:
            yield from check_path_exists(place, field[0], file, root, session, is_folder=False)
