"""Files that matter because of a file beside them, and that no load finds by itself.

A plugin puts programs on the path and brings settings, its manifest names more files; an extension
has folders of its own; an editor keeps what agents may do among its other settings. A lock and a
comparison hold them, so that they do not change unseen.
"""

from __future__ import annotations

import contextlib
import fnmatch
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from equipage.clients.reach import Reach, reach_of_value
from equipage.core.path import get, mapping_or_empty
from equipage.files.reading import Files
from equipage.files.sandbox import is_below
from equipage.loading.format import Format
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
    "cursor-environment": {"build/dockerfile": _Place("", "image that agents run in")},
}
#: Manifests that lie in a folder of the root that they describe.
_MANIFESTS_IN_SUBFOLDER = frozenset({"claude-plugin", "codex-plugin", "cursor-plugin"})
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
            yield Part(path, "settings of an editor", EDITOR_SETTINGS)


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
    # An entry whose plugin is here says as much as a manifest, and may be in its place.
    entries = value.get("plugins")
    before = get(value, ("metadata", "pluginRoot"))
    for entry in entries if isinstance(entries, list) else ():
        source = entry.get("source") if isinstance(entry, dict) else None
        if isinstance(source, str):
            base = before if isinstance(before, str) and not source.startswith(".") else "."
            place = _path_inside(os.path.dirname(folder), f"{base}/{source}")
            if place is not None:
                yield from _parts_below("claude-plugin", place, entry, files)


def _parts_below(kind: str, root: str, manifest: Mapping[str, Any], files: Files) -> Iterator[Part]:
    for place in _PLACES.get(kind, ()):
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
    is_text = path.endswith((".json", ".jsonc", ".toml"))
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


def reach_of_part(part: Part, data: bytes, name: str) -> Reach | None:
    """The reach of a part that only a table describes; None if it cannot be read."""
    value = parse_json(data)
    if part.kind == MONITORS and isinstance(value, list):
        value = {"monitors": value}
    if not part.has_only_table or not isinstance(value, dict):
        return None
    found = reach_of_value(Format(part.kind, part.what, dict), value, name)
    return found[0] if found else None
