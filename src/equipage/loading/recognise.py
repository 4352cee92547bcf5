"""Where kinds come from, and which kind a file is of.

A file is recognised by the settings of its project, by its path, by the plugin it belongs to, by
the keys of its header or by its content; the first that matches counts. Only light predicates are
asked, so that looking at a file imports no kind but its own. Kinds of others come by the entry
point group `equipage.kinds`, which is scanned only for a name that is not built in. Nothing in a
checked project can name code to import.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from equipage.core.codes import CORE_CODES, POSSIBLE_KIND, UNRECOGNISED
from equipage.core.diagnostics import Code, Diagnostic, UsageError
from equipage.core.text import expression, nearest
from equipage.files import real_path
from equipage.files.reading import Files, display_name, require_text
from equipage.files.sandbox import MAX_BYTES, FileProblem
from equipage.loading.kind import Kind
from equipage.loading.session import Run
from equipage.loading.tree import get
from equipage.syntax import SyntaxProblem
from equipage.syntax.document import Format, load_value

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_FORMATS: dict[str, Format] = {".yaml": "yaml", ".yml": "yaml", ".json": "json"}
#: Escapes that can spell a letter, in YAML and JSON, and a line break inside quotes.
_ESCAPES = expression(r"\\[uUx\r\n]")

# The built-in kinds: how each is recognised, without importing it.


class Recognition(msgspec.Struct, frozen=True):
    """How files of a kind are recognised: by their path, then by their content."""

    kind: str
    module: str
    paths: tuple[str, ...] = ()  #: globs over the end of a path, with `{a,b}` for a choice
    #: no text has the content without all words of a row: a cheap look before parsing
    words: tuple[tuple[str, ...], ...] = ()
    by_content: Callable[[Any], bool] | None = None  #: whether a parsed value is surely of the kind
    #: whether it may be: enough for a file that the caller names, one note for one that a walk
    #: meets
    possibly: Callable[..., bool] | None = None

    def worth_parsing(self, text: str) -> bool:
        # A key may be written with escapes, in which no word can be found.
        return _ESCAPES.search(text) is not None or any(
            all(word in text for word in words) for words in self.words
        )

    folder: str | None = None  #: the folder of such files in a layer


#: The parts of a server with the type each must have to count as a sign.
_PARTS: dict[str, type] = {
    **dict.fromkeys(("tools", "resources", "prompts", "phases"), list),
    "baseline": dict,
}
_OF_SERVER_FILE = {"server", "metadata", "behavior", "logging", "unknown_methods", *_PARTS}
_OF_SERVER = {"name", "version", "state_scope", "stateScope", "capabilities"}


def _is_server(value: Any) -> bool:
    """Two signs agree: a server with a name, even a wrong one, and a part of the right shape."""
    server = value.get("server") if isinstance(value, dict) else None
    return (
        isinstance(server, dict)
        and isinstance(server.get("name"), str | int | float)
        and any(isinstance(value.get(key), type_) for key, type_ in _PARTS.items())
    )


def _may_be_server(value: Any, *, named: bool) -> bool:
    """One sign. In a walk, a `server` counts only with nothing but keys of a server around it."""
    if not isinstance(value, dict):
        return False
    included, server = value.get("$include"), value.get("server")
    if isinstance(included, str):
        return included.endswith((".yaml", ".yml")) and value.keys() <= {"$include", "override"}
    if named or not isinstance(server, dict):
        return isinstance(server, dict)
    return "name" in server and server.keys() <= _OF_SERVER and value.keys() <= _OF_SERVER_FILE


def _is_blueprint(value: Any) -> bool:
    """A flow with a kind, and an id; a blueprint that forgot its id still has agents."""
    if not isinstance(value, dict) or not isinstance(value.get("flow"), dict):
        return False
    return "kind" in value["flow"] and ("id" in value or "agents" in value)


BUILT_IN: tuple[Recognition, ...] = (
    Recognition("toolpack", "equipage.kinds.toolpack", ("*.tool.{yaml,yml}",)),
    Recognition(
        "profile",
        "equipage.kinds.defect.profile",
        ("{.defect,defect}/agents/*.md", "{.defect,defect}/agents/*/config.toml"),
        folder="agents",
    ),
    Recognition(
        "settings",
        "equipage.kinds.defect.settings_layers",
        (".defect/{config,config.local}.toml", "{.config,config,xdg}/defect/config.toml"),
    ),
    Recognition(
        "server",
        "equipage.kinds.server",
        words=(("server",), ("$include",)),
        by_content=_is_server,
        possibly=_may_be_server,
    ),
    Recognition(
        "blueprint", "equipage.kinds.blueprint", words=(("flow", "kind"),), by_content=_is_blueprint
    ),
    Recognition("agent_md", "equipage.kinds.blueprint.agent"),
)
#: Kinds of conventions that have a module of their own.
_OWN_MODULE = {"skill": "equipage.kinds.conventions.skill", "mcp": "equipage.kinds.mcp.servers"}
#: No convention is written in YAML: such files are looked at without importing any table.
_YAML = (".yaml", ".yml")
#: Walks enter no folder of a user, whatever is in it.
_OF_USER = frozenset({".config"})


@cache
def conventions() -> tuple[Recognition, ...]:
    """One row for each sort of file of other agent tools, from the tables of the tools."""
    tools = importlib.import_module("equipage.kinds.conventions.tools")
    dialects = importlib.import_module("equipage.kinds.mcp")
    paths: dict[str, tuple[str, ...]] = {**tools.PATHS, "mcp": dialects.PATHS}
    rows: list[Recognition] = []
    for kind, globs in paths.items():
        module = _OWN_MODULE.get(kind, "equipage.kinds.conventions")
        folder = "skills" if kind == "skill" else None
        rows.append(Recognition(kind, module, globs, folder=folder))
    return tuple(rows)


def path_pattern(globs: Iterable[str]) -> str:
    """An expression that is found in absolute paths with `/` whose end matches one of the globs."""
    choices = (re.escape(choice) for glob in globs for choice in _choices(glob))
    pattern = "|".join(choices).replace(r"\*\*/", "(?:[^/]+/)*").replace(r"\*", "[^/]*")
    return f"/(?:{pattern})\\Z"


def _choices(glob: str) -> list[str]:
    """A glob without `{a,b}`: one for each choice."""
    braces = re.search(r"\{([^{}]*)\}", glob)
    if braces is None:
        return [glob]
    before, after = glob[: braces.start()], glob[braces.end() :]
    return [each for word in braces[1].split(",") for each in _choices(before + word + after)]


@cache
def agent_folders() -> frozenset[str]:
    """The hidden folders that files of some kind live in: walks enter no others."""
    globs = (glob for row in (*BUILT_IN, *conventions()) for glob in row.paths)
    steps = (step for glob in globs for each in _choices(glob) for step in each.split("/")[:-1])
    return frozenset(step for step in steps if step.startswith(".")) - _OF_USER


# Kinds by name, those of installed packages included.

_plugins: dict[str, Kind] = {}
_broken: dict[str, str] = {}  #: the name of an installed kind that cannot be loaded → why
_scanned: dict[str, Kind] | None = None  #: `_plugins` once it is filled, which may leave it empty


def names() -> tuple[str, ...]:
    """The built-in kinds, in order of recognition."""
    by_path = [each.kind for each in BUILT_IN if each.paths]
    by_content = [each.kind for each in BUILT_IN if not each.paths]
    return (*by_path, *(each.kind for each in conventions()), *by_content)


def known_names() -> tuple[str, ...]:
    """Every kind there is, installed ones included."""
    return (*names(), *installed())


def kind_named(name: str) -> Kind:
    """The kind of that name; plugins are looked at only for names that are not built in.

    Raises `UsageError`.
    """
    row = _row(BUILT_IN, name) or _row(conventions(), name)
    if row is not None:
        module = importlib.import_module(row.module)
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


def _row(rows: Iterable[Recognition], name: str) -> Recognition | None:
    return next((each for each in rows if each.kind == name), None)


def installed() -> dict[str, Kind]:
    """The kinds that installed packages bring; one broken package does not hide the others.

    Scanning costs more than a whole start, so it happens on demand.
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
    words = f": {error}" if isinstance(error, ImportError) else ""
    return f"{type(error).__name__}{words}"


