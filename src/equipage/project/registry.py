"""Where kinds come from: the rows of the built-in ones, the tables of tools, installed packages.

A row says how files of a kind are recognised without importing it. Kinds of others come by the
entry point group `equipage.formats`, which is scanned only for a name that is not built in. Nothing
in a checked project can name code to import.

Paths are globs over the end of a path, as the tables of kinds write them: `{a,b}` is a choice, `*`
any text inside a step, `**` any number of steps.
"""

from __future__ import annotations

import importlib
import re
from _thread import RLock
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.core.codes import CORE_CODES
from equipage.core.diagnostics import Code, UsageError
from equipage.core.text import lazy_regex, nearest
from equipage.loading.format import Format
from equipage.project.signs import is_blueprint, is_recipe, is_server, may_be_server

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
    folder: str | None = None  #: the folder of such files in a layer
    substitutes: bool = False  #: whether variables are replaced before the text is parsed


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
    Recognition("blueprint", "equipage.formats.blueprint", keys=("flow",), by_content=is_blueprint),
    Recognition("agent_md", "equipage.formats.blueprint.agent"),
    Recognition(
        "goose-recipe",
        "equipage.clients.conventions",
        keys=("parameters", "extensions"),
        by_content=is_recipe,
    ),
)
#: The kind of files that a schema of the project describes. Only `schemas` in its settings make a
#: file of this kind, so it is not among the names.
BY_SCHEMA = "by-schema"
_UNNAMED_ROWS = (Recognition(BY_SCHEMA, "equipage.formats.by_schema"),)
#: Kinds of conventions that have a module of their own.
_MODULES_BY_KIND = {"skill": "equipage.clients.skill", "mcp": "equipage.clients.mcp.servers"}
#: The folders in which agents that others call over the network describe themselves.
_AGENT_CARD_FOLDERS = frozenset({".well-known"})
#: Walks enter no folder of a user, whatever is in it.
_USER_FOLDERS = frozenset({".config"})


@cache
def conventions() -> tuple[Recognition, ...]:
    """One row for each sort of file of other agent tools, from the tables of the tools."""
    # Made from the tables, which are large: a check of other files never imports those.
    paths = importlib.import_module("equipage.clients.tables.paths")
    rows: list[Recognition] = []
    for kind, globs in paths.PATHS.items():
        if not globs:
            continue  # by its content alone: in `BUILT_IN`
        module = _MODULES_BY_KIND.get(kind, "equipage.clients.conventions")
        folder = "skills" if kind == "skill" else None
        rows.append(Recognition(kind, module, globs, folder=folder))
    return tuple(rows)


def is_convention(kind: str) -> bool:
    """Whether files of a kind belong to another agent tool and are recognised by their place."""
    return _find_row(conventions(), kind) is not None


@cache
def agent_folders() -> frozenset[str]:
    """The hidden folders that files of some kind live in, and those of agents that others call."""
    globs = (glob for row in (*BUILT_IN, *conventions()) for glob in row.paths)
    return (hidden_folders(globs) | _AGENT_CARD_FOLDERS) - _USER_FOLDERS


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
    return (*by_path, *(each.kind for each in conventions()), *by_content)


def known_kinds() -> tuple[str, ...]:
    """Every kind there is, installed ones included."""
    return (*built_in_kinds(), *installed_formats())


def format_named(name: str) -> Format:
    """The kind of that name; plugins are looked at only for names that are not built in.

    Raises `UsageError`.
    """
    built_in = _import_built_in(name)
    if built_in is not None:
        return built_in
    plugins = installed_formats()
    if name in plugins:
        return plugins[name]
    if name in _broken:
        raise UsageError(f"the kind `{name}` is installed, but cannot be loaded: {_broken[name]}")
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
    kind = module.FORMAT if hasattr(module, "FORMAT") else module.format_named(name)
    assert isinstance(kind, Format)
    return kind


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
        codes |= {code.name: code for code in format_named(name).codes}
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
        codes |= {code.name: code for code in kind.codes} if kind is not None else {}
    return codes


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


# Globs. A repository has many thousand files and the tables have a few hundred globs, so
# `PlaceIndex` first selects the globs that can match in a folder. For nearly every folder there are
# none; for the others, only the name of a file is left to compare.


def _folder_regex(folder: str) -> str:
    """The pattern of folders; each step has its slash, so `**` may be no step at all."""
    return f"/{_glob_to_regex(folder + '/')}\\Z"


def _glob_to_regex(glob: str) -> str:
    return re.escape(glob).replace(r"\*\*/", "(?:[^/]+/)*").replace(r"\*", "[^/]*")


def expand_choices(glob: str) -> list[str]:
    """A glob without `{a,b}`: one for each choice."""
    end = glob.find("}")
    start = glob.rfind("{", 0, max(end, 0))
    if start < 0:
        return [glob]
    before, words, after = glob[:start], glob[start + 1 : end], glob[end + 1 :]
    return [each for word in words.split(",") for each in expand_choices(before + word + after)]


def hidden_folders(globs: Iterable[str]) -> frozenset[str]:
    """The hidden folders that the globs contain."""
    steps = (
        step for glob in globs for each in expand_choices(glob) for step in each.split("/")[:-1]
    )
    return frozenset(step for step in steps if step.startswith("."))


