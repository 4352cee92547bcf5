"""Where kinds come from, and which kind a file is of.

Recognition is a table of light predicates, so that looking at a file imports no kind but its own. Kinds of
others come by the entry point group `equipage.kinds`, which is scanned only when a name is asked for that is not
built in. Nothing in a checked project can name code to import.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from equipage.codes import CORE_CODES, Code
from equipage.diagnostics import UsageError
from equipage.expressions import expression
from equipage.kinds.kind import Kind
from equipage.kinds.places import PLACES, kind_of_path
from equipage.nearest import nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


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
_OWN_PACKAGE = {"skill": "equipage.kinds.skill", "mcp": "equipage.kinds.mcp"}


def _at_its_place(kind: str) -> Callable[[str], bool]:
    return lambda path: kind_of_path(path) == kind


def _conventions() -> tuple[Recognition, ...]:
    """One row for each sort of file of other agent tools."""
    return tuple(
        Recognition(
            kind,
            _OWN_PACKAGE.get(kind, "equipage.kinds.convention"),
            by_path=_at_its_place(kind),
            by_folder=_folder_of_layer("skills") if kind == "skill" else None,
            convention=True,
        )
        for kind, _ in PLACES
    )


BUILT_IN: tuple[Recognition, ...] = (
    Recognition("toolpack", "equipage.kinds.toolpack", by_path=lambda path: path.endswith((".tool.yaml", ".tool.yml"))),
    Recognition("profile", "equipage.kinds.profile", by_path=_is_profile, by_folder=_folder_of_layer("agents")),
    Recognition("settings", "equipage.stacking", by_path=_is_settings),
    *_conventions(),
    Recognition("server", "equipage.kinds.server", by_text=_looks_like_server, by_content=_is_server),
    Recognition("blueprint", "equipage.kinds.blueprint", by_text=_looks_like_blueprint, by_content=_is_blueprint),
    Recognition("agent_md", "equipage.kinds.agent_md"),
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
    return f"{type(error).__name__}: {error}" if isinstance(error, ImportError) else type(error).__name__


def recognise_path(path: str, *, conventions: bool = True) -> str | None:
    """The kind of a file by its name and place alone."""
    rows = (each for each in BUILT_IN if each.by_path is not None and (conventions or not each.convention))
    return next((each.kind for each in rows if each.by_path is not None and each.by_path(path)), None)


def folders_of_kinds(entered: str) -> Iterator[tuple[str, str]]:
    """The folders of files of one kind that a folder is or holds, each with its kind."""
    for each in _WITH_FOLDERS:
        folder = each.by_folder(entered) if each.by_folder is not None else None
        if folder is not None:
            yield each.kind, folder


def recognise_text(text: str) -> str | None:
    """The kind a text looks like, without parsing it."""
    return next((each.kind for each in BUILT_IN if each.by_text is not None and each.by_text(text)), None)


def recognise_content(value: Any) -> str | None:
    """The kind of a file by what it holds."""
    return next((each.kind for each in BUILT_IN if each.by_content is not None and each.by_content(value)), None)


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
