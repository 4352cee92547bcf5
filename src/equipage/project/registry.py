"""Where kinds come from: the rows of the built-in ones, the tables of tools, installed packages.

A row says how files of a kind are recognised without importing it. Kinds of others come by the
entry point group `equipage.formats`, which is scanned only for a name that is not built in. Nothing
in a checked project can name code to import.

Paths are globs over the end of a path, as the tables of kinds write them: `{a,b}` is a choice, `*`
any text inside a step, `**` any number of steps.
"""

from __future__ import annotations

import importlib
import os
from _thread import RLock
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.core.codes import CORE_CODES
from equipage.core.diagnostics import Code, UsageError
from equipage.core.text import nearest
from equipage.files.walking import PlaceIndex, hidden_folders
from equipage.loading.format import Format, Rule
from equipage.loading.model_classes import require_format
from equipage.project.signs import (
    is_attack,
    is_blueprint,
    is_bundle,
    is_declarative_agent,
    is_docker_agent,
    is_pattern,
    is_recipe,
    is_registry_entry,
    is_server,
    may_be_pattern,
    may_be_server,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class Recognition(msgspec.Struct, frozen=True, eq=False):
    """How files of a kind are recognised: by their path, then by their content.

    Rows are equal only to themselves: what is made of many of them is looked up by the rows.
    """

    kind: str  #: its name; for files that are known and not read, what they are
    module: str = ""  #: empty for files that are known and not read
    paths: tuple[str, ...] = ()  #: globs over the end of a path, with `{a,b}` for a choice
    #: the content needs one of these keys at its root: a cheap look before parsing
    keys: tuple[str, ...] = ()
    by_content: Callable[[Any], bool] | None = None  #: whether a parsed value is surely of the kind
    #: whether it may be: enough for a file that the caller names, one note for one that a walk
    #: meets
    possibly: Callable[..., bool] | None = None
    part: bool = False  #: whether a file that includes such a one knows better what it is
    folder: str | None = None  #: the folder of such files in a layer
    substitutes: bool = False  #: whether variables are replaced before the text is parsed


#: What files are that may lie anywhere, and what they hold.
UNREAD_BY_CONTENT: tuple[Recognition, ...] = (
    Recognition("MCP registry entry", keys=("packages", "remotes"), by_content=is_registry_entry),
    Recognition(
        "MCP bundle", keys=("manifest_version", "dxt_version", "server"), by_content=is_bundle
    ),
    Recognition(
        "declarative agent of Microsoft Foundry",
        keys=("instructions",),
        by_content=is_declarative_agent,
    ),
    Recognition("Docker Agent configuration", keys=("agents",), by_content=is_docker_agent),
    Recognition(
        "attack in the Open Agent Threat Format (OATF)", keys=("attack",), by_content=is_attack
    ),
)


BUILT_IN: tuple[Recognition, ...] = (
    Recognition("toolpack", "equipage.formats.toolpack", ("*.tool.{yaml,yml}",)),
    Recognition(
        "profile",
        "equipage.formats.defect.profile",
        ("{.defect,defect}/agents/*.md", "{.defect,defect}/agents/*/config.toml"),
        folder="agents",
    ),
    Recognition(
        "settings",
        "equipage.formats.defect.layers",
        (".defect/{config,config.local}.toml", "{.config,config,xdg}/defect/config.toml"),
    ),
    Recognition(
        "server",
        "equipage.formats.server",
        keys=("server", "$include"),
        by_content=is_server,
        possibly=may_be_server,
        substitutes=True,
    ),
    Recognition(
        "server",
        "equipage.formats.server",
        keys=("response", "tool"),
        by_content=is_pattern,
        possibly=may_be_pattern,
        part=True,
        substitutes=True,
    ),
    Recognition("blueprint", "equipage.formats.blueprint", keys=("flow",), by_content=is_blueprint),
    Recognition("agent_md", "equipage.formats.blueprint.agent"),
    Recognition(
        "goose-recipe",
        "equipage.clients.format",
        keys=("parameters", "extensions"),
        by_content=is_recipe,
    ),
)
#: The kind of files that a schema of the project describes. Only `schemas` in its settings make a
#: file of this kind, so it is not among the names.
BY_SCHEMA = "by-schema"
_UNNAMED_ROWS = (Recognition(BY_SCHEMA, "equipage.loading.schema_models"),)
#: Kinds of conventions that have a module of their own.
_MODULES_BY_KIND = {"skill": "equipage.clients.skills", "mcp": "equipage.clients.mcp.servers"}
#: The folder of a layer, hidden in a project: kinds with a `folder` of their own have theirs in it.
LAYER = "defect"
#: The folders in which agents that others call over the network describe themselves.
_AGENT_CARD_FOLDERS = frozenset({".well-known"})
#: Of the folders in `.config`, where every program of a user may have one, those that are entered.
_USER_FOLDERS = frozenset({".config/opencode", ".config/goose", ".config/amp", ".config/zed"})


@cache
def conventions() -> tuple[Recognition, ...]:
    """One row for each sort of file of other agent tools, from the index of their tables."""
    from equipage.clients.index import KINDS  # a file with a kind needs no other

    rows: list[Recognition] = []
    for kind, entry in KINDS.items():
        if not entry.paths:
            continue  # by its content alone: in `BUILT_IN`
        module = _MODULES_BY_KIND.get(kind, "equipage.clients.format")
        folder = "skills" if kind == "skill" else None
        rows.append(Recognition(kind, module, entry.paths, folder=folder))
    return tuple(rows)


def is_convention(kind: str) -> bool:
    """Whether files of a kind belong to another agent tool and are recognised by their place."""
    return _find_row(conventions(), kind) is not None


@cache
def agent_folders() -> frozenset[str]:
    """The hidden folders that files of some kind live in, and those of agents that others call."""
    globs = (glob for row in (*BUILT_IN, *conventions()) for glob in row.paths)
    return (hidden_folders(globs) - {".config"}) | _AGENT_CARD_FOLDERS | _USER_FOLDERS


# Kinds by name, those of installed packages included.

_plugins: dict[str, Format] = {}
_broken: dict[str, str] = {}  #: the name of an installed kind that cannot be loaded → why
_SCAN_LOCK = RLock()
_scanning: list[bool] = []  #: holds something during a scan
_scanned: dict[str, Format] | None = None  #: `_plugins` once it is filled, which may leave it empty


def built_in_kinds() -> tuple[str, ...]:
    """The built-in kinds, in order of recognition."""
    by_path = [each.kind for each in BUILT_IN if each.paths]
    by_content = [each.kind for each in BUILT_IN if not each.paths]
    # One that is recognised by several contents has several rows.
    return (*by_path, *(each.kind for each in conventions()), *dict.fromkeys(by_content))


def known_kinds() -> tuple[str, ...]:
    """Every kind there is, installed ones included."""
    return (*built_in_kinds(), *installed_formats())


def format_named(name: str | Format) -> Format:
    """The format of that name, or the format itself; for `module:NAME`, that of a module.

    Plugins are looked at only for names that are not built in. Raises `UsageError`.
    """
    if isinstance(name, Format):
        return require_format(name)
    if ":" in name:
        return _import_format(name)
    built_in = _import_built_in(name)
    if built_in is not None:
        return built_in
    plugins = installed_formats()
    if name in plugins:
        return require_format(plugins[name])
    if name in _broken:
        raise UsageError(f"the kind `{name}` is installed, but cannot be loaded: {_broken[name]}")
    if "." in name:
        raise UsageError(f"there is no kind `{name}`; for a format in a module, `{name}:NAME`")
    known = known_kinds()
    guess = nearest(name, known)
    hint = f"; did you mean `{guess}`?" if guess else f" (known: {', '.join(known)})"
    raise UsageError(f"there is no kind `{name}`{hint}")


@cache
def _import_built_in(name: str) -> Format | None:
    row = (
        _find_row(BUILT_IN, name)
        or _find_row(_UNNAMED_ROWS, name)
        or _find_row(conventions(), name)
    )
    if row is None:
        return None
    module = importlib.import_module(row.module)
    known = vars(module)  # asking for an attribute would look through the names of all models
    kind = known["FORMAT"] if "FORMAT" in known else module.convention_format(name)
    assert isinstance(kind, Format)
    return kind


def _import_format(name: str) -> Format:
    """The format that a module has under a name. Raises `UsageError`.

    The person at the keyboard named it: nothing in a checked project can.
    """
    module_name, _, attribute = name.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
        for each in attribute.split("."):
            found = getattr(found, each)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise UsageError(f"`{name}` cannot be imported: {error}") from None
        raise UsageError(
            f"there is no module `{module_name}`: install it, or name its folder with --python-path"
        ) from None
    except AttributeError:
        raise UsageError(f"the module `{module_name}` has no `{attribute}`") from None
    except Exception as error:
        raise UsageError(f"`{name}` cannot be imported: {_reason_in_words(error)}") from None
    if isinstance(found, type):
        module = vars(importlib.import_module(module_name))
        for other, each in module.items():
            if isinstance(each, Format) and each.model is found:
                raise UsageError(
                    f"`{name}` is a class, and the module has a format of it: "
                    f"`{module_name}:{other}`"
                )
        return default_format(found)
    if not isinstance(found, Format):
        raise UsageError(f"`{name}` is not a `Format`, and not a class")
    return require_format(found)


@cache
def default_format(model: Any) -> Format:
    """The format of a class without further wishes. Raises `UsageError`."""
    return require_format(Format(model))


def may_be(kind: Format, path: str) -> bool:
    """Whether a file below a folder may be of a format of one's own."""
    if kind.paths:
        return _places(kind.name, kind.paths).find("/" + path.replace(os.sep, "/")) is not None
    # What `equipage schema` writes beside the files is about them, and none of them.
    is_schema = path.lower().endswith(".schema.json")
    return os.path.splitext(path)[1].lower() in kind.reading.syntaxes and not is_schema


@cache
def _places(name: str, paths: tuple[str, ...]) -> PlaceIndex:
    return PlaceIndex([(name, paths)])


def _find_row(rows: Iterable[Recognition], name: str) -> Recognition | None:
    return next((each for each in rows if each.kind == name), None)


def installed_formats() -> dict[str, Format]:
    """The kinds that installed packages bring; one broken package does not hide the others.

    Scanning costs more than a whole start, so it happens on demand.
    """
    global _scanned
    if _scanned is _plugins:
        return _plugins
    with _SCAN_LOCK:  # other threads wait until the scan is complete
        if _scanned is not _plugins and not _scanning:
            # A package that asks for kinds while it is imported gets what is there.
            _scanning.append(True)
            try:
                kinds, broken = _scan_entry_points()
                _plugins.update(kinds)
                _broken.update(broken)
                _scanned = _plugins
            finally:
                _scanning.clear()
    return _plugins


def _scan_entry_points() -> tuple[dict[str, Format], dict[str, str]]:
    """The kinds of installed packages, and why some cannot be loaded."""
    from importlib.metadata import entry_points

    kinds: dict[str, Format] = {}
    broken: dict[str, str] = {}
    for entry in entry_points(group="equipage.formats"):
        try:
            kind = entry.load()
        except Exception as error:
            broken[entry.name] = f"{_package_in_words(entry)} raises {_reason_in_words(error)}"
            continue
        if isinstance(kind, Format):
            kinds[entry.name] = kind
        else:
            broken[entry.name] = f"{entry.value} of {_package_in_words(entry)} is not a `Format`"
    return kinds, broken


def rules_named(names: Iterable[str]) -> dict[str, tuple[Rule, ...]]:
    """The rules that installed packages bring under these names, by the kind that they are for.

    Raises `UsageError`.
    """
    from importlib.metadata import entry_points

    found: dict[str, tuple[Rule, ...]] = {}
    entries = {each.name: each for each in entry_points(group="equipage.rules")}
    for name in dict.fromkeys(names):
        if name not in entries:
            known = f" (known: {', '.join(sorted(entries))})" if entries else ""
            raise UsageError(f"no installed package has rules named `{name}`{known}")
        try:
            brought = entries[name].load()
        except Exception as error:
            reason = f"{_package_in_words(entries[name])} raises {_reason_in_words(error)}"
            raise UsageError(f"the rules `{name}` cannot be loaded: {reason}") from None
        if not isinstance(brought, Mapping):
            raise UsageError(f"the rules `{name}` are not a mapping of kinds to functions")
        for kind, functions in brought.items():
            format_named(kind)
            found[kind] = (*found.get(kind, ()), *functions)
    return found


def _package_in_words(entry: EntryPoint) -> str:
    return f"the package `{entry.dist.name}`" if entry.dist is not None else f"`{entry.value}`"


def _reason_in_words(error: Exception) -> str:
    """The class of what a package raised; its words only where they cannot be those of a value."""
    words = f": {error}" if isinstance(error, ImportError) else ""
    return f"{type(error).__name__}{words}"


def all_codes() -> dict[str, Code]:
    """Every code of equipage and of the built-in kinds."""
    codes = {code.name: code for code in CORE_CODES}
    for name in (*built_in_kinds(), BY_SCHEMA):
        codes |= {code.name: code for code in format_named(name).every_code()}
    return codes


def codes_for(wanted: Iterable[str]) -> dict[str, Code]:
    """Every built-in code; those of installed kinds, too, if a wanted one is not among them."""
    codes = all_codes()
    return codes if codes.keys() >= set(wanted) else codes_of(installed_formats())


def codes_of(kinds: Iterable[str | None]) -> dict[str, Code]:
    """Every built-in code, and those of the named kinds that are installed."""
    codes = all_codes()
    # Installed packages are only scanned for a name that is not built in.
    for name in set(kinds) - {None, BY_SCHEMA, *built_in_kinds()}:
        kind = installed_formats().get(str(name))
        codes |= {code.name: code for code in kind.every_code()} if kind is not None else {}
    return codes


def codes_for_comments(kind: Format) -> dict[str, Code]:
    """Every code that a comment in a file of a format may name."""
    return all_codes() | {code.name: code for code in kind.every_code()}


def require_known_options(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options. Raises `UsageError` for one that no built-in kind has."""
    if options:
        models = [format_named(name).reading.options for name in built_in_kinds()]
        known = {field for model in models for field in model.__struct_fields__}
        for each in options:
            if each not in known:
                guess = nearest(each, known)
                hint = f"; did you mean `{guess}`?" if guess else ""
                raise UsageError(f"`{each}` is not an option of any kind{hint}")
    return options
