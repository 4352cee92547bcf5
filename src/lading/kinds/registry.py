"""Where kinds come from, and which kind a file is of.

Recognition is a table of light predicates, so that looking at a file imports no kind but its own. Kinds of
others come by the entry point group `lading.kinds`, which is scanned only when a name is asked for that is not
built in. Nothing in a checked project can name code to import.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from lading.codes import CORE_CODES, Code
from lading.diagnostics import UsageError
from lading.kinds.kind import Kind
from lading.nearest import nearest


class Recognition(msgspec.Struct, frozen=True):
    """How files of a kind are told: by a path with `/`, then by their content."""

    kind: str
    module: str
    by_path: Callable[[str], bool] | None = None
    by_text: Callable[[str], bool] | None = None  #: a cheap look, before anything is parsed
    by_content: Callable[[Any], bool] | None = None


def _key(*names: str) -> re.Pattern[str]:
    """A line that starts with one of the keys, in YAML or JSON."""
    return re.compile(rf"""^[ \t{{,]*["']?(?:{"|".join(names)})["']?[ \t]*:""", re.MULTILINE)


_SERVER = _key("server")
_SERVER_PARTS = _key("tools", "resources", "prompts", "baseline", "phases")


def _looks_like_server(text: str) -> bool:
    return bool(_SERVER.search(text) and _SERVER_PARTS.search(text))


def _is_server(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("server"), dict):
        return False
    return any(key in value for key in ("tools", "resources", "prompts", "baseline", "phases"))


BUILT_IN: tuple[Recognition, ...] = (
    Recognition("server", "lading.kinds.server", by_text=_looks_like_server, by_content=_is_server),
)

_plugins: dict[str, Kind] = {}


def names() -> tuple[str, ...]:
    """The built-in kinds, in order of recognition."""
    return tuple(each.kind for each in BUILT_IN)


def kind_named(name: str) -> Kind:
    """The kind of that name; installed plugins are looked at only for names that are not built in.

    Raises `UsageError`.
    """
    for each in BUILT_IN:
        if each.kind == name:
            kind = importlib.import_module(each.module).KIND
            assert isinstance(kind, Kind)
            return kind
    plugins = installed()
    if name in plugins:
        return plugins[name]
    known = (*names(), *plugins)
    guess = nearest(name, known)
    hint = f"; did you mean `{guess}`?" if guess else ""
    raise UsageError(f"there is no kind `{name}` (known: {', '.join(known)}){hint}")


def installed() -> dict[str, Kind]:
    """The kinds that installed packages bring. Scanning costs more than a whole start: only on demand."""
    if not _plugins:
        from importlib.metadata import entry_points

        for entry in entry_points(group="lading.kinds"):
            kind = entry.load()
            if isinstance(kind, Kind):
                _plugins[entry.name] = kind
    return _plugins


def recognise_path(path: str) -> str | None:
    """The kind of a file by its name and place alone."""
    return next((each.kind for each in BUILT_IN if each.by_path is not None and each.by_path(path)), None)


def recognise_text(text: str) -> str | None:
    """The kind a text looks like, without parsing it."""
    return next((each.kind for each in BUILT_IN if each.by_text is not None and each.by_text(text)), None)


def recognise_content(value: Any) -> str | None:
    """The kind of a file by what it holds."""
    return next((each.kind for each in BUILT_IN if each.by_content is not None and each.by_content(value)), None)


def all_codes() -> dict[str, Code]:
    """Every code of lading and of the built-in kinds."""
    codes = {code.name: code for code in CORE_CODES}
    for each in BUILT_IN:
        codes |= {code.name: code for code in kind_named(each.kind).codes}
    return codes


def codes_of(kinds: Iterable[str | None]) -> dict[str, Code]:
    """Every code of lading and of the named kinds, installed ones included."""
    codes = {code.name: code for code in CORE_CODES}
    for name in dict.fromkeys(kinds):
        if name is not None:
            codes |= {code.name: code for code in kind_named(name).codes}
    return codes
