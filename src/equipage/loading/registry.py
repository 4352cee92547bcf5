"""Where kinds come from: the rows of the built-in ones, the tables of tools, installed packages.

A row says how files of a kind are recognised without importing it. Kinds of others come by the
entry point group `equipage.kinds`, which is scanned only for a name that is not built in. Nothing
in a checked project can name code to import.
"""

from __future__ import annotations

import importlib
from _thread import RLock
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.core.codes import CORE_CODES
from equipage.core.diagnostics import Code, UsageError
from equipage.core.text import nearest
from equipage.loading.globs import hidden_folders
from equipage.loading.kind import Kind
from equipage.loading.signs import (
    is_blueprint,
    is_bundle,
    is_docker_agent,
    is_recipe,
    is_registry_entry,
    is_server,
    may_be_server,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Recognition(msgspec.Struct, frozen=True):
    """How files of a kind are recognised: by their path, then by their content."""

    kind: str
    module: str
    paths: tuple[str, ...] = ()  #: globs over the end of a path, with `{a,b}` for a choice
    #: the content needs one of these keys at its root: a cheap look before parsing
    keys: tuple[str, ...] = ()
    by_content: Callable[[Any], bool] | None = None  #: whether a parsed value is surely of the kind
    #: whether it may be: enough for a file that the caller names, one note for one that a walk
    #: meets
    possibly: Callable[..., bool] | None = None
    folder: str | None = None  #: the folder of such files in a layer


#: The kinds of other tools, made from their tables.
_TABLES = "equipage.kinds.conventions"

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
        keys=("server", "$include"),
        by_content=is_server,
        possibly=may_be_server,
    ),
    Recognition("blueprint", "equipage.kinds.blueprint", keys=("flow",), by_content=is_blueprint),
    Recognition("agent_md", "equipage.kinds.blueprint.agent"),
    Recognition(
        "mcp-registry", _TABLES, keys=("packages", "remotes"), by_content=is_registry_entry
    ),
    Recognition(
        "mcp-bundle",
        _TABLES,
        keys=("manifest_version", "dxt_version", "server"),
        by_content=is_bundle,
    ),
    Recognition("docker-agent", _TABLES, keys=("agents",), by_content=is_docker_agent),
    Recognition("goose-recipe", _TABLES, keys=("parameters", "extensions"), by_content=is_recipe),
)
#: Kinds of conventions that have a module of their own.
_OWN_MODULE = {"skill": "equipage.kinds.conventions.skill", "mcp": "equipage.kinds.mcp.servers"}
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
        if not globs:
            continue  # by its content alone: in `BUILT_IN`
        module = _OWN_MODULE.get(kind, "equipage.kinds.conventions")
        folder = "skills" if kind == "skill" else None
        rows.append(Recognition(kind, module, globs, folder=folder))
    return tuple(rows)


@cache
def agent_folders() -> frozenset[str]:
    """The hidden folders that files of some kind live in."""
    globs = (glob for row in (*BUILT_IN, *conventions()) for glob in row.paths)
    return hidden_folders(globs) - _OF_USER


# Kinds by name, those of installed packages included.

_plugins: dict[str, Kind] = {}
_broken: dict[str, str] = {}  #: the name of an installed kind that cannot be loaded → why
_SCAN = RLock()
_scanning: list[bool] = []  #: holds something during a scan
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
    if _scanned is _plugins:
        return _plugins
    with _SCAN:  # other threads wait until the scan is complete
        if _scanned is not _plugins and not _scanning:
            # A package that asks for kinds while it is imported gets what is there.
            _scanning.append(True)
            try:
                kinds, broken = _scan()
                _plugins.update(kinds)
                _broken.update(broken)
                _scanned = _plugins
            finally:
                _scanning.clear()
    return _plugins


def _scan() -> tuple[dict[str, Kind], dict[str, str]]:
    """The kinds of installed packages, and why some cannot be loaded."""
    from importlib.metadata import entry_points

    kinds: dict[str, Kind] = {}
    broken: dict[str, str] = {}
    for entry in entry_points(group="equipage.kinds"):
        try:
            kind = entry.load()
        except Exception as error:
            broken[entry.name] = f"{_package(entry)} raises {_reason(error)}"
            continue
        if isinstance(kind, Kind):
            kinds[entry.name] = kind
        else:
            broken[entry.name] = f"{entry.value} of {_package(entry)} is not a `Kind`"
    return kinds, broken


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


def known_options(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """These options of kinds. Raises `UsageError` for one that no built-in kind has."""
    if options:
        models = [kind_named(name).reading.options for name in names()]
        known = {field for model in models for field in model.__struct_fields__}
        for each in options:
            if each not in known:
                guess = nearest(each, known)
                hint = f"; did you mean `{guess}`?" if guess else ""
                raise UsageError(f"`{each}` is not an option of any kind{hint}")
    return options