class GlobRule(msgspec.Struct, frozen=True):
    """One glob without choices: the folder and the name it asks for."""

    order: int
    kind: str
    glob: str
    word: str | None  #: a step without wildcards that the folder must have
    folder: str  #: how the folder ends, with `/` around it; empty for any folder
    below: str  #: what the folder is or lies below, with `/` around it, if only `**` follows it
    pattern: re.Pattern[str] | None  #: of the folder, if it has other wildcards
    name: str  #: the name, or its end if there are wildcards before it
    names: re.Pattern[str] | None  #: of the name, if it has wildcards

    def matches_folder(self, folder: str) -> bool:
        """Whether the rule matches files in a folder, which ends with `/`."""
        if self.below:
            return self.below in folder
        if self.pattern is None:
            return folder.endswith(self.folder)  # of any if it asks for none
        return self.pattern.search(folder) is not None

    def matches_name(self, name: str) -> bool:
        if self.names is None:
            return name == self.name
        return name.endswith(self.name) and self.names.fullmatch(name) is not None


def _compile_rules(rows: Iterable[tuple[str, Iterable[str]]]) -> Iterator[GlobRule]:
    order = 0
    for kind, globs in rows:
        for glob in (each for written in globs for each in expand_choices(written)):
            head, _, last = glob.rpartition("/")
            plain = [step for step in head.split("/") if step and "*" not in step]
            # A file is compared with few of them, so they are translated when they are asked.
            below = head.removesuffix("/**") if head.endswith("/**") else ""
            below = "" if "*" in below or not below else f"/{below}/"
            has_pattern = "*" in head and not below
            pattern = lazy_regex(partial(_folder_regex, head)) if has_pattern else None
            names = lazy_regex(partial(_glob_to_regex, last)) if "*" in last else None
            word, folder = plain[-1] if plain else None, f"/{head}/" if head else ""
            name = last.rpartition("*")[2]
            yield GlobRule(order, kind, glob, word, folder, below, pattern, name, names)
            order += 1


class PlaceIndex:
    """The kinds that have a place: rows of a kind and its globs, the first that matches counts."""

    def __init__(self, rows: Iterable[tuple[str, Iterable[str]]]) -> None:
        # A rule asks for one name, or for names with one extension: most files of a repository
        # have another. Those that ask for a folder are found by a step of it.
        self._names: dict[str, list[GlobRule]] = {}
        self._extensions: dict[str, list[GlobRule]] = {}
        self._words: dict[str | None, list[GlobRule]] = {}
        self.names: set[str] = set()  #: what files must be called, whatever their folder
        self.extensions: set[str] = set()  #: or how their names must end
        self.open_ended: list[GlobRule] = []  #: the rules that do not say how
        for rule in _compile_rules(rows):
            is_name = rule.names is None
            key = rule.name if is_name else extension_of(rule.name)
            (self.names if is_name else self.extensions).add(key)
            if not (is_name or key):
                self.open_ended.append(rule)
            if rule.folder:
                self._words.setdefault(rule.word, []).append(rule)
            else:
                (self._names if is_name else self._extensions).setdefault(key, []).append(rule)
        #: a walk asks several times for the files of each folder
        self._in = lru_cache(maxsize=20_000)(self._rules_in)

    @property
    def names_anywhere(self) -> Iterable[str]:
        """The names of files that have a kind in any folder."""
        return self._names

    @property
    def ends_anywhere(self) -> Iterable[str]:
        """The ends of such names."""
        return {rule.name for rules in self._extensions.values() for rule in rules}

    @property
    def required_steps(self) -> Iterable[str | None]:
        """The steps that rules require of a folder; None among them if one has only wildcards."""
        return self._words

    def has_rules_for(self, folder: str) -> bool:
        """Whether the folder of any rule matches an absolute folder, given without a final `/`."""
        return not self._words.keys().isdisjoint((None, *folder.split("/"))) and bool(
            self._in(folder)
        )

    def find(self, path: str) -> tuple[str, str] | None:
        """The kind of an absolute path with `/`, and the glob that says so."""
        folder, _, name = path.rpartition("/")
        extension = extension_of(name)
        found: GlobRule | None = None
        for rules in (
            self._in(folder),
            self._names.get(name, ()),
            self._extensions.get(extension, ()),
            self._extensions.get("", ()) if extension else (),  # their names end with none
        ):
            for rule in rules:
                if (found is None or rule.order < found.order) and rule.matches_name(name):
                    found = rule
        return None if found is None else (found.kind, found.glob)

    def _rules_in(self, folder: str) -> tuple[GlobRule, ...]:
        """The rules that name a folder and match this one."""
        steps = folder.split("/")
        words = [each for each in {None, *steps} if each in self._words]
        rules = [rule for each in words for rule in self._words[each]]
        return tuple(each for each in rules if each.matches_folder(f"{folder}/"))


def extension_of(name: str) -> str:
    """From the last dot of a name on; empty if it has none."""
    dot = name.rfind(".")
    return name[dot:] if dot >= 0 else ""
