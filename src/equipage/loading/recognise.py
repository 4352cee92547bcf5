"""Where kinds come from, and which kind a file is of.

Recognition is a table of light predicates, so that looking at a file imports no kind but its own. Kinds of
others come by the entry point group `equipage.kinds`, which is scanned only when a name is asked for that is not
built in. Nothing in a checked project can name code to import.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.core.codes import CORE_CODES
from equipage.core.diagnostics import Code, UsageError
from equipage.core.text import expression, nearest
from equipage.files.reading import Files, require_text
from equipage.files.sandbox import FileProblem
from equipage.loading.kind import Kind
from equipage.loading.session import Run
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import load_value

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


# --- places ------------------------------------------------------------------------------------
# Where the files of each convention live: light, because every file of a walk is asked.
#
# `kind_of_path` knows a file by its path alone. `component_of` also looks at the plugin a file belongs to, and
# `kind_of_header` at what stands in a header, for collections that keep agents in folders of their own choice.

_SERVERS = (
    r"/\.mcp\.json|/(?:\.vscode|\.cursor|\.copilot|\.github|\.roo|\.kiro/settings)/mcp\.json|/mcp-config\.json"
    r"|/claude_desktop_config\.json|/\.gemini/settings\.json|/gemini-extension\.json|/\.codex/config\.toml"
    r"|/opencode\.jsonc?"
)
#: Kind and pattern over an absolute path with `/`; the first that matches counts.
PLACES: tuple[tuple[str, str], ...] = (
    ("skill", r"/SKILL\.md|/skills?/[^/]+/skill\.md"),
    ("claude-plugin", r"/\.claude-plugin/plugin\.json"),
    ("claude-marketplace", r"/\.claude-plugin/marketplace\.json"),
    ("claude-agent", r"/\.claude/agents/.+\.md"),
    ("claude-command", r"/\.claude/commands/.+\.md"),
    ("copilot-agent", r"/\.github/(?:agents|chatmodes)/.+\.md|/[^/]+\.(?:agent|chatmode)\.md"),
    ("copilot-prompt", r"/[^/]+\.prompt\.md"),
    ("copilot-instructions", r"/[^/]+\.instructions\.md"),
    ("opencode-agent", r"/\.?(?:opencode|config/opencode)/(?:agents?|modes?)/.+\.md"),
    ("opencode-command", r"/\.?(?:opencode|config/opencode)/commands?/.+\.md"),
    ("codex-agent", r"/\.codex/agents/[^/]+\.toml"),
    ("gemini-agent", r"/\.gemini/agents/[^/]+\.md"),
    ("gemini-command", r"/\.gemini/commands/.+\.toml"),
    ("cursor-rule", r"/\.cursor/rules/.+\.mdc?|/[^/]+\.mdc"),
    ("cursor-agent", r"/\.cursor/agents/.+\.md"),
    ("mcp", _SERVERS),
)

_ENDINGS = (".md", ".mdc", ".json", ".jsonc", ".toml")
_NAMES = tuple(kind for kind, _ in PLACES)
_ANY = expression("|".join(f"({pattern})\\Z" for _, pattern in PLACES))
#: Notes that people keep beside agents and commands.
NOTES = expression(
    r"(?:README|CHANGELOG|CONTRIBUTING|LICEN[CS]E|CLAUDE|AGENTS|GEMINI|INDEX|TODO)[^/]*\.md\Z",
    re.IGNORECASE,
)


@lru_cache(maxsize=1)  # every row of the registry asks about the same path
def kind_of_path(path: str) -> str | None:
    """The kind of a file by its name and place alone."""
    if not path.endswith(_ENDINGS):
        return None
    match = _ANY.search(path)
    return None if match is None else _NAMES[_group(match)]


def _group(match: re.Match[str]) -> int:
    return next(number for number, text in enumerate(match.groups()) if text is not None)


# ------------------------------------------------------------------------------------------------ plugins


class Plugin(msgspec.Struct, frozen=True):
    """A folder that is a plugin, and where its manifest says further components are: absolute paths with `/`."""

    root: str
    agents: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


def plugin_of(root: str, manifest: object) -> Plugin:
    """The plugin in the folder `root`, as its manifest describes it. Whatever cannot be read is left out."""
    fields: dict[str, object] = manifest if isinstance(manifest, dict) else {}
    return Plugin(
        root, tuple(_paths(root, fields.get("agents"))), tuple(_paths(root, fields.get("commands")))
    )


def _paths(root: str, written: object) -> list[str]:
    """The paths a manifest names: text, a list, or commands by name with their `source`."""
    if isinstance(written, dict):
        written = [each.get("source") for each in written.values() if isinstance(each, dict)]
    entries = written if isinstance(written, list) else [written]
    return [_joined(root, each) for each in entries if isinstance(each, str)]


def _joined(root: str, path: str) -> str:
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    return "/".join([root, *parts])


def component_of(path: str, plugin: Plugin) -> str | None:
    """What a Markdown file is to the plugin it belongs to."""
    if not path.endswith(".md"):
        return None
    for kind, folder, listed in (
        ("claude-agent", "agents", plugin.agents),
        ("claude-command", "commands", plugin.commands),
    ):
        if path.startswith(f"{plugin.root}/{folder}/") or any(
            _is_at(path, each) for each in listed
        ):
            return kind
    return None


def _is_at(path: str, listed: str) -> bool:
    """Whether a path is the one that is listed, or below it. The folder of the plugin itself says nothing."""
    return path == listed or (path.startswith(f"{listed}/") and not NOTES.search(path))


# ------------------------------------------------------------------------------------------------ headers

_HEADER = expression(
    r"\ufeff?\s*---[ \t]*\r?\n(?P<header>.*?)^[ \t]*---[ \t]*\r?$", re.DOTALL | re.MULTILINE
)
_KEYS = expression(r"^([A-Za-z_][\w-]*)[ \t]*:", re.MULTILINE)
_AGENTS = expression(r"/(?:sub-?)?agents?/", re.IGNORECASE)
_COMMANDS = expression(r"/(?:slash-)?commands?/", re.IGNORECASE)
_OF_AGENT = frozenset(
    {"tools", "model", "color", "permissionMode", "disallowedTools", "allowed-tools", "handoffs"}
)
_OF_OPENCODE = frozenset({"mode", "permission", "temperature"})
_OF_COMMAND = frozenset(
    {"allowed-tools", "argument-hint", "model", "agent", "disable-model-invocation"}
)
#: Keys of pages that are made for a web site.
_OF_PAGE = frozenset(
    {"title", "layout", "slug", "date", "sidebar_position", "sidebar_label", "permalink", "weight"}
)
_LONGEST = 64 * 1024


def kind_of_header(path: str, text: str) -> str | None:
    """The kind of a Markdown file that stands anywhere, by the keys of its header and the folder it is in."""
    match = _HEADER.match(text[:_LONGEST])
    if match is None or NOTES.search(path):
        return None
    keys = frozenset(_KEYS.findall(match["header"]))
    if "description" not in keys:
        return None
    if "name" in keys and (keys & _OF_AGENT or (_AGENTS.search(path) and not keys & _OF_PAGE)):
        return "claude-agent"
    if _AGENTS.search(path) and keys & _OF_OPENCODE:
        return "opencode-agent"
    if _AGENTS.search(path) and keys & _OF_AGENT:
        return "copilot-agent"
    is_command = _COMMANDS.search(path) and (keys & _OF_COMMAND or not keys & _OF_PAGE)
    return "claude-command" if is_command else None


class Recognition(msgspec.Struct, frozen=True):
    """How files of a kind are told: by a path with `/`, then by their content."""

    kind: str
    module: str
    by_path: Callable[[str], bool] | None = None
    by_text: Callable[[str], bool] | None = None  #: a cheap look, before anything is parsed
    by_content: Callable[[Any], bool] | None = None
    #: the folder of such files that a folder (absolute, with `/` at its end) is or holds, without that `/`
    by_folder: Callable[[str], str | None] | None = None
    convention: bool = False  #: of another agent tool; a project may leave these alone


def _key(*names: str) -> re.Pattern[str]:
    """A line that starts with one of the keys, in YAML or JSON."""
    return expression(rf"""^[ \t{{,]*["']?(?:{"|".join(names)})["']?[ \t]*:""", re.MULTILINE)


_SERVER = _key("server")
_SERVER_PARTS = _key("tools", "resources", "prompts", "baseline", "phases")


def _looks_like_server(text: str) -> bool:
    return bool(_SERVER.search(text) and _SERVER_PARTS.search(text))


def _is_server(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("server"), dict):
        return False
    return any(key in value for key in ("tools", "resources", "prompts", "baseline", "phases"))


_PROFILE = expression(r"/\.?defect/agents/(?:[^/]+\.md|[^/]+/config\.toml)\Z")
_SETTINGS = expression(r"/(?:\.defect/config(?:\.local)?|(?:\.?config|xdg)/defect/config)\.toml\Z")


def _is_profile(path: str) -> bool:
    return bool(_PROFILE.search(path))


def _folder_of_layer(name: str) -> Callable[[str], str | None]:
    """Finds the folder of that name in a layer, entered itself or with its layer."""
    endings = (f"/.defect/{name}/", f"/defect/{name}/")

    def find(entered: str) -> str | None:
        if entered.endswith("/.defect/"):
            return entered + name
        return entered.rstrip("/") if entered.endswith(endings) else None

    return find


def _is_settings(path: str) -> bool:
    return bool(_SETTINGS.search(path))


_FLOW = expression(r"""(?:^|[{,])\s*["']?flow["']?[ \t]*:""", re.MULTILINE)


def _looks_like_blueprint(text: str) -> bool:
    return bool(_FLOW.search(text)) and "kind" in text


def _is_blueprint(value: Any) -> bool:
    """A flow with a kind, and an id; a blueprint that forgot its id still has agents."""
    if not isinstance(value, dict) or not isinstance(value.get("flow"), dict):
        return False
    return "kind" in value["flow"] and ("id" in value or "agents" in value)


#: Kinds whose files are told by place, and which have a package of their own.
_OWN_PACKAGE = {"skill": "equipage.kinds.conventions.skill", "mcp": "equipage.kinds.mcp"}


def _at_its_place(kind: str) -> Callable[[str], bool]:
    return lambda path: kind_of_path(path) == kind


def _conventions() -> tuple[Recognition, ...]:
    """One row for each sort of file of other agent tools."""
    return tuple(
        Recognition(
            kind,
            _OWN_PACKAGE.get(kind, "equipage.kinds.conventions"),
            by_path=_at_its_place(kind),
            by_folder=_folder_of_layer("skills") if kind == "skill" else None,
            convention=True,
        )
        for kind, _ in PLACES
    )


BUILT_IN: tuple[Recognition, ...] = (
    Recognition(
        "toolpack",
        "equipage.kinds.toolpack",
        by_path=lambda path: path.endswith((".tool.yaml", ".tool.yml")),
    ),
    Recognition(
        "profile",
        "equipage.kinds.defect.profile",
        by_path=_is_profile,
        by_folder=_folder_of_layer("agents"),
    ),
    Recognition("settings", "equipage.kinds.defect.settings_layers", by_path=_is_settings),
    *_conventions(),
    Recognition(
        "server", "equipage.kinds.server", by_text=_looks_like_server, by_content=_is_server
    ),
    Recognition(
        "blueprint",
        "equipage.kinds.blueprint",
        by_text=_looks_like_blueprint,
        by_content=_is_blueprint,
    ),
    Recognition("agent_md", "equipage.kinds.blueprint.agent"),
)

_WITH_FOLDERS = tuple(each for each in BUILT_IN if each.by_folder is not None)
_plugins: dict[str, Kind] = {}
_broken: dict[str, str] = {}  #: the name of an installed kind that cannot be had → why
_scanned: dict[str, Kind] | None = None  #: `_plugins` once it is filled, which may leave it empty


def names() -> tuple[str, ...]:
    """The built-in kinds, in order of recognition."""
    return tuple(each.kind for each in BUILT_IN)


def kind_named(name: str) -> Kind:
    """The kind of that name; installed plugins are looked at only for names that are not built in.

    Raises `UsageError`.
    """
    for each in BUILT_IN:
        if each.kind == name:
            module = importlib.import_module(each.module)
            kind = module.KIND if hasattr(module, "KIND") else module.kind_named(name)
            assert isinstance(kind, Kind)
            return kind
    plugins = installed()
    if name in plugins:
        return plugins[name]
    if name in _broken:
        raise UsageError(f"the kind `{name}` is installed, but cannot be loaded: {_broken[name]}")
    known = known_names()
    guess = nearest(name, known)
    hint = f"; did you mean `{guess}`?" if guess else f" (known: {', '.join(known)})"
    raise UsageError(f"there is no kind `{name}`{hint}")


def known_names() -> tuple[str, ...]:
    """Every kind there is, installed ones included."""
    return (*names(), *installed())


def installed() -> dict[str, Kind]:
    """The kinds that installed packages bring. Scanning costs more than a whole start: only on demand.

    A package that is broken must not keep anybody from the others.
    """
    global _scanned
    if _scanned is not _plugins and not _plugins and not _broken:
        _scanned = _plugins
        from importlib.metadata import entry_points

        for entry in entry_points(group="equipage.kinds"):
            try:
                kind = entry.load()
            except Exception as error:
                _broken[entry.name] = f"{_package(entry)} raises {_reason(error)}"
                continue
            if isinstance(kind, Kind):
                _plugins[entry.name] = kind
            else:
                _broken[entry.name] = f"{entry.value} of {_package(entry)} is not a `Kind`"
    return _plugins


def _package(entry: EntryPoint) -> str:
    return f"the package `{entry.dist.name}`" if entry.dist is not None else f"`{entry.value}`"


def _reason(error: Exception) -> str:
    """The class of what a package raised; its words only where they cannot be those of a value."""
    return (
        f"{type(error).__name__}: {error}"
        if isinstance(error, ImportError)
        else type(error).__name__
    )


def recognise_path(path: str, *, conventions: bool = True) -> str | None:
    """The kind of a file by its name and place alone."""
    rows = (
        each
        for each in BUILT_IN
        if each.by_path is not None and (conventions or not each.convention)
    )
    return next(
        (each.kind for each in rows if each.by_path is not None and each.by_path(path)), None
    )


def folders_of_kinds(entered: str) -> Iterator[tuple[str, str]]:
    """The folders of files of one kind that a folder is or holds, each with its kind."""
    for each in _WITH_FOLDERS:
        folder = each.by_folder(entered) if each.by_folder is not None else None
        if folder is not None:
            yield each.kind, folder


def recognise_text(text: str) -> str | None:
    """The kind a text looks like, without parsing it."""
    return next(
        (each.kind for each in BUILT_IN if each.by_text is not None and each.by_text(text)), None
    )


def recognise_content(value: Any) -> str | None:
    """The kind of a file by what it holds."""
    return next(
        (each.kind for each in BUILT_IN if each.by_content is not None and each.by_content(value)),
        None,
    )


def all_codes() -> dict[str, Code]:
    """Every code of equipage and of the built-in kinds."""
    codes = {code.name: code for code in CORE_CODES}
    for each in BUILT_IN:
        codes |= {code.name: code for code in kind_named(each.kind).codes}
    return codes


def codes_for(wanted: Iterable[str]) -> dict[str, Code]:
    """Every code of equipage and of the built-in kinds; if one that is wanted is not among them, those of installed
    kinds, too."""
    codes = all_codes()
    return codes if codes.keys() >= set(wanted) else codes_of(installed())


def codes_of(kinds: Iterable[str | None]) -> dict[str, Code]:
    """Every code of equipage, of the built-in kinds, and of those of the named kinds that others installed."""
    codes = all_codes()
    for name in set(kinds) - {None, *names()}:
        kind = installed().get(str(name))
        codes |= {code.name: code for code in kind.codes} if kind is not None else {}
    return codes


# --- surroundings ------------------------------------------------------------------------------
# What stands around a file: the plugins of the folders above it, which say what it is.
#
# A plugin is a folder with `.claude-plugin/plugin.json`, or one that a `marketplace.json` above it lists. Manifests
# are read once. One that cannot be read says nothing here; checking it tells what is wrong.

#: Files of these names say what the files around them are.
MANIFESTS = ("plugin.json", "marketplace.json")
_MANIFEST = "/.claude-plugin/plugin.json"
_MARKETPLACE = "/.claude-plugin/marketplace.json"


class Surroundings:
    """The plugins of the folders above the files of one run."""

    def __init__(self) -> None:
        self._files = Files()
        self._plugins: dict[str, tuple[Plugin, ...]] = {}

    def over(self, files: Files) -> Surroundings:
        self._files = files
        return self

    def component(self, path: str) -> str | None:
        """The kind of a Markdown file that is a part of a plugin, by its absolute path with `/`."""
        return next(
            (kind for each in self.plugins(path) if (kind := component_of(path, each)) is not None),
            None,
        )

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
            found += [
                _listed(folder, each) for each in (entries if isinstance(entries, list) else ())
            ]
        return found

    def _manifest(self, path: str) -> Any:
        try:
            return load_value(
                "json", require_text(self._files.again().read(path)).text.removeprefix("\ufeff")
            )
        except (FileProblem, SyntaxProblem):
            return None


def _listed(folder: str, entry: Any) -> Plugin:
    """A plugin that a marketplace lists, with the components its entry names."""
    source = entry.get("source") if isinstance(entry, dict) else None
    steps = (
        [step for step in source.split("/") if step not in ("", ".")]
        if isinstance(source, str)
        else []
    )
    return plugin_of("/".join([folder, *steps]), entry)


def surroundings_of(run: Run) -> Surroundings:
    """The surroundings of a run, remembered with what its loads share."""
    return run.cache(Surroundings).over(run.files)
