"""What the fragment of a reference points to.

A fragment is a JSON Pointer (RFC 6901, percent-decoded) or the name of an anchor. Two spellings of older loaders
are understood too: `#/` for the whole document, and a pointer without its first slash.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

import msgspec

from equipage.path import ROOT, Path
from equipage.schemas.positions import subschemas
from equipage.tree import get

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_INDEX = re.compile(r"0|[1-9][0-9]*")
_MISSING: Any = object()


class Pointed(msgspec.Struct, frozen=True):
    """Where a fragment leads. `instead` is the right spelling, if it was written in an old one."""

    path: Path
    instead: str | None = None


def split(reference: str) -> tuple[str, str]:
    """The file and the fragment of a reference; either may be empty."""
    file, _, fragment = reference.partition("#")
    return file, fragment


def has_scheme(file: str) -> bool:
    """Whether a reference is an address, such as `https://…` or `file:…`, and no path."""
    return _SCHEME.match(file) is not None


def point(root: Any, fragment: str, names: Callable[[], Mapping[str, Path]]) -> Pointed | None:
    """What `fragment` names in a document or embedded schema; None if nothing. `names` gives its anchors."""
    text = unquote(fragment)
    if not text:
        return Pointed(ROOT)
    if text.startswith("/"):
        path = _walk(root, text[1:])
        if path is None and text == "/":
            return Pointed(ROOT, "#")
        return None if path is None else Pointed(path)
    path = names().get(text)
    if path is not None:
        return Pointed(path)
    path = _walk(root, text)
    return None if path is None else Pointed(path, f"#/{fragment}")


def _walk(root: Any, pointer: str) -> Path | None:
    """The path of a pointer without its first slash, if it exists."""
    path: list[str | int] = []
    for written in pointer.split("/"):
        step: str | int = written.replace("~1", "/").replace("~0", "~")
        if isinstance(root, list):
            if not _INDEX.fullmatch(written) or len(written) > 9:
                return None
            step = int(written)
        root = get(root, (step,), _MISSING)
        if root is _MISSING:
            return None
        path.append(step)
    return tuple(path)


def anchors(root: Any, address: str) -> dict[str, Path]:
    """Every plain name in a schema: `$anchor`, `$dynamicAnchor`, and `$id: "#name"` of older drafts.

    `address` is the keyword that gives a schema its address. Of two schemas with one name, the first has it.
    """
    found: dict[str, Path] = {}
    for each in subschemas(root):
        for keyword in ("$anchor", "$dynamicAnchor"):
            name = each.value.get(keyword)
            if isinstance(name, str):
                found.setdefault(name, each.path)
        name = each.value.get(address)
        if isinstance(name, str) and name.startswith("#"):
            found.setdefault(name[1:], each.path)
    return found


def resources(root: Any, address: str) -> dict[str, Path]:
    """Every schema with an address of its own, by that address as it is written."""
    found: dict[str, Path] = {}
    for each in subschemas(root):
        name = each.value.get(address)
        if isinstance(name, str) and name.rstrip("#"):
            found.setdefault(name.removesuffix("#"), each.path)
    return found


def enclosing(root: Any, path: Path, address: str) -> Path:
    """The path of the innermost schema around `path` that has an address of its own, else the root."""
    best = ROOT
    for depth, step in enumerate(path, 1):
        root = get(root, (step,))
        if isinstance(root, dict):
            name = root.get(address)
            if isinstance(name, str) and not name.startswith("#"):
                best = path[:depth]
    return best