def all_codes() -> dict[str, Code]:
    """Every code of equipage and of the built-in kinds."""
    codes = {code.name: code for code in CORE_CODES}
    for name in names():
        codes |= {code.name: code for code in kind_named(name).codes}
    return codes


def codes_for(wanted: Iterable[str]) -> dict[str, Code]:
    """Every built-in code; those of installed kinds, too, if a wanted one is not among them."""
    codes = all_codes()
    return codes if codes.keys() >= set(wanted) else codes_of(installed())


def codes_of(kinds: Iterable[str | None]) -> dict[str, Code]:
    """Every built-in code, and those of the named kinds that are installed."""
    codes = all_codes()
    for name in set(kinds) - {None, *names()}:
        kind = installed().get(str(name))
        codes |= {code.name: code for code in kind.codes} if kind is not None else {}
    return codes


# The project a file belongs to.

_PROJECT_MARKS = (".git", "equipage.toml")
#: However `tool.equipage` is written in TOML, one of these is in the text: `tool.equipage` with
#: quotes and blanks, `[tool]`, `tool = {`. It spares most projects a parse of their settings.
_MAY_SPEAK = expression(r"""tool["']?\s*(?:\.\s*["']?equipage|[\]=])""")


class _Roots(dict[str, str]):
    """The project roots of one run, by folder."""


