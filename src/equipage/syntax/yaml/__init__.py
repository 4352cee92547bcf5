"""YAML 1.2, core schema: an iterative constructor over libyaml's events, and a way without them for plain files.

`load` builds plain values only. Whatever is odd about the text (a key twice, a tag, a merge key) is only
*noticed* there; a second pass says where, so that an ordinary file pays nothing. `locate` finds places later,
for all paths somebody asks about at once.

The parser is imported when a text needs it: that costs more than checking a small file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from equipage.core.path import Path
from equipage.syntax import Parsed, Place
from equipage.syntax.yaml.fast import locate as locate_plain
from equipage.syntax.yaml.fast import read

if TYPE_CHECKING:
    from equipage.syntax.yaml.nodes import Touched, scalars_at
    from equipage.syntax.yaml.values import ENGINE, MAX_ALIAS_NODES

__all__ = ["ENGINE", "MAX_ALIAS_NODES", "Touched", "load", "locate", "scalars_at"]

_HOMES = {
    "ENGINE": "values",
    "MAX_ALIAS_NODES": "values",
    "Touched": "nodes",
    "scalars_at": "nodes",
}


def load(text: str, *, merge: bool = False) -> Parsed:
    """The value of the first document of `text`.

    Keys are always strings, later duplicates win, unknown tags are dropped; each such thing is in
    `irregularities`. With `merge`, `<<` is applied. An empty text has the value None.
    """
    value = read(text)
    if value is not None:
        return Parsed(value)
    from equipage.syntax.yaml.parsing import parse

    return parse(text, merge=merge)


def locate(text: str, paths: Iterable[Path], *, merge: bool = False) -> dict[Path, Place]:
    """The places of those `paths` that exist in the first document of `text`, found in one pass."""
    wanted = list(paths)
    found = locate_plain(text, wanted)
    if found is not None:
        return found
    from equipage.syntax.yaml import nodes as locating

    return locating.locate(text, wanted, merge=merge)


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
