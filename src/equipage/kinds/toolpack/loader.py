"""Toolpacks for programs: load a folder of them, look tools up by id.

    loader = ToolpackLoader()
    loader.load_dir("tools")
    for pack in loader.list():
        print(pack.id, pack.execution["kind"], pack.timeout_ms)

The same pipeline as `equipage.load` and `equipage check`: every problem of every file is in the one exception.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from equipage.core import codes as core_codes
from equipage.core.arguments import path_given
from equipage.core.diagnostics import Diagnostic, LoadError
from equipage.core.source import Source
from equipage.files import folders_given
from equipage.files.reading import display_name
from equipage.kinds.toolpack import KIND
from equipage.kinds.toolpack.model import Toolpack
from equipage.kinds.toolpack.phrases import phrase
from equipage.loading.findings import finding
from equipage.loading.outcome import Outcome
from equipage.loading.pipeline import load_path
from equipage.loading.request import Request
from equipage.loading.result import CANONICAL, canonical
from equipage.loading.session import Run
from equipage.loading.set_rules import same_once, set_findings
from equipage.loading.tree import get

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
    """What is kept of a load: the pack, the files it was made of, what was found. A folder may hold thousands."""

    path: str
    id: str | None
    pack: Toolpack | None
    sources: tuple[Source, ...]
    diagnostics: tuple[Diagnostic, ...]


def _entry(outcome: Outcome) -> _Entry:
    assert outcome.session is not None
    name = (
        outcome.config.id
        if outcome.config
        else get(outcome.tree.value, ("id",))
        if outcome.tree
        else None
    )
    known = name if isinstance(name, str) else None
    return _Entry(outcome.session.path, known, outcome.config, outcome.sources, outcome.diagnostics)


def _alike(entries: Sequence[_Entry]) -> list[_Entry]:
    """The packs whose ids clash, or nearly: only these need to be looked at together."""
    groups: dict[str, list[_Entry]] = {}
    for entry in entries:
        if entry.id is not None:
            groups.setdefault(entry.id.replace(":", "."), []).append(entry)
    return [entry for group in groups.values() if len(group) > 1 for entry in group]


class ToolpackLoader:
    """The toolpacks of a folder. Loading either succeeds as a whole or changes nothing."""

    def __init__(
        self, *, legacy_keys: Literal["error", "warn"] = "error", roots: tuple[str, ...] = ()
    ) -> None:
        self._options = {"legacy_keys": legacy_keys}
        self._roots = folders_given("roots", roots)
        self._entries: dict[str, _Entry] = {}
        self._folder: str | None = None
        self.warnings: tuple[Diagnostic, ...] = ()

    def load_dir(self, path: str | os.PathLike[str]) -> None:
        """Load every `*.tool.yaml` below `path`, at any depth, in place of what was loaded before.

        Raises `ToolpackValidationError` with every error found; what was loaded before then stays.
        """
        folder = os.path.abspath(os.path.expanduser(path_given("path", path)))
        if not os.path.isdir(folder):
            raise ToolpackValidationError([_no_folder(folder)])
        request = Request(env={}, options=self._options, roots=self._roots)
        run = Run()
        files, problems = pack_files(folder)
        entries = [_entry(load_path(each, KIND, request, run)) for each in files]
        again = [entry.path for entry in _alike(entries)]
        together = set_findings([load_path(each, KIND, request, run) for each in again])
        found = same_once(
            [*problems, *(each for entry in entries for each in entry.diagnostics), *together]
        )
        if any(each.severity == "error" for each in found):
            raise ToolpackValidationError(found)
        packs = sorted(
            (entry for entry in entries if entry.pack is not None), key=lambda entry: entry.id or ""
        )
        self._folder, self.warnings = folder, tuple(found)
        self._entries = {entry.pack.id: entry for entry in packs if entry.pack is not None}

    def list(self) -> list[Toolpack]:
        """The packs, sorted by id."""
        return [entry.pack for entry in self._entries.values() if entry.pack is not None]

    def get(self, tool_id: str) -> Toolpack:
        """The pack of that id. Raises `KeyError`."""
        pack = self._entries[tool_id].pack
        assert pack is not None
        return pack

    @property
    def digest(self) -> str:
        """sha256 over the ids and digests of the packs: the same for the same packs, wherever they lie."""
        pairs = [[pack.id, pack.digest] for pack in self.list()]
        return hashlib.sha256(canonical({"canonical": CANONICAL, "packs": pairs})).hexdigest()

    def snapshot(self, root: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """Everything that was loaded, as plain data: each pack, its digest, and the hash of every file it was made of.

        Paths are relative to `root`, by default the folder that was loaded. Of the variables that a pack sets, only
        the names are there: a snapshot is kept and passed on. A change of a value changes the digest.
        """
        base = os.path.realpath(root if root is not None else self._folder or os.curdir)
        packs = [
            {
                "id": pack.id,
                "digest": pack.digest,
                "path": _relative(str(pack.source_path), base),
                "sources": {
                    _relative(source.path or source.name, base): source.sha256
                    for source in sorted(
                        self._entries[pack.id].sources, key=lambda source: source.path or ""
                    )
                },
                "pack": _without_values(pack.to_dict()),
            }
            for pack in self.list()
        ]
        return {"canonical": CANONICAL, "digest": self.digest, "packs": packs}


def _without_values(pack: dict[str, Any]) -> dict[str, Any]:
    given = pack.get("env", {}).get("set")
    return {**pack, "env": {**pack["env"], "set": dict.fromkeys(given)}} if given else pack


def _relative(path: str, base: str) -> str:
    return os.path.relpath(
        os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)), base
    ).replace(os.sep, "/")


def pack_files(folder: str) -> tuple[list[str], list[Diagnostic]]:
    """Every `*.tool.yaml` below a folder, sorted by the parts of its path, and what keeps others from being found.

    Folders behind links are not entered.
    """
    found: list[tuple[str, ...]] = []
    problems: list[Diagnostic] = []
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
        except OSError as error:
            problems.append(_unreadable(os.path.join(folder, *parts), error))
    if not found and not problems:
        problems.append(_no_packs(folder))
    return [os.path.join(folder, *parts) for parts in sorted(found)], problems


def _unreadable(folder: str, error: OSError) -> Diagnostic:
    """Whoever loads a folder relies on having all of it."""
    shown = display_name(folder)
    values = {"folder": shown, "reason": error.strerror or str(error)}
    return finding(core_codes.FOLDER_UNREADABLE, shown, values, severity="error")


def _no_packs(folder: str) -> Diagnostic:
    shown = display_name(folder)
    message = f"no toolpacks in {shown}: nothing there is named `*{SUFFIX}`"
    return Diagnostic(core_codes.FILE_MISSING.name, "warning", message, file=shown)


def _no_folder(folder: str) -> Diagnostic:
    shown = display_name(folder)
    what = "is a file, not a folder" if os.path.exists(folder) else "does not exist"
    code = core_codes.FILE_MISSING if what.startswith("does") else core_codes.FILE_UNREADABLE
    return Diagnostic(
        code.name, "error", f"Toolpacks directory not found: {shown} {what}", file=shown
    )