def root_in(run: Run, path: str) -> str:
    """As `project_root`, looked up once per folder in a run."""
    known, folder = run.cache(_Roots), os.path.dirname(path)
    if folder not in known:
        known[folder] = project_root(path, run.folders, run.files)
    return known[folder]


def project_root(path: str, named: Iterable[str] = (), files: Files | None = None) -> str:
    """The folder that references of a file may not leave, see `project_of_folder`."""
    return project_of_folder(os.path.dirname(_real(path)), named, files)


def project_of_folder(folder: str, named: Iterable[str] = (), files: Files | None = None) -> str:
    """The project that a folder belongs to.

    It is the nearest parent with `.git`, `equipage.toml` or a `pyproject.toml` that has
    `[tool.equipage]`; else the innermost folder that the caller `named` and that contains it; else
    the folder itself. The working directory does not matter: a verdict must not depend on it.
    """
    files = files or Files()
    current = folder = _real(folder)
    while True:
        marked = any(files.exists(os.path.join(current, mark)) for mark in _PROJECT_MARKS)
        if marked or speaks_of_equipage(current, files):
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


def speaks_of_equipage(folder: str, files: Files) -> bool:
    """Whether a folder has a `pyproject.toml` with settings of ours.

    One that cannot be parsed counts if it looks like it, so that its error is reported.
    """
    data = files.peek(os.path.join(folder, "pyproject.toml"))
    if data is None or b"equipage" not in data:
        return False
    if not _MAY_SPEAK.search(data.decode("utf-8", "replace")):
        return False
    try:
        value = load_value("toml", data.decode("utf-8").removeprefix("\ufeff"))
    except (SyntaxProblem, UnicodeDecodeError):
        return b"[tool.equipage" in data
    return get(value, ("tool", "equipage")) is not None


# Which kind a file is of.


class Recognised(msgspec.Struct, frozen=True):
    """The name of a file's kind; or why it cannot be recognised. Neither: the file is not ours."""

    kind: str | None = None
    problem: Diagnostic | None = None
    #: by its header alone: another load that reads the file knows better
    guessed: bool = False


class Claims(Protocol):
    """What a project says about its files."""

    @property
    def conventions(self) -> bool:
        """Whether the files of other agent tools are recognised."""
        ...

    def kind_of(self, path: str) -> str | None:
        """The kind that the settings give a file, by its absolute path."""
        ...


def recognise(
    path: str, project: Claims, run: Run, *, named: bool = True, files: Files | None = None
) -> Recognised:
    """The kind of a file. Whether one that is not recognised exists matters only if it is named."""
    files = files or run.files.again()
    absolute = os.path.normpath(os.path.join(files.cwd, path))
    known = recognise_name(absolute, project)
    if known is not None:
        return Recognised(known)
    slashed = absolute.replace(os.sep, "/")
    extension = os.path.splitext(path)[1].lower()
    has_header = extension == ".md" and project.conventions
    if has_header and (component := _component(slashed, run)) is not None:
        return Recognised(component)
    if not has_header and extension not in _FORMATS and not named:
        return Recognised()
    try:
        source = files.read(path, max_bytes=10 * MAX_BYTES)
    except FileProblem as problem:
        return Recognised(problem=_finding(problem.code, path, **problem.values))
    try:
        text, unreadable = require_text(source).text, None
    except FileProblem as problem:
        text, unreadable = source.data.decode("utf-8", "replace"), problem
    kind: str | None = None
    maybe: str | None = None
    if has_header:
        kind = kind_of_header(slashed, text)
    elif extension in _FORMATS:
        kind, maybe = recognise_content(text, _FORMATS[extension], named=named)
    if unreadable is not None:
        if not named and kind is None and maybe is None:
            return Recognised()
        return Recognised(problem=_finding(unreadable.code, path, **unreadable.values))
    if kind is None and maybe is not None:
        if named:
            return Recognised(maybe)
        # A walk does not check what only may be of a kind; a note says so.
        return Recognised(problem=_finding(POSSIBLE_KIND, path, kind=maybe))
    return Recognised(kind, guessed=has_header and kind is not None)


