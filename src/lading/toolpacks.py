"""Toolpacks for programs: load a folder of them, look tools up by id.

    loader = ToolpackLoader()
    loader.load_dir("tools")
    for pack in loader.list():
        print(pack.id, pack.execution["kind"], pack.timeout_ms)

The same pipeline as `lading.load` and `lading check`: every problem of every file is in the one exception.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from lading.diagnostics import Diagnostic, LoadError
from lading.files import display_name
from lading.kinds.toolpack.kind import KIND
from lading.kinds.toolpack.pack import Toolpack
from lading.kinds.toolpack.phrases import phrase
from lading.loaded import CANONICAL, canonical
from lading.loading import Outcome, Request, load_path
from lading.placing import deduplicated
from lading.session import Shared
from lading.workspace import same_once, set_findings

__all__ = ["Toolpack", "ToolpackLoader", "ToolpackValidationError"]

SUFFIX = ".tool.yaml"


class ToolpackValidationError(LoadError):
    """A folder of toolpacks is not valid; `diagnostics` holds every finding of every file.

    As text: one line per error, each with the rule it breaks in the words programs have come to look for.
    """

    def __str__(self) -> str:
        return "\n".join(map(_line, self.errors))


def _line(each: Diagnostic) -> str:
    rule = phrase(each)
    return str(each) if rule is None or rule in each.message else f"{each} ({rule})"


class _Entry(msgspec.Struct, frozen=True):
    """A pack, and the files it was made of with their hashes."""

    pack: Toolpack
    sources: tuple[tuple[str, str], ...]


class ToolpackLoader:
    """The toolpacks of a folder. Loading either succeeds as a whole or changes nothing."""

    def __init__(self, *, legacy_keys: Literal["error", "warn"] = "error", roots: tuple[str, ...] = ()) -> None:
        self._options = {"legacy_keys": legacy_keys}
        self._roots = tuple(os.path.abspath(root) for root in roots)
        self._outcomes: dict[str, Outcome] = {}
        self._packs: dict[str, Toolpack] = {}
        self._folder: str | None = None
        self.warnings: tuple[Diagnostic, ...] = ()

    def load_dir(self, path: str | os.PathLike[str]) -> None:
        """Load every `*.tool.yaml` below `path`, at any depth, in place of what was loaded before.

        Raises `ToolpackValidationError` with every error found; what was loaded before then stays.
        """
        folder = os.path.abspath(os.path.expanduser(os.fspath(path)))
        if not os.path.isdir(folder):
            raise ToolpackValidationError([_no_folder(folder)])
        request = Request(env={}, options=self._options, roots=self._roots)
        shared = Shared()
        outcomes = [load_path(each, KIND, request, shared=shared) for each in pack_files(folder)]
        found = same_once([each for outcome in outcomes for each in outcome.diagnostics])
        found = deduplicated([*found, *set_findings(outcomes)])
        if any(each.severity == "error" for each in found):
            raise ToolpackValidationError(found)
        by_id = sorted(((outcome.config.id, outcome) for outcome in outcomes), key=lambda pair: pair[0])
        self._folder, self.warnings = folder, tuple(found)
        self._outcomes = dict(by_id)
        self._packs = {name: outcome.config for name, outcome in by_id}

    def list(self) -> list[Toolpack]:
        """The packs, sorted by id."""
        return [*self._packs.values()]

    def get(self, tool_id: str) -> Toolpack:
        """The pack of that id. Raises `KeyError`."""
        return self._packs[tool_id]

    @property
    def digest(self) -> str:
        """sha256 over the ids and digests of the packs: the same for the same packs, wherever they lie."""
        pairs = [[name, pack.digest] for name, pack in self._packs.items()]
        return hashlib.sha256(canonical({"canonical": CANONICAL, "packs": pairs})).hexdigest()

    def snapshot(self, root: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """Everything that was loaded, as plain data: each pack, its digest, and the hash of every file it was made of.

        Paths are relative to `root`, by default the folder that was loaded.
        """
        base = os.path.realpath(root if root is not None else self._folder or os.curdir)
        packs = [
            {
                "id": name,
                "digest": outcome.config.digest,
                "path": _relative(str(outcome.config.source_path), base),
                "sources": {
                    _relative(source.path or source.name, base): source.sha256
                    for source in sorted(outcome.sources, key=lambda source: source.path or "")
                },
                "pack": outcome.config.to_dict(),
            }
            for name, outcome in self._outcomes.items()
        ]
        return {"canonical": CANONICAL, "digest": self.digest, "packs": packs}


def _relative(path: str, base: str) -> str:
    return os.path.relpath(os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)), base).replace(
        os.sep, "/"
    )


def pack_files(folder: str) -> Iterator[str]:
    """Every `*.tool.yaml` below a folder, sorted by the parts of its path. Folders behind links are not entered."""
    found: list[tuple[str, ...]] = []
    stack: list[tuple[str, ...]] = [()]
    while stack:
        parts = stack.pop()
        try:
            with os.scandir(os.path.join(folder, *parts)) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False) and not entry.name.endswith(SUFFIX):
                        stack.append((*parts, entry.name))
                    elif entry.name.endswith(SUFFIX):
                        found.append((*parts, entry.name))
        except OSError:
            continue
    return (os.path.join(folder, *parts) for parts in sorted(found))


def _no_folder(folder: str) -> Diagnostic:
    shown = display_name(folder)
    what = "is a file, not a folder" if os.path.exists(folder) else "does not exist"
    return Diagnostic(
        "file-missing" if what.startswith("does") else "file-unreadable",
        "error",
        f"Toolpacks directory not found: {shown} {what}",
        file=shown,
    )
