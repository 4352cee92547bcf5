"""The places of many paths, from one pass over the events."""

from __future__ import annotations

from collections.abc import Iterable

from equipage.path import Path
from equipage.syntax.engine import Place
from equipage.syntax.wanted import Want
from equipage.syntax.yaml.compose import Collection, Node, compose, range_of, target_of


def locate(text: str, paths: Iterable[Path], *, merge: bool = False) -> dict[Path, Place]:
    """The places of those `paths` that exist in the first document of `text`.

    The place of an aliased value is the alias; below it, the place in the anchored node. With `merge`, what `<<`
    brings in is placed where it is written.
    """
    wanted = list(paths)
    root = compose(text, Want.of(wanted), merge=merge)
    found: dict[Path, Place] = {}
    for path in wanted if root is not None else ():
        entry = _entry(root, path)
        if entry is not None:
            key, value = entry
            found[path] = Place(range_of(value, text), None if key is None else range_of(key, text))
    return found


def _entry(root: Node, path: Path) -> tuple[Node | None, Node] | None:
    """The key and the value at a path; a list's entries have no key."""
    key, value = None, root
    for step in path:
        holder = target_of(value)
        if not isinstance(holder, Collection):
            return None
        if isinstance(step, str):
            entry = holder.entries().get(step) if holder.is_mapping else None
        else:
            inside = not holder.is_mapping and 0 <= step < len(holder.children)
            entry = (None, holder.children[step]) if inside else None
        if entry is None:
            return None
        key, value = entry
    return key, value
