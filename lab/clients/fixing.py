"""What `equipage check --fix` does to files, judged by the clients that read them.

A safe fix changes what a client does from broken to working, and nothing else. So each tree with
safe fixes is copied, the copy is fixed, and the clients are asked about the changed files of both:

- what a client accepts it still accepts;
- what it tells a model about a file that works stays the same, or goes on where it was cut;
- what it refuses, and we have no error for after the fix, it now accepts.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from programs import Client
from verdicts import Findings, Row, Verdict, differences, findings

#: What a client is asked about when a file of a plugin or an extension changed.
MANIFESTS = (".claude-plugin/plugin.json", "gemini-extension.json")


@dataclass(frozen=True)
class Fixed:
    """The files that `--fix` changed, each with its copy; those of them that we had an error for;
    our errors that are left in the copies."""

    copies: dict[Path, Path]
    broken: frozenset[Path]
    errors: dict[str, tuple[str, ...]]


def fixed(tree: Path, found: Findings, folder: Path) -> Fixed:
    """Fix a copy of `tree` in `folder`."""
    shutil.copytree(
        tree,
        folder,
        symlinks=True,
        ignore=lambda where, _names: ["objects"] if Path(where).name == ".git" else [],
        copy_function=lambda source, target: _take(source, target, whole=source in found.fixable),
    )
    after = findings(folder, "--fix")
    copies = {Path(file): folder / Path(file).relative_to(tree) for file in found.fixable}
    changed = {
        file: copy for file, copy in copies.items() if file.read_bytes() != copy.read_bytes()
    }
    broken = frozenset(file for file in changed if str(file) in found.errors)
    return Fixed(changed, broken, after.errors)


def together(trees: Iterable[Fixed]) -> Fixed:
    """The changes of several trees as one."""
    copies: dict[Path, Path] = {}
    broken: set[Path] = set()
    errors: dict[str, tuple[str, ...]] = {}
    for each in trees:
        copies |= each.copies
        broken |= each.broken
        errors |= each.errors
    return Fixed(copies, frozenset(broken), errors)


def _take(source: str, target: str, *, whole: bool) -> None:
    """Copy a file that will be changed; of the others a second name is enough."""
    if not whole:
        try:
            os.link(source, target, follow_symlinks=False)
            return
        except OSError:
            pass  # on another file system
    shutil.copy2(source, target)


def with_manifests(paths: Iterable[Path]) -> list[Path]:
    """The files, and the manifests of the plugins and extensions that they are in."""
    found = dict.fromkeys(paths)
    for path in tuple(found):
        for folder in path.parents:
            found |= {file: None for each in MANIFESTS if (file := folder / each).is_file()}
            if (folder / ".git").exists():
                break
    return list(found)


@dataclass(frozen=True)
class Proof:
    """How many changed files one client judged, how many it accepts since, and what is wrong."""

    judged: int
    healed: int
    problems: tuple[str, ...]


def proof(client: Client, judge: ModuleType, fixes: Fixed, rows: Iterable[Row]) -> Proof:
    """Ask one client about the files before and after."""
    before = _asked(client, judge, fixes.copies.keys())
    after = _asked(client, judge, fixes.copies.values())
    both = [
        (before[str(file)], after[str(copy)])
        for file, copy in fixes.copies.items()
        if str(file) in before and str(copy) in after
    ]
    # A file that the client accepts without its header, say, has an error of ours.
    works = sorted({Path(old.file) for old, _ in both if not old.refusals} - fixes.broken)
    told = dict(judge.readings(client, works))
    since = dict(judge.readings(client, [fixes.copies[file] for file in works]))
    problems = [
        *refused_since(both),
        *read_otherwise((file, told[file], since.get(fixes.copies[file], "")) for file in told),
    ]
    apart = differences((new for _, new in both), fixes.errors)
    problems += [f"after --fix: {each}" for each in apart if not each.explained(rows)]
    healed = sum(bool(old.refusals) and not new.refusals for old, new in both)
    return Proof(len(both), healed, tuple(problems))


def _asked(client: Client, judge: ModuleType, paths: Iterable[Path]) -> dict[str, Verdict]:
    return {each.file: each for each in judge.verdicts(client, with_manifests(paths))}


def refused_since(both: Iterable[tuple[Verdict, Verdict]]) -> Iterator[str]:
    """The files that were accepted before the fix and are refused after it."""
    for old, new in both:
        if new.refusals and not old.refusals:
            yield f"{old.file}\n    {old.client} refuses it after --fix: {'; '.join(new.refusals)}"


def read_otherwise(readings: Iterable[tuple[Path, str, str]]) -> Iterator[str]:
    """The files about which a model reads something else after the fix than before it.

    Text that was cut and goes on is what a fix is for.
    """
    for file, old, new in readings:
        if not new.startswith(old):
            yield f"{file}\n    before --fix: {old}\n    after --fix: {new}"