def unrecognised(path: str) -> Diagnostic:
    """The finding that a file the caller named is of no kind."""
    return _finding(UNRECOGNISED, path)


def _finding(code: Code, path: str, **values: object) -> Diagnostic:
    from equipage.loading.findings import finding  # most files have none

    return finding(code, display_name(path), values)


def recognise_name(absolute: str, project: Claims) -> str | None:
    """The kind of a file as far as the settings and its path alone say it."""
    slashed = absolute.replace(os.sep, "/")
    return project.kind_of(absolute) or recognise_path(slashed, conventions=project.conventions)


def recognise_path(path: str, *, conventions: bool = True) -> str | None:
    """The kind of a file by its absolute path with `/` alone."""
    return _by_path(BUILT_IN, path) or (kind_of_path(path) if conventions else None)


def kind_of_path(path: str) -> str | None:
    """The kind of a file of another agent tool by its absolute path with `/` alone."""
    return None if path.endswith(_YAML) else _by_path(conventions(), path)


def _by_path(rows: tuple[Recognition, ...], path: str) -> str | None:
    kinds, pattern = _patterns(rows)
    match = pattern.search(path)
    return None if match is None else kinds[(match.lastindex or 1) - 1]


@cache
def _patterns(rows: tuple[Recognition, ...]) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """The kinds that have paths, and one expression with a group for each of them."""
    placed = [each for each in rows if each.paths]
    pattern = "|".join(f"({path_pattern(each.paths)})" for each in placed)
    return tuple(each.kind for each in placed), re.compile(pattern)


def recognise_content(
    text: str, syntax: Format, *, named: bool = False
) -> tuple[str | None, str | None]:
    """The kind a text surely is of by what it holds, and the kind it may be of.

    A text that does not parse may be of a kind whose words it has: nothing more can be said.
    """
    rows = [each for each in BUILT_IN if each.by_content and each.worth_parsing(text)]
    if not rows:
        return None, None
    try:
        value = load_value(syntax, text.removeprefix("\ufeff"))
    except SyntaxProblem:
        key = _KEY_AT_START.search(text)
        looks = (each.kind for each in rows if key is not None and key[1] in each.words[0])
        return None, next(looks, None)
    sure = next((each.kind for each in rows if each.by_content and each.by_content(value)), None)
    maybe = (each.kind for each in rows if each.possibly and each.possibly(value, named=named))
    return sure, next(maybe, None)


def folders_of_kinds(entered: str) -> Iterator[tuple[str, str]]:
    """The folders for files of one kind that a folder (absolute, with `/` at its end) is or holds.

    Each comes with its kind, without the `/`.
    """
    for each in (*BUILT_IN, *conventions()):
        if each.folder is None:
            continue
        if entered.endswith("/.defect/"):
            yield each.kind, entered + each.folder
        elif entered.endswith((f"/.defect/{each.folder}/", f"/defect/{each.folder}/")):
            yield each.kind, entered.rstrip("/")


# Headers: collections keep agents and commands in folders of their own choice.

#: Notes that people keep beside agents and commands.
NOTES = expression(
    r"(?:README|CHANGELOG|CONTRIBUTING|LICEN[CS]E|CLAUDE|AGENTS|GEMINI|INDEX|TODO)[^/]*\.md\Z",
    re.IGNORECASE,
)
#: Everything between the first two lines of three dashes, at the start of a text.
_HEADER = expression(
    r"\ufeff?\s*---[ \t]*\r?\n(?P<header>.*?)^[ \t]*---[ \t]*\r?$", re.DOTALL | re.MULTILINE
)
_KEY_AT_START = expression(r"""^[\ufeff{]*\s*["']?(server|flow|id)["']?[ \t]*:""", re.MULTILINE)
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
    """The kind of a Markdown file anywhere, by the keys of its header and the folder it is in."""
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


# Plugins: folders with `.claude-plugin/plugin.json`, or listed by a `marketplace.json` above them.
# A manifest that cannot be read says nothing here; checking it reports what is wrong.

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


def _component(path: str, run: Run) -> str | None:
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
